"""`Lines`: the row of each stored value of a CSR matrix, or the column of each of a CSC matrix; and functions of structures.

A structure is where values are stored: the indices, and the offsets of the lines. A line is a row of a CSR matrix, or a
column of a CSC matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.create import arange
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType
from occelo_sorting.ops.searching import searchsorted


def check_structure(indices: Any, offsets: Any, minor: int | None = None) -> Any:
    """The line of each stored value. ValueError if offsets do not increase from 0 to the number of values.

    IndexError if an index is not from 0 to before ``minor``.
    """
    counts = np.diff(offsets)
    if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(indices) or np.any(counts < 0):
        raise ValueError(
            f"The offsets of a sparse matrix must increase from 0 to {len(indices)}, its number of values"
        )
    if minor is not None and len(indices) and not 0 <= indices.min() <= indices.max() < minor:
        raise IndexError(f"An index of a sparse matrix is outside of 0 to {minor - 1}")
    return np.repeat(np.arange(len(counts)), counts)


@op
class Lines(Op):
    """The line of each stored value, an int64 vector, from the indices and the offsets."""

    def infer(self, indices: TensorType, offsets: TensorType) -> TensorType:
        return TensorType("int64", indices.shape)

    def evaluate(self, indices: Any, offsets: Any) -> Any:
        return check_structure(indices, offsets)

    def decompose(self, indices: Any, offsets: Any) -> Sequence[Any]:
        return [searchsorted(offsets[1:], arange(indices.shape[0], dtype="int32"), side="right")]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None, None]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """A batch of structures has as many stored values in each."""
        return super().batch(node, inputs, batch_ndims)


def lines_of(indices: Any, offsets: Any) -> Any:
    """The line of each stored value, an int64 vector."""
    return Lines()(indices, offsets)
