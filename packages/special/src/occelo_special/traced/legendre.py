"""The spherical Legendre function on JAX and PyTorch, by the steps of its definition. `functions` puts it into its table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from occelo_link.traced.traced_values import Array
from occelo_special.ops.legendre import FIRST, signed, stepped

Library = Any
"""A namespace of JAX or PyTorch, as `functions` describes it: this module uses ``xp``, ``loop`` and ``differentiable``."""


def _legendre(of: Library, n: Array, m: Array, theta: Array) -> Array:
    xp = of.xp
    n, m = xp.trunc(n), xp.trunc(m)
    size, angle = xp.abs(m), (xp.cos(theta), xp.abs(xp.sin(theta)))
    valid = size <= n
    last = xp.where(valid, n, 0.0)

    def more(state: Any) -> Any:
        return xp.any(state[0] <= last)

    def step(state: Any) -> Any:
        k, *values = state
        return (k + 1.0, *stepped(xp, k, last, size, angle, values))

    first = xp.where(xp.isfinite(theta), FIRST, theta * 0.0)
    value = of.loop(more, step, (xp.ones_like(theta), first, xp.zeros_like(theta)))[1]
    total = n + m
    return xp.where(valid, signed(xp, m, size, value), xp.where(xp.isnan(total), total, 0.0))


def _slopes(
    of: Library, needs: Sequence[bool], n: Array, m: Array, theta: Array
) -> list[Array | None]:
    """The derivative by the angle, half the difference of the neighbouring orders."""
    if needs[0] or needs[1]:
        raise NotImplementedError("spherical_legendre has no derivatives by its degree and order")
    xp = of.xp
    half = xp.where(xp.sin(theta) >= 0, 0.5, -0.5 * xp.ones_like(theta))
    up, down = (
        xp.sqrt(xp.maximum((n - sign * m) * (n + sign * m + 1.0), xp.zeros_like(n)))
        * _legendre(of, n, m + sign, theta)
        for sign in (1.0, -1.0)
    )
    return [None, None, half * (up - down)]


def spherical_legendre(of: Library, n: Array, m: Array, theta: Array) -> Array:
    """The spherical Legendre function of the degree ``n`` and the order ``m``."""
    function = of.differentiable(
        "spherical_legendre", 3, partial(_legendre, of), partial(_slopes, of)
    )
    return function(*of.broadcast(n, m, theta))
