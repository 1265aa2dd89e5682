"""NumPy's functions that join and cut arrays: `hstack` and its kin, `block`, `append`, `insert`, `delete`, `array_split`.

They are graphs of joins, slices and reshapes, so gradients, batches and lengths follow from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays.ops.parts.pieces import Splice
from occelo_graph import Constant, Variable
from occelo_graph import tensor as ot
from occelo_graph.ir.taken_constants import taken
from occelo_graph.narrowing import is_list, is_list_or_tuple, is_slice
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import converted
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concat_with_broadcast",
    "delete",
    "dsplit",
    "dstack",
    "horizontal_stack",
    "hsplit",
    "hstack",
    "insert",
    "row_stack",
    "unstack",
    "vertical_stack",
    "vsplit",
    "vstack",
]

_STACKED = "tup dtype casting"


def _parts(tup: Any, name: str) -> list[Any]:
    """The tensors to join: of a list, or the slices of one tensor along its first dimension, as in NumPy."""
    if isinstance(tup, Variable):
        kind = ot.as_tensor_variable(tup).type
        if not kind.ndim or kind.shape[0] is None:
            raise TypeError(
                f"{name} takes a sequence of tensors, or one tensor with a length that is known when the graph is "
                f"built along axis 0, got {kind}"
            )
        return list(unstack(tup))
    if not is_list_or_tuple(tup) and np.ndim(tup) == 0:
        raise TypeError(f"{name} takes a sequence of tensors, got {tup!r}")
    parts = list(tup)
    if not parts:
        raise ValueError(f"{name} needs at least one tensor")
    return promote_arguments(parts)


@stands_for("hstack", _STACKED)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> TensorVariable:
    """Join tensors side by side: along axis 1, or along axis 0 if they have at most one dimension.

    ``tup`` is a sequence of tensors, or one tensor whose slices along the first dimension are joined. ``dtype`` and
    ``casting`` are as in `concatenate`.
    """
    parts = [ot.atleast_1d(v) for v in _parts(tup, "hstack")]
    axis = 0 if parts[0].type.ndim == 1 else 1
    return ot.concatenate(parts, axis, dtype=dtype, casting=casting)


@stands_for("vstack", _STACKED)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> TensorVariable:
    """Join the tensors ``tup`` along axis 0, one below the other. A scalar or a vector counts as a matrix of one row.

    ``dtype`` and ``casting`` are as in `concatenate`.
    """
    parts = [ot.atleast_2d(v) for v in _parts(tup, "vstack")]
    return ot.concatenate(parts, 0, dtype=dtype, casting=casting)


row_stack = vstack


@stands_for("dstack", "tup")
def dstack(tup: Any) -> TensorVariable:
    """Join the tensors ``tup`` one behind the other, along axis 2. Vectors count as (1, n, 1), matrices as (m, n, 1)."""
    return ot.concatenate([_deep(v) for v in _parts(tup, "dstack")], 2)


def _deep(v: Any) -> Any:
    orders: dict[int, list[Any]] = {0: ["x"] * 3, 1: ["x", 0, "x"], 2: [0, 1, "x"]}
    return v.dimshuffle(orders[v.type.ndim]) if v.type.ndim < 3 else v


@stands_for("column_stack", "tup")
def column_stack(tup: Any) -> TensorVariable:
    """Join the vectors ``tup`` as the columns of a matrix. A matrix stays as it is, and several of its columns join."""
    parts = _parts(tup, "column_stack")
    return ot.concatenate(
        [v if v.type.ndim > 1 else ot.atleast_1d(v).dimshuffle(0, "x") for v in parts], 1
    )


def concat(
    arrays: Sequence[Any], /, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind"
) -> TensorVariable:
    """`concatenate` by the name of the array API: join the tensors ``arrays`` along ``axis``, or flattened if it is None.

    ``dtype`` and ``casting`` are as there. TypeError if ``arrays`` is a single tensor.
    """
    if isinstance(arrays, Variable):
        raise TypeError("concat takes a sequence of tensors, not one tensor")
    return ot.concatenate(arrays, axis, dtype=dtype, casting=casting)


@stands_for("block", "arrays")
def block(arrays: Any) -> TensorVariable:
    """A tensor of blocks: of the nested lists ``arrays``, the innermost are joined along the last axis, those around along the one before.

    All blocks first get as many dimensions as the deepest of them or as there are levels of lists, with lengths of 1 in
    front. ValueError if lists of one level are nested to different depths, or one is empty.
    """
    depth = _depth(arrays)
    leaves: list[Any] = []
    _collect(arrays, leaves)
    ndim = max([depth, *(ot.as_tensor_variable(v).type.ndim for v in leaves)])
    promoted = iter([ot.atleast_Nd(v, n=ndim) for v in promote_arguments(leaves)])

    def joined(each: object, level: int) -> Any:
        if not is_list(each):
            return next(promoted)
        return ot.concatenate([joined(v, level + 1) for v in each], ndim - depth + level)

    return joined(arrays, 0)


def _depth(arrays: Any) -> int:
    """The number of levels of lists, which is the same in all branches."""
    if isinstance(arrays, tuple):
        raise TypeError("block takes lists; a tuple is neither an array nor a level of blocks")
    if not is_list(arrays):
        return 0
    depths = {_depth(each) for each in arrays}
    if not depths:
        raise ValueError("block takes no empty lists")
    if len(depths) > 1:
        raise ValueError(f"The lists of block are nested to different depths: {sorted(depths)}")
    return 1 + depths.pop()


def _collect(arrays: Any, leaves: list[Any]) -> None:
    if is_list(arrays):
        for each in arrays:
            _collect(each, leaves)
    else:
        leaves.append(arrays)


@stands_for("append", "arr values axis")
def append(arr: Any, values: Any, axis: int | None = None) -> TensorVariable:
    """``arr`` with ``values`` after its end along ``axis``. If ``axis`` is None, both are flattened first."""
    return ot.concatenate([arr, values], axis)


def _along(arr: Any, axis: int | None, name: str) -> tuple[TensorVariable, int, Any]:
    """The tensor, flattened if ``axis`` is None, the axis counted from the front, and the length along it."""
    x = ot.as_tensor_variable(arr)
    if axis is None:
        x, axis = ot.flatten(x), 0
    elif x.type.ndim == 0:
        raise np.exceptions.AxisError(f"{name} along axis {axis} of a scalar")
    where = normalize_axis(axis, x)
    return x, where, lengths_by_variables(x)[where]


def _slice(x: Any, axis: int, part: slice) -> Any:
    return x[(*[slice(None)] * axis, part)]


def _position(index: Any, length: Any, name: str, end: int) -> Any:
    """Positions from 0 to ``length + end - 1`` of integers that may count from the end. IndexError if one is outside."""
    index, length = ot.cast(index, "int64"), ot.as_tensor_variable(length)
    check = ot.CheckAndRaise(IndexError, f"An index of {name} is out of bounds")
    inside = ot.and_(ot.ge(index, -length), ot.lt(index, length + end))
    index = check(index, ot.all(inside) if index.type.ndim else inside)
    return ot.switch(ot.lt(index, 0), index + length, index)


def _cut_at(x: Any, where: int, index: int, name: str, omit: int) -> tuple[Any, Any]:
    """The slices before a position and those behind it, of which ``omit`` are left out."""
    least = max(-index, index + omit)
    message = f"The index {index} of {name} is out of bounds along axis {where} of {x.type}"
    length = x.type.shape[where]
    if length is not None and length < least:
        raise IndexError(message)
    if length is None and least > 0:
        x = ot.CheckAndRaise(IndexError, message)(x, ot.ge(x.shape[where], least))
    behind = slice(index + omit or None, None) if index < 0 else slice(index + omit, None)
    behind = slice(0, 0) if index + omit == 0 and index < 0 else behind
    return _slice(x, where, slice(None, index)), _slice(x, where, behind)


def _is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or NumPy, and no truth value."""
    return issubclass(type(value), int | np.integer) and not isinstance(value, bool)


