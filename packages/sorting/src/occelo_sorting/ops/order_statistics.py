"""`OrderStatistics`: a few elements of sorted rows, for which NumPy need not sort the rows.

Users reach it by `topk`, `median` and `quantile`. NumPy's partition takes a fifth of the time of its sort for a million
numbers, and a tenth of that of its stable argsort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import broadcast_arrays, broadcast_to, zeros, zeros_like
from occelo_graph.ops.elemwise.arithmetic import and_, eq, ge, lt, or_
from occelo_graph.ops.index.search import take, take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_sorting.ops.orders import ArgSort, Sort, along_rows
from occelo_sorting.ops.partitioning import order_at, sorted_at


class _OfSortedRows(Op):
    """The entries at ``positions`` (a vector, int64) of each sorted row of ``x``: shape (..., n) to (..., k).

    ValueError at run time if there is a row, and a position is not in the range from 0 to n - 1.
    """

    def infer(self, x: TensorType, positions: TensorType) -> TensorType:
        if not x.ndim:
            raise ValueError(f"A scalar has no order, got {x}")
        if positions.dtype != "int64" or positions.ndim != 1:
            raise TypeError(f"{self} takes positions as a vector of int64, got {positions}")
        return TensorType(self.result_dtype(x), (*x.shape[:-1], positions.shape[0]))

    def result_dtype(self, x: TensorType) -> str:
        raise NotImplementedError

    def whole(self, x: Any) -> Any:
        """The whole sorted rows, or the positions that sort them."""
        raise NotImplementedError

    def entries(self, x: Any, positions: Any) -> Any:
        """The entries at one or more positions, which are in the range."""
        raise NotImplementedError

    def evaluate(self, x: Any, positions: Any) -> Any:
        n, shape = x.shape[-1], (*x.shape[:-1], len(positions))
        if 0 in shape:  # no row whose length the positions could exceed
            return np.empty(shape, self.result_dtype(TensorType(x.dtype.name, x.shape)))
        for at in positions[(positions < 0) | (positions >= n)][:1]:
            raise ValueError(f"Position {at} is out of range for sorted rows of {n} elements")
        return self.entries(x, positions)

    def decompose(self, x: Any, positions: Any) -> Sequence[Any]:
        return [self.read(self.whole(x), positions)]

    def read(self, whole: Any, positions: Any) -> Any:
        """The entries of the whole sorted rows, with the check of the positions."""
        return take(whole, _checked(positions, whole), axis=-1)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(*input_shapes[0][:-1], input_shapes[1][0])]

    def may_fail(self, node: Apply) -> bool:
        row: Any = node.inputs[0].type.shape
        positions = node.inputs[1]
        if row[-1] is None or not isinstance(positions, Constant):
            return True
        at: Any = positions.data
        return bool(((at < 0) | (at >= row[-1])).any())

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        x, positions = inputs
        if not batch_ndims[1]:
            return [self(x, positions)]
        lead = [as_tensor_variable(n) for n in lengths_by_variables(x)[batch_ndims[0] : -1]]
        batches = [
            zeros(lengths_by_variables(v)[:n]) for v, n in zip(inputs, batch_ndims, strict=True)
        ]
        shape = [*lengths_by_variables(broadcast_arrays(*batches)[0]), *lead]
        count = lengths_by_variables(positions)[-1]
        positions = expand_dims(
            _checked(positions, x), [batch_ndims[1] + i for i in range(len(lead))]
        )
        rows = broadcast_to(self.whole(x), [*shape, lengths_by_variables(x)[-1]])
        return [take_along_axis(rows, broadcast_to(positions, [*shape, count]), axis=-1)]


@op
class OrderStatistics(_OfSortedRows):
    """The elements at some positions of each sorted row: ``sort(x)[..., positions]``."""

    def result_dtype(self, x: TensorType) -> str:
        return x.dtype

    def whole(self, x: Any) -> Any:
        return Sort()(x)

    def entries(self, x: Any, positions: Any) -> Any:
        return sorted_at(x, positions)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x, positions = inputs
        if is_discrete(x.dtype):
            return [ZERO, ZERO]
        at = along_rows(ArgOrderStatistics()(x, positions))
        return [getitem(zeros_like(x, cotangents[0].dtype), at).inc(cotangents[0]), ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        x, positions = inputs
        if is_discrete(x.dtype):
            return [ZERO]
        return [take_along_axis(tangents[0], ArgOrderStatistics()(x, positions), axis=-1)]


@op
class ArgOrderStatistics(_OfSortedRows):
    """The positions of these elements, of which equal ones keep their order: ``argsort(x)[..., positions]``."""

    def result_dtype(self, x: TensorType) -> str:
        return "int64"

    def whole(self, x: Any) -> Any:
        return ArgSort()(x)

    def entries(self, x: Any, positions: Any) -> Any:
        return order_at(x, positions)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO, ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]


def _checked(positions: Any, rows: Any) -> Any:
    *lead, n = lengths_by_variables(rows)
    fits = all_(and_(ge(positions, 0), lt(positions, n)))
    for length in lead:
        fits = or_(fits, eq(length, 0))
    check = CheckAndRaise(ValueError, "A position is out of range for sorted rows")
    return check(positions, fits)
