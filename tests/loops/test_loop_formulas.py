"""Formulas that `pprint` prints of loops: as expressions of Occelo they compute what the loops compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop
from occelo_printing import pprint
from occelo_testing.formulas import same_values

x, y = ot.dvectors("x", "y")
s, r = ot.dscalars("s", "r")  # names that the printer would use for its own
n = ot.lscalar("n")
INPUTS = {"x": x, "y": y, "s": s, "r": r, "n": n}
VALUES: dict[Any, Any] = {
    x: np.array([0.5, -1.5, 2.0]),
    y: np.array([1.5, 0.25, -3.0]),
    s: np.array(0.75),
    r: np.array(-0.5),
    n: np.array(2),
}

LOOPS: dict[str, Callable[[], Any]] = {
    "state": lambda: loop(lambda h: (h * s + y, None), x, length=n)[0],
    "no steps": lambda: loop(lambda h: (h * s, h), x, length=n - 2),
    "trace of a state": lambda: loop(lambda h, e: (h * s + e, h), r, x),
    "trace without a state": lambda: loop(lambda _, e: (None, e * s), None, x)[1],
    "traces without a state": lambda: loop(lambda _, e: (None, (e * s, e + r)), None, x)[1],
    "two of everything": lambda: loop(
        lambda h, e: ((h[1] * e[0], h[0] + e[1]), (h[0] - r, e[0] * s, h[1])), (s, r), (x, y)
    ),
    "backwards": lambda: loop(lambda h, e: (h * s + e, h), r, x, reverse=True),
    "some elements backwards": lambda: loop(lambda h, e: (h + e, h), r, x, n, reverse=True),
    "ended": lambda: loop(lambda h: (h * 3.0, h.sum()), x, length=9, until=lambda h: h.max() > 20.0),
    "ended with two states": lambda: loop(
        lambda h, e: ((h[0] + e, h[1] * s), (h, e)), (r, s), x, until=lambda h: h[0] < -1.0
    ),
    "while": lambda: while_loop(lambda h: abs(h).sum() < 50.0, lambda h: h * 2.0 + r, x),
    "while without a step": lambda: while_loop(lambda h: h[0] > 9.0, lambda h: h * 2.0, x),
    "for": lambda: fori_loop(1, n + 3, lambda i, h: h * s + i, x),
    "static lengths": lambda: loop(lambda h: (h[::-1] * s, h), ot.stack([s, r]), length=3),
    "integers": lambda: loop(lambda h: (h * 3 + n, h % 5), n, length=4),
    "taps": lambda: scan(
        lambda e, older, old: older + 0.5 * old * e,
        sequences=x,
        outputs_info=[{"initial": ot.stack([s, r]), "taps": [-2, -1]}],
        return_updates=False,
    ),
    "nest": lambda: loop(
        lambda h, e: (loop(lambda g: (g * e + s, None), h, length=n)[0], h), x, y[:2]
    ),
    "checkpoints": lambda: loop(lambda h: (h * s + r, h), x, length=7, checkpoint=3),
}  # fmt: skip


def _results(made: Any) -> list[Any]:
    if isinstance(made, og.Variable):
        return [made]
    return [v for each in made if each is not None for v in _results(each)]


@pytest.mark.parametrize("name", LOOPS)
def test_loops_evaluate_to_the_same_values(name: str) -> None:
    for printed in _results(LOOPS[name]()):
        same_values(printed, pprint(printed), INPUTS, VALUES)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", [k for k in LOOPS if not k.startswith("while")])
def test_derivatives_of_loops_evaluate_to_the_same_values(name: str) -> None:
    cost = sum((v * 1.5).sum() for v in _results(LOOPS[name]()))
    for printed in og.grad(cost, [x, y, s], disconnected_inputs="ignore"):
        same_values(printed, pprint(printed), INPUTS, VALUES)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", LOOPS)
def test_rewritten_loops_evaluate_to_the_same_values(name: str) -> None:
    outputs = _results(LOOPS[name]())
    mode = oc.Mode("vm", "fast_run")
    graph: Any = oc.function(
        list(VALUES), outputs, mode=mode, on_unused_input="ignore"
    ).maker.fgraph
    inputs = {v.name: v for v in graph.inputs}
    values = {inputs[v.name]: value for v, value in VALUES.items()}
    for printed in graph.outputs:
        same_values(printed, pprint(printed), inputs, values)


def test_a_loop_prints_as_a_function_and_a_call() -> None:
    final, kept = loop(lambda h, e: (h * y + e, h), x, y)
    text = pprint(kept)
    function = "def f0(i0, i1, i2):\n    return i0 * i2 + i1, i0\n"
    assert text == function + "loop(lambda s, x: f0(s, x, y), x, y, length=y.shape[0])[1]"
    # two results of a loop share the function
    assert pprint([final, kept]).count("def ") == 1
    until = pprint(while_loop(lambda h: h[0] < 9.0, lambda h: h * 2.0, x, max_steps=n))
    assert "until=lambda s: s[-2]" in until
