"""`flatten`: converts a nested structure of variables (tuples, lists, dicts, dataclasses) to a flat list.

The `Structure` that it also returns converts a flat list back. `loop`, `associative_scan`, `switch_case` and similar
functions flatten their arguments and results, since nodes have flat lists of inputs and outputs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from occelo_graph.narrowing import is_list_or_tuple

__all__ = ["Stepped", "Stepper", "Structure", "flatten"]

Stepper = Callable[[Any], Any] | Callable[[Any, Any], Any]
"""The type of the function of a `loop`. Its arguments are the state, or the state and the elements of sequences."""
Stepped = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
    | Callable[..., Any]
)
"""The type of a function of any number of variables, such as the function of a `scan`.

The first members of the union let type checkers infer the types of the parameters of a lambda with up to five of them.
"""
Rebuild = Callable[[list[Any]], Any]


@dataclasses.dataclass(frozen=True)
class Structure:
    """The form of a nested structure, without its leaves."""

    kind: Any
    """A description of the form. Structures of the same form have equal descriptions."""
    names: tuple[str, ...]
    """The names of the leaves, such as "state[0]", for error messages."""
    rebuild: Rebuild = dataclasses.field(compare=False)
    """A function that makes the nested structure from a list of leaves."""

    def __str__(self) -> str:
        return ", ".join(self.names) or "None"

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self.names)


def flatten(value: Any, name: str = "") -> tuple[list[Any], Structure]:
    """The list of the leaves of a nested structure, and its `Structure`.

    Dicts are read in the order of insertion. None is a structure without leaves. ``name`` is the name of the whole
    structure, with which the names of leaves begin.
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
        keys = list(items)
        kind = (dict, tuple(keys))
        return _of_parts(
            kind, list(items.values()), keys, name, lambda made: dict(zip(keys, made, strict=True))
        )
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
        made: list[Any] = []
        for structure in inner:
            made.append(structure.rebuild(rest[: structure.size]))
            del rest[: structure.size]
        return make(made)

    names = tuple(n for structure in inner for n in structure.names)
    return leaves, Structure((kind, *(s.kind for s in inner)), names, rebuild)
