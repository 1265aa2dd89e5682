"""Loops and graphs as ops of which a rewriter stopped at its limit: right, with one warning, and not kept in the cache."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile.function_cache import explain_miss
from occelo_graph import grad, load, save
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.inner_graph import OpFromGraph
from occelo_link.cache.store import Store
from occelo_loops.ops.building.loops import loop
from occelo_rewrite import NotConvergedError, RewriteLimitWarning
from occelo_testing.fixtures import allowed

__all__ = ["allowed"]
pytestmark = pytest.mark.filterwarnings("ignore:.*(will be static|runs in Python)")


def program() -> tuple[list[Any], list[Any], Any]:
    """A graph with a nest of loops, an op with an inner graph, and a gradient; and its values in NumPy."""
    x, inner = ot.dvector("x"), ot.dvector()
    square = OpFromGraph([inner], [inner * inner * 1.0 + 0.0])

    def step(state: Any, element: Any) -> Any:
        after, _ = loop(lambda s: (s * 0.5 + square(element) * 2.0, None), state, length=3)
        return after, after * 1.0 + 0.0

    table = ot.outer(x, np.arange(1.0, 7.0)).T
    final, kept = loop(step, ot.zeros_like(x), table)
    total = (final * kept.sum(axis=0)).sum()
    values = np.array([0.2, -0.3])
    state, rows = np.zeros(2), np.zeros(2)
    for k in range(1, 7):
        for _ in range(3):
            state = state * 0.5 + (values * k) ** 2 * 2.0
        rows = rows + state
    cost = (state * rows).sum()
    # the cost is a form of degree four in each element
    return [x], [total, grad(total, x)], (values, cost, 4 * state * rows / values)


def check(f: Any, wanted: Any) -> None:
    values, cost, slope = wanted
    found = f(values)
    np.testing.assert_allclose(found[0], cost)
    np.testing.assert_allclose(found[1], slope)


@pytest.mark.parametrize("linker", ["native", "vm", "py"])
@pytest.mark.parametrize("most", [0, 1, 2, 4])
def test_loops_and_inner_graphs_are_right_wherever_rewriters_stop(
    most: int, linker: str, allowed: Any
) -> None:
    allowed(most)
    inputs, outputs, wanted = program()
    with config.change_flags(cache=False), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(oc.function(inputs, outputs, mode=linker), wanted)


@pytest.mark.parametrize("most", [0, 2])
def test_one_warning_that_can_be_reported_and_nothing_is_kept(
    most: int, allowed: Any, tmp_path: Path
) -> None:
    allowed(most)
    inputs, outputs, wanted = program()
    with config.change_flags(compiledir=str(tmp_path), cache=True):
        # the second time, bodies of loops are not taken from memory, so that the warning is the same
        texts: list[str] = []
        for _ in range(2):
            with pytest.warns(RewriteLimitWarning) as told:
                f = oc.function(inputs, outputs, mode="FAST_RUN")
            (only,) = [w for w in told if w.category is RewriteLimitWarning]
            texts.append(str(only.message))
            check(f, wanted)
        assert texts[0] == texts[1]
        assert "optdb/rewrite_bodies/optdb/" in texts[0]
        assert "applied: " in texts[0]
        assert not [e for e in Store(tmp_path).entries() if e.kind == "functions"]
        assert explain_miss(f, file="str") == (
            "The function is not kept: its rewriting stopped at a limit"
        )
        # what is saved as the warning says shows the same
        save(tmp_path / "graph", outputs, inputs)
        loaded = load(tmp_path / "graph")
        with pytest.warns(RewriteLimitWarning) as told:
            oc.function(loaded.inputs, loaded.outputs, mode="FAST_RUN")
        assert str(told[0].message) == texts[0]
        with config.change_flags(optdb__on_limit="raise"), pytest.raises(NotConvergedError):
            oc.function(inputs, outputs, mode="FAST_RUN")
