"""Lowerings of `Windows` and `OverlapAdd`: formulas that read the input, so that no window is copied unless it is stored."""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Tensor
from occelo_signal.ops.sliding import OverlapAdd, Windows, extents

__all__: list[str] = []


@lowers_to_loops(Windows)
def lower_windows(
    context: Context, node: TensorApply[Windows], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op, builder = node.op, context.builder
    ndim = len(op.windows)
    x = context.store(inputs[0])
    split = x.ndim - ndim
    places: list[Value] = []
    for n, extent, stride in zip(
        x.shape[split:], extents(op.windows, op.dilations), op.strides, strict=True
    ):
        context.check(builder.op("le", context.i64(extent), n))
        room = builder.sub(n, context.i64(extent))
        places.append(
            builder.add(builder.op("floordiv", room, context.i64(stride)), context.i64(1))
        )

    def element(b: Builder, index: Index) -> Value:
        within, at = index[split : split + ndim], index[split + ndim :]
        reads = [
            b.add(b.mul(i, b.i64(s)), b.mul(j, b.i64(d)))
            for i, j, s, d in zip(at, within, op.strides, op.dilations, strict=True)
        ]
        return x.at(b, [*index[:split], *reads])

    shape = [*x.shape[:split], *map(context.i64, op.windows), *places]
    return [context.virtual(x.dtype, shape, element, [x], cost=3)]


def _is_real(node: TensorApply[OverlapAdd]) -> bool:
    dtype = node.inputs[0].type.dtype
    return dtype != "bool" and not is_complex(dtype)


@lowers_to_loops(OverlapAdd, _is_real)
def lower_overlap_add(
    context: Context, node: TensorApply[OverlapAdd], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op, builder = node.op, context.builder
    x, *given = inputs
    ndim = len(op.lengths)
    split = x.ndim - 2 * ndim
    x = context.store(x)
    dynamic = iter([context.scalar(n) for n in given])
    lengths = [next(dynamic) if n is None else context.i64(n) for n in op.lengths]
    windows, places = x.shape[split : split + ndim], x.shape[split + ndim :]
    zero, one = context.i64(0), context.i64(1)
    for w, p, n, s, d in zip(windows, places, lengths, op.strides, op.dilations, strict=True):
        last = builder.add(
            builder.mul(builder.sub(w, one), context.i64(d)),
            builder.mul(builder.sub(p, one), context.i64(s)),
        )
        none = builder.op("or", builder.lt(w, one), builder.lt(p, one))
        context.check(builder.op("or", none, builder.lt(last, n)))

    def element(b: Builder, index: Index) -> Value:
        within, front, at = index[:ndim], index[ndim : ndim + split], index[ndim + split :]
        reads: list[Value] = []
        inside = b.const(True, "bool")
        for j, i, p, s, d in zip(within, at, places, op.strides, op.dilations, strict=True):
            place = b.sub(i, b.mul(j, b.i64(d)))
            inside = b.op("and", inside, b.op("le", zero, place))
            if s > 1:
                step = b.i64(s)
                whole = b.op("floordiv", place, step)
                inside = b.op("and", inside, b.eq(b.mul(whole, step), place))
                place = whole
            inside = b.op("and", inside, b.lt(place, p))
            reads.append(place)
        safe = [b.select(inside, r, zero) for r in reads]
        return b.select(inside, x.at(b, [*front, *within, *safe]), b.const(0, x.dtype))

    shape = [*windows, *x.shape[:split], *lengths]
    terms = context.virtual(x.dtype, shape, element, [x], cost=8)
    return [context.reduce(terms, tuple(range(ndim)), "add", x.dtype, x.dtype)]
