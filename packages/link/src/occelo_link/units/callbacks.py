"""The Python side of `occelo_link.loops.callbacks`: ops that compiled code calls."""

from __future__ import annotations

import ctypes
import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from occelo_graph import Apply
from occelo_graph.interpret import annotate_error
from occelo_link.array_parts import joined, split

__all__ = ["Effects", "Hosts"]

_SMALL = 4096
"""Up to so many bytes it is quicker to copy twice than to ask NumPy for an address."""


_ROOM, _ENTRY = 2**26, 256
"""So many bytes of results of ops with effects are kept for a call, each with so many more."""


class _Host:
    """One op: its two functions, and by thread the results that wait to be taken."""

    def __init__(self, node: Apply, hosts: Hosts) -> None:
        self.node = node
        self.kernel = node.op.kernel(node)
        self.hosts = hosts
        self.waiting: dict[int, list[Any]] = {}
        self.takes, self.gives = ([v.type for v in vs] for vs in (node.inputs, node.outputs))
        self.kinds = [part for kind in self.takes for part in kind.parts() or ()]
        self.made = [part for kind in self.gives for part in kind.parts() or ()]
        self.taken = [(np.dtype(kind.dtype), kind.ndim) for kind in self.kinds]
        self.given = ctypes.c_int64 * sum(kind.ndim for kind in self.kinds)
        self.room = ctypes.c_int64 * sum(kind.ndim for kind in self.made)
        address = ctypes.c_void_p
        run = ctypes.CFUNCTYPE(ctypes.c_int64, address, *[address] * len(self.kinds))
        take = ctypes.CFUNCTYPE(ctypes.c_int64, *[address] * len(self.made))
        self.callbacks = run(self.run), take(self.take)

    def run(self, slots: int, *inputs: int | None) -> int:
        """Compute from the arrays at addresses; writes the lengths of the results."""
        try:
            given = joined(self.takes, self.arrays(slots, inputs))
            try:
                with np.errstate(all="ignore"):
                    results = [
                        np.asarray(v) if kind.is_array else v
                        for kind, v in zip(self.gives, self.kernel(*given), strict=True)
                    ]
                parts = split(self.gives, results)
                self.check(parts)
            except Exception as error:
                raise annotate_error(error, self.node, given) from None
            lengths = [n for part in parts for n in part.shape]
            self.room.from_address(slots + ctypes.sizeof(self.given))[:] = lengths
            thread = threading.get_ident()
            self.waiting[thread] = parts
            if not self.node.op.pure:
                copies = [kind.copy(v) for kind, v in zip(self.gives, results, strict=True)]
                self.hosts.record(self.node, copies, sum(part.nbytes for part in parts))
        except BaseException as error:
            self.hosts.failures[threading.get_ident()] = error
            if not self.node.op.pure:
                self.hosts.record(self.node, error, 0)
            return 1
        return 0

    def arrays(self, slots: int, inputs: Sequence[int | None]) -> list[Any]:
        """The inputs, as arrays of their own: an op may keep what it is given."""
        lengths = self.given.from_address(slots)
        made: list[Any] = []
        at = 0
        for (dtype, ndim), address in zip(self.taken, inputs, strict=True):
            shape = lengths[at : at + ndim]
            at += ndim
            size = math.prod(shape) * dtype.itemsize
            if size <= _SMALL:
                held = bytearray(ctypes.string_at(address or 0, size)) if size else b""
                made.append(np.ndarray(shape, dtype, held))
            else:
                array = np.empty(shape, dtype)
                ctypes.memmove(array.ctypes.data, address or 0, size)
                made.append(array)
        return made

    def check(self, results: Sequence[Any]) -> None:
        """TypeError unless the parts of results are of the types that the node says."""
        for result, kind in zip(results, self.made, strict=True):
            fits = result.ndim == kind.ndim and all(
                n is None or n == m for n, m in zip(kind.shape, result.shape, strict=True)
            )
            if result.dtype != kind.dtype or not result.dtype.isnative or not fits:
                raise TypeError(
                    f"{self.node.op} gave {result.dtype} of shape {result.shape}, not {kind}"
                )

    def take(self, *addresses: int | None) -> int:
        """Copy the results to where they belong."""
        results = self.waiting.pop(threading.get_ident())
        for result, address in zip(results, addresses, strict=True):
            if 0 < result.nbytes <= _SMALL:
                ctypes.memmove(address or 0, result.tobytes(), result.nbytes)
            elif result.nbytes:
                held = np.ascontiguousarray(result)
                ctypes.memmove(address or 0, held.ctypes.data, held.nbytes)
        return 0


@dataclass
class Effects:
    """What came of ops with effects in one call, by node, in order: results or an exception.

    ``room`` is negative where that is more than is kept.
    """

    results: dict[Apply, deque[Any]] = field(default_factory=dict[Apply, deque[Any]])
    room: int = _ROOM


class Hosts:
    """The ops that one unit calls, and how the last call of each thread failed, if it did."""

    def __init__(self, nodes: Sequence[Apply]) -> None:
        self.failures: dict[int, BaseException] = {}
        self.done: dict[int, Effects] = {}
        self.nodes = list(nodes)
        self.hosts = [_Host(node, self) for node in nodes]

    @property
    def has_effects(self) -> bool:
        """Whether a call may not be done once more."""
        return any(not node.op.pure for node in self.nodes)

    def start(self) -> None:
        """Forget what an earlier call of this thread did."""
        self.done.pop(threading.get_ident(), None)

    def record(self, node: Apply, result: Any, size: int) -> None:
        """Note what came of an op with effects: results of so many bytes, or an exception."""
        done = self.done.setdefault(threading.get_ident(), Effects())
        done.room -= size + _ENTRY
        if done.room < 0:
            done.results.clear()
        else:
            done.results.setdefault(node, deque()).append(result)

    def effects(self) -> Effects:
        """What came of ops with effects in the last call of this thread."""
        return self.done.pop(threading.get_ident(), Effects())

    def address(self, name: str) -> int:
        """The address of ``host:<k>`` or ``taken:<k>``."""
        kind, _, number = name.partition(":")
        callback = self.hosts[int(number)].callbacks[kind == "taken"]
        address = ctypes.cast(callback, ctypes.c_void_p).value
        assert address is not None
        return address

    def raise_failure(self) -> None:
        """Raise what an op raised in this thread, once."""
        error = self.failures.pop(threading.get_ident(), None)
        if error is not None:
            raise error
