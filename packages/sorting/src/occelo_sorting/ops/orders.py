"""`sort` and `argsort`: the elements along an axis in order, and the positions that bring them into order.

The ops `Sort` and `ArgSort` work along the last axis; the functions move the axis of the user there. `LexicographicOrder`
compares rows as words. The order is
NumPy's: NaN comes last, and complex numbers are compared by their real parts, and by their imaginary parts if those are
equal. Positions are always those of a stable sort, so that all backends agree about equal elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, zeros_like
from occelo_graph.ops.index.search import take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import flip
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete
from occelo_sorting.ops.integer_rows import order_of_rows, sorted_rows

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["ArgSort", "LexicographicOrder", "Sort", "argsort", "sort", "sort_complex"]

KINDS = ("quicksort", "mergesort", "heapsort", "stable")
"""NumPy's names of sorting methods. They all give the same results here."""


@op
class Sort(Op):
    """The elements of each row (along the last axis) in ascending order."""

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("sort", operands[0].text)

    def infer(self, x: TensorType) -> TensorType:
        if not x.ndim:
            raise ValueError(f"A scalar has no order, got {x}")
        return x

    def evaluate(self, x: Any) -> Any:
        return sorted_rows(x)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(inputs[0].dtype):
            return [ZERO]
        order = ArgSort()(inputs[0])
        ct = cotangents[0]
        return [getitem(zeros_like(ct), along_rows(order)).set(ct)]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        if is_discrete(inputs[0].dtype):
            return [ZERO]
        return [take_along_axis(tangents[0], ArgSort()(inputs[0]), axis=-1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self.make_node(*inputs).outputs


@op
class ArgSort(Op):
    """The positions (int64) that sort each row (along the last axis). Equal elements keep their order."""

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("argsort", operands[0].text)

    def infer(self, x: TensorType) -> TensorType:
        if not x.ndim:
            raise ValueError(f"A scalar has no order, got {x}")
        return TensorType("int64", x.shape)

    def evaluate(self, x: Any) -> Any:
        return np.asarray(order_of_rows(x), dtype="int64")

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self.make_node(*inputs).outputs


@op
class LexicographicOrder(Op):
    """The positions (int64) that sort the rows of a matrix by their first elements, where these are equal by their second ones,
    and so on.

    Equal rows keep their order. Of a tensor with more dimensions, each matrix of its last two. Unlike a chain of `ArgSort`,
    it needs no static length of rows.
    """

    def infer(self, x: TensorType) -> TensorType:
        if x.ndim < 2:
            raise ValueError(f"Only the rows of matrices have a lexicographic order, got {x}")
        return TensorType("int64", x.shape[:-1])

    def evaluate(self, x: Any) -> Any:
        if not x.shape[-1]:
            return np.broadcast_to(np.arange(x.shape[-2], dtype="int64"), x.shape[:-1])
        return np.asarray(np.lexsort(np.moveaxis(x, -1, 0)[::-1], axis=-1), dtype="int64")

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0][:-1]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self.make_node(*inputs).outputs


def along_rows(positions: TensorVariable) -> tuple[Any, ...]:
    """The index that applies ``positions`` within each row, along the last axis, of a tensor of the same shape."""
    *lead, _ = lengths_by_variables(positions)
    key: list[Any] = []
    for i, length in enumerate(lead):
        order: list[Any] = [0 if j == i else "x" for j in range(positions.type.ndim)]
        key.append(arange(length).dimshuffle(order))
    return (*key, positions)


def last_axis(a: Any, axis: Any, function: str) -> tuple[TensorVariable, int]:
    """The tensor with ``axis`` as its last axis, and the number of this axis. None means all elements, as a vector.

    ``function`` is named in the error for a tensor without axes: numpy.exceptions.AxisError, as in NumPy.
    """
    x = as_tensor_variable(a)
    if axis is None:
        return flatten(x), 0
    if not x.type.ndim:
        raise np.exceptions.AxisError(f"{function} along axis {axis} of the scalar {x}")
    where = normalize_axis(axis, x)
    return (x if where == x.type.ndim - 1 else moveaxis(x, where, -1)), where


def axis_back(x: TensorVariable, where: int) -> TensorVariable:
    """Move the last axis back to the position that `last_axis` returned."""
    return x if where == x.type.ndim - 1 else moveaxis(x, -1, where)


def _check_kind(function: str, kind: Any, order: Any) -> None:
    if kind is not None and not (isinstance(kind, str) and kind in KINDS):
        raise ValueError(f"The kind of {function} is one of {', '.join(KINDS)}, got {kind!r}")
    if order is not None:
        raise TypeError(
            f"{function} takes no order={order!r}: symbolic tensors have no named fields"
        )


@stands_for("sort", "a axis kind order stable")
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> TensorVariable:
    """The elements along ``axis`` in ascending order, or in descending order. If ``axis`` is None, of all elements.

    NaN counts as the largest value. ``kind`` and ``stable`` are NumPy's, and do not change the result. ValueError for an
    unknown ``kind``, TypeError for ``order``, since tensors have no fields.

    The gradient is the gradient of the result, in the order of ``a``.
    """
    _check_kind("sort", kind, order)
    x, where = last_axis(a, axis, "sort")
    ascending: TensorVariable = Sort()(x)
    return axis_back(flip(ascending, -1) if descending else ascending, where)


@stands_for("argsort", "a axis kind order stable")
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> TensorVariable:
    """The positions (int64) that bring the elements of ``a`` along ``axis`` into order, or all elements if it is None.

    Positions of equal elements ascend, with ``descending``, too, whatever ``stable`` and ``kind`` say. Otherwise as
    `sort`, which takes no ``order`` either.
    """
    _check_kind("argsort", kind, order)
    x, where = last_axis(a, axis, "argsort")
    return axis_back(row_order(x, descending), where)


@stands_for("sort_complex", "a")
def sort_complex(a: Any) -> TensorVariable:
    """`sort` of ``a`` along its last axis, as complex128 if the elements are real.

    As in NumPy, integers of at most 16 bits become complex64.
    """
    x, _ = last_axis(a, -1, "sort_complex")
    if not is_complex(x.dtype):
        small = x.type.numpy_dtype.kind in "iu" and x.type.numpy_dtype.itemsize <= 2
        x = cast(x, "complex64" if small else "complex128")
    return sort(x)


def row_order(x: TensorVariable, descending: bool = False) -> TensorVariable:
    """The stable order of each row of ``x``, as positions."""
    if not descending:
        order: TensorVariable = ArgSort()(x)
        return order
    # reversed twice, so that equal elements keep their order
    last = as_tensor_variable(lengths_by_variables(x)[-1]) - 1
    return flip(last - ArgSort()(flip(x, -1)), -1)
