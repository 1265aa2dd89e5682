"""Ops and functions that reduce along axes, such as sums, maxima, argmax, cumulative sums and softmax.

The op `CAReduce` computes sums, products, maxima and all other reductions by an associative function. It reads the
properties of the function from the table in `reductions`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Cotangents, Op, Tangents, op
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import SECOND
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.arguments import checked_keepdims
from occelo_graph.ops.batching import materialize
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import arange, ones_like, zeros_like
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    eq,
    gt,
    invert,
    isfinite,
    maximum,
    minimum,
    mul,
    neg,
    neq,
    or_,
    reciprocal,
    sign,
    sub,
    supremum,
    switch,
)
from occelo_graph.ops.elemwise.scalar import ScalarFunction, inexact
from occelo_graph.ops.elemwise.transcendental import exp, log
from occelo_graph.ops.reductions import ByReduction, Reduction, reduction_of
from occelo_graph.ops.selected_elements import first_number, selected, selects_all
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims, transpose
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import as_tensor_variable, promote_arguments
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "Argmax",
    "CAReduce",
    "CumOp",
    "LinearRecurrence",
    "LogSoftmax",
    "LogSumExp",
    "Softmax",
    "SumOfSquares",
    "all",
    "any",
    "argmax",
    "argmin",
    "cumprod",
    "cumsum",
    "log_softmax",
    "logsumexp",
    "max",
    "max_and_argmax",
    "min",
    "prod",
    "softmax",
    "sum",
    "sum_of_squares",
]


def _accumulated(dtype: str) -> str:
    """The dtype of NumPy's sum of elements of ``dtype``: int64 or uint64 for integers and booleans."""
    if dtype == "bool" or dtype.startswith("int"):
        return "int64"
    return "uint64" if dtype.startswith("uint") else dtype


