"""Inference of facts about the results of elementwise functions: signs, positions of zeros, symmetry, definiteness.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of an `Elemwise` node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph import (
    Apply,
    Constant,
    TensorApply,
    TensorType,
    TensorVariable,
    computed_by,
    is_tensor,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import Sign
from occelo_rewrite.assumptions.facts import COUNTED, UNSIGNED
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.assumptions.shape import are_transposes, spread_vector
from occelo_rewrite.constants import number_of


def _spans(operand: TensorType, whole: TensorType) -> bool:
    """Whether an operand of an elementwise node is not broadcast along the last two axes of the result ``whole``."""
    return operand.ndim >= 2 and all(
        m != 1 or n == 1 for m, n in zip(operand.shape[-2:], whole.shape[-2:], strict=True)
    )


def _is_one_number(operand: TensorType) -> bool:
    """Whether an operand is a single number for each matrix: its last two axes have length 1."""
    return all(n == 1 for n in operand.shape[-2:])


def _where_zero(fact: str) -> None:
    """Register the inference of a fact about positions of zeros, such as "diagonal".

    The fact holds for a sum if it holds for all terms, and for a product if it holds for one factor.
    """

    @infers(fact, Elemwise)
    def kept(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
        whole = node.outputs[0].type
        if whole.ndim < 2:
            return None
        linear = node.op.scalar_op.linear
        full = [v for v in node.inputs if _spans(v.type, whole)]
        if linear == "all":
            return True if full == node.inputs and all(ask(v, fact) for v in full) else None
        if linear == "each":
            return True if any(ask(v, fact) for v in full) else None
        if linear == "first":
            first, *rest = node.inputs
            same = all(_is_one_number(v.type) for v in rest)
            return (first in full and same and ask(first, fact)) or None
        return None


for _fact in ("diagonal", "lower_triangular", "upper_triangular", "tridiagonal"):
    _where_zero(_fact)


def _triangle(fact: str) -> None:
    """Register the inference that a matrix is triangular because a mask chooses zeros, as in `tril` and `triu`."""
    lower = fact == "lower_triangular"

    @infers(fact, Elemwise)
    def masked(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
        if node.op.scalar_op.name != "switch" or node.outputs[0].type.ndim < 2:
            return None
        mask, first, second = node.inputs
        outside = second if lower else first
        if number_of(outside) != 0 or not _spans(mask.type, node.outputs[0].type):
            return None
        return True if _is_triangle(mask, lower, ask) else None


def _is_triangle(mask: TensorVariable, lower: bool, ask: Ask) -> bool:
    """Whether a mask chooses zeros everywhere above the diagonal or, if ``lower`` is False, below the diagonal.

    `tril` has zeros where its mask is false, and `triu` has zeros where its mask is true. So the mask must be false
    above the diagonal, or true below the diagonal.
    """
    if isinstance(mask, Constant):
        data: Any = mask.data
        outside = np.triu(data, 1) if lower else np.tril(~data, -1)
        return data.dtype == bool and not outside.any()
    compared = computed_by(mask, Elemwise)
    if compared is None or compared.op != ot.ge:
        return False
    rows, columns = compared.inputs
    number = 0
    shifted = computed_by(rows, Elemwise)
    if shifted is not None and shifted.op == ot.add and len(shifted.inputs) == 2:
        numbers = [number_of(v) for v in shifted.inputs]
        symbolic = [v for v, n in zip(shifted.inputs, numbers, strict=True) if n is None]
        if len(symbolic) != 1:
            return False
        rows, number = symbolic[0], next(n for n in numbers if n is not None)
    if not (_counts(rows, (0, "x"), ask) and _counts(columns, ("x", 0), ask)):
        return False
    return number <= 0 if lower else number >= -1


def _counts(variable: TensorVariable, order: tuple[int | str, ...], ask: Ask) -> bool:
    """Whether each element of a matrix is the number of its row, or of its column, counted from 0.

    ``order`` is ``(0, "x")`` for rows, and ``("x", 0)`` for columns.
    """
    spread = spread_vector(variable)
    return spread is not None and spread[1] == order and ask(spread[0], COUNTED) is True


for _fact in ("lower_triangular", "upper_triangular"):
    _triangle(_fact)


@infers_many(Elemwise)
def _conjugated(node: TensorApply[Elemwise], fact: str, ask: Ask) -> bool | None:
    """A fact about matrices holds for the complex conjugate of a matrix if it holds for the matrix."""
    if (
        node.op.scalar_op is not ot.conj.scalar_op
        or fact not in FACTS
        or not FACTS[fact].of_matrices
    ):
        return None
    return ask(node.inputs[0], fact)


def _definite(fact: str) -> None:
    @infers(fact, Elemwise)
    def sum_or_multiple(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
        """Whether a matrix is (semi)definite because of an elementwise op.

        The result may be a sum or an elementwise product of (semi)definite matrices, or a positive multiple of a
        (semi)definite matrix. A sum of semidefinite matrices is definite if one of them is definite.
        """
        whole = node.outputs[0].type
        if whole.ndim < 2:
            return None
        if node.op == ot.add:
            if not all(_spans(v.type, whole) and ask(v, _SEMI) for v in node.inputs):
                return None
            return True if fact == _SEMI or any(ask(v, fact) for v in node.inputs) else None
        sign = "nonnegative" if fact == _SEMI else "positive"
        if node.op == ot.mul:
            # the elementwise product of (semi)definite matrices is (semi)definite (Schur, 1911)
            factors = [v for v in node.inputs if not _is_one_number(v.type)]
            numbers = [v for v in node.inputs if _is_one_number(v.type)]
            if not factors or not all(_spans(v.type, whole) and ask(v, fact) for v in factors):
                return None
            return True if all(ask(v, sign) for v in numbers) else None
        if node.op == ot.true_div:
            x, y = node.inputs
            divides = _is_one_number(y.type) and _spans(x.type, whole)
            return True if divides and ask(x, fact) and ask(y, "positive") else None
        return None


_SEMI = "positive_semidefinite"
_definite(_SEMI)
_definite("positive_definite")


@infers("symmetric", Elemwise)
def _symmetric_arithmetic(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
    """Whether a matrix is symmetric because of an elementwise op.

    The op may be any function of symmetric matrices, or a sum or product of matrices and their transposes.
    """
    whole = node.outputs[0].type
    if whole.ndim < 2:
        return None
    rest = [v for v in node.inputs if not _is_one_number(v.type)]
    return True if rest and _reflected(node, rest, ask, "symmetric") else None


@infers("hermitian", Elemwise)
def _hermitian_sum(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
    whole = node.outputs[0].type
    if whole.ndim < 2 or node.op not in (ot.add, ot.sub):
        return None
    return True if _reflected(node, node.inputs, ask, "hermitian") else None


def _reflected(
    node: TensorApply[Elemwise], operands: Sequence[TensorVariable], ask: Ask, fact: str
) -> bool:
    """Whether for each operand the fact holds, or its transpose is another operand of the same sum or product.

    For example, ``x + x.T`` is symmetric for any x.
    """
    whole = node.outputs[0].type
    rest = list(operands)
    while rest:
        x = rest.pop()
        if _spans(x.type, whole) and ask(x, fact):
            continue
        # x and y may be broadcast, such as a vector as a column and the same vector as a row
        paired = [y for y in rest if are_transposes(x, y, fact == "hermitian")]
        if not paired or node.op not in (ot.add, ot.mul):
            return False
        rest.remove(paired[0])
    return True


# facts about elements


def _are_floats(node: Apply) -> bool:
    return all(is_tensor(v) and v.type.dtype.startswith("float") for v in node.inputs)


def _signs(fact: Sign) -> None:
    @infers(fact, Elemwise)
    def signed(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
        """Whether the sign of the result follows from the traits of the scalar op.

        The op may declare the sign of all its results (``sign``), or that results keep the sign of the operands
        (``keeps_sign``).
        """
        if not _are_floats(node):
            return None  # results of integers may wrap around
        function = node.op.scalar_op
        if function.sign in (fact, UNSIGNED):
            return True
        keeps_sign = fact in function.keeps_sign
        return True if keeps_sign and all(ask(v, fact) for v in node.inputs) else None


_signs("nonnegative")
_signs("unsigned")


@infers("nonnegative", Elemwise)
def _nonnegative_quotient(node: TensorApply[Elemwise], ask: Ask) -> bool | None:
    function = node.op.scalar_op
    if function.name not in ("true_div", "reciprocal") or not _are_floats(node):
        return None
    # the divisor must not be -0.0, since x / -0.0 is -inf
    above, below = node.inputs[:-1], node.inputs[-1]
    return (all(ask(v, "nonnegative") for v in above) and ask(below, UNSIGNED)) or None
