"""The rule that hoists computations out of a scan, if they are the same in all steps.

`pipeline` puts it into the stage canonicalize.
"""

from __future__ import annotations

from dataclasses import replace

from occelo_graph import Apply, FunctionGraph, Variable, freeze
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ops.shape.reading import Shape_i
from occelo_loops.ops.guarding import alike_in_all_steps, guarded
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([Scan])
def hoisted_constants(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Results that are the same in all steps are computed once, before the scan.

    A carried value that no step changes becomes a constant. Nodes in branches of the body stay there. Nodes that read a
    length stay, too, so that rules for inner scans can tell which variable a length belongs to. Nodes that may fail
    move into a branch before the scan (`occelo_loops.ops.guarding`), so that they do not run if the scan has no
    step.
    """
    op_ = node.op
    parts = op_.parts(op_.body.inputs)
    fixed = {v for v, after in zip(parts.carried, op_.body.outputs, strict=False) if v is after}
    changing = [*(v for v in parts.carried if v not in fixed), *parts.sequences]
    # lengths stay, so that rules for inner scans can tell which variable a length belongs to
    stay: set[Apply] = {each for each in op_.body.nodes if isinstance(each.op, Shape_i)}
    while True:
        moved = alike_in_all_steps(op_.body.nodes, op_.body.outputs, changing, stay)
        results = {v for each in moved for v in each.outputs}
        read = dict.fromkeys(v for each in op_.body.nodes if each not in moved for v in each.inputs)
        read.update(dict.fromkeys(op_.body.outputs))
        hoisted = [v for v in read if v in results]
        values = guarded(node.inputs[0], hoisted, moved)
        # nodes that cannot be guarded stay in the body
        more = {v.owner for v, g in zip(hoisted, values, strict=True) if g is None and v.owner}
        if not more:
            break
        stay |= more
    if not hoisted and not fixed:
        return None
    return _with_constants(node, hoisted, values, fixed)


def _with_constants(
    node: Apply[Scan], hoisted: list[Variable], before: list[Variable], fixed: set[Variable]
) -> dict[Variable, Variable]:
    """Make a scan that reads the variables ``hoisted`` of its body, and the carried values ``fixed``, as constants.

    ``before`` are the expressions that compute the ``hoisted`` variables before the scan. Returns a dict from each
    output of the old scan to its replacement.
    """
    op_ = node.op
    body, first = op_.body, op_.carried
    carried = [j for j in range(first) if body.inputs[j] not in fixed]
    still = [j for j in range(first) if body.inputs[j] in fixed]
    # moved nodes read only constants and fixed values; an element of a sequence has another type
    # than the sequence, so sequences must not be replaced
    alike = {*body.inputs[first + op_.sequences :], *fixed}
    outside = {v: x for v, x in zip(body.inputs, node.inputs[1:], strict=True) if v in alike}
    values: list[Variable] = clone_replace(before, list(outside.items()), rebuild_strict=False)
    inner = [v.type.make_variable() for v in hoisted]
    results: list[Variable] = clone_replace(
        [*(body.outputs[j] for j in carried), *body.outputs[first:]],
        dict(zip(hoisted, inner, strict=True)),
    )
    middle = first + op_.sequences
    arguments = [*(body.inputs[j] for j in carried), *body.inputs[first:middle]]
    constants = [*body.inputs[middle:], *(body.inputs[j] for j in still)]
    made_op = replace(
        op_, body=freeze([*arguments, *constants, *inner], results), carried=len(carried)
    )
    operands = [*(node.inputs[1 + j] for j in carried), *node.inputs[1 + first : 1 + middle]]
    operands += [*node.inputs[1 + middle :], *(node.inputs[1 + j] for j in still), *values]
    outputs = made_op(node.inputs[0], *operands, return_list=True)
    replaced = dict(zip((node.outputs[j] for j in carried), outputs, strict=False))
    replaced.update(zip(node.outputs[first:], outputs[len(carried) :], strict=True))
    replaced.update((node.outputs[j], node.inputs[1 + j]) for j in still)
    return replaced


CANONICALIZE = RuleSet((hoisted_constants,), "looping hoisting")
