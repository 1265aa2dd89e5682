"""Loops whose steps change states that are no tensors or that are shared, against the same steps with NumPy's generators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import map as mapped
from occelo_loops.ops.building.classic import reduce, scan, scan_checkpoints
from occelo_loops.ops.building.loops import fori_loop, loop
from occelo_random.ops.generators import shared_rng
from occelo_random.ops.streams import RandomStream

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(jax|pytorch|cache|runs in Python|will be static)"),
    pytest.mark.filterwarnings("ignore:scan will return:DeprecationWarning"),
]


def generator_of(position: int, seed: int = 7) -> np.random.Generator:
    """The generator of the draw at a position of ``RandomStream(seed)``."""
    return np.random.default_rng(np.random.SeedSequence(seed).spawn(position + 1)[position])


def walk(draws: Callable[[], Any], steps: int, start: Any = 0.0) -> Any:
    found = []
    for _ in range(steps):
        start = start * 0.5 + draws()
        found.append(start)
    return np.array(found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["updates", "updates of a non-sequence", "carried", "chained"])
def test_a_generator_goes_from_step_to_step(form: str, mode: str) -> None:
    g = shared_rng(seed=3, name="g")

    def updating(s: Any, rng: Any = g) -> Any:
        following, e = rng.normal()
        return s * 0.5 + e, {g: following}

    def carrying(s: Any, rng: Any) -> Any:
        following, e = rng.normal()
        return s * 0.5 + e, following

    def chained(s: Any) -> Any:
        following, e = g.normal()
        following, e = following.normal(e)
        return s * 0.5 + e, {g: following}

    start = ot.as_tensor_variable(0.0)
    if form == "carried":
        out, last = scan(carrying, outputs_info=[start, g], n_steps=5, return_updates=False)
        updates: Any = {g: last}
    else:
        fn: Any = chained if form == "chained" else updating
        constants = [g] if "non-sequence" in form else None
        # strict loops may read what is among the non-sequences
        out, updates = scan(
            fn, outputs_info=start, non_sequences=constants, n_steps=5, strict=constants is not None
        )
    f, q = oc.function([], out, updates=updates, mode=mode), np.random.default_rng(3)
    for _ in range(2):
        drawn = (lambda: q.normal(q.normal())) if form == "chained" else q.normal
        np.testing.assert_array_equal(f(), walk(drawn, 5))


def test_draws_with_a_stream_are_new_in_each_step(mode: str) -> None:
    r, x = RandomStream(7), ot.dvector("x")
    # with Python numbers as states, steps are traced repeatedly, and each trace makes a draw
    out, _ = scan(lambda s: s * 0.5 + r.normal(), outputs_info=0.0, n_steps=4)
    _, kept = loop(lambda s: (s * 0.5 + r.normal(),) * 2, np.float64(0), length=4)
    final = fori_loop(0, 4, lambda i, s: s * 0.5 + r.normal(), np.float64(0))

    def outer(s: Any) -> Any:
        inner, _ = scan(lambda v: v * 0.5 + r.normal(), outputs_info=s, n_steps=3)
        return inner[-1]

    nested = scan(outer, outputs_info=np.float64(0), n_steps=2, return_updates=False)
    each, _ = mapped(lambda e: e + r.normal(), x)
    total, _ = reduce(lambda e, s: s * 0.5 + r.normal(e), x, np.float64(0))
    some = scan_checkpoints(
        lambda s: s * 0.5 + r.normal(),
        outputs_info=np.float64(0), n_steps=7, save_every_N=3, return_updates=False,
    )  # fmt: skip
    outputs = [out, kept, final, nested, each, total, some]
    states = [state for state, _ in r.updates()]
    assert len(states) == len(outputs)
    # functions apply default updates; given explicitly, they are the same
    for updates in (None, dict(r.updates())):
        r.seed(7)
        f = oc.function([x], outputs, mode=mode, updates=updates)
        q = [np.random.Generator(np.random.PCG64()) for _ in states]
        for own, state in zip(q, states, strict=True):
            own.bit_generator.state = state.get_value().bit_generator.state
        for _ in range(2):
            found = f(np.arange(3.0))
            np.testing.assert_array_equal(found[0], walk(q[0].normal, 4))
            np.testing.assert_array_equal(found[1], walk(q[1].normal, 4))
            assert found[2] == walk(q[2].normal, 4)[-1]
            np.testing.assert_array_equal(found[3], walk(q[3].normal, 6)[2::3])
            np.testing.assert_array_equal(found[4], np.arange(3.0) + q[4].normal(size=3))
            draws = iter([q[5].normal(mean) for mean in range(3)])
            assert found[5] == walk(draws.__next__, 3)[-1]
            np.testing.assert_array_equal(found[6], walk(q[6].normal, 7)[[2, 5, 6]])


def test_explicit_and_default_updates_together() -> None:
    r, total, counter = RandomStream(7), og.shared(5, name="total"), og.shared(0, name="counter")
    counter.default_update = counter + 1

    def fn() -> Any:
        # how many numbers the draw takes depends on the total
        draw = r.binomial(total, 0.5)
        return [draw, counter], {total: total + 3, **dict(r.updates())}

    (out, counts), updates = scan(fn, n_steps=6)
    assert set(updates) == {total, counter, r.updates()[0][0]}
    f, q = oc.function([], [out, counts], updates=updates, mode="native"), generator_of(0)
    for call in range(2):
        first = 6 * call
        wanted = [q.binomial(5 + 3 * i, 0.5) for i in range(first, first + 6)]
        found = f()
        np.testing.assert_array_equal(found[0], wanted)
        np.testing.assert_array_equal(found[1], range(first, first + 6))
    assert (total.get_value(), counter.get_value()) == (5 + 36, 12)


def test_updates_that_are_lost_are_refused() -> None:
    total = og.shared(np.float64(0), name="total")
    with pytest.raises(ValueError, match="updates total: ask for return_updates"):
        scan(lambda: (total, {total: total + 1}), n_steps=3, return_updates=False)
    with pytest.raises(TypeError, match="The shared variable total must keep its dtype"):
        scan(lambda: (total, {total: total + 1j}), n_steps=3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", ["", "checkpoint", "until"])
def test_derivatives_that_read_draws(form: str, mode: str) -> None:
    """The draws are kept, since the states of a generator cannot be. A gradient is not warned of two draws with one state."""
    g, mu = shared_rng(seed=3), ot.dscalar("mu")

    def step(state: Any) -> Any:
        x, rng = state
        rng, e = rng.normal(size=3)
        rng, k = rng.integers(3)
        return (ot.sin(x * 0.9 + mu * e) * ot.exp(e[k]), rng), x

    options: dict[str, Any] = {"length": 8, "checkpoint": "sqrt" if form == "checkpoint" else None}
    if form == "until":
        options["until"] = lambda state: state[0].sum() > 2
    (x, last), kept = loop(step, (ot.zeros(3), g), **options)
    cost = kept.sum() + x.sum()
    slope = og.grad(cost, mu)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "The generator")
        f = oc.function([mu], [cost, slope, og.grad(slope, mu)], updates={g: last}, mode=mode)

    def by_hand(mu: float) -> float:
        q, x, total = np.random.default_rng(3), np.zeros(3), 0.0
        for _ in range(8):
            total += x.sum()
            e = q.normal(size=3)
            x = np.sin(x * 0.9 + mu * e) * np.exp(e[q.integers(3)])
            if form == "until" and x.sum() > 2:
                break
        return total + float(x.sum())

    found, h = f(0.3), 1e-4
    down, here, up = (by_hand(0.3 + d) for d in (-h, 0.0, h))
    wanted = [here, (up - down) / (2 * h), (up - 2 * here + down) / h**2]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert f(0.3)[0] != found[0]
