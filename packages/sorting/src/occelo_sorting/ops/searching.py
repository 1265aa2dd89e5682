"""`searchsorted` and `digitize`: where elements belong in sorted vectors.

The op is `SearchSorted`, which searches one sorted row for each row of elements. Elements are compared as in `sort`: NaN
is larger than all numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import broadcast_to
from occelo_graph.ops.elemwise.arithmetic import ge, neq, or_, switch
from occelo_graph.ops.index.search import take
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SearchSorted", "digitize", "searchsorted"]

Side = Literal["left", "right"]


@op
class SearchSorted(Op):
    """For each element of ``v``, the number of elements of the sorted row in ``a`` that come before it, as int64.

    ``side`` is "left" if elements of ``a`` that equal the element of ``v`` do not come before it, and "right" if they
    do. ``a`` has the shape (..., n), ``v`` the shape (..., m), with the same leading lengths and the same dtype.
    """

    side: str = "left"

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        kind: Any = node.inputs[0].type
        if kind.ndim != 1:
            return None
        side = None if self.side == "left" else self.side
        return called("searchsorted", operands[0].text, operands[1].text, side=side)

    def infer(self, a: TensorType, v: TensorType) -> TensorType:
        if not a.ndim or a.ndim != v.ndim:
            raise ValueError(f"{self} takes as many rows of elements as sorted rows, got {a}, {v}")
        if a.dtype != v.dtype:
            raise TypeError(f"{self} takes tensors of one dtype, got {a} and {v}")
        pairs = list(zip(a.shape[:-1], v.shape[:-1], strict=True))
        if any(None not in (m, n) and m != n for m, n in pairs):
            raise ValueError(self._mismatch(a.shape, v.shape))
        return TensorType("int64", [*(n if m is None else m for m, n in pairs), v.shape[-1]])

    def _mismatch(self, a: Any, v: Any) -> str:
        return f"searchsorted: {shape_text(a)} has other numbers of rows than {shape_text(v)}"

    def evaluate(self, a: Any, v: Any) -> Any:
        side: Any = self.side
        if a.ndim == 1:
            return np.asarray(np.searchsorted(a, v, side), dtype="int64")
        if a.shape[:-1] != v.shape[:-1]:
            raise ValueError(self._mismatch(a.shape, v.shape))
        result = np.empty(v.shape, "int64")
        for index in np.ndindex(a.shape[:-1]):
            result[index] = np.searchsorted(a[index], v[index], side)
        return result

    def may_fail(self, node: Apply) -> bool:
        a, v = (x.type.shape or () for x in node.inputs)
        return any(m is None or m != n for m, n in zip(a[:-1], v[:-1], strict=True))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO, ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[1]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        a, v = inputs
        lengths = lengths_by_variables(v)
        if not batch_ndims[0]:
            if a.type.ndim == 1:  # one sorted vector for all elements
                return [reshape(self(a, flatten(v)), lengths, v.type.ndim)]
            a = broadcast_to(a, [*lengths[: batch_ndims[1]], *lengths_by_variables(a)])
        if not batch_ndims[1]:
            v = broadcast_to(v, [*lengths_by_variables(a)[: batch_ndims[0]], *lengths])
        return [self(a, v)]


def _known_side(side: Any) -> str:
    if side not in ("left", "right"):
        raise ValueError(f'The side of searchsorted is "left" or "right", got {side!r}')
    checked: str = side
    return checked


def of_one_dtype(*values: Any) -> list[Any]:
    """Variables, converted to their common dtype by NumPy's promotion of arrays."""
    variables = [as_tensor_variable(v) for v in values]
    dtype = np.result_type(*(v.type.numpy_dtype for v in variables)).name
    return [cast(v, dtype) for v in variables]


@stands_for("searchsorted", "a v side sorter")
def searchsorted(a: Any, v: Any, side: Side = "left", sorter: Any = None) -> TensorVariable:
    """The positions (int64) in the sorted vector ``a`` before which the elements of ``v`` keep it sorted.

    With ``side="left"`` the position is the first such position, with "right" the last one. ``sorter`` has the positions
    that sort ``a``, such as `argsort` returns. The result has the shape of ``v``.

    ValueError if ``a`` is not a vector, or for another ``side``. TypeError if ``sorter`` are no integers. If ``a`` is not
    sorted, the result is some number from 0 to the length of ``a``.
    """
    checked = _known_side(side)
    sorted_, v = of_one_dtype(a, v)
    if sorted_.type.ndim != 1:
        raise ValueError(f"searchsorted searches a vector, got a={sorted_} of type {sorted_.type}")
    if sorter is not None:
        order = as_tensor_variable(sorter)
        if not is_discrete(order.dtype) or order.dtype == "bool":
            raise TypeError(f"sorter must be integers, got {order} of type {order.type}")
        sorted_ = take(sorted_, order)
    if v.type.ndim == 1:
        positions: TensorVariable = SearchSorted(checked)(sorted_, v)
        return positions
    return reshape(SearchSorted(checked)(sorted_, flatten(v)), lengths_by_variables(v), v.type.ndim)


def _is_monotonic(edges: Any) -> bool:
    """Whether NumPy takes the edges, also where some are NaN."""
    try:
        np.digitize(np.zeros(0), edges)
    except ValueError:
        return False
    return True


@stands_for("digitize", "x bins right")
def digitize(x: Any, bins: Any, right: bool = False) -> TensorVariable:
    """The number (int64) of the bin of each element of ``x``. ``bins`` has the edges, which ascend or descend.

    Number i means ``bins[i-1] <= x < bins[i]``, or with ``right`` ``bins[i-1] < x <= bins[i]``; for edges that descend,
    the comparisons are reversed. ValueError unless ``bins`` is a vector, and if constant ones neither
    ascend nor descend; of symbolic ones in no order, the numbers mean nothing. TypeError for complex numbers.
    """
    edges = as_tensor_variable(bins)
    x, bins = of_one_dtype(x, edges)
    if is_complex(x.dtype):
        raise TypeError("digitize is for real numbers, got complex ones")
    if bins.type.ndim != 1:
        raise ValueError(f"bins of digitize must be a vector, got {bins} of type {bins.type}")
    if isinstance(edges, Constant) and not _is_monotonic(edges.data):
        raise ValueError(f"bins of digitize must ascend or descend, got {edges}")
    side: Side = "left" if right else "right"
    up = searchsorted(bins, x, side)
    length = lengths_by_variables(bins)[0]
    down = length - searchsorted(getitem(bins, slice(None, None, -1)), x, side)
    # the first and the last edge; there may be none
    first, last = getitem(bins, slice(None, 1)), getitem(bins, slice(-1, None))
    # NaN comes last, so edges that end with it ascend
    return switch(or_(ge(last, first), neq(last, last)).all(), up, down)
