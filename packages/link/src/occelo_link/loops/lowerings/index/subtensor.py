"""Lowerings of ops that read or write elements at integers, slices and arrays of positions.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from math import prod
from typing import TYPE_CHECKING, Any

from occelo_graph import Constant, TensorApply
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_link.loops.either_memory import memory_of_either
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Carried, Value
from occelo_link.loops.kernel import Passing
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import CHEAP, Context
from occelo_link.loops.lowerings.index.key import Entry, Part, Position, read_key
from occelo_link.loops.lowerings.index.search import positions_of_mask
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor, Virtual, is_unit

if TYPE_CHECKING:
    import numpy.typing as npt

    from occelo_graph import TensorVariable
    from occelo_graph.ops.index.key import Key

_SAMPLES = 64
"""The number of positions that are compared with the next ones, to see whether most are equal."""


_SHORT_ROW = 64
"""A matrix with rows of fewer elements is copied as a whole: runs of elements between two rows would be too short."""


def _part_of(context: Context, x: Stored, entries: Sequence[Entry]) -> Stored:
    """The view of a stored tensor that a key of integers and slices selects."""
    builder = context.builder
    offset = x.offset
    shape: list[Value] = []
    strides: list[Value] = []
    forward: list[bool] = []
    kept_whole = True
    for axis, (entry, stride) in enumerate(zip(entries, x.strides, strict=True)):
        if isinstance(entry, Position):
            offset = builder.add(offset, builder.mul(entry.value, stride))
            kept_whole = kept_whole and not shape
        else:
            assert isinstance(entry, Part)
            offset = builder.add(offset, builder.mul(entry.start, stride))
            whole = entry.length is x.shape[axis]
            known_step = entry.step.args[0] if entry.step.op == "const" else 0
            step_one = known_step == 1
            forward.append(x.forward[axis] and known_step > 0)
            kept_whole = kept_whole and step_one and (whole or not shape)
            shape.append(entry.length)
            strides.append(builder.mul(stride, entry.step))
    # the view is in C order if the key selects positions in leading dimensions, and at most slices the dimension after
    # them
    flat = x.flat and kept_whole
    return Stored(x.buffer, shape, offset, strides, flat, base=x, forward=forward)


@lowers_to_loops(Subtensor)
def lower_subtensor(
    context: Context, node: TensorApply[Subtensor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x = inputs[0]
    entries = read_key(context, op.key, x.shape, inputs[1:])
    if isinstance(x, Stored):
        return [_part_of(context, x, entries)]
    shape = [e.length for e in entries if isinstance(e, Part)]

    def element(builder: Builder, index: Index) -> Value:
        return x.at(builder, _core_index(builder, entries, index))

    return [context.virtual(x.dtype, shape, element, [x], cost=0)]


def _core_index(builder: Builder, entries: Sequence[Entry], index: Index) -> list[Value]:
    rest = iter(index)
    at: list[Value] = []
    for entry in entries:
        if isinstance(entry, Position):
            at.append(entry.value)
        else:
            assert isinstance(entry, Part)
            at.append(builder.add(entry.start, builder.mul(next(rest), entry.step)))
    return at


@lowers_to_loops(IncSubtensor)
def lower_inc_subtensor(
    context: Context, node: TensorApply[IncSubtensor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x, y = inputs[0], context.apart_from(inputs[0], inputs[1])
    entries = read_key(context, op.key, x.shape, inputs[2:])
    lengths = [e.length for e in entries if isinstance(e, Part)]
    value = _spread(context, node, y, lengths, x.dtype)

    def write(result: Stored, before: Tensor | None = None) -> None:
        part = _part_of(context, result, entries)
        part.flat = False
        written = _written(part, before or part, value, op.set_instead_of_inc)
        copy_elements(context, written, part)

    def copied(result: Stored) -> None:
        _copy_around(context, x, result, entries)

        def before(builder: Builder, index: Index) -> Value:
            return x.at(builder, _core_index(builder, entries, index))

        write(result, Virtual(x.dtype, lengths, before, reads=x.reads))

    around = copied if _copies_around(x, entries) else None
    return [context.change(x, [y], write, copied=around)]


def _written(part: Stored, old: Tensor, value: Tensor, replace: bool) -> Tensor:
    """The elements to store in ``part``: ``value`` if ``replace`` is True, otherwise the ``old`` elements plus ``value``."""
    if replace:
        return value
    combine = "or" if part.dtype == "bool" else "add"

    def element(builder: Builder, index: Index) -> Value:
        if isinstance(old, Stored):
            before = builder.load(old.buffer, old.position(builder, index), fixed=True)
        else:
            before = old.at(builder, index)
        return builder.op(combine, before, value.at(builder, index))

    return Virtual(part.dtype, part.shape, element)


def _last_sliced(x: Tensor, entries: Sequence[Entry]) -> int:
    """The last axis along which a key of slices does not select all positions; -1 if there is none."""
    sliced = [
        axis
        for axis, entry in enumerate(entries)
        if isinstance(entry, Part) and entry.length is not x.shape[axis]
    ]
    return sliced[-1] if sliced else -1


def _copies_around(x: Tensor, entries: Sequence[Entry]) -> bool:
    """Whether a key selects adjacent positions, perhaps many, along the first axis or two, and all along the others.

    Then the elements around them are copied, and not those that are written anyway.
    """
    parts = [e for e in entries if isinstance(e, Part) and is_unit(e.step)]
    return x.flat and len(parts) == x.ndim and 0 <= _last_sliced(x, entries) < 2


def _copy_around(context: Context, x: Tensor, result: Stored, entries: Sequence[Entry]) -> None:
    """Copy the elements of ``x`` that a key does not select (see `_copies_around`).

    In memory they are runs between the rows that are selected. If rows are short, everything is copied, in one run.
    """
    builder, zero, one = context.builder, context.i64(0), context.i64(1)
    last = _last_sliced(x, entries)
    part, rows = entries[last], entries[0]
    flat = max((axis for axis, n in enumerate(x.shape) if not is_unit(n)), default=0)
    assert isinstance(part, Part)
    assert isinstance(rows, Part)
    inner = builder.product(x.shape[last + 1 :])
    row = builder.mul(x.shape[last], inner) if last else zero
    first, count = (rows.start, rows.length) if last else (zero, one)
    begin = builder.add(builder.mul(first, row), builder.mul(part.start, inner))
    width = builder.mul(part.length, inner)
    if last:
        short = builder.lt(row, context.i64(_SHORT_ROW))
        count = builder.select(short, zero, count)
    with builder.loop(builder.add(count, one), parallel=True) as runs:
        start = builder.add(begin, builder.mul(builder.sub(runs.index, one), row))
        start = builder.select(builder.eq(runs.index, zero), zero, builder.add(start, width))
        stop = builder.add(begin, builder.mul(runs.index, row))
        stop = builder.select(builder.eq(runs.index, count), builder.product(x.shape), stop)
        with builder.loop(stop, start=start, lanes=8) as loop:
            index = [zero] * x.ndim
            index[flat] = loop.index
            builder.store(result.buffer, loop.index, x.at(builder, index))


def _spread(
    context: Context,
    node: TensorApply[IncSubtensor | AdvancedIncSubtensor],
    y: Tensor,
    shape: Sequence[Value],
    dtype: str,
) -> Tensor:
    """The tensor ``y``, broadcast to ``shape``, which is the shape of the elements that are written.

    Only dimensions of ``y`` with the static length 1 are broadcast.
    """
    type_ = node.inputs[1].type
    lead = len(shape) - y.ndim
    for i, n in enumerate(type_.shape):
        if n != 1:
            context.unify(shape[lead + i], y.shape[i])

    def element(builder: Builder, index: Index) -> Value:
        own = index[lead:]
        zero = context.i64(0)
        at = [zero if n == 1 else i for n, i in zip(type_.shape, own, strict=True)]
        return builder.cast(y.at(builder, at), dtype)

    return Virtual(dtype, shape, element, cost=y.cost)


# arrays of positions


class Layout:
    """The dimensions of the result of advanced indexing.

    As in NumPy, the dimensions of the broadcast index arrays replace the indexed dimensions if these are adjacent.
    Otherwise the dimensions of the index arrays come first.
    """

    def __init__(
        self,
        context: Context,
        key: Key,
        x: Tensor,
        given: Sequence[Tensor],
        sources: Sequence[TensorVariable],
    ) -> None:
        self.context = context
        self.x = x
        self.sources = sources
        places = [i for i, e in enumerate(key) if not isinstance(e, slice)]
        neighbours = places == list(range(places[0], places[-1] + 1))
        self.where = places[0] if neighbours else 0
        raw = read_key(context, key, x.shape, given)
        self.entries = self._positions(raw, given, sources)
        self.parts = [e for e in self.entries if isinstance(e, Part)]
        arrays = [e for e in self.entries if isinstance(e, Tensor)]
        self.arrays = arrays
        self.made = self._broadcast(arrays)
        lengths = [p.length for p in self.parts]
        self.shape = [*lengths[: self.where], *self.made, *lengths[self.where :]]

    def _positions(
        self, raw: Sequence[Entry], keys: Sequence[Tensor], sources: Sequence[TensorVariable]
    ) -> list[Entry]:
        """The entries of the key, with all arrays of positions checked.

        A mask is replaced by arrays of positions, one for each of its dimensions.
        """
        context = self.context
        entries: list[Entry] = []
        self.static: dict[Tensor, Sequence[int | None]] = {}
        for entry in raw:
            axis = len(entries)
            if not isinstance(entry, Tensor):
                entries.append(entry)
            elif entry.dtype == "bool":
                for i in range(entry.ndim):
                    context.unify(entry.shape[i], self.x.shape[axis + i])
                positions = positions_of_mask(context, entry)
                for tensor in positions:
                    self.static[tensor] = (None,)
                entries += positions
            else:
                source = next(s for s, t in zip(sources, keys, strict=True) if t is entry)
                least = self._check(entry, source, self.x.shape[axis])
                wrapped = self._wrapped(entry, source, self.x.shape[axis], least)
                self.static[wrapped] = source.type.shape
                entries.append(wrapped)
        return entries

    def _check(self, array: Tensor, source: TensorVariable, length: Value) -> Value:
        """Write a check that all positions in an array are in range. Returns the least one, or less."""
        context, builder = self.context, self.context.builder
        key = ("positions", array, context.canonical(length).number)
        for block in builder.stack:
            if key in block.memo:
                checked: Value = block.memo[key]
                return checked
        least = builder.block.memo[key] = self._checked(array, source, length)
        return least

    def _checked(self, array: Tensor, source: TensorVariable, length: Value) -> Value:
        context, builder = self.context, self.context.builder
        if isinstance(source, Constant):
            data: npt.NDArray[Any] = source.data.astype("int64")
            if data.size == 0:
                return context.i64(0)
            least, most = context.i64(int(data.min())), context.i64(int(data.max()))
        elif array.bounds is not None:
            least, most = array.bounds
        else:
            axes = tuple(range(array.ndim))
            if array.cost > CHEAP:
                array = context.store(array)
            as_int = self.context.cast(array, "int64")
            if axes:
                low = context.reduce(as_int, axes, "min", "int64", "int64")
                high = context.reduce(as_int, axes, "max", "int64", "int64")
                least, most = context.scalar(low), context.scalar(high)
            else:
                least = most = context.scalar(as_int)
        context.check(builder.lt(most, length))
        if least.op != "const" or least.args[0] < 0:
            negative = builder.sub(context.i64(0), length)
            context.check(builder.op("le", negative, least))
        return least

    def _wrapped(
        self, array: Tensor, source: TensorVariable, length: Value, least: Value
    ) -> Tensor:
        """The positions, counted from 0: the length is added to negative positions, which count from the end.

        If no element of a long array is negative, which ``least`` says, its own memory is read.
        """
        context = self.context
        # as in NumPy, positions from 2**63 on are negative ones
        unsigned = array.dtype in ("uint8", "uint16", "uint32")
        if unsigned or (least.op == "const" and least.args[0] >= 0):
            return context.cast(array, "int64")

        def wrapped(builder: Builder, values: Sequence[Value]) -> Value:
            value = builder.cast(values[0], "int64")
            below = builder.lt(value, builder.i64(0))
            return builder.select(below, builder.add(value, length), value)

        def from_start(tensor: Tensor) -> Tensor:
            return context.mapped("int64", wrapped, tensor, cost=2)

        static = source.type.shape
        short = None not in static and prod(n or 0 for n in static) <= _SAMPLES
        if short or not isinstance(array, Stored) or array.dtype != "int64" or not array.flat:
            return from_start(array)
        builder = context.builder
        key = ("positions from the start", array, context.canonical(length).number)
        for block in builder.stack:
            if key in block.memo:
                stored: Stored = block.memo[key]
                return stored
        stored = builder.block.memo[key] = memory_of_either(
            context,
            array,
            builder.op("le", context.i64(0), least),
            array.shape,
            lambda given, target: copy_elements(context, from_start(given), target),
        )
        return stored

    def _broadcast(self, arrays: Sequence[Tensor]) -> list[Value]:
        context = self.context
        ndim = max((t.ndim for t in arrays), default=0)
        shape: list[Value] = []
        for axis in range(-ndim, 0):
            length: Value | None = None
            for tensor in arrays:
                if -axis > tensor.ndim or self.static[tensor][axis] == 1:
                    continue
                own = tensor.shape[axis]
                length = own if length is None else context.unify(length, own)
            shape.append(context.i64(1) if length is None else length)
        return shape

    def index_into(self, builder: Builder, index: Index) -> list[Value]:
        """The index at which ``x`` is read for the element of the result at ``index``."""
        inner = index[self.where : self.where + len(self.made)]
        rest = iter([*index[: self.where], *index[self.where + len(self.made) :]])
        at: list[Value] = []
        zero = builder.i64(0)
        for entry in self.entries:
            if isinstance(entry, Position):
                at.append(entry.value)
            elif isinstance(entry, Part):
                at.append(builder.add(entry.start, builder.mul(next(rest), entry.step)))
            else:
                own = inner[len(inner) - entry.ndim :]
                static = self.static[entry]
                where = [zero if n == 1 else i for n, i in zip(static, own, strict=True)]
                at.append(entry.at(builder, where))
        return at


@lowers_to_loops(AdvancedSubtensor)
def lower_advanced(
    context: Context, node: TensorApply[AdvancedSubtensor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x = inputs[0]
    layout = Layout(context, op.key, x, inputs[1:], node.inputs[1:])

    def element(builder: Builder, index: Index) -> Value:
        return x.at(builder, layout.index_into(builder, index))

    return [context.virtual(x.dtype, layout.shape, element, [x, *layout.arrays], cost=3)]


@lowers_to_loops(AdvancedIncSubtensor)
def lower_advanced_inc(
    context: Context, node: TensorApply[AdvancedIncSubtensor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    op = node.op
    x, y, *keys = [inputs[0], *(context.apart_from(inputs[0], v) for v in inputs[1:])]
    layout = Layout(context, op.key, x, keys, node.inputs[2:])
    value = _spread(context, node, y, layout.shape, x.dtype)

    def write(result: Stored) -> None:
        added = "or" if x.dtype == "bool" else "add"
        combine = None if op.set_instead_of_inc else added
        write_selected(context, layout, result, value, combine, passing)

    fits = isinstance(y, Virtual) and context.aligned(y, layout.shape)
    passing = Passing(y) if fits else None
    return [context.change(x, [y, *layout.arrays], write, passing=passing)]


def write_selected(
    context: Context,
    layout: Layout,
    result: Stored,
    value: Tensor,
    combine: str | None,
    passing: Passing | None,
) -> None:
    """Store ``value`` in the selected elements, or combine them by the operation ``combine``, in C order.

    Elements of ``passing`` are stored, too. If the last dimension comes from a slice, the loop over it is vectorized. Elements of equal positions one after the other
    are combined in a register, if most seem to be equal: a load that waits for the store before it takes several times as long.
    """
    builder, shape = context.builder, layout.shape
    zeros = [context.i64(0)] * len(shape)
    axes = [i for i, n in enumerate(shape) if not is_unit(n)]
    array_axes = range(layout.where, layout.where + len(layout.made))

    def place(index: Index) -> Value:
        return result.position(builder, layout.index_into(builder, index))

    def write(in_runs: bool) -> list[Value]:
        index = [*zeros]
        with ExitStack() as stack:
            carried: list[Carried] = []
            for axis in axes:
                last_slice = axis == axes[-1] and axis not in array_axes
                loop = stack.enter_context(builder.loop(shape[axis], lanes=8 if last_slice else 1))
                index[axis] = loop.index
                if in_runs:
                    first = (context.i64(-1), builder.const(0, result.dtype))
                    carried = [loop.carry(each) for each in first]
            where, new = place(index), value.at(builder, index)
            if passing is not None:
                passing.store(builder, index)

            def load() -> list[Value]:
                return [builder.load(result.buffer, where, fixed=True)]

            if carried:
                last, total = (each.param for each in carried)
                before = builder.branch(builder.eq(where, last), lambda: [total], load)
            else:
                before = load() if combine else []
            new = builder.op(combine, *before, new) if combine else new
            builder.store(result.buffer, where, new)
            for each, following in zip(carried, (where, new), strict=False):
                each.following = following
        return []

    arrays = [v for v in layout.sources if v.type.ndim]
    one = [v.type.ndim for v in arrays] == [1] and len(axes) == 1 and axes[0] in array_axes
    count = shape[axes[0]] if one else context.i64(0)
    if combine is None or not one:
        write(False)
        return

    def at(k: Value) -> Index:
        return [*zeros[: axes[0]], k, *zeros[axes[0] + 1 :]]

    few = count.op == "const" and count.args[0] < 2 * _SAMPLES

    def scatter() -> list[Value]:
        if few or passing is not None or value.cost > CHEAP:  # long code is not written four times
            return write(False)
        _combine_in_fours(
            builder,
            count,
            result,
            lambda k: place(at(k)),
            lambda k: value.at(builder, at(k)),
            combine,
        )
        return []

    if isinstance(arrays[0], Constant):
        data: npt.NDArray[Any] = arrays[0].data
        in_runs = 4 * int((data[1:] == data[:-1]).sum()) > 3 * data.size
        write(True) if in_runs else scatter()
    elif few:
        write(False)
    else:
        seem = _seem_in_runs(builder, count, lambda k: place(at(k)))
        builder.branch(seem, lambda: write(True), scatter)


def _combine_in_fours(
    builder: Builder,
    count: Value,
    result: Stored,
    place: Callable[[Value], Value],
    value: Callable[[Value], Value],
    combine: str,
) -> None:
    """Combine elements of ``result`` with values, four in each iteration: counting takes as long as a load."""

    def some(first: Value, number: int) -> None:
        at = [builder.add(first, builder.i64(k)) for k in range(number)]
        for where, k in zip([place(k) for k in at], at, strict=True):
            old = builder.load(result.buffer, where, fixed=True)
            builder.store(result.buffer, where, builder.op(combine, old, value(k)))

    fours = builder.op("floordiv", count, builder.i64(4))
    done = builder.mul(fours, builder.i64(4))
    with builder.loop(fours) as loop:
        some(builder.mul(loop.index, builder.i64(4)), 4)
    with builder.loop(builder.sub(count, done)) as loop:
        some(builder.add(loop.index, done), 1)


def _seem_in_runs(builder: Builder, count: Value, place: Callable[[Value], Value]) -> Value:
    """Whether of `_SAMPLES` places, spread over all, nearly all are equal to the next ones. False if there are few places."""
    samples = builder.i64(_SAMPLES)
    enough = builder.op(
        "min", builder.op("floordiv", count, builder.i64(2 * _SAMPLES)), builder.i64(1)
    )
    apart = builder.op("floordiv", count, samples)
    with builder.loop(builder.mul(enough, samples)) as loop:
        equal = loop.carry(builder.i64(0))
        at = builder.mul(loop.index, apart)
        same = builder.eq(place(at), place(builder.add(at, builder.i64(1))))
        equal.following = builder.add(equal.param, builder.cast(same, "int64"))
    return builder.lt(builder.i64(_SAMPLES * 7 // 8), equal.result)
