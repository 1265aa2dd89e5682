"""Lists of tensors of one type, or of such lists: the type of their variables, and the ops that make, read and change them.

Users call the functions from `occelo.typed_list`. For instance, a loop can carry a list that grows in each step. A list
is a value like a tensor: ops do not change their inputs, but return a new list. The ops have no derivatives. The family
is imported at its first use (`occelo_graph.families`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from occelo_graph.errors import explain_errors
from occelo_graph.families import Family
from occelo_graph.ir.nodes import Apply, Constant, NominalVariable, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.types import Type
from occelo_graph.narrowing import is_list
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType

Family("typed_list", "occelo_graph", ops=()).register()
_COUNT = TensorType("int64", ())


class TypedListType(Type):
    """The type of lists with elements of the type ``ttype``, which is a `TensorType` or again a type of lists (else TypeError).

    With a ``depth`` greater than 0, lists of lists: ``ttype`` is the type of the elements of the innermost lists, which
    ``depth`` lists are around. ValueError for a negative depth.

    A value is a list of arrays or of lists. Lengths of arrays may differ along axes with a dynamic length in ``ttype``. In
    compiled code, a list of arrays consists of two arrays: a vector with the elements of all arrays, and a matrix whose
    rows are the shapes of the arrays. A list of lists consists of the arrays of all their elements in one list, and a
    vector of the lengths of the lists.
    """

    __slots__ = ("ttype",)

    ttype: TensorType | TypedListType

    def __init__(self, ttype: Type, depth: int = 0) -> None:
        if depth < 0:
            raise ValueError(f"The depth of a list must be at least 0, got {depth}")
        if not isinstance(ttype, TensorType | TypedListType):
            raise TypeError(f"The elements of a list must be tensors or lists, and not {ttype!r}")
        for _ in range(depth):
            ttype = TypedListType(ttype)
        self.ttype = ttype

    def get_depth(self) -> int:
        """How many lists are around the innermost ones: 0 for a list of tensors."""
        return self.ttype.get_depth() + 1 if isinstance(self.ttype, TypedListType) else 0

    def is_super(self, other: Type) -> bool:
        return isinstance(other, TypedListType) and self.ttype.is_super(other.ttype)

    def key(self) -> tuple[Any, ...]:
        return (self.ttype,)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert a list or tuple to a list of arrays. Each element is filtered by ``ttype`` with the same options."""
        if not isinstance(data, list | tuple):
            raise TypeError(f"Expected a list of {self.ttype}, got {data!r}")
        listed = cast("Sequence[Any]", data)
        filtered = [self.ttype.filter(each, strict, allow_downcast) for each in listed]
        same = isinstance(data, list) and all(map(operator.is_, filtered, listed))
        return cast("Any", data) if same else filtered

    def may_share_memory(self, a: Any, b: Any) -> bool:
        return a is b or any(self.ttype.may_share_memory(x, y) for x in a for y in b)

    def copy(self, value: Any) -> Any:
        return [_copied(each) for each in value]

    def parts(self) -> tuple[TensorType, ...]:
        if isinstance(self.ttype, TypedListType):
            return (*self.ttype.parts(), TensorType("int64", (None,)))
        return TensorType(self.ttype.dtype, (None,)), TensorType("int64", (None, self.ttype.ndim))

    def to_parts(self, value: Any) -> Sequence[Any]:
        if isinstance(self.ttype, TypedListType):
            lengths = np.array([len(each) for each in value], "int64")
            return (*self.ttype.to_parts([e for each in value for e in each]), lengths)
        flat = [np.ravel(each) for each in value]
        shapes = [np.shape(each) for each in value]
        joined = np.concatenate(flat) if flat else np.zeros(0, self.ttype.dtype)
        return joined, np.array(shapes, "int64").reshape(len(shapes), self.ttype.ndim)

    def from_parts(self, parts: Sequence[Any]) -> Any:
        if isinstance(self.ttype, TypedListType):
            elements: list[Any] = self.ttype.from_parts(parts[:-1])
            rest = iter(elements)
            return [list(itertools.islice(rest, int(n))) for n in np.asarray(parts[-1])]
        flat, shapes = np.asarray(parts[0]), np.asarray(parts[1])
        ends = np.cumsum(np.prod(shapes, axis=1, dtype="int64"))[:-1]
        pieces = np.split(flat, ends) if len(shapes) else []
        return [piece.reshape(tuple(shape)) for piece, shape in zip(pieces, shapes, strict=True)]

    def filled(self, shapes: Sequence[tuple[int, ...]], number: int) -> Any:
        """A list for trial runs: all elements of its arrays are ``number``. ``shapes`` are the shapes of its two parts.

        If ``ttype`` has a dynamic axis, the list's array at position 0 is given all the numbers: its first dynamic axis
        is made long enough for them. The list's other arrays are empty. Of several lists, the first one has all elements.
        """
        if isinstance(self.ttype, TypedListType):
            elements = self.ttype.filled(shapes[:-1], number)
            return [list(elements) if i == 0 else [] for i in range(shapes[-1][0])]
        (total,), (many, _) = shapes
        static = [1 if n is None else n for n in self.ttype.shape]
        unknown = [i for i, n in enumerate(self.ttype.shape) if n is None]
        arrays: list[Any] = []
        for k in range(many):
            lengths = list(static)
            if unknown:
                lengths[unknown[0]] = total // max(int(np.prod(static)), 1) if k == 0 else 0
            arrays.append(np.full(lengths, number, self.ttype.dtype))
        return arrays

    def __repr__(self) -> str:
        return f"TypedList({self.ttype!r})"


