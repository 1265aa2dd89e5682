"""The benchmarks: command that compares Occelo with NumPy, PyTensor and JAX in one run.

    nox -s bench                        # sets the peers up in an environment of their own
    python benchmarks/run.py runtime    # one part, with the peers that are installed

Libraries are measured alternately, each figure is the minimum of its rounds, and results are compared before they are
timed. For one thread each, set OPENBLAS_NUM_THREADS=1 and bind the process to one processor.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click
import compiled
import long_bodies
import rewriting
import stages
from building import building_figures
from linear_algebra import LINEAR_MODELS
from loops import LOOP_MODELS, LOOP_WORKLOADS
from other_process import OtherProcess
from overhead import library_overhead
from profiling import profile_overhead
from random_numbers import random_goal, random_times
from rich.console import Console
from rich.table import Table

GRADIENT_GOAL = 3.0
"""How many times the time of a loop its cost with derivatives may take."""


class Part(StrEnum):
    """The parts of the benchmarks that can be chosen."""

    building = "building"
    first = "first"
    calls = "calls"
    runtime = "runtime"
    linear = "linear"
    loops = "loops"
    sorting = "sorting"
    signal = "signal"
    arrays = "arrays"
    posteriors = "posteriors"
    segments = "segments"
    attention = "attention"
    random = "random"
    scaling = "scaling"
    bodies = "bodies"
    stages = "stages"
    rewriting = "rewriting"
    profile = "profile"
    overhead = "overhead"


@dataclass
class Setting:
    """How to measure: the rounds, the name of a function of `time`, a part of the names of workloads, and the Python that has further peers."""

    rounds: int
    clock: str = "perf_counter"
    chosen: str = ""
    python: str | None = None


def _row(table: Table, name: str, times: dict[str, float], unit: float) -> float | None:
    """Add a row of times; returns the ratio of the best peer's time to Occelo's."""
    names = [str(c.header) for c in table.columns][1:-1]
    cells = [f"{times[n] * unit:.4g}" if n in times else "" for n in names]
    # C is a measure of its own
    peers = [t for n, t in times.items() if n not in ("occelo", "c")]
    ratio = min(peers) / times["occelo"] if peers else None
    table.add_row(name, *cells, "" if ratio is None else f"{ratio:.2f}")
    return ratio


def _times(which: str, setting: Setting, console: Console) -> dict[str, dict[str, float]]:
    """Measure a list of workloads, and print a table, the geometric mean and what misses its goal."""
    other = None if setting.python is None else OtherProcess(setting.python, setting.clock)
    clock = getattr(time, setting.clock)
    result, goals = compiled.run_times(setting.rounds, which, setting.chosen, clock, other)
    measured = {n for times in result.values() for n in times}
    compared = list(compiled.PEERS)
    if which == "loops":
        # NumPy would take milliseconds for each thousand steps
        compared = [*compiled.BY_HAND, *compared[1:]]
    names = ["occelo", *(n for n in compared if n in measured)]
    table = Table("us a call", *names, "best peer / occelo")
    ratios = {n: r for n, t in result.items() if (r := _row(table, n, t, 1e6)) is not None}
    console.print(table)
    missing = [n for n in compared if n not in measured]
    if missing:
        console.print(f"not installed, and so not compared: {', '.join(missing)}")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        least = min(ratios.values())
        console.print(f"geometric mean of best peer / occelo: {mean:.2f}, least {least:.2f}")
        missed = [f"{n} ({r:.2f})" for n, r in ratios.items() if r < goals[n]]
        console.print(f"below their goals: {'; '.join(missed) or 'none'}")
    return result


def _runtime(setting: Setting, console: Console) -> Any:
    return _times("runtime", setting, console)


def _sorting(setting: Setting, console: Console) -> Any:
    return _times("sorting", setting, console)


def _signal(setting: Setting, console: Console) -> Any:
    return _times("signal", setting, console)


def _arrays(setting: Setting, console: Console) -> Any:
    return _times("arrays", setting, console)


def _posteriors(setting: Setting, console: Console) -> Any:
    if not compiled.LISTS["posteriors"]:
        console.print(
            "posteriors: the variable OCCELO_POSTERIORDB does not name their data, so they are left out"
        )
        return {}
    return _times("posteriors", setting, console)


def _segments(setting: Setting, console: Console) -> Any:
    return _times("segments", setting, console)


def _attention(setting: Setting, console: Console) -> Any:
    return _times("attention", setting, console)


def _linear(setting: Setting, console: Console) -> Any:
    result = _times("linear", setting, console)
    if setting.chosen:
        return result
    matrices = compiled.process_memory(2000)
    console.print(
        f"memory of the Gaussian process of 2,000 points, in n x n matrices: {matrices:.2f}"
    )
    first = compiled.first_results(setting.rounds, list(LINEAR_MODELS), clock=setting.clock)
    _print_first(first, console)
    return {**result, "memory": matrices, "first": first}


def _loops(setting: Setting, console: Console) -> Any:
    result = _times("loops", setting, console)
    works = {work.name: work for factory in LOOP_WORKLOADS if (work := factory()).name in result}
    table = Table("occelo's time over", "that of C", "goal", "forward's", "goal")
    missed: list[str] = []
    for name, times in result.items():
        goal, over_c, over_forward = works[name].c_goal, math.nan, math.nan
        if "c" in times:
            over_c = times["occelo"] / times["c"]
        forward = result.get(name.replace("with gradient", "forward"))
        if forward is not None and "with gradient" in name:
            over_forward = times["occelo"] / forward["occelo"]
        if (goal is not None and over_c > goal) or over_forward > GRADIENT_GOAL:
            missed.append(name)
        cells = [over_c, goal, over_forward, GRADIENT_GOAL if over_forward > 0 else None]
        table.add_row(name, *("" if v is None or math.isnan(v) else f"{v:.2f}" for v in cells))
    console.print(table)
    console.print(f"above their goals: {'; '.join(missed) or 'none'}")
    models = [n for n, factory in LOOP_MODELS.items() if setting.chosen in factory().name]
    first = compiled.first_results(setting.rounds, models, ("jax",), setting.clock)
    if first:
        _print_first(first, console)
    return {**result, "first": first}


def _calls(setting: Setting, console: Console) -> Any:
    result = compiled.call_overhead(setting.rounds)
    table = Table("ns a call", *compiled.libraries(), "best peer / occelo")
    for name, times in result.items():
        _row(table, name, times, 1e9)
    console.print(table)
    return result


def _first(setting: Setting, console: Console) -> Any:
    result = compiled.first_results(setting.rounds, clock=setting.clock)
    _print_first(result, console)
    return result


def _print_first(result: dict[str, dict[str, dict[str, float]]], console: Console) -> None:
    measured = {n for times in result.values() for n in times}
    names = [n for n in compiled.libraries() if n in measured]
    table = Table("ms to the first result", *names, "best peer / occelo")
    for model, times in result.items():
        for state in next(iter(times.values())):
            _row(table, f"{model}, {state}", {n: t[state] for n, t in times.items()}, 1e3)
    console.print(table)


def _print_compiling(
    nodes: int, figures: dict[str, dict[str, tuple[float, float] | None]], console: Console
) -> None:
    cases = ("loop", "with derivatives")
    columns = [f"{case}, {unit}" for case in cases for unit in ("s", "peak MB")]
    table = Table(f"a step of {nodes:,} nodes", *columns)
    for name, by_case in figures.items():
        cells: list[str] = []
        for case in cases:
            found = by_case.get(case)
            if found is not None:
                cells += [f"{found[0]:.1f}", f"{found[1] / 2**20:.0f}"]
            else:
                cells += ["stopped" if case in by_case else "", ""]
        table.add_row(name, *cells)
    console.print(table)


def _long_bodies(setting: Setting, console: Console) -> Any:
    found: dict[str, Any] = {}
    for nodes in (1000, 10_000):
        figures = long_bodies.compiling(nodes, setting.chosen)
        _print_compiling(nodes, figures, console)
        found[str(nodes)] = figures
    return found


def _scaling(setting: Setting, console: Console) -> Any:
    sizes = [100, 1000, 10_000, 30_000, 100_000]
    chains = compiled.scaling(sizes)
    names = ("nodes in a chain", "s to compile", "peak MB", "exponent since the last", "since 100")
    table = Table(*names)
    before = first = next(iter(chains.items()))
    for nodes, (seconds, memory) in chains.items():
        grown = [
            f"{math.log(seconds / each[1][0]) / math.log(nodes / each[0]):.2f}"
            for each in (before, first)
            if nodes > each[0]
        ]
        table.add_row(f"{nodes:,}", f"{seconds:.3f}", f"{memory / 2**20:.0f}", *grown)
        before = (nodes, (seconds, memory))
    seconds, memory = compiled.compile_memory(10_000)
    table.add_row("sum of 10,000 inputs", f"{seconds:.3f}", f"{memory / 2**20:.0f}")
    console.print(table)
    return {str(k): v for k, v in chains.items()} | {"10,000 inputs": (seconds, memory)}


def _stages(setting: Setting, console: Console) -> Any:
    result = stages.stages(setting.rounds)
    table = Table("ms a stage", *stages.STAGES, "sum")
    budgets = {
        f"{name}, budget": dict(zip(stages.STAGES, seconds, strict=True))
        for name, seconds in stages.BUDGETS.items()
    }
    for name, times in (result | budgets).items():
        table.add_row(name, *(f"{t * 1e3:.1f}" for t in (*times.values(), sum(times.values()))))
    console.print(table)
    return result


def _rewriting(setting: Setting, console: Console) -> Any:
    names = [n for n in ("occelo", "pytensor") if n in compiled.libraries()]
    models = rewriting.model_times(names, setting.rounds)
    table = Table("ms to rewrite", *names, "best peer / occelo")
    for name, times in models.items():
        _row(table, name, times, 1e3)
    console.print(table)
    sizes = [100, 1000, 10_000, 100_000]
    graphs = rewriting.growing_times(names, sizes)
    table = Table(
        "graph", "nodes", *(f"{n}, ms" for n in names), "peer / occelo", "exponent since 100"
    )
    for what, times in graphs.items():
        for nodes in sizes:
            own, *peers = (times[n][nodes] for n in names)
            over = [">" if p.stopped else "" for p in peers]
            grown = {k: v for k, v in times["occelo"].items() if k in (100, nodes)}
            table.add_row(
                what,
                f"{nodes:,}",
                f"{own.seconds * 1e3:.4g}",
                *(f"{o}{p.seconds * 1e3:.4g}" for o, p in zip(over, peers, strict=True)),
                *(f"{o}{p.seconds / own.seconds:.1f}" for o, p in zip(over, peers, strict=True)),
                *([] if peers else [""]),
                "" if nodes == 100 else f"{rewriting.growth(grown):.2f}",
            )
    console.print(table)
    return {"models": models, "graphs": graphs}


def _building(setting: Setting, console: Console) -> Any:
    figures = building_figures(setting.rounds)
    table = Table("figure", "least")
    for name, value in figures.items():
        table.add_row(name, f"{value:.3f}" if value < 10 else f"{value:.1f}")
    console.print(table)
    return figures


def _random(setting: Setting, console: Console) -> Any:
    figures = random_times(setting.rounds, setting.chosen, getattr(time, setting.clock))
    names = ["occelo", *dict.fromkeys(n for t in figures.values() for n in t if n != "occelo")]
    table = Table("us a call", *names, "best peer / occelo")
    ratios = {n: r for n, t in figures.items() if (r := _row(table, n, t, 1e6)) is not None}
    console.print(table)
    missed = [f"{n} ({r:.2f})" for n, r in ratios.items() if r < random_goal(n)]
    console.print(f"below their goals: {'; '.join(missed) or 'none'}")
    return figures


def _profile(setting: Setting, console: Console) -> Any:
    figures = profile_overhead(setting.rounds)
    table = Table("1,000 nodes, us a call", "without", "with a profile", "profile adds")
    for name, times in figures.items():
        added = 100 * (times["with"] / times["without"] - 1)
        cells = [f"{times[k] * 1e6:.4g}" for k in ("without", "with")]
        table.add_row(name, *cells, f"{added:.1f} %")
    console.print(table)
    return figures


def _overhead(setting: Setting, console: Console) -> Any:
    figures = library_overhead(setting.rounds)
    table = Table("us a call", "by hand", "occelo", "more", "ratio")
    for name, times in figures.items():
        hand, own = times["by hand"] * 1e6, times["occelo"] * 1e6
        table.add_row(name, f"{hand:.4g}", f"{own:.4g}", f"{own - hand:.3g}", f"{own / hand:.2f}")
    console.print(table)
    return figures


_MEASURES = {
    Part.building: _building,
    Part.first: _first,
    Part.calls: _calls,
    Part.runtime: _runtime,
    Part.linear: _linear,
    Part.loops: _loops,
    Part.sorting: _sorting,
    Part.signal: _signal,
    Part.arrays: _arrays,
    Part.posteriors: _posteriors,
    Part.segments: _segments,
    Part.attention: _attention,
    Part.random: _random,
    Part.scaling: _scaling,
    Part.bodies: _long_bodies,
    Part.stages: _stages,
    Part.rewriting: _rewriting,
    Part.profile: _profile,
    Part.overhead: _overhead,
}


def _plot(runtime: dict[str, dict[str, float]], path: Path) -> None:
    """Plot run times relative to Occelo's, as bars."""
    import matplotlib.pyplot as plt

    names = [n for n in compiled.libraries() if n != "occelo"]
    figure, axes = plt.subplots(figsize=(9, 0.5 * len(runtime) + 1))
    height = 0.8 / len(names)
    for k, name in enumerate(names):
        places = [i + k * height for i in range(len(runtime))]
        ratios = [t.get(name, math.nan) / t["occelo"] for t in runtime.values()]
        axes.barh(places, ratios, height, label=name)
    axes.set_yticks([i + 0.4 for i in range(len(runtime))], list(runtime))
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("run time over Occelo's")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


