"""Ops and functions that join, split and repeat tensors.

The ops are `Join`, `MakeVector` and `Repeat`. Users call the functions from `occelo.tensor`. If a user passes a list of
tensors to any op, the list is stacked by `stack`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.ir.known_values import known_integer, known_integers
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import EVERY, FIRST
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import refuse_list
from occelo_graph.ops.batched_lengths import promise_equal_lengths
from occelo_graph.ops.batching import materialize
from occelo_graph.ops.cast import cast, cast_by
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import alloc, arange, broadcast_to, zeros_like
from occelo_graph.ops.elemwise.arithmetic import eq, ge
from occelo_graph.ops.length_inputs import FollowsLengths, lengths_of
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis, static_integer
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.reading import Shape_i, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import (
    as_tensor_variable,
    constant,
    is_python_number,
    promote_arguments,
)
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_graph.upward import repeated

if TYPE_CHECKING:
    from occelo_graph.tensors.nodes import TensorApply
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "Join",
    "MakeVector",
    "Repeat",
    "concatenate",
    "diff",
    "flip",
    "join",
    "make_vector",
    "repeat",
    "split",
    "stack",
    "stacklists",
    "tile",
]


@op
class MakeVector(Op):
    """Makes a vector of its inputs, which are scalars of the dtype ``dtype``."""

    moves = EVERY

    dtype: str

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("stack", f"[{', '.join(t.text for t in operands)}]") if operands else None

    def may_fail(self, node: Apply) -> bool:
        return False

    def of_dtype(self, dtype: str) -> MakeVector:
        return MakeVector(dtype)

    def infer(self, *scalars: TensorType) -> TensorType:
        for t in scalars:
            if t.ndim != 0 or t.dtype != self.dtype:
                raise TypeError(f"{self} takes scalars of dtype {self.dtype}, got {t}")
        return TensorType(self.dtype, (len(scalars),))

    def evaluate(self, *scalars: Any) -> Any:
        return np.array(scalars, dtype=self.dtype)

    def decompose(self, *scalars: Any) -> Sequence[Any]:
        if not scalars:
            return [as_tensor_variable(np.zeros(0, self.dtype))]
        return [Join(0)(*(expand_dims(v, 0) for v in scalars))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(self.dtype):
            return [ZERO] * len(inputs)
        return [cotangents[0][i] for i in range(len(inputs))]

    def known_integers(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        return tuple(of(v) for v in node.inputs) if is_discrete(self.dtype) else None

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(len(node.inputs),)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        full = materialize(inputs, batch_ndims)
        return [Join(full[0].type.ndim)(*(expand_dims(v, -1) for v in full))]


def make_vector(*scalars: Any) -> TensorVariable:
    """A vector of the ``scalars``, at least one, cast to their common dtype. TypeError for other tensors; see `stack`."""
    promoted = promote_arguments(scalars)
    for v in promoted:
        if v.type.ndim:
            raise TypeError(f"make_vector takes scalars, got {v} of type {v.type}; see stack")
    if not promoted:
        raise TypeError("make_vector takes at least one scalar")
    dtype = np.result_type(*(v.type.numpy_dtype for v in promoted)).name
    vector: TensorVariable = MakeVector(dtype)(*(cast(v, dtype) for v in promoted))
    return vector


@op
class Join(Op):
    """Joins its inputs along ``axis``, one after the other. All have the same dtype and number of dimensions."""

    moves = EVERY

    axis: int

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("concatenate", f"[{', '.join(t.text for t in operands)}]", axis=self.axis)

    def infer(self, *types: TensorType) -> TensorType:
        if not types:
            raise ValueError("There is nothing to join")
        first = types[0]
        for t in types:
            if t.ndim != first.ndim or t.dtype != first.dtype:
                raise TypeError(f"Cannot join {first} and {t}")
        if not 0 <= self.axis < first.ndim:
            raise np.exceptions.AxisError(self.axis, first.ndim)
        shape: list[int | None] = []
        for i in range(first.ndim):
            lengths = [t.shape[i] for t in types]
            static = {n for n in lengths if n is not None}
            if i == self.axis:
                shape.append(None if None in lengths else sum(n for n in lengths if n is not None))
            elif len(static) > 1:
                listed = " and ".join(str(t.shape) for t in types)
                raise ValueError(f"Cannot join the shapes {listed} along axis {self.axis}")
            else:
                shape.append(static.pop() if static else None)
        return TensorType(first.dtype, shape)

    def known_integers(self, node: TensorApply[Join], of: Callable[[Variable], Any]) -> Any:
        kind = node.outputs[0].type
        if kind.ndim != 1 or not is_discrete(kind.dtype) or kind.shape[0] is None:
            return None
        parts: list[Any] = []
        for variable in node.inputs:
            length = variable.type.shape[0]
            assert length is not None
            elements = of(variable)
            parts.extend((None,) * length if elements is None else elements)
        return tuple(parts)

    def evaluate(self, *arrays: Any) -> Any:
        return np.concatenate(arrays, axis=self.axis)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        if is_discrete(outputs[0].dtype):
            return [ZERO] * len(inputs)
        parts: list[Any] = []
        start: Any = 0
        for variable in inputs:
            stop = start + lengths_by_variables(variable)[self.axis]
            index = [slice(None)] * self.axis + [slice(start, stop)]
            parts.append(ct[tuple(index)])
            start = stop
        return parts

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        result = list(input_shapes[0])
        total: Any = 0
        for lengths in input_shapes:
            total = total + lengths[self.axis]
            for i, n in enumerate(lengths):
                if isinstance(n, int):
                    result[i] = n
        result[self.axis] = total
        return [tuple(result)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [Join(self.axis + max(batch_ndims))(*materialize(inputs, batch_ndims))]


def join(axis: Any, *tensors_list: Any) -> TensorVariable:
    """Join the tensors ``tensors_list`` along ``axis``, one after the other. They are cast to their common dtype.

    TypeError if the numbers of dimensions differ, or for one list of tensors. ValueError if there are no tensors, or if lengths along the other
    axes differ. Dynamic lengths are checked when the graph runs.
    """
    refuse_list("join", tensors_list, "; concatenate takes one")
    return _joined(axis, tensors_list)


def _joined(axis: Any, parts: Sequence[Any]) -> TensorVariable:
    if not parts:
        raise ValueError("There is nothing to join")
    variables = promote_arguments(parts)
    _check_ndims("join", variables)
    where = normalize_axis(axis, variables[0])
    dtype = np.result_type(*(v.type.numpy_dtype for v in variables)).name
    if len(variables) == 1:
        return variables[0]
    joined: TensorVariable = Join(where)(*(cast(v, dtype) for v in variables))
    return joined


def concatenate(
    tensor_list: Sequence[Any], axis: Any = 0, *, dtype: Any = None, casting: Any = "same_kind"
) -> TensorVariable:
    """`join` with the arguments of NumPy's function. If ``axis`` is None, the tensors are flattened first.

    They are cast to ``dtype``. TypeError if ``casting``, a word of `numpy.can_cast`, does not allow it, or if
    ``tensor_list`` is a single tensor.
    """
    if isinstance(tensor_list, Variable):
        raise TypeError("concatenate takes a list of tensors, not one tensor")
    tensor_list = cast_by(dtype, casting, tensor_list)
    if axis is None:
        return _joined(0, [flatten(t) for t in tensor_list])
    return _joined(axis, tensor_list)


def _check_ndims(what: str, variables: Sequence[Any]) -> None:
    if len({v.type.ndim for v in variables}) > 1:
        listed = ", ".join(f"{v} ({v.type})" for v in variables)
        raise explained(
            TypeError(
                f"Tensors to {what} must have as many dimensions as each other, got {listed}"
            ),
            "arguments",
        )


def stack(
    tensors: Sequence[Any], axis: int = 0, *, dtype: Any = None, casting: Any = "same_kind"
) -> TensorVariable:
    """Join tensors of the same shape along a new dimension ``axis``; ``dtype`` and ``casting`` as in `concatenate`.

    TypeError for a single tensor, ValueError for an empty sequence.
    """
    if isinstance(tensors, Variable):
        raise TypeError("stack takes a sequence of tensors, not one tensor")
    if not tensors:
        raise ValueError("There is nothing to stack")
    nested = any(isinstance(t, list | tuple) for t in tensors)
    variables = promote_arguments(_weak_lists(tensors) if nested else tensors)
    variables = cast_by(dtype, casting, variables)
    if all(v.type.ndim == 0 for v in variables):
        normalize_axis(axis, 1)
        return make_vector(*variables)
    _check_ndims("stack", variables)
    return join(
        normalize_axis(axis, variables[0].type.ndim + 1), *(expand_dims(v, axis) for v in variables)
    )


def stacklists(arg: Any) -> TensorVariable:
    """Stack ``arg``, nested lists of tensors. Each level of nesting becomes a new leading dimension."""
    return stack(_weak_lists(arg)) if is_list_or_tuple(arg) else as_tensor_variable(arg)


def _weak_lists(values: Sequence[Any]) -> list[Any]:
    """The stacked tensors of nested lists. Python numbers in all lists take their dtype from all tensors in them."""
    leaves: list[Any] = []
    _collect(values, leaves)
    rest = iter(promote_arguments(leaves))

    def stacked(each: Any) -> Any:
        if _number_for(each) is not None:
            return constant(np.asarray(each, next(rest).dtype))
        return stack([stacked(a) for a in each]) if is_list_or_tuple(each) else next(rest)

    return [stacked(each) for each in values]


def _collect(values: Sequence[Any], leaves: list[Any]) -> None:
    for each in values:
        number = _number_for(each)
        if number is not None or not is_list_or_tuple(each):
            leaves.append(each if number is None else number)
        else:
            _collect(each, leaves)


def _number_for(values: Any) -> Any:
    """A Python number that stands for the dtype of a list of Python numbers; None for all other values."""
    if not is_list_or_tuple(values) or not values:
        return None
    kinds = (int, float, complex)
    numbers: Sequence[Any] = values
    if not all(map(is_python_number, numbers)):
        return None
    return max(numbers, key=lambda v: (kinds.index(type(v)), abs(v)))


def split(
    x: Any, splits_size: Any, n_splits: int | None = None, axis: int = 0
) -> list[TensorVariable]:
    """Split ``x`` along ``axis`` into parts with the lengths ``splits_size``.

    ``n_splits`` is the number of parts. TypeError without it: the user may have meant NumPy's split, where the second
    argument holds positions. ValueError if a length is negative, or if the lengths do not add up to the length of
    ``x``. Dynamic lengths are checked when the graph runs.
    """
    if n_splits is None:
        raise TypeError(
            "split takes the lengths of the parts and n_splits, their number, as in split(x, [1, 3], n_splits=2); "
            "numpy.split(x, positions, axis) takes a variable, too"
        )
    n_splits = static_integer(n_splits, "number of parts")
    x = as_tensor_variable(x)
    where = normalize_axis(axis, x)
    if isinstance(splits_size, Variable):
        vector = as_tensor_variable(splits_size)
        if vector.type.shape[0] not in (None, n_splits):
            raise ValueError(f"Expected {n_splits} sizes, got {vector.type.shape[0]}")
        if vector.type.shape[0] is None:
            holds = eq(Shape_i(0)(vector), n_splits)
            vector = CheckAndRaise(ValueError, f"Expected {n_splits} sizes")(vector, holds)
        sizes: list[Any] = [cast(vector[i], "int64") for i in range(n_splits)]
    else:
        sizes = list(lengths_of(splits_size))
    if len(sizes) != n_splits:
        raise ValueError(f"Expected {n_splits} sizes, got {len(sizes)}")
    length = x.type.shape[where]
    numbers = [known_integer(s) for s in sizes]
    if any(s is not None and s < 0 for s in numbers):
        raise ValueError(f"The sizes {numbers} must not be negative")
    conditions = [ge(s, 0) for s, n in zip(sizes, numbers, strict=True) if n is None]
    if not conditions and length is not None and sum(n for n in numbers if n is not None) != length:
        raise ValueError(f"The sizes {numbers} do not add up to the length {length}")
    if conditions or length is None or any(isinstance(s, Variable) for s in sizes):
        conditions.insert(0, eq(sum(sizes), Shape_i(where)(x)))
        x = CheckAndRaise(
            ValueError,
            f"The {len(sizes)} sizes of the parts must not be negative and must add up to the length of dimension {where}",
        )(x, *conditions)
    parts: list[TensorVariable] = []
    start: Any = 0
    for size in sizes:
        stop = start + size
        index = [slice(None)] * where + [slice(start, stop)]
        parts.append(x[tuple(index)])
        start = stop
    return parts


@op
class Repeat(FollowsLengths, LinearInFirst):
    """Repeats each slice of its first input along ``axis``.

    The second input is a vector with the number of repeats of each slice.
    """

    moves = FIRST

    axis: int

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        if node.inputs[1].type.shape == (1,):
            return None  # one number is a number of repeats for all slices
        return called("repeat", *(term.text for term in operands), axis=self.axis)

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def infer(self, x: TensorType, repeats: TensorType) -> TensorType:
        if repeats.ndim != 1 or not is_discrete(repeats.dtype):
            raise TypeError(f"{self} takes a vector of integers, got {repeats}")
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(self.axis, x.ndim)
        shape = list(x.shape)
        shape[self.axis] = None
        return TensorType(x.dtype, shape)

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        types = super().types_for(inputs)
        counts = known_integers(inputs[1])
        shape = types[0].shape
        if counts is None or None in counts or min(counts, default=0) < 0 or shape is None:
            return types
        lengths = (*shape[: self.axis], sum(counts), *shape[self.axis + 1 :])
        return (TensorType(types[0].dtype or "", lengths),)

    def evaluate(self, x: Any, repeats: Any) -> Any:
        if repeats.shape[0] != x.shape[self.axis]:
            raise ValueError(
                f"{repeats.shape[0]} numbers of repeats for a length of {x.shape[self.axis]}"
            )
        if np.sum(repeats, dtype="float64") >= 2.0**62:
            # NumPy sums the numbers in int64; the sum would wrap around, and NumPy would allocate too little memory
            raise ValueError("The numbers of repeats are too large")
        return np.repeat(x, repeats, axis=self.axis)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x, repeats = inputs
        if is_discrete(outputs[0].dtype):
            return [ZERO, None]
        count = Shape_i(self.axis)(x)
        owner = Repeat(0)(arange(count), repeats)
        index: tuple[Any, ...] = (*[slice(None)] * self.axis, owner)
        return [zeros_like(x, dtype=cotangents[0].dtype)[index].inc(cotangents[0]), None]

    def infer_shape(self, node: TensorApply[Repeat], input_shapes: Sequence[Any]) -> Sequence[Any]:
        result = list(input_shapes[0])
        result[self.axis] = node.inputs[1].sum()
        return [tuple(result)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        if batch_ndims[1]:
            promise_equal_lengths(self)
            return repeated(node, inputs)
        return [Repeat(self.axis + batch_ndims[0])(*inputs)]


def repeat(a: Any, repeats: Any, axis: int | None = None) -> TensorVariable:
    """Repeat each slice of ``a`` along ``axis``, or each element if ``axis`` is None.

    ``repeats`` is the number of repeats, or a vector with a number for each slice. A vector of static length 1 counts
    as one number. TypeError if the numbers are not integers.
    """
    a = as_tensor_variable(a)
    if axis is None or a.type.ndim == 0:
        a, axis = flatten(a), 0 if axis is None else axis
    where = normalize_axis(axis, a)
    counts = as_tensor_variable(repeats)
    if not is_discrete(counts.dtype):
        raise TypeError(f"repeats must be integers, got {counts.type}")
    if counts.type.shape in ((), (1,)):
        lengths = lengths_by_variables(a)
        (times,) = lengths_of(counts if counts.type.ndim == 0 else counts[0])
        spread = broadcast_to(
            expand_dims(a, where + 1), (*lengths[: where + 1], times, *lengths[where + 1 :])
        )
        return reshape(spread, (*lengths[:where], lengths[where] * times, *lengths[where + 1 :]))
    repeated: TensorVariable = Repeat(where)(a, cast(counts, "int64"))
    return repeated


def tile(A: Any, reps: Any, ndim: int | None = None) -> TensorVariable:
    """Repeat the tensor ``A`` as a whole along each dimension. ``reps`` has a number of repeats for each dimension.

    ``A`` gets new leading dimensions if it has fewer dimensions than ``reps`` has numbers, or fewer than ``ndim``.
    """
    x = as_tensor_variable(A)
    times = list(lengths_of(reps))
    out_ndim = max(len(times), x.type.ndim, ndim or 0)
    times = [1] * (out_ndim - len(times)) + times
    x = as_tensor_variable(x, ndim=out_ndim)
    lengths = lengths_by_variables(x)
    order: list[Any] = []
    spread: list[Any] = []
    for i in range(out_ndim):
        order += ["x", i]
        spread += [times[i], lengths[i]]
    return reshape(
        alloc(x.dimshuffle(order), spread), [t * n for t, n in zip(times, lengths, strict=True)]
    )


def flip(arr: Any, axis: Any = None) -> TensorVariable:
    """Reverse the order of the elements of ``arr`` along ``axis``, which is one axis, several axes, or None for all axes."""
    arr = as_tensor_variable(arr)
    axes = normalize_axes(axis, arr)
    index = tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(arr.type.ndim))
    flipped: TensorVariable = arr[index] if index else arr
    return flipped


def diff(
    a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> TensorVariable:
    """Differences of adjacent elements along ``axis``, taken ``n`` times. ValueError if ``n`` is negative.

    Before that, ``prepend`` and ``append`` are joined to both ends: a scalar as one slice, or slices along ``axis``.
    """
    n = static_integer(n, "number of times")
    if n < 0:
        raise ValueError(f"The number of times must not be negative, got {n}")
    a = as_tensor_variable(a)
    where = normalize_axis(axis, a)
    if n and not (prepend is None and append is None):
        ends = [_as_slices(each, a, where) for each in (prepend, append)]
        a = join(where, *(each for each in (ends[0], a, ends[1]) if each is not None))
    lead = [slice(None)] * where
    for _ in range(n):
        late, early = a[tuple([*lead, slice(1, None)])], a[tuple([*lead, slice(None, -1)])]
        a = late ^ early if a.dtype == "bool" else late - early
    return a


def _as_slices(end: Any, a: Any, axis: int) -> Any:
    """What is joined to a tensor along an axis; a scalar becomes a slice of length 1."""
    if end is None or as_tensor_variable(end).type.ndim:
        return end
    lengths = list(lengths_by_variables(a))
    lengths[axis] = 1
    return alloc(end, lengths)
