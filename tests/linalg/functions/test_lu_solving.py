"""Equations and inverses by LU factors, as ops: values, decompositions and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_linalg.ops.equations.lu_solving import LuInverse, LuSolve

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


@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_gradients_over_batches_of_complex_numbers_and_of_second_order(trans: str) -> None:
    a = rng.normal(size=(2, 3, 3)) + 2 * np.eye(3)
    b = rng.normal(size=(3, 2))

    def solved(x: Any, y: Any) -> Any:
        return linalg.lu_solve(linalg.lu_factor(x), y, trans, b_ndim=2)

    og.verify_grad(solved, [a, b])
    og.verify_grad(lambda x, y: og.grad((solved(x, y) ** 2).sum(), x), [a[0], b])

    def of_parts(re: Any, im: Any) -> Any:
        made = solved(ot.complex(re, im), ot.complex(re[:, :2], im[:, 1:]))
        return made.real * 0.3 + made.imag * 0.7

    og.verify_grad(of_parts, [a[0], a[1] - 1.0])


def test_a_factorisation_is_taken_as_it_is() -> None:
    """A user's L and U, which are those of no matrix with these pivots."""
    factors = rng.normal(size=(3, 3)) + 2 * np.eye(3)
    pivots = np.array([2, 1, 2], "int64")
    f, p, b = ot.dmatrix("f"), ot.lvector("p"), ot.dvector("b")
    right = rng.normal(size=3)
    for trans in (0, 1, 2):
        (found,) = og.evaluate(
            [linalg.lu_solve((f, p), b, trans)], {f: factors, p: pivots, b: right}
        )
        lower = np.tril(factors, -1) + np.eye(3)
        matrix = (lower @ np.triu(factors))[[2, 1, 0]]
        np.testing.assert_allclose(found, np.linalg.solve(matrix.T if trans else matrix, right))
        og.verify_grad(lambda x, y, t=trans: linalg.lu_solve((x, pivots), y, t), [factors, right])
    for wrong in (ot.dvector(), ot.tensor(dtype="bool", shape=(3,))):
        with pytest.raises(TypeError, match="pivots that are integers"):
            linalg.lu_solve((f, wrong), b)


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
