"""`value_and_grad`, `jvp`, `vjp`, `vmap` and `stop_gradient` equal derivatives by hand and loops over the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import occelo as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import DisconnectedInputError
from occelo_graph.ir import trees


class Pair(NamedTuple):
    first: Any
    second: Any


x, y, s = ot.dvector("x"), ot.dvector("y"), ot.dscalar("s")
X, Y = np.array([1.0, -2.0, 0.5]), np.array([3.0, 1.0, -1.0])
VALUES = {x: X, y: Y, s: np.array(2.0)}


def value(tree: Any) -> Any:
    return trees.map(lambda v: og.evaluate(v, VALUES), tree)


def test_value_and_grad_of_a_cost() -> None:
    cost = (x**2 * y).sum()
    same, slope = oc.value_and_grad(cost, {"x": x, "more": (y,)})
    assert same is cost
    np.testing.assert_array_equal(value(slope)["x"], 2 * X * Y)
    np.testing.assert_array_equal(value(slope)["more"][0], X**2)
    with pytest.raises(DisconnectedInputError):
        oc.value_and_grad(cost, s)


def test_value_and_grad_of_a_function() -> None:
    def cost(p: Any, b: Any, *, power: float) -> Any:
        return (p["x"] ** power * b).sum() * s

    cost_and_slope = oc.value_and_grad(cost)
    got, slope = value(cost_and_slope({"x": x, "unused": y}, y, power=2))
    np.testing.assert_array_equal(got, (X**2 * Y).sum() * 2)
    np.testing.assert_array_equal(slope["x"], 2 * X * Y * 2)
    np.testing.assert_array_equal(slope["unused"], 0 * Y)
    _, both = value(oc.value_and_grad(cost, (1, 0))({"x": x}, y, power=2))
    np.testing.assert_array_equal(both[0], X**2 * 2)
    np.testing.assert_array_equal(both[1]["x"], 2 * X * Y * 2)
    _, by_name = value(oc.value_and_grad(cost, argnums=1)({"x": x}, y, power=2))
    np.testing.assert_array_equal(by_name, X**2 * 2)
    (got, more), slope = value(oc.value_and_grad(lambda v: ((v * y).sum(), v + 1), has_aux=True)(x))
    np.testing.assert_array_equal(more, X + 1)
    np.testing.assert_array_equal(slope, Y)


def test_what_a_function_reads_besides_is_constant() -> None:
    # x is an argument, and is read besides
    _, slope = value(oc.value_and_grad(lambda v: (v * x).sum())(x))
    np.testing.assert_array_equal(slope, X)
    _, tangent = value(oc.jvp(lambda v: v * x, (x,), (np.ones(3),)))
    np.testing.assert_array_equal(tangent, X)
    np.testing.assert_array_equal(value(oc.vjp(lambda v: v * x, x)[1](np.ones(3))[0]), X)
    # the same variable twice
    _, (left, right) = value(oc.value_and_grad(lambda a, b: (a * b**2).sum(), (0, 1))(x, x))
    np.testing.assert_array_equal(left, X**2)
    np.testing.assert_array_equal(right, 2 * X * X)


def test_jvp_and_vjp_of_trees() -> None:
    def f(p: Any, b: Any) -> Any:
        return Pair(p["a"] * b, {"sum": p["a"].sum(), "constant": ot.constant(1.0)})

    direction = ({"a": np.array([1.0, 0.0, 2.0])}, np.array([0.0, 1.0, 1.0]))
    result, tangent = value(oc.jvp(f, ({"a": x}, y), direction))
    np.testing.assert_array_equal(result.first, X * Y)
    np.testing.assert_array_equal(tangent.first, direction[0]["a"] * Y + X * direction[1])
    np.testing.assert_array_equal(tangent.second["sum"], 3.0)
    np.testing.assert_array_equal(tangent.second["constant"], 0.0)
    outputs, pull = oc.vjp(f, {"a": x}, y)
    np.testing.assert_array_equal(value(outputs.second["sum"]), X.sum())
    seed = Pair(np.array([1.0, 10.0, 100.0]), {"sum": np.array(5.0), "constant": np.array(1.0)})
    of_p, of_b = value(pull(seed))
    np.testing.assert_array_equal(of_p["a"], seed.first * Y + 5)
    np.testing.assert_array_equal(of_b, seed.first * X)
    got, tangent, more = oc.jvp(lambda v: (v**2, v), (x,), (y,), has_aux=True)
    np.testing.assert_array_equal(value(got), X**2)
    np.testing.assert_array_equal(value(tangent), 2 * X * Y)
    np.testing.assert_array_equal(value(more), X)
    assert len(oc.vjp(lambda v: (v**2, v), x, has_aux=True)) == 3


def test_nested_transformations() -> None:
    # a second derivative: forward over reverse, reverse over forward
    def slope(v: Any) -> Any:
        return oc.value_and_grad(lambda u: (u**4).sum())(v)[1]

    _, curved = value(oc.jvp(slope, (x,), (np.ones(3),)))
    np.testing.assert_allclose(curved, 12 * X**2)
    along = oc.value_and_grad(lambda v: oc.jvp(lambda u: u**4, (v,), (np.ones(3),))[1].sum())
    np.testing.assert_allclose(value(along(x)[1]), 12 * X**2)


def test_numbers_and_arrays_are_arguments() -> None:
    got, slope = oc.value_and_grad(lambda v: v**3)(2.0)
    assert og.evaluate(got) == 8
    assert og.evaluate(slope) == 12
    got, tangent = oc.jvp(lambda v: v**3, (np.array(2.0),), (1.0,))
    assert og.evaluate(tangent) == 12


def test_stop_gradient() -> None:
    stopped = oc.stop_gradient({"a": x, "b": [x * y]})
    np.testing.assert_array_equal(value(stopped["b"][0]), X * Y)
    np.testing.assert_array_equal(value(og.grad((stopped["a"] * x).sum(), x)), X)
    np.testing.assert_array_equal(value(og.grad(stopped["a"].sum(), x)), 0 * X)


# vmap

M, N = np.arange(12.0).reshape(3, 4), np.linspace(-1, 1, 12).reshape(4, 3)
m, n, v = ot.dmatrix("m"), ot.dmatrix("n"), ot.dvector("v")
BATCHES = {m: M, n: N, v: np.array([1.0, 2.0, 3.0, 4.0])}
VMAPS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "rows": (lambda: oc.vmap(lambda r: r.sum())(m), lambda: M.sum(1)),
    "columns": (lambda: oc.vmap(lambda r: r.sum(), in_axes=1)(m), lambda: M.sum(0)),
    "columns from behind": (lambda: oc.vmap(lambda r: r.sum(), in_axes=-1)(m), lambda: M.sum(0)),
    "two arguments": (
        lambda: oc.vmap(lambda a, b: ot.dot(a, b), in_axes=(1, 0))(m, n),
        lambda: np.array([M[:, i] @ N[i] for i in range(4)]),
    ),
    "a shared argument": (
        lambda: oc.vmap(lambda a, b: a * b, in_axes=(0, None))(m, v),
        lambda: M * BATCHES[v],
    ),
    "a list of axes": (
        lambda: oc.vmap(lambda a, b: a * b, in_axes=[0, None])(m, v),
        lambda: M * BATCHES[v],
    ),
    "a keyword": (lambda: oc.vmap(lambda a, b: a + b)(m, b=n.T), lambda: M + N.T),
    "batch behind": (lambda: oc.vmap(lambda r: r * 2, out_axes=1)(m), lambda: 2 * M.T),
    "batch last": (lambda: oc.vmap(lambda r: r * 2, out_axes=-1)(m), lambda: 2 * M.T),
    "the same for all": (
        lambda: oc.vmap(lambda r: ot.constant(np.ones(2)))(m),
        lambda: np.ones((3, 2)),
    ),
    "no batch asked": (
        lambda: oc.vmap(lambda r: (r, v + 1), out_axes=(0, None))(m)[1],
        lambda: BATCHES[v] + 1,
    ),
    "an argument itself": (
        lambda: oc.vmap(lambda r, w: w, in_axes=(0, None))(m, v),
        lambda: np.tile(BATCHES[v], (3, 1)),
    ),
    "nested": (
        lambda: oc.vmap(lambda a: oc.vmap(lambda b: ot.dot(a, b), in_axes=1)(n), in_axes=0)(m),
        lambda: M @ N,
    ),
    "gradients of examples": (
        lambda: oc.vmap(lambda r: oc.value_and_grad(lambda u: (u**3).sum())(r)[1])(m),
        lambda: 3 * M**2,
    ),
    "a length": (lambda: oc.vmap(lambda r: r.shape[0])(m), lambda: np.full(3, 4)),
}


@pytest.mark.parametrize("name", VMAPS)
def test_vmap(name: str) -> None:
    make, expected = VMAPS[name]
    np.testing.assert_allclose(og.evaluate(make(), BATCHES), expected())


def test_vmap_of_trees() -> None:
    f = oc.vmap(
        lambda p, r: {"dot": ot.dot(p["w"], r), "pair": Pair(p["b"][0], r)},
        in_axes=({"w": 1, "b": None}, 0),
        out_axes={"dot": 0, "pair": Pair(0, 1)},
    )
    made = f({"w": m, "b": [v]}, n)
    got = trees.map(lambda each: og.evaluate(each, BATCHES), made)
    np.testing.assert_allclose(got["dot"], [M[:, i] @ N[i] for i in range(4)])
    np.testing.assert_array_equal(got["pair"].first, np.tile(BATCHES[v], (4, 1)))
    np.testing.assert_array_equal(got["pair"].second, N.T)


def test_vmap_of_static_lengths() -> None:
    fixed = ot.tensor("fixed", dtype="float64", shape=(3, 2))
    made = oc.vmap(lambda a, b: a.sum() * b.sum())(fixed, m)
    assert made.type.shape == (3,)
    with pytest.raises(Exception, match="3"):
        og.evaluate(made, {fixed: np.ones((3, 2)), m: np.ones((1, 4))})
    of_nothing = oc.vmap(lambda r: r.sum(), in_axes=None, axis_size=2)(m)
    np.testing.assert_array_equal(og.evaluate(of_nothing, {m: np.ones((3, 4))}), [12.0, 12.0])
    assert oc.vmap(lambda r: r.sum(), axis_size=3)(m).type.shape == (3,)
    np.testing.assert_array_equal(
        oc.vmap(lambda: v.sum(), axis_size=2)().eval({v: [1.0, 2.0]}), [3.0, 3.0]
    )
    empty = oc.vmap(lambda r: r.sum())(m)
    assert og.evaluate(empty, {m: np.ones((0, 4))}).shape == (0,)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no batch": (
        lambda: oc.vmap(lambda r: r, in_axes=None)(m),
        ValueError,
        "vmap needs an argument with a batch",
    ),
    "lengths": (
        lambda: oc.vmap(lambda a, b: a)(np.ones((2, 3)), np.ones((3, 3))),
        ValueError,
        r"The batches of vmap have the lengths \[2, 3\]",
    ),
    "an axis": (
        lambda: oc.vmap(lambda a: a, in_axes=2)(m),
        np.exceptions.AxisError,
        "axis 2 is out of bounds",
    ),
    "too few axes": (
        lambda: oc.vmap(lambda a, b: a, in_axes=(0,))(m, n),
        ValueError,
        "in_axes is a tuple of 1, not a tuple of 2",
    ),
    "axes of another tree": (
        lambda: oc.vmap(lambda p: p["w"], in_axes=({"b": 0},))({"w": m}),
        ValueError,
        r"in_axes\[0\] lacks \['w'\] and has \['b'\] too many",
    ),
    "axes below a leaf": (
        lambda: oc.vmap(lambda a: a, in_axes=([0],))(m),
        ValueError,
        r"in_axes\[0\] is a list of 1, and stands for one leaf",
    ),
    "a batch that is not asked for": (
        lambda: oc.vmap(lambda a: a, out_axes=None)(m),
        ValueError,
        "out_axes is None for a result that depends on the batch",
    ),
    "primals that are no tuple": (
        lambda: oc.jvp(lambda a: a, x, x),
        TypeError,
        "two lists or tuples",
    ),
    "tangents of another structure": (
        lambda: oc.jvp(lambda a: a["x"], ({"x": x},), ({"y": x},)),
        ValueError,
        r"tangents\[0\] lacks \['x'\]",
    ),
    "a cotangent of another structure": (
        lambda: oc.vjp(lambda a: (a, a), x)[1](x),
        ValueError,
        "cotangent is a TensorVariable, not a tuple of 2",
    ),
    "neither cost nor function": (
        lambda: oc.value_and_grad(3.0),
        TypeError,
        "takes a variable or a function, got 3.0",
    ),
    "an option of costs": (
        lambda: oc.value_and_grad(lambda a: a, 0, disconnected_inputs="raise"),
        TypeError,
        "value_and_grad of a function has no argument disconnected_inputs",
    ),
    "a cost that is a vector": (
        lambda: oc.value_and_grad(lambda a: a)(x),
        TypeError,
        "The cost must be a scalar",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, kind, message = MISTAKES[name]
    with pytest.raises(kind, match=message):
        make()
