"""The logarithm of the beta function, and quotients and differences of gamma and psi functions, without cancellation.

`special_functions` calls these functions with a namespace ``xp`` for arrays or for variables of graphs. ``xp`` has the
functions ``where``, ``log``, ``log1p``, ``minimum``, ``maximum``, ``isinf`` and ``gammaln``. SciPy's functions lose up to six digits
if one argument is far larger than the other.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import isinf, maximum, minimum, switch
from occelo_graph.ops.elemwise.transcendental import exp, log, log1p

_SHIFT = 8
"""Stirling's series has all digits from here on."""
_STIRLING = (1/12, -1/360, 1/1260, -1/1680, 1/1188, -691/360360, 1/156)  # fmt: skip
"""Coefficients of 1/z, 1/z^3, ... in Stirling's series of log(gamma(z)) (DLMF 5.11.1)."""
_HUGE = 1e300


def functions_of_variables(gammaln: Any) -> Any:
    """The namespace for variables of graphs."""
    return SimpleNamespace(
        where=switch,
        log=log,
        log1p=log1p,
        minimum=minimum,
        maximum=maximum,
        isinf=isinf,
        gammaln=gammaln,
        exp=exp,
        abs=abs_,
    )


def functions_of_arrays(gammaln: Any) -> Any:
    """The namespace for arrays."""
    names = ("where", "log", "log1p", "minimum", "maximum", "isinf", "exp", "abs")
    return SimpleNamespace(**{n: getattr(np, n) for n in names}, gammaln=gammaln)


def _raised(xp: Any, z: Any) -> tuple[Any, Any]:
    """Whether z is small, and z + 8 in that case, else z."""
    small = z < _SHIFT
    return small, xp.where(small, z + _SHIFT, z)


def _stirling(u: Any) -> Any:
    """Stirling's series in u = 1/z."""
    square, total = u * u, 0.0
    for c in reversed(_STIRLING):
        total = total * square + c
    return total * u


def _stirling_difference(u: Any, v: Any) -> Any:
    """The series in v less the series in u, divided by v - u."""
    total, sums, power = 0.0, 1.0, 1.0
    for n in range(2 * len(_STIRLING) - 1):
        if n % 2 == 0:
            total = total + _STIRLING[n // 2] * sums  # sums is (v^(n + 1) - u^(n + 1)) / (v - u)
        power = power * v
        sums = sums * u + power
    return total


def log_rise(xp: Any, z: Any, m: Any) -> Any:
    """log(gamma(z + m) / gamma(z)), for 0 <= m <= z < infinity."""
    small, big = _raised(xp, z)
    safe = xp.where(small & (z > 0), z, 1.0)  # for z = 0, m is 0, too
    part = xp.where(small, m, 0.0)
    rise: Any = 0.0  # the product of all (1 + m / (z + k)), less 1
    for k in range(_SHIFT):
        step = part / (safe + k)
        rise = rise + step + rise * step
    ratio = m / big
    u = 1.0 / big
    v = u / (1.0 + ratio)
    whole = (big - 0.5) * xp.log1p(ratio) + m * (xp.log(big) + xp.log1p(ratio) - 1.0)
    return whole - m * u * v * _stirling_difference(u, v) - xp.log1p(rise)


def log_beta(xp: Any, a: Any, b: Any) -> Any:
    """log(gamma(a) gamma(b) / gamma(a + b)) for a >= 0 and b >= 0, with limits at infinity."""
    m, z = xp.minimum(a, b), xp.maximum(a, b)
    large = m >= _SHIFT
    infinite = xp.isinf(z)
    top = xp.where(infinite, _HUGE, z)
    low = xp.where(large, 1.0, m)
    by_rise = xp.gammaln(low) - log_rise(xp, xp.where(large, 8.0, top), low)
    far, near = xp.where(large, top, 8.0), xp.where(large, xp.minimum(m, top), 8.0)
    u, v = 1.0 / far, 1.0 / near
    sum_inverse = u / (1.0 + near / far)
    rests = _stirling(v) + u * sum_inverse * near * _stirling_difference(u, sum_inverse)
    by_stirling = (
        (0.5 * math.log(2 * math.pi) - 0.5 * xp.log(near) + rests)
        - near * xp.log1p(far / near)
        - (far - 0.5) * xp.log1p(near / far)
    )
    value = xp.where(large, by_stirling, by_rise)
    one = (m <= 1) & (m >= 1)
    # so that it cancels log(z); 0 at 1, and not -0
    value = xp.where(one, 0.0 - xp.log(xp.where(one, z, 1.0)), value)
    return xp.where(infinite & (m > 0), -math.inf, value)


def psi_rise(xp: Any, z: Any, m: Any) -> Any:
    """psi(z + m) - psi(z), for z > 0 and m > -z, both finite: proportional to m where m is small."""
    small, big = _raised(xp, z)
    safe = xp.where(small, z, 1.0)
    part = xp.where(small, m, 0.0)
    total: Any = 0.0
    for k in range(_SHIFT):
        total = total + part / (safe + part + k) / (safe + k)
    ratio = m / big
    u = 1.0 / big
    v = u / (1.0 + ratio)
    # psi(z) = log(z) - 1 / (2 z) - 1 / (12 z^2) + ... (DLMF 5.11.2)
    terms, sums, power = 0.5, 1.0, 1.0
    for n in range(1, 2 * len(_STIRLING) + 1):
        if n % 2 == 0:
            terms = terms + (n - 1) * _STIRLING[n // 2 - 1] * sums
        power = power * v
        sums = sums * u + power
    return xp.log1p(ratio) + ratio * v * terms + total
