"""`Parts`: the form that values of several arrays (`Type.parts`) have while a graph is traced, and the types of traced
values.

All lowerings use the types. The tracer, the VM of `traced.linker`, `fallback` and the lowerings of `control` call the
functions for such values. `as_jax` and `as_torch` refuse such values by `require_arrays`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type, Variable

__all__ = [
    "Array",
    "Entry",
    "Parts",
    "TracedValue",
    "flat",
    "grouped",
    "in_parts",
    "is_opaque",
    "require_arrays",
    "whole",
]


Array = Any
"""A NumPy array if it is static, else an array of the library; untyped, since type checking must not require the library."""
Entry = int | slice | Array
"""An entry of a key: a static integer or slice, or an array of positions."""
TracedValue = Any
"""A value in the form of tracers: an `Array`, `Parts`, or an opaque Python object."""


class Parts(tuple[Array, ...]):
    """A tuple of the arrays of a value, NumPy's or a library's, in the order of `Type.parts`."""

    __slots__ = ()


def is_opaque(kind: Type) -> bool:
    """Whether values of a type are opaque: Python objects that do not consist of arrays."""
    return kind.parts() is None


def in_parts(kind: Type, value: TracedValue) -> TracedValue:
    """A value in the form of tracers: a value of several arrays becomes `Parts`; arrays and opaque objects stay as they
    are.
    """
    if kind.is_array or isinstance(value, Parts) or is_opaque(kind):
        return value
    return Parts(kind.to_parts(value))


def whole(kind: Type, value: TracedValue) -> TracedValue:
    """The value of parts that are NumPy arrays: the inverse of `in_parts`."""
    return kind.from_parts(value) if isinstance(value, Parts) else value


def flat(values: Iterable[TracedValue]) -> list[Array]:
    """The arrays of all values, in order."""
    found: list[Array] = []
    for value in values:
        if isinstance(value, Parts):
            found += value
        else:
            found.append(value)
    return found


def grouped(kinds: Iterable[Type], arrays: Sequence[Array]) -> list[TracedValue]:
    """The values, in the form of tracers, that consist of these arrays: the inverse of `flat`."""
    rest = iter(arrays)
    return [
        next(rest) if kind.is_array else Parts(islice(rest, len(kind.parts() or ())))
        for kind in kinds
    ]


def require_arrays(variables: Iterable[Variable], what: str) -> None:
    """Raise TypeError in the name of ``what`` unless all variables are arrays."""
    for variable in variables:
        if not variable.type.is_array:
            raise TypeError(
                f"{what} takes and gives arrays, and {variable} is of type {variable.type}"
            )
