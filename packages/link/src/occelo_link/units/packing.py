"""Units as bytes for the cache: `pack_unit`, its inverse `unpack_unit`, and a registry of classes that can be packed.

The class `NativeUnit` (`units.unit`) is registered. The VM of blocks calls `pack_unit`. `BlockLinker` calls
`unpack_unit` to make a unit from bytes in the cache.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

from occelo_link.cache.packing import pack, unpack


class KeptUnit(Protocol):
    """A unit that can be cached, and loaded by another process."""

    kind: ClassVar[str]

    def pack(self) -> bytes | None:
        """The unit as bytes, or None if it cannot be cached."""
        ...

    @classmethod
    def unpack(cls, packed: memoryview) -> Any:
        """The inverse of `pack`."""
        ...


_kinds: dict[str, type[KeptUnit]] = {}
U = TypeVar("U", bound=type[KeptUnit])


def register_kind(cls: U) -> U:
    """Decorator that registers a class of units under the name ``cls.kind``. This name is stored with the bytes."""
    _kinds[cls.kind] = cls
    return cls


def pack_unit(unit: Any) -> bytes | None:
    """A unit as bytes. None if its kind is not registered, or if it cannot be cached."""
    kind = getattr(unit, "kind", None)
    packed: bytes | None = unit.pack() if kind in _kinds else None
    return None if packed is None else pack(kind, packed)


def unpack_unit(packed: memoryview) -> Any:
    """The inverse of `pack_unit`. None if the kind of the unit is not registered."""
    kind, rest = unpack(packed)
    cls = _kinds.get(kind)
    return None if cls is None else cls.unpack(rest)
