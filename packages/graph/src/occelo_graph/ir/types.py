"""`Type`: the base class of the types of variables. Also the types of Python objects, of None, and of missing gradients.

Every variable has a type. The type of tensors is in `tensors.type`. `docs/types.md` says how users define types.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Constant, Variable
    from occelo_graph.tensors.type import TensorType


class Type:
    """A set of values, with methods that make variables of this type, and that check and compare its values.

    Subclasses define `filter`. Those with parameters define `key`, a tuple of them: two types are equal if their classes and
    keys are. A type with values that consist of arrays defines `parts`, `to_parts` and `from_parts`. Then compiled code
    computes with these arrays, and values are copied, compared, saved and cached array by array. Values of all other
    types are treated as Python objects. TypeError for parameters that a subclass does not declare.
    """

    __slots__ = ("__weakref__",)
    is_array: ClassVar[bool] = False
    """Whether each value is a single array, which is then the only part of the value."""
    shape: tuple[int | None, ...] | None = None
    """The static lengths of the dimensions, with None for dynamic lengths. None for a type without dimensions."""
    ndim: int | None = None
    """The number of dimensions. None for a type without dimensions."""
    dtype: str | None = None
    """The name of the dtype of the elements. None for a type without elements."""
    is_discrete: bool = False
    tensor_hint: ClassVar[str] = ""
    """What users can do instead, for the message of a function of tensors that refuses a variable of this type."""
    """Whether values are integers or truth values. Variables of such a type have the derivative 0."""
    variable_class: ClassVar[Callable[..., Any]]
    constant_class: ClassVar[Callable[..., Any]]
    any_variable: ClassVar[type[Variable]]
    """The base class of all variables."""
    nominal_class: ClassVar[type[Any] | None] = None

    @property
    def variable_type(self) -> Callable[..., Any]:
        """The class of the variables of this type."""
        return type(self).variable_class

    @property
    def constant_type(self) -> Callable[..., Any]:
        """The class of the constants of this type."""
        return type(self).constant_class

    def key(self) -> tuple[Any, ...]:
        """The parameters of the type, as a hashable tuple. Types of one class with equal keys are equal."""
        return ()

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self.key() == other.key())

    def __hash__(self) -> int:
        return hash((type(self), self.key()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.key()!r}"

    # values

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert ``data`` to a value of the type. TypeError if this is impossible.

        With ``strict``, only values of the type are accepted, without conversion. With ``allow_downcast=True``, the
        conversion may lose precision.
        """
        raise NotImplementedError(f"{type(self).__name__} has no filter")

    def accept(self, data: Any, **options: Any) -> Any:
        """Convert ``data`` with `filter`, and check that the arrays of the value have the types that `parts` declares.

        TypeError if they have not, since compiled code relies on the declaration.
        """
        value = self.filter(data, **options)
        if not self.is_array:
            self._check_parts(value)
        return value

    def _check_parts(self, value: Any) -> None:
        kinds = self.parts()
        if kinds is None:
            return
        arrays = self.to_parts(value)
        if len(arrays) != len(kinds):
            raise TypeError(
                f"to_parts of {self} must give {len(kinds)} arrays, and gave {len(arrays)}"
            )
        for i, (kind, array) in enumerate(zip(kinds, arrays, strict=True)):
            if not getattr(kind, "is_array", False):
                raise TypeError(f"parts of {self} must give types of tensors, and gave {kind}")
            dtype, shape = getattr(array, "dtype", None), getattr(array, "shape", ())
            fits = dtype == kind.numpy_dtype and len(shape) == kind.ndim
            if not fits or any(n not in (None, m) for n, m in zip(kind.shape, shape, strict=True)):
                got = f"of type {type(array).__name__}" if dtype is None else f"{dtype} {shape}"
                raise TypeError(f"Array {i} of a value of {self} must be {kind}, and is {got}")

    def is_valid_value(self, data: Any, strict: bool = True) -> bool:
        """Whether `accept` succeeds for ``data``."""
        try:
            self.accept(data, strict=strict)
        except (TypeError, ValueError):
            return False
        return True

    def values_eq(self, a: Any, b: Any) -> bool:
        """Whether two values are equal. Values with parts are compared part by part."""
        kinds = self.parts()
        if kinds is None:
            return bool(a == b)
        pairs = zip(kinds, self.to_parts(a), self.to_parts(b), strict=True)
        return all(kind.values_eq(x, y) for kind, x, y in pairs)

    def values_eq_approx(self, a: Any, b: Any, **tolerances: Any) -> bool:
        """Whether two values are equal up to rounding. Values with parts are compared part by part."""
        kinds = self.parts()
        if kinds is None:
            return self.values_eq(a, b)
        pairs = zip(kinds, self.to_parts(a), self.to_parts(b), strict=True)
        return all(kind.values_eq_approx(x, y, **tolerances) for kind, x, y in pairs)

    def may_share_memory(self, a: Any, b: Any) -> bool:
        """Whether two values may overlap in memory: for values with parts, whether any of their parts may overlap."""
        kinds = self.parts()
        if kinds is None:
            return a is b
        return any(
            kind.may_share_memory(x, y)
            for kind, x in zip(kinds, self.to_parts(a), strict=True)
            for y in self.to_parts(b)
        )

    def copy(self, value: Any) -> Any:
        """A copy of the value that shares no memory with it."""
        if self.parts() is None:
            return copy.deepcopy(value)
        return self.from_parts([part.copy() for part in self.to_parts(value)])

    # values as arrays

    def parts(self) -> tuple[TensorType, ...] | None:
        """The types of the arrays of which every value consists. None if values do not consist of arrays.

        A number or a truth value counts as an array without dimensions. The lengths of a part may be dynamic.
        """
        return None

    def to_parts(self, value: Any) -> Sequence[Any]:
        """The arrays of which a value consists, with the types in `parts`. They may share memory with the value."""
        raise NotImplementedError(f"Values of {self!r} do not lie in arrays")

    def from_parts(self, parts: Sequence[Any]) -> Any:
        """The value that consists of these arrays: the inverse of `to_parts`. The value may keep the arrays."""
        raise NotImplementedError(f"Values of {self!r} do not lie in arrays")

    def filled(self, shapes: Sequence[tuple[int, ...]], number: int) -> Any:
        """A value for trial runs. Its parts have these shapes; all elements are ``number`` if the type allows it."""
        parts = zip(self.parts() or (), shapes, strict=True)
        return self.from_parts([np.full(shape, number, part.dtype) for part, shape in parts])

    # variables

    def filter_variable(self, other: Any, allow_convert: bool = True) -> Variable:
        """Convert ``other``, a variable or a value, to a variable of this type. A value becomes a constant.

        TypeError if this is impossible. With ``allow_convert=False``, a variable must already have this type.
        """
        is_variable = isinstance(other, self.any_variable)
        variable = other if is_variable else self.make_constant(self.filter(other))
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
        """Convert ``var`` to a variable of this type, or of a narrower type. None if this is impossible.

        A type is narrower if all its values are values of this type.
        """
        return var if self.is_super(var.type) else None

    def in_same_class(self, other: Type) -> bool:
        """Whether a variable of type ``other`` may replace a variable of this type, and vice versa."""
        return self == other

    def is_super(self, other: Type) -> bool:
        """Whether every value of ``other`` is a value of this type."""
        return self == other

    def make_variable(self, name: str | None = None) -> Variable:
        """A new root variable of this type."""
        variable: Variable = self.variable_class(self, None, None, name)
        return variable

    def make_output(self, owner: Apply, index: int) -> Variable:
        """A new variable of this type, as the output ``index`` of the node ``owner``."""
        variable: Variable = self.variable_class(self, owner, index)
        return variable

    def make_constant(self, value: Any, name: str | None = None) -> Constant:
        """A constant of this type."""
        constant: Constant = self.constant_class(self, value, name)
        return constant

    def clone(self, **changes: Any) -> Type:
        """A copy of the type with some parameters changed. TypeError for parameters that the type does not have."""
        if changes:
            raise TypeError(f"{type(self).__name__} has no parameters {sorted(changes)}")
        return self

    def as_gradient(self, variable: Variable, cotangent: Variable | None) -> Any:
        """What `grad` returns for a variable of this type, from its cotangent. None is the cotangent 0.

        By default it is the cotangent, and TypeError for 0: a type whose values are no arrays has no zeros of its own.
        """
        if cotangent is None:
            raise TypeError(
                f"The gradient with respect to {variable} is 0, and {self} has no zeros"
            )
        return cotangent

    def as_index(self, variable: Variable) -> Any:
        """What stands in an index ``x[variable]`` for a variable of this type: by default the variable itself."""
        return variable

    def __call__(self, name: str | None = None) -> Any:
        return self.make_variable(name)


class GenericType(Type):
    """The type of any Python object."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def __repr__(self) -> str:
        return "Generic"


class NoneTypeT(Type):
    """The type with None as its only value. `parts` is the empty tuple: the value consists of no arrays, but is not opaque."""

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

    def as_index(self, variable: Variable) -> None:
        return None

    def __repr__(self) -> str:
        return "NoneType"


class DisconnectedType(Type):
    """The type of the gradient of a variable on which the cost does not depend. TypeError if it is given arguments."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        raise TypeError("A disconnected cotangent has no value")

    def __repr__(self) -> str:
        return "Disconnected"


class NullType(Type):
    """The type of a gradient that is not defined. ``why_null`` is the reason, for error messages. TypeError for unknown arguments."""

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
