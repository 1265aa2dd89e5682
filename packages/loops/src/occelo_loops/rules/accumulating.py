"""The rule that replaces a sum of outer products over all steps of a scan by one product of matrices after the scan.

`pipeline` puts it into the stage canonicalize. Gradients of loops contain such sums.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from occelo_graph import Apply, FunctionGraph, TensorVariable, Variable, freeze
from occelo_graph import tensor as ot
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import computed_by, is_tensor, tensors
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@frozen_dataclass
class _Outer:
    """The two vectors of an outer product, as variables of a scan's body."""

    left: Variable
    right: Variable


@node_rewriter([Scan], tags=("rounding",))
def sums_of_outer_products(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """sum_t a_t b_t^T = A^T B, where the rows of A and B are the vectors a_t and b_t of all steps.

    If the steps of a loop multiply vectors by a matrix, the gradient with respect to this matrix is such a sum. Vectors
    that are not elements of sequences are kept as traces. Both vectors must change from step to step. Sums of products
    of two matrices stay in the loop, since one large product was slower in measurements. (rounding: the product of
    matrices adds in another order.)
    """
    op_ = node.op
    if op_.stops:
        return None
    changing = _changing(op_)
    read = Counter(v for each in op_.body.nodes for v in each.inputs)
    pairs = ((j, _summed(op_, j, read)) for j in range(op_.carried))
    sums = {j: f for j, f in pairs if f is not None and f.left in changing and f.right in changing}
    return _taken_out(node, sums) if sums else None


def _summed(op_: Scan, j: int, read: Counter[Variable]) -> _Outer | None:
    """The outer product that each step adds to the carried value ``j``; None if steps use it in any other way."""
    before, after = op_.body.inputs[j], op_.body.outputs[j]
    owner = after.owner
    if owner is None or not isinstance(owner.op, Elemwise) or owner.op.scalar_op.name != "add":
        return None
    if len(owner.inputs) != 2 or before not in owner.inputs:
        return None
    results = op_.body.outputs
    if read[before] != 1 or before in results or read[after] or results.count(after) != 1:
        return None
    (term,) = [v for v in owner.inputs if v is not before]
    checked = computed_by(term, SpecifyShape)
    if checked is None and (None in (before.type.shape or ()) or term.type != before.type):
        # the added term might have other lengths than the sum
        return None
    factors = _outer_product(term if checked is None else checked.inputs[0])
    if factors is None or not is_tensor(term) or term.type.is_discrete:
        return None
    return factors


def _changing(op_: Scan) -> set[Variable]:
    """The variables of a body that may differ from step to step."""
    parts = op_.parts(op_.body.inputs)
    changing: set[Variable] = {*parts.carried, *parts.sequences}
    for each in op_.body.nodes:
        if not changing.isdisjoint(each.inputs):
            changing.update(each.outputs)
    return changing


def _outer_product(product: Variable) -> _Outer | None:
    owner = product.owner
    if owner is None or not isinstance(owner.op, Elemwise) or owner.op.scalar_op.name != "mul":
        return None
    if len(owner.inputs) != 2:
        return None
    for column, row in (owner.inputs, owner.inputs[::-1]):
        turned = computed_by(column, DimShuffle)
        if turned is None or turned.op.new_order != (0, "x"):
            continue
        flat = computed_by(row, DimShuffle)
        if flat is not None and flat.op.new_order == ("x", 0):
            row = flat.inputs[0]
        if is_tensor(row) and row.type.ndim == 1:
            return _Outer(turned.inputs[0], row)
    return None


def _taken_out(node: Apply[Scan], sums: dict[int, _Outer]) -> dict[Variable, Variable]:
    op_, body = node.op, node.op.body
    inner = op_.parts(body.inputs)
    outer = op_.parts(node.inputs[1:])
    (steps,) = tensors(node.inputs[:1])
    elements = dict(zip(inner.sequences, tensors(outer.sequences), strict=True))
    factors = dict.fromkeys(v for f in sums.values() for v in (f.left, f.right))
    traced = [v for v in factors if v not in elements]
    still = [j for j in range(op_.carried) if j not in sums]
    smaller = replace(
        op_,
        body=freeze(
            [*(body.inputs[j] for j in still), *body.inputs[op_.carried :]],
            [*(body.outputs[j] for j in still), *body.outputs[op_.carried :], *traced],
        ),
        carried=len(still),
    )
    outputs: list[Any] = smaller(
        steps, *(outer.carried[j] for j in still), *node.inputs[1 + op_.carried :], return_list=True
    )
    first = len(still) + op_.traces
    whole: dict[Variable, TensorVariable] = dict(zip(traced, tensors(outputs[first:]), strict=True))
    whole.update((v, s[:steps]) for v, s in elements.items() if v in factors)
    replaced = dict(zip((node.outputs[j] for j in still), outputs, strict=False))
    replaced.update(zip(node.outputs[op_.carried :], outputs[len(still) : first], strict=True))
    for j, f in sums.items():
        total = ot.dot(whole[f.left].T, whole[f.right])
        replaced[node.outputs[j]] = ot.add(outer.carried[j], total)
    return replaced


CANONICALIZE = RuleSet((sums_of_outer_products,), "looping accumulating")
