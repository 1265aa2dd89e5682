"""``x.at[key]``: a part of a tensor with the methods that return a copy of the tensor with this part changed.

The names are those of JAX. ``x[key].set(y)`` and ``x[key].inc(y)`` are other names of two of them. The others need
``at``, since ``x[key].max(0)`` is the maximum over an axis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import ones_like
from occelo_graph.ops.elemwise.arithmetic import neg, true_div
from occelo_graph.ops.elemwise.transcendental import power
from occelo_graph.ops.index.scatter import combine_subtensor
from occelo_graph.ops.index.subtensor import (
    getitem,
    inc_subtensor,
    set_subtensor,
    written_value,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.constant import TensorLike
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["At", "PartAt"]


class At:
    """``x.at``: its elements ``x.at[key]`` are parts of ``x`` to be changed."""

    def __init__(self, x: TensorVariable) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> PartAt:
        return PartAt(self._x, key)

    def __repr__(self) -> str:
        return f"{self._x}.at"


class PartAt:
    """``x.at[key]``. Its methods return copies of ``x`` with the part ``x[key]`` changed; ``y`` broadcasts to this part.

    If the index contains a position several times, all values are applied to the element there. Only of the values that
    `set` gets, the last one is kept. IndexError when the graph runs if a position is out of bounds. TypeError if ``y``
    cannot be converted to the dtype of ``x`` without loss.
    """

    def __init__(self, x: TensorVariable, key: Any) -> None:
        self._x = x
        self._key = key
        self._part = getitem(x, key)

    def __repr__(self) -> str:
        return f"{self._x}.at[{self._key}]"

    def get(self) -> TensorVariable:
        """``x[key]``."""
        return self._part

    def set(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with the part set to ``y``, as by ``x[key].set(y)``."""
        return set_subtensor(self._part, y)

    def add(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with ``y`` added to the part, as by ``x[key].inc(y)``."""
        return inc_subtensor(self._part, y)

    def subtract(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with ``y`` subtracted from the part."""
        y = written_value(y, self._part)
        # in the dtype of the sum, since the negative number may not fit into that of y
        y = cast(y, np.result_type(self._part.type.dtype, y.type.dtype).name)
        return inc_subtensor(self._part, neg(y))

    def multiply(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with the part multiplied by ``y``.

        If factors at one position are 0, first derivatives are right, and second derivatives with respect to two of the
        factors are 0.
        """
        return combine_subtensor(self._part, y, "prod")

    mul = multiply

    def divide(self, y: TensorLike) -> TensorVariable:
        """``x`` divided by ones that are multiplied by ``y`` at the part. For integers the result is float."""
        return true_div(self._x, self._ones().multiply(y))

    def power(self, y: TensorLike) -> TensorVariable:
        """``x`` raised to the power of ones that are multiplied by ``y`` at the part."""
        return power(self._x, self._ones().multiply(y))

    def max(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with the part replaced by the maxima of it and ``y``. Equal elements share the derivative."""
        return combine_subtensor(self._part, y, "max")

    def min(self, y: TensorLike) -> TensorVariable:
        """A copy of ``x`` with the part replaced by the minima of it and ``y``. Equal elements share the derivative."""
        return combine_subtensor(self._part, y, "min")

    def _ones(self) -> PartAt:
        return PartAt(ones_like(self._x), self._key)
