"""Elements by positions: choices, permutations, filled diagonals, and positions in flattened tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import known_mode, stands_for
from occelo_graph.ops.batching import align
from occelo_graph.ops.cast import cast, converted
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import alloc, arange, broadcast_arrays, zeros_like
from occelo_graph.ops.elemwise.arithmetic import clip, eq, ge, lt, switch
from occelo_graph.ops.index.search import Mode, as_int64, flatnonzero, take, take_along_axis
from occelo_graph.ops.index.subtensor import getitem
from occelo_graph.ops.join import join, stack
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten
from occelo_graph.tensors.constant import as_tensor_variable, promote_arguments
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "choose",
    "compress",
    "fill_diagonal",
    "fill_diagonal_offset",
    "inverse_permutation",
    "permute_row_elements",
    "ravel_multi_index",
    "unravel_index",
]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> TensorVariable:
    """The tensor ``a`` with its main diagonal set to ``val``: a copy, unlike in NumPy.

    Elements of a tensor ``val`` lie along the diagonal one after the other, in C order, again from the first if it is longer. The diagonal of more than two dimensions has equal positions along all of them; ValueError if their lengths differ.
    With ``wrap``, the diagonal of a matrix begins again after the last column, one row further down.
    """
    a = as_tensor_variable(a)
    value = as_tensor_variable(val, dtype=a.dtype)
    if a.type.ndim == 2 and not wrap and not value.type.ndim:
        return fill_diagonal_offset(a, value, 0)
    if a.type.ndim < 2:
        raise ValueError(f"fill_diagonal takes a tensor of at least two dimensions, got {a.type}")
    lengths = lengths_by_variables(a)
    if 0 in value.type.shape:
        return a
    places = [
        expand_dims(arange(n), list(range(1, a.type.ndim - i))) for i, n in enumerate(lengths)
    ]
    if a.type.ndim == 2:
        distance = places[1] - places[0]
        on = eq(distance % (lengths[1] + 1) if wrap else distance, 0)
        # of the number in C order; the diagonal has every one that is a multiple of the columns and 1
        row = (places[0] * lengths[1] + places[1]) // (lengths[1] + 1) if wrap else places[0]
        return switch(on, _along(value, row), a)
    if len(set(a.type.shape) - {None}) > 1:
        raise ValueError(f"fill_diagonal takes dimensions of equal length, got {a.type}")
    message = "fill_diagonal takes dimensions of equal length"
    equal = [eq(n, lengths[0]) for n in map(as_tensor_variable, lengths[1:])]
    on = CheckAndRaise(ValueError, message)(eq(places[1], places[0]), *equal)
    for place in places[2:]:
        on = on & eq(place, places[0])
    return switch(on, _along(value, places[0]), a)


def _along(value: TensorVariable, position: Any) -> TensorVariable:
    """The element of ``value`` at each ``position`` along a diagonal, over which its elements are repeated."""
    if not value.type.ndim:
        return value
    flat = value.flatten()
    return flat[position % flat.shape[0]]


def fill_diagonal_offset(a: Any, val: Any, offset: Any) -> TensorVariable:
    """The matrix ``a`` with its diagonal ``offset`` set to the scalar ``val``.

    ValueError if ``a`` is not a matrix, or ``val`` is not a scalar; TypeError if ``offset`` is not an integer.
    """
    a = as_tensor_variable(a)
    if a.type.ndim != 2:
        raise ValueError(f"fill_diagonal_offset takes a matrix, got {a.type}")
    offset = as_tensor_variable(offset)
    if not is_discrete(offset.dtype) or offset.type.ndim:
        raise TypeError(f"offset of fill_diagonal_offset must be an integer, got {offset.type}")
    value = as_tensor_variable(val, dtype=a.dtype)
    if value.type.ndim:
        raise ValueError(f"A diagonal is filled with a scalar, got val={value.type}")
    rows, columns = (arange(n) for n in lengths_by_variables(a))
    return switch(eq(columns.dimshuffle("x", 0) - rows.dimshuffle(0, "x"), offset), value, a)


@stands_for("choose", "a choices -out mode")
def choose(a: Any, choices: Any, mode: Mode = "raise") -> TensorVariable:
    """Choose each element from one of the tensors ``choices``. ``a`` has the number of the tensor for each element.

    The tensors and ``a`` broadcast. For numbers out of range, the mode "raise" raises ValueError, "clip" takes the
    first or last tensor, and "wrap" counts modulo the number of tensors. ValueError for another mode. TypeError unless
    ``a`` has integers or booleans.
    """
    a = as_int64(a, "a of choose")
    mode = known_mode(mode, "choose")
    if is_list_or_tuple(choices):
        if not choices:
            raise ValueError("choices of choose must not be empty")
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


@stands_for("compress", "condition a:x axis -out")
def compress(
    condition: Any, x: Any, axis: int | None = None, *, size: Any = None, fill_value: Any = 0
) -> TensorVariable:
    """Take the slices of ``x`` along ``axis`` for which the vector ``condition`` is true.

    If ``axis`` is None, take elements of the flattened ``x``. ``size`` is the number of slices, as in JAX: what is too
    much is left out, and what is missing is ``fill_value``. ValueError if ``condition`` is not a vector.
    """
    condition = as_tensor_variable(condition)
    if condition.type.ndim != 1:
        raise ValueError(f"The condition of compress must be a vector, got {condition.type}")
    if size is None:
        return take(x, flatnonzero(condition), axis=axis)
    # position -1 is that of a slice of fill_value at the end
    x = as_tensor_variable(x)
    x, where = (flatten(x), 0) if axis is None else (x, normalize_axis(axis, x))
    lengths = list(lengths_by_variables(x))
    lengths[where] = 1
    whole = join(where, x, alloc(converted(fill_value, x.dtype), lengths))
    return take(whole, flatnonzero(condition, size=size, fill_value=-1), axis=where)


def inverse_permutation(perm: Any) -> TensorVariable:
    """The inverses of the permutations in the last dimension of ``perm``. TypeError unless they are integers."""
    perm = as_tensor_variable(perm)
    if not perm.type.ndim or not is_discrete(perm.dtype) or perm.dtype == "bool":
        raise TypeError(
            f"inverse_permutation takes integers in at least one dimension, got {perm.type}"
        )
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
    if not is_discrete(y.dtype):
        raise TypeError(
            f"y of permute_row_elements are positions, integers, got {y} of type {y.type}"
        )
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


@stands_for("unravel_index", "indices shape:dims order")
def unravel_index(indices: Any, dims: Any, order: str = "C") -> tuple[TensorVariable, ...]:
    """Convert ``indices``, positions in a flattened tensor of shape ``dims``, to an int64 index for each dimension.

    ``order`` is the order of the flattened elements: "C" or "F" (Fortran). TypeError unless the positions are integers.
    ValueError if a position is negative or too large.
    """
    if order not in ("C", "F"):
        raise ValueError(f"order is C or F, not {order!r}")
    lengths = lengths_of(dims)
    rest = as_int64(indices, "indices")
    size = length_product(lengths)
    rest = _in_range(rest, size, f"A position is out of range for {_listed(lengths)}")
    result: list[Any] = []
    for n in reversed(lengths) if order == "C" else lengths:
        result.append(rest % n)
        rest = rest // n
    return tuple(reversed(result)) if order == "C" else tuple(result)


@stands_for("ravel_multi_index", "multi_index dims mode order")
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: Mode | Sequence[Mode] = "raise", order: str = "C"
) -> TensorVariable:
    """Convert ``multi_index``, an index for each dimension, to int64 positions in the flattened tensor of shape ``dims``.

    ``order`` is the order of the flattened elements: "C" or "F" (Fortran). Negative indices are out of range. For
    indices out of range, the mode "raise" raises ValueError, "clip" limits them to the range, and "wrap" counts modulo
    the length. ``mode`` is one mode, or a mode for each dimension. TypeError unless the indices are integers.
    """
    if order not in ("C", "F"):
        raise ValueError(f"order is C or F, not {order!r}")
    lengths = lengths_of(dims)
    parts: list[Any] = (
        [getitem(multi_index, i) for i in range(len(lengths))]
        if isinstance(multi_index, Variable)
        else list(multi_index)
    )
    modes = [mode] * len(lengths) if isinstance(mode, str) else list(mode)
    if not len(parts) == len(lengths) == len(modes):
        raise ValueError(
            f"{len(parts)} indices and {len(modes)} modes for {len(lengths)} dimensions"
        )
    indices = [
        _into_range(as_int64(i, "multi_index"), n, each)
        for i, n, each in zip(parts, lengths, modes, strict=True)
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


def _in_range(index: Any, length: Any, message: str) -> Any:
    """``index`` with a run-time check that its elements are from 0 to ``length - 1``.

    If both are known when the graph is built, ValueError is raised at once.
    """
    if isinstance(index, Constant) and isinstance(length, int):
        if index.data.size and not (index.data.min() >= 0 and index.data.max() < length):
            raise ValueError(message)
        return index
    return CheckAndRaise(ValueError, message)(index, ge(index, 0), lt(index, length))
