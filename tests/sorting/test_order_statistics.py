"""`OrderStatistics` and `ArgOrderStatistics` beside NumPy's stable sort: ties, NaN, positions of any kind, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting
from occelo_sorting.ops.order_statistics import ArgOrderStatistics, OrderStatistics

DTYPES = ["bool", "int8", "uint64", "float16", "float32", "float64", "complex128"]


def _values(dtype: str, shape: Any, seed: int, nan: bool) -> Any:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 6, shape).astype(dtype)
    if nan and dtype[0] in "fc" and values.size:
        values.flat[generator.integers(0, values.size)] = np.nan
    return values


@given(
    st.sampled_from(DTYPES),
    st.integers(1, 90),
    st.integers(0, 20),
    st.integers(0, 12),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_positions_of_sorted_rows(
    dtype: str, n: int, count: int, span: int, nan: bool, seed: int
) -> None:
    """``span`` is how far positions are from each other; 0 stands for anywhere."""
    value = _values(dtype, (2, 3, n), seed, nan)
    generator = np.random.default_rng(seed)
    low = generator.integers(0, n) if span else 0
    positions = generator.integers(low, min(low + span, n) if span else n, count)
    order = np.argsort(value, axis=-1, kind="stable")[..., positions]
    expected = np.sort(value, axis=-1)[..., positions]
    np.testing.assert_array_equal(OrderStatistics().evaluate(value, positions), expected)
    found = ArgOrderStatistics().evaluate(value, positions)
    np.testing.assert_array_equal(found, order)
    assert found.dtype == "int64"


@pytest.mark.parametrize("dtype", ["float64", "uint8", "int64"])
@pytest.mark.parametrize("nans", [0, 1, 400])
def test_ends_of_long_rows(dtype: str, nans: int) -> None:
    generator = np.random.default_rng(5)
    value = generator.integers(0, 200 if dtype == "uint8" else 10**6, (2, 40_000)).astype(dtype)
    value[0] = np.sort(value[0])
    if dtype == "float64":
        value[:, generator.integers(0, 40_000, nans)] = np.nan
    for positions in (
        [0],
        [3, 0],
        [39_999],
        [39_990, 39_999, 39_990],
        range(500),
        range(39_400, 39_900),
    ):
        at = np.array(positions, "int64")
        order = np.argsort(value, axis=-1, kind="stable")[:, at]
        np.testing.assert_array_equal(ArgOrderStatistics().evaluate(value, at), order)
        expected = np.take_along_axis(value, order, -1)
        np.testing.assert_array_equal(OrderStatistics().evaluate(value, at), expected)


CASES = [
    *(
        (mode, n, static)
        for mode in ("native", "py", "jax")
        for n in (7, 60)
        for static in (True, False)
    ),
    ("numba", 7, True),  # Numba sorts short rows, and Python the others, with a warning
]


@pytest.mark.parametrize(("mode", "n", "static"), CASES)
def test_values_positions_and_gradients(mode: str, n: int, static: bool) -> None:
    if mode in ("jax", "numba"):
        pytest.importorskip(mode)
    value = np.random.default_rng(n).permutation(3 * n).reshape(3, n)[:, ::-1] * 1.0
    x = ot.tensor("x", dtype="float64", shape=(3, n if static else None))
    at = np.array([2, 0, 2, n - 1])
    made = OrderStatistics()(x, at)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    results = [made, ArgOrderStatistics()(x, at), og.grad((made * weights).sum(), x)]
    values, positions, slope = oc.function([x], results, mode=mode)(value)
    order = np.argsort(value)
    np.testing.assert_array_equal(values, np.sort(value)[:, at])
    np.testing.assert_array_equal(positions, order[:, at])
    expected = np.zeros_like(value)
    for row, own in zip(expected, order, strict=True):
        np.add.at(row, own[at], weights)
    np.testing.assert_array_equal(slope, expected)
    tangent = np.random.default_rng(1).normal(size=value.shape)
    moved = oc.function([x], og.Rop(made, x, ot.constant(tangent)), mode=mode)(value)
    np.testing.assert_array_equal(moved, np.take_along_axis(tangent, order, -1)[:, at])


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.parametrize("mode", ["native", "py", "jax"])
@pytest.mark.parametrize("k", [4, -4])
def test_more_than_there_are_is_an_error(mode: str, k: int) -> None:
    if mode == "jax":
        pytest.importorskip("jax")
    x, count = ot.dmatrix("x"), ot.lscalar("count")
    for function in (sorting.topk, sorting.argtopk):
        f = oc.function([x, count], function(x, count), mode=mode)
        np.testing.assert_array_equal(f(np.ones((2, 4)), k).shape, (2, 4))
        with pytest.raises(ValueError, match="is out of range for sorted rows of 3 elements"):
            f(np.ones((2, 3)), k)
        fixed = oc.function([x], function(x, k), mode=mode)
        with pytest.raises(ValueError, match="is out of range for sorted rows of 3 elements"):
            fixed(np.ones((2, 3)))
        # no row is too short
        for made in (f(np.ones((0, 3)), k), fixed(np.ones((0, 3)))):
            np.testing.assert_array_equal(made, np.empty((0, 4)))


@pytest.mark.parametrize("which", [(True, False), (False, True), (True, True)])
def test_batches_of_rows_and_of_positions(which: tuple[bool, bool]) -> None:
    x, at = ot.dmatrix("x"), ot.lvector("at")
    core = [OrderStatistics()(x, at), ArgOrderStatistics()(x, at)]
    xs, ats = ot.dtensor3("xs"), ot.lmatrix("ats")
    inputs = {
        v: b for v, b, is_batched in zip((x, at), (xs, ats), which, strict=True) if is_batched
    }
    whole = og.vectorize_graph(core, inputs)
    generator = np.random.default_rng(4)
    rows = generator.permutation(120).reshape(2, 3, 20) * 1.0
    positions = generator.integers(0, 20, (2, 5))
    values = {xs: rows, ats: positions, x: rows[0], at: positions[0]}
    used = [xs if which[0] else x, ats if which[1] else at]
    made, places = oc.function(used, whole)(*(values[v] for v in used))
    for i in range(2):
        row = rows[i if which[0] else 0]
        own = positions[i if which[1] else 0]
        np.testing.assert_array_equal(made[i], np.sort(row)[:, own])
        np.testing.assert_array_equal(places[i], np.argsort(row)[:, own])


def test_rows_that_are_sorted_anyway_are_read() -> None:
    x = ot.dvector("x")
    f = oc.function([x], [sorting.sort(x), sorting.median(x), sorting.topk(x, 2)])
    kinds = [type(node.op).__name__ for node in f.maker.fgraph.toposort()]
    assert "OrderStatistics" not in kinds
    value = np.array([3.0, 1.0, 2.0, 7.0])
    ordered, middle, top = f(value)
    np.testing.assert_array_equal(ordered, np.sort(value))
    np.testing.assert_array_equal(middle, 2.5)
    np.testing.assert_array_equal(top, [7.0, 3.0])


def test_there_may_be_no_integers() -> None:
    x = ot.lmatrix("x")
    for name, more in (("nanquantile", 0.25), ("nanpercentile", [10.0, 50.0])):
        f = oc.function([x], getattr(sorting, name)(x, more, axis=1))
        value = np.arange(6).reshape(2, 3)
        np.testing.assert_allclose(f(value), getattr(np, name)(value, more, axis=1), rtol=1e-15)
        missing = f(np.zeros((3, 0), "int64"))
        np.testing.assert_array_equal(missing, np.full((*np.shape(more), 3), np.nan))
