"""Rules that compute vectors of a few elements element by element, where they are made or read so.

`pipeline` puts them into the stage specialize. The states of an equation with two or three components are such vectors, and the
gradients by them: without these rules each element is written into a vector which the next operation reads whole.
"""

from __future__ import annotations

from occelo_graph import Constant, FunctionGraph, TensorApply, Variable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import IncSubtensor, Subtensor
from occelo_graph.ops.join import MakeVector
from occelo_graph.tensors.nodes import is_tensor
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

MOST_ELEMENTS = 4
"""The longest vector that is computed so."""


def _place(x: Variable, op: Subtensor | IncSubtensor) -> int | None:
    """The constant position that an op reads or writes in ``x``, if it is one element of a short vector."""
    length = x.type.shape[0] if is_tensor(x) and x.type.ndim == 1 else None
    if length is None or not 1 < length <= MOST_ELEMENTS or len(op.key) != 1:
        return None
    (entry,) = op.key
    return entry % length if isinstance(entry, int) and -length <= entry < length else None


@node_rewriter([IncSubtensor])
def write_of_element(fgraph: FunctionGraph, node: TensorApply[IncSubtensor]) -> Replacements:
    """make_vector(a, b)[1].inc(v) = make_vector(a, b + v); likewise constants, and set for inc."""
    x, value = node.inputs[:2]
    place = _place(x, node.op)
    known = isinstance(x, Constant) or computed_by(x, MakeVector, Elemwise) is not None
    if place is None or not known or value.type.dtype != x.type.dtype or value.type.ndim:
        return None
    elements = [x[i] for i in range(x.type.shape[0] or 0)]
    elements[place] = value if node.op.set_instead_of_inc else ot.add(elements[place], value)
    return [MakeVector(x.type.dtype)(*elements)]


@node_rewriter([Subtensor])
def element_of_elemwise(fgraph: FunctionGraph, node: TensorApply[Subtensor]) -> Replacements:
    """f(x, y)[i] = f(x[i], y[i]) for short vectors of which all users read an element."""
    whole = node.inputs[0]
    place, computed = _place(whole, node.op), computed_by(whole, Elemwise)
    if place is None or computed is None or len(computed.outputs) > 1:
        return None
    for user, _ in fgraph.clients[whole]:
        if not isinstance(user.op, Subtensor) or _place(whole, user.op) is None:
            return None
    shapes = shapes_of(fgraph)
    if any(v.type.ndim and not shapes.same_shape(fgraph, v, whole) for v in computed.inputs):
        return None
    return [computed.op(*(v[place] if v.type.ndim else v for v in computed.inputs))]


SPECIALIZE = RuleSet((write_of_element, element_of_elemwise), "short vectors specialize")
