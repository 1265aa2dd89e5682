"""LU factors of tridiagonal matrices and equations with them, beside an elimination in Python and whole matrices."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
# the compiler of Numba takes many seconds for these programs
BACKENDS = [
    b
    for b in ("py", "native", "c", *(("numba",) if THOROUGH else ()), "jax", "pytorch")
    if importlib.util.find_spec(LIBRARIES.get(b, "numpy")) is not None
]
SHAPES = [(2, 6, 2), (2, 1, 2), (2, 2, 1), (1, 0, 2), (2, 3, 0), (0, 3, 2)]
DTYPES = ["float64", "complex64"]


def drawn(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    rng = np.random.default_rng([seed, *shape])
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def near_diagonal(x: Any) -> Any:
    return np.triu(np.tril(x, 1), -1)


def eliminated(a: Any) -> list[Any]:
    """The factors of one matrix, by exchanges of two rows where the second has the larger first element."""
    u: Any = near_diagonal(a).copy()
    n = len(u)
    steps: Any = np.zeros(max(n - 1, 0), u.dtype)
    pivots = np.arange(n, dtype="int32")
    for i in range(n - 1):
        size = np.abs(u.real) + np.abs(u.imag)
        if size[i, i] < size[i + 1, i]:
            u[[i, i + 1]] = u[[i + 1, i]]
            pivots[i] = i + 1
        steps[i] = u[i + 1, i] / u[i, i] if u[i, i] else 0
        u[i + 1] -= steps[i] * u[i]
    return [steps, *(np.diagonal(u, k) for k in range(min(n, 3))), pivots]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_and_solutions(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    factors = linalg.tridiagonal_lu_factor(a[:, ::-1])
    solved = [linalg.tridiagonal_lu_solve(factors, b, transposed=t) for t in (False, True)]
    assert oc.supports(backend, [*factors, *solved]) == []
    f = oc.function([a, b], [*factors, *solved], mode=backend)
    tolerance = 1e-3 if dtype == "complex64" else 1e-9
    # each shape is compiled anew by libraries that trace
    few = backend in LIBRARIES and not THOROUGH
    for lead, n, k in SHAPES[:2] if few else SHAPES:
        x, y = drawn((lead, n, n), dtype, 1), drawn((n, k), dtype, 2)
        found = f(x[:, ::-1], y)
        lengths = [max(n - 1, 0), n, max(n - 1, 0), max(n - 2, 0), n]
        assert [r.shape for r in found[:5]] == [(lead, m) for m in lengths]
        assert [r.dtype for r in found] == [dtype] * 4 + ["int32"] + [dtype] * 2
        for i in range(lead):
            if n > 2:
                for each, expected in zip(found[:5], eliminated(x[i]), strict=True):
                    np.testing.assert_allclose(each[i], expected, tolerance, tolerance)
            whole = near_diagonal(x[i])
            np.testing.assert_allclose(whole @ found[5][i], y, tolerance, tolerance)
            np.testing.assert_allclose(whole.T @ found[6][i], y, tolerance, tolerance)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_singular_matrix_is_named_or_nan_alone(backend: str) -> None:
    a, b = ot.dtensor3("a"), ot.dmatrix("b")
    given, right = drawn((3, 4, 4), "float64", 3), drawn((3, 4), "float64", 4)
    given[1, :, 0] = 0

    def compiled(on_error: str) -> Any:
        factors = linalg.tridiagonal_lu_factor(a)
        made = linalg.tridiagonal_lu_solve(factors, b, b_ndim=1, on_error=on_error)
        return oc.function([a, b], made, mode=backend)

    with pytest.raises(
        np.linalg.LinAlgError, match=r"tridiagonal_lu_solve: .*at index 1 of the batch"
    ):
        compiled("raise")(given, right)
    found = compiled("nan")(given, right)
    assert np.isnan(found[1]).all()
    for i in (0, 2):
        np.testing.assert_allclose(near_diagonal(given[i]) @ found[i], right[i], rtol=1e-9)


@pytest.mark.parametrize("backend", ["py", "native"])
def test_other_pivots_are_errors(backend: str) -> None:
    p = ot.lvector("p")
    rows = np.ones(2), np.ones(3), np.ones(2), np.ones(1)
    f = oc.function([p], linalg.tridiagonal_lu_solve((*rows, p), np.ones(3)), mode=backend)
    np.testing.assert_allclose(f([0, 1, 2]).shape, (3,))
    for pivots in ([0, 1, 3], [2, 1, 2], [-1, 1, 2], [0, 0, 2]):
        with pytest.raises(IndexError, match="a pivot is not its own row or the next one"):
            f(pivots)


def test_gradients_of_first_and_second_order() -> None:
    def solved(a: Any, b: Any) -> Any:
        return linalg.tridiagonal_lu_solve(linalg.tridiagonal_lu_factor(a), b)

    def slope(a: Any) -> Any:
        return oc.grad(ot.sin(solved(a, np.array([1.0, -2.0, 0.5]))).sum(), a)

    arrays = [drawn((3, 3), "float64", 5), drawn((3, 2), "float64", 6)]
    oc.verify_grad(solved, arrays, rng=np.random.default_rng(0))
    oc.verify_grad(slope, arrays[:1], rng=np.random.default_rng(0))


def test_factors_of_one_matrix_solve_for_a_batch_of_sides() -> None:
    a, b = ot.dmatrix("a"), ot.dtensor3("b")
    made = linalg.tridiagonal_lu_solve(linalg.tridiagonal_lu_factor(a), b)
    given, right = drawn((5, 5), "float64", 7), drawn((3, 5, 2), "float64", 8)
    found = oc.function([a, b], made)(given, right)
    np.testing.assert_allclose(near_diagonal(given) @ found, right, atol=1e-10)


def test_what_does_not_fit_is_an_error() -> None:
    for shape in ((3, 4), (3,)):
        with pytest.raises(ValueError, match="takes square matrices"):
            linalg.tridiagonal_lu_factor(ot.tensor("a", dtype="float64", shape=shape))
    a = ot.dmatrix("a")
    with pytest.raises(ValueError, match="needs square matrices"):
        oc.function([a], linalg.tridiagonal_lu_factor(a))(np.ones((3, 4)))
    with pytest.raises(TypeError, match="pivots that are integers"):
        linalg.tridiagonal_lu_solve([ot.dvector("v")] * 5, ot.dvector("b"))
