"""Splitting values into the arrays that they consist of (`Type.parts`), and joining them again.

The VM of blocks (`blocks.vm`) and callbacks (`units.callbacks`) use it, since compiled code takes arrays only.
`profiling` counts bytes with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type

__all__ = ["all_arrays", "bytes_of", "joined", "split"]


def all_arrays(kinds: Sequence[Type]) -> bool:
    """Whether all values of these types are arrays, so that nothing must be split."""
    return all(kind.is_array for kind in kinds)


def split(kinds: Sequence[Type], values: Sequence[Any]) -> list[Any]:
    """The arrays of all values, in order."""
    return [
        part for kind, value in zip(kinds, values, strict=True) for part in kind.to_parts(value)
    ]


def joined(kinds: Sequence[Type], arrays: Sequence[Any]) -> list[Any]:
    """The values that consist of these arrays: the inverse of `split`."""
    rest = iter(arrays)
    return [kind.from_parts(list(islice(rest, len(kind.parts() or ())))) for kind in kinds]


def bytes_of(kind: Type, value: Any) -> int:
    """The number of bytes of the arrays of a value; 0 for an opaque Python object."""
    arrays = [value] if value is None or not kind.parts() else kind.to_parts(value)
    return sum(int(getattr(array, "nbytes", 0)) for array in arrays)
