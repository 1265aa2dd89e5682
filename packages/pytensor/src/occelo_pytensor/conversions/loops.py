"""The conversion of `Scan`: each recurrent state is a window of taps that moves along a buffer.

PyTensor has several kinds of states (read at one tap or at several, written at one or at several). All are one thing here:
a buffer whose rows 0, 1, ... hold earlier values, and of which step t reads and writes rows t + tap. The rows that a step
reads before it writes them are carried from step to step. Rows that a step reads for the first time come from a sequence.

A buffer may be shorter than the loop is long: then PyTensor keeps its last rows only, in the order of time. Most are as
PyTensor's `scan` makes them: the first rows, and room for one of each step. Such a buffer is not built here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytensor.graph.basic import Constant
from pytensor.scalar.basic import Add
from pytensor.scan.op import Scan
from pytensor.tensor.basic import AllocEmpty, ScalarFromTensor
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.subtensor import IncSubtensor, Subtensor

import occelo.tensor as ot
from occelo_graph import computed_by, freeze
from occelo_graph.ops.index.subtensor import IncSubtensor as OurIncSubtensor
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.stretching import Stretch
from occelo_loops.ops.scan_op import Scan as OurScan
from occelo_pytensor.conversion import convert_inner, settings
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
    first: Any = None
    """The first rows, if the rest of the buffer is room for one row of each step."""


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
    buffers = zip(_buffers(op, list(node.inputs)), _buffers(op, outer), strict=True)
    windows = [
        _window(info, i, buffer, parts, _first_rows(theirs, buffer, node.inputs[0]))
        for i, (theirs, buffer) in enumerate(buffers)
    ]
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


def _first_rows(theirs: Any, buffer: Any, steps: Any) -> Any:
    """The rows with which PyTensor's buffer ``theirs`` starts, if it has room for ``steps`` further rows. Otherwise None."""
    write = theirs.owner
    if write is None or not isinstance(write.op, IncSubtensor) or len(write.inputs) != 3:
        return None
    empty, first, stop = write.inputs
    is_start = write.op.set_instead_of_inc and write.op.idx_list == (slice(None, 0, None),)
    if not is_start or empty.owner is None or not isinstance(empty.owner.op, AllocEmpty):
        return None
    rows, *lengths = empty.owner.inputs
    fits = all(_is_length(n, first, i) for i, n in enumerate(lengths, 1))
    if not fits or not _is_length(stop, first, 0) or not _is_sum(rows, steps, first):
        return None
    ours = computed_by(buffer, OurIncSubtensor)
    if ours is None:
        return None
    stretched = computed_by(ours.inputs[1], Stretch)
    return ours.inputs[1] if stretched is None else stretched.inputs[0]


def _is_length(length: Any, x: Any, axis: int) -> bool:
    """Whether ``length`` is that of PyTensor's ``x`` along an axis."""
    if isinstance(length, Constant):
        return int(length.data) == x.type.shape[axis]
    node = length.owner
    if node is None:
        return False
    if isinstance(node.op, ScalarFromTensor):
        return _is_length(node.inputs[0], x, axis)
    if isinstance(node.op, Shape_i):
        return node.op.i == axis and node.inputs[0] is x
    if not isinstance(node.op, Subtensor) or node.op.idx_list != (0,):
        return False
    shape, position = node.inputs
    of = shape.owner
    at_axis = isinstance(position, Constant) and int(position.data) == axis
    return at_axis and of is not None and isinstance(of.op, Shape) and of.inputs[0] is x


def _is_sum(rows: Any, steps: Any, first: Any) -> bool:
    """Whether there are as many ``rows`` as steps and ``first`` rows."""
    if isinstance(rows, Constant) and isinstance(steps, Constant):
        static = first.type.shape[0]
        return static is not None and int(rows.data) == int(steps.data) + static
    node = rows.owner
    if node is None or not isinstance(node.op, Elemwise) or not isinstance(node.op.scalar_op, Add):
        return False
    if len(node.inputs) != 2 or steps not in node.inputs:
        return False
    return _is_length(node.inputs[node.inputs[0] is steps], first, 0)


def _row(window_first: Any, buffer: Any, row: int) -> Any:
    if window_first is None:
        return buffer[row]
    padded = computed_by(window_first, DimShuffle)
    if padded is not None and padded.op.new_order == ("x", *range(buffer.ndim - 1)):
        return padded.inputs[0]
    return window_first[row]


def _window(info: Any, position: int, buffer: Any, parts: _Parts, first: Any) -> _Window:
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
        parts.starts.append(_row(first, buffer, row))
    slots.append(_element_of(buffer[carried:], parts) if in_place else None)
    return _Window(buffer, slots, reads, writes, carried, in_place, first)


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
            else _rows(op, window, trace, last, steps)
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


def _rows(op: Any, window: _Window, trace: Any, last: list[Any], steps: Any) -> Any:
    """The rows of a buffer after the loop. If it is shorter than the loop is long, the last ones."""
    count = window.carried
    first = window.buffer[:count] if window.first is None else window.first
    rows = ot.concatenate([first, trace], axis=0) if count else trace
    static, length = rows.type.shape[0], window.buffer.type.shape[0]
    if window.first is None and (static is None or static != length):
        return _last(op, rows, window.buffer.shape[0], steps + count)
    if count:
        settings().reads |= {(rows, slice(count, None, None)): trace, (rows, -1): last[-1]}
    return rows


def _last(op: Any, rows: Any, length: Any, all_rows: Any) -> Any:
    """The last ``length`` rows. Truncated gradients reserve more rows than there are steps: the rest is 0."""
    if op.truncate_gradient != -1:
        more = ot.maximum(length - all_rows, 0)
        if op.info.as_while:  # a loop that stopped early has no further rows
            more = ot.switch(rows.shape[0] < all_rows, 0, more)
        rest = [rows.shape[i] for i in range(1, rows.ndim)]
        rows = ot.concatenate([rows, ot.zeros([more, *rest], rows.dtype)], axis=0)
    return rows[ot.maximum(rows.shape[0] - length, 0) :]
