"""Graphs in which tensors have rows to spare, so that their shapes do not depend on a number of steps.

JAX and PyTorch compile for known shapes. If a tensor of a graph has one row for each step of a loop, they compile the graph
anew for each number of steps. `padded` replaces such tensors by padded ones, in a whole graph or not at all. A padded tensor
has at least as many rows (elements along its first axis) as there are steps. The values in the rows after the last step are
arbitrary. A padded tensor that is transposed has columns instead, along its last axis.

The base class of the tracing linkers (`occelo_link.traced.linker`) calls `padded` with rewritten graphs.
`occelo_link.traced.padded` runs the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from occelo_graph import Apply, FunctionGraph, Op, TensorVariable, Variable
from occelo_graph import tensor as ot
from occelo_graph.ir.traversal import toposort
from occelo_graph.looping.iterate import Iterate
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.control import CheckAndRaise, DeepCopyOp, ViewOp
from occelo_graph.ops.create import Alloc, ARange
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.reduce import CAReduce, CumOp
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import is_discrete
from occelo_rewrite.constants import number_of
from occelo_rewrite.rules.looping.positions import is_moved

__all__ = ["PaddedGraph", "padded"]


@dataclass
class PaddedGraph:
    """A graph with padded tensors.

    ``inputs`` are those of the graph that it replaces, followed by ``capacities``. For each variable in ``lengths``, which
    belongs to the former graph, there is a capacity: an int64 scalar, the number of rows that tensors of this length
    get. It must be at least the value of the variable, and above 1, since an axis of length 1 would be broadcast.

    ``outputs`` are the results, followed by the number of rows without padding of each padded result. If result ``i`` is
    padded, ``cuts[i]`` is the position of this number in ``outputs``.
    """

    inputs: list[Variable]
    outputs: list[Variable]
    capacities: list[Variable]
    lengths: list[Variable]
    cuts: dict[int, int]


def padded(fgraph: FunctionGraph) -> PaddedGraph | None:
    """The graph with padded tensors; None if it needs none or cannot be padded.

    It needs none if no loop reads or makes a padded tensor. It cannot be padded in these cases:

    - An op has no form for padded tensors, or reads them in another way than by rows.
    - An op other than a loop reads padded tensors of different lengths.
    - A length takes more to compute than arithmetic of scalars (`_is_quick`).
    - A result would be padded along its last axis.
    """
    work = _Padding(fgraph)
    try:
        return work.run()
    except _NotByRows:
        return None


class _NotByRows(Exception):
    """A graph cannot be padded, because of an op or a length (see `padded`)."""


def _unchecked(variable: Variable) -> Variable:
    """The variable under the checks and views that were put on it."""
    while variable.owner is not None and isinstance(variable.owner.op, CheckAndRaise | ViewOp):
        variable = variable.owner.inputs[0]
    return variable


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
class _Padding:
    fgraph: FunctionGraph
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

        A length may be the number of steps after which a condition ended a loop. Then its capacity is that of the loop's
        trace, if this is known. The capacity of any other length is a new input.
        """
        cuts = [(stop, n) for n in order if (stop := _cut_by_condition(n)) is not None]
        ends = {stop for stop, _ in cuts}
        for node in order:
            length = _dynamic_length(node)
            if length is None or length in ends or length in self.given:
                continue
            if not _reads_values(length):
                continue
            if not _is_quick(length):
                raise _NotByRows
            capacity = ot.lscalar(f"capacity of {length}")
            self.capacities[length] = self.given[length] = capacity
        for stop, node in cuts:
            whole = self._capacity_of_trace(node.inputs[0])
            if whole is not None and not _same(self.capacities.setdefault(stop, whole), whole):
                raise _NotByRows

    def _capacity_of_trace(self, trace: Variable) -> Variable | None:
        """The capacity of the memory of a trace, if it is known; None also for a static length of 0 or 1.

        An axis of length 1 would be broadcast.
        """
        rows = trace.type.shape[0] if is_tensor(trace) else None
        if rows is not None:
            return ot.constant(np.int64(rows)) if rows > 1 else None
        loop = trace.owner
        assert loop is not None
        assert trace.index is not None
        memory = loop.inputs[1 + trace.index].owner
        length = None if memory is None else _dynamic_length(memory)
        return None if length is None else self.capacities.get(length)

    def value_of(self, variable: Variable) -> Variable:
        """The new variable for an old one."""
        return self.new.get(variable, variable)

    def _add(self, node: Apply) -> None:
        given = [self.value_of(v) for v in node.inputs]
        if not self.columns.isdisjoint(given) and not isinstance(node.op, Dot | Shape_i | CAReduce):
            raise _NotByRows
        made = self._form(node, given)
        if made is None:
            if any(v in self.lengths for v in given):
                raise _NotByRows
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
        """The results of a node that makes or reads a padded tensor, and their length if they are padded; None for others."""
        for kinds, form in _FORMS:
            if isinstance(node.op, kinds):
                return form(self, node, given)
        return None

    def common_length(self, given: Iterable[Variable]) -> Variable | None:
        """The length of all padded variables among some; None if there are none."""
        lengths = {self.lengths[v] for v in given if v in self.lengths}
        if len(lengths) > 1:
            raise _NotByRows
        return next(iter(lengths), None)

    def position(self, index: Any, length: Variable) -> TensorVariable:
        """An index counted from the start, with a check that it is in bounds. A negative ``index`` counts from the end."""
        (count,) = tensors([self.value_of(length)])
        index = ot.as_tensor_variable(index)
        at = ot.switch(ot.lt(index, 0), index + count, index)
        check = CheckAndRaise(IndexError, "An index is out of bounds")
        (found,) = tensors([check(at, ot.ge(at, 0), ot.lt(at, count))])
        return found

    def before_end(self, length: Variable, rows: Variable, ndim: int, axis: int = 0) -> Variable:
        """Flags for ``rows`` places along an axis: True for the first ``length`` of them. Other axes have length 1."""
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


