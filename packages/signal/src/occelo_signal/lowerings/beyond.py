"""Lowering of `CorrelateBeyond`: tiles of places, to which the kernel's elements are added one group after the other.

The places at which all elements of a group lie within the vector are one loop without tests. At the others, near the
ends, each element has a loop over the places at which it lies within it. So nothing is multiplied that does not exist,
and the vector is not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Stored, Tensor
from occelo_signal.lowerings.correlating import AT_ONCE, LANES, TILE, Products
from occelo_signal.ops.beyond import CorrelateBeyond

FEW = 16
"""The most places whose sums are computed along the kernel, which is long if it is that of a gradient."""
WHOLE = 32
"""The most elements of a kernel of static length that are one group, whose sums are not read back."""


def _is_summed(node: TensorApply[CorrelateBeyond]) -> bool:
    dtype = node.inputs[0].type.dtype
    return dtype != "float16" and not is_complex(dtype)


@lowers_to_loops(CorrelateBeyond, _is_summed)
def lower_correlate_beyond(
    context: Context, node: TensorApply[CorrelateBeyond], inputs: list[Tensor]
) -> Sequence[Tensor]:
    pair = [context.store(v) for v in inputs[:2]]
    first, *rest = (context.scalar(v) for v in inputs[2:])
    first = context.builder.cast(first, "int64")
    (length,) = node.op.count
    count = context.builder.cast(rest[0], "int64") if length is None else context.i64(length)
    products = Products(context, node, pair, 1)
    width = node.inputs[1].type.shape[-1]
    group = width if width is not None and 0 < width <= WHOLE else AT_ONCE
    context.check(context.builder.op("le", context.i64(0), count))
    result = context.new_stored(pair[0].dtype, [*products.lead, count])

    def emit() -> None:
        with ExitStack() as stack:
            builder, i64 = context.builder, context.i64
            rows = [stack.enter_context(builder.loop(n)).index for n in products.lead]
            offset = i64(0)
            for n, i in zip(products.lead, rows, strict=True):
                offset = builder.add(builder.mul(offset, n), i)
            above = builder.add(count, i64(TILE - 1))
            tiles = builder.op("floordiv", above, i64(TILE))
            tile = stack.enter_context(builder.loop(tiles))
            start = builder.mul(tile.index, i64(TILE))
            stop = builder.op("min", builder.add(start, i64(TILE)), count)
            row = _Row(products, result, rows, builder.mul(offset, count), first)
            row.compute(start, stop, group, length)

    context.step(pair, [result], emit)
    return [result]


class _Row:
    """The sums of one row: they lie in ``result`` from ``offset`` on, and place 0 is at the element ``first``."""

    def __init__(
        self, products: Products, result: Stored, rows: Sequence[Value], offset: Value, first: Value
    ) -> None:
        self.products, self.result, self.rows = products, result, rows
        self.offset, self.first = offset, first
        self.b, self.lanes = products.context.builder, LANES.get(result.dtype, 8)

    def compute(self, start: Value, stop: Value, group: int, places: int | None) -> None:
        """Compute the sums from ``start`` to ``stop``, of the static number of ``places`` in all: of few ones each by itself."""
        b = self.b
        if places is not None:
            (self._add_up if places <= FEW else partial(self._add_all, group))(start, stop)
            return

        def few() -> Sequence[Value]:
            self._add_up(start, stop)
            return []

        def many() -> Sequence[Value]:
            self._add_all(group, start, stop)
            return []

        b.branch(b.op("le", b.sub(stop, start), b.i64(FEW)), few, many)

    def _add_up(self, start: Value, stop: Value) -> None:
        """The sum at each place, along the kernel."""
        b, products = self.b, self.products
        n, m = products.x.shape[-1], products.k.shape[-1]
        with b.loop(stop, start=start) as place:
            at = b.add(self.first, place.index)
            low = b.op("min", b.op("max", b.sub(b.i64(0), at), b.i64(0)), m)
            high = b.op("max", b.op("min", b.sub(n, at), m), low)
            with b.loop(high, start=low, lanes=self.lanes) as along:
                total = along.carry(b.const(0, self.result.dtype), "add")
                weight = products.weight(b, self.rows, [along.index])
                total.following = products.product(
                    b, self.rows, [at], [along.index], weight, total.param
                )
            b.store(self.result.buffer, b.add(self.offset, place.index), total.result)

    def _add_all(self, group: int, start: Value, stop: Value) -> None:
        """The sums at many places, to which groups of ``group`` elements of the kernel are added one after the other."""
        b = self.b
        width = self.products.k.shape[-1]
        with b.loop(stop, start=start, lanes=self.lanes) as place:
            zero = b.const(0, self.result.dtype)
            b.store(self.result.buffer, b.add(self.offset, place.index), zero)
        groups = b.op("floordiv", width, b.i64(group))
        with b.loop(groups) as each:
            self._add_group(b.mul(each.index, b.i64(group)), group, start, stop)
        with b.loop(width, start=b.mul(groups, b.i64(group))) as single:
            self._add(single.index, 1, *self._within(single.index, 1, start, stop))

    def _within(self, j: Value, count: int, start: Value, stop: Value) -> tuple[Value, Value]:
        """The places between two where the elements of the kernel from ``j`` on all lie within the vector."""
        b = self.b
        before = b.add(self.first, j)
        low = b.op("min", b.op("max", b.sub(b.i64(0), before), start), stop)
        room = b.sub(self.products.x.shape[-1], b.add(before, b.i64(count - 1)))
        return low, b.op("max", b.op("min", room, stop), low)

    def _add_group(self, j: Value, count: int, start: Value, stop: Value) -> None:
        b = self.b
        low, high = self._within(j, count, start, stop)
        self._add(j, count, low, high)

        def near_the_ends() -> Sequence[Value]:
            with b.loop(b.i64(count)) as each:
                own = b.add(j, each.index)
                self._add(own, 1, *self._within(own, 1, start, low))
                self._add(own, 1, *self._within(own, 1, high, stop))
            return []

        whole = b.op("and", b.eq(low, start), b.eq(high, stop))
        b.branch(whole, list, near_the_ends)

    def _add(self, j: Value, count: int, start: Value, stop: Value) -> None:
        """Add the products of ``count`` elements of the kernel from ``j`` on, at the places from ``start`` to ``stop``."""
        b, products = self.b, self.products
        each = [b.add(j, b.i64(i)) for i in range(count)]
        weights = [products.weight(b, self.rows, [at]) for at in each]
        with b.loop(stop, start=start, lanes=self.lanes) as place:
            target = b.add(self.offset, place.index)
            total = b.load(self.result.buffer, target)
            at = [b.add(self.first, place.index)]
            for within, weight in zip(each, weights, strict=True):
                total = products.product(b, self.rows, at, [within], weight, total)
            b.store(self.result.buffer, target, total)
