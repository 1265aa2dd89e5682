"""float16 in loop programs: conversions, and lowerings for float16 that are made from lowerings for float32.

Inside of a program a float16 tensor is a float32 tensor, and each op rounds its results to float16. Only the arrays of
inputs and outputs have 16 bits per element. Conversions round to nearest, with ties to even, as IEEE 754 says.

`registry` calls `in_float32` to make the lowering of a node with float16. The modules `lowering` and
`callbacks` convert arrays with `from_float16_bits` and `to_float16_bits`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from occelo_graph import Apply, TensorType, Type, Variable, is_tensor
from occelo_graph.ops.cast import Cast
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.tensor_groups import members_of
from occelo_link.loops.tensors import Tensor, TensorGroup

if TYPE_CHECKING:
    from occelo_link.loops.lowering import Context
    from occelo_link.loops.registry import Lowering

COST = 8


def has_float16(node: Apply) -> bool:
    """Whether a node has float16 inputs or outputs."""
    return any(_is_float16(v) for v in (*node.inputs, *node.outputs))


def _is_float16(variable: Variable) -> bool:
    return variable.type.is_array and variable.type.dtype == "float16"


def as_float32(node: Apply) -> Apply:
    """The node with each float16 dtype replaced by float32."""

    def single(variable: Variable) -> Variable:
        if not is_tensor(variable) or not _is_float16(variable):
            return variable
        return TensorType("float32", variable.type.shape)()

    op = node.op
    changed = {name: "float32" for name, value in (op.props() or {}).items() if value == "float16"}
    if changed and dataclasses.is_dataclass(op):
        op = dataclasses.replace(op, **changed)
    inputs = [single(v) for v in node.inputs]
    outputs = [v.type() if v.owner is node else v for v in map(single, node.outputs)]
    return Apply(op, inputs, outputs)


def in_float32(lowering: Lowering) -> Lowering:
    """Make a lowering for nodes with float16 from a lowering for float32."""

    def lowered(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
        if _is_float16(node.outputs[0]) and isinstance(getattr(node.op, "scalar_op", None), Cast):
            return [_mapped(context, inputs[0], "float32", rounded)]
        outputs = lowering(context, as_float32(node), inputs)
        moved = node.op.moves
        if moved is not None and all(_is_float16(v) for v in node.inputs[moved]):
            return outputs  # the op only moves float16 numbers
        return [
            _mapped(context, t, "float32", rounded) if _is_float16(v) else t
            for v, t in zip(node.outputs, outputs, strict=True)
        ]

    return lowered


def with_float16_rounded(context: Context, kind: Type, tensor: Tensor) -> Tensor:
    """A value of the type ``kind``, with its float16 arrays rounded to float16."""
    parts = [
        _mapped(context, piece, "float32", rounded) if part.dtype == "float16" else piece
        for part, piece in zip(kind.parts() or (), members_of(tensor), strict=False)
    ]
    if all(new is old for new, old in zip(parts, members_of(tensor), strict=False)):
        return tensor
    return parts[0] if kind.is_array else TensorGroup(parts)


def from_float16_bits(context: Context, tensor: Tensor) -> Tensor:
    """Convert a tensor that holds the bits of float16 numbers to a float32 tensor."""
    return _mapped(context, tensor, "float32", float32_from_bits)


def to_float16_bits(context: Context, tensor: Tensor) -> Tensor:
    """Round the elements of a tensor to float16, and return a uint16 tensor that holds their bits."""
    return _mapped(context, tensor, "uint16", float16_bits)


def _mapped(
    context: Context, tensor: Tensor, dtype: str, function: Callable[[Builder, Value], Value]
) -> Tensor:
    return context.mapped(dtype, lambda b, values: function(b, values[0]), tensor, cost=COST)


def rounded(b: Builder, x: Value) -> Value:
    """A number of any dtype, rounded to float16. The result is a float32."""
    x = x if x.dtype == "float64" else b.cast(x, "float32")
    return float32_from_bits(b, float16_bits(b, x))


def float32_from_bits(b: Builder, bits: Value) -> Value:
    """The float32 number that equals a float16 number. ``bits`` holds the bits of the float16 number, as a uint16."""
    return b.apply("single_of_half", _float32_from_bits, bits)


def float16_bits(b: Builder, x: Value) -> Value:
    """The bits of the float16 number that is nearest to ``x``, a float32 or float64."""
    if x.dtype == "float64":
        x = b.apply("rounded_to_odd", _rounded_to_odd, x)
    return b.apply("half_of_single", _float16_bits, x)


def _float32_from_bits(b: Builder, bits: Value) -> Value:
    def u32(number: int) -> Value:
        return b.const(number, "uint32")

    wide = b.cast(bits, "uint32")
    magnitude = b.op("and", wide, u32(0x7FFF))
    shifted = b.op("shl", magnitude, u32(13))
    # the exponent is too small by 112; the multiplication corrects it, for subnormal numbers, too
    scaled = b.op("mul", b.op("bits", shifted, dtype="float32"), b.const(2.0**112, "float32"))
    special = b.op("le", u32(0x7C00), magnitude)
    top = b.op("bits", b.op("or", shifted, u32(0x7F800000)), dtype="float32")
    value = b.op("bits", b.select(special, top, scaled), dtype="uint32")
    sign = b.op("shl", b.op("and", wide, u32(0x8000)), u32(16))
    return b.op("bits", b.op("or", value, sign), dtype="float32")


def _float16_bits(b: Builder, x: Value) -> Value:
    def u32(number: int) -> Value:
        return b.const(number, "uint32")

    bits = b.op("bits", x, dtype="uint32")
    magnitude = b.op("and", bits, u32(0x7FFFFFFF))
    # subnormal results: adding 1/2 rounds x to a multiple of 2**-24 and puts it into the low bits
    half = b.const(0.5, "float32")
    added = b.op("add", b.op("bits", magnitude, dtype="float32"), half)
    low = b.op("sub", b.op("bits", added, dtype="uint32"), u32(0x3F000000))
    # normal results: the exponent is reduced by 112, and the lost bits are rounded to even
    odd = b.op("and", b.op("shr", magnitude, u32(13)), u32(1))
    moved = b.op("add", b.op("sub", magnitude, u32(112 << 23)), b.op("add", odd, u32(0xFFF)))
    usual = b.op("shr", moved, u32(13))
    result = b.select(b.op("lt", magnitude, u32(113 << 23)), low, usual)
    # from 65520 on the nearest number is infinity
    result = b.select(b.op("le", u32(0x477FF000), magnitude), u32(0x7C00), result)
    quiet = b.op("or", b.op("and", b.op("shr", magnitude, u32(13)), u32(0x3FF)), u32(0x7E00))
    result = b.select(b.op("lt", u32(0x7F800000), magnitude), quiet, result)
    sign = b.op("shr", b.op("and", bits, u32(0x80000000)), u32(16))
    return b.cast(b.op("or", result, sign), "uint16")


def _rounded_to_odd(b: Builder, x: Value) -> Value:
    """Convert the float64 ``x`` to a float32 that rounds to the same float16 as ``x``.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008:
    the last bit is set if rounding to float32 loses bits.
    """
    near = b.cast(x, "float32")
    back = b.cast(near, "float64")
    bits = b.op("bits", near, dtype="uint32")
    one = b.const(1, "uint32")
    even = b.op("eq", b.op("and", bits, one), b.const(0, "uint32"))
    away = b.op("lt", b.op("abs", back), b.op("abs", x))
    moved = b.select(away, b.op("add", bits, one), b.op("sub", bits, one))
    # the bit is not set for NaN, nor for huge numbers, which become infinity in any case
    largest = b.const(3.0e38, "float64")
    plain = b.op("and", b.op("ne", back, x), b.op("lt", b.op("abs", x), largest))
    return b.op("bits", b.select(b.op("and", plain, even), moved, bits), dtype="float32")
