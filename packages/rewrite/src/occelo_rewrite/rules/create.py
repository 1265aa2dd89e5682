"""Rules for `alloc` and `second`, which repeat a value. An op that would read the copies reads the value and broadcasts it.

So the copies need not be stored. `pipeline` puts the rules into the stages canonicalize and specialize.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import (
    Apply,
    FunctionGraph,
    TensorApply,
    TensorConstant,
    TensorType,
    TensorVariable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.length_inputs import fill_static
from occelo_graph.tensors.type import is_discrete
from occelo_rewrite.patterns.node_rule import OpPattern, Replacements, RuleSet, node_rewriter
from occelo_rewrite.shapes import shapes_of

_SECOND = ot.second
_MOST_COMPARED = 1 << 20
"""The number of elements up to which those of a constant are compared."""


@node_rewriter([Alloc])
def alloc_of_own_shape(fgraph: FunctionGraph, node: TensorApply[Alloc]) -> Replacements:
    """alloc(x, shape(x)) = x."""
    value = node.inputs[0]
    op = node.op
    if value.type.ndim != len(op.shape):
        return None
    if value.type == node.outputs[0].type and None not in value.type.shape:
        return [value]
    shapes = shapes_of(fgraph)
    lengths = fill_static(op.shape, node.inputs[1:])
    same = all(shapes.is_length(fgraph, n, value, i) for i, n in enumerate(lengths))
    return [value] if same else None


@node_rewriter([Alloc])
def alloc_of_alloc(fgraph: FunctionGraph, node: TensorApply[Alloc]) -> Replacements:
    """alloc(alloc(x, m), n) = alloc(x, n), if every length m is 1 or known to equal n."""
    inner = computed_by(node.inputs[0], Alloc)
    op = node.op
    if inner is None:
        return None
    shapes = shapes_of(fgraph)
    middle = fill_static(inner.op.shape, inner.inputs[1:])
    outer = fill_static(op.shape, node.inputs[1:])[len(op.shape) - len(middle) :]
    own = inner.inputs[0].type
    lead = len(middle) - own.ndim
    for i, (m, n) in enumerate(zip(middle, outer, strict=True)):
        if (isinstance(m, int) and m == n) or shapes.is_length(fgraph, n, node.inputs[0], i):
            continue
        # if the inner alloc has a static length of 1 along an axis, x must have it, too
        if m != 1 or (i >= lead and own.shape[i - lead] != 1):
            return None
    return [op(inner.inputs[0], *node.inputs[1:])]


@node_rewriter([OpPattern(Elemwise)], below=[Alloc, _SECOND.scalar_op])
def alloc_sinks(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(alloc(v, shape(x)), x) = f(v, x), since f broadcasts v."""
    repeated = [i for i, v in enumerate(node.inputs) if _repeats(v)]
    if not repeated or len(node.inputs) < 2 or node.op.destroy_map:
        return None
    inputs = list(node.inputs)
    shapes = shapes_of(fgraph)
    changed = False
    for i in repeated:
        own = inputs[i]
        filled = computed_by(own, Alloc, Elemwise)
        if filled is None:
            continue
        value = filled.inputs[0] if isinstance(filled.op, Alloc) else filled.inputs[1]
        if own.type.dtype != value.type.dtype or not _knows_ones_of(value, own):
            continue
        others = [v for j, v in enumerate(inputs) if j != i and v.type.ndim == own.type.ndim]
        if any(shapes.same_shape(fgraph, own, other) for other in others):
            inputs[i] = value
            changed = True
    return [node.op(*inputs)] if changed else None


