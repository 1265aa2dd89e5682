"""`scan` and related functions, with the interface that Theano, Aesara and PyTensor have.

The related functions are `scan_checkpoints`, `until`, `map`, `reduce`, `foldl`, `foldr` and `filter`. Users call them
from `occelo`. (`looping.loops` has `loop`, with a simpler interface.)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from occelo_graph.applicable import check_arguments
from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Variable, nodes_made
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.provenance import warn_user
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_loops.ops.building.bodies import Step, as_condition, scan_node
from occelo_loops.ops.building.classic_arguments import (
    ScanOutput,
    listed,
    read_outputs,
    read_sequences,
    steps_of,
)
from occelo_loops.ops.delays import DelayLine
from occelo_loops.ops.derivatives.checkpoints import checkpointed
from occelo_loops.ops.nested import Stepped, made_at, shown
from occelo_loops.ops.states import default_updates


class until:
    """A condition that ends a `scan`. The function of the scan returns it together with its outputs.

    The first step in which ``condition`` holds is the last one. TypeError if it is not a scalar.
    """

    def __init__(self, condition: Any) -> None:
        self.condition = as_condition(condition)


# the results of the function


@dataclass
class _Returned:
    outputs: list[Any]
    updates: dict[Any, Any]
    condition: Any = None


def _is_updates(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return (
        is_list_or_tuple(value)
        and len(value) > 0
        and all(
            is_list_or_tuple(p) and len(p) == 2 and isinstance(p[0], SharedVariable) for p in value
        )
    )


def _returned(value: Any) -> _Returned:
    """Divide ``value``, which the function of a scan returned, into outputs, updates and condition. They may be in any
    order.
    """
    returned = _Returned([], {})
    if isinstance(value, until):
        returned.condition = value.condition
        return returned
    if _is_updates(value):
        returned.updates = dict(value)
        return returned
    if not is_list_or_tuple(value):
        returned.outputs = listed(value)
        return returned
    parts = list(value)
    special = [p for p in parts if isinstance(p, until) or _is_updates(p)]
    if not special:
        returned.outputs = parts
        return returned
    rest = [p for p in parts if not any(p is s for s in special)]
    for each in special:
        if isinstance(each, until):
            if returned.condition is not None:
                raise ValueError("The function of scan returned two conditions")
            returned.condition = each.condition
        else:
            returned.updates.update(dict(each))
    returned.outputs = list(rest[0]) if len(rest) == 1 and is_list_or_tuple(rest[0]) else rest
    return returned


# scan

MOST_SCALARS = 16
MOST_TENSORS = 3
"""The largest numbers of earlier values of an output that are carried one by one; more are carried in a delay line.

