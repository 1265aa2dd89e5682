"""Rules for the steps of a scan: short scans are unrolled, and steps with results that nothing reads are left out.

`pipeline` puts them into the stage canonicalize. One more rule, `last_of_trace`, reads a carried value in place of the
last element of a trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from occelo_graph import (
    Apply,
    FrozenFunctionGraph,
    FunctionGraph,
    TensorApply,
    TensorVariable,
    Variable,
    ancestors,
    toposort,
)
from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import inner_graphs
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import is_node
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.control import CheckAndRaise
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.tensors.nodes import tensors
from occelo_loops.ops.expansion import checked_steps
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.padding.positions import is_moved
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

MOST_STEPS = 4
MOST_NODES = 32
"""A scan is unrolled if it has at most `MOST_STEPS` steps, and all steps together have at most `MOST_NODES` nodes.

Loops in a step count with the nodes that take their place. Beyond these limits, compiling the nodes takes longer than
unrolling saves.
"""


@node_rewriter([Scan])
def unrolled_scan(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan of a static, small number of steps = the graph of these steps, without a loop."""
    op_ = node.op
    count = _few_steps(node)
    if not count or (count > 1 and _nodes(op_.body, MOST_NODES // count) > MOST_NODES // count):
        return None
    parts = op_.parts(node.inputs[1:])
    carried, traced = list(parts.carried), list[list[Variable]]()
    for step in range(count):
        at = count - 1 - step if op_.reverse else step
        elements = [s[at] for s in tensors(parts.sequences)]
        results = op_.body.bind([*carried, *elements, *parts.constants])
        carried = results[: op_.carried]
        traced.append(results[op_.carried : op_.carried + op_.traces])
    replaced = dict(zip(node.outputs, carried, strict=False))
    for k, trace in enumerate(node.outputs[op_.carried : op_.carried + op_.traces]):
        elements = [step[k] for step in (traced[::-1] if op_.reverse else traced)]
        replaced |= _read_elements(fgraph, trace, tensors(elements))
    if op_.stops:
        replaced[node.outputs[-1]] = ot.constant(np.int64(1))
    return replaced if all(v.type.is_super(new.type) for v, new in replaced.items()) else None


def _few_steps(node: Apply[Scan]) -> int:
    """The number of steps of a scan with few enough steps to be unrolled; 0 for others."""
    steps = number_of(node.inputs[0])
    most = 1 if node.op.stops else MOST_STEPS
    return 0 if steps is None or not 1 <= int(steps) <= most else int(steps)


def _nodes(body: FrozenFunctionGraph, most: int) -> int:
    """The number of nodes of a body, with the nodes of inner graphs. If there are more than ``most``, not all are counted.

    The nodes of a scan count once for each step if it has few steps, since it will be unrolled, too.
    """
    total = len(body.nodes)
    for node in body.nodes:
        for inner in inner_graphs(node.op):
            if total > most:
                break
            steps = _few_steps(cast("Apply[Scan]", node)) if isinstance(node.op, Scan) else 1
            total += max(steps, 1) * _nodes(inner, most - total)
    return total


def _read_elements(
    fgraph: FunctionGraph, trace: Variable, elements: Sequence[TensorVariable]
) -> dict[Variable, Variable]:
    """Replacements for the reads of single elements of a trace, and for the trace itself if it has other users.

    Otherwise rules would rewrite each element to fit into a stack that nothing reads as a whole.
    """
    replaced: dict[Variable, Variable] = {}
    for user, position in fgraph.clients.get(trace, ()):
        op_ = user.op if position == 0 else None
        key = op_.key if isinstance(op_, Subtensor) else (None,)
        if isinstance(key[0], int) and -len(elements) <= key[0] < len(elements):
            element = elements[key[0]]
            read = Subtensor(key[1:])(element, *user.inputs[1:]) if key[1:] else element
            replaced[user.outputs[0]] = read
        else:
            replaced[trace] = ot.stack(elements)
    return replaced


def from_the_end(reader: TensorApply[Subtensor]) -> int:
    """How many of the last elements along the first axis a read needs; 0 if this is not static."""
    first, length = reader.op.key[0], reader.inputs[0].type.shape[0]
    if is_slice(first):
        steady = first.stop is None and first.step in (None, 1)
        first = first.start if steady else None
    if not isinstance(first, int):
        return 0
    return -first if first < 0 else max(0, (length or 0) - first)


@node_rewriter([Subtensor])
def last_of_trace(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """trace[-1] = the carried value after the last step, for a trace of a carried value."""
    key, trace = node.op.key, node.inputs[0]
    if from_the_end(node) != 1 or not isinstance(key[0], int):
        return None
    owner = trace.owner
    if owner is None or not isinstance(owner.op, Scan) or trace.index is None:
        return None
    scan = cast("Apply[Scan]", owner)
    op_, results = scan.op, scan.op.body.outputs
    if op_.reverse or not op_.carried <= trace.index < op_.carried + op_.traces:
        return None
    element = results[trace.index]
    for j in range(op_.carried):
        if results[j] is element:
            # without any step, the trace has no last element, and the read is an error
            some = ot.gt(scan.inputs[0], 0)
            message = "index -1 is out of bounds for axis 0 with size 0"
            last = CheckAndRaise(IndexError, message)(scan.outputs[j], some)
            read = Subtensor(key[1:])(last, *node.inputs[1:]) if len(key) > 1 else last
            return [read] if node.outputs[0].type.is_super(read.type) else None
    return None


@node_rewriter([Scan])
def fewer_steps(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan = a scan of fewer steps, if only first elements of its traces are read.

    The number of these elements may be dynamic, as in ``trace[k]``; for a negative k, all steps are taken. Nothing may
    read the final carried values, or the number of steps after which a condition ended the scan. The rule does not
    apply to reversed scans.
    """
    op_ = node.op
    first = op_.carried
    unread = [*node.outputs[:first], *node.outputs[first + op_.traces :]]
    if op_.reverse or any(fgraph.clients.get(v) for v in unread):
        return None
    reads: list[_Read] = []
    for trace in node.outputs[first : first + op_.traces]:
        for user, position in fgraph.clients.get(trace, ()):
            read = _read_of(user) if position == 0 else None
            if read is None:
                return None
            reads.append(read)
    (steps,) = tensors(node.inputs[:1])
    if not reads or not _saves(node, steps, reads):
        return None
    parts = op_.parts(node.inputs[1:])
    # a check that the sequences are long enough for all steps remains
    all_of_them = checked_steps(op_, steps, tensors(parts.sequences))
    fewer = ot.minimum(all_of_them, _needed(reads, all_of_them))
    outputs: list[Variable] = op_(fewer, *node.inputs[1:], return_list=True)
    fits = all(v.type.is_super(n.type) for v, n in zip(node.outputs, outputs, strict=True))
    return outputs if fits else None


@frozen_dataclass
class _Read:
    """A read of the first elements of a trace. The read needs ``number + position`` elements.

    ``not_negative`` are the bounds of the read that are variables. If one of them is negative when the graph runs, the
    read may need all elements.
    """

    number: int
    position: TensorVariable | None
    """An integer variable; None for 0."""
    not_negative: tuple[TensorVariable, ...]


def _read_of(user: object) -> _Read | None:
    """The first elements of a trace that the node ``user`` reads; None if it may read other elements."""
    if not is_node(user) or not isinstance(user.op, Subtensor):
        return None
    positions = iter(tensors(user.inputs[1:]))

    def part(value: Any) -> Any:
        return next(positions) if value == SCALAR else value

    entry = user.op.key[0]
    if not is_slice(entry):
        last, some = part(entry), 1
        bounds = [last]
    else:
        start, last = part(entry.start), part(entry.stop)
        if last is None or entry.step not in (None, 1):
            return None
        bounds, some = [0 if start is None else start, last], 0
    if any(isinstance(b, int) and b < 0 for b in bounds):
        return None
    symbolic = tuple(b for b in bounds if not isinstance(b, int))
    return (
        _Read(last + some, None, symbolic) if isinstance(last, int) else _Read(some, last, symbolic)
    )


def _saves(node: Apply[Scan], steps: TensorVariable, reads: Sequence[_Read]) -> bool:
    """Whether the reads may need fewer steps than the scan takes."""
    number, most = number_of(steps), max(r.number for r in reads)
    if all(not r.not_negative for r in reads):
        enough = is_least_with(steps, most) if number is None else int(number) <= most
        return most > 0 and not enough
    symbolic = {v for r in reads for v in r.not_negative}
    if any(r.position is not None and is_moved(r.position, steps, -1) for r in reads):
        return False
    if symbolic <= set(ancestors([steps])):
        return False  # the number of steps depends on the bounds of the reads already
    before = toposort(symbolic)
    return node not in before and not any(n.op.may_fail(n) for n in before)


def _needed(reads: Sequence[_Read], steps: TensorVariable) -> TensorVariable:
    """The number of steps that compute all elements to read. It may exceed ``steps``.

    If a bound of a read is negative, the result is ``steps``.
    """
    numbers = [r.number for r in reads if not r.not_negative]
    needed: TensorVariable | None = ot.constant(np.int64(max(numbers))) if numbers else None
    for read in reads:
        if not read.not_negative:
            continue
        number: Any = np.int64(read.number)
        number = number if read.position is None else ot.add(read.position, number)
        for bound in read.not_negative:
            number = ot.switch(ot.lt(bound, 0), steps, number)
        needed = number if needed is None else ot.maximum(needed, number)
    assert needed is not None
    return needed


def is_least_with(steps: Variable, number: int) -> bool:
    """Whether ``steps`` is computed as ``minimum(c, ...)``, with a constant c of at most ``number``."""
    owner = steps.owner
    if owner is None or not isinstance(owner.op, Elemwise) or owner.op.scalar_op.name != "minimum":
        return False
    bounds = [number_of(v) for v in owner.inputs]
    return any(b is not None and int(b) <= number for b in bounds)


CANONICALIZE = RuleSet((unrolled_scan, last_of_trace, fewer_steps), "looping steps")
