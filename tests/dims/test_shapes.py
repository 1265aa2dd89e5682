"""Functions that reorder, add, drop, divide and join dimensions, beside xarray's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

import occelo_graph as og
from occelo_dims import (
    as_xtensor,
    broadcast,
    concat,
    full_like,
    ones_like,
    shape,
    xtensor,
    zeros_like,
)
from occelo_graph import tensor as ot
from occelo_testing.beside_xarray import LENGTHS, array, compare, evaluated

Call = Callable[..., Any]


@pytest.mark.parametrize("static", [False, True])
def test_transpose(static: bool) -> None:
    x = array("abc")
    for order in itertools.permutations("abc"):
        compare(lambda x, order=order: x.transpose(*order), (x,), static=static)
    calls: list[Call] = [
        lambda x: x.transpose(), lambda x: x.T, lambda x: x.transpose(...), lambda x: x.transpose("c", ...),
        lambda x: x.transpose(..., "a"), lambda x: x.transpose("b", ..., "a"),
        lambda x: x.transpose("z", ..., "a", missing_dims="ignore"),
    ]  # fmt: skip
    for call in calls:
        compare(call, (x,), static=static)


def test_rename() -> None:
    x = array("abc")
    compare(lambda x: x.rename({"a": "z", "c": "a"}), (x,))
    compare(lambda x: x.rename(a="b", b="a"), (x,))
    y = xtensor("x", dims=("a", "b"))
    assert y.rename("n").name == "n"
    assert y.name == "x"
    assert y.rename("n", a="z").dims == ("z", "b")


def test_stack_and_unstack() -> None:
    x = array("abc")
    pairs = [("a", "b"), ("b", "a"), ("c", "a"), ("a", "b", "c"), ("c", "b", "a")]
    for names in pairs:
        for static in (False, True):
            compare(
                lambda x, names=names: x.stack({"z": names}),
                (x,),
                lambda x, names=names: x.stack(z=names, create_index=False),
                static=static,
            )
            lengths = {n: LENGTHS[n] for n in names}
            compare(
                lambda x, names=names, lengths=lengths: x.stack(z=names).unstack(z=lengths),
                (x,),
                lambda x, names=names: x.transpose(*(d for d in x.dims if d not in names), *names),
                static=static,
            )
    y = xtensor("y", dims=("a", "b"), shape=(2, 3))
    assert y.stack(z=("b", "a")).type.shape == (6,)
    assert y.stack(z=("b", "a"))[0].dims == ()
    n = ot.lscalar("n")
    made = y.stack(z=("a", "b")).unstack(z={"p": n, "q": 3})
    assert made.dims == ("p", "q")
    assert made.eval({y: np.ones((2, 3)), n: 2}).shape == (2, 3)


@pytest.mark.parametrize(
    "dims", ["a,a", "ab,ab", "ab,ba", "ab,b", "a,ab", "b,b", "ab,cb,a", ",a", ","]
)
@pytest.mark.parametrize("dim", ["a", "z"])
def test_concat(dims: str, dim: str) -> None:
    arrays = [array(d, seed=i) for i, d in enumerate(dims.split(","))]

    def expected(*parts: Any) -> Any:
        """What NumPy's concatenate gives of the broadcast parts."""
        names = list(dict.fromkeys(d for p in parts for d in p.dims))
        names = names if dim in names else [dim, *names]
        sizes = {d: n for p in parts for d, n in p.sizes.items()}
        filled = []
        for p in parts:
            each = p if dim in p.dims else p.expand_dims(dim)
            each = each.expand_dims({d: sizes[d] for d in names if d not in each.dims})
            filled.append(each.transpose(*names).values)
        return xr.DataArray(np.concatenate(filled, names.index(dim)), dims=names)

    for static in (False, True):
        compare(lambda *parts: concat(parts, dim), arrays, expected, static=static)
    if all(
        set(a.dims) == set(arrays[0].dims) for a in arrays
    ):  # others are joined by newer versions only
        compare(lambda *parts: concat(parts, dim), arrays, lambda *parts: xr.concat(parts, dim))