def _dynamic_length(node: Apply) -> Variable | None:
    """The number of rows that a node makes, if it is an input of the node."""
    if isinstance(node.op, Alloc) and node.op.shape and node.op.shape[0] is None:
        return _unchecked(node.inputs[1])
    if isinstance(node.op, ARange) and _counts_up(node):
        return _unchecked(node.inputs[1])
    return None


def _counts_up(node: Apply) -> bool:
    """Whether a node counts from 0 in steps of 1, to an integer; 0 to 2.5 are three numbers."""
    start, stop, step = tensors(node.inputs)
    return is_discrete(stop.dtype) and number_of(start) == 0 and number_of(step) == 1


def _cut_by_condition(node: Apply) -> Variable | None:
    """The number of steps that a loop took, where a node cuts a trace of that loop to this length."""
    if not isinstance(node.op, Subtensor) or not is_slice(node.op.key[0]):
        return None
    first, trace = node.op.key[0], node.inputs[0]
    if first.start not in (None, 0) or first.stop != SCALAR or first.step not in (None, 1):
        return None
    stop, loop = _unchecked(node.inputs[1]), trace.owner
    if loop is None or not isinstance(loop.op, Iterate) or stop.owner is not loop or stop.index:
        return None
    assert trace.index is not None
    if trace.index < loop.op.carried - loop.op.traces:
        return None  # other carried values have lengths of their own
    # a position counts the steps if it starts at 0
    return stop if number_of(loop.inputs[1]) == 0 and _direction(loop.op) == 1 else None


Made = tuple[Sequence[Variable], Variable | None] | None


