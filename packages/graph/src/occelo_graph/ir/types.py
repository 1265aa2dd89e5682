"""`Type`: what values a variable may hold."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from occelo_graph.facade import facade

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Constant, Variable
    from occelo_graph.tensors.type import TensorType

__all__ = [
    "DisconnectedType",
    "GenericType",
    "NoneTypeT",
    "NullType",
    "Type",
    "generic",
    "none_type",
]


class Type:
    """A set of values and how a variable of that set is made, checked and compared.

    Types compare by value: subclasses give `key`, a hashable tuple of what defines them. A type whose values
    consist of arrays gives `parts`, `to_parts` and `from_parts`; then compiled code takes them, and they are copied,
    compared, saved and kept in the cache by their parts. Values of other types are Python objects everywhere.
    """

    __slots__ = ("__weakref__",)
    is_array: ClassVar[bool] = False
    """A value is one array, which is its only part."""
    # not `... | None`: most code is about tensors, which have all three
    shape: Any = None
    """Known lengths of the dimensions, a tuple with None for unknown ones; None for a type without dimensions."""
    ndim: Any = None
    """The number of dimensions; None for a type without dimensions."""
    dtype: Any = None
    """The name of the dtype of the elements; None for a type without elements."""
    variable_class: ClassVar[Callable[..., Any] | None] = None
    constant_class: ClassVar[Callable[..., Any] | None] = None
    nominal_class: ClassVar[type[Any] | None] = None

    def key(self) -> tuple[Any, ...]:
        """What defines the type besides its class."""
        return ()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self.key() == other.key())

    def __hash__(self) -> int:
        return hash((type(self), self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.key()!r}"

    # values

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return ``data`` as a value of the type, or raise TypeError.

        ``strict`` accepts only what already is one; ``allow_downcast`` permits loss of precision.
        """
        raise NotImplementedError(f"{type(self).__name__} has no filter")

    def is_valid_value(self, data: Any, strict: bool = True) -> bool:
        """Whether `filter` accepts ``data``."""
        try:
            self.filter(data, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values are equal: all their parts are, if the type has parts."""
        kinds = self.parts()
        if kinds is None:
            return bool(a == b)
        pairs = zip(kinds, self.to_parts(a), self.to_parts(b), strict=True)
        return all(kind.values_eq(x, y) for kind, x, y in pairs)

    def values_eq_approx(self, a: Any, b: Any, **tolerances: Any) -> bool:
        """Whether two values are equal but for rounding: all their parts are, if the type has parts."""
        kinds = self.parts()
        if kinds is None:
            return self.values_eq(a, b)
        pairs = zip(kinds, self.to_parts(a), self.to_parts(b), strict=True)
        return all(kind.values_eq_approx(x, y, **tolerances) for kind, x, y in pairs)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether two values may overlap in memory: any of their parts do, if the type has parts."""
        kinds = self.parts()
        if kinds is None:
            return a is b
        return any(
            kind.may_share_memory(x, y)
            for kind, x in zip(kinds, self.to_parts(a), strict=True)
            for y in self.to_parts(b)
        )

    def copy(self, value: Any) -> Any:
        """The value in memory of its own."""
        if self.parts() is None:
            return copy.deepcopy(value)
        return self.from_parts([part.copy() for part in self.to_parts(value)])

    # how values lie in arrays

    def parts(self) -> tuple[TensorType, ...] | None:
        """The types of the arrays that a value consists of, as many for all values; None if it is no arrays.

        A number or a truth value is an array of no dimensions. The type of a part may leave lengths unknown.
        """
        return None

    def to_parts(self, value: Any) -> Sequence[Any]:
        """The arrays of a value, each of exactly the type that `parts` says; they may share its memory."""
        raise NotImplementedError(f"Values of {self!r} do not lie in arrays")

    def from_parts(self, parts: Sequence[Any]) -> Any:
        """The value that consists of these arrays, which it may keep: the inverse of `to_parts`."""
        raise NotImplementedError(f"Values of {self!r} do not lie in arrays")

    @property
    def is_discrete(self) -> bool:
        """Whether values are integers or truth values, so that no derivative passes through them."""
        return False

    # variables

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        """Turn ``other`` into a variable of this type, as a constant or by a conversion.

        Raises TypeError if that is impossible.
        """
        variable: Any = other
        if not isinstance(other, facade.variable):
            variable = self.make_constant(self.filter(other))
        if variable.type == self:
            return variable
        if allow_convert:
            converted = self.convert_variable(variable)
            if converted is not None:
                return converted
        raise TypeError(
            f"Cannot convert {variable} of type {variable.type} to type {self}; "
            "cast it explicitly if that is what you want"
        )

    def convert_variable(self, var: Variable) -> Variable | None:
        """A variable of this type (or a narrower one) equal to ``var``, or None."""
        return var if self.is_super(var.type) else None

    def in_same_class(self, other: Type) -> bool:
        """Whether the two types may stand for each other in an input or a replacement."""
        return self == other

    def is_super(self, other: Type) -> bool:
        """Whether every value of ``other`` is a value of this type."""
        return self == other

    def make_variable(self, name: str | None = None) -> Variable:
        """A new root variable of this type."""
        made: Variable = (self.variable_class or facade.variable)(self, None, None, name)
        return made

    def make_output(self, owner: Apply, index: int) -> Variable:
        """A new variable of this type that ``owner`` computes."""
        made: Variable = (self.variable_class or facade.variable)(self, owner, index)
        return made

    def make_constant(self, value: Any, name: str | None = None) -> Constant:
        """A constant of this type."""
        made: Constant = (self.constant_class or facade.constant)(self, value, name)
        return made

    def clone(self, **changes: Any) -> Type:
        """The type with some of its parameters changed."""
        if changes:
            raise TypeError(f"{type(self).__name__} has no parameters {sorted(changes)}")
        return self

    def __call__(self, name: str | None = None) -> Any:
        return self.make_variable(name)


class GenericType(Type):
    """Any Python object."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def __repr__(self) -> str:
        return "Generic"


class NoneTypeT(Type):
    """The single value None, which lies in no array at all."""

    __slots__ = ()

    def parts(self) -> tuple[TensorType, ...]:
        return ()

    def to_parts(self, value: Any) -> Sequence[Any]:
        return ()

    def from_parts(self, parts: Sequence[Any]) -> None:
        return None

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> None:
        if data is not None:
            raise TypeError(f"Expected None, got {data!r}")

    def __repr__(self) -> str:
        return "NoneType"


class DisconnectedType(Type):
    """The type of a cotangent along an edge that carries no derivative."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise TypeError("A disconnected cotangent has no value")

    def __repr__(self) -> str:
        return "Disconnected"


class NullType(Type):
    """The type of a gradient that is not defined; ``why_null`` says why."""

    __slots__ = ("why_null",)

    def __init__(self, why_null: str = "no reason given") -> None:
        self.why_null = why_null

    def key(self) -> tuple[Any, ...]:
        return (self.why_null,)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise TypeError(f"This gradient is not defined: {self.why_null}")

    def __repr__(self) -> str:
        return f"Null({self.why_null})"


generic = GenericType()
none_type = NoneTypeT()
