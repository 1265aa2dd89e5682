"""Unsigned integers of 64 bits above the largest signed one, on the backends that trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config

TOP = 2**63
VALUES = np.array([2**64 - 1, TOP + 12345, 5, 2**40, 0, TOP, TOP - 1, 2**64 - 1, 7], "uint64")
OTHERS = np.array([3, 2048, 2, 2**35, 9, TOP + 5, TOP, TOP, 0], "uint64")
# the symbolic expression, and what NumPy gives
CASES: list[tuple[Any, Any]] = [
    (lambda x, y: x // y, lambda x, y: x // y),
    (lambda x, y: x % y, lambda x, y: x % y),
    (lambda x, y: x // np.uint64(2048), lambda x, y: x // np.uint64(2048)),
    (lambda x, y: [x < y, x <= y, x > y, x >= y], lambda x, y: [x < y, x <= y, x > y, x >= y]),
    (ot.maximum, np.maximum),
    (ot.minimum, np.minimum),
    (lambda x, y: ot.clip(x, np.uint64(6), y), lambda x, y: np.clip(x, np.uint64(6), y)),
    (lambda x, y: [ot.sign(x), abs(x), ot.sqr(x)], lambda x, y: [np.sign(x), abs(x), x * x]),
    (lambda x, y: [x.max(), y.min()], lambda x, y: [x.max(), y.min()]),
    (lambda x, y: [x.argmax(), y.argmin()], lambda x, y: [x.argmax(), y.argmin()]),
    (lambda x, y: [x.sum(), y.prod(), ot.cumsum(x)], lambda x, y: [x.sum(), y.prod(), x.cumsum()]),
    (lambda x, y: x.astype("float64"), lambda x, y: x.astype("float64")),
    (lambda x, y: ot.switch(x > y, x, y), lambda x, y: np.where(x > y, x, y)),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # PyTorch's own
@pytest.mark.parametrize("compiled", [False, True])
def test_all_are_what_numpy_has(backend: str, compiled: bool) -> None:
    if compiled and backend != "pytorch":
        pytest.skip("jax compiles in any case")
    x, y = ot.vector("x", dtype="uint64"), ot.vector("y", dtype="uint64")
    made: list[Any] = []
    expected: list[Any] = []
    with np.errstate(all="ignore"):
        for symbolic, numpy in CASES:
            one, other = symbolic(x, y), numpy(VALUES, OTHERS)
            made += one if isinstance(one, list) else [one]
            expected += other if isinstance(other, list) else [other]
    with config.change_flags(pytorch__compile=compiled):
        found = oc.function([x, y], made, mode=backend)(VALUES, OTHERS)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
