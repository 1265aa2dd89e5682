"""`Container`: a storage cell with a type, which refuses values of other types.

Each shared variable and each input of a compiled function has a container. Compiled code reads and writes the cells.

The linkers for JAX and PyTorch also store arrays of their libraries in containers. They register the classes of these
arrays here. All other code converts such arrays to NumPy arrays with `local`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type

external_array_types: dict[type, Callable[[Any], Any]] = {}
"""Maps a class of arrays of another library to the function that converts these arrays to NumPy arrays.

Containers may hold arrays of these classes.
"""


def register_external_array(kind: type, to_numpy: Callable[[Any], Any]) -> None:
    """Let containers hold arrays of class ``kind`` of another library. ``to_numpy`` converts them to NumPy arrays."""
    external_array_types[kind] = to_numpy


def local(value: object) -> Any:
    """Convert an array of another library to a NumPy array. Any other value is returned as it is."""
    convert = external_array_types.get(type(value))
    return value if convert is None else convert(value)


class Container:
    """A cell, and the type of the values that it may hold.

    - ``r``: the type, or a variable of this type.
    - ``storage``: the cell, a list of one element. Linkers read and write it without checks.
    - ``readonly``: refuse all new values.
    - ``strict``: refuse values that need a conversion.
    - ``allow_downcast``: passed to `Type.filter`. TypeError if ``storage`` is no list of one element.
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

        A new value is converted by `Type.filter`; TypeError if the type refuses it. None empties the container.
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
