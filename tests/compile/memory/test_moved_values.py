"""Updates that only exchange values between variables: no element is copied."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

COMPILED_HERE = {"py", "vm", "native", "c", "c|py", "numba"}


def states(*names: str) -> list[Any]:
    return [oc.shared(np.full(3, float(i)), name) for i, name in enumerate(names)]


def held(*variables: Any) -> list[Any]:
    return [v.container.storage[0] for v in variables]


def values(*variables: Any) -> list[float]:
    return [float(v.get_value()[0]) for v in variables]


def test_two_variables_swap_their_storage(mode: str) -> None:
    a, b = states("a", "b")
    f = oc.function([], None, updates=[(a, b), (b, a)], mode=mode)
    for k in range(4):
        before = held(a, b)
        f()
        assert values(a, b) == ([1.0, 0.0] if k % 2 == 0 else [0.0, 1.0])
        if mode in COMPILED_HERE:
            assert all(x is y for x, y in zip(held(b, a), before, strict=True))


def test_cycles_and_chains_with_results_and_computed_updates(mode: str) -> None:
    a, b, c, d = states("a", "b", "c", "d")
    x = ot.dscalar("x")
    f = oc.function([x], [a, b + x, c], updates=[(a, b), (b, c), (c, a), (d, d * 2 + x)], mode=mode)
    expected = [0.0, 1.0, 2.0, 3.0]
    for k in range(5):
        ra, rb, rc = f(float(k))
        assert [ra[0], rb[0], rc[0]] == [expected[0], expected[1] + k, expected[2]]
        for result in (ra, rb, rc):
            result[:] = 99.0  # results are the caller's
        e = expected
        expected = [e[1], e[2], e[0], e[3] * 2 + k]
        assert values(a, b, c, d) == expected
        pairs = [(p, q) for p in held(a, b, c, d) for q in held(a, b, c, d) if p is not q]
        if mode in COMPILED_HERE:
            assert not any(np.may_share_memory(p, q) for p, q in pairs)
            assert len(pairs) == 12


@pytest.mark.parametrize("change", ["computed", "part", "grown", "view"])
def test_a_register_is_shifted(mode: str, change: str) -> None:
    a, b, c = states("a", "b", "c")
    x = ot.dscalar("x")
    new = {
        "computed": c * 0 + x,
        "part": c[0].set(x),
        "grown": c[:2].inc(x - c[:2]),
        "view": c[::-1],
    }[change]
    f = oc.function(
        [x], None, updates=[(a, b), (b, c), (c, new)], mode=mode, on_unused_input="ignore"
    )
    history = [0.0, 1.0, 2.0]
    for k in range(5):
        f(10.0 + k)
        history = [*history[1:], history[-1] if change == "view" else 10.0 + k]
        assert values(a, b, c) == history


def test_one_value_for_two_variables_is_copied(mode: str) -> None:
    a, b, c = states("a", "b", "c")
    f = oc.function([], None, updates=[(a, c), (b, c), (c, c + 1)], mode=mode)
    f()
    f()
    assert values(a, b, c) == [3.0, 3.0, 4.0]
    a.get_value(borrow=True)[:] = -1.0
    assert values(b, c) == [3.0, 4.0]


def test_what_keeps_its_value_is_copied(mode: str) -> None:
    a, b = states("a", "b")
    f = oc.function([], None, updates=[(a, b)], mode=mode)
    f()
    assert held(a)[0] is not held(b)[0]
    b.set_value(np.full(3, 7.0))
    assert values(a, b) == [1.0, 7.0]


def test_own_values_stay_where_they_are() -> None:
    (a,) = states("a")
    f = oc.function([], None, updates=[(a, a)])
    before = held(a)[0]
    f()
    assert held(a)[0] is before


def test_arguments_do_not_become_states() -> None:
    (a,) = states("a")
    x = ot.dvector("x")
    f = oc.function([oc.In(x, value=np.zeros(3), update=a)], None, updates=[(a, x)])
    given = np.full(3, 5.0)
    f(given)
    given[:] = -1.0
    assert values(a) == [5.0]
    f()
    assert values(a) == [0.0]


def test_a_call_that_fails_moves_nothing(mode: str) -> None:
    a, b = states("a", "b")
    i = ot.lscalar("i")
    f = oc.function([i], a[i], updates=[(a, b), (b, a)], mode=mode)
    with pytest.raises(IndexError):
        f(5)
    assert values(a, b) == [0.0, 1.0]
    assert f(1) == 0.0
    assert values(a, b) == [1.0, 0.0]


def test_a_swap_takes_no_time_for_its_size(mode: str) -> None:
    if mode not in COMPILED_HERE:
        pytest.skip("arrays may be copied into the library and out of it")
    a, b = (oc.shared(np.zeros(2_000_000), borrow=True) for _ in range(2))
    f = oc.function([], None, updates=[(a, b), (b, a)], mode=mode)
    f()

    def seconds(work: Any) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    copying = min(seconds(lambda: (held(a)[0].copy(), held(b)[0].copy())) for _ in range(5))
    assert min(seconds(f) for _ in range(20)) < copying / 4


def test_debug_mode_and_copies() -> None:
    a, b = states("a", "b")
    x = ot.dvector("x")
    f = oc.function([x], a + x, updates=[(a, b), (b, a)], mode="DebugMode")
    assert f([1.0, 1.0, 1.0]).tolist() == [1.0] * 3
    assert values(a, b) == [1.0, 0.0]
    c = oc.shared(np.full(3, 8.0), "c")
    g = oc.function([x], a + x, updates=[(a, b), (b, a)]).copy(swap={b: c})
    g(np.zeros(3))
    assert values(a, b, c) == [8.0, 0.0, 1.0]
