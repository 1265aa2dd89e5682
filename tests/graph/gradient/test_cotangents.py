"""Checks of the results of derivative rules: their types when the graph is built, their shapes when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Op
from occelo_graph.ops.lengths import KnownLengths, assert_shape_of, surely_has_length
from occelo_graph.ops.shape.asserting import SpecifyShape


class Doubled(Op):
    """2 x, with the rules that a test gives it."""

    def __init__(self, pull: Any = None, push: Any = None) -> None:
        self.pull_with = pull
        self.push_with = push

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return 2 * x

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return self.pull_with(inputs[0], cotangents[0])  # type: ignore[no-any-return]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return self.push_with(inputs[0], tangents[0])  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return "Doubled"


class DoubledByLop(Doubled):
    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return Op.pullback(self, inputs, outputs, cotangents)

    def L_op(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return self.pull_with(inputs[0], cotangents[0])  # type: ignore[no-any-return]


class DoubledByGrad(Doubled):
    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return Op.pullback(self, inputs, outputs, cotangents)

    def grad(self, inputs: Any, cotangents: Any) -> Sequence[Any]:
        return self.pull_with(inputs[0], cotangents[0])  # type: ignore[no-any-return]


MISFITS: list[tuple[Any, type[Exception], str]] = [
    (lambda x, g: [g.sum()], TypeError, "must have 2 dimensions, not 0"),
    (lambda x, g: [g[0]], TypeError, "must have 2 dimensions, not 1"),
    (lambda x, g: [g.dimshuffle("x", 0, 1)], TypeError, "must have 2 dimensions, not 3"),
    (lambda x, g: [ot.ones_like(x, dtype="int64")], TypeError, "floating-point"),
    (lambda x, g: [ot.gt(x, 0)], TypeError, "floating-point"),
    (lambda x, g: [g + 1j], TypeError, "must be real"),
    (lambda x, g: [g[:, :2]], ValueError, "dimension 1 must have length 3, not 2"),
    (lambda x, g: [g.sum(axis=1, keepdims=True)], ValueError, "must have length 3, not 1"),
    (lambda x, g: [ot.zeros((2, 4))], ValueError, "must have length 3, not 4"),
]
KINDS = [Doubled, DoubledByLop, DoubledByGrad]


def matrix() -> Any:
    return ot.tensor(dtype="float64", shape=(None, 3), name="x")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rule", "error", "message"), MISFITS)
def test_a_cotangent_of_the_wrong_type_names_the_op(
    kind: Any, rule: Any, error: type[Exception], message: str
) -> None:
    x = matrix()
    cost = kind(pull=rule)(x).sum()
    with pytest.raises(error, match=message) as raised:
        og.grad(cost, x)
    text = str(raised.value)
    assert "the pullback of Doubled gave".lower() in text.lower()
    assert "x (" in text
    assert __file__ in text


@pytest.mark.parametrize(("rule", "error", "message"), MISFITS)
def test_a_tangent_of_the_wrong_type_names_the_op(
    rule: Any, error: type[Exception], message: str
) -> None:
    x, t = matrix(), matrix()
    with pytest.raises(error, match=message) as raised:
        og.pushforward(Doubled(push=rule)(x), x, t)
    assert "What the pushforward of Doubled gave" in str(raised.value)


@pytest.mark.parametrize(("rule", "error", "message"), MISFITS)
def test_given_cotangents_are_checked_likewise(
    rule: Any, error: type[Exception], message: str
) -> None:
    x = matrix()
    given = rule(x, x)[0]
    with pytest.raises(error, match="known gradient is of type.*" + message):
        og.grad(None, x, known_grads={ot.exp(x): given})
    with pytest.raises(error, match=message):
        og.pullback(ot.exp(x), x, given)
    with pytest.raises((ValueError, TypeError), match="The tangent"):
        og.pushforward(ot.exp(x), x, given)


def test_kinds_of_floats_are_made_those_of_the_variable() -> None:
    x = ot.fvector("x")
    found = og.grad(Doubled(lambda x, g: [g * np.float64(2.0)])(x).sum(), x)
    assert found.dtype == "float32"
    z = ot.zvector("z")
    found = og.grad(og.grad_scale(abs(z), 1.0).sum(), z)
    assert found.dtype == "complex128"
    assert og.grad(Doubled(lambda x, g: [0])(x).sum(), x).dtype == "float32"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "rule",
    [
        lambda x, g: [g[:1]],
        lambda x, g: [ot.join(0, g, g)],
        lambda x, g: [g[1:]],
        lambda x, g: [ot.ones((5, 3))],
    ],
)
def test_a_cotangent_of_the_wrong_shape_names_the_op_when_the_graph_runs(
    kind: Any, rule: Any
) -> None:
    x = matrix()
    found = og.grad(ot.exp(kind(pull=rule)(ot.sin(x))).sum(), x)
    with pytest.raises(
        ValueError, match="what the pullback of Doubled gave for its input"
    ) as raised:
        og.evaluate(found, {x: np.ones((2, 3))})
    assert str(raised.value).endswith("but must be (2, ?)")


def test_a_rule_of_an_inner_graph_is_checked_as_those_of_ops() -> None:
    x = ot.dvector("x")
    short = OpFromGraph([x], [ot.exp(x)], pullback=lambda i, o, g: [g[0][:1]], name="short")
    found = og.grad(short(x).sum(), x)
    with pytest.raises(ValueError, match="what the pullback of OpFromGraph"):
        og.evaluate(found, {x: [1.0, 2.0]})
    flat = OpFromGraph([x], [ot.exp(x)], pullback=lambda i, o, g: [g[0].sum()])
    with pytest.raises(TypeError, match="must have 1 dimensions"):
        og.grad(flat(x).sum(), x)


@pytest.mark.parametrize("given", [[], [1.0, 2.0], None, 3.0])
def test_the_number_of_cotangents_is_checked(given: Any) -> None:
    x = ot.dvector("x")
    with pytest.raises(ValueError, match="pullback of Doubled must give 1 cotangents"):
        og.grad(Doubled(lambda x, g: given)(x).sum(), x)


class TwoWays(Op):
    """exp(x) and sin(y) of inputs that do not meet."""

    def infer(self, x: Any, y: Any) -> Any:
        return x, y

    def evaluate(self, x: Any, y: Any) -> Any:
        return np.exp(x), np.sin(y)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, False], [False, True]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        of_first, of_second = cotangents
        return [
            None if of_first is None else of_first * outputs[0],
            None if of_second is None else of_second * ot.cos(inputs[1]),
        ]


def test_what_is_not_defined_reaches_only_what_its_output_depends_on() -> None:
    x, y = ot.dvectors("x", "y")
    a, b = TwoWays()(x, y)
    found = og.grad((a + og.undefined_grad(b)).sum(), x)
    np.testing.assert_allclose(og.evaluate(found, {x: [0.5], y: [2.0]}), np.exp([0.5]), rtol=1e-15)
    with pytest.raises(og.NullTypeGradError):
        og.grad((a + og.undefined_grad(b)).sum(), y)
    assert isinstance(
        og.grad((a + og.undefined_grad(b)).sum(), [x, y], null_gradients="return")[1].type,
        og.NullType,
    )
    # and where nothing but the undefined one comes in, the other input is not connected
    with pytest.raises(og.DisconnectedInputError):
        og.grad(og.undefined_grad(b).sum(), x)


def test_what_is_certain_of_lengths() -> None:
    x, y = ot.dvectors("x", "y")
    X = ot.dmatrix("X")
    n = x.shape[0]
    for same in (
        ot.exp(x) * 2.0,
        x[::-1],
        ot.cumsum(ot.sin(x)),
        ot.alloc(1.0, n) + x,
        ot.zeros_like(x),
        ot.specify_shape(y, (n,)),
        x[1:].set(0.0),
        ot.softmax(x),
    ):
        assert surely_has_length(same, 0, n), same
        assert assert_shape_of(same, x, "it") is same
    for other in (x + y, y + x, y, x[1:], ot.join(0, x, y), ot.alloc(1.0, n) * y, x.reshape((n,))):
        assert not surely_has_length(other, 0, n), other
        assert isinstance(assert_shape_of(other, x, "it").owner.op, SpecifyShape)
    assert surely_has_length(X.T, 0, X.shape[1])
    assert not surely_has_length(X.T, 0, X.shape[0])
    assert surely_has_length(X.sum(axis=0), 0, X.shape[1])
    assert surely_has_length(ot.zeros((3,)), 0, 3)
    deep = x
    for _ in range(5000):
        deep = ot.sin(deep)
    assert not surely_has_length(deep, 0, n)


def test_shapes_are_checked_only_where_they_are_not_certain() -> None:
    x, y = ot.dvectors("x", "y")

    def checks(cost: Any) -> bool:
        found = og.grad(cost, x)
        return found.owner is not None and isinstance(found.owner.op, SpecifyShape)

    assert not checks(ot.exp(x).sum())
    assert not checks((x**2).sum())
    assert not checks(x[1:].sum())
    assert checks((x * y).sum())
    fixed = ot.tensor(dtype="float64", shape=(3,))
    found = og.grad((fixed * y).sum(), fixed)
    assert found.type == fixed.type


def test_zero_stays_a_cotangent() -> None:
    x = ot.dvector("x")
    found = og.grad(Doubled(lambda x, g: [ZERO])(x).sum(), x)
    np.testing.assert_array_equal(og.evaluate(found, {x: [1.0, 2.0]}), [0.0, 0.0])


@pytest.mark.parametrize("layers", [1, 20, 70])
def test_lengths_looked_up_together_are_those_looked_up_alone(layers: int) -> None:
    x, weights = ot.dmatrix("x"), [ot.dmatrix(f"w{i}") for i in range(layers)]
    values: list[Any] = [x]
    for i, w in enumerate(weights):
        value = ot.tanh(ot.dot(values[-1], w) + 1)
        if i % 5 == 4:
            value = ot.alloc(0.5, *value.shape) + value + values[-1]
        values.append(value)
    pairs = [(a, b) for a in values for b in (a * 2, a.T.T, ot.dot(a, a.T), values[0], values[-1])]
    known = KnownLengths()
    checks = 0
    for first, second in [*pairs, *reversed(pairs)]:
        together = assert_shape_of(first, second, "it", known)
        alone = assert_shape_of(first, second, "it")
        assert (together is first) == (alone is first)
        if together is not first:
            assert together.owner.op == alone.owner.op
            checks += 1
    assert 0 < checks < 2 * len(pairs)
