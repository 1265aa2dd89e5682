"""Scans that are merged: what the result keeps, and that it computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph, grad
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.interpret import evaluate
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.scan_op import Scan
from occelo_loops.rules.merging import merged_scans
from occelo_rewrite.rewriter import MergeOptimizer, in2out

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


def test_merging_ends_where_equal_nodes_are_not_merged() -> None:
    x, start = ot.dvector("x"), ot.dscalar("start")
    steps = x.shape[0]
    one, other = (
        loop(lambda h, e, f=f: (h * e, f(h)), start, x, length=steps)[1]
        for f in (lambda h: h, ot.sin)
    )
    cost = (one + other).sum()
    outputs = [cost, *grad(cost, [x, start])]
    given = {x: np.linspace(0.5, 1.5, 6), start: np.float64(0.7)}
    before = evaluate(outputs, given)
    fgraph = FunctionGraph([x, start], outputs, clone=False)
    with config.change_flags(on_opt_error="raise"):
        in2out(merged_scans).rewrite(fgraph)
    forward = [node for node in scans(fgraph) if not node.op.reverse]
    assert len(forward) == 1
    for number, value in zip(before, evaluate(fgraph.outputs, given), strict=True):
        np.testing.assert_allclose(number, value, rtol=1e-14)
