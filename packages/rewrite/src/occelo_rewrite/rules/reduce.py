"""Rules of reductions: soft maxima from their parts, sums of sums."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.ops.reduce import CAReduce, LogSoftmax, Softmax
from occelo_graph.ops.shape import DimShuffle
from occelo_rewrite.rule import OpPattern, RuleSet, node_rewriter
from occelo_rewrite.rules.matching import computed_by

__all__ = ["CANONICALIZE", "STABILIZE"]

_SUM = OpPattern(CAReduce, (("scalar_op", ot.add.scalar_op),))


def _is_plain_sum(variable: Any) -> Apply | None:
    """The node, if ``variable`` is a sum in its input's own dtype; else None."""
    owner = variable.owner
    if owner is None or not _SUM.matches(owner.op):
        return None
    return owner if owner.inputs[0].type.dtype == variable.type.dtype else None


@node_rewriter([_SUM])
def sum_of_sum(fgraph: FunctionGraph, node: Apply) -> Any:
    """A sum of a sum is one sum over the axes of both."""
    outer: Any = node.op
    inner = _is_plain_sum(node.inputs[0])
    if inner is None or outer.acc_dtype is not None or _is_plain_sum(node.outputs[0]) is None:
        return None
    first: Any = inner.op
    x: Any = inner.inputs[0]
    if first.acc_dtype is not None:
        return None
    kept = [i for i in range(x.type.ndim) if i not in first.axis]
    axis = tuple(sorted((*first.axis, *(kept[i] for i in outer.axis))))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return [CAReduce(outer.scalar_op, axis, outer.dtype)(x)]  # pyright: ignore[reportUnknownArgumentType]


@node_rewriter([OpPattern(CAReduce)])
def reduce_over_nothing(fgraph: FunctionGraph, node: Apply) -> Any:
    """A reduction over no axes is its input, if the dtype stays."""
    op: Any = node.op
    x = node.inputs[0]
    return [x] if not op.axis and x.type == node.outputs[0].type else None


CANONICALIZE = RuleSet((sum_of_sum, reduce_over_nothing), "reduce canonicalize")


@node_rewriter([ot.log])
def log_sum_exp(fgraph: FunctionGraph, node: Apply) -> Any:
    """log(sum(exp(x))) = logsumexp(x)."""
    total = _is_plain_sum(node.inputs[0])
    power = None if total is None else computed_by(total.inputs[0], ot.exp)
    if total is None or power is None or power.inputs[0].type.dtype != node.outputs[0].type.dtype:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return None
    if not str(node.outputs[0].type.dtype).startswith("float"):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        return None
    op: Any = total.op
    return [ot.logsumexp(power.inputs[0], axis=op.axis)] if op.axis else None


@node_rewriter([ot.log])
def log_of_softmax(fgraph: FunctionGraph, node: Apply) -> Any:
    """log(softmax(x)) = log_softmax(x)."""
    owner = node.inputs[0].owner
    if owner is None or not isinstance(owner.op, Softmax):
        return None
    if owner.inputs[0].type != node.outputs[0].type:
        return None
    return [LogSoftmax(owner.op.axis)(owner.inputs[0])]


@node_rewriter([ot.true_div])
def exp_over_its_sum(fgraph: FunctionGraph, node: Apply) -> Any:
    """exp(x) / sum(exp(x)), with the summed axes kept as length 1, = softmax(x)."""
    top, bottom = node.inputs
    power = computed_by(top, ot.exp)
    if power is None or power.inputs[0].type != node.outputs[0].type:
        return None
    spread: Any = bottom.owner
    total = bottom
    order: tuple[Any, ...] | None = None
    if spread is not None and isinstance(spread.op, DimShuffle):
        order, total = spread.op.new_order, spread.inputs[0]
    found = _is_plain_sum(total)
    if found is None or found.inputs[0] is not top:
        return None
    op: Any = found.op
    rest = iter(range(total.type.ndim))  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    wanted = tuple("x" if i in op.axis else next(rest) for i in range(top.type.ndim))  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
    whole = order is None and len(op.axis) == top.type.ndim  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    if not op.axis or (order != wanted and not whole):
        return None
    return [Softmax(op.axis)(power.inputs[0])]


STABILIZE = RuleSet((log_sum_exp, log_of_softmax, exp_over_its_sum), "reduce stabilize")
