"""`PaddedTensors`: copies a graph node by node, and gives some of its tensors rows to spare; `padding` runs it.

The forms of ops for padded tensors (`padded_rows`, `padded_parts`) ask `PaddedTensors` for lengths, positions and masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph, Op, TensorVariable, Variable
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_graph.looping.iterate import Iterate
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.control import CheckAndRaise
from occelo_graph.ops.create import Alloc, ARange
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import is_discrete
from occelo_rewrite.constants import number_of
from occelo_rewrite.rules.looping.positions import is_moved
from occelo_rewrite.rules.looping.row_counts import RowCounts, unchecked

__all__ = [
    "Form",
    "Made",
    "NotByRows",
    "PaddedGraph",
    "PaddedTensors",
    "cut_by_condition",
    "direction",
    "dynamic_length",
]


Made = tuple[Sequence[Variable], Variable | None] | None
"""The results of a node in the padded graph, and their length if they are padded; None where the node stays as it is."""


@dataclass
class PaddedGraph:
    """A graph with padded tensors.

    ``inputs`` are the inputs of the original graph, followed by ``capacities``. ``lengths`` are variables of the
    original graph. Each of them has a capacity, an int64 scalar: tensors of this length get so many rows. A capacity
    must be at least the value of the length, and above 1, since an axis of length 1 would be broadcast.

    ``outputs`` are the results, followed by a length for each padded result: the number of its rows without padding. If
    result ``i`` is padded, ``cuts[i]`` is the position of this number in ``outputs``.
    """

    inputs: list[Variable]
    outputs: list[Variable]
    capacities: list[Variable]
    lengths: list[Variable]
    cuts: dict[int, int]


class NotByRows(Exception):
    """A graph cannot be padded, because of an op or a length (see `padded`)."""


def _reads_values(length: Variable) -> bool:
    """Whether a length depends on values of roots, and not on their shapes alone."""
    pending, seen = [length], set[Variable]()
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        if each.owner is None:
            if number_of(each) is None:
                return True
        elif not each.owner.op.of_shapes:
            pending.extend(each.owner.inputs)
    return False


@dataclass
class PaddedTensors:
    """A padded graph while it is made. ``forms`` has the functions that give the forms of ops for padded tensors."""

    fgraph: FunctionGraph
    forms: Sequence[tuple[type[Op] | tuple[type[Op], ...], Form]]
    new: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """The new variable for each old one."""
    lengths: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """For each padded new variable the old variable that is its length."""
    columns: set[Variable] = field(default_factory=set[Variable])
    """The padded new variables that are padded along their last axis, and not along the first."""
    capacities: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """The capacity of each length. Lengths are old variables."""
    given: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """For each length whose capacity is a new input, this input."""
    loops: bool = False
    """Whether a loop reads or makes a padded tensor."""
    sums: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """For each length of the old graph that is a sum of others, the length that `counts` has made for it."""

    @cached_property
    def counts(self) -> RowCounts:
        """The lengths of the graph, written as sums."""
        return RowCounts(self.value_of, {}, self.capacities)

    def length_of(self, steps: Variable) -> Variable:
        """The length that a scalar of the old graph is equal to."""
        length = unchecked(steps)
        return self.sums.get(length, length)

    def length_made(self, node: Apply) -> Variable | None:
        """The length of a node's result, if it is an input of the node."""
        length = dynamic_length(node)
        return None if length is None else self.length_of(length)

    def run(self) -> PaddedGraph | None:
        order = self.fgraph.toposort()
        self.new.update((v, v.type.make_variable(v.name)) for v in self.fgraph.inputs)
        self._find_capacities(order)
        for node in order:
            self._add(node)
        if not self.loops:
            return None
        outputs = [self.value_of(v) for v in self.fgraph.outputs]
        if not self.columns.isdisjoint(outputs):
            return None
        cuts: dict[int, int] = {}
        for i, v in enumerate(list(outputs)):
            if v in self.lengths:
                cuts[i] = len(outputs)
                outputs.append(self.value_of(self.lengths[v]))
        inputs = [self.new[v] for v in self.fgraph.inputs]
        capacities = list(self.given.values())
        return PaddedGraph([*inputs, *capacities], outputs, capacities, list(self.given), cuts)

    def _find_capacities(self, order: Sequence[Apply]) -> None:
        """Choose the capacities of lengths that depend on values.

        A length may be the number of steps after which a condition ended a loop. Then its capacity is that of the
        loop's trace, if this is known. The capacity of a sum of lengths is the sum of their capacities. The capacity of
        any other length is a new input.
        """
        cuts = [(stop, n) for n in order if (stop := cut_by_condition(n)) is not None]
        ends = {stop for stop, _ in cuts}
        found = dict.fromkeys(v for v in map(dynamic_length, order) if v is not None)
        lengths = [v for v in found if v not in ends and _reads_values(v)]
        slow = [v for v in lengths if not _is_quick(v)]
        # inputs first, since others may be sums of them
        for length in sorted(lengths, key=lambda v: v.owner is not None):
            if length not in slow and not self._is_sum(length):
                capacity = ot.lscalar(f"capacity of {length}")
                self.capacities[length] = self.given[length] = capacity
        for stop, node in cuts:
            whole = self._capacity_of_trace(node.inputs[0])
            if whole is not None and not _same(self.capacities.setdefault(stop, whole), whole):
                raise NotByRows
        if not all(map(self._is_sum, slow)):
            raise NotByRows

    def _is_sum(self, length: Variable) -> bool:
        """Whether a length is a sum of lengths whose capacities are known. If so, this is recorded."""
        count = self.counts.parsed(length)
        if count is None or not self.counts.is_padded(count):
            return False
        self.sums[length] = self.counts.named(count)
        return True

    def _capacity_of_trace(self, trace: Variable) -> Variable | None:
        """The capacity of the memory of a trace; None if it is not known, or if the length is statically 0 or 1.

        An axis of length 1 would be broadcast.
        """
        rows = trace.type.shape[0] if is_tensor(trace) else None
        if rows is not None:
            return ot.constant(np.int64(rows)) if rows > 1 else None
        loop = trace.owner
        assert loop is not None
        assert trace.index is not None
        memory = loop.inputs[1 + trace.index].owner
        length = None if memory is None else self.length_made(memory)
        return None if length is None else self.capacities.get(length)

    def value_of(self, variable: Variable) -> Variable:
        """The variable of the new graph for a variable of the old graph, or for a length that `counts` has made."""
        if variable not in self.new and variable in self.counts.values:
            self.new[variable] = self.counts.values[variable]()
        return self.new.get(variable, variable)

    def _add(self, node: Apply) -> None:
        given = [self.value_of(v) for v in node.inputs]
        if not self.columns.isdisjoint(given) and not isinstance(node.op, Dot | Shape_i | CAReduce):
            raise NotByRows
        made = self._form(node, given)
        if made is None:
            if any(v in self.lengths for v in given):
                raise NotByRows
            same = all(a is b for a, b in zip(given, node.inputs, strict=True))
            results = node.outputs if same else node.op.make_node(*given).outputs
        else:
            results, length = made
            if length is not None:
                self.lengths.update((v, length) for v in results)
        self.new.update(zip(node.outputs, results, strict=True))

    def _form(
        self, node: Apply, given: list[Variable]
    ) -> tuple[Sequence[Variable], Variable | None] | None:
        """The new results of a node that makes or reads a padded tensor, and their length if they are padded. None for
        any other node.
        """
        for kinds, form in self.forms:
            if isinstance(node.op, kinds):
                return form(self, node, given)
        return None

    def common_length(self, given: Iterable[Variable]) -> Variable | None:
        """The length that all padded variables among ``given`` have; None if none is padded."""
        lengths = {self.lengths[v] for v in given if v in self.lengths}
        if len(lengths) > 1:
            raise NotByRows
        return next(iter(lengths), None)

    def position(self, index: Any, length: Variable) -> TensorVariable:
        """The position of an index, counted from the start and checked to be in bounds; a negative ``index`` counts
        from the end.
        """
        (count,) = tensors([self.value_of(length)])
        index = ot.as_tensor_variable(index)
        at = ot.switch(ot.lt(index, 0), index + count, index)
        check = CheckAndRaise(IndexError, "An index is out of bounds")
        (found,) = tensors([check(at, ot.ge(at, 0), ot.lt(at, count))])
        return found

    def before_end(self, length: Variable, rows: Variable, ndim: int, axis: int = 0) -> Variable:
        """A tensor of ``rows`` truth values along an axis, of which the first ``length`` are True. Its other axes have
        length 1.
        """
        (count, places) = tensors([self.value_of(length), rows])
        flags = ot.lt(ot.arange(places), count)
        return flags.dimshuffle([0 if i == axis else "x" for i in range(ndim)])

    def with_others(self, x: TensorVariable, other: Any) -> TensorVariable:
        """A padded tensor with the number ``other`` in place of the elements of the padding."""
        axis = x.type.ndim - 1 if x in self.columns else 0
        counts = self.before_end(self.lengths[x], Shape_i(axis)(x), x.type.ndim, axis)
        return ot.switch(counts, x, other)


