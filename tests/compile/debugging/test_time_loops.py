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
    assert all(loop.minimum <= loop.seconds for loop in times)
    assert 0 < sum(loop.minimum for loop in times) <= times.total
    fused = [loop for loop in times if "tanh" in loop.ops]
    assert len(fused) == 1
    assert {"exp", "Sum{axis=[0]}"} <= set(fused[0].ops)
    assert any("Dot" in loop.ops for loop in times)
    assert (state.get_value() == 0).all(), "nothing is updated"
    text = str(times)
    assert "median of 3" in text
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


def test_operations_and_bytes_are_counted() -> None:
    x, m, a = ot.dvector("x"), ot.dmatrix("m"), ot.dtensor3("a")
    s, z = ot.fvector("s"), ot.zvector("z")
    cases: list[tuple[Any, list[Any], int, int]] = [
        (x * 2.0 + 1.0, [np.ones(1000)], 2000, 16_000),
        (x * 2.0 + 1.0, [np.ones(1)], 2, 16),
        (x * 2.0 + 1.0, [np.ones(0)], 0, 0),
        (x.sum(), [np.ones(1000)], 1000, 8_000),
        (x[::3].sum(), [np.ones(999)], 333, 8 * 333),
        (m.T @ x, [np.ones(200), np.ones((200, 300))], 2 * 200 * 300, 8 * (200 * 300 + 200 + 300)),
        (a @ a, [np.ones((4, 50, 50))], 4 * 2 * 50**3, 2 * 8 * 4 * 50**2),
        (ot.sqrt(x) > 1, [np.ones(64)], 64, 8 * 64 + 64),
        (s * 2, [np.ones(100, np.float32)], 100, 800),
        (z + 1j, [np.ones(100, np.complex128)], 200, 3200),
    ]
    for out, values, operations, size in cases:
        inputs = [v for v in (x, s, z, m, a) if v in og.ancestors([out])]
        times = oc.function(inputs, out).time_loops(*values, runs=2)
        done = sum(loop.operations or 0 for loop in times)
        assert operations <= done <= operations + 8 * len(times), "and lanes are combined"
        assert sum(loop.bytes for loop in times) in range(size, size + 9 * len(times)), out


def test_loops_are_compared_with_what_the_machine_can_do() -> None:
    x = ot.dvector("x")
    times = oc.function([x], ot.exp(x).sum()).time_loops(np.ones(10_000), runs=3)
    roofline = times.roofline()
    ceilings = roofline.ceilings
    assert all(
        rate > 0 for rate in (*ceilings.operations.values(), *dict(ceilings.bandwidths).values())
    )
    loop = max(times, key=lambda loop: loop.bytes)
    assert loop.operations is not None
    by_operations, by_bytes = roofline.bounds(loop)
    assert by_operations == loop.operations / ceilings.operations["float64"]
    assert by_bytes == loop.bytes / dict(ceilings.bandwidths)[1 << 18]
    assert roofline.share(loop) == max(by_operations, by_bytes) / loop.minimum
    assert "Gop/s" in str(roofline)
    assert "<td>" in roofline._repr_html_()


def test_the_roofline_is_drawn() -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    matplotlib.use("svg")
    x = ot.dvector("x")
    times = oc.function([x], ot.exp(x).sum()).time_loops(np.ones(100), runs=1)
    axes = times.roofline().plot()
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert len(axes.lines) == 5 + sum(bool(loop.operations) for loop in times)
    assert times.roofline().plot(axes) is axes


def test_runs_are_at_least_one() -> None:
    f = oc.function([], ot.constant(1.0))
    with pytest.raises(ValueError, match="runs must be at least 1, not 0"):
        f.time_loops(runs=0)
