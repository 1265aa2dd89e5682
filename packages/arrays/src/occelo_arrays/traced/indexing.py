"""Lowerings of scatters and sliding windows for JAX and PyTorch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_arrays.ops.parts.scatter import Scatter
from occelo_arrays.ops.parts.windows import SlidingWindow
from occelo_graph import TensorApply
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array, Entry
from occelo_link.traced.tracer import Tracer
from occelo_link.traced.translations.index import in_bounds


@traces(Scatter)
def lower_scatter(
    tracer: Tracer, node: TensorApply[Scatter], inputs: list[Array]
) -> Sequence[Array]:
    x, y, rows = map(tracer.array, inputs)
    rows = tracer.array(in_bounds(tracer, rows, int(x.shape[0])))
    key = [rows, *[slice(None)] * (len(x.shape) - 1)]
    part = (*map(int, rows.shape), *map(int, x.shape[1:]))
    if tuple(map(int, y.shape)) != part:
        raise ValueError(f"Cannot combine a part of shape {part} with values of shape {y.shape}")
    written = tracer.arrays.write(x, key, y, node.op.combine)
    return fall_back(tracer, node, inputs) if written is None else [written]


@traces(SlidingWindow)
def lower_sliding_window(
    tracer: Tracer, node: TensorApply[SlidingWindow], inputs: list[Array]
) -> Sequence[Array]:
    op = node.op
    arrays, (x,) = tracer.arrays, inputs
    lengths = tuple(int(n) for n in x.shape)
    places = op.places(lengths)
    axes = sorted(set(op.axes))
    rest = [i for i in range(len(lengths)) if i not in axes]
    grid = np.indices((*(places[a] for a in axes), *op.windows), dtype="int64", sparse=True)
    key: list[Entry] = []
    for place, axis in enumerate(axes):
        within = [grid[len(axes) + i] for i, a in enumerate(op.axes) if a == axis]
        key.append(arrays.constant(np.asarray(sum(within, grid[place]))))
    key += [slice(0, lengths[i], 1) for i in rest]
    gathered = arrays.gather(arrays.transpose(x, (*axes, *rest)), key) if axes else x
    # now the axes are: places of windows, elements of windows, all other axes
    after = len(axes) + len(op.windows)
    where = {axis: i for i, axis in enumerate(axes)} | {
        axis: after + i for i, axis in enumerate(rest)
    }
    order = [*(where[i] for i in range(len(lengths))), *range(len(axes), after)]
    return [arrays.transpose(gathered, order)]
