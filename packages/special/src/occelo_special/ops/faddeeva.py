"""Faddeeva's function of complex numbers.

Backends compute it in real arithmetic by a quadrature of 12 points, from Al Azah and Chandler-Wilde, "Computation of the complex
error function using modified trapezoidal rules", 2021: the error is about 2e-15 of the magnitude everywhere in the upper half
plane. SciPy's function serves the interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, floor, ge, gt, isinf, lt, maximum, or_, switch
from occelo_graph.ops.elemwise.complex import complex, imag, real
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import promoted
from occelo_graph.ops.elemwise.transcendental import cos, exp, sin
from occelo_graph.tensors.type import is_complex
from occelo_special.ops.defining import of_scipy
from occelo_special.ops.integrals import dawsn

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["wofz"]

_ROOT_PI = math.sqrt(math.pi)
_POINTS = 12
_STEP = math.sqrt(math.pi / _POINTS)
_HIGH = math.pi / _STEP
"""From this imaginary part on, the residue of the quadrature is below the last digit."""
_FAR = 1e8
"""From here on, the first term of the asymptotic series has all digits (DLMF 7.12.1)."""


def _dtype(dtypes: Sequence[str]) -> str:
    return "complex64" if promoted([*dtypes, "float16"]) in _SINGLE else "complex128"


_SINGLE = ("float16", "float32", "complex64")


def _by_scipy(z: Array) -> Array:
    value: Array = np.asarray(of_scipy("wofz")(z), _dtype([z.dtype.name]))
    return value


def _formula(z: TensorVariable) -> TensorVariable:
    dtype = _dtype([z.dtype])
    if not is_complex(z.dtype):
        x = z.astype("float64")
        return complex(exp(-x * x), (2 / _ROOT_PI) * dawsn(x)).astype(dtype)
    x, y = (part.astype("float64") for part in (real(z), imag(z)))
    re, im = _of_first_quadrant(abs_(x), abs_(y))
    im = switch(lt(x, 0), -im, im)
    # w(z) is the conjugate of w(-conj(z)), and 2 exp(-z**2) - w(-z)
    lower = lt(y, 0)
    growing, turning = _exponential(x, switch(lower, y, 0.0))
    re = switch(lower, 2 * growing - re, re)
    im = switch(lower, 2 * turning + im, im)
    return complex(re, im).astype(dtype)


def _exponential(x: TensorVariable, y: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    """The real and the imaginary part of exp(-(x + iy)**2); a part is 0 for an argument of 0, also at infinity."""
    size, angle = exp((y - x) * (y + x)), 2 * x * y
    none = eq(size, 0)
    angle = switch(or_(none, or_(eq(x, 0), eq(y, 0))), 0.0, angle)
    return size * cos(angle), switch(eq(angle, 0), 0.0, -size * sin(angle))


def _of_first_quadrant(
    x: TensorVariable, y: TensorVariable
) -> tuple[TensorVariable, TensorVariable]:
    """The parts of w(x + iy) for x >= 0 and y >= 0."""
    size = maximum(x, y)
    far = gt(size, _FAR)
    re, im = _near(switch(far, 1.0, x), switch(far, 1.0, y))
    # i / (sqrt(pi) z), without a square that overflows
    scale = switch(far, size, 1.0)
    endless = isinf(size)
    u, v = (switch(endless, 0.0, part / scale) for part in (x, y))
    factor = 1 / (switch(endless, math.inf, scale * _ROOT_PI) * switch(far, u * u + v * v, 1.0))
    undefined = x + y  # NaN stays
    undefined = switch(eq(undefined, undefined), 0.0, undefined)
    re, im = switch(far, v * factor, re), switch(far, u * factor, im)
    im = switch(eq(x, 0), 0.0, switch(endless, 0.0, im) + undefined)
    return switch(endless, 0.0, re) + undefined, im


def _near(x: TensorVariable, y: TensorVariable) -> tuple[TensorVariable, TensorVariable]:
    steps = x / _STEP
    phase = steps - floor(steps)
    # the trapezoidal rule, where the points of the midpoint rule are near x
    trapezoidal = lt(y, x) & ge(phase, 0.25) & ge(0.75, phase)
    re: Any = 0.0
    im: Any = 0.0
    for k in range(_POINTS):
        point, middle = k * _STEP, (k + 0.5) * _STEP
        t = switch(trapezoidal, point, middle)
        weight = switch(
            trapezoidal, math.exp(-point * point) * (1.0 if k else 0.5), math.exp(-middle * middle)
        )
        below, above = (x - t) * (x - t) + y * y, (x + t) * (x + t) + y * y
        # of i z / (z**2 - t**2); the terms of the real part are all positive
        weight = weight / (below * above)
        re, im = re + weight * (x * x + y * y + t * t), im + weight * (x * x + y * y - t * t)
    factor = 2 * _STEP / math.pi
    low = lt(y, maximum(x, _HIGH)) & lt(y, _HIGH)
    residue = _residue(x, switch(low, y, 0.0), trapezoidal)
    return tuple(
        factor * part * total + switch(low, rest, 0.0)
        for part, total, rest in zip((y, x), (re, im), residue, strict=True)
    )


def _residue(
    x: TensorVariable, y: TensorVariable, trapezoidal: TensorVariable
) -> tuple[TensorVariable, TensorVariable]:
    """The parts of 2 exp(-z**2) / (1 + c exp(-2 pi i z / h)), where c is -1 for the trapezoidal rule and otherwise 1."""
    angle = (2 * math.pi / _STEP) * x
    size = switch(trapezoidal, -1.0, 1.0) * exp((2 * math.pi / _STEP) * y)
    below = 1 + size * cos(angle), -size * sin(angle)
    above = _exponential(x, y)
    norm = 2 / (below[0] * below[0] + below[1] * below[1])
    return (
        norm * (above[0] * below[0] + above[1] * below[1]),
        norm * (above[1] * below[0] - above[0] * below[1]),
    )


def _slope(z: TensorVariable, out: TensorVariable) -> TensorVariable:
    """2i / sqrt(pi) - 2 z w(z) (DLMF 7.10.2), and the asymptotic series where the difference cancels."""
    z = z.astype(out.dtype)
    x, y = real(z), imag(z)
    far = lt(8.0, maximum(abs_(x), abs_(y)))
    away = switch(far, z, 8.0)
    u = 0.5 / (away * away)
    series = 1.0 + 0.0 * u
    for k in range(25, 1, -2):
        series = 1 + k * u * series
    # the series lacks the exponential, which is all of the real part for real z
    share = switch(lt(y, 0), 4.0, switch(eq(y, 0), 2.0, 0.0))
    growing, turning = _exponential(x, switch(lt(y, 0), y, 0.0))
    exponential = share * complex(growing, turning)
    distant = (-2j / _ROOT_PI) * u * series - away * exponential
    return switch(far, distant, 2j / _ROOT_PI - 2 * z * out)


wofz: Elemwise = elementwise(
    "wofz",
    1,
    _dtype,
    _by_scipy,
    [lambda ct, z, out: ct * _slope(z, out)],
    "Faddeeva's function of real or complex z: exp(-z**2) erfc(-i z), which is complex.",
    formula=_formula,
    holomorphic=True,
)
