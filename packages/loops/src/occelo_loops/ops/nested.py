"""`flatten`: converts a nested structure of variables (tuples, lists, dicts, dataclasses) to a flat list.

The `Structure` that it also returns converts a flat list back. `loop`, `associative_scan`, `switch_case` and similar
functions flatten their arguments and results, since nodes have flat lists of inputs and outputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from occelo_graph.errors import describe
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple

R = TypeVar("R")
S = TypeVar("S")
K = TypeVar("K")
Stepper = Callable[[Any], tuple[S, K]] | Callable[[Any, Any], tuple[S, K]]
"""The type of the function of a `loop`. Its arguments are the state, or the state and the elements of sequences; it
returns the new state and what is kept."""
StepTo = (
    Callable[[], R]
    | Callable[[Any], R]
    | Callable[[Any, Any], R]
    | Callable[[Any, Any, Any], R]
    | Callable[[Any, Any, Any, Any], R]
    | Callable[[Any, Any, Any, Any, Any], R]
    | Callable[..., R]
)
"""The type of a function of any number of variables, such as the function of a `scan`, with the type of its result.

For a lambda with at most five parameters, type checkers infer the types of the parameters from the first members of
this union.
"""
Stepped = StepTo[Any]
Rebuild = Callable[[list[Any]], Any]


@frozen_dataclass
class Structure:
    """The form of a nested structure, without its leaves."""

    kind: Any
    """A description of the form. Structures of the same form have equal descriptions."""
    names: tuple[str, ...]
    """The names of the leaves, such as "state[0]", for error messages."""
    rebuild: Rebuild = dataclasses.field(compare=False)
    """A function that makes the nested structure from a list of leaves."""

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.names)


def flatten(value: Any, name: str = "") -> tuple[list[Any], Structure]:
    """The list of the leaves of a nested structure, and its `Structure`.

    A dict is read by sorted keys, so that two dicts with the same keys have the same structure. If its keys cannot be
    sorted, the dict is read in the order in which the keys were inserted. None is a structure without leaves. ``name``
    is the name of the whole structure, with which the names of leaves begin.
    """
    if value is None:
        return [], Structure(None, (), _nothing)
    if is_list_or_tuple(value):
        parts = list(value)
        kind: Any = type(cast("object", value))
        labels = getattr(kind, "_fields", range(len(parts)))
        if hasattr(kind, "_fields"):
            return _of_parts(kind, parts, list(labels), name, lambda made: kind(*made))
        return _of_parts(kind, parts, list(labels), name, kind)
    if isinstance(value, dict):
        items = cast("Mapping[Any, Any]", value)
        in_order, keys = list(items), _sorted(items)
        kind = (dict, tuple(keys))

        def in_its_order(values: list[Any]) -> dict[Any, Any]:
            by_key = dict(zip(keys, values, strict=True))
            return {key: by_key[key] for key in in_order}

        return _of_parts(kind, [items[key] for key in keys], keys, name, in_its_order)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        cls: Any = type(value)
        return _of_parts(
            cls,
            [getattr(value, f) for f in fields],
            fields,
            name,
            lambda made: cls(**dict(zip(fields, made, strict=True))),
        )
    return [value], Structure("leaf", (name,), _only)


def shown(value: Any) -> str:
    """A nested structure in one line for messages, with the type of each variable and the line that made it."""
    if isinstance(value, Variable):
        return describe(value)
    if is_list_or_tuple(value):
        parts = ", ".join(map(shown, value))
        return f"[{parts}]" if isinstance(value, list) else f"({parts})"
    if isinstance(value, dict):
        items = cast("Mapping[Any, Any]", value).items()
        return "{" + ", ".join(f"{key!r}: {shown(each)}" for key, each in items) + "}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [f.name for f in dataclasses.fields(value) if f.init]
        parts = ", ".join(f"{f}={shown(getattr(value, f))}" for f in fields)
        return f"{type(value).__name__}({parts})"
    return repr(value)


def made_at(function: Callable[..., Any]) -> str:
    """The line of the user's code that defines a function, for messages. Empty for a callable without code."""
    code = getattr(function, "__code__", None)
    return "" if code is None else f", made at {code.co_filename}:{code.co_firstlineno},"


def _sorted(keys: Iterable[Any]) -> list[Any]:
    listed = list(keys)
    try:
        return sorted(listed)
    except TypeError:
        return listed


def _nothing(leaves: list[Any]) -> None:
    return None


def _only(leaves: list[Any]) -> Any:
    return leaves[0]


def _of_parts(
    kind: Any, parts: list[Any], labels: Sequence[Any], name: str, make: Callable[[list[Any]], Any]
) -> tuple[list[Any], Structure]:
    leaves: list[Any] = []
    inner: list[Structure] = []
    for part, label in zip(parts, labels, strict=True):
        own, structure = flatten(part, f"{name}[{label!r}]")
        leaves += own
        inner.append(structure)

    def rebuild(values: list[Any]) -> Any:
        rest = list(values)
        parts: list[Any] = []
        for structure in inner:
            parts.append(structure.rebuild(rest[: structure.size]))
            del rest[: structure.size]
        return make(parts)

    names = tuple(n for structure in inner for n in structure.names)
    return leaves, Structure((kind, *(s.kind for s in inner)), names, rebuild)
