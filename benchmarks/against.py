"""Command that compares this checkout with another commit in one run, to find what became slower.

    python benchmarks/against.py COMMIT                   # everything
    python benchmarks/against.py COMMIT runtime calls     # some parts

Both sides run their own `run.py` in alternating processes. With ``--theirs`` both run that of the other commit, and with
``--ours`` both run that of this checkout: only parts that import nothing but public names can be run so, such as
`building`. Each figure is the minimum of the rounds. Installed peers are measured as well, which only costs time; so use
an environment without them. For one thread each, set OPENBLAS_NUM_THREADS=1 and bind the process to one processor.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

app = typer.Typer(add_completion=False)
ROOT = Path(__file__).resolve().parent.parent
PARTS = ["building", "first", "calls", "runtime", "stages", "rewriting"]


def measure(
    checkout: Path, part: str, folder: Path, programs: Path, inner: int = 1
) -> dict[str, float]:
    """The figures of one part in a checkout, by name; ``folder`` is its compile directory.

    ``programs`` is the checkout whose benchmarks are run, and ``inner`` is their number of rounds. Nested tables become
    names with slashes.
    """
    sources = [checkout / "src", *sorted((checkout / "packages").glob("*/src"))]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "OCCELO_FLAGS": f"base_compiledir={folder}",
        "PYTHONPYCACHEPREFIX": f"{folder}-bytecode",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their bytecode
    with tempfile.TemporaryDirectory() as place:
        found = Path(place) / "figures.json"
        command = [sys.executable, "run.py", part, "--rounds", str(inner), "--json", str(found)]
        subprocess.run(
            command,
            cwd=programs / "benchmarks",
            env=environment,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return dict(_flat(json.loads(found.read_text())))


def _flat(figures: Any, name: str = "") -> Iterator[tuple[str, float]]:
    items = figures.items() if isinstance(figures, dict) else enumerate(figures)
    for key, value in items:
        inner = f"{name}/{key}" if name else str(key)
        if isinstance(value, dict | list):
            yield from _flat(value, inner)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield inner, float(value)


def _least(best: dict[str, float], found: dict[str, float]) -> None:
    for name, value in found.items():
        best[name] = min(value, best.get(name, value))


def _table(
    before: dict[str, float], after: dict[str, float], again: dict[str, float], commit: str
) -> Table:
    table = Table("figure", commit, "here", "here / before")
    if again:
        table.add_column("again / before")
    ratios = {n: after[n] / before[n] for n in after if before.get(n) and "numpy" not in n}
    for name in sorted(ratios, key=ratios.__getitem__, reverse=True):
        noise = [f"{again[name] / before[name]:.3f}"] if again else []
        table.add_row(
            name, f"{before[name]:.4g}", f"{after[name]:.4g}", f"{ratios[name]:.3f}", *noise
        )
    return table


@app.command()
def main(
    commit: Annotated[str, typer.Argument(help="What to compare with, as git names it.")],
    parts: Annotated[list[str] | None, typer.Argument(help="Parts of run.py.")] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds on each side.")] = 5,
    inner: Annotated[int, typer.Option(min=1, help="Rounds within each process.")] = 1,
    *,
    twice: Annotated[
        bool, typer.Option(help="Measure the other commit as two sides, to show the noise.")
    ] = False,
    theirs: Annotated[
        bool, typer.Option(help="Measure all sides by the benchmarks of the other commit.")
    ] = False,
    ours: Annotated[
        bool, typer.Option(help="Measure all sides by the benchmarks of this checkout.")
    ] = False,
) -> None:
    """Compare this checkout with another commit."""
    if theirs and ours:
        raise typer.BadParameter("--theirs and --ours exclude each other")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        other, again = place / "other", place / "again"
        git = ["git", "-C", str(ROOT), "worktree"]
        others = [other, again] if twice else [other]
        for each in others:
            subprocess.run([*git, "add", "--quiet", "--detach", str(each), commit], check=True)
        try:
            for part in parts or PARTS:
                sides: dict[Path, dict[str, float]] = {other: {}, ROOT: {}, again: {}}
                if not twice:
                    del sides[again]
                for _ in track(range(rounds), description=part):
                    for side, best in sides.items():
                        cache = place / f"cache-{side.name}"
                        programs = other if theirs else ROOT if ours else side
                        _least(best, measure(side, part, cache, programs, inner))
                table = _table(sides[other], sides[ROOT], sides.get(again, {}), commit)
                Console(width=140).print(table)
        finally:
            for each in others:
                subprocess.run([*git, "remove", "--force", str(each)], check=True)


if __name__ == "__main__":
    app()