def _alloc(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = _dynamic_length(node)
    value, out = given[0], node.outputs[0]
    if value in work.lengths:
        raise _NotByRows
    if length is None or length not in work.capacities:
        return None
    op_ = cast("Alloc", node.op)
    if is_tensor(value) and value.type.ndim == len(op_.shape) and value.type.shape[0] != 1:
        raise _NotByRows
    assert is_tensor(out)
    return [op_(value, work.capacities[length], *given[2:])], length


def _arange(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = _dynamic_length(node)
    if length is None or length not in work.capacities:
        return None
    return [node.op(given[0], work.capacities[length], given[2])], length


def _elementwise(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = work.common_length(given)
    if length is None:
        return None
    ndim = node.outputs[0].type.ndim
    for v in tensors(given):
        own = v in work.lengths
        if own != (v.type.ndim == ndim) and not (v.type.ndim == ndim and v.type.shape[0] == 1):
            raise _NotByRows
    return node.op.make_node(*given).outputs, length


def _reordered(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = work.common_length(given)
    if length is None:
        return None
    order = cast("DimShuffle", node.op).new_order
    made = node.op.make_node(*given).outputs
    if order == (1, 0):
        work.columns.update(made)
    elif order[:1] != (0,):
        raise _NotByRows
    return made, length


def _product(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    """A product of vectors or matrices.

    If it sums over a padded axis, the elements of the padding are replaced by 0. Other padded axes stay padded.
    """
    length = work.common_length(given)
    if length is None:
        return None
    x, y = tensors(given)
    ndims = x.type.ndim, y.type.ndim
    over_x = x in work.lengths and (x in work.columns or ndims[0] == 1)
    over_y = y in work.lengths and y not in work.columns
    both = x in work.lengths and y in work.lengths
    if over_x != over_y or (both and not over_x):
        raise _NotByRows
    if over_x:
        whole = [work.with_others(v, np.zeros((), v.dtype)) for v in (x, y)]
        return node.op.make_node(*whole).outputs, None
    made = node.op.make_node(x, y).outputs
    if y in work.lengths and ndims[0] == 2:
        work.columns.update(made)
    return made, length


def _batch_of_products(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = work.common_length(given)
    if length is None:
        return None
    ndim = node.outputs[0].type.ndim
    for v in tensors(given):
        if (v in work.lengths) != (v.type.ndim == ndim and v.type.shape[0] != 1):
            raise _NotByRows
    return (node.op.make_node(*given).outputs, length) if ndim and ndim > 2 else None


def _kept(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = work.lengths.get(given[0])
    if length is None or any(v in work.lengths for v in given[1:]):
        return None
    return node.op.make_node(*given).outputs, length


def _length(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    if given[0] not in work.lengths:
        return None
    op_, (x,) = cast("Shape_i", node.op), tensors(given)
    axis = x.type.ndim - 1 if x in work.columns else 0
    return [work.value_of(work.lengths[x])] if op_.i == axis else [op_(x)], None


def _read(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    op_, x = cast("Subtensor", node.op), given[0]
    stop = _cut_by_condition(node)
    if stop is not None and stop in work.capacities:
        work.loops = True
        return [Subtensor((slice(None), *op_.key[1:]))(x, *given[2:])], stop
    length = work.lengths.get(x)
    if length is None:
        return None
    first, rest = op_.key[0], op_.key[1:]
    if _is_all(node, 1, length):
        skipped = 1 if is_slice(first) and first.stop == SCALAR else 0
        return [Subtensor((slice(None), *rest))(x, *given[1 + skipped :])], length
    if is_slice(first):
        raise _NotByRows
    index, others = (given[1], given[2:]) if first == SCALAR else (np.int64(first), given[1:])
    return [Subtensor((SCALAR, *rest))(x, work.position(index, length), *others)], None


def _is_all(node: Apply, begin: int, length: Variable) -> bool:
    """Whether a key takes all rows of a tensor of a length; the inputs of the key start at ``begin``."""
    first = cast("Any", node.op).key[0]
    if not is_slice(first) or first.start not in (None, 0) or first.step not in (None, 1):
        return False
    return first.stop is None or (first.stop == SCALAR and _unchecked(node.inputs[begin]) is length)


def _written(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    op_, (x, y) = cast("IncSubtensor", node.op), tensors(given[:2])
    first, rest = op_.key[0], op_.key[1:]
    length = work.lengths.get(x)
    if length is None:
        return _rows_written(work, node, given) if y in work.lengths else None
    plain = all(k == slice(None) for k in rest)
    if _is_all(node, 2, length) and plain and y in work.lengths:
        work.common_length([x, y])
        whole = ot.zeros_like(x) + y if op_.set_instead_of_inc else x + y
        return [whole.astype(x.dtype)], length
    if is_slice(first) or y in work.lengths:
        raise _NotByRows
    index, others = (given[2], given[3:]) if first == SCALAR else (np.int64(first), given[2:])
    write = IncSubtensor((SCALAR, *rest), op_.set_instead_of_inc)
    return [write(x, y, work.position(index, length), *others)], length


def _rows_written(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    """The first rows of a tensor that is not padded, set to those of one that is, or incremented by them."""
    op_, (x, y) = cast("IncSubtensor", node.op), tensors(given[:2])
    length = work.lengths[y]
    if (
        x.type.ndim != y.type.ndim
        or not _is_all(node, 2, length)
        or op_.key[0].stop is None
        or any(k != slice(None) for k in op_.key[1:])
    ):
        raise _NotByRows
    (rows, capacity, count) = tensors([Shape_i(0)(x), Shape_i(0)(y), work.value_of(length)])
    moved = y[ot.minimum(ot.arange(rows), capacity - 1)]
    changed = moved if op_.set_instead_of_inc else x + moved
    made = ot.switch(work.before_end(length, rows, x.type.ndim), changed, x).astype(x.dtype)
    check = CheckAndRaise(ValueError, "More rows are written than there are")
    return [check(made, ot.le(count, rows))], None


def _reduced(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    length = work.lengths.get(given[0])
    if length is None:
        return None
    op_, (x,) = cast("CAReduce", node.op), tensors(given)
    axis = x.type.ndim - 1 if x in work.columns else 0
    if axis not in op_.axis:
        if x in work.columns and op_.axis != (0,):
            raise _NotByRows
        return op_.make_node(x).outputs, length
    if op_.reduction.identity is None:
        raise _NotByRows
    neutral = np.asarray(op_.reduction.start(x.dtype)).astype(x.dtype)
    made = op_(work.with_others(x, neutral))
    if op_.reduction.may_be_empty:
        return [made], None
    check = CheckAndRaise(ValueError, "A reduction of no elements is not defined")
    return [check(made, ot.gt(*tensors([work.value_of(length)]), 0))], None


def _repeated(work: _Padding, node: Apply, given: list[Variable]) -> Made:
    if not any(v in work.lengths for v in given):
        return None
    op_ = cast("Iterate", node.op)
    at = op_.body.inputs[0]
    way = _direction(op_)
    from_start = way == 1 and number_of(node.inputs[1]) == 0
    if not from_start and not (way == -1 and _is_last(node.inputs[1], node.inputs[0])):
        raise _NotByRows
    work.loops = True
    steps = _unchecked(node.inputs[0])
    for length in {work.lengths[v] for v in given if v in work.lengths} - {steps}:
        # libraries only check that a position is within the capacity
        (count, rows) = tensors([given[0], work.value_of(length)])
        check = CheckAndRaise(IndexError, "A loop reads more rows than there are")
        given = [check(count, ot.le(count, rows)), *given[1:]]
    made = op_.make_node(*given).outputs
    for i, v in enumerate(given[1:]):
        if v not in work.lengths:
            continue
        inner = op_.body.inputs[i]
        written = i < op_.carried
        if written and work.lengths[v] is not steps:
            raise _NotByRows
        after = op_.body.outputs[i] if written else None
        if not _only_rows_at(op_, inner, at, after):
            raise _NotByRows
        if written:
            work.lengths[made[i]] = work.lengths[v]
    return made, None


def _direction(op_: Iterate) -> int:
    """1 if the first carried value counts up, -1 if it counts down, else 0."""
    before, after = op_.body.inputs[0], op_.body.outputs[0]
    return next((way for way in (1, -1) if is_moved(after, before, way)), 0)


def _is_last(start: Variable, steps: Variable) -> bool:
    """Whether a position is that of the last of some steps."""
    owner = start.owner
    if owner is None:
        return False
    return any(is_moved(start, v, -1) and _unchecked(v) is _unchecked(steps) for v in owner.inputs)


def _only_rows_at(op_: Iterate, rows: Variable, at: Variable, after: Variable | None) -> bool:
    """Whether a body reads and writes a tensor only in the row at the position; ``after`` is the tensor after a step."""
    known = {rows}
    for node in op_.body.nodes:
        places = [i for i, v in enumerate(node.inputs) if v in known]
        if not places:
            continue
        if isinstance(node.op, Shape_i) and node.op.i:
            continue
        begin = {Subtensor: 1, IncSubtensor: 2}.get(cast("Any", type(node.op)))
        if places != [0] or begin is None or cast("Any", node.op).key[0] != SCALAR:
            return False
        if node.inputs[begin] is not at:
            return False
        if begin == 2:
            known.add(node.outputs[0])
    ends = [i for i, v in enumerate(op_.body.outputs) if v in known]
    return ends == ([] if after is None else [op_.body.outputs.index(after)]) and (
        after is None or after in known
    )


Form = Callable[[_Padding, Apply, list[Variable]], Made]
_FORMS: list[tuple[type[Op] | tuple[type[Op], ...], Form]] = [
    (Alloc, _alloc),
    (ARange, _arange),
    (Elemwise, _elementwise),
    (DimShuffle, _reordered),
    (Dot, _product),
    (MatMul, _batch_of_products),
    ((CheckAndRaise, ViewOp, DeepCopyOp, CumOp), _kept),
    (Shape_i, _length),
    (Subtensor, _read),
    (IncSubtensor, _written),
    (CAReduce, _reduced),
    (Iterate, _repeated),
]
"""For each class of ops how it makes and reads padded tensors."""
