"""Rules for `join`, and for `make_vector`, which makes a vector from scalars.

`pipeline` puts them into the stage canonicalize.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.join import Join, MakeVector
from occelo_graph.ops.length_inputs import fill_static
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([Join])
def join_of_one(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(x) = x."""
    return [node.inputs[0]] if len(node.inputs) == 1 else None


@node_rewriter([Join])
def join_without_empty(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(x, empty, y) = join(x, y), for tensors of static length 0."""
    op = node.op
    left = [v for v in node.inputs if v.type.shape[op.axis] != 0]
    if not left or len(left) == len(node.inputs):
        return None
    gone = [v for v in node.inputs if v not in left]
    others = [i for i in range(left[0].type.ndim) if i != op.axis]
    if any(None in (left[0].type.shape[i], v.type.shape[i]) for v in gone for i in others):
        return None  # otherwise nothing would check that the other lengths agree
    joined = op(*left)
    return [joined] if joined.type.dtype == node.outputs[0].type.dtype else None


@node_rewriter([Join])
def join_of_join(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(join(x, y), z) = join(x, y, z), along the same axis, if the inner join has no other user."""
    parts: list[TensorVariable] = []
    changed = False
    for v in node.inputs:
        inner = computed_by(v, Join)
        if inner is not None and inner.op == node.op and len(fgraph.clients[v]) == 1:
            parts += inner.inputs
            changed = True
        else:
            parts.append(v)
    return [node.op(*parts)] if changed else None


def _slice_of(variable: TensorVariable, axis: int) -> tuple[TensorVariable, int, int] | None:
    """The x, start and stop of a variable x[start:stop] along ``axis``, with static bounds; None for others."""
    owner = computed_by(variable, Subtensor)
    if owner is None or len(owner.inputs) > 1:
        return None
    x = owner.inputs[0]
    for i, entry in enumerate(owner.op.key):
        if not isinstance(entry, slice):
            return None
        if i != axis and slice_parts(entry) != (None, None, None):
            return None
    length = x.type.shape[axis]
    start, stop, step = slice_parts(owner.op.key[axis])
    if step not in (None, 1):
        return None
    if length is not None:
        start, stop, _ = slice(start, stop).indices(length)
        return x, start, max(start, stop)
    first = 0 if start is None else start
    if stop is None or first < 0 or stop < first:
        return None
    return x, first, stop


@node_rewriter([Join])
def join_of_adjacent_slices(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(x[a:b], x[b:c]) = x[a:c], for x of static length."""
    op = node.op
    parts: list[TensorVariable] = []
    changed = False
    last: tuple[TensorVariable, int, int] | None = None
    for v in node.inputs:
        part = _slice_of(v, op.axis)
        is_static = part is not None and part[0].type.shape[op.axis] is not None
        if (
            last is not None
            and part is not None
            and is_static
            and last[0] is part[0]
            and last[2] == part[1]
        ):
            last = (last[0], last[1], part[2])
            key = (*[slice(None)] * op.axis, slice(last[1], last[2]))
            parts[-1] = last[0][key]
            changed = True
        else:
            parts.append(v)
            last = part if is_static else None
    if not changed:
        return None
    return [parts[0] if len(parts) == 1 else op(*parts)]


@node_rewriter([Join])
def join_of_repeats(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(x, x, x) = alloc(x, ...), for an x of length 1 along the axis of the join."""
    op = node.op
    first = node.inputs[0]
    if len(node.inputs) < 2 or any(v is not first for v in node.inputs):
        return None
    if first.type.shape[op.axis] != 1:
        return None
    lengths = list(ot.shape_tuple(first))
    lengths[op.axis] = len(node.inputs)
    return [ot.alloc(first, *lengths)]


@node_rewriter([Join])
def join_of_allocs(fgraph: FunctionGraph, node: TensorApply[Join]) -> Replacements:
    """join(alloc(v, m), alloc(v, n)) = alloc(v, m + n), along an axis that v lacks or where it has length 1."""
    op = node.op
    allocs = [computed_by(v, Alloc) for v in node.inputs]
    owners = [o for o in allocs if o is not None]
    if len(owners) < 2 or len(owners) < len(allocs):
        return None
    value = owners[0].inputs[0]
    if any(o.inputs[0] is not value for o in owners):
        return None
    shapes = [fill_static(o.op.shape, o.inputs[1:]) for o in owners]
    lead = len(shapes[0]) - value.type.ndim
    if op.axis >= lead and value.type.shape[op.axis - lead] != 1:
        return None
    if any(
        a is not b and not (isinstance(a, int) and a == b)
        for s in shapes[1:]
        for i, (a, b) in enumerate(zip(shapes[0], s, strict=True))
        if i != op.axis
    ):
        return None
    lengths = list(shapes[0])
    lengths[op.axis] = sum(s[op.axis] for s in shapes)
    return [ot.alloc(value, *lengths)]


@node_rewriter([MakeVector])
def vector_of_own_elements(fgraph: FunctionGraph, node: TensorApply[MakeVector]) -> Replacements:
    """make_vector(x[0], x[1], ..., x[n-1]) = x, for x of static length n."""
    source: TensorVariable | None = None
    for position, v in enumerate(node.inputs):
        owner = computed_by(v, Subtensor)
        if owner is None or len(owner.inputs) > 1:
            return None
        x = owner.inputs[0]
        if x.type.ndim != 1 or x.type.shape[0] != len(node.inputs) or (source not in (None, x)):
            return None
        entry = owner.op.key[0]
        if not isinstance(entry, int) or entry % len(node.inputs) != position:
            return None
        source = x
    if source is None or source.type.dtype != node.outputs[0].type.dtype:
        return None
    return [source]


CANONICALIZE = RuleSet(
    (
        join_of_one,
        join_without_empty,
        join_of_join,
        join_of_adjacent_slices,
        join_of_repeats,
        join_of_allocs,
        vector_of_own_elements,
    ),
    "join canonicalize",
)
