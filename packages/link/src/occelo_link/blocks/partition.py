"""`partition`: divides a graph into as few compiled blocks as possible, with Python thunks between the blocks.

`BlockLinker` calls `partition` for each graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from occelo_graph import Apply, Constant, Variable
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_graph.ir.regions import divide, perhaps_needless

if TYPE_CHECKING:
    from occelo_graph import FunctionGraph
    from occelo_graph.interpret import Place


@mutable_dataclass
class Part:
    """Nodes that run together, either as one compiled block or as Python thunks.

    ``inputs`` are the variables that the part reads; other parts or the caller compute them. ``outputs`` are the
    variables that the part computes and that are used outside of it. ``states`` maps the position of an output to the
    position of the input that it updates. A part from the cache has no nodes. Its function ``remake`` rewrites the
    graph again and returns the part with its nodes. ``places`` of this part maps the places of the callbacks from the cache
    to the places in the graph (`occelo_graph.interpret.has_run`).
    """

    compiled: bool
    nodes: list[Apply]
    inputs: list[Variable]
    outputs: list[Variable]
    remake: Callable[[], Part] | None = None
    states: Mapping[int, int] = field(default_factory=dict[int, int])
    places: Mapping[Place, Place] = field(default_factory=dict[Any, Any])


def partition(
    fgraph: FunctionGraph, order: Sequence[Apply], compilable: Callable[[Apply, bool], bool]
) -> list[Part] | None:
    """Divide the nodes of a graph into parts. Compiled parts and parts that run in Python alternate.

    ``compilable(node, inside)`` returns whether the node can belong to a compiled part. ``inside`` is True if the node
    is in a region, or if only regions read it; such a node cannot be a thunk.

    Each node goes to the first part of its kind (compiled or not) that does not come before the part of any node that
    computes one of its inputs. So the number of parts is minimal. A node in a region goes to the part of the node that
    owns the region. If a node in a region is not compilable, the result is None.
    """
    lazy_of = divide(order, fgraph.outputs).outermost
    # only regions read these nodes, so an error in one must not end the call; only a unit can prevent that
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
        computed = {v for node in nodes for v in node.outputs}
        outputs = [v for node in nodes for v in node.outputs if v in needed]
        inputs = dict.fromkeys(
            v
            for node in nodes
            for v in node.inputs
            if v not in computed and not isinstance(v, Constant)
        )
        parts.append(Part(phase % 2 == 0, nodes, list(inputs), outputs))
        needed.update(v for node in nodes for v in node.inputs)
    return parts[::-1]
