"""Keywords of SciPy that do not change results: check_finite, overwrite_a, driver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions

linalg: Any = functions
G = np.random.default_rng(2).normal(size=(3, 3))
S = G @ G.T + 3 * np.eye(3)
T = S + 2 * np.eye(3) + np.diag([1.0, 2.0, 3.0])
V = np.array([1.0, -2.0, 0.5])
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("cholesky", (S,), {"overwrite_a": True}),
    ("cho_factor", (S,), {"overwrite_a": True}),
    ("det", (S,), {"overwrite_a": True}),
    ("eig", (S,), {"overwrite_a": False}),
    ("eigvals", (S,), {"overwrite_a": False}),
    ("eigh", (S,), {"overwrite_a": True, "driver": "evr"}),
    ("eigh", (S, T), {"overwrite_b": True, "driver": "gvd"}),
    ("eigvalsh", (S, T), {"overwrite_b": True}),
    ("inv", (S,), {"overwrite_a": True}),
    ("lstsq", (G[:, :2], V), {"overwrite_a": True, "lapack_driver": "gelsy"}),
    ("lu", (G,), {"overwrite_a": True}),
    ("lu_factor", (G,), {"overwrite_a": True}),
    ("norm", (G,), {}),
    ("ordqz", (G, S), {"overwrite_a": True, "overwrite_b": True}),
    ("pinv", (G,), {}),
    ("qr", (G,), {"overwrite_a": True, "lwork": 64}),
    ("qz", (G, S), {"overwrite_a": True, "overwrite_b": True, "lwork": None}),
    ("schur", (G,), {"overwrite_a": True, "lwork": None}),
    ("solve", (G, V), {"overwrite_a": True, "overwrite_b": True}),
    ("solve_banded", ((1, 1), G, V), {"overwrite_ab": True, "overwrite_b": True}),
    ("solveh_banded", (np.array([[0.0, 1, 0.5], [5, 5, 6]]), V), {"overwrite_ab": True}),
    ("solve_toeplitz", ((V, V), V), {}),
    ("solve_triangular", (S, V), {"overwrite_b": True}),
    ("svd", (G,), {"overwrite_a": True, "lapack_driver": "gesvd"}),
    ("svdvals", (G,), {"overwrite_a": True}),
]


def _results(made: Any) -> list[Any]:
    return [m for m in (made if isinstance(made, tuple) else [made]) if hasattr(m, "owner")]


@pytest.mark.parametrize(
    ("name", "arguments", "options"), CALLS, ids=lambda v: v if isinstance(v, str) else ""
)
def test_keywords_are_accepted_and_nan_is_found(name: str, arguments: Any, options: Any) -> None:
    variables: dict[Any, Any] = {}

    def symbolic(value: Any) -> Any:
        if isinstance(value, tuple) and not isinstance(value[0], int):
            return tuple(map(symbolic, value))
        if not isinstance(value, np.ndarray):
            return value
        made = ot.tensor(dtype=value.dtype, shape=value.shape)
        variables[made] = value
        return made

    taken = tuple(map(symbolic, arguments))
    function = getattr(linalg, name)
    plain = _results(function(*taken))
    getattr(scipy.linalg, name)  # it has the name
    checked = _results(function(*taken, check_finite=True, **options))
    for found, expected in zip(checked, plain, strict=True):
        np.testing.assert_array_equal(
            og.evaluate(found, variables), og.evaluate(expected, variables)
        )
    bad = {v: np.where(a == a.flat[0], np.nan, a) for v, a in variables.items()}
    with pytest.raises(ValueError, match="infinite or NaN"):
        og.evaluate(checked[0], bad)


def test_generalized_eigenvalues_by_position_are_those_of_scipy() -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    values, vectors = linalg.eigh(a, b)
    found = og.evaluate([values, vectors, linalg.eigvalsh(a, b)], {a: S, b: T})
    expected, columns = scipy.linalg.eigh(S, T)
    np.testing.assert_allclose(found[0], expected, rtol=1e-12)
    np.testing.assert_allclose(found[2], expected, rtol=1e-12)
    np.testing.assert_allclose(abs(found[1]), abs(columns), rtol=1e-10)
    with pytest.raises(TypeError, match="b twice"):
        linalg.eigh(a, b, b=b)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    "assume_a",
    "gen general pos sym her diagonal lower_triangular upper_triangular".split(),
)
def test_inverses_under_an_assumption_are_those_of_scipy(assume_a: str, lower: bool) -> None:
    a, kind = ot.dtensor3("a"), assume_a.replace("_", " ")
    definite = {"lower triangular": np.tril(G), "upper triangular": np.triu(G), "gen": G}
    value = definite.get(kind, S) if kind != "diagonal" else np.diag([1.0, -2.0, 4.0])
    unread = {"lower triangular": np.tril(value), "upper triangular": np.triu(value)}
    read = unread.get(kind, np.tril(value) if lower else np.triu(value))
    passed = read if kind in ("pos", "sym", "her") else value
    inverses = og.evaluate(
        linalg.inv(a, assume_a=kind, lower=lower), {a: np.stack([passed, 2 * passed])}
    )
    expected = scipy.linalg.inv(passed, assume_a=kind, lower=lower)
    np.testing.assert_allclose(inverses, [expected, expected / 2], rtol=1e-10, atol=1e-14)


def test_qz_sorts_as_ordqz_does() -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    sorted_pair = og.evaluate(list(linalg.qz(a, b, sort="ouc")), {a: G, b: S})
    left, right, _, _, *unitary = scipy.linalg.ordqz(G, S, "ouc")
    for computed, expected in zip(sorted_pair, (left, right, *unitary), strict=True):
        np.testing.assert_allclose(computed, expected, rtol=1e-12, atol=1e-13)


def test_mistakes() -> None:
    a = ot.dmatrix("a")
    with pytest.raises(
        TypeError, match="cholesky has no argument 'overwrite'; did you mean overwrite_"
    ):
        linalg.cholesky(a, overwrite=True)
    with pytest.raises(TypeError, match="inv has no argument 'driver'"):
        linalg.inv(a, driver="evr")
    with pytest.raises(ValueError, match="lapack_driver of svd is one of gesdd, gesvd, not 'gesv'"):
        linalg.svd(a, lapack_driver="gesv")
