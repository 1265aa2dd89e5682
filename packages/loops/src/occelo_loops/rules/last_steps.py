"""Rules that keep only the results of the last steps of a scan, if nothing reads the results of other steps.

`pipeline` puts them into the stage canonicalize, after the rule `last_of_trace` of `occelo_loops.rules.steps`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from occelo_graph import Apply, FunctionGraph, TensorApply, Variable, freeze
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import is_node
from occelo_graph.ops.control import CheckAndRaise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_loops.ops.expansion import checked_steps
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.steps import from_the_end, is_least_with
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

MOST_KEPT = 16
"""`last_steps_apart` divides a scan if at most this many last elements are read."""


@node_rewriter([Scan])
def last_elements_carried(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """trace[-1] = the final value of a new carried value that starts from zeros, if nothing else reads the trace."""
    op_ = node.op
    if op_.reverse:
        return None
    first, results = op_.carried, op_.body.outputs
    readers: dict[int, list[TensorApply[Subtensor]]] = {}
    for k, trace in enumerate(node.outputs[first : first + op_.traces]):
        element = results[first + k]
        of_trace = readers_of_last(fgraph, trace)
        static = is_tensor(element) and None not in element.type.shape
        if static and of_trace and all(_is_last(n) for n in of_trace):
            if element not in results[:first]:
                readers[k] = of_trace
    if not readers:
        return None
    elements = tensors([results[first + k] for k in readers])
    starts = [ot.zeros(e.type.shape, dtype=e.dtype) for e in elements]
    still = [k for k in range(op_.traces) if k not in readers]
    inner = [e.type.make_variable() for e in elements]
    body = freeze(
        [*op_.body.inputs[:first], *inner, *op_.body.inputs[first:]],
        [
            *results[:first],
            *elements,
            *(results[first + k] for k in still),
            *results[first + op_.traces :],
        ],
    )
    smaller = replace(op_, body=body, carried=first + len(readers))
    inputs = node.inputs
    outputs = smaller(*inputs[: 1 + first], *starts, *inputs[1 + first :], return_list=True)
    replaced = dict(zip(node.outputs[:first], outputs, strict=False))
    rest = outputs[first + len(readers) :]
    replaced.update(zip((node.outputs[first + k] for k in still), rest, strict=False))
    if op_.stops:
        replaced[node.outputs[-1]] = outputs[-1]
    check = CheckAndRaise(IndexError, "index -1 is out of bounds for axis 0 with size 0")
    for value, each in zip(outputs[first:], readers.values(), strict=False):
        last = check(value, ot.gt(inputs[0], 0))
        for reader in each:
            key = reader.op.key[1:]
            replaced[reader.outputs[0]] = Subtensor(key)(last, *reader.inputs[1:]) if key else last
    fits = all(v.type.is_super(new.type) for v, new in replaced.items())
    return replaced if fits else None


@node_rewriter([Scan])
def last_steps_apart(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan = a scan without traces, and a second scan with traces for the last steps, if only last elements are read.

    So only the traces of the last steps need memory. If the body may fail, the scan is not divided, since error
    messages contain the number of the step.
    """
    op_, (steps,) = node.op, tensors(node.inputs[:1])
    if op_.stops or op_.reverse or any(n.op.may_fail(n) for n in op_.body.nodes):
        return None
    readers: dict[int, list[TensorApply[Subtensor]]] = {}
    most = 0
    for k, trace in enumerate(node.outputs[op_.carried :]):
        if not fgraph.clients.get(trace):
            continue
        of_trace = readers_of_last(fgraph, trace)
        if not of_trace:
            return None
        readers[k] = of_trace
        most = max(most, *(from_the_end(n) for n in of_trace))
    number = number_of(steps)
    few = is_least_with(steps, most) if number is None else int(number) <= 4 * most
    if few or not 1 < most <= MOST_KEPT:
        return None
    parts = op_.parts(node.inputs[1:])
    count = checked_steps(op_, steps, tensors(parts.sequences))
    tail = ot.minimum(count, np.int64(most)) if number is None else ot.constant(np.int64(most))
    head = count - tail
    states = parts.carried
    if states:
        body = freeze(op_.body.inputs, op_.body.outputs[: op_.carried])
        states = replace(op_, body=body)(head, *node.inputs[1:], return_list=True)
    rest = [s[head:count] for s in tensors(parts.sequences)]
    outputs: list[Variable] = op_(tail, *states, *rest, *parts.constants, return_list=True)
    replaced = dict(zip(node.outputs[: op_.carried], outputs, strict=False))
    for k, each in readers.items():
        for reader in each:
            replaced[reader.outputs[0]] = reader.op(outputs[op_.carried + k], *reader.inputs[1:])
    fits = all(v.type.is_super(new.type) for v, new in replaced.items())
    return replaced if fits else None


def _is_last(reader: TensorApply[Subtensor]) -> bool:
    return isinstance(reader.op.key[0], int) and from_the_end(reader) == 1


def readers_of_last(fgraph: FunctionGraph, trace: Variable) -> list[TensorApply[Subtensor]]:
    """The nodes that read a trace, if all of them read a fixed number of last elements; else an empty list."""
    readers: list[TensorApply[Subtensor]] = []
    for user, position in fgraph.clients.get(trace, ()):
        if position or not is_node(user) or not isinstance(user.op, Subtensor):
            return []
        readers.append(cast("TensorApply[Subtensor]", user))
    return readers if all(from_the_end(n) for n in readers) else []


CANONICALIZE = RuleSet((last_elements_carried, last_steps_apart), "looping last steps")
