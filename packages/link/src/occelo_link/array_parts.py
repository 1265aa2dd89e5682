"""Between values and the arrays that they consist of, by what their types say (`Type.parts`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from occelo_graph import Type

__all__ = ["all_arrays", "bytes_of", "joined", "split"]


def all_arrays(kinds: Sequence[Type]) -> bool:
    """Whether the values of types are arrays themselves."""
    return all(kind.is_array for kind in kinds)


def split(kinds: Sequence[Type], values: Sequence[Any]) -> list[Any]:
    """The arrays that values consist of, one after the other."""
    return [
        part for kind, value in zip(kinds, values, strict=True) for part in kind.to_parts(value)
    ]


def joined(kinds: Sequence[Type], arrays: Sequence[Any]) -> list[Any]:
    """The values that consist of arrays, which `split` gives back."""
    rest = iter(arrays)
    return [kind.from_parts(list(islice(rest, len(kind.parts() or ())))) for kind in kinds]


def bytes_of(kind: Type, value: Any) -> int:
    """The size of the arrays of a value; 0 for a Python object, which tells nothing of it."""
    arrays = [value] if value is None or not kind.parts() else kind.to_parts(value)
    return sum(int(getattr(array, "nbytes", 0)) for array in arrays)
