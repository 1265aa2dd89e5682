"""Reductions, running sums and products, soft maxima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph import Apply
from occelo_graph.ops.reduce import (
    Argmax,
    CAReduce,
    CumOp,
    LinearRecurrence,
    LogSoftmax,
    LogSumExp,
    Softmax,
)
from occelo_link.traced.registry import traces
from occelo_link.traced.tracer import Tracer

__all__: list[str] = []


def _dtype(node: Apply) -> str:
    return node.outputs[0].type.dtype  # type: ignore[attr-defined,no-any-return] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


@traces(CAReduce)
def lower_reduction(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    arrays, (x,) = tracer.arrays, inputs
    name = op.scalar_op.name
    if name in ("maximum", "minimum") and math.prod(x.shape[a] for a in op.axis) == 0:
        raise ValueError("There is no largest element of nothing")
    acc = op.acc_dtype or (_dtype(node) if name in ("add", "mul") else None)
    if acc is not None:
        x = arrays.cast(x, acc)
    return [arrays.cast(arrays.reduce(name, x, op.axis), _dtype(node))]


def _last(tracer: Tracer, x: Any, axes: Sequence[int]) -> Any:
    """The axes as one, the last."""
    kept = [i for i in range(len(x.shape)) if i not in axes]
    moved = tracer.arrays.transpose(x, (*kept, *axes))
    size = math.prod(x.shape[a] for a in axes)
    return tracer.arrays.reshape(moved, (*(x.shape[i] for i in kept), size))


@traces(Argmax)
def lower_argmax(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    flat = _last(tracer, inputs[0], op.axis)
    if flat.shape[-1] == 0:
        raise ValueError("There is no largest element of nothing")
    return [tracer.arrays.argmax(flat)]


@traces(CumOp)
def lower_running(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    x = tracer.arrays.cast(inputs[0], _dtype(node))
    return [tracer.arrays.accumulate(op.mode, x, op.axis)]


@traces(LinearRecurrence)
def lower_recurrence(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    arrays = tracer.arrays
    if tuple(inputs[0].shape) != tuple(inputs[1].shape):
        raise ValueError("Factors and terms of a recurrence have different shapes")
    a, b = (arrays.cast(tracer.array(x), _dtype(node)) for x in inputs)
    count = len(b.shape)
    front = (op.axis, *(i for i in range(count) if i != op.axis))
    states = arrays.recurrence(arrays.transpose(a, front), arrays.transpose(b, front))
    back = sorted(range(count), key=front.__getitem__)
    return [arrays.transpose(states, back)]


def _shifted(tracer: Tracer, node: Apply, x: Any) -> tuple[Any, Any, Any, tuple[int, ...]]:
    """exp(x - top), x - top, top and its shape, where top is the largest element, or 0 where that is -inf or NaN.

    The difference is 0 where both are equal, if infinite.
    """
    op: Any = node.op
    arrays = tracer.arrays
    x = arrays.cast(x, _dtype(node))
    shape = tuple(1 if i in op.axis else int(n) for i, n in enumerate(x.shape))
    largest = "maximum" if math.prod(int(x.shape[a]) for a in op.axis) else "add"
    top = arrays.reshape(arrays.reduce(largest, x, op.axis), shape)
    scalars, dtype = arrays.scalars, _dtype(node)

    def number(value: float, like: Any) -> Any:
        return arrays.broadcast(arrays.constant(np.array(value, dtype)), tuple(like.shape))

    above = scalars["gt"][1](top, number(-np.inf, top))
    top = arrays.where(above, top, number(0.0, top))
    equal = scalars["eq"][1](x, arrays.broadcast(top, tuple(x.shape)))
    less = arrays.where(equal, number(0.0, x), scalars["sub"][1](x, top))
    return scalars["exp"][1](less), less, top, shape


@traces(Softmax)
def lower_softmax(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    arrays = tracer.arrays
    powers, _, _, shape = _shifted(tracer, node, inputs[0])
    total = arrays.reshape(arrays.reduce("add", powers, op.axis), shape)
    return [arrays.scalars["true_div"][1](powers, total)]


@traces(LogSoftmax)
def lower_log_softmax(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    arrays = tracer.arrays
    sub = arrays.scalars["sub"][1]
    powers, less, _, shape = _shifted(tracer, node, inputs[0])
    total = arrays.reshape(arrays.reduce("add", powers, op.axis), shape)
    return [sub(less, arrays.scalars["log"][1](total))]


@traces(LogSumExp)
def lower_logsumexp(tracer: Tracer, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    op: Any = node.op
    arrays = tracer.arrays
    powers, _, top, _ = _shifted(tracer, node, inputs[0])
    total = arrays.reduce("add", powers, op.axis)
    top = arrays.reshape(top, tuple(total.shape))
    return [arrays.scalars["add"][1](arrays.scalars["log"][1](total), top)]
