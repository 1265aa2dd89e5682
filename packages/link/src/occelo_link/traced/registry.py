"""Registry of the lowerings of ops for JAX and PyTorch, which share them.

The other modules of this package, and users, register lowerings; the tracer looks them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar, overload

from occelo_graph import Apply, Op, Variable
from occelo_graph.canonical.encoding import class_name
from occelo_graph.extensions import defined_before, is_external, register_extension
from occelo_graph.ir.nodes import AnyApply, OpT
from occelo_graph.tensors.nodes import TensorApply
from occelo_link.traced.parts import Array, TracedValue
from occelo_link.withheld import is_withheld

if TYPE_CHECKING:
    from occelo_link.traced.tracer import Tracer

__all__ = ["Lowering", "NeedsValue", "find_lowering", "traces", "traces_parts"]

Lowering = Callable[["Tracer", Apply, list[TracedValue]], Sequence[TracedValue]]
"""A function of a tracer, a node and the values of its inputs that returns the values of its outputs.

A value is a NumPy array if it is static, else an array of the library. A value that consists of arrays is the sequence of
its parts.
"""

LoweringOf = Callable[["Tracer", TensorApply[OpT], list[Array]], Sequence[Array]]
"""The lowering of op classes over tensors alone."""
LoweringOfParts = Callable[["Tracer", Apply[OpT], list[TracedValue]], Sequence[TracedValue]]

# the key says which class of ops the node has, which no type can
_Registered = Callable[["Tracer", AnyApply, list[TracedValue]], Sequence[TracedValue]]
_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Sequence[TracedValue]])
_OpT = TypeVar("_OpT", bound=Op)


class Registers(Protocol[_OpT]):
    """A decorator that registers a lowering to arrays and returns it as it is, so that several can be stacked."""

    @overload
    def __call__(self, function: Lowering, /) -> Lowering: ...
    @overload
    def __call__(self, function: LoweringOfParts[_OpT], /) -> LoweringOfParts[_OpT]: ...
    @overload
    def __call__(self, function: LoweringOf[_OpT], /) -> LoweringOf[_OpT]: ...


class RegistersParts(Protocol[_OpT]):
    """As `Registers`, for nodes whose variables may be of other types than tensors."""

    @overload
    def __call__(self, function: Lowering, /) -> Lowering: ...
    @overload
    def __call__(self, function: LoweringOfParts[_OpT], /) -> LoweringOfParts[_OpT]: ...


_lowerings: dict[type[Op], _Registered] = {}
_parts: dict[type[Op], _Registered] = {}


class NeedsValue(Exception):
    """Tracing needs the value of a variable, on which a shape depends."""

    def __init__(self, variable: Variable, node: Apply) -> None:
        super().__init__(f"{node.op} needs the value of {variable}")
        self.variable = variable
        self.node = node


def _register(
    table: dict[type[Op], _Registered], kind: str, classes: Sequence[type[Op]]
) -> Callable[[_FunctionT], _FunctionT]:
    def register(function: _FunctionT) -> _FunctionT:
        for cls in classes:
            # lowerings from other packages for our ops stay, also if our families are loaded later
            if cls not in table or is_external(function) or not is_external(table[cls]):
                table[cls] = function
                if is_external(function):
                    # the code is part of the keys of the cache by the name of the class, so no earlier one may stay
                    for earlier in defined_before(cls, table):
                        del table[earlier]
                register_extension(kind, class_name(cls), function)
        return function

    return register


def traces(*classes: type[_OpT]) -> Registers[_OpT]:
    """Register the lowering of op classes to the arrays of libraries that trace, which are JAX and PyTorch.

    It takes a `Tracer`, the node and the values of its inputs, and returns the values of its outputs; ``tracer.arrays`` has the
    operations. A lowering from another package takes the place of ours.
    """
    return _register(_lowerings, "lowering to arrays", classes)


def traces_parts(*classes: type[_OpT]) -> RegistersParts[_OpT]:
    """Register the lowering of op classes for nodes with values that consist of arrays."""
    return _register(_parts, "lowering of parts to arrays", classes)


def find_lowering(node: Apply) -> Lowering | None:
    """The lowering of a node; None if it has none, or if the op overrides the NumPy code of its base."""
    if is_withheld(node):
        return None
    known = _lowerings
    if not all([v.type.is_array for v in (*node.inputs, *node.outputs)]):
        known = _parts
    own = type(node.op)
    for cls in own.__mro__:
        found = known.get(cls)
        if found is not None:
            alike = all(
                getattr(own, method) is getattr(cls, method)
                for method in ("evaluate", "kernel", "perform")
            )
            return found if alike else None
    return None
