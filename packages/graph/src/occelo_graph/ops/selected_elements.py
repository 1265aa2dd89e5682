"""The arguments ``where`` and ``initial`` of reductions: which elements count, and the number they are combined with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.cast import cast, converted
from occelo_graph.ops.elemwise.arithmetic import switch
from occelo_graph.tensors.constant import as_tensor_variable

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def selected(x: Any, where: Any, neutral: Any) -> TensorVariable:
    """The tensor with ``neutral`` in place of the elements for which ``where`` is false.

    TypeError unless ``where`` is a tensor of bool, or a list. ValueError if it has more dimensions than the tensor.
    """
    x = as_tensor_variable(x)
    if selects_all(where):
        return x
    chosen = as_tensor_variable(
        np.asarray(where, bool) if isinstance(where, list | bool) else where
    )
    if chosen.dtype != "bool":
        raise TypeError(
            f"where= of a reduction is a tensor of bool, got {chosen} of type {chosen.type}"
        )
    if chosen.type.ndim > x.type.ndim:
        raise ValueError(
            f"where= has {chosen.type.ndim} dimensions, more than {x} of type {x.type}"
        )
    return switch(chosen, x, cast(neutral, x.dtype))


def selects_all(where: Any) -> bool:
    """Whether the argument ``where`` is None or True, as NumPy's default is."""
    return where is None or where is True or where is np.True_


def first_number(initial: Any, dtype: str) -> TensorVariable:
    """The argument ``initial`` of a reduction in the dtype of its result. ValueError unless it is a scalar, OverflowError if it does not fit."""
    number = converted(initial.item() if isinstance(initial, np.number) else initial, dtype)
    if number.type.ndim:
        raise ValueError(f"initial of a reduction must be a scalar, got {number.type}")
    return number
