"""Reductions along axes, cumulative sums and products, soft maxima."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import ZERO, Op, op
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.arguments import keeps, plain_number
from occelo_graph.ops.batching import materialize
from occelo_graph.ops.create import ones_like, zeros_like
from occelo_graph.ops.elemwise.arithmetic import (
    abs as abs_,
)
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    eq,
    maximum,
    minimum,
    mul,
    neq,
    or_,
    second,
    sqrt,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.scalar import ScalarFunction, inexact
from occelo_graph.ops.elemwise.transcendental import exp
from occelo_graph.ops.shape import (
    Shape_i,
    expand_dims,
    flatten,
    length_product,
    lengths_by_variables,
    normalize_axes,
    normalize_axis,
    reshape,
    squeeze,
    transpose,
)
from occelo_graph.tensors.constant import as_tensor_variable
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
    "all",
    "any",
    "argmax",
    "argmin",
    "cov",
    "cumprod",
    "cumsum",
    "largest",
    "log_softmax",
    "logsumexp",
    "max",
    "max_and_argmax",
    "mean",
    "min",
    "norm",
    "prod",
    "ptp",
    "smallest",
    "softmax",
    "std",
    "sum",
    "var",
]

_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_NAMES = {
    "add": "Sum",
    "mul": "Prod",
    "maximum": "Max",
    "minimum": "Min",
    "and": "All",
    "or": "Any",
}


def _accumulated(dtype: str) -> str:
    """What NumPy's sum makes of a dtype: small integers become int64 or uint64."""
    if dtype == "bool" or dtype.startswith("int"):
        return "int64"
    return "uint64" if dtype.startswith("uint") else dtype


