"""Lowerings of scalar ops: arithmetic, rounding, comparison, logic and selection.

`elemwise.op` imports this module, which registers the lowerings in `scalar`. `complex_arithmetic` has those for complex
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from occelo_link.loops.elemwise.scalar import lowers_scalar_to_loops
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float, is_signed
from occelo_link.loops.ir.program import Value

__all__: list[str] = []

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


@lowers_scalar_to_loops("true_div", cost=4)
def _true_div(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("div", *_all(b, dtype, args))


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


@lowers_scalar_to_loops("neg")
def _neg(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("neg", b.cast(args[0], dtype))


@lowers_scalar_to_loops("sqrt", cost=5)
def _sqrt(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("sqrt", b.cast(args[0], dtype))


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


@lowers_scalar_to_loops("maximum")
def _maximum(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("max", *_all(b, dtype, args))


@lowers_scalar_to_loops("minimum")
def _minimum(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("min", *_all(b, dtype, args))


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


@lowers_scalar_to_loops("invert")
def _invert(b: Builder, dtype: str, args: Args) -> Value:
    return b.op("not", b.cast(args[0], dtype))


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