def test_squeeze_and_expand_dims() -> None:
    x = array("adb")
    compare(lambda x: x.squeeze("d"), (x,))
    compare(lambda x: x.squeeze(["d"]), (x,), static=True)
    compare(lambda x: x.squeeze(), (x,), static=True)
    compare(lambda x: x.squeeze(axis=1), (x,))
    y = array("ab")
    calls: list[Call] = [
        lambda y: y.expand_dims("z"), lambda y: y.expand_dims(["z", "y"]), lambda y: y.expand_dims(z=4), lambda y: y.expand_dims("z", axis=1),
        lambda y: y.expand_dims({"z": 2, "y": 3}), lambda y: y.expand_dims("z", axis=-1), lambda y: y.expand_dims({"z": 0}),
        lambda y: y.expand_dims(["z", "y"], axis=[0, 2]), lambda y: y.expand_dims(z=2, axis=-2),
        lambda y: y.expand_dims(["z", "y"], axis=[2, 0]), lambda y: y.expand_dims(["z", "y"], axis=[-4, -1]),
    ]  # fmt: skip
    for call in calls:
        for static in (False, True):
            compare(call, (y,), static=static)
    compare(lambda y: y.expand_dims(z=[5, 6, 7]), (y,), lambda y: y.expand_dims(z=3))
    v = xtensor("v", dims="a")
    n = ot.lscalar("n")
    assert v.expand_dims(z=n).eval({v: np.ones(2), n: 3}).shape == (3, 2)
    assert v.expand_dims(z=xtensor("k", dims="b").sizes["b"]).dims == ("z", "a")
    with pytest.raises((ValueError, AssertionError)):
        evaluated(v.squeeze("a"), {v: np.ones(2)})


@pytest.mark.parametrize("dims", ["a,b", "ab,ba", "ab,c", "abc,cb,", "ad,e"])
def test_broadcast(dims: str) -> None:
    arrays = [array(d, seed=i) for i, d in enumerate(dims.split(","))]
    for static in (False, True):
        compare(
            lambda *parts: broadcast(*parts),
            arrays,
            lambda *parts: xr.broadcast(*parts),
            static=static,
        )
        compare(
            lambda *parts: broadcast(*parts, exclude="b"),
            arrays,
            lambda *parts: xr.broadcast(*parts, exclude="b"),
            static=static,
        )
    compare(lambda x, y, *_: x.broadcast_like(y), arrays, lambda x, y, *_: xr.broadcast(y, x)[1])
    assert broadcast() == ()


def test_filled() -> None:
    for dtype in ("float32", "int8"):
        x = array("ab", dtype)
        compare(ones_like, (x,), xr.ones_like)
        compare(zeros_like, (x,), xr.zeros_like)
        compare(lambda x: full_like(x, 3), (x,), lambda x: xr.full_like(x, 3))
        compare(lambda x: full_like(x, 3, "float64"), (x,), lambda x: xr.full_like(x, 3, "float64"))


def test_diff() -> None:
    x = array("abc")
    for n in (0, 1, 2):
        for dim in ("a", "c"):
            compare(lambda x, n=n, dim=dim: x.diff(dim, n), (x,))


