"""Loops with checkpoints: the same results and gradients, and less memory for gradients."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import scan, scan_checkpoints, until
from occelo_loops.ops.building.loops import loop

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
X = np.random.default_rng(0).normal(size=(11, 3))


def step(state: Any, element: Any, a: Any) -> Any:
    new = ot.tanh(a * state[0] + element) + 0.1 * state[1]
    return (new, state[1] + 1), {"new": new, "sum": new.sum()}


def results(checkpoint: Any, back: bool, second: bool) -> tuple[list[Any], list[Any]]:
    a, x, n = ot.dvector("a"), ot.dmatrix("x"), ot.lscalar("n")
    (final, count), kept = loop(
        lambda s, e: step(s, e, a), (a, 0), x, length=n, reverse=back, checkpoint=checkpoint
    )
    cost = (final**2).sum() + (kept["new"] ** 3).sum() + kept["sum"][0]
    slopes = og.grad(cost, [a, x])
    more = [og.grad(slopes[0].sum(), a)] if second else []
    return [a, x, n], [final, count, kept["new"], kept["sum"], *slopes, *more]


def compare(checkpoint: Any, back: bool, second: bool, mode: str, numbers: list[int]) -> None:
    plain = oc.function(*results(None, back, second), mode="native")
    f = oc.function(*results(checkpoint, back, second), mode=mode)
    for steps in numbers:
        given = [0.3, -0.2, 0.5], X, steps
        for got, wanted in zip(f(*given), plain(*given), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.measured(0)
@pytest.mark.sampled(7)
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("checkpoint", [1, 3, 40, "sqrt", "100 B", "1 MB"])
def test_results_and_derivatives_are_the_same(checkpoint: Any, back: bool) -> None:
    compare(checkpoint, back, True, "native", [11, 9, 2, 1])


@pytest.mark.parametrize("mode", ["py", "vm"])
def test_results_are_the_same_in_python(mode: str) -> None:
    compare(2, False, False, mode, [5])


@pytest.mark.measured(0)
@pytest.mark.sampled(10)
@pytest.mark.parametrize("mode", ["native", "c", "vm"])
@pytest.mark.parametrize("back", [False, True])
@pytest.mark.parametrize("checkpoint", [1, 3, 40, "sqrt", "100 B"])
def test_a_condition_may_end_them(checkpoint: Any, back: bool, mode: str) -> None:
    functions: list[Any] = []
    for every in (None, checkpoint):
        a, x, n, most = ot.dvector("a"), ot.dmatrix("x"), ot.lscalar("n"), ot.lscalar("most")
        (final, count), kept = loop(
            lambda s, e, a=a: step(s, e, a),
            (a, 0), x, length=n, reverse=back, checkpoint=every, until=lambda s, m=most: s[1] >= m,
        )  # fmt: skip
        cost = (final**2).sum() + (kept["new"] ** 3).sum() + kept["sum"][0]
        slopes = og.grad(cost, [a, x])
        outputs = [final, count, kept["new"], kept["sum"], *slopes, og.grad(slopes[0].sum(), a)]
        functions.append(oc.function([a, x, n, most], outputs, mode=mode if every else "native"))
    for steps, most in ((11, 1), (11, 3), (11, 5), (11, 6), (11, 10), (9, 9), (9, 20), (1, 1)):
        given = [0.3, -0.2, 0.5], X, steps, most
        plain, found = (f(*given) for f in functions)
        assert found[1] == min(steps, most) == len(found[2])
        for got, wanted in zip(found, plain, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)


def test_no_step_and_too_many() -> None:
    x, n = ot.dmatrix("x"), ot.lscalar("n")
    final, kept = loop(lambda s, e: (s + e, s), np.zeros(3), x, length=n, checkpoint="sqrt")
    f = oc.function([x, n], [final, kept], mode="native")
    assert [v.shape for v in f(X, 0)] == [(3,), (0, 3)]
    for wrong in (-1, 12):
        with pytest.raises(ValueError, match=r"number of steps|steps, but its sequence"):
            f(X, wrong)


def test_the_classic_forms() -> None:
    x, a = ot.dmatrix("x"), ot.dscalar("a")

    def fn(element: Any, state: Any, factor: Any) -> Any:
        return ot.tanh(factor * state + element)

    plain = scan(fn, x, ot.zeros(3), a, return_updates=False)
    some = scan_checkpoints(fn, x, ot.zeros(3), a, save_every_N=4, return_updates=False)
    every = scan(fn, x, ot.zeros(3), a, return_updates=False, checkpoint=4)
    costs = [(v[-1] ** 2).sum() for v in (plain, some, every)]
    f = oc.function([x, a], [plain, some, every, *(og.grad(c, a) for c in costs)], mode="native")
    for steps in (11, 8, 3):
        found = f(X[:steps], 0.7)
        ends = sorted({*range(3, steps, 4), steps - 1})
        np.testing.assert_allclose(found[1], found[0][ends])
        np.testing.assert_allclose(found[2], found[0])
        np.testing.assert_allclose(found[4:], found[3])
    ended, _ = scan_checkpoints(
        lambda s: (s * 2, until(s * 2 >= a)),
        outputs_info=ot.ones_like(a),
        n_steps=20,
        save_every_N=3,
    )
    f = oc.function([a], ended, mode="native")
    assert [f(2.0**n).tolist() for n in (2, 6, 7)] == [[4], [8, 64], [8, 64, 128]]


def test_memory_is_bounded() -> None:
    """The peak of a gradient over 300 steps with a state of 8 kB: 2.4 MB are kept without checkpoints.

    The linker vm copies what it writes to, so it needs up to three times what is kept.
    """
    start, n = ot.dvector("start"), ot.lscalar("n")
    peaks: dict[Any, float] = {}
    for checkpoint in (None, "sqrt", "400 kB"):
        final, _ = loop(lambda s: (ot.sin(s), None), start, length=n, checkpoint=checkpoint)
        f = oc.function([start, n], og.grad(final.sum(), start), mode="vm")
        value = np.linspace(0.1, 1.0, 1000)
        f(value, 3)
        tracemalloc.start()
        f(value, 300)
        peaks[checkpoint] = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    assert peaks[None] > 2.4
    assert peaks["sqrt"] < 0.9
    assert peaks["400 kB"] < 1.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checkpoint": 0}, "at least one step"),
        ({"checkpoint": "some"}, "'sqrt', or a budget such as '64 MB', and not 'some'"),
    ],
)
def test_mistakes(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        loop(lambda s: (s * 2, None), ot.dscalar("s"), length=9, **options)
