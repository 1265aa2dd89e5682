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
from occelo_pytensor.equals.registry import converted, register_equal, root
from occelo_pytensor.library import theirs


@register_equal(CheckAndRaise)
def _check(op: Any, value: Any, *conditions: Any) -> Any:
    return theirs.raise_op.CheckAndRaise(op.exc_type, op.msg)(value, *conditions)


@register_equal(Assume, After)
def _same(op: Any, x: Any, *others: Any) -> Any:
    return x


@register_equal(IfElse)
def _conditional(op: Any, condition: Any, *branches: Any) -> Any:
    half = len(branches) // 2
    results = theirs.conditional.ifelse(condition, list(branches[:half]), list(branches[half:]))
    return list(results) if isinstance(results, list | tuple) else [results]


@register_equal(ZeroGrad)
def _zero(op: Any, x: Any) -> Any:
    return theirs.gradient.zero_grad(x)


@register_equal(DisconnectedGrad)
def _disconnected(op: Any, x: Any) -> Any:
    return theirs.gradient.disconnected_grad(x)


@register_equal(UndefinedGrad)
def _undefined(op: Any, x: Any) -> Any:
    return theirs.gradient.undefined_grad(x)


@register_equal(GradClip)
def _clipped(op: Any, x: Any) -> Any:
    return theirs.gradient.grad_clip(x, op.lower, op.upper)


@register_equal(GradScale)
def _scaled(op: Any, x: Any) -> Any:
    return theirs.gradient.grad_scale(x, op.multiplier)


@register_equal(OpFromGraph)
def _graph(op: Any, *inputs: Any) -> Any:
    """A graph with a derivative of its own, which is converted when PyTensor asks for it; any other is inlined."""
    return NotImplemented if op.pull_rule is None else with_derivative(op, inputs)


def with_derivative(op: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """A graph of PyTensor with the pullback of ``op``, an `OpFromGraph`. None for an output that PyTensor lacks."""
    ours = [v.type.make_variable() for v in op.graph.inputs]
    variables = [root(v) for v in ours]
    bound = list(op.graph.bind(ours))
    outputs = converted(bound, dict(zip(ours, variables, strict=True)), missing=True)
    results = [v for v, theirs_ in zip(bound, outputs, strict=True) if theirs_ is not None]

    def pullback(given: Any, computed: Any, cotangents: Any) -> list[Any]:
        present = dict(zip(results, cotangents, strict=True))
        present = {v: c for v, c in present.items() if not isinstance(c.type, DisconnectedType)}
        after = [v.type.make_variable() for v in bound]
        pulled = [v.type.make_variable() if v in present else None for v in bound]
        grads = op.pullback(ours, after, pulled)
        memo = dict(zip(ours, given, strict=True))
        computed = dict(zip(results, computed, strict=True))
        memo |= {v: computed[k] for v, k in zip(after, bound, strict=True) if k in computed}
        memo |= {v: present[k] for v, k in zip(pulled, bound, strict=True) if v is not None}
        live = [v for v in grads if v is not None and v is not ZERO]
        values = dict(zip(map(id, live), converted(live, memo), strict=True))
        return [
            theirs.gradient.disconnected_type()
            if v is None and not any(row)
            else x.zeros_like(
                dtype=x.dtype if x.dtype.startswith(("float", "complex")) else "floatX"
            )
            if v is None or v is ZERO
            else values[id(v)]
            for v, x, row in zip(grads, given, pattern, strict=True)
        ]

    positions = [i for i, v in enumerate(outputs) if v is not None]
    pattern = [[row[i] for i in positions] for row in op.connection_pattern(op.make_node(*ours))]
    graph: Any = TheirGraph(
        variables,
        [outputs[i] for i in positions],
        pullback=pullback,
        connection_pattern=pattern,
        name=op.name,
    )
    rest = iter(graph(*inputs, return_list=True))
    return [None if v is None else next(rest) for v in outputs]
