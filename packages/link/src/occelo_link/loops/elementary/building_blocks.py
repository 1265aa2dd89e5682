"""Building blocks of the elementary functions: polynomials, powers of two, arithmetic on pairs.

The other modules of this folder use these functions, and so do `loops.lowerings.elemwise.complex_functions` and
`occelo_random.lowerings.quantiles`. Each function adds operations to a loop program. Its arguments and results are values of this
program, of float64 or float32.

A pair ``(high, low)`` represents the sum of two floats, which has about twice as many digits as a float; see Dekker, "A
floating-point technique for extending the available precision", 1971.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

Pair = tuple[Value, Value]


@frozen_dataclass
class Layout:
    """How floats of a dtype lie in memory: ``digits`` bits of the mantissa, below an exponent to which ``bias`` is added.

    ``root_half`` are the bits of sqrt(1/2), ``one`` those of 1, and ``bits`` is the dtype of integers of the same size.
    """

    digits: int
    bias: int
    root_half: int
    bits: str

    @property
    def one(self) -> int:
        return self.bias << self.digits


LAYOUTS = {
    "float64": Layout(52, 1023, 0x3FE6A09E667F3BCD, "int64"),
    "float32": Layout(23, 127, 0x3F3504F3, "int32"),
}


def constant(b: Builder, number: float, dtype: str = "float64") -> Value:
    """A constant of a dtype."""
    return b.const(number, dtype)


def is_below(b: Builder, x: Value, limit: float) -> Value:
    """Whether ``|x| < limit``."""
    return b.op("lt", b.op("abs", x), constant(b, limit, x.dtype))


def horner(b: Builder, coefficients: Sequence[float], x: Value) -> Value:
    """A polynomial in ``x`` by Horner's scheme. The coefficient of the highest power comes first."""
    total = constant(b, coefficients[0], x.dtype)
    for c in coefficients[1:]:
        total = b.op("fma", total, x, constant(b, c, x.dtype))
    return total


def two_chains(b: Builder, coefficients: Sequence[float], x: Value) -> Value:
    """A polynomial in ``x`` by two chains of operations, for even and odd powers, of which processors compute two at a time."""
    square = b.op("mul", x, x)
    even, odd = (horner(b, coefficients[start::-2][::-1], square) for start in (-1, -2))
    return b.op("fma", odd, x, even)


def power_of_two(b: Builder, k: Value) -> Value:
    """``2 ** k`` for whole ``k`` from -1022 to 1023, or from -126 to 127 in float32."""
    layout = LAYOUTS[k.dtype]
    # the sum of k and this number has k in its low bits
    magic = constant(b, 1.5 * 2.0**layout.digits, k.dtype)
    bits = b.op("bits", b.op("add", k, magic), dtype=layout.bits)
    shifted = b.op("shl", bits, b.const(layout.digits, layout.bits))
    return b.op("bits", b.op("add", shifted, b.const(layout.one, layout.bits)), dtype=k.dtype)


def scale(b: Builder, p: Value, k: Value, kind: str = "any") -> Value:
    """``p * 2**k`` for whole k, rounded once. If k is below -1000, or -120 in float32, p must be between 1/2 and 2.

    ``kind`` is "normal" if ``2**k`` is normal (`power_of_two`).
    """
    name = f"scale_by_{kind}_{p.dtype}"
    return b.apply(name, _scaled if kind == "any" else _scaled_once, p, k)


def _scaled_once(b: Builder, p: Value, k: Value) -> Value:
    return b.op("mul", p, power_of_two(b, k))


def _scaled(b: Builder, p: Value, k: Value) -> Value:
    """`scale` in two steps, since ``2**k`` alone may overflow or underflow."""
    half = b.op("rint", b.op("mul", k, constant(b, 0.5, k.dtype)))
    return _scaled_once(b, _scaled_once(b, p, half), b.op("sub", k, half))


