"""How facts follow from constants and from the ops that compute a variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, Op, Variable
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.create import ARange, Eye
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.search import AllocDiag
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_graph.ops.shape import DimShuffle, Reshape, SpecifyShape
from occelo_rewrite.constants import number_of

__all__ = ["Ask", "inferred_from_constant", "inferred_from_node", "infers"]

Ask = Callable[[Variable, str], bool | None]
"""Whether a fact holds for another variable; None if that is not known."""

Inference = Callable[[Apply, Ask], bool | None]
_inferences: dict[tuple[str, type[Op]], list[Inference]] = {}
_LARGEST = 64 * 64


def infers(fact: str, *classes: type[Op]) -> Callable[[Inference], Inference]:
    """Register how a fact follows from an op; the first inference that gives an answer counts."""

    def register(function: Inference) -> Inference:
        for cls in classes:
            _inferences.setdefault((fact, cls), []).append(function)
        return function

    return register


def inferred_from_node(node: Apply, fact: str, ask: Ask) -> bool | None:
    """Whether a fact holds for the (first) output of a node."""
    for cls in type(node.op).__mro__:
        for inference in _inferences.get((fact, cls), ()):
            found = inference(node, ask)
            if found is not None:
                return found
    return None


# constants


def _off(data: Any, part: Any) -> bool:
    """Whether nothing is left of a matrix without one of its parts."""
    return not np.any(data - part)


def _is_selection(data: Any) -> bool:
    rows = (data == 1).sum(axis=1) == 1
    return bool(np.all((data == 0) | (data == 1)) and np.all(rows))


_OF_MATRICES: dict[str, Callable[[Any], bool]] = {
    "diagonal": lambda m: _off(m, np.diag(np.diag(m))),
    "lower_triangular": lambda m: _off(m, np.tril(m)),
    "upper_triangular": lambda m: _off(m, np.triu(m)),
    "symmetric": lambda m: bool(np.array_equal(m, m.T)),
    "permutation": lambda m: _is_selection(m) and _is_selection(m.T),
}


def inferred_from_constant(constant: Constant, fact: str) -> bool | None:
    """Whether a fact holds for the value of a constant; None for large ones."""
    data: Any = constant.data
    if not isinstance(data, np.ndarray) or data.size > _LARGEST or data.dtype.kind == "c":  # pyright: ignore[reportUnknownMemberType]
        return None
    if fact in ("nonnegative", "positive"):
        return bool(np.all(data > 0 if fact == "positive" else data >= 0))
    if fact == "unique_indices":
        return (
            bool(np.unique(data).size == data.size)  # pyright: ignore[reportUnknownArgumentType]
            if data.dtype.kind in "iu" and np.all(data >= 0)  # pyright: ignore[reportUnknownMemberType]
            else None
        )
    if data.ndim != 2 or data.dtype.kind not in "iuf" or not np.all(np.isfinite(data)):  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        return None
    if fact == "selection":
        return _is_selection(data)
    if data.shape[0] != data.shape[1]:  # pyright: ignore[reportUnknownMemberType]
        return False if fact in ("symmetric", "permutation", "positive_definite") else None
    check = _OF_MATRICES.get(fact)
    return None if check is None else check(data)


# ops


@infers("diagonal", AllocDiag)
def _made_diagonal(node: Apply, ask: Ask) -> bool | None:
    return True if node.op.offset == 0 else None  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


@infers("diagonal", Eye)
@infers("nonnegative", Eye)
def _eye(node: Apply, ask: Ask) -> bool | None:
    return True if number_of(node.inputs[-1]) == 0 else None


@infers("permutation", Eye)
def _square_eye(node: Apply, ask: Ask) -> bool | None:
    rows, columns = node.outputs[0].type.shape  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    return (
        True if rows is not None and rows == columns and number_of(node.inputs[-1]) == 0 else None
    )


def _is_transposition(op: Any) -> bool:
    return isinstance(op, DimShuffle) and op.new_order == (1, 0)


def _transposed(fact: str, of: str) -> None:
    @infers(fact, DimShuffle)
    def turned(node: Apply, ask: Ask) -> bool | None:
        return ask(node.inputs[0], of) if _is_transposition(node.op) else None


for _fact in ("diagonal", "symmetric", "positive_definite", "orthogonal", "permutation"):
    _transposed(_fact, _fact)
_transposed("lower_triangular", "upper_triangular")
_transposed("upper_triangular", "lower_triangular")


@infers("symmetric", Dot)
def _gram(node: Apply, ask: Ask) -> bool | None:
    x, y = node.inputs
    for a, b in ((x, y), (y, x)):
        if b.owner is not None and _is_transposition(b.owner.op) and b.owner.inputs[0] is a:
            return True
    return None


def _closed_under_product(fact: str) -> None:
    @infers(fact, Dot)
    def product(node: Apply, ask: Ask) -> bool | None:
        two = all(v.type.ndim == 2 for v in node.inputs)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return True if two and all(ask(v, fact) for v in node.inputs) else None


for _fact in (
    "diagonal",
    "lower_triangular",
    "upper_triangular",
    "orthogonal",
    "permutation",
    "selection",
):
    _closed_under_product(_fact)


def _names(node: Apply) -> str:
    return node.op.scalar_op.name  # type: ignore[attr-defined,no-any-return] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]


def _linear(fact: str) -> None:
    """Facts that sums, differences and products with numbers keep."""

    @infers(fact, Elemwise)
    def kept(node: Apply, ask: Ask) -> bool | None:
        name = _names(node)
        ndim = node.outputs[0].type.ndim  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        full = [v for v in node.inputs if v.type.ndim == ndim]  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        scalars = [v for v in node.inputs if v.type.ndim == 0]  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        if ndim < 2 or len(full) + len(scalars) != len(node.inputs):
            return None
        if name in ("add", "sub", "neg") and not scalars:
            return True if all(ask(v, fact) for v in full) else None
        if name == "mul":
            needed = any if fact != "symmetric" else all
            return True if full and needed(ask(v, fact) for v in full) else None
        if name == "true_div" and len(full) == 1 and node.inputs[0] is full[0]:
            return ask(full[0], fact) or None
        return None


for _fact in ("diagonal", "lower_triangular", "upper_triangular", "symmetric"):
    _linear(_fact)


_POSITIVE = frozenset(("exp", "exp2", "sigmoid", "softplus", "cosh", "erfc", "erfcx"))
_NONNEGATIVE = frozenset(("abs", "sqr", "sqrt"))
_KEEP_SIGN = frozenset(
    ("add", "mul", "true_div", "maximum", "sqrt", "second", "identity", "reciprocal")
)


@infers("nonnegative", Elemwise)
def _nonnegative_function(node: Apply, ask: Ask) -> bool | None:
    name = _names(node)
    if any(not v.type.dtype.startswith("float") for v in node.inputs):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        return None
    if name in _POSITIVE or name in _NONNEGATIVE:
        return True
    used = node.inputs[1:] if name == "second" else node.inputs
    return True if name in _KEEP_SIGN and all(ask(v, "nonnegative") for v in used) else None


@infers("nonnegative", CAReduce)
def _nonnegative_reduction(node: Apply, ask: Ask) -> bool | None:
    return (
        True
        if _names(node) in ("add", "mul", "maximum", "minimum")
        and ask(node.inputs[0], "nonnegative")
        else None
    )


@infers("nonnegative", Softmax)
def _softmax(node: Apply, ask: Ask) -> bool | None:
    return True


@infers("nonnegative", DimShuffle, Reshape, Subtensor, SpecifyShape, AllocDiag)
def _same_elements(node: Apply, ask: Ask) -> bool | None:
    return ask(node.inputs[0], "nonnegative") or None


@infers("nonnegative", Join)
def _joined(node: Apply, ask: Ask) -> bool | None:
    return True if all(ask(v, "nonnegative") for v in node.inputs) else None


@infers("unique_indices", ARange)
def _counted(node: Apply, ask: Ask) -> bool | None:
    start, _, step = (number_of(v) for v in node.inputs)
    return True if start is not None and start >= 0 and step is not None and step > 0 else None
