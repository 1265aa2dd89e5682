"""A typed module as users write it: mypy and pyright check it against the packages' declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import occelo
import occelo as oc
import occelo.ifelse
import occelo.scan
import occelo.tensor as ot
import occelo.tensor.shape
import occelo.tensor.sort
from occelo import export, optimize, sparse, xtensor
from occelo.gradient import grad
from occelo.scan import until
from occelo.tensor.math import exp
from occelo_graph import (
    Apply,
    FunctionGraph,
    Op,
    SharedVariable,
    TensorApply,
    TensorSharedVariable,
    TensorType,
    TensorVariable,
    Variable,
    computed_by,
    elementwise,
    inexact,
    is_tensor,
    op,
)
from occelo_link import lowers_scalar_to_loops, lowers_to_loops, traces
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Index, Tensor
from occelo_link.traced.tracer import Tracer
from occelo_rewrite import node_rewriter, p, rule, wild

if TYPE_CHECKING:
    from typing import assert_type

    from numpy.typing import NDArray

    from occelo_compile.calling import Function


def functions_with_names_of_modules() -> None:
    """They are functions where their modules are imported, too, and have the names of the modules as attributes."""

    def twice(v: TensorVariable) -> TensorVariable:
        return v * 2.0

    x = ot.dvector("x")
    doubled = occelo.scan(twice, [x], return_updates=False)
    chosen: Any = occelo.ifelse(x.sum() > 0, x, -x)
    lengths, ordered = occelo.tensor.shape(x), occelo.tensor.sort(x)
    assert occelo.scan.until is until
    assert occelo.ifelse.IfElse in type(chosen.owner.op).__mro__
    if TYPE_CHECKING:
        assert_type(doubled, TensorVariable)
        assert_type(lengths, TensorVariable)
        assert_type(ordered, TensorVariable)


def trees() -> None:
    """Gradients and updates have the structure of what they are taken by."""
    x = ot.dvector("x")
    params = {"x": x}
    value, slope = oc.value_and_grad(x.sum(), params)
    stopped = oc.stop_gradient(params)
    clipped = oc.updates.clip_by_global_norm(slope, 1.0)
    activated = oc.nn.gelu(x)
    if TYPE_CHECKING:
        assert_type(value, Variable)
        assert_type(slope, dict[str, TensorVariable])
        assert_type(stopped, dict[str, TensorVariable])
        assert_type(clipped, dict[str, TensorVariable])
        assert_type(activated, TensorVariable)


def graph() -> TensorVariable:
    """Expressions of tensors are tensors; their types have lengths and dtypes."""
    x = ot.dvector("x")
    y = (x * 2.0 + x.exp()).sum()
    if TYPE_CHECKING:
        assert_type(x, TensorVariable)
        assert_type(x.type.dtype, str)
        assert_type(x.type.shape, tuple[int | None, ...])
        assert_type(y, TensorVariable)
        assert_type(x.T, TensorVariable)
    return y


def other_places() -> TensorVariable:
    """Names at PyTensor's places; functions that have the names of modules there are functions."""
    x = ot.dvector("x")
    y = exp(x) + ot.math.exp(x)
    if TYPE_CHECKING:
        assert_type(ot.shape(x), TensorVariable)
        assert_type(ot.sort(x), TensorVariable)
        assert_type(oc.scan.until(x.sum() > 1), until)
    oc.scan(lambda: x.sum(), n_steps=2)
    return oc.gradient.grad(y.sum(), x) + grad(y.sum(), x)


