"""Lowerings of draws with NumPy's generators: calls of the functions in ``streams/draws.c``.

A generator is a tensor of words in loop programs (`RandomGeneratorType.to_parts`). A draw copies the words, and the
function that draws changes the copy. `loops.build` imports this module when the ops of random numbers are imported. For draws
that have no such function, the reasons are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from occelo_graph import Apply
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.types import NoneTypeT
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import Context
from occelo_link.loops.lowerings.create import check_lengths
from occelo_link.loops.python_only import leave_to_python
from occelo_link.loops.registry import lowers_parts_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, TensorGroup, are_units, is_unit
from occelo_random.ops.choosing import SortedOrder
from occelo_random.ops.generator_distributions import IntegersRV
from occelo_random.ops.generators import DefaultGenerator
from occelo_random.ops.random_variable import RandomVariable

leave_to_python(DefaultGenerator, "NumPy makes its generator from the seed")
leave_to_python(RandomVariable, "NumPy draws from distributions that our own code does not have")
leave_to_python(
    SortedOrder, "NumPy sorts random integers, which have their positions in the last bits"
)

_MODULE = "occelo_random.streams.loading"
_WORKSPACE = 2688
"""The words of working memory that a function needs: ``WORKSPACE`` in ``bit_generators.h``."""
_MOST_PARAMETERS = 3
_METHODS = {
    **dict.fromkeys(
        "chisquare exponential f gamma gumbel laplace logistic lognormal normal power rayleigh triangular uniform "
        "weibull".split(),
        "float64",
    ),
    **dict.fromkeys("geometric poisson".split(), "int64"),
}
"""The methods of NumPy's generators for which there is a function, with the dtype of its numbers."""
_RESULTS = {"float64": ("float64", "float32"), "int64": ("int64", "int32", "float64")}
"""The dtypes to which a cast of numbers gives what NumPy's gives."""
_BITS = {"int64": 64, "uint64": 64, "int32": 32, "uint32": 32, "int16": 16, "uint16": 16, "int8": 8, "uint8": 8}  # fmt: skip


@frozen_dataclass
class Draw:
    """A function that draws: its name in ``draws.c``, the dtypes of its numbers and parameters, and further arguments."""

    function: str
    dtype: str
    parameters: str = "float64"
    further: tuple[int, ...] = ()


def function_of(node: Apply) -> Draw | None:
    """The function that draws what ``node`` draws, or None if NumPy has to."""
    op = cast("RandomVariable", node.op)
    kinds = [v.type for v in node.inputs[2:]]
    if any(kind.dtype is None or is_complex(kind.dtype) for kind in kinds):
        return None
    if isinstance(op, IntegersRV) and type(op).rng_fn is IntegersRV.rng_fn:
        return _of_integers(op.dtype, [str(kind.dtype) for kind in kinds])
    by_method = type(op).rng_fn is RandomVariable.rng_fn and type(op).drawn is RandomVariable.drawn
    dtype = _METHODS.get(op.name) if by_method and not op.ndim_supp else None
    if dtype is None or any(op.ndims_params) or op.dtype not in _RESULTS[dtype]:
        return None
    return Draw(f"draw_{op.name}", dtype)


def _of_integers(dtype: str, bounds: Sequence[str]) -> Draw | None:
    bits = _BITS.get(dtype)
    if bits is None or any(each == "uint64" or each[:3] not in ("int", "uin") for each in bounds):
        return None
    signed = dtype.startswith("int")
    least = -(2 ** (bits - 1)) if signed else 0
    most = min(2 ** (bits - signed), 2**63) - 1
    return Draw("draw_integers", "int64", "int64", (bits, least, most))


