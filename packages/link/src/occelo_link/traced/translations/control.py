"""Lowerings of branches, checks, copies and identities for JAX and PyTorch.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes.
"""

from __future__ import annotations

from occelo_graph import Apply, TensorApply
from occelo_graph.gradient.barriers import (
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
)
from occelo_graph.ops.control import (
    After,
    Assert,
    Assume,
    CheckAndRaise,
    DeepCopyOp,
    IfElse,
    ViewOp,
)
from occelo_link.traced.registry import traces, traces_parts
from occelo_link.traced.traced_values import Array, Arrays, Parts
from occelo_link.traced.tracer import Tracer


@traces(DeepCopyOp)
def lower_copy(tracer: Tracer, node: TensorApply[DeepCopyOp], inputs: list[Array]) -> Arrays:
    return [tracer.arrays.copy(inputs[0])]


@traces_parts(DeepCopyOp)
def lower_copy_of_parts(tracer: Tracer, node: Apply[DeepCopyOp], inputs: list[Array]) -> Arrays:
    return [Parts(tracer.arrays.copy(tracer.array(part)) for part in inputs[0])]


@traces_parts(Assume, ViewOp, DisconnectedGrad, GradClip, GradScale, UndefinedGrad, ZeroGrad)
@traces(Assume, ViewOp, DisconnectedGrad, GradClip, GradScale, UndefinedGrad, ZeroGrad)
def lower_identity(tracer: Tracer, node: Apply, inputs: list[Array]) -> Arrays:
    return [inputs[0]]


@traces(After)
def lower_after(tracer: Tracer, node: TensorApply[After], inputs: list[Array]) -> Arrays:
    x, *others = inputs
    if not tracer.is_traced(x):
        return [x]
    return [tracer.arrays.after(x, [each for each in others if tracer.is_traced(each)])]


@traces_parts(CheckAndRaise, Assert)
@traces(CheckAndRaise, Assert)
def lower_check(tracer: Tracer, node: Apply, inputs: list[Array]) -> Arrays:
    for condition in inputs[1:]:
        tracer.check(condition)
    return [inputs[0]]


@traces_parts(IfElse)
@traces(IfElse)
def lower_branch(tracer: Tracer, node: Apply[IfElse], inputs: list[Array]) -> Arrays:
    return tracer.branch(inputs[0], node)
