"""Reads, writes and diagonals in ONNX: Slice, Gather, GatherND and ScatterND.

A write is one into the flat tensor. Its positions are found by reading the same part of a tensor of positions, so every key
that can be read can be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from occelo_export.onnx.registry import translates
from occelo_export.onnx.writer import Scope, working_dtype
from occelo_graph.ir.slices import slice_parts
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.index.key import LARGEST, SCALAR, Key, advanced_layout
from occelo_graph.ops.index.search import AllocDiag, ExtractDiag, Nonzero
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)

_Given = Iterator[tuple[str, Any]]
"""The names of the inputs of a key, with their types."""


def _given(node: Any, inputs: Sequence[str], first: int) -> _Given:
    return iter([(x, v.type) for x, v in zip(inputs[first:], node.inputs[first:], strict=True)])


def _sliced(scope: Scope, x: str, slices: Sequence[tuple[int, Sequence[int | str | None]]]) -> str:
    """Apply the slices of some axes. Each is an axis, and start, stop and step: numbers, names or None."""
    starts: list[int | str] = []
    stops: list[int | str] = []
    steps: list[int | str] = []
    axes: list[int] = []
    for axis, (start, stop, step) in slices:
        if (start, stop, step) == (None, None, None):
            continue
        by = 1 if step is None else step
        axes.append(axis)
        starts.append(_end(scope, by, 0, LARGEST) if start is None else start)
        stops.append(_end(scope, by, LARGEST, -LARGEST - 1) if stop is None else stop)
        steps.append(by)
    if not axes:
        return x
    parts = [scope.vector(starts), scope.vector(stops), scope.integers(axes), scope.vector(steps)]
    return scope.op("Slice", x, *parts)


def _end(scope: Scope, step: int | str, forward: int, backward: int) -> int | str:
    """Where a slice starts or stops if its key does not say so, which depends on the sign of the step."""
    if isinstance(step, int):
        return backward if step < 0 else forward
    negative = scope.op("Less", step, scope.constant(0, "int64"))
    ends = (scope.constant(n, "int64") for n in (backward, forward))
    return scope.op("Where", negative, *ends)


def _read(scope: Scope, x: str, key: Key, given: _Given) -> str:
    """Read a part by a key without index arrays."""
    slices: list[tuple[int, Sequence[int | str | None]]] = []
    rows: list[tuple[int, str]] = []
    for axis, entry in enumerate(key):
        if is_slice(entry):
            slices.append((axis, _parts(scope, entry, given)))
        else:
            rows.append(
                (axis, next(given)[0] if entry == SCALAR else scope.constant(entry, "int64"))
            )
    part = _sliced(scope, x, slices)
    for axis, index in reversed(rows):
        part = scope.op("Gather", part, index, axis=axis)
    return part


def _parts(scope: Scope, entry: Any, given: _Given) -> list[int | str | None]:
    parts: list[int | str | None] = []
    for part in slice_parts(entry):
        if part == SCALAR:
            name, kind = next(given)
            parts.append(scope.cast(name, kind.dtype, "int64"))
        else:
            parts.append(part)
    return parts


def _gathered(scope: Scope, x: str, kind: Any, key: Key, given: Sequence[tuple[str, Any]]) -> str:
    """Read a part by a key with index arrays and masks.

    The indexed axes move to the front, GatherND reads the elements at all indices, and the dimensions of the indices move
    to the place that NumPy gives them.
    """
    types = [t for _, t in given if t.ndim or t.dtype == "bool"]
    _, place, count = advanced_layout(key, kind.shape, types)
    rest: _Given = iter(given)
    slices: list[tuple[int, Sequence[int | str | None]]] = []
    indices: list[str] = []
    indexed: list[int] = []
    axis = 0
    for entry in key:
        if is_slice(entry):
            slices.append((axis, _parts(scope, entry, rest)))
            axis += 1
            continue
        name, its = (scope.constant(entry, "int64"), None) if isinstance(entry, int) else next(rest)
        if its is not None and its.dtype == "bool":
            rows = scope.op("NonZero", name)
            for k in range(its.ndim):
                indices.append(scope.op("Gather", rows, scope.constant(k, "int64"), axis=0))
                indexed.append(axis + k)
            axis += its.ndim
            continue
        indices.append(name if its is None else scope.cast(name, its.dtype, "int64"))
        indexed.append(axis)
        axis += 1
    sliced = _sliced(scope, x, slices)
    free = [k for k in range(kind.ndim) if k not in indexed]
    if len(indices) == 1 and place == indexed[0]:
        return scope.op("Gather", sliced, indices[0], axis=indexed[0])
    front = scope.op("Transpose", sliced, perm=[*indexed, *free])
    last = scope.integers([-1])
    # all at one shape
    shape = indices[0]
    for each in indices[1:]:
        shape = scope.op("Add", shape, each)
    shape = scope.op("Shape", shape)
    stacked = [scope.op("Unsqueeze", scope.op("Expand", i, shape), last) for i in indices]
    gathered = scope.op("GatherND", front, scope.op("Concat", *stacked, axis=-1))
    moved = [*range(count, count + place), *range(count), *range(count + place, count + len(free))]
    return gathered if moved == sorted(moved) else scope.op("Transpose", gathered, perm=moved)


@translates(Subtensor)
def read(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [_read(scope, inputs[0], node.op.key, _given(node, inputs, 1))]


@translates(AdvancedSubtensor)
def gather(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [
        _gathered(scope, inputs[0], node.inputs[0].type, node.op.key, list(_given(node, inputs, 1)))
    ]


@translates(IncSubtensor, AdvancedIncSubtensor)
def write(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    op, kind, dtype = node.op, node.inputs[0].type, node.inputs[0].type.dtype
    working = working_dtype(dtype)
    x = scope.cast(inputs[0], dtype, working)
    y = scope.cast(inputs[1], node.inputs[1].type.dtype, working)
    shape = scope.op("Shape", x)
    zero = scope.constant(0, "int64")
    every = scope.op("Reshape", scope.count(zero, scope.op("Size", x)), shape, allowzero=1)
    indices = list(_given(node, inputs, 2))
    if op.advanced:
        places = _gathered(scope, every, kind, op.key, indices)
    else:
        places = _read(scope, every, op.key, iter(indices))
    values = scope.op("Expand", y, scope.op("Shape", places))
    flat = scope.integers([-1])
    at = scope.op("Unsqueeze", scope.op("Reshape", places, flat), scope.integers([1]))
    adds = {} if op.set_instead_of_inc else {"reduction": "add"}
    scattered = scope.op(
        "ScatterND", scope.op("Reshape", x, flat), at, scope.op("Reshape", values, flat), **adds
    )
    return [scope.cast(scope.op("Reshape", scattered, shape, allowzero=1), working, dtype)]


@translates(Nonzero)
def nonzero(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    positions = scope.op("NonZero", scope.cast(inputs[0], node.inputs[0].type.dtype, "bool"))
    rows = [
        scope.op("Gather", positions, scope.constant(k, "int64"), axis=0)
        for k in range(len(node.outputs))
    ]
    return rows


@translates(ExtractDiag)
def diagonal(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    op, ndim = node.op, node.inputs[0].type.ndim
    others = [k for k in range(ndim) if k not in (op.axis1, op.axis2)]
    front = scope.op("Transpose", inputs[0], perm=[op.axis1, op.axis2, *others])
    rows, columns = scope.length(front, 0), scope.length(front, 1)
    down, right = max(0, -op.offset), max(0, op.offset)
    zero = scope.constant(0, "int64")
    count = scope.op(
        "Max",
        scope.op(
            "Min",
            scope.op("Sub", rows, scope.constant(down, "int64")),
            scope.op("Sub", columns, scope.constant(right, "int64")),
        ),
        zero,
    )
    steps = scope.count(zero, count)
    both = [
        scope.op(
            "Unsqueeze", scope.op("Add", steps, scope.constant(n, "int64")), scope.integers([1])
        )
        for n in (down, right)
    ]
    entries = scope.op("GatherND", front, scope.op("Concat", *both, axis=1))
    order = [*range(1, ndim - 1), 0]
    return [entries if ndim == 2 else scope.op("Transpose", entries, perm=order)]


@translates(AllocDiag)
def diagonal_matrix(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """The element of a row where the column is that of the diagonal, and 0 elsewhere."""
    op, ndim, dtype = node.op, node.inputs[0].type.ndim, node.inputs[0].type.dtype
    working = working_dtype(dtype)
    x = scope.cast(inputs[0], dtype, working)
    count, zero = scope.length(x, ndim - 1), scope.constant(0, "int64")
    size = scope.op("Add", count, scope.constant(abs(op.offset), "int64"))
    down, right = max(0, -op.offset), max(0, op.offset)
    # the vector as the rows of the matrix, with zeros before or after it
    padding = scope.integers([*[0] * (ndim - 1), down, *[0] * (ndim - 1), right])
    rows = scope.op("Unsqueeze", scope.op("Pad", x, padding), scope.integers([ndim]))
    steps = scope.count(zero, size)
    columns = scope.op("Sub", steps, scope.constant(op.offset, "int64"))
    on = scope.op("Equal", scope.op("Unsqueeze", steps, scope.integers([1])), columns)
    matrix = scope.op("Where", on, rows, scope.constant(0, working))
    return [scope.cast(matrix, working, dtype)]
