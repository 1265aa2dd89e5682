"""`PaddedTensors`: a copy of a graph, made node by node, in which some tensors are padded with additional rows.

`padding` makes a `PaddedTensors` object and calls its `run`. The docstring of `padding` explains padded tensors. The
functions that build the padded forms of nodes (`padded_rows`, `padded_parts`) call methods of this object for lengths,
positions and masks.
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
from occelo_loops.ops.iterate import Iterate
from occelo_loops.rules.padding.positions import is_moved
from occelo_loops.rules.padding.row_counts import RowCounts, unchecked
from occelo_rewrite.constants import number_of

Made = tuple[Sequence[Variable], Variable | None] | None
"""The results of a node in the padded graph, and their length if they are padded (else None).

None in place of the pair if the node stays as it is.
"""


@dataclass
class PaddedGraph:
    """A graph with padded tensors.

    ``lengths`` are variables of the original graph that are lengths of tensors. ``capacities`` has an int64 scalar for
    each of them: the number of rows, with padding, of tensors of this length. A capacity must be at least the value of
    the length, and above 1, since an axis of length 1 would be broadcast. ``inputs`` are the inputs of the original
    graph, followed by the capacities.

    ``outputs`` are the results, followed by the number of rows without padding of each padded result. If result ``i``
    is padded, ``cuts[i]`` is the position of this number in ``outputs``.
    """

    inputs: list[Variable]
    outputs: list[Variable]
    capacities: list[Variable]
    lengths: list[Variable]
    cuts: dict[int, int]


class NotByRows(Exception):
    """A graph cannot be padded, because of an op or a length. The docstring of `padded` lists the cases."""


def _reads_values(length: Variable) -> bool:
    """Whether a length depends on values of roots, rather than only on shapes of roots."""
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
    """A padded graph under construction. ``forms`` is the table `FORMS` of `padded_rows`.

    In this class, the original graph is called old and the padded graph new.
    """

    fgraph: FunctionGraph
    forms: Sequence[tuple[type[Op] | tuple[type[Op], ...], Form]]
    new: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """The new variable for each old variable."""
    lengths: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """For each padded new variable, its length. (A length is an old variable, or a variable that `counts` made.)"""
    columns: set[Variable] = field(default_factory=set[Variable])
    """The new variables that are padded along their last axis instead of the first."""
    capacities: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """The capacity of each length: the number of rows, with padding, of tensors of this length."""
    given: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """The capacities that are inputs of the new graph, by length."""
    loops: bool = False
    """Whether a loop reads or computes a padded tensor."""
    sums: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    """For each old length that is a sum of other lengths, the variable that `counts` made for the sum."""

    @cached_property
    def counts(self) -> RowCounts:
        """The lengths of the graph as sums of other lengths."""
        return RowCounts(self.value_of, {}, self.capacities)

    def length_of(self, steps: Variable) -> Variable:
        """The length that equals the scalar ``steps`` of the old graph."""
        length = unchecked(steps)
        return self.sums.get(length, length)

    def length_made(self, node: Apply) -> Variable | None:
        """The length of a node's result, if it is an input of the node (as for ``alloc``); else None."""
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
        """Choose the capacities of all lengths that depend on values.

        If a length is the number of steps after which a condition ended a loop, its capacity is that of the loop's
        traces, if this is known. The capacity of a sum of lengths is the sum of their capacities. The capacity of any
        other length is a new input.
        """
        cuts = [(stop, n) for n in order if (stop := cut_by_condition(n)) is not None]
        ends = {stop for stop, _ in cuts}
        candidates = dict.fromkeys(v for v in map(dynamic_length, order) if v is not None)
        lengths = [v for v in candidates if v not in ends and _reads_values(v)]
        slow = [v for v in lengths if not _is_quick(v)]
        # inputs come first, since other lengths may be sums of them
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
        """Whether a length is a sum of lengths with known capacities. If it is, record the sum in ``sums``."""
        count = self.counts.parsed(length)
        if count is None or not self.counts.is_padded(count):
            return False
        self.sums[length] = self.counts.named(count)
        return True

    def _capacity_of_trace(self, trace: Variable) -> Variable | None:
        """The capacity of the memory of a trace; None if it is not known.

        None also for a static length of 0 or 1, since an axis of length 1 would be broadcast.
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
        """The new variable for an old variable, or for a length that `counts` made."""
        if variable not in self.new and variable in self.counts.values:
            self.new[variable] = self.counts.values[variable]()
        return self.new.get(variable, variable)

    def _add(self, node: Apply) -> None:
        values = [self.value_of(v) for v in node.inputs]
        if not self.columns.isdisjoint(values) and not isinstance(
            node.op, Dot | Shape_i | CAReduce
        ):
            raise NotByRows
        form = self._form(node, values)
        if form is None:
            if any(v in self.lengths for v in values):
                raise NotByRows
            same = all(a is b for a, b in zip(values, node.inputs, strict=True))
            results = node.outputs if same else node.op.make_node(*values).outputs
        else:
            results, length = form
            if length is not None:
                self.lengths.update((v, length) for v in results)
        self.new.update(zip(node.outputs, results, strict=True))

    def _form(
        self, node: Apply, values: list[Variable]
    ) -> tuple[Sequence[Variable], Variable | None] | None:
        """The padded form of a node: its new results, and their length if they are padded.

        None for a node that reads and computes no padded tensor.
        """
        for kinds, form in self.forms:
            if isinstance(node.op, kinds):
                return form(self, node, values)
        return None

    def common_length(self, variables: Iterable[Variable]) -> Variable | None:
        """The common length of all padded variables in ``variables``; None if no variable is padded."""
        lengths = {self.lengths[v] for v in variables if v in self.lengths}
        if len(lengths) > 1:
            raise NotByRows
        return next(iter(lengths), None)

    def position(self, index: Any, length: Variable) -> TensorVariable:
        """The position that an index means for ``length`` rows, with a check that it is in bounds.

        A negative ``index`` counts from the end.
        """
        (count,) = tensors([self.value_of(length)])
        index = ot.as_tensor_variable(index)
        at = ot.switch(ot.lt(index, 0), index + count, index)
        check = CheckAndRaise(IndexError, "An index is out of bounds")
        (checked,) = tensors([check(at, ot.ge(at, 0), ot.lt(at, count))])
        return checked

    def before_end(self, length: Variable, rows: Variable, ndim: int, axis: int = 0) -> Variable:
        """A mask of ``rows`` elements along an axis, of which the first ``length`` are True.

        Its other axes have length 1.
        """
        (count, places) = tensors([self.value_of(length), rows])
        flags = ot.lt(ot.arange(places), count)
        return flags.dimshuffle([0 if i == axis else "x" for i in range(ndim)])

    def with_others(self, x: TensorVariable, other: Any) -> TensorVariable:
        """The padded tensor ``x`` with the number ``other`` in all elements of the padding."""
        axis = x.type.ndim - 1 if x in self.columns else 0
        counts = self.before_end(self.lengths[x], Shape_i(axis)(x), x.type.ndim, axis)
        return ot.switch(counts, x, other)


def _same(one: Variable, other: Variable) -> bool:
    """Whether two capacities are the same variable or equal numbers."""
    return one is other or (number_of(one) is not None and number_of(one) == number_of(other))


def _is_quick(length: Variable) -> bool:
    """Whether a length is computed only from scalars, without loops and branches."""
    nodes = toposort([length])
    read = {length, *(v for node in nodes for v in node.inputs)}
    return not any(v.type.ndim for v in read) and not any(n.op.loops or n.op.lazy for n in nodes)


def dynamic_length(node: Apply) -> Variable | None:
    """The number of rows of the result of an ``alloc`` or a range, if it is an input of the node; else None."""
    if isinstance(node.op, Alloc) and node.op.shape and node.op.shape[0] is None:
        return unchecked(node.inputs[1])
    if isinstance(node.op, ARange) and _counts_up(node):
        return unchecked(node.inputs[1])
    return None


def _counts_up(node: Apply) -> bool:
    """Whether a range counts from 0 in steps of 1 to an integer.

    (The stop must be an integer, since the range from 0 to 2.5 has three numbers.)
    """
    start, stop, step = tensors(node.inputs)
    return is_discrete(stop.dtype) and number_of(start) == 0 and number_of(step) == 1


def cut_by_condition(node: Apply) -> Variable | None:
    """The number of steps of a loop that a condition ended, if the node cuts a trace of the loop to this number.

    None for other nodes.
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
        return None  # only traces are cut to the number of steps
    # the carried position equals the number of steps if it starts at 0
    return stop if number_of(loop.inputs[1]) == 0 and direction(loop.op) == 1 else None


def direction(op_: Iterate) -> int:
    """1 if the first carried value of a loop counts up by 1, -1 if it counts down by 1, else 0."""
    before, after = op_.body.inputs[0], op_.body.outputs[0]
    return next((way for way in (1, -1) if is_moved(after, before, way)), 0)


Form = Callable[[PaddedTensors, Apply, list[Variable]], Made]