Up to about 16 scalars, which stay in registers and on the stack, took half as long as a delay line. Tensors would be
copied from each value to the next.
"""


def _delayed(outputs: Sequence[ScanOutput]) -> list[DelayLine | None]:
    """The delay line of each output, or None for an output whose earlier values are carried one by one."""
    lines: list[DelayLine | None] = []
    for i, output in enumerate(outputs):
        initial: Any = output.initial
        scalars = is_list_or_tuple(initial) or (is_tensor(initial) and initial.type.ndim == 1)
        long = output.depth > (MOST_SCALARS if scalars else MOST_TENSORS)
        lines.append(DelayLine(initial, output.taps, _label(i)) if long else None)
    return lines


def _label(output: int) -> str:
    return f"The value of outputs_info {output}"


@explained_by("loops")
def scan(
    fn: Stepped,
    sequences: Any = None,
    outputs_info: Any = None,
    non_sequences: Any = None,
    n_steps: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    profile: bool = False,
    allow_gc: bool | None = None,
    strict: bool = False,
    return_list: bool = False,
    return_updates: bool = True,
    *,
    checkpoint: int | str | None = None,
) -> Any:
    """Run ``fn`` step by step. Returns the outputs of all steps, stacked along a new first axis.

    - ``fn``: the function of a step. Its arguments are the elements of all ``sequences`` at their taps, then the
      earlier values of all outputs at their taps, then ``non_sequences``. It returns the outputs of the step. It may
      also return updates of shared variables (a dict) and `until`. Default updates of shared variables, such as the
      generators of a `RandomStream`, are applied in each step.
    - ``sequences``: tensors, or dicts with ``input`` (a tensor) and ``taps``, the offsets at which a step reads the
      tensor. The default of ``taps`` is ``[0]``.
    - ``outputs_info``: an entry for each output. It is None if no step reads the output. Otherwise it is the initial
      value, or a dict with ``initial`` and ``taps``, the negative offsets of the earlier values that a step reads. The
      default of ``taps`` is ``[-1]``. For other taps, ``initial`` has a first axis with the values before the first
      step, the oldest first. If no step reads any output, ``outputs_info`` itself may be None.
    - ``name``: the name of the loop, in messages and profiles.
    - ``n_steps``: the number of steps. By default it is the largest number for which no sequence is too short.
    - ``truncate_gradient``: the number of last steps that a gradient in reverse mode goes through; -1 means all.
    - ``go_backwards``: read the sequences from their ends.
    - ``strict``: ValueError if ``fn`` reads a variable from outside that is not in ``non_sequences``.
    - ``checkpoint``: limit the memory of a gradient, as in `loop`. The outputs of all steps are kept anyway;
      `scan_checkpoints` keeps fewer outputs.
    - ``return_list``: return a list even for a single output.
    - ``return_updates``: return a pair of the outputs and the updates of shared variables (deprecated). With False,
      ``fn`` may not return updates, else ValueError.

    For an output that is not a tensor, such as a generator, only the value after the last step is returned.

    ``mode``, ``profile`` and ``allow_gc`` have no effect: the loop is compiled with the function that contains it.

    TypeError if an output with an initial value changes its dtype or its number of dimensions. ValueError for arguments
    that contradict each other. ValueError at run time for a negative ``n_steps``, or a sequence that is too short.
    """
    built = _Classic(fn, sequences, outputs_info, non_sequences, name)
    built.checkpoint = checkpoint
    results, updates = built.run(
        steps_of(built.sequences, n_steps),
        None if truncate_gradient < 0 else truncate_gradient,
        go_backwards,
        strict,
    )
    outputs: Any = results if return_list or len(results) != 1 else results[0]
    if not return_updates:
        _refuse_updates(updates, "scan")
        return outputs
    warn_user(
        "scan will return its outputs alone; pass return_updates=False to have that now, and carry states as outputs",
        DeprecationWarning,
    )
    return outputs, updates


def _refuse_updates(updates: Mapping[SharedVariable, Any], what: str) -> None:
    """ValueError if there are updates that would be lost, since they are not returned.

    Default updates are not lost, since compiled functions apply them. ``what`` names the function in the message.
    """
    lost = [str(s) for s, update in updates.items() if s.default_update is not update]
    if lost:
        raise ValueError(
            f"The function of {what} updates {', '.join(lost)}: ask for return_updates"
        )


class _Classic:
    """Builds a node of `Scan` from the arguments of `scan`."""

    def __init__(
        self,
        fn: Stepped,
        sequences: Any,
        outputs_info: Any,
        non_sequences: Any,
        name: str | None,
    ) -> None:
        self.fn = fn
        self.sequences = read_sequences(sequences)
        self.outputs = read_outputs(outputs_info)
        self.constants: list[Variable] = [
            v if isinstance(v, Variable) else as_tensor_variable(v) for v in listed(non_sequences)
        ]
        self.delays = _delayed(self.outputs)
        self.name = name
        self.checkpoint: int | str | None = None
        self.ends = False
        """Whether only the outputs of the last step of each block are returned, as in `scan_checkpoints`."""

    def run(
        self, steps: Any, truncate: int | None, backwards: bool, strict: bool
    ) -> tuple[list[Any], dict[Any, Any]]:
        """Build the node. Returns the outputs of all steps, and the updates of shared variables."""
        slices = [part for s in self.sequences for part in s.slices(backwards)]
        windows = [
            o.window() if line is None else line.carried()
            for o, line in zip(self.outputs, self.delays, strict=True)
        ]
        carried = [v for w in windows for v in w]
        op_, outputs = scan_node(
            self._step,
            steps,
            carried,
            slices,
            self.constants if strict else (),
            truncate=truncate,
            name=self.name,
            names=[_label(i) for i, w in enumerate(windows) for _ in w],
            capture=not strict,
        )
        node = outputs[0].owner
        assert node is not None
        shared = node.inputs[1 + len(carried) : 1 + op_.carried]
        if self.checkpoint is not None:
            outputs = checkpointed(op_, outputs, self.checkpoint, self.ends)
        first = op_.carried
        traces: list[Any] = list(outputs[first : first + op_.traces])
        if self.name is not None:
            for i, trace in enumerate(traces):
                trace.name = self.name if len(traces) == 1 else f"{self.name}[{i}]"
        # an output that is not a tensor has no trace: its value after the last step is returned
        ends = self._ends(windows)
        rest = iter(traces)
        results = [
            outputs[ends[i]] if i in ends else next(rest) for i in range(len(ends) + len(traces))
        ]
        return results, dict(zip(shared, outputs[len(carried) : first], strict=True))

    def _ends(self, windows: Sequence[Sequence[Any]]) -> dict[int, int]:
        """Maps the position of each output that is not a tensor to the position of its carried value."""
        ends: dict[int, int] = {}
        position = 0
        for i, window in enumerate(windows):
            position += len(window)
            if window and isinstance(window[0], Variable) and not is_tensor(window[0]):
                ends[i] = position - 1
        return ends

    def _step(self, carried: list[Variable], elements: list[Variable], _: list[Variable]) -> Step:
        rest = list(carried)
        windows: list[list[Variable]] = []
        read: list[Any] = []
        for output, line in zip(self.outputs, self.delays, strict=True):
            size = (output.depth if line is None else 2) if output.initial is not None else 0
            window = rest[:size]
            read += output.read(window) if line is None else line.read(window[0], window[1])
            windows.append(window)
            del rest[:size]
        # the variables from outside themselves, so that the function can differentiate by them
        arguments = [*elements, *read, *self.constants]
        kinds = {
            "an element of sequences": elements,
            "an earlier output": read,
            "a non-sequence": self.constants,
        }
        names = [name for name, values in kinds.items() for _ in values]
        check_arguments("The function of scan", self.fn, *names)
        with nodes_made() as nodes:
            returned = _returned(self.fn(*arguments))
        if any(v is None for v in returned.outputs) or not (
            returned.outputs or returned.updates or returned.condition is not None
        ):
            raise TypeError(
                f"The function of scan{made_at(self.fn)} returned None, and must return the outputs of a step"
            )
        results = [
            v if isinstance(v, Variable) else as_tensor_variable(v) for v in returned.outputs
        ]
        self._check_count(results)
        following: list[Any] = []
        traced: list[Any] = []
        outputs = self.outputs or [ScanOutput() for _ in results]
        for output, line, window, result in zip(
            outputs,
            self.delays or [None] * len(results),
            windows or [[] for _ in results],
            results,
            strict=True,
        ):
            if line is not None:
                following += line.following(window[0], window[1], result)
            elif output.initial is not None:
                following += [*window[1:], result]
            if output.initial is None or is_tensor(window[0]):
                traced.append(result)
        updates = default_updates([*results, *returned.updates.values(), returned.condition], nodes)
        updates.update(returned.updates)
        return Step(following, traced, returned.condition, updates)

    def _check_count(self, results: Sequence[Any]) -> None:
        if self.outputs and len(results) != len(self.outputs):
            initial = [o.initial for o in self.outputs]
            raise ValueError(
                f"The function of scan{made_at(self.fn)} returned {len(results)} outputs, {shown(results)}, "
                f"and outputs_info has {len(self.outputs)}: {shown(initial)}"
            )


# forms of scan


@explained_by("loops")
def scan_checkpoints(
    fn: Stepped,
    sequences: Any = (),
    outputs_info: Any = None,
    non_sequences: Any = (),
    name: str = "checkpointscan_fn",
    n_steps: Any = None,
    save_every_N: int = 10,
    padding: bool = True,
    return_updates: bool = True,
) -> Any:
    """A `scan` that returns only the outputs of every ``save_every_N``-th step and of the last step.

    Reverse mode keeps the carried values only after every ``save_every_N``-th step, and computes those of other steps
    again. If the number of steps is not a multiple of ``save_every_N``, the last block of steps is shorter. ``padding``
    has no effect. ``fn``, ``sequences``, ``outputs_info``, ``non_sequences``, ``name``, ``n_steps``, ``return_updates`` and
    the errors are those of `scan`.
    """
    built = _Classic(fn, sequences, outputs_info, non_sequences, name)
    built.checkpoint, built.ends = save_every_N, True
    results, updates = built.run(steps_of(built.sequences, n_steps), None, False, False)
    outputs: Any = results if len(results) != 1 else results[0]
    if return_updates:
        return outputs, updates
    _refuse_updates(updates, "scan")
    return outputs


@explained_by("loops")
def map(
    fn: Stepped,
    sequences: Any,
    non_sequences: Any = None,
    truncate_gradient: int = -1,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """Apply ``fn`` to each element of ``sequences``, and stack the results. The arguments are those of `scan`."""
    return scan(
        fn,
        sequences,
        None,
        non_sequences,
        None,
        truncate_gradient,
        go_backwards,
        mode,
        name,
        return_updates=return_updates,
    )


@explained_by("loops")
def reduce(
    fn: Stepped,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    go_backwards: bool = False,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """The outputs of the last step of a `scan`. The arguments are those of `scan`.

    If there is no step, the result is the initial value for an output with the taps ``[-1]``. Any other output raises
    IndexError at run time.
    """
    built = read_outputs(outputs_info)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        outputs, updates = scan(
            fn,
            sequences,
            outputs_info,
            non_sequences,
            None,
            -1,
            go_backwards,
            mode,
            name,
            return_list=True,
        )
    last = [_last(output, each) for output, each in zip(outputs, built, strict=True)]
    result: Any = last if len(last) != 1 else last[0]
    if return_updates:
        return result, updates
    _refuse_updates(updates, "reduce")
    return result


def _last(trace: Any, output: ScanOutput) -> Any:
    if output.taps != [-1]:
        return trace[-1]
    node = trace.owner
    # the final carried value, since it exists even if there is no step
    for j, result in enumerate(node.op.body.outputs[: node.op.carried]):
        if result is node.op.body.outputs[trace.index]:
            return node.outputs[j]
    return trace[-1]


@explained_by("loops")
def foldl(
    fn: Stepped,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """The result of `reduce`, from the first element of ``sequences`` to the last one.

    ``fn``, ``outputs_info``, ``non_sequences``, ``mode``, ``name`` and ``return_updates`` are those of `scan`.
    """
    return reduce(fn, sequences, outputs_info, non_sequences, False, mode, name, return_updates)


@explained_by("loops")
def foldr(
    fn: Stepped,
    sequences: Any,
    outputs_info: Any,
    non_sequences: Any = None,
    mode: Any = None,
    name: str | None = None,
    return_updates: bool = True,
) -> Any:
    """The result of `reduce`, from the last element of ``sequences`` to the first one.

    ``fn``, ``outputs_info``, ``non_sequences``, ``mode``, ``name`` and ``return_updates`` are those of `scan`.
    """
    return reduce(fn, sequences, outputs_info, non_sequences, True, mode, name, return_updates)


@explained_by("loops")
def filter(fn: Callable[[Any], Any], sequence: Any) -> Any:
    """The elements of ``sequence``, along its first axis, for which the scalar condition ``fn(element)`` is true."""
    variable = as_tensor_variable(sequence)
    chosen = map(fn, [variable], return_updates=False)
    return variable[chosen.astype("bool")]
