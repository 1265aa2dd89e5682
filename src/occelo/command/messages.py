"""Finds where a message is written in the sources of the installed packages, for messages that no entry of docs/errors explains."""

from __future__ import annotations

import ast
import functools
import importlib.util
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from occelo.hints.explanations import Entry, entries_by_hand

_FILES = 12
"""How many sources are read closely at first: those that have most of the message's words."""
_GIVES_KIND = ("explained", "explained_by")
"""Functions whose last argument is the entry that explains what is raised."""
_BY_PACKAGE = re.compile(r"""explain_errors\(globals\(\), "(\w+)"\)""")


class Written(NamedTuple):
    """A place that writes a message: the module, the function ("" outside of functions) and its docstring, the line, the message
    with ``...`` for what differs, and the kind of errors, the title of an entry of docs/errors.md ("" if none is said)."""

    module: str
    function: str
    docstring: str
    line: int
    message: str
    kind: str


def written(text: str) -> list[Written]:
    """The places that write a message, or the parts of messages of which ``text`` has the words; those that say most first."""
    words = _words(text)
    has = {path: words & own for path, own in _words_of_sources().items()}
    # a word that few sources have says more
    rarity = {word: 1 / (1 + sum(word in common for common in has.values())) for word in words}
    near = sorted(has, key=lambda path: -sum(rarity[word] for word in has[path]))
    # all the others take seconds, and are needed for messages without rare words
    fitting = _fitting(near[:_FILES], text) or _fitting(near[_FILES:], text)
    return sorted(fitting, key=lambda p: -len(p.message.replace("...", "")))


def _fitting(paths: list[Path], text: str) -> list[Written]:
    return [place for path in paths for place in _written_in(path) if _fits(place.message, text)]


def _fits(message: str, text: str) -> bool:
    """Whether the text is the message, or words of it."""
    if len(message.replace("...", "").strip()) < 4:
        return False
    return Entry("", "", "", message).fits(text) or text.lower() in message.lower()


@functools.cache
def _sources() -> dict[Path, str]:
    """The text of each module of the installed packages."""
    roots = [
        Path(place)
        for module in pkgutil.iter_modules()
        if module.name.startswith("occelo") and (spec := importlib.util.find_spec(module.name))
        for place in spec.submodule_search_locations or ()
    ]
    return {path: path.read_text() for root in roots for path in sorted(root.rglob("*.py"))}


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]{3,}", text))


@functools.cache
def _words_of_sources() -> dict[Path, set[str]]:
    return {path: _words(text) for path, text in _sources().items()}


@functools.cache
def _written_in(path: Path) -> list[Written]:
    """The texts that the functions of a source write, but docstrings."""
    package = [p for p in path.parents if (p / "__init__.py").exists()][-1]
    module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
    start = Written(module, "", "", 0, "", kind_of_package(package.name))
    return [*_inside(ast.parse(_sources()[path]), start)]


def _inside(node: ast.AST, place: Written) -> Iterator[Written]:
    """The texts that a node of the syntax writes, which stands in ``place``."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        kinds = [kind for each in node.decorator_list if (kind := _given_kind(each))]
        place = place._replace(
            function=f"{place.function}.{node.name}".strip("."),
            docstring=ast.get_docstring(node) or place.docstring,
            kind=[place.kind, *kinds][-1],
        )
    elif isinstance(node, ast.Raise):
        place = place._replace(kind=_raised_kind(node.exc) or place.kind)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    message = _template(node)
    if message:
        yield place._replace(line=getattr(node, "lineno", 0), message=message)
        return
    for child in ast.iter_child_nodes(node):
        yield from _inside(child, place)


def _template(node: ast.AST) -> str:
    """The text of a node with ``...`` for its fields; empty if it writes none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) or "..." for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _template(node.left), _template(node.right)
        return f"{left or '...'}{right or '...'}" if left or right else ""
    return ""


def _raised_kind(raised: ast.expr | None) -> str:
    """The kind that a raise statement names, or whose exception it raises."""
    if not isinstance(raised, ast.Call):
        return ""
    name = ast.unparse(raised.func).rpartition(".")[2]
    return _given_kind(raised) or (name if name in entries_by_hand() else "")


def _given_kind(node: ast.AST) -> str:
    """The kind that a call such as ``explained(error, "axes")`` gives an error."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in _GIVES_KIND and node.args:
        last = node.args[-1]
        if isinstance(last, ast.Constant) and isinstance(last.value, str):
            return _title(last.value)
    return ""


@functools.cache
def kind_of_package(package: str) -> str:
    """The kind that the functions of a package (its module's name) give their errors, if they give one; else ""."""
    for path, text in _sources().items():
        if package in path.parts and (match := _BY_PACKAGE.search(text)):
            return _title(match[1])
    return ""


def _title(kind: str) -> str:
    """The entry of docs/errors.md that is called so, in small letters or not."""
    return next((title for title in entries_by_hand() if title.lower() == kind.lower()), "")
