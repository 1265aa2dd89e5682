"""Conversions of run-time checks, copies, conditionals, assumptions and barriers of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytensor.gradient as their_gradient
from pytensor.assumptions.specify import SpecifyAssumptions
from pytensor.compile.ops import DeepCopyOp, ViewOp
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.printing import Print
from pytensor.raise_op import CheckAndRaise

import occelo as oc
import occelo.tensor as ot
from occelo_pytensor.conversion import convert_inner, settings
from occelo_pytensor.registry import register_conversion


@register_conversion(CheckAndRaise)
def _check(node: Any, value: Any, *conditions: Any) -> Any:
    """PyMC's checks of parameters say whether the log density may be -inf instead of an error."""
    op, checks = node.op, settings().checks
    if checks == "none" and hasattr(op, "can_be_replaced_by_ninf"):
        return value
    if checks == "minus_infinity" and getattr(op, "can_be_replaced_by_ninf", False):
        holds = conditions[0]
        for each in conditions[1:]:
            holds = ot.and_(holds, each)
        return ot.switch(holds, value, ot.constant(np.array(-np.inf, value.dtype)))
    return ot.CheckAndRaise(op.exc_type, op.msg)(value, *conditions)


@register_conversion(IfElse)
def _conditional(node: Any, condition: Any, *branches: Any) -> Any:
    count = node.op.n_outs
    then, otherwise = list(branches[:count]), list(branches[count:])
    return _chosen(node, condition, then, otherwise)


@register_conversion(LazyIfElse)
def _lazy_conditional(node: Any, condition: Any, *inputs: Any) -> Any:
    graphs = (node.op.true_branch.fgraph, node.op.false_branch.fgraph)
    then, otherwise = (convert_inner(g.inputs, g.outputs, inputs) for g in graphs)
    return _chosen(node, condition, then, otherwise)


def _chosen(node: Any, condition: Any, then: list[Any], otherwise: list[Any]) -> list[Any]:
    condition = condition if condition.dtype == "bool" else ot.neq(condition, 0)
    dtypes = [v.type.dtype for v in node.outputs]
    then, otherwise = (
        [ot.cast(v, dtype) for v, dtype in zip(branch, dtypes, strict=True)]
        for branch in (then, otherwise)
    )
    if len(then) == 1:
        return [oc.ifelse(condition, then[0], otherwise[0])]
    return list(oc.ifelse(condition, then, otherwise))


@register_conversion(DeepCopyOp, ViewOp)
def _copy(node: Any, x: Any) -> Any:
    """What may alias what is decided by Occelo's own memory contract."""
    return x


@register_conversion(Print)
def _print(node: Any, x: Any) -> Any:
    return oc.Print(node.op.message, node.op.attrs)(x)


_FACTS = {
    "diagonal": "diagonal",
    "lower_triangular": "lower_triangular",
    "upper_triangular": "upper_triangular",
    "symmetric": "symmetric",
    "positive_definite": "positive_definite",
    "orthogonal": "orthogonal",
}


@register_conversion(SpecifyAssumptions)
def _assume(node: Any, x: Any) -> Any:
    stated = {
        _FACTS[key.name]: True
        for key, state in node.op.assumptions
        if key.name in _FACTS and state.name == "TRUE"
    }
    return ot.assume(x, **stated) if stated else x


def _barrier(name: str) -> Any:
    return lambda node, x: getattr(oc, name)(x)


for _theirs, _ours in (
    (their_gradient.ZeroGrad, "zero_grad"),
    (their_gradient.DisconnectedGrad, "disconnected_grad"),
    (their_gradient.UndefinedGrad, "undefined_grad"),
):
    register_conversion(_theirs)(_barrier(_ours))


@register_conversion(their_gradient.GradClip)
def _clip_gradient(node: Any, x: Any) -> Any:
    return oc.grad_clip(x, node.op.clip_lower_bound, node.op.clip_upper_bound)


@register_conversion(their_gradient.GradScale)
def _scale_gradient(node: Any, x: Any) -> Any:
    return oc.grad_scale(x, node.op.multiplier)
