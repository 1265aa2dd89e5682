"""Further Bessel functions: of the second kind, scaled by exponentials, spherical, and Airy functions.

Derivatives are those of DLMF 10.6, 10.29, 10.51 and 9.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import eq, lt, sign, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.axes import static_integer
from occelo_special.ops.defining import of_scipy, reals, special, undefined
from occelo_special.ops.special_functions import NEAR_ZERO, jv, kv, kve, with_limits

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.signatures import DerivativeOfTensors
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "airy",
    "bessel_jn",
    "i0e",
    "i1e",
    "jn",
    "jve",
    "k0",
    "k0e",
    "k1",
    "k1e",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "y0",
    "y1",
    "yn",
    "yv",
    "yve",
]

_ORDER = "the derivative of a Bessel function by its order"
_POINTERS = "SciPy's compiled function returns its results through pointers"

jn = jv


def _not_at_0(x: TensorVariable, term: TensorVariable) -> TensorVariable:
    """A term of a derivative that is infinite at 0, where another term is infinitely larger."""
    return switch(eq(x, 0), 0.0, term)


yv: Elemwise = special(
    "yv",
    [
        undefined(_ORDER),
        lambda ct, v, x, out: ct * 0.5 * (_not_at_0(x, yv(v - 1, x)) - yv(v + 1, x)),
    ],
    "Bessel function of x, of the second kind and order v.",
    with_limits("yv"),
)
y1: Elemwise = special(
    "y1",
    [lambda ct, x, out: ct * 0.5 * (_not_at_0(x, y0(x)) - yv(2.0, x))],
    "Bessel function of x, of the second kind and order 1.",
    with_limits("y1"),
)
y0: Elemwise = special(
    "y0",
    [lambda ct, x, out: -ct * y1(x)],
    "Bessel function of x, of the second kind and order 0.",
    with_limits("y0"),
)


def bessel_jn(z: Any, *, v: int, n_iter: int = 50) -> TensorVariable:
    """`jv` of ``z`` and the orders 0 to ``v``, along a new first dimension, as in JAX. ``n_iter`` changes nothing."""
    last, (x,) = static_integer(v, "v of bessel_jn"), reals("bessel_jn", z)
    if last < 0:
        raise ValueError(f"v of bessel_jn must not be negative, got {v}")
    orders = np.arange(last + 1, dtype="float64").reshape(-1, *[1] * x.type.ndim)
    return jv(orders.astype(x.dtype) if x.type.numpy_dtype.kind == "f" else orders, x)


def yn(n: Any, x: Any) -> TensorVariable:
    """Bessel function of ``x`` of the second kind and whole order ``n``: `yv` of this order."""
    bessel: TensorVariable = yv(n, x)
    return bessel


def jve(v: Any, z: Any) -> TensorVariable:
    """Bessel function of the first kind and order v times exp(-|imag(z)|), which is 1 for real z: `jv`."""
    bessel: TensorVariable = jv(*reals("jve", v, z))
    return bessel


def yve(v: Any, z: Any) -> TensorVariable:
    """Bessel function of the second kind and order v times exp(-|imag(z)|), which is 1 for real z: `yv`."""
    bessel: TensorVariable = yv(*reals("yve", v, z))
    return bessel


k1: Elemwise = special(
    "k1",
    [lambda ct, x, out: ct * -0.5 * (k0(x) + kv(2.0, x))],
    "Modified Bessel function of the second kind, order 1, at x.",
)
k0: Elemwise = special(
    "k0",
    [lambda ct, x, out: -ct * k1(x)],
    "Modified Bessel function of the second kind, order 0, at x.",
)
k1e: Elemwise = special(
    "k1e",
    [lambda ct, x, out: ct * (_not_at_0(x, out) - 0.5 * (k0e(x) + kve(2.0, x)))],
    "exp(x) * k1(x).",
)
k0e: Elemwise = special(
    "k0e", [lambda ct, x, out: ct * (_not_at_0(x, out) - k1e(x))], "exp(x) * k0(x)."
)


def _i1e_slope(x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The slope is I0(x) - I1(x) / x, scaled (DLMF 10.29.2), less that of the absolute value."""
    near = lt(abs_(x), NEAR_ZERO)
    ratio = switch(near, 0.5, out / switch(near, 1.0, x))
    return i0e(x) - ratio - switch(eq(x, 0), 0.0, sign(x) * out)


i1e: Elemwise = special(
    "i1e",
    [lambda ct, x, out: ct * _i1e_slope(x, out)],
    "exp(-|x|) * i1(x).",
)
i0e: Elemwise = special(
    "i0e",
    [lambda ct, x, out: ct * (i1e(x) - switch(eq(x, 0), 0.0, sign(x) * out))],
    "exp(-|x|) * i0(x).",
)


