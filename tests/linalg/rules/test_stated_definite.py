"""Equations with matrices said to be positive definite share their Cholesky factor with determinants and inverses."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph.tensor as ot
from occelo_compile import function
from occelo_graph import grad
from occelo_graph.ops.control.branches import ifelse
from occelo_linalg import functions as linalg

MODES = ["native", "vm", *(["jax"] if importlib.util.find_spec("jax") else [])]
numeric: Any = np
npl: Any = np.linalg
FACTORISATIONS = ("Cholesky", "Solve", "Inv", "Det", "SLogDet", "LuFactor", "LuInverse", "LuSolve")


def factorisations(f: Any) -> dict[str, int]:
    found = Counter(type(node.op).__name__ for node in f.maker.fgraph.apply_nodes)
    return {name: found[name] for name in FACTORISATIONS if found[name]}


def by_solve(k: Any, y: Any) -> Any:
    return y @ linalg.solve(k, y, assume_a="pos")


def by_lower(k: Any, y: Any) -> Any:
    return y @ linalg.solve(k, y, True, assume_a="pos")


def by_factor(k: Any, y: Any) -> Any:
    return y @ linalg.cho_solve((linalg.cholesky(k), True), y)


def by_upper(k: Any, y: Any) -> Any:
    return y @ linalg.cho_solve(linalg.cho_factor(k), y)


DETERMINANTS: dict[str, Callable[[Any], Any]] = {
    "slogdet": lambda k: linalg.slogdet(k)[1],
    "log det": lambda k: ot.log(linalg.det(k)),
    "inv": lambda k: ot.sin(linalg.inv(k)).sum(),
    "det": lambda k: linalg.det(k) * 1e-3,
}


def example() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    k = rng.standard_normal((5, 5))
    return k @ k.T + 3 * np.eye(5), rng.standard_normal(5)


def reference(name: str, k: Any, y: Any) -> tuple[Any, Any, Any]:
    """The value, and its gradients by K and y (of free elements of K), by NumPy."""
    inverse, solved = npl.inv(k), npl.solve(k, y)
    value, slope = y @ solved, -numeric.outer(solved, solved)
    if name in ("slogdet", "log det"):
        value, slope = value + npl.slogdet(k)[1], slope + inverse
    elif name == "det":
        own = npl.det(k) * 1e-3
        value, slope = value + own, slope + own * inverse
    else:
        value, slope = (
            value + numeric.sin(inverse).sum(),
            slope - inverse @ numeric.cos(inverse) @ inverse,
        )
    return value, slope, 2 * solved


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("equation", [by_solve, by_lower, by_factor, by_upper])
@pytest.mark.parametrize("name", DETERMINANTS)
def test_value_and_gradients_take_one_factorisation(name: str, equation: Any, mode: str) -> None:
    k, y = ot.dmatrix("k"), ot.dvector("y")
    cost = equation(k, y) + DETERMINANTS[name](k)
    given = example()
    value, of_k, of_y = reference(name, *given)
    f = function([k, y], cost, mode=mode)
    assert factorisations(f) == {"Cholesky": 1}
    np.testing.assert_allclose(f(*given), value, rtol=1e-10)
    f = function([k, y], [cost, *grad(cost, [k, y])], mode=mode)
    assert factorisations(f) == {"Cholesky": 1}
    found, by_k, by_y = f(*given)
    np.testing.assert_allclose(found, value, rtol=1e-10)
    np.testing.assert_allclose(by_y, of_y, rtol=1e-10)
    # an equation reads one triangle, so only the sum of both gradients is the same
    np.testing.assert_allclose(by_k + by_k.T, of_k + of_k.T, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_complex_matrices_and_batches(mode: str) -> None:
    k, y = ot.tensor("k", dtype="complex128", shape=(None,) * 3), ot.zmatrix("y")
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 4, 4)) + 1j * rng.standard_normal((2, 4, 4))
    x = x @ x.conj().swapaxes(-1, -2) + np.eye(4)
    b = rng.standard_normal((4, 2)) + 1j
    outputs = [linalg.solve(k, y, assume_a="pos"), *linalg.slogdet(k), linalg.inv(k)]
    f = function([k, y], outputs, mode=mode)
    assert factorisations(f) == {"Cholesky": 1}
    wanted: list[Any] = [npl.solve(x, b[None]), *npl.slogdet(x), npl.inv(x)]
    for found, expected in zip(f(x, b), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
        f(x * np.array([1, -1])[:, None, None], b)


def indefinite() -> tuple[Any, Any]:
    return np.diag([1.0, -2.0, 3.0]) + 0.1, np.arange(3.0)


def test_equations_that_may_not_be_computed_state_nothing() -> None:
    k, y, chosen = ot.dmatrix("k"), ot.dvector("y"), ot.bscalar("chosen")
    outputs = [ifelse(chosen, by_solve(k, y), ot.constant(0.0)), *linalg.slogdet(k)]
    f = function([k, y, chosen], outputs, mode="native")
    given = indefinite()
    np.testing.assert_allclose(f(*given, 0)[1:], npl.slogdet(given[0]), rtol=1e-12)


def test_equations_that_are_nan_on_error_state_nothing() -> None:
    k, y = ot.dmatrix("k"), ot.dvector("y")
    solved = linalg.solve(k, y, assume_a="pos", on_error="nan")
    given = indefinite()
    found = function([k, y], [solved, *linalg.slogdet(k)], mode="native")(*given)
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found[1:], npl.slogdet(given[0]), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_a_factor_alone_does_not_state_that_the_other_triangle_is_its_mirror(mode: str) -> None:
    k = ot.dmatrix("k")
    x = np.tril(example()[0]) + np.triu(np.ones((5, 5)), 1)
    found = function([k], [linalg.cholesky(k), *linalg.slogdet(k)], mode=mode)(x)
    wanted: list[Any] = [npl.cholesky(x), *npl.slogdet(x)]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_a_triangle_alone_is_solved_as_before() -> None:
    k, y = ot.dmatrix("k"), ot.dvector("y")
    x, b = example()
    f = function([k, y], linalg.solve(k, y, assume_a="pos"), mode="native")
    np.testing.assert_allclose(f(np.triu(x), b), npl.solve(x, b), rtol=1e-10)
    lower = ot.tril(k)
    outputs = [linalg.solve(lower, y, True, assume_a="pos"), linalg.det(lower)]
    solved, size = function([k, y], outputs, mode="native")(x, b)
    np.testing.assert_allclose(solved, npl.solve(x, b), rtol=1e-10)
    np.testing.assert_allclose(size, np.prod(np.diagonal(x)), rtol=1e-12)