def results() -> None:
    """Gradients, shared variables, calls and loops have the types of what they give."""
    x, w = ot.dvector("x"), oc.shared(np.zeros(3), name="w")
    cost = (w * x).sum()

    def add(total: TensorVariable, each: TensorVariable) -> TensorVariable:
        return ot.add(total, each)

    def until_large(total: TensorVariable, each: TensorVariable) -> tuple[TensorVariable, until]:
        return ot.add(total, each), until(total > 10)

    def both(total: TensorVariable, each: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
        return ot.add(total, each), ot.mul(total, each)

    start = ot.constant(0.0)
    traces = oc.scan(both, x, [start, None], return_updates=False)
    sums = oc.scan(add, x, [start], return_updates=False)
    if TYPE_CHECKING:
        assert_type(oc.grad(cost, w), TensorVariable)
        assert_type(oc.grad(cost, [x, w]), list[TensorVariable])
        assert_type(oc.grad(cost, (x, w)), tuple[TensorVariable, ...])
        assert_type(oc.grad(cost, {"w": w}), dict[str, TensorVariable])
        assert_type(w, TensorSharedVariable)
        assert_type(w.get_value(), NDArray[Any])
        assert_type(oc.shared(1.0), TensorSharedVariable)
        assert_type(oc.shared([[1.0], [2.0]]), TensorSharedVariable)
        assert_type(oc.shared("any object"), SharedVariable)
        assert_type(oc.function([x], cost)(np.ones(3)), NDArray[Any])
        assert_type(oc.function([x], [cost, oc.Out(cost)])(np.ones(3)), list[NDArray[Any]])
        assert_type(oc.function([x], {"a": cost}, mode="py")(x=1), dict[str, NDArray[Any]])
        assert_type(oc.function([], updates=[(w, w + 1)])(), list[NDArray[Any]])
        assert_type(sums, TensorVariable)
        assert_type(traces, list[TensorVariable])
        assert_type(oc.scan(until_large, x, [start], return_updates=False), TensorVariable)
        assert_type(oc.scan(add, x, [start]), tuple[TensorVariable, dict[SharedVariable, Any]])
        assert_type(oc.scan(both, x)[0], list[TensorVariable])
        assert_type(oc.loop(both, start, x), tuple[TensorVariable, TensorVariable])
        assert_type(oc.fori_loop(0, 3, add, start), TensorVariable)
        assert_type(oc.while_loop(lambda s: s < 3, ot.exp, start), TensorVariable)
        oc.nothere  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # not there
        ot.nothere  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # not there


def matrices() -> None:
    """Sparse matrices and products with them."""
    x, a = ot.dvector("x"), sparse.csr_matrix("a")
    if TYPE_CHECKING:
        assert_type(a, sparse.SparseVariable)
        assert_type(a.T, sparse.SparseVariable)
        assert_type(a * 2.0, sparse.SparseVariable)
        assert_type(2.0 * a, sparse.SparseVariable)
        assert_type(a / 2.0, sparse.SparseVariable)
        assert_type(-a, sparse.SparseVariable)
        assert_type(sparse.vstack([a, a]), sparse.SparseVariable)
        assert_type(sparse.sqrt(a), sparse.SparseVariable)
        assert_type(a @ x, TensorVariable)
        assert_type(a.toarray(), TensorVariable)
        assert_type(sparse.spsolve(a, x), TensorVariable)
        sparse.nothere  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # not there


def solutions() -> None:
    """What solvers return."""

    def cost(w: TensorVariable) -> TensorVariable:
        return ((w - 3.0) ** 2).sum()

    def slope(t: TensorVariable, y: TensorVariable) -> TensorVariable:
        return -y

    x = ot.dvector("x")
    found = optimize.minimize(cost, x)
    solution, success = found
    oc.function([x], [solution, success, found.fun, found.nit])
    if TYPE_CHECKING:
        assert_type(found, optimize.OptimizeResult)
        assert_type(optimize.root(slope, x, args=(x,)), optimize.OptimizeResult)
        assert_type(optimize.solve_ivp(slope, (0.0, 1.0), x), optimize.OptimizeResult)
        assert_type(optimize.quad(ot.exp, 0.0, 1.0), optimize.Quadrature)
        assert_type(optimize.cg(ot.exp, x), optimize.LinearSolution)


def names_of_dimensions() -> xtensor.XTensorVariable:
    """Tensors with named dimensions."""
    t = xtensor.xtensor("t", dims=("a", "b"))
    scaled = xtensor.math.exp(t - t.mean("a")) * 2.0
    if TYPE_CHECKING:
        assert_type(t, xtensor.XTensorVariable)
        assert_type(t.dims, tuple[str, ...])
        assert_type(t.values, TensorVariable)
        assert_type(scaled, xtensor.XTensorVariable)
        assert_type(t.sum("a"), xtensor.XTensorVariable)
        assert_type(xtensor.dot(t, t), xtensor.XTensorVariable)
        assert_type(xtensor.concat([t, t], "a"), xtensor.XTensorVariable)
        assert_type(xtensor.as_xtensor(ot.dvector(), "a"), xtensor.XTensorVariable)
        assert_type(
            xtensor.math.divmod(t, 2), tuple[xtensor.XTensorVariable, xtensor.XTensorVariable]
        )
        assert_type(oc.grad(scaled.values.sum(), t), xtensor.XTensorVariable)
    return scaled


def files() -> None:
    """Functions for other programs."""
    x = ot.dvector("x")
    f = oc.function([x], x * 2)
    if TYPE_CHECKING:
        assert_type(export.to_stablehlo(f, np.ones(3)), export.StableHLO)
        assert_type(export.save_function(f, "f.occelo"), None)
        assert_type(export.load_function("f.occelo"), export.SavedFunction)
        export.nothere  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  # not there


def function() -> float:
    """A function of a graph and its gradient, and what it gives."""
    x = ot.dvector("x")
    cost = (x**2).sum()
    f = oc.function([x], [cost, oc.grad(cost, x)], mode="py", name="cost")
    if TYPE_CHECKING:
        assert_type(f, Function[list[NDArray[Any]]])
    value, slope = f(np.ones(3))
    assert slope.shape == (3,)
    return float(value)


def walk(cost: Variable) -> list[str]:
    """Variables and nodes of any type, with plain annotations."""
    node: Apply | None = cost.owner
    if node is None:
        return []
    names = [str(node.op), *(str(v.type) for v in node.inputs)]
    if is_tensor(cost):
        names.append(cost.type.dtype)
    doubled = computed_by(cost, Doubled)
    if doubled is not None:
        names.append(str(doubled.op.times))
    return names


def softsign_numpy(x: Any) -> Any:
    return x / (1 + np.abs(x))


def softsign_partial(ct: TensorVariable, x: TensorVariable, out: TensorVariable) -> TensorVariable:
    return ct / (1 + abs(x)) ** 2


softsign = elementwise(
    "client_softsign", 1, inexact, softsign_numpy, [softsign_partial], "x / (1 + |x|)."
)


@lowers_scalar_to_loops("client_softsign", cost=6)
def softsign_in_loops(builder: Builder, dtype: str, arguments: Sequence[Value]) -> Value:
    x = builder.cast(arguments[0], dtype)
    return builder.op("div", x, builder.op("add", builder.const(1.0, dtype), builder.op("abs", x)))


@op
class Doubled(Op):
    """The input, doubled some times."""

    times: int

    def infer(self, x: TensorType) -> TensorType:
        return x

    def evaluate(self, x: Any) -> Any:
        return x * 2**self.times

    def pullback(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        cotangents: Sequence[TensorVariable],
    ) -> Sequence[TensorVariable]:
        return [cotangents[0] * 2**self.times]

    def infer_shape(
        self, node: TensorApply[Doubled], input_shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]
    ) -> Sequence[TensorVariable]:
        return [self(inputs[0])]


