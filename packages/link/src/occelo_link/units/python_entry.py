"""The entry in Python, which calls units with ctypes.

`units.unit` calls it where the machine-code entry cannot be used: in free-threaded and debug builds (objects have
another layout there), for programs with effects, and for calls that the machine-code entry does not handle. It is also used
for the first call of a function if the machine-code entry would have to be compiled. Tests of printers use it, too.

With `make_table`, `units.unit` makes the table that the machine-code entry passes to a unit. `as_numba`
(`numba.njit_functions`) calls `make_table` and `make_frame`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_link.machine.symbol_addresses import address_of
from occelo_link.options import THREADS
from occelo_link.units import frame as slots
from occelo_link.units.interface import UnitFailure, UnitInterface

if TYPE_CHECKING:
    from occelo_link.units.thread_pool import ThreadPool

_UNIT = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_ALLOC = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)
)
_POLL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_TAKE = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
)
_GROW = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


def make_table(
    interface: UnitInterface,
    services: Sequence[int],
    threads: int = 1,
    unit: int = 0,
    is_plain: bool = False,
) -> Any:
    """The table of addresses for a unit, as an array of 8-byte slots. ``threads`` is the most threads of a loop.

    Before the table are the address of the ``unit`` and ``threads`` (`ThreadPool.with_limit`). ``is_plain`` says whether
    functions that would have to be compiled may be unoptimized.
    """
    table = np.zeros(2 + slots.SERVICES + len(interface.table), dtype=np.int64)
    table[:2], table = (unit, threads), table[2:]
    table[: slots.SERVICES] = services
    for name, slot in interface.table.items():
        callbacks = interface.callbacks
        if name == slots.PARALLEL:
            table[slots.SERVICES + slot] = _pool().service
        elif name == slots.THREAD_LIMIT:
            table[slots.SERVICES + slot] = threads
        elif callbacks is not None and name.startswith(("callback:", "results:")):
            table[slots.SERVICES + slot] = callbacks.address(name)
        else:
            table[slots.SERVICES + slot] = address_of(name, interface.constants, is_plain)
    return table


def _pool() -> ThreadPool:
    from occelo_link.units.thread_pool import thread_pool  # rarely needed

    return thread_pool()


class PythonEntry:
    """A function from a list of arrays to the list of outputs. It raises `UnitFailure` if a check fails.

    ``threads`` is the most threads of a loop, as the option said when the entry was made. ``address`` is what is called: the
    ``unit``, or what calls it with a limit for the threads of BLAS. ``is_plain`` is for `make_table`.
    """

    def __init__(self, address: int, interface: UnitInterface, is_plain: bool = False) -> None:
        self.unit = self.address = address
        self._interface = interface
        self._is_plain = is_plain
        self._table: Any = None
        self.threads = THREADS.get()
        if self.threads and any(name.startswith(("blas:", "lapack:")) for name in interface.table):
            self.address = _pool().with_limit
        self._unit = _UNIT(self.address)
        self._dtypes = [np.dtype(d) for d, _ in interface.outputs]
        self._ndims = [n for _, n in interface.outputs]

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        outputs: list[Any] = [None] * len(self._dtypes)
        pieces: list[Any] = []
        errors: list[BaseException] = []

        def keep(position: int, make: Callable[[], Any]) -> int | None:
            try:
                outputs[position] = make()
            except BaseException as error:
                errors.append(error)
                return None
            address: int = outputs[position].ctypes.data
            return address

        def allocate(frame: int, position: int, lengths: Any) -> int | None:
            shape = tuple(lengths[i] for i in range(self._ndims[position]))
            return keep(position, lambda: np.empty(shape, self._dtypes[position]))

        def grow(frame: int, size: int) -> int | None:
            try:
                piece = np.empty(size + 64, np.uint8)
            except MemoryError as error:
                errors.append(error)
                return None
            pieces.append(piece)
            return (int(piece.ctypes.data) + 63) & -64

        def take(frame: int, position: int, number: int, size: int) -> int | None:
            return keep(position, arrays[number].copy)

        polled = _polled(errors)
        next(polled)
        functions = [_ALLOC(allocate), _GROW(grow), _POLL(polled.send), _TAKE(take)]
        # `ctypes.cast` would make a reference cycle, so that results would live until the next garbage collection
        services = [ctypes.c_void_p.from_address(ctypes.addressof(f)).value or 0 for f in functions]
        assert (slots.ALLOC_OUTPUT, slots.GROW, slots.POLL, slots.TAKE) == (0, 1, 2, 3)
        table = self._make_table(services)
        frame, alive = make_frame(arrays)
        status = self._unit(frame.ctypes.data, table.ctypes.data)
        del alive
        if errors:
            raise errors[0]
        if status:
            raise UnitFailure(status - 1 if status > 0 else -1)
        return outputs

    def table(self, services: Sequence[int]) -> Any:
        """The table for calls by the machine-code entry, whose services have these addresses."""
        if self._table is None:
            self._table = self._make_table(services)
        return self._table

    def _make_table(self, services: Sequence[int]) -> Any:
        return make_table(self._interface, services, self.threads, self.unit, self._is_plain)

    def load(self) -> None:
        """Load the functions that the unit calls, which a call would do otherwise."""
        self._make_table([0] * slots.SERVICES)

    def replace(self, unit: int) -> None:
        """Call an optimized unit instead of a plain (unoptimized) one, also by the machine-code entry."""
        if self.address == self.unit:
            self.address = unit
            self._unit = _UNIT(unit)
        self.unit, self._is_plain = unit, False
        if self._table is not None:
            made = self._make_table(self._table[: slots.SERVICES])
            self._table.base[:] = made.base


def _polled(errors: list[BaseException]) -> Generator[int, int, None]:
    """Say for each frame that is sent whether errors occurred. Pending signal handlers run as soon as machine code enters Python,
    and may raise an exception: inside of the ``try`` of a generator, but before that of a function.
    """
    while True:
        try:
            while True:
                yield len(errors)
        except GeneratorExit:
            return
        except BaseException as error:
            errors.append(error)


def make_frame(arrays: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The frame for input arrays, and the arrays that the frame points to."""
    frame = np.zeros(slots.FIRST_INPUT + slots.INPUT_SLOTS * len(arrays), dtype=np.int64)
    alive: list[Any] = []
    for i, array in enumerate(arrays):
        shape = np.array(array.shape or (0,), dtype=np.int64)
        strides = np.array(array.strides or (0,), dtype=np.int64)
        alive += [shape, strides]
        at = slots.FIRST_INPUT + slots.INPUT_SLOTS * i
        frame[at : at + 3] = array.ctypes.data, shape.ctypes.data, strides.ctypes.data
    return frame, alive
