"""Loops whose steps factor matrices: how often they do, and the values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.classic import scan
from occelo_rewrite import optimizer_query, rewriter_for


@pytest.mark.parametrize("kind", ["gen", "pos"])
def test_a_loop_factors_a_matrix_once_and_not_at_all_without_steps(kind: str) -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    steps: Any = scan(
        lambda e, s, m: linalg.solve(m, e + s, assume_a=kind),
        b,
        ot.zeros(3),
        a,
        return_updates=False,
    )
    graph = og.FunctionGraph([a, b], [steps], clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    ops = Counter(type(node.op).__name__ for node in graph.apply_nodes)
    assert ops["LuFactor" if kind == "gen" else "Cholesky"] == 1

    def value(*arrays: Any) -> Any:
        return og.evaluate(graph.outputs[0], dict(zip(graph.inputs, arrays, strict=True)))

    random = np.random.default_rng(0)
    x, rows = random.standard_normal((3, 3)), random.standard_normal((4, 3))
    given = x @ x.T + 3 * np.eye(3)
    expected, last = [], np.zeros(3)
    for row in rows:
        last = np.linalg.solve(given, row + last)
        expected.append(last)
    np.testing.assert_allclose(value(given, rows), expected, rtol=1e-9)
    singular = np.ones((3, 3))
    assert value(singular, rows[:0]).shape == (0, 3)
    with pytest.raises(np.linalg.LinAlgError):
        value(singular, rows)
