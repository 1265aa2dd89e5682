"""Tests that texts which commands write from the sources are up to date: the list of modules, and interfaces of packages."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import interfaces
import module_index
import pytest
import workspace


def test_the_list_of_modules_is_that_of_the_sources() -> None:
    assert module_index.PAGE.read_text() == module_index.page(), "run: python docs/module_index.py"


@pytest.mark.parametrize("path", workspace.files(), ids=lambda p: p.parent.name)
def test_tables_of_packages_are_those_of_the_folders(path: Path) -> None:
    text = path.read_text()
    assert text == workspace.with_tables(text), "run: python docs/workspace.py"


def test_each_table_of_packages_is_in_a_file() -> None:
    texts = "".join(path.read_text() for path in workspace.files())
    assert [texts.count(f"# packages: {name}\n") for name in workspace.TABLES] == [1] * 8


@pytest.mark.parametrize("page", ["README.md", "docs/installing.md"])
def test_the_command_that_installs_names_all_packages_of_users(page: str) -> None:
    commands = re.findall(
        r"pip install((?:\s+packages/\w+)+) \.", (workspace.ROOT / page).read_text()
    )
    assert [set(re.findall(r"packages/(\w+)", each)) for each in commands] == [
        set(workspace.PACKAGES)
    ]


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md"])
def test_pages_have_each_package(page: str) -> None:
    names = set(re.findall(r"\boccelo_(\w+)\b", (workspace.ROOT / page).read_text()))
    assert names >= {*workspace.PACKAGES, *workspace.CLIENTS}


def test_the_facade_requires_all_packages_of_users_and_packages_what_lies_below() -> None:
    assert set(workspace.MEMBERS) - set(workspace.SUPPORT) == set(workspace.PACKAGES)
    assert workspace.SUPPORT == ["testing"]
    assert workspace.CORE[0] == "graph"
    for position, name in enumerate(workspace.PACKAGES):
        assert workspace.BY_NAME[name].requires <= set(workspace.PACKAGES[:position])


@pytest.mark.parametrize("package", workspace.MEMBERS)
def test_an_interface_is_what_other_packages_import(package: str) -> None:
    text = interfaces.page(package).read_text()
    assert text == interfaces.interface(package), (
        "run: python docs/interfaces.py, and see its docstring"
    )


def test_an_import_around_the_doors_is_an_error_of_the_linter(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("importlinter", reason="the linter is no tool of tests")
    grimp = importlib.import_module("grimp")
    doors = importlib.import_module("doors").Doors(
        "doors", session_options={}, contract_options={"unbound": ["occelo_testing"]}
    )
    graph = grimp.ImportGraph()
    inner, door = "occelo_graph.gradient.cotangents", "occelo_graph.families"
    for importer in ("occelo_stats.sums", "occelo_testing.laws", "occelo_graph.ir.nodes"):
        graph.add_import(importer=importer, imported=inner)
        graph.add_import(importer=importer, imported=door)
    checked = doors.check(graph, verbose=False)
    assert checked.metadata["around"] == [("occelo_stats.sums", inner)]
    assert not checked.kept
    doors.render_broken_contract(checked)
    assert f"occelo_stats.sums imports {inner}" in capsys.readouterr().out
    graph.remove_import(importer="occelo_stats.sums", imported=inner)
    assert doors.check(graph, verbose=False).kept


def test_a_promise_may_be_broken_by_a_step_of_the_version_alone() -> None:
    before = "occelo_graph.a\n    class A\n    def f(x)\noccelo_graph.b\n    def g(x)\n"
    changed = before.replace("def f(x)", "def f(x, y)")
    moved = "occelo_graph.a\n    class A\n    def g(x)\noccelo_graph.b\n    def f(x)\n"
    more = before + "occelo_graph.c\n    def h(x)\n"
    lost = ["occelo_graph.a: def f(x)"]
    assert interfaces.broken_promises(before, changed, "0.1.0", "0.1.1") == lost
    assert interfaces.broken_promises(before, changed, "0.1.0", "0.2.0") == []
    # what is added needs a step, too, but a small one
    assert interfaces.broken_promises(before, more, "0.1.0", "0.1.0") == [
        "occelo_graph.c",
        "occelo_graph.c: def h(x)",
    ]
    assert interfaces.broken_promises(before, before, "0.1.0", "0.1.0") == []
    of_two = "occelo_graph.a\n    class A\n        def f(self)\n    class B\n"
    moved_member = "occelo_graph.a\n    class A\n    class B\n        def f(self)\n"
    assert interfaces.broken_promises(of_two, moved_member, "0.1.0", "0.1.1") == [
        "occelo_graph.a: class A: def f(self)"
    ]
    assert interfaces.broken_promises(before, more, "0.1.0", "0.1.1") == []
    assert interfaces.broken_promises(before, moved, "0.1.0", "0.1.1") == [
        *lost,
        "occelo_graph.b: def g(x)",
    ]


def test_an_interface_has_signatures_and_whole_modules() -> None:
    graph = interfaces.interface("graph").splitlines()
    assert "    def clone_replace" in "\n".join(graph)
    of_op = graph.index("    class Op(Traits)")
    assert "        def infer(self, *types: Any, **_: Any) -> Any" in graph[of_op:]
    # nothing that only tests import is a promise
    assert not any(
        line.startswith("occelo_testing") for line in interfaces.interface("testing").splitlines()
    )
