"""Interpolation beside NumPy's, with all arguments, and the methods of `interpolate1d`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

GENERATOR = np.random.default_rng(4)
OPTIONS: list[dict[str, Any]] = [{}, {"left": -9.0, "right": 9.0}, {"period": 1.7}, {"period": -2}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("static", [False, True])
def test_results_are_those_of_numpy(options: dict[str, Any], static: bool) -> None:
    for count in (1, 2, 5):
        at, y = np.sort(GENERATOR.normal(size=count)), GENERATOR.normal(size=count)
        ends = np.array([] if "period" in options else [np.nan, np.inf, -np.inf])
        x = np.concatenate([GENERATOR.normal(size=9) * 2, at, ends])
        for places in (x, x[:0], x[:6].reshape(3, 2), x[0], x.astype("float32")):
            for values in (y, y + 1j * y[::-1], (y * 9).astype("int64")):
                given = {}
                for array in map(np.asarray, (places, at, values)):
                    shape = array.shape if static else (None,) * array.ndim
                    given[ot.tensor(dtype=array.dtype, shape=shape)] = array
                found = og.evaluate(sorting.interp(*given, **options), given)
                expected = np.interp(places, at, values, **options)
                assert found.dtype == np.asarray(expected).dtype
                np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_place_may_have_two_values() -> None:
    x = np.array([0.5, 1.0, 2.0, 2.5, 3.0])
    for at in ([1.0, 2.0, 2.0, 3.0], [1.0, 1.0, 2.0, 3.0], [2.0, 2.0, 2.0, 2.0]):
        expected = np.interp(x, at, [5.0, 6.0, 7.0, 8.0])
        np.testing.assert_array_equal(sorting.interp(x, at, [5.0, 6.0, 7.0, 8.0]).eval(), expected)


def test_points_at_infinity() -> None:
    x = np.array([-np.inf, -5.0, 0.0, 1.0, 2.0, np.inf, np.nan])
    for at in (
        [-np.inf, 1.0, np.inf],
        [-np.inf, np.inf],
        [0.0, np.inf],
        [-np.inf, 0.0],
        [0.0, np.inf, np.inf],
        [-np.inf, -np.inf, 0.0],
        [np.inf],
        [-np.inf],
    ):
        for y in ([1.0, 2.0, 3.0], [4.0, 4.0, 4.0]):
            with np.errstate(invalid="ignore"):
                expected = np.interp(x, at, y[: len(at)])
            found = sorting.interp(x, at, y[: len(at)]).eval()
            np.testing.assert_array_equal(found, expected)


def test_gradients_beside_points_at_infinity() -> None:
    x, at, y = ot.dvector("x"), ot.dvector("at"), ot.dvector("y")
    cost = sorting.interp(x, at, y)[:5].sum()
    f = oc.function([x, at, y], og.grad(cost, [x, at, y]))
    places = [0.0, 2.0, 9.0, -np.inf, np.inf, np.nan]
    of_x, of_at, of_y = f(places, [-np.inf, 1.0, 3.0, np.inf], [1.0, 2.0, 6.0, 5.0])
    np.testing.assert_array_equal(of_x, [0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(of_at, [0.0, -1.0, -1.0, 0.0])
    np.testing.assert_array_equal(of_y, [1.0, 1.5, 1.5, 1.0])
    values = [np.array([-1.0, 1.5, 4.0]), np.array([2.0, 5.0])]
    og.verify_grad(
        lambda q, v: sorting.interp(q, [-np.inf, 1.0, 3.0, np.inf], ot.join(0, [1.0], v, [7.0])),
        values,
    )


def test_compiled_with_gradients() -> None:
    x, at, y = ot.dvector("x"), ot.dvector("at"), ot.dvector("y")
    out = sorting.interp(x, at, y)
    f = oc.function([x, at, y], [out, *og.grad(out.sum(), [x, at, y])])
    value, *slopes = f([0.5, 2.0, 9.0], [0.0, 1.0, 3.0], [0.0, 1.0, 9.0])
    np.testing.assert_allclose(value, [0.5, 5.0, 9.0])
    np.testing.assert_allclose(slopes[0], [1.0, 4.0, 0.0])
    np.testing.assert_allclose(slopes[2], [0.5, 1.0, 1.5])
    assert (
        og.verify_grad(
            sorting.interp, [np.array([0.5, 2.0]), np.array([0.0, 1.0, 3.0]), np.ones(3)]
        )
        is None
    )


def test_data_is_sorted_and_extrapolated() -> None:
    f = sorting.interpolate1d(np.array([3.0, 1.0, 2.0]), np.array([30.0, 10.0, 25.0]))
    np.testing.assert_allclose(
        f(np.array([0.0, 1.0, 1.5, 2.5, 4.0])).eval(), [-5.0, 10.0, 17.5, 27.5, 35.0]
    )
    nearest = sorting.interpolate1d([1.0, 2.0], [5.0, 6.0], "nearest")
    np.testing.assert_allclose(nearest(np.array([0.0, 1.4, 1.6, 9.0])).eval(), [5.0, 5.0, 6.0, 6.0])


def test_wrong_data() -> None:
    with pytest.raises(ValueError, match="of equal length"):
        sorting.interp(0.5, [1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="must be vectors"):
        sorting.interp(0.5, np.eye(2), [1.0])
    with pytest.raises(ValueError, match="period"):
        sorting.interp(0.5, [1.0], [1.0], period=0)
    with pytest.raises(ValueError, match="one of linear"):
        sorting.interpolate1d([1.0], [1.0], "cubic")  # type: ignore[arg-type]
    at, y = ot.dvector("at"), ot.dvector("y")
    for values in ({at: np.ones(2), y: np.ones(3)}, {at: np.ones(0), y: np.ones(0)}):
        with pytest.raises(ValueError, match="of equal length, and not empty"):
            og.evaluate(sorting.interp(0.5, at, y), values)
