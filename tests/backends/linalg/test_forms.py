"""Schur forms and generalised Schur forms with eigenvalues in order, on every backend that compiles them."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COMPILED = ["native", "c"]
# its compiler takes many seconds for these programs
if THOROUGH and importlib.util.find_spec("numba"):
    COMPILED.append("numba")
SORTS = ("lhp", "rhp", "iuc", "ouc")
spl: Any = scipy.linalg


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    real = rng.standard_normal(shape)
    return (real + 1j * rng.standard_normal(shape) if dtype[0] == "c" else real).astype(dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_forms_are_those_of_scipy(backend: str, dtype: str) -> None:
    a = ot.tensor("a", dtype=dtype, shape=(None, None, None))
    b = ot.tensor("b", dtype=dtype, shape=(None, None))
    # the regions in turn for both kinds of results
    sorts = SORTS if backend == "native" else SORTS[:2]
    made = [linalg.schur(a, ("real", "complex")[i % 2], s) for i, s in enumerate(sorts)]
    made += [linalg.ordqz(a, b, s, ("complex", "real")[i % 2]) for i, s in enumerate(sorts)]
    made += [linalg.qz(a, b)]
    outputs = [v for each in made for v in each]
    assert oc.supports(backend, outputs) == []
    f = oc.function([a, b], outputs, mode=backend)
    tolerance = 2e-3 if dtype in ("float32", "complex64") else 1e-9
    for lead, n in ((2, 5), (1, 1), (2, 0), (0, 3)):
        x, y = drawn((lead, n, n), dtype), drawn((n, n), dtype, 1)[:, ::-1]
        results = iter(f(x, y))
        expected = [
            *(
                [spl.schur(e, ("real", "complex")[i % 2], sort=s) for e in x]
                for i, s in enumerate(sorts)
            ),
            *(
                [spl.ordqz(e, y, s, ("complex", "real")[i % 2]) for e in x if n]
                for i, s in enumerate(sorts)
            ),
            [spl.qz(e, y) for e in x if n],
        ]
        for variables, wanted in zip(made, expected, strict=True):
            found = [next(results) for _ in variables]
            for variable, result in zip(variables, found, strict=True):
                core = (n,) * (variable.ndim - 1)
                assert (result.dtype, result.shape) == (variable.dtype, (lead, *core))
            for k, each in enumerate(wanted):
                for result, value in zip(found, each, strict=True):
                    np.testing.assert_allclose(result[k], value, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("backend", COMPILED)
def test_what_is_not_finite_is_an_error(backend: str) -> None:
    x = ot.dtensor3("x")
    bad = drawn((3, 4, 4), "float64")
    bad[1, 0, 3] = np.nan
    for name, function in (
        ("schur", lambda v, **k: linalg.schur(v, sort="iuc", **k)),
        ("ordqz", lambda v, **k: linalg.ordqz(v, v + 1.0, **k)),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=f"{name}: .*NaNs, at index 1 of the batch"):
            oc.function([x], function(x), mode=backend)(bad)
        lenient = oc.function([x], function(x, on_error="nan"), mode=backend)(bad)
        for result in lenient:
            if result.dtype.kind == "i":
                assert result[1] == 0
            else:
                lost = np.isnan(result).reshape(3, -1)
                np.testing.assert_array_equal(lost.all(1), [False, True, False])
                np.testing.assert_array_equal(lost.any(1), [False, True, False])


@pytest.mark.parametrize("backend", COMPILED)
def test_infinite_and_undetermined_eigenvalues_have_their_place(backend: str) -> None:
    a, b = np.diag([1.0, 2.0, 0.0, 0.5]), np.diag([0.0, 1.0, 0.0, 1.0])
    x, y = ot.dmatrix("x"), ot.dmatrix("y")
    outputs = [v for s in SORTS for v in linalg.ordqz(x, y, s)[2:4]]
    found = oc.function([x, y], outputs, mode=backend)(a, b)
    expected = [v for s in SORTS for v in spl.ordqz(a, b, s)[2:4]]
    for result, value in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, value, atol=1e-15)
