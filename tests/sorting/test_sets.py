"""`unique`, `isin` and functions of sets beside NumPy's: NaN, dtypes, empty sets, slices, lengths that are given."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

GENERATOR = np.random.default_rng(8)
INTEGERS = GENERATOR.integers(-3, 4, (3, 5))
FLOATS = GENERATOR.integers(-2, 3, (3, 4)) * 0.5
FLOATS[0, 1] = FLOATS[2, 2] = np.nan
FIRST = [
    INTEGERS, INTEGERS[0], INTEGERS[:0], INTEGERS > 0, FLOATS, FLOATS[::-1, ::2].astype("float32"),
    np.array(3.5), np.full(3, np.nan), FLOATS + 1j * GENERATOR.integers(0, 2, (3, 4)),
]  # fmt: skip
SECOND = [INTEGERS[1], FLOATS[1], np.zeros(0), np.array([np.nan, 1.0, 1.0])]


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


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
    listed = _listed(ours(*inputs, *more, **options)), _listed(theirs(*values, *more, **options))
    for made, expected in zip(*listed, strict=True):
        found = og.evaluate(made, given)
        assert found.dtype == np.asarray(expected).dtype
        np.testing.assert_allclose(found, expected, rtol=rtol)


@pytest.mark.parametrize("value", FIRST, ids=lambda v: f"{v.dtype}{v.shape}")
@pytest.mark.parametrize("equal_nan", [False, True])
def test_different_elements_and_where_they_are(value: Any, equal_nan: bool) -> None:
    for flags in itertools.product([False, True], repeat=3):
        _compare(sorting.unique, np.unique, value, more=flags, equal_nan=equal_nan)
    if not equal_nan:
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            _compare(getattr(sorting, name), getattr(np, name), value)
        _compare(sorting.unique_values, lambda x: np.unique(x, equal_nan=False), value)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("equal_nan", [False, True])
def test_nan_along_the_axis_of_a_vector(axis: int, equal_nan: bool) -> None:
    """They are elements; in the rows of a column they differ."""
    vector = np.array([3.0, 1.0, np.nan, 1.0, np.nan])
    options: dict[str, Any] = {"axis": axis, "equal_nan": equal_nan}

    def whole(values: Any, *more: bool, **given: Any) -> Any:
        # of a vector it is the same without the axis, with which older NumPy tells NaN apart
        return np.unique(values, *more, equal_nan=given["equal_nan"])

    _compare(sorting.unique, whole, vector, more=(True, True, True), **options)
    _compare(sorting.unique, whole, vector, **options)
    _compare(sorting.unique, np.unique, vector[:, None], axis=0, equal_nan=equal_nan)
    (filled,) = og.evaluate([sorting.unique(vector, size=4, fill_value=-1, **options)], {})
    np.testing.assert_array_equal(filled, [1, 3, np.nan, -1 if equal_nan else np.nan])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("is_known", [False, True])
def test_different_slices(axis: int, is_known: bool) -> None:
    value = np.random.default_rng(2).integers(0, 2, (6, 3) if axis == 0 else (3, 6)) * 1.0
    width = 3 if is_known else None
    x = ot.tensor("x", dtype="float64", shape=(None, width) if axis == 0 else (width, None))
    found = og.evaluate(sorting.unique(x, True, True, True, axis), {x: value})
    for made, expected in zip(found, np.unique(value, True, True, True, axis), strict=True):
        np.testing.assert_array_equal(
            made, np.reshape(expected, made.shape)
        )  # NumPy 2.0 has (1, n)


CUBE = GENERATOR.integers(-1, 2, (4, 2, 3))
SLICES = [
    CUBE, CUBE[:, ::-1] > 0, CUBE[::-1, :, ::2] * 0.5, CUBE.astype("uint8"), CUBE + 1j * CUBE[::-1],
    CUBE[0, 0], CUBE[:1], CUBE[:, :0], CUBE[:, :, :1], CUBE[:0], np.zeros((3, 12)), CUBE[:, [0] * 9],
]  # fmt: skip


@pytest.mark.parametrize("value", SLICES, ids=lambda v: f"{v.dtype}{v.shape}")
def test_slices_of_any_length(value: Any) -> None:
    for axis in range(value.ndim):
        lengths = value.shape[axis], value.size // max(value.shape[axis], 1)
        slices = np.moveaxis(value, axis, 0).reshape(lengths)
        if slices.shape == (0, 0):
            continue  # NumPy has one slice then
        _compare(sorting.unique, np.unique, value, axis=axis)
        rows = slices.tolist()
        order = sorted(range(len(rows)), key=lambda i: [(v.real, v.imag) for v in rows[i]])
        first = [i for k, i in enumerate(order) if not k or rows[i] != rows[order[k - 1]]]
        different = [rows[i] for i in first]
        x = ot.tensor(dtype=value.dtype, shape=(None,) * value.ndim)
        found = og.evaluate(sorting.unique(x, True, True, True, axis), {x: value})
        expected = [different.index(row) for row in rows]
        np.testing.assert_array_equal(found[1], first)
        np.testing.assert_array_equal(found[2], expected)
        np.testing.assert_array_equal(found[3], np.bincount(expected, minlength=len(first)))


SEEN = pytest.mark.filterwarnings(
    "ignore:Shapes in the graph depend on values", "ignore:.* it runs in Python"
)


@SEEN
@pytest.mark.sampled(5)
@pytest.mark.parametrize("mode", ["native", "c", "numba", "jax", "pytorch"])
def test_slices_of_unknown_length_by_each_backend(mode: str) -> None:
    library = {"pytorch": "torch", "jax": "jax", "numba": "numba"}.get(mode)
    if library:
        pytest.importorskip(library)
    x = ot.dmatrix("x")
    whole = sorting.unique(x, True, True, True, axis=0)
    part = sorting.unique(x, axis=1, size=3, fill_value=-7.0)
    gradient = og.grad((whole[0] * ot.arange(whole[0].shape[0])[:, None]).sum(), x)
    f = oc.function([x], [*whole, part, gradient], mode=mode)
    value = np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    wide = np.tile(value, 30)
    with og.config.change_flags(pytorch__compile=False):
        *found, filled, slope = f(value)
        of_wide = f(wide)[0]
    for made, expected in zip(found, np.unique(value, True, True, True, 0), strict=True):
        np.testing.assert_array_equal(made, np.reshape(expected, made.shape))
    columns = np.unique(value, axis=1)
    np.testing.assert_array_equal(filled, np.c_[columns, [-7.0] * 4])
    np.testing.assert_array_equal(slope, np.array([[2.0], [1.0], [0.0], [0.0]]) * np.ones(3))
    np.testing.assert_array_equal(of_wide, np.unique(wide, axis=0))


@SEEN
@pytest.mark.parametrize("mode", ["py", "jax", "pytorch"])
@pytest.mark.parametrize("dtype", ["float64", "uint16", "complex64"])
def test_batches_of_slices(mode: str, dtype: str) -> None:
    if mode != "py":
        pytest.importorskip({"jax": "jax", "pytorch": "torch"}[mode])
    value = GENERATOR.integers(0, 2, (3, 5, 4)).astype(dtype)
    x, batch = ot.tensor(dtype=dtype, shape=(None,) * 2), ot.tensor(dtype=dtype, shape=(None,) * 3)
    sizes = {"size": 3, "fill_value": 9}
    rows = og.vectorize_graph(sorting.unique(x, axis=0, **sizes), {x: batch})
    with og.config.change_flags(pytorch__compile=False):
        made = oc.function([batch], rows, mode=mode)(value)
    for one, each in zip(made, value, strict=True):
        whole = np.unique(each, axis=0)[:3]
        np.testing.assert_array_equal(one[: len(whole)], whole)
        assert (one[len(whole) :] == 9).all()


@pytest.mark.parametrize("first", FIRST, ids=lambda v: f"{v.dtype}{v.shape}")
@pytest.mark.parametrize("second", SECOND, ids=lambda v: f"{v.dtype}{v.shape}")
def test_sets(first: Any, second: Any) -> None:
    for name in ("isin", "union1d", "intersect1d", "setdiff1d", "setxor1d"):
        _compare(getattr(sorting, name), getattr(np, name), first, second)
    _compare(
        lambda x, y: sorting.isin(x, y, invert=True),
        lambda x, y: np.isin(x, y, invert=True),
        first,
        second,
    )
    _compare(
        lambda x, y: sorting.setdiff1d(x, y, True),
        lambda x, y: np.setdiff1d(x, y, True),
        first,
        second,
    )
    _compare(
        lambda x, y: sorting.intersect1d(x, y, return_indices=True),
        lambda x, y: np.intersect1d(x, y, return_indices=True),
        first,
        second,
    )


@pytest.mark.parametrize("mode", ["native", "jax"])
@pytest.mark.parametrize("size", [0, 2, 4, 7])
def test_a_size_cuts_or_fills(mode: str, size: int) -> None:
    if mode == "jax":
        pytest.importorskip("jax")
    value = np.array([3.0, 1.0, 3.0, 2.0, 1.0, 5.0])
    x = ot.dvector("x")
    made = sorting.unique(x, True, True, True, size=size)
    filled = sorting.union1d(x, x + 1.0, size=size, fill_value=-9.0)
    f = oc.function([x], [*made, filled], mode=mode)
    values, index, inverse, counts, union = f(value)
    expected = np.unique(value, True, True, True)
    k = min(size, 4)
    np.testing.assert_array_equal(values, [*expected[0][:k], *[1.0] * (size - k)])
    np.testing.assert_array_equal(index, [*expected[1][:k], *[1] * (size - k)])
    np.testing.assert_array_equal(inverse, expected[2])
    np.testing.assert_array_equal(counts, [*expected[3][:k], *[0] * (size - k)])
    both = np.union1d(value, value + 1.0)[:size]
    np.testing.assert_array_equal(union, [*both, *[-9.0] * (size - len(both))])
    assert made[0].type.shape == (size,)


@pytest.mark.parametrize("mode", ["native", "jax"])
@pytest.mark.parametrize("size", [0, 1, 3, 6])
@pytest.mark.parametrize("name", ["intersect1d", "setdiff1d", "setxor1d"])
def test_a_size_cuts_or_fills_sets(name: str, size: int, mode: str) -> None:
    if mode == "jax":
        pytest.importorskip("jax")
    pairs = [([3.0, 1.0, 3.0, np.nan], [1.0, 5.0]), ([4.0, 2.0], [2.0, 4.0]), ([1.0], [2.0])]
    x, y = ot.dvectors("x", "y")
    ours = getattr(sorting, name)
    f = oc.function(
        [x, y], [ours(x, y, size=size), ours(x, y, size=size, fill_value=-9)], mode=mode
    )
    for first, second in pairs:
        whole = getattr(np, name)(first, second)
        with_smallest, with_fill = f(first, second)
        smallest = whole[0] if len(whole) else 0.0
        more = max(size - len(whole), 0)
        np.testing.assert_array_equal(with_smallest, [*whole[:size], *[smallest] * more])
        np.testing.assert_array_equal(with_fill, [*whole[:size], *[-9.0] * more])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: sorting.unique(x, size=-1), "size must not be negative, got -1"),
        (lambda x: sorting.isin(x, x, kind="hash"), "'hash'"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        call(ot.dmatrix("x"))


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("repeat", (2,)),
        ("repeat", (0,)),
        ("tile", (3,)),
        ("tile", ((2, 1, 2),)),
        ("tile", (0,)),
        ("sort", ()),
        ("ravel", ()),
        ("broadcast_to", ((2, 3),)),
    ],
)
def test_elements_of_what_is_repeated(
    name: str, arguments: tuple[Any, ...], equal_nan: bool
) -> None:
    function = getattr(sorting if name == "sort" else arrays, name, None) or getattr(ot, name)

    def different(x: Any) -> Any:
        return sorting.unique(function(x, *arguments), equal_nan=equal_nan)

    def theirs(x: Any) -> Any:
        return np.unique(getattr(np, name)(x, *arguments), equal_nan=equal_nan)

    for value in (np.array([2.0, np.nan, 2.0]), np.array([np.nan]), np.array([3, 1, 1])):
        _compare(different, theirs, value)
    if name != "broadcast_to":
        _compare(different, theirs, np.zeros(0))
        _compare(different, theirs, FLOATS)


def test_what_is_repeated_still_has_to_fit() -> None:
    x = ot.dvector("x")
    for made in (
        ot.broadcast_to(x, (2, 3)),
        ot.reshape(x, (2, 3)),
        ot.reshape(ot.repeat(x, 2), (6,)),
    ):
        with pytest.raises(ValueError, match=r"3|6"):
            oc.function([x], sorting.unique(made), mode="vm")(np.zeros(4))


@pytest.mark.parametrize("static", [True, False])
def test_no_elements_of_a_batch(static: bool) -> None:
    x, none = ot.dvector("x"), ot.tensor("none", shape=(0 if static else None, None))
    made = og.vectorize_graph(sorting.unique(x), {x: none})
    assert oc.function([none], made, mode="vm")(np.zeros((0, 3))).shape[0] == 0
