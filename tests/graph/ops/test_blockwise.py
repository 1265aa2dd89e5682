"""`Blockwise`: accepted arguments, derivatives, and vectorizing, differentiating and saving it."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

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


@op
class MatVec(Op):
    """A matrix times a vector, which says its lengths by its signature alone."""

    gufunc_signature = "(m,n),(n)->(m)"
    calls: ClassVar[int] = 0

    def infer(self, a: Any, v: Any) -> Any:
        return ot.TensorType("float64", (None,))

    def evaluate(self, a: Any, v: Any) -> Any:
        type(self).calls += 1
        return a @ v

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [ot.outer(cotangents[0], inputs[1]), inputs[0].T @ cotangents[0]]


def test_what_has_effects_is_not_repeated() -> None:
    with pytest.raises(TypeError, match="Shouting has effects, so Blockwise cannot repeat it"):
        Blockwise(Shouting(), "(n)->(n)")


def test_an_op_may_declare_its_signature() -> None:
    assert Blockwise(MatVec()) == Blockwise(MatVec(), "(m,n),(n)->(m)")
    assert hash(Blockwise(MatVec())) == hash(Blockwise(MatVec(), "(m,n),(n)->(m)"))
    a, v = ot.dtensor3("a"), ot.dvector("v")
    rng = np.random.default_rng(3)
    given = {a: rng.normal(size=(4, 3, 2)), v: rng.normal(size=2)}
    by_loop = og.vectorize(MatVec(), "(m,n),(n)->(m)")(a, v)
    for out in (Blockwise(MatVec())(a, v), by_loop):
        MatVec.calls = 0
        np.testing.assert_allclose(out.eval(given), given[a] @ given[v])
        assert MatVec.calls == 4  # and none to see how long a result is
        slope = og.grad(out.sum(), a).eval(given)
        np.testing.assert_allclose(slope, np.broadcast_to(given[v], (4, 3, 2)))
    assert by_loop.eval({a: np.ones((0, 3, 2)), v: np.ones(2)}).shape == (0, 3)


def test_without_any_signature_blockwise_says_so() -> None:
    with pytest.raises(TypeError, match=r"Weighted.* declares no gufunc_signature"):
        Blockwise(Weighted())


def test_a_signature_that_does_not_fit_is_an_error() -> None:
    class Wrong(MatVec):
        gufunc_signature = "(n),(n)->()"

        def evaluate(self, a: Any, v: Any) -> Any:
            return a @ v

    a, v = ot.dtensor3("a"), ot.dvector("v")
    with pytest.raises(
        ValueError, match=r"Wrong.* declares the gufunc_signature '\(n\),\(n\)->\(\)', and has"
    ):
        og.vectorize(Wrong(), "(m,n),(n)->(m)")(a, v)


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


def test_what_a_batch_says_of_itself() -> None:
    many = ot.tensor("many", dtype="float64", shape=(4, None, 3, 2))
    out = Blockwise(MatVec())(many, ot.dvector("v"))
    (node,) = [n for n in og.toposort([out]) if isinstance(n.op, Blockwise)]
    assert isinstance(node.op.core_op, MatVec)
    assert node.op.inputs_sig == (("m", "n"), ("n",))
    assert node.op.outputs_sig == (("m",),)
    assert node.op.batch_ndim(node) == 1  # of four and any number, which are flattened


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
