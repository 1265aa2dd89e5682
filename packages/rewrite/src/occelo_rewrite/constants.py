"""Functions that read the number in a constant, and check whether rules may reorder multiplications by this number.

Most modules of rules call these functions, and so do `pattern`, `tuple_patterns`, `engine`, `shapes` and two modules of
`assumptions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Constant, Variable
from occelo_graph.narrowing import is_array

_LARGEST = 64


def number_of(variable: Variable) -> Any:
    """The Python number that every element of a constant equals; None if the elements differ.

    None also for a variable that is not a constant, and for constants of more than 64 elements.
    """
    if not isinstance(variable, Constant):
        return None
    data: Any = variable.data
    if not is_array(data):
        return None
    if data.ndim == 0:
        return data.item()
    if data.size == 0 or data.size > _LARGEST:
        return None
    first = data.flat[0]
    return first.item() if bool(np.all(data == first)) else None


def plain_number_of(constant: Constant) -> bool | int | float | complex | None:
    """The Python number that patterns compare with a constant; None if the constant has no such number.

    For a tensor, this is the result of `number_of`. For a constant of another type, it is the constant's value.
    """
    number: Any = number_of(constant)
    if number is None:
        number = constant.data
    return number if isinstance(number, bool | int | float | complex) else None


def is_power_of_two(value: Any) -> bool:
    """Whether a real number, or its negative, is a power of two.

    A product with such a number is exact unless it overflows or underflows.
    """
    return not isinstance(value, complex) and abs(np.frexp(float(value))[0]) == 0.5


def is_moderate(dtype: Any, *values: Any) -> bool:
    """Whether the factors ``values`` are moderate, so that rules may change the order of multiplications by them.

    Moderate factors are between 2^-25 and 2^25 in float32, and between 2^-204 and 2^204 in float64. With such factors a
    new order makes no ordinary value overflow or underflow. In float16 no factor is moderate, since the range of
    float16 is so small.
    """
    limits = np.finfo(dtype)
    most = int(limits.maxexp) // 5
    if limits.bits < 32:
        return False
    return all(np.isfinite(v) and 2.0**-most <= abs(v) <= 2.0**most for v in values)
