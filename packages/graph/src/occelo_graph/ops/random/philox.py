"""`philox`, the counter-based generator Philox2x32-10, as a function of the elements of two tensors.

`keys` makes keys and bits with it. The source is Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1,
2, 3" (SC 2011). It was chosen among the generators of that paper because it needs only products of numbers of 32 bits,
which elementwise functions can compute. So every backend computes it in one vectorized loop with the code that reads
its results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import add, and_, int_div, mul, xor
from occelo_graph.ops.elemwise.op import Elemwise, elementwise

__all__ = ["philox"]

LOW = np.uint64(0xFFFFFFFF)
"""The mask of the low 32 bits."""
_SHIFT = np.uint64(1 << 32)
_MULTIPLIER = np.uint64(0xD256D193)
_WEYL = np.uint64(0x9E3779B9)
_ROUNDS = 10


def _blocks(key: Any, index: Any) -> Any:
    """The block of 64 random bits for each key and index.

    The key of the cipher is the low word of ``key``. The first word of its counter is the low word of ``index``. The
    second word is the high word of ``key`` plus the high word of ``index``, which is 0 in draws of up to 2**32
    elements.
    """
    round_key = and_(key, LOW)
    first, second = and_(index, LOW), add(int_div(key, _SHIFT), int_div(index, _SHIFT))
    for i in range(_ROUNDS):
        product = mul(and_(first, LOW), _MULTIPLIER)
        first, second = xor(xor(int_div(product, _SHIFT), round_key), second), and_(product, LOW)
        if i + 1 < _ROUNDS:
            round_key = and_(add(round_key, _WEYL), LOW)
    return add(mul(and_(first, LOW), _SHIFT), second)


def _dtype(dtypes: Any) -> str:
    if any(each != "uint64" for each in dtypes):
        raise TypeError(f"Keys and indices of random bits are uint64, got {', '.join(dtypes)}")
    return "uint64"


philox: Elemwise = elementwise(
    "philox",
    2,
    _dtype,
    None,
    [None, None],
    "The 64 random bits of each key and index (uint64), by Philox2x32-10.",
    formula=_blocks,
)
