"""Ops that read, set and increment parts of tensors by basic and advanced indexing.

``x[...]`` calls `getitem`. Users call `set_subtensor` and `inc_subtensor` from `occelo.tensor`. Each op has a static
key (`index.key`) as a field; dynamic parts of the index are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Kernel, Op, op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ir.traits import FIRST, trait
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, zeros_like
from occelo_graph.ops.elemwise.arithmetic import add, eq, switch
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.index.fitting import fitted_arrays, fitted_value
from occelo_graph.ops.index.key import (
    ARRAY,
    SCALAR,
    Key,
    advanced_layout,
    basic_shape,
    check_index_arrays,
    check_masks,
    check_written,
    count_inputs,
    fill_key,
    is_advanced,
    key_text,
    marks_of,
    parse_key,
    region_shape,
    static_positions,
    written_read,
    written_write,
)
from occelo_graph.ops.index.masks import masks_as_positions
from occelo_graph.ops.index.slice_lengths import length_of_slice
from occelo_graph.ops.length_inputs import FollowsLengths
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.reading import Shape, length_read, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, computed_by, is_tensor, tensors
from occelo_graph.tensors.type import TensorType, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.nodes import TensorApply
    from occelo_graph.tensors.variable import TensorVariable

_T = TypeVar("_T")

__all__ = [
    "AdvancedIncSubtensor",
    "AdvancedSubtensor",
    "IncSubtensor",
    "Subtensor",
    "getitem",
    "inc_subtensor",
    "set_subtensor",
]


def _check_inputs(op_: Op, key: Key, indices: Sequence[Any]) -> None:
    if count_inputs(key) != len(indices):
        raise ValueError(f"{op_} takes {count_inputs(key)} indices, got {len(indices)}")
    for t in indices:
        if not isinstance(t, TensorType) or not is_discrete(t.dtype):
            raise TypeError(f"{op_} takes integers as indices, got {t}")


def _arrays(key: Key, indices: Sequence[_T]) -> list[_T]:
    """The inputs of a key that are index arrays or masks. ``indices`` are all inputs, or their types or values."""
    return [each for each, mark in zip(indices, marks_of(key), strict=True) if mark == ARRAY]


def _writes_once(key: Key, indices: Sequence[Any]) -> bool:
    """Whether it is known that the index arrays of a key contain no position twice.

    This is known if all arrays are masks, or if all are constants with different positions.
    """
    arrays = _arrays(key, indices)
    masks = [v for v in arrays if v.dtype == "bool"]
    if len(masks) == len(arrays):
        return True
    values = [np.asarray(v.data) for v in arrays if isinstance(v, Constant)]
    if masks or len(values) < len(arrays):
        return False
    spread = np.broadcast_arrays(*values)
    # a negative position may mean the same element as a positive position
    comparable = [v.ravel().astype("int64") for v in spread if np.all(v >= 0) or np.all(v < 0)]
    return bool(comparable) and np.unique(np.stack(comparable), axis=1).shape[1] == spread[0].size


def _with_array_check(
    op_: AdvancedSubtensor | _Write, node: Apply, first: int, run: Kernel
) -> Kernel:
    """Wrap ``run``, the function that computes a node, in a check of dynamic lengths of index arrays and masks.

    The inputs of the key begin at position ``first``.
    """
    types = _arrays(op_.key, [v.type for v in tensors(node.inputs)[first:]])
    has_mask = any(t.dtype == "bool" for t in types)
    if len(types) < 2 and not has_mask:
        return run

    def checked(*arrays: Any) -> Sequence[Any]:
        if has_mask:
            check_masks(fill_key(op_.key, arrays[first:]), arrays[0].shape)
        check_index_arrays(types, _arrays(op_.key, arrays[first:]))
        return run(*arrays)

    return checked


def _no_derivative_for_indices(count: int) -> list[None]:
    return [None] * count


def _pull_read(write: Op, inputs: Sequence[Any], cotangent: Any) -> Sequence[Any]:
    """The pullback of a read: it writes the cotangent into zeros by the op ``write``."""
    x, *rest = inputs
    if is_discrete(x.dtype):
        return [ZERO, *_no_derivative_for_indices(len(rest))]
    base = zeros_like(x, dtype=cotangent.dtype)
    return [write(base, cotangent, *rest), *_no_derivative_for_indices(len(rest))]


def _surely_inside(key: Key, lengths: Sequence[int | None]) -> bool:
    """Whether it is known that applying a key cannot fail.

    For this, integers must be known and within bounds, and the steps of slices must be known.
    """
    for part, length in zip(key, lengths, strict=True):
        if is_slice(part):
            if part.step is not None and not isinstance(part.step, int):
                return False
        elif not isinstance(part, int) or length is None or not -length <= part < length:
            return False
    return True


@op
class Subtensor(FollowsLengths, LinearInFirst):
    """Reads the part of its first input that a key of integers and slices selects. The result is a view."""

    moves = FIRST

    key: Key

    view_map = {0: [0]}

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return static_positions(self.key, node.inputs, 1)

    def may_fail(self, node: Apply) -> bool:
        return not _surely_inside(self.key, node.inputs[0].type.shape or ())

    written = written_read

    def infer(self, x: TensorType, *indices: Any) -> TensorType:
        _check_inputs(self, self.key, indices)
        if x.ndim != len(self.key):
            raise IndexError(f"{self} takes {len(self.key)} dimensions, got {x}")
        return TensorType(x.dtype, basic_shape(self.key, x.shape))

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        integers = [known_integer(v) for v in inputs[1:]]
        if all(n is None for n in integers):
            return self, inputs
        key, rest = _specialize_key(self.key, inputs[1:], integers)
        return Subtensor(key), (inputs[0], *rest)

    def known_integers(self, node: TensorApply[Subtensor], of: Callable[[Variable], Any]) -> Any:
        kind = node.inputs[0].type
        if kind.ndim != 1 or not is_discrete(kind.dtype):
            return None
        vector = of(node.inputs[0])
        places = [of(v) for v in node.inputs[1:]]
        if vector is None or None in places:
            return None
        (entry,) = fill_key(self.key, places)
        try:
            return vector[entry]
        except IndexError:
            return None  # running the node will raise the error

    def evaluate(self, x: Any, *indices: Any) -> Any:
        return np.asarray(x[fill_key(self.key, indices)])

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return _pull_read(IncSubtensor(self.key, False), inputs, cotangents[0])

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [_basic_lengths(self.key, input_shapes[0], node.inputs[1:])]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        from occelo_graph.ops.index.batched import batched_read  # seldom needed

        return batched_read(self, self.key, inputs, batch_ndims)

    def __str__(self) -> str:
        return f"Subtensor{key_text(self.key)}"


def _specialize_key(
    key: Key, indices: Sequence[Any], numbers: Sequence[int | None]
) -> tuple[Key, list[Any]]:
    """Replace inputs with known values in a basic key by integers. Returns the new key and the remaining inputs.

    ``numbers`` has the value of each input in ``indices``, or None.
    """
    rest: list[Any] = []
    pairs = iter(zip(indices, numbers, strict=True))

    def part(entry: Any) -> Any:
        if entry != SCALAR:
            return entry
        variable, n = next(pairs)
        if n is None:
            rest.append(variable)
            return SCALAR
        return n

    entries = [
        slice(*[part(p) for p in slice_parts(entry)]) if isinstance(entry, slice) else part(entry)
        for entry in key
    ]
    return tuple(entries), rest


def _basic_lengths(key: Key, lengths: Sequence[Any], indices: Sequence[Any]) -> tuple[Any, ...]:
    filled = fill_key(key, indices, scalar=lambda v: v)
    return tuple(
        length_of_slice(entry, n)
        for entry, n in zip(filled, lengths, strict=True)
        if is_slice(entry)
    )


@op
class AdvancedSubtensor(FollowsLengths, LinearInFirst):
    """Reads the part of its first input that a key with index arrays or masks selects. The result is a copy."""

    moves = FIRST

    key: Key

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        types = super().types_for(inputs)
        x, *indices = tensors(inputs)
        arrays = _arrays(self.key, indices)
        masks = [v.data if v.dtype == "bool" and isinstance(v, Constant) else None for v in arrays]
        if all(mask is None for mask in masks):
            return types
        counts = [None if mask is None else int(np.count_nonzero(mask)) for mask in masks]
        shape, _, _ = advanced_layout(self.key, x.type.shape, [v.type for v in arrays], counts)
        return (TensorType(x.dtype, shape),)

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return static_positions(self.key, node.inputs, 1)

    written = written_read

    def infer(self, x: TensorType, *indices: Any) -> TensorType:
        _check_inputs(self, self.key, indices)
        shape, _, _ = advanced_layout(self.key, x.shape, _arrays(self.key, indices))
        return TensorType(x.dtype, shape)

    def evaluate(self, x: Any, *indices: Any) -> Any:
        result = x[fill_key(self.key, indices)]
        return np.array(result) if np.may_share_memory(result, x) else np.asarray(result)

    def kernel(self, node: Apply) -> Kernel:
        return _with_array_check(self, node, 1, super().kernel(node))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return _pull_read(AdvancedIncSubtensor(self.key, False), inputs, cotangents[0])

    def infer_shape(
        self, node: TensorApply[AdvancedSubtensor], input_shapes: Sequence[Any]
    ) -> Sequence[Any]:
        x, *indices = node.inputs
        arrays = _arrays(self.key, indices)
        _, where, _ = advanced_layout(self.key, x.type.shape, [a.type for a in arrays])
        filled = fill_key(self.key, indices, scalar=lambda v: v)
        slices: list[Any] = []
        axis = 0
        for entry in filled:
            if is_slice(entry):
                slices.append(length_of_slice(entry, input_shapes[0][axis]))
            axis += entry.type.ndim if is_tensor(entry) and entry.type.dtype == "bool" else 1
        core = _broadcast_lengths(arrays, _arrays(self.key, input_shapes[1:]))
        return [(*slices[:where], *core, *slices[where:])]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        from occelo_graph.ops.index.batched import batched_read  # seldom needed

        return batched_read(self, self.key, inputs, batch_ndims)

    def __str__(self) -> str:
        return f"AdvancedSubtensor{key_text(self.key)}"


def _broadcast_lengths(arrays: Sequence[Any], shapes: Sequence[Any]) -> list[Any]:
    """The lengths to which index arrays and masks broadcast. ``shapes`` are their lengths."""
    result: list[Any] = [1] * max(1 if a.dtype == "bool" else a.type.ndim for a in arrays)
    done: set[int] = set()
    for array, own in zip(arrays, shapes, strict=True):
        is_mask = array.dtype == "bool"
        static = (None,) if is_mask else array.type.shape
        lengths = (array.sum(),) if is_mask else own
        for axis in range(-len(static), 0):
            if static[axis] != 1 and axis not in done:
                result[axis] = lengths[axis]
                done.add(axis)
    return result


@op
class _Write(Op):
    """Base class of the two ops that write: they return ``x`` with a part set to ``y``, or incremented by ``y``.

    The inputs are ``x``, ``y`` and the inputs of ``key``. ``set_instead_of_inc`` says which, and with ``inplace`` it is ``x`` itself.
    """

    key: Key
    set_instead_of_inc: bool
    inplace: bool = False
    advanced: ClassVar[bool]

    by_parts = slice(0, 2)

    @trait
    def moves(self) -> slice | None:
        return slice(0, 2) if self.set_instead_of_inc else None

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return (slice(0, 2),)

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return static_positions(self.key, node.inputs, 2)

    def part_shape(self, x: TensorType, indices: Sequence[TensorType]) -> list[int | None]:
        raise NotImplementedError

    @trait
    def destroy_map(self) -> Mapping[int, Sequence[int]]:
        return {0: [0]} if self.inplace else {}

    written = written_write

    def infer(self, x: TensorType, y: TensorType, *indices: Any) -> TensorType:
        _check_inputs(self, self.key, indices)
        region = self.part_shape(x, indices)
        if y.ndim > len(region):
            raise ValueError(f"Cannot write {y} to a part of {len(region)} dimensions")
        broadcast_static([tuple(region), y.shape], "writing to a part")
        for own, length in zip(reversed(y.shape), reversed(region), strict=False):
            if length == 1 and own not in (1, None):
                raise ValueError(f"Cannot write {y} to a part of length 1")
        if np.result_type(x.numpy_dtype, y.numpy_dtype) != x.numpy_dtype:
            raise TypeError(
                f"Cannot write {y.dtype} into {x.dtype} without losing precision; cast it explicitly"
            )
        return x

    def evaluate(self, x: Any, y: Any, *indices: Any) -> Any:
        result = x if self.inplace else np.array(x)
        where = fill_key(self.key, indices)
        if self.set_instead_of_inc:
            result[where] = y
        elif self.advanced:
            # `numpy.add.at` of NumPy 2.4 loses increments if it broadcasts them
            whole = np.broadcast_to(y, region_shape(where, result.shape))
            np.add.at(result, where, whole.astype(result.dtype, copy=False))
        else:
            result[where] += y
        return result

    def kernel(self, node: TensorApply[_Write]) -> Kernel:
        run = super().kernel(node)
        y_type = node.inputs[1].type
        if any(n != 1 for n in y_type.shape):
            run = self._with_check(y_type, run)
        return _with_array_check(self, node, 2, run)

    def _with_check(self, y_type: TensorType, run: Kernel) -> Kernel:
        """Wrap ``run``, the function that computes a node, in a check that ``y`` has the lengths of the part."""
        key = self.key

        def checked(*arrays: Any) -> Sequence[Any]:
            x, y, *indices = arrays
            check_written(y_type, y.shape, region_shape(fill_key(key, indices), x.shape))
            return run(*arrays)

        return checked

    def with_inplace(self) -> Op:
        """The same op with ``inplace=True``, which overwrites its first input."""
        return replace(self, inplace=True)

    def _read(self, value: Any, rest: Sequence[Any]) -> Any:
        raise NotImplementedError

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        y, rest = inputs[1], inputs[2:]
        ct = cotangents[0]
        if is_discrete(outputs[0].dtype):
            return [ZERO, ZERO, *_no_derivative_for_indices(len(rest))]
        of_x = ct
        if self.set_instead_of_inc:
            zero = cast(as_tensor_variable(0), ct.dtype)
            of_x = type(self)(self.key, True)(ct, zero, *rest)
        read = self._read(ct, rest)
        of_y = unbroadcast(read, read.type, y.type)
        if self.set_instead_of_inc and self.advanced and not _writes_once(self.key, rest):
            last_written = switch(
                self._is_last_written(ct, rest), read, cast(as_tensor_variable(0), ct.dtype)
            )
            of_y = unbroadcast(last_written, read.type, y.type)
        if not is_discrete(y.dtype) and of_y.dtype != y.dtype:
            of_y = of_y.astype(y.dtype)
        return [of_x, of_y, *_no_derivative_for_indices(len(rest))]

    def _is_last_written(self, x: Any, rest: Sequence[Any]) -> Any:
        """A boolean array of the shape of the part: True for values that no later value overwrites.

        A position may occur several times in the index arrays. Then only the last value is kept.
        """
        empty = zeros_like(x, dtype="int64")
        region = lengths_by_variables(self._read(empty, rest))
        count: Any = 1
        for n in region:
            count = count * n
        numbers = reshape(arange(count), region)
        written = type(self)(self.key, True)(empty, numbers, *rest)
        return eq(self._read(written, rest), numbers)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [True], *[[False]] * (len(node.inputs) - 2)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: TensorApply[_Write], inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        from occelo_graph.ops.index.batched import batched_write

        return batched_write(self, self.key, self.set_instead_of_inc, inputs, batch_ndims)

    def __str__(self) -> str:
        verb = "Set" if self.set_instead_of_inc else "Inc"
        prefix = "Advanced" if self.advanced else ""
        return f"{prefix}{verb}Subtensor{key_text(self.key)}{'_inplace' if self.inplace else ''}"


@op
class IncSubtensor(_Write):
    """``x`` with a part incremented by ``y``, or set to ``y``. A key of integers and slices selects the part."""

    advanced: ClassVar[bool] = False

    def part_shape(self, x: TensorType, indices: Sequence[TensorType]) -> list[int | None]:
        if x.ndim != len(self.key):
            raise IndexError(f"{self} takes {len(self.key)} dimensions, got {x}")
        return basic_shape(self.key, x.shape)

    def _read(self, value: Any, rest: Sequence[Any]) -> Any:
        return Subtensor(self.key)(value, *rest)

    def decompose(self, x: Any, y: Any, *rest: Any) -> Sequence[Any] | None:
        if self.set_instead_of_inc:
            return None
        # since no position occurs twice, incrementing is reading, adding and setting
        return [IncSubtensor(self.key, True)(x, self._read(x, rest) + y, *rest)]


@op
class AdvancedIncSubtensor(_Write):
    """``x`` with a part incremented by ``y``, or set to ``y``. A key with index arrays or masks selects the part.

    If a position occurs several times, all increments are added. If several values are set at one position, the last
    value is kept, and the other values have the gradient 0.
    """

    advanced: ClassVar[bool] = True

    def part_shape(self, x: TensorType, indices: Sequence[TensorType]) -> list[int | None]:
        return advanced_layout(self.key, x.shape, _arrays(self.key, indices))[0]

    def _read(self, value: Any, rest: Sequence[Any]) -> Any:
        return AdvancedSubtensor(self.key)(value, *rest)


# functions for users


def getitem(x: Any, key: Any) -> TensorVariable:
    """``x[key]``, as in NumPy. The method ``__getitem__`` of tensors calls it.

    `set_subtensor` and `inc_subtensor` find out from the result which part of ``x`` was read. If ``key`` inserts
    dimensions, ``x`` is first replaced by a variable with these dimensions. The `Variable.tag` of this variable records
    the positions of the dimensions.
    """
    x = as_tensor_variable(x)
    static, inputs, new_axes = parse_key(key, x.type.ndim)
    everything = all(isinstance(e, slice) and slice_parts(e) == (None, None, None) for e in static)
    if new_axes:
        x = _insert_axes(x, new_axes)
        x.tag.new_axes = tuple(new_axes)
        x.tag.is_index = everything
        if everything:
            return x
    if is_advanced(static):
        static, inputs = masks_as_positions(x, static, inputs)
        inputs = fitted_arrays(static, inputs)
        read: TensorVariable = AdvancedSubtensor(static)(x, *inputs)
        return read
    part: TensorVariable = Subtensor(static)(x, *inputs)
    return part


def _insert_axes(x: TensorVariable, new_axes: Sequence[int]) -> TensorVariable:
    total = x.type.ndim + len(new_axes)
    rest = iter(range(x.type.ndim))
    return x.dimshuffle(["x" if i in new_axes else next(rest) for i in range(total)])


def _write(x: Any, y: Any, set_instead_of_inc: bool, inplace: bool) -> TensorVariable:
    writing, key, base, indices = indexed(x)
    y = written_value(y, x)
    return without_new_axes(writing(key, set_instead_of_inc, inplace)(base, y, *indices), base, x)


def written_value(y: Any, part: TensorVariable) -> TensorVariable:
    """The value that users write to ``part``, the result of an index, as a variable that fits its lengths.

    Numbers and constants get the dtype of the part if this changes no values.
    """
    y = (
        as_tensor_variable(y)
        if isinstance(y, Variable) or not isinstance(y, int | float | complex)
        else y
    )
    dtype = part.type.dtype
    if not isinstance(y, Variable):
        # NumPy's conversion of an integer, unlike a cast, raises if the integer does not fit
        y = (
            as_tensor_variable(y, dtype=dtype)
            if _fits(y, dtype)
            else _weak_array(as_tensor_variable(y), dtype)
        )
    elif isinstance(y, Constant) and y.type.dtype != dtype:
        y = _weak_array(y, dtype)
    fitted: TensorVariable = fitted_value(y, part)
    return fitted


def without_new_axes(
    written: TensorVariable, base: TensorVariable, part: TensorVariable
) -> TensorVariable:
    """Remove the dimensions that the index of ``part`` inserted. ``written`` is ``base`` with this part changed."""
    new_axes, is_index = _mark_of(base)
    if is_index is not (base is part):
        new_axes = ()
    if new_axes:
        return written.dimshuffle([i for i in range(written.type.ndim) if i not in new_axes])
    return written


def set_fitting(part: TensorVariable, y: TensorVariable) -> TensorVariable:
    """`set_subtensor` for a value that is known to have the shape of the part, so that nothing is to be broadcast.

    ``part`` is read by a key without new axes. The op that writes still checks the lengths.
    """
    writing, key, base, indices = indexed(part)
    written: TensorVariable = writing(key, True, False)(base, cast(y, base.type.dtype), *indices)
    return written


def _mark_of(x: Variable) -> tuple[Sequence[int], bool]:
    """The positions of the dimensions of ``x`` that `getitem` inserted, and whether the index did nothing else."""
    if not x.has_tag:
        return (), False
    return getattr(x.tag, "new_axes", ()), getattr(x.tag, "is_index", False)


def indexed(x: object) -> tuple[type[_Write], Key, TensorVariable, Sequence[TensorVariable]]:
    """Find the part that ``x``, the result of an index, was read from.

    Returns what is needed to write to this part: the class of the writing op, the key, the tensor, and the inputs of
    the key. If the index inserted dimensions, the tensor has them. TypeError if ``x`` is not the result of an index.
    """
    if is_tensor(x):
        read = computed_by(x, Subtensor, AdvancedSubtensor)
        if read is not None:
            writing = IncSubtensor if isinstance(read.op, Subtensor) else AdvancedIncSubtensor
            return writing, read.op.key, read.inputs[0], read.inputs[1:]
        length = length_read(x)
        if length is not None:
            # an element of a shape may be a node `Shape_i`, which is not a read
            return IncSubtensor, (length[1],), Shape()(length[0]), ()
        if x.owner is not None and _mark_of(x)[1]:
            return IncSubtensor, (slice(None),) * x.type.ndim, x, ()
    raise TypeError(
        f"Write to a part of a tensor, such as x[2:5]; {x} is not the result of an index"
    )


def _fits(value: Any, dtype: str) -> bool:
    return np.result_type(np.dtype(dtype), value) == np.dtype(dtype)


def _weak_array(y: Any, dtype: str) -> Any:
    """Convert a constant to ``dtype``, the dtype of the target, if this changes no values. Else return it unchanged."""
    if y.data.dtype.kind == "c":
        return y
    with np.errstate(invalid="ignore"):
        converted = y.data.astype(dtype)
    if not np.array_equal(converted, y.data):
        return y
    taken(y)
    return as_tensor_variable(converted)


def set_subtensor(x: Any, y: Any, inplace: bool = False) -> TensorVariable:
    """``set_subtensor(base[key], y)`` returns a copy of ``base`` with the part ``x``, which is ``base[key]``, set to ``y``.

    With ``inplace``, the op overwrites ``base``. TypeError if ``x`` is not the result of an index, or if ``y`` cannot be converted to the dtype of ``x`` without
    loss.
    """
    return _write(x, y, True, inplace)


def inc_subtensor(
    x: Any,
    y: Any,
    set_instead_of_inc: bool = False,
    inplace: bool = False,
    ignore_duplicates: bool = False,
) -> TensorVariable:
    """``inc_subtensor(base[key], y)`` returns a copy of ``base`` with ``y`` added to the part ``x``, which is ``base[key]``.

    ``set_instead_of_inc`` writes ``y``, as `set_subtensor`; ``inplace`` writes into ``base``, which rewriting does itself.
    If the index contains a position several times, all increments are added. If ``ignore_duplicates`` is true, only the
    last one is, as in NumPy's ``base[key] += y``.
    """
    if ignore_duplicates and not set_instead_of_inc:
        return _write(x, add(x, written_value(y, x)), True, inplace)
    return _write(x, y, set_instead_of_inc, inplace)