@op
class CAReduce(ByReduction):
    """Combines the elements along the axes ``axis`` with an associative, commutative ``scalar_op``, such as `add`.

    The axes are sorted and not negative. ``dtype`` is the dtype of the result; None means the dtype of the input, but
    int64 or uint64 for sums and products of integers or booleans. ``acc_dtype`` is the dtype of the accumulator; None
    means the dtype of the result for sums and products, and that of the input for other reductions.
    """

    scalar_op: ScalarFunction
    axis: tuple[int, ...]
    dtype: str | None = None
    acc_dtype: str | None = None
    reads_once: ClassVar[bool] = True

    @property
    def reduction(self) -> Reduction:
        """The entry of the scalar op in the table of reductions."""
        return reduction_of(self.scalar_op)

    def _dtype(self, given: str) -> str:
        if self.dtype is not None:
            return self.dtype
        return _accumulated(given) if self.reduction.accumulates else given

    def may_fail(self, node: Apply) -> bool:
        lengths = node.inputs[0].type.shape or ()
        over = [lengths[i] for i in self.axis]
        return not self.reduction.may_be_empty and (None in over or 0 in over)

    def infer(self, x: TensorType) -> TensorType:
        if self.axis and self.axis[-1] >= x.ndim:
            raise np.exceptions.AxisError(self.axis[-1], x.ndim)
        dtype = self._dtype(x.dtype)
        if is_complex(x.dtype) and not is_complex(dtype):
            raise TypeError(f"Cannot reduce a complex tensor to dtype {dtype}")
        if not self.reduction.may_be_empty:
            empty = [i for i in self.axis if x.shape[i] == 0]
            if empty:
                raise ValueError(f"The {self} of no elements is not defined (axis {empty[0]})")
        shape = [n for i, n in enumerate(x.shape) if i not in self.axis]
        return TensorType(dtype, shape)

    def computed_in(self, given: str) -> str | None:
        """The dtype to which elements of dtype ``given`` are converted before they are combined.

        None if they are not converted.
        """
        return self.acc_dtype or (self._dtype(given) if self.reduction.accumulates else None)

    def evaluate(self, x: Any) -> Any:
        result = self.reduction.over(x, self.axis, self.computed_in(x.dtype.name))
        return result.astype(self._dtype(x.dtype.name), copy=not self.axis)

    def spread(self, value: Any) -> Any:
        """Insert the reduced dimensions into ``value``, with length 1. ``value`` has the shape of the result."""
        return expand_dims(value, self.axis) if self.axis and value.ndim else value

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x, out, ct = inputs[0], outputs[0], cotangents[0]
        if is_discrete(out.dtype):
            return [ZERO]
        if not is_discrete(x.dtype) and ct.dtype != x.dtype:
            ct = ct.astype(x.dtype)
        return [self.reduction.derivative("pullback")(self, x, out, ct)]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        x, out, tangent = inputs[0], outputs[0], tangents[0]
        if is_discrete(out.dtype):
            return [ZERO]
        return [self.reduction.derivative("pushforward")(self, x, out, tangent)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        axis = tuple(a + batch_ndims[0] for a in self.axis)
        return [CAReduce(self.scalar_op, axis, self.dtype, self.acc_dtype)(inputs[0])]

    def __str__(self) -> str:
        return f"{self.reduction.title}{{axis={list(self.axis)}}}"

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        if not self.reduction.title.isalpha():
            return None
        if self.reduction.name == "supremum":
            least = np.asarray(self.reduction.start(str(node.inputs[0].type.dtype))).item()
            start = least if np.isfinite(least) else f'float("{least}")'
            return called("max", operands[0].text, f"axis={self.axis}, initial={start}")
        name, axis = self.reduction.title.lower(), _written_axis(self.axis, node)
        options = {"dtype": self.dtype, "acc_dtype": self.acc_dtype}
        return called(name, operands[0].text, axis=axis, **options)


def _written_axis(axis: tuple[int, ...], node: Apply) -> int | tuple[int, ...] | None:
    """The argument ``axis`` of a reduction: None if it is over all of several dimensions."""
    if len(axis) == 1:
        return axis[0]
    kind: Any = node.inputs[0].type
    return None if len(axis) == kind.ndim else axis


def _reduce(
    function: Any, x: Any, axis: Any, keepdims: bool, dtype: Any = None, acc_dtype: Any = None
) -> TensorVariable:
    x = as_tensor_variable(x)
    axes = () if _of_scalar(x, axis) else normalize_axes(axis, x)
    named = None if dtype is None else TensorType(dtype, ()).dtype
    acc = None if acc_dtype is None else TensorType(acc_dtype, ()).dtype
    result = CAReduce(function.scalar_op, axes, named, acc)(x)
    return expand_dims(result, axes) if checked_keepdims(keepdims) and axes else result


def _of_scalar(x: Any, axis: Any) -> bool:
    """Whether a single number is reduced along the axis 0 or -1, which NumPy takes for no axis."""
    axis = taken(axis)
    several = is_list_or_tuple(axis) or np.ndim(axis)
    return not x.type.ndim and not several and axis in (0, -1)


def sum(
    input: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    *,
    initial: Any = None,
    where: Any = None,
) -> TensorVariable:
    """Sum of ``input`` over ``axis`` (one, several, or None for all).

    Integers are summed as int64 or uint64 if ``dtype`` is None, and in ``acc_dtype``. ``initial`` is added. As in all
    reductions, only elements for which ``where`` is true count, and ``keepdims`` keeps the axes, with length 1.
    """
    x = selected(input, where, 0)
    total = _reduce(add, x, axis, keepdims, dtype, acc_dtype)
    return total if initial is None else add(total, first_number(initial, total.type.dtype))


def prod(
    input: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    acc_dtype: Any = None,
    no_zeros_in_input: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> TensorVariable:
    """Product of ``input`` over ``axis``, times ``initial``. The gradient is correct even if elements are 0.

    So ``no_zeros_in_input``, a promise that PyTensor's gradient can make use of, changes nothing here. ``dtype``,
    ``keepdims``, ``acc_dtype`` and ``where`` are those of `sum`.
    """
    x = selected(input, where, 1)
    product = _reduce(mul, x, axis, keepdims, dtype, acc_dtype)
    return product if initial is None else mul(product, first_number(initial, product.type.dtype))


def max(
    x: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> TensorVariable:
    """Largest element of ``x`` over ``axis``, which ``keepdims`` keeps; NaN if an element is NaN.

    If several elements are largest, each gets an equal share of the gradient. The result is at least ``initial``, which is
    that of no elements. ValueError if there is ``where`` without ``initial``.
    """
    return _extreme(maximum, x, axis, keepdims, initial, where)


def min(
    x: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> TensorVariable:
    """Smallest element of ``x`` over ``axis``, at most ``initial``; as `max` in all else (``keepdims``, ``where``)."""
    return _extreme(minimum, x, axis, keepdims, initial, where)


def _axes_of(x: Any, axis: Any) -> Any:
    """The axes, checked here so that an error names the tensor that the user passed."""
    x = as_tensor_variable(x)
    return axis if axis is None or _of_scalar(x, axis) else normalize_axes(axis, x)


def all(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = None) -> TensorVariable:
    """Whether all elements of ``x`` along ``axis`` are true (not 0). ``axis``, ``keepdims`` and ``where`` are those of `sum`."""
    return _reduce(and_, selected(_as_bool(x), where, np.True_), _axes_of(x, axis), keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False, *, where: Any = None) -> TensorVariable:
    """Whether at least one element of ``x`` along ``axis`` is true (not 0); ``keepdims`` and ``where`` as in `all`."""
    return _reduce(or_, selected(_as_bool(x), where, np.False_), _axes_of(x, axis), keepdims)


def _extreme(
    function: Any, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any
) -> TensorVariable:
    if initial is None:
        if not selects_all(where):
            raise ValueError(
                f"{function.scalar_op} over elements selected by where= needs initial=, the result of no elements"
            )
        return _reduce(function, x, axis, keepdims)
    x = as_tensor_variable(x)
    start = first_number(initial, x.dtype)
    x = selected(x, where, start)
    if function is maximum:
        return maximum(_reduce(supremum, x, axis, keepdims), start)
    # the supremum, of which no elements have one, of the reversed order: ~x cannot overflow, as -x could
    reverse = invert if is_discrete(x.dtype) else neg
    return minimum(reverse(_reduce(supremum, reverse(x), axis, keepdims)), start)


def _as_bool(x: Any) -> Any:
    x = as_tensor_variable(x)
    return x if x.dtype == "bool" else neq(x, 0)


@op
class Argmax(Op):
    """Position of the first largest element over the axes ``axis``, counted in C order over these axes."""

    axis: tuple[int, ...]
    reads_once: ClassVar[bool] = True

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("argmax", operands[0].text, axis=_written_axis(self.axis, node))

    def infer(self, x: TensorType) -> TensorType:
        return TensorType("int64", [n for i, n in enumerate(x.shape) if i not in self.axis])

    def evaluate(self, x: Any) -> Any:
        others = [i for i in range(x.ndim) if i not in self.axis]
        moved = x.transpose((*others, *self.axis))
        size = int(np.prod([x.shape[i] for i in self.axis], dtype="int64"))
        flat = moved.reshape((*[x.shape[i] for i in others], size))
        return np.asarray(np.argmax(flat, axis=-1), dtype="int64")

    def decompose(self, x: Any) -> Sequence[Any]:
        others = [i for i in range(x.ndim) if i not in self.axis]
        order = (*others, *self.axis)
        lengths = lengths_by_variables(x)
        shape = (*[lengths[i] for i in others], length_product([lengths[i] for i in self.axis]))
        flat = reshape(transpose(x, order), shape)
        top = max(flat, axis=-1, keepdims=True)
        # the position of the first element that is the largest or NaN; NaN does not equal itself
        is_top = or_(eq(flat, top), neq(flat, flat))
        return [min(switch(is_top, arange(shape[-1]), shape[-1]), axis=-1)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [ZERO]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [Argmax(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Position of the first largest element of ``x`` over ``axis``, as int64. NaN counts as the largest value.

    ``axis`` is one axis, several, which are counted in C order, or None for all; ``keepdims`` keeps them, with length 1.
    """
    x = as_tensor_variable(x)
    axes = () if _of_scalar(x, axis) else normalize_axes(axis, x)
    result: TensorVariable = Argmax(axes)(x)
    return expand_dims(result, axes) if checked_keepdims(keepdims) and axes else result


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Position of the first smallest element of ``x``, with ``axis`` and ``keepdims`` as in `argmax`. NaN counts as the smallest."""
    x = as_tensor_variable(x)
    # ~x reverses the order of integers and booleans and cannot overflow; -x could
    return argmax(~x if is_discrete(x.dtype) else -x, axis, keepdims)


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> list[TensorVariable]:
    """A list of two tensors: `max` and `argmax` of ``a`` over ``axis``, with ``keepdims``."""
    return [max(a, axis, keepdims), argmax(a, axis, keepdims)]


@op
class SumOfSquares(Op):
    """Sum of the squares of the elements over the axes ``axis``, which are sorted and not negative.

    Integers are squared and summed as int64 or uint64.
    """

    axis: tuple[int, ...]
    reads_once: ClassVar[bool] = True

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("sum_of_squares", operands[0].text, axis=_written_axis(self.axis, node))

    def infer(self, x: TensorType) -> TensorType:
        if self.axis and self.axis[-1] >= x.ndim:
            raise np.exceptions.AxisError(self.axis[-1], x.ndim)
        shape = [n for i, n in enumerate(x.shape) if i not in self.axis]
        return TensorType(_accumulated(x.dtype), shape)

    def evaluate(self, x: Any) -> Any:
        x = x.astype(_accumulated(x.dtype.name), copy=False)
        return np.asarray(np.sum(x * x, axis=self.axis))

    def decompose(self, *inputs: Any) -> Sequence[Any]:
        (x,) = inputs
        dtype = _accumulated(x.dtype)
        x = x if x.dtype == dtype else x.astype(dtype)
        return [sum(x * x, axis=self.axis)]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x = inputs[0]
        if is_discrete(x.dtype):
            return [ZERO]
        twice = 2 * (x.conj() if is_complex(x.dtype) else x)
        return [expand_dims(cotangents[0], self.axis) * twice]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        if is_discrete(inputs[0].dtype):
            return [ZERO]
        return [sum(2 * inputs[0] * tangents[0], axis=self.axis)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [SumOfSquares(tuple(axis + batch_ndims[0] for axis in self.axis))(inputs[0])]


def sum_of_squares(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Sum of ``x * x``, not conjugated, over ``axis`` (see `sum`, also for ``keepdims``); of integers as int64 or uint64."""
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x)
    total: TensorVariable = SumOfSquares(axes)(x)
    return expand_dims(total, axes) if checked_keepdims(keepdims) and axes else total


@op
class CumOp(ByReduction):
    """Cumulative results of a reduction along ``axis``, such as cumulative sums.

    ``mode`` is the name of the reduction's scalar op, such as "add" or "mul". Sums and products of integers have the
    dtype int64 or uint64; other results have the dtype of the input.
    """

    axis: int
    mode: str = "add"

    @property
    def reduction(self) -> Reduction:
        """The reduction by the scalar op named ``mode``.

        The reduction is looked up once. If another reduction gets the name later, this op keeps the first one.
        """
        reduction: Reduction | None = self.__dict__.get("_reduction_cache")
        if reduction is None:
            reduction = self.__dict__["_reduction_cache"] = reduction_of(self.mode)
        return reduction

    def _dtype(self, given: str) -> str:
        return _accumulated(given) if self.reduction.accumulates else given

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        name = {"add": "cumsum", "mul": "cumprod"}.get(self.mode)
        return None if name is None else called(name, operands[0].text, axis=self.axis)

    def infer(self, x: TensorType) -> TensorType:
        return TensorType(self._dtype(x.dtype), x.shape)

    def evaluate(self, x: Any) -> Any:
        return self.reduction.running(x, self.axis, self._dtype(x.dtype.name))

    def decompose(self, x: Any) -> Sequence[Any] | None:
        if is_discrete(x.dtype):
            return None  # a recurrence computes in floats, which cannot represent all integers
        if is_complex(x.dtype):
            return None  # the recurrence multiplies by 1, and an infinity times a complex 1 has NaN parts
        if self.mode == "add":
            return [LinearRecurrence(self.axis)(ones_like(x), x)]
        if self.mode != "mul":
            return None
        order: list[Any] = ["x"] * x.ndim
        order[self.axis] = 0
        first = eq(arange(lengths_by_variables(x)[self.axis]).dimshuffle(order), 0)
        # s_0 = 0 s_{-1} + x_0, then s_k = x_k s_{k-1}
        return [LinearRecurrence(self.axis)(switch(first, 0, x), switch(first, x, 0))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(outputs[0].dtype):
            return [ZERO]
        return [
            self.reduction.derivative("running_pullback")(
                self, inputs[0], outputs[0], cotangents[0]
            )
        ]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        if is_discrete(outputs[0].dtype):
            return [ZERO]
        return [
            self.reduction.derivative("running_pushforward")(
                self, inputs[0], outputs[0], tangents[0]
            )
        ]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [CumOp(self.axis + batch_ndims[0], self.mode)(inputs[0])]


@op
class LinearRecurrence(Op):
    """Computes ``s_k = a_k * s_{k-1} + b_k`` along ``axis``, where ``s_{-1}`` is 0.

    The inputs a and b have the same shape. The derivatives of the op are recurrences of the same form. Gradients of
    cumulative products use the op, and so they are correct even if factors are 0.
    """

    axis: int

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return (SECOND,)

    def infer(self, a: TensorType, b: TensorType) -> TensorType:
        if a.ndim != b.ndim:
            raise ValueError(f"{self} takes tensors of one shape, got {a} and {b}")
        dtype = inexact([a.dtype, b.dtype])
        pairs = list(zip(a.shape, b.shape, strict=True))
        if builtins.any(m is not None and n is not None and m != n for m, n in pairs):
            raise ValueError(f"{self} takes tensors of one shape, got {a} and {b}")
        return TensorType(dtype, [n if m is None else m for m, n in pairs])

    def evaluate(self, a: Any, b: Any) -> Any:
        if a.shape != b.shape:
            raise ValueError(f"{self} takes tensors of one shape, got {a.shape} and {b.shape}")
        result = np.empty(b.shape, inexact([a.dtype.name, b.dtype.name]))
        factors, terms = np.moveaxis(a, self.axis, 0), np.moveaxis(b, self.axis, 0)
        target = np.moveaxis(result, self.axis, 0)
        state: Any = np.zeros(terms.shape[1:], result.dtype)
        for k in range(terms.shape[0]):
            state = factors[k] * state + terms[k]
            target[k] = state
        return result

    def _flip(self, x: Any) -> Any:
        return x[
            tuple(slice(None, None, -1) if i == self.axis else slice(None) for i in range(x.ndim))
        ]

    def _shift(self, x: Any) -> Any:
        """Shift ``x`` along the axis by one position: element k is ``x_{k-1}``, and the first element is 0."""
        first: list[Any] = [slice(None)] * x.ndim
        first[self.axis] = slice(None, 1)
        rest: list[Any] = [slice(None)] * x.ndim
        rest[self.axis] = slice(None, -1)
        return zeros_like(x[tuple(first)]).join_with(x[tuple(rest)], axis=self.axis)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        a, out, ct = inputs[0], outputs[0], cotangents[0]
        if is_complex(out.dtype):
            a, out = a.conj(), out.conj()
        # the cotangent of b satisfies the same recurrence, backwards along the axis and with a_{k+1} as factor
        multiplier = self._shift(self._flip(a))
        of_b = self._flip(self(multiplier, self._flip(ct)))
        return [of_b * self._shift(out), of_b]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[1]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        a, b = materialize(inputs, batch_ndims)
        return [LinearRecurrence(self.axis + builtins.max(batch_ndims))(a, b)]


def _cumulative(x: Any, axis: Any, mode: str, dtype: Any) -> TensorVariable:
    x = as_tensor_variable(x)
    if axis is None or _of_scalar(x, axis):
        x, axis = flatten(x), 0
    x = x if dtype is None else cast(x, dtype)
    accumulated: TensorVariable = CumOp(normalize_axis(axis, x), mode)(x)
    return accumulated if dtype is None else cast(accumulated, dtype)


def cumsum(x: Any, axis: Any = None, dtype: Any = None) -> TensorVariable:
    """Cumulative sum of ``x`` along ``axis``, or over all elements in C order if ``axis`` is None; in ``dtype`` if it is given."""
    return _cumulative(x, axis, "add", dtype)


def cumprod(x: Any, axis: Any = None, dtype: Any = None) -> TensorVariable:
    """Cumulative product of ``x`` along ``axis``, or over all elements in C order if it is None; in ``dtype`` if it is given."""
    return _cumulative(x, axis, "mul", dtype)


def _minus_largest(x: Any, axis: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """Returns ``x - top`` and ``top``, which is the largest element along ``axis``. Both have the dtype ``dtype``.

    If the largest element is -inf or NaN, or if there are no elements, ``top`` is 0. The difference is 0 for all
    elements equal to ``top``, even if both are +inf.
    """
    x = cast(x, dtype)
    largest = _reduce(supremum, x, axis, keepdims=True)
    top = switch(gt(largest, -np.inf), largest, 0)
    return switch(eq(x, top), 0, sub(x, top)), top


def _array_minus_largest(x: Any, axis: Any) -> tuple[Any, Any]:
    """`_minus_largest` for NumPy arrays, called by ``evaluate``. It is twice as fast as the decomposition."""
    values: Any = np.asarray(x, dtype=inexact([x.dtype.name]))
    largest: Any = np.max(values, axis=axis, keepdims=True, initial=-np.inf)
    top: Any = np.where(largest > -np.inf, largest, 0).astype(values.dtype)
    with np.errstate(invalid="ignore"):
        less: Any = np.asarray(values - top)
    less[values == top] = 0
    return less, top


class _OfExponentials(Op):
    """Base class of ops over the axes ``axis`` of real tensors. By default the output has the input's shape."""

    axis: tuple[int, ...]
    function_name: ClassVar[str]

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        axis = _written_axis(self.axis, node)
        return called(self.function_name, operands[0].text, axis=axis)

    def infer(self, x: TensorType) -> TensorType:
        if is_complex(x.dtype):
            raise TypeError(f"{self.function_name} is defined for real tensors")
        return TensorType(inexact([x.dtype]), x.shape)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        moved: Any = type(self)
        return [moved(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


@op
class Softmax(_OfExponentials):
    """exp(x) divided by the sum of exp(x) over the axes ``axis``. It cannot overflow."""

    axis: tuple[int, ...]
    function_name = "softmax"

    def evaluate(self, x: Any) -> Any:
        powers = np.exp(_array_minus_largest(x, self.axis)[0])
        return powers / np.sum(powers, axis=self.axis, keepdims=True)

    def decompose(self, x: Any) -> Sequence[Any]:
        powers = exp(_minus_largest(x, self.axis, inexact([x.dtype]))[0])
        return [powers * reciprocal(sum(powers, axis=self.axis, keepdims=True))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        out, ct = outputs[0], cotangents[0]
        return [out * (ct - sum(ct * out, axis=self.axis, keepdims=True))]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return self.pullback(inputs, outputs, tangents)  # the Jacobian is symmetric


@op
class LogSoftmax(_OfExponentials):
    """The logarithm of `Softmax` over the axes ``axis``. It cannot overflow, and it is finite where `Softmax` underflows to 0."""

    axis: tuple[int, ...]
    function_name = "log_softmax"

    def evaluate(self, x: Any) -> Any:
        less, _ = _array_minus_largest(x, self.axis)
        total = np.sum(np.exp(less), axis=self.axis, keepdims=True)
        return (less - np.log(total)).astype(less.dtype)

    def decompose(self, x: Any) -> Sequence[Any]:
        less, _ = _minus_largest(x, self.axis, inexact([x.dtype]))
        return [less - log(sum(exp(less), axis=self.axis, keepdims=True))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        return [ct - exp(outputs[0]) * sum(ct, axis=self.axis, keepdims=True)]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        t = tangents[0]
        return [t - sum(exp(outputs[0]) * t, axis=self.axis, keepdims=True)]


@op
class LogSumExp(_OfExponentials):
    """log(sum(exp(x))), summed over the axes ``axis``. It cannot overflow."""

    axis: tuple[int, ...]
    function_name = "logsumexp"

    def infer(self, x: TensorType) -> TensorType:
        shape = [n for i, n in enumerate(x.shape) if i not in self.axis]
        return TensorType(super().infer(x).dtype, shape)

    def evaluate(self, x: Any) -> Any:
        less, top = _array_minus_largest(x, self.axis)
        return np.asarray(np.log(np.sum(np.exp(less), axis=self.axis)) + np.squeeze(top, self.axis))

    def decompose(self, x: Any) -> Sequence[Any]:
        less, top = _minus_largest(x, self.axis, inexact([x.dtype]))
        top = top.squeeze(axis=self.axis) if self.axis else top
        return [log(sum(exp(less), axis=self.axis)) + top]

    def _weights(self, x: Any, out: Any) -> Any:
        """The slopes. exp(x - out) has too few digits for large x, so sums over the weights would not be 1."""
        return Softmax(self.axis)(x) if self.axis else exp(x - out)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        ct = cotangents[0]
        spread = expand_dims(ct, self.axis) if self.axis else ct
        return [spread * self._weights(inputs[0], outputs[0])]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [sum(self._weights(inputs[0], outputs[0]) * tangents[0], axis=self.axis)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]


def softmax(c: Any, axis: Any = None) -> TensorVariable:
    """exp(c) divided by the sum of exp(c) over ``axis`` (all dimensions by default).

    The result is 0 for an element -inf. If n elements are +inf, the result is 1 / n for them, and 0 for the other
    elements. If all elements are -inf, the results are NaN.
    """
    c = as_tensor_variable(c)
    weights: TensorVariable = Softmax(normalize_axes(axis, c))(c)
    return weights


def log_softmax(c: Any, axis: Any = None) -> TensorVariable:
    """The logarithm of `softmax` of ``c`` over ``axis``. It is finite where `softmax` underflows to 0."""
    c = as_tensor_variable(c)
    logs: TensorVariable = LogSoftmax(normalize_axes(axis, c))(c)
    return logs


def logsumexp(
    x: Any,
    axis: Any = None,
    keepdims: bool = False,
    *,
    b: Any = None,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """log(sum(b * exp(x))), summed over ``axis`` (one, several, or None for all), without overflow; see `sum` for ``keepdims``.

    ``b`` are factors, 1 if it is None; it and ``where``, which says what counts, broadcast with ``x``. The result is NaN
    for a negative sum, or with ``return_sign`` a pair: the logarithm of the absolute value, and the sign, or for complex
    numbers the number of absolute value 1.
    """
    keep = checked_keepdims(keepdims, "b, which is given by keyword")
    x = as_tensor_variable(x)
    x = cast(x, "float64") if is_discrete(x.dtype) else x  # as in SciPy
    if where is not None:
        x = switch(where, x, -np.inf)
    if b is None and not return_sign and not is_complex(x.dtype):
        axes = normalize_axes(axis, x)
        logs: TensorVariable = LogSumExp(axes)(x)
        return expand_dims(logs, axes) if keep and axes else logs
    x, factor = promote_arguments([x, 1 if b is None else b])
    x = switch(eq(factor, 0), -np.inf, x)
    level: Any = logsumexp(x.real, axis, keepdims=True)
    top = switch(isfinite(level), level, 0)
    total = sum(factor * exp(x - top), axis, keepdims=True)
    turn = sign(total)
    logs = log((total * turn.conj()).real if return_sign else total) + top
    results = (logs, turn) if keep else [v.squeeze(normalize_axes(axis, x)) for v in (logs, turn)]
    return tuple(results) if return_sign else results[0]
