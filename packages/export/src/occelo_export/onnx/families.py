"""Ops of families in ONNX: sorting, searching, determinants, scattering and convolutions. The families are named as text, so that they are not imported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_export.onnx.registry import translates
from occelo_export.onnx.writer import Scope, working_dtype

_ORDERS = "occelo_sorting.ops.orders"


def _sorted_rows(scope: Scope, node: Any, x: str) -> tuple[list[str], str]:
    """Sorted last axes, and their positions: TopK of all elements, of which equal ones keep their order.

    Numbers that are not numbers come last, so they are sorted as infinity.
    """
    kind = node.inputs[0].type
    working = working_dtype(kind.dtype)
    x = scope.cast(x, kind.dtype, working)
    count = scope.op("Shape", x, start=kind.ndim - 1, end=kind.ndim)
    return scope.ops("TopK", [x, count], 2, axis=-1, largest=0, sorted=1), working


@translates(f"{_ORDERS}.Sort")
def sort(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    (values, _), working = _sorted_rows(scope, node, inputs[0])
    return [scope.cast(values, working, node.outputs[0].type.dtype)]


@translates(f"{_ORDERS}.ArgSort")
def argsort(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    return [_sorted_rows(scope, node, inputs[0])[0][1]]


@translates("occelo_sorting.ops.searching.SearchSorted")
def searchsorted(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """The numbers of elements that come before; a number that is none comes after all others."""
    kinds = [v.type for v in node.inputs[:2]]
    working = working_dtype(kinds[0].dtype)
    row, queries = (
        scope.cast(x, kind.dtype, working) for x, kind in zip(inputs[:2], kinds, strict=True)
    )
    row = scope.op("Unsqueeze", row, scope.integers([-2]))
    queries = scope.op("Unsqueeze", queries, scope.integers([-1]))
    right = node.op.side == "right"
    before = scope.op("LessOrEqual" if right else "Less", row, queries)
    if working.startswith("float"):
        none = scope.op("IsNaN", queries)
        last = none if right else scope.op("And", none, scope.op("Not", scope.op("IsNaN", row)))
        before = scope.op("Or", before, last)
    counted = scope.cast(before, "bool", "int64")
    return [scope.op("ReduceSum", counted, scope.integers([-1]), keepdims=0)]


@translates("occelo_linalg.ops.determinant.Det")
def determinant(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """onnxruntime has `Det` of float32 alone."""
    dtype = node.outputs[0].type.dtype
    return [scope.op("Det", scope.cast(inputs[0], node.inputs[0].type.dtype, dtype))]


@translates("occelo_signal.ops.channels.ChannelCorrelate")
def convolution(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str] | None:
    """Of float64, windows and a product are written instead: onnxruntime has no Conv for it."""
    op, dtype = node.op, node.outputs[0].type.dtype
    if dtype != "float32":
        return None
    typed = [scope.cast(x, v.type.dtype, dtype) for x, v in zip(inputs, node.inputs, strict=True)]
    sizes = {} if not op.strides else {"strides": list(op.strides), "dilations": list(op.dilations)}
    return [scope.op("Conv", *typed, group=op.groups, **sizes)]


@translates("occelo_arrays.ops.parts.scatter.Scatter")
def scatter(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    dtype = node.outputs[0].type.dtype
    working = working_dtype(dtype)
    x, y = (
        scope.cast(name, v.type.dtype, working)
        for name, v in zip(inputs[:2], node.inputs[:2], strict=True)
    )
    rows = scope.cast(inputs[2], node.inputs[2].type.dtype, "int64")
    at = scope.op("Unsqueeze", rows, scope.integers([-1]))
    # rows of one shape: `y` may be broadcast
    shape = scope.op("Shape", scope.op("GatherND", x, at))
    how = {"prod": "mul"}.get(node.op.combine, node.op.combine)
    scattered = scope.op("ScatterND", x, at, scope.op("Expand", y, shape), reduction=how)
    return [scope.cast(scattered, working, dtype)]
