"""Ops and functions that create tensors from shapes and numbers, such as zeros, ranges, identity matrices and grids.

The ops are `Alloc`, `ARange` and `Eye`. The module also has functions that broadcast tensors to a shape, and functions
that return a triangle of a matrix.

Users call the functions from `occelo.tensor`. Gradients, rules and functions of other families build graphs with them.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ir.types import Type
from occelo_graph.ops.batched_lengths import common_length, common_lengths, promise_equal_lengths
from occelo_graph.ops.batching import align
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    ceil,
    eq,
    ge,
    lt,
    maximum,
    minimum,
    mul,
    second,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    checked_against_type,
    fill_static,
    integer_length,
    lengths_of,
    specialize_lengths,
    split_static,
)
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.broadcasting import broadcast_shape
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.ops.shape.length_bounds import never_negative
from occelo_graph.ops.shape.reading import length_read, lengths_by_variables
from occelo_graph.ops.unsigned_ranges import checked_count, numbers_at
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import (
    StaticShape,
    TensorType,
    is_complex,
    is_discrete,
    name_of,
    shape_text,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "ARange",
    "Alloc",
    "Eye",
    "alloc",
    "arange",
    "broadcast_arrays",
    "broadcast_to",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "identity",
    "ones",
    "ones_like",
    "scalar_from_tensor",
    "tensor_from_scalar",
    "tri",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


_LARGEST_FOLD = 1024
"""An `Alloc` of constants is folded to a constant only if it has at most this many elements."""


@op
class Alloc(FollowsLengths, LinearInFirst):
    """Broadcasts its first input to ``shape``. A None in ``shape`` is a dynamic length, which is a further input."""

    moves = FIRST

    shape: StaticShape

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def may_fail(self, node: Apply) -> bool:
        return not all(map(never_negative, node.inputs[1:]))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        rest = iter(operands[1:])
        lengths = [next(rest).short if n is None else str(n) for n in self.shape]
        return called("alloc", operands[0].text, f"[{', '.join(lengths)}]")

    def infer(self, value: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if value.ndim > len(self.shape):
            raise ValueError(
                f"Cannot broadcast {value} to {len(self.shape)} dimensions, it has more"
            )
        lead = len(self.shape) - value.ndim
        for own, length in zip(value.shape, self.shape[lead:], strict=True):
            if own not in (1, None) and length is not None and own != length:
                raise ValueError(f"Cannot broadcast {value} to {shape_text(self.shape)}")
        shape = list(self.shape)
        for i, own in enumerate(value.shape):
            if shape[lead + i] is None and own not in (1, None):
                shape[lead + i] = own
        return TensorType(value.dtype, shape)

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        # a large constant would be stored with the code, and loading it is slower than repeating the value
        (out,) = tensors(node.outputs)
        return math.prod(n or 1 for n in out.type.shape) <= _LARGEST_FOLD

    def evaluate(self, value: Any, *lengths: Any) -> Any:
        shape = tuple(int(n) for n in fill_static(self.shape, lengths))
        result = np.empty(shape, value.dtype)
        result[...] = value
        return result

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        value, out = inputs[0], outputs[0]
        return [unbroadcast(cotangents[0], out.type, value.type), *[None] * (len(inputs) - 1)]

    def kernel(self, node: Apply) -> Any:
        value_type = node.inputs[0].type
        assert isinstance(value_type, TensorType)
        lead = len(self.shape) - value_type.ndim
        open_axes = [i for i, n in enumerate(value_type.shape) if n is None]

        def running(value: Any, *lengths: Any) -> Sequence[Any]:
            shape = tuple(int(n) for n in fill_static(self.shape, lengths))
            for i in open_axes:
                if value.shape[i] != shape[lead + i]:
                    raise ValueError(
                        f"Cannot broadcast shape {value.shape} to {shape}: a dimension broadcasts "
                        "only if its length is known to be 1 when the graph is built"
                    )
            return (self.evaluate(value, *lengths),)

        return checked_against_type(node, running)

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        shape, rest = specialize_lengths(self.shape, inputs[1:])
        return (Alloc(shape), (inputs[0], *rest)) if shape != self.shape else (self, inputs)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(fill_static(self.shape, node.inputs[1:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(1, len(inputs)))
        extra = batch_ndims[0]
        lead = lengths_by_variables(inputs[0])[:extra]
        missing = len(self.shape) - (inputs[0].type.ndim - extra)
        order: list[Any] = [*range(extra), *["x"] * missing, *range(extra, inputs[0].type.ndim)]
        return [alloc(inputs[0].dimshuffle(order), *lead, *fill_static(self.shape, inputs[1:]))]


def alloc(value: Any, *shape: Any) -> TensorVariable:
    """``value`` broadcast to ``shape``. The shape is several arguments, or one argument: a sequence or a vector."""
    value = as_tensor_variable(value)
    argument: Any = shape[0] if len(shape) == 1 else shape
    static, dynamic = split_static(lengths_of(argument))
    filled: TensorVariable = Alloc(static)(value, *dynamic)
    return filled


def full(shape: Any, fill_value: Any, dtype: Any = None) -> TensorVariable:
    """``fill_value`` broadcast to ``shape``. OverflowError if it is an integer that does not fit ``dtype``.

    A Python bool needs the ``dtype`` bool, else TypeError: most come from a ``==`` of variables.
    """
    fill_value = _meant(fill_value, dtype)
    return alloc(as_tensor_variable(fill_value, dtype=dtype), *lengths_of(shape))


def zeros(shape: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of zeros of ``shape``, a length or several, integers or variables; ``dtype`` is floatX by default."""
    return full(shape, _number(0, dtype))


