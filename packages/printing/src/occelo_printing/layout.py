"""Places the nodes of a directed acyclic graph in layers, so that all edges point downward.

The method is that of Sugiyama, Tagawa and Toda (1981): layers by longest paths, an order in each layer by the mean
positions of neighbours, then coordinates. `drawing` draws the result.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

_SWEEPS = 8
"""How often the order of each layer, and its coordinates, are improved by the layers beside it."""
_GAP = 14.0
"""The horizontal distance between two nodes."""


@dataclass
class _Place(Generic[K]):
    """A node in a layer, or a bend of an edge that crosses the layer (``key`` is None)."""

    key: K | None
    width: float
    layer: int
    above: list[_Place[K]]
    below: list[_Place[K]]
    position: float = 0.0
    x: float = 0.0


@dataclass(frozen=True)
class Layout(Generic[K]):
    """The center and the layer of each node, and for each edge the horizontal positions at which it crosses layers.

    Layers count from 0 at the top. The smallest coordinate of all nodes is 0, ``width`` the largest.
    """

    centers: dict[K, float]
    layers: dict[K, int]
    bends: dict[tuple[K, K], list[tuple[float, int]]]
    width: float


def layered(
    order: Sequence[K], edges: Iterable[tuple[K, K]], widths: Mapping[K, float]
) -> Layout[K]:
    """Lay out a graph. ``order`` are its nodes in topological order, ``edges`` lead from a node to a later one."""
    pairs = list(dict.fromkeys(edges))
    layers = _layers(order, pairs)
    places = {key: _Place(key, widths[key], layers[key], [], []) for key in order}
    rows: list[list[_Place[K]]] = [[] for _ in range(max(layers.values(), default=-1) + 1)]
    for key in order:
        rows[layers[key]].append(places[key])
    chains: dict[tuple[K, K], list[_Place[K]]] = {}
    for start, end in pairs:
        chain = [places[start]]
        for layer in range(layers[start] + 1, layers[end]):
            bend: _Place[K] = _Place(None, 4.0, layer, [], [])
            rows[layer].append(bend)
            chain.append(bend)
        chain.append(places[end])
        for upper, lower in pairwise(chain):
            upper.below.append(lower)
            lower.above.append(upper)
        chains[start, end] = chain[1:-1]
    _sort(rows)
    _spread(rows)
    left = min((p.x - p.width / 2 for row in rows for p in row), default=0.0)
    right = max((p.x + p.width / 2 for row in rows for p in row), default=0.0)
    return Layout(
        {key: places[key].x - left for key in order},
        layers,
        {pair: [(p.x - left, p.layer) for p in chain] for pair, chain in chains.items()},
        right - left,
    )


def _layers(order: Sequence[K], edges: Sequence[tuple[K, K]]) -> dict[K, int]:
    """Longest paths from the sources; a source is directly above the first node that reads it."""
    above: dict[K, list[K]] = {key: [] for key in order}
    below: dict[K, list[K]] = {key: [] for key in order}
    for start, end in edges:
        above[end].append(start)
        below[start].append(end)
    layers: dict[K, int] = {}
    for key in order:
        layers[key] = max((layers[k] + 1 for k in above[key]), default=0)
    for key in order:
        if not above[key] and below[key]:
            layers[key] = min(layers[k] for k in below[key]) - 1
    return layers


def _sort(rows: Sequence[list[_Place[K]]]) -> None:
    """Order each layer by the mean positions of neighbours, from above and from below in turns."""
    for row in rows:
        _number(row)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            row.sort(
                key=lambda p: _mean(
                    [q.position for q in (p.above if down else p.below)], p.position
                )
            )
            _number(row)


def _number(row: Sequence[_Place[K]]) -> None:
    for i, place in enumerate(row):
        place.position = i - len(row) / 2


def _mean(numbers: Sequence[float], default: float) -> float:
    return sum(numbers) / len(numbers) if numbers else default


def _spread(rows: Sequence[list[_Place[K]]]) -> None:
    """Give each node the mean coordinate of its neighbours, as nearly as the order and the widths allow."""
    for row in rows:
        _put(row, [0.0] * len(row))
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            near = [(p.above if down else p.below) or p.above or p.below for p in row]
            _put(row, [_mean([q.x for q in n], p.x) for p, n in zip(row, near, strict=True)])


def _put(row: Sequence[_Place[K]], wanted: Sequence[float]) -> None:
    """Set coordinates with the least squared distances to ``wanted``, by the pool-adjacent-violators algorithm."""
    offsets: list[float] = []
    at = 0.0
    for i, place in enumerate(row):
        at += (row[i - 1].width + place.width) / 2 + _GAP if i else 0.0
        offsets.append(at)
    # blocks of (sum, count) of wanted coordinates less the offsets, which must not decrease
    blocks: list[tuple[float, int]] = []
    for target, offset in zip(wanted, offsets, strict=True):
        total, count = target - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            more, others = blocks.pop()
            total, count = total + more, count + others
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for place, start, offset in zip(row, starts, offsets, strict=True):
        place.x = start + offset
