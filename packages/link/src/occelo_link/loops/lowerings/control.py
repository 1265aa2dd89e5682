"""Lowerings of conditionals, run-time checks, and ops that return their input: copies, views, `Assume`, barriers.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings; `loops.build` imports this module to register
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph import Apply
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
from occelo_link.loops.lowering import Context
from occelo_link.loops.regions import choose
from occelo_link.loops.registry import lowers_parts_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Tensor


@lowers_to_loops(CheckAndRaise)
def lower_check(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    for condition in inputs[1:]:
        value = context.builder.cast(context.scalar(condition), "bool")
        context.check(value)
    return [inputs[0]]


lowers_to_loops(Assert)(lower_check)
lowers_parts_to_loops(CheckAndRaise)(lower_check)
lowers_parts_to_loops(Assert)(lower_check)


def _same(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    # even a copy needs no code here, since outputs of a program never share memory with its inputs
    return [inputs[0]]


for _identity in (
    Assume,
    DeepCopyOp,
    ViewOp,
    DisconnectedGrad,
    GradClip,
    GradScale,
    UndefinedGrad,
    ZeroGrad,
):
    lowers_to_loops(_identity)(_same)
    lowers_parts_to_loops(_identity)(_same)


@lowers_parts_to_loops(After)
@lowers_to_loops(After)
def lower_after(context: Context, node: Apply, inputs: list[Tensor]) -> Sequence[Tensor]:
    context.schedule.part()  # else what reads the result could run in an earlier kernel, where its values are not needed
    return [inputs[0]]


@lowers_parts_to_loops(IfElse)
@lowers_to_loops(IfElse)
def lower_ifelse(context: Context, node: Apply[IfElse], inputs: list[Tensor]) -> Sequence[Tensor]:
    condition = context.builder.cast(context.scalar(inputs[0]), "bool")
    return choose(context, condition, node)