@op
class CAReduce(Op):
    """Combine the elements along ``axis`` (sorted, from 0 on) with a commutative function.

    ``acc_dtype`` is what is computed in and ``dtype`` what the result is cast to; None is the
    dtype of the input, but for sums and products of integers int64 or uint64.
    """

    scalar_op: ScalarFunction
    axis: tuple[int, ...]
    dtype: str | None = None
    acc_dtype: str | None = None
    reads_once: ClassVar[bool] = True
    by_parts = property(lambda self: FIRST if self.scalar_op.linear == "all" else None)  # type: ignore[assignment] # pyright: ignore[reportAssignmentType]

    def _dtype(self, given: str) -> str:
        if self.dtype is not None:
            return self.dtype
        return _accumulated(given) if self.scalar_op.name in ("add", "mul") else given

    def infer(self, x: TensorType) -> TensorType:
        if self.axis and self.axis[-1] >= x.ndim:
            raise np.exceptions.AxisError(self.axis[-1], x.ndim)
        dtype = self._dtype(x.dtype)
        if is_complex(x.dtype) and not is_complex(dtype):
            raise TypeError(f"Cannot reduce a complex tensor to dtype {dtype}")
        if self.scalar_op.name in ("maximum", "minimum"):
            empty = [i for i in self.axis if x.shape[i] == 0]
            if empty:
                raise ValueError(f"The {self} of no elements is not defined (axis {empty[0]})")
        kept = [n for i, n in enumerate(x.shape) if i not in self.axis]
        return TensorType(dtype, kept)

    def evaluate(self, x: Any) -> Any:
        ufunc = _UFUNCS[self.scalar_op.name]
        dtype = self._dtype(x.dtype.name)
        acc = self.acc_dtype or (dtype if self.scalar_op.name in ("add", "mul") else None)
        result = np.asarray(ufunc.reduce(x, axis=self.axis, dtype=acc))
        return result.astype(dtype, copy=not self.axis)

    def _spread(self, value: Any, x: Any) -> Any:
        """``value``, of the shape of the result, with the reduced dimensions put back as 1."""
        return expand_dims(value, self.axis) if self.axis and value.ndim else value

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        x, out, ct = inputs[0], outputs[0], cotangents[0]
        name = self.scalar_op.name
        if is_discrete(out.dtype):
            return [ZERO]
        if not is_discrete(x.dtype) and ct.dtype != x.dtype:
            ct = ct.astype(x.dtype)
        spread = self._spread(ct, x)
        if name == "add":
            if None not in x.type.shape:
                return [second(x, spread)]  # which a graph rebuilt for another shape fills
            return [spread.broadcast_to(lengths_by_variables(x))]
        if name in ("maximum", "minimum"):
            hit = eq(x, self._spread(out, x))
            count = sum(hit, axis=self.axis, dtype=spread.dtype)
            return [switch(hit, true_div(spread, self._spread(count, x)), 0.0)]
        others = _product_of_others(x, self.axis)
        return [spread * (others.conj() if is_complex(x.dtype) else others)]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        x, out, tangent = inputs[0], outputs[0], tangents[0]
        name = self.scalar_op.name
        if is_discrete(out.dtype):
            return [ZERO]
        if name == "add":
            return [self(tangent)]
        if name in ("maximum", "minimum"):
            hit = eq(x, self._spread(out, x))
            count = sum(hit, axis=self.axis, dtype=tangent.dtype)
            return [sum(switch(hit, tangent, 0.0), axis=self.axis) / count]
        return [sum(tangent * _product_of_others(x, self.axis), axis=self.axis)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        axis = tuple(a + batch_ndims[0] for a in self.axis)
        return [CAReduce(self.scalar_op, axis, self.dtype, self.acc_dtype)(inputs[0])]

    def __str__(self) -> str:
        name = _NAMES.get(self.scalar_op.name, f"Reduce{{{self.scalar_op}}}")
        return f"{name}{{axis={list(self.axis)}}}"


def _product_of_others(x: Any, axis: tuple[int, ...]) -> Any:
    """For each element the product of all others along the axes; right with any number of zeros."""
    kept = [i for i in range(x.ndim) if i not in axis]
    order = [*kept, *axis]
    moved = transpose(x, order)
    lengths = lengths_by_variables(moved)
    if x.dtype != "bool" and is_discrete(x.dtype):
        moved = moved.astype("float64")
    flat = reshape(moved, (*lengths[: len(kept)], length_product(lengths[len(kept) :])))
    ones = ones_like(flat[..., :1])
    before = cumprod(ones.join_with(flat[..., :-1], axis=-1), axis=-1)
    after = cumprod(ones.join_with(flat[..., :0:-1], axis=-1), axis=-1)[..., ::-1]
    product = before * after
    back = [order.index(i) for i in range(x.ndim)]
    return transpose(reshape(product, lengths), back)


def _reduce(
    function: Any, x: Any, axis: Any, keepdims: bool, dtype: Any = None, acc_dtype: Any = None
) -> TensorVariable:
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x.type.ndim)
    named = None if dtype is None else TensorType(dtype, ()).dtype
    acc = None if acc_dtype is None else TensorType(acc_dtype, ()).dtype
    result = CAReduce(function.scalar_op, axes, named, acc)(x)
    return expand_dims(result, axes) if keeps(keepdims) and axes else result


def sum(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
) -> TensorVariable:
    """Sum over ``axis`` (one, several, or None for all).

    Integers are summed as int64 or uint64 unless ``dtype`` says otherwise.
    """
    return _reduce(add, input, axis, keepdims, dtype, acc_dtype)


def prod(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
) -> TensorVariable:
    """Product over ``axis``; the gradient is right where elements are 0."""
    return _reduce(mul, input, axis, keepdims, dtype, acc_dtype)