@lowers_to_loops(Doubled)
def doubled_in_loops(
    context: Context, node: TensorApply[Doubled], inputs: list[Tensor]
) -> Sequence[Tensor]:
    (x,), times = inputs, node.op.times
    if TYPE_CHECKING:
        assert_type(times, int)
        assert_type(node.inputs[0].type.dtype, str)

    def element(builder: Builder, index: Index) -> Value:
        return builder.op("mul", x.at(builder, index), builder.const(2**times, x.dtype))

    return [context.virtual(x.dtype, x.shape, element, [x])]


@traces(Doubled)
def doubled_of_arrays(tracer: Tracer, node: Apply[Doubled], inputs: list[Any]) -> Sequence[Any]:
    return [tracer.arrays.apply("mul", inputs[0], 2.0**node.op.times)]


@node_rewriter([Doubled])
def doubled_twice(
    fgraph: FunctionGraph, node: TensorApply[Doubled]
) -> Sequence[TensorVariable] | None:
    """doubled(doubled(x)) = doubled(x), more often."""
    inner = computed_by(node.inputs[0], Doubled)
    if inner is None:
        return None
    if TYPE_CHECKING:
        assert_type(inner.op, Doubled)
        assert_type(inner.inputs[0], TensorVariable)
    return [Doubled(node.op.times + inner.op.times)(inner.inputs[0])]


a = wild("a")


@rule(p.client_softsign(-a))
def softsign_of_negative(a: TensorVariable) -> TensorVariable:
    """softsign(-x) = -softsign(x)."""
    return -a


class Older(Op):
    """An op of the older protocol."""

    __props__ = ("times",)

    def __init__(self, times: int) -> None:
        self.times = times

    def make_node(self, *inputs: Any) -> Apply:
        x = ot.as_tensor_variable(inputs[0])
        return Apply(self, [x], [x.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: list[list[Any]]) -> None:
        output_storage[0][0] = inputs[0] * self.times
