"""Values of types that are no arrays while a library traces: the arrays that they consist of, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type, Variable

__all__ = ["Parts", "flat", "grouped", "in_parts", "is_opaque", "require_arrays", "whole"]


class Parts(tuple[Any, ...]):
    """The arrays of a value, NumPy's or a library's, in the order of `Type.parts`."""

    __slots__ = ()


def is_opaque(kind: Type) -> bool:
    """Whether values are Python objects that no library can hold."""
    return kind.parts() is None


def in_parts(kind: Type, value: Any) -> Any:
    """A value as tracers have it: arrays and Python objects stay what they are."""
    if kind.is_array or isinstance(value, Parts) or is_opaque(kind):
        return value
    return Parts(kind.to_parts(value))


def whole(kind: Type, value: Any) -> Any:
    """The value that tracers have in parts, which are NumPy arrays."""
    return kind.from_parts(value) if isinstance(value, Parts) else value


def flat(values: Iterable[Any]) -> list[Any]:
    """The arrays of values, one after the other."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, Parts):
            found += value
        else:
            found.append(value)
    return found


def grouped(kinds: Iterable[Type], arrays: Sequence[Any]) -> list[Any]:
    """Values of types that lie in arrays, as tracers have them, from those arrays."""
    rest = iter(arrays)
    return [
        next(rest) if kind.is_array else Parts(islice(rest, len(kind.parts() or ())))
        for kind in kinds
    ]


def require_arrays(variables: Iterable[Variable], what: str) -> None:
    """TypeError, which says ``what`` takes arrays only, unless all variables are such."""
    for variable in variables:
        if not variable.type.is_array:
            raise TypeError(
                f"{what} takes and gives arrays, and {variable} is of type {variable.type}"
            )
