"""Lowering of `ChannelCorrelate`: loops that add the products of several kernels, without a copy of the windows.

The dimensions behind the channels are one: the place of an element of a kernel is a distance in the padded tensor, and rows
of the result are as long as those of the padded tensor. So vector loops run over whole images. A matrix product would write
each element as often as kernels read it, and BLAS multiplies few rows slowly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from occelo_graph import TensorApply
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Stored, Tensor
from occelo_signal.ops.channels import ChannelCorrelate

TILE = 4096
"""The bytes of a tile of one channel."""
LANES = {"float32": 32, "float64": 16}
"""Two vectors of 512 bits: as many sums as the processor adds at a time."""
KERNELS = 4
"""How many kernels are applied to what is loaded."""
AT_ONCE = 32
"""How many elements of a kernel are written out."""


def _is_direct(node: TensorApply[ChannelCorrelate]) -> bool:
    x, w = (v.type for v in node.inputs)
    if x.dtype not in ("float32", "float64") or any(s != 1 for s in node.op.strides):
        return False
    # a kernel of one element is a matrix product as it is
    return 1 < math.prod(n or 0 for n in w.shape[2:]) <= 8 * AT_ONCE


@lowers_to_loops(ChannelCorrelate, _is_direct)
def lower_channel_correlate(
    context: Context, node: TensorApply[ChannelCorrelate], inputs: list[Tensor]
) -> Sequence[Tensor]:
    return [_Images(context, node, inputs).result()]


class _Images:
    """The images of all examples and channels, as rows of numbers."""

    def __init__(
        self, context: Context, node: TensorApply[ChannelCorrelate], inputs: Sequence[Tensor]
    ) -> None:
        self.context, self.op = context, node.op
        b = context.builder
        self.x, self.w = (context.contiguous_copy(v) for v in inputs)
        self.kernel = [n or 0 for n in node.inputs[1].type.shape[2:]]
        self.out_known = node.inputs[1].type.shape[0]
        lengths = self.x.shape[2:]
        groups = context.i64(node.op.groups)
        self.own = self.w.shape[1]
        self.of_group = b.op("floordiv", self.w.shape[0], groups)
        context.check(b.eq(self.x.shape[1], b.mul(self.own, groups)))
        context.check(b.eq(self.w.shape[0], b.mul(self.of_group, groups)))
        self.places: list[Value] = []
        for n, k, d in zip(lengths, self.kernel, node.op.dilations, strict=True):
            extent = context.i64((k - 1) * d + 1)
            context.check(b.op("le", extent, n))
            self.places.append(b.add(b.sub(n, extent), context.i64(1)))
        # the distance of neighbours along each dimension, in an image
        self.steps: list[Value] = []
        for axis in range(len(lengths)):
            self.steps.append(b.product([*lengths[axis + 1 :], context.i64(1)]))
        self.size = b.product(lengths)

    def result(self) -> Stored:
        """The results, whose rows lie as far apart as those of the input."""
        context, b = self.context, self.context.builder
        batch, out = self.x.shape[0], self.w.shape[0]
        room = b.mul(self.places[0], self.steps[0])
        wide = context.new_stored(self.x.dtype, [batch, out, room])

        def emit() -> None:
            last = [
                b.mul(b.sub(n, context.i64(1)), s)
                for n, s in zip(self.places, self.steps, strict=True)
            ]
            count = context.i64(1)
            for each in last:
                count = b.add(count, each)
            groups = context.i64(self.op.groups)
            with b.loop(batch) as example, b.loop(groups) as group:
                self._group(wide, room, example.index, group.index, count)

        context.step([self.x, self.w], [wide], emit)
        strides = [b.mul(out, room), room, *self.steps]
        forward = [True] * len(strides)
        shape = [batch, out, *self.places]
        return Stored(wide.buffer, shape, wide.offset, strides, False, base=wide, forward=forward)

    def _group(self, wide: Stored, room: Value, example: Value, group: Value, count: Value) -> None:
        b, i64 = self.context.builder, self.context.i64
        width = i64(TILE // int(wide.dtype[-2:]) * 8)
        blocks = b.op("floordiv", self.of_group, i64(KERNELS))
        whole = b.mul(blocks, i64(KERNELS))
        first = b.mul(group, self.of_group)
        tiles = b.op("floordiv", b.add(count, b.sub(width, i64(1))), width)
        with b.loop(tiles) as tile:
            start = b.mul(tile.index, width)
            stop = b.op("min", b.add(start, width), count)
            source = b.add(b.mul(example, self.x.shape[1]), b.mul(group, self.own))
            source = b.mul(source, self.size)
            of_example = b.mul(example, self.w.shape[0])

            def block(at: Value, number: int) -> None:
                channels = [b.add(b.add(first, at), i64(i)) for i in range(number)]
                targets = [b.mul(b.add(of_example, c), room) for c in channels]
                self._tile(wide, source, channels, targets, start, stop)

            with b.loop(blocks) as several:
                block(b.mul(several.index, i64(KERNELS)), KERNELS)
            if self.out_known is None or self.out_known // self.op.groups % KERNELS:
                with b.loop(self.of_group, start=whole) as single:
                    block(single.index, 1)

    def _tile(
        self,
        wide: Stored,
        source: Value,
        channels: Sequence[Value],
        targets: Sequence[Value],
        start: Value,
        stop: Value,
    ) -> None:
        b = self.context.builder
        lanes = LANES[wide.dtype]
        with b.loop(stop, start=start, lanes=lanes) as place:
            for target in targets:
                zero = b.const(0.0, wide.dtype)
                b.store(wide.buffer, b.add(target, place.index), zero)
        elements = list(product(*map(range, self.kernel)))
        with b.loop(self.own) as channel:
            image = b.add(source, b.mul(channel.index, self.size))
            for begin in range(0, len(elements), AT_ONCE):
                part = elements[begin : begin + AT_ONCE]
                weights = [
                    [self._weight(out, channel.index, begin + i) for i in range(len(part))]
                    for out in channels
                ]
                distances = [self._distance(each) for each in part]
                with b.loop(stop, start=start, lanes=lanes) as place:
                    at = [b.add(target, place.index) for target in targets]
                    totals = [b.load(wide.buffer, each) for each in at]
                    here = b.add(image, place.index)
                    for i, distance in enumerate(distances):
                        value = b.load(self.x.buffer, b.add(b.add(self.x.offset, here), distance))
                        totals = [
                            b.op("fma", value, row[i], total)
                            for total, row in zip(totals, weights, strict=True)
                        ]
                    for each, total in zip(at, totals, strict=True):
                        b.store(wide.buffer, each, total)

    def _weight(self, out: Value, channel: Value, number: int) -> Value:
        b, i64 = self.context.builder, self.context.i64
        row = b.add(b.mul(out, self.own), channel)
        at = b.add(b.mul(row, i64(math.prod(self.kernel))), i64(number))
        return b.load(self.w.buffer, b.add(self.w.offset, at))

    def _distance(self, element: Sequence[int]) -> Value:
        b, total = self.context.builder, self.context.i64(0)
        for j, d, step in zip(element, self.op.dilations, self.steps, strict=True):
            total = b.add(total, b.mul(step, self.context.i64(j * d)))
        return total
