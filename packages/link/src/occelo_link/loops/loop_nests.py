"""Writes the loops of kernels: nests of loops that store and reduce tensors.

The schedule calls `write_kernel`. Lowerings that write their own loops call `copy_elements` and `copy_together`. `write_kernel`, and
tests, call `reduce_elements`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from occelo_graph.ops.reductions import by_operation
from occelo_link.loops.ir.operations import is_float
from occelo_link.loops.ir.program import Carried, Value, itemsize
from occelo_link.loops.kernel import ElementRoot, LoopKernel, ReduceRoot
from occelo_link.loops.tensors import Stored, Tensor, is_small, is_unit

if TYPE_CHECKING:
    from occelo_link.loops.ir.builder import Builder
    from occelo_link.loops.lowering import Context

BLOCK = 2048
"""The number of elements of a block. Floats are summed block by block, and the sums of blocks are added with
compensation.
"""
_EXACT_BLOCK = 16_384
"""The number of elements of a block of a reduction that gives the same result in any order, for several threads."""
_COLUMNS = 2048
"""The number of columns that one of several threads sums, 4 times that of costly formulas, which lose less by short blocks."""
_ROWS = 4
"""The number of rows that are added to accumulators in memory at a time: a million squares took 0.75 of the time with 4."""
LIGHT = 12
"""The largest cost of a formula that is reduced with 32 accumulators. For more costly formulas there are 8
accumulators, or 16 for float32.
"""
_HEAVY = 60
"""The least cost of formulas that are computed column by column for rows of 4 to 6 elements. Of 60 rows of 4, one of cost 53 took as
long either way, and one of cost 80 a tenth less.
"""
LONG = 300
"""The least cost of a formula that is computed for 32 elements at a time. All random numbers cost at least this much.

