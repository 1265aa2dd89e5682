"""Equations with a triangular matrix and one column, which loops solve by blocks of four rows up to 256 rows."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo as oc
import occelo.tensor as ot
from occelo.tensor import linalg

spl: Any = scipy.linalg
BACKENDS = ["native", "c"]
if importlib.util.find_spec("numba"):
    BACKENDS.append("numba")
# around the number of rows of a block, of lanes, and of the matrices that are left to LAPACK
ROWS = (0, 1, 2, 3, 4, 5, 7, 8, 9, 17, 20, 31, 33, 100, 255, 256, 257)


def drawn(batch: int, n: int, dtype: str) -> tuple[Any, Any]:
    rng = np.random.default_rng([batch, n])
    a = rng.standard_normal((batch, n, n)) / np.sqrt(max(n, 1)) + 4 * np.eye(n)
    return a.astype(dtype), rng.standard_normal((batch, n)).astype(dtype)


def solved(a: Any, b: Any, **options: Any) -> Any:
    """SciPy's solutions in double precision."""
    found = [
        spl.solve_triangular(x.astype("float64"), y, **options) for x, y in zip(a, b, strict=True)
    ]
    return np.reshape(found, b.shape)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_solutions_for_all_numbers_of_rows(
    backend: str, dtype: str, lower: bool, unit_diagonal: bool
) -> None:
    options = {"lower": lower, "unit_diagonal": unit_diagonal}
    close = 1e-11 if dtype == "float64" else 1e-3
    for known in (False, True) if backend == "native" else (False,):
        f: Any = None
        for n in ROWS[::3] if known else ROWS:
            if f is None or known:
                length = n if known else None
                a = ot.tensor("a", dtype=dtype, shape=(None, length, length))
                b = ot.tensor("b", dtype=dtype, shape=(None, length))
                f = oc.function(
                    [a, b], linalg.solve_triangular(a, b, b_ndim=1, **options), mode=backend
                )
            for batch in (0, 1, 3):
                given, right = drawn(batch, n, dtype)
                columns = np.ascontiguousarray(given.swapaxes(-1, -2)).swapaxes(-1, -2)
                spaced = np.zeros((batch, 2 * n, n), dtype)
                spaced[:, ::2] = given
                for view in (given, given[::-1], columns, spaced[:, ::2]):
                    expected = solved(view, right, **options)
                    np.testing.assert_allclose(f(view, right), expected, rtol=close, atol=close)


@pytest.mark.parametrize("backend", ["native", "c"])
@pytest.mark.parametrize("n", [5, 32, 200])
def test_a_zero_on_the_diagonal_is_named_or_nan_alone(backend: str, n: int) -> None:
    a, b = ot.dtensor3("a"), ot.dmatrix("b")
    strict, lenient = (
        oc.function(
            [a, b],
            linalg.solve_triangular(a, b, lower=True, b_ndim=1, on_error=on_error),
            mode=backend,
        )
        for on_error in ("raise", "nan")
    )
    for place in (0, 1, n // 2, n - 1):
        given, right = drawn(3, n, "float64")
        given[1, place, place] = 0
        with pytest.raises(np.linalg.LinAlgError, match="at index 1 of the batch"):
            strict(given, right)
        found = lenient(given, right)
        assert np.isnan(found[1]).all()
        np.testing.assert_allclose(
            found[::2], solved(given[::2], right[::2], lower=True), rtol=1e-11, atol=1e-12
        )


def test_the_unread_triangle_may_hold_anything() -> None:
    a, b = ot.dtensor3("a"), ot.dmatrix("b")
    given, right = drawn(2, 21, "float64")
    for lower, other in ((True, np.triu_indices(21, 1)), (False, np.tril_indices(21, -1))):
        f = oc.function([a, b], linalg.solve_triangular(a, b, lower=lower, b_ndim=1))
        expected = solved(given, right, lower=lower)
        spoiled = given.copy()
        spoiled[:, other[0], other[1]] = np.nan
        np.testing.assert_allclose(f(spoiled, right), expected, rtol=1e-11, atol=1e-12)
