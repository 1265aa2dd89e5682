"""The rule that reads last elements of a trace from a delay line (`occelo_loops.ops.delays`) instead of the trace.

`pipeline` puts it into the stage canonicalize.
"""

from __future__ import annotations

from occelo_graph import Apply, FunctionGraph, TensorApply, Variable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.clone import equal_computations
from occelo_graph.narrowing import is_slice
from occelo_graph.ops.control import CheckAndRaise
from occelo_graph.ops.index.key import SCALAR
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.tensors.nodes import tensors
from occelo_loops.ops.delays import next_position
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.last_steps import readers_of_last
from occelo_loops.rules.steps import from_the_end
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import is_full


@node_rewriter([Scan])
def last_rows_of_delay_lines(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """trace[-m] and trace[-m:] = rows of a delay line after the last step.

    The rule applies if each step writes the element of the trace into the delay line, too, and if the delay line has at
    least m rows. Nothing may read other elements of the trace. So the trace needs no memory.
    """
    op_ = node.op
    if op_.reverse:
        return None
    replaced: dict[Variable, Variable] = {}
    for element, line in _delay_lines(node).items():
        for k in range(op_.traces):
            if op_.body.outputs[op_.carried + k] is element:
                readers = readers_of_last(fgraph, node.outputs[op_.carried + k])
                if max(map(from_the_end, readers), default=0) <= line.depth:
                    replaced.update((n.outputs[0], _read_instead(node, line, n)) for n in readers)
    fits = all(v.type.is_super(new.type) for v, new in replaced.items())
    return replaced if replaced and fits else None


@frozen_dataclass
class _Line:
    """A delay line: its number of rows ``depth``, and which carried values are its tensor of rows and its position."""

    depth: int
    rows: int
    position: int


def _delay_lines(node: Apply[Scan]) -> dict[Variable, _Line]:
    """The delay lines of a scan, by the variable of the body that each step writes into the delay line."""
    first, body = node.op.carried, node.op.body
    position_of = {v: i for i, v in enumerate(body.inputs[:first])}
    lines: dict[Variable, _Line] = {}
    for j in range(first):
        write = computed_by(body.outputs[j], IncSubtensor)
        if (
            write is None
            or not write.op.set_instead_of_inc
            or write.inputs[0] is not body.inputs[j]
        ):
            continue
        start, *rest = write.op.key
        p = position_of.get(write.inputs[-1])
        depth = write.outputs[0].type.shape[0]
        if start != SCALAR or not all(map(is_full, rest)) or p is None or depth is None:
            continue
        (position,) = tensors(body.inputs[p : p + 1])
        following = next_position(position, depth)
        if number_of(node.inputs[1 + p]) == 0 and equal_computations(
            [body.outputs[p]], [following]
        ):
            lines[write.inputs[1]] = _Line(depth, j, p)
    return lines


def _read_instead(node: Apply[Scan], line: _Line, reader: TensorApply[Subtensor]) -> Variable:
    """The same value that ``reader`` reads from the end of a trace, but read from the rows of a delay line."""
    rows, position = tensors([node.outputs[line.rows], node.outputs[line.position]])
    (steps,) = tensors(node.outputs[-1:] if node.op.stops else node.inputs[:1])
    number, (first, *rest) = from_the_end(reader), reader.op.key
    # negative positions count from the end, as in a delay line
    before = position - number
    if not is_slice(first):
        which = f"index -{number} is out of bounds for axis 0"
        message = f"{which} with size 0" if number == 1 else f"{which}, which has fewer elements"
        before = CheckAndRaise(IndexError, message)(before, ot.ge(steps, number))
        return Subtensor((SCALAR, *rest))(rows, before, *reader.inputs[1:])
    last = rows[before + ot.arange(number)]
    count = number_of(steps)
    if count is None:
        last = last[number - ot.minimum(steps, number) :]
    elif count < number:
        last = last[number - int(count) :]
    return Subtensor((slice(None), *rest))(last, *reader.inputs[1:])


CANONICALIZE = RuleSet((last_rows_of_delay_lines,), "looping delay lines")
