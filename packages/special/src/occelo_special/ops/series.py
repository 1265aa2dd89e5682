"""NumPy code for derivatives of special functions by their parameters, computed by series and continued fractions.

For instance, SciPy has the incomplete gamma function P(k, x), but not its derivative by k. `special_functions` makes scalar ops
of the public functions here, which occur in the derivatives of its special functions. Series are summed term by term in
float64 until every element has converged. SciPy's ``psi`` is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.optional_scipy import scipy_module

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

_MAX_TERMS = 100_000
_EPS = 1e-17
_TINY = 1e-30


def _special() -> Any:
    return scipy_module("special", "The derivative of a special function by its parameter")


def _as_doubles(*arrays: Array) -> list[Array]:
    return [np.array(a, dtype="float64") for a in np.broadcast_arrays(*arrays)]


def _lower_slope(k: Array, x: Array) -> Array:
    """The derivative of log P(k, x) by k: the series DLMF 8.7.1 is differentiated term by term."""
    sp = _special()
    # P = x^k e^-x sum_n x^n / Gamma(k + n + 1)
    term = np.ones_like(x)
    slope = np.log(x) - sp.psi(k + 1)
    terms, total = term, slope
    for n in range(1, _MAX_TERMS):
        term = term * x / (k + n)
        slope = slope - 1 / (k + n)
        terms, total = terms + term, total + term * slope
        if not np.any(np.abs(term * slope) > _EPS * np.abs(total)):
            break
    return total / terms


def _upper_slope(k: Array, x: Array) -> Array:
    """The derivative of log Q(k, x) by k, where Q is 1 - P.

    Lentz's method computes the continued fraction DLMF 8.9.2 and its derivative.
    """
    sp = _special()
    # Q = x^k e^-x / Gamma(k) / f, where f is the product of all c d; a name with `_dk` is a derivative by k
    c, c_dk = x + 1 - k, -np.ones_like(x)
    d, d_dk = np.zeros_like(x), np.zeros_like(x)
    slope = c_dk / c
    for n in range(1, _MAX_TERMS):
        top, below = n * (k - n), x + (2 * n + 1) - k
        d_dk = n * d + top * d_dk - 1
        d = 1 / (below + top * d)
        d_dk = -d * d * d_dk
        c_dk = (n - top * c_dk / c) / c - 1
        c = below + top / c
        step = c_dk / c + d_dk / d
        slope = slope + step
        if not np.any(np.abs(step) > _EPS * np.abs(slope)):
            break
    return np.log(x) - sp.psi(k) - slope


def gammainc_dk(k: Array, x: Array) -> Array:
    """The derivative of the regularized incomplete gamma function P(k, x) by k.

    It is computed from P up to x = k + 1, and from 1 - P above, so that small derivatives in the tails are precise.
    """
    sp = _special()
    k, x = _as_doubles(k, x)
    with np.errstate(all="ignore"):
        inside = (x > 0) & (x < np.inf) & (k < np.inf)
        upper = inside & (x > k + 1)
        lower = inside & ~upper
        by_lower = sp.gammainc(k, x) * _lower_slope(*_where(lower, (k, 1.0), (x, 0.5)))
        by_upper = -sp.gammaincc(k, x) * _upper_slope(*_where(upper, (k, 1.0), (x, 4.0)))
        at_zero = -sp.exp1(np.where(inside, x, 1.0))  # P(0, x) is 1
    slope = np.where(upper, by_upper, np.where(lower, by_lower, 0.0))
    slope = np.where(inside & (k == 0), at_zero, slope)
    return np.where(np.isnan(k + x), np.nan, slope)


def _where(chosen: Array, *pairs: tuple[Array, float]) -> list[Array]:
    """For each pair of an array and a number: the array where ``chosen`` is true, the number elsewhere.

    The number is one for which the series converges fast.
    """
    return [np.where(chosen, array, other) for array, other in pairs]


def _psi_gap(a: Array, b: Array) -> Array:
    """psi(a + b) - psi(a), computed without cancellation if ``a`` is large (DLMF 5.11.2)."""
    sp = _special()
    large = a >= 30
    big = np.where(large, a, 30.0)
    both = big + b
    gap = np.log1p(b / big) + b / (2 * big * both)
    for power, factor in ((2, -1 / 12), (4, 1 / 120), (6, -1 / 252), (8, 1 / 240)):
        gap = gap + factor * (both**-power - big**-power)
    return np.where(large, gap, sp.psi(a + b) - sp.psi(a))


def _beta_slopes(a: Array, b: Array, x: Array, log_x: Array, log_y: Array) -> tuple[Array, Array]:
    """The derivatives of log I_x(a, b) by a and by b, for x up to (a + 1) / (a + b + 2).

    The series DLMF 8.17.8 is differentiated term by term. ``log_x`` is log(x), and ``log_y`` is log(1 - x).
    """
    # I = x^a (1-x)^b / (a B(a, b)) sum_n (a+b)_n / (a+1)_n x^n
    slope_a = log_x - 1 / a + _psi_gap(a, b)
    slope_b = log_y + _psi_gap(b, a)
    term = np.ones_like(x)
    terms, total_a, total_b = term, slope_a, slope_b
    for n in range(_MAX_TERMS):
        term = term * (a + b + n) / (a + 1 + n) * x
        slope_a = slope_a + (1 - b) / ((a + b + n) * (a + 1 + n))
        slope_b = slope_b + 1 / (a + b + n)
        step_a, step_b = term * slope_a, term * slope_b
        terms, total_a, total_b = terms + term, total_a + step_a, total_b + step_b
        ongoing = np.abs(step_a) > _EPS * np.abs(total_a)
        ongoing = ongoing | (np.abs(step_b) > _EPS * np.abs(total_b))
        if n > 10 and not np.any(ongoing):
            break
    return total_a / terms, total_b / terms


def _beta_slopes_near_one(a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """The same derivatives as `_beta_slopes`, for x near 1, where the series of `_beta_slopes` converges slowly.

    Lentz's method computes the even part of the continued fraction DLMF 8.17.22 and its derivatives. ``y`` is 1 - x.
    """
    rest = 1 + (a * y - b * x)
    share = a / (a + 1)
    c = share * rest
    c_da, c_db = rest / (a + 1) ** 2 + share * y, -share * x
    d, d_da, d_db = (np.zeros_like(x) for _ in range(3))
    slope_a, slope_b = c_da / c, c_db / c
    for n in range(1, _MAX_TERMS):
        s, t, step = a + (2 * n - 1), a + (2 * n + 1), a + (n - 1)
        ratio, here = n * (b - n) * x / s, rest + n * (1 + y)
        factor = step / s * x
        top = factor * (step + b) * ratio
        top_da = top * (1 / (step + b) - 2 / s) + (step + b) * x / s * ratio
        top_db = factor * (ratio + (step + b) * n * x / s)
        below = n + ratio + (a + n) / t * here
        below_da = -ratio / s + (n + 1) / t**2 * here + (a + n) / t * y
        below_db = n * x / s - (a + n) / t * x
        d_da = below_da + top_da * d + top * d_da
        d_db = below_db + top_db * d + top * d_db
        d = 1 / (below + top * d)
        d_da, d_db = -d * d * d_da, -d * d * d_db
        c_da = below_da + (top_da - top * c_da / c) / c
        c_db = below_db + (top_db - top * c_db / c) / c
        c = below + top / c
        step_a, step_b = c_da / c + d_da / d, c_db / c + d_db / d
        slope_a, slope_b = slope_a + step_a, slope_b + step_b
        ongoing = np.abs(step_a) > _EPS * np.abs(slope_a)
        if not np.any(ongoing | (np.abs(step_b) > _EPS * np.abs(slope_b))):
            break
    by_a = np.log1p(-y) + _psi_gap(a, b) - slope_a
    return by_a, np.log(y) + _psi_gap(b, a) - slope_b


def _betainc_slopes(a: Array, b: Array, x: Array) -> tuple[Array, Array]:
    """The derivatives of I_x(a, b) by a and by b.

    For x above (a + 1) / (a + b + 2), they are computed from the derivatives of I_{1-x}(b, a), which is 1 - I_x(a, b) (DLMF 8.17.4).
    """
    sp = _special()
    a, b, x = _as_doubles(a, b, x)
    with np.errstate(all="ignore"):
        between = (x > 0) & (x < 1)
        inside = between & (a > 0) & (b > 0) & (a < np.inf) & (b < np.inf)
        reflect = x > (a + 1) / (a + b + 2)
        log_x, log_y = np.log(x), np.log1p(-x)
        direct = (a, b, x, log_x, log_y)
        turned = (b, a, 1 - x, log_y, log_x)
        harmless = (1.0, 1.0, 0.5, -0.7, -0.7)
        pairs = zip(direct, turned, harmless, strict=True)
        low = [np.where(inside, np.where(reflect, rest, one), other) for one, rest, other in pairs]
        fast = low[2] < 0.9
        first, second = _beta_slopes(*_where(fast, *zip(low, harmless, strict=True)))
        if not np.all(fast):
            complement = np.where(reflect, x, 1 - x)
            near = zip((*low[:3], complement), (1.0, 1.0, 0.9, 0.1), strict=True)
            close = _beta_slopes_near_one(*_where(~fast, *near))
            first, second = np.where(fast, first, close[0]), np.where(fast, second, close[1])
        by_a, by_b = np.where(reflect, second, first), np.where(reflect, first, second)
        # `betainc` is precise where it is small, and so is `betaincc`
        value: Array = sp.betainc(a, b, x)
        complement: Array = sp.betaincc(a, b, x)
        factor = np.where(reflect, -complement, value)
        by_a, by_b = (np.where(inside, factor * each, 0.0) for each in (by_a, by_b))
        # I_x(0, b) is 1, and I_x(a, 0) is 0; from there both are linear in a and b
        by_a = np.where(between & (a == 0) & (b < np.inf), -sp.betaincc(_TINY, b, x) / _TINY, by_a)
        by_b = np.where(between & (b == 0) & (a < np.inf), sp.betainc(a, _TINY, x) / _TINY, by_b)
        undefined = np.isnan(a + b + x) | (a < 0) | (b < 0) | ((a == 0) & (b == 0))
    return np.where(undefined, np.nan, by_a), np.where(undefined, np.nan, by_b)


def betainc_da(a: Array, b: Array, x: Array) -> Array:
    """The derivative of the regularized incomplete beta function I_x(a, b) by a.

    It is computed from I up to x = (a + 1) / (a + b + 2), and from 1 - I above.
    """
    return _betainc_slopes(a, b, x)[0]


def betainc_db(a: Array, b: Array, x: Array) -> Array:
    """The derivative of the regularized incomplete beta function I_x(a, b) by b.

    It is computed from I up to x = (a + 1) / (a + b + 2), and from 1 - I above.
    """
    return _betainc_slopes(a, b, x)[1]


def _hyp2f1_series(a: Array, b: Array, c: Array, z: Array, by_c: bool) -> Array:
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
    return total


def _hyp2f1_far(a: Array, b: Array, c: Array, z: Array, by_c: bool) -> Array:
    """The derivative by a or by c for negative z. The series in z / (z - 1) converges for all of them (DLMF 15.8.1).

    It needs about 40 |z| terms. NaN for z below -2000, where these are too many.
    """
    # F(a, b; c; z) = (1 - z)^-b F(c - a, b; c; w)
    w = np.where(z >= -2000, z / (z - 1), np.nan)
    by_first = _hyp2f1_series(c - a, b, c, w, by_c=False)
    slope = by_first + _hyp2f1_series(c - a, b, c, w, by_c=True) if by_c else -by_first
    scaled: Array = (1 - z) ** -b * slope
    return scaled


def _whole(x: Array) -> Array:
    """Whether a number is 0 or a negative integer, where the gamma function has poles."""
    return (x <= 0) & (x == np.floor(x))


def _psi_over_gamma(x: Array) -> Array:
    """psi(x) / gamma(x), with its limits at the poles: minus the derivative of 1 / gamma(x)."""
    sp = _special()
    pole = _whole(x)
    n = np.where(pole, -x, 0.0)
    limit = np.where(n % 2 == 0, -1.0, 1.0) * sp.gamma(n + 1)
    other = np.where(pole, 1.0, x)
    elsewhere: Array = np.asarray(sp.psi(other) * sp.rgamma(other))
    quotient: Array = np.where(pole, limit, elsewhere)
    return quotient


def _at_one(a: Array, b: Array, c: Array, by_c: bool) -> Array:
    """The derivative by a or by c of 2F1(a, b; c; 1), which is the limit for z from below (DLMF 15.4.20 to 15.4.22)."""
    sp = _special()
    d = c - a - b
    converges = d > 0
    e = np.where(converges, d, 1.0)
    scale = sp.gamma(c) * sp.gamma(e) * sp.rgamma(c - b)
    if by_c:
        both = sp.rgamma(c - a) * (sp.psi(c) + sp.psi(e)) - _psi_over_gamma(c - a)
        finite = scale * both - sp.gamma(c) * sp.gamma(e) * sp.rgamma(c - a) * _psi_over_gamma(
            c - b
        )
        # the value behaves as gamma(c) gamma(-d) / gamma(a) / gamma(b) * (1 - z)^d
        sign = -sp.gamma(c) * sp.rgamma(a) * sp.rgamma(b)
    else:
        finite = scale * (_psi_over_gamma(c - a) - sp.psi(e) * sp.rgamma(c - a))
        sign = sp.gamma(c) * sp.rgamma(b) * np.where(_whole(a), -_psi_over_gamma(a), sp.rgamma(a))
    value: Array = np.asarray(finite)
    infinite: Array = np.sign(np.asarray(sign)) * np.inf
    limit: Array = np.where(converges, value, infinite)
    return limit


def _hyp2f1_slope(a: Array, b: Array, c: Array, z: Array, by_c: bool) -> Array:
    a, b, c, z = _as_doubles(a, b, c, z)
    # at 1, the series ends if the function is a polynomial of z for all a, or for all c
    summed = (np.abs(z) < 1) | ((z == 1) & (_whole(b) | (_whole(a) & by_c)))
    far = z < -0.9
    with np.errstate(all="ignore"):
        other = np.where(z == 1, _at_one(a, b, c, by_c), np.nan)
        (within,) = _where(summed & ~far, (z, 0.0))
        slope = np.where(summed, _hyp2f1_series(a, b, c, within, by_c), other)
        if not np.any(far):
            return slope
        (beyond,) = _where(far, (z, 0.0))
        return np.where(far, _hyp2f1_far(a, b, c, beyond, by_c), slope)


def hyp2f1_da(a: Array, b: Array, c: Array, z: Array) -> Array:
    """The derivative of the hypergeometric function 2F1(a, b; c; z) by a, for -2000 <= z <= 1; NaN elsewhere."""
    return _hyp2f1_slope(a, b, c, z, by_c=False)


def hyp2f1_dc(a: Array, b: Array, c: Array, z: Array) -> Array:
    """The derivative of the hypergeometric function 2F1(a, b; c; z) by c, for -2000 <= z <= 1; NaN elsewhere."""
    return _hyp2f1_slope(a, b, c, z, by_c=True)
