"""Lowerings of `Windows` and `OverlapAdd`: formulas that read the input, so that no window is copied unless it is stored."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor
from occelo_signal.ops.sliding import OverlapAdd, Windows, extents


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


IN_A_FORMULA = 16
"""The most windows over an element whose sum is written out."""


class _Covering(NamedTuple):
    """One of the windows over an element: its place, the element's place in it, and whether there is such a window."""

    place: Value
    within: Value
    exists: Value


Cover = Callable[[Builder, Value, Value], _Covering]
"""A window over an element, as a function of the element's position and the number of places."""


def _covering(width: int | None, stride: int, dilation: int) -> list[Cover] | None:
    """The windows over an element along one axis; None unless they are the last ones that begin before it.

    With steps of 1, the elements are at all places of as many windows. With longer steps, no window covers an element
    twice, and of those that begin before it, each begins a step before the one after it.
    """
    if width is None or (stride > 1 and dilation > 1):
        return None

    def by_element(number: int) -> Cover:
        def cover(b: Builder, at: Value, places: Value) -> _Covering:
            place = b.sub(at, b.i64(number * dilation))
            inside = b.op("and", b.op("le", b.i64(0), place), b.lt(place, places))
            return _Covering(place, b.i64(number), inside)

        return cover

    def by_step(number: int) -> Cover:
        def cover(b: Builder, at: Value, places: Value) -> _Covering:
            if stride & (stride - 1):
                last = b.op("floordiv", at, b.i64(stride))
            else:
                last = b.op("shr", at, b.i64(stride.bit_length() - 1))
            place = b.sub(last, b.i64(number))
            within = b.sub(at, b.mul(place, b.i64(stride)))
            inside = b.op("and", b.op("le", b.i64(0), place), b.lt(place, places))
            if (number + 1) * stride > width:
                inside = b.op("and", inside, b.lt(within, b.i64(width)))
            return _Covering(place, within, inside)

        return cover

    if stride == 1:
        return [by_element(number) for number in range(width)]
    return [by_step(number) for number in range(-(-width // stride))]


def _written_out(
    context: Context, x: Stored, axes: Sequence[Sequence[Cover]], split: int, lengths: list[Value]
) -> Tensor:
    """The sum over all windows that cover an element."""
    places = x.shape[split + len(axes) :]

    def element(b: Builder, index: Index) -> Value:
        front, at = index[:split], index[split:]
        options = [
            [cover(b, i, n) for cover in covers]
            for covers, i, n in zip(axes, at, places, strict=True)
        ]
        total: Value | None = None
        for chosen in itertools.product(*options):
            exists = chosen[0].exists
            for each in chosen[1:]:
                exists = b.op("and", exists, each.exists)
            zero = b.i64(0)
            within = [b.select(exists, each.within, zero) for each in chosen]
            safe = [b.select(exists, each.place, zero) for each in chosen]
            term = b.select(exists, x.at(b, [*front, *within, *safe]), b.const(0, x.dtype))
            total = term if total is None else b.op("add", total, term)
        assert total is not None
        return total

    cost = 8 * math.prod(map(len, axes))
    return context.virtual(x.dtype, [*x.shape[:split], *lengths], element, [x], cost=cost)


def _is_real(node: TensorApply[OverlapAdd]) -> bool:
    dtype = node.inputs[0].type.dtype
    return dtype != "bool" and not is_complex(dtype)


@lowers_to_loops(OverlapAdd, _is_real)
def lower_overlap_add(
    context: Context, node: TensorApply[OverlapAdd], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op, builder = node.op, context.builder
    x, *rest = inputs
    ndim = len(op.lengths)
    split = x.ndim - 2 * ndim
    x = context.store(x)
    dynamic = iter([context.scalar(n) for n in rest])
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

    axes = [
        _covering(w, s, d)
        for w, s, d in zip(
            node.inputs[0].type.shape[split:], op.strides, op.dilations, strict=False
        )
    ]
    if math.prod(len(each or ()) for each in axes) in range(1, IN_A_FORMULA + 1):
        return [_written_out(context, x, [each or [] for each in axes], split, lengths)]

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
