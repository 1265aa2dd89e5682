"""Eigenvalues, singular values and orthogonal factors on every backend: values, failures, strides, unknown lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_linalg import functions as ol
from occelo_link.capabilities import BACKENDS, is_installed
from occelo_testing.fixtures import surroundings
from occelo_testing.loop_programs import has_compiler

__all__ = ["surroundings"]

HERE = [
    backend
    for backend in BACKENDS
    if is_installed(backend) and (backend not in ("c", "c|py") or has_compiler())
]
npl: Any = np.linalg


def turned(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


def rebuilt(x: Any) -> list[Any]:
    """The arguments again, and values that do not depend on signs."""
    n = min(x.type.shape[-2:]) if None not in x.type.shape[-2:] else ot.minimum(*x.shape[-2:])
    u, s, vh = ol.svd(x, False)
    whole, values, right = ol.svd(x)
    q, r = ol.qr(x)
    square, long = ol.qr(x, "complete")
    _, first, order = ol.qr(x, pivoting=True)
    hermitian = x @ turned(x)
    w, v = ol.eigh(hermitian, "U")
    return [
        (u * s[..., None, :]) @ vh,
        (whole[..., :n] * values[..., None, :]) @ right[..., :n, :],
        q @ r,
        square @ long,
        (v * w[..., None, :]) @ turned(v) - hermitian,
        whole @ turned(whole),
        s,
        ol.svdvals(x),
        abs(ol.qr(x, "r")),
        abs(first),
        order,
        abs(ol.qr(x, "raw")[1]),
        ol.eigvalsh(hermitian),
    ]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("dtype", "shape"), [("float64", (2, 4)), ("complex64", (3, 2))])
@pytest.mark.parametrize("backend", HERE)
def test_factors_multiply_to_the_matrices(backend: str, dtype: str, shape: tuple[int, ...]) -> None:
    x = og.TensorType(dtype, (None, None))()
    outputs = rebuilt(x)
    function = oc.function([x], outputs, mode=oc.Mode(backend))
    rng = np.random.default_rng(3)
    given: Any = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        given = given + 1j * rng.standard_normal(shape)
    given = given.astype(dtype)[::-1]
    tolerance = 1e-4 if dtype == "complex64" else 1e-11
    for array in (given, given[:0]):
        found = function(array)
        for k, (r, v) in enumerate(zip(found, outputs, strict=True)):
            expected = evaluate(v, {x: array})
            assert (r.dtype, r.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(r, expected, rtol=tolerance, atol=tolerance, err_msg=str(k))
        for r in found[:4]:
            np.testing.assert_allclose(r, array, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("backend", HERE)
def test_what_is_not_finite_fails_alike(backend: str) -> None:
    x = ot.tensor3()
    bad = np.random.default_rng(5).standard_normal((3, 4, 4))
    bad[1, 3, 0] = np.inf
    for function in (ol.eigvalsh, ol.svdvals):
        strict = oc.function([x], function(x), mode=oc.Mode(backend))
        with pytest.raises(npl.LinAlgError, match="infs or NaNs, at index 1 of the batch"):
            strict(bad)
    for functions in (ol.eigh, ol.svd):
        outputs = list(functions(x, on_error="nan"))
        for result in oc.function([x], outputs, mode=oc.Mode(backend))(bad):
            assert np.isnan(result[1]).all()
            assert np.isfinite(result[[0, 2]]).all()
