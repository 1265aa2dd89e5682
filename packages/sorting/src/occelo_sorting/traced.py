"""Lowerings of sorting for JAX and PyTorch.

`occelo_link.traced.linker` imports this module when sorting is first used, to register the lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_sorting.ops.orders import ArgSort, LexicographicOrder, Sort
from occelo_sorting.ops.searching import SearchSorted


@traces(Sort, ArgSort)
def lower_sort(
    tracer: Tracer, node: TensorApply[Sort | ArgSort], inputs: list[Array]
) -> Sequence[Array]:
    pair = tracer.arrays.sort(tracer.array(inputs[0]))
    if pair is None:
        results: Sequence[Array] = fall_back(tracer, node, inputs)
        return results
    return [pair[isinstance(node.op, ArgSort)]]


_MOST_COLUMNS = 64  # each is a sort of the program


@traces(LexicographicOrder)
def lower_lexicographic_order(
    tracer: Tracer, node: TensorApply[LexicographicOrder], inputs: list[Array]
) -> Sequence[Array]:
    """One stable sort for each column, the last one first."""
    x = tracer.array(inputs[0])
    width = int(x.shape[-1])
    order: Array = None
    if width <= _MOST_COLUMNS:
        for i in reversed(range(width)):
            column = x[..., i] if order is None else _in_order(tracer, x[..., i], order)
            pair = tracer.arrays.sort(column)
            if pair is None:
                order = None
                break
            order = pair[1] if order is None else _in_order(tracer, order, pair[1])
    if order is None:
        results: Sequence[Array] = fall_back(tracer, node, inputs)
        return results
    return [order]


def _in_order(tracer: Tracer, x: Array, order: Array) -> Array:
    """The elements of each row of ``x`` at the positions ``order``."""
    lead = [tracer.arrays.constant(at) for at in np.ix_(*map(np.arange, order.shape))[:-1]]
    return tracer.arrays.gather(x, [*lead, order])


@traces(SearchSorted)
def lower_searchsorted(
    tracer: Tracer, node: TensorApply[SearchSorted], inputs: list[Array]
) -> Sequence[Array]:
    a, v = (tracer.array(x) for x in inputs)
    if tuple(a.shape[:-1]) != tuple(v.shape[:-1]):
        positions = None  # NumPy raises the error
    else:
        positions = tracer.arrays.searchsorted(a, v, node.op.side == "right")
    if positions is None:
        results: Sequence[Array] = fall_back(tracer, node, inputs)
        return results
    return [positions]
