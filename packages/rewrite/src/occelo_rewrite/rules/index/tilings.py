"""The rule for tensors that are written slice by slice: if the slices cover a whole axis, their values are joined.

`pipeline` puts the rule into the stage canonicalize. For example, the gradient of an expression of ``x[:, :a]`` and
``x[:, a:]`` is written slice by slice.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import is_full, static_bounds
from occelo_rewrite.rules.index.writes import is_zero
from occelo_rewrite.shapes import shapes_of

MOST_PARTS = 32
"""The most writes to join. The limit bounds the cost, since at each write the rule examines all writes before it."""


@frozen_dataclass
class _Tile:
    """A write to ``start:stop`` of one axis, and to all of the other axes."""

    axis: int
    start: int
    stop: int
    value: TensorVariable


@node_rewriter([IncSubtensor], tags=("rounding",))
def writes_of_all_slices(fgraph: FunctionGraph, node: TensorApply[IncSubtensor]) -> Replacements:
    """zeros[:, :a].inc(u)[:, a:].inc(v) = join(1, u, v), if the slices are static and cover the whole axis.

    (rounding: the sign of a zero.)
    """
    tiles: list[_Tile] = []
    adds, each = False, node
    while True:
        tile = _tile(fgraph, each)
        if tile is None or len(tiles) == MOST_PARTS or any(_meet(tile, t) for t in tiles):
            return None
        tiles.append(tile)
        adds = adds or not each.op.set_instead_of_inc
        x = each.inputs[0]
        before = computed_by(x, IncSubtensor)
        if before is None:
            break
        if len(fgraph.clients[x]) > 1:
            return None
        each = before
    tiles.sort(key=lambda t: t.start)
    whole = sum(t.stop - t.start for t in tiles) == x.type.shape[tile.axis]
    if not whole or len(tiles) == 1 or (adds and not is_zero(x)):
        return None
    joined = ot.join(tile.axis, *(ot.cast(t.value, x.type.dtype) for t in tiles))
    return [joined] if node.outputs[0].type.is_super(joined.type) else None


def _tile(fgraph: FunctionGraph, node: TensorApply[IncSubtensor]) -> _Tile | None:
    """The write of a node, if its slice is static and its value provably has the shape of the slice; else None."""
    key, (x, value, *indices) = node.op.key, node.inputs
    axes = [i for i, entry in enumerate(key) if not is_full(entry)]
    if len(axes) != 1 or not is_slice(key[axes[0]]):
        return None
    (axis,) = axes
    length = x.type.shape[axis]
    bounds = None if length is None else static_bounds(key[axis], length)
    if bounds is None or bounds[1] is None or bounds[2] != 1 or bounds[0] >= bounds[1]:
        return None
    if not shapes_of(fgraph).same_shape(fgraph, Subtensor(key)(x, *indices), value):
        return None
    return _Tile(axis, bounds[0], bounds[1], value)


def _meet(a: _Tile, b: _Tile) -> bool:
    """Whether two writes overlap. Writes to slices of different axes always overlap."""
    return a.axis != b.axis or (a.start < b.stop and b.start < a.stop)


CANONICALIZE = RuleSet((writes_of_all_slices,), "tilings canonicalize")
