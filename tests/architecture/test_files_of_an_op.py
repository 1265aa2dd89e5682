"""An op is a matter of three files at most, beside its examples, and one of another package names public things alone."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST = 3
SOURCES = {
    p: p.read_text() for p in ROOT.glob("packages/*/src/**/*.py") if "testing" not in p.parts
}


@pytest.mark.parametrize("name", ['"log1mexp"', r"\bLogSumExp\b", r"\bNonzero\b"])
def test_an_op_is_a_matter_of_three_files(name: str) -> None:
    """A row of the table of scalar functions by its name, a reduction and a structural op by their classes.

    The files say what it is, its loops, and how libraries compute it. Laws have files of their own; these ops are in none.
    """
    files = {str(p.relative_to(ROOT)) for p, text in SOURCES.items() if re.search(name, text)}
    assert len(files) <= MOST, files
    assert "graph" in {f.split("/")[1] for f in files} <= {"graph", "link"}


def test_an_op_of_another_package_needs_what_is_public_alone() -> None:
    page = (ROOT / "docs" / "adding-an-op.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", page, flags=re.M | re.S)
    imports = [n for n in ast.walk(ast.parse("\n".join(blocks))) if isinstance(n, ast.ImportFrom)]
    assert {n.module for n in imports} == {"occelo_graph", "occelo_rewrite", "occelo_link"}
    for node in imports:
        public = importlib.import_module(str(node.module)).__all__
        assert {a.name for a in node.names} <= set(public)
    # everything but the table and its laws is in one place; so one file will do
    for decorator in ("@op", "@lowers_to_loops", "@lowers_scalar_to_loops", "@traces", "@rule"):
        assert decorator in page
