"""Units as bytes for the cache: `pack_unit`, its inverse `unpack_unit`, and the registry of classes of such units.

`NativeUnit` (`units.unit`) is registered here. The VM of blocks calls `pack_unit`. From these bytes in the cache,
`BlockLinker` makes the unit again by `unpack_unit`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

from occelo_link.cache.packing import pack, unpack

__all__ = ["KeptUnit", "pack_unit", "register_kind", "unpack_unit"]


class KeptUnit(Protocol):
    """A unit that can be cached, so that another process loads it."""

    kind: ClassVar[str]

    def pack(self) -> bytes | None:
        """The unit as bytes; None if it cannot be cached."""
        ...

    @classmethod
    def unpack(cls, packed: memoryview) -> Any:
        """The inverse of `pack`."""
        ...


_kinds: dict[str, type[KeptUnit]] = {}
U = TypeVar("U", bound=type[KeptUnit])


def register_kind(cls: U) -> U:
    """Decorator that registers a class of units under the name ``cls.kind``, which is stored with the bytes."""
    _kinds[cls.kind] = cls
    return cls


def pack_unit(unit: Any) -> bytes | None:
    """A unit as bytes; None if its kind is not registered, or it cannot be cached."""
    kind = getattr(unit, "kind", None)
    made: bytes | None = unit.pack() if kind in _kinds else None
    return None if made is None else pack(kind, made)


def unpack_unit(packed: memoryview) -> Any:
    """The inverse of `pack_unit`; None if the kind is not registered."""
    kind, rest = unpack(packed)
    cls = _kinds.get(kind)
    return None if cls is None else cls.unpack(rest)
