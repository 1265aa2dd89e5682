"""A matrix is the sequence of its parts."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import Apply
from occelo_link.traced.registry import traces_parts
from occelo_link.traced.traced_values import TracedValue
from occelo_link.traced.tracer import Tracer
from occelo_sparse.ops.assembling import CSM, CSMProperties


@traces_parts(CSMProperties)
def trace_parts(
    tracer: Tracer, node: Apply[CSMProperties], inputs: list[TracedValue]
) -> Sequence[TracedValue]:
    (matrix,) = inputs
    return list(matrix)


@traces_parts(CSM)
def trace_matrix(
    tracer: Tracer, node: Apply[CSM], inputs: list[TracedValue]
) -> Sequence[TracedValue]:
    return [tuple(inputs)]
