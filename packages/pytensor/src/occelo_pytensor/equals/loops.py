"""The equal of `Scan`: PyTensor's `scan`, which keeps all values of what is carried; its op without traces where there is no bound."""

from __future__ import annotations

from typing import Any

from pytensor.scan.op import Scan as TheirScan
from pytensor.scan.op import ScanInfo
from pytensor.scan.utils import until

from occelo_loops.ops.scan_op import Scan
from occelo_pytensor.equals.registry import converted, equal_of
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.library import theirs
from occelo_pytensor.variables import their_type


@equal_of(Scan)
def _scan(op: Any, steps: Any, *inputs: Any) -> Any:
    carried, sequences, constants = op.parts(inputs)
    if not op.bounded:
        return _unbounded(op, steps, carried, sequences, constants)
    if any(not hasattr(v.type, "shape") for v in carried):
        return NotImplemented

    # a loop that may stop early has one more carried value, which counts the steps
    first = [*carried, pt.constant(0, dtype="int64")] if op.stops else list(carried)

    def step(*values: Any) -> Any:
        # PyTensor's order: elements of sequences, carried values, constants
        elements, rest = values[: len(sequences)], values[len(sequences) :]
        states, held = rest[: len(first)], rest[len(first) :]
        memo = dict(zip(op.body.inputs, [*states[: len(carried)], *elements, *held], strict=True))
        outputs = converted(list(op.body.outputs), memo)
        after = [pt.specify_shape(v, s.type.shape) for v, s in zip(outputs, states, strict=False)]
        traces = outputs[len(carried) : len(carried) + op.traces]
        if op.stops:
            return [*after[: len(carried)], states[-1] + 1, *traces], until(outputs[-1])
        return [*after, *traces]

    steps = pt.as_tensor(steps)
    scanned = theirs.scan(
        step,
        sequences=[s[:steps] for s in sequences],
        outputs_info=[*first, *[None] * op.traces],
        non_sequences=list(constants),
        n_steps=steps,
        truncate_gradient=-1 if op.truncate is None else op.truncate,
        go_backwards=op.reverse,
        name=op.name,
        strict=True,
        return_list=True,
        return_updates=False,
    )
    # after no step, the last value is the first
    states = [
        pt.concatenate([pt.expand_dims(start, 0), rows])[-1]
        for start, rows in zip(first, scanned, strict=False)
    ]
    traces = scanned[len(first) :]
    traces = [t[::-1] for t in traces] if op.reverse else traces
    return [*states[: len(carried)], *traces, *states[len(carried) :]]


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
