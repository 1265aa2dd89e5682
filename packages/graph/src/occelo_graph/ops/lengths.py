"""What is certain of lengths that types leave open, and how a tensor is held to those of another.

Certain means: whatever rewriting leaves out. Of ``x + y`` with open lengths nothing is certain, although it
has the length of ``x`` wherever it can be computed: a rule may drop ``x``, as it drops zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.shape import Reshape, Shape_i, SpecifyShape, length_read

__all__ = ["KnownLengths", "held_to_shape", "is_certainly_as_long"]

_MOST_STEPS = 64


class _Length:
    """The length of a variable along an axis, handed to ``infer_shape`` in place of a number."""

    def __init__(self, variable: Variable, axis: int) -> None:
        self.variable = variable
        self.axis = axis


class KnownLengths:
    """What was found out about the lengths of a graph, valid while its nodes stay as they are."""

    def __init__(self) -> None:
        self.found: dict[tuple[Variable, int], tuple[Any, int]] = {}
        """The lengths of variables along axes, and how many nodes were looked at for each."""
        self.shapes: dict[Apply, Sequence[Any]] = {}
        """The shapes of results in lengths of inputs, as ``infer_shape`` gives them; empty if it fails."""


class _Walk:
    """Where lengths come from, looked up over a bounded number of nodes."""

    def __init__(self, known: KnownLengths) -> None:
        self._known = known
        self._left = _MOST_STEPS
        self._wanted: Any = None

    def is_certainly(self, variable: Variable, axis: int, length: Any) -> bool:
        """Whether a length is one that `of` or `of_scalar` found."""
        self._wanted = length
        return length is not None and self.of(variable, axis) == length

    def of(self, variable: Variable, axis: int) -> Any:
        """A number, a pair of a variable and an axis, or a scalar variable; None if not certain."""
        kind = variable.type
        if kind.shape is None:
            return None
        static = kind.shape[axis]
        if static is not None:
            return static
        node = variable.owner
        if node is None:
            return variable, axis
        found = self._known.found.get((variable, axis))
        if found is not None:
            self._left -= found[1]
            return None if self._left < 0 else found[0]
        before = self._left
        self._left -= 1
        if self._left < 0:
            return None
        length = self._computed(node, variable, axis)
        if length is not None:
            self._known.found[variable, axis] = length, before - self._left
        return length

    def _computed(self, node: Apply, variable: Variable, axis: int) -> Any:
        if node.op.elementwise:
            return self._common(node, axis - variable.type.ndim)
        if isinstance(node.op, Alloc):
            return self.of_scalar(fill_static(node.op.shape, node.inputs[1:])[axis])
        if isinstance(node.op, SpecifyShape) and node.op.given[axis]:
            return self.of_scalar(node.inputs[1 + sum(node.op.given[:axis])])
        return self._handed_on(node, variable, axis)

    def of_scalar(self, length: Any) -> Any:
        """What is certain of a scalar that is a length."""
        if isinstance(length, Constant):
            return int(length.data)
        read = length_read(length)
        return length if read is None else self.of(*read)

    def _common(self, node: Apply, axis: int) -> Any:
        """The length of an elementwise result: that which all operands agree on."""
        found: list[Any] = []
        for operand in node.inputs:
            kind = operand.type
            if kind.shape is None or kind.ndim < -axis or kind.shape[axis] == 1:
                continue
            length = self.of(operand, kind.ndim + axis)
            if length is None or (found and found[0] != length):
                return None
            # an operand that has another length tells, whatever those after it have
            if self._wanted is not None and self._wanted != length:
                return None
            found.append(length)
        return found[0] if found else None

    def _handed_on(self, node: Apply, variable: Variable, axis: int) -> Any:
        """The length of an input that an op says its result has, else the result's own."""
        shape = self._known.shapes.get(node)
        if shape is None:
            shape = self._known.shapes[node] = _shape_of_result(node)
        length = shape[axis] if shape else None
        return (
            self.of(length.variable, length.axis)
            if isinstance(length, _Length)
            else (variable, axis)
        )


def _shape_of_result(node: Apply) -> Sequence[Any]:
    """The shape of the only result of a node, in lengths of its inputs; empty if it is not known."""
    # that a reshaping fits is not checked where it is left out
    if not node.op.has_infer_shape or isinstance(node.op, Reshape) or len(node.outputs) > 1:
        return ()
    shapes = [tuple([_Length(v, i) for i in range(v.type.ndim or 0)]) for v in node.inputs]
    try:
        shape: Sequence[Any] = tuple(node.op.shapes(node, shapes)[0])
    except Exception:
        # it computes with lengths, or has a rule of the user's that fails
        return ()
    return shape


def is_certainly_as_long(x: Variable, axis: int, length: Any) -> bool:
    """Whether a tensor has a length, an integer or a scalar variable, whatever rewriting leaves out."""
    walk = _Walk(KnownLengths())
    return walk.is_certainly(x, axis, walk.of_scalar(length))


def held_to_shape(x: Any, like: Any, of: str, known: KnownLengths | None = None) -> Any:
    """``x``, with a check when the graph runs that its shape is that of ``like``, unless that is certain.

    ``of`` is what a message calls ``x``. Both have as many dimensions, and no known lengths that differ.
    Calls on one graph, which does not change between them, may share what is ``known``.
    """
    known = KnownLengths() if known is None else known
    static: list[int | None] = []
    given: list[bool] = []
    lengths: list[Any] = []
    for axis, (own, wanted) in enumerate(zip(_shape(x), _shape(like), strict=True)):
        open_here = wanted is None and not _surely_equal(x, like, axis, known)
        static.append(wanted if own is None else None)
        given.append(open_here)
        if open_here:
            lengths.append(_length_op(axis)(like))
    if not lengths and all(n is None for n in static):
        return x
    return SpecifyShape(tuple(static), tuple(given), of)(x, *lengths)


@lru_cache(64)
def _length_op(axis: int) -> Shape_i:
    # one object has one cache of inferred types
    return Shape_i(axis)


def _surely_equal(x: Variable, y: Variable, axis: int, known: KnownLengths) -> bool:
    if x is y:
        return True
    walk = _Walk(known)
    return walk.is_certainly(x, axis, walk.of(y, axis))


def _shape(x: Any) -> Sequence[int | None]:
    shape: Sequence[int | None] = x.type.shape
    return shape
