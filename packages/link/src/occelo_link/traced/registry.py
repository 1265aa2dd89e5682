"""The registry of the lowerings of ops for JAX and PyTorch, which share their lowerings.

The modules of the families register lowerings here, and so do users. The tracer and `capabilities` look them up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from occelo_graph import Apply, Op, Variable
from occelo_graph.ir.nodes import OpT
from occelo_graph.tensors.nodes import TensorApply
from occelo_link.lowering_table import LoweringTable, Registers, RegistersParts
from occelo_link.traced.traced_values import Array, TracedValue
from occelo_link.withheld_lowerings import is_withheld

if TYPE_CHECKING:
    from occelo_link.traced.tracer import Tracer

Lowering = Callable[["Tracer", Apply, list[TracedValue]], Sequence[TracedValue]]
"""A function of a tracer, a node and the values of its inputs. It returns the values of the node's outputs.

A static value is a NumPy array, and any other value is an array of the library. A value that consists of several arrays
is the sequence of its parts.
"""

LoweringOf = Callable[["Tracer", TensorApply[OpT], list[Array]], Sequence[Array]]
"""A lowering of op classes for nodes whose inputs and outputs are tensors."""
LoweringOfParts = Callable[["Tracer", Apply[OpT], list[TracedValue]], Sequence[TracedValue]]

_OpT = TypeVar("_OpT", bound=Op)

_lowerings = LoweringTable["Tracer", TracedValue]("lowering to arrays", "traces_scalar")
_parts = LoweringTable["Tracer", TracedValue]("lowering of parts to arrays", "traces_scalar")


class NeedsValue(Exception):
    """Tracing needs the value of a variable that is not static, for instance because a shape depends on it."""

    def __init__(self, variable: Variable, node: Apply) -> None:
        super().__init__(f"{node.op} needs the value of {variable}")
        self.variable = variable
        self.node = node


def traces(*classes: type[_OpT]) -> Registers[Tracer, TracedValue, _OpT]:
    """Return a decorator that registers a lowering of op classes for the libraries that trace, JAX and PyTorch.

    The lowering gets a `Tracer`, the node and the values of its inputs, and returns the values of its outputs.
    ``tracer.arrays`` has the array operations. A lowering from another package replaces Occelo's.
    """
    return _lowerings.register(classes)


def traces_parts(*classes: type[_OpT]) -> RegistersParts[Tracer, TracedValue, _OpT]:
    """Return a decorator like `traces` for ``classes`` of ops whose values are not arrays but consist of several arrays."""
    return _parts.register(classes)


def find_lowering(node: Apply) -> Lowering | None:
    """Return the lowering of a node, or None if it has none.

    An op that overrides the NumPy code of its base class does not inherit the lowering of that class.
    """
    if is_withheld(node):
        return None
    table = _lowerings
    if not all([v.type.is_array for v in (*node.inputs, *node.outputs)]):
        table = _parts
    entry = table.find(node.op)
    return None if entry is None else entry[0]
