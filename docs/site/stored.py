"""Outputs of pages whose cells need another environment than the site's: ``python docs/site/stored.py``, as ``nox -s stored``.

The cells of such a page are run in one process, and what they print, and the value of a last expression, are written to a
file beside the page, ``docs/pymc.outputs.json``, with a digest of the cells. The site shows them below the cells. A test
compares the digests, so a page whose cells changed needs a new run. Outputs hold no path of the machine.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

ROOT = Path(__file__).parents[2]
CELL = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
OTHER_PYTHON = re.compile(r"^(import|from) (occelo[._]pytensor|pymc)\b", re.M)
"""Code of pages that need a later Python."""


def pages() -> list[Path]:
    """The pages of the folder ``docs`` with cells that are run elsewhere."""
    return [p for p in sorted((ROOT / "docs").glob("*.md")) if OTHER_PYTHON.search(p.read_text())]


def file_of(page: Path) -> Path:
    """Where the outputs of a page are."""
    return page.with_suffix(".outputs.json")


def digest(text: str) -> str:
    """A digest of the cells of a page; other text may change without a new run."""
    return hashlib.sha256("\0".join(CELL.findall(text)).encode()).hexdigest()


def outputs_of(text: str) -> list[str]:
    """Run the cells of a page: for each what it prints, and the value of the expression that is its last statement."""
    name = "page"
    module = types.ModuleType(name)
    sys.modules[name] = module
    outputs: list[str] = []
    for cell in CELL.findall(text):
        tree = ast.parse(cell)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(tree, name, "exec"), module.__dict__)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), name, "eval"), module.__dict__)
                if value is not None:
                    print(repr(value))
        outputs.append("\n".join(line.rstrip() for line in shown.getvalue().splitlines()))
    return outputs


def with_outputs(page: Path, text: str) -> str:
    """The text of a page with the stored outputs below its cells. ValueError if they belong to other cells."""
    stored = json.loads(file_of(page).read_text())
    if stored["cells"] != digest(page.read_text()):
        raise ValueError(f"{page.name} has changed since its cells were run: nox -s stored")
    outputs = iter(stored["outputs"])

    def shown(cell: re.Match[str]) -> str:
        output = next(outputs)
        return f"{cell[0]}\n\n```text\n{output}\n```" if output else cell[0]

    return CELL.sub(shown, text)


def run(page: Path) -> None:
    """Run the cells of a page in an empty folder, and store their outputs. ValueError if they hold paths."""
    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        outputs = outputs_of(text)
    for place in (str(ROOT), sys.prefix, str(Path.home()), folder, tempfile.gettempdir()):
        if any(place in output for output in outputs):
            raise ValueError(f"an output of {page.name} holds a path of this machine: {place}")
    stored = {"cells": digest(text), "outputs": outputs}
    file_of(page).write_text(json.dumps(stored, indent=1) + "\n")
    print(f"{page.name}: {sum(map(bool, outputs))} of {len(outputs)} cells have outputs")


def main() -> None:
    """Run the pages that are given, or all in a process each, since cells register conversions and modes."""
    for name in sys.argv[1:]:
        run(Path(name))
    for page in pages() if not sys.argv[1:] else ():
        subprocess.run([sys.executable, "-P", __file__, str(page)], check=True)


if __name__ == "__main__":
    main()
