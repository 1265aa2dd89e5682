"""Building blocks of the elementary functions: polynomials, powers of two, arithmetic on pairs.

The other modules of this folder that compute in float64 use these functions, and so do
`loops.lowerings.elemwise.complex_functions` and `occelo_random.lowerings.quantiles`. Each function adds operations to a loop program. Its
arguments and results are values of this program.

A pair ``(high, low)`` represents the sum of two floats, which has about twice as many digits as a float; see Dekker, "A
floating-point technique for extending the available precision", 1971.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value

Pair = tuple[Value, Value]
_MAGIC = 6755399441055744.0  # 1.5 * 2**52: the sum of this and a whole number has the whole number in its low bits
_ONE_BITS = 0x3FF0000000000000
_ROOT_HALF_BITS = 0x3FE6A09E667F3BCD


def constant(b: Builder, number: float) -> Value:
    """A float64 constant."""
    return b.const(number, "float64")


def is_below(b: Builder, x: Value, limit: float) -> Value:
    """Whether ``|x| < limit``."""
    return b.op("lt", b.op("abs", x), constant(b, limit))


def horner(b: Builder, coefficients: Sequence[float], x: Value) -> Value:
    """A polynomial in ``x`` by Horner's scheme. The coefficient of the highest power comes first."""
    total = constant(b, coefficients[0])
    for c in coefficients[1:]:
        total = b.op("fma", total, x, constant(b, c))
    return total


def power_of_two(b: Builder, k: Value) -> Value:
    """``2 ** k`` for whole ``k`` from -1022 to 1023."""
    bits = b.op("bits", b.op("add", k, constant(b, _MAGIC)), dtype="int64")
    shifted = b.op("shl", bits, b.i64(52))
    return b.op("bits", b.op("add", shifted, b.i64(_ONE_BITS)), dtype="float64")


def mantissa_and_exponent(b: Builder, x: Value) -> Pair:
    """``(m, k)`` with ``x = m * 2**k`` and ``m`` from sqrt(1/2) to sqrt(2), for positive finite x."""
    small = b.op("lt", x, constant(b, 2.0**-1022))
    scaled = b.select(small, b.op("mul", x, constant(b, 2.0**54)), x)
    m, whole = _mantissa(b, scaled)
    offset = b.select(small, constant(b, 2.0**52 + 1077), constant(b, 2.0**52 + 1023))
    return m, b.op("sub", whole, offset)


def mantissa_of_normal(b: Builder, x: Value) -> Pair:
    """The same as `mantissa_and_exponent`, for an x that is not subnormal."""
    m, whole = _mantissa(b, x)
    return m, b.op("sub", whole, constant(b, 2.0**52 + 1023))


def _mantissa(b: Builder, x: Value) -> Pair:
    """Return ``m`` of `mantissa_and_exponent`, and ``k + 2**52 + 1023``."""
    bits = b.op("bits", x, dtype="int64")
    # the exponent changes at sqrt(1/2), not at 1; a logical shift and a magic number replace instructions that AVX2
    # lacks
    moved = b.op("add", bits, b.i64(_ONE_BITS - _ROOT_HALF_BITS))
    biased = b.op("shr", b.op("bits", moved, dtype="uint64"), b.const(52, "uint64"))
    biased = b.op("bits", biased, dtype="int64")
    shifted = b.op("shl", b.op("sub", biased, b.i64(1023)), b.i64(52))
    m = b.op("bits", b.op("sub", bits, shifted), dtype="float64")
    return m, b.op("bits", b.op("or", biased, b.i64(0x4330000000000000)), dtype="float64")


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
