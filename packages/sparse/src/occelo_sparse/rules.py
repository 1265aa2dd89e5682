"""Rules for sparse matrices: the parts of a matrix that is made of parts are these parts.

`occelo_rewrite.pipeline` registers them when sparse matrices are used.
"""

from __future__ import annotations

from occelo_graph import Apply, FunctionGraph
from occelo_rewrite.family_rules import USUAL, StageRules
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_sparse.ops.assembling import CSM, CSMProperties, properties


@node_rewriter([CSMProperties])
def parts_of_parts(fgraph: FunctionGraph, node: Apply[CSMProperties]) -> Replacements:
    """csm_properties(CSM(values, indices, offsets, shape)) = the same."""
    (matrix,) = node.inputs
    owner = matrix.owner
    if owner is None or not isinstance(owner.op, CSM):
        return None
    return properties(matrix)


RULES = (StageRules("canonicalize", RuleSet((parts_of_parts,), "sparse"), USUAL),)
