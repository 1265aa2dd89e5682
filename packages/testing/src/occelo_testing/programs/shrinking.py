"""`shrunk` reduces a failing program to a small program that still fails.

`occelo_testing.random_programs.judging` calls it for each fault before the fault is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from occelo_testing.programs.program import Input, Program, Step


def shrunk(program: Program, fails: Callable[[Program], bool], most: int = 300) -> Program:
    """A small program that satisfies ``fails``, found in at most ``most`` trials.

    Each trial drops results, replaces a step by an input with its value, makes lengths static, or simplifies values.
    """
    program = program.pruned()
    trials = 0
    again = True
    while again:
        again = False
        for candidate in _smaller(program):
            if trials >= most:
                return program
            trials += 1
            if fails(candidate):
                program, again = candidate, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.outputs) > 1:
        half = len(program.outputs) // 2
        yield replace(program, outputs=program.outputs[:half]).pruned()
        yield replace(program, outputs=program.outputs[half:]).pruned()
        for i in range(len(program.outputs)):
            yield replace(program, outputs=program.outputs[:i] + program.outputs[i + 1 :]).pruned()
    steps = [i for i, node in enumerate(program.nodes) if isinstance(node, Step)]
    for i in steps:
        if i not in program.outputs:
            yield replace(program, outputs=(i,)).pruned()
    if len(steps) > 1:
        values = program.run()
        variables = _variables(program)
        for i in reversed(steps):
            if i in program.outputs and len(program.outputs) == 1:
                continue
            shape = variables[i]
            yield _with_node(
                program, i, Input(values[i].dtype.name, shape, np.array(values[i], order="C"))
            )
    for i, node in enumerate(program.nodes):
        if not isinstance(node, Input):
            continue
        if node.view != "{0}":
            yield _with_node(
                program, i, replace(node, base=np.array(node.value(), order="C"), view="{0}")
            )
        lengths = np.shape(node.value())
        if node.shape != lengths:
            yield _with_node(program, i, replace(node, shape=lengths))
        if node.view == "{0}" and node.base.dtype.kind in "fc" and node.base.size:
            whole = _rounded(node.base)
            if not np.array_equal(whole, node.base, equal_nan=True):
                yield _with_node(program, i, replace(node, base=whole))


def _rounded(array: Any) -> Any:
    whole = np.array(array)
    finite = np.isfinite(whole)
    whole[finite] = np.rint(whole[finite])
    return whole


def _variables(program: Program) -> list[tuple[int | None, ...]]:
    built: list[Any] = []
    for position, node in enumerate(program.nodes):
        if isinstance(node, Input):
            built.append(node.variable(f"x{position}"))
            continue
        try:
            built.append(node.on_variables([built[i] for i in node.args]))
        except Exception:
            built.append(None)
    values = program.run()
    return [v.type.shape if v is not None else a.shape for v, a in zip(built, values, strict=True)]


def _with_node(program: Program, position: int, node: Input) -> Program:
    nodes = list(program.nodes)
    nodes[position] = node
    return replace(program, nodes=tuple(nodes)).pruned()
