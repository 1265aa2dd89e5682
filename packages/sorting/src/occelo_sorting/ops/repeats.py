"""Tensors without the repeats with which they were built, for functions that ask only which elements there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from occelo_graph import Variable
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.arithmetic import mul
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i, lengths_by_variables
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_sorting.ops.orders import Sort


def without_repeats(x: Any) -> Any:
    """A tensor with the same elements as ``x``, each at least once, perhaps in another order and shape.

    What `repeat`, `tile` and `full` added is left out, and so are `sort`, `ravel` and the like, but nothing that may fail.
    """
    while x.owner is not None:
        node = x.owner
        moves = isinstance(node.op, DimShuffle) and not node.op.dropped
        if not (moves or isinstance(node.op, Sort) or _is_whole(node) or _keeps_each(node)):
            return x
        x = node.inputs[0]
    return x


def _is_whole(node: Any) -> bool:
    """Whether a node gives its first input another shape, whose lengths multiply to its number of elements by their graphs."""
    if not isinstance(node.op, Reshape):
        return False
    x = node.inputs[0]
    if x.owner is not None and isinstance(x.owner.op, Alloc):
        before = _filled(x.owner)
    else:
        before = lengths_by_variables(x)
    return _factors(before) == _factors(_filled(node))


def _filled(node: Any) -> list[Any]:
    """The lengths that a node was given, those that are static as numbers."""
    rest = iter(node.inputs[1:])
    return [next(rest) if static is None else static for static in node.op.shape]


def _factors(lengths: Iterable[Any]) -> tuple[int, Counter[Any]]:
    """The product of lengths: its number, and how often each length is a factor that is known only at run time."""
    number, rest, counted = 1, [*lengths], Counter[Any]()
    while rest:
        length = rest.pop()
        static = known_integer(length)
        if static is not None:
            number *= static
        elif length.owner is not None and length.owner.op == mul:
            rest += length.owner.inputs
        else:
            counted[length] += 1
    return number, counted


def _keeps_each(node: Any) -> bool:
    """Whether a node repeats its first input along dimensions that it adds or stretches, each at least once."""
    if not isinstance(node.op, Alloc):
        return False
    value = node.inputs[0]
    added = len(node.op.shape) - value.type.ndim
    for axis, length in enumerate(_filled(node)):
        number = known_integer(length)
        own = 1 if axis < added else value.type.shape[axis - added]
        if own is None:
            whole = _is_own(length, value, axis - added)
        else:
            whole = own == number or (own == 1 and bool(number))
        if not whole:
            return False
    return True


def _is_own(length: Variable | int, value: Variable, axis: int) -> bool:
    """Whether a length was read from the dimension ``axis`` of a value, or of what the value reorders."""
    if value.owner is not None and isinstance(value.owner.op, DimShuffle):
        moved = value.owner.op.new_order[axis]
        if not isinstance(moved, int):
            return False
        value, axis = value.owner.inputs[0], moved
    node = length.owner if isinstance(length, Variable) else None
    return (
        node is not None
        and isinstance(node.op, Shape_i)
        and node.op.i == axis
        and node.inputs[0] is value
    )
