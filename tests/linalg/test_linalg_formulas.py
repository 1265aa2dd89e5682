"""Formulas that `pprint` prints of linear algebra: as expressions of Occelo they compute what the graph computes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_linalg import functions as linalg
from occelo_linalg.ops.matrix_op import MatrixOp
from occelo_printing import pprint

SPACE: dict[str, Any] = {name: getattr(ot, name) for name in dir(ot) if name[0].islower()}
SPACE["linalg"] = linalg
m, b, c, r = (
    ot.tensor(n, dtype="float64", shape=s)
    for n, s in zip("mbcr", [(3, 3), (3, 2), (3,), (2, 2)], strict=True)
)
INPUTS = {"m": m, "b": b, "c": c, "r": r, "p": ot.vector("p", dtype="int32")}
VALUES: dict[Any, Any] = {
    m: np.array([[4.0, 1.0, 0.5], [1.0, 5.0, -1.0], [0.5, -1.0, 6.0]]),
    b: np.array([[1.0, 2.0], [-3.0, 0.5], [0.1, 7.0]]),
    c: np.array([5.0, 1.0, 0.25]),
    r: np.array([[2.0, 0.5], [0.5, 3.0]]),
    INPUTS["p"]: np.array([1, 2, 2], "int32"),
}
FAMILY = [
    "det(m)", "slogdet(m)[0]", "slogdet(m)[1]", "inv(m)", "inv(m, on_error='nan')", "kron(m, b)", "block_diag(m, b)",
    "pinv(b, constant(1e-10))", "pinv(b, constant(1e-10), on_error='nan')", "expm(m)", "logm(m)", "sqrtm(m)",
    "logm(m, on_error='nan')", "eig(m)[0]", "eig(m)[1]", "eigvals(m, on_error='nan')", "eigh(m)[1]", "eigvalsh(m)",
    "eigh(m, lower=False, on_error='nan')[0]", "eigvalsh(m, lower=False)", "qr(b)[0]", "qr(b)[1]",
    "qr(b, 'complete')[0]", "qr(b, 'r')", "qr(b, 'r', True)[1]", "qz(m, m.T)[2]", "qz(m, m.T, on_error='nan')[0]",
    "ordqz(m, m.T, 'ouc')[4]", "ordqz(m, m.T, 'rhp', on_error='nan')[1]", "schur(m)[1]", "schur(m, on_error='nan')[0]",
    "schur(m, sort='rhp')[2]", "schur(m, sort='iuc', on_error='nan')[0]", "svd(b)[0]", "svd(b, on_error='nan')[1]",
    "svd(b, full_matrices=False)[0]", "svd(b, full_matrices=False, on_error='nan')[2]", "svdvals(b)",
    "svdvals(b, on_error='nan')", "lu_factor(b)[0]", "lu_factor(b)[1]", "pivot_to_permutation(p)",
    "pivot_to_permutation(p, inverse=True)", "householder_product(b, r[0])", "cholesky(m)",
    "cholesky(m, on_error='nan')", "solve(m, b)", "solve(m, b, on_error='nan')", "solve(m, b, assume_a='diagonal')",
    "solve(m, b, assume_a='pos', lower=True)", "solve(m, b, assume_a='sym', on_error='nan', lower=True)",
    "solve_triangular(m, b)", "solve_triangular(m, b, lower=True)", "lu_solve((m, p), b)",
    "solve_triangular(m, b, unit_diagonal=True, on_error='nan', lower=True)", "lu_solve((m, p), b, trans=1)",
    "solve_banded((1, 1), m, b)", "solve_banded((0, 2), m, b, on_error='nan')",
    "solveh_banded(m[:1], b, lower=True)", "solveh_banded(m[:1], b, lower=True, on_error='nan')",
    "solve_toeplitz((c, c), b)", "solve_toeplitz((c, b[:, 0]), b, on_error='nan')", "solve_sylvester(m, m.T, m)",
    "solve_sylvester(m, m.T, m, on_error='nan')", "solve_continuous_lyapunov(m, m)",
    "solve_discrete_lyapunov(m, m)", "solve_discrete_lyapunov(m, m, method='bilinear', on_error='nan')",
    "solve_continuous_are(m, b, m @ m.T, r)", "solve_continuous_are(m, b, m @ m.T, r, balanced=False, on_error='nan')",
    "solve_discrete_are(m, b, m @ m.T, r, s=b)", "solve_discrete_are(m, b, m @ m.T, r, s=b, balanced=False)",
    "lstsq(b, m, real(constant(0.001)))[0]",
]  # fmt: skip
"""Calls of functions of the family, with options that are not the defaults."""


def evaluated(text: str) -> Any:
    return eval(text, dict(SPACE), dict(INPUTS))


@pytest.mark.parametrize("text", FAMILY)
def test_linear_algebra_prints_as_it_is_written(text: str) -> None:
    printed = evaluated("linalg." + text)
    if not text.startswith("lstsq"):
        assert pprint(printed) == "linalg." + text
    again = evaluated(pprint(printed))
    assert again.type == printed.type
    expected, found = og.evaluate([printed, again], VALUES)
    np.testing.assert_array_equal(found, expected)


def test_formulas_as_parts_of_others() -> None:
    text = "linalg.inv(m) @ linalg.solve(m.T, b + 1.0) - linalg.det(m) * b"
    printed = evaluated(text)
    assert pprint(printed) == text
    vectors = pprint(linalg.solve(m, c))
    np.testing.assert_array_equal(
        og.evaluate(evaluated(vectors), VALUES), og.evaluate(linalg.solve(m, c), VALUES)
    )


def _subclasses(cls: type[MatrixOp]) -> Iterator[type[MatrixOp]]:
    for each in cls.__subclasses__():
        yield from (each, *_subclasses(each))


def test_all_ops_of_the_family_print_as_calls() -> None:
    own = (c for c in _subclasses(MatrixOp) if c.__module__.startswith("occelo_linalg."))
    ops = {c for c in own if not c.__name__.startswith("_")}
    tried = {type(n.op) for text in FAMILY for n in toposort(evaluated("linalg." + text))}
    without = {c for c in ops if c.formula is None}
    assert {c.__name__ for c in ops - tried - without} == set()
    assert {c.__name__ for c in without} == {
        "Adjugate", "BalancingScale", "CholeskyPullback", "LuInverse", "QRFactors", "TriangularSylvester",
        "TridiagonalFactor", "TridiagonalSolve",
    }  # fmt: skip
