"""Tests of extension points: they are exported where the documentation says, and keep their parameters."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "adding-an-op.md").read_text()
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (\d+\.\d+\.\d+) \|$", PAGE, flags=re.M)
PACKAGES = ("occelo_graph", "occelo_rewrite", "occelo_link", "occelo_compile")
EXTENDS = re.compile(r"(register|lowers|traces|set_default)_\w+|lowers|traces|op|rule|infers")
PARAMETERS = {
    "elementwise": "name nin rule function partials doc **options",
    "inexact": "dtypes",
    "promoted": "dtypes",
    "register_reduction": "function identity title pullback pushforward accumulates rounds idempotent linear repeated",
    "op": "cls",
    "register_coder": "cls to_plain from_plain",
    "register_loadable": "part",
    "set_default_converter": "converter",
    "rule": "*patterns on same_dtype tags name requirements",
    "call": "op *args name",
    "wild": "names where",
    "node_rewriter": "tracks inplace requirements name tags only_new below",
    "infers": "fact *classes",
    "register_canonicalize": "rewrite *more name **options",
    "register_stabilize": "rewrite *more name **options",
    "register_specialize": "rewrite *more name **options",
    "register_uncanonicalize": "rewrite *more name **options",
    "register_useless": "rewrite *more name **options",
    "register_infer_shape": "rewrite *more name **options",
    "register_optimizer": "name query",
    "lowers_to_loops": "op_class when",
    "lowers_complex_to_loops": "op_class when",
    "lowers_parts_to_loops": "op_class when",
    "lowers_scalar_to_loops": "*names cost when",
    "scalar_value": "builder name dtype *args",
    "traces": "*classes",
    "traces_parts": "*classes",
    "traces_scalar": "*names backend convert",
    "register_linker": "name maker",
    "without_lowering": "*what",
    "register_mode": "name mode",
}
"""The parameters that each function has had since it was first published; what is added has a default."""


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:3])


@pytest.mark.parametrize(("name", "package", "since"), ROWS)
def test_what_the_page_lists_is_exported(name: str, package: str, since: str) -> None:
    module = importlib.import_module(package)
    assert name in module.__all__
    assert getattr(module, name).__doc__
    assert _number(since) <= _number(module.__version__)
    history = next(
        p / "packages" / package.removeprefix("occelo_") / "CHANGELOG.md"
        for p in Path(__file__).parents
        if (p / "packages").is_dir()
    ).read_text()
    assert re.search(rf"^## {re.escape(since)}\b", history, flags=re.M)


def test_the_page_lists_all() -> None:
    listed = {name for name, _, _ in ROWS}
    assert len(listed) == len(ROWS)
    for package in PACKAGES:
        exported = importlib.import_module(package).__all__
        missing = {n for n in exported if EXTENDS.fullmatch(n)} - listed
        assert not missing, f"{package} exports {missing}: say since when"


def test_the_page_uses_what_it_lists() -> None:
    """What the code of the page imports is promised to stay, but for what it shows things with."""
    listed = {name for name, _, _ in ROWS}
    imported = re.findall(r"^\s*from (occelo_\w+) import (.+)$", PAGE, flags=re.M)
    assert imported
    names = {n.strip() for _, line in imported for n in line.split(",")}
    assert names - listed == {"TensorType"}


@pytest.mark.parametrize(("name", "package", "since"), ROWS)
def test_parameters_stay(name: str, package: str, since: str) -> None:
    value = getattr(importlib.import_module(package), name)
    if not inspect.isfunction(value):
        assert name not in PARAMETERS
        return
    found = inspect.signature(value).parameters
    told = [str(p).partition(":")[0].partition("=")[0].strip() for p in found.values()]
    first = PARAMETERS[name].split()
    assert [n for n in told if n in first] == first
    for parameter, written in zip(found.values(), told, strict=True):
        if written not in first:
            assert parameter.default is not inspect.Parameter.empty, f"{name} needs {written} now"
