"""The mistakes of ``tests/mistakes/functions``: what they raise, and which public functions they call.

The reference shows them in the entries of these functions; ``tests/mistakes/test_mistakes_of_functions.py`` tries them.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import inventory
import worked_examples

import occelo as oc
import occelo.tensor as ot
from occelo.function_with_names import FunctionWithNames

INTERNAL = {
    "occelo.__main__": "the command",
    "occelo.command": "what the command calls",
    "occelo.function_with_names": "how places are made",
    "occelo.hints": "what errors ask for hints",
    "occelo.places": "how places are made",
    "occelo.pytensor": "its functions are those of occelo_pytensor, which needs PyTensor",
    "occelo.transformations": "its functions are those of occelo",
}
"""Modules of the facade without public names of their own, and what they are."""

FOLDER = Path(__file__).parents[2] / "tests" / "mistakes" / "functions"


def files() -> list[Path]:
    """The files with mistakes."""
    return sorted(FOLDER.glob("*.txt"))


def world() -> dict[str, Any]:
    """The names of an expression, with new variables."""
    modules = {
        name: importlib.import_module(module) for name, module in worked_examples.NAMES.items()
    }
    importlib.import_module("occelo.cache")
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
    """The public functions by identity, as names and aliases lead to them; after those of the reference, those of all places."""
    functions = [e for e in inventory.documented() if e.kind == "function"]
    listed = {id(e.value): e.full for e in functions}
    for each in functions:  # a place may hold the function itself, or an object with its names
        listed.setdefault(id(inspect.unwrap(each.value)), each.full)
    for module, place in ((module_at(place), place) for place in places()):
        for name in getattr(module, "__all__", None) or dir(module):
            value = getattr(module, name)
            if name[0] != "_" and _is_occelos_function(value):
                known = listed.get(id(inspect.unwrap(value)), f"{place}.{name}")
                listed.setdefault(id(value), known)
                listed.setdefault(id(inspect.unwrap(value)), known)
    return listed


def module_at(place: str) -> Any:
    """The module; one without names if it needs a library that is not there."""
    try:
        return importlib.import_module(place)
    except ModuleNotFoundError as error:
        if "needs" not in str(error):
            raise
        return SimpleNamespace(__all__=())


def places() -> list[str]:
    """All modules of the facade but for `INTERNAL`, also those that are made when they are imported."""
    found = {m.name for m in pkgutil.walk_packages(oc.__path__, "occelo.")}
    made = {*oc.places.SAME_NAMES, *oc.places.FUNCTIONS_AT}
    return sorted(
        name
        for name in found | made
        if not any(f"{name}.".startswith(f"{each}.") for each in INTERNAL)
    )


def _is_occelos_function(value: Any) -> bool:
    if isinstance(value, type) or inventory.makes_several(value):
        return False
    is_function = inspect.isroutine(value) or isinstance(value, FunctionWithNames)
    return is_function and str(value.__module__).startswith("occelo")


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
