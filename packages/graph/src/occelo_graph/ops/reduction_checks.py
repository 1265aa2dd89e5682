"""Checks that a reduction has the properties that it declares, such as associativity, for a few sample numbers.

`register_reduction` in `reduction_table` calls `check_reduction` for reductions of users and other packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from occelo_graph.ops.reductions import Reduction

_NUMBERS = (np.array([0.125, 0.25, 0.5, 0.75, 0.875]), np.array([1, 2, 3, 5, 6]))
"""Sample numbers: floats between 0 and 1, where most functions are defined, and integers, for functions of integers
only.
"""


def check_reduction(reduction: Reduction) -> None:
    """Raise ValueError if the NumPy code of the scalar op contradicts a declared property for some sample numbers.

    If the code raises an exception for floats, it is called with integers. If it raises for integers, too, nothing is
    checked.
    """
    for numbers in _NUMBERS:
        try:
            with np.errstate(all="ignore"):
                violated = list(_contradictions(reduction, numbers))
        except Exception:
            continue
        if violated:
            raise ValueError(
                f"The reduction {reduction.name} declares {violated[0]}, which its NumPy code contradicts"
            )
        return


def _contradictions(reduction: Reduction, numbers: Any) -> Iterator[str]:
    def f(a: Any, b: Any) -> Any:
        return np.asarray(reduction.function.evaluate(a, b))

    def differs(actual: Any, expected: Any) -> bool:
        defined = ~np.isnan(actual)
        return not np.allclose(actual[defined], expected[defined], rtol=1e-3, atol=1e-6)

    a, b, c = (np.roll(numbers, k) for k in range(3))
    if f(a, b).dtype != numbers.dtype:
        return
    if differs(f(f(a, b), c), f(a, f(b, c))):
        yield "that its function is associative"
    if differs(f(a, b), f(b, a)):
        yield "that its function is commutative"
    if reduction.identity is not None:
        start = np.asarray(reduction.identity(numbers.dtype.name)).astype(numbers.dtype)
        if differs(f(start, a), a):
            yield f"the identity {start}"
    if reduction.idempotent and differs(f(a, a), a):
        yield "idempotent=True"
    if reduction.linear and differs(f(a + c, b + a), f(a, b) + f(c, a)):
        yield "linear=True"
