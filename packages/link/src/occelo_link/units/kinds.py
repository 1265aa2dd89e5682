"""Kinds of units that can be kept: a unit says how it becomes bytes, its kind how it is made from them."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, TypeVar

from occelo_link.cache.packing import pack, unpack

__all__ = ["KeptUnit", "pack_unit", "register_kind", "unpack_unit"]


class KeptUnit(Protocol):
    """A unit that another process can load."""

    kind: ClassVar[str]

    def pack(self) -> bytes | None:
        """The unit as bytes; None if it is of use in this process alone."""
        ...

    @classmethod
    def unpack(cls, packed: memoryview) -> Any:
        """The unit that `pack` was asked for."""
        ...


_kinds: dict[str, type[KeptUnit]] = {}
U = TypeVar("U", bound=type[KeptUnit])


def register_kind(cls: U) -> U:
    """Register a class of units under its ``kind``, for `unpack_unit`; a decorator."""
    _kinds[cls.kind] = cls
    return cls


def pack_unit(unit: Any) -> bytes | None:
    """A unit as bytes; None if it is of no kind, or of use in this process alone."""
    kind = getattr(unit, "kind", None)
    made: bytes | None = unit.pack() if kind in _kinds else None
    return None if made is None else pack(kind, made)


def unpack_unit(packed: memoryview) -> Any:
    """The unit that `pack_unit` was given; None if its kind is not known here."""
    kind, rest = unpack(packed)
    cls = _kinds.get(kind)
    return None if cls is None else cls.unpack(rest)
