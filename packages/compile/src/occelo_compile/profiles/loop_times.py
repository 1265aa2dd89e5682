"""The times of the loops of a function as tables, which `Function.time_loops` returns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from statistics import median
from typing import TYPE_CHECKING

from occelo_link.timing import MeasuredLoop

if TYPE_CHECKING:
    from occelo_compile.profiles.rooflines import Roofline


class LoopTime:
    """What was measured of one loop, branch or library call.

    ``minimum`` and ``seconds`` are the least and the median of its time in a run, in seconds. ``nodes`` are the nodes that it
    computes. ``outer`` is the row of the user's loop that contains it, or None, and ``depth`` the number of such loops.
    ``entered`` says how often it is entered in a run. ``operations`` counts arithmetic operations on floating-point
    numbers in a run, and is None if a function is called whose operations are not known. ``bytes`` are those of the memory that it
    reads and writes, each counted once each time that the loop is entered. All of these include what is inside.
    """

    def __init__(self, measured: MeasuredLoop, outer: LoopTime | None) -> None:
        self.minimum = min(measured.seconds)
        self.seconds = median(measured.seconds)
        self.nodes = measured.nodes
        self.outer = outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.entered = measured.entered
        self.operations = measured.operations
        self.bytes = measured.bytes

    def __repr__(self) -> str:
        return f"LoopTime({self.what}: {1e6 * self.seconds:.2f} us)"

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that the loop computes, as text, in order."""
        return tuple(str(node.op) for node in self.nodes)

    @property
    def what(self) -> str:
        """The ops in one line, each once."""
        return " + ".join(dict.fromkeys(self.ops)) or "(memory)"

    @property
    def line(self) -> str:
        """The user's line that made the last node, with its file, or an empty text."""
        source = str(self.nodes[-1].source or "") if self.nodes else ""
        return source.splitlines()[0] if source else ""


class LoopTimes(list[LoopTime]):
    """The times of all loops, in the order in which they run; a loop comes before those inside of it.

    It is printed as a table, with the slowest loops first. ``total`` and ``least`` are the median and the least time of a whole run in
    seconds, and ``runs`` is the number of runs.
    """

    def __init__(self, measured: Sequence[MeasuredLoop], totals: Sequence[float]) -> None:
        super().__init__()
        for loop in measured:
            self.append(LoopTime(loop, None if loop.outer is None else self[loop.outer]))
        self.total = median(totals)
        self.least = min(totals)
        self.runs = len(totals)

    def roofline(self) -> Roofline:
        """Compare each loop with what this machine can do: a table, and a plot (`Roofline.plot`).

        The first call in a process measures the machine, which takes about a second.
        """
        from occelo_compile.profiles.rooflines import Roofline, ceilings  # rarely needed

        return Roofline(self, ceilings())

    def slowest_first(self) -> Iterator[LoopTime]:
        """The loops by time, each followed by those inside of it."""

        def below(outer: LoopTime | None) -> Iterator[LoopTime]:
            inside = [loop for loop in self if loop.outer is outer]
            for loop in sorted(inside, key=lambda loop: -loop.seconds):
                yield loop
                yield from below(loop)

        return below(None)

    def _rows(self) -> list[tuple[str, ...]]:
        whole = sum(loop.seconds for loop in self if loop.outer is None) or 1.0
        return [
            (
                f"{1e6 * loop.minimum:.2f}",
                f"{1e6 * loop.seconds:.2f}",
                f"{100 * loop.seconds / whole:.1f}",
                "" if loop.operations is None else f"{loop.operations:,}",
                f"{loop.bytes:,}",
                "  " * loop.depth + loop.what,
                loop.line,
            )
            for loop in self.slowest_first()
        ]

    def __str__(self) -> str:
        text = f"{len(self)} loops, {1e6 * self.total:.2f} us a run (least {1e6 * self.least:.2f}), median of {self.runs}"
        return "\n".join([text, *aligned(_HEAD, self._rows())])

    def _repr_html_(self) -> str:
        return html_table((*_HEAD, "where"), self._rows())


_HEAD = ("min us", "median", "%", "operations", "bytes", "what")


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table as text. The columns before the last of ``head`` are numbers; a further cell of a row is a place in a file."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=False)][:-1]
    for *cells, what, where in ((*head, ""), *rows):
        numbers = " ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"{numbers}  {what}  ({where})" if where else f"{numbers}  {what}"


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in HTML."""

    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + row("th", head) + "".join(row("td", cells) for cells in rows) + "</table>"
