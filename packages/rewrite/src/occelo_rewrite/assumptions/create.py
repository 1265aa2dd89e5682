"""Inference of facts about ranges, identity matrices and repeated matrices.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of an `ARange`, `Eye` or
`Alloc` node. A range with a constant start of at least 0 and a constant positive step has the fact "unique_indices", if
its integers have 32 or 64 bits. An `Eye` with ones on its main diagonal is diagonal and not negative. If it is square,
it is also positive definite and a permutation, and has a unit diagonal.
"""

from __future__ import annotations

from occelo_graph import TensorApply
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_rewrite.assumptions.facts import COUNTED
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.constants import number_of


@infers("diagonal", Eye)
@infers("nonnegative", Eye)
def _eye(node: TensorApply[Eye], ask: Ask) -> bool | None:
    return True if number_of(node.inputs[-1]) == 0 else None


@infers("positive_definite", Eye)
@infers("unit_diagonal", Eye)
@infers("permutation", Eye)
def _square_eye(node: TensorApply[Eye], ask: Ask) -> bool | None:
    rows, columns = node.outputs[0].type.shape
    same = rows is not None and rows == columns
    # the lengths are equal if they are one variable
    square = same or (rows is None and columns is None and node.inputs[0] is node.inputs[1])
    return True if square and number_of(node.inputs[-1]) == 0 else None


@infers_many(Alloc)
def _repeated(node: TensorApply[Alloc], fact: str, ask: Ask) -> bool | None:
    """A fact about matrices holds for a matrix that is repeated along batch axes if it holds for the matrix itself."""
    value = node.inputs[0]
    if fact not in FACTS or not FACTS[fact].of_matrices or value.type.ndim < 2:
        return None
    lengths = zip(value.type.shape[-2:], node.outputs[0].type.shape[-2:], strict=True)
    return ask(value, fact) if all(n != 1 or m == 1 for n, m in lengths) else None


@infers("unique_indices", ARange)
def _counted(node: TensorApply[ARange], ask: Ask) -> bool | None:
    start, _, step = (number_of(v) for v in node.inputs)
    if node.outputs[0].type.dtype not in ("int32", "int64", "uint32", "uint64"):
        return None  # a range of smaller integers could wrap around
    return True if start is not None and start >= 0 and step is not None and step >= 1 else None


@infers(COUNTED, ARange)
def _counted_from_zero(node: TensorApply[ARange], ask: Ask) -> bool | None:
    start, _, step = (number_of(v) for v in node.inputs)
    return True if start == 0 and step == 1 else None