WRONG: dict[str, tuple[Call, type[Exception], str]] = {
    "transpose": (lambda x: x.transpose("a", "z"), ValueError, "transpose: .* has no dimension 'z'"),
    "transpose some": (lambda x: x.transpose("a"), ValueError, "stands for the others"),
    "transpose twice": (lambda x: x.transpose("a", "a"), ValueError, "are not the dimensions"),
    "two ellipses": (lambda x: x.transpose(..., ...), ValueError, "once only"),
    "rename": (lambda x: x.rename(z="y"), ValueError, "rename: .* has no dimension 'z'"),
    "rename to one": (lambda x: x.rename(a="b"), ValueError, "must differ"),
    "rename both": (lambda x: x.rename({"a": "z"}, b="y"), ValueError, "not both"),
    "stack one string": (lambda x: x.stack(z="ab"), TypeError, "several dimensions"),
    "stack none": (lambda x: x.stack(z=()), ValueError, "no dimensions"),
    "stack unknown": (lambda x: x.stack(z=("a", "y")), ValueError, "has no dimension 'y'"),
    "stack known": (lambda x: x.stack(b=("a",)), ValueError, "has a dimension 'b' already"),
    "stack a list": (lambda x: x.stack(["a", "b"]), TypeError, "a mapping"),
    "unstack": (lambda x: x.unstack(z={"p": 1, "q": 2}), ValueError, "has no dimension 'z'"),
    "unstack known": (lambda x: x.unstack(a={"b": 1, "q": 2}), ValueError, "has a dimension 'b' already"),
    "unstack one": (lambda x: x.unstack(a={"p": 2}), ValueError, "two dimensions at least"),
    "unstack lengths": (lambda x: x.unstack(a={"p": 2, "q": 2}), ValueError, "does not divide"),
    "unstack names": (lambda x: x.unstack(a=("p", "q")), TypeError, "lengths of new dimensions"),
    "unstack floats": (lambda x: x.unstack(a={"p": 2.0, "q": 1}), TypeError, "must be an integer"),
    "unstack negative": (lambda x: x.unstack(a={"p": -1, "q": 1}), ValueError, "cannot be negative"),
    "concat nothing": (lambda _: concat([], "a"), ValueError, "one tensor at least"),
    "concat lengths": (lambda x: concat([x, xtensor("y", dims="b", shape=(2,))], "a"), ValueError, "Dimension 'b' has length 3 in x .* and 2 in y"),
    "squeeze": (lambda x: x.squeeze("a"), ValueError, "has not the length 1"),
    "squeeze unknown": (lambda x: x.squeeze("z"), ValueError, "has no dimension 'z'"),
    "squeeze both": (lambda x: x.squeeze("a", axis=0), ValueError, "not both"),
    "expand known": (lambda x: x.expand_dims("a"), ValueError, "has a dimension 'a' already"),
    "expand negative": (lambda x: x.expand_dims(z=-1), ValueError, "cannot be negative"),
    "expand float": (lambda x: x.expand_dims(z=1.5), TypeError, "must be an integer"),
    "expand axes": (lambda x: x.expand_dims(["z", "y"], axis=0), ValueError, "as many positions"),
    "expand far": (lambda x: x.expand_dims("z", axis=3), IndexError, "the position 3 is not one of 3 dimensions"),
    "expand at one place": (lambda x: x.expand_dims(["z", "y"], axis=[0, -4]), ValueError, "must differ"),
    "expand both": (lambda x: x.expand_dims("z", y=1), ValueError, "not keywords|or keywords"),
    "broadcast": (lambda x: broadcast(x, xtensor("y", dims="b", shape=(1,))), ValueError, "Dimension 'b' has length 3 in x .* and 1 in y"),
    "full_like": (lambda x: full_like(x, np.ones(3)), ValueError, "needs a scalar"),
    "diff": (lambda x: x.diff("z"), ValueError, "diff: .* has no dimension 'z'"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(case: str) -> None:
    call, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        call(xtensor("x", dims=("a", "b"), shape=(2, 3)))


def test_warnings() -> None:
    with pytest.warns(UserWarning, match="has no dimension 'z'"):
        assert xtensor("x", dims=("a", "b")).transpose("z", "b", "a", missing_dims="warn").dims == (
            "b",
            "a",
        )
    assert shape.squeeze(xtensor("x", dims="a")).dims == ("a",)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("number", [0, 1, -2, 7, -7])
def test_roll_and_shift(number: int, static: bool) -> None:
    for dtype in ("float64", "float32", "int64"):
        x = array("abc").astype(dtype)
        # new: xarray's result shares the class of the array
        compare(lambda x: x.roll(b=number), (x,), static=static)
        compare(lambda x: x.roll({"a": 1, "c": number}), (x,), static=static)
        compare(lambda x: x.shift(b=number, fill_value=5), (x,), static=static)
    compare(lambda x: x.shift(a=1, b=number), (array("abc"),), static=static)
    for name in ("roll", "shift"):
        with pytest.raises(ValueError, match=f"{name}: .* has no dimension 'z'"):
            getattr(xtensor("x", dims=("a",)), name)(z=1)


def test_an_empty_dimension_is_rolled() -> None:
    x = xr.DataArray(np.zeros((0, 2)), dims=("a", "b"))
    compare(lambda x: x.roll(a=1), (x,))
    compare(lambda x: x.shift(a=1), (x,))


def test_positions_and_functions() -> None:
    x = array("abc")
    own = xtensor("x", dims=("a", "b", "c"))
    assert own.get_axis_num("b") == x.get_axis_num("b")
    assert own.get_axis_num(["c", "a"]) == x.get_axis_num(["c", "a"])
    with pytest.raises(ValueError, match=r"get_axis_num: .* has no dimension 'z'"):
        own.get_axis_num("z")
    compare(lambda x: x.pipe(lambda y, n: y + n, 2.0), (x,))
    compare(lambda x: x.pipe((lambda n, y: y * n, "y"), 2.0), (x,))
    compare(lambda x: (10.0 * x).round(), (x,))
    compare(lambda x: x.round(1), (x,))
    some = x.values.ravel()[:3]
    compare(lambda x: x.isin(some), (x,))
    compare(lambda x: x.conjugate(), (x * 1j,))


PADS: dict[str, dict[str, Any]] = {
    "NaN": {},
    "one value": {"constant_values": 2.5},
    "a pair": {"constant_values": (1.0, 2.0)},
    "values of dimensions": {"constant_values": {"a": 3.0, "c": (4.0, 5.0)}},
    "edge": {"mode": "edge"},
    "wrap": {"mode": "wrap"},
    "ramp": {"mode": "linear_ramp", "end_values": {"b": 7.0}},
    "mean": {"mode": "mean"},
    "mean of some": {"mode": "mean", "stat_length": {"c": 2}},
    "median": {"mode": "median", "stat_length": 1},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "symmetric": {"mode": "symmetric"},
}


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("case", PADS)
def test_pad(case: str, static: bool) -> None:
    x = array("abc")
    for widths in ({"a": 1}, {"b": (0, 2), "c": (1, 0)}, {}):
        # xarray writes pairs into the mappings that it gets
        compare(
            lambda x, w=widths: x.pad({**w}, **{k: dict(v) if isinstance(v, dict) else v for k, v in PADS[case].items()}),
            (x,),
            static=static,
        )  # fmt: skip
    if case in ("NaN", "one value"):
        for dtype in ("int64", "int8", "float32"):
            expected = x.astype(dtype).pad(c=2, **PADS[case])
            found = as_xtensor(x.astype(dtype)).pad(c=2, **PADS[case])
            assert found.dtype == expected.dtype.name
            np.testing.assert_array_equal(found.eval(), expected.values)


def test_pad_with_variables_and_slopes() -> None:
    x, n = xtensor("x", dims=("a", "b")), ot.lscalar("n")
    y = x.pad(b=(n, 1), constant_values=0.0)
    value = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(y.eval({x: value, n: 2}), np.pad(value, [(0, 0), (2, 1)]))
    slope = og.grad((y * y).sum(), x)
    assert slope.dims == ("a", "b")
    np.testing.assert_array_equal(slope.eval({x: value, n: 2}), 2 * value)
    with pytest.raises(ValueError, match=r"pad: .* has no dimension 'z'"):
        x.pad(z=1)
    with pytest.raises(TypeError, match="bools have no NaN"):
        xtensor("m", dims=("a",), dtype="bool").pad(a=1)


@pytest.mark.parametrize("static", [False, True])
def test_argsort_and_searchsorted(static: bool) -> None:
    for dtype in ("float64", "float32", "int64"):
        compare(lambda x: x.argsort(), (array("abc", dtype),), static=static)
        compare(lambda x: x.argsort(axis=0, kind="stable"), (array("abc", dtype),), static=static)
    compare(lambda x: x.argsort(), (array("ae"),), static=static)
    line = xr.DataArray([0.5, 1.0, 1.0, 3.0], dims="c")
    queries = xr.DataArray([[1.0, 4.0, np.nan], [0.0, 0.5, 2.0]], dims=("a", "b"))
    for side in ("left", "right"):
        found = as_xtensor(line).searchsorted(as_xtensor(queries), side=side)
        assert found.dims == ("a", "b")
        np.testing.assert_array_equal(found.eval(), line.searchsorted(queries, side=side))
        for v in (1.0, [1.0, 0.7], queries.values):
            plain = og.evaluate(as_xtensor(line).searchsorted(v, side), {})
            np.testing.assert_array_equal(plain, line.searchsorted(v, side=side))
    mixed, order = line[[2, 0, 3, 1]], np.array([1, 0, 3, 2])
    for sorter in (order, as_xtensor(order, "c")):
        found = as_xtensor(mixed).searchsorted([0.6, 1.0], sorter=sorter)
        np.testing.assert_array_equal(
            og.evaluate(found, {}), mixed.searchsorted([0.6, 1.0], sorter=order)
        )
    with pytest.raises(ValueError, match="needs a tensor of one dimension"):
        xtensor("x", dims=("a", "b")).searchsorted(1.0)
    with pytest.raises(TypeError, match="have no dimension"):
        xtensor("x", dims=("a", "b")).argsort(None)
    with pytest.raises(np.exceptions.AxisError, match="2"):
        xtensor("x", dims=("a", "b")).argsort(2)
