"""Lengths of loops whose bodies are equal, but whose inputs have other lengths.

Lengths are inferred once for each body, and then used for all loops with this body.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.iterate import Iterate
from occelo_loops.ops.lengths import element_shapes
from occelo_loops.ops.scan_op import Scan


def _joined(v: Any, w: Any, c: Any, n: Any) -> tuple[Any, Any]:
    """A loop with two carried vectors. The traces are both in a row, a slice that a constant cuts, and ``n`` zeros."""

    def step(state: Any) -> Any:
        v, u = state
        return (v * 0.5, u[::-1]), (ot.join(0, v, u), c[:n], ot.zeros((n,)), ot.dot(v, v))

    return loop(step, (v, w), length=3)


def _expected(v: Any, w: Any, c: Any, n: int) -> list[Any]:
    states = [(v * 0.5**i, w[:: (-1) ** i]) for i in range(4)]
    traces = [(np.concatenate(s), c[:n], np.zeros(n), s[0] @ s[0]) for s in states[:3]]
    return [*states[3], *(np.stack(t) for t in zip(*traces, strict=True))]


@pytest.mark.parametrize("mode", ["native", "py"])
def test_loops_with_equal_bodies_have_the_lengths_of_their_inputs(mode: str) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    n, k = ot.lscalar("n"), ot.lscalar("k")
    pairs = [
        (x, y, y, n),
        (y, x, x, k),
        (x, x, y, n),
        (x, x, x, k),
        (y, x * 2.0, x, n),
        (x, y[1:], y, k),
    ]
    outputs: list[Any] = []
    bodies: set[Any] = set()
    for each in pairs:
        states, traces = _joined(*each)
        bodies.add(states[0].owner.op.body)
        outputs += [*states, *traces]
    assert len(bodies) == 1
    shapes = oc.function([x, y, n, k], [v.shape for v in outputs], mode=mode)
    values = oc.function([x, y, n, k], outputs, mode=mode)
    assert not any(isinstance(node.op, Scan | Iterate) for node in shapes.maker.fgraph.toposort())
    for lengths in [(3, 3, 2, 1), (1, 4, 0, 3), (0, 2, 1, 1), (5, 1, 4, 0)]:
        v, w = np.linspace(0.3, 2.0, lengths[0]), np.linspace(-1.0, 1.0, lengths[1])
        a, b = lengths[2:]
        told = [
            (v, w, w, a),
            (w, v, v, b),
            (v, v, w, a),
            (v, v, v, b),
            (w, v * 2.0, v, a),
            (v, w[1:], w, b),
        ]
        wanted = [r for each in told for r in _expected(*each)]
        given = v, w, np.int64(a), np.int64(b)
        for shape, value, expected in zip(shapes(*given), values(*given), wanted, strict=True):
            assert tuple(shape) == expected.shape
            np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_a_length_is_kept_only_where_it_is_known_to_be_equal() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")

    def step(state: Any) -> Any:
        v, u = state
        return (u, v), None

    (v, _), _ = loop(step, (x, y), length=3)
    op_, inputs = v.owner.op, v.owner.inputs
    a, b = ot.lscalar("a"), ot.lscalar("b")
    for lengths, kept in [
        ((a, a), [(a,), (a,)]),
        ((a, b), [(None,), (None,)]),
        ((b, b), [(b,), (b,)]),
        ((2, 2), [(2,), (2,)]),
        ((2, 3), [(None,), (None,)]),
        ((3, 3), [(3,), (3,)]),
        ((ot.as_tensor_variable(4), 4), [(4,), (4,)]),
    ]:
        states, traces = element_shapes(op_, inputs, [(), *((n,) for n in lengths)])
        assert states == kept
        assert not traces
