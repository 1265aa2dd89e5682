"""Pickles and deep copies of graphs with loops and draws, and of graphs of many shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_random.ops.generators import shared_rng
from occelo_testing.copying import COPIES, long_chain
from occelo_testing.graph_shapes import SHAPES, differentiated

Copied = Callable[[Any], Any]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("name", SHAPES)
def test_copies_compute_the_same(name: str, copied: Copied) -> None:
    inputs, outputs, updates = differentiated(SHAPES[name], 1 if name == "nested loops" else 12)
    updated = [new for _, new in updates]
    ins, outs = copied((inputs, [*outputs, *updated]))
    assert og.digest(outs, ins) == og.digest([*outputs, *updated], inputs)
    graph = copied(og.FunctionGraph(outputs=[*outputs, *updated], clone=False))
    graph.check_integrity()
    assert og.digest(graph.outputs) == og.digest([*outputs, *updated])


@pytest.mark.parametrize("copied", COPIES)
def test_variables_of_one_pickle_share_their_nodes(copied: Copied) -> None:
    x, y = long_chain(10)
    z = ot.exp(y) + x
    following, draw = shared_rng(np.random.default_rng(1)).normal(z)
    parts = [y, z, {"x": x, "node": draw.owner}, following, draw, y.owner.inputs[0]]
    y2, z2, told, following2, draw2, below2 = copied(parts)
    assert draw2.owner is following2.owner is told["node"]
    assert z2 in draw2.owner.inputs
    assert z2.owner.inputs[1] is told["x"]
    assert z2.owner.inputs[0].owner.inputs[0] is y2
    assert y2.owner.inputs[0] is below2
    assert [draw2.index, following2.index] == [draw.index, following.index]


@pytest.mark.parametrize("copied", COPIES)
def test_updates_that_use_what_they_update(copied: Copied) -> None:
    rng = shared_rng(np.random.default_rng(1))
    states = [og.shared(np.array([1.0, 2.0]), name=f"s{i}") for i in range(50)]
    for state, other in zip(states, [*states[1:], states[0]], strict=True):
        state.default_update = ot.sin(other) + state  # a chain of states, closed to a ring
    draws = [v for _ in range(50) for v in rng.normal(size=3)]
    total = sum(states, start=ot.constant(0.0))
    total2, draws2 = copied((total, draws))
    state: Any = next(v for v in og.graph_inputs([total2]) if v.name == "s0")
    seen: list[Any] = [state]
    for _ in range(49):
        update = seen[-1].default_update
        assert update.owner.inputs[1] is seen[-1]
        seen.append(update.owner.inputs[0].owner.inputs[0])
    assert [v.name for v in seen] == [v.name for v in states]
    assert set(seen) <= set(og.graph_inputs([total2]))
    assert og.digest(draws2) == og.digest(draws)
    assert seen[0].get_value().tolist() == [1.0, 2.0]
