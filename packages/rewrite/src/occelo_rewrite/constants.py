"""Functions that tell rules the number in a constant, and whether multiplying by it is safe.

Most modules of rules use them, and so do patterns (`pattern`, `tuple_patterns`), `engine`, `shapes` and `assumptions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Constant, Variable
from occelo_graph.narrowing import is_array

__all__ = ["is_moderate", "is_power_of_two", "number_of", "plain_number_of"]

_LARGEST = 64


def number_of(variable: Variable) -> Any:
    """The number that all elements of a constant equal, as a Python number; None if there is none.

    Constants of more than 64 elements are not examined.
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
    """The number with which patterns compare a constant; None if there is none.

    It is `number_of` for a tensor, and the value of any other constant.
    """
    found: Any = number_of(constant)
    if found is None:
        found = constant.data
    return found if isinstance(found, bool | int | float | complex) else None


def is_power_of_two(value: Any) -> bool:
    """Whether a real number, or its negative, is a power of two.

    Products with such a number are exact unless they overflow or underflow.
    """
    return not isinstance(value, complex) and abs(np.frexp(float(value))[0]) == 0.5


def is_moderate(dtype: Any, *values: Any) -> bool:
    """Whether rules may change the order in which values are multiplied by these factors, because they are near to 1.

    With such factors no ordinary value overflows or underflows only because of the new order. Near to 1 means between
    2^-25 and 2^25 in float32, and between 2^-204 and 2^204 in float64. The range of float16 is so small that no factor
    is near enough.
    """
    limits = np.finfo(dtype)
    most = int(limits.maxexp) // 5
    if limits.bits < 32:
        return False
    return all(np.isfinite(v) and 2.0**-most <= abs(v) <= 2.0**most for v in values)
