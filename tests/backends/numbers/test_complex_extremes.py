"""Extremes of complex numbers that are NaN, and rounded complex numbers, on all backends."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot

LIBRARIES = {"numba": "numba", "jax": "jax", "pytorch": "torch"}
BACKENDS = ["native", "c", *(b for b, m in LIBRARIES.items() if importlib.util.find_spec(m))]


@pytest.fixture(autouse=True)
def uncompiled() -> Any:
    # compiling with PyTorch takes long, and changes no result
    with oc.config.change_flags(pytorch__compile=False):
        yield


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_extremes_are_nan_where_a_number_is(backend: str, dtype: str) -> None:
    nan = np.nan
    rows = [[1 + 1j, 1 - 1j, 2], [complex(nan, 0), 2, 3], [4, complex(0, nan), -1], [-1j, 1j, 0]]
    given: Any = np.array(rows, dtype)
    z = ot.tensor("z", dtype=dtype, shape=(None, None))
    made = [z.max(axis=1), z.min(axis=1), z.max(), ot.maximum(z, z[:, ::-1])]
    made.append(ot.minimum(z, z[:, ::-1]))
    other = given[:, ::-1]
    wanted = [given.max(1), given.min(1), given.max(), np.maximum(given, other)]
    wanted.append(np.minimum(given, other))
    for found, expected in zip(oc.function([z], made, mode=backend)(given), wanted, strict=True):
        bad = np.isnan(expected)
        assert found.dtype == dtype
        np.testing.assert_array_equal(np.isnan(found), bad)
        np.testing.assert_array_equal(np.where(bad, 0, found), np.where(bad, 0, expected))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_both_parts_are_rounded(backend: str, dtype: str) -> None:
    given: Any = np.array([0.5 + 1.5j, -2.6 + 710.3j, complex(-0.4, np.inf), 1e10 - 1j], dtype)
    z = ot.tensor("z", dtype=dtype, shape=(None,))
    found = oc.function([z], ot.round_half_to_even(z), mode=backend)(given)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.real, np.rint(given.real))
    np.testing.assert_array_equal(found.imag, np.rint(given.imag))
