"""Sums of results of one op that is linear in an argument become one result of the sum."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_linalg.ops.factorizations.cholesky import CholeskyPullback
from occelo_rewrite import optimizer_query, rewriter_for


def _rewritten(inputs: list[Any], outputs: list[Any]) -> og.FunctionGraph:
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    return graph


def _names(graph: og.FunctionGraph) -> Counter[str]:
    return Counter(type(node.op).__name__ for node in graph.apply_nodes)


def _cost(matrix: Any, vector: Any) -> Any:
    """Three factors of one matrix: in a quadratic form, a determinant, and a sum."""
    solved = linalg.solve_triangular(linalg.cholesky(matrix), vector, lower=True, b_ndim=1)
    logdet = ot.log(linalg.diagonal(linalg.cholesky(matrix))).sum()
    return (solved**2).sum() + 2.0 * logdet + ot.sin(linalg.cholesky(matrix)).sum()


@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_gradient_of_several_factors_of_a_matrix_has_one_pullback(
    batch: tuple[int, ...],
) -> None:
    matrix = ot.TensorType("float64", (None,) * (len(batch) + 2))("matrix")
    vector = ot.TensorType("float64", (None,) * (len(batch) + 1))("vector")
    cost = _cost(matrix, vector)
    outputs = [cost, og.grad(cost, matrix)]
    graph = _rewritten([matrix, vector], outputs)
    assert (_names(graph)["Cholesky"], _names(graph)["CholeskyPullback"]) == (1, 1)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(*batch, 3, 3))
    x = x @ x.swapaxes(-1, -2) + 3 * np.eye(3)
    v = rng.normal(size=(*batch, 3))

    def value(a: Any) -> Any:
        factor = np.linalg.cholesky(a)
        solved = np.linalg.solve(factor, v[..., None])
        diagonal = np.diagonal(factor, axis1=-2, axis2=-1)
        return (solved**2).sum() + 2 * np.log(diagonal).sum() + np.sin(factor).sum()

    found = og.evaluate(list(graph.outputs), {graph.inputs[0]: x, graph.inputs[1]: v})
    np.testing.assert_allclose(found[0], value(x), rtol=1e-12)
    for index in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[index] = 1e-6
        slope = (value(x + step) - value(x - step)) / 2e-6
        np.testing.assert_allclose(found[1][index], slope, rtol=1e-5, atol=1e-7)


def test_what_differs_otherwise_is_not_merged() -> None:
    x, y = ot.dmatrix("x"), ot.dmatrix("y")
    many = ot.dtensor3("many")
    factor, pullback = linalg.cholesky(x), CholeskyPullback()
    shared = pullback(factor, y)
    for terms, count in (
        ((pullback(factor, y), pullback(linalg.cholesky(y), x)), 2),  # other factors
        ((shared, pullback(factor, x), ot.exp(shared)), 2),  # something else reads a term
        ((shared, pullback(factor, many)), 2),  # one broadcasts
        ((shared, pullback(factor, x)), 1),
        ((shared, pullback(factor, x), pullback(factor, x * y), x), 1),
    ):
        graph = _rewritten([x, y, many], [ot.add(*terms)])
        assert _names(graph)["CholeskyPullback"] == count


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_differences_are_merged_too(dtype: str) -> None:
    x, y = (ot.tensor(n, dtype=dtype, shape=(None, None)) for n in "xy")
    pullback = CholeskyPullback()
    out = pullback(x, y) - pullback(x, y.T * y)
    graph = _rewritten([x, y], [out])
    assert _names(graph)["CholeskyPullback"] == 1
    rng = np.random.default_rng(1)
    a = np.tril(rng.normal(size=(3, 3))) + 3 * np.eye(3)
    b = rng.normal(size=(3, 3)) + (1j * rng.normal(size=(3, 3)) if dtype[0] == "c" else 0)
    values = [v.astype(dtype) for v in (a, b)]
    (found,) = og.evaluate(list(graph.outputs), dict(zip(graph.inputs, values, strict=True)))
    wide = [v.astype("complex128") for v in values]
    core = pullback.core(wide[0], wide[1]) - pullback.core(wide[0], wide[1].T * wide[1])
    tolerance = 1e-4 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, core, rtol=tolerance, atol=tolerance)
    assert found.dtype == dtype
