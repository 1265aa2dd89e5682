"""Shapes of graphs, by the number of nodes: chains, trees, many inputs, deep branches, and so on.

Tests count how the work of building, differentiating and compiling grows with the number of nodes, and
``benchmarks/graph_shapes.py`` measures the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from occelo_graph import grad, shared
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control import ifelse
from occelo_loops.ops.building.loops import loop

Graph = tuple[list[Any], list[Any], list[tuple[Any, Any]]]
"""Inputs, outputs and updates."""


class Shape(NamedTuple):
    """A shape of graphs, and how it is measured."""

    build: Callable[[int], Graph]
    """Makes a graph of about as many nodes: its inputs, its outputs, and its updates."""
    by: tuple[int, ...] = ()
    """The positions of the inputs by which the sum of the first output is differentiated; empty: no gradient."""
    sizes: tuple[int, ...] = (500, 1000, 2000, 4000, 8000)
    """The numbers of nodes that are measured in benchmarks."""


def chain(nodes: int) -> Graph:
    """One chain of elementwise nodes."""
    x = y = ot.dvector("x")
    for _ in range(nodes // 2):
        y = ot.sin(y) * 1.5
    return [x], [y], []


def tree(nodes: int) -> Graph:
    """A balanced tree: its leaves are functions of one variable."""
    x = ot.dvector("x")
    level = [ot.sin(x * (1.0 + i)) for i in range(nodes // 4)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [*(ot.tanh(a) * b for a, b in pairs), *level[len(level) // 2 * 2 :]]
    return [x], level, []


def fan_out(nodes: int) -> Graph:
    """One variable that every node reads, with an output each."""
    x = ot.dvector("x")
    shared = ot.exp(x)
    return [x], [ot.sin(shared * float(i + 2)) for i in range(nodes // 2)], []


def fan_in(nodes: int) -> Graph:
    """One sum of all nodes, term by term."""
    x = ot.dvector("x")
    total = x
    for i in range(nodes // 3):
        total = total + ot.sin(x * (1.5 + i))
    return [x], [total], []


def diamonds(nodes: int) -> Graph:
    """A chain in which every node is read twice: the number of paths is exponential."""
    x = y = ot.dvector("x")
    for _ in range(nodes // 3):
        y = ot.sin(y) * ot.cos(y)
    return [x], [y], []


def slices(nodes: int) -> Graph:
    """Slices of slices, each one shorter: every length is a function of the one before."""
    x = y = ot.dvector("x")
    for _ in range(nodes // 3):
        y = y[1:] + y[:-1]
    return [x], [y], []


def differences(nodes: int) -> Graph:
    """Differences of a high order."""
    x = ot.dvector("x")
    return [x], [ot.diff(x, n=nodes // 3)], []


def reads(nodes: int) -> Graph:
    """Scalars that are read from one vector, and their sum."""
    x = ot.dvector("x")
    total = x[0]
    for i in range(1, nodes // 4):
        total = total + ot.sin(x[i] * x[i - 1])
    return [x], [total], []


def writes(nodes: int) -> Graph:
    """A vector that is written element by element."""
    x, y = ot.dvector("x"), ot.dvector("y")
    for i in range(nodes // 3):
        x = x[i].set(ot.sin(y[i]))
    return [_root(x), y], [x], []


def _root(variable: Any) -> Any:
    while variable.owner is not None:
        variable = variable.owner.inputs[0]
    return variable


def joined(nodes: int) -> Graph:
    """A vector that is put together from as many scalars as nodes."""
    x = ot.dvector("x")
    return [x], [ot.stack([ot.sin(x[i]) for i in range(nodes // 3)])], []


def many_inputs(nodes: int) -> Graph:
    """As many inputs as nodes."""
    inputs = [ot.dvector(f"x{i}") for i in range(nodes // 2)]
    return inputs, [ot.sin(x) * 2.0 for x in inputs], []


def many_outputs(nodes: int) -> Graph:
    """As many outputs as nodes: every partial result of a chain."""
    x = y = ot.dvector("x")
    outputs: list[Any] = []
    for _ in range(nodes // 2):
        y = ot.sin(y) * 1.5
        outputs.append(y)
    return [x], outputs, []


def many_updates(nodes: int) -> Graph:
    """As many shared variables to update as nodes."""
    rate = ot.dscalar("rate")
    states = [shared(np.array([1.0, 2.0]), name=f"s{i}") for i in range(nodes // 4)]
    return [rate], [], [(s, s - rate * ot.sin(s)) for s in states]


def branches(nodes: int) -> Graph:
    """Lazy branches, each inside of the one before."""
    x, c = ot.dvector("x"), ot.dscalar("c")
    y = x
    for i in range(nodes // 4):
        y = ifelse(c > float(i), ot.sin(y), ot.cos(x))
    return [x, c], [y], []


def branch_sequence(nodes: int) -> Graph:
    """Lazy branches one after the other: every condition depends on the result before."""
    x = y = ot.dvector("x")
    for _ in range(nodes // 6):
        y = ifelse(y[0] > 0.5, ot.sin(y), ot.cos(y))
    return [x], [y], []


def loop_bodies(nodes: int) -> Graph:
    """One loop with a long body."""
    x = ot.dvector("x")

    def step(y: Any) -> Any:
        for _ in range(nodes // 2):
            y = ot.sin(y) * 1.5
        return y, None

    final, _ = loop(step, x, length=3)
    return [x], [final], []


def loops_in_sequence(nodes: int) -> Graph:
    """Loops one after the other, each over what the one before it left."""
    x = y = ot.dvector("x")
    n = ot.lscalar("n")
    for _ in range(nodes // 10):
        y, _ = loop(lambda v: (ot.sin(v) * 0.5, None), y, length=n)
    return [x, n], [y], []


def nested_loops(nodes: int) -> Graph:
    """Loops in the bodies of loops."""
    x = ot.dvector("x")
    n = ot.lscalar("n")

    def nest(depth: int, v: Any) -> Any:
        if depth == 0:
            return ot.sin(v) * 0.5
        final, _ = loop(lambda w: (nest(depth - 1, w), None), v, length=n)
        return final

    return [x, n], [nest(nodes, x)], []


def graphs_as_ops(nodes: int) -> Graph:
    """Graphs as ops inside of graphs as ops."""
    x = ot.dvector("x")
    op: Any = None
    for _ in range(nodes // 3):
        v = ot.dvector()
        inner = v if op is None else op(v)
        op = OpFromGraph([v], [ot.sin(inner) * 1.5])
    return [x], [op(x)], []


def products(nodes: int) -> Graph:
    """A deep network."""
    x = h = ot.dmatrix("x")
    weights = [ot.dmatrix(f"w{i}") for i in range(nodes // 3)]
    for w in weights:
        h = ot.tanh(ot.dot(h, w) + 0.1)
    return [x, *weights], [h], []


SHAPES: dict[str, Shape] = {
    "chain": Shape(chain, (0,)),
    "tree": Shape(tree, (0,)),
    "fan-out": Shape(fan_out),
    "fan-in": Shape(fan_in, (0,)),
    "diamonds": Shape(diamonds, (0,)),
    "slices": Shape(slices, (0,)),
    "differences": Shape(differences, (0,)),
    "reads": Shape(reads, (0,)),
    "writes": Shape(writes, (0, 1)),
    "joined": Shape(joined, (0,)),
    "inputs": Shape(many_inputs),
    "outputs": Shape(many_outputs),
    "updates": Shape(many_updates),
    "branches": Shape(branches, (0,)),
    "branches in sequence": Shape(branch_sequence, (0,)),
    "body of a loop": Shape(loop_bodies, (0,)),
    "loops in sequence": Shape(loops_in_sequence, (0,)),
    "nested loops": Shape(nested_loops, (0,), sizes=(2, 4, 8, 16)),
    "graphs as ops": Shape(graphs_as_ops, (0,)),
    "network": Shape(products, (0,)),
}


def differentiated(shape: Shape, nodes: int) -> Graph:
    """A graph with its gradient among the outputs, if the shape says by what."""
    inputs, outputs, updates = shape.build(nodes)
    if shape.by:
        outputs = [*outputs, *grad(outputs[0].sum(), [inputs[i] for i in shape.by])]
    return inputs, outputs, updates
