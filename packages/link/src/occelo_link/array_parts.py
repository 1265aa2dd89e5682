"""Splits values into the arrays that they consist of (`Type.parts`), and joins arrays to values.

Compiled code accepts only arrays. So the VM of blocks (`blocks.vm`) and callbacks (`units.callbacks`) split values
before they call compiled code, and join its results. `profiling` counts the bytes of values here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type


def all_arrays(kinds: Sequence[Type]) -> bool:
    """Whether all of these types have arrays as values. Such values need no splitting."""
    return all(kind.is_array for kind in kinds)


def split(kinds: Sequence[Type], values: Sequence[Any]) -> list[Any]:
    """Return the arrays of all values as one flat list, in the order of the values."""
    return [
        part for kind, value in zip(kinds, values, strict=True) for part in kind.to_parts(value)
    ]


def joined(kinds: Sequence[Type], arrays: Sequence[Any]) -> list[Any]:
    """Return the values that consist of these arrays: the inverse of `split`."""
    rest = iter(arrays)
    return [kind.from_parts(list(islice(rest, len(kind.parts() or ())))) for kind in kinds]


def bytes_of(kind: Type, value: Any) -> int:
    """Return the number of bytes in the arrays of a value. An opaque Python object has 0 bytes."""
    arrays = [value] if value is None or not kind.parts() else kind.to_parts(value)
    return sum(int(getattr(array, "nbytes", 0)) for array in arrays)
