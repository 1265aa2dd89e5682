"""Loops that do not run, and branches of their steps that are not taken: what would fail there does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop
from occelo_testing.looping import again

pytestmark = pytest.mark.filterwarnings("ignore:.*(cache|jax|pytorch|runs in Python)")


@og.op
class Inverse(og.Op):
    """The inverse of each element, which only Python knows; an error for a 0."""

    def infer(self, x: Any) -> Any:
        return og.TensorType("float64", (None,))

    def evaluate(self, x: Any) -> Any:
        if not x.all():
            raise ZeroDivisionError("a zero in the branch that is not taken")
        return 1 / x


def test_an_iteration_that_does_not_run_does_not_fail(mode: str) -> None:
    n, a, x = ot.lscalar("n"), ot.dscalar("a"), ot.dvector("x")

    def step(s: Any, v: Any) -> list[Any]:
        return [s + v[0]]

    f = oc.function([n, a, x], again(n, [a], step, [x])[0], mode=mode)
    assert [f(0, 1.0, []), f(2, 1.0, [3.0])] == [1.0, 7.0]
    with pytest.raises(IndexError):
        f(1, 1.0, [])


def test_what_runs_in_a_loop_though_no_branch_needs_it_may_fail(mode: str) -> None:
    inverted = Inverse()
    v, w = ot.dvector("v"), ot.dvector("w")

    def step(s: Any, e: Any) -> Any:
        t = ot.ifelse(e > -5, s, inverted(w * s[0]))
        again = loop(lambda q, z: (q * z, None), s, t)[0]
        return ot.ifelse(e > 0, s, ot.ifelse(t.sum() > 0.5, s, again)), None

    f = oc.function([v, w], loop(step, v, v)[0], mode=mode)
    for value in (1.0, -1.0, 0.25):
        state = np.full(3, value)
        for e in state.copy():
            if e <= 0 and state.sum() <= 0.5:
                state = state * np.prod(state)
        np.testing.assert_allclose(f(np.full(3, value), np.zeros(2)), state)
    with pytest.raises(ZeroDivisionError, match="a zero in the branch"):
        f(np.full(3, -6.0), np.zeros(2))
