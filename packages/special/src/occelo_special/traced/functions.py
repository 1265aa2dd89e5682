"""The functions of JAX and PyTorch that compute special functions: rows for the table in `occelo_link.traced.functions`.

`occelo_link.traced.linker` imports this module when special functions are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from occelo_link.traced.functions import Library, add_functions
from occelo_link.traced.traced_values import Array
from occelo_special.ops.special_functions import AT_INFINITY
from occelo_special.traced.gamma_quotients import (
    beta_of_small,
    log_beta_of_negative,
    log_ndtr,
    poch,
    polygamma,
    tri_gamma,
)
from occelo_special.traced.incomplete_beta import both_incomplete_betas, incomplete_beta_slopes
from occelo_special.traced.incomplete_gamma import both_incomplete_gammas, incomplete_gamma_slopes
from occelo_special.traced.legendre import spherical_legendre

Both = Callable[..., tuple[Array, Array]]
Slopes = Callable[..., list[Array | None]]


def _erfcinv(of: Library, x: Array) -> Array:
    return -of.special.ndtri(x / 2) / 1.4142135623730951


def _tail(name: str, both: Both, slopes: Slopes, upper: bool = False) -> Callable[..., Array]:
    """Return a distribution function, or its complement if ``upper`` is true, from an expansion of our own.

    ``both`` computes both functions, and ``slopes`` the derivatives of the first one. Derivatives that are needed and
    that the library lacks raise NotImplementedError.
    """

    def function(of: Library, *arrays: Array) -> Array:
        def needed(needs: Sequence[bool], *values: Array) -> list[Array | None]:
            derivatives = slopes(of, needs, *values)
            if any(need and slope is None for need, slope in zip(needs, derivatives, strict=True)):
                raise NotImplementedError(f"{name} has no derivative by its parameters here")
            return [slope if slope is None or not upper else -slope for slope in derivatives]

        computed = partial(_one_of, both, of, upper)
        return of.differentiable(name, len(arrays), computed, needed)(*of.broadcast(*arrays))

    return function


def _one_of(both: Both, of: Library, which: bool, *arrays: Array) -> Array:
    return both(of, *arrays)[which]


_gammainc = _tail("gammainc", both_incomplete_gammas, incomplete_gamma_slopes)
_gammaincc = _tail("gammaincc", both_incomplete_gammas, incomplete_gamma_slopes, upper=True)
_betainc = _tail("betainc", both_incomplete_betas, incomplete_beta_slopes)
_betaincc = _tail("betaincc", both_incomplete_betas, incomplete_beta_slopes, upper=True)


def _bessel(name: str, called: str) -> Callable[..., Array]:
    """Return a Bessel function of order 0 or 1 with its limits at infinity, where the libraries' functions are NaN."""
    above = AT_INFINITY.get(name, 0.0)
    below = above if name in ("i0", "i0e", "j0") else -above

    def function(of: Library, x: Array) -> Array:
        xp = of.xp
        value = getattr(of.special, called)(x)
        limit = xp.where(x < 0, below, above * xp.ones_like(value))
        return xp.where(xp.isinf(x), limit, value)

    return function


def _with_limits(called: str, limits: dict[float, float]) -> Callable[..., Array]:
    """Return a function of JAX, with limits at some last arguments, where it is NaN."""

    def function(of: Library, *arrays: Array) -> Array:
        value = getattr(of.special, called)(*arrays)
        for end, limit in limits.items():
            value = of.jnp.where(arrays[-1] == end, limit, value)
        return value

    return function


def _jax_psi(of: Library, x: Array) -> Array:
    jnp = of.jnp
    return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), of.special.digamma(x))


def _jax_gammainc_dk(of: Library, k: Array, x: Array) -> Array:
    jnp = of.jnp
    inside = (k > 0) & (k < jnp.inf)
    slope = of.lax.igamma_grad_a(jnp.where(inside, k, 1), x)
    limit = jnp.where((k == 0) & (x > 0), -of.special.exp1(jnp.where(x > 0, x, 1)), 0)
    return jnp.where(inside, slope, jnp.where(jnp.isnan(k + x), jnp.nan, limit))


def _jax_gamma(of: Library, x: Array) -> Array:
    return of.special.gamma(x)