def _index(obj: Any, name: str) -> Any:
    """The argument ``obj``: a slice, an integer, or a vector of integers or truth values."""
    if is_slice(obj):
        return obj
    if _is_integer(obj):
        return int(obj)
    index = ot.as_tensor_variable(np.zeros(0, "int64") if _is_empty(obj) else obj)
    if index.type.ndim > 1 or not is_discrete(index.dtype):
        raise IndexError(
            f"obj of {name} must be a slice, an integer, or a vector of integers or truth values, got {index.type}"
        )
    return index


def _is_empty(obj: Any) -> bool:
    return is_list_or_tuple(obj) and not obj


@stands_for("insert", "arr obj values axis")
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> TensorVariable:
    """``arr`` with ``values`` inserted before the positions ``obj`` along ``axis``, or flattened if ``axis`` is None.

    ``obj`` is an integer, a slice, or a vector of integers or truth values; positions count elements of ``arr``, and
    negative ones count from its end. ``values`` are cast to the dtype of ``arr`` and broadcast, where their lengths are
    statically 1; a vector of one position takes any number of them. IndexError if a position is out of bounds, OverflowError if a number of Python does not fit the dtype. The order of several positions takes a comparison of each pair of them.
    """
    x, where, length = _along(arr, axis, "insert")
    at = _index(obj, "insert")
    new = ot.atleast_Nd(converted(values, x.dtype), n=x.type.ndim)
    if new.type.ndim > x.type.ndim:
        raise ValueError(f"values of insert have {new.type.ndim} dimensions, arr has {x.type.ndim}")
    if isinstance(at, int) or (not is_slice(at) and at.type.ndim == 0):
        return _inserted_at(x, where, at, ot.moveaxis(new, 0, where))
    if is_slice(at):
        at = ot.arange(length)[at]
    elif at.dtype == "bool":
        at = ot.flatnonzero(at)
    if at.type.shape == (1,):
        return _inserted_at(x, where, _scalar_of(at), new)
    return _inserted(x, where, _position(at, length, "insert", 1), new)


