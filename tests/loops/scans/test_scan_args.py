"""A scan taken apart, changed and put together again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.scan_args import ScanArgs

X = np.array([1.0, 2.0, 4.0])


def taken_apart(**options: Any) -> tuple[ScanArgs, og.Variable, og.Variable]:
    x, a = ot.dvector("x"), ot.dscalar("a")
    final, _ = loop(lambda s, e: (a * s + e, s), 1.0, x, **options)
    return ScanArgs.of(final.owner), x, a


@pytest.mark.parametrize(
    "options", [{}, {"reverse": True, "name": "n"}, {"until": lambda s: s > 3.0}]
)
def test_the_same_node_comes_back(options: dict[str, Any]) -> None:
    view, x, a = taken_apart(**options)
    node = view.node()
    old = view.outer_final[0].owner
    assert old is not None
    assert node.op == old.op
    assert node.op.name == old.op.name
    for new, before in zip(node.outputs, old.outputs, strict=True):
        given = {x: X, a: 0.5}
        np.testing.assert_array_equal(
            og.evaluate(new, given),
            og.evaluate(before, given),
        )
    assert (view.outer_done is None) == ("until" not in options)


def test_a_trace_and_a_sequence_are_added() -> None:
    view, x, a = taken_apart()
    more, element = ot.dvector("more"), ot.dscalar("element")
    view.outer_sequences.append(more)
    view.inner_elements.append(element)
    view.inner_following[0] = view.inner_following[0] * element
    view.inner_traces.append(element * 10.0)
    final, before, tens = view.node().outputs
    given = {x: X, a: 0.5, more: np.array([1.0, -1.0, 2.0])}
    state, states = 1.0, []
    for e, m in zip(X, given[more], strict=True):
        states.append(state)
        state = (0.5 * state + e) * m
    np.testing.assert_allclose(og.evaluate(final, given), state)
    np.testing.assert_allclose(og.evaluate(before, given), states)
    np.testing.assert_allclose(og.evaluate(tens, given), given[more] * 10)


def test_mistakes() -> None:
    view, x, _ = taken_apart()
    view.outer_sequences.append(x)
    with pytest.raises(
        ValueError, match="outer_sequences and inner_elements differ in length: 2 and 1"
    ):
        _ = view.op
    view, x, _ = taken_apart()
    view.inner_traces.append(x * 2.0)
    with pytest.raises(og.MissingInputError, match="x"):
        _ = view.op
    with pytest.raises(TypeError, match="needs a node of Scan, and exp is none"):
        ScanArgs.of((ot.exp(x)).owner)
