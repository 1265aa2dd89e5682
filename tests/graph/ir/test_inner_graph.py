"""`OpFromGraph`: a graph as an op, its derivatives, batches and shapes."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph


def product_and_log(**options: Any) -> OpFromGraph:
    a, b = ot.dvectors("a", "b")
    return OpFromGraph([a, b], [ot.exp(a) * b, ot.log(1 + ot.exp(a)) + 0 * b.sum()], **options)


def doubled_cotangent(inputs: Any, outputs: Any, cotangents: Any) -> Any:
    return [2.0 * cotangents[0], None]


VALUES = [np.array([0.5, 1.0]), np.array([2.0, -1.0])]


def test_it_computes_what_its_graph_does() -> None:
    x, y = ot.dvectors("x", "y")
    one, two = product_and_log()(x, y)
    given = dict(zip([x, y], VALUES, strict=True))
    np.testing.assert_allclose(og.evaluate(one, given), np.exp(VALUES[0]) * VALUES[1])
    np.testing.assert_allclose(og.evaluate(two, given), np.log1p(np.exp(VALUES[0])))
    assert one.type == x.type


def test_equal_graphs_are_equal_ops() -> None:
    assert product_and_log() == product_and_log()
    assert hash(product_and_log()) == hash(product_and_log())
    assert product_and_log() != product_and_log(inline=True)
    assert product_and_log() != product_and_log(pullback=doubled_cotangent)
    assert product_and_log(name="f").fgraph is product_and_log().fgraph


@pytest.mark.parametrize("inline", [False, True])
def test_derivatives_are_those_of_the_graph(inline: bool) -> None:
    op = product_and_log(inline=inline)
    og.verify_grad(lambda a, b: op(a, b)[0].sum() + (op(a, b)[1] ** 2).sum(), VALUES)
    x, y = ot.dvectors("x", "y")
    one, two = op(x, y)
    tangent = ot.dvector("tangent")
    pushed = og.pushforward(one * two, x, tangent)
    by_reverse = og.jacobian(one * two, x) @ tangent
    given = {x: VALUES[0], y: VALUES[1], tangent: np.array([1.0, -2.0])}
    np.testing.assert_allclose(og.evaluate(pushed, given), og.evaluate(by_reverse, given))
    second = og.grad(og.grad(one.sum(), x).sum(), x)
    np.testing.assert_allclose(og.evaluate(second, given), np.exp(VALUES[0]) * VALUES[1])


def test_a_derivative_of_ones_own() -> None:
    x, y = ot.dvectors("x", "y")
    given = dict(zip([x, y], VALUES, strict=True))

    def gradients(op: OpFromGraph, of: int = 0) -> Any:
        outputs = op(x, y, return_list=True)
        return og.evaluate(og.grad(outputs[of].sum(), [x, y], disconnected_inputs="ignore"), given)

    exact = [np.exp(VALUES[0]) * VALUES[1], np.exp(VALUES[0])]
    by_function = product_and_log(pullback=doubled_cotangent)
    np.testing.assert_array_equal(gradients(by_function)[0], [2.0, 2.0])
    np.testing.assert_array_equal(gradients(by_function)[1], [0.0, 0.0])
    by_list = product_and_log(pullback=[lambda i, o, c: 3.0 * c[0], None])
    np.testing.assert_array_equal(gradients(by_list)[0], [3.0, 3.0])
    np.testing.assert_allclose(gradients(by_list)[1], exact[1])
    a, b, o1, o2, c1, c2 = ot.dvectors("a", "b", "o1", "o2", "c1", "c2")
    rule = OpFromGraph([a, b, o1, o2, c1, c2], [c1 * o1, c2 * 5.0 + b])
    by_op = product_and_log(pullback=rule)
    np.testing.assert_allclose(gradients(by_op)[0], exact[0])
    np.testing.assert_allclose(gradients(by_op, 1)[1], 5.0 + VALUES[1])
    forward = product_and_log(pushforward=lambda i, o, t: [t[0] * 7.0, t[1]])
    pushed = og.pushforward(forward(x, y)[0], x, ot.ones_like(x))
    np.testing.assert_array_equal(og.evaluate(pushed, given), [7.0, 7.0])


def test_older_names_of_derivatives() -> None:
    with pytest.warns(DeprecationWarning, match="lop_overrides is now called pullback"):
        op = product_and_log(lop_overrides=doubled_cotangent)
    assert op == product_and_log(pullback=doubled_cotangent)
    with pytest.raises(TypeError, match="give one of them"):
        product_and_log(rop_overrides=doubled_cotangent, pushforward=doubled_cotangent)
    x = ot.dvector("x")
    short = product_and_log(pullback=lambda i, o, c: [c[0]])(x, x)[0].sum()
    with pytest.raises(ValueError, match="must have 2 parts, got 1"):
        og.grad(short, x)


def test_connection_and_disconnection() -> None:
    a, b = ot.dvectors("a", "b")
    op = OpFromGraph([a, b], [a * 2, b * 2])
    node = op(a, b)[0].owner
    assert op.connection_pattern(node) == [[True, False], [False, True]]
    with pytest.raises(og.DisconnectedInputError):
        og.grad(op(a, b)[0].sum(), b)
    declared = OpFromGraph([a, b], [a * 2], connection_pattern=[[True], [True]])
    assert declared.connection_pattern(node) == [[True], [True]]


def test_a_declared_pattern_is_part_of_the_op(tmp_path: Any) -> None:
    a, b = ot.dvectors("a", "b")

    def multiplied(pattern: Any) -> OpFromGraph:
        return OpFromGraph([a, b], [a * b], connection_pattern=pattern)

    severed, connected = multiplied([[True], [False]]), multiplied([[True], [True]])
    assert severed == multiplied(((1,), (0,)))
    assert severed != connected
    assert severed != multiplied(None)
    assert og.digest([severed(a, b)]) != og.digest([connected(a, b)])
    og.save(tmp_path / "graph", severed(a, b))
    (again,) = og.load(tmp_path / "graph").outputs
    x, y = again.owner.inputs
    og.grad(again.sum(), x)
    with pytest.raises(og.DisconnectedInputError):
        og.grad(again.sum(), y)


def test_shapes_are_known_without_computing() -> None:
    x = ot.dmatrix("x")
    (out,) = OpFromGraph([x], [ot.concatenate([x, x], axis=1).T])(x, return_list=True)
    (shape,) = out.owner.op.infer_shape(out.owner, [tuple(x.shape)])
    assert og.evaluate(list(shape), {x: np.zeros((2, 3))}) == [6, 2]


def test_batches() -> None:
    x, y = ot.dvectors("x", "y")
    many = ot.dmatrix("many")
    one, _ = product_and_log()(x, y)
    batched = og.vectorize_graph(one, {x: many})
    value = np.arange(6.0).reshape(3, 2)
    found = og.evaluate(batched, {many: value, y: VALUES[1]})
    np.testing.assert_allclose(found, np.exp(value) * VALUES[1])


def test_saving_and_pickling() -> None:
    for op in (product_and_log(name="f"), product_and_log(pullback=doubled_cotangent)):
        x, y = ot.dvectors("x", "y")
        out = op(x, y)[0]
        loaded = pickle.loads(pickle.dumps(op))
        assert loaded == op
        assert og.digest([out], [x, y]) == og.digest([loaded(x, y)[0]], [x, y])


def test_printing_shows_the_graph() -> None:
    x = ot.dvector("x")
    text = og.debugprint(product_and_log(name="mine")(x, x)[0], file="str")
    assert "OpFromGraph{mine}.0" in text
    assert "Inner graphs:" in text
    assert "i1" in text


def test_shared_variables_are_further_inputs() -> None:
    x = ot.dvector("x")
    w, b = og.shared(np.array([1.0, 2.0]), "w"), og.shared(3.0, "b")
    layer = OpFromGraph([x], [ot.tanh(x * w) + b, x.sum()])
    assert layer.shared_inputs == [w, b] or layer.shared_inputs == [b, w]
    value = np.array([0.5, -1.0])
    out = layer(layer(x)[0])[0]
    expected = np.tanh((np.tanh(value * [1, 2]) + 3) * [1, 2]) + 3
    results = [out, *og.grad(out.sum(), [w, b])]
    found, of_w, of_b = (og.evaluate(each, {x: value}) for each in results)
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    plain = ot.tanh((ot.tanh(x * w) + b) * w) + b
    for made, wanted in zip((of_w, of_b), og.grad(plain.sum(), [w, b]), strict=True):
        np.testing.assert_allclose(made, og.evaluate(wanted, {x: value}), rtol=1e-12)
    w.set_value([0.0, 0.0])
    np.testing.assert_allclose(og.evaluate(out, {x: value}), [3.0, 3.0])
    m = ot.dmatrix("m")
    batched = og.vectorize_graph(layer(x)[0], {x: m})
    rows = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(og.evaluate(batched, {m: rows}), np.full((3, 2), 3.0))
    again = og.clone_replace(layer(x)[0], {b: ot.as_tensor(5.0)})
    np.testing.assert_allclose(og.evaluate(again, {x: value}), [5.0, 5.0])
    with pytest.raises(ValueError, match="takes 1 inputs, got 2"):
        layer(x, w)


def test_mistakes() -> None:
    a, b = ot.dvectors("a", "b")
    with pytest.raises(TypeError, match="The inputs of OpFromGraph must be a list"):
        OpFromGraph((a,), [a])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be variables, got 3"):
        OpFromGraph([a], [3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"a .* is an input of OpFromGraph twice"):
        OpFromGraph([a, a], [a])
    with pytest.raises(og.MissingInputError, match=r"b .* is no input"):
        OpFromGraph([a], [a + b])
    with pytest.raises(NotImplementedError, match="no updates"):
        OpFromGraph([a], [a], updates={})
    with pytest.warns(FutureWarning, match="does not take mode"):
        OpFromGraph([a], [a], mode="FAST_RUN")
    with pytest.raises(ValueError, match="takes 2 inputs, got 1"):
        product_and_log()(a)
    with pytest.raises(TypeError):
        product_and_log()(a, ot.dmatrix("m"))
    OpFromGraph([a, b], [a * 1.0])  # an unused input is no mistake


def _nested(depth: int) -> tuple[Any, Any]:
    x = ot.dvector("x")
    op: Any = None
    for _ in range(depth):
        v = ot.dvector()
        op = OpFromGraph([v], [ot.sin(v if op is None else op(v)) * 1.5])
    return x, op(x)


def test_graphs_inside_of_graphs_are_not_limited_in_depth() -> None:
    x, y = _nested(300)
    assert og.digest(pickle.loads(pickle.dumps(y))) == og.digest(copy.deepcopy(y)) == og.digest(y)
    assert "OpFromGraph" in y.dprint(file="str")
    assert og.grad(y.sum(), x).type == x.type


def test_gradients_of_nested_graphs() -> None:
    x, y = _nested(20)
    start = np.array([0.3, 0.7])
    expected, slope = start, np.ones(2)
    for _ in range(20):
        slope = 1.5 * np.cos(expected) * slope
        expected = 1.5 * np.sin(expected)
    np.testing.assert_allclose(y.eval({x: start}), expected)
    np.testing.assert_allclose(og.grad(y.sum(), x).eval({x: start}), slope)
