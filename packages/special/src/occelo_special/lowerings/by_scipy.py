"""Lowerings of special functions that call SciPy's compiled functions by their addresses.

The first call in a process imports ``scipy.special``, which takes a tenth of a second and more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from occelo_link.loops.elementary import power
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops
from occelo_special.ops.special_functions import AT_INFINITY, NEAR_ZERO, OF_POSITIVE

Args = Sequence[Value]

SPECIAL = {
    "beta_by_scipy": "beta",
    "betainc": "__pyx_fuse_0betainc",
    "betaincc": "__pyx_fuse_0betaincc",
    "betainccinv": "__pyx_fuse_0betainccinv",
    "betaincinv": "__pyx_fuse_0betaincinv",
    "betaln_by_scipy": "betaln",
    "binom": "binom",
    "dawsn": "__pyx_fuse_1dawsn",
    "ellipe": "ellipe",
    "ellipeinc": "ellipeinc",
    "ellipk": "ellipk",
    "ellipkinc": "ellipkinc",
    "ellipkm1": "ellipkm1",
    "elliprd": "__pyx_fuse_1elliprd",
    "elliprf": "__pyx_fuse_1elliprf",
    "erfcinv": "erfcinv",
    "erfi": "__pyx_fuse_1erfi",
    "erfinv": "__pyx_fuse_0erfinv",
    "exp1": "__pyx_fuse_1exp1",
    "expi": "__pyx_fuse_1expi",
    "exprel": "exprel",
    "gamma": "__pyx_fuse_1gamma",
    "gammainccinv": "gammainccinv",
    "gammaincinv": "gammaincinv",
    "gammasgn": "gammasgn",
    "hyp1f1_by_scipy": "__pyx_fuse_1hyp1f1",
    "hyp2f1": "__pyx_fuse_1hyp2f1",
    "iv": "__pyx_fuse_1iv",
    "ive": "__pyx_fuse_1ive",
    "j0": "j0",
    "j1": "j1",
    "jv": "__pyx_fuse_1jv",
    "k0": "k0",
    "k0e": "k0e",
    "k1": "k1",
    "k1e": "k1e",
    "kv": "__pyx_fuse_1kv",
    "kve": "__pyx_fuse_1kve",
    "log_ndtr": "__pyx_fuse_1log_ndtr",
    "logit": "__pyx_fuse_0logit",
    "ndtri": "ndtri",
    "ndtri_exp": "ndtri_exp",
    "owens_t": "owens_t",
    "poch_by_scipy": "poch",
    "rgamma": "__pyx_fuse_1rgamma",
    "spence": "__pyx_fuse_1spence",
    "y0": "y0",
    "y1": "y1",
    "yv": "__pyx_fuse_1yv",
    "zetac": "zetac",
}
"""Maps the name of a scalar op to the name of its function in ``scipy.special.cython_special``."""


def _register(name: str, function: str) -> None:
    @lowers_scalar_to_loops(name, cost=100)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        wide = [b.cast(a, "float64") for a in args]
        # Cython adds a last argument, which says whether to skip the search for overriding methods
        skip = b.const(1, "int32")
        near = _near_zero(b, *wide) if name in ("iv", "ive") else None
        arguments = wide if near is None else [wide[0], near[0]]
        value = b.call(f"special:{function}", "float64", *arguments, skip)
        value = value if near is None else b.mul(value, near[1])
        if name in AT_INFINITY:
            value = _with_limit(b, name, wide, value)
        return b.cast(value, dtype)


def _near_zero(b: Builder, order: Value, x: Value) -> tuple[Value, Value]:
    """The number at which SciPy computes a Bessel function in place of ``x``, and the factor of its result."""
    near, one = b.const(NEAR_ZERO, "float64"), b.const(1.0, "float64")
    size = b.op("abs", x)
    small = b.select(b.lt(size, near), b.lt(b.const(0.0, "float64"), size), b.const(False, "bool"))
    signed = b.select(b.lt(x, b.const(0.0, "float64")), b.op("neg", near), near)
    exponent = b.select(b.eq(order, b.op("floor", order)), b.op("abs", order), order)
    ratio = b.select(small, b.op("div", size, near), one)
    return b.select(small, signed, x), b.apply("pow", power.pow, ratio, exponent)


def _with_limit(b: Builder, name: str, args: Args, value: Value) -> Value:
    """The value of a Bessel function, or its limit at infinity or at 0, as the interpreter has it."""

    def number(of: float) -> Value:
        return b.const(of, "float64")

    def both(x: Value, y: Value) -> Value:
        return b.select(x, y, b.const(False, "bool"))

    *orders, x = args
    order = orders[0] if orders else number(1.0 if name == "j1" else 0.0)
    limit, infinity = number(AT_INFINITY[name]), number(math.inf)
    below = b.op("floor", order)
    whole = b.eq(order, below)
    half = b.mul(below, number(0.5))
    even = b.eq(half, b.op("floor", half))
    if name in ("iv", "ive"):
        pole = both(b.eq(x, number(0.0)), both(b.lt(order, number(0.0)), b.lt(below, order)))
        value = b.select(pole, b.select(even, number(-math.inf), infinity), value)
    finite = b.lt(b.op("abs", order), infinity)
    value = b.select(both(finite, b.eq(x, infinity)), limit, value)
    if name in OF_POSITIVE:
        return value
    lower = both(both(finite, whole), b.eq(x, number(-math.inf)))
    return b.select(lower, b.select(even, limit, b.op("neg", limit)), value)


for _name, _function in SPECIAL.items():
    _register(_name, _function)
