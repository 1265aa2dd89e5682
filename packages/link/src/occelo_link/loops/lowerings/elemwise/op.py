"""Lowering of `Elemwise`: it broadcasts the operands, checks their lengths, and computes each element with a scalar
lowering.

`loops.build` imports this module, which registers the lowering. Other families of ops, such as `lowerings.blas` and
`lowerings.create`, call the functions for broadcasting.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from occelo_graph import Apply, Constant, TensorApply, TensorType, TensorVariable, Variable
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.tensors.nodes import tensors
from occelo_link.loops.complexes import PARTS, ComplexTensor, parts_of
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.elemwise import arithmetic
from occelo_link.loops.lowerings.elemwise.complex import (
    COMPLEX_COSTS,
    Complex,
    ComplexLowering,
    find_complex,
)
from occelo_link.loops.lowerings.elemwise.scalar import COSTS, ScalarLowering, cast, find_scalar
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Tensor

_REGISTERING = (arithmetic,)


def _find(node: TensorApply[Elemwise]) -> ScalarLowering | None:
    scalar_op = node.op.scalar_op
    if isinstance(scalar_op, Cast):
        return cast
    if not isinstance(scalar_op, ScalarFunction) or len(node.outputs) != 1:
        return None
    inputs = [v.type.dtype for v in node.inputs]
    return find_scalar(scalar_op.name, inputs, node.outputs[0].type.dtype)


def broadcast_lengths(
    context: Context, types: Sequence[TensorType], tensors: Sequence[Tensor]
) -> list[Value]:
    """The lengths of the shape to which tensors broadcast. Writes checks of the lengths that are not static."""
    sides = [(t.shape, tensor.shape) for t, tensor in zip(types, tensors, strict=True)]
    ndim = max([len(own) for _, own in sides])
    shape: list[Value] = []
    for axis in range(-ndim, 0):
        length: Value | None = None
        for static, own in sides:
            if -axis > len(static) or static[axis] == 1:
                continue
            length = own[axis] if length is None else context.unify(length, own[axis])
        shape.append(context.i64(1) if length is None else context.canonical(length))
    return shape


def broadcast_index(context: Context, type_: TensorType, index: Index) -> list[Value]:
    """The index at which an operand of ``type_`` is read for the result at ``index``: 0 along dimensions of length 1."""
    zero = context.i64(0)
    own = index[len(index) - type_.ndim :]
    return [zero if n == 1 else i for n, i in zip(type_.shape, own, strict=True)]


def _find_inner(node: TensorApply[Elemwise]) -> dict[Apply, ScalarLowering] | None:
    """The lowerings of the scalar ops in a composite; None if one of these ops has no lowering."""
    scalar_op = node.op.scalar_op
    if isinstance(scalar_op, ScalarFunction | Cast) or node.op.destroy_map:
        return None
    # few graphs have composites
    from occelo_link.loops.float16 import has_float16
    from occelo_rewrite.fusion.composite import Composite

    if not isinstance(scalar_op, Composite):
        return None
    lowerings: dict[Apply, ScalarLowering] = {}
    for inner in scalar_op.inner_nodes:
        if has_float16(inner):
            return None  # only separate nodes round each result to float16
        function = _find(inner)
        if function is None:
            return None
        lowerings[inner] = function
    return lowerings


def _lower_composite(
    context: Context, node: TensorApply[Elemwise], inputs: list[Tensor]
) -> Sequence[Tensor]:
    """Lower a composite. Each result is a formula that computes all scalar ops of the composite for one element."""
    from occelo_rewrite.fusion.composite import Composite  # few graphs have composites

    composite = node.op.scalar_op
    functions = _find_inner(node)
    assert isinstance(composite, Composite)
    assert functions is not None
    types = [v.type for v in node.inputs]
    shape = broadcast_lengths(context, types, inputs)
    arguments, results = tensors(composite.inner.inputs), tensors(composite.inner.outputs)
    nodes = composite.inner_nodes

    def computed(builder: Builder, index: Index, wanted: TensorVariable) -> Value:
        values: dict[Variable, Value] = {
            v: tensor.at(builder, broadcast_index(context, type_, index))
            for v, tensor, type_ in zip(arguments, inputs, types, strict=True)
        }

        def value(v: TensorVariable) -> Value:
            if v in values:
                return values[v]
            dtype = v.type.dtype
            assert isinstance(v, Constant)
            return builder.const(v.data.item(), dtype)

        for inner in nodes:
            (out,) = inner.outputs
            values[out] = functions[inner](
                builder, out.type.dtype, [value(v) for v in inner.inputs]
            )
        return value(wanted)

    return [
        context.virtual(
            out.type.dtype,
            shape,
            partial(computed, wanted=out),
            inputs,
            cost=sum(COSTS.get(n.op.scalar_op.name, 1) for n in nodes),
            flat=context.flat_over(inputs, shape),
        )
        for out in results
    ]


def _find_complex(node: TensorApply[Elemwise]) -> ComplexLowering | None:
    scalar_op = node.op.scalar_op
    if node.op.destroy_map or len(node.outputs) != 1:
        return None
    if isinstance(scalar_op, Cast):
        return find_complex("cast")
    return find_complex(scalar_op.name) if isinstance(scalar_op, ScalarFunction) else None


def complex_element(
    builder: Builder, dtype: str, tensor: Tensor, index: Sequence[Value]
) -> Complex:
    """An element of a tensor as a pair of real part and imaginary part, both converted to ``dtype``."""
    re, *rest = (builder.cast(part.at(builder, index), dtype) for part in parts_of(tensor))
    return re, rest[0] if rest else builder.const(0.0, dtype)


@lowers_complex_to_loops(Elemwise, when=lambda node: _find_complex(node) is not None)
def lower_complex_elemwise(
    context: Context, node: TensorApply[Elemwise], inputs: list[Tensor]
) -> Sequence[Tensor]:
    """Lower an elementwise op with complex numbers.

    The real part and the imaginary part of the result are two formulas. If one loop computes both, the builder
    eliminates their common subexpressions.
    """
    function = _find_complex(node)
    assert function is not None
    types = [v.type for v in node.inputs]
    output = node.outputs[0].type
    shape = broadcast_lengths(context, types, inputs)
    result = PARTS.get(output.dtype, output.dtype)
    kinds = [PARTS.get(t.dtype, t.dtype) for t in (*types, output) if t.dtype != "bool"]
    dtype = "float64" if any(d not in ("float32", "float16") for d in kinds) else "float32"
    sources = [part for t in inputs for part in parts_of(t)]
    name = getattr(node.op.scalar_op, "name", "cast")

    def element(which: int, builder: Builder, index: Index) -> Value:
        values = [
            complex_element(builder, dtype, t, broadcast_index(context, kind, index))
            for t, kind in zip(inputs, types, strict=True)
        ]
        number = function(builder, values)
        value = number if isinstance(number, Value) else number[which]
        return builder.cast(value, result)

    def part(which: int) -> Tensor:
        return context.virtual(
            result,
            shape,
            partial(element, which),
            sources,
            cost=COMPLEX_COSTS.get(name, 0),
            flat=context.flat_over(sources, shape),
            identity=True,
        )

    return [ComplexTensor(part(0), part(1)) if output.dtype in PARTS else part(0)]


@lowers_to_loops(
    Elemwise, when=lambda node: _find(node) is not None or _find_inner(node) is not None
)
def lower_elemwise(
    context: Context, node: TensorApply[Elemwise], inputs: list[Tensor]
) -> Sequence[Tensor]:
    function = _find(node)
    if function is None:
        return _lower_composite(context, node, inputs)
    types = [v.type for v in node.inputs]
    output = node.outputs[0].type
    shape = broadcast_lengths(context, types, inputs)
    dtype = output.dtype

    def element(builder: Builder, index: Index) -> Value:
        values = [
            tensor.at(builder, broadcast_index(context, type_, index))
            for tensor, type_ in zip(inputs, types, strict=True)
        ]
        return function(builder, dtype, values)

    name = getattr(node.op.scalar_op, "name", "")
    return [
        context.virtual(
            dtype,
            shape,
            element,
            inputs,
            cost=COSTS.get(name, 1) * max(1, len(inputs) - 1),
            flat=context.flat_over(inputs, shape),
            identity=True,
        )
    ]
