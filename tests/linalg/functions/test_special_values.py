"""Every function of linear algebra at special matrices: of zeros, of ones, singular, with NaN or infinity, empty, 1 x 1.

On each compiled backend and in Python, a function has the values of NumPy or SciPy, or raises an error of the same class. Outputs that are not
unique, such as eigenvectors, are left out or multiplied until they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_linalg.functions as linalg
from occelo_graph import tensor as ot
from occelo_graph.config import config

scipy_linalg = pytest.importorskip("scipy.linalg")
nla: Any = np.linalg
sla: Any = scipy_linalg
inf, nan = np.inf, np.nan

MATRICES: dict[str, Any] = {
    "ordinary": np.array([[4.0, 1.0], [1.0, 3.0]]),
    "zeros": np.zeros((2, 2)),
    "ones": np.ones((2, 2)),
    "singular": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "NaN": np.array([[4.0, 1.0], [nan, 3.0]]),
    "NaN on the diagonal": np.array([[nan, 0.0], [0.0, 3.0]]),
    "inf": np.array([[4.0, 1.0], [inf, 3.0]]),
    "inf on the diagonal": np.array([[inf, 0.0], [0.0, 3.0]]),
    "minus inf on the diagonal": np.array([[-inf, 0.0], [0.0, 3.0]]),
    "empty": np.zeros((0, 0)),
    "1 x 1": np.array([[2.0]]),
    "1 x 1 of zero": np.array([[0.0]]),
    "1 x 1 of NaN": np.array([[nan]]),
    "1 x 1 of inf": np.array([[inf]]),
}
Row = tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None]


def _column(a: Any) -> Any:
    return np.ones(len(a))


def _b(x: Any) -> Any:
    return ot.ones((x.shape[0],))


ROWS: list[Row] = [
    # name, function of a matrix, the same in NumPy or SciPy
    ("block_diag", lambda x: linalg.block_diag(x, x), lambda a: sla.block_diag(a, a)),
    ("cho_factor", lambda x: ot.tril(linalg.cho_factor(x, lower=True)[0]), None),
    ("cho_solve", lambda x: linalg.cho_solve((x, True), _b(x)), None),
    ("cholesky", linalg.cholesky, nla.cholesky),
    ("cond", linalg.cond, nla.cond),
    ("cond 1", lambda x: linalg.cond(x, 1), lambda a: nla.cond(a, 1)),
    ("cond fro", lambda x: linalg.cond(x, "fro"), lambda a: nla.cond(a, "fro")),
    ("det", linalg.det, nla.det),
    ("diagonal", linalg.diagonal, np.diagonal),
    ("eig", lambda x: abs(linalg.eig(x)[0]).sum(), lambda a: abs(nla.eig(a)[0]).sum()),
    ("eigh", lambda x: linalg.eigh(x)[0], lambda a: nla.eigh(a)[0]),
    ("eigvals", lambda x: abs(linalg.eigvals(x)).sum(), lambda a: abs(nla.eigvals(a)).sum()),
    ("eigvalsh", linalg.eigvalsh, nla.eigvalsh),
    ("expm", linalg.expm, sla.expm),
    ("inv", linalg.inv, nla.inv),
    ("kron", lambda x: linalg.kron(x, x), lambda a: np.kron(a, a)),
    ("logm", linalg.logm, None),
    ("lstsq", lambda x: linalg.lstsq(x, _b(x))[0], None),
    ("lu", lambda x: linalg.matmul(*linalg.lu(x)[1:]), None),
    ("lu_factor", lambda x: linalg.lu_factor(x)[0], None),
    ("lu_solve", lambda x: linalg.lu_solve(linalg.lu_factor(x), _b(x)), None),
    ("matmul", lambda x: linalg.matmul(x, x), lambda a: a @ a),
    ("matrix_dot", lambda x: linalg.matrix_dot(x, x), lambda a: a @ a),
    ("matrix_norm", linalg.matrix_norm, nla.matrix_norm),
    ("matrix_norm 2", lambda x: linalg.matrix_norm(x, ord=2), lambda a: nla.matrix_norm(a, ord=2)),
    ("matrix_norm nuc", lambda x: linalg.matrix_norm(x, ord="nuc"), lambda a: nla.matrix_norm(a, ord="nuc")),
    ("matrix_power 3", lambda x: linalg.matrix_power(x, 3), lambda a: nla.matrix_power(a, 3)),
    ("matrix_power -2", lambda x: linalg.matrix_power(x, -2), lambda a: nla.matrix_power(a, -2)),
    ("matrix_power 0", lambda x: linalg.matrix_power(x, 0), lambda a: nla.matrix_power(a, 0)),
    ("matrix_rank", linalg.matrix_rank, nla.matrix_rank),
    ("matrix_transpose", linalg.matrix_transpose, lambda a: a.T),
    ("matvec", lambda x: linalg.matvec(x, _b(x)), lambda a: a @ _column(a)),
    ("multi_dot", lambda x: linalg.multi_dot([x, x, x]), lambda a: a @ a @ a),
    ("norm", linalg.norm, nla.norm),
    ("outer", lambda x: linalg.outer(x[:1].sum(0), x[:1].sum(0)), lambda a: np.outer(a[:1].sum(0), a[:1].sum(0))),
    ("pinv", linalg.pinv, nla.pinv),
    ("qr", lambda x: linalg.matmul(*linalg.qr(x)), lambda a: np.matmul(*nla.qr(a))),
    ("slogdet", lambda x: list(linalg.slogdet(x)), lambda a: list(nla.slogdet(a))),
    ("solve", lambda x: linalg.solve(x, _b(x)), lambda a: nla.solve(a, _column(a))),
    ("solve pos", lambda x: linalg.solve(x, _b(x), assume_a="pos"), None),
    ("solve sym", lambda x: linalg.solve(x, _b(x), assume_a="sym"), None),
    ("solve_triangular", lambda x: linalg.solve_triangular(x, _b(x), lower=True), None),
    ("schur", lambda x: ot.diagonal(linalg.schur(x)[0]).sum(), None),
    ("qz", lambda x: ot.diagonal(linalg.qz(x, x)[0]).sum() * 0, None),
    ("sqrtm", linalg.sqrtm, None),
    ("svd", lambda x: linalg.svd(x)[1], lambda a: nla.svd(a)[1]),
    ("svdvals", linalg.svdvals, nla.svdvals),
    ("solve_continuous_lyapunov", lambda x: linalg.solve_continuous_lyapunov(x, x), None),
    ("solve_discrete_lyapunov", lambda x: linalg.solve_discrete_lyapunov(0.1 * x, x), None),
    ("solve_sylvester", lambda x: linalg.solve_sylvester(x, x, x), None),
    ("solve_continuous_are", lambda x: linalg.solve_continuous_are(x, x, x, x), None),
    ("solve_discrete_are", lambda x: linalg.solve_discrete_are(x, x, x, x), None),
    ("solve_toeplitz", lambda x: linalg.solve_toeplitz(x[:, 0], _b(x)), None),
    ("toeplitz", lambda x: linalg.toeplitz(x[:, 0]), None),
    ("tensorinv", lambda x: linalg.tensorinv(x, ind=1), lambda a: nla.tensorinv(a, ind=1)),
    ("tensorsolve", lambda x: linalg.tensorsolve(x, _b(x)), lambda a: nla.tensorsolve(a, _column(a))),
    ("trace", linalg.trace, np.trace),
    ("tensordot", lambda x: linalg.tensordot(x, x, 1), lambda a: np.tensordot(a, a, 1)),
    ("vecdot", lambda x: linalg.vecdot(x, x), lambda a: np.vecdot(a, a)),
    ("vecmat", lambda x: linalg.vecmat(_b(x), x), lambda a: _column(a) @ a),
    ("vector_norm", lambda x: linalg.vector_norm(x), nla.vector_norm),
    ("householder_product", lambda x: linalg.householder_product(x, _b(x)), None),
]  # fmt: skip


MODES = ["native", "c", "numba", "jax", "pytorch"]
NOT_FUNCTIONS_OF_A_MATRIX = {
    *("cross", "ordqz", "pivot_to_permutation", "solve_banded", "solveh_banded"),
    *("tridiagonal_lu_factor", "tridiagonal_lu_solve"),
}
REFUSE_NOT_FINITE = {"eigh", "eigvalsh", "svd", "svdvals", "pinv", "matrix_norm 2", "matrix_norm nuc", "matrix_rank"}  # fmt: skip
"""They raise LinAlgError for NaN and infinity, where NumPy raises it for some and has numbers of no meaning for others."""
NAN_FOR_NAN = {"cond"}
"""NaN, where NumPy raises an error."""
PIVOTS_DECIDE = {"inv", "solve", "tensorinv", "tensorsolve", "matrix_power -2"}
"""Which elements are NaN depends on the order of operations, if a matrix is not finite: tiny matrices have formulas."""

LEFT_AS_NAN = {
    **dict.fromkeys([("NaN", "cho_factor"), ("NaN", "cholesky")], ("jax", "pytorch")),
    **{("NaN on the diagonal", n): ("pytorch",) for n in ("lu", "lu_factor", "lu_solve")},
}
"""The libraries fill a whole factor with NaN, where LAPACK leaves the numbers that it had computed before."""
ROUNDING_DECIDES = {
    ("singular", "logm"): tuple(MODES),
}
"""The logarithm of a matrix that is singular but for rounding is that of rounding errors."""


def outcome(computed: Callable[[], Any]) -> Any:
    """The values, or the class of the error."""
    with np.errstate(all="ignore"):
        try:
            found = computed()
        except (ValueError, TypeError, ArithmeticError, IndexError) as error:
            return type(error)
    return [np.asarray(v) for v in (found if isinstance(found, list | tuple) else [found])]


def compare(where: str, found: Any, expected: Any) -> None:
    if isinstance(expected, type) or isinstance(found, type):
        assert found is expected, f"{where}: {found} instead of {expected}"
        return
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10, err_msg=where)


def test_every_function_has_a_row() -> None:
    public = {n for n in dir(linalg) if n[0].islower() and callable(getattr(linalg, n))}
    rows = {name.split()[0] for name, *_ in ROWS}
    assert public - NOT_FUNCTIONS_OF_A_MATRIX == rows


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("row", ROWS, ids=[r[0] for r in ROWS])
def test_a_function_of_special_matrices(row: Row, mode: str) -> None:
    name, build, reference = row
    x = ot.dmatrix("x")
    pytest.importorskip({"native": "numpy", "c": "numpy", "pytorch": "torch"}.get(mode, mode))
    with config.change_flags(pytorch__compile=False):
        reached = {m: oc.function([x], build(x), mode=m) for m in ("py", mode)}
    for kind, matrix in MATRICES.items():
        where, finite = f"{name} of {kind}", bool(np.isfinite(matrix).all())
        by_python = outcome(lambda matrix=matrix: reached["py"](matrix))
        if reference is not None and (finite or name not in REFUSE_NOT_FINITE | NAN_FOR_NAN):
            expected = outcome(lambda matrix=matrix: reference(matrix))
            if not (kind == "empty" and name == "tensorinv"):  # NumPy cannot reshape it
                compare(f"{where}, Python", by_python, expected)
        if not finite and name in REFUSE_NOT_FINITE:
            assert by_python is np.linalg.LinAlgError or np.isnan(by_python[0]).all(), where
        if not finite and name in PIVOTS_DECIDE:
            continue
        if mode in LEFT_AS_NAN.get((kind, name), ()) + ROUNDING_DECIDES.get((kind, name), ()):
            continue
        compare(f"{where}, {mode}", outcome(lambda matrix=matrix: reached[mode](matrix)), by_python)