def mantissa_and_exponent(b: Builder, x: Value, kind: str) -> Pair:
    """``(m, k)`` with ``x = m * 2**k`` and ``m`` from sqrt(1/2) to sqrt(2).

    ``kind`` says what x may be: "normal" (positive and finite), "positive" (finite, perhaps subnormal), "special" (not
    subnormal), or "any". In the last two cases m is 1 if x is 0 or infinite, and NaN if x is negative or NaN; k is minus
    infinity if x is 0, and x if it is infinite or NaN.
    """

    special = kind in ("special", "any")

    def mantissa(b: Builder, x: Value) -> Value:
        m, _, _ = _parts(b, x, kind)
        not_negative = b.op("le", constant(b, 0.0, x.dtype), x)
        return b.select(not_negative, m, constant(b, math.nan, x.dtype)) if special else m

    def exponent(b: Builder, x: Value) -> Value:
        _, whole, offset = _parts(b, x, kind)
        k = b.op("sub", whole, offset)
        if not special:
            return k
        zero, infinity = constant(b, 0.0, x.dtype), constant(b, math.inf, x.dtype)
        k = b.select(b.op("lt", x, infinity), k, x)
        return b.select(b.op("eq", x, zero), constant(b, -math.inf, x.dtype), k)

    m = b.apply(f"mantissa_of_{kind}_{x.dtype}", mantissa, x)
    return m, b.apply(f"exponent_of_{kind}_{x.dtype}", exponent, x)


def _parts(b: Builder, x: Value, kind: str) -> tuple[Value, Value, Value]:
    """Return ``m`` of `mantissa_and_exponent`, and two numbers whose difference is ``k``."""
    layout, dtype = LAYOUTS[x.dtype], x.dtype
    integer, offset = layout.bits, constant(b, 2.0**layout.digits + layout.bias, dtype)
    if kind in ("positive", "any"):
        up = layout.digits + 2
        small = b.op("lt", x, constant(b, 2.0 ** (1 - layout.bias), dtype))
        x = b.select(small, b.op("mul", x, constant(b, 2.0**up, dtype)), x)
        offset = b.select(small, constant(b, 2.0**layout.digits + layout.bias + up, dtype), offset)

    def whole(number: int) -> Value:
        return b.const(number, integer)

    bits = b.op("bits", x, dtype=integer)
    # the exponent changes at sqrt(1/2), not at 1; a logical shift and a magic number replace instructions that AVX2
    # lacks
    moved = b.op(
        "bits", b.op("add", bits, whole(layout.one - layout.root_half)), dtype=f"u{integer}"
    )
    biased = b.op("shr", moved, b.const(layout.digits, f"u{integer}"))
    biased = b.op("bits", biased, dtype=integer)
    shifted = b.op("shl", b.op("sub", biased, whole(layout.bias)), whole(layout.digits))
    m = b.op("bits", b.op("sub", bits, shifted), dtype=dtype)
    magic = whole((layout.bias + layout.digits) << layout.digits)
    return m, b.op("bits", b.op("or", biased, magic), dtype=dtype), offset


def two_sum(b: Builder, x: Value, y: Value) -> Pair:
    """``x + y`` exactly, as a pair (Knuth)."""
    total = b.op("add", x, y)
    part = b.op("sub", total, x)
    rest = b.op("add", b.op("sub", x, b.op("sub", total, part)), b.op("sub", y, part))
    return total, rest


def fast_two_sum(b: Builder, x: Value, y: Value) -> Pair:
    """``x + y`` exactly, as a pair, if ``|x| >= |y|``."""
    total = b.op("add", x, y)
    return total, b.op("add", b.op("sub", x, total), y)


def two_product(b: Builder, x: Value, y: Value) -> Pair:
    """``x * y`` exactly, as a pair."""
    product = b.op("mul", x, y)
    return product, b.op("fma", x, y, b.op("neg", product))
