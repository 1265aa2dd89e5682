"""Which number a constant holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Constant, Variable

__all__ = ["number_of"]

_LARGEST = 64


def number_of(variable: Variable) -> Any:
    """The one number that all elements of a constant are, as a Python number; None if there is none.

    Constants of more than 64 elements are not looked into.
    """
    if not isinstance(variable, Constant):
        return None
    data: Any = variable.data
    if not isinstance(data, np.ndarray):
        return None
    if data.ndim == 0:
        return data.item()  # pyright: ignore[reportUnknownVariableType]
    if data.size == 0 or data.size > _LARGEST:
        return None
    first = data.flat[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return first.item() if bool(np.all(data == first)) else None  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
