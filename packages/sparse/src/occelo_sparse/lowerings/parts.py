"""Lowerings of the ops between a sparse matrix and its parts: a matrix is the group of its parts."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import Apply
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_parts_to_loops
from occelo_link.loops.tensors import Tensor, TensorGroup
from occelo_sparse.ops.assembling import CSM, CSMProperties


@lowers_parts_to_loops(CSMProperties)
def lower_parts(
    context: Context, node: Apply[CSMProperties], inputs: list[Tensor]
) -> Sequence[Tensor]:
    (matrix,) = inputs
    assert isinstance(matrix, TensorGroup)
    return matrix.parts


@lowers_parts_to_loops(CSM)
def lower_matrix(context: Context, node: Apply[CSM], inputs: list[Tensor]) -> Sequence[Tensor]:
    return [TensorGroup(inputs)]