_MOST_STEPS = 1000
"""SciPy's spherical functions of an order take about as many steps; from it on they are read from Bessel functions."""


def _spherical(
    name: str, other: str, factor: float, doc: str, slope: DerivativeOfTensors
) -> Elemwise:
    def function(n: Array, x: Array) -> Array:
        order = n.astype("int64")
        many = order > _MOST_STEPS
        value: Array = of_scipy(name)(np.where(many, 0, order), x)
        if many.any():
            # DLMF 10.47.3 to 10.47.9
            half = of_scipy(other)(order + 0.5, x) * np.sqrt(factor / (2 * x))
            value = np.where(many, half, value)
        return value

    return special(
        name,
        [undefined("a whole number of order"), slope],
        doc,
        function,
        python_only="SciPy's compiled function takes an integer",
    )


def _first(n: TensorVariable) -> TensorVariable:
    return eq(n, 0)


spherical_jn: Elemwise = _spherical(
    "spherical_jn",
    "jv",
    math.pi,
    "Spherical Bessel function of x, of the first kind and whole order n >= 0.",
    # DLMF 10.51.2, of which one term is left for n = 0
    lambda ct, n, x, out: (
        ct * (n * spherical_jn(abs_(n - 1), x) - (n + 1) * spherical_jn(n + 1, x)) / (2 * n + 1)
    ),
)
spherical_yn: Elemwise = _spherical(
    "spherical_yn",
    "yv",
    math.pi,
    "Spherical Bessel function of x, of the second kind and whole order n >= 0.",
    lambda ct, n, x, out: (
        ct
        * (
            switch(_first(n), 0.0, _not_at_0(x, n * spherical_yn(abs_(n - 1), x)))
            - (n + 1) * spherical_yn(n + 1, x)
        )
        / (2 * n + 1)
    ),
)
spherical_in: Elemwise = _spherical(
    "spherical_in",
    "iv",
    math.pi,
    "Modified spherical Bessel function of x, of the first kind and whole order n >= 0.",
    lambda ct, n, x, out: (
        ct * (n * spherical_in(abs_(n - 1), x) + (n + 1) * spherical_in(n + 1, x)) / (2 * n + 1)
    ),
)
spherical_kn: Elemwise = _spherical(
    "spherical_kn",
    "kv",
    math.pi,
    "Modified spherical Bessel function of x, of the second kind and whole order n >= 0.",
    lambda ct, n, x, out: (
        -ct
        * (
            switch(_first(n), 0.0, n * spherical_kn(abs_(n - 1), x))
            + (n + 1) * spherical_kn(n + 1, x)
        )
        / (2 * n + 1)
    ),
)

# Airy functions: both solve y'' = x y


def _airy(which: int, limits: tuple[float, float]) -> Callable[[Array], Array]:
    """One of SciPy's Airy functions, with its limits at minus infinity and infinity. NaN where it has none."""

    def computing(x: Array) -> Array:
        value: Array = of_scipy("airy", which)(x)
        low, high = limits
        return np.where(np.isinf(x), np.where(x < 0, low, high), value)

    return computing


airy_ai: Elemwise = special(
    "airy_ai",
    [lambda ct, x, out: ct * airy_ai_prime(x)],
    "Airy function Ai.",
    _airy(0, (0.0, 0.0)),
    python_only=_POINTERS,
)
airy_ai_prime: Elemwise = special(
    "airy_ai_prime",
    [lambda ct, x, out: ct * switch(eq(x, math.inf), 0.0, x * airy_ai(x))],
    "Derivative of the Airy function Ai.",
    _airy(1, (math.nan, 0.0)),
    python_only=_POINTERS,
)
airy_bi: Elemwise = special(
    "airy_bi",
    [lambda ct, x, out: ct * airy_bi_prime(x)],
    "Airy function Bi.",
    _airy(2, (0.0, math.inf)),
    python_only=_POINTERS,
)
airy_bi_prime: Elemwise = special(
    "airy_bi_prime",
    [lambda ct, x, out: ct * switch(eq(x, -math.inf), math.nan, x * airy_bi(x))],
    "Derivative of the Airy function Bi.",
    _airy(3, (math.nan, math.inf)),
    python_only=_POINTERS,
)


def airy(z: Any) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """The Airy functions of real numbers ``z``: Ai, its derivative, Bi and its derivative."""
    (x,) = reals("airy", z)
    return airy_ai(x), airy_ai_prime(x), airy_bi(x), airy_bi_prime(x)
