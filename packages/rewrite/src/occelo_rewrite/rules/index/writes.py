"""Rules of writes: writes that are overwritten, sums of writes into zeros, values that need no copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.constants import number_of
from occelo_rewrite.node_rule import RuleSet, node_rewriter
from occelo_rewrite.rules.index.keys import is_full
from occelo_rewrite.shapes import shapes_of

__all__ = ["CANONICALIZE"]

_WRITES = (IncSubtensor, AdvancedIncSubtensor)


def _is_zero(variable: Any) -> bool:
    owner = variable.owner
    if owner is not None and (isinstance(owner.op, Alloc) or owner.op == ot.second):
        return number_of(owner.inputs[0 if isinstance(owner.op, Alloc) else 1]) == 0  # type: ignore[no-any-return]
    if isinstance(variable, Constant):
        return not np.any(variable.data)  # pyright: ignore[reportUnknownMemberType]
    return False


def _same_place(a: Any, b: Any) -> bool:
    return (
        type(a.op) is type(b.op)
        and a.op.key == b.op.key
        and all(v is w for v, w in zip(a.inputs[2:], b.inputs[2:], strict=True))
    )


def _rewritten(op: Any, set_instead_of_inc: bool) -> Any:
    return type(op)(op.key, set_instead_of_inc, op.inplace)


@node_rewriter([*_WRITES], tags=("shape_unsafe",))
def write_of_write(fgraph: FunctionGraph, node: Apply) -> Any:
    """x[key].set(a)[key].set(b) = x[key].set(b), x[key].inc(a)[key].inc(b) = x[key].inc(a + b)."""
    op: Any = node.op
    inner: Any = node.inputs[0].owner
    if inner is None or not isinstance(inner.op, _WRITES) or not _same_place(node, inner):
        return None
    a, b = inner.inputs[1], node.inputs[1]
    bt: Any = b.type
    if op.set_instead_of_inc:
        if a.type != bt and a.type.ndim and any(n != 1 for n in a.type.shape):
            return None  # whether the first value fits would go unchecked
        return [op(inner.inputs[0], *node.inputs[1:])]
    if inner.op.set_instead_of_inc and op.advanced:
        return None  # repeated positions are set once but incremented each time
    if a.type.ndim != bt.ndim or a.type.dtype != bt.dtype:
        return None
    if any((m == 1) != (n == 1) for m, n in zip(a.type.shape, bt.shape, strict=True)):
        return None
    return [inner.op(inner.inputs[0], ot.add(a, b), *node.inputs[2:])]


@node_rewriter([IncSubtensor])
def write_of_everything(fgraph: FunctionGraph, node: Apply) -> Any:
    """x[:].set(y) = y, and x[:].inc(y) = x + y, for y of the shape of x."""
    op: Any = node.op
    x, y = node.inputs[:2]
    if not all(is_full(entry) for entry in op.key) or not shapes_of(fgraph).same_shape(
        fgraph, x, y
    ):
        return None
    value = ot.cast(y, x.type.dtype)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    return [value if op.set_instead_of_inc else ot.add(x, value)]


@node_rewriter([ot.add])
def zeros_written_then_added(fgraph: FunctionGraph, node: Apply) -> Any:
    """zeros[key].inc(v) + x = x[key].inc(v), so that sums of writes are one chain of writes."""
    out: Any = node.outputs[0]
    known = shapes_of(fgraph)
    for position, term in enumerate(node.inputs):
        write: Any = term.owner
        if write is None or not isinstance(write.op, _WRITES) or not _is_zero(write.inputs[0]):
            continue
        if len(fgraph.clients[term]) > 1 or (write.op.set_instead_of_inc and write.op.advanced):
            continue
        rest: list[Any] = [v for i, v in enumerate(node.inputs) if i != position]
        if any(v.type.dtype != out.type.dtype for v in (term, *rest)):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            continue
        if not all(known.same_shape(fgraph, v, term) for v in rest):
            continue
        total = rest[0] if len(rest) == 1 else ot.add(*rest)
        return [_rewritten(write.op, False)(total, *write.inputs[1:])]
    return None


@node_rewriter([*_WRITES])
def inc_of_zeros(fgraph: FunctionGraph, node: Apply) -> Any:
    """zeros[key].inc(v) = zeros[key].set(v), where no place is named twice."""
    op: Any = node.op
    if op.set_instead_of_inc or not _is_zero(node.inputs[0]):
        return None
    if op.advanced and not (
        len(node.inputs) == 3
        and assumptions_of(fgraph).holds(fgraph, node.inputs[2], "unique_indices")
    ):
        return None
    return [_rewritten(op, True)(*node.inputs)]


@node_rewriter([IncSubtensor])
def set_of_own_sum(fgraph: FunctionGraph, node: Apply) -> Any:
    """x[key].set(x[key] + v) = x[key].inc(v), for keys of integers and slices."""
    op: Any = node.op
    x, y, *given = node.inputs
    total = y.owner
    if not op.set_instead_of_inc or total is None or total.op != ot.add:
        return None
    for position, term in enumerate(total.inputs):
        own: Any = term.owner
        if own is None or not isinstance(own.op, Subtensor) or own.inputs[0] is not x:
            continue
        if own.op.key != op.key or any(
            a is not b for a, b in zip(own.inputs[1:], given, strict=True)
        ):
            continue
        rest = [v for i, v in enumerate(total.inputs) if i != position]
        value: Any = rest[0] if len(rest) == 1 else ot.add(*rest)
        if value.type.dtype == y.type.dtype:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            return [_rewritten(op, False)(x, value, *given)]
    return None


@node_rewriter([*_WRITES])
def write_of_alloc(fgraph: FunctionGraph, node: Apply) -> Any:
    """x[key].inc(alloc(v, n)) = x[key].inc(v), where n surely is the shape of the part: writing broadcasts."""
    op: Any = node.op
    x, y, *given = node.inputs
    owner: Any = y.owner
    if owner is None or not isinstance(owner.op, Alloc):
        return None
    reader = AdvancedSubtensor if op.advanced else Subtensor
    part = reader(op.key)(x, *given)
    if not shapes_of(fgraph).same_shape(fgraph, part, y):
        return None
    return [op(x, owner.inputs[0], *given)]


CANONICALIZE = RuleSet(
    (
        write_of_write,
        write_of_everything,
        zeros_written_then_added,
        inc_of_zeros,
        set_of_own_sum,
        write_of_alloc,
    ),
    "writes canonicalize",
)
