"""Parts of tensors and copies with changed parts, beside xarray's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr

import occelo_graph as og
from occelo_dims import as_xtensor, xtensor
from occelo_testing.beside_xarray import array, compare, evaluated

Call = Callable[..., Any]

BASIC: list[Any] = [
    0, -1, slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(5, None), slice(-2, None, 2), slice(2, 0, -1),
]  # fmt: skip


@pytest.mark.parametrize("first", BASIC, ids=str)
def test_slices_and_integers(first: Any) -> None:
    x = array("abc")
    for second in BASIC:
        compare(lambda x, second=second: x[first, second], (x,))
        compare(lambda x, second=second: x.isel(c=second, a=first), (x,), static=True)
        compare(lambda x, second=second: x[..., second], (x,))
        compare(lambda x, second=second: x[{"b": second, "a": first}], (x,))


def _named(values: Any, *dims: str) -> Any:
    return xr.DataArray(np.asarray(values), dims=dims)


ARRAYS: dict[str, tuple[Any, ...]] = {
    "vector": ([0, 1, 1],),
    "two vectors": ([0, 1, 1], [2, 0]),
    "vector and integer": ([1, 0], 2),
    "integer and vector": (1, [2, 2, 0]),
    "slice and vector": (slice(None, None, -1), [2, -1]),
    "vector, slice, vector": ([1, 0, 1], slice(1, None), [3, 0]),
    "empty vector": (np.zeros(0, int), [1]),
    "empty list": ([], [1]),
    "pair of an empty list": (("z", []), slice(None)),
    "mask": (np.array([True, False]),),
    "mask and vector": (np.array([True, True]), [2, 1]),
    "two masks": (np.array([False, True]), np.array([True, False, True])),
    "no true": (np.array([False, False]), slice(1, 2)),
    "negative": ([-1, -2], [-3, 0, 1]),
    "pair": (("z", [0, 1, 0]), slice(None)),
    "pairs": (("z", [0, 1, 0]), ("z", [2, 1, 0])),
    "pair of two": ((("y", "z"), np.array([[0, 1, 0], [1, 1, 0]])),),
}
NAMED: dict[str, tuple[Any, ...]] = {
    "new name": (_named([0, 1, 1], "z"),),
    "pointwise": (_named([0, 1, 1], "z"), _named([2, 0, 1], "z")),
    "orthogonal": (_named([0, 1, 1], "z"), _named([2, 0], "y")),
    "two dimensions": (_named([[0, 1, 1], [1, 0, 0]], "y", "z"),),
    "two dimensions and one": (_named([[0, 1, 1], [1, 0, 0]], "y", "z"), _named([2, 0], "y")),
    "one and two dimensions": (_named([0, 1], "y"), _named([[2, 1, 0], [1, 0, 0]], "y", "z")),
    "third only": (slice(None), slice(None), _named([0, 3, 3], "z")),
    "with slices": (_named([0, 1, 1], "z"), slice(1, None), _named([0, 3, 2], "z")),
    "with integers": (_named([0, 1, 1], "z"), 1, _named([0, 3, 2], "z")),
    "own name": (_named([1, 0, 1], "a"),),
    "own names": (_named([1, 0, 1], "a"), _named([1, 0], "b")),
    "the next name": (_named([1, 0, 1], "b"),),
    "the name of a slice": (_named([1, 0], "b"), slice(1, None)),
    "the name of a reversed slice": (_named([1, 0], "c"), 0, slice(None, None, -2)),
    "the name of a dropped dimension": (0, _named([1, 0, 2, 1], "a")),
    "a scalar": (_named(1), _named([2, 0], "z")),
    "a mask": (_named([True, False], "a"), _named([2, 0], "z")),
    "all of all": (_named([0, 1], "z"), _named([1, 2], "z"), _named([3, 3], "z")),
    "uint8": (_named(np.array([0, 1, 1], "uint8"), "z"),),
}


@pytest.mark.parametrize("case", [*ARRAYS, *NAMED])
def test_arrays(case: str) -> None:
    x = array("abc")
    key = {**ARRAYS, **NAMED}[case]
    for static in (False, True):
        compare(lambda x: x[key], (x,), static=static)
        compare(lambda x: x.isel(dict(zip(x.dims, key, strict=False))), (x,), static=static)


@pytest.mark.parametrize("case", [k for k in NAMED if k != "a mask"])
def test_symbolic_arrays(case: str) -> None:
    x = array("abc")
    key = NAMED[case]
    named = [each for each in key if isinstance(each, xr.DataArray)]

    def part(x: Any, *arrays: Any) -> Any:
        rest = iter(arrays)
        return x[tuple(next(rest) if isinstance(k, xr.DataArray) else k for k in key)]

    compare(part, (x, *named))


def test_symbolic_bounds_and_masks() -> None:
    x, n, mask = array("abc"), _named(2), array("b", "bool")
    compare(lambda x, n: x[n - 1, :n, n:], (x, n), lambda x, n: x[1, :2, 2:])
    compare(lambda x, m: x.isel(b=m), (x, mask), lambda x, m: x.isel(b=m.values))
    y = xtensor("y", dims=("a", "b"))
    m = xtensor("m", dims=("b",), dtype="bool")
    with pytest.raises(AssertionError, match="as many truth values as 'b'"):
        evaluated(y[:, m], {y: np.ones((2, 3)), m: np.array([True, True])})


def _changed(x: Any, key: tuple[Any, ...], value: Any, add: bool) -> Any:
    """What xarray's assignment gives; at repeated places each value is added, as by a loop over them."""
    made = x.copy()
    # xarray cannot assign by a pair of names and an array
    key = tuple(
        _named(k[1], *([k[0]] if isinstance(k[0], str) else k[0])) if isinstance(k, tuple) else k
        for k in key
    )
    if not add:
        made[key] = value
        return made
    places = xr.DataArray(np.arange(x.size).reshape(x.shape), dims=x.dims)[key]
    values = value * xr.ones_like(places, float) if not isinstance(value, xr.DataArray) else value
    spread = values.broadcast_like(places).transpose(*places.dims)
    flat = made.values.reshape(-1)
    np.add.at(flat, places.values, spread.values)
    return made


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("case", [*ARRAYS, *NAMED])
def test_changed_parts(case: str, add: bool) -> None:
    x = array("abc")
    key = {**ARRAYS, **NAMED}[case]
    part = x[key]
    values: list[Any] = [2.5]
    if part.size:
        values += [part * 2 + 1, part.isel({d: 0 for d in part.dims[:1]}, drop=True) * 3]
    for value in values:
        repeated = not add and isinstance(value, xr.DataArray)
        if repeated and len(set(_places(x, key))) < len(_places(x, key)):
            continue  # xarray leaves open which of several values stays

        def call(x: Any, value: Any = value) -> Any:
            given = as_xtensor(value) if isinstance(value, xr.DataArray) else value
            return x[key].inc(given) if add else x[key].set(given)

        compare(call, (x,), lambda x, value=value: _changed(x, key, value, add))


