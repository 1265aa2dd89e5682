"""Tensors with names from tensors without, and back, and new names, at PyTensor's place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_dims.labelled import XTensorLike, as_xtensor
from occelo_dims.shape import rename
from occelo_dims.variable import XTensorVariable
from occelo_graph import TensorVariable

__all__ = ["as_xtensor", "rename", "tensor_from_xtensor", "xtensor_from_tensor"]


def xtensor_from_tensor(
    x: Any, dims: Sequence[str] | str, name: str | None = None
) -> XTensorVariable:
    """The tensor ``x`` with the names ``dims``, named ``name``. ValueError for another number of names."""
    return as_xtensor(x, dims, name=name)


def tensor_from_xtensor(x: XTensorLike) -> TensorVariable:
    """The tensor ``x`` without the names of its dimensions."""
    return as_xtensor(x).values
