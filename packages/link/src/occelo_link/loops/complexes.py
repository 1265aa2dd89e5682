"""Complex tensors in loop programs: each is a pair of real tensors, the real part and the imaginary part.

In the arrays of inputs and outputs, real and imaginary parts alternate. Such arrays are called interleaved; `lowering`
and `callbacks` convert them. `loops.registry` calls `in_parts` to derive a lowering of complex nodes from a lowering of
real nodes. Elementwise ops, reductions, cumulative ops, linear recurrences, matrix products and linear algebra have
lowerings of their own for complex nodes. All these lowerings return a `ComplexTensor` for each complex output.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from occelo_graph import Apply, Op, TensorApply, TensorType, Variable, is_tensor
from occelo_graph.ir.nodes import OpT, VariableT
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Buffer, Value
from occelo_link.loops.tensors import Index, Stored, Tensor, TensorGroup, Virtual

if TYPE_CHECKING:
    import numpy.typing as npt

    from occelo_link.loops.lowering import Context
    from occelo_link.loops.registry import Lowering, LoweringOf

PARTS = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the parts of a complex number."""


class ComplexTensor(Tensor):
    """A complex tensor: a real part and an imaginary part of the same shape."""

    __slots__ = ("im", "re")

    def __init__(self, re: Tensor, im: Tensor) -> None:
        super().__init__("complex64" if re.dtype == "float32" else "complex128", re.shape)
        self.re = re
        self.im = im


def has_complex(node: Apply) -> bool:
    """Whether a node has complex inputs or outputs."""
    return any(_is_complex(v) for v in (*node.inputs, *node.outputs))


def _is_complex(variable: Variable) -> bool:
    return variable.type.is_array and variable.type.dtype in PARTS


def by_parts(node: Apply) -> bool:
    """Whether the op of a node can be applied separately to real parts and to imaginary parts.

    All inputs that the op uses as numbers (`Op.numbers`) must be complex, since a real input would be used for both
    parts. Inputs that the op uses as indices or lengths must be real.
    """
    which = node.op.numbers()
    if which is None:
        return False
    numbers = range(len(node.inputs))[which]
    return all(_is_complex(v) is (i in numbers) for i, v in enumerate(node.inputs))


def in_parts(lowering: Lowering) -> Lowering:
    """Make a lowering for complex tensors: it applies ``lowering`` to the real parts and to the imaginary parts."""

    def lowered(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
        real = as_real(node)
        if not any(_is_complex(v) for v in node.outputs):
            return lowering(context, real, [_part(t, 0) for t in inputs])
        parts = [lowering(context, real, [_part(t, k) for t in inputs]) for k in (0, 1)]
        return [
            ComplexTensor(re, im) if _is_complex(v) else re
            for v, re, im in zip(node.outputs, *parts, strict=True)
        ]

    return lowered


def parts_of(tensor: Tensor) -> list[Tensor]:
    """The real tensors that a value consists of, in order."""
    if isinstance(tensor, TensorGroup):
        return [real for part in tensor.parts for real in parts_of(part)]
    return [tensor.re, tensor.im] if isinstance(tensor, ComplexTensor) else [tensor]


def _part(tensor: Tensor, which: int) -> Tensor:
    if not isinstance(tensor, ComplexTensor):
        return tensor
    return tensor.im if which else tensor.re


def as_real(node: Apply[OpT, VariableT]) -> Apply[OpT, VariableT]:
    """The node with real dtypes: each complex dtype is replaced by the dtype of its parts."""

    def real(variable: Variable) -> Variable:
        if not is_tensor(variable) or not _is_complex(variable):
            return variable
        kind = variable.type
        return TensorType(PARTS[kind.dtype], kind.shape)()

    op: Op = node.op
    for field in ("dtype", "acc_dtype"):
        dtype = getattr(op, field, None)
        if dtype in PARTS and dataclasses.is_dataclass(op):
            op = dataclasses.replace(op, **{field: PARTS[dtype]})
    inputs = [real(v) for v in node.inputs]
    outputs = [v.type() if v.owner is node else v for v in map(real, node.outputs)]
    return cast("Apply[OpT, VariableT]", Apply(op, inputs, outputs))


def product_by_parts(lowering: LoweringOf[OpT]) -> LoweringOf[OpT]:
    """Make a lowering of products of complex matrices, which multiplies real matrices four times with ``lowering``."""

    def lowered(context: Context, node: TensorApply[OpT], inputs: list[Tensor]) -> Sequence[Tensor]:
        real = as_real(node)
        dtype = real.outputs[0].type.dtype
        x, y = (_both(context, t, dtype) for t in inputs)

        def product(a: Tensor, b: Tensor) -> Tensor:
            return lowering(context, real, [a, b])[0]

        def combined(op: str, a: Tensor, b: Tensor) -> Tensor:
            return context.mapped(a.dtype, lambda builder, values: builder.op(op, *values), a, b)

        # each part is an operand of two products
        x, y = (tuple(context.store(t) for t in pair) for pair in (x, y))
        re = combined("sub", product(x[0], y[0]), product(x[1], y[1]))
        im = combined("add", product(x[0], y[1]), product(x[1], y[0]))
        return [ComplexTensor(re, im)]

    return lowered


def _both(context: Context, tensor: Tensor, dtype: str) -> tuple[Tensor, ...]:
    """The real and the imaginary part of a tensor, converted to a dtype. The imaginary part of a real tensor is 0."""
    if isinstance(tensor, ComplexTensor):
        return context.cast(tensor.re, dtype), context.cast(tensor.im, dtype)
    zero = context.builder.const(0.0, dtype)
    return context.cast(tensor, dtype), Virtual(dtype, tensor.shape, always(zero), flat=True)


def always(value: Value) -> Callable[[Builder, Index], Value]:
    """The formula of a tensor whose elements are all equal to ``value``."""
    return lambda builder, index: value


def interleaved(context: Context, buffer: Buffer, shape: Sequence[Value]) -> ComplexTensor:
    """The complex tensor in a buffer in which real and imaginary parts alternate, in C order."""
    return ComplexTensor(*interleaved_parts(context, buffer, shape))


def interleaved_parts(
    context: Context, buffer: Buffer, shape: Sequence[Value]
) -> tuple[Stored, Stored]:
    """The real and the imaginary part of the tensor that `interleaved` returns."""
    builder = context.builder
    two = context.i64(2)
    strides = [builder.mul(n, two) for n in context.contiguous(shape)]
    re, im = (Stored(buffer, shape, context.i64(k), strides, False) for k in (0, 1))
    return re, im


def complex_constant(context: Context, data: npt.NDArray[Any]) -> ComplexTensor:
    """The complex tensor of a constant array."""
    dtype = PARTS[data.dtype.name]
    shape = [context.i64(n) for n in data.shape]
    if data.size == 1:
        number = complex(data.item())
        parts = (context.builder.const(part, dtype) for part in (number.real, number.imag))
        re, im = (Virtual(dtype, shape, always(v), flat=True, depth=0) for v in parts)
        return ComplexTensor(re, im)
    entry = context.program.entry(f"constant{len(context.program.constants)}")
    context.program.constants.append(data.reshape(-1).view(dtype))
    buffer = context.builder.buffer(dtype, "constant", ndim=1, entry=entry, holds=data.dtype.name)
    return interleaved(context, buffer, shape)
