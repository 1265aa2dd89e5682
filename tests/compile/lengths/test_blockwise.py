"""Ops without a batching rule over batches, on every linker, against `numpy.vectorize`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import function
from occelo_graph import Blockwise, Op, op
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python")


@op
class Solve(Op):
    """What only Python knows, with a shape that it does not say."""

    def infer(self, a: Any, b: Any) -> Any:
        return ot.TensorType("float64", b.shape)

    def evaluate(self, a: Any, b: Any) -> Any:
        return np.linalg.solve(a, b)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        of_b = Solve()(inputs[0].T, cotangents[0])
        return [-ot.outer(of_b, outputs[0]), of_b]


@op
class Split(Op):
    """Two results, one of a length of its own."""

    def infer(self, x: Any) -> Any:
        return ot.TensorType("float64", (None,)), ot.TensorType("int64", ())

    def evaluate(self, x: Any) -> Any:
        return np.concatenate([x, x[::-1] * 2.0]), np.asarray(len(x))


GENERATOR = np.random.default_rng(0)
A = GENERATOR.normal(size=(2, 4, 3, 3)) + 3.0 * np.eye(3)
B = GENERATOR.normal(size=(4, 3))
solve = np.vectorize(np.linalg.solve, signature="(n,n),(n)->(n)")
SIGNATURE = "(n,n),(n)->(n)"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "a", [A, A[:1], A[:, :0], A[0], A[0, 1], A[1, 2:3]], ids=lambda a: str(a.shape)
)
@pytest.mark.parametrize("b", [B, B[:1], B[1]], ids=lambda b: str(b.shape))
def test_an_op_runs_over_a_batch(mode: str, a: Any, b: Any) -> None:
    if a.ndim > 2 and b.ndim > 1 and {a.shape[-3], b.shape[0]} - {1} == {0, 4}:
        b = b[:0]
    inputs = [
        ot.tensor(dtype="float64", shape=tuple(1 if n == 1 else None for n in x.shape))
        for x in (a, b)
    ]
    f = function(inputs, Blockwise(Solve(), SIGNATURE)(*inputs), mode=mode)
    found = f(a, b)
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-1])
    assert found.shape == (*lead, 3)
    if found.size:
        np.testing.assert_allclose(found, solve(a, b), rtol=1e-12)


def test_a_graph_with_such_an_op_is_vectorized(mode: str) -> None:
    a, b = ot.dmatrix("a"), ot.dvector("b")
    many, rows = ot.dtensor3("many"), ot.dmatrix("rows")
    batched = og.vectorize_graph(Solve()(a, b) * 2.0, {a: many, b: rows})
    np.testing.assert_allclose(
        function([many, rows], batched, mode=mode)(A[0], B), 2.0 * solve(A[0], B), rtol=1e-12
    )


def test_the_derivative_runs_over_the_batch(mode: str) -> None:
    a, b, w = ot.dtensor3("a"), ot.dvector("b"), ot.dmatrix("w")
    result = Blockwise(Solve(), SIGNATURE)(a, b)
    f = function([a, b, w], og.grad((result * w).sum(), [a, b]), mode=mode)
    of_a, of_b = f(A[0], B[0], B)
    each = solve(np.swapaxes(A[0], 1, 2), B)
    np.testing.assert_allclose(of_b, each.sum(axis=0), rtol=1e-12)
    outer = -each[:, :, None] * solve(A[0], B[0])[:, None, :]
    np.testing.assert_allclose(of_a, outer, rtol=1e-12)


def test_results_of_a_length_that_nothing_says(mode: str) -> None:
    x = ot.dtensor3("x")
    f = function([x], Blockwise(Split(), "(n)->(k),()")(x), mode=mode)
    value = GENERATOR.normal(size=(2, 3, 5))
    joined, lengths = f(value)
    np.testing.assert_array_equal(joined, np.concatenate([value, value[..., ::-1] * 2.0], axis=-1))
    np.testing.assert_array_equal(lengths, np.full((2, 3), 5))
    joined, lengths = f(value[:, :0])
    assert (joined.shape, lengths.shape) == ((2, 0, 10), (2, 0))


class Leading(Op):
    """The first two elements of a vector times the sum of another; no shape, no batching rule."""

    __props__ = ()

    def infer(self, x: Any, y: Any) -> Any:
        return ot.TensorType("float64", (None,))

    def evaluate(self, x: Any, y: Any) -> Any:
        return x[:2] * y.sum()

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        (x, y), ct = inputs, cotangents[0]
        rest = ot.zeros((x.shape[0] - 2,))
        return [ot.concatenate([ct * y.sum(), rest]), ot.zeros_like(y) + (ct * x[:2]).sum()]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_an_empty_batch_has_the_lengths_of_any_other(mode: str, count: int) -> None:
    x, y, a, b = ot.dvector("x"), ot.dvector("y"), ot.dmatrix("a"), ot.dmatrix("b")
    made = og.vectorize_graph(Leading()(x, y), {x: a, y: b})
    f = function([a, b, x], [made + x, *og.grad(made.sum(), [a, b])], mode=mode)
    p, q = GENERATOR.normal(size=(count, 4)), GENERATOR.normal(size=(count, 3))
    total, of_p, of_q = f(p, q, np.array([1.0, 2.0]))
    sums = q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(total, p[:, :2] * sums + [1.0, 2.0])
    np.testing.assert_allclose(of_p, np.pad(np.repeat(sums, 2, axis=1), ((0, 0), (0, 2))))
    np.testing.assert_allclose(of_q, np.repeat(p[:, :2].sum(axis=1, keepdims=True), 3, axis=1))


CALLS: list[int] = []


class Counting(Op):
    """An op of a user, who counts its calls."""

    __props__ = ()

    def make_node(self, x: Any) -> Apply:
        return Apply(self, [x], [ot.dvector()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        CALLS.append(1)
        outputs[0][0] = inputs[0] * 2.0

    def infer_shape(self, fgraph: Any, node: Any, shapes: Any) -> Any:
        return shapes


def test_a_branch_that_is_not_taken_runs_no_element(mode: str) -> None:
    if mode in ("jax", "pytorch"):
        pytest.skip("libraries that trace call the op to learn the shapes of its results")
    x, c = ot.dmatrix("x"), ot.lscalar("c")
    f = function([x, c], ot.ifelse(c > 0, Blockwise(Counting(), "(n)->(n)")(x), x), mode=mode)
    CALLS.clear()
    np.testing.assert_array_equal(f(B, 0), B)
    assert not CALLS
    np.testing.assert_array_equal(f(B, 1), 2.0 * B)
    assert len(CALLS) == 4


def test_an_error_says_in_which_iteration_it_was(mode: str) -> None:
    a = A[0].copy()
    a[2] = 0.0
    many, rows = ot.dtensor3("many"), ot.dmatrix("rows")
    f = function([many, rows], Blockwise(Solve(), SIGNATURE)(many, rows), mode=mode)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix") as caught:
        f(a, B)
    assert any("iteration 2 of Blockwise{Solve" in note for note in caught.value.__notes__)
    with pytest.raises(ValueError, match="While computing"):
        f(A[0], B[:3])


@op
class Thirds(Op):
    """A third of whole numbers, by an op whose derivative is that of a division."""

    def infer(self, x: Any) -> Any:
        return ot.TensorType("float64", x.shape)

    def evaluate(self, x: Any) -> Any:
        return x / 3.0

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] / 3.0]


@pytest.mark.parametrize("shape", [(2, 3), (None, None)])
def test_arguments_of_whole_numbers_have_gradients_of_floats(shape: Any) -> None:
    x = ot.tensor("x", dtype="int64", shape=shape)
    of_cost = og.grad(Blockwise(Thirds(), "(n)->(n)")(x).sum(), x)
    assert of_cost.type.dtype == "float64"
