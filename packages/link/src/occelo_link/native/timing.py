"""Measures the time of each loop in a compiled graph. `Function.time_loops` calls it.

The graph is compiled again, with code that reads the clock before and after each loop. One measurement covers a loop
with all ops that are fused in it. The two readings of the clock take about 50 nanoseconds, so the measured times of
very short loops are too long.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_link.blocks.linker import BlockLinker
from occelo_link.blocks.partition import Part
from occelo_link.cache.objects import object_code
from occelo_link.loops.ir.program import Program
from occelo_link.native.llvm.clock_reading import print_timed
from occelo_link.units.engine import compile_module, load_object
from occelo_link.units.interface import UnitInterface
from occelo_link.units.unit import NativeUnit


@dataclass(frozen=True)
class LoopTime:
    """The time of one loop or one library call: the mean ``seconds`` per run, and the nodes that it computes."""

    seconds: float
    nodes: tuple[Apply, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that the loop computes, as text, in order."""
        return tuple(str(node.op) for node in self.nodes)


class LoopTimes(list[LoopTime]):
    """A list of the times of all loops, in the order in which the loops run. It is printed as a table.

    ``total`` is the mean time of a whole run in seconds, and ``runs`` is the number of runs.
    """

    def __init__(self, loops: Sequence[LoopTime], total: float, runs: int) -> None:
        super().__init__(loops)
        self.total = total
        self.runs = runs

    def _rows(self) -> list[tuple[str, str, str, str]]:
        whole = sum(loop.seconds for loop in self) or 1.0
        return [
            (
                f"{1e6 * loop.seconds:.2f}",
                f"{100 * loop.seconds / whole:.1f}",
                " + ".join(dict.fromkeys(loop.ops)) or "(memory)",
                str(loop.nodes[-1].source or "") if loop.nodes else "",
            )
            for loop in sorted(self, key=lambda loop: -loop.seconds)
        ]

    def __str__(self) -> str:
        lines = [f"{len(self)} loops, {1e6 * self.total:.2f} us a run, mean of {self.runs}"]
        lines.append(f"{'us':>10} {'%':>6}  what")
        for us, share, ops, source in self._rows():
            where = f"  ({source.splitlines()[0]})" if source else ""
            lines.append(f"{us:>10} {share:>6}  {ops}{where}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        cells = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        head = "".join(f"<th>{name}</th>" for name in ("us", "%", "what", "where"))
        return f"<table><tr>{head}</tr>{cells}</table>"


class _Timed(BlockLinker):
    """The linker ``native``, but its units add up the times of their loops."""

    name = "native"

    def __init__(self, linker: BlockLinker) -> None:
        super().__init__()
        self.takes_states = linker.takes_states
        self._timed = linker
        self.builds: list[tuple[list[tuple[Apply, ...]], Any]] = []

    def threaded(self) -> bool:
        return self._timed.threaded()

    def compile(self, program: Program, part: Part) -> NativeUnit:
        text, nodes_of_loops, times = print_timed(program, self.threaded())
        code = object_code(f"1\n{text}", lambda: compile_module(text))
        nodes = [tuple(program.nodes[k] for k in numbers) for numbers in nodes_of_loops]
        self.builds.append((nodes, times))
        return NativeUnit(UnitInterface.of(program, part.inputs), load_object(code), program)


def time_loops(
    linker: BlockLinker, fgraph: FunctionGraph, values: Sequence[Any], runs: int
) -> LoopTimes:
    """Compile a graph and measure the time of each loop, for the given values of the inputs.

    The graph runs ``runs`` + 1 times, and the first run is not counted. Nodes that run in Python between blocks are not
    measured separately, but the total includes them.
    """
    timed = _Timed(linker)
    vm, inputs, _ = timed.accept(fgraph).make_thunk()
    for container, value in zip(inputs, values, strict=True):
        container.storage[0] = value
    vm()
    for _, times in timed.builds:
        times[:] = 0
    start = perf_counter()
    for _ in range(runs):
        vm()
    total = (perf_counter() - start) / runs
    loops = [
        LoopTime(float(nanoseconds) * 1e-9 / runs, nodes)
        for nodes_of_loops, times in timed.builds
        for nodes, nanoseconds in zip(nodes_of_loops, np.asarray(times).tolist(), strict=False)
    ]
    return LoopTimes(loops, total, runs)
