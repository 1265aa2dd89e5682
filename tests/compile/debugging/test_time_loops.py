"""Times of loops inside compiled code."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.shared import shared

pytestmark = pytest.mark.skipif(
    not hasattr(time, "CLOCK_MONOTONIC"), reason="this system has no clock_gettime"
)


def test_each_loop_has_a_time_and_the_ops_that_it_computes() -> None:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    state = shared(np.zeros(3))
    f = oc.function(
        [x, m],
        [ot.exp(ot.tanh(m @ x)).sum(), ot.softmax(m, axis=1)],
        updates=[(state, state + 1)],
    )
    times = f.time_loops(np.ones(30), np.ones((40, 30)), runs=3)
    assert times.runs == 3
    assert all(loop.seconds >= 0 for loop in times)
    assert 0 < sum(loop.seconds for loop in times) <= times.total
    fused = [loop for loop in times if "tanh" in loop.ops]
    assert len(fused) == 1
    assert {"exp", "Sum{axis=[0]}"} <= set(fused[0].ops)
    assert any("Dot" in loop.ops for loop in times)
    assert (state.get_value() == 0).all(), "nothing is updated"
    text = str(times)
    assert "us a run, mean of 3" in text
    assert "test_time_loops.py" in text
    assert "<td>" in times._repr_html_()


def test_what_takes_long_is_found() -> None:
    class Slow(og.Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            x = ot.as_tensor(x)
            return og.Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            time.sleep(0.02)
            output_storage[0][0] = inputs[0].copy()

    x = ot.dvector("x")
    f = oc.function([x], ot.exp(Slow()(x * 2)).sum())
    times = f.time_loops(np.ones(5), runs=2)
    slowest = max(times, key=lambda loop: loop.seconds)
    assert slowest.ops == ("Slow",)
    assert slowest.seconds >= 0.02


def test_functions_of_other_linkers_are_timed_as_native_would_run_them() -> None:
    x = ot.dvector("x")
    times = oc.function([x], ot.exp(x) + 1, mode="vm").time_loops([1.0, 2.0], runs=1)
    assert len(times) == 1
    assert "exp" in "".join(times[0].ops), "fused by rewriting, or here"
