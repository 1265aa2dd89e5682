"""Scans that are merged: what the result keeps, and that it computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_graph.looping.loops import loop
from occelo_graph.looping.scan_op import Scan
from occelo_rewrite.rewriter import MergeOptimizer
from occelo_rewrite.rules.looping.merging import merged_scans

FUNCTIONS = [lambda h: h, ot.exp, ot.cos, lambda h: h * h]


def scans(fgraph: FunctionGraph) -> list[Apply[Scan]]:
    return [node for node in fgraph.toposort() if isinstance(node.op, Scan)]


def test_a_trace_that_several_scans_keep_is_kept_once() -> None:
    x, start = ot.dvector("x"), ot.dscalar("start")

    def kept(*which: int) -> tuple[Any, ...]:
        return loop(lambda h, e: (ot.sin(h) * e, tuple(FUNCTIONS[i](h) for i in which)), start, x)[
            1
        ]

    which = [(0, 1), (1, 2, 1), (3, 0, 2), (0, 1)]
    outputs = [trace for each in which for trace in kept(*each)]
    given = {x: np.linspace(0.5, 1.5, 6), start: np.float64(0.7)}
    before = evaluate(outputs, given)
    fgraph = FunctionGraph([x, start], outputs, clone=False)
    MergeOptimizer("equal inputs").rewrite(fgraph)
    while len(scans(fgraph)) > 1:
        found = merged_scans.transform(fgraph, scans(fgraph)[0])
        assert isinstance(found, dict)
        fgraph.replace_all(found.items())
    (node,) = scans(fgraph)
    assert len(node.outputs) == node.op.carried + len(FUNCTIONS)
    for one, other in zip(before, evaluate(fgraph.outputs, given), strict=True):
        np.testing.assert_array_equal(one, other)
