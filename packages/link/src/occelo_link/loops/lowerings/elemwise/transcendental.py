"""Lowerings of powers, exponentials, logarithms, trigonometric, hyperbolic and error functions, real and complex.

`scalar` and `complex` import this module when they first look for a lowering; it registers its lowerings in both.
Functions of float32 are computed in float64 and rounded once, except functions that have a formula in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from occelo_link.loops.elementary import (
    error_function,
    exponential,
    hyperbolic,
    logarithm,
    power,
    trigonometric,
)
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.operations import is_float, width
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.complex import Complex, complex_scalar, divided, scaled
from occelo_link.loops.lowerings.elemwise.complex_functions import (
    exponential_less_one,
    exponential_of,
    hyperbolic_cosine,
    hyperbolic_sine,
    hyperbolic_tangent,
    logarithm_of,
    logarithm_of_one_more,
    logarithm_of_one_more_exponential,
    power_of,
)
from occelo_link.loops.lowerings.elemwise.complex_inverses import (
    arc_cosine,
    arc_sine,
    area_tangent,
    swapped,
)
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

Args = Sequence[Value]


def _elementary(name: str, function: Callable[..., Value], cost: int, narrow: bool = False) -> None:
    """Register a formula as the lowering of a scalar op. If ``narrow`` is true, it computes in float32, too."""

    @lowers_scalar_to_loops(name, cost=cost)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        if narrow and dtype == "float32":
            return b.apply(f"{name}_float32", function, *[b.cast(a, dtype) for a in args])
        return b.cast(b.apply(name, function, *[b.cast(a, "float64") for a in args]), dtype)


_elementary("exp", exponential.exp, 20, narrow=True)
_elementary("exp2", exponential.exp2, 20, narrow=True)
_elementary("expm1", exponential.expm1, 30, narrow=True)
_elementary("log", logarithm.log, 25, narrow=True)
_elementary("log2", logarithm.log2, 30, narrow=True)
_elementary("log10", logarithm.log10, 30, narrow=True)
_elementary("log1p", logarithm.log1p, 30, narrow=True)
_elementary("sin", trigonometric.sin, 30, narrow=True)
_elementary("cos", trigonometric.cos, 30, narrow=True)
_elementary("tan", trigonometric.tan, 40)
_elementary("arctan", trigonometric.arctan, 30, narrow=True)
_elementary("sinh", hyperbolic.sinh, 40, narrow=True)
_elementary("cosh", hyperbolic.cosh, 35, narrow=True)
_elementary("tanh", hyperbolic.tanh, 40, narrow=True)
_elementary("sigmoid", hyperbolic.sigmoid, 25, narrow=True)
_elementary("softplus", hyperbolic.softplus, 50, narrow=True)
_elementary("erf", error_function.erf, 60, narrow=True)
_elementary("erfc", error_function.erfc, 80)
_elementary("erfcx", error_function.erfcx, 120)


def _library(name: str, function: str) -> None:
    """Register a call of a function of the C library as the lowering of a scalar op."""

    @lowers_scalar_to_loops(name, cost=60)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        wide = [b.cast(a, "float64") for a in args]
        return b.cast(b.call(f"libm:{function}", "float64", *wide), dtype)


_library("arcsin", "asin")
_library("arccos", "acos")
_library("arcsinh", "asinh")
_library("arccosh", "acosh")
_library("arctanh", "atanh")
_library("arctan2", "atan2")


def _pow_is_total(inputs: Sequence[str], output: str) -> bool:
    # a negative exponent of an integer is an error that depends on the data
    return is_float(output) or not inputs[1].startswith("int")


@lowers_scalar_to_loops("pow", cost=90, when=_pow_is_total)
def _pow(b: Builder, dtype: str, args: Args) -> Value:
    x, y = (b.cast(a, dtype) for a in args)
    if not is_float(dtype):
        return _integer_power(b, x, y)
    if y.op == "const":
        simple = _simple_power(b, x, y.args[0])
        if simple is not None:
            return simple
    wide = b.cast(x, "float64"), b.cast(y, "float64")
    if dtype == "float32":
        return b.cast(b.apply("pow_of_float32", power.pow_of_float32, *wide), dtype)
    return b.cast(b.apply("pow", power.pow, *wide), dtype)


def _simple_power(b: Builder, x: Value, exponent: float) -> Value | None:
    """The power by simpler operations, for exponents where they lose no accuracy; None for other exponents."""
    if exponent == 1:
        return x
    if exponent == 2:
        return b.op("mul", x, x)
    if exponent == -1:
        return b.op("div", b.const(1.0, x.dtype), x)
    if exponent == 0.5:
        # unlike the square root, the power is 0 for -0.0 and infinity for -infinity
        root = b.op("sqrt", b.op("add", x, b.const(0.0, x.dtype)))
        lowest = b.op("eq", x, b.const(-math.inf, x.dtype))
        return b.select(lowest, b.const(math.inf, x.dtype), root)
    return None


def _integer_power(b: Builder, x: Value, y: Value) -> Value:
    """The power of integers by repeated squaring, with a step for each bit of the exponent."""
    bits = width(x.dtype)
    one, zero = b.const(1, x.dtype), b.const(0, x.dtype)
    if x.dtype == "bool":
        return b.op("or", x, b.op("not", y))
    result, base = one, x
    for bit in range(bits):
        odd = b.op("ne", b.op("and", y, b.const(1 << bit, x.dtype)), zero)
        result = b.select(odd, b.op("mul", result, base), result)
        base = b.op("mul", base, base)
    return result


def _log_of_one_less_exp(b: Builder, x: Value) -> Value:
    # Maechler, "Accurately computing log(1 - exp(-|a|))", 2012, shows which form is precise for which x
    near = logarithm.log(b, b.op("neg", exponential.expm1(b, x)))
    far = logarithm.log1p(b, b.op("neg", exponential.exp(b, x)))
    return b.select(b.op("lt", b.const(-math.log(2), "float64"), x), near, far)


def _log_of_sum_of_exps(b: Builder, x: Value, y: Value) -> Value:
    gap = b.op("neg", b.op("abs", b.op("sub", x, y)))
    rest = logarithm.log1p(b, exponential.exp(b, gap))
    # the gap of equal infinities is NaN
    rest = b.select(b.op("eq", x, y), b.const(math.log(2), "float64"), rest)
    return b.op("add", b.op("max", x, y), rest)


_elementary("log1mexp", _log_of_one_less_exp, 100)
_elementary("logaddexp", _log_of_sum_of_exps, 60)


# complex numbers, as pairs of real numbers


def _complex_formula(name: str, formula: Callable[..., Complex], cost: int) -> None:
    """Register a formula of complex numbers, in float64, as the lowering of a scalar op."""

    @complex_scalar(name, cost=cost, wide=True)
    def lowering(b: Builder, args: Sequence[Complex]) -> Complex:
        return formula(b, *args)


_complex_formula("exp", exponential_of, 90)
_complex_formula("expm1", exponential_less_one, 120)
_complex_formula("log", logarithm_of, 200)
_complex_formula("log1p", logarithm_of_one_more, 200)
_complex_formula("sinh", hyperbolic_sine, 150)
_complex_formula("cosh", hyperbolic_cosine, 150)
_complex_formula("tanh", hyperbolic_tangent, 200)
_complex_formula("pow", power_of, 500)
_complex_formula("softplus", logarithm_of_one_more_exponential, 500)
_complex_formula("arcsin", arc_sine, 400)
_complex_formula("arccos", arc_cosine, 400)
_complex_formula("arctanh", area_tangent, 200)


@complex_scalar("exp2", cost=90, wide=True)
def _complex_exp2(b: Builder, args: Sequence[Complex]) -> Complex:
    return exponential_of(b, scaled(b, args[0], b.const(math.log(2), "float64")))


@complex_scalar("log2", cost=200, wide=True)
def _complex_log2(b: Builder, args: Sequence[Complex]) -> Complex:
    return scaled(b, logarithm_of(b, args[0]), b.const(1 / math.log(2), "float64"))


@complex_scalar("log10", cost=200, wide=True)
def _complex_log10(b: Builder, args: Sequence[Complex]) -> Complex:
    return scaled(b, logarithm_of(b, args[0]), b.const(1 / math.log(10), "float64"))


@complex_scalar("sigmoid", cost=120, wide=True)
def _complex_sigmoid(b: Builder, args: Sequence[Complex]) -> Complex:
    [z] = args
    one, zero = b.const(1.0, "float64"), b.const(0.0, "float64")
    power = exponential_of(b, (b.op("neg", z[0]), b.op("neg", z[1])))
    return divided(b, (one, zero), (b.op("add", one, power[0]), power[1]))


def _times_i(b: Builder, z: Complex) -> Complex:
    """The product i z."""
    return b.op("neg", z[1]), z[0]


@complex_scalar("sin", cost=150, wide=True)
def _complex_sin(b: Builder, args: Sequence[Complex]) -> Complex:
    """sin z, as -i sinh(i z)."""
    re, im = hyperbolic_sine(b, _times_i(b, args[0]))
    return im, b.op("neg", re)


@complex_scalar("cos", cost=150, wide=True)
def _complex_cos(b: Builder, args: Sequence[Complex]) -> Complex:
    """cos z, as cosh(i z)."""
    return hyperbolic_cosine(b, _times_i(b, args[0]))


@complex_scalar("tan", cost=200, wide=True)
def _complex_tan(b: Builder, args: Sequence[Complex]) -> Complex:
    """tan z, as -i tanh(i z)."""
    re, im = hyperbolic_tangent(b, _times_i(b, args[0]))
    return im, b.op("neg", re)


@complex_scalar("arcsinh", cost=400, wide=True)
def _complex_arcsinh(b: Builder, args: Sequence[Complex]) -> Complex:
    """arsinh z, as i conj(arcsin(i conj z))."""
    return swapped(arc_sine(b, swapped(args[0])))


@complex_scalar("arccosh", cost=400, wide=True)
def _complex_arccosh(b: Builder, args: Sequence[Complex]) -> Complex:
    """arcosh z, as i arccos z or -i arccos z: the one whose real part is not negative."""
    angle, height = arc_cosine(b, args[0])
    return b.op("abs", height), b.op("copysign", angle, args[0][1])


@complex_scalar("arctan", cost=200, wide=True)
def _complex_arctan(b: Builder, args: Sequence[Complex]) -> Complex:
    """arctan z, as i conj(artanh(i conj z))."""
    return swapped(area_tangent(b, swapped(args[0])))
