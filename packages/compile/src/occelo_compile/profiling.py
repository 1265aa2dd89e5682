"""`ProfileStats`, the profile of a function: times of compiling, calls and nodes, and a report as text.

If a function is compiled with ``profile=True``, or while the option ``profile`` is set, its attribute
`Function.profile` is a `ProfileStats`. `function` and `copying` call `chosen_profile` to make one.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occelo_compile import options
from occelo_compile.profiles.node_profiling import NodeCost, NodeProfile
from occelo_graph.notebook import Table, Tabulated

if TYPE_CHECKING:
    from occelo_compile.maker import Times
    from occelo_rewrite import RewriteRecord

Rows = list[tuple[str, ...]]
"""The headings of a table, and its rows."""


class ProfileStats(Tabulated):
    """The times of one function, or of all functions that get this object as their argument ``profile``, in seconds.

    All stages of compiling, all rules and all calls are timed. Nodes are timed only in some calls, so that timing costs
    a few percent of the running time. ``nodes.samples`` is the number of these calls.

    `summary` prints a report, `as_dict` and `to_json` return the figures, and `write_page` writes a page with a flame
    graph. TypeError for unknown arguments.
    """

    def __init__(self, message: str | None = None) -> None:
        self.message = message
        self.nodes = NodeProfile()
        self._ignoring = options.IGNORE_FIRST_CALL.get()
        self.calls = 0
        self.call_time = 0.0
        self.run_time = 0.0
        self.compile_time: dict[str, float] = {}
        self.rules: dict[tuple[str, str], tuple[int, int, float]] = {}
        self.stages: dict[str, float] = {}

    def add_run(self, seconds: float) -> None:
        """Add the seconds that the VM took in one call."""
        self.run_time += seconds

    def add_call(self, seconds: float) -> None:
        """Add one call and its seconds."""
        self.calls += 1
        self.call_time += seconds
        if self._ignoring:
            self._ignoring = False
            self.reset_calls()

    def reset_calls(self) -> None:
        """Forget all calls so far."""
        self.calls, self.call_time, self.run_time = 0, 0.0, 0.0

    def add_compilation(self, times: Times, record: RewriteRecord | None) -> None:
        """Add the times of a maker and, if there is one, of the record of its rewriting."""
        for step in ("collect", "rewrite", "link", "wrap"):
            self.compile_time[step] = self.compile_time.get(step, 0.0) + getattr(times, step)
        if record is None:
            return
        for name, stage in record.stages.items():
            if name == "optdb":  # its time is the sum of all other stages
                continue
            self.stages[name] = self.stages.get(name, 0.0) + stage.seconds
        for stage_name, rules in record.counts.items():
            for rule, count in rules.items():
                calls, hits, seconds = self.rules.get((stage_name, rule), (0, 0, 0.0))
                self.rules[stage_name, rule] = (
                    calls + count.calls,
                    hits + count.hits,
                    seconds + count.seconds,
                )

    def costs(self) -> list[NodeCost]:
        """Return the costs of the nodes, the most expensive first. `NodeCost.inner` has the costs of nodes in the inner
        graphs of a node.
        """
        return _sorted(self.nodes.costs.values())

    def by_op(self) -> list[tuple[str, float, int]]:
        """Return the costs by op, the most expensive first.

        Each is a tuple of the op's name, its seconds in the measured calls, and its number of nodes. The seconds of a
        node in an inner graph count for the op of that node, and not for the op that has the inner graph.
        """
        totals: dict[str, tuple[float, int]] = {}
        for _, cost in _with_inner(self.costs()):
            seconds, count = totals.get(cost.op, (0.0, 0))
            totals[cost.op] = (seconds + cost.own_seconds, count + 1)
        return sorted(((k, s, n) for k, (s, n) in totals.items()), key=lambda row: -row[1])

    def as_dict(self) -> dict[str, Any]:
        """Return all figures, as values that JSON supports."""
        return {
            "message": self.message,
            "calls": self.calls,
            "call_time": self.call_time,
            "run_time": self.run_time,
            "compile_time": self.compile_time,
            "stages": self.stages,
            "rules": [
                {"stage": s, "rule": r, "calls": c, "hits": h, "seconds": t}
                for (s, r), (c, h, t) in sorted(self.rules.items(), key=lambda item: -item[1][2])
            ],
            "nodes": [_figures(cost) for cost in self.costs()],
            "measured_calls": self.nodes.samples,
            "nodes_ran_beside": self.nodes.beside,
            "peak_bytes": self.nodes.peak_bytes,
        }

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the figures as JSON text. If ``path`` is given, the text is also written to this file."""
        text = json.dumps(self.as_dict(), indent=1)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def write_page(self, path: str | os.PathLike[str]) -> Path:
        """Write a self-contained page with a flame graph. Returns its path."""
        from occelo_compile.profiles.flame_graph import flame_page  # slow to import

        target = Path(path)
        target.write_text(flame_page(self), encoding="utf-8")
        return target

    def report(self) -> str:
        """Return the report as text."""
        return "\n".join(
            [self._totals(), *(_table(title, rows) for title, rows in self._sections())]
        )

    def summary(self, file: Any = None) -> None:
        """Print the report. The default destination is the option ``profiling__destination``."""
        if file is not None:
            print(self.report(), file=file)
            return
        place = options.PROFILE_DESTINATION.get()
        if place in ("stdout", "stderr"):
            print(self.report(), file=getattr(sys, place))
            return
        with open(place, "a", encoding="utf-8") as stream:
            print(self.report(), file=stream)

    def __str__(self) -> str:
        name = f"{self.message}: " if self.message else ""
        return f"ProfileStats({name}{self.calls} calls, {self.call_time:.3g} s)"

    __repr__ = __str__

    def notebook_tables(self) -> list[Table]:
        title, *totals = self._totals().split("\n")
        tables: list[Table] = [((title,), [(line.strip(),) for line in totals])]
        return tables + [(headings, rows) for _, (headings, *rows) in self._sections()]

    def notebook_picture(self) -> str:
        """Bars of the steps of compiling, and of the ops if nodes were measured."""
        from occelo_printing.charts import bar_chart  # needed in notebooks alone

        steps = [(step, seconds, _time(seconds)) for step, seconds in self.compile_time.items()]
        costs = self.by_op()[: options.N_OPS.get()]
        ops = [(op[:40], seconds, _time(seconds)) for op, seconds, _ in costs]
        calls = f"Ops, in {self.nodes.samples} of {self.calls} calls"
        return bar_chart([("Compiling", steps), *([(calls, ops)] if ops else [])])

    def _totals(self) -> str:
        lines = [f"Profile of {self.message or 'a function'}"]
        mean = self.call_time / self.calls if self.calls else 0.0
        lines.append(f"  {self.calls} calls in {_time(self.call_time)}, {_time(mean)} each")
        share = 100 * self.run_time / self.call_time if self.call_time else 0.0
        lines.append(f"  {_time(self.run_time)} of that ({share:.1f} %) in the VM")
        if self.nodes.samples:
            how = "node by node in Python, beside the compiled code, " if self.nodes.beside else ""
            lines.append(f"  nodes were measured {how}in {self.nodes.samples} calls")
            lines.append(f"  peak memory between inputs and outputs {_size(self.nodes.peak_bytes)}")
        return "\n".join(lines)

    def _sections(self) -> list[tuple[str, Rows]]:
        """The tables of the report with their titles; those but the first have rows below the headings."""
        others = [("Rules", self._rules()), ("Ops", self._ops()), ("Nodes", self._nodes())]
        return [("Compiling", self._steps()), *((t, rows) for t, rows in others if len(rows) > 1)]

    def _steps(self) -> Rows:
        rows = [("step", "time")]
        rows += [(step, _time(seconds)) for step, seconds in self.compile_time.items()]
        return rows + [(f"  {s}", _time(t)) for s, t in self.stages.items()]

    def _rules(self) -> Rows:
        slowest = sorted(self.rules.items(), key=lambda item: -item[1][2])[: options.N_OPS.get()]
        rules = [(s, r, _time(t), str(h), str(c)) for (s, r), (c, h, t) in slowest]
        return [("stage", "rule", "time", "applied", "tried"), *rules]

    def _ops(self) -> Rows:
        total = sum(c.seconds for c in self.nodes.costs.values())
        rows = [("time", "share", "nodes", "op")]
        for op, seconds, count in self.by_op()[: options.N_OPS.get()]:
            rows.append((_time(seconds), _share(seconds, total), str(count), op))
        return rows

    def _nodes(self) -> Rows:
        total = sum(c.seconds for c in self.nodes.costs.values())
        memory = options.PROFILE_MEMORY.get()
        more = ("bytes", "shape") if memory else ()
        rows: Rows = [("time", "share", "runs", "each", *more, "node", "line")]
        for depth, cost in _with_inner(self.costs(), options.N_APPLY.get()):
            extra = [_size(cost.bytes), " ".join(map(str, cost.shapes))] if memory else []
            label = "  " * depth + (f"{cost.op} -> {cost.name}" if cost.name else cost.op)
            shown = [
                _time(cost.seconds),
                _share(cost.seconds, total),
                str(cost.runs),
                _time(cost.mean),
            ]
            rows.append((*shown, *extra, label, cost.source))
        return rows


