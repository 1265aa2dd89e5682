"""Cost of profiling a function of 1,000 nodes, compared with the same function without a profile; a part of `run`."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

__all__ = ["profile_overhead"]

NODES = 1000
SECONDS = 1.0


def _function(mode: str, profile: bool) -> Any:
    import occelo as oc
    import occelo.tensor as ot

    x = ot.dvector("x")
    y = x
    for i in range(NODES // 2):
        # neither folds into the other, and values stay near 1
        y = ot.cos(y) + 0.1 * (i % 7)
    return oc.function([x], y, mode=mode, profile=profile or None)


def _run(function: Any, value: Any, seconds: float) -> float:
    """Seconds per call, the mean of many."""
    count = 0
    start = perf_counter()
    while perf_counter() - start < seconds:
        for _ in range(10):
            function(value)
        count += 10
    return (perf_counter() - start) / count


def profile_overhead(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds per call without and with a profile, measured alternately, the minimum of the rounds."""
    found: dict[str, dict[str, float]] = {}
    for mode in ("native", "vm"):
        for length in (10, 1000):
            value = np.linspace(0.0, 1.0, length)
            plain, profiled = _function(mode, False), _function(mode, True)
            _run(plain, value, SECONDS / 4)
            _run(profiled, value, SECONDS / 4)
            times = [
                (_run(plain, value, SECONDS), _run(profiled, value, SECONDS)) for _ in range(rounds)
            ]
            name = f"{mode}, vectors of {length}"
            found[name] = {
                "without": min(t[0] for t in times),
                "with": min(t[1] for t in times),
            }
    return found
