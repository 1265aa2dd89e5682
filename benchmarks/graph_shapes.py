"""Command that measures how the time to compile grows with the size of a graph, for many shapes of graphs.

    python benchmarks/graph_shapes.py                         # all shapes
    python benchmarks/graph_shapes.py chain reads             # some shapes
    python benchmarks/graph_shapes.py --markdown table.md     # also as a table for README.md
    python benchmarks/graph_shapes.py --checkout ../before    # the packages of another checkout

Each graph is built, differentiated and compiled in a new process with an empty cache. Times are processor seconds, the
minimum of the rounds. The exponent of growth is fitted to all sizes by least squares in logarithms.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

__all__ = ["STAGES", "measure"]

ROOT = Path(__file__).resolve().parent.parent


def _shapes() -> Any:
    """The shapes of this checkout, which the packages of another one may not have."""
    file = ROOT / "packages/testing/src/occelo_testing/graph_shapes.py"
    oc: Any = importlib.import_module("occelo")
    own = Path(importlib.import_module("occelo_graph").__file__ or "").parents[3] / "loops"
    if not own.exists():  # an older checkout, where loops were part of the graph
        stand_in: Any = types.SimpleNamespace(loop=oc.loop)
        sys.modules["occelo_loops.ops.building.loops"] = stand_in
    spec: Any = importlib.util.spec_from_file_location("graph_shapes_of_this_checkout", file)
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.SHAPES


GOAL = 1.15
"""The largest exponent of growth that is accepted."""

STAGES = ("build", "gradient", "collect", "rewriting", "lowering", "printing", "LLVM", "rest")
_PLACES = {
    "rewriting": ["occelo_compile.maker:FunctionMaker.rewrite"],
    "lowering": ["occelo_link.loops.build:lower_graph"],
    "printing": ["occelo_link.native.llvm:print_llvm"],
    "LLVM": ["occelo_link.native.linker:compile_module"],
}


def _timed(place: str, stage: str, spent: dict[str, float]) -> None:
    """Add the processor time of all calls of a function to a stage."""
    module, _, path = place.partition(":")
    owner: Any = importlib.import_module(module)
    *classes, name = path.split(".")
    for each in classes:
        owner = getattr(owner, each)
    plain = getattr(owner, name)
    level = [0]

    def run(*args: Any, **options: Any) -> Any:
        start = process_time()
        level[0] += 1
        try:
            return plain(*args, **options)
        finally:
            level[0] -= 1
            if not level[0]:
                spent[stage] += process_time() - start

    setattr(owner, name, run)


def measure(name: str, nodes: int) -> dict[str, float]:
    """The processor seconds of each stage for one shape and size, in this process.

    Garbage collections run only between the stages, so that a collection of the objects of one stage does not count in
    another one.
    """
    oc: Any = importlib.import_module("occelo")
    importlib.import_module("occelo.tensor")
    shapes = _shapes()
    shape = shapes[name]
    spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)
    # what is loaded once: LLVM, the entry, families of rules
    warm = shapes["chain"].build(4)
    oc.function(warm[0], [*warm[1], oc.grad(warm[1][0].sum(), warm[0][0])])
    for stage, places in _PLACES.items():
        for place in places:
            _timed(place, stage, spent)
    gc.collect()
    gc.freeze()
    gc.disable()
    start = process_time()
    inputs, outputs, updates = shape.build(nodes)
    built = process_time()
    if shape.by:
        outputs = [*outputs, *oc.grad(outputs[0].sum(), [inputs[i] for i in shape.by])]
    derived = process_time()
    oc.function(inputs, outputs, updates=updates, on_unused_input="ignore")
    done = process_time()
    spent["build"] = built - start
    spent["gradient"] = derived - built
    spent["rest"] = done - derived - sum(spent[stage] for stage in _PLACES)
    return spent


def _in_new_process(name: str, nodes: int, checkout: Path, limit: int) -> dict[str, float] | str:
    """What `measure` returns in a new process with the packages of a checkout; the error as text if there is one."""
    sources = [checkout / "src", *sorted((checkout / "packages").glob("*/src"))]
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "OCCELO_FLAGS": f"base_compiledir={folder}",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, __file__, "--one", name, str(nodes)]
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
        )
    if done.returncode == -signal.SIGXCPU:
        return f"over {limit} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["killed"])[-1].partition(":")[0]
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def exponent(seconds: dict[int, float]) -> float:
    """The slope of the least-squares line through the logarithms of sizes and seconds."""
    points = [(math.log(n), math.log(max(s, 1e-4))) for n, s in seconds.items()]
    if len(points) < 2:
        return math.nan
    mx = sum(x for x, _ in points) / len(points)
    my = sum(y for _, y in points) / len(points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


class Growth(NamedTuple):
    """The figures of one shape: for each size the seconds of all stages, and what went wrong at a size."""

    seconds: dict[int, dict[str, float]]
    failure: str

    def of(self, *chosen: str) -> dict[int, float]:
        """The sum of the seconds of some stages, for each size."""
        return {n: sum(found[stage] for stage in chosen) for n, found in self.seconds.items()}


def _row(name: str, growth: Growth) -> list[str]:
    total = growth.of(*STAGES)
    if not total:
        return [name, "", *[""] * 6, growth.failure]
    largest = max(total)
    last = growth.seconds[largest]
    groups = [("build",), ("gradient",), ("rewriting",), ("lowering", "printing"), ("LLVM",)]
    cells = [
        f"{sum(last[s] for s in group):.2f} ({exponent(growth.of(*group)):.2f})"
        if sum(last[s] for s in group) > 0.02
        else f"{sum(last[s] for s in group):.2f}"
        for group in groups
    ]
    return [name, f"{largest:,}", *cells, f"{total[largest]:.2f}", f"{exponent(total):.2f}" + (
        f", {growth.failure}" if growth.failure else ""
    )]  # fmt: skip


_HEAD = ("shape", "nodes", "build", "gradient", "rewriting", "loops", "LLVM", "all, s", "exponent")


@click.command(context_settings={"show_default": True})
@click.argument("names", nargs=-1)
@click.option("--rounds", default=1, help="How often each size is measured.")
@click.option("--largest", default=8000, help="The largest number of nodes.")
@click.option("--limit", default=60, help="Processor seconds after which a process is stopped.")
@click.option(
    "--checkout",
    type=click.Path(path_type=Path),
    default=ROOT,
    help="The checkout with the packages.",
)
@click.option("--markdown", type=click.Path(path_type=Path), help="A file for the table.")
@click.option("--one", is_flag=True, hidden=True)
def main(
    names: tuple[str, ...],
    rounds: int,
    largest: int,
    limit: int,
    checkout: Path,
    markdown: Path | None,
    one: bool,
) -> None:
    """Print seconds and exponents of growth of the shapes NAMES, or of all."""
    chosen = list(names or _shapes())
    if one:
        name, nodes = chosen
        print(json.dumps(measure(name, int(nodes))))
        return
    rows: list[list[str]] = []
    for name in track(chosen, description="shapes"):
        seconds: dict[int, dict[str, float]] = {}
        failure = ""
        for n in _shapes()[name].sizes:
            if n > largest:
                break
            for _ in range(rounds):
                found = _in_new_process(name, n, checkout.resolve(), limit)
                if isinstance(found, str):
                    failure = f"{found} at {n:,}"
                    break
                best = seconds.setdefault(n, found)
                seconds[n] = min(best, found, key=lambda each: sum(each.values()))
            if failure:
                break
        rows.append(_row(name, Growth(seconds, failure)))
    table = Table(*_HEAD)
    for row in rows:
        table.add_row(*row)
    Console(width=160).print(table)
    if markdown is not None:
        lines = [_HEAD, ["---"] * len(_HEAD), *rows]
        markdown.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))


if __name__ == "__main__":
    main()
