"""Slices as values: their type, the ops that make and read them, and `as_symbolic`, which makes variables of any value.

A variable whose value is a slice can be an input of a function and an index, as in ``x[s]``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.types import NoneTypeT, Type, generic, none_type
from occelo_graph.narrowing import is_slice
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType

FAR = 2**62
"""Beyond the length of every tensor: the bound of a slice that goes to the end."""
_SCALAR = TensorType("int64", ())


class SliceType(Type):
    """The type of slices, whose bounds are integers or None. In compiled code, a slice is its three bounds and which are there."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Convert a slice to a slice of Python integers. TypeError for anything else."""
        if not is_slice(data):
            raise TypeError(f"Expected a slice, got {data!r}")
        try:
            return slice(*(None if p is None else operator.index(p) for p in slice_parts(data)))
        except TypeError:
            raise TypeError(
                f"The bounds of a slice must be integers or None, got {data!r}"
            ) from None

    def parts(self) -> tuple[TensorType, ...]:
        return TensorType("int64", (3,)), TensorType("bool", (3,))

    def to_parts(self, value: Any) -> Sequence[Any]:
        bounds = slice_parts(value)
        numbers = [0 if p is None else max(-FAR, min(p, FAR)) for p in bounds]
        return np.array(numbers, "int64"), np.array([p is not None for p in bounds])

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return slice(*(int(n) if has else None for n, has in zip(*parts, strict=True)))

    def as_index(self, variable: Variable) -> Any:
        data = getattr(variable, "data", None)
        if data is not None:
            return data
        if variable.owner is not None and isinstance(variable.owner.op, MakeSlice):
            rest = iter(variable.owner.inputs)
            return slice(*(next(rest) if has else None for has in variable.owner.op.given))
        return slice(*SliceBounds()(variable))

    def __repr__(self) -> str:
        return "slice"


slicetype = SliceType()
NoneSliceConst = slicetype.make_constant(slice(None))


class _SliceOp(Op):
    """Base class of the ops of this module. Nothing of a slice has a derivative."""

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [() if is_tensor(v) else None for v in node.outputs]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] * len(node.outputs) for _ in node.inputs]

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        return [None] * len(inputs)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        raise NotImplementedError(
            f"{self} has no batches: the slices of a batch would select parts that differ in length"
        )


@op
class MakeSlice(_SliceOp):
    """Makes a slice of its inputs. ``given`` says which of its start, stop and step are inputs; the others are None."""

    given: tuple[bool, bool, bool]

    def infer(self, *types: Type) -> Type:
        if any(kind != _SCALAR for kind in types):
            raise TypeError(
                f"The bounds of a slice must be int64 scalars, got {', '.join(map(str, types))}"
            )
        return slicetype

    def evaluate(self, *bounds: Any) -> Any:
        rest = iter(bounds)
        return slice(*(int(next(rest)) if has else None for has in self.given))


@op
class SliceBounds(_SliceOp):
    """The start, stop and step of a slice as int64 scalars. A bound that is None becomes one far beyond every tensor."""

    def infer(self, kind: Type) -> tuple[Type, ...]:
        if not isinstance(kind, SliceType):
            raise TypeError(f"Expected a slice, got {kind}")
        return _SCALAR, _SCALAR, _SCALAR

    def evaluate(self, value: Any) -> Any:
        start, stop, step = slice_parts(value)
        step = 1 if step is None else step
        if step == 0:
            raise ValueError("The step of a slice cannot be 0")
        first, last = (0, FAR) if step > 0 else (FAR, -FAR)
        bounds = (first if start is None else start, last if stop is None else stop, step)
        return tuple(np.asarray(max(-FAR, min(n, FAR)), "int64") for n in bounds)


@explained_by("integers")
def make_slice(start: Any, stop: Any = None, step: Any = None) -> Variable:
    """A variable whose value is a slice, of integer scalars or None: ``make_slice(i, None, 2)``, or ``make_slice(slice(i, j))``.

    ``start``, ``stop`` and ``step`` are those of the slice. TypeError for anything but integers, integer scalars and None.
    """
    if is_slice(start):
        if stop is not None or step is not None:
            raise TypeError(
                f"make_slice takes a slice or its bounds, got {start!r} and further bounds"
            )
        start, stop, step = slice_parts(start)
    bounds = [start, stop, step]
    absent = [p is None or _is_none(p) for p in bounds]
    if not any(isinstance(p, Variable) for p, none in zip(bounds, absent, strict=True) if not none):
        plain = [None if none else p for p, none in zip(bounds, absent, strict=True)]
        return slicetype.make_constant(slicetype.filter(slice(*plain)))
    inputs = [_bound(p) for p, none in zip(bounds, absent, strict=True) if not none]
    variable: Variable = MakeSlice((not absent[0], not absent[1], not absent[2]))(*inputs)
    return variable


def _is_none(value: Any) -> bool:
    return isinstance(value, Variable) and isinstance(value.type, NoneTypeT)


def _bound(value: Any) -> Variable:
    bound = as_tensor_variable(value)
    if bound.type.ndim or not bound.type.is_discrete or bound.type.dtype == "bool":
        raise TypeError(f"A bound of a slice must be an integer scalar, got {bound.type}")
    return bound.astype("int64")


@explained_by("integers")
def as_symbolic(x: Any, name: str | None = None) -> Variable:
    """A variable with the value ``x``: a constant, or ``x`` itself if it is a variable.

    None, slices (also of variables), numbers and arrays get types of their own. Any other value, such as a string, becomes
    a constant of the type `generic`, which holds Python objects. ``name`` is the name of a tensor.
    """
    if isinstance(x, Variable):
        return x
    if x is None:
        return none_type.make_constant(None)
    if is_slice(x):
        return make_slice(x)
    if isinstance(x, str | bytes):
        return generic.make_constant(x, name)
    try:
        return as_tensor_variable(x, name)
    except (TypeError, ValueError):
        return generic.make_constant(x, name)
