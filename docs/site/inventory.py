"""The public names: where each is imported from, and what it is."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import worked_examples

from occelo.function_with_names import FunctionWithNames
from occelo_graph import Op, Type
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.type import TensorType

DOORS = (
    "occelo", "occelo.tensor", "occelo.tensor.linalg", "occelo.tensor.random", "occelo.tensor.fft", "occelo.tensor.signal",
    "occelo.tensor.signal.windows", "occelo.tensor.special", "occelo.tensor.stats", "occelo.nn", "occelo.nn.initializers",
    "occelo.updates", "occelo.optimize", "occelo.trees", "occelo.typed_list", "occelo.xtensor", "occelo.xtensor.math",
    "occelo.xtensor.reduction", "occelo.xtensor.shape", "occelo.xtensor.linalg", "occelo.xtensor.signal", "occelo.xtensor.random",
    "occelo.xtensor.basic", "occelo.sparse", "occelo.export",
    "occelo_graph", "occelo_rewrite", "occelo_link", "occelo_compile", "occelo_testing",
)  # fmt: skip
"""The modules whose names are public. A name that several have is documented at the first, in this order."""

DEFINED_BY = {
    "occelo.nn.initializers": "occelo_networks.initializers",
    "occelo.tensor.signal.windows": "occelo_signal.ops.windows",
    **{
        f"occelo.xtensor.{name}": f"occelo_dims.{name}"
        for name in "math reduction shape linalg signal random basic".split()
    },
}
"""Doors without a file of their own, and the modules that define their names; one without ``__all__`` has what it defines."""

ELSEWHERE = ("occelo.tensor.special",)
"""Doors whose module has all names of another one; only those that the other lacks are listed."""


@dataclass(frozen=True)
class Entry:
    """A public name of a door."""

    door: str
    name: str
    value: Any
    target: str | None
    """The name of the same object at an earlier door, or an earlier name of it; None if it is documented here."""

    @property
    def full(self) -> str:
        """The name with its module."""
        return f"{self.door}.{self.name}"

    @property
    def docstring(self) -> str:
        """The docstring, which is not that of a base class or of the class of a constant, unless this is a type of values.

        What it is, for a number.
        """
        value = self.value
        if _is_number(self):
            return f"The value ``{value!r}``."
        own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
        if not isinstance(value, type | Type) and own is type(value).__doc__:
            own = None
        return inspect.cleandoc(own) if isinstance(own, str) else ""

    @property
    def examples(self) -> list[str]:
        """The worked examples beside the docstring, of this name and of its aliases."""
        return examples_by_entry().get(self.full, [])

    @property
    def kind(self) -> str:
        """What the name is: module, exception, op, class, function, constant, or type (also a constructor of such types)."""
        value = self.value
        if inspect.ismodule(value):
            return "module"
        if isinstance(value, type):
            if issubclass(value, BaseException):
                return "exception"
            return "op" if issubclass(value, Op) and value is not Op else "class"
        if isinstance(value, TensorType) or makes_several(value):
            return "type"
        if inspect.isroutine(value) or isinstance(value, Elemwise | FunctionWithNames):
            return "function"
        return "constant"

    @property
    def signature(self) -> inspect.Signature | None:
        """The signature of a function or class; None if it has none."""
        if self.kind not in ("function", "class", "op", "exception"):
            return None
        try:
            found = inspect.signature(self.value)
            # functions of named dimensions show the parameters, and no results, of those of tensors
            of_tensors = hasattr(self.value, "of_tensors")
            return found.replace(return_annotation=found.empty) if of_tensors else found
        except (TypeError, ValueError):
            return None


def makes_several(value: Any) -> bool:
    """Whether this is one of the constructors such as ``dvectors``, one for each dtype and number of dimensions."""
    home = getattr(inspect.unwrap(value), "__module__", None) if callable(value) else None
    return home == "occelo_graph.tensors.constructors" and value.__name__.endswith("s")


def names_of(door: str) -> list[str]:
    """The public names of a module: those it declares, and for other modules, those of Occelo that it holds or defines."""
    module = importlib.import_module(DEFINED_BY.get(door, door))
    declared = getattr(module, "__all__", None)
    if declared is not None:
        return sorted(declared)
    held = _defined_in(module) if door in DEFINED_BY else dir(module)
    return [
        name for name in held if not name.startswith("_") and _is_occelos(getattr(module, name))
    ]


def _defined_in(module: Any) -> list[str]:
    names: list[str] = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [each.id for each in targets if isinstance(each, ast.Name)]
    return names


def _is_occelos(value: Any) -> bool:
    if inspect.ismodule(value):
        return False
    home = getattr(value, "__module__", None) or type(value).__module__
    return home.startswith("occelo")


@functools.cache
def entries() -> tuple[Entry, ...]:
    """All public names, those of a door in alphabetical order."""
    known: dict[int, str] = {}
    found: list[Entry] = []
    for door in DOORS:
        for name in _own_names_first(door):
            value = getattr(importlib.import_module(door), name)
            target = known.get(id(value))
            if door in ELSEWHERE and target is not None:
                continue
            # equal numbers are one object, and no aliases
            if not isinstance(value, int | float | str | None):
                known.setdefault(id(value), f"{door}.{name}")
            found.append(Entry(door, name, value, target))
    return tuple(
        sorted(found, key=lambda each: (DOORS.index(each.door), each.name.lower(), each.name))
    )


@functools.cache
def examples_by_entry() -> dict[str, list[str]]:
    """The worked examples of each name that has an entry of its own; those of an alias are its target's."""
    listed: dict[str, list[str]] = {}
    for each in entries():
        texts = worked_examples.by_name().get(each.full, [])
        listed.setdefault(each.target or each.full, []).extend(texts)
    return listed


def _own_names_first(door: str) -> list[str]:
    """The names of a door; a name that an object calls itself before its aliases."""
    module = importlib.import_module(door)
    if door in DEFINED_BY:  # an alias stands below what it is of
        return names_of(door)
    return sorted(names_of(door), key=lambda n: getattr(getattr(module, n), "__name__", n) != n)


def documented() -> Iterator[Entry]:
    """The names that have an entry of their own: no aliases, modules and numbers."""
    for each in entries():
        if each.target is None and each.kind not in ("module", "type") and not _is_number(each):
            yield each


def told_by_bases(entry: Entry) -> dict[str, type]:
    """The parameters of an op that its docstring does not name, but that of a base class, with this class."""
    listed: dict[str, type] = {}
    if entry.kind == "op" and entry.signature is not None:
        for name, parameter in entry.signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue  # they go to a base class
            for base in entry.value.__mro__:
                if re.search(rf"\b{name}\b", base.__doc__ or ""):
                    if base is not entry.value:
                        listed[name] = base
                    break
    return listed


def _is_number(entry: Entry) -> bool:
    return isinstance(entry.value, int | float | None)
