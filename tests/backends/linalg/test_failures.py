"""With ``on_error="nan"`` one bad matrix of a batch is NaN alone, and so is its gradient; without it the error says its place."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]

LIBRARIES = {"jax": "jax", "pytorch": "torch"}
BACKENDS = [
    b
    for b in ("py", "native", "c", "jax", "pytorch")
    if importlib.util.find_spec(LIBRARIES.get(b, "numpy")) is not None
]
N = 4
RIGHT = np.arange(16.0).reshape(N, N) / 10
pytestmark = pytest.mark.filterwarnings("ignore:.* runs in Python:UserWarning")


def by_solving(function: Any, *rest: Any) -> Any:
    """The first result of a function of a matrix and further arguments."""

    def found(x: Any, **options: Any) -> Any:
        result: Any = function(x, *rest, **options)
        first: Any = result[0] if isinstance(result, tuple) else result
        return first

    return found


def _by_factors(x: Any, **options: Any) -> Any:
    return linalg.lu_solve(linalg.lu_factor(x), RIGHT, **options)


CASES: dict[str, tuple[Any, float]] = {
    "pinv": (linalg.pinv, np.nan),
    "lstsq": (by_solving(linalg.lstsq, RIGHT), np.nan),
    "inv": (by_solving(linalg.matrix_power, -2), 0.0),
    "lu_solve": (_by_factors, 0.0),
    "sqrtm": (linalg.sqrtm, -1.0),
    "solve_sylvester": (by_solving(linalg.solve_sylvester, RIGHT, RIGHT), np.nan),
    "solve_continuous_lyapunov": (by_solving(linalg.solve_continuous_lyapunov, RIGHT), np.inf),
    "solve_discrete_lyapunov": (by_solving(linalg.solve_discrete_lyapunov, RIGHT), 1.0),
}

WEIGHTS = 0.5 * RIGHT, np.eye(N), np.eye(N)
CASES |= {
    "solve_continuous_are": (by_solving(linalg.solve_continuous_are, *WEIGHTS), np.inf),
    "solve_discrete_are": (by_solving(linalg.solve_discrete_are, *WEIGHTS), np.nan),
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CASES)
def test_a_bad_matrix_and_its_gradient_are_nan_alone(name: str, backend: str) -> None:
    function, bad = CASES[name]
    good = np.random.default_rng(3).standard_normal((2, N, N)) * 0.2 + 2 * np.eye(N)
    given = np.stack([good[0], np.diag([bad] * N), good[1]])
    x = ot.dtensor3("x")

    def compiled(**options: Any) -> Any:
        result = function(x, **options)
        return oc.function([x], [result, oc.grad(ot.sin(result).sum(), x)], mode=backend)

    strict, lenient = compiled(), compiled(on_error="nan")
    for found, expected in zip(lenient(given), strict(good), strict=True):
        np.testing.assert_allclose(found[[0, 2]], expected, rtol=1e-9, atol=1e-12)
        assert np.isnan(found[1]).all()
    with pytest.raises(np.linalg.LinAlgError, match=f"{name}: .*at index 1 of the batch"):
        strict(given)


def test_the_rank_of_a_bad_matrix_is_zero() -> None:
    x = ot.dtensor3("x")
    given = np.stack([np.eye(3), np.full((3, 3), np.nan), np.ones((3, 3))])
    rank = oc.function([x], linalg.matrix_rank(x, on_error="nan"))
    assert rank(given).tolist() == [3, 0, 1]
    with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
        oc.function([x], linalg.matrix_rank(x))(given)


@pytest.mark.parametrize("name", ["pinv", "matrix_rank", "lstsq", "inv", "solve_sylvester"])
def test_other_words_are_errors(name: str) -> None:
    function = CASES[name][0] if name in CASES else getattr(linalg, name)
    with pytest.raises(ValueError, match='on_error must be "raise" or "nan"'):
        function(ot.dmatrix("x"), on_error="ignore")


@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
@pytest.mark.parametrize("backend", ["py", "native"])
def test_riccati_equations_with_nan_are_errors(name: str, backend: str) -> None:
    x, one = ot.dtensor3("x"), np.eye(2)
    solved = oc.function([x], getattr(linalg, name)(x, one, one, one), mode=backend)
    given = np.stack([0.3 * one, np.full((2, 2), np.nan)])
    with pytest.raises(np.linalg.LinAlgError, match=f"{name}: .*NaNs, at index 1 of the batch"):
        solved(given)


@pytest.mark.parametrize("backend", ["py", "vm", "native"])
def test_equations_of_diagonal_matrices_without_a_unique_solution(backend: str) -> None:
    """What is known to be diagonal fails, or is perturbed, as other matrices are."""
    v = ot.dmatrix("v")
    x = v[..., None] * np.eye(3)
    right = np.arange(9.0).reshape(3, 3)
    steps = oc.function([v], linalg.solve_discrete_lyapunov(x, right), mode=backend)
    good = np.array([0.5, -0.25, 3.0])
    np.testing.assert_allclose(steps([good])[0], right / (1 - np.outer(good, good)))
    with pytest.raises(
        np.linalg.LinAlgError, match=r"solve_discrete_lyapunov: .*at index 1 of the batch"
    ):
        steps([good, [0.5, 2.0, 3.0]])
    lost = linalg.solve_discrete_lyapunov(x, right, on_error="nan")
    found = oc.function([v], lost, mode=backend)([good, [0.5, 2.0, 3.0]])
    np.testing.assert_allclose(found[0], right / (1 - np.outer(good, good)))
    assert np.isnan(found[1]).all()

    still = oc.function([v], linalg.solve_continuous_lyapunov(x, right), mode=backend)
    found = still([[1.0, -1.0, 2.0]])[0]
    assert np.isfinite(found).all()
    sums = np.add.outer([1.0, -1.0, 2.0], [1.0, -1.0, 2.0])
    np.testing.assert_allclose(found[sums != 0], right[sums != 0] / sums[sums != 0])
    assert (np.abs(found[sums == 0]) > 1e14).all()