def _scalar_of(at: Any) -> Any:
    """The only element of a vector, as a Python integer if it is known."""
    return int(taken(at)[0]) if isinstance(at, Constant) else at[0]


def _inserted_at(x: Any, where: int, index: Any, new: Any) -> Any:
    """Insert slices before one position."""
    lengths = list(lengths_by_variables(x))
    lengths[where] = lengths_by_variables(new)[where]
    new = ot.broadcast_to(new, lengths)
    if isinstance(index, int):
        before, after = _cut_at(x, where, index, "insert", 0)
        return ot.join(where, before, new, after)
    at = _position(index, lengths_by_variables(x)[where], "insert", 1)
    return Splice(where, 0)(x, at, new)


def _inserted(x: Any, where: int, positions: Any, new: Any) -> Any:
    """Insert slices before several positions; those before the same position keep their order."""
    count = lengths_by_variables(positions)[0]
    length = lengths_by_variables(x)[where]
    slices = new.type.shape[where]
    if slices != 1 and not isinstance(count, int):
        # one position at run time takes all slices
        slices = lengths_by_variables(new)[where]
        one = ot.eq(count, 1)
        count = ot.switch(one, slices, count)
        positions = positions[ot.switch(one, 0, ot.arange(count))]
    order = ot.arange(count)
    mine, others = positions.dimshuffle(0, "x"), positions.dimshuffle("x", 0)
    before = ot.or_(
        ot.lt(others, mine),
        ot.and_(ot.eq(others, mine), ot.lt(order.dimshuffle("x", 0), order.dimshuffle(0, "x"))),
    )
    targets = positions + ot.sum(before, axis=1)
    if slices != 1 and isinstance(count, int) and slices not in (None, count):
        raise ValueError(
            f"values of insert have {slices} slices along axis {where} for {count} positions"
        )
    lengths = list(lengths_by_variables(x))
    lengths[where] = length + count
    key = (*[slice(None)] * where, targets)
    taken = ot.zeros((length + count,), dtype="bool")[targets].set(np.True_)
    # as many as there are slices, so that x, and not a part of it, is written
    rest = (*[slice(None)] * where, ot.flatnonzero(ot.invert(taken)))
    result = ot.zeros(lengths, dtype=x.dtype)[rest].set(x)
    return result[key].set(new)