@lowers_parts_to_loops(RandomVariable, lambda node: function_of(node) is not None)
def lower_draw(
    context: Context, node: Apply[RandomVariable], inputs: list[Tensor]
) -> Sequence[Tensor]:
    draw = function_of(node)
    assert draw is not None
    builder = context.builder
    (words,) = cast("TensorGroup", inputs[0]).parts
    parameters = inputs[2:]
    shape = _shape(context, node, inputs[1], parameters)
    count = builder.product(shape)
    operands: list[tuple[Stored, Value]] = []
    for tensor in parameters:
        single = are_units(tensor.shape)
        whole = _in_dtype(context, tensor, [] if single else shape, draw.parameters)
        operands.append((context.contiguous_copy(whole), context.i64(0 if single else 1)))
    following = context.new_stored("uint64", words.shape)
    drawn = context.new_stored(draw.dtype, shape)
    site = context.site()

    def emit() -> None:
        work = builder.buffer("uint64", "work", ndim=1)
        builder.alloc(work, context.i64(_WORKSPACE))
        copy_elements(context, words, following)
        start = [Pointer(b, context.i64(0)) for b in (following.buffer, work, drawn.buffer)]
        listed: list[Value | Pointer] = [*start, count]
        for stored, step in operands:
            listed += [Pointer(stored.buffer, stored.offset), step]
        listed += [context.i64(n) for n in draw.further]
        for _ in range(_MOST_PARAMETERS - len(operands) if not draw.further else 0):
            listed += [start[0], context.i64(0)]
        written = [following.buffer, work, drawn.buffer]
        status = builder.invoke(f"{_MODULE}:{draw.function}", listed, "int64", written)
        assert status is not None
        builder.check(builder.eq(status, context.i64(0)), site)

    context.step([words, *(stored for stored, _ in operands)], [following, drawn], emit)
    op = node.op
    return [TensorGroup([following]), _in_dtype(context, drawn, shape, op.dtype)]


def _shape(
    context: Context, node: Apply[Any], size: Tensor, parameters: Sequence[Tensor]
) -> list[Value]:
    """The lengths of a draw. Writes checks that parameters have, or broadcast to, these lengths."""
    builder, one = context.builder, context.i64(1)
    ndim = node.outputs[1].type.ndim or 0
    own = [t.shape for t in parameters]
    if isinstance(node.inputs[1].type, NoneTypeT):
        shape = [one] * ndim
        for lengths in own:
            for axis, n in enumerate(lengths, ndim - len(lengths)):
                if not is_unit(n):
                    other = shape[axis]
                    shape[axis] = (
                        n if is_unit(other) else builder.select(builder.eq(other, one), n, other)
                    )
    else:
        shape = [_element(context, size, k) for k in range(ndim)]
    for axis, n in enumerate(node.outputs[1].type.shape or ()):
        if n is not None:
            shape[axis] = context.unify(context.i64(n), shape[axis])
    for lengths in own:
        for axis, n in enumerate(lengths, ndim - len(lengths)):
            if not is_unit(n) and context.canonical(n) is not context.canonical(shape[axis]):
                context.check(builder.op("or", builder.eq(n, one), builder.eq(n, shape[axis])))
    check_lengths(context, shape)
    return shape


def _element(context: Context, vector: Tensor, k: int) -> Value:
    def at(b: Builder, index: Index) -> Value:
        return vector.at(b, [context.i64(k)])

    return context.scalar(context.virtual("int64", [], at, [vector]))


def _in_dtype(context: Context, tensor: Tensor, shape: Sequence[Value], dtype: str) -> Tensor:
    """The tensor, broadcast to a shape, in a dtype."""
    same = context.aligned(tensor, shape)
    if same and tensor.dtype == dtype:
        return tensor
    zero, one = context.i64(0), context.i64(1)
    # a tensor of one element may have more dimensions than the shape
    pairs = list(zip(tensor.shape, shape[len(shape) - tensor.ndim :], strict=True)) if shape else []

    def element(b: Builder, index: Index) -> Value:
        places = [zero] * (tensor.ndim - len(pairs))
        for i, (n, m) in zip(index[len(index) - len(pairs) :], pairs, strict=True):
            if n is m or context.canonical(n) is context.canonical(m):
                places.append(i)
            else:
                places.append(zero if is_unit(n) else b.select(b.eq(n, one), zero, i))
        return b.cast(tensor.at(b, places), dtype)

    flat = context.flat_over([tensor], shape)
    return context.virtual(dtype, shape, element, [tensor], flat=flat, identity=same)