class _ListMethods:
    """The functions of this module as methods of variables.

    `index` is missing, since all variables have an attribute of this name.
    """

    def __getitem__(self, key: Any) -> Any:
        return getitem(self, key)

    def __iter__(self) -> NoReturn:
        raise TypeError(
            "The length of a list is not known before the graph runs; loop over it with getitem and length"
        )

    def append(self, element: Any) -> Any:
        """A new list: this list, with ``element`` added at the end."""
        return append(self, element)

    def extend(self, other: Any) -> Any:
        """A new list: the elements of this list, then the elements of ``other``."""
        return extend(self, other)

    def insert(self, position: Any, element: Any) -> Any:
        """A new list: this list, with ``element`` inserted before ``position``."""
        return insert(self, position, element)

    def remove(self, element: Any) -> Any:
        """A new list: this list without its first element that equals ``element``."""
        return remove(self, element)

    def reverse(self) -> Any:
        """A new list: the elements of this list in reverse order."""
        return reverse(self)

    def setitem(self, position: Any, element: Any) -> Any:
        """A new list: this list, with ``element`` in place of the element at ``position``."""
        return setitem(self, position, element)

    def length(self) -> Any:
        """The number of elements of this list, an int64 scalar."""
        return length(self)

    def count(self, element: Any) -> Any:
        """How many elements of this list equal ``element``."""
        return count(self, element)


class TypedListVariable(_ListMethods, Variable):
    """A variable whose value is a list. A loop of Python over it raises TypeError: its length is not known."""


class TypedListConstant(_ListMethods, Constant):
    """A constant whose value is a list. A loop of Python over it raises TypeError."""


class _ListNominal(_ListMethods, NominalVariable):
    """An input of an inner graph whose value is a list."""


TypedListType.variable_class = TypedListVariable
TypedListType.constant_class = TypedListConstant
TypedListType.nominal_class = _ListNominal


def _list_type(kind: Type) -> TypedListType:
    if not isinstance(kind, TypedListType):
        raise TypeError(f"Expected a list, got {kind}")
    return kind


def _as_list(value: Any) -> Variable:
    if not _is_list_variable(value):
        raise TypeError(f"Expected a variable that is a list, got {value!r}; make_list makes one")
    return value


def _as_element(kind: Type, value: Any) -> Variable:
    """Convert ``value`` to an element of a list of type ``kind``.

    A number or an array is converted if no information is lost. A variable must have the element type (else TypeError).
    """
    ttype = _list_type(kind).ttype
    if isinstance(value, Variable) and not ttype.is_super(value.type):
        raise TypeError(f"A list of {ttype} cannot have an element of type {value.type}")
    return ttype.filter_variable(value)


def _as_position(value: Any) -> Variable:
    position = as_tensor_variable(value)
    if position.type.ndim or not position.type.is_discrete or position.type.dtype == "bool":
        raise TypeError(f"A position in a list must be an integer, got {value!r}")
    return position.astype("int64")


@op
class ListOp(Op):
    """Base class of the ops of this module. They have no derivatives and no batching rules."""

    def infer(self, *types: Type) -> Type:
        return _list_type(types[0])

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        (out,) = node.outputs
        if not out.type.is_array:
            return [None]
        return [
            tuple(Shape_i(i)(out) if n is None else n for i, n in enumerate(out.type.shape or ()))
        ]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        if outputs[0].type.is_discrete:
            return [None] * len(inputs)
        raise NotImplementedError(f"{self} has no derivative: no op on lists has")

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        raise NotImplementedError(
            f"{self} has no batches: the lists of a batch would differ in length"
        )


