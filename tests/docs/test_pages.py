"""Tests that the code of every documentation page runs, and the examples, and that the programs of benchmarks compile.

A rewriter that reaches its limit is an error in all of them, as in all tests (`conftest`).
"""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from types import ModuleType
from typing import Any

import pytest

import occelo as oc
from occelo.tensor import linalg

ROOT = Path(__file__).parents[2]
NEEDS_PYTENSOR = re.compile(r"^(import|from) (occelo[._]pytensor|pymc)\b", re.M)
"""Pages with such lines are tested with the tests of `occelo-pytensor`."""
PAGES = sorted(
    p
    for p in [*ROOT.glob("*.md"), *ROOT.glob("packages/*/README.md"), *ROOT.glob("docs/**/*.md")]
    # pages of examples quote their scripts; the entries of errors are run by test_entries_of_errors
    if "```python\n" in p.read_text()
    and p.parent.name not in ("examples", "errors")
    and not NEEDS_PYTENSOR.search(p.read_text())
)

RAISING = """
try:
{}except Exception:
    pass
else:
    raise AssertionError("a block of the page raised no error")
"""
"""Code around a block that must raise an error."""
REGISTERS = re.compile(r"\bregister_|@(lowers|traces|rule|op)\b|@(lowers|traces)_|\belementwise\(")
"""Code that adds to the tables of a process."""


@pytest.mark.sampled(1)  # all pages: half a second of processor time each
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_in_pages_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python( raises)?\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
    assert blocks
    code = "\n".join(
        RAISING.format(indent(text, "    ")) if raises else text for raises, text in blocks
    )
    if REGISTERS.search(code):
        # what a page registers must not stay for the other tests of this process
        (tmp_path / "page.py").write_text(code)
        subprocess.run([sys.executable, "-W", "error", "page.py"], cwd=tmp_path, check=True)
        return
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)
    exec(compile(code, str(page), "exec"), module.__dict__)


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
OF_CLIENTS = sorted((ROOT / "packages").glob("*/examples/*.py"))
"""Examples that run in environments of their own (`tests/pytensor`)."""


@pytest.mark.sampled(9)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.name)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = example.read_text()
    for library in sorted(
        set(re.findall(r"^ *(?:from|import) (sklearn|statsmodels|matplotlib|jax)\b", source, re.M))
    ):
        pytest.importorskip(library, reason=f"{example.name} needs the extra `examples` or `jax`")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example), "picture.png"])
    runpy.run_path(str(example), run_name="__main__")
    if "savefig" in source:
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "examples").glob("*.md")), ids=lambda p: p.name
)
def test_pages_of_examples_show_their_code(page: Path) -> None:
    """What a page quotes is in the script of that name, line by line; the script runs in the test above."""
    text, name = page.read_text(), f"{page.stem.replace('-', '_')}.py"
    source = next(p for p in (*EXAMPLES, *OF_CLIENTS) if p.name == name).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)
    assert blocks
    for block in blocks:
        assert block in source, block
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", text)
    assert pictures
    for picture in pictures:
        assert (page.parent / picture).is_file()


def test_every_example_has_a_page() -> None:
    pages = {p.stem.replace("-", "_") for p in (ROOT / "docs" / "examples").glob("*.md")}
    with_picture = {p.stem for p in EXAMPLES if "savefig" in p.read_text()}
    assert with_picture
    assert with_picture | {p.stem for p in OF_CLIENTS} == pages


def test_the_page_of_linear_algebra_lists_every_function() -> None:
    page = (ROOT / "docs" / "linear-algebra.md").read_text()
    table = page.split("| about | functions |")[1].split("\n\n")[0]
    listed = re.findall(r"`(\w+)`", table)
    public = {n for n in dir(linalg) if n[0].islower() and inspect.isfunction(getattr(linalg, n))}
    assert len(listed) == len(set(listed))
    assert set(listed) == public


def workloads(names: str) -> list[Any]:
    """The programs that benchmarks measure. Those of ``names`` are the parts "runtime", "linear" and "loops"."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("compiled").LISTS[names]
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.mark.sampled(40)
@pytest.mark.parametrize(
    ("part", "number"),
    [(part, i) for part in ("runtime", "linear", "loops") for i in range(len(workloads(part)))],
)
def test_programs_of_benchmarks_compile(part: str, number: int) -> None:
    work = workloads(part)[number]()
    inputs, outputs, updates = work.build(importlib.import_module("compiled").library("occelo"))
    oc.function(inputs, outputs, updates=updates)
