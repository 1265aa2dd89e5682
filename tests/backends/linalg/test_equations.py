"""Linear equations, inverses and LU factorisations on every backend: batches, layouts, sizes, and matrices that fail."""

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

LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
BACKENDS = [
    b
    for b in ("native", "c", "numba", "jax", "pytorch")
    if importlib.util.find_spec(LIBRARIES.get(b, "numpy")) is not None
]
SINGULAR = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), 2 * np.eye(3)])


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    real = rng.uniform(-1, 1, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if dtype.startswith("c") else real).astype(dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_small_and_large_matrices_of_unknown_lengths(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    outputs = [linalg.solve(a, b), linalg.inv(a), *linalg.slogdet(a), linalg.lu_factor(a)[0]]
    f = oc.function([a, b], outputs, mode=backend)
    for lead, n in ((2, 3), (1, 17), (2, 0), (0, 2)):
        x = drawn((lead, n, n), dtype) + np.asarray(3, dtype) * np.eye(n, dtype=dtype)
        y = drawn((n, 2), dtype, 1)
        wanted = [np.linalg.solve(x, y), np.linalg.inv(x), *np.linalg.slogdet(x)]
        *found, factors = f(x, y)
        for got, each in zip(found, wanted, strict=True):
            assert got.dtype == each.dtype
            tolerance = 1e-10 if dtype == "float64" else 2e-4
            np.testing.assert_allclose(got, each, rtol=tolerance, atol=tolerance)
        assert factors.shape == x.shape
        sizes = np.prod(np.abs(np.diagonal(factors, 0, -2, -1)), -1)
        np.testing.assert_allclose(sizes, np.abs(np.linalg.det(x)), rtol=1e-3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_singular_matrix_is_named(backend: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(3, 3, 3))
    for function, reason in (
        (linalg.inv, "inv: Singular matrix"),
        (lambda a, **k: linalg.solve(a, np.eye(3), **k), "solve: Singular matrix"),
        (
            lambda a, **k: linalg.solve(a, np.eye(3), assume_a="pos", **k),
            "solve: Matrix is not positive definite",
        ),
    ):
        f = oc.function([x], function(x), mode=backend)
        with pytest.raises(np.linalg.LinAlgError, match=f"{reason}, at index 1 of the batch"):
            f(SINGULAR)
        np.testing.assert_allclose(f(SINGULAR[[0, 0, 2]])[2], np.eye(3) / 2)
        g = oc.function([x], function(x, on_error="nan"), mode=backend)
        found = g(SINGULAR)
        assert np.isnan(found[1]).all()
        np.testing.assert_allclose(found[[0, 2]], [np.eye(3), np.eye(3) / 2])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
def test_views_and_broadcasting(backend: str) -> None:
    a = ot.tensor("a", dtype="float64", shape=(None, 1, None, None))
    b = ot.tensor("b", dtype="float64", shape=(None, None))
    solved = linalg.solve(a[:, :, ::-1, ::-1], b[::-1].T[:, ::-1].T)
    transposed = linalg.solve(a, b, assume_a="sym", lower=True)
    f = oc.function([a, b], [solved, transposed], mode=backend)
    x = drawn((2, 1, 4, 4), "float64") + 3 * np.eye(4)
    y = drawn((4, 4), "float64", 1)
    low = np.tril(x)
    whole = low + np.tril(x, -1).swapaxes(-1, -2)
    np.testing.assert_allclose(f(x, y)[0], np.linalg.solve(x[:, :, ::-1, ::-1], y[::-1][::-1]))
    np.testing.assert_allclose(f(x, y)[1], np.linalg.solve(whole, y))


@pytest.mark.parametrize("backend", BACKENDS)
def test_banded_equations(backend: str) -> None:
    a = ot.tensor("a", dtype="float64", shape=(None, 3, None))
    b = ot.tensor("b", dtype="float64", shape=(None, None))
    outputs = [linalg.solve_banded((1, 1), a, b), linalg.solveh_banded(a[:, 1:], b, lower=True)]
    f = oc.function([a, b], outputs, mode=backend)
    bands = drawn((2, 3, 5), "float64") + np.array([[0.0], [4.0], [0.0]])
    right = drawn((5, 2), "float64", 1)
    below = np.zeros((2, 5, 5))
    above = np.zeros((2, 5, 5))
    for j in range(4):
        below[:, j + 1, j], above[:, j, j + 1] = bands[:, 2, j], bands[:, 0, j + 1]
    main = np.eye(5) * bands[:, 1, None, :]
    for got, full in zip(
        f(bands, right),
        (below + main + above, below + main + below.swapaxes(-1, -2)),
        strict=True,
    ):
        np.testing.assert_allclose(got, np.linalg.solve(full, right))
    bands[1, :, 2] = 0
    with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
        f(bands * np.array([[0.0], [1.0], [0.0]]), right)


@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices_that_are_not_square_are_errors(backend: str) -> None:
    x = ot.dmatrix("x")
    for function in (
        lambda a: linalg.det(a) + linalg.slogdet(a)[1],
        lambda a: linalg.lu_solve(linalg.lu_factor(a), a),
    ):
        f = oc.function([x], function(x), mode=backend)
        assert np.isfinite(f(np.eye(2))).all()
        for shape in ((2, 3), (3, 2), (1, 2)):
            with pytest.raises(ValueError, match="square"):
                f(np.ones(shape))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("lead", [2, 40])
def test_nan_is_no_failure_of_a_positive_definite_matrix(backend: str, lead: int) -> None:
    a = ot.tensor("a", dtype="float64", shape=(None, 3, 3))
    outputs = [linalg.cholesky(a), linalg.solve(a, np.eye(3), assume_a="pos", lower=True)]
    f = oc.function([a], outputs, mode=backend)
    x = np.stack([4 * np.eye(3)] * lead)
    x[0, 2, 0] = np.nan  # read
    x[1, 0, 2] = np.nan  # not read
    factor, solution = f(x)
    assert np.isnan(factor[0, 2]).any()
    assert np.isnan(solution[0]).any()
    np.testing.assert_array_equal(factor[1:], np.broadcast_to(2 * np.eye(3), (lead - 1, 3, 3)))
    np.testing.assert_array_equal(solution[1:], np.broadcast_to(np.eye(3) / 4, (lead - 1, 3, 3)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("assumed", "dtype"), [("sym", "float64"), ("her", "complex128")])
def test_a_symmetric_matrix_that_is_not_finite_gives_nan(
    backend: str, assumed: str, dtype: str
) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    x = np.stack([3 * np.eye(3)] * 5).astype(dtype)
    x[1, 1, 1], x[2, 0, 2], x[3, 2, 0] = np.nan, np.nan, np.inf  # the second one is not read
    singular = x.copy()
    singular[4] = 0
    for on_error in ("raise", "nan"):
        solved = linalg.solve(a, np.ones(3), assume_a=assumed, lower=True, on_error=on_error)
        f = oc.function([a], solved, mode=backend)
        found = f(x)
        assert np.isnan(found[[1, 3]]).all()
        np.testing.assert_allclose(found[[0, 2, 4]], 1 / 3)
        if on_error == "nan":
            assert np.isnan(f(singular)[[1, 3, 4]]).all()
        else:
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix, at index 4"):
                f(singular)


BATCHES = [
    ((2, 3, 3), (3, 3), (3, 1), 2),
    ((2, 3, 3), (2, 3), (5, 3, 1), 2),
    ((3, 3), (2, 3), (4, 3), 1),
    ((1, 3, 3), (2, 3), (3, 1), 2),
]


@pytest.mark.parametrize("trans", [0, 1])
def test_batches_that_do_not_fit_a_factorisation_are_errors(trans: int) -> None:
    for shapes in BATCHES:
        kinds = ("float64", "int32", "float64")
        *given, ndim = shapes
        arrays = [np.ones(s, k) for s, k in zip(given, kinds, strict=True)]
        arrays[1] = np.broadcast_to(np.arange(3, dtype="int32"), given[1])
        f, p, b = (
            ot.tensor(dtype=k, shape=(None,) * len(s)) for s, k in zip(given, kinds, strict=True)
        )
        solved = linalg.lu_solve((f, p), b, trans, ndim)
        with pytest.raises(ValueError, match="lu_solve: batch dimensions do not match"):
            oc.function([f, p, b], solved)(*arrays)
        if 1 not in given[0]:
            f, p, b = (ot.tensor(dtype=k, shape=s) for s, k in zip(given, kinds, strict=True))
            with pytest.raises(ValueError, match="lu_solve cannot broadcast"):
                linalg.lu_solve((f, p), b, trans, ndim)


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradients_of_determinants_of_singular_matrices(backend: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None, None, None))
    f = oc.function([x], oc.grad(linalg.det(x).sum(), x), mode=backend)
    given = np.stack([np.diag([3.0, 0.0]), np.ones((2, 2)), np.eye(2, k=1), np.eye(2)])
    expected = given[:, ::-1, ::-1] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    np.testing.assert_allclose(f(given), expected, atol=1e-12)
