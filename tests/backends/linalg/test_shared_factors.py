"""Results that share one LU factorisation, on every backend: sizes, batches, layouts, and matrices that are singular."""

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


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    real = rng.uniform(-1, 1, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if dtype.startswith("c") else real).astype(dtype)


def outputs_of(a: Any, b: Any, on_error: str = "raise") -> list[Any]:
    turned = ot.matrix_transpose(a)
    made = [linalg.solve(m, b, on_error=on_error) for m in (a, turned, turned.conj())]
    return [*made, linalg.inv(a, on_error=on_error), *linalg.slogdet(a)]


def wanted_of(x: Any, y: Any) -> list[Any]:
    turned = np.swapaxes(x, -1, -2)
    solved = [np.linalg.solve(m, y) for m in (x, turned, turned.conj())]
    return [*solved, np.linalg.inv(x), *np.linalg.slogdet(x)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("backend", "dtype"),
    [*((b, "float64") for b in BACKENDS), ("native", "float32"), ("native", "complex128")],
)
def test_matrices_of_unknown_lengths(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None,) * 3)
    b = ot.tensor("b", dtype=dtype, shape=(None,) * 2)
    # compiling takes these a second for each result
    step = 3 if backend in ("numba", "pytorch", "jax") else 1
    f = oc.function([a, b], outputs_of(a, b)[::step], mode=backend)
    tolerance = 2e-3 if dtype == "float32" else 1e-9
    for lead, n, k in ((2, 3, 2), (1, 17, 1), (3, 1, 1), (2, 0, 1), (0, 3, 2), (2, 3, 0)):
        x = drawn((lead, n, n), dtype) + np.asarray(2, dtype) * np.eye(n, dtype=dtype)
        y = drawn((k, n), dtype, 1).T
        for got, wanted in zip(f(x[:, ::-1], y), wanted_of(x[:, ::-1], y)[::step], strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    # other linkers have no code of their own for known lengths
    ("backend", "lead", "n"),
    [("native", lead, n) for lead in ((), (19,), (2, 9)) for n in (1, 4, 16, 18)]
    + [("c", (2, 9), 4)],
)
def test_matrices_of_known_lengths(backend: str, lead: tuple[int, ...], n: int) -> None:
    a = ot.tensor("a", dtype="float64", shape=(*[None] * len(lead), n, n))
    b = ot.tensor("b", dtype="float64", shape=(*[None] * len(lead), n, 2))
    f = oc.function([a, b], outputs_of(a, b), mode=backend)
    x, y = drawn((*lead, n, n), "float64"), drawn((*lead, n, 2), "float64", 1)
    x = x + 2 * np.eye(n)[::-1]
    for got, wanted in zip(f(x, y), wanted_of(x, y), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("backend", "n"), [("native", 3), ("native", None), ("jax", None), ("pytorch", None)]
)
def test_singular_matrices(backend: str, n: int | None) -> None:
    if backend not in BACKENDS:
        pytest.skip(f"{backend} is not installed")
    a = ot.tensor("a", dtype="float64", shape=(None, n, n))
    b = ot.tensor("b", dtype="float64", shape=(None, n, n))
    batch = np.stack([np.eye(3), np.diag([1.0, 0.0, 2.0]), 2 * np.eye(3)])
    lenient = oc.function([a, b], outputs_of(a, b, "nan")[:4], mode=backend)
    for found in lenient(batch, batch):
        assert np.isnan(found).all(axis=(1, 2)).tolist() == [False, True, False]
        assert not np.isnan(found[[0, 2]]).any()
    for outputs in ([linalg.solve(a, b), linalg.det(a)], [linalg.inv(a), linalg.det(a)]):
        strict = oc.function([a, b], outputs, mode=backend, on_unused_input="ignore")
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix, at index 1 of the batch"):
            strict(batch, batch)
