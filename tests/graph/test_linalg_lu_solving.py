"""Equations and inverses by LU factors, as ops: values, decompositions and errors."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import linalg
from occelo_graph import tensor as ot
from occelo_graph.ops.linalg.lu_solving import LuInverse, LuSolve

rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_values_are_those_of_equations(batch: tuple[int, ...], trans: int, dtype: str) -> None:
    kind = ot.TensorType(dtype, (None,) * (len(batch) + 2))
    a, b = kind("a"), ot.TensorType(dtype, (None, None))("b")
    factors = linalg.lu_factor(a)
    solved, inverse = LuSolve(trans)(*factors, b), LuInverse()(*factors)
    by_parts = [v.owner.op.decompose(*v.owner.inputs)[0] for v in (solved, inverse)]
    for n, k in ((4, 2), (1, 1), (0, 2), (3, 0)):
        x = (rng.normal(size=(*batch, n, n)) + 2 * np.eye(n)).astype(dtype)
        y = rng.normal(size=(n, k)).astype(dtype)
        if dtype.startswith("c"):
            x = x + np.asarray(1j, dtype) * rng.normal(size=x.shape).astype(x.real.dtype)
        matrix = {0: x, 1: x.swapaxes(-1, -2), 2: x.swapaxes(-1, -2).conj()}[trans]
        wanted = [np.linalg.solve(matrix, y), np.linalg.inv(x)] * 2
        tolerance = 1e-9 if dtype in ("float64", "complex128") else 2e-3
        found = og.evaluate([solved, inverse, *by_parts], {a: x, b: y})
        for got, each in zip(found, wanted, strict=True):
            assert got.dtype == each.dtype
            np.testing.assert_allclose(got, each, rtol=tolerance, atol=tolerance)


def test_gradients() -> None:
    a = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    b = rng.normal(size=(3, 2))
    for function in (
        *(lambda x, y, t=t: LuSolve(t)(*linalg.lu_factor(x), y) for t in (0, 1, 2)),
        lambda x, y: LuInverse()(*linalg.lu_factor(x)) @ y,
    ):
        og.verify_grad(function, [a, b])


def test_pivots_that_are_no_rows_and_zeros_on_the_diagonal_are_errors() -> None:
    x, p = ot.dmatrix("x"), ot.ivector("p")
    for made in (LuSolve()(x, p, x), LuInverse()(x, p)):
        for pivots in ([0, 2], [-1, 1]):
            with pytest.raises(IndexError, match="no position among 2 rows"):
                og.evaluate(made, {x: np.eye(2), p: np.array(pivots, "int32")})
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            og.evaluate(made, {x: np.diag([1.0, 0.0]), p: np.array([0, 1], "int32")})
    with pytest.raises(ValueError, match="lu_solve"):
        og.evaluate(LuSolve()(x, p, x), {x: np.eye(3), p: np.array([0, 1], "int32")})