def _places(x: Any, key: tuple[Any, ...]) -> list[int]:
    places = xr.DataArray(np.arange(x.size).reshape(x.shape), dims=x.dims)[key]
    return places.values.reshape(-1).tolist()


@pytest.mark.parametrize(
    "key", list(itertools.product([0, slice(None), slice(1, None)], repeat=2)), ids=str
)
def test_changed_slices(key: Any) -> None:
    x = array("ab")
    compare(lambda x: x[key].set(7.0), (x,), lambda x: _changed(x, key, 7.0, False))
    compare(lambda x: x[key].inc(7.0), (x,), lambda x: _changed(x, key, 7.0, True))
    scalar = xtensor("s", dims=())
    assert evaluated(scalar[()].set(3.0), {scalar: 1.0}) == 3.0
    assert evaluated(scalar[()].inc(3.0), {scalar: 1.0}) == 4.0


def test_gradients_of_parts() -> None:
    """Values at repeated places are added, and a set part has no derivative by what it replaced."""
    x = xtensor("x", dims=("a", "b"))
    w = xtensor("w", dims="z")
    key = {"a": ("z", [0, 1, 0]), "b": ("z", [2, 2, 2])}
    value, weights = array("ab"), np.array([1.0, 2.0, 4.0])
    dx, dw = og.grad((w * x[key]).sum(), [x, w])
    given = {x: value.values, w: weights}
    expected = np.zeros((2, 3))
    expected[0, 2], expected[1, 2] = 5.0, 2.0
    np.testing.assert_array_equal(evaluated(dx, given), expected)
    np.testing.assert_array_equal(evaluated(dw, given), value.values[[0, 1, 0], 2])
    changed = x[key].inc(w)
    dx, dw = og.grad((changed**2).sum(), [x, w])
    whole = value.values.copy()
    np.add.at(whole, ([0, 1, 0], [2, 2, 2]), weights)
    np.testing.assert_allclose(evaluated(dx, given), 2 * whole)
    np.testing.assert_allclose(evaluated(dw, given), 2 * whole[[0, 1, 0], 2])
    dx = og.grad((x[:, 1].set(w.isel(z=0)) ** 2).sum(), x)
    mask = np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(evaluated(dx, given), 2 * value.values * mask)


