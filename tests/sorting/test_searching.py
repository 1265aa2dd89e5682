"""`searchsorted`, `topk`, `partition` and their relatives beside NumPy's, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

ROW = np.array([-1.0, -0.0, 0.0, 2.0, 2.0, np.inf, np.nan, np.nan])
AT = np.array([[0.0, -0.0, 2.0, 5.0], [np.inf, -np.inf, np.nan, 1.0]])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("n", [0, 1, 5, 8])
def test_positions_are_those_of_numpy(side: Any, n: int) -> None:
    a, v = ot.dvector("a"), ot.dmatrix("v")
    f = oc.function([a, v], sorting.searchsorted(a, v, side))
    np.testing.assert_array_equal(f(ROW[:n], AT), np.searchsorted(ROW[:n], AT, side))
    np.testing.assert_array_equal(
        f(ROW[:n], AT[:, ::-2]), np.searchsorted(ROW[:n], AT, side)[:, ::-2]
    )


@pytest.mark.parametrize(
    ("first", "second"), [("int8", "float32"), ("uint64", "int64"), ("bool", "int32")]
)
def test_both_are_compared_in_their_common_dtype(first: str, second: str) -> None:
    row, at = np.array([0, 1, 1]).astype(first), np.array([1, 0, 3]).astype(second)
    a, v = ot.tensor(dtype=first, shape=(3,)), ot.tensor(dtype=second, shape=(3,))
    np.testing.assert_array_equal(
        oc.function([a, v], sorting.searchsorted(a, v))(row, at), np.searchsorted(row, at)
    )


def test_several_batches_of_rows_and_elements() -> None:
    a, v = ot.dvector("a"), ot.dvector("v")
    made = sorting.searchsorted(a, v)
    rows, ats = ot.dmatrix("rows"), ot.dmatrix("ats")
    for of_a, of_v in ((rows, v), (a, ats), (rows, ats)):
        found = og.vectorize_graph(made, {a: of_a, v: of_v})
        f = oc.function([of_a, of_v], found)
        left = np.sort(AT)[:, :2] if of_a is rows else ROW
        right = AT[:, ::-1] if of_v is ats else AT[1]
        np.testing.assert_array_equal(
            f(left, right),
            [
                np.searchsorted(
                    left[i] if of_a is rows else left, right[i] if of_v is ats else right
                )
                for i in range(2)
            ],
        )


@pytest.mark.parametrize(
    "edges",
    [
        [],
        [1.0],
        [0.0, 1.0, 2.0],
        [2.0, 1.0, 0.0],
        [1.0, 1.0],
        [-1.0, 2.0, np.nan],
        [np.nan, 2.0, 0.0],
    ],
)
@pytest.mark.parametrize("right", [False, True])
def test_bins_ascend_or_descend(edges: list[float], right: bool) -> None:
    x, bins = ot.dmatrix("x"), ot.dvector("bins")
    f = oc.function([x, bins], sorting.digitize(x, bins, right))
    wanted = np.digitize(AT, edges, right)
    np.testing.assert_array_equal(f(AT, np.array(edges)), wanted)
    (of_constants,) = og.evaluate([sorting.digitize(x, edges, right)], {x: AT})
    np.testing.assert_array_equal(of_constants, wanted)


@pytest.mark.parametrize("edges", [[1, 3, 2], [3.0, 1.0, 2.0], [2, 2, 3, 2], [False, True, False]])
def test_constant_bins_in_no_order_are_refused(edges: Any) -> None:
    x, bins = ot.dvector("x"), ot.dvector("bins")
    with pytest.raises(ValueError, match="bins must be monotonically"):
        np.digitize(AT, edges)
    for given in (edges, np.array(edges), ot.constant(edges)):
        with pytest.raises(ValueError, match="bins of digitize must ascend or descend"):
            sorting.digitize(x, given)
    sorting.digitize(x, bins)  # symbolic ones, of which nothing is known


@pytest.mark.parametrize("k", [1, 3, -1, -2])
@pytest.mark.parametrize("axis", [0, -1, None])
def test_the_largest_come_first(k: int, axis: Any) -> None:
    x, count = ot.dmatrix("x"), ot.lscalar("count")
    value = np.random.default_rng(1).permutation(15).reshape(3, 5) * 1.0
    flat = value.ravel() if axis is None else np.moveaxis(value, axis, -1)
    order = np.argsort(flat if k < 0 else -flat)[..., : abs(k)]
    values = np.take_along_axis(flat, order, -1)
    for given in (k, count):
        both = sorting.topk_and_argtopk(x, given, axis, idx_dtype="int32")
        made = [sorting.topk(x, given, axis), sorting.argtopk(x, given, axis, idx_dtype="int32")]
        gradient = og.grad((made[0] ** 2).sum(), x)
        f = oc.function([x, count], [*made, gradient, *both], on_unused_input="ignore")
        top, positions, slope, *pair = f(value, k)
        np.testing.assert_array_equal(top, pair[0])
        np.testing.assert_array_equal(positions, pair[1])
        back = values if axis is None else np.moveaxis(values, -1, axis)
        np.testing.assert_array_equal(top, back)
        np.testing.assert_array_equal(
            positions, order if axis is None else np.moveaxis(order, -1, axis)
        )
        assert positions.dtype == "int32"
        np.testing.assert_array_equal(slope, np.where(np.isin(value, values), 2 * value, 0.0))


def test_keys_decide_from_the_last_to_the_first() -> None:
    generator = np.random.default_rng(2)
    keys = [generator.integers(0, 3, (2, 9)) for _ in range(3)]
    x, y, z = ot.lmatrices("x", "y", "z")
    any_number = ot.ltensor3("any_number")
    for axis in (0, -1):
        several = [(x, y, z), ot.stack([x, y, z]), any_number]
        f = oc.function([x, y, z, any_number], [sorting.lexsort(k, axis) for k in several])
        for made in f(*keys, np.stack(keys)):
            np.testing.assert_array_equal(made, np.lexsort(keys, axis))


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: sorting.searchsorted(x, 1.0), ValueError, "searches a vector, got a=x"),
        (lambda x: sorting.searchsorted(x[0], 1.0, "middle"), ValueError, "middle"),
        (
            lambda x: sorting.searchsorted(x[0], 1.0, sorter=x[0]),
            TypeError,
            "sorter must be integers",
        ),
        (lambda x: sorting.digitize(x, x), ValueError, "bins of digitize must be a vector, got x"),
        (lambda x: sorting.topk(x, 0), ValueError, "must not be 0"),
        (lambda x: sorting.topk(x, 1.5), TypeError, "kth of topk must be an integer"),
        (lambda x: sorting.topk(x, 4), ValueError, "of 4 elements along an axis of 3: x"),
        (lambda x: sorting.partition(x, 3), ValueError, "kth=3 of partition is out of bounds"),
        (lambda x: sorting.partition(x, (0, -4)), ValueError, "kth=-4 of partition is out of"),
        (
            lambda x: sorting.argpartition(x, 9),
            ValueError,
            "kth=9 of argpartition is out of bounds",
        ),
        (lambda x: sorting.argpartition(x, 0, kind="other"), ValueError, "other"),
        (lambda x: sorting.lexsort(()), ValueError, "at least one key"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.tensor("x", dtype="float64", shape=(None, 3)))


@pytest.mark.parametrize("mode", ["largest", "smallest"])
def test_top_k_has_the_arguments_of_jax(mode: str) -> None:
    value = np.random.default_rng(5).integers(0, 9, (4, 5)) * 0.5
    x, k = ot.dmatrix("x"), ot.lscalar("k")
    for axis in (0, -1):
        values, places = oc.function([x, k], sorting.top_k(x, k, axis=axis, mode=mode))(value, 3)
        order = np.argsort(value if mode == "smallest" else -value, axis, kind="stable")
        expected = np.take(order, range(3), axis)
        np.testing.assert_array_equal(places, expected)
        np.testing.assert_array_equal(values, np.take_along_axis(value, expected, axis))
    f = oc.function([x, k], sorting.top_k(x, k))
    for wrong in (0, -2):
        with pytest.raises(ValueError, match="k of top_k must be at least 1"):
            f(value, wrong)
