"""Proofs that dynamic lengths are equal, and run-time checks where there is no proof.

A proof must stay valid when rules remove nodes. For instance, ``x + y`` can only be computed if ``x`` and ``y`` have
the same length. This does not prove that the lengths are equal: a rule may drop ``x`` if ``x`` is zero, and then
nothing checks the lengths.

A proof compares the origins of two lengths. The origin of a length is found by following nodes that only copy it. For
instance, the length of ``exp(x)`` is copied from ``x``. So its origin is the length of ``x``.

`gradient.cotangents` calls `assert_shape_of` to check that a gradient has the shape of its variable. A rule in
`occelo_rewrite.rules.shape` drops such checks if `surely_has_length` finds a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.reading import length_op, length_read
from occelo_graph.ops.shape.reshaping import Reshape

_MOST_STEPS = 64


class _Length:
    """A symbol for the length of a node's input along an axis. ``infer_shape`` gets it instead of a number."""

    __slots__ = ("axis", "position")

    def __init__(self, position: int, axis: int) -> None:
        self.position = position
        self.axis = axis


@lru_cache(256)
def _symbols(*ndims: int | None) -> tuple[tuple[_Length, ...], ...]:
    """The symbolic shapes of inputs with ``ndims`` dimensions."""
    return tuple([tuple([_Length(i, a) for a in range(n or 0)]) for i, n in enumerate(ndims)])


class KnownLengths:
    """Cache of the origins of lengths in a graph. It is valid as long as the nodes of the graph do not change."""

    def __init__(self) -> None:
        self.found: dict[tuple[Variable, int], tuple[Any, int]] = {}
        """Maps a variable and an axis to the origin of the length, and the number of nodes that the search visited."""
        self.shapes: dict[Apply, Sequence[Any]] = {}
        """Maps a node to its output's shape, as `_shape_of_result` returns it."""


class _LengthSearch:
    """Search for the origins of lengths. The number of nodes that a search may visit is bounded."""

    def __init__(self, known: KnownLengths) -> None:
        self._known = known
        self._left = _MOST_STEPS
        self._wanted: Any = None

    def is_proved_equal(self, variable: Variable, axis: int, length: Any) -> bool:
        """Whether a length of ``variable`` has the origin ``length``, which is a result of `of` or `of_scalar`."""
        self._wanted = length
        return length is not None and self.of(variable, axis) == length

    def of(self, variable: Variable, axis: int) -> Any:
        """The origin of the length of ``variable`` along ``axis``; None if it is unknown.

        The origin is a number, a pair of a tensor and an axis, or a scalar variable that computes the length.
        """
        kind = variable.type
        if kind.shape is None:
            return None
        static = kind.shape[axis]
        if static is not None:
            return static
        node = variable.owner
        if node is None:
            return variable, axis
        entry = self._known.found.get((variable, axis))
        if entry is not None:
            self._left -= entry[1]
            return None if self._left < 0 else entry[0]
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
        if node.op.types_follow_values:  # most ops have no lengths as inputs
            if isinstance(node.op, Alloc) and Alloc in node.op.computes_as:
                return self.of_scalar(fill_static(node.op.shape, node.inputs[1:])[axis])
            if isinstance(node.op, SpecifyShape) and SpecifyShape in node.op.computes_as:
                if node.op.given[axis]:
                    return self.of_scalar(node.inputs[1 + sum(node.op.given[:axis])])
        return self._by_shape_rule(node, variable, axis)

    def of_scalar(self, length: Any) -> Any:
        """The origin of ``length``, which is a scalar variable."""
        if isinstance(length, Constant):
            return int(length.data)
        read = length_read(length)
        return length if read is None else self.of(*read)

    def _common(self, node: Apply, axis: int) -> Any:
        """The origin of the length of an elementwise result along ``axis``; None if operands have different origins."""
        origins: list[Any] = []
        for operand in node.inputs:
            static = operand.type.shape
            if static is None or len(static) < -axis or static[axis] == 1:
                continue
            length = self.of(operand, len(static) + axis)
            if length is None or (origins and origins[0] != length):
                return None
            # the search fails if one operand has another origin, so the remaining operands need no search
            if self._wanted is not None and self._wanted != length:
                return None
            origins.append(length)
        return origins[0] if origins else None

    def _by_shape_rule(self, node: Apply, variable: Variable, axis: int) -> Any:
        """The origin of a length according to ``infer_shape``.

        If ``infer_shape`` copies the length from an input, the search continues there. Else the pair of ``variable``
        and ``axis`` is the origin.
        """
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
    """The shape of a node's only output, where `_Length` symbols mark lengths that are copied from inputs.

    It is computed by ``infer_shape``. It is empty if this method does not exist or fails.
    """
    # a rule may remove a reshape, and then nothing checks that the lengths fit
    if isinstance(node.op, Reshape) or len(node.outputs) > 1:
        return ()
    try:
        shapes = _symbols(*[v.type.ndim for v in node.inputs])
        return tuple(node.op.shapes(node, list(shapes))[0])
    except Exception:
        # ``infer_shape`` does not exist, computes with lengths, or is a user's method that fails
        return ()


def surely_has_length(x: Variable, axis: int, length: Any) -> bool:
    """Whether it is proved that the length of ``x`` along ``axis`` is ``length``, an integer or a scalar variable."""
    search = _LengthSearch(KnownLengths())
    return search.is_proved_equal(x, axis, search.of_scalar(length))


def assert_shape_of(x: Any, like: Any, of: str, known: KnownLengths | None = None) -> Any:
    """``x`` with a run-time check that it has the shape of ``like``. Lengths that are proved equal are not checked.

    ``of`` is the name of ``x`` in error messages. ``x`` and ``like`` must have the same number of dimensions, and
    static lengths must not differ. Several calls for one graph may share the cache ``known`` as long as the graph does
    not change.
    """
    known = KnownLengths() if known is None else known
    static: list[int | None] = []
    dynamic: list[bool] = []
    lengths: list[Any] = []
    for axis, (own, expected) in enumerate(zip(_shape(x), _shape(like), strict=True)):
        open_here = expected is None and not is_proved_equal(x, axis, like, axis, known)
        static.append(expected if own is None else None)
        dynamic.append(open_here)
        if open_here:
            lengths.append(length_op(axis)(like))
    if not lengths and all(n is None for n in static):
        return x
    return SpecifyShape(tuple(static), tuple(dynamic), of)(x, *lengths)


def is_proved_equal(x: Variable, i: int, y: Variable, j: int, known: KnownLengths) -> bool:
    """Whether it is proved that the length of ``x`` along axis ``i`` is the length of ``y`` along axis ``j``.

    Several calls for one graph may share the cache ``known`` as long as the graph does not change.
    """
    if x is y and i == j:
        return True
    search = _LengthSearch(known)
    return search.is_proved_equal(x, i, search.of(y, j))


def _shape(x: Any) -> Sequence[int | None]:
    shape: Sequence[int | None] = x.type.shape
    return shape
