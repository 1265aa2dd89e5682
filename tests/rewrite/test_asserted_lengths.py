"""Asserted lengths that rules move above elementwise functions: they neither multiply nor get lost.

In random graphs, with the same lengths asserted again and again, calls with lengths that fit give the same values, and
calls with others still raise; the number of replacements grows with the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_rewrite import EquilibriumGraphRewriter, RewriteRecord
from occelo_rewrite.rules import shape

RULES = list(shape.CANONICALIZE)


def rewritten(inputs: list[Any], output: Any) -> tuple[Any, RewriteRecord]:
    graph = og.FunctionGraph(inputs, [output])
    return graph, EquilibriumGraphRewriter(RULES).rewrite(graph)


def asserted(graph: Any) -> int:
    return sum(isinstance(node.op, SpecifyShape) for node in graph.apply_nodes)


@pytest.mark.parametrize("uses", [1, 3])
@pytest.mark.parametrize("kinds", [1, 3])
@pytest.mark.parametrize("steps", [4, 16, 64])
def test_replacements_grow_with_the_graph(steps: int, kinds: int, uses: int) -> None:
    """Each step asserts a length, and uses the result of the step before several times, as gradients of loops do."""
    x, lengths = ot.dvector("x"), [ot.lscalar(f"n{k}") for k in range(kinds)]
    value = x
    for step in range(steps):
        terms = [ot.sin(value) * float(k + 2) for k in range(uses)]
        value = ot.specify_shape(ot.add(*terms, x), (lengths[step % kinds],))
    graph, record = rewritten([x, *lengths], value)
    assert len(record.applications) <= (2 * uses + 3) * steps
    assert asserted(graph) == kinds
    given = {graph.inputs[0]: np.array([0.1, 0.2]), **dict.fromkeys(graph.inputs[1:], 2)}
    wanted = og.evaluate(value, {x: np.array([0.1, 0.2]), **dict.fromkeys(lengths, 2)})
    np.testing.assert_allclose(og.evaluate(graph.outputs[0], given), wanted)
    for wrong in graph.inputs[1:]:
        with pytest.raises(ValueError, match=r"specified|shape"):
            og.evaluate(graph.outputs[0], {**given, wrong: 3})


def drawn(random: np.random.Generator) -> tuple[list[Any], Any]:
    """A random graph of elementwise functions and assertions, and its inputs: two matrices, a row and two lengths."""
    x, y, row = ot.dmatrix("x"), ot.dmatrix("y"), ot.tensor("row", shape=(1, None))
    n, m = ot.lscalar("n"), ot.lscalar("m")
    known: list[Any] = [x, y, row]
    for _ in range(int(random.integers(3, 12))):
        a, b = (known[i] for i in random.integers(len(known), size=2))
        if random.random() < 0.5:
            axis = int(random.integers(a.type.shape[0] == 1, 2))
            wanted: list[Any] = [None, None]
            wanted[axis] = [2 + axis, n if axis == 0 else m][random.integers(2)]
            if axis == 1 and a.type.shape[0] != 1 and random.random() < 0.3:
                wanted[0] = 2
            known.append(ot.specify_shape(a, wanted))
        elif random.random() < 0.3:
            known.append(ot.sin(a))
        else:
            known.append([ot.add, ot.mul][random.integers(2)](a, b))
    return [x, y, row, n, m], ot.add(*known[3:], x)


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed: int) -> None:
    random = np.random.default_rng(seed)
    inputs, value = drawn(random)
    graph, record = rewritten(inputs, value)
    assert len(record.applications) <= 6 * len(og.toposort([value]))
    for rows, columns, n, m in (
        (2, 3, 2, 3),
        (2, 3, 3, 3),
        (2, 3, 2, 2),
        (1, 3, 1, 3),
        (2, 4, 2, 4),
    ):
        arrays = [random.normal(size=s) for s in ((rows, columns), (rows, columns), (1, columns))]
        given = [*arrays, n, m]
        results: list[Any] = []
        for variables, out in ((inputs, value), (graph.inputs, graph.outputs[0])):
            try:
                results.append(og.evaluate(out, dict(zip(variables, given, strict=True))))
            except ValueError:
                results.append(None)
        if results[0] is None:
            assert results[1] is None, (rows, columns, n, m)
        else:
            np.testing.assert_allclose(results[1], results[0])