def _same(one: Variable, other: Variable) -> bool:
    """Whether two capacities are one variable or equal numbers."""
    return one is other or (number_of(one) is not None and number_of(one) == number_of(other))


def _is_quick(length: Variable) -> bool:
    """Whether a length is computed from scalars alone, without loops and branches."""
    nodes = toposort([length])
    read = {length, *(v for node in nodes for v in node.inputs)}
    return not any(v.type.ndim for v in read) and not any(n.op.loops or n.op.lazy for n in nodes)


def dynamic_length(node: Apply) -> Variable | None:
    """The number of rows of a node's result, if this number is an input of the node; else None."""
    if isinstance(node.op, Alloc) and node.op.shape and node.op.shape[0] is None:
        return unchecked(node.inputs[1])
    if isinstance(node.op, ARange) and _counts_up(node):
        return unchecked(node.inputs[1])
    return None


def _counts_up(node: Apply) -> bool:
    """Whether a range counts from 0 in steps of 1 to an integer. (A range from 0 to 2.5 has three numbers.)"""
    start, stop, step = tensors(node.inputs)
    return is_discrete(stop.dtype) and number_of(start) == 0 and number_of(step) == 1


def cut_by_condition(node: Apply) -> Variable | None:
    """The number of steps after which a condition ended a loop, if a node cuts a trace of this loop to that length;
    else None.
    """
    if not isinstance(node.op, Subtensor) or not is_slice(node.op.key[0]):
        return None
    first, trace = node.op.key[0], node.inputs[0]
    if first.start not in (None, 0) or first.stop != SCALAR or first.step not in (None, 1):
        return None
    stop, loop = unchecked(node.inputs[1]), trace.owner
    if loop is None or not isinstance(loop.op, Iterate) or stop.owner is not loop or stop.index:
        return None
    assert trace.index is not None
    if trace.index < loop.op.carried - loop.op.traces:
        return None  # only traces are cut to the number of steps; other carried values have lengths of their own
    # the carried position counts the steps if it starts at 0
    return stop if number_of(loop.inputs[1]) == 0 and direction(loop.op) == 1 else None


def direction(op_: Iterate) -> int:
    """1 if the first carried value counts up, -1 if it counts down, else 0."""
    before, after = op_.body.inputs[0], op_.body.outputs[0]
    return next((way for way in (1, -1) if is_moved(after, before, way)), 0)


Form = Callable[[PaddedTensors, Apply, list[Variable]], Made]
