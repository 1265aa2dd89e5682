"""Partition of a graph into as few compiled blocks as possible, with Python thunks between them.

`BlockLinker` calls `partition` for each graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from occelo_graph import Apply, Constant, FunctionGraph, Variable
from occelo_graph.ir.regions import divide, perhaps_needless

__all__ = ["Part", "partition"]


@dataclass
class Part:
    """Nodes that run together, either compiled as one block or as Python thunks.

    ``inputs`` are the variables that other parts or the caller compute, ``outputs`` the variables of this part that are
    used outside of it. A part from the cache has no nodes; its ``remake`` returns the original part, which has them.
    ``states`` maps positions of outputs to positions of the inputs that they update.
    """

    compiled: bool
    nodes: list[Apply]
    inputs: list[Variable]
    outputs: list[Variable]
    remake: Callable[[], Part] | None = None
    states: Mapping[int, int] = field(default_factory=dict[int, int])


def partition(
    fgraph: FunctionGraph, order: Sequence[Apply], compilable: Callable[[Apply, bool], bool]
) -> list[Part] | None:
    """Divide the nodes into parts; compiled parts and parts that run in Python alternate.

    ``compilable`` takes a node and a truth value, and returns whether the node can belong to a compiled part. The truth
    value says that the node must be a callback if it has no lowering, because it is in a region or only regions read
    it. Each node goes to the earliest part of its kind that comes after the parts of its inputs, so the number of parts
    is minimal. Nodes in a region go to the part of the node that owns the region. The result is None if such a node is
    not compilable.
    """
    lazy_of = divide(order, fgraph.outputs).outermost
    # an error of such a node must not end the call; only a unit can prevent that
    called = perhaps_needless(order, fgraph.outputs)
    members: dict[Apply, list[Apply]] = {}
    for node, lazy in lazy_of.items():
        members.setdefault(lazy, []).append(node)
    phases: dict[Apply, int] = {}
    for node in order:
        if node in lazy_of:
            continue
        together = [*members.get(node, ()), node]
        kinds = {0 if compilable(n, n is not node or n in called) else 1 for n in together}
        if len(together) > 1 and kinds != {0}:
            return None
        earliest = 0
        for variable in (v for n in together for v in n.inputs):
            if variable.owner is not None:
                earliest = max(earliest, phases.get(variable.owner, 0))
        phase = earliest if earliest % 2 in kinds else earliest + 1
        phases.update(dict.fromkeys(together, phase))
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
