"""Tests that only files of its family name an op's class; all others read its traits."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import workspace

import occelo_compile  # noqa: F401  (so that all classes of ops are there)
import occelo_graph as og
import occelo_graph.inner_graph  # which is loaded by its first use

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    p
    for folder in (ROOT / "src", *(ROOT / "packages").glob("*/src"))
    for p in folder.rglob("*.py")
    # tables of examples name what they are examples of, and so do facades and clients and conversions of each op
    if not {"examples", "occelo_testing", "occelo_pytensor"} & {*p.parts}
    and p.name not in ("__init__.py", "tensor.py")
    and not re.search(r"occelo_\w+/functions\.py$", str(p))
    and "at PyTensor's place" not in p.read_text()
)
FAMILIES = "create elemwise reduce shape index join blas control cast typed_list".split()
OF_PACKAGES = re.compile(rf"/occelo_({'|'.join(workspace.FAMILIES)})/")
OF_FAMILIES = re.compile(
    rf"/(ops|rules|lowerings|translations|assumptions|occelo_graph)/({'|'.join(FAMILIES)})(\.py|/)"
)
HAVE_OPS = tuple(workspace.modules(["graph", "compile", *workspace.FAMILIES]))
ALSO_OF = {"gradient/barriers.py": "control", "lowerings/stretching.py": "shape"}
"""Ops that are defined elsewhere than in `ops`, and the family in which other layers treat them."""
SEES_ALL = ("/ops/", "/rules/", "/facts", "/occelo_rewrite/matrices.py", "/occelo_export/onnx/")
"""Where files name other families, too: ops are built from ops, rules and facts are about one op beside another, and
translations are words of another program for ops of all families.
"""

FORMS = "the forms that neither overflow nor cancel are laws about these functions, for gradients and rules alike"
PATTERNS = "patterns are about functions of elements by name, which is what this op applies"
ALLOWED: dict[str, tuple[set[str], str]] = {
    "occelo_compile/memory.py": (
        {"DeepCopyOp", "ViewOp"},
        "makes the copies that the contract needs, and hands both on to users",
    ),
    "occelo_forms/conversions.py": ({"CAReduce", "Elemwise", "Softmax"}, FORMS),
    "occelo_forms/expressions.py": (
        {"AdvancedSubtensor", "CAReduce", "DimShuffle", "Elemwise", "Join", "Subtensor"},
        FORMS,
    ),
    "occelo_forms/logarithms.py": (
        {
            "AdvancedSubtensor",
            "DimShuffle",
            "Elemwise",
            "Join",
            "LogSoftmax",
            "Softmax",
            "Subtensor",
        },
        FORMS,
    ),
    "occelo_forms/products.py": ({"CAReduce", "DimShuffle", "Elemwise", "Softmax"}, FORMS),
    "occelo_forms/powers.py": ({"Elemwise", "Softmax"}, FORMS),
    "occelo_forms/quotients.py": ({"Elemwise", "Softmax"}, FORMS),
    "occelo_forms/roots.py": ({"Elemwise"}, FORMS),
    "occelo_forms/stable_forms.py": ({"Elemwise"}, FORMS),
    "occelo_printing/infix.py": (
        {"CAReduce", "Elemwise"},
        "Python's operators are of functions of elements; a mean is a sum that is divided",
    ),
    "occelo_graph/tensors/constant_values.py": (
        {"Alloc", "DimShuffle", "Elemwise", "MakeVector", "Reshape", "SpecifyShape", "Subtensor"},
        "says of which ops all elements are those of the first input, so that they have one value if it has",
    ),
    "occelo_graph/tensors/numpy_functions.py": (
        {"Elemwise"},
        "all functions of the table stand for NumPy's ufuncs of their names",
    ),
    "occelo_rewrite/specialization.py": (
        {"Shape", "Shape_i", "SpecifyShape"},
        "what is known of lengths goes into the ops that lengths come from",
    ),
    "occelo_rewrite/fusion/composite.py": ({"Elemwise"}, "fusion is of functions of elements"),
    "occelo_rewrite/fusion/fusing.py": ({"Elemwise"}, "fusion is of functions of elements"),
    "occelo_rewrite/inplace.py": (
        {"Elemwise"},
        "makes the variants that overwrite one of several operands",
    ),
    "occelo_rewrite/patterns/pattern.py": ({"Elemwise"}, PATTERNS),
    "occelo_rewrite/patterns/pattern_rule.py": ({"Elemwise"}, PATTERNS),
}
"""By file, what it names of other families, and why."""


def _classes(base: type) -> list[type]:
    return [c for s in base.__subclasses__() for c in (s, *_classes(s))]


OPS = {c for c in _classes(og.Op) if c.__module__.startswith("occelo_")}
NAMES = {c.__name__: c for c in OPS}
OP_NAMES = re.compile(rf"\b({'|'.join(NAMES)})\b")


def _family(module: str) -> str | None:
    path = f"/{module.replace('.', '/')}.py"
    for end, family in ALSO_OF.items():
        if path.endswith(end):
            return family
    of_package = OF_PACKAGES.match(path)
    if of_package is not None:
        return of_package[1]
    found = OF_FAMILIES.search(path)
    return found[2] if found else None


def _imported(tree: ast.AST) -> dict[str, Any]:
    """What a module imports from the packages that have ops, by the names that it gives it."""
    found: dict[str, Any] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(HAVE_OPS):
            for alias in node.names:
                if alias.name == "*":
                    continue  # what a facade hands on
                source = importlib.import_module(node.module or "")
                try:
                    value = getattr(source, alias.name)
                except AttributeError:
                    value = importlib.import_module(f"{node.module}.{alias.name}")
                found[alias.asname or alias.name] = value
    return found


def named_ops(text: str) -> set[type]:
    """The classes of ops that a source names: imported, as attributes of modules, or as strings."""
    tree = ast.parse(text)
    imported = _imported(tree)
    found = {v for v in imported.values() if isinstance(v, type) and v in OPS}
    listed = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for each in ast.walk(node.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            value = getattr(imported.get(node.value.id), node.attr, None)
            if isinstance(value, type) and value in OPS:
                found.add(value)
        elif isinstance(node, ast.Constant) and id(node) not in listed:
            found |= {NAMES[node.value]} if node.value in NAMES else set()
    return found


def _of_other_families(path: str, text: str) -> set[str]:
    """The names of ops in a source that is of no family, or of another."""
    if any(part in f"/{path}" for part in SEES_ALL):
        return set()
    if not OP_NAMES.search(text):  # to read code takes long
        return set()
    module = path.removesuffix(".py").replace("/", ".")
    own = _family(module)
    return {
        cls.__name__
        for cls in named_ops(text)
        # a base without anything of its own to compute is a way to write ops
        if cls.__module__ != module
        and not (cls.evaluate is og.Op.evaluate and cls.perform is og.Op.perform)
        and (own is None or _family(cls.__module__) != own)
    }


def _path(path: Path) -> str:
    return path.relative_to(next(p for p in path.parents if p.name == "src")).as_posix()


def test_ops_are_named_in_the_files_of_their_family() -> None:
    """Who names others asks for a trait of the op instead (ir/traits.py), or says here why not."""
    named = {_path(path): _of_other_families(_path(path), path.read_text()) for path in SOURCES}
    allowed = {path: names for path, (names, _) in ALLOWED.items()}
    assert {path: names for path, names in named.items() if names} == allowed


@pytest.mark.parametrize(
    "text",
    [
        "from occelo_graph.ops.reduce import Softmax\nx = isinstance(y, Softmax)",
        "from occelo_graph.ops import reduce\nx = isinstance(y, reduce.Softmax)",
        "x = type(y).__name__ in ('Softmax', 'z')",
        "def f():\n    from occelo_graph.ops.reduce import Softmax as S",
    ],
)
def test_a_class_that_is_named_elsewhere_is_found(text: str) -> None:
    assert _of_other_families("occelo_rewrite/engine.py", text) == {"Softmax"}
    assert _of_other_families("occelo_link/loops/lowerings/shape.py", text) == {"Softmax"}
    assert not _of_other_families("occelo_link/loops/lowerings/reduce.py", text)
    assert not _of_other_families("occelo_link/traced/translations/reduce.py", text)


BY_NAME = {
    "occelo_forms/expressions.py": FORMS,
    "occelo_forms/logarithms.py": FORMS,
    "occelo_forms/powers.py": FORMS,
    "occelo_forms/products.py": FORMS,
    "occelo_forms/quotients.py": FORMS,
    "occelo_forms/roots.py": FORMS,
    "occelo_forms/stable_forms.py": FORMS,
    "occelo_printing/infix.py": "a mean is a sum that is divided",
    "occelo_graph/tensors/constant_values.py": "`second` has the value of its second operand",
    "occelo_rewrite/patterns/pattern_rule.py": PATTERNS,
}
"""Files of no family that ask for the name of a function of elements, and why."""


def test_functions_of_elements_are_asked_for_traits_not_for_names() -> None:
    found: set[str] = set()
    for path in SOURCES:
        if _family(_path(path).removesuffix(".py").replace("/", ".")) is None:
            text = path.read_text()
            asking = "scalar_op" in text and [
                n
                for n in ast.walk(ast.parse(text))
                if isinstance(n, ast.Attribute)
                and n.attr == "name"
                and ast.unparse(n.value).endswith("scalar_op")
            ]
            found |= {_path(path)} if asking else set()
    assert found == set(BY_NAME)
