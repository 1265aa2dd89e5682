"""`CompiledUnit`: what a linker makes of a block, and units as bytes for the cache (`pack_unit`, `unpack_unit`).

`NativeUnit` (`units.unit`) is the one that the linkers ``native``, ``c`` and ``numba`` make. The VM of blocks calls
`pack_unit`. `BlockLinker` calls `unpack_unit` to make a unit from bytes in the cache.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from occelo_link.cache.packing import pack, unpack
from occelo_link.units.callbacks import Callbacks, Effects

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program


class CompiledUnit(abc.ABC):
    """A function that accepts arrays in C order and returns new arrays. It raises `UnitFailure` if a check fails.

    Units derive from this class, which declares what VMs ask them for.
    """

    kind: ClassVar[str] = ""
    """The name under which `register_kind` registers the class. Units of other classes are not cached."""
    program: Program | None = None
    """The loop program, whose sites say which node's check failed."""

    @abc.abstractmethod
    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """Compute the results."""

    @property
    def in_either_order(self) -> Collection[int]:
        """The positions of the inputs that need not be in C order (`Buffer.in_either_order`)."""
        return ()

    @property
    def callbacks(self) -> Callbacks | None:
        """The ops that the unit calls in Python."""
        return None

    @property
    def has_effects(self) -> bool:
        """Whether the unit calls ops with effects. If so, no call may be repeated."""
        return self.callbacks is not None and self.callbacks.has_effects

    def effects(self) -> Effects:
        """The results of ops with effects in the last call in this thread, which failed.

        The replay uses these results instead of running the ops again.
        """
        return Effects() if self.callbacks is None else self.callbacks.effects()

    @property
    def entry_is_cheap(self) -> bool:
        """Whether `entry` compiles nothing. If it has to compile, an entry is worth making only at a function's second
        call.
        """
        return True

    def entry(
        self,
        kind: int,
        slow: Callable[..., Any],
        sources: Sequence[int | list[Any]] | None = None,
        scalars: Sequence[bool] | None = None,
        cells: Sequence[list[Any] | None] | None = None,
        locks: Sequence[int] = (),
    ) -> Callable[..., Any] | None:
        """Make the machine-code entry of this unit, or return None, as by default.

        ``kind`` says what the entry returns (`entry_kinds`). If the entry cannot handle a call, it calls ``slow``.
        ``sources`` has the source of each input: the position of its argument, or a cell to read. By default each input
        is an argument. ``scalars`` says which inputs may be numbers; by default all inputs must be arrays. ``cells``
        has for each result the cell in which it is stored, or None if it is returned; by default all results are
        returned. ``locks`` are the addresses of the locks that a call holds.
        """
        return None

    def pack(self) -> bytes | None:
        """The unit as bytes, or None if it cannot be cached, as by default."""
        return None

    @classmethod
    def unpack(cls, packed: memoryview) -> CompiledUnit:
        """The inverse of `pack`."""
        raise NotImplementedError


_kinds: dict[str, type[CompiledUnit]] = {}
U = TypeVar("U", bound=type[CompiledUnit])


def register_kind(cls: U) -> U:
    """Decorator that registers a class of units under the name ``cls.kind``. This name is stored with the bytes."""
    _kinds[cls.kind] = cls
    return cls


def pack_unit(unit: CompiledUnit) -> bytes | None:
    """A unit as bytes. None if its kind is not registered, or if it cannot be cached."""
    packed = unit.pack() if unit.kind in _kinds else None
    return None if packed is None else pack(unit.kind, packed)


def unpack_unit(packed: memoryview) -> CompiledUnit | None:
    """The inverse of `pack_unit`. None if the kind of the unit is not registered."""
    kind, rest = unpack(packed)
    cls = _kinds.get(kind)
    return None if cls is None else cls.unpack(rest)