@op
class MakeList(ListOp):
    """Makes a list of its inputs, which are of the type ``ttype``."""

    ttype: TensorType | TypedListType

    def infer(self, *types: Type) -> Type:
        for kind in types:
            if not self.ttype.is_super(kind):
                raise TypeError(f"A list of {self.ttype} cannot have an element of type {kind}")
        return TypedListType(self.ttype)

    def evaluate(self, *arrays: Any) -> Any:
        return [_copied(each) for each in arrays]


@op
class _Changed(ListOp):
    """Base class of ops that return the list in their first input with a change. Unchanged elements are not copied."""

    view_map = {0: [0]}


class Append(_Changed):
    """The first input, a list, with the second input added at the end."""

    def evaluate(self, elements: Any, element: Any) -> Any:
        return [*elements, _copied(element)]


class Extend(_Changed):
    """The elements of the first input, a list, then the elements of the second input, another list."""

    def evaluate(self, elements: Any, others: Any) -> Any:
        return [*elements, *map(_copied, others)]


class Insert(_Changed):
    """The first input, a list, with the third input inserted before the position in the second input."""

    def evaluate(self, elements: Any, position: Any, element: Any) -> Any:
        changed = list(elements)
        changed.insert(int(position), _copied(element))
        return changed


class SetItem(_Changed):
    """The first input, a list, with the third input in place of the element at the position in the second input."""

    def evaluate(self, elements: Any, position: Any, element: Any) -> Any:
        changed = list(elements)
        changed[_position(elements, position)] = _copied(element)
        return changed


class Reverse(_Changed):
    """The first input, a list, in reverse order."""

    def evaluate(self, elements: Any) -> Any:
        return list(elements[::-1])


class Remove(_Changed):
    """The first input, a list, without its first element that equals the second input."""

    def evaluate(self, elements: Any, element: Any) -> Any:
        at = _first(elements, element)
        return [*elements[:at], *elements[at + 1 :]]


@op
class Slice(ListOp):
    """Elements of the first input, a list, that a slice selects.

    ``given`` says which of the slice's start, stop and step are inputs. The others are None.
    """

    view_map = {0: [0]}

    given: tuple[bool, bool, bool]

    def evaluate(self, elements: Any, *bounds: Any) -> Any:
        rest = iter(bounds)
        return list(elements[slice(*(int(next(rest)) if has else None for has in self.given))])


@op
class GetItem(ListOp):
    """The element of the first input, a list, at the position in the second input."""

    def infer(self, *types: Type) -> Type:
        return _list_type(types[0]).ttype

    def evaluate(self, elements: Any, position: Any) -> Any:
        return _copied(elements[_position(elements, position)])


@op
class _Counted(ListOp):
    """Base class of ops on a list that return an int64 scalar."""

    def infer(self, *types: Type) -> Type:
        _list_type(types[0])
        return _COUNT


class Length(_Counted):
    """The number of elements of the input, a list."""

    def evaluate(self, elements: Any) -> Any:
        return np.asarray(len(elements), "int64")


class Index(_Counted):
    """The position of the first element of the first input, a list, that equals the second input."""

    def evaluate(self, elements: Any, element: Any) -> Any:
        return np.asarray(_first(elements, element), "int64")


class Count(_Counted):
    """The number of elements of the first input, a list, that equal the second input."""

    def evaluate(self, elements: Any, element: Any) -> Any:
        return np.asarray(sum(_equal(each, element) for each in elements), "int64")


def _copied(element: Any) -> Any:
    """A copy of an array, or of a list of lists and arrays."""
    return list(map(_copied, element)) if is_list(element) else np.array(element)


