"""Integrals of elementary functions: of exponentials, sines, logarithms and squares. Derivatives are the integrands."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, isinf, lt, sign, sqr, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cos, cosh, exp, log, log1p, sin, sinh
from occelo_special.ops.defining import of_scipy, reals, special, undefined
from occelo_special.ops.special_functions import with_limits

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "dawsn",
    "erfi",
    "exp1",
    "expi",
    "expn",
    "fresnel",
    "shichi",
    "sici",
    "spence",
]

_POINTERS = "SciPy's compiled function returns its results through pointers"

# exponential integrals, DLMF 6.2 and 8.19
exp1: Elemwise = special(
    "exp1", [lambda ct, x, out: -ct * exp(-x) / x], "Exponential integral E1 of real numbers x."
)
expi: Elemwise = special(
    "expi", [lambda ct, x, out: ct * _over(exp(x), x)], "Exponential integral Ei of real numbers x."
)
expn: Elemwise = special(
    "expn",
    [
        undefined("a whole number of order"),
        lambda ct, n, x, out: (
            -ct * switch(eq(n, 0), exp(-x) * (1 + 1 / x) / x, expn(abs_(n - 1), x))
        ),
    ],
    "Exponential integral of whole order n >= 0: the integral of exp(-x t) / t**n from 1 to infinity.",
    lambda n, x: of_scipy("expn")(n.astype("int64"), x),
    # that of floats raises a Python warning for numbers that are not whole, wherever it is called
    python_only="SciPy's compiled function takes an integer",
)


def _over(growing: TensorVariable, x: TensorVariable) -> TensorVariable:
    """A function that grows as exponentials do divided by ``x``: infinite where the function is."""
    return switch(isinf(growing), growing * sign(x), growing / x)


# functions of the error function, DLMF 7.10
dawsn: Elemwise = special(
    "dawsn",
    [lambda ct, x, out: ct * _dawson_slope(x, out)],
    "Dawson's integral: exp(-x**2) times the integral of exp(t**2) from 0 to x.",
)
erfi: Elemwise = special(
    "erfi",
    [lambda ct, x, out: ct * (2 / math.sqrt(math.pi)) * exp(sqr(x))],
    "Imaginary error function: 2 / sqrt(pi) times the integral of exp(t**2) from 0 to x.",
    monotone="increasing",
)


def _dawson_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """1 - 2 x F(x), and its asymptotic series where the difference cancels (DLMF 7.12)."""
    far = lt(8.0, abs_(x))
    u = 1 / (2 * sqr(switch(far, x, 8.0)))
    series = 1.0 + 0.0 * u
    for k in range(25, 1, -2):
        series = 1 + k * u * series
    return switch(far, -u * series, 1 - 2 * x * out)


def _vanishing(wave: TensorVariable, x: TensorVariable) -> TensorVariable:
    """A sine or cosine of ``x`` divided by ``x``: 0 at infinity."""
    return switch(isinf(x), 0.0, wave / x)


# sine and cosine integrals, DLMF 6.2
_si: Elemwise = special(
    "sine_integral",
    [lambda ct, x, out: ct * switch(eq(x, 0), 1.0, _vanishing(sin(x), switch(eq(x, 0), 1.0, x)))],
    "Sine integral.",
    of_scipy("sici", 0),
    python_only=_POINTERS,
)
_ci: Elemwise = special(
    "cosine_integral",
    [lambda ct, x, out: ct * _vanishing(cos(x), x)],
    "Cosine integral.",
    of_scipy("sici", 1),
    python_only=_POINTERS,
)
_shi: Elemwise = special(
    "hyperbolic_sine_integral",
    [lambda ct, x, out: ct * switch(eq(x, 0), 1.0, _over(sinh(x), switch(eq(x, 0), 1.0, x)))],
    "Hyperbolic sine integral.",
    of_scipy("shichi", 0),
    python_only=_POINTERS,
    monotone="increasing",
)
_chi: Elemwise = special(
    "hyperbolic_cosine_integral",
    [lambda ct, x, out: ct * _over(cosh(x), x)],
    "Hyperbolic cosine integral.",
    of_scipy("shichi", 1),
    python_only=_POINTERS,
)


def _to_a_half(position: int) -> Callable[[Array], Array]:
    """SciPy's integral of Fresnel, with its limits for numbers whose square overflows, where SciPy's is NaN."""
    inside = of_scipy("fresnel", position)

    def computing(x: Array) -> Array:
        value = inside(x)
        return np.where(np.isnan(value) & ~np.isnan(x), np.copysign(0.5, x), value)

    return computing


_fresnel_s: Elemwise = special(
    "fresnel_sine",
    [lambda ct, x, out: ct * sin(sqr(x) * (math.pi / 2))],
    "Fresnel's sine integral.",
    _to_a_half(0),
    python_only=_POINTERS,
)
_fresnel_c: Elemwise = special(
    "fresnel_cosine",
    [lambda ct, x, out: ct * cos(sqr(x) * (math.pi / 2))],
    "Fresnel's cosine integral.",
    _to_a_half(1),
    python_only=_POINTERS,
)


def sici(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """The sine integral and the cosine integral: of sin(t) / t from 0 to x, and of cos(t) / t from infinity to x."""
    (x,) = reals("sici", x)
    return _si(x), _ci(x)


def shichi(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """The hyperbolic sine integral and the hyperbolic cosine integral of ``x``."""
    (x,) = reals("shichi", x)
    return _shi(x), _chi(x)


def fresnel(z: Any) -> tuple[TensorVariable, TensorVariable]:
    """Fresnel's integrals S and C of real numbers: of sin and of cos of pi t**2 / 2 from 0 to z."""
    (x,) = reals("fresnel", z)
    return _fresnel_s(x), _fresnel_c(x)


spence: Elemwise = special(
    "spence",
    [lambda ct, x, out: ct * _spence_slope(x)],
    "Spence's function: the integral of log(t) / (1 - t) from 1 to x.",
    with_limits("spence"),
)


def _spence_slope(x: TensorVariable) -> TensorVariable:
    """log(x) / (1 - x), which is -1 at 1."""
    distance = x - 1
    near = eq(distance, 0)
    size = switch(near, 1.0, distance)
    logarithm = switch(lt(abs_(distance), 0.5), log1p(distance), log(x))
    series = distance * (0.5 - distance / 3) - 1
    return switch(near, series, switch(isinf(x), 0.0, -logarithm / size))
