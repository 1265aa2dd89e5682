"""Forward derivatives of graphs nested in graphs, at any depth."""

from __future__ import annotations

from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph


def nested(depth: int) -> Any:
    op: Any = None
    for _ in range(depth):
        v = ot.dvector()
        op = OpFromGraph([v], [ot.sin(v if op is None else op(v)) * 1.5])
    return op


def test_tangents_of_deeply_nested_graphs_are_built() -> None:
    x, t = ot.dvector("x"), ot.dvector("t")
    assert og.pushforward([nested(400)(x)], [x], [t])


def test_tangents_of_nested_graphs_follow_the_chain_rule() -> None:
    x, t = ot.dvector("x"), ot.dvector("t")
    found = og.pushforward([nested(20)(x)], [x], [t])
    value, tangent = np.linspace(-1.0, 1.0, 5), np.linspace(0.5, 2.0, 5)
    (result,) = og.evaluate(found, {x: value, t: tangent})
    for _ in range(20):
        value, tangent = np.sin(value) * 1.5, np.cos(value) * 1.5 * tangent
    np.testing.assert_allclose(result, tangent, rtol=1e-12)
