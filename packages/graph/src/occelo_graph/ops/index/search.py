"""Functions that find or take elements by position: `nonzero`, `take`, `choose`, `diag`, `unravel_index` and others.

Users call them from `occelo.tensor`; several are methods of tensors, too. `einsum` and linear algebra take diagonals
and rows with them. The ops are `Nonzero`, `ExtractDiag` and `AllocDiag`. The other functions are composed of simpler
ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Cotangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import known_mode
from occelo_graph.ops.batched_lengths import promise_equal_lengths
from occelo_graph.ops.batching import align
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import arange, broadcast_arrays, zeros, zeros_like
from occelo_graph.ops.elemwise.arithmetic import clip, eq, ge, lt, minimum, neq, switch
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import stack
from occelo_graph.ops.length_inputs import FollowsLengths, lengths_of
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.ops.shape.dimensions import expand_dims, moveaxis
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten
from occelo_graph.tensors.constant import as_tensor_variable, promote_arguments
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
    "choose",
    "compress",
    "diag",
    "diagonal",
    "extract_diag",
    "fill_diagonal",
    "fill_diagonal_offset",
    "flatnonzero",
    "inverse_permutation",
    "nonzero",
    "nonzero_values",
    "permute_row_elements",
    "ravel_multi_index",
    "slice_at_axis",
    "take",
    "take_along_axis",
    "unravel_index",
]

Mode: TypeAlias = Literal["raise", "clip", "wrap"]
"""What is done with indices out of range: "raise" an exception, "clip" them to the range, or "wrap" them around."""


@op
class Nonzero(FollowsLengths):
    """The positions of elements that are not 0, as an int64 vector for each dimension of the input."""

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(len(node.inputs))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        made = called("nonzero", operands[0].text)
        return made if len(node.outputs) > 1 else Term(f"{made.text}[0]")

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


def nonzero(a: Any, return_matrix: bool = False) -> Any:
    """The positions of elements that are not 0: a tuple with an int64 vector for each dimension of ``a``.

    If ``return_matrix`` is True, the vectors are the rows of a matrix.
    """
    found = tuple(Nonzero()(as_tensor_variable(a), return_list=True))
    if return_matrix:
        return as_tensor_variable(list(found))
    return found


def flatnonzero(a: Any) -> TensorVariable:
    """The positions of elements that are not 0 in the flattened tensor, as an int64 vector."""
    a = as_tensor_variable(a)
    positions: TensorVariable = nonzero(flatten(a) if a.type.ndim != 1 else a)[0]
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
            raise ValueError(f"{self} cannot take a diagonal of {x}")
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
    """The diagonal ``offset`` of the dimensions ``axis1`` and ``axis2``, as the last dimension of the result."""
    a = as_tensor_variable(a)
    first, second = normalize_axis(axis1, a.type.ndim), normalize_axis(axis2, a.type.ndim)
    made: TensorVariable = ExtractDiag(static_integer(offset, "offset"), first, second)(a)
    return made


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
    made: TensorVariable = AllocDiag(static_integer(offset, "offset"))(as_tensor_variable(diag))
    return moveaxis(made, (-2, -1), (axis1, axis2))


def diag(v: Any, k: int = 0) -> TensorVariable:
    """For a vector, a matrix with the vector on diagonal ``k``. For a matrix, its diagonal ``k``. Else ValueError."""
    v = as_tensor_variable(v)
    if v.type.ndim == 1:
        made: TensorVariable = AllocDiag(static_integer(k, "k"))(v)
        return made
    if v.type.ndim == 2:
        return diagonal(v, k)
    raise ValueError(f"diag takes a vector or a matrix, got {v.type}")


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> TensorVariable:
    """The tensor ``a`` with its main diagonal set to the scalar ``val``: a copy, unlike in NumPy.

    The diagonal of more than two dimensions has equal positions along all of them; ValueError if their lengths differ.
    With ``wrap``, the diagonal of a matrix begins again after the last column, one row further down.
    """
    a = as_tensor_variable(a)
    if a.type.ndim == 2 and not wrap:
        return fill_diagonal_offset(a, val, 0)
    if a.type.ndim < 2:
        raise ValueError(f"fill_diagonal takes a tensor of at least two dimensions, got {a.type}")
    lengths = lengths_by_variables(a)
    places = [
        expand_dims(arange(n), list(range(1, a.type.ndim - i))) for i, n in enumerate(lengths)
    ]
    if a.type.ndim == 2:
        on = eq((places[1] - places[0]) % (lengths[1] + 1), 0)
        return _filled(a, on, val)
    if len(set(a.type.shape) - {None}) > 1:
        raise ValueError(f"fill_diagonal takes dimensions of equal length, got {a.type}")
    message = "fill_diagonal takes dimensions of equal length"
    equal = [eq(n, lengths[0]) for n in map(as_tensor_variable, lengths[1:])]
    on = CheckAndRaise(ValueError, message)(eq(places[1], places[0]), *equal)
    for place in places[2:]:
        on = on & eq(place, places[0])
    return _filled(a, on, val)


def _filled(a: TensorVariable, on: Any, val: Any) -> TensorVariable:
    """Set the elements where ``on`` is true. ValueError if ``val`` is not a scalar."""
    value = as_tensor_variable(val, dtype=a.dtype)
    if value.type.ndim:
        raise ValueError(f"A diagonal is filled with a scalar, got val={value.type}")
    return switch(on, value, a)


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> TensorVariable:
    """The matrix ``a`` with its diagonal ``offset`` set to the scalar ``val``.

    ValueError if ``a`` is not a matrix, or ``val`` is not a scalar.
    """
    a = as_tensor_variable(a)
    if a.type.ndim != 2:
        raise ValueError(f"fill_diagonal takes a matrix, got {a.type}")
    rows, columns = (arange(n) for n in lengths_by_variables(a))
    return _filled(a, eq(columns.dimshuffle("x", 0) - rows.dimshuffle(0, "x"), offset), val)


def take(a: Any, indices: Any, axis: int | None = None, mode: Mode = "raise") -> TensorVariable:
    """Take the slices of ``a`` at ``indices`` along ``axis``, or elements of the flattened ``a`` if ``axis`` is None.

    For indices out of range, the mode "raise" raises IndexError, "clip" takes the first or last slice, and "wrap"
    counts modulo the length. ValueError for another mode.
    """
    a = as_tensor_variable(a)
    indices = _as_int64(indices, "indices", keep=True)
    mode = known_mode(mode, "take")
    if axis is None:
        a, axis = flatten(a), 0
    where = normalize_axis(axis, a.type.ndim)
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
    where = normalize_axis(axis, arr.type.ndim)
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


def choose(a: Any, choices: Any, mode: Mode = "raise") -> TensorVariable:
    """Choose each element from one of the tensors ``choices``. ``a`` has the number of the tensor for each element.

    The tensors and ``a`` broadcast. For numbers out of range, the mode "raise" raises ValueError, "clip" takes the
    first or last tensor, and "wrap" counts modulo the number of tensors. ValueError for another mode. TypeError unless
    ``a`` has integers or booleans.
    """
    a = _as_int64(a, "a")
    mode = known_mode(mode, "choose")
    if is_list_or_tuple(choices):
        choices = stack(broadcast_arrays(*promote_arguments(choices)))
    stacked = as_tensor_variable(choices)
    count = lengths_by_variables(stacked)[0]
    if mode == "clip":
        a = clip(a, 0, as_tensor_variable(count) - 1)
    elif mode == "wrap":
        a = a % count
    elif mode == "raise":
        a = _in_range(a, count, "A number of a choice is negative or too large")
    else:
        raise ValueError(f"The mode of choose is raise, clip or wrap, not {mode!r}")
    core = stacked.type.ndim - 1
    key: list[Any] = [a]
    lengths = lengths_by_variables(stacked)[1:]
    for i in range(core):
        order: list[Any] = [0 if j == i else "x" for j in range(core)]
        key.append(arange(lengths[i]).dimshuffle(order))
    return getitem(stacked, tuple(key))


def compress(condition: Any, x: Any, axis: int | None = None) -> TensorVariable:
    """Take the slices of ``x`` along ``axis`` for which the vector ``condition`` is true.

    If ``axis`` is None, take elements of the flattened ``x``. ValueError if ``condition`` is not a vector.
    """
    condition = as_tensor_variable(condition)
    if condition.type.ndim != 1:
        raise ValueError(f"The condition of compress must be a vector, got {condition.type}")
    return take(x, flatnonzero(condition), axis=axis)


def slice_at_axis(sl: slice, axis: int) -> tuple[Any, ...]:
    """The index that applies the slice ``sl`` to dimension ``axis``. For axis 1 it is ``(slice(None), sl)``."""
    if axis >= 0:
        return (*[slice(None)] * axis, sl)
    return (Ellipsis, sl, *[slice(None)] * (-axis - 1))


def inverse_permutation(perm: Any) -> TensorVariable:
    """The inverses of the permutations in the last dimension of ``perm``."""
    perm = as_tensor_variable(perm)
    *lead, n = lengths_by_variables(perm)
    key: list[Any] = []
    for i, length in enumerate(lead):
        order: list[Any] = [0 if j == i else "x" for j in range(perm.type.ndim)]
        key.append(arange(length).dimshuffle(order))
    values = cast(arange(n), perm.dtype)
    return getitem(zeros_like(perm), (*key, perm)).set(values)


def permute_row_elements(x: Any, y: Any, inverse: bool = False) -> TensorVariable:
    """Permute the elements in the last dimension of ``x`` by the permutations in the last dimension of ``y``.

    If ``inverse`` is True, the inverse permutations are used. The other dimensions broadcast.
    """
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    if inverse:
        y = inverse_permutation(y)
    ndim = max(x.type.ndim, y.type.ndim)
    x, y = align(x, x.type.ndim, ndim), align(y, y.type.ndim, ndim)
    lead = [
        b if s == 1 else a
        for a, b, s in zip(
            lengths_by_variables(x)[:-1],
            lengths_by_variables(y)[:-1],
            x.type.shape[:-1],
            strict=True,
        )
    ]
    x = x.broadcast_to([*lead, lengths_by_variables(x)[-1]])
    y = y.broadcast_to([*lead, lengths_by_variables(y)[-1]])
    return take_along_axis(x, y, axis=-1)


def unravel_index(indices: Any, dims: Any, order: str = "C") -> tuple[TensorVariable, ...]:
    """Convert positions in a flattened tensor of shape ``dims`` to an int64 index for each dimension.

    ``order`` is the order of the flattened elements: "C" or "F" (Fortran). TypeError unless the positions are integers.
    ValueError if a position is negative or too large.
    """
    if order not in ("C", "F"):
        raise ValueError(f"order is C or F, not {order!r}")
    lengths = lengths_of(dims)
    rest = _as_int64(indices, "indices")
    size = length_product(lengths)
    rest = _in_range(rest, size, f"A position is out of range for {_listed(lengths)}")
    result: list[Any] = []
    for n in reversed(lengths) if order == "C" else lengths:
        result.append(rest % n)
        rest = rest // n
    return tuple(reversed(result)) if order == "C" else tuple(result)


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Mode | Sequence[Mode] = "raise", order: str = "C"
) -> TensorVariable:
    """Convert an index for each dimension to int64 positions in the flattened tensor of shape ``dims``.

    ``order`` is the order of the flattened elements: "C" or "F" (Fortran). Negative indices are out of range. For
    indices out of range, the mode "raise" raises ValueError, "clip" limits them to the range, and "wrap" counts modulo
    the length. ``mode`` is one mode, or a mode for each dimension. TypeError unless the indices are integers.
    """
    if order not in ("C", "F"):
        raise ValueError(f"order is C or F, not {order!r}")
    lengths = lengths_of(dims)
    given: list[Any] = (
        [getitem(multi_index, i) for i in range(len(lengths))]
        if isinstance(multi_index, Variable)
        else list(multi_index)
    )
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if not len(given) == len(lengths) == len(modes):
        raise ValueError(
            f"{len(given)} indices and {len(modes)} modes for {len(lengths)} dimensions"
        )
    indices = [
        _into_range(_as_int64(i, "multi_index"), n, each)
        for i, n, each in zip(given, lengths, modes, strict=True)
    ]
    pairs = list(zip(indices, lengths, strict=True))
    position = as_tensor_variable(0)
    for index, n in pairs if order == "C" else reversed(pairs):
        position = position * n + index
    return position


def _into_range(index: Any, length: Any, mode: str) -> Any:
    if mode == "clip":
        return clip(index, 0, as_tensor_variable(length) - 1)
    if mode == "wrap":
        return index % length
    if mode != "raise":
        raise ValueError(f"The mode of ravel_multi_index is raise, clip or wrap, not {mode!r}")
    return _in_range(index, length, f"An index is out of range for {_listed([length])}")


def _listed(lengths: Sequence[Any]) -> str:
    if all(isinstance(n, int) for n in lengths):
        return f"the shape {tuple(lengths)}" if len(lengths) > 1 else f"a length of {lengths[0]}"
    return "the lengths"


def _as_int64(value: Any, name: str, keep: bool = False) -> Any:
    """Cast integers and booleans to int64. If ``keep`` is True, integers are not cast. TypeError for other dtypes.

    ``name`` is the name of the argument in the message.
    """
    variable = as_tensor_variable(value)
    if not is_discrete(variable.dtype):
        raise TypeError(f"{name} must be integers, got {variable.type}")
    return variable if keep and variable.dtype != "bool" else cast(variable, "int64")


def _in_range(index: Any, length: Any, message: str) -> Any:
    """``index`` with a run-time check that its elements are from 0 to ``length - 1``.

    If both are known when the graph is built, ValueError is raised at once.
    """
    if isinstance(index, Constant) and isinstance(length, int):
        if index.data.size and not (index.data.min() >= 0 and index.data.max() < length):
            raise ValueError(message)
        return index
    return CheckAndRaise(ValueError, message)(index, ge(index, 0), lt(index, length))
