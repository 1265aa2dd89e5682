"""Functions that choose, put and join by subscripts, that take functions, and those of dtypes, beside NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

import occelo_graph as og
from occelo_arrays import functions
from occelo_graph import tensor

np: Any = numpy
ot: Any = SimpleNamespace(**vars(tensor) | vars(functions))

One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]
Three = Callable[[Any, Any, Any], Any]
GENERATOR = np.random.default_rng(11)
M = GENERATOR.normal(size=(3, 4))
INTEGERS = np.array([[3, -1, 0, 7], [2, 2, -5, 9]])


def of(value: Any, build: Callable[[Any], Any], static: bool) -> Any:
    """What ``build`` makes of a variable with this value, computed by the interpreter."""
    shape = value.shape if static else (None,) * value.ndim
    x = ot.tensor("x", dtype=value.dtype.name, shape=shape)
    return og.evaluate(build(x), {x: value})


@pytest.mark.parametrize("static", [True, False])
def test_functions_that_change_copies(static: bool) -> None:
    rows: list[tuple[str, Any, tuple[Any, ...]]] = [
        *(
            ("put", x, (places, values, mode))
            for x in (M, INTEGERS, M[::-1, ::-1])
            for places in ([0, 2], [5], [[1, 2], [3, 0]])
            for values in (1, [4, 5], [[7, 8], [9, 1]])
            for mode in ("raise", "wrap", "clip")
        ),
        ("put", M, ([-1, -12], [1.0, 2.0], "raise")),
        ("put", M, ([40, -40], [1.0, 2.0], "wrap")),
        ("put", M, ([40, -40, 3], [1.0, 2.0], "clip")),
        *(("place", x, (x > 0, values)) for x in (M, INTEGERS, M[::-1]) for values in ([1], [4, 5], [1, 2, 3])),
        ("place", M, (M > 9, [1.0])),
        ("put_along_axis", M, (M.argsort(0)[:2], 7.5, 0)),
        *(("put_along_axis", M, (M.argsort(1)[:, :2], 7.5, axis)) for axis in (1, -1)),
        ("put_along_axis", M, (np.array([3, 0, 3]), np.array([1.0, 2.0, 3.0]), None)),
        ("put_along_axis", INTEGERS, (np.array([[2]]), np.array([[8], [9]]), 1)),
    ]  # fmt: skip
    for name, value, arguments in rows:
        expected = value.copy()
        getattr(np, name)(expected, *arguments)
        made = of(
            value, lambda x, n=name, a=arguments: getattr(ot, n)(x, *a, inplace=False), static
        )
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    for name, arguments in (
        ("put", ([0], 1)),
        ("place", (M > 0, [1])),
        ("put_along_axis", ([[0]], 1, 0)),
    ):
        with pytest.raises(ValueError, match="inplace=False"):
            getattr(ot, name)(ot.dmatrix("x"), *arguments)
    with pytest.raises(IndexError):
        of(M, lambda x: ot.put(x, [12], 1.0, inplace=False), static)
    wrong: list[One] = [
        lambda x: ot.put(x, [0], [], inplace=False),
        lambda x: ot.put(x, [0], 1, "x", inplace=False),
    ]
    for bad in wrong:
        with pytest.raises(ValueError, match="put"):
            bad(ot.dmatrix("x"))


@pytest.mark.parametrize("static", [True, False])
def test_piecewise_functions(static: bool) -> None:
    v = np.array([-2.0, -0.5, 0.0, 0.5, 3.0])
    square: Any = np.square
    rows: list[tuple[One, list[One | Two | float]]] = [
        (lambda x: [x < 0, x >= 0], [-1, 1]),
        (lambda x: [x < 0], [square, lambda x: -x]),
        (lambda x: [x < 1, x < 0], [1, 2, square]),
        (lambda x: [x < 1, x < 0], [1, 2]),
        (lambda x: x < 0, [lambda x, k: x + k, 5]),
    ]  # fmt: skip
    for conditions, choices in rows:
        more = (3,) if not isinstance(conditions(v), list) else ()
        expected = np.piecewise(v, conditions(v), choices, *more)
        made = of(
            v, lambda x, c=conditions, f=choices, m=more: ot.piecewise(x, c(x), f, *m), static
        )
        np.testing.assert_array_equal(made, expected)
        assert made.dtype == expected.dtype
    whole = of(np.arange(4), lambda x: ot.piecewise(x, [x > 1], [2.5, 0.5]), static)
    np.testing.assert_array_equal(whole, np.piecewise(np.arange(4), [np.arange(4) > 1], [2.5, 0.5]))
    x = ot.dvector("x")
    for bad, error in (([x > 0, x < 0, x < 1], ValueError), ([x, x], TypeError)):
        with pytest.raises(error, match="piecewise"):
            ot.piecewise(x, bad, [1, 2])
    slope = og.grad(ot.piecewise(x, [x < 0], [ot.sqr, ot.exp]).sum(), x)
    np.testing.assert_allclose(og.evaluate(slope, {x: v}), np.where(v < 0, 2 * v, np.exp(v)))


def _total(x: Any, axis: int) -> Any:
    return x.sum()


@pytest.mark.parametrize("static", [True, False])
def test_functions_that_take_functions(static: bool) -> None:
    t = GENERATOR.normal(size=(2, 3, 4))
    pairs: list[tuple[One, One]] = [
        (ot.cumsum, np.cumsum),
        (lambda v: v.sum(), np.sum),
        (lambda v: ot.outer(v, v[:2]), lambda v: np.outer(v, v[:2])),
        (lambda v: ot.ones((2,)), lambda v: np.ones(2)),
    ]
    for axis in (0, 1, -1):
        for ours, theirs in pairs:
            made = of(t, lambda x, a=axis, f=ours: ot.apply_along_axis(f, a, x), static)
            np.testing.assert_allclose(made, np.apply_along_axis(theirs, axis, t))
    for axes in (0, [0, 2], (1, -1)):
        made = of(t, lambda x, a=axes: ot.apply_over_axes(ot.sum, x, a), static)
        np.testing.assert_allclose(made, np.apply_over_axes(np.sum, t, axes))
    with pytest.raises(ValueError, match="apply_over_axes"):
        ot.apply_over_axes(_total, ot.dtensor3(), [0])
    of_three: Three = lambda i, j, k: i * j + k  # noqa: E731
    np.testing.assert_array_equal(
        ot.fromfunction(of_three, (2, 3), dtype=int, k=1).eval(),
        np.fromfunction(of_three, (2, 3), dtype=int, k=1),
    )
    n = ot.lscalar("n")
    squares = ot.fromfunction(ot.sqr, (n,))
    np.testing.assert_array_equal(og.evaluate(squares, {n: np.int64(4)}), [0, 1, 4, 9])


@pytest.mark.parametrize("static", [True, False])
def test_blocks_and_windows(static: bool) -> None:
    t = np.arange(96.0).reshape(4, 6, 4)
    for shape in ((2, 3, 4), (1, 1, 1), (4, 6, 4), (2, 2, 1)):
        made = of(t, lambda x, s=shape: ot.view_as_blocks(x, s), static)
        places = tuple(n // b for n, b in zip(t.shape, shape, strict=True))
        assert made.shape == places + shape
        for at in np.ndindex(*places):
            start = [a * b for a, b in zip(at, shape, strict=True)]
            part = tuple(slice(s, s + b) for s, b in zip(start, shape, strict=True))
            np.testing.assert_array_equal(made[at], t[part])
    for window, step in ((2, 1), ((2, 3, 1), 2), ((4, 1, 2), (1, 3, 2))):
        made = of(t, lambda x, w=window, s=step: ot.view_as_windows(x, w, s), static)
        sizes, steps = np.broadcast_to(window, 3), np.broadcast_to(step, 3)
        for at in np.ndindex(*made.shape[:3]):
            part = tuple(slice(a * s, a * s + w) for a, s, w in zip(at, steps, sizes, strict=True))
            np.testing.assert_array_equal(made[at], t[part])
        assert made.shape[:3] == tuple(
            (n - w) // s + 1 for n, w, s in zip(t.shape, sizes, steps, strict=True)
        )
    with pytest.raises(ValueError, match=r"Blocks|reshape|Cannot"):
        of(t, lambda x: ot.view_as_blocks(x, (3, 2, 2)), static)
    with pytest.raises(ValueError, match="step"):
        ot.view_as_windows(ot.dvector(), 2, 0)


def test_joining_by_subscripts() -> None:
    v, m = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2)
    x, y = ot.dvector("x"), ot.dmatrix("y")

    def same(ours: Any, theirs: Any) -> None:
        made = og.evaluate(ours, {x: v, y: m}) if ours.owner else ours.data
        assert made.dtype == theirs.dtype
        np.testing.assert_array_equal(made, theirs)

    for ours, theirs in ((ot.r_, np.r_), (ot.c_, np.c_)):
        same(ours[x, x], theirs[v, v])
        same(ours[1:5, 0], theirs[1:5, 0]) if ours is ot.r_ else same(
            ours[1:5, 1:5], theirs[1:5, 1:5]
        )
        same(ours[0:1:5j], theirs[0:1:5j])
        same(ours[y, y], theirs[m, m])
    same(ot.c_[x, y], np.c_[v, m])
    same(ot.r_[x, 0, 1:7:2, 2.5], np.r_[v, 0, 1:7:2, 2.5])
    for text in ("0,2", "-1", "0,2,0", "1,2,0", "0,3,-1", "0,3,1", "-1,3,-2"):
        same(ot.r_[text, x, x], np.r_[text, v, v])
    with pytest.raises(TypeError, match="numbers"):
        ot.r_["r", x]
    assert ot.s_[1:2, ...] == np.s_[1:2, ...]
    assert ot.index_exp[0] == (0,)


def test_functions_of_dtypes_and_shapes() -> None:
    x, i = ot.fvector("x"), ot.tensor("i", dtype="int8", shape=(2,))
    assert ot.result_type(x, i, 1.5) == np.float32
    assert ot.result_type(i, 1.5) == np.float64
    assert ot.can_cast(i, "int16")
    assert not ot.can_cast(x, np.int64)
    assert ot.finfo(x).bits == 32
    assert ot.isdtype(np.dtype(i.dtype), "integral")
    assert ot.isdtype(x.dtype, ("bool", "real floating"))
    assert ot.issubdtype(x, np.floating)
    assert ot.iinfo(i).max == 127
    assert ot.promote_types(i, x) == np.float32
    assert np.float32 is np.float32
    assert ot.broadcast_shapes((3, 1), 4, (1, 1, 1)) == (1, 3, 4)
    assert ot.isscalar(1.5)
    assert ot.isscalar(x[0])
    assert not ot.isscalar(x)
    assert ot.array([[1, 2]], "float32", ndmin=4).type.shape == (1, 1, 1, 2)
