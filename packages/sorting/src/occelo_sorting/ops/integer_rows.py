"""Orders of rows of integers that lie near each other, for which NumPy has faster algorithms than for others.

A long vector is sorted by counting. Differences from the smallest element are numbers of 16 bits, which NumPy's stable sorts
order by their digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

SORTED_BY_DIGITS = 512
"""The least length of rows of 16 bits that are sorted by digits, in 0.7 of the time or less."""
ORDERED_BY_DIGITS = 64
"""Of stable orders."""
COUNTED = 4096
"""The least length of a vector that is sorted by counting."""


def sorted_rows(x: Array) -> Array:
    """``np.sort(x)``, along the last axis."""
    n = x.shape[-1]
    if n < SORTED_BY_DIGITS or x.dtype.kind not in "iu" or not x.size:
        return np.sort(x, axis=-1)
    if x.dtype.itemsize <= 2:
        return np.sort(x, axis=-1, kind="stable")
    low, span = _range(x)
    if x.ndim == 1 and n >= COUNTED and span <= 4 * n:
        counts = np.bincount((x - low).astype("int64"))
        return np.repeat(np.arange(span + 1).astype(x.dtype) + low, counts)
    if span >= 2**16:
        return np.sort(x, axis=-1)
    return np.sort((x - low).astype("uint16"), axis=-1, kind="stable").astype(x.dtype) + low


def order_of_rows(x: Array) -> Array:
    """``np.argsort(x, kind="stable")``, along the last axis."""
    if x.shape[-1] >= ORDERED_BY_DIGITS and x.size and x.dtype.kind in "iu":
        low, span = _range(x)
        if x.dtype.itemsize > 2 and span < 2**16:
            x = (x - low).astype("uint16")
    return np.argsort(x, axis=-1, kind="stable")


def _range(x: Array) -> tuple[np.integer, int]:
    """The smallest element, and how much larger the largest one is."""
    low = x.min()
    return low, int(x.max()) - int(low)
