"""Functions that find or take elements by position: `nonzero`, `take`, `choose`, `diag`, `unravel_index` and others.

Users call them from `occelo.tensor`; several are methods of tensors, too. `einsum` and linear algebra take diagonals
and rows with them. The ops are `Nonzero`, `ExtractDiag` and `AllocDiag`. The other functions are composed of simpler
ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Cotangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import known_mode
from occelo_graph.ops.batched_lengths import promise_equal_lengths
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, zeros, zeros_like
from occelo_graph.ops.elemwise.arithmetic import and_, clip, le, lt, maximum, minimum, neq, switch
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.length_inputs import FollowsLengths, integer_length
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.reduce import cumsum, sum
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.ops.shape.dimensions import expand_dims, moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_graph.upward import repeated

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "AllocDiag",
    "ExtractDiag",
    "Nonzero",
    "alloc_diag",
    "diag",
    "diagonal",
    "extract_diag",
    "flatnonzero",
    "nonzero",
    "nonzero_values",
    "slice_at_axis",
    "take",
    "take_along_axis",
]

Mode: TypeAlias = Literal["raise", "clip", "wrap"]
"""What is done with indices out of range: "raise" an exception, "clip" them to the range, or "wrap" them around."""


@op
class Nonzero(FollowsLengths):
    """The positions of elements that are not 0, as an int64 vector for each dimension of the input."""

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(len(node.inputs))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        call = called("nonzero", operands[0].text)
        return call if len(node.outputs) > 1 else Term(f"{call.text}[0]")

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        if x.ndim == 0:
            raise ValueError("nonzero takes at least one dimension; use atleast_1d")
        return (TensorType("int64", (None,)),) * x.ndim

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        types = super().types_for(inputs)
        (x,) = inputs
        if not isinstance(x, Constant):
            return types
        return (TensorType("int64", (int(np.count_nonzero(x.data)),)),) * len(types)

    def evaluate(self, x: Any) -> Any:
        return tuple(np.asarray(v, dtype="int64") for v in np.nonzero(x))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(neq(node.inputs[0], 0).sum(),)] * len(node.outputs)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        promise_equal_lengths(self)
        return repeated(node, inputs)


def nonzero(
    a: Any, return_matrix: bool = False, *, size: Any = None, fill_value: Any = None
) -> Any:
    """The positions of elements that are not 0: a tuple with an int64 vector for each dimension of ``a``.

    If ``return_matrix`` is True, the vectors are the rows of a matrix. ``size`` is their length, as in JAX: what is too
    much is left out, and what is missing is ``fill_value``, which is a number or one for each dimension, 0 by default.
    ValueError for a negative ``size``, or if there are other numbers of fill values.
    """
    if size is None:
        positions = tuple(Nonzero()(as_tensor_variable(a), return_list=True))
    else:
        positions = _sized_nonzero(as_tensor_variable(a), integer_length(size), fill_value)
    if return_matrix:
        return as_tensor_variable(list(positions))
    return positions


def _sized_nonzero(a: TensorVariable, size: Any, fill_value: Any) -> tuple[Any, ...]:
    """The first ``size`` positions of elements that are not 0. The number of elements decides about no length."""
    static = known_integer(size)
    if static is not None and static < 0:
        raise ValueError(f"size of nonzero must not be negative, got {static}")
    if not a.type.ndim:
        raise ValueError("nonzero takes at least one dimension; use atleast_1d")
    fills = fill_value if is_list_or_tuple(fill_value) else [fill_value or 0] * a.type.ndim
    if len(fills) != a.type.ndim:
        raise ValueError(f"nonzero has {len(fills)} values to fill {a.type.ndim} dimensions")
    mask = neq(flatten(a), 0)
    order = cumsum(mask)
    # what is not wanted is written behind the end
    places = switch(and_(mask, le(order, size)), order - 1, size)
    at = getitem(zeros((size + 1,), "int64"), places).set(arange(lengths_by_variables(mask)[0]))
    at = getitem(at, slice(None, size))
    positions: list[Any] = []
    exists = lt(arange(size), sum(mask))
    for n, fill in zip(reversed(lengths_by_variables(a)), reversed(fills), strict=True):
        n = maximum(n, 1)
        positions.append(switch(exists, at % n, cast(as_tensor_variable(fill), "int64")))
        at = at // n
    return tuple(reversed(positions))


def flatnonzero(a: Any, *, size: Any = None, fill_value: Any = None) -> TensorVariable:
    """The positions of elements that are not 0 in ``a``, flattened, as an int64 vector; see `nonzero` for ``size`` and ``fill_value``."""
    a = as_tensor_variable(a)
    flat = flatten(a) if a.type.ndim != 1 else a
    positions: TensorVariable = nonzero(flat, size=size, fill_value=fill_value)[0]
    return positions


def nonzero_values(a: Any) -> TensorVariable:
    """The elements that are not 0 as a vector, in C order."""
    a = as_tensor_variable(a)
    return getitem(flatten(a), flatnonzero(a))


@op
class ExtractDiag(LinearInFirst):
    """Takes the diagonal ``offset`` of the dimensions ``axis1`` and ``axis2``, as the last dimension of the result."""

    moves = FIRST

    offset: int = 0
    axis1: int = 0
    axis2: int = 1

    view_map = {0: [0]}

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        places = (self.offset, self.axis1, self.axis2)
        return called("diagonal", operands[0].text, *map(str, places))

    def infer(self, x: TensorType) -> TensorType:
        if x.ndim < 2 or self.axis1 == self.axis2 or max(self.axis1, self.axis2) >= x.ndim:
            raise ValueError(
                f"A diagonal has two different axes, got {self.axis1} and {self.axis2} of {x}"
            )
        n, m = x.shape[self.axis1], x.shape[self.axis2]
        rest = [s for i, s in enumerate(x.shape) if i not in (self.axis1, self.axis2)]
        length = None
        if n is not None and m is not None:
            length = max(
                0, min(n, m - self.offset) if self.offset >= 0 else min(n + self.offset, m)
            )
        return TensorType(x.dtype, [*rest, length])

    def evaluate(self, x: Any) -> Any:
        return np.diagonal(x, self.offset, self.axis1, self.axis2)

    def decompose(self, x: Any) -> Sequence[Any]:
        moved = moveaxis(x, [self.axis1, self.axis2], [0, 1])
        n, m = lengths_by_variables(moved)[:2]
        down, right = max(0, -self.offset), max(0, self.offset)
        count = clip(minimum(n - down, m - right), 0, np.iinfo("int64").max)
        rows = arange(count)
        return [moveaxis(getitem(moved, (rows + down, rows + right)), 0, -1)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x, ct = inputs[0], cotangents[0]
        if is_discrete(x.dtype):
            return [ZERO]
        moved = moveaxis(zeros_like(x, dtype=ct.dtype), [self.axis1, self.axis2], [0, 1])
        rows = arange(lengths_by_variables(ct)[-1])
        key = (rows + max(0, -self.offset), rows + max(0, self.offset))
        written = getitem(moved, key).inc(moveaxis(ct, -1, 0))
        return [moveaxis(written, [0, 1], [self.axis1, self.axis2])]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        lengths = input_shapes[0]
        n, m = lengths[self.axis1], lengths[self.axis2]
        rest = [s for i, s in enumerate(lengths) if i not in (self.axis1, self.axis2)]
        rows, columns = (n, m - self.offset) if self.offset >= 0 else (n + self.offset, m)
        if isinstance(rows, int) and isinstance(columns, int):
            return [(*rest, max(0, min(rows, columns)))]
        return [(*rest, clip(minimum(rows, columns), 0, np.iinfo("int64").max))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        extra = batch_ndims[0]
        return [ExtractDiag(self.offset, self.axis1 + extra, self.axis2 + extra)(inputs[0])]


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """The diagonal ``offset`` of the dimensions ``axis1`` and ``axis2`` of ``a``, as the last dimension of the result.

    ValueError if they are one dimension.
    """
    a = as_tensor_variable(a)
    first, second = normalize_axis(axis1, a), normalize_axis(axis2, a)
    if first == second:
        raise ValueError(f"diagonal needs two axes, got axis1={axis1} and axis2={axis2}")
    entries: TensorVariable = ExtractDiag(static_integer(offset, "offset"), first, second)(a)
    return entries


extract_diag = diagonal


@op
class AllocDiag(LinearInFirst):
    """Makes matrices of zeros, with the vectors in the last dimension of the input on diagonal ``offset``."""

    moves = FIRST

    offset: int = 0

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        kind: Any = node.inputs[0].type
        return called("diag", operands[0].text, str(self.offset)) if kind.ndim == 1 else None

    def infer(self, x: TensorType) -> TensorType:
        if x.ndim < 1:
            raise ValueError("A diagonal needs at least one dimension")
        n = x.shape[-1]
        length = None if n is None else n + abs(self.offset)
        return TensorType(x.dtype, [*x.shape[:-1], length, length])

    def evaluate(self, x: Any) -> Any:
        n = x.shape[-1] + abs(self.offset)
        result = np.zeros((*x.shape[:-1], n, n), x.dtype)
        at = np.arange(int(x.shape[-1]))
        result[..., at + max(0, -self.offset), at + max(0, self.offset)] = x
        return result

    def decompose(self, x: Any) -> Sequence[Any]:
        *lead, count = lengths_by_variables(x)
        n = count + abs(self.offset)
        at = arange(count)
        rows, columns = at + max(0, -self.offset), at + max(0, self.offset)
        empty = zeros((n, n, *lead), dtype=x.dtype)
        written = getitem(empty, (rows, columns)).set(moveaxis(x, -1, 0))
        return [moveaxis(written, [0, 1], [-2, -1])]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        if is_discrete(inputs[0].dtype):
            return [ZERO]
        return [diagonal(ct, self.offset, ct.ndim - 2, ct.ndim - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        n = input_shapes[0][-1] + abs(self.offset)
        return [(*input_shapes[0][:-1], n, n)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(inputs[0])]


def alloc_diag(diag: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> TensorVariable:
    """Matrices of zeros with the vectors in the last dimension of ``diag`` on diagonal ``offset``.

    ``axis1`` and ``axis2`` are the axes of the result that are the rows and columns of the matrices.
    """
    matrices: TensorVariable = AllocDiag(static_integer(offset, "offset"))(as_tensor_variable(diag))
    return moveaxis(matrices, (-2, -1), (axis1, axis2))


def diag(v: Any, k: int = 0) -> TensorVariable:
    """For a vector ``v``, a matrix with the vector on diagonal ``k``. For a matrix, its diagonal ``k``. Else ValueError."""
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        matrix: TensorVariable = AllocDiag(static_integer(k, "k"))(v)
        return matrix
    if v.type.ndim == 2:
        return diagonal(v, k)
    raise ValueError(f"diag takes a vector or a matrix, got {v.type}")


def take(a: Any, indices: Any, axis: int | None = None, mode: Mode = "raise") -> TensorVariable:
    """Take the slices of ``a`` at ``indices`` along ``axis``, or elements of the flattened ``a`` if ``axis`` is None.

    For indices out of range, the mode "raise" raises IndexError, "clip" takes the first or last slice, and "wrap"
    counts modulo the length. ValueError for another mode.
    """
    a = as_tensor_variable(a)
    indices = as_int64(indices, "indices", keep=True)
    mode = known_mode(mode, "take")
    if axis is None:
        a, axis = flatten(a), 0
    where = normalize_axis(axis, a)
    length = lengths_by_variables(a)[where]
    if mode == "clip":
        indices = clip(indices, 0, as_tensor_variable(length) - 1)
    elif mode == "wrap":
        indices = indices % length
    elif mode != "raise":
        raise ValueError(f"The mode of take is raise, clip or wrap, not {mode!r}")
    return getitem(a, (*[slice(None)] * where, indices))


def take_along_axis(arr: Any, indices: Any, axis: int | None) -> TensorVariable:
    """Elements of ``arr`` at ``indices`` along ``axis``, with separate indices for each position in other dimensions.

    For a matrix and axis 1, the element at (i, j) of the result is ``arr[i, indices[i, j]]``. If ``axis`` is None,
    ``arr`` is flattened. ``axis`` has no default, because NumPy and older libraries have different defaults. IndexError
    unless ``indices`` are integers. ValueError unless ``indices`` and ``arr`` have the same number of dimensions.
    """
    arr, indices = as_tensor_variable(arr), as_tensor_variable(indices)
    if not is_discrete(indices.dtype) or indices.dtype == "bool":
        raise IndexError(f"indices must be integers, got {indices.type}")
    if axis is None:
        arr, axis = flatten(arr), 0
    if arr.type.ndim != indices.type.ndim:
        raise ValueError(f"indices must have {arr.type.ndim} dimensions, got {indices.type.ndim}")
    where = normalize_axis(axis, arr)
    key: list[Any] = []
    for i, n in enumerate(lengths_by_variables(arr)):
        if i == where:
            key.append(indices)
        else:
            order: list[Any] = [0 if j == i else "x" for j in range(arr.type.ndim)]
            key.append(arange(n).dimshuffle(order))
    return getitem(arr, tuple(key))


def rows_in_order(x: TensorVariable, order: TensorVariable) -> TensorVariable:
    """Reorder the rows of matrices. ``order`` has the numbers of the rows. Batch dimensions broadcast."""
    if order.type.ndim == 1:
        return take(x, order, axis=-2)
    ndim = max(x.type.ndim, order.type.ndim + 1)
    x, order = (
        v.dimshuffle([*["x"] * (ndim - v.type.ndim), *range(v.type.ndim)])
        for v in (x, expand_dims(order, -1))
    )
    return take_along_axis(x, order, axis=-2)


def slice_at_axis(sl: slice, axis: int) -> tuple[Any, ...]:
    """The index that applies the slice ``sl`` to dimension ``axis``. For axis 1 it is ``(slice(None), sl)``."""
    axis = static_integer(axis, "axis")
    if axis >= 0:
        return (*[slice(None)] * axis, sl)
    return (Ellipsis, sl, *[slice(None)] * (-axis - 1))


def as_int64(value: Any, name: str, keep: bool = False) -> Any:
    """Cast integers and booleans to int64. If ``keep`` is True, integers are not cast. TypeError for other dtypes.

    ``name`` is the name of the argument in the message.
    """
    variable = as_tensor_variable(value)
    if not is_discrete(variable.dtype):
        raise TypeError(f"{name} must be integers, got {variable.type}")
    return variable if keep and variable.dtype != "bool" else cast(variable, "int64")
