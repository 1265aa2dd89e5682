"""The spherical Legendre function as a loop program: a function that calls itself takes the steps of its definition."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops
from occelo_special.lowerings.numbers import NAMESPACE, Number, rarely, where
from occelo_special.ops.legendre import FIRST, signed, stepped

_xp = NAMESPACE.xp


def _legendre_steps(
    k: Number, n: Number, m: Number, cosine: Number, sine: Number, value: Number, before: Number
) -> Number:
    """The function of the degree ``n``, from the k-th step on."""
    following = stepped(_xp, k, n, m, (cosine, sine), (value, before))
    state = (k + 1.0, n, m, cosine, sine, *following)
    return rarely(k < n, _legendre_steps, *state, usually=following[0])


@lowers_scalar_to_loops("sph_legendre_p", cost=100)
def _legendre(b: Builder, dtype: str, args: Sequence[Value]) -> Value:
    n, m, theta = (Number(b, b.cast(a, "float64")) for a in args)
    n, m = _xp.trunc(n), _xp.trunc(m)
    size, cosine, sine = _xp.abs(m), _xp.cos(theta), _xp.abs(_xp.sin(theta))
    first = where(cosine.same(cosine), FIRST, cosine)
    zero = theta * 0.0
    valid = size <= n
    value = rarely(
        valid & (n >= 1.0),
        _legendre_steps,
        zero + 1.0,
        n,
        size,
        cosine,
        sine,
        first,
        zero,
        usually=first,
    )
    total = n + m
    outside = where(total.same(total), 0.0, total)
    return b.cast(where(valid, signed(_xp, m, size, value), outside).value, dtype)