def ones(shape: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of ones of ``shape``, a length or several, integers or variables; ``dtype`` is floatX by default."""
    return full(shape, _number(1, dtype))


def _meant(value: Any, dtype: Any) -> Any:
    """The value to fill with; a Python bool is one of NumPy if the dtype says that it is meant."""
    meant = isinstance(value, bool) and dtype is not None and TensorType(dtype, ()).dtype == "bool"
    return np.bool_(value) if meant else value


def empty(shape: Any, dtype: Any = None) -> TensorVariable:
    """A tensor of ``shape`` and ``dtype``, by default floatX, with arbitrary elements. In fact they are zeros, so that results are reproducible."""
    return zeros(shape, dtype)


def _number(value: int, dtype: Any) -> Any:
    return constant(value, dtype="floatX" if dtype is None else dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, *, shape: Any = None) -> TensorVariable:
    """A tensor of the shape of ``a``, or of ``shape``, with all elements ``fill_value``. ``dtype`` None is the dtype of ``a``.

    OverflowError if ``fill_value`` is an integer that does not fit the dtype, ValueError if it does not broadcast to the
    shape of ``a``. A Python bool needs the ``dtype`` bool, as in `full`.
    """
    a = as_tensor_variable(a)
    fill_value = _meant(fill_value, dtype)
    target = TensorType(a.dtype if dtype is None else dtype, ()).numpy_dtype
    symbolic = isinstance(fill_value, Variable)
    value = as_tensor_variable(fill_value, dtype=None if symbolic else target)
    value = cast(value, name_of(target))
    if shape is not None:
        return alloc(value, *lengths_of(shape))
    whole = broadcast_static([a.type.shape, value.type.shape], "full_like")
    if len(whole) > a.type.ndim or any(
        n == 1 != m for n, m in zip(a.type.shape, whole, strict=True)
    ):
        raise ValueError(f"fill_value of full_like, {value.type}, has more elements than {a.type}")
    # `second` rather than `alloc`, even for a static shape, so that the shape still follows the tensor
    return second(a, value)


def zeros_like(model: Any, dtype: Any = None, *, shape: Any = None) -> TensorVariable:
    """A tensor of zeros of the shape of ``model``, or of ``shape``. ``dtype`` None is the dtype of ``model``."""
    model = as_tensor_variable(model)
    return full_like(model, _number(0, model.dtype if dtype is None else dtype), dtype, shape=shape)


def ones_like(model: Any, dtype: Any = None, *, shape: Any = None) -> TensorVariable:
    """A tensor of ones of the shape of ``model``, or of ``shape``. ``dtype`` None is the dtype of ``model``."""
    model = as_tensor_variable(model)
    return full_like(model, _number(1, model.dtype if dtype is None else dtype), dtype, shape=shape)


empty_like = zeros_like


def broadcast_to(x: Any, shape: Any) -> TensorVariable:
    """``x`` broadcast to ``shape``. Only dimensions of static length 1 are repeated."""
    x = as_tensor_variable(x)
    lengths = lengths_of(shape)
    if lengths == x.type.shape and not any(isinstance(n, Variable) for n in lengths):
        return x
    return alloc(x, *lengths)


def broadcast_arrays(*args: Any) -> tuple[TensorVariable, ...]:
    """The tensors ``args``, each broadcast to their common shape."""
    variables = [as_tensor_variable(a) for a in args]
    broadcast_static([v.type.shape for v in variables], "broadcast_arrays")
    shape = broadcast_shape(*variables)
    return tuple(broadcast_to(v, shape) for v in variables)


def _counts_a_length(start: Variable, stop: Variable, step: Variable) -> bool:
    """Whether a range counts from 0 in steps of 1 to a length read from a tensor. Such a length is never negative."""
    return _counts_from_zero(start, step) and length_read(stop) is not None


def _counts_from_zero(start: Variable, step: Variable) -> bool:
    """Whether a range counts from 0 in steps of 1."""
    from_zero = isinstance(start, Constant) and start.data == 0
    return from_zero and isinstance(step, Constant) and step.data == 1


@op
class ARange(FollowsLengths):
    """The numbers from ``start`` to ``stop`` (excluded) in steps of ``step``, as ``dtype``. These three inputs are scalars.

    Integers among them fit int64. `arange` computes ranges of uint64 by other ops.
    """

    dtype: str

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(len(node.inputs))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("arange", *(term.short for term in operands), dtype=self.dtype)

    def infer(self, start: TensorType, stop: TensorType, step: TensorType) -> TensorType:
        for t in (start, stop, step):
            if t.ndim != 0:
                raise TypeError(f"arange takes scalars, got {t}")
        return TensorType(self.dtype, (None,))

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        types = super().types_for(inputs)
        start, stop, step = (known_integer(v) for v in inputs)
        if start is None or stop is None or not step:
            return types
        return (TensorType(self.dtype, (builtins.max(0, -((start - stop) // step)),)),)

    def evaluate(self, start: Any, stop: Any, step: Any) -> Any:
        return _range(start.item(), stop.item(), step.item(), self.dtype)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(self.dtype):
            return [ZERO] * 3
        ct = cotangents[0]
        steps = ARange("int64")(constant(0), ct.shape[0], constant(1)).astype(ct.dtype)
        return [ct.sum(), ZERO, (ct * steps).sum()]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(self._count(*node.inputs),)]

    def _count(self, start: Any, stop: Any, step: Any) -> TensorVariable:
        """The length of the range, or the lengths of a batch of ranges."""
        if all(is_discrete(v.dtype) for v in (start, stop, step)):
            # exact for all integers; a quotient of floats would be rounded
            if _counts_a_length(start, stop, step):
                return cast(stop, "int64")
            return _count_of_integers(start, stop, step)
        length = cast(ceil(true_div(sub(stop, start), step)), "int64")
        return switch(ge(length, 0), length, 0)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        promise_equal_lengths(self)
        extra = max(batch_ndims)
        start, stop, step = (align(v, n, extra) for v, n in zip(inputs, batch_ndims, strict=True))
        count = common_length(self, self._count(start, stop, step))
        places = cast(arange(count), self.dtype)
        if _counts_from_zero(inputs[0], inputs[2]):
            return [places]
        first, by = (expand_dims(cast(v, self.dtype), -1) for v in (start, step))
        return [add(first, mul(by, places))]


def _range(start: Any, stop: Any, step: Any, dtype: str) -> Any:
    """NumPy's range, computed apart for large integers, for which NumPy computes wrong lengths."""
    ends = start, stop, step
    if not step or not all(isinstance(v, int) for v in ends) or max(abs(v) for v in ends) < 2**53:
        return np.arange(start, stop, step, dtype=dtype)
    count = max(0, -((start - stop) // step))
    if count >= _FAR:
        raise ValueError("Maximum allowed size exceeded")
    first, by = (np.uint64(v % 2**64) for v in (start, step))
    wrapped = np.arange(count, dtype="uint64") * by + first
    last = start + (count - 1) * step
    if max(start, last) < 2**63:
        wrapped = wrapped.astype("int64")
    elif min(start, last) < 0:  # few numbers, since the step is large
        wrapped = np.array([start + i * step for i in range(count)], object)
    return wrapped.astype(dtype)


def _count_of_integers(start: Any, stop: Any, step: Any) -> Any:
    """The length of a range of integers. ``stop - start`` may exceed int64."""
    start, stop, step = (cast(v, "int64") for v in (start, stop, step))
    by, first = known_integer(step), known_integer(start)
    if by == 1 and first is not None and first >= 0 and (first == 0 or never_negative(stop)):
        count = stop - start
        return switch(ge(count, 0), count, 0)

    def before(x: Any, y: Any) -> Any:
        if by is None:
            return switch(ge(step, 0), lt(x, y), lt(y, x))
        return lt(x, y) if by > 0 else lt(y, x)

    if by == 1:
        count = stop - start
    else:
        count = stop // step - start // step + before(start % step, stop % step)
    return switch(before(start, stop), count, 0)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> TensorVariable:
    """Numbers from ``start`` to ``stop`` (excluded) in steps of ``step``; ``arange(stop)`` starts at 0.

    The default dtype is int64 if all arguments are integers. It is floatX if all are Python numbers, and one is a
    float. Otherwise it is the common dtype of the arguments and int64, as in NumPy. If all arguments are constants, the
    result is a constant. TypeError if an argument is complex or is not a scalar.
    """
    if stop is None:
        start, stop = 0, start
    args = (start, stop, step)
    parts = [as_tensor_variable(p) for p in args]
    if dtype is None and float in map(type, args) and all(type(p) in (int, float) for p in args):
        dtype = "floatX"
    elif dtype is None:
        dtype = name_of(np.result_type("int64", *(p.type.numpy_dtype for p in parts)))
        dtype = "int64" if is_discrete(dtype) else dtype
    name = TensorType(dtype, ()).dtype
    for part, p in zip(("start", "stop", "step"), parts, strict=True):
        if p.type.ndim or is_complex(p.dtype):
            raise TypeError(f"{part} of arange must be a real scalar, got {p} of type {p.type}")
    if not any(isinstance(p, Variable) for p in args):
        first, last, by = (p.data.item() for p in parts if isinstance(p, Constant))
        if not by:
            raise ZeroDivisionError("step of arange must not be 0")
        return constant(_range(first, last, by, name))
    dtypes = [p.dtype for p in parts]
    if "uint64" in dtypes and all(map(is_discrete, dtypes)):
        start, stop, step = parts
        places: Any = ARange("int64")(constant(0), checked_count(start, stop, step), constant(1))
        return numbers_at(places, start, stop, step, name)
    numbers: TensorVariable = ARange(name)(*parts)
    return numbers


@op
class Eye(FollowsLengths):
    """A matrix of zeros of ``dtype`` with ones on diagonal ``k``.

    The inputs are the dynamic lengths, which are None in ``shape``, and then ``k``.
    """

    dtype: str
    shape: StaticShape

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(len(node.inputs))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        rest = iter(operands)
        lengths = [next(rest).short if n is None else str(n) for n in self.shape]
        return called("eye", *lengths, next(rest).short, dtype=self.dtype)

    def infer(self, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        return TensorType(self.dtype, self.shape)

    def evaluate(self, *lengths: Any) -> Any:
        *dynamic, k = lengths
        n, m = (int(v) for v in fill_static(self.shape, dynamic))
        return np.eye(n, m, int(k), dtype=self.dtype)

    def decompose(self, *lengths: Any) -> Sequence[Any]:
        *dynamic, k = lengths
        n, m = fill_static(self.shape, dynamic)
        rows, columns = arange(n).dimshuffle(0, "x"), arange(m).dimshuffle("x", 0)
        return [cast(eq(rows + k, columns), self.dtype)]

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        shape, rest = specialize_lengths(self.shape, inputs[:-1])
        return Eye(self.dtype, shape), (*rest, inputs[-1])

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] for _ in node.inputs]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None] * len(inputs)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(fill_static(self.shape, node.inputs[:-1]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(len(inputs) - 1))
        if not batch_ndims[-1]:
            return self.make_node(*inputs).outputs
        *lengths, k = inputs
        return self.decompose(*lengths, expand_dims(k, (-2, -1)))


def eye(
    n: Any = None, m: Any = None, k: Any = 0, dtype: Any = None, *, N: Any = None, M: Any = None
) -> TensorVariable:
    """An ``n`` by ``m`` matrix of zeros with ones on diagonal ``k``. ``N`` and ``M`` are other names of ``n`` and ``m``.

    ``m`` None is ``n``. ``dtype`` None is floatX. TypeError unless ``n``, ``m`` and ``k`` are integers.
    """
    if None not in (n, N) or None not in (m, M):
        raise ValueError("N and M of eye are other names of n and m; give one of them")
    n, m = (N if n is None else n), (M if m is None else m)
    static, dynamic = split_static((integer_length(n), integer_length(n if m is None else m)))
    name = FLOAT_X.get() if dtype is None else TensorType(dtype, ()).dtype
    k = as_tensor_variable(k)
    if not is_discrete(k.dtype) or k.type.ndim:
        raise TypeError(f"k of eye must be an integer, got {k} of type {k.type}")
    matrix: TensorVariable = Eye(name, static)(*dynamic, k)
    return matrix


def identity(n: Any, dtype: Any = None) -> TensorVariable:
    """The ``n`` by ``n`` identity matrix. ``dtype`` None is floatX."""
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> TensorVariable:
    """An ``N`` by ``M`` matrix with ones on and below diagonal ``k``, and zeros above.

    ``M`` None is ``N``. ``dtype`` None is floatX. TypeError if ``k`` is not an integer.
    """
    rows = arange(integer_length(N))
    columns = rows if M is None else arange(integer_length(M))
    below = ge(rows.dimshuffle(0, "x") + diagonal_number(k), columns.dimshuffle("x", 0))
    return cast(below, "floatX" if dtype is None else dtype)


_FAR = 2**62
"""All lengths are less. So every diagonal from this number on lies outside of a matrix."""


def diagonal_number(k: Any) -> TensorVariable:
    """The number ``k`` of a diagonal, limited so that sums of it and a length do not overflow."""
    k = as_tensor_variable(k)
    dtype = k.dtype
    if not is_discrete(dtype):
        raise TypeError(f"The number of a diagonal must be an integer, got k={k}")
    number = int(k.data) if isinstance(k, Constant) and k.type.ndim == 0 else None
    if number is not None:
        limited = min(max(number, -_FAR), _FAR)
        return cast(k, "int64") if limited == number else constant(limited)
    if dtype in ("int64", "uint64"):
        k = minimum(k, _FAR)
    return maximum(cast(k, "int64"), -_FAR)


def tril(m: Any, k: Any = 0) -> TensorVariable:
    """The matrix ``m``, with zeros in place of the elements above diagonal ``k``. Accepts batches of matrices."""
    m = as_tensor_variable(m)
    return switch(_lower(m, k), m, constant(0, dtype=m.dtype))


def triu(m: Any, k: Any = 0) -> TensorVariable:
    """The matrix ``m``, with zeros in place of the elements below diagonal ``k``. Accepts batches of matrices."""
    m = as_tensor_variable(m)
    return switch(_lower(m, diagonal_number(k) - 1), constant(0, dtype=m.dtype), m)


def _lower(m: Any, k: Any) -> Any:
    """A boolean matrix of the shape of the matrix ``m``: True on and below diagonal ``k``, False above.

    For a vector ``m`` of n elements, the boolean matrix has n rows and n columns. So `tril` and `triu` treat the vector
    as a square matrix in which each row is the vector, as NumPy does.
    """
    if m.type.ndim == 0:
        raise ValueError("tril and triu take at least one dimension")
    lengths = lengths_by_variables(m)[-2:]
    return tri(lengths[0], lengths[-1], k, dtype="bool")


def tensor_from_scalar(s: Any) -> TensorVariable:
    """``s`` as a tensor. The function exists for compatibility with PyTensor; in Occelo, scalars are 0-d tensors."""
    return as_tensor_variable(s)


def scalar_from_tensor(t: Any) -> TensorVariable:
    """The 0-d tensor ``t`` itself; TypeError for more dimensions.

    The function exists for compatibility with PyTensor.
    """
    t = as_tensor_variable(t)
    if t.type.ndim:
        raise TypeError(f"Expected a 0-d tensor, got {t.type}")
    return t
