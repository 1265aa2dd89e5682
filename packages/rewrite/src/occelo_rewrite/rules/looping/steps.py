"""Rules that unroll scans of few steps, read last values without a trace, and leave out last steps that nothing reads.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from occelo_graph import Apply, FunctionGraph, TensorApply, Variable
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.looping.expansion import checked_steps
from occelo_graph.looping.scan_op import Scan
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.control import CheckAndRaise
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.tensors.nodes import tensors
from occelo_rewrite.constants import number_of
from occelo_rewrite.node_rule import Replacements, RuleSet, node_rewriter

__all__ = ["CANONICALIZE", "is_least_with"]

MOST_STEPS = 4
MOST_NODES = 32
"""The most steps, and the most nodes in all steps, to unroll: compiling more would take longer than it saves."""


@node_rewriter([Scan])
def unrolled_scan(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan of a known, small number of steps is unrolled: it becomes the graph of these steps."""
    op_ = node.op
    steps = number_of(node.inputs[0])
    if steps is None or not 1 <= int(steps) <= (1 if op_.stops else MOST_STEPS):
        return None
    count = int(steps)
    if count > 1 and count * len(op_.body.nodes) > MOST_NODES:
        return None
    parts = op_.parts(node.inputs[1:])
    carried, kept = list(parts.carried), list[list[Variable]]()
    for step in range(count):
        at = count - 1 - step if op_.reverse else step
        elements = [s[at] for s in tensors(parts.sequences)]
        results = op_.body.bind([*carried, *elements, *parts.constants])
        carried = results[: op_.carried]
        kept.append(results[op_.carried : op_.carried + op_.traces])
    ordered = kept[::-1] if op_.reverse else kept
    traces = [ot.stack([step[k] for step in ordered]) for k in range(op_.traces)]
    found = [*carried, *traces, *([ot.constant(np.int64(1))] if op_.stops else [])]
    fits = all(v.type.is_super(new.type) for v, new in zip(node.outputs, found, strict=True))
    return found if fits else None


@node_rewriter([Subtensor])
def last_of_trace(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """The last element of a trace of carried values is the carried value after the last step; the trace is not read."""
    key = node.op.key
    if not isinstance(key[0], int) or key[0] != -1:
        return None
    trace = node.inputs[0]
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
            # without a step there is no last element
            some = ot.gt(scan.inputs[0], 0)
            message = "index -1 is out of bounds for axis 0 with size 0"
            last = CheckAndRaise(IndexError, message)(scan.outputs[j], some)
            made = Subtensor(key[1:])(last, *node.inputs[1:]) if len(key) > 1 else last
            return [made] if node.outputs[0].type.is_super(made.type) else None
    return None


@node_rewriter([Scan])
def fewer_steps(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """If only first elements of the traces are read, a scan takes only the steps that make these elements.

    No carried value may be read after the last step. The rule does not apply to reversed scans, nor to scans that a
    condition may end.
    """
    op_ = node.op
    if op_.reverse or op_.stops:
        return None
    if any(fgraph.clients.get(v) for v in node.outputs[: op_.carried]):
        return None
    last = 0
    for trace in node.outputs[op_.carried :]:
        for user, position in fgraph.clients.get(trace, ()):
            read = _last_read(user) if position == 0 else None
            if read is None:
                return None
            last = max(last, read)
    if not last:
        return None
    (steps,) = tensors(node.inputs[:1])
    known = number_of(steps)
    if known is not None and int(known) <= last:
        return None
    if known is None and is_least_with(steps, last):
        return None
    parts = op_.parts(node.inputs[1:])
    # whether the sequences are long enough for all steps is still checked
    all_of_them = checked_steps(op_, steps, tensors(parts.sequences))
    fewer = ot.minimum(all_of_them, np.int64(last))
    made: list[Variable] = op_(fewer, *node.inputs[1:], return_list=True)
    fits = all(v.type.is_super(n.type) for v, n in zip(node.outputs, made, strict=True))
    return made if fits else None


def _last_read(user: object) -> int | None:
    """How many elements from the start of a trace the reading node ``user`` needs; None if that is not known."""
    if not is_node(user) or not isinstance(user.op, Subtensor):
        return None
    first = user.op.key[0]
    if is_slice(first):
        if first.step not in (None, 1) or (isinstance(first.start, int) and first.start < 0):
            return None
        known = first.start is None or isinstance(first.start, int)
        return first.stop if known and isinstance(first.stop, int) and first.stop > 0 else None
    return first + 1 if isinstance(first, int) and first >= 0 else None


def is_least_with(steps: Variable, number: int) -> bool:
    """Whether ``steps`` is a minimum with an operand that is a constant of at most ``number``."""
    owner = steps.owner
    if owner is None or not isinstance(owner.op, Elemwise) or owner.op.scalar_op.name != "minimum":
        return False
    bounds = [number_of(v) for v in owner.inputs]
    return any(b is not None and int(b) <= number for b in bounds)


CANONICALIZE = RuleSet((unrolled_scan, last_of_trace, fewer_steps), "looping steps")
