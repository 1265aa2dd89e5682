"""Lowerings of reductions, argmax, running reductions and linear recurrences for JAX and PyTorch.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.ops.reduce import Argmax, CAReduce, CumOp, LinearRecurrence
from occelo_graph.ops.reductions import Reduction, combine_in_halves
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Arrays, Entry
from occelo_link.traced.tracer import Tracer
from occelo_link.traced.translations.elemwise import apply_scalar, supports_scalar


def _dtype(node: TensorApply) -> str:
    return node.outputs[0].type.dtype


@traces(CAReduce)
def lower_reduction(tracer: Tracer, node: TensorApply[CAReduce], inputs: list[Array]) -> Arrays:
    op = node.op
    arrays, (x,) = tracer.arrays, inputs
    empty = math.prod(int(x.shape[a]) for a in op.axis) == 0
    if empty and not op.reduction.may_be_empty:
        raise ValueError(f"There is no {op.reduction.name} of no elements")
    acc = op.computed_in(node.inputs[0].type.dtype)
    if acc is not None:
        x = arrays.cast(x, acc)
    if empty:
        lengths = [int(n) for i, n in enumerate(x.shape) if i not in op.axis]
        start = np.full(lengths, op.reduction.start(arrays.dtype(x)), arrays.dtype(x))
        return [arrays.cast(arrays.constant(start), _dtype(node))]
    reduced = arrays.reduce(op.reduction.name, x, op.axis)
    if reduced is not None:
        return [arrays.cast(reduced, _dtype(node))]
    combine = _combination(tracer, op.reduction, arrays.dtype(x))
    if combine is None:
        return fall_back(tracer, node, inputs)
    x, _ = _axes_first(tracer, x, op.axis)
    combined = combine_in_halves(
        combine,
        x,
        lambda t: int(t.shape[0]),
        _cut(tracer),
        lambda parts: arrays.concatenate(parts, 0),
    )
    return [arrays.cast(_part(tracer, combined, 0), _dtype(node))]


def _combination(
    tracer: Tracer, row: Reduction, dtype: str
) -> Callable[[Array, Array], Array] | None:
    """Return the function of two arrays that a reduction applies, or None if the library cannot compute this function."""
    if not supports_scalar(tracer.arrays.scalar, row.function):
        return None
    return lambda a, b: apply_scalar(tracer, row.function, [a, b], dtype)


def _part(tracer: Tracer, x: Array, entry: Entry) -> Array:
    rest = [slice(0, int(n), 1) for n in x.shape[1:]]
    return tracer.arrays.read(x, (entry, *rest))


def _cut(tracer: Tracer) -> Callable[[Array, int, int], Array]:
    return lambda x, start, stop: _part(tracer, x, slice(start, stop, 1))


def _axes_first(tracer: Tracer, x: Array, axes: Sequence[int]) -> tuple[Array, tuple[int, ...]]:
    """Move some axes to the front and merge them into one. Returns the array and the lengths of its other axes."""
    others = [i for i in range(len(x.shape)) if i not in axes]
    moved = tracer.arrays.transpose(x, (*axes, *others))
    lengths = tuple(int(x.shape[i]) for i in others)
    size = math.prod(int(x.shape[a]) for a in axes)
    return tracer.arrays.reshape(moved, (size, *lengths)), lengths


def _axes_last(tracer: Tracer, x: Array, axes: Sequence[int]) -> Array:
    """Move some axes to the end and merge them into one. Returns the array."""
    others = [i for i in range(len(x.shape)) if i not in axes]
    moved = tracer.arrays.transpose(x, (*others, *axes))
    size = math.prod(x.shape[a] for a in axes)
    return tracer.arrays.reshape(moved, (*(x.shape[i] for i in others), size))


@traces(Argmax)
def lower_argmax(tracer: Tracer, node: TensorApply[Argmax], inputs: list[Array]) -> Arrays:
    if node.inputs[0].type.dtype.startswith("complex"):
        return fall_back(tracer, node, inputs)  # the libraries do not order complex numbers
    op = node.op
    flat = _axes_last(tracer, inputs[0], op.axis)
    if flat.shape[-1] == 0:
        raise ValueError("There is no largest element of nothing")
    return [tracer.arrays.argmax(flat)]


@traces(CumOp)
def lower_running(tracer: Tracer, node: TensorApply[CumOp], inputs: list[Array]) -> Arrays:
    op = node.op
    arrays = tracer.arrays
    x = arrays.cast(inputs[0], _dtype(node))
    running = arrays.accumulate(op.mode, x, op.axis)
    if running is not None:
        return [running]
    combine = _combination(tracer, op.reduction, arrays.dtype(x))
    if combine is None:
        return fall_back(tracer, node, inputs)
    # a parallel scan: the rounds combine each element with the element 1, 2, 4, ... positions before it (Hillis and
    # Steele, "Data Parallel Algorithms", 1986)
    front = (op.axis, *(i for i in range(len(x.shape)) if i != op.axis))
    x, cut, step = arrays.transpose(x, front), _cut(tracer), 1
    count = int(x.shape[0])
    while step < count:
        rest = combine(cut(x, 0, count - step), cut(x, step, count))
        x, step = arrays.concatenate([cut(x, 0, step), rest], 0), 2 * step
    return [arrays.transpose(x, sorted(range(len(front)), key=front.__getitem__))]


@traces(LinearRecurrence)
def lower_recurrence(
    tracer: Tracer, node: TensorApply[LinearRecurrence], inputs: list[Array]
) -> Arrays:
    op = node.op
    arrays = tracer.arrays
    if tuple(inputs[0].shape) != tuple(inputs[1].shape):
        raise ValueError("Factors and terms of a recurrence have different shapes")
    a, b = (arrays.cast(tracer.array(x), _dtype(node)) for x in inputs)
    count = len(b.shape)
    front = (op.axis, *(i for i in range(count) if i != op.axis))
    states = arrays.recurrence(arrays.transpose(a, front), arrays.transpose(b, front))
    back = sorted(range(count), key=front.__getitem__)
    return [arrays.transpose(states, back)]
