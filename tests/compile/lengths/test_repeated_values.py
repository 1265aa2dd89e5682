"""Reductions of a value that is repeated as often as a run-time length says, also of special values and no time at all."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

SPREAD: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "alloc": (ot.alloc, lambda v, n: np.full(n, v)),
    "second": (lambda v, n: ot.second(ot.zeros((n,)), v), lambda v, n: np.full(n, v)),
    "plus zeros": (lambda v, n: ot.zeros((n,), v.dtype) + v, lambda v, n: np.full(n, v)),
    "rows": (
        lambda v, n: ot.alloc(ot.stack([v, 2 * v])[None, :], n, 2),
        lambda v, n: np.full((n, 2), [v, 2 * v]),
    ),
    "two lengths": (lambda v, n: ot.alloc(v, n, 3 - n), lambda v, n: np.full((n, 3 - n), v)),
    "static": (lambda v, n: ot.alloc(v, 0, n), lambda v, n: np.full((0, n), v)),
}
VALUES = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("mode", ["py", "native"])
def test_reductions_of_repeated_values(mode: str) -> None:
    v, n = ot.dscalar("v"), ot.lscalar("n")
    ways = list(itertools.product(SPREAD, ("sum", "prod"), (None, 0)))
    made = [getattr(SPREAD[spread][0](v, n), name)(axis) for spread, name, axis in ways]
    call = oc.function([v, n], made, mode=mode)
    for value, count in itertools.product(VALUES, (0, 1, 3)):
        for found, (spread, name, axis) in zip(call(value, count), ways, strict=True):
            whole = SPREAD[spread][1](np.float64(value), count)
            np.testing.assert_allclose(
                found, getattr(whole, name)(axis), rtol=1e-15, err_msg=f"{spread} {name} {axis}"
            )
