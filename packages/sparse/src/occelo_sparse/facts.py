"""Inference of facts about the parts of sparse matrices: the order of indices, and symmetry.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of an `OrderedIndices` or
`SymmetricValues` node. `has_order` and `is_symmetric` ask about a whole structure or matrix, whose parts may also be constants:
each constant is examined once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from occelo_graph import Constant, TensorApply, Variable, computed_by
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_sparse.ops.stated import ORDERS, OrderedIndices, SymmetricValues

_examined: WeakKeyDictionary[Constant, list[tuple[list[Constant], dict[str, bool]]]] = (
    WeakKeyDictionary()
)
"""For a constant the other constants that it was examined with, and which facts hold."""


def _once(fact: str, check: Callable[..., bool], *parts: Constant) -> bool:
    """The result of a check of constants, which runs once for each."""
    first, *others = parts
    entries = _examined.setdefault(first, [])
    answers = next((facts for beside, facts in entries if beside == others), None)
    if answers is None:
        answers = dict[str, bool]()
        entries.append((others, answers))
    if fact not in answers:
        answers[fact] = check(*(each.data for each in parts))
    return answers[fact]


def _is_structure(indices: Any, offsets: Any) -> bool:
    """Whether offsets increase from 0 to the number of indices. What is none raises its error when the function runs."""
    counts = np.diff(offsets)
    ends = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(indices)
    return ends and not np.any(counts < 0)


def _are_in_order(indices: Any, offsets: Any, least: int) -> bool:
    """Whether the indices of each line grow by at least ``least``."""
    if not _is_structure(indices, offsets):
        return False
    grows = np.diff(indices.astype("int64")) >= least
    begins = offsets[1:-1]
    grows[begins[(begins > 0) & (begins < len(indices))] - 1] = True
    return bool(grows.all())


_ORDER_OF_CONSTANTS: dict[str, Callable[[Any, Any], bool]] = {
    "sorted_indices": lambda indices, offsets: _are_in_order(indices, offsets, 0),
    "canonical": lambda indices, offsets: _are_in_order(indices, offsets, 1),
}


def _equals_its_transpose(values: Any, indices: Any, offsets: Any) -> bool:
    """Whether a matrix stores at each place what it stores at the transposed place, and no place twice."""
    if not _is_structure(indices, offsets) or len(values) != len(indices):
        return False
    lines = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order, turned = np.lexsort((indices, lines)), np.lexsort((lines, indices))
    rows, columns = lines[order], indices[order]
    twice = np.any((np.diff(rows) == 0) & (np.diff(columns) == 0))
    pairs = ((rows, indices[turned]), (columns, lines[turned]), (values[order], values[turned]))
    return not twice and all(np.array_equal(a, b) for a, b in pairs)


def has_order(ask: Ask, fact: str, indices: Variable, offsets: Variable) -> bool:
    """Whether "sorted_indices" or "canonical" is known to hold for a structure."""
    if isinstance(indices, Constant) and isinstance(offsets, Constant):
        return _once(fact, _ORDER_OF_CONSTANTS[fact], indices, offsets)
    while (checked := computed_by(indices, CheckAndRaise)) is not None:
        indices = checked.inputs[0]
    node = computed_by(indices, OrderedIndices)
    return node is not None and node.inputs[1] is offsets and ask(indices, fact) is True


@infers_many(OrderedIndices)
def _order(node: TensorApply[OrderedIndices], fact: str, ask: Ask) -> bool | None:
    """Whether a fact about order was known when the matrix was made, or holds for the matrices that it was made of."""
    if fact not in ORDERS:
        return None
    indices, offsets, *others = node.inputs
    if fact in node.op.facts or has_order(ask, fact, indices, offsets):
        return True
    sources = list(zip(others[::2], others[1::2], strict=True))
    inherits = fact in node.op.inherited and sources
    return True if inherits and all(has_order(ask, fact, *each) for each in sources) else None


def is_symmetric(
    ask: Ask, values: Variable, indices: Variable, offsets: Variable, square: bool
) -> bool:
    """Whether a matrix of these parts is known to be symmetric. ``square`` is whether it is known to be square."""
    if all(isinstance(each, Constant) for each in (values, indices, offsets)):
        parts: Any = values, indices, offsets
        return square and _once("symmetric", _equals_its_transpose, *parts)
    owner: Any = values.owner
    if owner is None:
        return False
    if isinstance(owner.op, SymmetricValues):
        same = _unmarked(owner.inputs[1]) is _unmarked(indices) and owner.inputs[2] is offsets
        return same and ask(values, "symmetric") is True
    return isinstance(owner.op, Elemwise) and _keeps_symmetry(owner, indices, offsets, square, ask)


def _unmarked(indices: Variable) -> Variable:
    """Indices without what is known of them and which checks they passed."""
    while (node := computed_by(indices, OrderedIndices, CheckAndRaise)) is not None:
        indices = node.inputs[0]
    return indices


def _keeps_symmetry(
    node: TensorApply[Elemwise], indices: Variable, offsets: Variable, square: bool, ask: Ask
) -> bool:
    """Whether an elementwise function of values, and of single numbers, gives the values of a symmetric matrix.

    If a place is stored several times, only sums and multiples do.
    """
    vectors = [v for v in node.inputs if not all(v.type.broadcastable)]
    linear = node.op.scalar_op.linear
    adds = (linear == "all" and len(vectors) == len(node.inputs)) or (
        linear == "each" and len(vectors) == 1
    )
    if not vectors or not (adds or has_order(ask, "canonical", indices, offsets)):
        return False
    return all(is_symmetric(ask, v, indices, offsets, square) for v in vectors)


@infers("symmetric", SymmetricValues)
def _symmetry(node: TensorApply[SymmetricValues], ask: Ask) -> bool | None:
    """Whether a matrix is symmetric because its user says so, or all matrices are that it was made of."""
    for at in range(3, len(node.inputs), 4):
        values, indices, offsets, extent = node.inputs[at : at + 4]
        rows, columns, _ = extent.type.shape
        if not is_symmetric(ask, values, indices, offsets, rows is not None and rows == columns):
            return None
    return True
