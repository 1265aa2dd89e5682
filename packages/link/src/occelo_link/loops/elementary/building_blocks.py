"""Building blocks of the elementary functions: polynomials, powers of two, arithmetic on pairs.

The other modules of this folder use these functions, and so do `loops.lowerings.elemwise.complex_functions` and
`occelo_random.lowerings.quantiles`. Each function adds operations to a loop program. Its arguments and results are values of this
program, of float64 or float32.

A pair ``(high, low)`` represents the sum of two floats, which has about twice as many digits as a float; see Dekker, "A
floating-point technique for extending the available precision", 1971.
"""

from __future__ import annotations

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


def mantissa_and_exponent(b: Builder, x: Value) -> Pair:
    """``(m, k)`` with ``x = m * 2**k`` and ``m`` from sqrt(1/2) to sqrt(2), for positive finite x."""
    layout, dtype = LAYOUTS[x.dtype], x.dtype
    up = layout.digits + 2
    small = b.op("lt", x, constant(b, 2.0 ** (1 - layout.bias), dtype))
    m, whole = _mantissa(b, b.select(small, b.op("mul", x, constant(b, 2.0**up, dtype)), x))
    offset = 2.0**layout.digits + layout.bias
    offsets = (constant(b, each, dtype) for each in (offset + up, offset))
    return m, b.op("sub", whole, b.select(small, *offsets))


def mantissa_of_normal(b: Builder, x: Value) -> Pair:
    """The same as `mantissa_and_exponent`, for a float64 x that is not subnormal."""
    m, whole = _mantissa(b, x)
    return m, b.op("sub", whole, constant(b, 2.0**52 + 1023))


def _mantissa(b: Builder, x: Value) -> Pair:
    """Return ``m`` of `mantissa_and_exponent`, and ``k`` plus 2**digits and the bias."""
    layout = LAYOUTS[x.dtype]
    integer = layout.bits

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
    m = b.op("bits", b.op("sub", bits, shifted), dtype=x.dtype)
    magic = whole((layout.bias + layout.digits) << layout.digits)
    return m, b.op("bits", b.op("or", biased, magic), dtype=x.dtype)


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
