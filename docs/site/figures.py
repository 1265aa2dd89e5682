"""Draws the figures of the page about speed from the tables of benchmarks/README.md, and pictures of commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

TABLES = Path(__file__).parents[2] / "benchmarks" / "README.md"
COLORS = {
    "Occelo": "#0a7d4f", "NumPy": "#8a8a8a", "PyTensor (Numba)": "#c06a1c", "PyTensor (C)": "#e0a060",
    "JAX": "#3b6fc4", "PyTorch": "#b8413a", "nutpie (Numba)": "#7b4fa3", "Stan": "#b8413a",
}  # fmt: skip
WAYS = {
    "function": "Occelo", "pytensor": "PyTensor (Numba)", "jax": "JAX", "numba": "nutpie (Numba)", "stan": "Stan",
}  # fmt: skip
"""The columns of the table of models that the figure shows."""
Rows = dict[str, list[float | None]]
OTHER_NAMES = {"`jax.jit`": "JAX", "`torch.compile`": "PyTorch"}


def models() -> tuple[list[str], Rows]:
    """Microseconds of a density with its gradient, of the models that Stan was measured with: a cell's third number."""
    text = TABLES.read_text().split("<!-- models -->")[1].split("<!-- end of models -->")[0]
    heads, _, *lines = (
        [c.strip() for c in line.split("|")] for line in re.findall(r"^\|(.*)\|$", text, re.M)
    )
    rows: Rows = {}
    for line in lines:
        cells = dict(zip(heads, line, strict=True))
        if cells["stan"] != "-":
            rows[cells["model"].replace("_", " ")] = [float(cells[w].split("/")[2]) for w in WAYS]
    return [*WAYS.values()], rows


def table(part: str) -> tuple[list[str], Rows]:
    """The first table below the heading of a part: names of the columns, and numbers by the names of rows."""
    text = re.split(rf"^## .*\(`{part}`\)$", TABLES.read_text(), flags=re.M)[1]
    lines = re.findall(r"^\|(.*)\|$", text.partition("\n## ")[0].partition("\n\nA ")[0], re.M)
    columns = [OTHER_NAMES.get(c.strip(), c.strip()) for c in lines[0].split("|")[1:]]
    rows: Rows = {}
    for line in lines[2:]:
        name, *cells = (cell.strip() for cell in line.split("|"))
        if len(cells) != len(columns):
            break
        rows[name] = [float(cell) if cell else None for cell in cells]
    return columns, rows


def draw(columns: list[str], rows: Rows, unit: str, path: Path) -> None:
    """A picture of a table: a point for each library on an axis of times.

    It is as narrow as a phone, and names stand above the points, so that letters are as large as those of the page.
    """
    figure = Figure(figsize=(4.8, 1.4 + 0.52 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for library, color in COLORS.items():
        if library in columns:
            times = [row[columns.index(library)] for row in rows.values()]
            marker, size = ("D", 40) if library == "Occelo" else ("o", 26)
            places = [i for i, t in enumerate(times) if t is not None]
            axes.scatter(
                [t for t in times if t is not None], places, size, color, marker, label=library
            )
    for place, name in enumerate(rows):
        start = (0.01, place - 0.35)
        axes.annotate(name, start, xycoords=axes.get_yaxis_transform(), va="center", fontsize=12)
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.6, -0.8)
    axes.set_xscale("log")
    axes.set_xlabel(unit, fontsize=13)
    axes.tick_params(axis="x", labelsize=13)
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, fontsize=12)
    figure.savefig(path, dpi=150)


COMMANDS = {
    "modes": "modes",
    "explain": "explain model.py:loss --no-open",
    "backends": "backends model.py:loss",
    "errors": "errors axes",
    "config": "config floatX",
}
"""The commands whose pictures the page about the command line shows. `config` has the environment that the page says."""


def draw_command(name: str, path: Path, page: Path) -> None:
    """A picture of what a command prints, beside the file ``model.py`` of the page."""
    environment = os.environ | {"COLUMNS": "96"}
    if name == "config":
        environment["OCCELO_FLAGS"] = "floatX=float32"
    with tempfile.TemporaryDirectory() as folder:
        (model,) = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.M | re.S)
        (Path(folder) / "model.py").write_text(model)
        command = [sys.executable, "-m", "occelo", *COMMANDS[name].split()]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
    lines = [f"$ occelo {COMMANDS[name]}", *done.stdout.rstrip().splitlines()]
    figure = Figure(figsize=(8, 0.2 * len(lines) + 0.2), facecolor="#14181c")
    text = "\n".join(lines).replace("$", r"\$")
    figure.text(
        0.01, 0.98, text, family="monospace", size=8, color="#e6e6e6", va="top", linespacing=1.3
    )
    figure.savefig(path, dpi=130, bbox_inches="tight", pad_inches=0.1)


def draw_all(folder: Path) -> None:
    """The pictures of the page, in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    draw(*table("first"), "milliseconds until the first result", folder / "speed-first.png")
    draw(*table("runtime"), "microseconds a call", folder / "speed-calls.png")
    draw(*models(), "microseconds of a density with its gradient", folder / "speed-models.png")
    for name in COMMANDS:
        draw_command(
            name, folder / f"command-{name}.png", TABLES.parents[1] / "docs" / "command-line.md"
        )