@click.command(context_settings={"show_default": True})
@click.argument("parts", nargs=-1, type=click.Choice([part.value for part in Part]))
@click.option("--rounds", type=click.IntRange(1), default=3, help="Rounds of each measurement.")
@click.option(
    "--processor-time",
    is_flag=True,
    help="All times by processor time, for machines that do other work.",
)
@click.option(
    "--peers", help="A Python that has peers which are not installed here, for run times."
)
@click.option(
    "--only",
    default="",
    help="Measure run times of the workloads, and long bodies of the backends, whose names contain this.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path),
    help="Write all figures to this file.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    help="Draw the run times into this file (PNG, SVG or PDF).",
)
def main(
    parts: tuple[str, ...],
    rounds: int,
    processor_time: bool,
    peers: str | None,
    only: str,
    json_file: Path | None,
    plot: Path | None,
) -> None:
    """Compare Occelo with the peers that are installed. Measures PARTS, or everything."""
    console = Console(width=140)
    figures: dict[str, Any] = {}
    compiled.optimized()
    setting = Setting(rounds, "process_time" if processor_time else "perf_counter", only, peers)
    for part in map(Part, parts or [part.value for part in Part]):
        figures[part.value] = _MEASURES[part](setting, console)
    if plot is not None and "runtime" in figures:
        _plot(figures["runtime"], plot)
    if json_file is not None:
        json_file.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
