"""Proofs that dynamic lengths are equal, and run-time checks where there is no proof.

A proof must stay valid whatever rewriting removes. For instance, ``x + y`` does not prove that ``x`` and ``y`` have the
same dynamic length, although it can be computed only then: a rule may drop ``x`` if it is zero.

A proof compares the origins of two lengths. The origin is the length of a tensor from which a length was copied, if
need be through several nodes.

`gradient.cotangents` checks that a gradient has the shape of its variable, unless there is a proof. The rule in
`occelo_rewrite.rules.shape` that drops checks of shapes needs a proof, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.reading import Shape_i, length_read
from occelo_graph.ops.shape.reshaping import Reshape

__all__ = ["KnownLengths", "assert_shape_of", "surely_has_length"]

_MOST_STEPS = 64


class _Length:
    """A symbol for the length of a node's input along an axis, passed to ``infer_shape`` instead of a number."""

    __slots__ = ("axis", "position")

    def __init__(self, position: int, axis: int) -> None:
        self.position = position
        self.axis = axis


@lru_cache(256)
def _symbols(position: int, ndim: int) -> tuple[_Length, ...]:
    return tuple([_Length(position, axis) for axis in range(ndim)])


class KnownLengths:
    """Caches the origins of lengths in a graph; valid as long as the nodes of the graph do not change."""

    def __init__(self) -> None:
        self.found: dict[tuple[Variable, int], tuple[Any, int]] = {}
        """The origins of lengths by variable and axis, each with the number of nodes that the search visited."""
        self.shapes: dict[Apply, Sequence[Any]] = {}
        """Output shapes in terms of lengths of inputs, from ``infer_shape``; empty if it fails."""


class _LengthSearch:
    """Search for the origin of a length, through a bounded number of nodes."""

    def __init__(self, known: KnownLengths) -> None:
        self._known = known
        self._left = _MOST_STEPS
        self._wanted: Any = None

    def is_proved_equal(self, variable: Variable, axis: int, length: Any) -> bool:
        """Whether the length along ``axis`` provably is ``length``, which is a result of `of` or `of_scalar`."""
        self._wanted = length
        return length is not None and self.of(variable, axis) == length

    def of(self, variable: Variable, axis: int) -> Any:
        """The origin of a length: a number, a pair of variable and axis, or a scalar variable; None if it is unknown."""
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
            return self._common(node, axis - len(variable.type.shape or ()))
        if isinstance(node.op, Alloc) and Alloc in node.op.computes_as:
            return self.of_scalar(fill_static(node.op.shape, node.inputs[1:])[axis])
        if isinstance(node.op, SpecifyShape) and SpecifyShape in node.op.computes_as:
            if node.op.given[axis]:
                return self.of_scalar(node.inputs[1 + sum(node.op.given[:axis])])
        return self._by_shape_rule(node, variable, axis)

    def of_scalar(self, length: Any) -> Any:
        """The origin of a length that is given as a scalar."""
        if isinstance(length, Constant):
            return int(length.data)
        read = length_read(length)
        return length if read is None else self.of(*read)

    def _common(self, node: Apply, axis: int) -> Any:
        """The origin of the length of an elementwise result, if it is the same for all operands."""
        found: list[Any] = []
        for operand in node.inputs:
            static = operand.type.shape
            if static is None or len(static) < -axis or static[axis] == 1:
                continue
            length = self.of(operand, len(static) + axis)
            if length is None or (found and found[0] != length):
                return None
            # an operand of another length disproves equality, so the others need no search
            if self._wanted is not None and self._wanted != length:
                return None
            found.append(length)
        return found[0] if found else None

    def _by_shape_rule(self, node: Apply, variable: Variable, axis: int) -> Any:
        """The origin of a length that ``infer_shape`` copies from an input; else the length of the result itself."""
        shape = self._known.shapes.get(node)
        if shape is None:
            shape = self._known.shapes[node] = _shape_of_result(node)
        length = shape[axis] if shape else None
        return (
            self.of(node.inputs[length.position], length.axis)
            if isinstance(length, _Length)
            else (variable, axis)
        )


def _shape_of_result(node: Apply) -> Sequence[Any]:
    """The shape of a node's only output in terms of lengths of its inputs; empty if there is no shape rule."""
    # a rule may remove a reshape, and with it the check that its lengths fit
    if not node.op.has_infer_shape or isinstance(node.op, Reshape) or len(node.outputs) > 1:
        return ()
    shapes = [_symbols(i, v.type.ndim or 0) for i, v in enumerate(node.inputs)]
    try:
        shape: Sequence[Any] = tuple(node.op.shapes(node, shapes)[0])
    except Exception:
        # the rule computes with lengths, or is a user's rule that fails
        return ()
    return shape


def surely_has_length(x: Variable, axis: int, length: Any) -> bool:
    """Whether a tensor provably has a length (an integer or a scalar variable), whatever rules remove."""
    search = _LengthSearch(KnownLengths())
    return search.is_proved_equal(x, axis, search.of_scalar(length))


def assert_shape_of(x: Any, like: Any, of: str, known: KnownLengths | None = None) -> Any:
    """``x`` with a run-time check that its shape is that of ``like``, unless that is proved.

    ``of`` is the name of ``x`` in error messages. Both must have the same number of dimensions and no static lengths
    that differ. Several calls for one graph may share the cache ``known`` as long as the graph does not change.
    """
    known = KnownLengths() if known is None else known
    static: list[int | None] = []
    given: list[bool] = []
    lengths: list[Any] = []
    for axis, (own, wanted) in enumerate(zip(_shape(x), _shape(like), strict=True)):
        open_here = wanted is None and not _proved_equal(x, like, axis, known)
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


def _proved_equal(x: Variable, y: Variable, axis: int, known: KnownLengths) -> bool:
    if x is y:
        return True
    search = _LengthSearch(known)
    return search.is_proved_equal(x, axis, search.of(y, axis))


def _shape(x: Any) -> Sequence[int | None]:
    shape: Sequence[int | None] = x.type.shape
    return shape