@stands_for("delete", "arr obj axis")
def delete(arr: Any, obj: Any, axis: int | None = None) -> TensorVariable:
    """``arr`` without the slices at ``obj`` along ``axis``, or flattened if ``axis`` is None.

    ``obj`` is an integer, a slice, or a vector of integers or truth values; repeated positions count once. IndexError if
    a position is out of bounds, ValueError if truth values do not have the length of ``arr``.
    """
    x, where, length = _along(arr, axis, "delete")
    at = _index(obj, "delete")
    if isinstance(at, int):
        return ot.join(where, *_cut_at(x, where, at, "delete", 1))
    if not is_slice(at) and at.type.ndim == 0:
        none = _slice(x, where, slice(0, 0))
        shorter: TensorVariable = Splice(where, 1)(x, _position(at, length, "delete", 0), none)
        return shorter
    if not is_slice(at) and at.dtype == "bool":
        removed = _of_length(at, x, where)
    else:
        key = at if is_slice(at) else _position(at, length, "delete", 0)
        removed = ot.zeros((length,), dtype="bool")[key].set(np.True_)
    remaining = ot.flatnonzero(ot.invert(removed))
    own = x.type.shape[where]
    if own is not None and (is_slice(at) or isinstance(at, Constant)) and not _is_symbolic(at):
        places = at if is_slice(at) else taken(at)
        remaining = ot.specify_shape(remaining, (len(np.delete(np.arange(own), places)),))
    return ot.take(x, remaining, axis=where)


def _is_symbolic(at: Any) -> bool:
    return is_slice(at) and any(isinstance(v, Variable) for v in (at.start, at.stop, at.step))


def _of_length(mask: Any, x: Any, where: int) -> Any:
    """A vector of truth values, with a check that there is one for each slice of ``x`` along an axis."""
    own, length = mask.type.shape[0], x.type.shape[where]
    message = "obj of delete must have a truth value for each slice of arr"
    if own is not None and length is not None:
        if own != length:
            raise ValueError(f"{message}: it has {own}, and axis {where} of {x.type} has {length}")
        return mask
    return ot.CheckAndRaise(ValueError, message)(mask, ot.eq(mask.shape[0], x.shape[where]))


@stands_for("array_split", "ary indices_or_sections axis")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[TensorVariable]:
    """Cut ``ary`` along ``axis`` into so many parts of nearly equal lengths, or at the positions in a sequence.

    The number or the sequence is ``indices_or_sections``. The first parts are longer by one where the length is no
    multiple of their number. The length may be unknown. ValueError if the number is not positive, TypeError if it is not
    an integer.
    """
    x, where, length = _along(ary, axis, "array_split")
    if is_list_or_tuple(indices_or_sections) or np.ndim(indices_or_sections):
        return _cut(x, where, list(indices_or_sections))
    count = _number_of_parts(indices_or_sections, "array_split")
    each, longer = length // count, length % count
    return _cut(x, where, [i * each + ot.minimum(i, longer) for i in range(1, count)])


def _number_of_parts(sections: Any, name: str) -> int:
    count = static_integer(sections, f"number of parts of {name}")
    if count <= 0:
        raise ValueError(f"The number of parts of {name} must be positive, got {count}")
    return count


def _cut(x: Any, axis: int, ends: Sequence[Any]) -> list[Any]:
    pairs = zip([None, *ends], [*ends, None], strict=True)
    return [_slice(x, axis, slice(start, stop)) for start, stop in pairs]


