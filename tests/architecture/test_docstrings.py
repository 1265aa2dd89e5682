"""Names that docstrings refer to exist."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "src", *sorted((ROOT / "packages").glob("*/src")))
SOURCES = sorted(p for folder in FOLDERS for p in folder.rglob("*.py"))
QUOTED = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.\w+)*)`(?!`)")
LIBRARIES = ("numpy", "scipy", "pickle", "copy", "copyreg", "mmap", "contextvars", "jax", "torch")


def module_name(path: Path) -> str:
    folder = next(f for f in FOLDERS if path.is_relative_to(f))
    parts = path.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that a source defines: functions, classes, arguments, fields, variables."""
    found: set[str] = set()
    for node in nodes:
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
def names_and_quotes() -> dict[str, tuple[set[str], set[str]]]:
    """By module, the names that it defines, and those that its docstrings quote."""
    nodes = ((name, [*ast.walk(ast.parse(p.read_text()))]) for name, p in MODULES.items())
    return {name: (names_in(each), quoted_in(each)) for name, each in nodes}


@functools.cache
def names_anywhere() -> frozenset[str]:
    last = {name.rpartition(".")[2] for name in MODULES}
    return frozenset[str]().union(last, *(names for names, _ in names_and_quotes().values()))


def exists(name: str, module: str) -> bool:
    """Whether a name is a module, or a name in one; it may be relative to a folder of ``module``."""
    folders = [module[: m.end()] for m in re.finditer(r"^|\.|$", module)]
    folders[-1] += "."
    parts = name.split(".")
    for folder in folders:
        for end in range(len(parts), 0, -1):
            read = names_and_quotes().get(folder + ".".join(parts[:end]))
            if read is not None:
                inner = parts[end:]
                return not inner or (inner[0] in read[0] and names_anywhere().issuperset(inner))
    return names_anywhere().issuperset(parts)


def docstrings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ast.get_docstring(node, clean=False) or ""


def quoted_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of Occelo that docstrings quote."""
    quoted = {q.removesuffix(".py") for d in docstrings(nodes) for q in QUOTED.findall(d)}
    return {q for q in quoted if q.split(".")[0] not in LIBRARIES}


def test_names_in_docstrings_exist() -> None:
    missing = {
        module: [name for name in sorted(quoted) if not exists(name, module)]
        for module, (_, quoted) in names_and_quotes().items()
    }
    assert {module: names for module, names in missing.items() if names} == {}


def test_a_name_that_nothing_has_is_seen() -> None:
    text = '"""As `function`, `occelo_graph.families` and `numpy.anything`; see `no_such_name`."""'
    quoted = quoted_in([ast.parse(text)])
    assert quoted == {"function", "occelo_graph.families", "no_such_name"}
    assert {q for q in quoted if not exists(q, "occelo_link.vm")} == {"no_such_name"}
