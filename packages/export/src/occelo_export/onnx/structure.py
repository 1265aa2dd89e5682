"""Shapes, reductions, products, joins, new tensors, branches and checks in ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_export.onnx.registry import translates
from occelo_export.onnx.writer import NotInONNX, Scope, working_dtype
from occelo_graph.errors import describe
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.control.branches import IfElse
from occelo_graph.ops.control.checks import Assert, CheckAndRaise
from occelo_graph.ops.control.identities import After, Assume, DeepCopyOp, ViewOp
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_graph.ops.join import Join, MakeVector, Repeat
from occelo_graph.ops.reduce import (
    Argmax,
    CAReduce,
    CumOp,
    LinearRecurrence,
    LogSoftmax,
    LogSumExp,
    Softmax,
    SumOfSquares,
)
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.ops.shape.stretching import Stretch, SumStretched


def _dtype(node: Any) -> str:
    dtype: str = node.outputs[0].type.dtype
    return dtype


def _scalar(scope: Scope, node: Any, position: int, name: str) -> str:
    """An input that is a length, as int64."""
    return scope.cast(name, node.inputs[position].type.dtype, "int64")


def _filled(scope: Scope, node: Any, static: Sequence[int | None], inputs: Sequence[str]) -> str:
    """A vector of lengths: those that are static, and the inputs after the first for the others."""
    rest = iter(_scalar(scope, node, k, name) for k, name in enumerate(inputs[1:], 1))
    return scope.vector([n if n is not None else next(rest) for n in static])


# values as they are


@translates(After, DeepCopyOp, ViewOp, Assume, CheckAndRaise, Assert, SpecifyShape)
def same(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """Checks are left out."""
    return [inputs[0]]


@translates(IfElse)
def branch(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    condition = scope.cast(inputs[0], node.inputs[0].type.dtype, "bool")
    sides = [[node.inputs[i] for i in r.results] for r in node.op.regions(node)]
    return scope.branch(condition, sides)


# shapes


@translates(Shape)
def shape(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [scope.op("Shape", inputs[0])]


@translates(Shape_i)
def length(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [scope.length(inputs[0], node.op.i)]


@translates(Reshape)
def reshape(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    static = list(node.op.shape)
    # with -1, a length of 0 would leave a copied length, or an ambiguous one
    allow = {} if -1 in static else {"allowzero": 1}
    return [scope.op("Reshape", inputs[0], _filled(scope, node, static, inputs), **allow)]


@translates(DimShuffle)
def dimshuffle(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    op, x = node.op, inputs[0]
    axes = [a for a in op.new_order if isinstance(a, int)]
    order = [*axes, *op.dropped]
    if order != sorted(order):
        x = scope.op("Transpose", x, perm=order)
    if op.dropped:
        x = scope.op("Squeeze", x, scope.integers(range(len(axes), len(order))))
    added = [k for k, a in enumerate(op.new_order) if a == "x"]
    return [scope.op("Unsqueeze", x, scope.integers(added)) if added else x]


@translates(Stretch)
def stretch(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [scope.op("Expand", inputs[0], _wanted(scope, node, inputs))]


def _wanted(scope: Scope, node: Any, inputs: Sequence[str]) -> str:
    rest = iter(_scalar(scope, node, k, name) for k, name in enumerate(inputs[1:], 1))
    op = node.op
    # a length of 1 leaves the tensor's own
    return scope.vector(
        [
            next(rest) if g else (1 if s is None else s)
            for s, g in zip(op.static, op.given, strict=True)
        ]
    )


@translates(SumStretched)
def sum_stretched(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    rest = iter(_scalar(scope, node, k, name) for k, name in enumerate(inputs[1:], 1))
    op, own = node.op, [scope.length(inputs[0], k) for k in range(len(node.op.static))]
    shape = scope.vector(
        [
            next(rest) if g else (mine if s is None else s)
            for s, g, mine in zip(op.static, op.given, own, strict=True)
        ]
    )
    differs = scope.op("Not", scope.op("Equal", scope.op("Shape", inputs[0]), shape))
    axes = scope.op("Squeeze", scope.op("NonZero", differs), scope.integers([0]))
    return [scope.op("ReduceSum", inputs[0], axes, keepdims=1, noop_with_empty_axes=1)]


# new tensors


@translates(Alloc)
def alloc(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [scope.op("Expand", inputs[0], _filled(scope, node, node.op.shape, inputs))]


@translates(ARange)
def arange(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    dtype = _dtype(node)
    working = dtype if dtype in ("float32", "float64", "int32", "int64") else "int64"
    if dtype == "float16":
        working = "float32"
    parts = [scope.cast(x, v.type.dtype, working) for x, v in zip(inputs, node.inputs, strict=True)]
    return [scope.cast(scope.op("Range", *parts), working, dtype)]


@translates(Eye)
def eye(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    *lengths, offset = inputs
    rest = iter(
        scope.cast(x, v.type.dtype, "int64") for x, v in zip(lengths, node.inputs, strict=False)
    )
    sizes = [scope.constant(n, "int64") if n is not None else next(rest) for n in node.op.shape]
    zero = scope.constant(0, "int64")
    rows, columns = (scope.count(zero, n) for n in sizes)
    shift = scope.cast(offset, node.inputs[-1].type.dtype, "int64")
    moved = scope.op("Unsqueeze", scope.op("Add", rows, shift), scope.integers([1]))
    return [scope.cast(scope.op("Equal", moved, columns), "bool", _dtype(node))]


# joins


@translates(Join)
def join(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [scope.op("Concat", *inputs, axis=node.op.axis)]


@translates(MakeVector)
def make_vector(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    if not inputs:
        return [scope.constant([], node.op.dtype)]
    axis = scope.integers([0])
    parts = [
        scope.op("Unsqueeze", scope.cast(x, v.type.dtype, node.op.dtype), axis)
        for x, v in zip(inputs, node.inputs, strict=True)
    ]
    return [scope.op("Concat", *parts, axis=0)]


@translates(Repeat)
def repeat(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """The element at each place is the number of elements that end before it."""
    ends = scope.op("CumSum", inputs[1], scope.constant(0, "int64"))
    total = scope.op("ReduceSum", inputs[1], keepdims=0)
    places = scope.op(
        "Unsqueeze", scope.count(scope.constant(0, "int64"), total), scope.integers([1])
    )
    before = scope.cast(scope.op("GreaterOrEqual", places, ends), "bool", "int64")
    rows = scope.op("ReduceSum", before, scope.integers([1]), keepdims=0)
    return [scope.op("Gather", inputs[0], rows, axis=node.op.axis)]


# products


@translates(Dot, MatMul)
def product(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """Vectors are written as matrices: onnxruntime 1.32 fuses a transposed matrix with a product, and computes the
    product with a vector wrongly then.
    """
    dtype = _dtype(node)
    working = working_dtype(dtype)
    typed = [scope.cast(x, v.type.dtype, working) for x, v in zip(inputs, node.inputs, strict=True)]
    left, right = (v.type.ndim == 1 for v in node.inputs)
    first, last = scope.integers([0]), scope.integers([-1])
    if left:
        typed[0] = scope.op("Unsqueeze", typed[0], first)
    if right:
        typed[1] = scope.op("Unsqueeze", typed[1], last)
    product = scope.op("MatMul", *typed)
    added = [-2] * left + [-1] * right
    if added:
        product = scope.op("Squeeze", product, scope.integers(added))
    return [scope.cast(product, working, dtype)]


# reductions

_REDUCTIONS = {
    "add": "ReduceSum",
    "mul": "ReduceProd",
    "maximum": "ReduceMax",
    "supremum": "ReduceMax",
    "minimum": "ReduceMin",
    "and": "ReduceMin",
    "or": "ReduceMax",
    "logaddexp": "ReduceLogSumExp",
}


def _reduced(scope: Scope, kind: str, x: str, axes: Sequence[int], keepdims: bool = False) -> str:
    return scope.op(kind, x, scope.integers(axes), keepdims=int(keepdims), noop_with_empty_axes=1)


@translates(CAReduce)
def reduction(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    op, own, dtype = node.op, node.inputs[0].type.dtype, _dtype(node)
    name = op.reduction.name
    if name not in _REDUCTIONS or (name in ("and", "or") and own != "bool"):
        raise NotInONNX(f"ONNX has no reduction by {name}, of {describe(node.outputs[0])}")
    computed = op.computed_in(own) or own
    working = working_dtype(computed)
    x = scope.cast(scope.cast(inputs[0], own, computed), computed, working)
    kind = _REDUCTIONS[name]
    if computed == "bool" and name in ("add", "mul"):
        kind = "ReduceMax" if name == "add" else "ReduceMin"
    if not op.axis:
        return [scope.cast(x, working, dtype)]
    if name in ("maximum", "supremum", "minimum") and working.startswith("float"):
        # onnxruntime's maximum of an array with NaN depends on the place of NaN
        extremum = _reduced(scope, kind, x, op.axis)
        is_nan = scope.cast(scope.op("IsNaN", x), "bool", "int32")
        # a sum, since that of no elements is 0
        any_nan = scope.cast(_reduced(scope, "ReduceSum", is_nan, op.axis), "int32", "bool")
        return [scope.op("Where", any_nan, scope.constant(np.nan, working), extremum)]
    return [scope.cast(_reduced(scope, kind, x, op.axis), working, dtype)]


@translates(SumOfSquares)
def sum_of_squares(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str] | None:
    if not _dtype(node).startswith("float"):
        return None
    return [_reduced(scope, "ReduceSum", scope.op("Mul", inputs[0], inputs[0]), node.op.axis)]


@translates(Argmax)
def argmax(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    axes, ndim, dtype = node.op.axis, node.inputs[0].type.ndim, node.inputs[0].type.dtype
    others = [a for a in range(ndim) if a not in axes]
    working = working_dtype(dtype)
    x = scope.cast(inputs[0], dtype, working)
    lengths = [scope.length(x, a) for a in others]
    flat = scope.op(
        "Reshape", scope.op("Transpose", x, perm=[*others, *axes]), scope.vector([*lengths, -1])
    )
    if not working.startswith("float"):
        return [scope.op("ArgMax", flat, axis=len(others), keepdims=0)]
    # the first NaN is the largest
    nan = scope.cast(scope.op("IsNaN", flat), "bool", "int32")
    axis = scope.integers([len(others)])
    some = scope.cast(scope.op("ReduceMax", nan, axis, keepdims=0), "int32", "bool")
    first = scope.op("ArgMax", nan, axis=len(others), keepdims=0)
    return [scope.op("Where", some, first, scope.op("ArgMax", flat, axis=len(others), keepdims=0))]


@translates(Softmax, LogSoftmax)
def softmax(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str] | None:
    axes = node.op.axis
    if len(axes) != 1:
        return None
    return [scope.op(type(node.op).__name__, inputs[0], axis=axes[0])]


@translates(LogSumExp)
def logsumexp(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """Without overflow: the largest element is subtracted, unless it is infinite."""
    axes, dtype, x = node.op.axis, _dtype(node), inputs[0]
    largest = _reduced(scope, "ReduceMax", x, axes, keepdims=True)
    finite = scope.op("Less", scope.op("Abs", largest), scope.constant(np.inf, dtype))
    top = scope.op("Where", finite, largest, scope.constant(0, dtype))
    total = _reduced(
        scope, "ReduceSum", scope.op("Exp", scope.op("Sub", x, top)), axes, keepdims=True
    )
    log_sum = scope.op("Add", scope.op("Log", total), top)
    return [scope.op("Squeeze", log_sum, scope.integers(axes)) if axes else log_sum]


@translates(CumOp)
def running(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    op, dtype = node.op, _dtype(node)
    working = working_dtype(dtype)
    x = scope.cast(inputs[0], node.inputs[0].type.dtype, working)
    if op.mode == "add" and dtype != "bool":
        return [scope.cast(scope.op("CumSum", x, scope.constant(op.axis, "int64")), working, dtype)]
    kinds = {
        "add": "Max",
        "mul": "Min" if dtype == "bool" else "Mul",
        "maximum": "Max",
        "minimum": "Min",
    }
    if op.mode not in kinds:
        raise NotInONNX(f"ONNX has no running {op.mode}, of {describe(node.outputs[0])}")
    start = op.reduction.start(np.dtype(working).name) if dtype != "bool" else int(op.mode == "mul")
    lengths = [scope.length(x, k) for k in range(node.inputs[0].type.ndim) if k != op.axis]
    first = (
        scope.op("Expand", scope.constant(start, working), scope.vector(lengths))
        if lengths
        else scope.constant(start, working)
    )
    states = _scanned(scope, first, [x], op.axis, working, [(kinds[op.mode], [0, 1])])
    return [scope.cast(states, working, dtype)]


@translates(LinearRecurrence)
def recurrence(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    dtype, axis = _dtype(node), node.op.axis
    factors, terms = (
        scope.cast(x, v.type.dtype, dtype) for x, v in zip(inputs, node.inputs, strict=True)
    )
    lengths = [scope.length(terms, k) for k in range(node.inputs[1].type.ndim) if k != axis]
    zero = scope.constant(0, dtype)
    first = scope.op("Expand", zero, scope.vector(lengths)) if lengths else zero
    return [
        _scanned(
            scope,
            first,
            [factors, terms],
            axis,
            dtype,
            [("Mul", [0, 1]), ("Add", [3, 2])],
        )
    ]


def _scanned(
    scope: Scope,
    first: str,
    sequences: Sequence[str],
    axis: int,
    dtype: str,
    step: Sequence[tuple[str, Sequence[int]]],
) -> str:
    """Write a Scan whose state is also its result. Returns all states.

    ``step`` has the operators of a step. Their inputs are numbers: 0 is the state, then come the elements of the sequences,
    and then the results of the operators, of which the last one is the next state.
    """
    writer, helper = scope.writer, scope.writer.helper
    element = writer.element_type(dtype)

    def info(name: str) -> Any:
        return helper.make_tensor_value_info(name, element, None)

    names = [writer.fresh("state"), *(writer.fresh("element") for _ in sequences)]
    inputs, nodes = list(names), list[Any]()
    for kind, places in step:
        names.append(writer.fresh("after"))
        nodes.append(helper.make_node(kind, [names[k] for k in places], [names[-1]]))
    trace = writer.fresh("kept")
    nodes.append(helper.make_node("Identity", [names[-1]], [trace]))
    body = helper.make_graph(nodes, "step", list(map(info, inputs)), [info(names[-1]), info(trace)])
    count = len(sequences)
    _, states = scope.ops(
        "Scan",
        [first, *sequences],
        2,
        body=body,
        num_scan_inputs=count,
        scan_input_axes=[axis] * count,
        scan_output_axes=[axis],
    )
    return states
