"""Tests that texts which commands write from the sources are up to date: the list of modules, and interfaces of packages."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = "graph rewrite link compile arrays linalg special loops random signal sorting stats networks testing".split()


@functools.cache
def command(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_modules_is_that_of_the_sources() -> None:
    made = command("module_index")
    assert made.PAGE.read_text() == made.page(), "run: python docs/module_index.py"


@pytest.mark.parametrize("package", PACKAGES)
def test_an_interface_is_what_other_packages_import(package: str) -> None:
    made = command("interfaces")
    text = made.page(package).read_text()
    assert text == made.interface(package), "run: python docs/interfaces.py, and see its docstring"


def test_an_interface_has_signatures_and_whole_modules() -> None:
    made = command("interfaces")
    graph = made.interface("graph").splitlines()
    assert "    def clone_replace" in "\n".join(graph)
    assert "    class Op(Traits)" in graph
    # nothing that only tests import is a promise
    assert not any(
        line.startswith("occelo_testing") for line in made.interface("testing").splitlines()
    )
