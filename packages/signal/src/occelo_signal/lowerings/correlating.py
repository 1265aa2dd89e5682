"""Lowering of `Correlate`: the kernel's elements one after the other, each for a tile of places that stays in the fast cache.

So the vector loops run along the places of the kernel, where neighbours read neighbours, and not along the kernel, which
is often short. A short kernel of a static shape is a formula instead, which needs no memory for partial sums.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor
from occelo_signal.ops.correlating import Correlate

IN_A_FORMULA = 32
"""The most elements of a kernel that is written out."""
LANES = {"float32": 32, "float64": 16}
"""Two vectors of 512 bits: as many sums as the processor adds at a time."""
TILE = 1024
"""The places of a tile: with what they read, 16 kB of float64."""
AT_ONCE = 8
"""How many neighbours in the kernel are added to a partial sum at once, so that it is read and written less often."""


def _is_real(node: TensorApply[Correlate]) -> bool:
    return not is_complex(node.inputs[0].type.dtype)


@lowers_to_loops(Correlate, _is_real)
def lower_correlate(
    context: Context, node: TensorApply[Correlate], inputs: list[Tensor]
) -> Sequence[Tensor]:
    products = Products(context, node, [context.store(v) for v in inputs], node.op.ndim).fit()
    lengths = node.inputs[1].type.shape[products.split :]
    if None not in lengths and math.prod(n or 0 for n in lengths) <= IN_A_FORMULA:
        return [products.formula([n or 0 for n in lengths])]
    if node.outputs[0].type.dtype == "float16":
        return [products.reduced()]
    return [products.tiled()]


class Products:
    """The products of the elements of a kernel and those of a tensor, along the last ``ndim`` dimensions."""

    def __init__(
        self, context: Context, node: TensorApply, inputs: Sequence[Stored], ndim: int
    ) -> None:
        self.context, self.ndim = context, ndim
        self.x, self.k = inputs
        x, k = self.x, self.k
        self.split = split = x.ndim - self.ndim
        self.static = static = [v.type.shape[:split] for v in node.inputs[:2]]
        self.lead: list[Value] = []
        for i in range(split):
            if static[0][i] == 1 or static[1][i] == 1:
                self.lead.append((k if static[0][i] == 1 else x).shape[i])
            else:
                self.lead.append(context.unify(x.shape[i], k.shape[i]))
        self.places: list[Value] = []

    def fit(self) -> Products:
        """Itself, at the places where the kernel fits."""
        context, builder = self.context, self.context.builder
        for n, m in zip(self.x.shape[self.split :], self.k.shape[self.split :], strict=True):
            context.check(builder.op("le", context.i64(1), m))
            context.check(builder.op("le", m, n))
            self.places.append(builder.add(builder.sub(n, m), context.i64(1)))
        return self

    def weight(self, b: Builder, front: Index, within: Index) -> Value:
        """An element of the kernel."""
        return self.k.at(b, [*self._row(b, 1, front), *within])

    def product(
        self,
        b: Builder,
        front: Index,
        at: Index,
        within: Index,
        weight: Value,
        total: Value | None = None,
    ) -> Value:
        """A weight times the element of the tensor under it, added to ``total``."""
        reads = [b.add(i, j) for i, j in zip(at, within, strict=True)]
        value = self.x.at(b, [*self._row(b, 0, front), *reads])
        if total is None:
            return b.mul(value, weight)
        if self.x.dtype in ("float32", "float64"):
            return b.op("fma", value, weight, total)
        return b.op("add", total, b.mul(value, weight))

    def _row(self, b: Builder, which: int, front: Index) -> list[Value]:
        zero = b.i64(0)
        return [zero if n == 1 else i for n, i in zip(self.static[which], front, strict=True)]

    def formula(self, lengths: Sequence[int]) -> Tensor:
        """The sums written out for a kernel of static lengths."""

        def element(b: Builder, index: Index) -> Value:
            front, at = index[: self.split], index[self.split :]
            total: Value | None = None
            for numbers in np.ndindex(*lengths):
                within = [b.i64(j) for j in numbers]
                weight = self.weight(b, front, within)
                total = self.product(b, front, at, within, weight, total)
            assert total is not None
            return total

        shape = [*self.lead, *self.places]
        cost = 3 * math.prod(lengths)
        return self.context.virtual(self.x.dtype, shape, element, [self.x, self.k], cost=cost)

    def reduced(self) -> Tensor:
        """The products, summed over the elements of the kernel."""
        ndim, split = self.ndim, self.split

        def element(b: Builder, index: Index) -> Value:
            within, front, at = index[:ndim], index[ndim : ndim + split], index[ndim + split :]
            return self.product(b, front, at, within, self.weight(b, front, within))

        shape = [*self.k.shape[split:], *self.lead, *self.places]
        context, x = self.context, self.x
        products = context.virtual(x.dtype, shape, element, [x, self.k], cost=3)
        return context.reduce(products, tuple(range(ndim)), "add", x.dtype, x.dtype)

    def tiled(self) -> Tensor:
        """The sums of tiles, in memory."""
        context = self.context
        result = context.new_stored(self.x.dtype, [*self.lead, *self.places])

        def emit() -> None:
            builder, last = context.builder, self.places[-1]
            with ExitStack() as stack:
                rows = [
                    stack.enter_context(builder.loop(n)).index
                    for n in [*self.lead, *self.places[:-1]]
                ]
                above = builder.add(last, context.i64(TILE - 1))
                tiles = builder.op("floordiv", above, context.i64(TILE))
                tile = stack.enter_context(builder.loop(tiles))
                start = builder.mul(tile.index, context.i64(TILE))
                stop = builder.op("min", builder.add(start, context.i64(TILE)), last)
                self._tile(result, rows, start, stop)

        context.step([self.x, self.k], [result], emit)
        return result

    def _tile(self, result: Stored, rows: Sequence[Value], start: Value, stop: Value) -> None:
        b, i64 = self.context.builder, self.context.i64
        offset = b.i64(0)
        for n, i in zip([*self.lead, *self.places[:-1]], rows, strict=True):
            offset = b.add(b.mul(offset, n), i)
        offset = b.mul(offset, self.places[-1])
        front, upper = rows[: self.split], rows[self.split :]
        with b.loop(stop, start=start, lanes=LANES.get(self.x.dtype, 8)) as place:
            b.store(result.buffer, b.add(offset, place.index), b.const(0, result.dtype))
        *outer, width = self.k.shape[self.split :]

        def add(first: Value, count: int, within: Sequence[Value]) -> None:
            each = [[*within, b.add(first, i64(j))] for j in range(count)]
            weights = [self.weight(b, front, at) for at in each]
            with b.loop(stop, start=start, lanes=LANES.get(self.x.dtype, 8)) as place:
                target = b.add(offset, place.index)
                total = b.load(result.buffer, target)
                for at, weight in zip(each, weights, strict=True):
                    total = self.product(b, front, [*upper, place.index], at, weight, total)
                b.store(result.buffer, target, total)

        with ExitStack() as stack:
            within = [stack.enter_context(b.loop(n)).index for n in outer]
            groups = b.op("floordiv", width, i64(AT_ONCE))
            with b.loop(groups) as group:
                add(b.mul(group.index, i64(AT_ONCE)), AT_ONCE, within)
            with b.loop(width, start=b.mul(groups, i64(AT_ONCE))) as single:
                add(single.index, 1, within)
