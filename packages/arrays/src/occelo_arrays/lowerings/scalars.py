"""Loops of functions of numbers that have none by a formula: signs, bits and exponents of floats, and shifts."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float, is_signed, width
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

Args = Sequence[Value]
_FRACTION = {"float32": 23, "float64": 52}
_BIAS = {"float32": 127, "float64": 1023}


def _bits(b: Builder, x: Value) -> Value:
    return b.op("bits", x, dtype=f"int{width(x.dtype)}")


@lowers_scalar_to_loops("signbit")
def _signbit(b: Builder, dtype: str, args: Args) -> Value:
    (x,) = args
    if is_float(x.dtype):
        x = _bits(b, x)
    elif x.dtype == "bool" or not is_signed(x.dtype):
        return b.const(False, "bool")
    return b.lt(x, b.const(0, x.dtype))


@lowers_scalar_to_loops("copysign")
def _copysign(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("copysign", *(b.cast(a, dtype) for a in args))


@lowers_scalar_to_loops("nextafter", cost=8)
def _nextafter(b: Builder, dtype: str, args: Args) -> Value:
    x, y = (b.cast(a, dtype) for a in args)
    zero = b.const(0.0, dtype)
    bits = _bits(b, x)
    one = b.const(1, bits.dtype)
    # the bits of a positive or a negative number rise with its magnitude
    outwards = b.eq(b.lt(x, y), b.lt(zero, x))
    moved = b.op(
        "bits",
        b.select(outwards, b.op("add", bits, one), b.op("sub", bits, one)),
        dtype=dtype,
    )
    least = b.op("copysign", b.op("bits", one, dtype=dtype), y)
    moved = b.select(b.eq(x, zero), least, moved)
    differs = b.op("or", b.lt(x, y), b.lt(y, x))
    # the sum is NaN if one of both is, and y if they are equal, also of zeros
    nan = b.op("or", b.op("ne", x, x), b.op("ne", y, y))
    return b.select(differs, moved, b.select(nan, b.op("add", x, y), y))


@lowers_scalar_to_loops("ldexp", cost=12)
def _ldexp(b: Builder, dtype: str, args: Args) -> Value:
    x, n = b.cast(args[0], dtype), b.cast(args[1], "int64")
    fraction, bias = _FRACTION[dtype], _BIAS[dtype]
    most, least = b.const(bias, "int64"), b.const(fraction + 1 - bias + 1, "int64")
    zero = b.const(0, "int64")
    # in three factors; those downwards leave the digits that would be rounded to the last one
    for _ in range(2):
        step = b.select(b.lt(most, n), most, b.select(b.lt(n, least), least, zero))
        x, n = b.op("mul", x, _power_of_two(b, step, dtype)), b.op("sub", n, step)
    lowest = b.const(1 - bias, "int64")
    n = b.op("max", b.op("min", n, most), lowest)
    return b.op("mul", x, _power_of_two(b, n, dtype))


def _power_of_two(b: Builder, n: Value, dtype: str) -> Value:
    """2^n of an exponent for which it is a normal number, from its bits."""
    raised = b.op("add", n, b.const(_BIAS[dtype], "int64"))
    whole = b.cast(raised, f"int{width(dtype)}")
    return b.op("bits", b.op("shl", whole, b.const(_FRACTION[dtype], whole.dtype)), dtype=dtype)


@lowers_scalar_to_loops("exponent", cost=8)
def _exponent(b: Builder, dtype: str, args: Args) -> Value:
    (x,) = args
    kind = x.dtype
    fraction, bias = _FRACTION[kind], _BIAS[kind]
    size = b.op("abs", x)
    scale = b.const(2.0 ** (fraction + 1), kind)
    small = b.lt(size, b.const(2.0 ** (1 - bias), kind))
    bits = _bits(b, b.select(small, b.op("mul", size, scale), size))
    raised = b.op("shr", bits, b.const(fraction, bits.dtype))
    less = b.select(small, b.const(bias + fraction, bits.dtype), b.const(bias - 1, bits.dtype))
    exponent = b.cast(b.op("sub", raised, less), dtype)
    plain = b.select(
        b.lt(b.const(0.0, kind), size),
        b.lt(size, b.const(float("inf"), kind)),
        b.const(False, "bool"),
    )
    return b.select(plain, exponent, b.const(0, dtype))


@lowers_scalar_to_loops("left_shift")
def _left_shift(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("shl", *(b.cast(a, dtype) for a in args))


@lowers_scalar_to_loops("right_shift")
def _right_shift(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("shr", *(b.cast(a, dtype) for a in args))


def _in_libm(name: str) -> None:
    @lowers_scalar_to_loops(name, cost=20)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        wide = [b.cast(a, "float64") for a in args]
        return b.cast(b.call(f"libm:{name}", "float64", *wide), dtype)


for _name in ("hypot", "cbrt"):
    _in_libm(_name)


@lowers_scalar_to_loops("fmod", cost=20, when=lambda inputs, output: is_float(output))
def _fmod(b: Builder, dtype: str, args: Args) -> Value:
    wide = [b.cast(b.cast(a, dtype), "float64") for a in args]
    return b.cast(b.call("libm:fmod", "float64", *wide), dtype)
