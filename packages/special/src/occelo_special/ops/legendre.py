"""Spherical harmonics, and the Legendre functions of which they consist.

Degrees are reached by steps from the order on (DLMF 14.10.3), normalized so that all numbers are near 1. NumPy, JAX, PyTorch and
loop programs take the same steps, `stepped`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.ops.elemwise.arithmetic import ge, maximum, sqrt, switch
from occelo_graph.ops.elemwise.complex import complex
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cos, sin
from occelo_graph.tensors.type import is_discrete
from occelo_special.ops.defining import floats, reals, special, undefined

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["sph_harm_y", "sph_legendre_p"]

FIRST = math.sqrt(0.25 / math.pi)
"""The function of degree 0."""


def stepped(xp: Any, k: Any, n: Any, m: Any, angle: tuple[Any, Any], last: Any) -> tuple[Any, Any]:
    """The functions of the degrees k and k - 1, from those of k - 1 and k - 2, which are ``last``; ``m`` is not negative.

    Up to the order they are those of the orders k and k - 1. From the degree ``n`` on nothing changes. ``angle`` is cosine and sine.
    """
    (cosine, sine), (value, before) = angle, last
    climbing = k <= m
    low = -xp.sqrt(1.0 + 0.5 / k) * sine * value
    square = xp.where(climbing, 0.0, m * m)
    factor = xp.sqrt((4.0 * k * k - 1.0) / (k * k - square))
    lower = xp.sqrt(
        xp.where(climbing, 0.0, (k - 1.0) * (k - 1.0) - square) / (4.0 * k * (k - 2.0) + 3.0)
    )
    high = factor * (cosine * value - lower * before)
    following = xp.where(climbing, low, high), xp.where(climbing, 0.0, value)
    return tuple(xp.where(k <= n, new, old) for new, old in zip(following, last, strict=True))


def signed(xp: Any, m: Any, size: Any, value: Any) -> Any:
    """The function of the order ``m`` from that of ``size``, the magnitude of ``m``."""
    half = 0.5 * size
    return xp.where((m < 0.0) & (xp.floor(half) < half), -value, value)


def _legendre(n: Array, m: Array, theta: Array) -> Array:
    n, m, theta = (a.astype("float64") for a in np.broadcast_arrays(n, m, theta))
    n, m, size = np.trunc(n), np.trunc(m), np.abs(np.trunc(m))
    valid = size <= n
    state = np.where(np.isfinite(theta), FIRST, np.nan), np.zeros(theta.shape)
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        angle = np.cos(theta), np.abs(np.sin(theta))
        for k in range(1, int(np.max(n, initial=0.0, where=valid & (n < np.inf))) + 1):
            state = stepped(np, float(k), n, size, angle, state)
    return np.where(valid, signed(np, m, size, state[0]), np.where(np.isnan(n + m), np.nan, 0.0))


def _slope(n: TensorVariable, m: TensorVariable, theta: TensorVariable) -> TensorVariable:
    """Half the difference of the neighbouring orders (DLMF 14.10.5); SciPy's function is even in ``theta``."""

    def neighbour(sign: float) -> TensorVariable:
        weight = sqrt(maximum((n - sign * m) * (n + sign * m + 1), 0.0))
        neighbour: TensorVariable = weight * sph_legendre_p(n, m + sign, theta)
        return neighbour

    return switch(ge(sin(theta), 0), 0.5, -0.5) * (neighbour(1.0) - neighbour(-1.0))


_WHOLE = "a whole number of degree or order"
sph_legendre_p: Elemwise = special(
    "sph_legendre_p",
    [
        undefined(_WHOLE),
        undefined(_WHOLE),
        lambda ct, n, m, theta, out: ct * _slope(n, m, theta),
    ],
    "Spherical Legendre function of cos(theta), of whole degree n and order m: `sph_harm_y` for phi = 0.",
    _legendre,
)


def sph_harm_y(
    n: Any, m: Any, theta: Any, phi: Any, diff_n: int | None = None, n_max: int | None = None
) -> TensorVariable:
    """Spherical harmonics of the degree ``n`` and the order ``m`` at the polar angle ``theta`` and the azimuth ``phi``: complex.

    ``n`` and ``m`` are integers, else TypeError. As in SciPy, it is 0 for ``|m| > n``. There are derivatives by both angles; SciPy's
    ``diff_n`` may only be 0, else ValueError. JAX's ``n_max`` changes nothing.
    """
    for name, each in zip("nm", reals("sph_harm_y", n, m), strict=True):
        if not is_discrete(each.dtype):
            raise explained(
                TypeError(
                    f"The {name} of sph_harm_y must be integers, got {each} of type {each.type}"
                ),
                "dtypes",
            )
    if diff_n not in (None, 0):
        raise ValueError(
            f"sph_harm_y has no diff_n={diff_n!r}; use grad, jacobian or jvp by theta and phi"
        )
    theta, phi = floats("sph_harm_y", theta, phi)
    degree, order = (v.astype(theta.dtype) for v in reals("sph_harm_y", n, m))
    value, turn = sph_legendre_p(degree, order, theta), order * phi
    return complex(value * cos(turn), value * sin(turn))
