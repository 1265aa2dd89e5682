"""Exact reduction of huge angles: the remainder of an angle after division by pi/2, in integer arithmetic.

`trigonometric` calls `reduce_huge` in a cold branch.

The method is that of Payne and Hanek, 1983. The angle is ``x = m * 2**e`` with an integer m, and is multiplied by 2/pi.
The leading bits of 2/pi are skipped if their products with ``x`` are multiples of 4, that is, whole revolutions. The
next seven words (of 32 bits) of 2/pi are multiplied by ``m``. Two bits of the product are the quadrant, and the next
126 bits are the fraction of a quadrant. No float64 is very near to a multiple of pi/2: at most about 62 leading bits of
the fraction are 0. So enough bits are left.
"""

from __future__ import annotations

import numpy as np

from occelo_link.loops.elementary.building_blocks import (
    constant,
    fast_two_sum,
    two_product,
    two_sum,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

_WORDS = 7
# the first 1216 bits of 2/pi
TWO_OVER_PI = np.array(
    [
        0xA2F9836E,
        0x4E441529,
        0xFC2757D1,
        0xF534DDC0,
        0xDB629599,
        0x3C439041,
        0xFE5163AB,
        0xDEBBC561,
        0xB7246E3A,
        0x424DD2E0,
        0x06492EEA,
        0x09D1921C,
        0xFE1DEB1C,
        0xB129A73E,
        0xE88235F5,
        0x2EBB4484,
        0xE99C7026,
        0xB45F7E41,
        0x3991D639,
        0x835339F4,
        0x9C845F8B,
        0xBDF9283B,
        0x1FF897FF,
        0xDE05980F,
        0xEF2F118B,
        0x5A0A6D1F,
        0x6D367ECF,
        0x27CB09B7,
        0x4F463F66,
        0x9E5FEA2D,
        0x7527BAC7,
        0xEBE5F17B,
        0x3D0739F7,
        0x8A5292EA,
        0x6BFB5FB1,
        0x1F8D5D08,
        0x56033046,
        0xFC7B6BAB,
    ],
    dtype=np.uint64,
)
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17)
_LOW = 0xFFFFFFFF


def _u(b: Builder, number: int) -> Value:
    return b.const(number, "uint64")


def _low(b: Builder, x: Value) -> Value:
    return b.op("and", x, _u(b, _LOW))


def _high(b: Builder, x: Value) -> Value:
    return b.op("shr", x, _u(b, 32))


def _product(b: Builder, mantissa: Value, words: list[Value]) -> list[Value]:
    """The product of an integer and a long integer, as words of 32 bits. The least significant word comes first."""
    low, high = _low(b, mantissa), _high(b, mantissa)
    result: list[Value] = []
    carry = _u(b, 0)
    previous = _u(b, 0)  # ``high`` times the previous word
    for word in words:
        first = b.op("mul", low, word)
        total = b.op("add", b.op("add", _low(b, first), _low(b, previous)), carry)
        result.append(_low(b, total))
        carry = b.op("add", _high(b, total), b.op("add", _high(b, first), _high(b, previous)))
        previous = b.op("mul", high, word)
    total = b.op("add", previous, carry)
    return [*result, _low(b, total), _high(b, total)]


def reduce_huge(b: Builder, x: Value) -> tuple[Value, Value, Value]:
    """Return ``(r, low, k)``: up to whole revolutions ``x = k * pi/2 + r + low``. ``x`` must be finite and above 2**29."""
    bits = b.op("bits", x, dtype="uint64")
    fraction = b.op("and", bits, _u(b, 2**52 - 1))
    mantissa = b.op("or", fraction, _u(b, 2**52))
    exponent = b.cast(b.op("shr", bits, _u(b, 52)), "int64")
    # infinities and NaN must not read beyond the table; their results are discarded
    exponent = b.op("sub", b.op("min", exponent, b.i64(2046)), b.i64(1075))
    first = b.op("shr", b.op("max", b.op("sub", exponent, b.i64(2)), b.i64(0)), b.i64(5))
    table = b.constant_table("two over pi", TWO_OVER_PI)
    words = [b.load(table, b.op("add", first, b.i64(k))) for k in range(_WORDS)]
    product = _product(b, mantissa, words[::-1])
    # the number of fraction bits in the product, minus the 126 bits that are kept
    behind = b.op("shl", b.op("add", first, b.i64(_WORDS)), b.i64(5))
    start = b.op("sub", b.op("sub", behind, exponent), b.i64(126))
    shift = b.cast(b.op("and", start, b.i64(31)), "uint64")
    whole = b.op("shr", start, b.i64(5))
    windows = [_window(b, product, whole, shift, k) for k in range(4)]
    top = b.op("or", b.op("shl", windows[3], _u(b, 32)), windows[2])
    bottom = b.op("or", b.op("shl", windows[1], _u(b, 32)), windows[0])
    two = _u(b, 2)
    upper = b.op("or", b.op("shl", top, two), b.op("shr", bottom, _u(b, 62)))
    lower = b.op("shl", bottom, two)
    # a fraction of a half or more is negative and counts from the next quadrant
    quadrant = b.op("add", b.op("shr", top, _u(b, 62)), b.op("shr", upper, _u(b, 63)))
    r, low = _to_angle(b, b.op("bits", upper, dtype="int64"), lower)
    return r, low, b.op("bits", quadrant, dtype="int64")


def _window(b: Builder, words: list[Value], whole: Value, shift: Value, k: int) -> Value:
    """Return 32 bits of the product. ``words`` are its words of 32 bits, the least significant first.

    The lowest of the 32 bits is bit ``shift`` of the word at index ``whole + k``, where ``whole`` is 2 or 3.
    """
    late = b.op("lt", b.i64(2), whole)
    first = b.select(late, words[3 + k], words[2 + k])
    second = b.select(late, words[4 + k], words[3 + k])
    both = b.op("or", b.op("shl", second, _u(b, 32)), first)
    return _low(b, b.op("shr", both, shift))


def _to_angle(b: Builder, upper: Value, lower: Value) -> tuple[Value, Value]:
    """The product of pi/2 and a fraction, as a pair of floats.

    ``upper`` and ``lower`` are the first and the next 64 bits of the fraction. Its 126 bits are followed by two zeros.
    ``upper`` is signed, so a fraction of a half or more is negative.
    """
    parts = [
        (b.op("shr", upper, b.i64(32)), -32),
        (b.op("and", upper, b.i64(_LOW)), -64),
        (b.op("bits", _high(b, lower), dtype="int64"), -96),
        (b.op("bits", _low(b, lower), dtype="int64"), -128),
    ]
    floats = [b.op("mul", b.cast(v, "float64"), constant(b, 2.0**e)) for v, e in parts]
    high, rest = two_sum(b, floats[0], floats[1])
    third, fourth = two_sum(b, floats[2], floats[3])
    middle, lost = two_sum(b, rest, third)
    high, low = two_sum(b, high, middle)
    low = b.op("add", low, b.op("add", lost, fourth))
    r, error = two_product(b, high, constant(b, _HALF_PI[0]))
    error = b.op("fma", high, constant(b, _HALF_PI[1]), error)
    error = b.op("fma", low, constant(b, _HALF_PI[0]), error)
    return fast_two_sum(b, r, error)
