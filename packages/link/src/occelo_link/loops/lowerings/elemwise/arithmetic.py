"""Lowerings of scalar ops, real and complex: arithmetic, rounding, comparison, logic and selection.

`elemwise.op` and `elemwise.complex` import this module. It registers its lowerings with the registries of
`elemwise.scalar` and `elemwise.complex`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float, is_signed
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.complex import (
    Complex,
    ComplexLowering,
    argument,
    chosen,
    complex_scalar,
    divided,
    modulus,
    square_root,
    times,
)
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

Args = Sequence[Value]


def _all(b: Builder, dtype: str, args: Args) -> list[Value]:
    return [b.cast(a, dtype) for a in args]


def _fold(b: Builder, op: str, dtype: str, args: Args) -> Value:
    # these methods also fold constants, since the operands may be lengths
    combine = {"add": b.add, "mul": b.mul}.get(op, lambda x, y: b.op(op, x, y))
    return reduce(combine, _all(b, dtype, args))


@lowers_scalar_to_loops("add")
def _add(b: Builder, dtype: str, args: Args) -> Value:
    return _fold(b, "or" if dtype == "bool" else "add", dtype, args)


@lowers_scalar_to_loops("mul")
def _mul(b: Builder, dtype: str, args: Args) -> Value:
    return _fold(b, "and" if dtype == "bool" else "mul", dtype, args)


@lowers_scalar_to_loops("sub")
def _sub(b: Builder, dtype: str, args: Args) -> Value:
    return b.sub(*_all(b, dtype, args))


def _operation(name: str, op: str, cost: int = 1) -> None:
    """Register an operation of loop programs as the lowering of a scalar op."""

    @lowers_scalar_to_loops(name, cost=cost)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        return b.op(op, *_all(b, dtype, args))


_operation("true_div", "div", cost=4)
_operation("neg", "neg")
_operation("sqrt", "sqrt", cost=5)
_operation("maximum", "max")
_operation("minimum", "min")
_operation("invert", "not")


def _fmod(b: Builder, x: Value, y: Value) -> Value:
    """The remainder of ``x / y``, computed exactly, with the sign of ``x``."""
    wide = b.call("libm:fmod", "float64", b.cast(x, "float64"), b.cast(y, "float64"))
    return b.cast(wide, x.dtype)


def _negative(b: Builder, x: Value) -> Value:
    return b.op("lt", x, b.const(0, x.dtype))


@lowers_scalar_to_loops("mod", cost=20)
def _mod(b: Builder, dtype: str, args: Args) -> Value:
    x, y = _all(b, dtype, args)
    if not is_float(dtype):
        return b.op("remainder", x, y)
    rest = _fmod(b, x, y)
    zero = b.const(0.0, dtype)
    crossed = b.op("xor", _negative(b, y), _negative(b, rest))
    moved = b.select(crossed, b.op("add", rest, y), rest)
    return b.select(b.op("eq", rest, zero), b.op("copysign", zero, y), moved)


@lowers_scalar_to_loops("int_div", cost=20)
def _int_div(b: Builder, dtype: str, args: Args) -> Value:
    x, y = _all(b, dtype, args)
    if not is_float(dtype):
        return b.op("floordiv", x, y)
    zero, one, half = (b.const(c, dtype) for c in (0.0, 1.0, 0.5))
    rest = _fmod(b, x, y)
    quotient = b.op("div", b.op("sub", x, rest), y)
    crossed = b.op("and", b.op("ne", rest, zero), b.op("xor", _negative(b, y), _negative(b, rest)))
    quotient = b.select(crossed, b.op("sub", quotient, one), quotient)
    whole = b.op("floor", quotient)
    high = b.op("lt", half, b.op("sub", quotient, whole))
    whole = b.select(high, b.op("add", whole, one), whole)
    plain = b.op("div", x, y)
    whole = b.select(b.op("eq", quotient, zero), b.op("copysign", zero, plain), whole)
    return b.select(b.op("eq", y, zero), plain, whole)


@lowers_scalar_to_loops("abs")
def _abs(b: Builder, dtype: str, args: Args) -> Value:
    x = b.cast(args[0], dtype)
    return b.op("abs", x) if is_float(dtype) or is_signed(dtype) else x


@lowers_scalar_to_loops("sign", cost=3)
def _sign(b: Builder, dtype: str, args: Args) -> Value:
    x = b.cast(args[0], dtype)
    zero = b.const(0, dtype)
    one = b.const(1, dtype)
    minus = b.const(-1, dtype) if is_float(dtype) or is_signed(dtype) else zero
    signed = b.select(b.op("lt", zero, x), one, b.select(b.op("lt", x, zero), minus, zero))
    # NaN stays NaN
    return b.select(b.op("eq", x, x), signed, x) if is_float(dtype) else signed


@lowers_scalar_to_loops("second")
def _second(b: Builder, dtype: str, args: Args) -> Value:
    return b.cast(args[1], dtype)


@lowers_scalar_to_loops("identity")
def _identity(b: Builder, dtype: str, args: Args) -> Value:
    return args[0]


# comparisons


def _compare(b: Builder, op: str, x: Value, y: Value) -> Value:
    kinds = {x.dtype, y.dtype}
    if "uint64" in kinds and any(is_signed(d) for d in kinds):
        return _compare_mixed(b, op, x, y)
    common = np.result_type(np.dtype(x.dtype), np.dtype(y.dtype)).name
    return b.op(op, b.cast(x, common), b.cast(y, common))


def _compare_mixed(b: Builder, op: str, x: Value, y: Value) -> Value:
    """Compare a signed integer with a uint64 by value, without converting them to floats."""
    left_signed = is_signed(x.dtype)
    negative = _negative(b, x if left_signed else y)
    plain = b.op(op, b.cast(x, "uint64"), b.cast(y, "uint64"))
    outcome = {"eq": False, "ne": True}.get(op, left_signed)
    return b.select(negative, b.const(outcome, "bool"), plain)


def _comparison(name: str, op: str, swapped: bool = False) -> None:
    @lowers_scalar_to_loops(name)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        x, y = reversed(args) if swapped else args
        return _compare(b, op, x, y)


_comparison("eq", "eq")
_comparison("neq", "ne")
_comparison("lt", "lt")
_comparison("le", "le")
_comparison("gt", "lt", swapped=True)
_comparison("ge", "le", swapped=True)


@lowers_scalar_to_loops("isnan")
def _isnan(b: Builder, dtype: str, args: Args) -> Value:
    x = args[0]
    return b.op("ne", x, x) if is_float(x.dtype) else b.const(False, "bool")


@lowers_scalar_to_loops("isinf")
def _isinf(b: Builder, dtype: str, args: Args) -> Value:
    x = args[0]
    if not is_float(x.dtype):
        return b.const(False, "bool")
    return b.op("eq", b.op("abs", x), b.const(np.inf, x.dtype))


@lowers_scalar_to_loops("isfinite")
def _isfinite(b: Builder, dtype: str, args: Args) -> Value:
    x = args[0]
    if not is_float(x.dtype):
        return b.const(True, "bool")
    return b.op("lt", b.op("abs", x), b.const(np.inf, x.dtype))


# logic and selection


def _folded(name: str) -> None:
    @lowers_scalar_to_loops(name)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        return _fold(b, name, dtype, args)


for _name in ("and", "or", "xor"):
    _folded(_name)


@lowers_scalar_to_loops("switch")
def _switch(b: Builder, dtype: str, args: Args) -> Value:
    condition, x, y = args
    return b.select(b.cast(condition, "bool"), b.cast(x, dtype), b.cast(y, dtype))


# rounding; integers are whole already


def _rounding(name: str, op: str) -> None:
    @lowers_scalar_to_loops(name)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        x = b.cast(args[0], dtype)
        return b.op(op, x) if is_float(dtype) else x


_rounding("ceil", "ceil")
_rounding("floor", "floor")
_rounding("trunc", "trunc")
_rounding("round_half_to_even", "rint")


@lowers_scalar_to_loops("round_half_away_from_zero", cost=3)
def _round_away(b: Builder, dtype: str, args: Args) -> Value:
    x = b.cast(args[0], dtype)
    if not is_float(dtype):
        return x
    whole = b.op("trunc", x)
    far = b.op("le", b.const(0.5, dtype), b.op("abs", b.op("sub", x, whole)))
    step = b.select(far, b.const(1.0, dtype), b.const(0.0, dtype))
    return b.op("add", whole, b.op("copysign", step, x))


# real and imaginary parts, for arguments that are real


@lowers_scalar_to_loops("real", "conj")
def _real(b: Builder, dtype: str, args: Args) -> Value:
    # the conjugate of a truth value is an int8
    return b.cast(args[0], dtype)


@lowers_scalar_to_loops("imag")
def _imag(b: Builder, dtype: str, args: Args) -> Value:
    return b.const(0, dtype)


@lowers_scalar_to_loops("angle", cost=2)
def _angle(b: Builder, dtype: str, args: Args) -> Value:
    x = b.cast(args[0], dtype)
    # the angle of -0.0 is pi, too
    minus = b.op("lt", b.op("copysign", b.const(1.0, dtype), x), b.const(0.0, dtype))
    turned = b.select(minus, b.const(np.pi, dtype), b.const(0.0, dtype))
    return b.select(b.op("eq", x, x), turned, x)


# complex numbers, as pairs of real numbers


def _by_parts(b: Builder, op: str, z: Sequence[Complex]) -> Complex:
    """An operation applied to the real parts, and to the imaginary parts."""
    return b.op(op, *[x[0] for x in z]), b.op(op, *[x[1] for x in z])


_FORMULAS: dict[tuple[str, int, bool], ComplexLowering] = {
    ("sub", 2, False): lambda b, z: _by_parts(b, "sub", z),
    ("neg", 2, False): lambda b, z: _by_parts(b, "neg", z),
    ("round_half_to_even", 2, False): lambda b, z: _by_parts(b, "rint", z),
    ("eq", 2, False): lambda b, z: b.op("and", *_by_parts(b, "eq", z)),
    ("neq", 2, False): lambda b, z: b.op("or", *_by_parts(b, "ne", z)),
    ("sqr", 6, False): lambda b, z: times(b, z[0], z[0]),
    ("true_div", 20, False): lambda b, z: divided(b, z[0], z[1]),
    ("conj", 2, False): lambda b, z: (z[0][0], b.op("neg", z[0][1])),
    ("real", 0, False): lambda b, z: z[0][0],
    ("imag", 0, False): lambda b, z: z[0][1],
    ("complex", 0, False): lambda b, z: (z[0][0], z[1][0]),
    ("identity", 0, False): lambda b, z: z[0],
    ("cast", 0, False): lambda b, z: z[0],
    ("second", 0, False): lambda b, z: z[1],
    ("abs", 60, True): lambda b, z: modulus(b, z[0]),
    ("angle", 60, True): lambda b, z: argument(b, z[0]),
    ("sqrt", 90, True): lambda b, z: square_root(b, z[0]),
}
"""For the name of a scalar op, its cost, and whether it is computed in float64, the formula."""
for (_name, _cost, _wide), _formula in _FORMULAS.items():
    complex_scalar(_name, cost=_cost, wide=_wide)(_formula)


@complex_scalar("add")
def _complex_add(b: Builder, args: Sequence[Complex]) -> Complex:
    re, im = args[0]
    for other in args[1:]:
        re, im = b.op("add", re, other[0]), b.op("add", im, other[1])
    return re, im


@complex_scalar("mul", cost=6)
def _complex_mul(b: Builder, args: Sequence[Complex]) -> Complex:
    result = args[0]
    for other in args[1:]:
        result = times(b, result, other)
    return result


@complex_scalar("reciprocal", cost=20)
def _complex_reciprocal(b: Builder, args: Sequence[Complex]) -> Complex:
    """1 / z, by the algorithm of Smith (`divided`), with the order of operations that NumPy has for it."""
    [z] = args
    one = b.const(1.0, z[0].dtype)
    wide = b.op("le", b.op("abs", z[1]), b.op("abs", z[0]))
    large, small = chosen(b, wide, z, (z[1], z[0]))
    ratio = b.op("div", small, large)
    size = b.op("add", large, b.op("mul", small, ratio))
    plain, turned = b.op("div", one, size), b.op("div", ratio, size)
    re, im = chosen(b, wide, (plain, turned), (turned, plain))
    return re, b.op("neg", im)


@complex_scalar("switch", cost=3)
def _complex_switch(b: Builder, args: Sequence[Complex]) -> Complex:
    condition, x, y = args
    holds = b.op("ne", condition[0], b.const(0.0, condition[0].dtype))
    return chosen(b, holds, x, y)


@complex_scalar("sign", cost=70, wide=True)
def _complex_sign(b: Builder, args: Sequence[Complex]) -> Complex:
    """z / |z|, computed without overflow or loss of digits.

    Parts near the ends of the range are scaled by powers of two. If one part of z is infinite, the result is 1, -1, i
    or -i, as in NumPy.
    """
    z = args[0]
    zero, one, infinity = (b.const(x, "float64") for x in (0.0, 1.0, math.inf))
    infinite = [b.op("eq", b.op("abs", part), infinity) for part in z]
    ends = [
        b.select(end, b.op("copysign", one, part), zero)
        for end, part in zip(infinite, z, strict=True)
    ]
    largest = b.op("max", b.op("abs", z[0]), b.op("abs", z[1]))
    large = b.op("lt", b.const(2.0**1000, "float64"), largest)
    small = b.op("lt", largest, b.const(2.0**-900, "float64"))
    factor = b.select(large, b.const(0.25, "float64"), b.const(2.0**200, "float64"))
    factor = b.select(b.op("or", large, small), factor, one)
    inner = b.op("mul", z[0], factor), b.op("mul", z[1], factor)
    size = modulus(b, inner)
    vanishes = b.op("eq", size, zero)
    size = b.select(vanishes, one, size)
    sign = chosen(
        b, vanishes, (zero, zero), (b.op("div", inner[0], size), b.op("div", inner[1], size))
    )
    nan = b.const(math.nan, "float64")
    sign = chosen(b, b.op("or", *infinite), (ends[0], ends[1]), sign)
    return chosen(b, b.op("and", *infinite), (nan, nan), sign)


@complex_scalar("isnan")
def _complex_isnan(b: Builder, args: Sequence[Complex]) -> Value:
    [z] = args
    return b.op("or", b.op("ne", z[0], z[0]), b.op("ne", z[1], z[1]))


@complex_scalar("isinf")
def _complex_isinf(b: Builder, args: Sequence[Complex]) -> Value:
    limit = b.const(math.inf, args[0][0].dtype)
    re, im = (b.op("eq", b.op("abs", part), limit) for part in args[0])
    return b.op("or", re, im)


@complex_scalar("isfinite")
def _complex_isfinite(b: Builder, args: Sequence[Complex]) -> Value:
    limit = b.const(math.inf, args[0][0].dtype)
    re, im = (b.op("lt", b.op("abs", part), limit) for part in args[0])
    return b.op("and", re, im)


# complex numbers are ordered by real parts, and those with equal real parts by imaginary parts


def _complex_below(b: Builder, op: str, x: Complex, y: Complex) -> Value:
    """Whether ``x < y`` or, if ``op`` is "le", ``x <= y``. False if a part is NaN."""
    ordered = b.op("and", *[b.op("eq", z[1], z[1]) for z in (x, y)])
    below = b.op("and", b.op("lt", x[0], y[0]), ordered)
    beside = b.op("and", b.op("eq", x[0], y[0]), b.op(op, x[1], y[1]))
    return b.op("or", below, beside)


def _complex_comparison(name: str, op: str, swapped: bool = False) -> None:
    @complex_scalar(name, cost=4)
    def lowering(b: Builder, args: Sequence[Complex]) -> Value:
        x, y = reversed(args) if swapped else args
        return _complex_below(b, op, x, y)


_complex_comparison("lt", "lt")
_complex_comparison("le", "le")
_complex_comparison("gt", "lt", swapped=True)
_complex_comparison("ge", "le", swapped=True)


def _complex_extreme(name: str, swapped: bool = False) -> None:
    @complex_scalar(name, cost=8)
    def lowering(b: Builder, args: Sequence[Complex]) -> Complex:
        x, y = args
        stays = _complex_below(b, "le", *((x, y) if swapped else (y, x)))
        nan = b.op("or", *[b.op("ne", part, part) for part in x])
        return chosen(b, b.op("or", stays, nan), x, y)


_complex_extreme("maximum")
_complex_extreme("minimum", swapped=True)
