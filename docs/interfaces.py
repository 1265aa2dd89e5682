"""Writes packages/*/interface.txt: what other packages take from the modules of a package, with signatures.

``python docs/interfaces.py`` writes the texts; a test compares them with the sources. So an import that goes around these
doors, or a changed signature, is seen in review. A release whose interface lost or changed a line needs a step of the
version that the ranges of the other packages exclude.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

from workspace import CLIENTS, MEMBERS, ROOT, SUPPORT
from workspace import modules as modules_of


def modules() -> dict[str, Path]:
    """All modules by name."""
    found: dict[str, Path] = {}
    for source in (ROOT / "src", *(ROOT / "packages" / p / "src" for p in (*MEMBERS, *CLIENTS))):
        for path in source.rglob("*.py"):
            parts = path.relative_to(source).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def taken(sources: dict[str, Path]) -> dict[str, set[str]]:
    """For each module, the names that modules of other packages import; "*" for all, "" for the module itself."""
    found: dict[str, set[str]] = {}
    for name, path in sources.items():
        own = name.partition(".")[0]
        if own in modules_of(SUPPORT):
            continue  # it follows the others
        for module, what in _imports(ast.parse(path.read_text()), sources):
            other = module.partition(".")[0]
            if other != own and module in sources:
                found.setdefault(module, set()).add(what)
    return found


def _imports(tree: ast.AST, sources: dict[str, Path]) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield (inner, "") if inner in sources else (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ""


def signature(tree: ast.Module, name: str) -> list[str]:
    """The lines for one name: a function with its signature, a class with its bases and public members, or the name alone."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return [_of_function(node)]
        if isinstance(node, ast.ClassDef) and node.name == name:
            bases = ", ".join(map(ast.unparse, node.bases))
            members = dict.fromkeys(_members(node))
            return [f"class {name}({bases})" if bases else f"class {name}", *members]
    return [name or "(the module)"]


def _of_function(node: ast.FunctionDef) -> str:
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    kinds = [d.id for d in node.decorator_list if isinstance(d, ast.Name) and d.id in _KINDS]
    return " ".join([*kinds, f"def {node.name}({ast.unparse(node.args)}){returns}"])


_KINDS = {"property", "staticmethod", "classmethod", "cached_property", "overload"}
"""Decorators that say how a member is asked for."""


def _members(node: ast.ClassDef) -> Iterator[str]:
    """Public methods and fields that a class defines, with constructors and calls."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and (
            each.name[0] != "_" or each.name in ("__init__", "__call__")
        ):
            yield f"    {_of_function(each)}"
        elif isinstance(each, ast.AnnAssign) and ast.unparse(each.target)[0] != "_":
            yield f"    {ast.unparse(each.target)}: {ast.unparse(each.annotation)}"


@functools.cache
def _doors() -> tuple[dict[str, Path], dict[str, set[str]]]:
    """All modules, and what is taken from them; to read all sources takes seconds."""
    sources = modules()
    return sources, taken(sources)


def interface(package: str) -> str:
    """The text for one package."""
    sources, doors = _doors()
    lines: list[str] = []
    for module, names in sorted(doors.items()):
        if module.partition(".")[0] == f"occelo_{package}":
            tree = ast.parse(sources[module].read_text())
            lines += [module]
            lines += [f"    {line}" for name in sorted(names) for line in signature(tree, name)]
    return "\n".join(lines) + "\n"


def broken_promises(before: str, after: str, earlier: str, version: str) -> list[str]:
    """What the text of an ``earlier`` version promises and that of a ``version`` does not, if this needs a step of the version.

    The ranges of other packages are such as ``>=0.1,<0.2``, so a step of the second number may break any promise. One of the
    third number may only add some, and without a step nothing changes.
    """
    if earlier == version:
        return sorted(_promises(before) ^ _promises(after))
    if earlier.split(".")[:2] != version.split(".")[:2]:
        return []
    return sorted(_promises(before) - _promises(after))


def _promises(text: str) -> set[str]:
    """The lines of a text, each with the module, and the class, that it belongs to."""
    owners, promises = ["", ""], set[str]()
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 4
        owners[depth:] = [line.strip()]
        promises.add(": ".join(owners))
    return promises


def page(package: str) -> Path:
    """The file of the text for one package."""
    return ROOT / "packages" / package / "interface.txt"


if __name__ == "__main__":
    for each in MEMBERS:
        page(each).write_text(interface(each))
