"""`NativeUnit`: a loaded unit. It can be called with arrays, it makes entries, and it can be packed for the cache.

The linkers ``native``, ``c`` and ``numba`` make a unit for each block, and ``c|py`` makes a unit for each node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from occelo_link.entry_kinds import LIST
from occelo_link.units.callbacks import Callbacks
from occelo_link.units.compiled_unit import CompiledUnit, register_kind
from occelo_link.units.entry import InputRule, OutputRule, make_entry
from occelo_link.units.entry_loading import entry_at_hand, entry_services
from occelo_link.units.interface import UnitFailure, UnitInterface
from occelo_link.units.object_layout import layout_fits
from occelo_link.units.plain_units import PlainUnit
from occelo_link.units.python_entry import PythonEntry

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program


class HasAddress(Protocol):
    """Loaded code with the address of a unit. The address is valid as long as this object lives."""

    address: int


@register_kind
class NativeUnit(CompiledUnit):
    """A loaded unit: a function that accepts arrays in C order and returns new arrays."""

    kind = "object code"

    def __init__(
        self, interface: UnitInterface, unit: HasAddress, program: Program | None = None
    ) -> None:
        self.interface = interface
        self.unit = unit
        self.program = program
        self.code = b""
        is_plain = isinstance(unit, PlainUnit)
        self._python = unit.entry(interface) if is_plain else PythonEntry(unit.address, interface)
        self._entry: Callable[..., Any] | None = None
        self._is_called = False

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        self._raise_failure()
        if self._entry is None:
            if not self._is_called and not self.entry_is_cheap:
                self._is_called = True
                return self._slow(*arrays)
            # after a failure the entry runs the call again, and would repeat the effects
            once = self.has_effects
            self._entry = self._slow if once else self.entry(LIST, self._slow) or self._slow
        results: list[Any] = self._entry(*arrays)
        return results

    def pack(self) -> bytes | None:
        """The unit as bytes. None if it is not object code, or has too large constants. Its callbacks are not packed."""
        if isinstance(self.unit, PlainUnit):
            return self.interface.pack(self.unit.code, self.unit.source)
        return self.interface.pack(self.code)

    def optimize(self) -> None:
        """Run optimized code from now on, also in the entries that exist."""
        if isinstance(self.unit, PlainUnit):
            self.unit.optimize()

    @classmethod
    def unpack(cls, packed: memoryview) -> NativeUnit:
        """The inverse of `pack`."""
        interface, code, source = UnitInterface.unpack(packed)
        return cls(interface, PlainUnit(code, source))

    @property
    def entry_is_cheap(self) -> bool:
        return entry_at_hand()

    @property
    def in_either_order(self) -> Collection[int]:
        return self.interface.in_either_order

    @property
    def callbacks(self) -> Callbacks | None:
        return self.interface.callbacks

    def _slow(self, *arrays: Any) -> list[Any]:
        self._raise_failure()
        if self.interface.callbacks is not None:
            self.interface.callbacks.start()
        try:
            if isinstance(self.unit, PlainUnit):
                self._python.load()
                return self.unit.measured(1, self._python, arrays)
            return self._python(arrays)
        except UnitFailure as failure:
            try:
                self._raise_failure()
            except Exception as error:
                if not self.has_effects:
                    raise
                raise failure from error  # the replay in the interpreter adds the number of the iteration to the message
            raise

    def _raise_failure(self) -> None:
        """Raise the exception of a callback. Machine code only reports that a callback failed."""
        if self.interface.callbacks is not None:
            self.interface.callbacks.raise_failure()

    def entry(
        self,
        kind: int,
        slow: Callable[..., Any],
        sources: Sequence[int | list[Any]] | None = None,
        scalars: Sequence[bool] | None = None,
        cells: Sequence[list[Any] | None] | None = None,
        locks: Sequence[int] = (),
    ) -> Callable[..., Any] | None:
        if not layout_fits():  # builds of Python or NumPy whose objects the entry does not know
            return None
        kinds, results = self.interface.inputs, self.interface.outputs
        chosen = list(range(len(kinds))) if sources is None else sources
        numbers = [False] * len(kinds) if scalars is None else scalars
        inputs = [
            InputRule(dtype, shape, source, number, i in self.in_either_order)
            for i, ((dtype, shape), source, number) in enumerate(
                zip(kinds, chosen, numbers, strict=True)
            )
        ]
        targets = [None] * len(results) if cells is None else cells
        outputs = [
            OutputRule(dtype, ndim, cell)
            for (dtype, ndim), cell in zip(results, targets, strict=True)
        ]
        address, table = self._python.address, self._python.table(entry_services())
        return make_entry(self.unit, address, table, inputs, outputs, kind, slow, locks)
