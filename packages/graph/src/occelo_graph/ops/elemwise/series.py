"""Series for derivatives of special functions with respect to their parameters, in NumPy.

Each is summed term by term in float64 until every element has converged. SciPy's ``psi`` is
imported on first use.

The derivatives in `special` use them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.optional_scipy import scipy_module

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

__all__ = ["betainc_da", "gammainc_dk", "hyp2f1_da", "hyp2f1_dc"]

_MAX_TERMS = 100_000
_EPS = 1e-17


def _special() -> Any:
    return scipy_module("special", "The derivative of a special function by its parameter")


def _as_doubles(*arrays: Array) -> list[Array]:
    return [np.array(a, dtype="float64") for a in np.broadcast_arrays(*arrays)]


def gammainc_dk(k: Array, x: Array) -> Array:
    """Derivative of P(k, x) by k, from DLMF 8.7.1 differentiated term by term.

    P = x^k e^-x sum_n x^n / Gamma(k + n + 1). Absolute accuracy is about 1e-15; where P is within
    rounding of 1 the relative accuracy of the (tiny) derivative is lost.
    """
    sp = _special()
    k, x = _as_doubles(k, x)
    with np.errstate(all="ignore"):
        log_first = k * np.log(x) - x - sp.gammaln(k + 1)
        term = np.exp(log_first)
        total = term * (np.log(x) - sp.psi(k + 1))
        for n in range(1, _MAX_TERMS):
            term = term * x / (k + n)
            step = term * (np.log(x) - sp.psi(k + n + 1))
            total = total + step
            if not np.any((np.abs(step) > _EPS * np.abs(total)) & (term > 1e-300) | (n < x)):
                break
    return np.where(x == 0, 0.0, total)


def _betainc_da_series(a: Array, b: Array, x: Array) -> Array:
    sp = _special()
    # I = x^a (1-x)^b / (a B(a, b)) sum_n (a+b)_n / (a+1)_n x^n, DLMF 8.17.8
    value = np.exp(a * np.log(x) + b * np.log1p(-x) - np.log(a) - sp.betaln(a, b))
    slope = np.log(x) - 1 / a - (sp.psi(a) - sp.psi(a + b))
    term = np.ones_like(x)
    log_slope = np.zeros_like(x)
    total = term * slope
    for n in range(_MAX_TERMS):
        term = term * (a + b + n) / (a + 1 + n) * x
        log_slope = log_slope + 1 / (a + b + n) - 1 / (a + 1 + n)
        step = term * (slope + log_slope)
        total = total + step
        if not np.any(np.abs(step) > _EPS * np.abs(total)) and n > 10:
            break
    return value * total


def _betainc_db_series(a: Array, b: Array, x: Array) -> Array:
    sp = _special()
    value = np.exp(a * np.log(x) + b * np.log1p(-x) - np.log(a) - sp.betaln(a, b))
    slope = np.log1p(-x) - (sp.psi(b) - sp.psi(a + b))
    term = np.ones_like(x)
    log_slope = np.zeros_like(x)
    total = term * slope
    for n in range(_MAX_TERMS):
        term = term * (a + b + n) / (a + 1 + n) * x
        log_slope = log_slope + 1 / (a + b + n)
        step = term * (slope + log_slope)
        total = total + step
        if not np.any(np.abs(step) > _EPS * np.abs(total)) and n > 10:
            break
    return value * total


def betainc_da(a: Array, b: Array, x: Array) -> Array:
    """Derivative of I_x(a, b) by a; beyond the mean the reflected series converges faster."""
    a, b, x = _as_doubles(a, b, x)
    with np.errstate(all="ignore"):
        reflect = x > (a + 1) / (a + b + 2)
        inside = (x > 0) & (x < 1)
        low = np.where(inside & ~reflect, x, 0.5)
        high = np.where(inside & reflect, 1 - x, 0.5)
        direct = _betainc_da_series(np.where(reflect, 1.0, a), np.where(reflect, 1.0, b), low)
        turned = -_betainc_db_series(np.where(reflect, b, 1.0), np.where(reflect, a, 1.0), high)
    return np.where(
        np.isnan(a + b + x), np.nan, np.where(inside, np.where(reflect, turned, direct), 0.0)
    )


def _hyp2f1_series(a: Array, b: Array, c: Array, z: Array, by_c: bool) -> Array:
    a, b, c, z = _as_doubles(a, b, c, z)
    with np.errstate(all="ignore"):
        term = np.ones_like(z)
        slope_term = np.zeros_like(z)  # derivative of the term, DLMF 15.2.1 term by term
        total = np.zeros_like(z)
        for n in range(_MAX_TERMS):
            factor = (b + n) / (n + 1) * z
            if by_c:
                slope_term = (slope_term - term / (c + n)) * (a + n) / (c + n) * factor
            else:
                slope_term = (slope_term * (a + n) + term) / (c + n) * factor
            term = term * (a + n) / (c + n) * factor
            total = total + slope_term
            if not np.any(np.abs(slope_term) > _EPS * np.abs(total)) and n > 10:
                break
    return np.where(np.abs(z) < 1, total, np.nan)


def hyp2f1_da(a: Array, b: Array, c: Array, z: Array) -> Array:
    """Derivative of 2F1(a, b; c; z) by a for |z| < 1, NaN elsewhere."""
    return _hyp2f1_series(a, b, c, z, by_c=False)


def hyp2f1_dc(a: Array, b: Array, c: Array, z: Array) -> Array:
    """Derivative of 2F1(a, b; c; z) by c for |z| < 1, NaN elsewhere."""
    return _hyp2f1_series(a, b, c, z, by_c=True)
