"""Rules that compute for all steps of a scan at once what depends on its sequences alone."""

from __future__ import annotations

from dataclasses import replace

from occelo_graph import Apply, FunctionGraph, Variable, ancestors, freeze, vectorize_graph
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.regions import divide
from occelo_graph.looping.scan_op import Scan
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.tensors.nodes import tensors
from occelo_rewrite.node_rule import Replacements, RuleSet, node_rewriter

__all__ = ["CANONICALIZE"]


@node_rewriter([Scan], tags=("rounding",))
def products_of_sequences(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Products of elements of sequences with constants are one product for all steps, before the scan.

    With it moves whatever the factors are computed from. Not for scans that a condition may end: they would compute
    for steps that never run. (rounding: one large product sums in another order than many small ones.)
    """
    op_ = node.op
    if op_.stops or not op_.sequences:
        return None
    arguments = op_.parts(op_.body.inputs)
    elements, constants = set(arguments.sequences), set(arguments.constants)
    lazily = divide(op_.body.nodes, op_.body.outputs).outermost
    movable: set[Variable] = {*elements, *constants}
    of_elements: set[Variable] = set(elements)
    products: list[Variable] = []
    for each in op_.body.nodes:
        free = each.op.pure and not each.op.lazy and not each.op.loops and each not in lazily
        if not free or not all(v in movable or _is_constant(op_, v) for v in each.inputs):
            continue
        movable.update(each.outputs)
        if of_elements.isdisjoint(each.inputs):
            continue
        apart = of_elements.isdisjoint
        # of two factors that differ from step to step, there would be as many products as before
        if isinstance(each.op, Dot | MatMul) and any(apart([v]) for v in each.inputs):
            products.append(each.outputs[0])
        of_elements.update(each.outputs)
    # a product that another one is computed from moves with it
    inner = {v for p in products for v in ancestors([p]) if v is not p}
    outermost = [p for p in products if p not in inner]
    return _moved(node, outermost) if outermost else None


def _is_constant(op_: Scan, variable: Variable) -> bool:
    return variable.owner is None and variable not in op_.body.inputs


def _moved(node: Apply[Scan], products: list[Variable]) -> list[Variable]:
    """The outputs of a scan that reads products as sequences."""
    op_ = node.op
    body = op_.body
    inputs = op_.parts(node.inputs[1:])
    arguments = op_.parts(body.inputs)
    fresh = [v.type.make_variable() for v in products]
    results: list[Variable] = clone_replace(
        list(body.outputs), dict(zip(products, fresh, strict=True))
    )
    # only the elements that the steps read
    read = [s[: node.inputs[0]] for s in tensors(inputs.sequences)]
    bound: list[Variable] = clone_replace(
        products,
        dict(zip(arguments.constants, inputs.constants, strict=True)),
        rebuild_strict=False,
    )
    whole = vectorize_graph(bound, dict(zip(arguments.sequences, read, strict=True)))
    smaller = replace(
        op_,
        body=freeze(
            [*arguments.carried, *arguments.sequences, *fresh, *arguments.constants], results
        ),
        sequences=op_.sequences + len(fresh),
    )
    made: list[Variable] = smaller(
        node.inputs[0],
        *inputs.carried,
        *inputs.sequences,
        *whole,
        *inputs.constants,
        return_list=True,
    )
    return made


CANONICALIZE = RuleSet((products_of_sequences,), "looping sequences")