def _equal(one: Any, other: Any) -> bool:
    if is_list(one) or is_list(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(np.array_equal(one, other))


def _first(elements: Any, element: Any) -> int:
    position = next((i for i, each in enumerate(elements) if _equal(each, element)), None)
    if position is None:
        raise ValueError("No element of the list equals the value")
    return position


def _position(elements: Any, position: Any) -> int:
    at, many = int(position), len(elements)
    if not -many <= at < many:
        raise IndexError(f"Position {at} is out of bounds for a list of {many} elements")
    return at


# functions


def make_list(elements: Iterable[Any], ttype: TensorType | TypedListType | None = None) -> Any:
    """Make a list of tensors, numbers and arrays, or of lists. TypeError if their dtypes or numbers of dimensions differ.

    ``ttype`` is the type of the elements. By default, a length in this type is static if it is equal for all elements,
    else dynamic. An empty list needs ``ttype`` (TypeError).
    """
    given: Any = elements
    if not isinstance(given, Iterable):
        raise TypeError(
            f"The elements of a list are a sequence of tensors or lists, got {elements!r}"
        )
    variables = [v if _is_list_variable(v) else as_tensor_variable(v) for v in elements]
    if ttype is None and not variables:
        raise TypeError("A list without elements needs a type of its elements, ttype")
    return MakeList(ttype or _common_type([v.type for v in variables]))(*variables)


def _is_list_variable(value: Any) -> bool:
    return isinstance(value, Variable) and isinstance(value.type, TypedListType)


def _common_type(kinds: Sequence[Any]) -> Any:
    """The type of the elements of a list: a length is static if it is so, and equal, in all ``kinds``."""
    lists = [isinstance(k, TypedListType) for k in kinds]
    if all(lists):
        return TypedListType(_common_type([k.ttype for k in kinds]))
    if any(lists) or len({(k.dtype, k.ndim) for k in kinds}) > 1:
        listed = ", ".join(map(str, kinds))
        raise TypeError(f"The elements of a list must be of one type, got {listed}")
    shape = [
        n[0] if len(set(n)) == 1 else None for n in zip(*(k.shape for k in kinds), strict=True)
    ]
    return TensorType(kinds[0].dtype, tuple(shape))


def append(elements: Any, element: Any) -> Any:
    """The list ``elements``, with ``element`` added at the end."""
    typed_list = _as_list(elements)
    return Append()(typed_list, _as_element(typed_list.type, element))


def extend(elements: Any, others: Any) -> Any:
    """The elements of the list ``elements``, then the elements of ``others``, a list of the same type."""
    one, other = _as_list(elements), _as_list(others)
    if not _list_type(one.type).ttype.is_super(_list_type(other.type).ttype):
        raise TypeError(f"A {one.type} cannot get the elements of a {other.type}")
    return Extend()(one, other)


def insert(elements: Any, position: Any, element: Any) -> Any:
    """The list ``elements``, with ``element`` inserted before ``position``.

    If the position is out of bounds, the element is inserted at the start or the end, as by ``list.insert``.
    """
    typed_list = _as_list(elements)
    return Insert()(typed_list, _as_position(position), _as_element(typed_list.type, element))


def setitem(elements: Any, position: Any, element: Any) -> Any:
    """The list ``elements``, with ``element`` in place of the element at ``position``.

    IndexError at run time if the position is out of bounds.
    """
    typed_list = _as_list(elements)
    return SetItem()(typed_list, _as_position(position), _as_element(typed_list.type, element))


def remove(elements: Any, element: Any) -> Any:
    """The list ``elements`` without its first element that equals ``element``; ValueError at run time if none does."""
    typed_list = _as_list(elements)
    return Remove()(typed_list, _as_element(typed_list.type, element))


def reverse(elements: Any) -> Any:
    """The list ``elements`` in reverse order."""
    return Reverse()(_as_list(elements))


def getitem(elements: Any, key: Any) -> Any:
    """The element at position ``key``, or a list of the elements that the slice ``key`` selects.

    IndexError at run time if the position is out of bounds.
    """
    typed_list = _as_list(elements)
    if not isinstance(key, slice):
        return GetItem()(typed_list, _as_position(key))
    parts = list(slice_parts(cast("slice", key)))
    bounds = [_as_position(part) for part in parts if part is not None]
    return Slice(cast("Any", tuple(part is not None for part in parts)))(typed_list, *bounds)


def length(elements: Any) -> Any:
    """The number of elements of the list ``elements``, an int64 scalar."""
    return Length()(_as_list(elements))


def index(elements: Any, element: Any) -> Any:
    """The position of the first of ``elements`` that equals ``element``; ValueError at run time if there is none."""
    typed_list = _as_list(elements)
    return Index()(typed_list, _as_element(typed_list.type, element))


def count(elements: Any, element: Any) -> Any:
    """How many elements of the list ``elements`` equal ``element``. Equal elements have the same shape and numbers."""
    typed_list = _as_list(elements)
    return Count()(typed_list, _as_element(typed_list.type, element))


explain_errors(globals(), "arguments")