def max(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Largest element over ``axis``, NaN if there is one; elements that tie share the gradient."""
    return _reduce(maximum, x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Smallest element over ``axis``, NaN if there is one; elements that tie share the gradient."""
    return _reduce(minimum, x, axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Whether all elements along ``axis`` are true (not 0)."""
    return _reduce(and_, _truth(x), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Whether any element along ``axis`` is true (not 0)."""
    return _reduce(or_, _truth(x), axis, keepdims)


def _truth(x: Any) -> Any:
    x = as_tensor_variable(x)
    return x if x.dtype == "bool" else neq(x, 0)


def mean(
    input: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, acc_dtype: Any = None
) -> TensorVariable:
    """Mean over ``axis``; integers give float64, unless ``dtype`` says otherwise.

    That of float16 is computed in float32, as NumPy does.
    """
    x = as_tensor_variable(input)
    wanted = dtype or ("float64" if is_discrete(x.dtype) else x.dtype)
    if wanted == "float16" and acc_dtype is None:
        return mean(x, axis, "float32", keepdims).astype("float16")
    total = sum(x, axis=axis, dtype=wanted, keepdims=keepdims, acc_dtype=acc_dtype)
    if is_discrete(total.dtype):
        return (total / _count(x, axis, "int64")).astype(total.dtype)  # type: ignore[no-any-return]
    return total / _count(x, axis, total.dtype)  # type: ignore[no-any-return]


def _count(x: Any, axis: Any, dtype: str) -> Any:
    # also where lengths are known, so that a graph that is rebuilt for others divides by those
    lengths: list[Any] = [Shape_i(i)(x) for i in normalize_axes(axis, x.type.ndim)]
    return as_tensor_variable(length_product(lengths)).astype(dtype)


def var(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """Variance over ``axis``, divided by the number of elements less ``ddof``, or by 0 if less.

    That of float16 is computed in float32, as NumPy does.
    """
    x = as_tensor_variable(input)
    if x.dtype == "float16":
        return var(x.astype("float32"), axis, ddof, keepdims).astype("float16")
    centered = x - mean(x, axis, keepdims=True)
    squares = (centered * centered.conj()).real if is_complex(x.dtype) else centered * centered
    total = sum(squares, axis=axis, keepdims=keepdims)
    return total / _freedom(_count(x, axis, total.dtype), ddof)  # type: ignore[no-any-return]


def _freedom(count: Any, ddof: Any) -> Any:
    """``count - ddof``, but 0 where that is negative, so that what is divided by it is NaN."""
    plain_number(ddof, "ddof", "var, std and cov have no dtype")
    if type(ddof) is int and ddof <= 0:
        return count - ddof if ddof else count
    return maximum(count - ddof, 0)


def std(input: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """Square root of `var`.

    The gradient where all elements are equal is 0, the subgradient of smallest length.
    """
    return sqrt(var(input, axis, ddof, keepdims))


def ptp(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Largest less smallest element over ``axis``."""
    return max(a, axis, keepdims) - min(a, axis, keepdims)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Norm of vectors along one axis, or of matrices along two; NumPy's ``linalg.norm``.

    ``axis`` None means all dimensions, of which there may be any number if ``ord`` is None (the
    root of the sum of squares), else one or two. Vectors take 2 (None), 1, inf, -inf, 0 (how many
    elements are not 0) or any other number; matrices "fro" (None), 1 and -1 (largest and smallest
    sum of a column), inf and -inf (of a row). ValueError for another order; NotImplementedError for
    "nuc", 2 and -2 of matrices, which need singular values. Integers give float64.

    The gradient at a zero vector is 0, the subgradient of smallest length, where the formula
    x / norm(x) would be 0 / 0.
    """
    x = as_tensor_variable(x)
    if is_discrete(x.dtype):
        x = x.astype("float64")
    order = _known_order(ord)
    axes = _given_axes(axis, x.type.ndim)
    if order is None and axis is None:
        return _euclidean(x, axes, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, order, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, order, axes, keepdims)
    raise ValueError(f"norm takes one axis or two, not the {len(axes)} of axis={axis} for {x.type}")


def _known_order(order: Any) -> Any:
    if isinstance(order, Constant):
        order = order.data.item()
    if isinstance(order, Variable):
        raise TypeError(f"The order of a norm must be known when the graph is built, got {order}")
    return order


def _given_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes in the order in which they are given; ValueError for a repeated one."""
    normalize_axes(axis, ndim)
    if axis is None:
        return tuple(range(ndim))
    listed: Any = list(axis) if np.ndim(axis) else [axis]
    return tuple(normalize_axis(a, ndim) for a in listed)


def _euclidean(x: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    size = abs_(x)
    total = sum(size * size, axis=axes, keepdims=keepdims)
    zero = eq(total, 0)
    return switch(zero, 0.0, sqrt(switch(zero, 1.0, total)))


def _vector_norm(x: Any, order: Any, axis: int, keepdims: bool) -> TensorVariable:
    if order is None or order == 2:
        return _euclidean(x, (axis,), keepdims)
    if isinstance(order, str):
        raise ValueError(f"ord={order!r} is no norm of vectors")
    size = abs_(x)
    if order == 1:
        return sum(size, axis=axis, keepdims=keepdims)
    if order == 0:
        return sum(neq(x, 0), axis=axis, keepdims=keepdims, dtype=size.dtype)
    if order in (np.inf, -np.inf):
        return (max if order > 0 else min)(size, axis, keepdims)
    total = sum(size**order, axis=axis, keepdims=keepdims)
    if order < 0:
        return total ** (1.0 / order)  # type: ignore[no-any-return]
    zero = eq(total, 0)
    return switch(zero, 0.0, switch(zero, 1.0, total) ** (1.0 / order))


def _matrix_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> TensorVariable:
    row, column = axes
    if order is None or order in ("fro", "f"):
        return _euclidean(x, axes, keepdims)
    if order == "nuc" or order in (2, -2):
        raise NotImplementedError(
            f"norm of matrices with ord={order!r} needs singular values, which are not there yet"
        )
    if order not in (1, -1, np.inf, -np.inf):
        raise ValueError(f"ord={order!r} is no norm of matrices")
    summed, chosen = (row, column) if order in (1, -1) else (column, row)
    lengths = sum(abs_(x), axis=summed, keepdims=True)
    result = (max if order > 0 else min)(lengths, chosen, keepdims=True)
    return result if keeps(keepdims) else squeeze(result, axes)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
) -> TensorVariable:
    """Covariance matrix of variables in rows (or columns, if not ``rowvar``), at least float64.

    ``y`` has more variables. What is summed is divided by the number of observations less ``ddof``,
    which is 0 under ``bias`` and else 1 by default. A scalar, the variance, if there is known to be
    one variable. NotImplementedError for weights.
    """
    if fweights is not None or aweights is not None:
        raise NotImplementedError("cov takes no weights, neither fweights nor aweights")
    given = [_variables_in_rows(v, rowvar) for v in (m, y) if v is not None]
    common = np.result_type(np.float64, *(v.type.numpy_dtype for v in given)).name
    rows = [v.astype(common) for v in given]
    x = rows[0].join_with(*rows[1:]) if len(rows) > 1 else rows[0]
    centered = x - mean(x, axis=1, keepdims=True)
    products = centered.dot(centered.conj().T if is_complex(common) else centered.T)
    freedom = (0 if bias else 1) if ddof is None else ddof
    return squeeze(products / _freedom(_count(x, 1, "float64"), freedom))


def _variables_in_rows(m: Any, rowvar: bool) -> Any:
    m = as_tensor_variable(m)
    if m.type.ndim > 2:
        raise ValueError(f"cov takes at most 2 dimensions, got {m.type}")
    if m.type.ndim < 2:
        return m.reshape((1, -1))
    return m if rowvar else m.T


def largest(*args: Any) -> TensorVariable:
    """Elementwise largest of several tensors."""
    result = as_tensor_variable(args[0])
    for other in args[1:]:
        result = maximum(result, other)
    return result


def smallest(*args: Any) -> TensorVariable:
    """Elementwise smallest of several tensors."""
    result = as_tensor_variable(args[0])
    for other in args[1:]:
        result = minimum(result, other)
    return result


@op
class Argmax(Op):
    """Position of the first largest element along ``axis``, counted in C order over several axes."""

    axis: tuple[int, ...]
    reads_once: ClassVar[bool] = True

    def infer(self, x: TensorType) -> TensorType:
        return TensorType("int64", [n for i, n in enumerate(x.shape) if i not in self.axis])

    def evaluate(self, x: Any) -> Any:
        kept = [i for i in range(x.ndim) if i not in self.axis]
        moved = x.transpose((*kept, *self.axis))
        size = int(np.prod([x.shape[i] for i in self.axis], dtype="int64"))
        flat = moved.reshape((*[x.shape[i] for i in kept], size))
        return np.asarray(np.argmax(flat, axis=-1), dtype="int64")

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [ZERO]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [ZERO]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [Argmax(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


def argmax(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Position of the first largest element over ``axis``, as int64; NaN counts as largest."""
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x.type.ndim)
    result: TensorVariable = Argmax(axes)(x)
    return expand_dims(result, axes) if keeps(keepdims) and axes else result


def argmin(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """Position of the first smallest element over ``axis``, as int64."""
    x = as_tensor_variable(x)
    # ~x reverses the order of integers and truth values without overflow, unlike -x
    return argmax(~x if is_discrete(x.dtype) else -x, axis, keepdims)


def max_and_argmax(a: Any, axis: Any = None, keepdims: bool = False) -> list[TensorVariable]:
    """`max` and `argmax`."""
    return [max(a, axis, keepdims), argmax(a, axis, keepdims)]


@op
class CumOp(Op):
    """Running sum (``mode`` "add") or product ("mul") along ``axis``; dtypes as in `CAReduce`."""

    axis: int
    mode: str = "add"
    by_parts = property(lambda self: FIRST if self.mode == "add" else None)  # type: ignore[assignment] # pyright: ignore[reportAssignmentType]

    def infer(self, x: TensorType) -> TensorType:
        return TensorType(_accumulated(x.dtype), x.shape)

    def evaluate(self, x: Any) -> Any:
        return (np.cumsum if self.mode == "add" else np.cumprod)(
            x, axis=self.axis, dtype=_accumulated(x.dtype.name)
        )

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        x, ct = inputs[0], cotangents[0]
        if is_discrete(outputs[0].dtype):
            return [ZERO]
        every = tuple(
            slice(None, None, -1) if i == self.axis else slice(None) for i in range(x.ndim)
        )
        if self.mode == "add":
            return [self(ct[every])[every]]
        factor = x.conj() if is_complex(x.dtype) else x
        # d/dx_k sum_i ct_i prod_{j<=i} x_j = prod_{j<k} x_j * s_k, s_k = ct_k + x_{k+1} s_{k+1}
        at = [slice(None)] * x.ndim
        at[self.axis] = slice(None, 1)
        ones = ones_like(factor[tuple(at)])
        at[self.axis] = slice(None, -1)
        before = self(ones.join_with(factor[tuple(at)], axis=self.axis))
        at[self.axis] = slice(None, 0, -1)
        multiplier = ones.join_with(factor[tuple(at)], axis=self.axis)
        after = LinearRecurrence(self.axis)(multiplier, ct[every])[every]
        return [before * after]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        x, out, tangent = inputs[0], outputs[0], tangents[0]
        if is_discrete(out.dtype):
            return [ZERO]
        if self.mode == "add":
            return [self(tangent)]
        # p_k = x_k p_{k-1}, so dp_k = x_k dp_{k-1} + dx_k p_{k-1}
        at = [slice(None)] * x.ndim
        at[self.axis] = slice(None, 1)
        ones = ones_like(x[tuple(at)])
        at[self.axis] = slice(None, -1)
        previous = ones.join_with(out[tuple(at)], axis=self.axis)
        return [LinearRecurrence(self.axis)(x, tangent * previous)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [CumOp(self.axis + batch_ndims[0], self.mode)(inputs[0])]


@op
class LinearRecurrence(Op):
    """``s_k = a_k * s_{k-1} + b_k`` along ``axis``, from ``s_{-1} = 0``; shapes of a and b are equal.

    It is closed under differentiation, which makes gradients of running products right at zeros.
    """

    axis: int

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
        """``x_{k-1}`` at k, with 0 in front."""
        first: list[Any] = [slice(None)] * x.ndim
        first[self.axis] = slice(None, 1)
        rest: list[Any] = [slice(None)] * x.ndim
        rest[self.axis] = slice(None, -1)
        return zeros_like(x[tuple(first)]).join_with(x[tuple(rest)], axis=self.axis)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        a, out, ct = inputs[0], outputs[0], cotangents[0]
        if is_complex(out.dtype):
            a, out = a.conj(), out.conj()
        # the cotangent of b solves the recurrence backwards with a_{k+1}
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


def _cumulative(x: Any, axis: Any, mode: str) -> TensorVariable:
    x = as_tensor_variable(x)
    if axis is None:
        x, axis = flatten(x), 0
    made: TensorVariable = CumOp(normalize_axis(axis, x.type.ndim), mode)(x)
    return made


def cumsum(x: Any, axis: Any = None) -> TensorVariable:
    """Running sum along ``axis``, or over all elements in C order."""
    return _cumulative(x, axis, "add")


def cumprod(x: Any, axis: Any = None) -> TensorVariable:
    """Running product along ``axis``, or over all elements in C order."""
    return _cumulative(x, axis, "mul")


def _less_largest(x: Any, axis: Any) -> tuple[Any, Any]:
    """x less its largest element along axes, and that; 0 in its place where it is -inf or NaN.

    What equals it, +inf as well, is 0.
    """
    values: Any = np.asarray(x, dtype=inexact([x.dtype.name]))
    largest: Any = np.max(values, axis=axis, keepdims=True, initial=-np.inf)
    top: Any = np.where(largest > -np.inf, largest, 0).astype(values.dtype)
    with np.errstate(invalid="ignore"):
        less: Any = np.asarray(values - top)
    less[values == top] = 0
    return less, top


def _single_axis(x: Any, axis: Any) -> tuple[int, ...]:
    return normalize_axes(axis, x.type.ndim)


@op
class Softmax(Op):
    """exp(x) divided by its sum over ``axis``, without overflow."""

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        if is_complex(x.dtype):
            raise TypeError("softmax is defined for real tensors")
        return TensorType(inexact([x.dtype]), x.shape)

    def evaluate(self, x: Any) -> Any:
        powers = np.exp(_less_largest(x, self.axis)[0])
        return powers / np.sum(powers, axis=self.axis, keepdims=True)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        out, ct = outputs[0], cotangents[0]
        return [out * (ct - sum(ct * out, axis=self.axis, keepdims=True))]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return self.pullback(inputs, outputs, tangents)  # the Jacobian is symmetric

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [Softmax(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


@op
class LogSoftmax(Op):
    """Logarithm of `Softmax`, without overflow or loss of small values."""

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        if is_complex(x.dtype):
            raise TypeError("log_softmax is defined for real tensors")
        return TensorType(inexact([x.dtype]), x.shape)

    def evaluate(self, x: Any) -> Any:
        less, _ = _less_largest(x, self.axis)
        total = np.sum(np.exp(less), axis=self.axis, keepdims=True)
        return (less - np.log(total)).astype(less.dtype)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        return [ct - exp(outputs[0]) * sum(ct, axis=self.axis, keepdims=True)]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        t = tangents[0]
        return [t - sum(exp(outputs[0]) * t, axis=self.axis, keepdims=True)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [LogSoftmax(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


@op
class LogSumExp(Op):
    """log(sum(exp(x))) over ``axis``, without overflow."""

    axis: tuple[int, ...]

    def infer(self, x: TensorType) -> TensorType:
        if is_complex(x.dtype):
            raise TypeError("logsumexp is defined for real tensors")
        kept = [n for i, n in enumerate(x.shape) if i not in self.axis]
        return TensorType(inexact([x.dtype]), kept)

    def evaluate(self, x: Any) -> Any:
        less, top = _less_largest(x, self.axis)
        return np.asarray(np.log(np.sum(np.exp(less), axis=self.axis)) + np.squeeze(top, self.axis))

    def _weights(self, x: Any, out: Any) -> Any:
        return exp(x - expand_dims(out, self.axis)) if self.axis else exp(x - out)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        spread = expand_dims(ct, self.axis) if self.axis else ct
        return [spread * self._weights(inputs[0], outputs[0])]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [sum(self._weights(inputs[0], outputs[0]) * tangents[0], axis=self.axis)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(n for i, n in enumerate(input_shapes[0]) if i not in self.axis)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [LogSumExp(tuple(a + batch_ndims[0] for a in self.axis))(inputs[0])]


def softmax(c: Any, axis: Any = None) -> TensorVariable:
    """exp(c) divided by its sum over ``axis`` (all dimensions by default).

    -inf has the share 0. Elements that are +inf have equal shares, and the others none; where all are -inf, shares are
    not defined, and NaN.
    """
    c = as_tensor_variable(c)
    made: TensorVariable = Softmax(_single_axis(c, axis))(c)
    return made


def log_softmax(c: Any, axis: Any = None) -> TensorVariable:
    """Logarithm of `softmax`."""
    c = as_tensor_variable(c)
    made: TensorVariable = LogSoftmax(_single_axis(c, axis))(c)
    return made


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """log(sum(exp(x))) over ``axis``."""
    x = as_tensor_variable(x)
    axes = normalize_axes(axis, x.type.ndim)
    made: TensorVariable = LogSumExp(axes)(x)
    return expand_dims(made, axes) if keeps(keepdims, "b") and axes else made
