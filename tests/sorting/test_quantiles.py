"""Medians and quantiles beside NumPy's: methods, axes, weights, NaN, dtypes, empty rows, gradients, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting
from occelo_sorting.ops.quantiles import METHODS

COUNTS_NAN = pytest.mark.skipif(
    np.__version__.startswith("2.0."), reason="NumPy 2.0 counts weights of NaN, and none that are 0"
)
LEVELS = np.array([0.0, 0.2, 0.5, 0.9, 1.0])


def _draw(dtype: str, *shape: int) -> Any:
    values = np.random.default_rng([5, *shape]).normal(size=shape) * 4
    return values.astype(dtype)


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_those_of_numpy(method: Any) -> None:
    x, rows = ot.dmatrix("x"), ot.tensor("rows", dtype="float64", shape=(4, 6))
    for name, whole in (("quantile", 1), ("percentile", 100)):
        for value in (_draw("float64", 4, 6), _draw("float64", 4, 6).round()):
            given = LEVELS * whole
            expected = getattr(np, name)(value, given, axis=1, method=method)
            for v in (x, rows):
                made = getattr(sorting, name)(v, given, 1, method=method)
                np.testing.assert_allclose(og.evaluate(made, {v: value}), expected, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("method", ["linear", "midpoint", "nearest", "averaged_inverted_cdf"])
def test_dtypes_are_those_of_numpy(dtype: str, method: Any) -> None:
    value = _draw(dtype, 2, 7)
    x = ot.tensor("x", dtype=dtype, shape=(2, None))
    for q in (0.5, 1, np.float64(0.5), np.float32([[0.25, 0.75]]), np.array([0, 1])):
        if method == "averaged_inverted_cdf" and np.asarray(q).dtype == np.int64 and np.ndim(q):
            continue  # NumPy rounds the mean of two elements to an integer
        try:
            expected = np.quantile(value, q, method=method)
        except TypeError:  # NumPy subtracts no truth values
            continue
        made = og.evaluate(sorting.quantile(x, q, method=method), {x: value})
        assert made.dtype == expected.dtype, q
        np.testing.assert_allclose(made, expected, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
@pytest.mark.parametrize("method", ["linear", "hazen", "median_unbiased", "midpoint", "lower"])
def test_dtypes_of_levels_count_for_integers_too(dtype: str, method: Any) -> None:
    value = np.arange(5).astype(dtype)
    for q in (np.float32(0.3), np.float32([0.25, 1.0]), np.float16([0.5]), 0.3):
        for ours, theirs in (
            (sorting.quantile, np.quantile),
            (sorting.nanquantile, np.nanquantile),
        ):
            found, expected = (
                og.evaluate(ours(value, q, method=method)),
                theirs(value, q, method=method),
            )
            assert found.dtype == np.asarray(expected).dtype
            np.testing.assert_allclose(found, expected, rtol=2e-3)


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_axes_and_nan(axis: Any, keepdims: bool) -> None:
    value = _draw("float64", 3, 4, 2)
    value[0, :, 1] = value[2, 1, 0] = np.nan
    x = ot.dtensor3("x")
    made = [
        getattr(sorting, name)(x[::-1], *q, axis=axis, keepdims=keepdims)
        for name, *q in (("median",), ("nanmedian",), ("quantile", 0.3), ("nanquantile", LEVELS))
    ]
    expected = [
        getattr(np, name)(value[::-1], *q, axis=axis, keepdims=keepdims)
        for name, *q in (("median",), ("nanmedian",), ("quantile", 0.3), ("nanquantile", LEVELS))
    ]
    for got, want in zip(oc.function([x], made)(value), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


@COUNTS_NAN
@pytest.mark.parametrize("axis", [None, 1, (1, 0)])
def test_elements_count_as_their_weights_say(axis: Any) -> None:
    value = _draw("float64", 3, 5)
    value[1, 2] = np.nan
    weights = np.random.default_rng(1).integers(0, 3, (3, 5)) + np.eye(3, 5)
    x, w = ot.dmatrices("x", "w")
    options: dict[str, Any] = {"axis": axis, "method": "inverted_cdf"}
    f = oc.function(
        [x, w],
        [
            sorting.quantile(x, LEVELS, weights=w, **options),
            sorting.nanquantile(x, 0.6, weights=w, **options),
        ],
    )
    plain, ignoring = f(value, weights)
    np.testing.assert_array_equal(plain, np.quantile(value, LEVELS, weights=weights, **options))
    np.testing.assert_array_equal(ignoring, np.nanquantile(value, 0.6, weights=weights, **options))
    if axis == 1:
        one = sorting.quantile(x, 0.5, weights=w[0], **options)
        wanted = np.quantile(value, 0.5, weights=weights[0], **options)
        np.testing.assert_array_equal(og.evaluate(one, {x: value, w: weights}), wanted)
    with pytest.raises(ValueError, match="not negative and not all zero"):
        f(value, -weights)


@COUNTS_NAN
@pytest.mark.filterwarnings("ignore")
def test_rows_without_weights_are_refused_unless_they_have_no_elements() -> None:
    x, w = ot.dmatrices("x", "w")
    f = oc.function([x, w], sorting.nanquantile(x, 0.5, 1, "inverted_cdf", weights=w))
    value = np.array([[1.0, np.nan], [np.nan, np.nan]])
    for weights in (np.ones((2, 2)), np.array([[2.0, 0.0], [0.0, 0.0]])):
        expected = np.nanquantile(value, 0.5, 1, method="inverted_cdf", weights=weights)
        np.testing.assert_array_equal(f(value, weights), expected)
    for weights in (np.array([[0.0, 2.0], [1.0, 1.0]]), np.array([[np.inf, 1.0], [1.0, 1.0]])):
        with pytest.raises(ValueError, match=r"(?i)weight"):
            np.nanquantile(value, 0.5, 1, method="inverted_cdf", weights=weights)
        with pytest.raises(ValueError, match="not negative and not all zero"):
            f(value, weights)


@pytest.mark.filterwarnings("ignore")
def test_medians_of_nothing_are_nan() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        x = ot.tensor("x", dtype="float64", shape=(None,) * len(shape))
        f = oc.function(
            [x],
            [sorting.median(x, -1), sorting.nanmedian(x, -1), sorting.median(x.astype("int32"))],
        )
        value = np.zeros(shape)
        made = f(value)
        np.testing.assert_array_equal(made[0], np.median(value, -1))
        np.testing.assert_array_equal(made[1], np.nanmedian(value, -1))
        assert np.isnan(made[2])


def test_quantiles_at_infinite_elements_are_infinite() -> None:
    x = ot.dvector("x")
    f = oc.function([x], [sorting.quantile(x, 1.0), sorting.quantile(x, 0.75), sorting.median(x)])
    np.testing.assert_array_equal(f([1.0, np.inf, np.inf]), [np.inf] * 3)
    np.testing.assert_array_equal(sorting.quantile(x, 0.5).eval({x: [1.0, 2.0, np.inf]}), 2.0)


@pytest.mark.parametrize("n", [1, 4, 5, 30])
def test_gradients_go_to_the_elements_between_which_a_quantile_lies(n: int) -> None:
    value = _draw("float64", n)
    x, q = ot.dvector("x"), ot.dscalar("q")
    f = oc.function([x, q], og.grad(sorting.quantile(x, q) * 2.0 + sorting.median(x), x))
    at = 0.4 * (n - 1)
    expected = np.zeros(n)
    order = np.argsort(value)
    below = int(at)
    expected[order[below]] += 2 * (1 - (at - below))
    if at > below:
        expected[order[below + 1]] += 2 * (at - below)
    expected[order[[(n - 1) // 2]]] += 0.5
    expected[order[[n // 2]]] += 0.5
    np.testing.assert_allclose(f(value, 0.4), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (
            lambda x: sorting.quantile(x, 1.5),
            ValueError,
            r"q of quantile must be in the range \[0, 1\]",
        ),
        (lambda x: sorting.percentile(x, [10, -1]), ValueError, r"q of percentile .* \[0, 100\]"),
        (lambda x: sorting.quantile(x, 0.5, method="best"), ValueError, "'best'"),
        (lambda x: sorting.quantile(x, 0.5, weights=x), ValueError, "inverted_cdf"),
        (
            lambda x: sorting.quantile(ot.complex(x, x), 0.5),
            TypeError,
            "quantile takes real numbers",
        ),
        (lambda x: sorting.nanmedian(x, axis=3), np.exceptions.AxisError, "axis 3"),
        (
            lambda x: sorting.quantile(x, 0.5, (0, 1), "inverted_cdf", weights=x[0]),
            ValueError,
            r"of the axes \(0, 1\)",
        ),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.dmatrix("x"))


def test_levels_are_checked_when_the_function_runs() -> None:
    x, q = ot.dvector("x"), ot.dscalar("q")
    f = oc.function([x, q], sorting.quantile(x, q))
    with pytest.raises(ValueError, match="q of quantile must be in the range"):
        f([1.0, 2.0], 1.5)
