"""Tests that layers above the graph ask types what they need (`Type.parts`, `is_array`), and not whether they are tensors."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    p
    for package in ("rewrite", "link", "compile")
    for p in sorted((ROOT / "packages" / package / "src").rglob("*.py"))
]
ALLOWED = {
    "occelo_rewrite/patterns/relations.py": "the dtype and shape are the parts of a type that relations see",
    "occelo_link/loops/lowering.py": "tells type checkers that the variables of an elementwise op are tensors",
    "occelo_link/numba/njit_functions.py": "functions of Numba take arrays only",
}
"""By file, why it asks whether a type is that of tensors."""


def _path(path: Path) -> str:
    return path.relative_to(next(p for p in path.parents if p.name == "src")).as_posix()


def asks_for_tensors(text: str) -> bool:
    """Whether a source asks by isinstance, or matches, the class TensorType."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            asked: ast.AST = node.args[1]
        elif isinstance(node, ast.MatchClass):
            asked = node.cls
        elif isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type("):
            asked = node
        else:
            continue
        names = {ast.unparse(n).rpartition(".")[2] for n in ast.walk(asked) if _is_name(n)}
        if names & {"TensorType"}:
            return True
    return False


def _is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def test_types_are_asked_for_what_they_can_do() -> None:
    """Others ask the type for its parts, or whether it is an array."""
    texts = {_path(path): path.read_text() for path in SOURCES}
    # most name no class of types, and to read code takes long
    asking = {p for p, text in texts.items() if "TensorType" in text and asks_for_tensors(text)}
    assert asking == set(ALLOWED)


@pytest.mark.parametrize(
    "text",
    [
        "isinstance(x.type, TensorType)",
        "isinstance(x.type, (Other, g.TensorType))",
        "type(x.type) is TensorType",
        "match x:\n    case TensorType(): ...",
    ],
)
def test_what_asks_is_found(text: str) -> None:
    assert asks_for_tensors(text)
    assert not asks_for_tensors("made = TensorType('float64', ())\nx.type.is_array")
