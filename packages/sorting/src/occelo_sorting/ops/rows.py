"""Rows of a reduction: all elements along the axes of a reduction as one last axis. Quantiles and modes are of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import checked_keepdims
from occelo_graph.ops.create import full_like
from occelo_graph.ops.elemwise.arithmetic import isnan
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join
from occelo_graph.ops.reduce import any as any_
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.shape.dimensions import expand_dims, transpose
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


class Rows:
    """The elements of ``a`` along ``axis`` (one, several, or None for all) as the last axis of ``values``.

    ``axes`` are the axes, sorted. A result has the other axes; with ``keepdims``, `whole` inserts the axes again.
    """

    def __init__(self, a: Any, axis: Any, keepdims: Any = False) -> None:
        self.tensor = as_tensor_variable(a)
        ndim = self.tensor.type.ndim
        scalar = not ndim and not is_list_or_tuple(axis) and axis in (0, -1)
        self.axes: tuple[int, ...] = () if scalar else normalize_axes(axis, self.tensor)
        self.keepdims = checked_keepdims(keepdims)
        self.values = self.of(self.tensor)

    def of(self, tensor: Any) -> TensorVariable:
        """The rows of a tensor with as many dimensions as the first one."""
        ndim = tensor.type.ndim
        if ndim == 1 and self.axes == (0,):
            return tensor
        batch = [i for i in range(ndim) if i not in self.axes]
        order = [*batch, *self.axes]
        moved = tensor if order == list(range(ndim)) else transpose(tensor, order)
        if len(self.axes) == 1:
            return moved
        lengths = lengths_by_variables(tensor)
        last = length_product([lengths[i] for i in self.axes])
        return reshape(moved, [*(lengths[i] for i in batch), last], len(batch) + 1)

    def whole(self, result: Any, lead: int = 0) -> Any:
        """A result with the axes of the rows inserted, if they are kept. ``lead`` dimensions come before all others."""
        if not self.keepdims or not self.axes:
            return result
        return expand_dims(result, [i + lead for i in self.axes])


def with_room(rows: TensorVariable) -> TensorVariable:
    """The rows, with NaN appended if they might be empty: so that there is an element to read."""
    if rows.type.shape[-1]:
        return rows
    one = full_like(getitem(rows, (..., slice(0, 1))).sum(axis=-1, keepdims=True), np.nan)
    return join(-1, rows, one)


def has_nan(rows: TensorVariable) -> TensorVariable | None:
    """Whether each row has NaN. None if the dtype has no NaN."""
    return None if is_discrete(rows.dtype) else any_(isnan(rows), axis=-1)
