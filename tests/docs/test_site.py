"""Tests of what the build of the site needs from the pages, without a build."""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMING = ("explained", "explained_by", "_explain_errors")
"""What gives errors the name of a section of docs/errors.md."""


@functools.cache
def build() -> Any:
    sys.path.insert(0, str(DOCS / "site"))
    try:
        return importlib.import_module("build")
    finally:
        sys.path.remove(str(DOCS / "site"))


def test_every_page_is_in_the_navigation_once() -> None:
    trees = re.findall(
        r"^```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)^```$", (DOCS / "index.md").read_text(), re.M | re.S
    )
    listed = [line for tree in trees for line in tree.split()]
    assert len(listed) == len(set(listed))
    made = {"gallery", "reference/index", "project/index", *build().OF_PROJECT, "index"}
    pages = {
        str(path.relative_to(DOCS).with_suffix(""))
        for path in DOCS.rglob("*.md")
        if path.parent.name not in ("examples", "decisions", "site", "errors", "raised")
    }
    assert pages == {*listed, *made} - {"gallery", "reference/index", "project/index"}


def test_every_page_of_messages_is_below_the_page_of_errors_once() -> None:
    trees = build().errors(build().pages())
    assert set(trees) == {Path("errors.md"), Path("errors/raised/index.md")}
    listed = [line for text in trees.values() for line in re.findall(r"^/(\S+)$", text, re.M)]
    pages = {
        str(path.relative_to(DOCS).with_suffix("")) for path in (DOCS / "errors").rglob("*.md")
    }
    assert len(pages) > 20
    assert sorted(listed) == sorted({*pages, "errors/raised/index"})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("page", sorted(build().pages()), ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_to_pages_of_the_site(page: Path) -> None:
    build().links(page, page.read_text(), build().pages())


def test_a_link_that_leads_nowhere_is_an_error() -> None:
    with pytest.raises(ValueError, match="no page of the site"):
        build().links(DOCS / "loops.md", "[a page](no-such-page.md)", build().pages())
    with pytest.raises(ValueError, match="no such heading"):
        build().links(DOCS / "loops.md", "[a part](options.md#no-such-part)", build().pages())
    assert build().links(DOCS / "errors.md", "[the cache](options.md#the-cache)", build().pages())


def test_links_that_name_files_become_titles() -> None:
    text = "[stats.md](stats.md), [here](stats.md), [speed.md](speed.md#a-call)"
    titled = build().links(DOCS / "pymc.md", text, build().pages())
    title = "[How fast it is](speed.md#a-call)"
    assert titled == f"[Probability distributions](stats.md), [here](stats.md), {title}"


def test_broken_links_of_built_pages_are_found(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "index.html").write_text(
        '<a id="top"></a><a href="#top"><a href="#nowhere"><a href="inside/b.html?x=1#part"><a href="inside/b.html#none">'
        '<img src="no.png"><a href="https://numpy.org/x"><a href="mailto:somebody">'
    )
    (tmp_path / "inside" / "b.html").write_text(
        '<p id="part"><a href="../index.html"><a href="c.html">'
    )
    assert build().broken_links(tmp_path) == [
        "index.html links to #nowhere",
        "index.html links to inside/b.html#none",
        "index.html links to no.png",
        "inside/b.html links to c.html",
    ]


def test_blocks_become_cells() -> None:
    text = (
        "```python\nx = 1\n```\n\n```python raises\n1 / 0\n```\n\n```python quoted\nrun(...)\n```\n"
    )
    made = build().cells(DOCS / "loops.md", text)
    assert "```{code-cell} ipython3\nx = 1\n```" in made
    assert "```{code-cell} ipython3\n:tags: [raises-exception]\n1 / 0\n```" in made
    assert "```python\nrun(...)\n```" in made


def test_the_tables_of_the_figures_are_found() -> None:
    pytest.importorskip("matplotlib", reason="the figures need the extra `examples`")
    sys.path.insert(0, str(DOCS / "site"))
    try:
        figures = importlib.import_module("figures")
    finally:
        sys.path.remove(str(DOCS / "site"))
    for (columns, rows), peer in (
        (figures.table("first"), "PyTorch"),
        (figures.table("runtime"), "PyTorch"),
        (figures.models(), "Stan"),
    ):
        assert {"Occelo", "JAX", peer} <= set(columns)
        assert len(rows) >= 6
        assert all(row[columns.index("Occelo")] for row in rows.values())


def test_every_example_has_tags_by_which_the_gallery_is_filtered() -> None:
    examples = sorted((DOCS / "examples").glob("*.md"))
    tags = [build().tags_of(path) for path in examples]
    assert all(tags)
    page = build().gallery(build().pages())
    for tag in {tag for listed in tags for tag in listed}:
        assert f"tag-{tag.replace(' ', '-')}" in page
    assert page.count(":class-item: tag-") == len(examples)
    script = (DOCS / "site" / "static" / "gallery.js").read_text()
    assert 'id="gallery-tags"' in page
    assert 'getElementById("gallery-tags")' in script


def test_every_section_that_errors_name_is_in_the_page() -> None:
    named: set[str] = set()
    for path in [*ROOT.glob("packages/*/src/**/*.py"), *ROOT.glob("src/**/*.py")]:
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in NAMING:
                named |= {each.value for each in call.args if isinstance(each, ast.Constant)}
            elif isinstance(call, ast.Assign) and ast.unparse(call.targets[0]) == "entry":
                named |= {each.value for each in [call.value] if isinstance(each, ast.Constant)}
    sections = re.findall(r"^## (\S+)$", (DOCS / "errors.md").read_text(), re.M)
    assert {str(each).lower() for each in named} <= {each.lower() for each in sections}
    assert {"axes", "calls", "MissingInputError"} <= named


def test_the_page_of_the_command_line_has_a_picture_of_each_command_it_shows() -> None:
    pytest.importorskip("matplotlib", reason="the figures need the extra `examples`")
    sys.path.insert(0, str(DOCS / "site"))
    try:
        commands = importlib.import_module("figures").COMMANDS
    finally:
        sys.path.remove(str(DOCS / "site"))
    page = (DOCS / "command-line.md").read_text()
    assert set(re.findall(r"\(command-(\w+)\.png\)", page)) == set(commands)
    for command in commands.values():
        assert f"occelo {command}" in page
