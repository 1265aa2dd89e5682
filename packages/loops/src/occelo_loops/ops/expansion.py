"""`expanded`: expands a `Scan` to the simpler op `Iterate`, which linkers run.

Each trace becomes a carried tensor, into which each step writes one element. Sequences become tensors that each step
indexes with a carried position.

The rule `expand_scan` and the decomposition of `Scan` call `expanded`. Checkpoints and other rules for loops call
`checked_steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import alloc
from occelo_graph.ops.elemwise.arithmetic import ge, le
from occelo_graph.ops.index.subtensor import set_fitting
from occelo_graph.ops.reduce import any as any_of
from occelo_graph.ops.shape.length_bounds import at_most_length, never_negative
from occelo_graph.ops.shape.reading import shape_i, shape_tuple
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import TensorType
from occelo_loops.ops.iterate import Iterate
from occelo_loops.ops.lengths import element_shapes

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_loops.ops.scan_op import Scan

_INDEX = TensorType("int64", ())


def expanded(op_: Scan, inputs: Sequence[Any]) -> list[Variable]:
    """The outputs of a node of `Scan` with these ``inputs``, computed by a node of `Iterate` instead."""
    carried, sequences, constants = op_.parts(inputs[1:])
    steps = checked_steps(op_, inputs[0], tensors(sequences))
    memory = [
        alloc(np.zeros((), dtype), steps, *lengths)
        for dtype, lengths in _elements(op_, inputs, steps)
    ]
    start = steps - 1 if op_.reverse else as_tensor_variable(np.int64(0))
    operands = [start, *carried, *memory, *sequences, *constants]
    body = _body(op_, [start.type, *_types(op_, inputs, [v.type for v in memory])], len(memory))
    count = 1 + len(carried) + len(memory)
    outputs: list[Any] = Iterate(body, count, op_.stops, len(memory))(
        steps, *operands, return_list=True
    )
    last, states, traces = outputs[0], outputs[1 : 1 + len(carried)], outputs[1 + len(carried) :]
    if not op_.stops:
        return [*states, *traces]
    done = start - last if op_.reverse else last
    ran = [t[steps - done :] if op_.reverse else t[:done] for t in traces]
    return [*states, *ran, done]


def _types(op_: Scan, inputs: Sequence[Any], memory: Sequence[Any]) -> list[Any]:
    """The types of the inputs of the body of the `Iterate`, except the position. ``memory`` are the types of the memory.

    They are the types in the body of the scan, even where more is known of ``inputs``, for instance after an op was
    inlined: a step may return a value with fewer static lengths than the initial value has, or with other ones. And a
    loop without a step must not fail because static lengths of ``inputs`` disagree.
    """
    inner = op_.parts(op_.body.inputs)
    sequences = [
        TensorType(s.dtype, (s.type.shape[0], *(v.type.shape or ())))
        for s, v in zip(tensors(op_.parts(inputs[1:]).sequences), inner.sequences, strict=True)
    ]
    carried, constants = ([v.type for v in some] for some in (inner.carried, inner.constants))
    return [*carried, *memory, *sequences, *constants]


def _body(op_: Scan, types: Sequence[Any], traces: int) -> Any:
    """The body of the `Iterate`. ``types`` are the types of its inputs, and ``traces`` is the number of traces.

    It carries the position of the elements to read and write, the carried values of the scan, and memory for traces.
    """
    variables = [t.make_variable() for t in types]
    at, rest = variables[0], variables[1:]
    first = op_.carried
    carried, memory = rest[:first], rest[first : first + traces]
    sequences = rest[first + traces : first + traces + op_.sequences]
    constants = rest[first + traces + op_.sequences :]
    results: list[Any] = op_.body.bind([*carried, *(s[at] for s in sequences), *constants])
    written = [
        set_fitting(m[at], element) for m, element in zip(memory, results[first:], strict=False)
    ]
    stop = results[first + traces :]
    following = at - 1 if op_.reverse else at + 1
    return freeze(variables, [following, *results[:first], *written, *stop])


def _elements(
    op_: Scan, inputs: Sequence[Any], steps: TensorVariable
) -> list[tuple[str, list[Any]]]:
    """The dtype and the lengths of the elements of each trace, to allocate memory.

    A length that depends on values is read from the results of the first step.
    """
    shapes = [shape_tuple(v) if v.type.is_array else None for v in inputs]
    _, elements = element_shapes(op_, inputs, shapes)
    first: list[Any] = []
    kinds: list[tuple[str, list[Any]]] = []
    for k, shape in enumerate(elements):
        lengths = list(shape)
        for axis, n in enumerate(shape):
            if n is None:
                first = first or _first_step(op_, inputs)
                lengths[axis] = shape_i(first[op_.carried + k], axis)
        kind = op_.body.outputs[op_.carried + k].type
        assert isinstance(kind, TensorType)
        kinds.append((kind.dtype, lengths))
    return kinds


def _first_step(op_: Scan, inputs: Sequence[Any]) -> list[Variable]:
    """The results of the first step, from a copy of the body. The element of an empty sequence is zero."""
    carried, sequences, constants = op_.parts(inputs[1:])
    at = slice(-1, None) if op_.reverse else slice(1)
    elements: list[Any] = []
    for s in tensors(sequences):
        # the sum over at most one element: it is the element, or zero
        some = s[at]
        elements.append(
            any_of(some, axis=0) if s.dtype == "bool" else some.sum(axis=0, dtype=s.dtype)
        )
    bound: list[Variable] = op_.body.bind([*carried, *elements, *constants])
    return bound


def checked_steps(
    op_: Scan, steps: TensorVariable, sequences: Sequence[TensorVariable]
) -> TensorVariable:
    """The number of steps, with a check at run time that it is not negative, and not larger than a sequence's length.

    Conditions that certainly hold are not checked.
    """
    conditions: list[Any] = []
    number = known_integer(steps)
    if not (never_negative(steps) if number is None else number >= 0):
        conditions.append(ge(steps, 0))
    for s in sequences:
        length = s.type.shape[0]
        if number is not None and length is not None and number <= length:
            continue
        if not at_most_length(steps, s):
            conditions.append(le(steps, shape_i(s, 0)))
    if not conditions:
        return steps
    checked: TensorVariable = CheckAndRaise(
        ValueError, f"The number of steps of {op_} is negative, or a sequence is shorter"
    )(steps, *conditions)
    return checked
