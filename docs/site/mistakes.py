"""The mistakes of ``tests/mistakes/functions``: what they raise, and which public functions they call.

The reference shows them in the entries of these functions; ``tests/mistakes/test_mistakes_of_functions.py`` tries them.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import inventory
import worked_examples

import occelo as oc
import occelo.tensor as ot

PLACES = ("occelo.graph.rewriting.unify", "occelo.scan")
"""Places of PyTensor with functions that no door of the reference has."""

FOLDER = Path(__file__).parents[2] / "tests" / "mistakes" / "functions"


def files() -> list[Path]:
    """The files with mistakes."""
    return sorted(FOLDER.glob("*.txt"))


def world() -> dict[str, Any]:
    """The names of an expression, with new variables."""
    modules = {
        name: importlib.import_module(module) for name, module in worked_examples.NAMES.items()
    }
    return modules | {
        "x": ot.dvector("x"),
        "y": ot.dvector("y"),
        "m": ot.dmatrix("m"),
        "t": ot.dtensor3("t"),
        "s": ot.dscalar("s"),
        "i": ot.lscalar("i"),
        "n": ot.lvector("n"),
        "b": ot.vector("b", dtype="bool"),
        "z": ot.zvector("z"),
        "A": oc.sparse.csr_matrix("A"),
    }


def read(path: Path) -> dict[str, str]:
    """The messages of a file by their expressions."""
    listed: dict[str, str] = {}
    for part in re.split(r"\n(?=\S)", "\n" + path.read_text()):
        expression, _, message = part.strip("\n").partition("\n")
        if expression:
            assert expression not in listed, f"{path.name} has this twice: {expression}"
            listed[expression] = "\n".join(
                line.removeprefix("    ") for line in message.split("\n")
            )
    return listed


@functools.cache
def public_functions() -> dict[int, str]:
    """The public functions by identity, as names and aliases lead to them; after those of the reference, those of `PLACES`."""
    listed = {id(e.value): e.full for e in inventory.documented() if e.kind == "function"}
    for place in PLACES:
        module = importlib.import_module(place)
        for name, value in inspect.getmembers(module, inspect.isroutine):
            if name[0] != "_" and value.__module__.startswith("occelo"):
                listed.setdefault(id(value), f"{place}.{name}")
    return listed


def blamed(expression: str) -> str | None:
    """The public function that an expression calls wrongly; None if it is a method or no public function."""
    call: ast.AST = ast.parse(expression, mode="eval").body
    names = world()
    while isinstance(call, ast.Call | ast.Subscript | ast.List | ast.Tuple):
        if isinstance(call, ast.Subscript):
            call = call.value
            continue
        if isinstance(call, ast.List | ast.Tuple):
            call = call.elts[0]
            continue
        called = call.func
        if isinstance(called, ast.Attribute) and called.attr in ("eval", "__enter__"):
            call = called.value
        elif isinstance(called, ast.Name) and called.id == "list":  # it runs a generator
            call = call.args[0]
        elif isinstance(called, ast.Call):
            compiles = ast.unparse(called.func) in ("oc.function", "cp.function")
            call = called.args[1] if compiles and len(called.args) > 1 else called
        else:
            try:
                value = eval(ast.unparse(called), names)
            except Exception:
                return None
            return public_functions().get(id(value))
    return None


@functools.cache
def by_function() -> dict[str, dict[str, str]]:
    """The mistakes of each public function: expressions, and what they raise."""
    listed: dict[str, dict[str, str]] = {}
    for path in files():
        for expression, message in read(path).items():
            name = blamed(expression)
            if name is not None:
                listed.setdefault(name, {})[expression] = message
    return listed