@node_rewriter([OpPattern(Elemwise)], tags=("shape_unsafe",), below=[Alloc])
def alloc_sinks_unchecked(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(alloc(v, n), x) = f(v, x), for an x with as many dimensions as there are lengths n.

    (shape_unsafe: the left side raises an error if x does not have the lengths n; the right side does not check this.)
    """
    if not any(_repeats(v) for v in node.inputs) or len(node.inputs) < 2 or node.op.destroy_map:
        return None
    inputs = list(node.inputs)
    full = node.outputs[0].type
    for i, own in enumerate(inputs):
        owner = computed_by(own, Alloc)
        if owner is None:
            continue
        others = [v.type for j, v in enumerate(inputs) if j != i and not _repeats(v)]
        value = owner.inputs[0]
        if _knows_ones_of(value, own) and any(
            t.ndim == full.ndim and _spans(t, full) for t in others
        ):
            inputs[i] = value
            return [node.op(*inputs)]
    return None


def _spans(own: TensorType, full: TensorType) -> bool:
    """Whether a tensor of the type ``own`` is not broadcast in a result of the type ``full``."""
    return all(a != 1 or b == 1 for a, b in zip(own.shape, full.shape, strict=True))


def _knows_ones_of(value: TensorVariable, repeated: TensorVariable) -> bool:
    """Whether a value can replace a repeated tensor as an operand that is broadcast.

    Where the repeated tensor has a static length of 1, the value must have one, too.
    """
    return all(
        a == 1 or b != 1
        for a, b in zip(reversed(value.type.shape), reversed(repeated.type.shape), strict=False)
    )


def _repeats(variable: TensorVariable) -> bool:
    owner = variable.owner
    if owner is None:
        return False
    op = owner.op
    return type(op) is Alloc or (type(op) is Elemwise and op.scalar_op is _SECOND.scalar_op)


@node_rewriter([_SECOND])
def second_of_same_shape(fgraph: FunctionGraph, node: Apply) -> Replacements:
    """second(x, y) = y, if y has the shape of x."""
    model, value = node.inputs
    if value.type.ndim != node.outputs[0].type.ndim:
        return None
    if value.type.ndim == 0 or shapes_of(fgraph).same_shape(fgraph, model, value):
        return [value]
    return None


CANONICALIZE = RuleSet(
    (alloc_of_own_shape, alloc_of_alloc, alloc_sinks, alloc_sinks_unchecked, second_of_same_shape),
    "create canonicalize",
)


@node_rewriter([_SECOND], tags=("shape_unsafe",))
def second_to_alloc(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """second(x, v) = alloc(v, shape(x)), so that x need not be computed.

    (shape_unsafe: if x is not computed, the shapes of its operands are not checked.)
    """
    model, value = node.inputs
    if value.type.ndim > model.type.ndim or not all(
        n == 1 or m == n
        for n, m in zip(
            reversed(value.type.shape),
            reversed(model.type.shape),
            strict=False,
        )
    ):
        return None
    return [ot.alloc(value, *shapes_of(fgraph).shape_of(fgraph, model))]


@node_rewriter([OpPattern(Elemwise)], below=[Alloc])
def elemwise_of_alloc(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(alloc(v, n)) = alloc(f(v), n): f is computed once for each value, not for each copy.

    (Powers of integers are left out: f(v) raises an error for a negative exponent, even if there are no copies.)
    """
    if len(node.outputs) != 1 or node.op.destroy_map or node.op == _SECOND:
        return None
    if node.op == ot.pow and is_discrete(node.outputs[0].type.dtype):
        return None
    repeated = [v for v in node.inputs if not all(v.type.broadcastable)]
    filled = computed_by(repeated[0], Alloc) if len(set(repeated)) == 1 else None
    if filled is None or any(v.type.ndim > filled.outputs[0].type.ndim for v in node.inputs):
        return None
    value = node.op(*(filled.inputs[0] if v is repeated[0] else v for v in node.inputs))
    return [filled.op(value, *filled.inputs[1:])]


@node_rewriter([OpPattern(Elemwise)])
def uniform_constants(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(c, x) = f(c[0], x), and f(c, v) = alloc(f(c[0], v), length of c), for a constant c whose elements are equal.

    x is as long as c, and v has the length 1.
    """
    if len(node.outputs) != 1 or node.op.destroy_map or node.op == _SECOND:
        return None
    uniform = [v for v in node.inputs if isinstance(v, TensorConstant) and _is_uniform(v)]
    if not uniform:
        return None
    shape = node.outputs[0].type.shape
    padded = {v: (1,) * (len(shape) - v.type.ndim) + v.type.shape for v in node.inputs}
    others = [padded[v] for v in node.inputs if v not in uniform]
    long = [i for i in range(len(shape)) if any(padded[v][i] != 1 for v in uniform)]
    first: dict[TensorVariable, TensorVariable] = {
        v: ot.constant(v.data[(slice(None, 1),) * v.type.ndim]) for v in uniform
    }
    value = node.op(*(first.get(v, v) for v in node.inputs))
    if all(any(other[i] == shape[i] for other in others) for i in long):
        return [value]
    alone = bool(others) and all(n == 1 for other in others for n in other)
    return [ot.alloc(value, *shape)] if alone and None not in shape else None


def _is_uniform(constant: TensorConstant) -> bool:
    """Whether several elements of a constant have the same bits. Those of large constants are not compared."""
    data = np.asarray(constant.data)
    if data.size < 2 or data.size > _MOST_COMPARED or data.flat[0] != data.flat[-1]:
        return False
    return data.tobytes() == data.flat[0].tobytes() * data.size


SPECIALIZE = RuleSet((second_to_alloc, uniform_constants, elemwise_of_alloc), "create specialize")
