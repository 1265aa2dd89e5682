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
from occelo_rewrite.assumptions.facts import UNSIGNED
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
    if fact == UNSIGNED:
        values: Any = data  # pyright: ignore[reportUnknownVariableType]
        return True if values.dtype.kind == "f" and not np.any(np.signbit(values)) else None
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


# of matrices


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


def _spans(operand: Any, whole: Any) -> bool:
    """Whether an operand has the matrices of an elementwise result, rather than being broadcast to them."""
    return operand.ndim >= 2 and all(
        m != 1 or n == 1 for m, n in zip(operand.shape[-2:], whole.shape[-2:], strict=True)
    )


def _is_one_number(operand: Any) -> bool:
    """Whether an operand is the same for all elements of a matrix."""
    return all(n == 1 for n in operand.shape[-2:])


def _where_zero(fact: str) -> None:
    """Facts that say where a matrix is zero: sums and differences keep them, products have them from one factor."""

    @infers(fact, Elemwise)
    def kept(node: Apply, ask: Ask) -> bool | None:
        whole: Any = node.outputs[0].type
        if whole.ndim < 2:
            return None
        name = _names(node)
        full = [v for v in node.inputs if _spans(v.type, whole)]
        if name in ("add", "sub", "neg"):
            return True if full == node.inputs and all(ask(v, fact) for v in full) else None
        if name == "mul":
            return True if any(ask(v, fact) for v in full) else None
        if name == "true_div":
            above, below = node.inputs
            return (above in full and _is_one_number(below.type) and ask(above, fact)) or None
        return None


for _fact in ("diagonal", "lower_triangular", "upper_triangular"):
    _where_zero(_fact)


@infers("symmetric", Elemwise)
def _symmetric_arithmetic(node: Apply, ask: Ask) -> bool | None:
    whole: Any = node.outputs[0].type
    if whole.ndim < 2 or _names(node) not in ("add", "sub", "neg", "mul", "true_div"):
        return None
    rest = [v for v in node.inputs if not _is_one_number(v.type)]
    if not rest or not all(_spans(v.type, whole) and ask(v, "symmetric") for v in rest):
        return None
    return True


# of elements


_POSITIVE = frozenset(("exp", "exp2", "sigmoid", "softplus", "cosh", "erfc", "erfcx"))
_NONNEGATIVE = frozenset(("abs", "sqr", "sqrt"))
_KEEP_SIGN = frozenset(("add", "mul", "maximum", "sqrt", "second", "identity"))
_KEEP_CLEAR = _KEEP_SIGN | {"true_div", "reciprocal"}


def _are_floats(node: Apply) -> bool:
    return all(v.type.dtype.startswith("float") for v in node.inputs)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


@infers("nonnegative", Elemwise)
def _nonnegative_function(node: Apply, ask: Ask) -> bool | None:
    name = _names(node)
    if not _are_floats(node):
        return None  # integers wrap around
    if name in _POSITIVE or name in _NONNEGATIVE:
        return True
    if name in ("true_div", "reciprocal"):
        # x / -0.0 is -inf
        above, below = node.inputs[:-1], node.inputs[-1]
        return (all(ask(v, "nonnegative") for v in above) and ask(below, UNSIGNED)) or None
    used = node.inputs[1:] if name == "second" else node.inputs
    return True if name in _KEEP_SIGN and all(ask(v, "nonnegative") for v in used) else None


@infers(UNSIGNED, Elemwise)
def _unsigned_function(node: Apply, ask: Ask) -> bool | None:
    name = _names(node)
    if not _are_floats(node):
        return None
    if name in _POSITIVE or name in ("abs", "sqr"):
        return True
    used = node.inputs[1:] if name == "second" else node.inputs
    return True if name in _KEEP_CLEAR and all(ask(v, UNSIGNED) for v in used) else None


@infers(UNSIGNED, Softmax)
@infers("nonnegative", Softmax)
def _softmax(node: Apply, ask: Ask) -> bool | None:
    return True


def _of_elements(fact: str) -> None:
    """Facts that results have if all elements that they are made of do."""

    @infers(fact, CAReduce)
    def reduced(node: Apply, ask: Ask) -> bool | None:
        name = _names(node)
        fits = name in ("maximum", "minimum") or (name in ("add", "mul") and _are_floats(node))
        return True if fits and ask(node.inputs[0], fact) else None

    @infers(fact, DimShuffle, Reshape, Subtensor, SpecifyShape, AllocDiag)
    def moved(node: Apply, ask: Ask) -> bool | None:
        return ask(node.inputs[0], fact) or None

    @infers(fact, Join)
    def joined(node: Apply, ask: Ask) -> bool | None:
        return True if all(ask(v, fact) for v in node.inputs) else None


_of_elements("nonnegative")
_of_elements(UNSIGNED)


@infers("unique_indices", ARange)
def _counted(node: Apply, ask: Ask) -> bool | None:
    start, _, step = (number_of(v) for v in node.inputs)
    if node.outputs[0].type.dtype not in ("int32", "int64", "uint32", "uint64"):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return None  # smaller ones could wrap around
    return True if start is not None and start >= 0 and step is not None and step >= 1 else None
