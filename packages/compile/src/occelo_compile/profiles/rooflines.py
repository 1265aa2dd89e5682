"""Rooflines: how near loops come to what the machine can do, as a table and as a plot.

The model is that of Williams, Waterman and Patterson, Roofline: An Insightful Visual Performance Model for Multicore
Architectures (2009). A loop takes at least the time in which the machine can do its operations, and at least the time in which
it can move its bytes.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from occelo_compile.profiles.loop_times import LoopTime, LoopTimes, aligned, html_table
from occelo_link.timing import most_threads

_SIZES = (1 << 15, 1 << 18, 1 << 22, 1 << 25, 1 << 28)
"""The bytes that are copied, half of them read and half written: they lie in caches of the first to the third level, and in memory."""
_SHARED = 1 << 22
"""From this size on, all threads copy a part each."""
_MATRICES, _ROWS = 50, 96
_MOVED = 1 << 26
"""The number of bytes that a measurement moves at least."""


@dataclass(frozen=True)
class Ceilings:
    """What a machine can do: operations a second of one thread, by dtype, and bytes a second.

    ``bandwidths`` has pairs: a number of bytes that a loop uses, and the bytes a second that a copy of so much memory
    reads and writes. ``threads`` is the number of threads of large loops.
    """

    operations: dict[str, float]
    bandwidths: tuple[tuple[int, float], ...]
    threads: int

    def rate(self, dtype: str, size: int) -> float:
        """The operations a second for a loop that uses ``size`` bytes."""
        return self.operations[dtype] * (self.threads if size >= _SHARED else 1)

    def bandwidth(self, size: int) -> float:
        """The bytes a second for a loop that uses ``size`` bytes: those of the nearest larger copy."""
        return next(
            (rate for most, rate in self.bandwidths if size <= most), self.bandwidths[-1][1]
        )


def _least(function: Callable[[], object], times: int = 5) -> float:
    best = float("inf")
    for _ in range(times):
        start = perf_counter()
        function()
        best = min(best, perf_counter() - start)
    return best


def _copies(source: Any, target: Any, times: int) -> None:
    for _ in range(times):
        np.copyto(target, source)


def _bandwidth(size: int, threads: int) -> float:
    """Bytes a second of copies that read and write ``size`` bytes altogether, without the time of a call that copies nothing."""
    workers = threads if size >= _SHARED else 1
    each, times = size // (2 * workers), max(1, _MOVED // size)
    memory = [(np.ones(each, np.uint8), np.zeros(each, np.uint8)) for _ in range(workers)]
    nothing = _least(lambda: _copies(memory[0][0][:0], memory[0][1][:0], times))
    if workers == 1:
        return size * times / (_least(lambda: _copies(*memory[0], times)) - nothing)
    with ThreadPoolExecutor(workers) as pool:

        def together() -> None:
            for copying in [pool.submit(_copies, *pair, times) for pair in memory]:
                copying.result()

        together()
        return size * times / (_least(together) - nothing)


@functools.cache
def ceilings() -> Ceilings:
    """Measure this machine, once in a process: NumPy's products of many small matrices, and copies of memory of five sizes.

    So small matrices are multiplied by one thread. Copies of much memory use as many threads as loops may
    (the option ``native__threads``).
    """
    operations: dict[str, float] = {}
    for dtype in ("float64", "float32"):
        matrices = np.ones((_MATRICES, _ROWS, _ROWS), dtype)
        seconds = _least(lambda matrices=matrices: matrices @ matrices)
        operations[dtype] = 2 * _MATRICES * _ROWS**3 / seconds
    threads = most_threads()
    rates = tuple((size, _bandwidth(size, threads)) for size in _SIZES)
    return Ceilings(operations, rates, threads)


class Roofline:
    """The loops of a function beside the ceilings of the machine. It is printed as a table; `plot` draws it.

    ``times`` are the loops, and ``ceilings`` is what the machine can do. Nearest to the ceiling is the least time of a loop.
    """

    def __init__(self, times: LoopTimes, ceilings: Ceilings) -> None:
        self.times = times
        self.ceilings = ceilings

    def bounds(self, loop: LoopTime) -> tuple[float, float]:
        """The least seconds that the machine needs for the operations of a loop, and for its bytes."""
        size = loop.bytes // max(loop.entered, 1)
        rate = self.ceilings.rate(_dtype(loop), size)
        return (loop.operations or 0) / rate, loop.bytes / self.ceilings.bandwidth(size)

    def share(self, loop: LoopTime) -> float:
        """The larger of the two bounds, divided by the loop's least time: 1 if the loop reaches the ceiling.

        A loop that works in registers or in the first cache may reach more than 1.
        """
        return max(self.bounds(loop)) / loop.minimum if loop.minimum else 0.0

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for loop in self.times.slowest_first():
            by_operations, by_bytes = self.bounds(loop)
            seconds, known = loop.minimum or float("inf"), loop.operations is not None
            rows.append(
                (
                    f"{1e6 * loop.minimum:.2f}",
                    f"{1e-9 * (loop.operations or 0) / seconds:.2f}" if known else "",
                    f"{1e-9 * loop.bytes / seconds:.2f}",
                    f"{100 * self.share(loop):.0f}" if known else "",
                    ("operations" if by_operations > by_bytes else "memory") if known else "",
                    "  " * loop.depth + loop.what,
                    loop.line,
                )
            )
        return rows

    def __str__(self) -> str:
        rates = ", ".join(f"{1e-9 * r:.0f} ({d})" for d, r in self.ceilings.operations.items())
        sizes = ", ".join(f"{1e-9 * r:.0f} ({_size(n)})" for n, r in self.ceilings.bandwidths)
        head = [f"This machine: {rates} Gop/s a thread; {sizes} GB/s"]
        return "\n".join([*head, *aligned(_HEAD, self._rows())])

    def _repr_html_(self) -> str:
        return html_table((*_HEAD, "where"), self._rows())

    def plot(self, axes: Any = None) -> Any:
        """Draw operations a second over operations per byte, with the ceilings as lines. Returns matplotlib's axes.

        ``axes`` are those to draw on; by default a new figure is made. Loops without operations, and those whose operations
        are not known, are left out. Raises ImportError if matplotlib is not installed.
        """
        if axes is None:
            axes = importlib.import_module("matplotlib.pyplot").subplots()[1]
        points = [t for t in self.times if t.operations and t.bytes and t.minimum]
        marks = [t.operations / t.bytes for t in points if t.operations]
        low, high = min([0.05, *marks]) / 2, max([50.0, *marks]) * 2
        over = np.geomspace(low, high, 200)
        for size, rate in self.ceilings.bandwidths:
            top = self.ceilings.rate("float64", size)
            axes.loglog(over, 1e-9 * np.minimum(top, rate * over), lw=1, label=_size(size))
        for number, (mark, loop) in enumerate(zip(marks, points, strict=True), 1):
            height = 1e-9 * (loop.operations or 0) / loop.minimum
            axes.loglog([mark], [height], "ko", ms=4)
            axes.annotate(f" {number}: {_short(loop.what)}", (mark, height), fontsize=8)
        axes.set(xlim=(low, high), xlabel="operations per byte", ylabel="10^9 operations a second")
        axes.legend(title="memory in use", fontsize=8)
        return axes


_HEAD = ("min us", "Gop/s", "GB/s", "% of roof", "bound by", "what")


def _dtype(loop: LoopTime) -> str:
    """The dtype whose ceiling counts for a loop: float32 if it computes float32 (or complex64), but no float64."""
    names: Sequence[str] = [
        getattr(v.type, "dtype", "") for node in loop.nodes for v in node.outputs
    ]
    double = any(name in ("float64", "complex128") for name in names)
    return (
        "float32" if not double and any(n in ("float32", "complex64") for n in names) else "float64"
    )


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"


def _short(text: str) -> str:
    return text if len(text) <= 30 else f"{text[:29]}…"
