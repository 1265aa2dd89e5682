"""Type guards such as `is_list`, which modules of all packages use instead of ``isinstance`` for arguments of any type.

After ``is_list(x)`` type checkers treat the elements of ``x`` as `Any`. After ``isinstance(x, list)`` they would treat
the elements as unknown, which is an error in the strict mode of pyright.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import TypeIs


def is_array(value: object) -> TypeIs[npt.NDArray[Any]]:
    """Whether a value is a NumPy array."""
    return isinstance(value, np.ndarray)


def is_tuple(value: object) -> TypeIs[tuple[Any, ...]]:
    """Whether a value is a tuple."""
    return isinstance(value, tuple)


def is_list(value: object) -> TypeIs[list[Any]]:
    """Whether a value is a list."""
    return isinstance(value, list)


def is_list_or_tuple(value: object) -> TypeIs[list[Any] | tuple[Any, ...]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def is_dict(value: object) -> TypeIs[dict[Any, Any]]:
    """Whether a value is a dict."""
    return isinstance(value, dict)


def is_mapping(value: object) -> TypeIs[Mapping[Any, Any]]:
    """Whether a value is a mapping, such as a dict."""
    return isinstance(value, Mapping)


def is_slice(value: object) -> TypeIs[slice[Any, Any, Any]]:
    """Whether a value is a slice."""
    return isinstance(value, slice)


def is_class(value: object) -> TypeIs[type[Any]]:
    """Whether a value is a class."""
    return isinstance(value, type)
