"""Dividing a graph into as few compiled blocks as possible, with Python thunks between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from occelo_graph import Apply, Constant, FunctionGraph, Variable

__all__ = ["Part", "partition"]


@dataclass
class Part:
    """Nodes that run together: compiled, or as Python thunks.

    ``inputs`` are the variables from outside, ``outputs`` those that are needed outside. A part
    that comes from a cache has no nodes, but ``remake`` gives the part that it was.
    """

    compiled: bool
    nodes: list[Apply]
    inputs: list[Variable]
    outputs: list[Variable]
    remake: Callable[[], Part] | None = None


def partition(
    fgraph: FunctionGraph, order: Sequence[Apply], compilable: Callable[[Apply], bool]
) -> list[Part]:
    """Divide the nodes; compiled parts and others alternate.

    Each node goes to the earliest part of its kind in which all it needs is known, so the number of
    parts is the least possible.
    """
    phases: dict[Apply, int] = {}
    for node in order:
        earliest = 0
        for variable in node.inputs:
            if variable.owner is not None:
                earliest = max(earliest, phases[variable.owner])
        kind = 0 if compilable(node) else 1
        phases[node] = earliest if earliest % 2 == kind else earliest + 1
    count = max(phases.values(), default=-1) + 1
    groups: list[list[Apply]] = [[] for _ in range(count)]
    for node in order:
        groups[phases[node]].append(node)
    needed = set(fgraph.outputs)
    parts: list[Part] = []
    for phase in reversed(range(count)):
        nodes = groups[phase]
        if not nodes:
            continue
        made = {v for node in nodes for v in node.outputs}
        outputs = [v for node in nodes for v in node.outputs if v in needed]
        inputs = dict.fromkeys(
            v
            for node in nodes
            for v in node.inputs
            if v not in made and not isinstance(v, Constant)
        )
        parts.append(Part(phase % 2 == 0, nodes, list(inputs), outputs))
        needed.update(v for node in nodes for v in node.inputs)
    return parts[::-1]
