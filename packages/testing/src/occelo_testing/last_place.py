"""Errors in units in the last place, and the points at which functions of one number are compared with exact values."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Points:
    """Random numbers, so many at a time."""

    def __init__(self, seed: int, count: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.count = count

    def by_exponent(self, low: int, high: int, signed: bool = True) -> Any:
        """Numbers whose exponents are spread evenly."""
        rng, count = self.generator, self.count
        size = np.ldexp(rng.uniform(1, 2, count), rng.integers(low, high, count))
        return size * rng.choice([-1, 1], count) if signed else size

    def between(self, low: float, high: float) -> Any:
        """Numbers that are spread evenly."""
        return self.generator.uniform(low, high, self.count)


def ulps(computed: Any, exact: Any) -> float:
    """The distance from the exact value, a number of mpmath, in units of its last place."""
    mpf = importlib.import_module("mpmath").mpf
    nearest = float(exact)
    if math.isinf(nearest):
        return 0.0 if computed == nearest else math.inf
    unit = mpf(float(np.spacing(abs(nearest)))) if nearest else mpf(5e-324)
    return float(abs(mpf(float(computed)) - exact) / unit)


def worst(
    computed: Sequence[Any], points: Sequence[Any], exact: Callable[..., Any]
) -> tuple[float, Any]:
    """The largest distance in units in the last place, and the point at which it is."""
    mpf = importlib.import_module("mpmath").mpf
    errors = [
        ulps(value, exact(*[mpf(float(v)) for v in np.atleast_1d(point)]))
        for value, point in zip(computed, points, strict=True)
    ]
    at = int(np.argmax(errors))
    return errors[at], points[at]


def same(computed: Any, expected: Any) -> Any:
    """Where values are equal, and signs of zeros, too; NaN equals NaN."""
    signs = np.signbit(computed) == np.signbit(expected)
    return ((computed == expected) & signs) | (np.isnan(computed) & np.isnan(expected))
