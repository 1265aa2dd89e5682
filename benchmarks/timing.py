"""Seconds per call of functions that take turns."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter
from typing import Any

__all__ = ["Clock", "Timed", "interleaved", "timed"]

Clock = Callable[[], float]
Timed = Callable[[int], float]
"""Runs something so many times; returns the seconds that this took."""


def timed(call: Callable[[], Any], clock: Clock = perf_counter) -> Timed:
    """Repeated calls, timed by a clock: by default the time that passes, or `time.process_time` on a busy machine."""

    def run(count: int) -> float:
        gc.collect()
        start = clock()
        for _ in range(count):
            call()
        return clock() - start

    return run


def interleaved(calls: dict[str, Timed], rounds: int) -> dict[str, float]:
    """Seconds per call, the least of all rounds; in each round every function takes its turn, for 10 ms or one call."""
    counts = {name: max(1, int(0.01 / max(run(1), 1e-7))) for name, run in calls.items()}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, run in calls.items():
            best[name] = min(best[name], run(counts[name]) / counts[name])
    return best
