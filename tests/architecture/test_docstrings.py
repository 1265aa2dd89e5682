"""Names that docstrings refer to exist."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "src", *sorted((ROOT / "packages").glob("*/src")))
SOURCES = sorted(p for folder in FOLDERS for p in folder.rglob("*.py"))
QUOTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")
LIBRARIES = ("numpy", "scipy", "pickle", "copy", "copyreg", "mmap", "contextvars", "jax", "torch")


def module_name(path: Path) -> str:
    folder = next(f for f in FOLDERS if path.is_relative_to(f))
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_in(text: str) -> set[str]:
    """The names that a source text defines: functions, classes, arguments, fields, variables."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            # names of options, scalar functions and deferred imports are strings
            found.update(node.value.split() if node.value.count(" ") < 9 else ())
    return found


MODULES = {module_name(p): p for p in SOURCES}


@functools.cache
def names_by_module() -> dict[str, set[str]]:
    return {name: names_in(p.read_text()) for name, p in MODULES.items()}


@functools.cache
def names_anywhere() -> frozenset[str]:
    last = {name.rpartition(".")[2] for name in MODULES}
    return frozenset[str]().union(last, *names_by_module().values())


def exists(name: str, module: str) -> bool:
    """Whether a name is a module, or a name in one; it may be relative to a folder of ``module``."""
    folders = [module[: m.end()] for m in re.finditer(r"^|\.|$", module)]
    folders[-1] += "."
    parts = name.split(".")
    for folder in folders:
        for end in range(len(parts), 0, -1):
            found = names_by_module().get(folder + ".".join(parts[:end]))
            if found is not None:
                inner = parts[end:]
                return not inner or (inner[0] in found and names_anywhere().issuperset(inner))
    return names_anywhere().issuperset(parts)


def docstrings(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ast.get_docstring(node) or ""


@pytest.mark.parametrize("name", sorted(MODULES))
def test_names_in_docstrings_exist(name: str) -> None:
    quoted = {q for d in docstrings(MODULES[name].read_text()) for q in QUOTED.findall(d)}
    quoted = {q.removesuffix(".py") for q in quoted}
    missing = {q for q in quoted if q.split(".")[0] not in LIBRARIES and not exists(q, name)}
    assert not missing
