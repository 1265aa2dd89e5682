"""`Blockwise`: accepted arguments, derivatives, and vectorizing, differentiating and saving it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import Blockwise, Op, op
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort


@op
class Power(Op):
    """``x ** n`` of vectors, with both derivatives and without a batching rule."""

    n: int

    def infer(self, x: Any) -> Any:
        return x

    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return input_shapes

    def evaluate(self, x: Any) -> Any:
        return x**self.n

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * self.n * Power(self.n - 1)(inputs[0])]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Any:
        return [tangents[0] * self.n * Power(self.n - 1)(inputs[0])]


@op
class Weighted(Op):
    """A weighted sum of a vector, of two arguments."""

    def infer(self, x: Any, w: Any) -> Any:
        return ot.TensorType("float64", ())

    def evaluate(self, x: Any, w: Any) -> Any:
        return np.asarray((x * w).sum())

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        x, w = inputs
        return [cotangents[0] * w, cotangents[0] * x]


@op
class Shouting(Op):
    pure = False

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x


X = np.random.default_rng(0).uniform(0.5, 2.0, size=(3, 4))


def test_derivatives_of_all_orders_run_over_the_batch() -> None:
    x, v = ot.dmatrix("x"), ot.dmatrix("v")
    y = Blockwise(Power(3), "(n)->(n)")(x)
    first = og.grad(y.sum(), x)
    second = og.grad(first.sum(), x)
    (along,) = og.pushforward([y], [x], [v])
    found = og.evaluate([y, first, second, along], {x: X, v: X})
    for got, expected in zip(found, [X**3, 3 * X**2, 6 * X, 3 * X**3], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "shapes",
    [((3, 4), (4,)), ((4,), (3, 4)), ((2, 3, 4), (3, 4)), ((4,), (4,)), ((3, 1, 4), (2, 4))],
)
def test_derivatives_of_arguments_that_broadcast(shapes: Any) -> None:
    generator = np.random.default_rng(1)
    values = [generator.normal(size=s) for s in shapes]
    og.verify_grad(Blockwise(Weighted(), "(n),(n)->()"), values, rng=np.random.default_rng(2))


def test_a_batch_of_batches() -> None:
    x, w = ot.dmatrix("x"), ot.dvector("w")
    once = Blockwise(Weighted(), "(n),(n)->()")(x, w)
    many, more = ot.dtensor3("many"), ot.dmatrix("more")
    values = np.stack([X, X + 1.0]), np.stack([X[0], X[1]])
    found = og.evaluate(
        og.vectorize_graph(once, {x: many, w: more}), {many: values[0], more: values[1]}
    )
    np.testing.assert_allclose(found, np.einsum("bij,bj->bi", *values), rtol=1e-12)
    found = og.evaluate(og.vectorize_graph(once, {w: more}), {x: X, more: values[1]})
    np.testing.assert_allclose(found, np.einsum("ij,bj->bi", X, values[1]), rtol=1e-12)


def test_every_op_without_a_rule_is_vectorized() -> None:
    x = ot.dvector("x")
    rows = ot.dmatrix("rows")
    found = og.evaluate(og.vectorize_graph(Power(2)(x + 1.0).sum(), {x: rows}), {rows: X})
    np.testing.assert_allclose(found, ((X + 1.0) ** 2).sum(axis=1), rtol=1e-12)
    pulled = og.evaluate(og.jacobian(Power(2)(x), x), {x: X[0]})
    np.testing.assert_allclose(pulled, np.diag(2.0 * X[0]), rtol=1e-12)


def test_what_cannot_be_repeated_is_refused() -> None:
    x, rows = ot.dvector("x"), ot.dmatrix("rows")
    with pytest.raises(
        NotImplementedError, match=r"Shouting has no batching rule.* it has effects"
    ):
        og.vectorize_graph(Shouting()(x), {x: rows})
    with pytest.raises(ValueError, match="takes 2 arguments, got 1"):
        Blockwise(Weighted(), "(n),(n)->()")(x)
    with pytest.raises(ValueError, match=r"x .*has fewer than the 2 dimensions"):
        Blockwise(Power(2), "(m,n)->(m,n)")(x)
    with pytest.raises(ValueError, match="Not a signature: '\\(n\\)'"):
        Blockwise(Power(2), "(n)")(x)


def test_equal_ones_are_one_op() -> None:
    assert Blockwise(Power(2), "(n)->(n)") == Blockwise(Power(2), "(n)->(n)")
    assert Blockwise(Power(2), "(n)->(n)") != Blockwise(Power(3), "(n)->(n)")
    x = ot.dmatrix("x")
    y = Blockwise(Power(2), "(n)->(n)")(x)
    copied = pickle.loads(pickle.dumps([x, y]))
    np.testing.assert_array_equal(og.evaluate(copied[1], {copied[0]: X}), X**2)
    assert "Blockwise{" in og.dprint(y, file="str")


@op
class EverySecond(Op):
    """Every second element from the last one on, by another op alone."""

    def infer(self, x: Any) -> Any:
        return ot.TensorType(x.dtype, (None,))

    def decompose(self, x: Any) -> Any:
        return [x[::-2]]


@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (3, 0), (2, 3, 4), (0, 2, 1)])
def test_an_op_of_others_is_vectorized_by_these(shape: tuple[int, ...]) -> None:
    x, batch = ot.dvector("x"), ot.tensor(dtype="float64", shape=(None,) * len(shape))
    made = og.vectorize_graph(EverySecond()(x), {x: batch})
    assert not any(isinstance(n.op, Blockwise) for n in toposort([made]))
    value = np.arange(float(np.prod(shape))).reshape(shape)
    np.testing.assert_array_equal(og.evaluate(made, {batch: value}), value[..., ::-2])
