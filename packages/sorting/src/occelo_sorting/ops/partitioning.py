"""Elements at a few positions of sorted rows, by NumPy's partition: what the ops of `order_statistics` compute.

Partition puts some elements where sorting would put them. In a long row, a sample tells between which values neighbours in
the sorted row lie, so that few elements are left to sort: see Floyd and Rivest, "Expected time bounds for selection",
Communications of the ACM 18 (1975). The first or last elements of shorter rows are found in groups: those with the largest
maxima have the largest elements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

FEW = 8
"""The most positions at which partition is faster than sort if they are far from each other."""
LONG = 2**15
"""Of rows of this length on, the time of the calls for each row is small."""
GROUPED = 400
"""The least length of rows of which the largest elements are found in groups, in half the time of partition or less."""


def sorted_at(x: Array, positions: Array) -> Array:
    """``np.sort(x)[..., positions]``. There is at least one position, and all are in the range."""
    low, high = int(positions.min()), int(positions.max())
    n = x.shape[-1]
    if x.dtype.kind in "bc":
        return np.sort(x, axis=-1)[..., positions]
    if _is_narrow(n, low, high):
        rows = [_sorted_at(row, low, high) for row in x.reshape(-1, n)]
        return np.reshape(rows, (*x.shape[:-1], -1))[..., positions - low]
    if n >= GROUPED and 32 * (high - low + 1) <= n and (high == n - 1 or not low):
        return _ends(x, high - low + 1, low > 0)[..., positions - low]
    if 2 * (high - low) <= n and (high - low <= 4 * FEW or positions.size > FEW):
        return _partitioned(x, low, high)[..., positions - low]
    if positions.size <= FEW:
        return np.partition(x, np.unique(positions), axis=-1)[..., positions]
    return np.sort(x, axis=-1)[..., positions]


def order_at(x: Array, positions: Array) -> Array:
    """The same for the positions that sort the rows, of a stable sort: ``np.argsort(x, kind="stable")[..., positions]``."""
    low, high = int(positions.min()), int(positions.max())
    n = x.shape[-1]
    if x.dtype.kind in "bc" or 2 * (high - low) > n:
        return np.argsort(x, axis=-1, kind="stable")[..., positions]
    if _is_narrow(n, low, high):
        rows = [_order_at(row, low, high) for row in x.reshape(-1, n)]
        return np.reshape(rows, (*x.shape[:-1], -1))[..., positions - low]
    if x.dtype.kind == "f" and np.isnan(x).any():
        return np.argsort(x, axis=-1, kind="stable")[..., positions]
    return _order_between(x, low, high)[..., positions - low]


def _ends(x: Array, width: int, largest: bool) -> Array:
    """The ``width`` largest or smallest elements of each row, in order.

    Groups consist of elements far from each other. An element that is in none of the ``width`` groups with the largest
    maxima has as many elements above it, or equal to it.
    """
    n = x.shape[-1]
    size = math.isqrt(n // width) + 2  # in a few groups, the time of both steps is alike
    count = n // size
    # NaN is above all numbers
    chosen = np.maximum if largest else np.fmin
    outermost = np.array(x[..., :count])
    for at in range(count, size * count, count):
        chosen(outermost, x[..., at : at + count], out=outermost)
    first = count - width if largest else 0
    groups = np.argpartition(outermost, first if largest else width - 1, axis=-1)
    groups = groups[..., None, first : first + width]
    members = (groups + count * np.arange(size)[:, None]).reshape(*x.shape[:-1], size * width)
    rest = x[..., size * count :]
    candidates = np.concatenate([np.take_along_axis(x, members, axis=-1), rest], axis=-1)
    candidates.sort(axis=-1)
    return candidates[..., -width:] if largest else candidates[..., :width]


def _partitioned(x: Array, low: int, high: int) -> Array:
    """The elements from number ``low`` to ``high`` of each sorted row."""
    ends = [at for at in (low, high) if 0 < at < x.shape[-1] - 1]
    return np.sort(np.partition(x, ends or [low], axis=-1)[..., low : high + 1], axis=-1)


def _is_narrow(n: int, low: int, high: int) -> bool:
    return n >= LONG and 64 * (high - low) <= n


def _sorted_at(row: Array, low: int, high: int) -> Array:
    candidates = _candidates(row, low, high)
    if candidates is None:
        return _partitioned(row, low, high)
    at, before = candidates
    return _partitioned(row[at], low - before, high - before)


def _order_at(row: Array, low: int, high: int) -> Array:
    candidates = _candidates(row, low, high)
    if candidates is None:
        return np.argsort(row, kind="stable")[low : high + 1]
    at, before = candidates
    return at[np.argsort(row[at], kind="stable")[low - before : high - before + 1]]


def _candidates(row: Array, low: int, high: int) -> tuple[Array, int] | None:
    """Ascending positions of the elements among which those from ``low`` to ``high`` of the sorted row are.

    Also the number of elements that come before all of them. Elements that equal a candidate are candidates. None if the
    sample has misled.
    """
    n = len(row)
    sample = row[:: max(round(n ** (1 / 3)), 1)]
    size = len(sample)

    def number(at: int, sign: int) -> int:
        share = at / n
        return round(size * share + sign * (4 + 4 * math.sqrt(size * share * (1 - share))))

    first, last = number(low, -1), number(high, 1)
    ends = np.partition(sample, [at for at in (first, last) if 0 <= at < size] or [0])
    is_inside = np.ones(n, "bool")
    before = 0
    if first >= 0:
        is_less = row < ends[first]
        before = int(np.count_nonzero(is_less))
        is_inside = ~is_less
    if last < size:
        is_inside &= row <= ends[last]  # without NaN, which comes last
    at = np.flatnonzero(is_inside)
    return (at, before) if before <= low and high < before + len(at) else None


def _order_between(x: Array, low: int, high: int) -> Array:
    """The positions of the elements from number ``low`` to ``high`` of each row's stable order. There is no NaN."""
    at = _positions_between(x, low, high)
    order = np.argsort(np.take_along_axis(x, at, -1), axis=-1, kind="stable")
    return np.take_along_axis(at, order, -1)


def _positions_between(x: Array, low: int, high: int) -> Array:
    """For each row, the positions of the elements from number ``low`` to ``high`` of its stable order, ascending.

    They are those between the two elements. Of the elements that equal the first one, some are before number ``low``,
    and of those that equal the last one, some are after number ``high``.
    """
    ends = np.partition(x, [low, high], axis=-1)
    first, last = ends[..., low : low + 1], ends[..., high : high + 1]
    before = np.count_nonzero(x < first, axis=-1, keepdims=True)
    not_after = np.count_nonzero(x < last, axis=-1, keepdims=True)
    chosen = (x > first) & (x < last)
    at_first, at_last = x == first, x == last
    chosen |= at_first & (at_first.cumsum(axis=-1) > low - before) & (first < last)
    number = at_last.cumsum(axis=-1) + not_after
    chosen |= at_last & (number > low) & (number <= high + 1)
    width = high - low + 1
    return chosen.nonzero()[-1].reshape(*x.shape[:-1], width).astype("int64")
