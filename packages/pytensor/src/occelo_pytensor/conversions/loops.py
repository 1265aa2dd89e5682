"""The conversion of `Scan`: each recurrent state is a window of taps that moves along a buffer.

PyTensor has several kinds of states (read at one tap or at several, written at one or at several). All are one thing here:
a buffer whose rows 0, 1, ... hold earlier values, and of which step t reads and writes rows t + tap. The rows that a step
reads before it writes them are carried from step to step. Rows that a step reads for the first time come from a sequence.

A buffer may be shorter than the loop is long: then PyTensor keeps its last rows only, in the order of time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytensor.scan.op import Scan

import occelo.tensor as ot
from occelo_graph import freeze
from occelo_loops.ops.scan_op import Scan as OurScan
from occelo_pytensor.conversion import convert_inner
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import input_like


@dataclass
class _Window:
    """A state: its buffer, and the rows around the current step.

    ``slots[i]`` is the row t + i before step t: a carried value, or the element of a sequence for the last one.
    ``reads`` and ``writes`` are positions among them. ``carried`` is their number that is carried.
    """

    buffer: Any
    slots: list[Any]
    reads: list[int]
    writes: list[int]
    carried: int
    is_updated_in_place: bool


@dataclass
class _Parts:
    """The inputs of the body: variables for one step, and where they start or come from."""

    carried: list[Any]
    starts: list[Any]
    elements: list[Any]
    sequences: list[Any]


@register_conversion(Scan)
def _scan(node: Any, *inputs: Any) -> Any:
    op, info = node.op, node.op.info
    steps = ot.cast(inputs[0], "int64")
    parts = _Parts([], [], [], [])
    outer = list(inputs)
    inner = [_element_of(s, parts) for s in op.outer_seqs(outer)]
    windows = [_window(info, i, buffer, parts) for i, buffer in enumerate(_buffers(op, outer))]
    inner += [w.slots[i] for w in windows for i in w.reads]
    untraced = _untraced(op, outer, parts)
    inner += untraced
    constants = list(op.outer_non_seqs(outer))
    held = [v.type.make_variable() for v in constants]
    outputs = convert_inner(op.fgraph.inputs, op.fgraph.outputs, [*inner, *held])
    after, traces, stop = _body(info, windows, untraced, outputs)
    body = freeze([*parts.carried, *parts.elements, *held], [*after, *traces, *stop])
    loop = OurScan(body, len(parts.carried), len(parts.elements), stops=bool(stop))
    results = loop(steps, *parts.starts, *parts.sequences, *constants, return_list=True)
    return _results(node, windows, results, outer, steps)


def _buffers(op: Any, outer: list[Any]) -> list[Any]:
    return [*op.outer_mitmot(outer), *op.outer_mitsot(outer), *op.outer_sitsot(outer)]


def _element_of(sequence: Any, parts: _Parts) -> Any:
    element = ot.tensor(dtype=sequence.dtype, shape=sequence.type.shape[1:])
    parts.elements.append(element)
    parts.sequences.append(sequence)
    return element


def _window(info: Any, position: int, buffer: Any, parts: _Parts) -> _Window:
    in_place = position < info.n_mit_mot
    taps = info.tap_array[position]
    written = info.mit_mot_out_slices[position] if in_place else (0,)
    oldest = min(0, *taps, *written)
    reads, writes = [t - oldest for t in taps], [t - oldest for t in written]
    carried = max(*reads, *writes)
    slots: list[Any] = []
    for row in range(carried):
        slots.append(ot.tensor(dtype=buffer.dtype, shape=buffer.type.shape[1:]))
        parts.carried.append(slots[-1])
        parts.starts.append(buffer[row])
    slots.append(_element_of(buffer[carried:], parts) if in_place else None)
    return _Window(buffer, slots, reads, writes, carried, in_place)


def _untraced(op: Any, outer: list[Any], parts: _Parts) -> list[Any]:
    starts = list(op.outer_untraced_sit_sot(outer))
    inner = op.inner_untraced_sit_sot(list(op.fgraph.inputs))
    variables = [input_like(v) for v in inner]
    parts.carried += variables
    parts.starts += starts
    return variables


def _body(
    info: Any, windows: list[_Window], untraced: list[Any], outputs: list[Any]
) -> tuple[list[Any], list[Any], list[Any]]:
    """The carried values after a step, its traces, and whether it is the last one (a list of one, or empty)."""
    rest = iter(outputs)
    after: list[Any] = []
    traces: list[Any] = []
    for window in windows:
        slots = list(window.slots)
        for i in window.writes:
            slots[i] = _like(next(rest), window.buffer.dtype)
        # the oldest row is final for buffers whose rows are written several times
        traces.append(slots[0] if window.is_updated_in_place else slots[window.carried])
        after += [_fitting(slots[i + 1], window.slots[i]) for i in range(window.carried)]
    traces += [next(rest) for _ in range(info.n_nit_sot)]
    after += [_fitting(next(rest), v) for v in untraced]
    return after, traces, list(rest)


def _like(value: Any, dtype: str) -> Any:
    return value if value.dtype == dtype else ot.cast(value, dtype)


def _fitting(value: Any, variable: Any) -> Any:
    """``value`` with a type that the carried ``variable`` may have."""
    if variable.type.is_super(value.type):
        return value
    return ot.specify_shape(_like(value, variable.dtype), list(variable.type.shape))


def _results(
    node: Any, windows: list[_Window], results: list[Any], outer: list[Any], steps: Any
) -> list[Any]:
    op, info = node.op, node.op.info
    count = sum(w.carried for w in windows) + info.n_untraced_sit_sot
    final, traces = results[:count], results[count:]
    outputs: list[Any] = []
    at = 0
    for window, trace in zip(windows, traces, strict=False):
        last = final[at : at + window.carried]
        at += window.carried
        outputs.append(
            _rows_in_place(window, trace, last, steps)
            if window.is_updated_in_place
            else _rows(op, window, trace, steps)
        )
    lengths = op.outer_nitsot(outer)
    for trace, length, theirs in zip(
        traces[len(windows) :], lengths, op.outer_nitsot(list(node.inputs)), strict=False
    ):
        whole = theirs is node.inputs[0]
        outputs.append(trace if whole else _last(op, trace, length, steps))
    return [*outputs, *final[at:]]


def _rows_in_place(window: _Window, trace: Any, last: list[Any], steps: Any) -> Any:
    """A buffer that is updated in place: the rows that left the window, the window, and the rows that it did not reach."""
    unread = window.buffer[steps + window.carried :]
    return ot.concatenate([trace, *([ot.stack(last)] if last else []), unread], axis=0)


def _rows(op: Any, window: _Window, trace: Any, steps: Any) -> Any:
    """The rows of a buffer after the loop. If it is shorter than the loop is long, the last ones."""
    rows = (
        ot.concatenate([window.buffer[: window.carried], trace], axis=0)
        if window.carried
        else trace
    )
    static, length = rows.type.shape[0], window.buffer.type.shape[0]
    if static is not None and static == length:
        return rows
    return _last(op, rows, window.buffer.shape[0], steps + window.carried)


def _last(op: Any, rows: Any, length: Any, all_rows: Any) -> Any:
    """The last ``length`` rows. Truncated gradients reserve more rows than there are steps: the rest is 0."""
    if op.truncate_gradient != -1:
        more = ot.maximum(length - all_rows, 0)
        if op.info.as_while:  # a loop that stopped early has no further rows
            more = ot.switch(rows.shape[0] < all_rows, 0, more)
        rest = [rows.shape[i] for i in range(1, rows.ndim)]
        rows = ot.concatenate([rows, ot.zeros([more, *rest], rows.dtype)], axis=0)
    return rows[ot.maximum(rows.shape[0] - length, 0) :]
