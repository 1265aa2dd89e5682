"""The equals of checks, conditionals, barriers of gradients and graphs as ops."""

from __future__ import annotations

from typing import Any

from pytensor.compile.builders import OpFromGraph as TheirGraph
from pytensor.gradient import DisconnectedType

from occelo_graph import ZERO
from occelo_graph.gradient.barriers import (
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
)
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control import CheckAndRaise, IfElse
from occelo_graph.ops.control.identities import After, Assume
from occelo_pytensor.equals.registry import converted, equal_of, root
from occelo_pytensor.library import theirs


@equal_of(CheckAndRaise)
def _check(op: Any, value: Any, *conditions: Any) -> Any:
    return theirs.raise_op.CheckAndRaise(op.exc_type, op.msg)(value, *conditions)


@equal_of(Assume, After)
def _same(op: Any, x: Any, *others: Any) -> Any:
    return x


@equal_of(IfElse)
def _conditional(op: Any, condition: Any, *branches: Any) -> Any:
    half = len(branches) // 2
    found = theirs.conditional.ifelse(condition, list(branches[:half]), list(branches[half:]))
    return list(found) if isinstance(found, list | tuple) else [found]


@equal_of(ZeroGrad)
def _zero(op: Any, x: Any) -> Any:
    return theirs.gradient.zero_grad(x)


@equal_of(DisconnectedGrad)
def _disconnected(op: Any, x: Any) -> Any:
    return theirs.gradient.disconnected_grad(x)


@equal_of(UndefinedGrad)
def _undefined(op: Any, x: Any) -> Any:
    return theirs.gradient.undefined_grad(x)


@equal_of(GradClip)
def _clipped(op: Any, x: Any) -> Any:
    return theirs.gradient.grad_clip(x, op.lower, op.upper)


@equal_of(GradScale)
def _scaled(op: Any, x: Any) -> Any:
    return theirs.gradient.grad_scale(x, op.multiplier)


@equal_of(OpFromGraph)
def _graph(op: Any, *inputs: Any) -> Any:
    """A graph with a derivative of its own, which is converted when PyTensor asks for it; any other is inlined."""
    if op.pull_rule is None:
        return NotImplemented
    ours = [v.type.make_variable() for v in op.graph.inputs]
    results = list(op.graph.bind(ours))
    variables = [root(v) for v in ours]

    def pullback(given: Any, computed: Any, cotangents: Any) -> list[Any]:
        present = [not isinstance(c.type, DisconnectedType) for c in cotangents]
        after = [v.type.make_variable() for v in results]
        pulled = [
            v.type.make_variable() if p else None for v, p in zip(results, present, strict=True)
        ]
        found = op.pullback(ours, after, pulled)
        known = dict(zip([*ours, *after], [*given, *computed], strict=True))
        known |= {v: c for v, c in zip(pulled, cotangents, strict=True) if v is not None}
        wanted = [v for v in found if v is not None and v is not ZERO]
        values = dict(zip(map(id, wanted), converted(wanted, known), strict=True))
        return [
            theirs.gradient.disconnected_type()
            if v is None
            else x.zeros_like(dtype="floatX" if x.dtype == "bool" else x.dtype)
            if v is ZERO
            else values[id(v)]
            for v, x in zip(found, given, strict=True)
        ]

    outputs = converted(results, dict(zip(ours, variables, strict=True)))
    made = TheirGraph(variables, outputs, pullback=pullback, name=op.name)
    return made(*inputs, return_list=True)