def _jax_xlogy(of: Library, x: Array, y: Array) -> Array:
    jnp = of.jnp
    return jnp.where((x == 0) & ~jnp.isnan(y), 0, x * jnp.log(y))


def _jax_xlog1py(of: Library, x: Array, y: Array) -> Array:
    jnp = of.jnp
    return jnp.where((x == 0) & ~jnp.isnan(y), 0, x * jnp.log1p(y))


def _torch_gamma(of: Library, x: Array) -> Array:
    # the sign of Gamma alternates from one negative pole to the next
    torch = of.torch
    size = torch.exp(of.special.gammaln(x))
    odd = torch.remainder(torch.floor(x), 2) != 0
    signed = torch.where((x < 0) & odd, -size, size)
    return torch.where(
        (x <= 0) & (x == torch.floor(x)), torch.where(x == 0, size, torch.nan), signed
    )


_EXPI = {0: -math.inf, math.inf: math.inf, -math.inf: 0}

add_functions(
    {
        # name: conversion of the arguments, function of JAX, function of PyTorch
        "erfinv": ("out", "special.erfinv", "torch.erfinv"),
        "erfcinv": ("out", _erfcinv, _erfcinv),
        "gamma": ("out", "special.gamma", _torch_gamma),
        "gammaln": ("out", "special.gammaln", "special.gammaln"),
        "psi": ("out", _jax_psi, "special.digamma"),
        "tri_gamma": ("out", tri_gamma, tri_gamma),
        "polygamma": ("as is", polygamma, None),
        "poch_by_scipy": ("out", poch, None),
        "gammainc": ("out", _gammainc, _gammainc),
        "gammaincc": ("out", _gammaincc, _gammaincc),
        "gammainc_dk": ("out", _jax_gammainc_dk, None),
        "beta_by_scipy": ("out", beta_of_small(_jax_gamma), beta_of_small(_torch_gamma)),
        "betaln_by_scipy": ("out", log_beta_of_negative, log_beta_of_negative),
        "betainc": ("out", _betainc, _betainc),
        "betaincc": ("out", _betaincc, _betaincc),
        "log_ndtr": ("out", log_ndtr, "special.log_ndtr"),
        "i0": ("out", _bessel("i0", "i0"), _bessel("i0", "i0")),
        "i1": ("out", _bessel("i1", "i1"), _bessel("i1", "i1")),
        "logit": ("out", "special.logit", "special.logit"),
        "xlogy": ("out", _jax_xlogy, "special.xlogy"),
        "xlog1py": ("out", _jax_xlog1py, "special.xlog1py"),
        "owens_t": ("out", "special.owens_t?", None),
        "hyp2f1": ("out", "special.hyp2f1?", None),
        "i0e": ("out", _bessel("i0e", "i0e"), _bessel("i0e", "i0e")),
        "i1e": ("out", _bessel("i1e", "i1e"), _bessel("i1e", "i1e")),
        "exp1": ("out", _with_limits("exp1", {math.inf: 0}), None),
        "expi": ("out", _with_limits("expi", _EXPI), None),
        "spence": ("out", _with_limits("spence", {math.inf: -math.inf}), None),
        "dawsn": ("out", "special.dawsn?", None),
        "gammasgn": ("out", "special.gammasgn?", None),
        "fresnel_sine": ("out", "special.fresnel?0", None),
        "fresnel_cosine": ("out", "special.fresnel?1", None),
        "sine_integral": ("out", "special.sici?0", None),
        "cosine_integral": ("out", "special.sici?1", None),
        # PyTorch's functions of the first and second kind lose digits beyond 3
        "k0": ("out", None, "special.modified_bessel_k0"),
        "k1": ("out", None, "special.modified_bessel_k1"),
        "k0e": ("out", None, "special.scaled_modified_bessel_k0"),
        "k1e": ("out", None, "special.scaled_modified_bessel_k1"),
        "ndtri": ("out", "special.ndtri", "special.ndtri"),
        "sph_legendre_p": ("out", spherical_legendre, spherical_legendre),
        "zeta_hurwitz": ("out", _with_limits("zeta", {0: math.inf, math.inf: 0}), "special.zeta"),
    }
)
