"""The equal of `Scan`: PyTensor's op, which keeps all values of what is carried, but where there is no bound."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Constant
from pytensor.scan.op import Scan as TheirScan
from pytensor.scan.op import ScanInfo
from pytensor.scan.utils import expand_empty
from pytensor.tensor.basic import ScalarFromTensor
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType

from occelo_loops.ops.scan_op import Scan
from occelo_pytensor.equals.registry import converted, register_equal
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.variables import their_type


@register_equal(Scan)
def _scan(op: Any, steps: Any, *inputs: Any) -> Any:
    """A state is a buffer of all its values, of which each step reads the last and writes the next (PyTensor's sit-sot)."""
    carried, sequences, constants = op.parts(inputs)
    if not op.bounded:
        return _unbounded(op, steps, carried, sequences, constants)
    if any(not hasattr(v.type, "shape") for v in carried):
        return NotImplemented
    steps = pt.as_tensor(steps)
    read: list[Any] = [_until(s, steps) for s in sequences]
    read = [s[::-1] for s in read] if op.reverse else read
    buffers: list[Any] = [expand_empty(pt.expand_dims(v, 0), steps) for v in carried]

    elements = [TensorType(v.type.dtype, v.type.shape[1:])() for v in (*read, *buffers)]
    states = elements[len(read) :]
    held = [v.type() for v in constants]
    body = list(op.body.outputs)
    memo = dict(zip(op.body.inputs, [*states, *elements[: len(read)], *held], strict=True))
    outputs = converted(body, memo)
    after = [pt.specify_shape(v, s.type.shape) for v, s in zip(outputs, states, strict=False)]
    # a trace of a carried value is in its buffer
    count = len(carried)
    traced = body[count : count + op.traces]
    others = [i for i, v in enumerate(traced) if v not in body[:count]]
    results = [*after, *[outputs[count + i] for i in others], *outputs[count + op.traces :]]

    taps = tuple((-1,) for _ in carried)
    info = ScanInfo(len(read), (), (), (), taps, len(others), 0, len(constants), op.stops)
    loop: Any = TheirScan(
        [*elements, *held],
        results,
        info,
        name=op.name,
        truncate_gradient=-1 if op.truncate is None else op.truncate,
    )
    whole: Any = loop(steps, *read, *buffers, *[steps] * len(others), *constants, return_list=True)
    rows = dict(zip(body[:count], [v[1:] for v in whole[:count]], strict=True))
    rows |= {traced[i]: v for i, v in zip(others, whole[count:], strict=True)}
    traces = [rows[v] for v in traced]
    steps_run = [next(iter(rows.values())).shape[0]] if op.stops else []
    traces = [t[::-1] for t in traces] if op.reverse else traces
    return [*[v[-1] for v in whole[:count]], *traces, *steps_run]


def _until(sequence: Any, steps: Any) -> Any:
    """The first ``steps`` elements of a sequence: it itself where it is known to have no more."""
    node = sequence.owner
    if node is not None and isinstance(node.op, Subtensor):
        (key, *others), (_, *positions) = node.op.idx_list, node.inputs
        whole = all(entry == slice(None) for entry in others)
        if key == slice(None, 0, None) and whole and _integer(positions[0]) is steps:
            return sequence
    if isinstance(steps, Constant) and sequence.type.shape[0] == int(steps.data):
        return sequence
    return sequence[:steps]


def _integer(position: Any) -> Any:
    """The tensor that was made the scalar ``position``."""
    node = position.owner
    return (
        node.inputs[0] if node is not None and isinstance(node.op, ScalarFromTensor) else position
    )


def _unbounded(op: Any, steps: Any, carried: Any, sequences: Any, constants: Any) -> Any:
    """A loop without a bound, whose states PyTensor does not trace: it would reserve memory for all steps.

    It ends after 2^32 - 1 steps, the most that PyTensor counts.
    """
    if op.traces or len(sequences):
        return NotImplemented
    variables = [their_type(v.type)() for v in op.body.inputs]
    outputs = converted(list(op.body.outputs), dict(zip(op.body.inputs, variables, strict=True)))
    first, count, states = list(carried), len(carried), outputs[: len(carried)]
    if op.stops:  # such a loop counts its steps
        counter = pt.lscalar()
        first.append(pt.constant(0, dtype="int64"))
        variables.insert(count, counter)
        states.append(counter + 1)
    info = ScanInfo(0, (), (), (), (), 0, len(first), len(constants), op.stops)
    loop = TheirScan(variables, [*states, *outputs[count:]], info, name=op.name)
    return loop(pt.minimum(steps, 2**32 - 1), *first, *constants, return_list=True)