def _equal_parts(ary: Any, sections: Any, axis: int, name: str) -> list[TensorVariable]:
    x, where, length = _along(ary, axis, name)
    if is_list_or_tuple(sections) or np.ndim(sections):
        return _cut(x, where, list(sections))
    count = _number_of_parts(sections, name)
    own = x.type.shape[where]
    message = f"{name} cannot cut axis {where} of {x.type} into {count} equal parts"
    if own is not None and own % count:
        raise ValueError(message)
    if own is None and count > 1:
        x = ot.CheckAndRaise(ValueError, message)(x, ot.eq(length % count, 0))
    return _cut(x, where, [i * (length // count) for i in range(1, count)])


@stands_for("hsplit", "ary indices_or_sections")
def hsplit(ary: Any, indices_or_sections: Any) -> list[TensorVariable]:
    """Cut ``ary`` into parts side by side: along axis 1, or along axis 0 if it is a vector.

    ``indices_or_sections`` is that of `array_split`. ValueError if a number of parts does not divide the length.
    """
    x = ot.as_tensor_variable(ary)
    return _equal_parts(x, indices_or_sections, 0 if x.type.ndim == 1 else 1, "hsplit")


@stands_for("vsplit", "ary indices_or_sections")
def vsplit(ary: Any, indices_or_sections: Any) -> list[TensorVariable]:
    """Cut ``ary`` along axis 0 into parts: ``indices_or_sections`` of equal lengths, or at the positions in this sequence.

    ValueError if a number of parts does not divide the length, or the tensor has less than 2 dimensions.
    """
    return _equal_parts(_of_dimensions(ary, 2, "vsplit"), indices_or_sections, 0, "vsplit")


@stands_for("dsplit", "ary indices_or_sections")
def dsplit(ary: Any, indices_or_sections: Any) -> list[TensorVariable]:
    """Cut ``ary`` along axis 2 into parts, which ``indices_or_sections`` states, as `vsplit` does along axis 0."""
    return _equal_parts(_of_dimensions(ary, 3, "dsplit"), indices_or_sections, 2, "dsplit")


def _of_dimensions(ary: Any, least: int, name: str) -> TensorVariable:
    x = ot.as_tensor_variable(ary)
    if x.type.ndim < least:
        raise ValueError(f"{name} takes tensors of {least} or more dimensions, got {x.type}")
    return x


@stands_for("unstack", "x axis")
def unstack(x: Any, /, *, axis: int = 0) -> tuple[TensorVariable, ...]:
    """The slices of ``x`` along ``axis``, without this axis. TypeError unless its length is static."""
    v = ot.as_tensor_variable(x)
    where = normalize_axis(axis, v)
    length = v.type.shape[where]
    if length is None:
        raise TypeError(
            f"unstack needs a length that is known when the graph is built along axis {where} of {v.type}"
        )
    return tuple(v[(*[slice(None)] * where, i)] for i in range(length))


def concat_with_broadcast(tensor_list: Sequence[Any], axis: int = 0) -> TensorVariable:
    """Broadcast the tensors of ``tensor_list`` against each other along all axes except ``axis``, and join them along ``axis``."""
    variables = [ot.as_tensor_variable(t) for t in tensor_list]
    if not variables:
        raise ValueError("concat_with_broadcast needs at least one tensor")
    ndim = max(v.type.ndim for v in variables)
    variables = [ot.as_tensor_variable(v, ndim=ndim) for v in variables]
    where = normalize_axis(axis, ndim)
    others = [[1 if i == where else n for i, n in enumerate(v.type.shape)] for v in variables]
    broadcast_static([tuple(o) for o in others], "concat_with_broadcast")
    lengths: list[Any] = []
    shapes = [lengths_by_variables(v) for v in variables]
    for i in range(ndim):
        candidates = [s[i] for s, v in zip(shapes, variables, strict=True) if v.type.shape[i] != 1]
        lengths.append(candidates[0] if candidates else 1)
    spread = [
        ot.broadcast_to(v, [*lengths[:where], s[where], *lengths[where + 1 :]])
        for s, v in zip(shapes, variables, strict=True)
    ]
    return ot.join(where, *spread)


def vertical_stack(*args: Any) -> TensorVariable:
    """Join the matrices ``args`` one below the other. A vector counts as a matrix with one row."""
    return ot.concatenate(
        [
            ot.as_tensor_variable(a, ndim=2) if ot.as_tensor_variable(a).type.ndim < 2 else a
            for a in args
        ],
        0,
    )


def horizontal_stack(*args: Any) -> TensorVariable:
    """Join the matrices ``args`` side by side. If the first one is a vector, join vectors. TypeError for less than two."""
    if len(args) < 2:
        raise TypeError(
            f"horizontal_stack takes at least two tensors, as separate arguments, got {len(args)}"
        )
    variables = [ot.as_tensor_variable(a) for a in args]
    return ot.concatenate(variables, 0 if variables[0].type.ndim == 1 else 1)