def test_head_tail_thin() -> None:
    x = array("abc")
    calls: list[Call] = [
        lambda x: x.head(), lambda x: x.head(1), lambda x: x.head(b=2), lambda x: x.head({"c": 2, "a": 1}), lambda x: x.tail(),
        lambda x: x.tail(1), lambda x: x.tail(b=0), lambda x: x.tail(c=9), lambda x: x.thin(2), lambda x: x.thin(b=2, c=3),
    ]  # fmt: skip
    for call in calls:
        compare(call, (x,))
    with pytest.raises(TypeError, match="thin needs a number"):
        xtensor("x", dims="a").thin()
    with pytest.raises(ValueError, match="head takes numbers or keywords"):
        xtensor("x", dims="a").head(1, a=2)
    with pytest.raises(ValueError, match="has no dimension 'z'"):
        xtensor("x", dims="a").tail(z=2)
    for name, n in (("head", -1), ("tail", -1), ("thin", -1), ("thin", 0)):
        with pytest.raises(ValueError, match=f"{name}: the number of 'a' cannot be {n}"):
            getattr(xtensor("x", dims="a"), name)(a=n)


WRONG: dict[str, tuple[Call, type[Exception], str]] = {
    "too many": (lambda x: x[0, 0, 0], IndexError, "3 entries are too many"),
    "two ellipses": (lambda x: x[..., ...], IndexError, "one ellipsis"),
    "None": (lambda x: x[None], TypeError, "expand_dims"),
    "floats": (lambda x: x[[0.5]], TypeError, "integers or truth values"),
    "a matrix": (lambda x: x[np.zeros((1, 1), int)], IndexError, "one dimension at most"),
    "another mask": (lambda x: x[as_xtensor([True, True], "z")], IndexError, "must have this dimension only"),
    "a long mask": (lambda x: x[np.ones(3, bool)], IndexError, "3 truth values do not index 'a'"),
    "an unknown dimension": (lambda x: x.isel(z=0), ValueError, r"isel: x .* has no dimension 'z'"),
    "an ellipsis by name": (lambda x: x.isel(a=...), TypeError, "cannot be an ellipsis"),
    "both": (lambda x: x.isel({"a": 0}, b=0), ValueError, "not both"),
    "lengths of arrays": (
        lambda x: x[as_xtensor([0, 1], "z"), as_xtensor([0, 1, 2], "z")], ValueError, "Dimension 'z' has length 2 in .* and 3 in",
    ),
    "a name for a name": (lambda x: x[("y", as_xtensor([0], "z")),], IndexError, "rename"),
    "no part": (lambda x: x.set(1), ValueError, r"x\[key\].set"),
    "a value of other dims": (lambda x: x[0].set(xtensor("v", dims="z")), ValueError, "has the dimension 'z'"),
    "a value without names": (lambda x: x[:, :1].inc(np.ones(2)), ValueError, "do not name"),
    "a value too long": (lambda x: x[0].set(as_xtensor([1.0, 2.0], "b")), ValueError, "Dimension 'b' has length 3 in .* and 2 in"),
    "missing_dims": (lambda x: x.isel(a=0, missing_dims="no"), ValueError, "raise, warn or ignore"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_keys(case: str) -> None:
    call, error, text = WRONG[case]
    with pytest.raises(error, match=text):
        call(xtensor("x", dims=("a", "b"), shape=(2, 3)))


def test_missing_dims() -> None:
    x = xtensor("x", dims=("a", "b"))
    assert x.isel(z=0, a=0, missing_dims="ignore").dims == ("b",)
    with pytest.warns(UserWarning, match="has no dimension 'z'"):
        assert x.isel(z=0, missing_dims="warn").dims == ("a", "b")


@pytest.mark.parametrize("length", [1, 2])
def test_dynamic_lengths_of_parts_do_not_broadcast(length: int) -> None:
    """A length of 1 is as any other: where static lengths would be refused, dynamic ones are an error of the call."""
    x, y = xtensor("x", dims=("a", "b")), xtensor("y", dims="a")
    known = {x: np.zeros((3, 4)), y: np.ones(length)}
    parts: list[Any] = [x.isel(b=0), x[:, 1:], x.isel(b=[0, 0]), x[:, as_xtensor([1, 2], "z")]]
    for part in parts:
        for changed in (part.set(y), part.inc(y)):
            with pytest.raises(AssertionError, match=r"Dimension 'a' of y .* in the part"):
                evaluated(changed, known)
            known_well = {**known, y: np.ones(3)}
            assert evaluated(changed, known_well).sum() > 0
    plain: Any = x.isel(b=0).set(np.ones(length))
    with pytest.raises(AssertionError, match="Dimension 'a'"):
        evaluated(plain, {x: known[x]})
    rows, columns = (
        xtensor("rows", dims="z", dtype="int64"),
        xtensor("columns", dims="z", dtype="int64"),
    )
    points = x.isel(a=rows, b=columns)
    places = {rows: np.array([0, 1, 2]), columns: np.zeros(length, int)}
    with pytest.raises(AssertionError, match=r"Dimension 'z' of columns .* in rows"):
        evaluated(points, {x: known[x], **places})
