"""Callbacks: Python functions that compiled code calls to run ops without a lowering to loops.

`loops.callbacks` writes the calls into loop programs. `UnitInterface.of` (`units.interface`) makes the `Callbacks` of a
program. `units.unit` and `blocks.vm` read the errors and effects of the ops.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from occelo_graph import Apply
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_link.array_parts import joined, split

_SMALL = 4096
"""Arrays of up to this many bytes are copied twice, by way of a bytes object. That is quicker than asking NumPy for the
address of an array. Larger arrays are copied once."""


_CAPACITY, _ENTRY = 2**26, 256
"""The most bytes of results of ops with effects that are kept for a call, and the bytes that each result adds to its
own size.
"""


class _Callback:
    """The two functions of one node that compiled code calls: `run` runs the op, and `copy_results` copies its results.

    ``place`` lists the nodes whose inner graphs contain the node, and then the node itself. ``pending`` maps each
    thread to the results that `copy_results` has not yet copied.
    """

    def __init__(self, place: tuple[Apply, ...], callbacks: Callbacks) -> None:
        self.place = place
        self.node = node = place[-1]
        self.kernel = node.op.kernel(node)
        self.callbacks = callbacks
        self.pending: dict[int, list[Any]] = {}
        self.input_types, self.output_types = (
            [v.type for v in vs] for vs in (node.inputs, node.outputs)
        )
        self.input_parts = [part for kind in self.input_types for part in kind.parts() or ()]
        self.output_parts = [part for kind in self.output_types for part in kind.parts() or ()]
        self.input_layouts = [(np.dtype(kind.dtype), kind.ndim) for kind in self.input_parts]
        self.input_lengths = ctypes.c_int64 * sum(kind.ndim for kind in self.input_parts)
        self.output_lengths = ctypes.c_int64 * sum(kind.ndim for kind in self.output_parts)
        address = ctypes.c_void_p
        run = ctypes.CFUNCTYPE(ctypes.c_int64, address, *[address] * len(self.input_parts))
        copy = ctypes.CFUNCTYPE(ctypes.c_int64, *[address] * len(self.output_parts))
        self.functions = run(self.run), copy(self.copy_results)

    def run(self, slots: int, *inputs: int | None) -> int:
        """Run the op on arrays at addresses. Write the lengths of the results to ``slots``, after the lengths of the
        inputs.

        Returns 0, or 1 if the op fails.
        """
        try:
            values = joined(self.input_types, self.arrays(slots, inputs))
            try:
                with np.errstate(all="ignore"):
                    results = [
                        np.asarray(v) if kind.is_array else v
                        for kind, v in zip(self.output_types, self.kernel(*values), strict=True)
                    ]
                parts = split(self.output_types, results)
                self.check(parts)
            except Exception as error:
                from occelo_graph.interpret import annotate_error  # needed for errors alone

                raise annotate_error(error, self.node, values) from None
            lengths = [n for part in parts for n in part.shape]
            self.output_lengths.from_address(slots + ctypes.sizeof(self.input_lengths))[:] = lengths
            thread = threading.get_ident()
            self.pending[thread] = parts
            if not self.node.op.pure:
                copies = [kind.copy(v) for kind, v in zip(self.output_types, results, strict=True)]
                self.callbacks.record(self.place, copies, sum(part.nbytes for part in parts))
        except BaseException as error:
            self.callbacks.failures[threading.get_ident()] = error
            if not self.node.op.pure:
                self.callbacks.record(self.place, error, 0)
            return 1
        return 0

    def arrays(self, slots: int, inputs: Sequence[int | None]) -> list[Any]:
        """The inputs as arrays. They are copied, because an op may keep its inputs."""
        lengths = self.input_lengths.from_address(slots)
        arrays: list[Any] = []
        at = 0
        for (dtype, ndim), address in zip(self.input_layouts, inputs, strict=True):
            shape = lengths[at : at + ndim]
            at += ndim
            size = math.prod(shape) * dtype.itemsize
            if size <= _SMALL:
                held = bytearray(ctypes.string_at(address or 0, size)) if size else b""
                arrays.append(np.ndarray(shape, dtype, held))
            else:
                array = np.empty(shape, dtype)
                ctypes.memmove(array.ctypes.data, address or 0, size)
                arrays.append(array)
        return arrays

    def check(self, results: Sequence[Any]) -> None:
        """Raise TypeError if the arrays of the results do not have the types of the node's outputs."""
        for result, kind in zip(results, self.output_parts, strict=True):
            fits = result.ndim == kind.ndim and all(
                n is None or n == m for n, m in zip(kind.shape, result.shape, strict=True)
            )
            if result.dtype != kind.dtype or not result.dtype.isnative or not fits:
                raise TypeError(
                    f"{self.node.op} gave {result.dtype} of shape {result.shape}, not {kind}"
                )

    def copy_results(self, *addresses: int | None) -> int:
        """Copy the results of the last run to addresses."""
        results = self.pending.pop(threading.get_ident())
        for result, address in zip(results, addresses, strict=True):
            if 0 < result.nbytes <= _SMALL:
                ctypes.memmove(address or 0, result.tobytes(), result.nbytes)
            elif result.nbytes:
                held = np.ascontiguousarray(result)
                ctypes.memmove(address or 0, held.ctypes.data, held.nbytes)
        return 0


@mutable_dataclass
class Effects:
    """The results and exceptions of ops with effects in one call.

    ``results`` maps the place of a node to the results of its runs, in order (see `occelo_graph.interpret.has_run`).
    ``room`` is the free capacity in bytes. If the results need more than the capacity, ``room`` is negative and all
    results are dropped.
    """

    results: dict[tuple[Apply, ...], deque[Any]] = field(
        default_factory=dict[tuple[Apply, ...], deque[Any]]
    )
    room: int = _CAPACITY


class Callbacks:
    """The callbacks of one unit.

    For each thread this object also keeps the exception of the last call, and the results of ops with effects.
    """

    def __init__(self, places: Sequence[tuple[Apply, ...]]) -> None:
        self.failures: dict[int, BaseException] = {}
        self.done: dict[int, Effects] = {}
        self.places = list(places)
        self.callbacks = [_Callback(place, self) for place in places]

    @property
    def has_effects(self) -> bool:
        """Whether at least one of the ops has effects. If so, a call must not be repeated."""
        return any(not place[-1].op.pure for place in self.places)

    def start(self) -> None:
        """Forget the effects of earlier calls in this thread."""
        self.done.pop(threading.get_ident(), None)

    def record(self, place: tuple[Apply, ...], result: Any, size: int) -> None:
        """Record the results or the exception of an op with effects. ``size`` is the number of bytes of the results."""
        done = self.done.setdefault(threading.get_ident(), Effects())
        done.room -= size + _ENTRY
        if done.room < 0:
            done.results.clear()
        else:
            done.results.setdefault(place, deque()).append(result)

    def effects(self) -> Effects:
        """Return the effects of the last call in this thread, and forget them."""
        return self.done.pop(threading.get_ident(), Effects())

    def address(self, name: str) -> int:
        """The address of the table entry ``callback:<k>`` (runs the op) or ``results:<k>`` (copies its results)."""
        kind, _, number = name.partition(":")
        callback = self.callbacks[int(number)].functions[kind == "results"]
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def raise_failure(self) -> None:
        """If an op failed in this thread, raise its exception and forget it."""
        error = self.failures.pop(threading.get_ident(), None)
        if error is not None:
            raise error
