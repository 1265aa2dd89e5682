"""Loops that the interpreter runs: bodies write into carried tensors in place, unless old values are still needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.interpret import inner_nodes_timed
from occelo_loops.ops.iterate import Iterate

Body = Callable[[Any, Any, Any], tuple[Any, Any]]
"""From a position, a matrix and a vector to the next matrix and the next vector."""

SEVERAL: list[Body] = [
    lambda p, x, v: (x[p].set(x[p - 2] + v), x[p - 1] * 2.0),
    lambda p, x, v: (x[p].set(0.0)[p - 1].inc(v)[p - 2].inc(x[p]), v + x[p]),
    lambda p, x, v: (x[p].set(v), (x[p] + x[p - 1]) * 0.5),
    # the row before the write is carried, and the row after it
    lambda p, x, v: (x[p].set(v * 0.5), x[p]),
    lambda p, x, v: (w := x[p].set(v * 0.5), w[p - 1]),
]
COPIED: list[Body] = [
    # the old matrix is read after the write
    lambda p, x, v: (x[p].set(v), v + x[p].set(v)[p - 1] * x.sum(axis=0)),
    lambda p, x, v: (x[p].set(v).T.T, v + 1.0),
]


class Rows:
    """A matrix of NumPy with the methods of variables that the bodies use."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, p: Any) -> Any:
        return Row(self.array, p)

    def sum(self, axis: int) -> Any:
        return self.array.sum(axis)

    @property
    def T(self) -> Rows:
        return self


class Row(np.ndarray[Any, Any]):
    """A copy of a row that knows its matrix."""

    whole: Any
    place: Any

    def __new__(cls, array: Any, p: Any) -> Row:
        made = np.array(array[p]).view(cls)
        made.whole, made.place = array, p
        return made

    def set(self, value: Any) -> Rows:
        array = self.whole.copy()
        array[self.place] = value
        return Rows(array)

    def inc(self, value: Any) -> Rows:
        array = self.whole.copy()
        array[self.place] += value
        return Rows(array)


def run_in_python(body: Body, x: Any, v: Any, count: int) -> tuple[Any, Any]:
    p, rows = 0, Rows(x)
    for _ in range(count):
        rows, v = body(p, rows, v)
        v = np.array(v)
        p = (p + 1) % len(x)
    return rows.array, v


@pytest.mark.parametrize("body", [*SEVERAL, *COPIED])
def test_results_are_those_of_loops_that_copy(body: Body) -> None:
    p, x, v, n = ot.lscalar(), ot.dmatrix(), ot.dvector(), ot.lscalar()
    op = Iterate(freeze([p, x, v], [(p + 1) % 4, *body(p, x, v)]), 3)
    outputs = op(n, np.int64(0), x, v, return_list=True)[1:]
    matrix, vector = np.random.default_rng(0).normal(size=(4, 3)), np.arange(3.0)
    before = matrix.copy()
    written: dict[Any, set[int]] = {}

    def note(place: Any, time: float, results: Any) -> None:
        if hasattr(place[-1].op, "with_inplace"):
            written.setdefault(place[-1], set()).add(results[0].ctypes.data)

    for count in (0, 1, 3, 10):
        wanted = run_in_python(body, matrix, vector, count)
        written.clear()
        with inner_nodes_timed(note):
            found: Any = og.evaluate(outputs, {n: np.int64(count), x: matrix, v: vector})
        for got, each in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, each, rtol=1e-12)
        if body in SEVERAL:
            assert all(len(addresses) == 1 for addresses in written.values())
    assert (matrix == before).all()
