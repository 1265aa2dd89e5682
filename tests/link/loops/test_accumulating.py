"""Calls of BLAS that add a product to another term: their number, other steps, and the memory that they overwrite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.fgraph.graph import FunctionGraph
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.program import Alloc, For, Invoke, Program
from occelo_link.loops.ir.verify import verify
from occelo_rewrite import RewriteDatabaseQuery, optdb
from occelo_testing.loop_programs import Compiled

A, B, C, D = ot.dmatrices("A", "B", "C", "D")
v, w = ot.dvectors("v", "w")
alpha = ot.dscalar("alpha")
VALUES = {
    **{x: np.random.default_rng(i).normal(size=(9, 9)) for i, x in enumerate((A, B, C, D))},
    **{x: np.random.default_rng(i + 9).normal(size=9) for i, x in enumerate((v, w))},
    alpha: np.array(0.5),
}


def lowered(outputs: Sequence[Any], states: dict[int, int] | None = None) -> tuple[Program, Any]:
    """The program, with sums of products as the compiling linkers have them, and its inputs."""
    inputs = [x for x in VALUES if x in set(og.ancestors(outputs))]
    graph = FunctionGraph(inputs, outputs, clone=True)
    optdb.query(RewriteDatabaseQuery(include=["minimum_compile", "accumulate_products"])).rewrite(
        graph
    )
    program = lower_graph(graph.inputs, graph.outputs, graph.toposort(), states=states)
    verify(program)
    return program, inputs


class Contents:
    """What a program consists of: calls of BLAS, loops, tensors with memory of their own, and such that take that of others."""

    def __init__(self, program: Program) -> None:
        every = [s for b in program.blocks() for s in b]
        self.calls = [s for s in every if isinstance(s, Invoke)]
        self.loops = sum(isinstance(s, For) for s in every)
        allocs = [s for s in every if isinstance(s, Alloc) and s.buffer.ndim]
        self.taken = sum(s.reuse is None for s in allocs)
        self.kept = sum(s.keeps for s in allocs)
        self.all = (len(self.calls), self.loops, self.taken, self.kept)


CASES: list[tuple[str, Any, Callable[..., Any], tuple[int, int, int, int]]] = [
    # calls, loops (some fill the first product where there is nothing to add up), tensors, over others
    ("input", C + ot.dot(A, B), lambda g: g(C) + g(A) @ g(B), (1, 1, 1, 0)),
    ("minus", C - ot.dot(A, B), lambda g: g(C) - g(A) @ g(B), (1, 1, 1, 0)),
    ("factor", 3.0 * C - 2.0 * ot.dot(A, B), lambda g: 3 * g(C) - 2 * g(A) @ g(B), (1, 1, 1, 1)),
    ("formula", ot.exp(C) + ot.dot(A.T, B), lambda g: np.exp(g(C)) + g(A).T @ g(B), (1, 1, 1, 1)),
    ("view", C.T + ot.dot(A, B.T), lambda g: g(C).T + g(A) @ g(B).T, (1, 2, 1, 0)),
    ("itself", A + ot.dot(A, A), lambda g: g(A) + g(A) @ g(A), (1, 1, 1, 0)),
    (
        "products",
        ot.dot(A, B) + ot.dot(C, D) - ot.dot(A, D),
        lambda g: g(A) @ g(B) + g(C) @ g(D) - g(A) @ g(D),
        (3, 1, 1, 2),
    ),
    (
        "product twice",
        [ot.dot(A, B) + C, ot.dot(A, B)],
        lambda g: [g(A) @ g(B) + g(C), g(A) @ g(B)],
        (1, 2, 2, 0),
    ),
    ("vector", v + ot.dot(A, w), lambda g: g(v) + g(A) @ g(w), (1, 1, 1, 0)),
    ("transposed", v - ot.dot(w, A), lambda g: g(v) - g(w) @ g(A), (1, 1, 1, 0)),
    ("outer", C + 2.0 * ot.outer(v, w), lambda g: g(C) + 2 * np.outer(g(v), g(w)), (0, 2, 1, 0)),
    ("row", v - ot.dot(A, B), lambda g: g(v) - g(A) @ g(B), (1, 2, 1, 1)),
    ("number", alpha + ot.dot(A, w), lambda g: g(alpha) + g(A) @ g(w), (1, 1, 1, 1)),
    (
        "row and product",
        v + ot.dot(A, B) + ot.dot(C, D),
        lambda g: g(v) + g(A) @ g(B) + g(C) @ g(D),
        (2, 3, 1, 2),
    ),
    (
        "row, into a product",
        ot.dot(v + ot.dot(A, B), D),
        lambda g: (g(v) + g(A) @ g(B)) @ g(D),
        (2, 3, 2, 1),
    ),
    # where only loops read the sum they read its terms
    (
        "read by a loop",
        ot.tanh(C + ot.dot(A, B)),
        lambda g: np.tanh(g(C) + g(A) @ g(B)),
        (1, 2, 1, 1),
    ),
    (
        "row, read by a loop",
        ot.tanh(v + ot.dot(A, B)),
        lambda g: np.tanh(g(v) + g(A) @ g(B)),
        (1, 3, 1, 1),
    ),
    (
        "read by a loop, over a product",
        ot.tanh(ot.dot(A, B) + ot.dot(C, D)),
        lambda g: np.tanh(g(A) @ g(B) + g(C) @ g(D)),
        (2, 2, 1, 2),
    ),
]


@pytest.mark.parametrize(
    ("outputs", "reference", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_sum_with_a_product_is_one_call(outputs: Any, reference: Any, expected: Any) -> None:
    outputs = outputs if isinstance(outputs, list) else [outputs]
    program, inputs = lowered(outputs)
    assert Contents(program).all == expected
    arrays = [VALUES[x] for x in inputs]
    before = [a.copy() for a in arrays]
    results = reference(VALUES.__getitem__)
    results = results if isinstance(results, list) else [results]
    for a, b in zip(Compiled(program)(*arrays), results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_what_is_updated_takes_no_memory() -> None:
    program, _ = lowered([C - 0.1 * ot.dot(A, B)], states={0: 2})
    assert Contents(program).all == (1, 0, 0, 1)


@pytest.mark.parametrize("states", [None, {0: 2}])
@pytest.mark.parametrize("factor", [0.5, -2.0, 0.0, -0.0, np.inf, np.nan, 1e-200, 1e200])
def test_factors_that_are_none_for_blas(factor: float, states: Any) -> None:
    program, inputs = lowered([C - alpha * ot.dot(A, B)], states)
    for bad in (0.0, np.inf, np.nan):
        values = VALUES | {A: VALUES[A] + np.diag([bad] * 9), alpha: np.array(factor)}
        with np.errstate(all="ignore"):
            expected = values[C] - factor * (values[A] @ values[B])
            (found,) = Compiled(program)(*[values[x].copy() for x in inputs])
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("factor", [0.0, np.inf, 1e-200])
def test_numbers_that_are_no_factors_for_blas(factor: float) -> None:
    program, inputs = lowered([C + factor * ot.dot(A, B)])
    values = VALUES | {A: VALUES[A] + np.diag([np.inf] * 9)}
    with np.errstate(all="ignore"):
        expected = values[C] + factor * (values[A] @ values[B])
        (found,) = Compiled(program)(*[values[x] for x in inputs])
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0), (1, 1, 1)])
@pytest.mark.parametrize("beta", [1.0, 0.0, 2.0])
def test_products_of_nothing_leave_the_other_term(shape: tuple[int, int, int], beta: float) -> None:
    m, k, n = shape
    c = np.full((m, n), np.nan) if beta == 0 else np.ones((m, n))
    arrays = {A: np.ones((m, k)), B: np.ones((k, n)), C: c}
    program, inputs = lowered([beta * C + 2.0 * ot.dot(A, B)])
    (found,) = Compiled(program)(*[arrays[x] for x in inputs])
    np.testing.assert_array_equal(found, beta * c + 2.0 * arrays[A] @ arrays[B])
