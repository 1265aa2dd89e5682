"""`Container`: a storage cell that admits only values of its type.

Each shared variable has a container, and so has each input of a compiled function; linkers read and write their cells.
The linkers for JAX and PyTorch register the array classes of their libraries. All other code converts such arrays to
NumPy arrays by `local`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type

__all__ = ["Container", "external_array_types", "local", "register_external_array"]

external_array_types: dict[type, Callable[[Any], Any]] = {}
"""Array classes of other libraries that containers may hold, with their conversions to NumPy arrays."""


def register_external_array(kind: type, to_numpy: Callable[[Any], Any]) -> None:
    """Let containers hold arrays of ``kind``, a class of another library, which ``to_numpy`` converts."""
    external_array_types[kind] = to_numpy


def local(value: object) -> Any:
    """The value itself, or the NumPy array with the elements of another library's array."""
    convert = external_array_types.get(type(value))
    return value if convert is None else convert(value)


class Container:
    """A cell and the type of the values that it may hold.

    The cell, ``storage``, is a list of one element, which linkers read and write.

    A container that is ``readonly`` refuses all new values. One that is ``strict`` refuses values that need
    conversion. ``allow_downcast`` is passed to the type's `filter`.
    """

    __slots__ = ("__weakref__", "allow_downcast", "name", "readonly", "storage", "strict", "type")

    def __init__(
        self,
        r: Variable | Type,
        storage: list[Any],
        *,
        readonly: bool = False,
        strict: bool = False,
        allow_downcast: bool | None = None,
        name: str | None = None,
    ) -> None:
        if len(storage) != 1:
            raise TypeError("The storage of a container must be a list of one element")
        if isinstance(r, Variable):
            self.type = r.type
            name = r.name if name is None else name
        else:
            self.type = r
        self.storage = storage
        self.readonly = readonly
        self.strict = strict
        self.allow_downcast = allow_downcast
        self.name = name

    @property
    def value(self) -> Any:
        """The stored value.

        An assigned value is filtered by the type, which may refuse it (TypeError); None empties the container.
        """
        return self.storage[0]

    @value.setter
    def value(self, value: Any) -> None:
        if self.readonly:
            raise TypeError(f"Cannot set the read-only container {self.name!r}")
        if value is None:
            self.storage[0] = None
            return
        self.storage[0] = self.type.accept(
            value, strict=self.strict, allow_downcast=self.allow_downcast
        )

    @property
    def data(self) -> Any:
        """Older name of ``value``."""
        return self.storage[0]

    @data.setter
    def data(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"<Container {self.name or ''}: {self.storage[0]!r}>"
