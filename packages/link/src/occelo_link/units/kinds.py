"""Registry of the kinds of units that can be cached, and functions that turn units into bytes and back.

The VM of blocks packs its unit by `pack_unit`. `BlockLinker` makes such a VM again from the bytes in the cache.
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
    """Decorator that registers a class of units under its ``kind``, for `unpack_unit`."""
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
