"""Timing of repeated calls: functions are called alternately, and the minimum of all rounds counts.

`compiled` times all libraries with `interleaved`; `other_process` times its calls with `timed`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter
from typing import Any

__all__ = ["Clock", "Timed", "interleaved", "timed"]

Clock = Callable[[], float]
Timed = Callable[[int], float]
"""A function that repeats a call as often as its argument says, and returns the seconds that all repetitions took."""


def timed(call: Callable[[], Any], clock: Clock = perf_counter) -> Timed:
    """A function that repeats ``call`` and returns the seconds of all repetitions, by ``clock``.

    The default clock measures elapsed time; `time.process_time` is better on a busy machine.
    """

    def run(count: int) -> float:
        gc.collect()
        start = clock()
        for _ in range(count):
            call()
        return clock() - start

    return run


def interleaved(calls: dict[str, Timed], rounds: int) -> dict[str, float]:
    """Seconds per call by name, the minimum of all rounds; each round runs every function once, for 10 ms or one call."""
    # the first call after those of another library reads its code and arrays from memory
    once = {name: min(run(1) for _ in range(3)) for name, run in calls.items()}
    counts = {name: max(1, int(0.01 / max(seconds, 1e-7))) for name, seconds in once.items()}
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, run in calls.items():
            best[name] = min(best[name], run(counts[name]) / counts[name])
    return best
