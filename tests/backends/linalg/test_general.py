"""Eigenvalues, Schur forms, Sylvester's and Toeplitz equations, exponentials and reflectors on every backend."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
import scipy.linalg

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
COMPILED = [b for b in BACKENDS if b in ("native", "c", "numba")]
spl: Any = scipy.linalg
pytestmark = pytest.mark.filterwarnings("ignore:.* runs in Python:UserWarning")


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


def agree(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    single = found.dtype in ("float32", "complex64")
    tolerance = 1e-3 if single else tolerance
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_eigenvalues_and_schur_forms(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    outputs = [
        *linalg.eig(a),
        linalg.eigvals(b[::-1]),
        *linalg.schur(a),
        *linalg.schur(b, "complex"),
    ]
    f = oc.function([a, b], outputs, mode=backend)
    if backend in COMPILED:
        assert oc.supports(backend, outputs) == []
    for lead, n in ((2, 5), (1, 1), (2, 0), (0, 2)):
        x, y = drawn((lead, n, n), dtype), drawn((n, n), dtype, 1)[:, ::-1]
        values, vectors, others, form, unitary, whole, columns = f(x, y)
        wide = np.result_type(dtype, np.complex64)
        assert {r.dtype for r in (values, vectors, others, whole, columns)} == {wide}
        np.testing.assert_allclose(x @ vectors, vectors * values[:, None, :], atol=1e-4)
        np.testing.assert_allclose(np.sum(np.abs(vectors) ** 2, axis=-2), 1, rtol=1e-5)
        expected = np.linalg.eigvals(y[::-1]).astype(wide)
        order, wanted = (np.argsort(v.round(3)) for v in (others, expected))
        agree(others[order], expected[wanted])
        for k in range(lead):
            if n:
                for found, each in zip((form[k], unitary[k]), spl.schur(x[k]), strict=True):
                    agree(found, each)
        np.testing.assert_allclose(columns @ whole @ columns.conj().T, y, atol=1e-4)
        assert not np.tril(whole, -1).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_failures_are_named(backend: str) -> None:
    x = ot.dtensor3("x")
    bad = drawn((3, 4, 4), "float64")
    bad[1, 3, 0] = np.inf
    for name, function in (
        ("eigvals", linalg.eigvals),
        ("schur", lambda v, **k: linalg.schur(v, **k)[1]),
    ):
        strict = oc.function([x], function(x), mode=backend)
        with pytest.raises(np.linalg.LinAlgError, match=f"{name}: .*NaNs, at index 1 of the batch"):
            strict(bad)
        lenient = oc.function([x], function(x, on_error="nan"), mode=backend)(bad)
        assert np.isnan(lenient[1]).all()
        np.testing.assert_array_equal(lenient[[0, 2]], strict(bad[[0, 2]]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_equations(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    q = ot.tensor("q", dtype=dtype, shape=(None, None))
    outputs = [linalg.solve_sylvester(a, b, q), linalg.solve_continuous_lyapunov(a, a.mT)]
    f = oc.function([a, b, q], outputs, mode=backend)
    if backend in COMPILED:
        assert oc.supports(backend, outputs) == []
    for lead, m, n in ((2, 5, 2), (2, 0, 3), (1, 1, 0), (0, 2, 2)):
        x, y, z = drawn((lead, m, m), dtype), drawn((n, n), dtype, 1), drawn((m, n), dtype, 2)
        x += np.asarray(6, dtype) * np.eye(m, dtype=dtype)
        found, lyapunov = f(x, y, z)
        assert found.shape == (lead, m, n)
        tolerance = 1e-3 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(
            x @ found + found @ y, np.broadcast_to(z, found.shape), atol=tolerance
        )
        turned = x.conj().swapaxes(-1, -2)
        np.testing.assert_allclose(
            x @ lyapunov + lyapunov @ turned, x.swapaxes(-1, -2), atol=tolerance
        )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_exponentials_of_every_degree(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    f = oc.function([a], linalg.expm(a), mode=backend)
    if backend in COMPILED:
        assert oc.supports(backend, linalg.expm(a)) == []
    base = drawn((3, 4, 4), dtype)
    base /= np.abs(base).sum(-2).max(-1)[:, None, None]
    # norms below and above the limits of all degrees, and some that are scaled
    for size in (0.0, 0.01, 0.2, 0.9, 2.0, 5.0, 6.0, 40.0):
        x = (base * np.asarray(size)).astype(dtype)
        found = f(x)
        assert found.dtype == dtype
        wide = x.astype(np.result_type(dtype, np.float64))
        values, vectors = np.linalg.eig(wide)
        expected = (vectors * np.exp(values)[:, None, :]) @ np.linalg.inv(vectors)
        scale = np.abs(expected).max((-2, -1), keepdims=True)
        rounding = np.finfo(dtype).eps * 1000 * max(1.0, size)
        assert (np.abs(found - expected) <= rounding * scale).all()
    assert f(base[:, :0, :0]).shape == (3, 0, 0)
    assert f(base[:0]).shape == (0, 4, 4)
    base[1, 0, 1] = np.nan
    base[2, 0, 1] = np.inf
    np.testing.assert_array_equal(np.isnan(f(base)).all((-2, -1)), [False, True, True])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_products_of_reflectors(backend: str, dtype: str) -> None:
    v = ot.tensor("v", dtype=dtype, shape=(None, None, None))
    tau = ot.tensor("tau", dtype=dtype, shape=(None,))
    made = linalg.householder_product(v[:, ::-1], tau)
    assert oc.supports(backend, made) == []
    f = oc.function([v, tau], made, mode=backend)
    for m, n, k in ((4, 3, 2), (2, 2, 2), (3, 2, 0), (1, 0, 0)):
        x, t = drawn((2, m, n), dtype), drawn((k,), dtype, 1)
        found = f(x, t)
        assert (found.dtype, found.shape) == (dtype, (2, m, n))
        for each, low in zip(found, np.tril(x[:, ::-1], -1), strict=True):
            expected = np.eye(m)
            for i in range(k):
                column = low[:, i] + np.eye(m)[i]
                expected = expected @ (np.eye(m) - t[i] * np.outer(column, column.conj()))
            np.testing.assert_allclose(each, expected[:, :n], rtol=1e-3, atol=1e-4)
    for m, n, k in ((2, 3, 1), (3, 2, 3)):
        with pytest.raises(ValueError, match="at most as many reflectors as columns"):
            f(np.ones((1, m, n), dtype), np.ones(k, dtype))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_toeplitz_equations(backend: str, dtype: str) -> None:
    c = ot.tensor("c", dtype=dtype, shape=(None, None))
    r = ot.tensor("r", dtype=dtype, shape=(None,))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    outputs = [linalg.solve_toeplitz((c, r), b), linalg.solve_toeplitz(c, b, on_error="nan")]
    f = oc.function([c, r, b], outputs, mode=backend)
    if backend in COMPILED:
        assert oc.supports(backend, outputs) == []
    for lead, n, k in ((2, 1, 1), (2, 2, 3), (1, 3, 2), (2, 8, 2), (2, 0, 2), (0, 3, 1), (2, 3, 0)):
        x, y, z = drawn((lead, n), dtype), drawn((n,), dtype, 1), drawn((n, k), dtype, 2)
        x[:, :1] += 5
        found = f(x, y, z)
        for i in range(lead):
            for each, given in zip(found, ((x[i], y), (x[i],)), strict=True):
                matrix = spl.toeplitz(*given) if n else np.zeros((0, 0))
                assert (each.dtype, each.shape) == (dtype, (lead, n, k))
                np.testing.assert_allclose(matrix @ each[i], z, atol=1e-5)
    columns = np.array([[4.0, 1.0, 0.0], [0.0, 1.0, 0.0]]).astype(dtype)
    with pytest.raises(np.linalg.LinAlgError, match="principal minor, at index 1 of the batch"):
        f(columns, np.ones(3, dtype), np.ones((3, 1), dtype))
    lenient = oc.function([c, b], outputs[1], mode=backend)(columns, np.ones((3, 1), dtype))
    np.testing.assert_array_equal(np.isnan(lenient).all((-2, -1)), [False, True])
