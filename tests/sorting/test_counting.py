"""Counts, histograms, modes and reductions that ignore NaN, beside those of NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

GENERATOR = np.random.default_rng(9)
NANS = GENERATOR.integers(-3, 4, (3, 4)) * 0.5
NANS[0, 1] = NANS[2, 2] = np.nan
POINTS = GENERATOR.normal(size=(30, 2))


def _flat(result: Any) -> list[Any]:
    return (
        [r for each in result for r in _flat(each)]
        if isinstance(result, list | tuple)
        else [result]
    )


def _compare(
    ours: Any,
    theirs: Any,
    *values: Any,
    more: tuple[Any, ...] = (),
    rtol: float = 1e-12,
    **options: Any,
) -> None:
    """Call both with the values, then ``more``, then options; the values are variables of dynamic shapes for ours."""
    inputs = [ot.tensor(dtype=v.dtype, shape=(None,) * v.ndim) for v in values]
    given = dict(zip(inputs, values, strict=True))
    listed = _flat(ours(*inputs, *more, **options)), _flat(theirs(*values, *more, **options))
    for made, expected in zip(*listed, strict=True):
        found = og.evaluate(made, given)
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("least", [0, 2, 9])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_numbers_are_counted(least: int, dtype: str) -> None:
    value = np.array([0, 3, 1, 3, 0]).astype(dtype)
    weights = np.array([0.5, 1.0, 2.0, 3.0, 4.0])
    for v in (value, value[:0], value[::-2]):
        _compare(sorting.bincount, np.bincount, v, more=(None, least))
    _compare(sorting.bincount, np.bincount, value, weights, more=(least,))
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    of_length = sorting.bincount(x, length=2)
    assert of_length.type.shape == (2,)
    np.testing.assert_array_equal(og.evaluate(of_length, {x: value}), np.bincount(value)[:2])


def test_weights_have_gradients() -> None:
    x, w = ot.lvector("x"), ot.dvector("w")
    cost = (sorting.bincount(x, w) * np.array([1.0, 10.0, 100.0])).sum()
    f = oc.function([x, w], og.grad(cost, w))
    np.testing.assert_array_equal(f([2, 0, 2, 1], np.ones(4)), [100.0, 1.0, 100.0, 10.0])


@pytest.mark.parametrize("bins", [1, 10, [0.0, 0.5, 1.0, 3.0], [1, 2]])
@pytest.mark.parametrize("density", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_histograms(bins: Any, density: bool) -> None:
    for value in (
        POINTS[:, 0],
        POINTS.astype("float32"),
        GENERATOR.integers(0, 5, 20),
        np.zeros(0),
        np.ones(3),
    ):
        rtol = 1e-6 if value.dtype == "float32" else 1e-12
        for range_ in (None, (-1, 1.5)):
            _compare(
                sorting.histogram, np.histogram, value, more=(bins, range_, density), rtol=rtol
            )
            edges = sorting.histogram_bin_edges, np.histogram_bin_edges
            _compare(*edges, value, more=(bins, range_), rtol=rtol)
    _compare(
        lambda x, w: sorting.histogram(x, bins, (-1, 1), density, w),
        lambda x, w: np.histogram(x, bins, (-1, 1), density, w),
        NANS,
        np.abs(NANS * 0 + 2),
    )


def test_weights_of_another_shape_are_an_error() -> None:
    x, w = ot.dmatrices("x", "w")
    counts = sorting.histogram(x, 3, weights=w)[0]
    values = np.arange(6.0).reshape(2, 3)
    found = og.evaluate(counts, {x: values, w: values})
    np.testing.assert_array_equal(found, np.histogram(values, 3, weights=values)[0])
    with pytest.raises(ValueError, match="weights should have the shape of a"):
        og.evaluate(counts, {x: values, w: values.T})


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize("ends", [(0, 1), (-1, 2.5), (0.1, 0.7)])
def test_elements_on_edges_are_in_the_bins_of_numpy(dtype: str, ends: Any) -> None:
    value = np.linspace(*ends, 21).astype(dtype)
    for range_ in (None, ends, np.float32(ends)):
        for bins in (5, 7, 10, 20):
            made = og.evaluate(sorting.histogram(value, bins, range_))
            for found, expected in zip(made, np.histogram(value, bins, range_), strict=True):
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found, expected)
            ranges = None if range_ is None else [range_]
            counts, (edges,) = sorting.histogramdd(value, bins, ranges)
            expected, (borders,) = np.histogramdd(value, bins, ranges)
            assert edges.type.dtype == borders.dtype
            np.testing.assert_array_equal(og.evaluate(edges), borders)
            np.testing.assert_array_equal(og.evaluate(counts), expected)


@pytest.mark.parametrize("bins", [4, [3, 5], [np.array([-1.0, 0.0, 1.0]), 3]])
@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_points(bins: Any, density: bool) -> None:
    _compare(
        lambda x: sorting.histogramdd(ot.specify_shape(x, (None, 2)), bins, density=density),
        lambda x: np.histogramdd(x, bins, density=density),
        POINTS,
    )
    ranges = [(-1, 1), (0, 2)]
    _compare(
        lambda x, y: sorting.histogram2d(x, y, bins, ranges, density, x * x),
        lambda x, y: np.histogram2d(x, y, bins, ranges, density, x * x),
        POINTS[:, 0],
        POINTS[:, 1],
    )


@pytest.mark.parametrize("axis", [0, 1, None])
def test_modes_are_the_smallest_of_the_most_frequent(axis: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    value = GENERATOR.integers(0, 4, (5, 6))
    for keepdims in (False, True):
        _compare(sorting.mode, stats.mode, value, axis=axis, keepdims=keepdims)
        lacking = np.where(value == 1, np.nan, value)
        lacking[0, 0] = -0.0
        _compare(sorting.mode, stats.mode, lacking, axis=axis, keepdims=keepdims)
        a, options = ot.dmatrix("a"), {"axis": axis, "nan_policy": "omit", "keepdims": keepdims}
        computed = og.evaluate(list(sorting.mode(a, **options)), {a: lacking})
        for array, expected in zip(computed, stats.mode(lacking, **options), strict=True):
            np.testing.assert_array_equal(array, expected)  # SciPy's counts are floats then


def test_modes_of_nothing_but_nan() -> None:
    a = ot.dvector("a")
    for policy, count in (("propagate", 2), ("omit", 0)):
        value, how_often = og.evaluate(list(sorting.mode(a, nan_policy=policy)), {a: [np.nan] * 2})
        assert np.isnan(value)
        assert how_often == count
    checked = sorting.mode(a, nan_policy="raise").mode
    assert og.evaluate(checked, {a: [2.0, 1.0]}) == 1.0
    with pytest.raises(ValueError, match="got NaN"):
        og.evaluate(checked, {a: [2.0, np.nan]})
    with pytest.raises(ValueError, match="propagate, omit or raise, not 'drop'"):
        sorting.mode(a, nan_policy="drop")


REDUCTIONS = "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax nanargmin count_nonzero"


@pytest.mark.parametrize("name", REDUCTIONS.split())
@pytest.mark.filterwarnings("ignore")
def test_reductions_leave_nan_out(name: str) -> None:
    ours, theirs = getattr(sorting, name), getattr(np, name)
    values = [NANS, NANS.astype("float16"), NANS[::-1] > 0, np.full((2, 3), np.nan), NANS * 1j]
    if "arg" in name or name in ("nanmax", "nanmin"):
        del values[3 if "arg" in name else 4 :]
    for value in values:
        for axis in (None, 0, -1) if "arg" in name else (None, 0, -1, (0, 1)):
            for keepdims in (False, True):
                rtol = 1e-2 if value.dtype == "float16" else 1e-12
                _compare(ours, theirs, value, rtol=rtol, axis=axis, keepdims=keepdims)


@pytest.mark.filterwarnings("ignore")
def test_sums_that_run_and_degrees_of_freedom() -> None:
    for axis in (None, 0, 1):
        _compare(sorting.nancumsum, np.nancumsum, NANS, axis=axis)
        _compare(sorting.nancumprod, np.nancumprod, NANS, axis=axis)
        _compare(sorting.nancumsum, np.nancumsum, NANS, axis=axis, dtype="float32")
    for ddof in (1, 3, 4):
        _compare(sorting.nanvar, np.nanvar, NANS, axis=1, ddof=ddof)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("infinite", [np.inf, -np.inf, complex(1, np.inf)])
@pytest.mark.filterwarnings("ignore")
def test_variances_of_infinite_numbers_are_nan(name: str, infinite: Any) -> None:
    value = np.array([[1.0, infinite, 2.0], [np.nan, 3.0, 5.0], [infinite, np.nan, np.nan]])
    for axis in (None, 0, 1):
        _compare(getattr(sorting, name), getattr(np, name), value, axis=axis)


@pytest.mark.parametrize("name", "nansum nanprod nanmax nanmin nanmean nanvar nanstd".split())
@pytest.mark.filterwarnings("ignore")
def test_reductions_of_selected_elements(name: str) -> None:
    where = GENERATOR.random(NANS.shape) < 0.6
    where[0] = False
    varied = name in ("nanvar", "nanstd")
    choices: list[dict[str, Any]] = [{"where": where}, {"where": True}, {"where": where[0]}]
    if name in ("nansum", "nanprod", "nanmax", "nanmin"):
        choices = [{"initial": 2.0}, *({"initial": -1.0, **each} for each in choices)]
    if name not in ("nanmax", "nanmin"):
        choices.append({"dtype": "float32"})
    if varied:
        choices += [{"correction": 1, **choices[0]}, {"mean": np.zeros((len(NANS), 1)), "axis": 1}]
    for options in choices:
        for axis in [options["axis"]] if "axis" in options else [None, 0, -1, (0, 1)]:
            for value in [NANS, np.full((2, NANS.shape[1]), np.nan)][
                : 1 if len(options) > 1 else 2
            ]:
                chosen = {**options, "axis": axis}
                if value is not NANS and np.ndim(options.get("where")) == 2:
                    chosen["where"] = where[:2]
                rtol = 1e-5 if "dtype" in options else 1e-12
                _compare(getattr(sorting, name), getattr(np, name), value, rtol=rtol, **chosen)
    if varied:
        with pytest.raises(ValueError, match="two names of one argument"):
            getattr(sorting, name)(ot.dvector("x"), ddof=1, correction=1)


def test_gradients_of_what_is_left_out_are_0() -> None:
    x = ot.dmatrix("x")
    known = ~np.isnan(NANS)
    for cost, expected in (
        (sorting.nansum(x**2), np.where(known, 2 * NANS, 0)),
        (sorting.nanmean(x), known / known.sum()),
        (sorting.nanvar(x), np.where(known, 2 * (NANS - np.nanmean(NANS)) / known.sum(), 0)),
    ):
        np.testing.assert_allclose(oc.function([x], og.grad(cost, x))(NANS), expected, atol=1e-12)


@pytest.mark.parametrize("value", [[2.0], [2.0, 2.0], [2.0, np.nan], [np.nan, 0.0]])
def test_gradients_of_deviations_of_equal_elements_are_0(value: list[float]) -> None:
    x = ot.dvector("x")
    f = oc.function([x], [sorting.nanstd(x), sorting.nanvar(x), og.grad(sorting.nanstd(x), x)])
    for found in f(value):
        np.testing.assert_array_equal(found, np.zeros(found.shape))


def test_where_something_is() -> None:
    for value in (NANS, NANS[0], np.array(2.0), np.array(0.0), NANS[:0], NANS > 0):
        _compare(sorting.argwhere, np.argwhere, value)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: sorting.bincount(x), ValueError, "takes a vector, got x"),
        (lambda x: sorting.bincount(x[0]), TypeError, "bincount takes integers"),
        (
            lambda x: sorting.bincount([1, 2], minlength=-1),
            ValueError,
            "must not be negative, got -1",
        ),
        (lambda x: sorting.histogram(x, "auto"), TypeError, "'auto'"),
        (lambda x: sorting.histogram(x, 0), ValueError, "bins must be positive, got 0"),
        (lambda x: sorting.histogram(x, 1.5), TypeError, "bins must be an integer"),
        (lambda x: sorting.histogramdd(x), ValueError, "static number of dimensions"),
        (
            lambda x: sorting.histogramdd([x[0], x[1]], [2]),
            ValueError,
            "each of 2 dimensions, got 1",
        ),
        (lambda x: sorting.nanmax(x * 1j), TypeError, "not ordered"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.dmatrix("x"))


@pytest.mark.parametrize(
    ("build", "value", "told"),
    [
        (lambda x: sorting.bincount(x.astype("int64")), [1.0, -1.0], "no negative numbers"),
        (lambda x: sorting.histogram(x)[0], [1.0, np.nan], "must be finite and ascend"),
        (lambda x: sorting.histogram(x, x)[0], [1.0, 0.0], "bins must increase monotonically"),
        (lambda x: sorting.nanargmin(x), [np.nan, np.nan], "All-NaN slice"),
    ],
)
def test_values_that_are_refused_when_the_function_runs(build: Any, value: Any, told: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], build(x))
    with pytest.raises(ValueError, match=told):
        f(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("bins", [1, 3, 10, 700])
def test_bins_of_equal_width_are_those_between_the_edges(dtype: str, bins: int) -> None:
    generator = np.random.default_rng(bins)
    values = [
        generator.integers(0, 12, 400).astype(dtype)
        / (1 if dtype[0] in "iu" else np.array(3, dtype)),
        (generator.normal(size=400) * 1e3).astype(dtype)
        if dtype != "uint8"
        else np.arange(9, dtype="uint8"),
    ]
    for value in map(lambda v: v.astype(dtype), values):
        x = ot.tensor("x", dtype=dtype, shape=(None,))
        for range_ in (None, (-1, 3), (0.1, 0.7)):
            counts, edges = oc.function([x], list(sorting.histogram(x, bins, range_)))(value)
            # the edges themselves decide: a brute-force count between them
            below = edges[None, :-1] <= value[:, None]
            above = value[:, None] < edges[None, 1:]
            expected = (below & above).sum(axis=0)
            expected[-1] += (value == edges[-1]).sum()
            np.testing.assert_array_equal(counts, expected)
            np.testing.assert_allclose(
                edges, np.histogram_bin_edges(value, bins, range_), rtol=1e-6
            )


def test_minlength_of_bincount_may_be_none() -> None:
    x = ot.lvector("x")
    (found,) = og.evaluate([sorting.bincount(x, None, None)], {x: np.array([1, 1, 3])})
    np.testing.assert_array_equal(found, np.bincount([1, 1, 3]))
