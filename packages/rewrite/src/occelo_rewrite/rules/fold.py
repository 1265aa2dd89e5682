"""Rules for ops of all families: constant folding, removal of gradient barriers, more specific types.

`pipeline` puts the rules into the stage canonicalize. They are the only rules of this stage that the optimizer
``minimum_compile`` applies.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph, Op, Variable
from occelo_graph.errors import MethodNotDefined
from occelo_graph.narrowing import is_array
from occelo_rewrite.patterns.node_rule import OpPattern, Replacements, RuleSet, node_rewriter

_LARGEST_FOLD = 1 << 20
"""The most elements of a folded result, so that compiled graphs stay small."""


def _folded_size(node: Apply) -> int:
    """The number of elements of all results of a node, by static shapes. A dynamic length counts as 1."""
    total = 0
    for output in node.outputs:
        size = 1
        for n in output.type.shape or ():
            size *= 1 if n is None else n
        total += size
    return total


@node_rewriter(None, below=[Constant])
def constant_folding(fgraph: FunctionGraph, node: Apply) -> Replacements:
    """op(constants) = constant, for pure ops."""
    if not node.inputs or not all(isinstance(v, Constant) for v in node.inputs):
        return None
    if not node.op.pure or node.op.destroy_map or not node.op.do_constant_folding(fgraph, node):
        return None
    if _folded_size(node) > _LARGEST_FOLD:
        return None
    data = [v.data for v in node.inputs if isinstance(v, Constant)]
    try:
        with np.errstate(all="ignore"):
            values = node.op.kernel(node)(*data)
    except MethodNotDefined:
        return None
    except Exception:
        # the call of the compiled function raises the error, with a message that names the user's
        # line
        return None
    folded: list[Variable] = []
    for output, value in zip(node.outputs, values, strict=True):
        copied = np.array(value) if is_array(value) else value
        constant = output.type.make_constant(copied)
        constant.set_mark(output.mark)
        folded.append(constant)
    return folded


@node_rewriter([OpPattern(Op, identity_at_runtime=True)])
def drop_gradient_barriers(fgraph: FunctionGraph, node: Apply) -> Replacements:
    """zero_grad(x) = x, and likewise for all other identities that only change gradients."""
    return [node.inputs[0]]


@node_rewriter(None, only_new=True)
def sharpened_types(fgraph: FunctionGraph, node: Apply) -> Replacements:
    """op(x) = op(x) with a more specific type, if the type of x has become more specific since the node was made."""
    op = node.op
    if type(op).infer is Op.infer or not op.plain_nodes:
        return None
    types = op.infer_types(tuple([v.type for v in node.inputs]))
    changed = False
    for out, sharper in zip(node.outputs, types, strict=True):
        if out.type is not sharper and out.type != sharper:
            if op.destroy_map or not out.type.is_super(sharper):
                return None
            changed = True
    return list(op.make_node(*node.inputs).outputs) if changed else None


RULES = RuleSet((drop_gradient_barriers, constant_folding, sharpened_types), "fold")
