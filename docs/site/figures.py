"""Draws the figures of the page about speed from the tables of benchmarks/README.md."""

from __future__ import annotations

import re
from pathlib import Path

from matplotlib.figure import Figure

TABLES = Path(__file__).parents[2] / "benchmarks" / "README.md"
COLORS = {
    "Occelo": "#0a7d4f", "NumPy": "#8a8a8a", "PyTensor (Numba)": "#c06a1c", "PyTensor (C)": "#e0a060",
    "JAX": "#3b6fc4", "PyTorch": "#b8413a",
}  # fmt: skip
OTHER_NAMES = {"`jax.jit`": "JAX", "`torch.compile`": "PyTorch"}


def table(part: str) -> tuple[list[str], dict[str, list[float | None]]]:
    """The first table below the heading of a part: names of the columns, and numbers by the names of rows."""
    text = re.split(rf"^## .*\(`{part}`\)$", TABLES.read_text(), flags=re.M)[1]
    lines = re.findall(r"^\|(.*)\|$", text.partition("\n## ")[0].partition("\n\nA ")[0], re.M)
    columns = [OTHER_NAMES.get(c.strip(), c.strip()) for c in lines[0].split("|")[1:]]
    rows: dict[str, list[float | None]] = {}
    for line in lines[2:]:
        name, *cells = (cell.strip() for cell in line.split("|"))
        if len(cells) != len(columns):
            break
        rows[name] = [float(cell) if cell else None for cell in cells]
    return columns, rows


def draw(part: str, unit: str, path: Path, rows_like: str = "") -> None:
    """A picture of the rows whose names match: a point for each library on an axis of times."""
    columns, rows = table(part)
    chosen = {name: row for name, row in rows.items() if re.search(rows_like, name)}
    figure = Figure(figsize=(8, 1 + 0.32 * len(chosen)), layout="constrained")
    axes = figure.subplots()
    for library, color in COLORS.items():
        if library in columns:
            times = [row[columns.index(library)] for row in chosen.values()]
            marker, size = ("D", 40) if library == "Occelo" else ("o", 26)
            places = [i for i, t in enumerate(times) if t is not None]
            axes.scatter(
                [t for t in times if t is not None], places, size, color, marker, label=library
            )
    axes.set_yticks(range(len(chosen)), list(chosen))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel(unit)
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=130)


def draw_all(folder: Path) -> None:
    """The pictures of the page, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    draw("first", "milliseconds until the first result", folder / "speed-first.png")
    draw("runtime", "microseconds a call", folder / "speed-calls.png")
