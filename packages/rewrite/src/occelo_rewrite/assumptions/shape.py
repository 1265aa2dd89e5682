"""Inference of facts about transposed matrices and tensors of asserted shapes; functions that recognize transposes.

When a rule looks up a fact about the result of a `DimShuffle` or `SpecifyShape` node, `assumptions.inference` calls
the functions that infer facts. Facts about a transpose follow from facts about the matrix (`Fact.transposed`). For
instance, the transpose of a lower triangular matrix is upper triangular.

`assumptions.blas`, `assumptions.elemwise`, `occelo_linalg.facts` and `occelo_linalg.rules` call `are_transposes`. `rules.shape`
and `occelo_linalg.rules` call `is_transposition`.
"""

from __future__ import annotations

from occelo_graph import Op, TensorApply, TensorVariable, Variable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.type import is_complex
from occelo_rewrite.assumptions.inference import Ask, infers_many


def is_transposition(op: Op) -> bool:
    """Whether an op exchanges the last two axes of its input and does nothing else."""
    if not isinstance(op, DimShuffle) or DimShuffle not in op.computes_as:
        return False
    order, n = op.new_order, op.input_ndim
    return n >= 2 and order == (*range(n - 2), n - 1, n - 2)


def are_transposes(x: TensorVariable, y: TensorVariable, hermitian: bool) -> bool:
    """Whether ``x`` is known to be the transpose of ``y``; with ``hermitian``, the conjugate transpose."""
    real = not is_complex(x.type.dtype)
    if real or not hermitian:
        first, second = computed_by(x, DimShuffle), computed_by(y, DimShuffle)
        if first is not None and second is not None and first.inputs[0] is second.inputs[0]:
            # both are made from one variable, such as a vector as a column and as a row
            order, other = first.op.new_order, second.op.new_order
            if len(order) > 1 and order == (*other[:-2], other[-1], other[-2]):
                return True
    for a, b in ((x, y), (y, x)):
        transposed = _transposed_matrix(b)
        if transposed is not None and transposed[0] is a and (real or transposed[1] is hermitian):
            return True
    return False


def _transposed_matrix(variable: Variable) -> tuple[Variable, bool] | None:
    """The matrix x of a variable x^T or x^H, and whether the variable is x^H; None for other variables."""
    inner = _conjugated(variable)
    turned = variable if inner is None else inner
    if turned.owner is None or not is_transposition(turned.owner.op):
        return None
    source = turned.owner.inputs[0]
    # conj(x.T) may also be written conj(x).T
    before = None if inner is not None else _conjugated(source)
    return (source, inner is not None) if before is None else (before, True)


def _conjugated(variable: Variable) -> Variable | None:
    """The input x of a variable conj(x); None for other variables."""
    owner = variable.owner
    return owner.inputs[0] if owner is not None and owner.op == ot.conj else None


@infers_many(DimShuffle)
def _rearranged(node: TensorApply[DimShuffle], fact: str, ask: Ask) -> bool | None:
    """Whether a fact holds for transposed matrices, or after batch axes are reordered, added or dropped."""
    n, last = node.op.input_ndim, node.op.new_order[-2:]
    if fact not in FACTS or not FACTS[fact].of_matrices or n < 2:
        return None
    if last == (n - 2, n - 1):
        return ask(node.inputs[0], fact)
    of = FACTS[fact].transposed
    return ask(node.inputs[0], of) if of is not None and last == (n - 1, n - 2) else None


@infers_many(SpecifyShape)
def _specified(node: TensorApply[SpecifyShape], fact: str, ask: Ask) -> bool | None:
    return ask(node.inputs[0], fact)


def spread_vector(variable: TensorVariable) -> tuple[TensorVariable, tuple[int | str, ...]] | None:
    """The vector v and the order of a variable ``v.dimshuffle(order)``; None for other variables."""
    spread = computed_by(variable, DimShuffle)
    if spread is None or spread.inputs[0].type.ndim != 1:
        return None
    return spread.inputs[0], spread.op.new_order
