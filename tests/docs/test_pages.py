"""Tests that the code of every documentation page runs, and the examples."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    p
    for p in [*ROOT.glob("*.md"), *ROOT.glob("packages/*/README.md"), *ROOT.glob("docs/*.md")]
    if "```python" in p.read_text()
)

REGISTERS = re.compile(r"\bregister_|@(lowers|traces|rule|op)\b|@(lowers|traces)_|\belementwise\(")
"""Code that adds to the tables of a process."""


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_in_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
    assert blocks
    code = "\n".join(blocks)
    if REGISTERS.search(code):
        # what a page registers must not stay for the other tests of this process
        (tmp_path / "page.py").write_text(code)
        subprocess.run([sys.executable, "-W", "error", "page.py"], cwd=tmp_path, check=True)
        return
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    exec(compile(code, str(page), "exec"), module.__dict__)


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