def _sorted(costs: Iterable[NodeCost]) -> list[NodeCost]:
    return sorted(costs, key=lambda cost: -cost.seconds)


def _with_inner(
    costs: Sequence[NodeCost], most: int | None = None, depth: int = 0
) -> Iterator[tuple[int, NodeCost]]:
    """Iterate over the costs. Yields each cost with its depth, followed by the costs of its inner nodes.

    Only the first ``most`` costs are listed, and only the first ``most`` inner nodes of each.
    """
    for cost in costs[:most]:
        yield depth, cost
        yield from _with_inner(_sorted(cost.inner.values()), most, depth + 1)


def _figures(cost: NodeCost) -> dict[str, Any]:
    return {
        "number": cost.number,
        "op": cost.op,
        "name": cost.name,
        "source": cost.source,
        "runs": cost.runs,
        "seconds": cost.seconds,
        "shapes": [None if s is None else list(s) for s in cost.shapes],
        "dtypes": list(cost.dtypes),
        "bytes": cost.bytes,
        "inner": [_figures(inner) for inner in _sorted(cost.inner.values())],
    }


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0 s"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def _share(part: float, total: float) -> str:
    return f"{100 * part / total:.1f} %" if total else ""


def _table(title: str, rows: Sequence[Iterable[str]]) -> str:
    cells = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in cells]
    return "\n".join([f"{title}:", *(f"  {line.rstrip()}" for line in lines)])


_at_exit: list[ProfileStats] = []


def _print_at_exit() -> None:
    for stats in _at_exit:
        if stats.calls or stats.compile_time:
            stats.summary()


atexit.register(_print_at_exit)


def chosen_profile(profile: Any, name: str | None) -> ProfileStats | None:
    """Return the `ProfileStats` for the argument ``profile`` of `function`, or None if the function is not profiled.

    If ``profile`` is None, the options decide; a profile that they switch on is printed when Python exits. Raises
    TypeError for anything but None, a bool, a name or a `ProfileStats`.
    """
    if profile is None and (options.PROFILE.get() or options.PRINT_GLOBAL_STATS.get()):
        stats = ProfileStats(name)
        _at_exit.append(stats)
        return stats
    if profile is None or profile is False:
        return None
    if profile is True:
        return ProfileStats(name)
    if isinstance(profile, str):
        return ProfileStats(profile)
    if isinstance(profile, ProfileStats):
        return profile
    raise TypeError(f"profile is None, True, False, a name or ProfileStats, not {profile!r}")
