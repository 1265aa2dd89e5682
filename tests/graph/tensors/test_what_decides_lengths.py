"""Dependence of lengths on inputs: graphs rebuilt for other shapes, and lengths that are replaced."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.rebuilding import COSTS, EXPRESSIONS, SHAPES, slopes


def _matrix(shape: tuple[int | None, ...], name: str) -> Any:
    return ot.tensor(name, dtype="float64", shape=shape)


def _value(shape: tuple[int | None, ...]) -> Any:
    lengths = [5 + i if n is None else n for i, n in enumerate(shape)]
    return np.random.default_rng(3).permutation(int(np.prod(lengths))).reshape(lengths) / 9.1 - 1.0


def _rebuilt(build: Any, old: Any, new: Any) -> Any:
    x, y = _matrix(old, "x"), _matrix(new, "y")
    made = build(x)
    rebuilt = og.clone_replace(made, {x: y}, rebuild_strict=False)
    # all that is known of a graph built for y is known of this one
    assert rebuilt.type == build(y).type
    return og.evaluate(rebuilt, {y: _value(new)})


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize(("old", "new"), SHAPES, ids=str)
def test_a_graph_rebuilt_for_another_shape_is_the_one_built_for_it(
    name: str, old: Any, new: Any
) -> None:
    build, numpys = EXPRESSIONS[name]
    expected = np.asarray(numpys(_value(new)))
    found = _rebuilt(build, old, new)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize(("old", "new"), SHAPES, ids=str)
def test_so_is_a_gradient(name: str, old: Any, new: Any) -> None:
    build, numpys = COSTS[name]
    found = _rebuilt(lambda x: og.grad(build(x), x), old, new)
    expected = slopes(numpys, _value(new))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * abs(expected).max() + 1e-9)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_known_lengths_stay_known(name: str) -> None:
    build, numpys = EXPRESSIONS[name]
    expected = np.asarray(numpys(_value((3, 4))))
    made = build(_matrix((3, 4), "x"))
    if name not in ("split", "a slice to half", "reshape of a part"):
        assert made.type.shape == expected.shape
    assert og.evaluate(
        made, {v: _value((3, 4)) for v in og.graph_inputs([made]) if v.name}
    ).shape == (expected.shape)


def test_a_gradient_by_a_known_shape_needs_no_value_of_what_it_is_by() -> None:
    x, s = _matrix((3, 4), "x"), ot.dscalar("s")
    np.testing.assert_array_equal(og.evaluate(og.grad(x.sum(), x)), np.ones((3, 4)))
    gradient = og.grad((2 * x).sum() * s, x)
    np.testing.assert_array_equal(og.evaluate(gradient, {s: 3.0}), np.full((3, 4), 6.0))
    # in a branch, too
    lazily = ot.ifelse(s > 0, gradient, ot.zeros(x.shape))
    for value in (3.0, -3.0):
        np.testing.assert_array_equal(
            og.evaluate(lazily, {s: value}), np.full((3, 4), max(2 * value, 0.0))
        )


N, M = ot.lscalars("n", "m")
NEW = ot.tensor("new", dtype="int64", shape=(2,))
CUBE = ot.tensor("cube", dtype="float64", shape=(4, 2, 3))
VECTORS: dict[str, Any] = {
    "a vector": lambda: ot.tensor("lengths", dtype="int64", shape=(2,)),
    "a stack": lambda: ot.stack([N, M]),
    "a stack with a constant": lambda: ot.stack([N, 3]),
    "a shape": lambda: _matrix((2, 3), "x").shape,
    "a shape known in part": lambda: _matrix((None, 3), "x").shape,
    "a shape that is not known": lambda: _matrix((None, None), "x").shape,
    "a slice of a shape": lambda: CUBE.shape[1:],
    "a shape in reverse": lambda: _matrix((3, 2), "x").shape[::-1],
    "a part and a variable": lambda: ot.concatenate([CUBE.shape[1:2], ot.stack([M])]),
}
USES: dict[str, tuple[Any, Any]] = {
    "zeros": (lambda v: ot.zeros(v), lambda n: np.zeros(n)),
    "full": (lambda v: ot.full(v, 7), lambda n: np.full(n, 7)),
    "alloc": (lambda v: ot.alloc(2.0, v), lambda n: np.full(n, 2.0)),
    "broadcast_to": (lambda v: ot.broadcast_to(ot.constant(3.0), v), lambda n: np.full(n, 3.0)),
    "reshape": (
        lambda v: ot.arange(v[0] * v[1]).reshape(v),
        lambda n: np.arange(n[0] * n[1]).reshape(n),
    ),
    "reshape in part": (
        lambda v: ot.arange(v[0] * 6).reshape((v[0], -1)),
        lambda n: np.arange(n[0] * 6).reshape(n[0], -1),
    ),
    "specify_shape": (lambda v: ot.specify_shape(ot.zeros((v[0], v[1])), v), lambda n: np.zeros(n)),
    "tile": (lambda v: ot.tile(ot.constant([[1, 2]]), v), lambda n: np.tile([[1, 2]], n)),
    "eye": (lambda v: ot.eye(v[0], v[1]), lambda n: np.eye(*n)),
    "arange": (lambda v: ot.arange(v[1]), lambda n: np.arange(n[1])),
    "a slice": (lambda v: ot.arange(99)[: v[1]], lambda n: np.arange(99)[: n[1]]),
    "an element": (lambda v: ot.arange(99)[v[1]], lambda n: np.arange(99)[n[1]]),
    "its end": (lambda v: ot.zeros(v[1:]), lambda n: np.zeros(n[1:])),
    "what is made of it": (lambda v: ot.zeros(2 * v), lambda n: np.zeros(2 * n)),
    "a repeat": (lambda v: ot.repeat(ot.constant([1, 2]), v[1]), lambda n: np.repeat([1, 2], n[1])),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("which", VECTORS)
def test_a_vector_of_lengths_can_be_replaced(which: str, name: str) -> None:
    lengths = VECTORS[which]()
    build, numpys = USES[name]
    made = build(lengths)
    rebuilt = og.clone_replace(made, {lengths: NEW}, rebuild_strict=False)
    strictly = og.clone_replace(made, {lengths: NEW})
    assert NEW in og.graph_inputs([rebuilt])
    assert NEW in og.graph_inputs([strictly])
    for given in ([2, 3], [4, 5], [2, 0]):
        value = np.array(given)
        expected = numpys(value)
        np.testing.assert_array_equal(og.evaluate(rebuilt, {NEW: value}), expected)
        known = made.type.shape
        if all(n is None or n == m for n, m in zip(known, expected.shape, strict=True)):
            np.testing.assert_array_equal(og.evaluate(strictly, {NEW: value}), expected)
        else:
            with pytest.raises(ValueError, match="whose lengths were known when the graph was"):
                og.evaluate(strictly, {NEW: value})


def test_elements_that_are_constant_stay_known() -> None:
    lengths = ot.stack([N, 3])
    made = ot.zeros(lengths)
    assert made.type.shape == (None, 3)
    assert og.clone_replace(made, {lengths: NEW}, rebuild_strict=False).type.shape == (None, None)
    other = ot.stack([ot.constant(7) * 1, M])
    assert og.clone_replace(made, {lengths: other}, rebuild_strict=False).type.shape == (7, None)
    with pytest.raises(ValueError, match=r"is \(4, 5\), but must be \(\?, 3\)"):
        og.evaluate(og.clone_replace(made, {lengths: NEW}), {NEW: np.array([4, 5])})


def test_a_saved_graph_knows_the_same_lengths(tmp_path: Any) -> None:
    x = _matrix((3, 4), "x")
    made = [build(x) for build, _ in EXPRESSIONS.values()]
    og.save(tmp_path / "graph", og.FunctionGraph([x], made, clone=True))
    loaded = og.load(tmp_path / "graph")
    assert [v.type for v in loaded.outputs] == [v.type for v in made]
    a = _value((3, 4))
    found = og.evaluate(list(loaded.outputs), {loaded.inputs[0]: a})
    for each, (_, numpys) in zip(found, EXPRESSIONS.values(), strict=True):
        np.testing.assert_allclose(each, numpys(a), rtol=1e-12, atol=1e-12)


def test_losing_a_length_of_one_is_told_since_gradients_have_summed_over_it() -> None:
    one, three = ot.tensor("one", dtype="float64", shape=(1,)), ot.dvector("three")
    gradient = og.grad((one * three).sum(), one)
    with pytest.warns(UserWarning, match=r"one .* has a length of 1 that its replacement"):
        og.clone_replace(gradient, {one: ot.dvector("v")}, rebuild_strict=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = og.clone_replace(gradient, {one: np.ones(1)}, rebuild_strict=False)
    np.testing.assert_array_equal(og.evaluate([same], {three: np.arange(3.0)})[0], [3.0])


@pytest.mark.parametrize("lengths", [np.zeros((0, 0), "int64"), np.ones((2, 2), "int64")])
def test_a_length_may_be_a_sum_over_an_array(lengths: Any) -> None:
    x = ot.dvector("x")
    made = ot.reshape(x, (1, ot.constant(lengths).sum()))
    node = made.owner
    assert node is not None
    (shape,) = node.op.shapes(node, [(ot.shape_i(x, 0),), *[()] * (len(node.inputs) - 1)])
    assert [
        int(og.evaluate(ot.as_tensor_variable(n), {x: np.zeros(lengths.sum())})) for n in shape
    ] == [1, lengths.sum()]
