"""What nested sequences hold, and Python's bools, which do not belong where a tensor does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np

__all__ = ["is_sequence", "leaf_types", "refuse_bool"]


def is_sequence(value: Any) -> TypeGuard[Sequence[Any]]:
    """Whether a value is one of the sequences that are taken for tensors."""
    return isinstance(value, list | tuple)


def refuse_bool(value: Any, what: str = "a tensor") -> None:
    """TypeError if ``value`` is a Python bool, or a sequence of such and of other values.

    Variables compare by identity, so that ``x == 0`` is False: where a tensor belongs, a Python
    bool is that mistake. NumPy's bools, arrays, and sequences of bools alone are values.
    """
    if isinstance(value, bool) or (is_sequence(value) and _mixes_bools(value)):
        raise TypeError(
            f"Expected {what}, got {'the Python bool ' if isinstance(value, bool) else ''}{value}. "
            "== and != compare variables by identity; write eq(x, y) or neq(x, y) (ot.eq, ot.neq) "
            "to compare their elements, and np.True_ or np.False_ for a truth value"
        )


def _mixes_bools(values: Sequence[Any]) -> bool:
    kinds = leaf_types(values)
    return bool in kinds and not kinds <= {bool, np.bool_}


def leaf_types(values: Sequence[Any]) -> set[type]:
    """The types of what a nested sequence holds."""
    kinds: set[type] = set()
    pending = [values]
    while pending:
        level = pending.pop()
        found = set(map(type, level))
        if list in found or tuple in found:
            pending.extend(v for v in level if is_sequence(v))
        kinds |= found
    return kinds - {list, tuple}
