"""Determinants of complex matrices on every backend, also of singular ones."""

from __future__ import annotations

import importlib.util

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
    for b in ("native", "c", "jax", "pytorch")
    if importlib.util.find_spec(LIBRARIES.get(b, "numpy")) is not None
]

SHAPES = [(3, 5, 5), (2, 1, 1), (1, 20, 20), (2, 0, 0), (0, 3, 3)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_determinants_are_numpys(backend: str, dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    outputs = [linalg.det(x[:, ::-1]), *linalg.slogdet(x)]
    assert oc.supports(backend, outputs) == []
    f = oc.function([x], outputs, mode=backend)
    rng = np.random.default_rng(0)
    tolerance = 1e-4 if dtype == "complex64" else 1e-11
    # each shape is compiled anew by libraries that trace
    for shape in SHAPES[:1] if backend in LIBRARIES else SHAPES:
        given = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
        if shape[0] == 3:
            given[1, 2:] = 0
        expected = [np.linalg.det(given[:, ::-1]), *np.linalg.slogdet(given)]
        for found, wanted in zip(f(given), expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_in_a_matrix_is_nan_in_its_determinant(backend: str) -> None:
    x = ot.ztensor3("x")
    f = oc.function([x], [linalg.det(x), *linalg.slogdet(x)], mode=backend)
    given = np.stack([np.eye(3) * 1j, np.full((3, 3), np.nan)])
    for found in f(given):
        np.testing.assert_array_equal(np.isnan(found), [False, True])
