"""Rules about matrices that are made of parts, and about the facts that stand at parts."""

from __future__ import annotations

from occelo_graph import Apply, FunctionGraph, TensorApply, Variable
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.assumptions.inference import Ask
from occelo_rewrite.patterns.node_rule import Replacements, node_rewriter
from occelo_sparse.ops.assembling import CSM, CSMProperties, properties
from occelo_sparse.ops.stated import OrderedIndices, SymmetricValues


@node_rewriter([CSMProperties])
def parts_of_parts(fgraph: FunctionGraph, node: Apply[CSMProperties]) -> Replacements:
    """csm_properties(CSM(values, indices, offsets, shape)) = the same."""
    (matrix,) = node.inputs
    owner = matrix.owner
    if owner is None or not isinstance(owner.op, CSM):
        return None
    return properties(matrix)


@node_rewriter([OrderedIndices, SymmetricValues])
def drop_stated(
    fgraph: FunctionGraph, node: TensorApply[OrderedIndices | SymmetricValues]
) -> Replacements:
    """Facts are dropped when they have been used."""
    return [node.inputs[0]]


def asking(fgraph: FunctionGraph) -> Ask:
    """A function that looks up what is known of a variable of the graph."""
    feature = assumptions_of(fgraph)

    def ask(variable: Variable, fact: str) -> bool | None:
        return feature.holds(fgraph, variable, fact)

    return ask
