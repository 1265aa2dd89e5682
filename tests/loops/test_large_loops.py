"""Loops of many steps, of many nodes and of many levels, against loops in Python; derivatives against differences."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad, hessian, pushforward
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link import make_linker
from occelo_link.loops.ir import cost
from occelo_link.units.thread_pool import thread_pool
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import loop

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
MODES = ["native", "c", "vm"] if THOROUGH else ["native"]


@pytest.mark.parametrize("mode", MODES)
def test_many_steps(mode: str) -> None:
    steps, w = 100_000 if THOROUGH or mode == "native" else 10_000, ot.dscalar("w")
    final, trace = loop(lambda s: (ot.sin(w * s + 1.0),) * 2, np.float64(0.3), length=steps)
    f = oc.function([w], [final, trace, grad(final + trace.mean(), w)], mode=mode)

    def by_hand(w: float) -> list[float]:
        s, found = 0.3, list[float]()
        for _ in range(steps):
            s = math.sin(w * s + 1.0)
            found.append(s)
        return found

    last, whole, slope = f(0.7)
    wanted = by_hand(0.7)
    np.testing.assert_allclose(whole, wanted, rtol=1e-12)
    assert last == whole[-1]
    up, down = by_hand(0.7 + 1e-6), by_hand(0.7 - 1e-6)
    total = (up[-1] - down[-1]) + (math.fsum(up) - math.fsum(down)) / steps
    np.testing.assert_allclose(slope, total / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("mode", MODES)
def test_a_body_of_many_nodes(mode: str) -> None:
    # compilers of C take a time that is quadratic in the length of a block
    count = 250 if not THOROUGH else 500 if mode == "c" else 5_000
    w = ot.dscalar("w")

    def step(s: Any) -> Any:
        for _ in range(count):
            s = ot.sin(s * w)
        return s, None

    final, _ = loop(step, np.float64(0.5), length=3)
    found, slope = oc.function([w], [final, grad(final, w)], mode=mode)(1.01)

    def by_hand(w: float) -> float:
        s = 0.5
        for _ in range(3 * count):
            s = math.sin(s * w)
        return s

    np.testing.assert_allclose(found, by_hand(1.01), rtol=1e-10)
    np.testing.assert_allclose(slope, (by_hand(1.01 + 1e-6) - by_hand(1.01 - 1e-6)) / 2e-6, 1e-5)


@pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")
@pytest.mark.parametrize("mode", ["native", "c", "numba", "jax", "pytorch", "py", "vm"])
def test_three_levels(mode: str) -> None:
    pytest.importorskip({"numba": "numba", "jax": "jax", "pytorch": "torch"}.get(mode, "numpy"))
    uncompiled = mode == "pytorch" and not THOROUGH  # Inductor takes half a minute
    linker: Any = type(make_linker(mode))(compiled=False) if uncompiled else mode
    x, w = ot.dvector("x"), ot.dscalar("w")

    def inner(s: Any, e: Any) -> Any:
        return loop(lambda t, v: (ot.sin(t + v * e), None), s, x)[0]

    def middle(s: Any, e: Any) -> Any:
        return loop(lambda t, v: (inner(t, v * e) * w, None), s, x[:4])[0]

    final, _ = loop(lambda t, v: (middle(t, v), None), w, x[:3])
    f = oc.function([x, w], [final, *grad(final, [x, w])], mode=oc.Mode(linker))

    def by_hand(x: Any, w: float) -> float:
        s = w
        for a in x[:3]:
            for b in x[:4]:
                for c in x:
                    s = math.sin(s + c * b * a)
                s *= w
        return s

    value, h = np.random.default_rng(0).normal(size=6), 1e-6
    found, by_x, by_w = f(value, 0.8)
    np.testing.assert_allclose(found, by_hand(value, 0.8), rtol=1e-12)
    slopes = [
        (by_hand(value + h * e, 0.8) - by_hand(value - h * e, 0.8)) / (2 * h) for e in np.eye(6)
    ]
    np.testing.assert_allclose(by_x, slopes, rtol=1e-5, atol=1e-8)
    wanted = (by_hand(value, 0.8 + h) - by_hand(value, 0.8 - h)) / (2 * h)
    np.testing.assert_allclose(by_w, wanted, rtol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_both_modes_and_orders(mode: str) -> None:
    v = ot.dvector("v")
    final, _ = loop(lambda s: (ot.tanh(v[0] * s + v[1]) * v[2], None), np.float64(0.3), length=1000)
    along = pushforward(final, v, ot.ones_like(v))
    outputs = [grad(final, v), hessian(final, v), along, pushforward(along, v, ot.ones_like(v))]
    f = oc.function([v], outputs, mode=mode)
    at, h = np.array([0.7, 0.1, 1.1]), 1e-5
    slopes, curved, first, second = f(at)
    moved = [(f(at + h * e)[0] - f(at - h * e)[0]) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(curved, moved, rtol=1e-6)
    np.testing.assert_allclose([first, second], [slopes.sum(), curved.sum()], rtol=1e-9)


def test_a_truncated_gradient_with_taps() -> None:
    start, a = ot.dvector("start"), ot.dscalar("a")
    y = scan(
        lambda p, q: a * p + ot.sin(q),
        outputs_info={"initial": start, "taps": [-2, -1]},
        n_steps=6, truncate_gradient=2, return_updates=False,
    )  # fmt: skip
    values, by_start, by_a = oc.function([start, a], [y, *grad(y[-1], [start, a])])([0.1, 0.2], 0.5)
    np.testing.assert_array_equal(by_start, 0.0)
    # the last two steps, whose states before are constants
    np.testing.assert_allclose(by_a, values[3] + np.cos(values[4]) * values[2], rtol=1e-12)


@pytest.mark.parametrize("mode", ["native", "c"] if THOROUGH else ["native"])
@pytest.mark.parametrize("length", [3000, None])
def test_wide_steps_in_several_threads(
    mode: str, length: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loop inside of another loop is divided, with the same bits for any number of threads."""
    monkeypatch.setattr(cost, "ENOUGH", -1 if length else 200)
    pool = thread_pool()
    monkeypatch.setattr(pool, "worth", 1)
    factors, start = ot.dvector("factors"), ot.dvector("start", shape=(length,))

    def step(e: Any, s: Any) -> Any:
        rows = ot.stack([s, s * e])
        return ot.tanh(s) * e + s[::-1] / abs(s).sum() + rows.sum(axis=0) / rows.sum(axis=1)[1]

    final: Any = scan(step, factors, start, return_updates=False)[-1]
    outputs = [final, grad((final**2).sum(), start)]
    lengths = (length,) if length else (0, 1, 2, 5, 3000)
    results: dict[int, Any] = {}
    for threads in (1, 2, 3, 8, 64):
        with config.change_flags(native__threads=threads, cache=False):
            f = oc.function([factors, start], outputs, mode=mode)
        for n in lengths:
            values = np.linspace(0.5, 1.5, 7), np.random.default_rng(0).normal(size=n)
            before = pool.loops
            found = f(*values)
            assert (pool.loops > before + 5) == (threads > 1 and n > 1000)
            expected = results.setdefault(n, found)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))
    for n in lengths:
        s = np.random.default_rng(0).normal(size=n)
        for e in np.linspace(0.5, 1.5, 7):
            s = np.tanh(s) * e + s[::-1] / abs(s).sum() + (s + s * e) / (s * e).sum()
        np.testing.assert_allclose(results[n][0], s, rtol=1e-9, atol=1e-13)
