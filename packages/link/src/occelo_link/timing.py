"""Measures each loop of a compiled graph: its times, operations and bytes. `Function.time_loops` calls it.

The graph is compiled twice more: with code that reads the clock before and after each loop, and with code that counts. One measurement covers a loop with all ops that are fused in it. The two readings of the clock take about 50
nanoseconds, so the measured times of very short loops are too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_link.blocks.partition import Part
from occelo_link.cache.objects import object_code
from occelo_link.loops.ir.program import Buffer, Program
from occelo_link.machine.threads import counted_processors
from occelo_link.native.linker import NativeLinker
from occelo_link.native.llvm.clock_reading import TimedPrinter
from occelo_link.native.llvm.module_writer import fixed_function
from occelo_link.native.llvm.work_counting import CountingPrinter
from occelo_link.options import THREADS
from occelo_link.units.engine import compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.unit import NativeUnit


@dataclass(frozen=True)
class MeasuredLoop:
    """What was measured of a loop, a branch or a library call; ``seconds`` has its time in each run.

    The rest is as in the compile package's ``LoopTime``, but ``outer`` is a position.
    """

    seconds: tuple[float, ...]
    nodes: tuple[Apply, ...]
    outer: int | None
    entered: int
    operations: int | None
    bytes: int


class _Measured(NativeLinker):
    """The linker ``native``, whose units read the clock, or count. ``printers`` are those of its units."""

    def __init__(self, counts: bool) -> None:
        super().__init__()
        self._counts = counts
        self.printers: list[Any] = []

    def compile(self, program: Program, part: Part) -> NativeUnit:
        self.printers.append(
            CountingPrinter(program) if self._counts else TimedPrinter(program, self.threaded() > 0)
        )
        text = f"{self.printers[-1].unit()}\n{fixed_function('ticks')}\n"
        code = object_code(f"1\n{text}", lambda: compile_module(text))
        return NativeUnit(UnitInterface.of(program, part.inputs), load_object(code), program)

    def run_of(self, fgraph: FunctionGraph, values: Sequence[Any]) -> Any:
        """Return a function without arguments that runs a graph for the given values of its inputs."""
        vm, inputs, _ = self.accept(fgraph).make_thunk()
        for container, value in zip(inputs, values, strict=True):
            container.storage[0] = value
        return vm


def most_threads() -> int:
    """In how many threads a large loop may run (the option ``native__threads``)."""
    return THREADS.get() or counted_processors()


def measure_loops(
    fgraph: FunctionGraph, values: Sequence[Any], runs: int
) -> tuple[list[MeasuredLoop], tuple[float, ...]]:
    """Compile a graph and measure each loop, for the given values of the inputs.

    Returns the loops in the order in which they run, each before those inside of it, and the seconds of each run. The
    graph runs ``runs`` + 2 times; one run before is not measured, and one counts. Nodes that run in Python between
    blocks are not measured separately, but the time of a run includes them.
    """
    counting, timed = _Measured(counts=True), _Measured(counts=False)
    counting.run_of(fgraph, values)()
    vm = timed.run_of(fgraph, values)
    vm()
    totals, rows = list[float](), list[Any]()
    for _ in range(runs):
        for printer in timed.printers:
            printer.times[:] = 0
        start = perf_counter()
        vm()
        totals.append(perf_counter() - start)
        rows.append([printer.times.copy() for printer in timed.printers])
    loops = list[MeasuredLoop]()
    for k, (clock, counted) in enumerate(zip(timed.printers, counting.printers, strict=True)):
        loops += _loops(clock, counted, np.array([row[k] for row in rows]) * 1e-9, len(loops))
    return loops, tuple(totals)


def _loops(
    clock: TimedPrinter, counted: CountingPrinter, seconds: Any, first: int
) -> list[MeasuredLoop]:
    """What was measured of the loops of one unit. ``first`` is the position of the first of them."""
    unknown = set(counted.uncounted)
    rows = counted.counts.copy()
    used = [counted.called.get(k, set[Buffer]()) for k in range(len(rows))]
    for k in reversed(range(len(rows))):  # what is inside comes after what is around it
        outer = counted.places[k].outer
        if outer is not None:
            rows[outer, 1:] += rows[k, 1:]
            used[outer] = used[outer] | used[k]
            if k in unknown:
                unknown.add(outer)
    sizes, constants = counted.sizes.tolist(), counted.out.program.constants
    for column, buffer in enumerate(counted.buffers):
        if buffer.space == "constant":
            sizes[column] = constants[int(buffer.entry[8:])].nbytes
    listed: list[MeasuredLoop] = []
    for k, (place, row) in enumerate(zip(clock.places, rows.tolist(), strict=True)):
        entered, operations, *traffic = row
        each = sum(
            size if b in used[k] else min(moved // max(entered, 1), size)
            for b, moved, size in zip(counted.buffers, traffic, sizes, strict=True)
        )
        listed.append(
            MeasuredLoop(
                tuple(seconds[:, k].tolist()),
                tuple(clock.out.program.nodes[n] for n in place.nodes),
                None if place.outer is None else first + place.outer,
                entered,
                None if k in unknown else operations,
                entered * each,
            )
        )
    return listed
