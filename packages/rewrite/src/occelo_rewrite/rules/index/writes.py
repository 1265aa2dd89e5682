"""Rules for writes: overwritten writes are dropped, and sums of writes into zeros become chains of writes.

`pipeline` puts the rules into the stage canonicalize. The stage inplace_subtensor changes ops of the classes in
`OVERWRITING`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from occelo_graph import (
    Constant,
    FunctionGraph,
    TensorApply,
    TensorVariable,
    Variable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_graph.tensors.type import is_discrete
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import is_full
from occelo_rewrite.shapes import shapes_of

OVERWRITING = (IncSubtensor, AdvancedIncSubtensor)
"""The classes of ops that have a variant which overwrites its first input."""

Write = TensorApply[IncSubtensor | AdvancedIncSubtensor]


def is_zero(variable: Variable) -> bool:
    """Whether a variable is known to be 0 everywhere."""
    filled = computed_by(variable, Alloc)
    if filled is not None:
        return number_of(filled.inputs[0]) == 0
    owner = variable.owner
    if owner is not None and owner.op == ot.second:
        return number_of(owner.inputs[1]) == 0
    if isinstance(variable, Constant):
        return not np.any(variable.data)
    return False


def _same_place(a: Write, b: Write) -> bool:
    return (
        type(a.op) is type(b.op)
        and a.op.key == b.op.key
        and all(v is w for v, w in zip(a.inputs[2:], b.inputs[2:], strict=True))
    )


def _rewritten(
    op: IncSubtensor | AdvancedIncSubtensor, set_instead_of_inc: bool
) -> IncSubtensor | AdvancedIncSubtensor:
    return replace(op, set_instead_of_inc=set_instead_of_inc)


def _written_before(node: Write) -> Write | None:
    """The write that computes the tensor that ``node`` writes to, if both writes have the same key; else None."""
    inner = computed_by(node.inputs[0], *OVERWRITING)
    return inner if inner is not None and _same_place(node, inner) else None


@node_rewriter([*OVERWRITING], tags=("shape_unsafe",))
def write_of_write(fgraph: FunctionGraph, node: Write) -> Replacements:
    """x[key].set(a)[key].set(b) = x[key].set(b), and x[key].inc(a)[key].set(b) = x[key].set(b).

    (shape_unsafe: without the first write, nothing checks that the shape of ``a`` fits ``x[key]``.)
    """
    op = node.op
    inner = _written_before(node)
    if inner is None or not op.set_instead_of_inc:
        return None
    a = inner.inputs[1].type
    if a != node.inputs[1].type and a.ndim and any(n != 1 for n in a.shape):
        return None
    return [op(inner.inputs[0], *node.inputs[1:])]


@node_rewriter([*OVERWRITING])
def inc_of_set(fgraph: FunctionGraph, node: Write) -> Replacements:
    """x[key].set(a)[key].inc(b) = x[key].set(a + b), and for integers x[key].inc(a)[key].inc(b) = x[key].inc(a + b).

    The values are added in the dtype of x. The first law does not hold for keys with index arrays: a position that is
    selected twice is set once, but incremented twice.
    """
    inner = _written_before(node)
    if inner is None:
        return None
    is_set = inner.op.set_instead_of_inc
    if node.op.advanced if is_set else not is_discrete(node.outputs[0].type.dtype):
        return None
    return _written_at_once(fgraph, node, inner)


@node_rewriter([*OVERWRITING], tags=("comparison", "overflow"))
def inc_of_inc(fgraph: FunctionGraph, node: Write) -> Replacements:
    """x[key].inc(a)[key].inc(b) = x[key].inc(a + b) (comparison, overflow: a + b may cancel or overflow)."""
    inner = _written_before(node)
    if inner is None or inner.op.set_instead_of_inc:
        return None
    return _written_at_once(fgraph, node, inner)


def _written_at_once(fgraph: FunctionGraph, node: Write, inner: Write) -> Replacements:
    """One write of the sum of the values of two writes; None if the values are not known to have the same shape."""
    x, a, *indices = inner.inputs
    b = node.inputs[1]
    if node.op.set_instead_of_inc or a.type.ndim != b.type.ndim:
        return None
    if a.type.ndim and not shapes_of(fgraph).same_shape(fgraph, a, b):
        return None
    dtype = x.type.dtype
    return [inner.op(x, ot.add(ot.cast(a, dtype), ot.cast(b, dtype)), *indices)]


@node_rewriter([IncSubtensor])
def write_of_everything(fgraph: FunctionGraph, node: TensorApply[IncSubtensor]) -> Replacements:
    """x[:].set(y) = y, and x[:].inc(y) = x + y, if y has the shape of x."""
    op = node.op
    x, y = node.inputs[:2]
    if not all(is_full(entry) for entry in op.key) or not shapes_of(fgraph).same_shape(
        fgraph, x, y
    ):
        return None
    value = ot.cast(y, x.type.dtype)
    return [value if op.set_instead_of_inc else ot.add(x, value)]


@node_rewriter([ot.add], tags=("rounding",))
def zeros_written_then_added(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """zeros[key].inc(v) + x = x[key].inc(v), for keys of integers and slices.

    So a sum of writes becomes a chain of writes. (rounding: where nothing is written, a -0.0 in x stays -0.0, but the
    sum 0.0 + -0.0 is 0.0.)
    """
    return _chained(fgraph, node, False)


@node_rewriter([ot.add], tags=("comparison", "overflow"))
def zeros_written_anywhere_then_added(
    fgraph: FunctionGraph, node: TensorApply[Elemwise]
) -> Replacements:
    """zeros[i].inc(v) + x = x[i].inc(v), for index arrays i (comparison, overflow: the order of addition changes)."""
    return _chained(fgraph, node, True)


def _chained(fgraph: FunctionGraph, node: TensorApply[Elemwise], advanced: bool) -> Replacements:
    """The sum as a chain of all its writes into zeros: one after the other would copy the other terms for each write."""
    out = node.outputs[0]
    if any(v.type.dtype != out.type.dtype for v in node.inputs):
        return None
    writes: list[Write] = []
    rest: list[TensorVariable] = []
    for term in node.inputs:
        write = _write_into_zeros(fgraph, term, advanced)
        if write is None:
            rest.append(term)
        else:
            writes.append(write)
    if not writes:
        return None
    shapes = shapes_of(fgraph)
    first = writes[0].outputs[0]
    if not all(v is first or shapes.same_shape(fgraph, v, first) for v in node.inputs):
        return None
    if not rest:
        rest = [writes.pop(0).outputs[0]]
    total = rest[0] if len(rest) == 1 else ot.add(*rest)
    for write in writes:
        total = _rewritten(write.op, False)(total, *write.inputs[1:])
    return [total]


def _write_into_zeros(fgraph: FunctionGraph, term: Variable, advanced: bool) -> Write | None:
    """The write into zeros that computes a term that has no other user; None for other terms."""
    write = computed_by(term, *OVERWRITING)
    if write is None or len(fgraph.clients[term]) > 1 or not is_zero(write.inputs[0]):
        return None
    if write.op.advanced != advanced or (write.op.set_instead_of_inc and advanced):
        return None
    return write


@node_rewriter([*OVERWRITING], tags=("rounding",))
def inc_of_zeros(fgraph: FunctionGraph, node: Write) -> Replacements:
    """zeros[key].inc(v) = zeros[key].set(v), if the key selects no position twice (rounding: the sign of a zero)."""
    op = node.op
    if op.set_instead_of_inc or not is_zero(node.inputs[0]):
        return None
    if op.advanced and not (
        len(node.inputs) == 3
        and assumptions_of(fgraph).holds(fgraph, node.inputs[2], "unique_indices")
    ):
        return None
    return [_rewritten(op, True)(*node.inputs)]


@node_rewriter([IncSubtensor])
def set_of_own_sum(fgraph: FunctionGraph, node: TensorApply[IncSubtensor]) -> Replacements:
    """x[key].set(x[key] + v) = x[key].inc(v), for keys of integers and slices."""
    op = node.op
    x, y, *indices = node.inputs
    total = y.owner
    if not op.set_instead_of_inc or total is None or total.op != ot.add:
        return None
    if y.type.dtype != x.type.dtype:
        return None  # otherwise the sum would be computed in another dtype
    if len(total.inputs) > 2 and not is_discrete(y.type.dtype):
        return None  # otherwise the terms would be added in another order
    for position, term in enumerate(total.inputs):
        own = computed_by(term, Subtensor)
        if own is None or own.inputs[0] is not x:
            continue
        if own.op.key != op.key or any(
            a is not b for a, b in zip(own.inputs[1:], indices, strict=True)
        ):
            continue
        rest = [v for i, v in enumerate(total.inputs) if i != position]
        value = rest[0] if len(rest) == 1 else ot.add(*rest)
        if value.type.dtype == y.type.dtype:
            return [_rewritten(op, False)(x, value, *indices)]
    return None


@node_rewriter([*OVERWRITING])
def write_of_alloc(fgraph: FunctionGraph, node: Write) -> Replacements:
    """x[key].inc(alloc(v, n)) = x[key].inc(v), if n is the shape of x[key], since writes broadcast; likewise set."""
    op = node.op
    x, y, *indices = node.inputs
    owner = computed_by(y, Alloc)
    if owner is None:
        return None
    reader = AdvancedSubtensor if op.advanced else Subtensor
    part = reader(op.key)(x, *indices)
    if not shapes_of(fgraph).same_shape(fgraph, part, y):
        return None
    return [op(x, owner.inputs[0], *indices)]


CANONICALIZE = RuleSet(
    (
        write_of_write,
        inc_of_set,
        inc_of_inc,
        write_of_everything,
        zeros_written_then_added,
        zeros_written_anywhere_then_added,
        inc_of_zeros,
        set_of_own_sum,
        write_of_alloc,
    ),
    "writes canonicalize",
)
