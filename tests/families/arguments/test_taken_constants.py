"""Constants as axes, offsets, numbers of times and of dimensions: they count as their values.

Ops keep such a value in a field. Replacing the constant raises an error, also if it is an input of the graph as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot
import occelo_graph as og
from occelo_graph.inner_graph import OpFromGraph
from occelo_loops.ops.building.classic import scan
from occelo_sorting.functions import topk

X, V, T = ot.dmatrix("x"), ot.dvector("v"), ot.dtensor3("t")
VALUES: dict[Any, Any] = {
    X: np.arange(12.0).reshape(3, 4) ** 1.5,
    V: np.arange(4.0),
    T: np.arange(24.0).reshape(2, 3, 4),
}

MADE: dict[str, Callable[[Any], Any]] = {
    "sum": lambda c: X.sum(axis=c),
    "axes": lambda c: T.sum(axis=(0, c)),
    "max": lambda c: ot.max(X, axis=c, keepdims=True),
    "argmax": lambda c: X.argmax(axis=c),
    "mean": lambda c: X.mean(axis=c),
    "cumsum": lambda c: ot.cumsum(X, c),
    "softmax": lambda c: ot.softmax(X, axis=c),
    "norm": lambda c: ot.linalg.norm(X, axis=c),
    "diagonal": lambda c: ot.diagonal(X, c),
    "diag": lambda c: ot.diag(V, c),
    "trace": lambda c: ot.trace(X, c),
    "diff": lambda c: ot.diff(X, n=c),
    "diff along": lambda c: ot.diff(X, axis=c),
    "stack": lambda c: ot.stack([X, X], axis=c),
    "concatenate": lambda c: ot.concatenate([X, X], axis=c),
    "join": lambda c: ot.join(c, X, X),
    "moveaxis": lambda c: ot.moveaxis(T, c, 0),
    "moveaxis to": lambda c: ot.moveaxis(T, (0, c), (c, 0)),
    "swapaxes": lambda c: ot.swapaxes(T, 2, c),
    "expand_dims": lambda c: ot.expand_dims(X, c),
    "expand_dims of two": lambda c: ot.expand_dims(X, (0, c)),
    "squeeze": lambda c: X.dimshuffle(0, "x", 1).squeeze(c),
    "flatten": lambda c: ot.flatten(X, c),
    "transpose": lambda c: X.transpose(c, 0),
    "dimshuffle": lambda c: X.dimshuffle(c, 0, "x"),
    "padding": lambda c: ot.shape_padleft(ot.shape_padright(ot.shape_padaxis(V, 0), c), c),
    "atleast": lambda c: ot.atleast_Nd(V, n=c),
    "repeat": lambda c: ot.repeat(X, 2, axis=c),
    "roll": lambda c: ot.roll(X, 1, axis=c),
    "flip": lambda c: ot.flip(X, c),
    "take": lambda c: ot.take(X, [0, 2], axis=c),
    "split": lambda c: ot.split(X, [1, 3], n_splits=2, axis=c)[1],
    "parts": lambda c: ot.split(X, [3], n_splits=c)[0],
    "tensordot": lambda c: ot.tensordot(X, X.T, axes=c),
    "tensordot of lists": lambda c: ot.tensordot(X, X, axes=((c,), (c,))),
    "linspace": lambda c: ot.linspace(V, 2.0, 3, axis=c),
    "power": lambda c: ot.linalg.matrix_power(X[:, :3], c),
    "round": lambda c: ot.round(X, decimals=c),
    "reshape": lambda c: ot.reshape(X, [-1], ndim=c),
    "order of a norm": lambda c: ot.linalg.norm(V, ord=c),
    "written": lambda c: X[0].set(c),
    "added": lambda c: X[0].inc(c),
    "axis in a body": lambda c: oc.loop(lambda s: (s + X.sum(axis=c)[0], None), V, length=2)[0],
    "body of a body": lambda c: oc.loop(
        lambda s: (oc.loop(lambda r: (ot.stack([r, s], axis=c)[:, 0], None), s, length=2)[0], None),
        V,
        length=2,
    )[0],
    "body": lambda c: oc.loop(lambda s: (s * c, None), V, length=2)[0],
    "body of a condition": lambda c: oc.while_loop(lambda s: s.sum() < 9, lambda s: s + c, V),
    "classic body": lambda c: scan(
        lambda e, k: e * k, sequences=V, non_sequences=c, return_updates=False
    ),
    "inner graph": lambda c: OpFromGraph([V], [V * c])(V),
}


def same(made: Any, expected: Any) -> None:
    np.testing.assert_array_equal(og.evaluate(made, VALUES), og.evaluate(expected, VALUES), strict=True)  # fmt: skip


@pytest.mark.sampled(30)
@pytest.mark.parametrize("dtype", ["int64", "uint8"])
@pytest.mark.parametrize("name", MADE)
def test_a_constant_counts_as_its_value(name: str, dtype: str) -> None:
    one = ot.constant(np.array(1, dtype))
    made = MADE[name](one)
    same(made, MADE[name](1))
    two = ot.constant(np.array(0, dtype))
    for replace in (og.clone_replace, og.graph_replace, og.vectorize_graph):
        with pytest.raises(ValueError, match="Python number"):
            replace(made, {one: two})
    with pytest.raises(ValueError, match="Python number"):
        oc.function(list(VALUES), made, givens={one: two}, on_unused_input="ignore")
    # as well as an input, where the replacement would be half applied
    for replace in (og.clone_replace, og.graph_replace, og.vectorize_graph):
        if made is V:
            break  # no op was made
        with pytest.raises(ValueError, match="Python number"):
            replace(made * one, {one: two})


def total(x: Any, axis: Any) -> Any:
    return (x * x).sum(axis=axis)


def test_the_error_names_the_constant_the_op_and_the_line() -> None:
    one = ot.constant(1, name="one")
    made = total(X, one) + one
    with pytest.raises(
        ValueError, match=rf"one .*Sum\{{axis=\[1\]\}} at {__file__}:\d+ was made with it"
    ):
        og.clone_replace(made, {one: ot.constant(0)})
    with pytest.raises(ValueError, match="Sum"):
        oc.function([X], made, givens={one: ot.constant(0)})


@pytest.mark.parametrize(
    "derive",
    [
        lambda y: oc.grad(y.sum(), X),
        lambda y: oc.pushforward(y, X, ot.ones_like(X)),
        lambda y: ot.vectorize_graph(y, {X: T}),
        lambda y: OpFromGraph([X], [oc.grad(y.sum(), X)])(X),
        lambda y: oc.loop(lambda s: (s + y.sum(), None), V, length=2)[0],
        lambda y: og.clone_replace(y, {X: X[::-1]}),
    ],
    ids=["gradient", "tangent", "batch", "inner graph", "body", "copy"],
)
def test_what_is_derived_from_an_op_has_the_value_too(derive: Any) -> None:
    one = ot.constant(1)
    y = derive(total(X, one))
    with pytest.raises(ValueError, match="was made with it"):
        og.clone_replace([y, X + one], {one: ot.constant(0)})


def test_the_exponent_of_a_gradient() -> None:
    two = ot.constant(2.0)
    y = (V**two).sum()
    same(og.clone_replace(y, {two: ot.constant(3.0)}), (V**3.0).sum())
    with pytest.raises(ValueError, match="was made with it"):
        og.clone_replace([y, oc.grad(y, V)], {two: ot.constant(3.0)})


def test_the_bound_of_a_loop() -> None:
    """A bound of another dtype than int64 is cast, and followed; an int64 constant is a number."""
    for dtype in ("int64", "uint8"):
        two, three = (ot.constant(np.array(k, dtype)) for k in (2, 3))
        y = oc.fori_loop(0, two, lambda i, s: s + V, V)
        if dtype == "uint8":
            same(og.clone_replace(y * two, {two: three}), 4 * V * three)
            continue
        with pytest.raises(ValueError, match="was made with it"):
            og.clone_replace(y * two, {two: three})


def test_integers_that_python_code_has_read() -> None:
    three = ot.constant(3)
    y = V
    for _ in range(three):
        y = y + V
    with pytest.raises(ValueError, match="Python number"):
        og.clone_replace(y + three, {three: ot.constant(2)})


def test_what_is_no_integer_scalar_is_refused() -> None:
    for bad in (ot.constant(1.0), ot.lscalar("n"), ot.constant(True)):
        for name in ("sum", "axes", "stack", "moveaxis", "diff", "flatten", "tensordot of lists"):
            with pytest.raises(TypeError):
                MADE[name](bad)
    with pytest.raises(TypeError, match="before the graph runs"):
        range(ot.constant([1, 2]))
    assert list(range(ot.constant(2))) == [0, 1]
    same(ot.transpose(X, ot.constant([1, 0])), X.T)
    same(T.sum(axis=ot.constant([0, 2])), T.sum(axis=(0, 2)))


def test_other_replacements_are_as_before() -> None:
    one, two = ot.constant(1), ot.constant(2)
    # a constant that no function has read, and that is not in the graph
    same(og.clone_replace(X + 1.0, {one: two}), X + 1.0)
    same(og.clone_replace(X * one, {one: two}), X * 2)
    # it was the axis of another graph
    assert total(X, one) is not None
    same(og.clone_replace(X.sum(axis=0) * one, {one: two}), X.sum(axis=0) * 2)
    # a filled tensor has the constant as its input
    same(og.clone_replace(ot.full_like(X, one), {one: two}), ot.full_like(X, 2))
    # the constant is in the part of the graph that another replacement cuts off
    y = X.sum(axis=1) + one
    same(og.clone_replace(y * 2, {y: V[:3], one: two}), V[:3] * 2)


def test_bodies_may_use_constants_in_both_ways() -> None:
    one = ot.constant(1)
    found = scan(
        lambda s, c: s + X.sum(axis=one).sum() * c,
        outputs_info=ot.constant(1.0),
        non_sequences=[one],
        n_steps=2,
        return_updates=False,
    )
    total = VALUES[X].sum()
    np.testing.assert_allclose(og.evaluate(found, VALUES), [1 + total, 1 + 2 * total])
    made = OpFromGraph([X], [X.sum(axis=one) * one])(X)
    same(made, X.sum(axis=1))


def test_counts_and_fillings_of_functions_follow_or_refuse() -> None:
    x, value = ot.dvector("x"), np.array([3.0, -1.0, 2.0, 0.5])
    two, filling = ot.constant(2), ot.constant(1.0)
    bins: Any = np.histogram(x, two)[0]
    filled = ot.pad(x, 1, constant_values=filling)
    made = [
        og.clone_replace(bins, {two: ot.constant(3)}, rebuild_strict=False),
        og.clone_replace(filled, {filling: ot.constant(7.0)}),
    ]
    found = og.evaluate(made, {x: value})
    np.testing.assert_array_equal(found[0], np.histogram(value, 3)[0])
    np.testing.assert_array_equal(found[1], np.pad(value, 1, constant_values=7.0))
    with pytest.raises(ValueError, match="does not follow a replacement"):
        og.clone_replace(topk(x, two), {two: ot.constant(3)}, rebuild_strict=False)
    integer = ot.constant(1)
    padded = ot.pad(x, 1, constant_values=integer)
    with pytest.raises(ValueError, match="does not follow a replacement"):
        og.clone_replace(padded, {integer: ot.constant(2)}, rebuild_strict=False)
    s = ot.tensor("s", shape=(5,))
    assert ot.pad(s, (s.shape[0], 0), "edge").type.shape == (10,)
