"""The types of values while a graph is traced. A value that consists of several arrays is a `Parts` object.

All lowerings use the types. The tracer, the VM of `occelo_link.traced.linker`, `traced.fallback` and `traced.pieces` convert values
with the functions here. `as_jax` and `as_torch` accept only values that are arrays; they call `require_arrays`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type, Variable

Array = Any
"""A NumPy array if the value is static, and otherwise an array of the library.

The alias is untyped, since type checking must not require the library.
"""
Arrays = Sequence[Array]
Entry = int | slice | Array
"""An entry of an index key: a static integer or slice, or an array of positions."""
TracedValue = Any
"""A value while a graph is traced: an `Array`, `Parts`, or an opaque Python object."""


class Parts(tuple[Array, ...]):
    """The arrays of a value, in the order of `Type.parts`. They are NumPy arrays or arrays of the library."""

    __slots__ = ()


def is_opaque(kind: Type) -> bool:
    """Whether values of a type are opaque: Python objects that do not consist of arrays."""
    return kind.parts() is None


def in_parts(kind: Type, value: TracedValue) -> TracedValue:
    """Return a value in the form that tracers use. A value of several arrays becomes `Parts`; other values stay as they
    are.
    """
    if kind.is_array or isinstance(value, Parts) or is_opaque(kind):
        return value
    return Parts(kind.to_parts(value))


def whole(kind: Type, value: TracedValue) -> TracedValue:
    """Return the value that consists of the given parts: the inverse of `in_parts`. The parts must be NumPy arrays."""
    return kind.from_parts(value) if isinstance(value, Parts) else value


def flat(values: Iterable[TracedValue]) -> list[Array]:
    """Return the arrays of all values as one flat list."""
    arrays: list[Array] = []
    for value in values:
        if isinstance(value, Parts):
            arrays += value
        else:
            arrays.append(value)
    return arrays


def grouped(kinds: Iterable[Type], arrays: Sequence[Array]) -> list[TracedValue]:
    """Return the values that consist of these arrays, in the form that tracers use: the inverse of `flat`."""
    rest = iter(arrays)
    return [
        next(rest) if kind.is_array else Parts(islice(rest, len(kind.parts() or ())))
        for kind in kinds
    ]


def require_arrays(variables: Iterable[Variable], what: str) -> None:
    """Raise TypeError if a variable is not an array. The message names ``what``, the function that was called."""
    for variable in variables:
        if not variable.type.is_array:
            raise TypeError(
                f"{what} takes and gives arrays, and {variable} is of type {variable.type}"
            )
