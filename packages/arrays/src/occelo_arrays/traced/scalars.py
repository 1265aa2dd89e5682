"""The functions of JAX and PyTorch that compute functions of numbers: rows for `occelo_link.traced.functions`."""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.traced.functions import Library, add_functions
from occelo_link.traced.traced_values import Array


def _jax_signbit(of: Library, x: Array) -> Array:
    jnp = of.jnp
    return jnp.signbit(x) if jnp.issubdtype(x.dtype, jnp.floating) else x < 0


def _jax_exponent(of: Library, x: Array) -> Array:
    # XLA takes subnormal numbers for 0
    return of.jnp.frexp(x)[1]


def _torch_exponent(of: Library, x: Array) -> Array:
    finite = of.torch.isfinite(x)
    return of.torch.where(finite, of.torch.frexp(of.torch.where(finite, x, 0.0)).exponent, 0)


def _torch_ldexp(of: Library, x: Array, n: Array) -> Array:
    """x 2^n in three factors, of which none overflows and only the last may underflow."""
    torch = of.torch
    fraction, bias = (52, 1023) if x.dtype == torch.float64 else (23, 127)
    least = fraction + 1 - bias + 1
    n = n.to(torch.int64)
    for _ in range(2):
        step = torch.where(n > bias, bias, torch.where(n < least, least, 0))
        x, n = x * torch.exp2(step.to(x.dtype)), n - step
    return x * torch.exp2(torch.clamp(n, 1 - bias, bias).to(x.dtype))


def _torch_shift(name: str) -> Callable[..., Array]:
    """A shift that is 0, or -1 for a negative number that is moved right, beyond the number of bits."""

    def function(of: Library, x: Array, n: Array) -> Array:
        torch = of.torch
        count = torch.iinfo(x.dtype).bits
        outside = (n < 0) | (n >= count)
        shifted = getattr(torch, f"bitwise_{name}")(x, torch.where(outside, 0, n).to(x.dtype))
        beyond = torch.where(x < 0, -1, 0) if name == "right_shift" and x.dtype.is_signed else 0
        return torch.where(outside, beyond, shifted).to(x.dtype)

    return function


add_functions(
    {
        # name: conversion of the arguments, function of JAX, function of PyTorch
        "signbit": ("as is", _jax_signbit, "torch.signbit"),
        "copysign": ("out", "jnp.copysign", "torch.copysign"),
        "nextafter": ("out", "jnp.nextafter", "torch.nextafter"),
        "nextafter_of_halves": ("out", "jnp.nextafter", None),
        "ldexp": ("as is", "jnp.ldexp", _torch_ldexp),
        "exponent": ("as is", _jax_exponent, _torch_exponent),
        "hypot": ("out", "jnp.hypot", "torch.hypot"),
        "cbrt": ("out", "jnp.cbrt", None),
        "logaddexp2": ("out", "jnp.logaddexp2", "torch.logaddexp2"),
        "fmod": ("out", "jnp.fmod", None),
        "left_shift": ("out", "jnp.left_shift", _torch_shift("left_shift")),
        "right_shift": ("out", "jnp.right_shift", _torch_shift("right_shift")),
        "gcd": ("out", "jnp.gcd", "torch.gcd"),
        "lcm": ("out", "jnp.lcm", "torch.lcm"),
    }
)
