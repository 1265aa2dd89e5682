"""Checks of arguments that are converted to tensors: lists and tuples are sequences, and Python bools are rejected.

These checks are called wherever a user may pass a tensor or a sequence of tensors. Examples are the conversion of
arguments (`constant`), tensor types, index keys and `occelo.function`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import TypeIs


def is_sequence(value: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or a tuple. Only these two kinds of sequences are converted to tensors."""
    return isinstance(value, list | tuple)


def refuse_bool(value: Any, what: str = "a tensor") -> None:
    """TypeError if ``value`` is a Python bool, or a sequence of bools and other values.

    ``==`` compares variables by identity, so ``x == 0`` is the Python bool False. A bool in place of a tensor most
    likely comes from such a comparison. NumPy's bools, arrays, and sequences that contain only bools are accepted.
    ``what`` says in the message what was expected.
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
    """The types of all elements of a nested sequence, at any depth. Lists and tuples are not elements themselves."""
    kinds: set[type] = set()
    pending = [values]
    while pending:
        level = pending.pop()
        types = set(map(type, level))
        if list in types or tuple in types:
            pending.extend(v for v in level if is_sequence(v))
        kinds |= types
    return kinds - {list, tuple}
