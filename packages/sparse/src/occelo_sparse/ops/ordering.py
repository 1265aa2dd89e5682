"""The order of the stored values of a matrix: where each belongs, and which are of one place.

Rules drop these ops for matrices that are known to be in order (`occelo_sparse.rules`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange
from occelo_graph.ops.elemwise.arithmetic import maximum
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType
from occelo_sorting.ops.orders import argsort
from occelo_sorting.ops.searching import searchsorted
from occelo_sorting.ops.sets import unique
from occelo_sparse.ops.structure import check_structure, lines_of


def _keys(indices: Any, offsets: Any, minor: Any) -> Any:
    return lines_of(indices, offsets) * minor + indices


def _evaluated_keys(indices: Any, offsets: Any, minor: Any) -> Any:
    return check_structure(indices, offsets) * int(minor) + indices


class _OfStructure(Op):
    """Base class of ops on a structure and the length of its lines. Integers have no derivatives."""

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] * len(node.outputs)] * len(node.inputs)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None] * len(inputs)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """A batch of structures has as many stored values in each."""
        return super().batch(node, inputs, batch_ndims)


@op
class OrderOfPlaces(_OfStructure):
    """The positions that bring stored values in order, an int64 vector, from indices, offsets and the length of a line.

    Values of one place stay in their order.
    """

    def infer(self, indices: TensorType, offsets: TensorType, minor: TensorType) -> TensorType:
        return TensorType("int64", indices.shape)

    def evaluate(self, indices: Any, offsets: Any, minor: Any) -> Any:
        return np.argsort(_evaluated_keys(indices, offsets, minor), kind="stable")

    def decompose(self, indices: Any, offsets: Any, minor: Any) -> Sequence[Any]:
        return [argsort(_keys(indices, offsets, minor), kind="stable")]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]


@op
class DistinctPlaces(_OfStructure):
    """The indices and offsets of a matrix with one value for each place, in order; and for each stored value the position there."""

    def infer(
        self, indices: TensorType, offsets: TensorType, minor: TensorType
    ) -> tuple[TensorType, ...]:
        places = TensorType("int32", (None,)), TensorType("int32", offsets.shape)
        return *places, TensorType("int64", indices.shape)

    def evaluate(self, indices: Any, offsets: Any, minor: Any) -> Any:
        every = _evaluated_keys(indices, offsets, minor)
        keys, positions = np.unique(every, return_inverse=True)
        lines = keys // max(int(minor), 1)
        starts = np.searchsorted(lines, np.arange(len(offsets)))
        return (keys - lines * minor).astype("int32"), starts.astype("int32"), positions

    def decompose(self, indices: Any, offsets: Any, minor: Any) -> Sequence[Any]:
        keys, positions = unique(_keys(indices, offsets, minor), return_inverse=True)
        lines = keys // maximum(minor, 1)
        starts = searchsorted(lines, arange(offsets.shape[0], dtype=lines.dtype))
        distinct, starts = cast(keys - lines * minor, "int32"), cast(starts, "int32")
        (more,) = offsets.type.shape
        return [distinct, starts if more is None else starts.specify_shape((more,)), positions]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        indices, offsets, _ = input_shapes
        return [(Shape_i(0)(node.outputs[0]),), offsets, indices]
