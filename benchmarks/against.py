"""Command that compares this checkout with another commit in one run, to find what became slower.

    python benchmarks/against.py COMMIT                   # everything
    python benchmarks/against.py COMMIT runtime calls     # some parts

Both sides run their own `run.py` in alternating processes. A figure has changed if every round of one side is above every round
of the other and the least ones differ by more than the tolerance. What is worse so is measured once more, in fresh rounds, and the
command ends with failure if it is worse again. With ``--theirs`` both run that of the other commit, and with
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
PARTS = ["building", "first", "calls", "runtime", "stages", "rewriting"]


def measure(
    packages: Path, part: str, folder: Path, programs: Path, inner: int = 1
) -> dict[str, float]:
    """The figures of one part by name; ``packages`` is where a side's packages lie, ``folder`` its compile directory.

    ``programs`` is the checkout whose benchmarks are run, and ``inner`` is their number of rounds. Nested tables become
    names with slashes.
    """
    environment = os.environ | {
        "PYTHONPATH": str(packages),
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


def together(checkout: Path, folder: Path) -> Path:
    """A folder of links to all packages of a checkout: wheels too lie in one, and an import looks into each entry of the path."""
    folder.mkdir()
    for package in [*checkout.glob("src/*"), *checkout.glob("packages/*/src/*")]:
        (folder / package.name).symlink_to(package)
    return folder


def _flat(figures: Any, name: str = "") -> Iterator[tuple[str, float]]:
    items = figures.items() if isinstance(figures, dict) else enumerate(figures)
    for key, value in items:
        inner = f"{name}/{key}" if name else str(key)
        if isinstance(value, dict | list):
            yield from _flat(value, inner)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield inner, float(value)


Rounds = dict[str, list[float]]
"""The figures of one side by name, one of each round."""


def change(before: list[float], after: list[float], tolerance: float) -> str:
    """ "worse", "better", or "" where the rounds of the two sides overlap or their least ones are within ``tolerance``."""
    least = min(before)
    if min(after) > max(max(before), least * (1 + tolerance)):
        return "worse"
    return "better" if max(after) < least and min(after) < least / (1 + tolerance) else ""


def _table(before: Rounds, after: Rounds, again: Rounds, commit: str, tolerance: float) -> Table:
    table = Table("figure", commit, "here", "here / before", "")
    if again:
        table.add_column("again / before")
    least = {n: min(v) for n, v in before.items()}
    ratios = {n: min(after[n]) / least[n] for n in compared(before, after)}
    for name in sorted(ratios, key=ratios.__getitem__, reverse=True):
        noise = [f"{min(again[name]) / least[name]:.3f}"] if again else []
        table.add_row(
            name,
            f"{least[name]:.4g}",
            f"{min(after[name]):.4g}",
            f"{ratios[name]:.3f}",
            change(before[name], after[name], tolerance),
            *noise,
        )
    return table


def compared(before: Rounds, after: Rounds) -> list[str]:
    """The names of figures that both sides have, NumPy's own left out."""
    return [n for n in after if min(before.get(n, [0.0])) > 0 and "numpy" not in n]


def worse(before: Rounds, after: Rounds, tolerance: float) -> set[str]:
    """The names of the figures that became worse beyond noise."""
    names = compared(before, after)
    return {n for n in names if change(before[n], after[n], tolerance) == "worse"}


@dataclass(frozen=True)
class Comparison:
    """Where the sides lie, whose programs measure all of them (each side its own if None), and how often."""

    sides: list[Path]
    caches: Path
    programs: Path | None
    rounds: int
    inner: int

    def measure(self, part: str, description: str) -> list[Rounds]:
        """The rounds of one part of each side, taken in turns."""
        results: list[Rounds] = [{} for _ in self.sides]
        installed = [self.caches / f"packages-{side.name}" for side in self.sides]
        for side, packages in zip(self.sides, installed, strict=True):
            if not packages.exists():
                together(side, packages)
        for _ in track(range(self.rounds), description=description):
            for side, packages, figures in zip(self.sides, installed, results, strict=True):
                cache = self.caches / f"cache-{side.name}"
                latest = measure(packages, part, cache, self.programs or side, self.inner)
                for name, value in latest.items():
                    figures.setdefault(name, []).append(value)
        return results


@click.command(context_settings={"show_default": True})
@click.argument("commit")
@click.argument("parts", nargs=-1)
@click.option("--rounds", type=click.IntRange(1), default=5, help="Rounds on each side.")
@click.option("--inner", type=click.IntRange(1), default=1, help="Rounds within each process.")
@click.option(
    "--tolerance",
    type=click.FloatRange(0),
    default=0.03,
    help="The part of a figure by which it may grow.",
)
@click.option(
    "--twice", is_flag=True, help="Measure the other commit as two sides, to show the noise."
)
@click.option(
    "--theirs", is_flag=True, help="Measure all sides by the benchmarks of the other commit."
)
@click.option("--ours", is_flag=True, help="Measure all sides by the benchmarks of this checkout.")
def main(
    commit: str,
    parts: tuple[str, ...],
    rounds: int,
    inner: int,
    tolerance: float,
    *,
    twice: bool,
    theirs: bool,
    ours: bool,
) -> None:
    """Compare this checkout with COMMIT, as git names it; fails if a figure is worse beyond noise, twice.

    PARTS are those of run.py.
    """
    if theirs and ours:
        raise click.UsageError("--theirs and --ours exclude each other")
    console = Console(width=140)
    slower: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        others = [place / "other", place / "again"] if twice else [place / "other"]
        git = ["git", "-C", str(ROOT), "worktree"]
        for each in others:
            subprocess.run([*git, "add", "--quiet", "--detach", str(each), commit], check=True)
        programs = others[0] if theirs else ROOT if ours else None
        comparison = Comparison([others[0], ROOT, *others[1:]], place, programs, rounds, inner)
        try:
            for part in parts or PARTS:
                before, after, *rest = comparison.measure(part, part)
                console.print(_table(before, after, rest[0] if rest else {}, commit, tolerance))
                if suspects := worse(before, after, tolerance):
                    before, after, *_ = comparison.measure(part, f"{part}, once more")
                    slower |= suspects & worse(before, after, tolerance)
        finally:
            for each in others:
                subprocess.run([*git, "remove", "--force", str(each)], check=True)
    for figure in sorted(slower):
        console.print(f"worse beyond noise, twice: {figure}", style="red")
    if slower:
        sys.exit(1)


if __name__ == "__main__":
    main()
