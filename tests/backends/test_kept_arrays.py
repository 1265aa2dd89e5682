"""NumPy code from outside that keeps its results, or returns its arguments: nobody overwrites these arrays, on any backend."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import Op, elementwise, inexact, op
from occelo_graph import tensor as ot
from occelo_link.capabilities import BACKENDS, is_installed
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]


THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
KEPT: dict[str, Any] = {}
"""Arrays that the code below keeps; each is 0, 1, 2, ..."""


def _kept(name: str, size: int, make: Callable[[Any], Any]) -> Any:
    if name not in KEPT:
        KEPT[name] = make(np.arange(float(2 * size)))
    return KEPT[name]


@op
class Keeps(Op):
    """Its first numbers, whatever the elements are: an array that it keeps, a view that it keeps, or a new view."""

    how: str

    def infer(self, x: Any) -> Any:
        return x

    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return input_shapes

    def evaluate(self, x: Any) -> Any:
        size = x.size
        if self.how == "array":
            return _kept(self.how, size, lambda a: a[:size].copy())
        if self.how == "view":
            return _kept(self.how, size, lambda a: a[:size])
        return _kept(self.how, size, lambda a: a)[:size]


def _first_numbers(x: Any) -> Any:
    return _kept("function", x.size, lambda a: a[: x.size].copy())


HOW = ("array", "view", "new view", "function", "argument")
SLOW = ("c", "c|py", "numba", "jax")
"""Backends that take a second for each function."""


@pytest.mark.filterwarnings("ignore:.*runs in Python")
@pytest.mark.parametrize(
    ("backend", "how"),
    [(b, h) for b in BACKENDS for h in HOW if THOROUGH or b not in SLOW or h == "view"],
)
def test_arrays_that_the_code_keeps_are_not_overwritten(backend: str, how: str) -> None:
    if not is_installed(backend):
        pytest.skip(f"no {backend}")
    x = ot.dvector("x")
    y: Any
    if how == "function":
        y = elementwise("keeps_its_result", 1, inexact, _first_numbers)(x)
    elif how == "argument":
        y = elementwise("returns_its_argument", 1, inexact, lambda x: x)(x)
    else:
        y = Keeps(how)(x)
    KEPT.clear()  # of the numbers with which the definition is tried, too
    alone = oc.function([x], y, mode=backend)
    written = oc.function([x], [ot.set_subtensor(y[1:], 7.0), x * 2], mode=backend)
    given = np.arange(4.0)
    for _ in range(2):
        found = alone(given)
        np.testing.assert_array_equal(found, np.arange(4.0))
        found[:] = -1.0  # a result is the user's
        first, second = written(given)
        np.testing.assert_array_equal(first, [0.0, 7.0, 7.0, 7.0])
        np.testing.assert_array_equal(second, 2 * np.arange(4.0))
        first[:] = -1.0
        np.testing.assert_array_equal(given, np.arange(4.0))
    for array in KEPT.values():
        np.testing.assert_array_equal(array, np.arange(float(array.size)))


def test_a_new_array_is_not_copied() -> None:
    @op
    class New(Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            made = (2 * x).reshape(-1, 1).reshape(-1)  # a view of what nobody else has
            ADDRESSES.append(made.ctypes.data)
            return made

    ADDRESSES: list[int] = []
    x = ot.dvector("x")
    f = oc.function([x], New()(x), mode="vm")
    for _ in range(3):
        assert f(np.ones(5)).ctypes.data == ADDRESSES[-1]
