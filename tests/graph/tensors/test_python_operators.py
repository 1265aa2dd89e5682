"""Python's operators, comparisons and conversions on variables, and the ones that are refused."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.control.observing import PdbBreakpoint

x, y = ot.dvector("x"), ot.dvector("y")
X = ot.dmatrix("X")
fixed = ot.tensor("fixed", dtype="float64", shape=(3,))

WITH_BOOL = [
    lambda b: ot.switch(b, 1 / x, 0.0),
    lambda b: ot.where(b, x, 0.0),
    lambda b: ot.switch(x > 0, b, x),
    lambda b: ot.ifelse(b, x, y),
    lambda b: ot.Assert("no")(x, b),
    lambda b: ot.assert_op(x, b),
    lambda b: ot.CheckAndRaise(ValueError, "no")(x, b),
    lambda b: PdbBreakpoint("here")(b, x),
    lambda b: x * b,
    lambda b: b + x,
    lambda b: x & b,
    lambda b: x < b,
    lambda b: ot.maximum(x, b),
    lambda b: ot.clip(x, b, 1.0),
    lambda b: ot.dot(x, b),
    lambda b: ot.outer(b, x),
    lambda b: ot.sum(b),
    lambda b: ot.any(b),
    lambda b: ot.all(b),
    lambda b: ot.stack([x[0], b]),
    lambda b: ot.as_tensor([x[0], b]),
    lambda b: ot.as_tensor([[x[0], 1.0], [b, 2.0]]),
    lambda b: ot.as_tensor([b, 1.0]),
    lambda b: ot.as_tensor(b),
    lambda b: ot.as_tensor_variable(b, dtype="bool"),
    lambda b: ot.cast(b, "float64"),
    lambda b: ot.full((3,), b),
    lambda b: ot.full_like(x, b),
    lambda b: ot.alloc(b, 3),
    lambda b: ot.zeros_like(b),
    lambda b: ot.arange(b),
    lambda b: ot.nonzero(b),
    lambda b: ot.arctan2(b, x),
    lambda b: ot.logsumexp(b),
    lambda b: ot.eye(3, k=b),
    lambda b: ot.take(x, b),
    lambda b: x[b],
    lambda b: X[b, 0],
    lambda b: X[0, b],
    lambda b: x[b:],
    lambda b: x[0:2].set(b),
    lambda b: x[0:2].inc(b),
    lambda b: x.fill(b),
    lambda b: ot.sum(X, axis=b),
    lambda b: ot.zeros((b, 2)),
    lambda b: og.clone_replace(x.sum() + (c := ot.scalar("c", dtype="bool")), {c: b}),
    lambda b: setattr(og.shared(np.array(False)), "default_update", b),
    lambda b: ot.sigmoid(b),
]


@pytest.mark.parametrize("number", range(len(WITH_BOOL)))
def test_python_bools_are_no_tensors(number: int) -> None:
    build: Any = WITH_BOOL[number]
    for mistake in (x == y, x != y):
        assert isinstance(mistake, bool)
        with pytest.raises(TypeError) as raised:
            build(mistake)
        text = str(raised.value)
        assert "must be an integer" in text or (
            "ot.eq" in text and "ot.neq" in text and "np.True_" in text
        )


def test_values_of_truth_are_tensors() -> None:
    assert ot.constant(True).dtype == og.shared(False).dtype == "bool"
    for value in (np.True_, np.array(True), [True, False], np.array([[True]])):
        assert ot.as_tensor(value).dtype == "bool"
    got = og.evaluate(ot.switch(np.True_, x, 0.0), {x: [1.0, 2.0]})
    assert got.tolist() == [1.0, 2.0]
    assert og.evaluate(fixed[[True, False, True]], {fixed: [1.0, 2.0, 3.0]}).tolist() == [1.0, 3.0]
    assert og.evaluate(ot.full(2, True, dtype="bool"), {}).tolist() == [True, True]
    assert og.evaluate(ot.full_like(x, False, dtype=bool), {x: [1.0]}).tolist() == [False]
    assert og.evaluate(ot.sum(X, axis=0, keepdims=True), {X: np.ones((2, 3))}).shape == (1, 3)


def test_variables_compare_by_identity() -> None:
    assert x == x
    assert x != y
    assert x in [y, x]
    assert x not in [y, X]
    assert {x: 1, y: 2}[y] == 2
    assert [y, x].index(x) == 1


MISTAKES: list[Any] = [
    lambda: 1.0 in x,
    lambda: x in x,
    lambda: 1.0 in fixed,
    lambda: 0 < x < 1,
    lambda: x[0] < x[1] < x[2],
    lambda: (x > 0) and (x < 1),
    lambda: (x > 0) or (x < 1),
    lambda: not x,
    lambda: max(x, y),
    lambda: min(x[0], 0.0),
    lambda: max(fixed),
    lambda: sorted([x[0], x[1]]),
    lambda: sorted(fixed),
    lambda: any(fixed > 0),
    lambda: all(fixed > 0),
    lambda: float(x[0]),
    lambda: int(x[0]),
    lambda: complex(x[0]),
    lambda: operator.index(ot.lscalar()),
    lambda: range(ot.lscalar()),
    lambda: [1, 2, 3][ot.lscalar()],
    lambda: math.sqrt(x[0]),
    lambda: len(x),
    lambda: len(x[0]),
    lambda: iter(x[0]),
    lambda: x[0](),
    lambda: x << 1,
    lambda: 1 >> x,
    lambda: operator.setitem(x, 0, 1.0),
    lambda: x @ 2.0,
    lambda: pow(x, 2, 3),
    lambda: f"{x[0]:.2f}",
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_what_needs_values_raises(number: int) -> None:
    with pytest.raises((TypeError, ValueError)):
        MISTAKES[number]()


def test_iteration_over_an_unknown_length_raises() -> None:
    for build in (iter, list, tuple, sum, max, sorted, set):
        with pytest.raises(ValueError, match="length is not known"):
            build(x)
    assert len(list(fixed)) == len(fixed) == 3
    assert og.evaluate(sum(fixed), {fixed: [1.0, 2.0, 3.0]}) == 6.0


ARRAY = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -7.0]])
ROW = np.array([2.0, -3.0, 0.5])
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
    divmod,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    "other",
    [
        ARRAY,
        ROW,
        np.float64(2),
        np.float32(-2.5),
        np.int8(3),
        np.array(4),
        2,
        -1.5,
        [1.0, 2.0, 3.0],
    ],
    ids=lambda o: f"{type(o).__name__}_{getattr(o, 'dtype', '')}",
)
def test_operators_take_arrays_on_both_sides(function: Any, other: Any) -> None:
    for left, right, expected in (
        (X, other, lambda: function(ARRAY, other)),
        (other, X, lambda: function(other, ARRAY)),
    ):
        want = expected()
        built = function(left, right)
        wants = want if isinstance(want, tuple) else (want,)
        builts = built if isinstance(built, tuple) else (built,)
        for b, w in zip(builts, wants, strict=True):
            got = og.evaluate(b, {X: ARRAY})
            assert got.dtype == w.dtype
            np.testing.assert_array_equal(got, w)


@pytest.mark.parametrize("other", [np.ones((3, 2)), np.ones(3), np.ones((3, 3))])
def test_matrix_products_with_arrays_on_both_sides(other: Any) -> None:
    right = og.evaluate(X @ other, {X: ARRAY})
    np.testing.assert_allclose(right, ARRAY @ other)
    left = og.evaluate(other.T @ X.T, {X: ARRAY})
    np.testing.assert_allclose(left, other.T @ ARRAY.T)


def test_arrays_are_not_changed_by_variables() -> None:
    array = np.ones((2, 3))

    def add() -> None:
        nonlocal array
        array += X  # type: ignore[misc]

    def add_to_part() -> None:
        array[0] += x  # type: ignore[operator]

    def store() -> None:
        array[0] = x  # type: ignore[call-overload]

    def store_scalar() -> None:
        array[0, 0] = x[0]  # type: ignore[call-overload]

    for change in (add, add_to_part, store, store_scalar):
        with pytest.raises((TypeError, ValueError)):
            change()
        assert (array == 1).all()


SIGNED = np.array([7, -7, 7, -7, 0, 5, -128, 127, -128], "int8")
BY = np.array([3, 3, -3, -3, 5, 0, -1, -1, 0], "int8")


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:overflow")
@pytest.mark.parametrize("function", [operator.floordiv, operator.mod, divmod])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "float32", "float64"])
def test_division_with_signs_and_zeros(function: Any, dtype: str) -> None:
    a, b = ot.tensor("a", dtype=dtype, shape=(None,)), ot.tensor("b", dtype=dtype, shape=(None,))
    values = {a: SIGNED.astype(dtype), b: BY.astype(dtype)}
    with np.errstate(all="ignore"):
        want = function(values[a], values[b])
    built = function(a, b)
    wants = want if isinstance(want, tuple) else (want,)
    builts = built if isinstance(built, tuple) else (built,)
    for one, w in zip(builts, wants, strict=True):
        got = og.evaluate(one, values)
        assert got.dtype == w.dtype
        np.testing.assert_array_equal(got, w)


def test_negative_powers_of_integers_raise() -> None:
    n = ot.lvector("n")
    for power in (-1, np.int64(-1), np.array([1, -2])):
        with pytest.raises(ValueError, match="negative"):
            og.evaluate(n**power, {n: [2, 3]})
    np.testing.assert_array_equal(og.evaluate(n**-1.0, {n: [2, 4]}), [0.5, 0.25])


def test_rounding_by_python() -> None:
    values = np.array([0.5, 1.5, -2.5, 2.345])
    np.testing.assert_array_equal(og.evaluate(round(x), {x: values}), np.round(values))
    np.testing.assert_array_equal(og.evaluate(round(x, 2), {x: values}), np.round(values, 2))
    np.testing.assert_array_equal(og.evaluate(math.floor(x), {x: values}), np.floor(values))
    np.testing.assert_array_equal(og.evaluate(math.ceil(x), {x: values}), np.ceil(values))
    np.testing.assert_array_equal(og.evaluate(math.trunc(x), {x: values}), np.trunc(values))


@pytest.mark.parametrize("write", [lambda: x > 0 & x, lambda: x | y, lambda: x ^ 2])  # type: ignore[operator]
def test_bits_of_floats_tell_of_precedence(write: Any) -> None:
    with pytest.raises(
        TypeError, match=r"write \(x > 0\) & \(x < 1\).*; the arguments are .*x \(float64"
    ):
        write()


def test_shapes_that_do_not_broadcast_name_the_variables() -> None:
    with pytest.raises(
        ValueError, match=r"lengths 3 and 4; the arguments are fixed .*, four \(float64"
    ):
        fixed + ot.tensor("four", dtype="float64", shape=(4,))


def test_what_no_tensor_is_made_of_tells_what_to_do() -> None:
    with pytest.raises(ValueError, match=r"Cannot iterate over x.*such as x.sum\(\) for sum\(x\)"):
        sum(x)
    with pytest.raises(TypeError, match="w of type Generic; a NumPy array as its value"):
        x * og.shared({1.0, 2.0}, "w")
    with pytest.raises(TypeError, match="An index must be an integer, got 'a'"):
        x["a"]
    w = og.shared(np.zeros(2), "w")
    with pytest.raises(TypeError, match=r"(?s)shared variable w \(float64.*\nWrong number of dim"):
        w.set_value(np.zeros((2, 2)))