The chains of operations in such a formula are longer than a processor looks ahead. With few elements at a time, it
would wait for results: a million normal numbers took 1.5 times as long with 8 elements at a time (one vector), and 1.2
times with 16. Shorter formulas whose elements are stored gain nothing: prices of options (cost 182) took as long with 8 as with 32
elements, and compiling took 2 to 3 times as long for 32.
"""
_FEW_TERMS, _COST_OF_TERMS = 8, 120
"""A reduction along another axis than the last one has its totals in registers, not in memory, if it has at most `_FEW_TERMS` terms
with at most this cost altogether, and no element is stored: sums of 4 rows of 20,000 elements took half the time, of 8 rows of 1,000
elements 0.87, and logarithms of sums of exponentials of 4 rows 0.85, but of 8 rows 1.27.
"""
_MEDIUM, _FEW_SUMS = 50, 8
"""The least cost of a formula that is reduced with 16 accumulators for each of at most `_FEW_SUMS` sums. A processor looks ahead over
fewer than three vectors of such formulas: logistic regression of 3,000 x 4 numbers took 0.94 of the time, and a mixture of two normal
distributions (1,000 numbers) 0.9.
"""


def identity_element(combine: str, dtype: str) -> float | int | bool:
    """The identity element of the operation ``combine`` for a dtype, such as 0 for ``add``."""
    identity: float | int | bool = by_operation(combine).start(dtype)
    return identity


def write_kernel(context: Context, kernel: LoopKernel) -> None:
    """Allocate the results of a kernel, and write its loops."""
    for root in kernel.roots:
        if isinstance(root, ReduceRoot) or root.target.readers:
            context.schedule.allocate(root.target)
    Nest(context, kernel).write()


def copy_elements(context: Context, tensor: Tensor, target: Stored) -> None:
    """Write the loops that store a tensor in ``target``, which must be allocated already."""
    copy_together(context, [(tensor, target)])


def copy_together(context: Context, pairs: Sequence[tuple[Tensor, Stored]]) -> None:
    """Write loops that store several tensors of one shape in their targets, which must be allocated already."""
    kernel = LoopKernel((), pairs[0][0].shape)
    for tensor, target in pairs:
        kernel.add(ElementRoot(tensor, target, context.builder.node))
        target.readers += 1
    Nest(context, kernel).write()


class Nest:
    """Writes the loops of one kernel."""

    def __init__(self, context: Context, kernel: LoopKernel) -> None:
        self.context = context
        self.builder: Builder = context.builder
        self.kernel = kernel
        # a flat loop needs the same lengths for all roots; lengths may have been unified since the first root was added
        self.shape = tuple(context.canonical(n) for n in kernel.shape)
        self.axes = [i for i, n in enumerate(self.shape) if not is_unit(n)]
        self.elements = [r for r in kernel.roots if isinstance(r, ElementRoot)]
        self.reductions = [r for r in kernel.roots if isinstance(r, ReduceRoot)]
        self.operations = [(r.combine, r.acc_dtype) for r in self.reductions for _ in r.terms]
        self.reduced = [] if kernel.axes is None else [i for i in self.axes if i in kernel.axes]
        self.flat = all(
            (r.tensor.flat or all(is_unit(n) for n in r.tensor.shape))
            and (isinstance(r, ReduceRoot) or r.target.flat)
            for r in kernel.roots
        )
        if self._has_short_rows():
            self.axes.insert(0, self.axes.pop())

    def _has_short_rows(self) -> bool:
        """Whether vectors had better hold elements of a column, since rows are too short for them.

        Loads of elements that lie apart cost more, so formulas must gain more; reductions gain registers, too.
        """
        columns, rows = ([self.builder.i64(0)] * 2 + [self.shape[i] for i in self.axes])[-2:]
        if columns.op != "const" or rows.op != "const" or not 8 <= columns.args[0] <= _COLUMNS:
            return False
        if self.reduced == self.axes[-2:-1]:
            return rows.args[0] <= 6
        heavy = sum(r.tensor.cost for r in self.kernel.roots) >= _HEAVY
        most = 6 if heavy or self.reductions else 3
        return not self.flat and rows.args[0] <= most and self._cost() > LIGHT

    def write(self) -> None:
        trailing = self.axes[len(self.axes) - len(self.reduced) :]
        if not self.reductions:
            self._write_elements()
        elif self.reduced == trailing:
            self._write_trailing()
        elif self._has_few_terms():
            self._write_unrolled()
        else:
            self._write_general()

    # parts

    def _zeros(self) -> list[Value]:
        return [self.builder.i64(0)] * len(self.shape)

    def _costs(self, least: int, count: Value) -> bool:
        """Whether a formula has at least this cost, and the number of elements is large or dynamic."""
        many = count.op != "const" or count.args[0] >= 128
        return many and self._cost() >= least

    def _cost(self) -> int:
        return max(r.tensor.cost for r in self.kernel.roots)

    def _lanes(self, light: int = 8) -> int:
        dtypes = {r.tensor.dtype for r in self.kernel.roots} | {
            s.dtype for r in self.kernel.roots for s in r.tensor.reads
        }
        widest = max((itemsize(d) for d in dtypes), default=8)
        return light if widest == 8 else 2 * light if widest == 4 else 4 * light

    def _store_elements(self, index: Sequence[Value]) -> None:
        """Compute the element roots at an index. Store those that have readers outside of the kernel."""
        builder = self.builder
        for root in self.elements:
            builder.node = root.node
            value = root.tensor.at(builder, index)
            if root.target.readers:
                builder.store(root.target.buffer, root.target.position(builder, index), value)
            root.target.forward_store(builder, index, value)

    def _loops(self, stack: ExitStack, axes: Sequence[int], index: list[Value]) -> None:
        """Open loops over the given axes. Loops are parallel if their axes are not reduced."""
        for axis in axes:
            loop = self.builder.loop(self.shape[axis], parallel=axis not in self.reduced)
            index[axis] = stack.enter_context(loop).index

    def _write_elements(self) -> None:
        builder, index = self.builder, self._zeros()
        if not self.axes:
            self._store_elements(index)
            return
        last = self.axes[-1]
        with ExitStack() as stack:
            count = self.shape[last]
            if self.flat:
                count = builder.product([self.shape[i] for i in self.axes])
            else:
                self._loops(stack, self.axes[:-1], index)
            lanes = max(32, self._lanes()) if self._costs(LONG, count) else self._lanes()
            loop = stack.enter_context(
                builder.loop(count, lanes=lanes, parallel=len(self.axes) == 1)
            )
            index[last] = loop.index
            self._store_elements(index)

    def _write_trailing(self) -> None:
        """Write a kernel that reduces only innermost axes. Its accumulators stay in registers."""
        builder, index = self.builder, self._zeros()
        outer = [i for i in self.axes if i not in self.reduced]
        with ExitStack() as stack:
            self._loops(stack, outer, index)
            inner = list(self.reduced)
            if self.flat and inner:
                count = builder.product([self.shape[i] for i in inner])
                results = self._reduce(count, index, inner[-1])
            elif inner:
                results = self._reduce_nested(inner, index)
            else:
                self._store_elements(index)
                results = self._terms(index)
            self._store_results(results, index)

    def write_part(self, start: Value, stop: Value) -> list[Value]:
        """Write the loop over a part of the only axis. Returns the reductions over this part."""
        builder, index, [axis] = self.builder, self._zeros(), self.axes
        if self.reductions:
            lanes = self._lanes_of_sums(builder.sub(stop, start))
            element = self._element(index, axis)
            return _reduce_range(builder, start, stop, self.operations, element, lanes)
        with builder.loop(stop, start=start, lanes=self._lanes()) as loop:
            index[axis] = loop.index
            self._store_elements(index)
        return []

    def store_results(self, values: Sequence[Value]) -> None:
        """Store the reductions of a kernel with a single axis."""
        self._store_results(values, self._zeros())

    def _store_results(self, values: Sequence[Value], index: Sequence[Value]) -> None:
        places = [(root, k) for root in self.reductions for k in range(len(root.terms))]
        for (root, column), value in zip(places, values, strict=True):
            self._store_result(root, column, value, index)

    def _store_result(
        self, root: ReduceRoot, column: int, value: Value, index: Sequence[Value]
    ) -> None:
        builder = self.builder
        builder.node = root.node
        outer = [v for i, v in enumerate(index) if i not in root.axes]
        outer += [builder.i64(column)] * (len(root.columns) > 0)
        where = root.target.position(builder, outer)
        builder.store(root.target.buffer, where, builder.cast(value, root.target.dtype))

    def _reduce(self, count: Value, index: list[Value], axis: int) -> list[Value]:
        """Write a loop over ``count`` elements that reduces one axis. Returns the reductions."""
        element, lanes = self._element(index, axis), self._lanes_of_sums(count)
        return reduce_elements(self.builder, count, self.operations, element, lanes)

    def _element(self, index: Sequence[Value], axis: int) -> Callable[[Value], list[Value]]:
        """A function that stores the elements at an index along one axis, and returns the terms of the reductions."""

        def element(number: Value) -> list[Value]:
            at = list(index)
            at[axis] = number
            self._store_elements(at)
            return self._terms(at)

        return element

    def _terms(self, index: Sequence[Value]) -> list[Value]:
        """The terms of the reductions at an index."""
        builder = self.builder
        each = [(t, r.acc_dtype) for r in self.reductions for t in r.terms]
        return [builder.cast(tensor.at(builder, index), dtype) for tensor, dtype in each]

    def _lanes_of_sums(self, count: Value) -> int:
        if self._cost() <= LIGHT or self._costs(LONG, count):
            return 32
        few = len(self.operations) <= _FEW_SUMS
        return self._lanes(16 if few and self._costs(_MEDIUM, count) else 8)

    def _reduce_nested(self, inner: Sequence[int], index: list[Value]) -> list[Value]:
        """Write nested loops that reduce several axes, for formulas that one flat loop cannot compute. Returns the
        reductions.
        """
        builder = self.builder
        if len(inner) == 1:
            return self._reduce(self.shape[inner[0]], index, inner[0])
        operations = self.operations

        def of_part(number: Value) -> list[Value]:
            at = list(index)
            at[inner[0]] = number
            return self._reduce_nested(inner[1:], at)

        of_row = _in_parts(builder, self.shape[inner[0]], operations, of_part)
        with builder.loop(self.shape[inner[0]]) as loop:
            carried = [
                loop.carry(builder.const(identity_element(op, dtype), dtype))
                for op, dtype in operations
            ]
            partial = of_row(loop.index)
            for each, value, (op, _) in zip(carried, partial, operations, strict=True):
                each.following = builder.op(op, each.param, value)
        return [each.result for each in carried]

    def _has_few_terms(self) -> bool:
        """Whether reductions along other axes than the last one have so few terms that each has code of its own."""
        lengths = [self.shape[i] for i in self.reduced]
        if self.elements or self.axes[-1] in self.reduced or not is_small(lengths, _FEW_TERMS):
            return False
        count = prod(n.args[0] for n in lengths)
        return count > 0 and count * self.kernel.cost <= _COST_OF_TERMS

    def _write_unrolled(self) -> None:
        """Write a kernel with few terms (`_has_few_terms`), in a loop over the last axis. Its totals stay in registers."""
        builder, index = self.builder, self._zeros()
        *outer, last = [i for i in self.axes if i not in self.reduced]
        with ExitStack() as stack:
            self._loops(stack, outer, index)
            loop = builder.loop(self.shape[last], lanes=self._lanes(), parallel=not outer)
            index[last] = stack.enter_context(loop).index
            totals = [builder.const(identity_element(op, d), d) for op, d in self.operations]
            for place in product(*(range(self.shape[i].args[0]) for i in self.reduced)):
                at = list(index)
                for axis, k in zip(self.reduced, place, strict=True):
                    at[axis] = builder.i64(k)
                pairs = zip(self.operations, totals, self._terms(at), strict=True)
                totals = [builder.op(op, total, term) for (op, _), total, term in pairs]
            self._store_results(totals, index)

    def _write_general(self) -> None:
        """Write a kernel that reduces other axes than the innermost ones. Its accumulators lie in memory."""
        index = self._zeros()
        accumulators = [self._accumulator(root) for root in self.reductions]
        last, whole = self.axes[-1], self.shape[self.axes[-1]]
        with ExitStack() as stack:
            # columns are independent, so blocks of them may be in different threads
            start, stop = self._columns(stack) if self.axes[0] in self.reduced else (None, whole)
            several = self._adds_several_rows()
            self._loops(stack, self.axes[: -2 if several else -1], index)
            if last in self.reduced:
                values = self._reduce(whole, index, last)
                self._accumulate(accumulators, [values], index)
            elif several:
                self._add_several_rows(accumulators, index, start, stop)
            else:
                self._add_rows(accumulators, [index], start, stop)
        for root, accumulator in zip(self.reductions, accumulators, strict=True):
            if accumulator is not root.target:
                self._convert(accumulator, root.target)

    def _adds_several_rows(self) -> bool:
        """Whether `_ROWS` rows are added to the accumulators at a time, which then are loaded and stored less often."""
        rows, last = self.axes[-2:]
        count = self.shape[rows]
        few = count.op == "const" and count.args[0] < 2 * _ROWS
        is_reduced = rows in self.reduced and last not in self.reduced
        return is_reduced and not few and not self.elements and self._cost() <= LIGHT

    def _add_several_rows(
        self,
        accumulators: Sequence[Stored],
        index: Sequence[Value],
        start: Value | None,
        stop: Value,
    ) -> None:
        builder, axis, together = self.builder, self.axes[-2], self.builder.i64(_ROWS)
        count = self.shape[axis]
        whole = builder.mul(builder.op("floordiv", count, together), together)
        if count.op == "const":
            whole = builder.i64(count.args[0] // _ROWS * _ROWS)

        def row(number: Value) -> list[Value]:
            return [*index[:axis], number, *index[axis + 1 :]]

        with builder.loop(_quotient(builder, whole, together)) as loop:
            first = builder.mul(loop.index, together)
            rows = [row(builder.add(first, builder.i64(k))) for k in range(_ROWS)]
            self._add_rows(accumulators, rows, start, stop)
        if not (count.op == "const" and count is whole):
            with builder.loop(count, start=whole) as loop:
                self._add_rows(accumulators, [row(loop.index)], start, stop)

    def _add_rows(
        self,
        accumulators: Sequence[Stored],
        rows: Sequence[Sequence[Value]],
        start: Value | None,
        stop: Value,
    ) -> None:
        """Write a loop over columns that adds the elements at them of some rows to the accumulators, row after row."""
        builder, last = self.builder, self.axes[-1]
        with builder.loop(stop, start=start, lanes=self._lanes()) as loop:
            listed: list[list[Value]] = []
            at: list[Value] = []
            for row in rows:
                at = [*row[:last], loop.index, *row[last + 1 :]]
                self._store_elements(at)
                listed.append(self._terms(at))
            self._accumulate(accumulators, listed, at)

    def _columns(self, stack: ExitStack) -> tuple[Value | None, Value]:
        """Open a parallel loop over blocks of the last axis if it may have several. Returns the start and stop of a block."""
        builder, last = self.builder, self.axes[-1]
        whole = self.shape[last]
        size = builder.i64(_COLUMNS // 4 if self._cost() > LIGHT else _COLUMNS)
        few = whole.op == "const" and whole.args[0] <= size.args[0]
        if last in self.reduced or few or not builder.in_threads:
            return None, whole
        count = _quotient(builder, whole, size)
        loop = stack.enter_context(builder.loop(count, parallel=True))
        start = builder.mul(loop.index, size)
        return start, builder.op("min", builder.add(start, size), whole)

    def _accumulator(self, root: ReduceRoot) -> Stored:
        """Allocate the accumulators of a root in memory, and fill them with the identity element."""
        builder, context = self.builder, self.context
        result = root.target
        if root.acc_dtype != result.dtype:
            result = context.new_stored(root.acc_dtype, root.target.shape)
            context.schedule.allocate(result)
        start = builder.const(identity_element(root.combine, root.acc_dtype), root.acc_dtype)
        count = builder.product(result.shape)
        with builder.loop(count, lanes=self._lanes()) as loop:
            builder.store(result.buffer, loop.index, start)
        return result

    def _accumulate(
        self,
        accumulators: Sequence[Stored],
        rows: Sequence[Sequence[Value]],
        index: Sequence[Value],
    ) -> None:
        """Add the values of each row, one for each reduction, to the accumulators at an index."""
        builder = self.builder
        for root, accumulator, values in zip(
            self.reductions, accumulators, zip(*rows, strict=True), strict=True
        ):
            builder.node = root.node
            outer = [v for i, v in enumerate(index) if i not in root.axes]
            where = accumulator.position(builder, outer)
            total = builder.load(accumulator.buffer, where, fixed=True)
            for value in values:
                total = builder.op(root.combine, total, value)
            builder.store(accumulator.buffer, where, total)

    def _convert(self, source: Stored, target: Stored) -> None:
        builder = self.builder
        with builder.loop(builder.product(target.shape), lanes=8) as loop:
            value = builder.load(source.buffer, loop.index)
            builder.store(target.buffer, loop.index, builder.cast(value, target.dtype))


def reduce_elements(
    builder: Builder,
    count: Value,
    operations: Sequence[tuple[str, str]],
    element: Callable[[Value], Sequence[Value]],
    lanes: int,
) -> list[Value]:
    """Reduce the values that ``element(k)`` returns, for all k from 0 to ``count - 1``.

    ``operations`` has a pair for each of these values: the operation that combines them, and their dtype.

    Floats are summed in blocks of `BLOCK` elements. The sums of the blocks are added with Neumaier's compensation
    (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974), so the error does not
    grow with the number of blocks.
    """
    short = count.op == "const" and count.args[0] <= BLOCK
    in_threads = builder.in_threads and all(_is_exact(op, d) for op, d in operations)
    if short or not (in_threads or any(op == "add" and is_float(d) for op, d in operations)):
        return _reduce_range(builder, builder.i64(0), count, operations, element, lanes)
    most = BLOCK if any(op == "add" and is_float(d) for op, d in operations) else _EXACT_BLOCK
    size = builder.i64(most)
    blocks = _quotient(builder, count, size)

    def of_block(number: Value) -> list[Value]:
        start = builder.mul(number, size)
        stop = builder.op("min", builder.add(start, size), count)
        return _reduce_range(builder, start, stop, operations, element, lanes)

    of_one_block = _in_parts(builder, blocks, operations, of_block)
    return sum_of_blocks(builder, blocks, operations, of_one_block)


def sum_of_blocks(
    builder: Builder,
    count: Value,
    operations: Sequence[tuple[str, str]],
    of_block: Callable[[Value], Sequence[Value]],
) -> list[Value]:
    """Combine the results of blocks, which ``of_block(number)`` returns, in order; floats are added with compensation."""
    with builder.loop(count) as loop:
        # an iteration only adds two numbers
        loop.statement.non_interruptible |= builder.threads > 0
        totals = [loop.carry(builder.const(identity_element(op, d), d)) for op, d in operations]
        lost: list[Carried | None] = [
            loop.carry(builder.const(0.0, d)) if op == "add" and is_float(d) else None
            for op, d in operations
        ]
        partial = of_block(loop.index)
        for (op, _), total, rest, value in zip(operations, totals, lost, partial, strict=True):
            total.following = builder.op(op, total.param, value)
            if rest is not None:
                rest.following = builder.op(
                    "add", rest.param, _rounding_error(builder, total.param, value)
                )
    results: list[Value] = []
    for total, rest in zip(totals, lost, strict=True):
        if rest is None:
            results.append(total.result)
            continue
        # if a term is infinite or NaN, the compensation is NaN and is not added
        corrected = builder.op("add", total.result, rest.result)
        zero = builder.const(0.0, corrected.dtype)
        finite = builder.op("eq", builder.op("sub", rest.result, rest.result), zero)
        results.append(builder.select(finite, corrected, total.result))
    return results


def _quotient(builder: Builder, count: Value, size: Value) -> Value:
    """The quotient of a length and a constant size, rounded up."""
    if count.op == "const":
        return builder.i64(-(-count.args[0] // size.args[0]))
    return builder.op("floordiv", builder.add(count, builder.i64(size.args[0] - 1)), size)


def _is_exact(op: str, dtype: str) -> bool:
    """Whether an operation gives the same result in any order."""
    return not is_float(dtype) or op in ("min", "max")


def _in_parts(
    builder: Builder,
    count: Value,
    operations: Sequence[tuple[str, str]],
    of_part: Callable[[Value], Sequence[Value]],
) -> Callable[[Value], Sequence[Value]]:
    """Write a parallel loop that computes the results of all parts of a reduction, if it may run in several threads. Returns
    a function that reads or computes the results of one part.
    """
    if not builder.in_threads:
        return of_part
    buffers = [builder.buffer(dtype, "work", ndim=1) for _, dtype in operations]
    for buffer in buffers:
        builder.alloc(buffer, count)
    with builder.loop(count, parallel=True) as loop:
        for buffer, value in zip(buffers, of_part(loop.index), strict=True):
            builder.store(buffer, loop.index, value)
    return lambda number: [builder.load(buffer, number) for buffer in buffers]


def _reduce_range(
    builder: Builder,
    start: Value,
    stop: Value,
    operations: Sequence[tuple[str, str]],
    element: Callable[[Value], Sequence[Value]],
    lanes: int,
) -> list[Value]:
    with builder.loop(stop, start=start, lanes=lanes) as loop:
        carried = [
            loop.carry(builder.const(identity_element(op, d), d), op) for op, d in operations
        ]
        values = element(loop.index)
        for each, (op, _), value in zip(carried, operations, values, strict=True):
            each.following = builder.op(op, each.param, value)
    return [each.result for each in carried]


def _rounding_error(builder: Builder, x: Value, y: Value) -> Value:
    """The rounding error of the sum: ``x + y`` minus its rounded value (Knuth's two-sum)."""
    total = builder.op("add", x, y)
    part = builder.op("sub", total, x)
    rest = builder.op("sub", x, builder.op("sub", total, part))
    return builder.op("add", rest, builder.op("sub", y, part))
