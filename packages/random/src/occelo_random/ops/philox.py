"""`philox`, an elementwise function that computes random bits by the counter-based generator Philox2x32-10.

`keys` and `rejection` call it. The source is Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
3" (SC 2011). This generator was chosen because it needs only products of 32-bit numbers, which elementwise functions
can compute. So every backend can fuse it with the code that reads the bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import add, and_, int_div, mul, xor
from occelo_graph.ops.elemwise.op import Elemwise, elementwise

LOW = np.uint64(0xFFFFFFFF)
"""The mask of the low 32 bits."""
_SHIFT = np.uint64(1 << 32)
_MULTIPLIER = np.uint64(0xD256D193)
_WEYL = np.uint64(0x9E3779B9)
_ROUNDS = 10


def _blocks(key: Any, index: Any) -> Any:
    """The formula of `philox`: 64 random bits for each key and index, both uint64.

    A word is 32 bits. The generator has a key of one word and a counter of two words. Its key is the low word of
    ``key``. The first word of the counter is the low word of ``index``. The second word is the high word of ``key``
    plus the high word of ``index``. The high word of ``index`` is 0 in draws of up to 2**32 elements.
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
