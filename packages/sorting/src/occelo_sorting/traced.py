"""Lowerings of sorting for JAX and PyTorch.

`occelo_link.traced.linker` imports this module when sorting is first used, to register the lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_sorting.ops.orders import ArgSort, Sort
from occelo_sorting.ops.searching import SearchSorted

__all__: list[str] = []


@traces(Sort, ArgSort)
def lower_sort(
    tracer: Tracer, node: TensorApply[Sort | ArgSort], inputs: list[Array]
) -> Sequence[Array]:
    found = tracer.arrays.sort(tracer.array(inputs[0]))
    if found is None:
        made: Sequence[Array] = fall_back(tracer, node, inputs)
        return made
    return [found[isinstance(node.op, ArgSort)]]


@traces(SearchSorted)
def lower_searchsorted(
    tracer: Tracer, node: TensorApply[SearchSorted], inputs: list[Array]
) -> Sequence[Array]:
    a, v = (tracer.array(x) for x in inputs)
    if tuple(a.shape[:-1]) != tuple(v.shape[:-1]):
        found = None  # NumPy raises the error
    else:
        found = tracer.arrays.searchsorted(a, v, node.op.side == "right")
    if found is None:
        made: Sequence[Array] = fall_back(tracer, node, inputs)
        return made
    return [found]
