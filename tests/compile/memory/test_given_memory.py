"""Arguments that `In` allows to be overwritten but that cannot be: read-only arrays, elements that share memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile.memory import own_memory
from occelo_graph import tensor as ot

CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], None]]] = {
    "exp": (ot.exp, lambda a: a.__setitem__(slice(None), np.exp(a))),
    "set": (lambda v: v[0].set(5.0), lambda a: a.__setitem__(0, 5.0)),
    "inc": (lambda v: v[1:].inc(5.0), lambda a: a.__setitem__(slice(1, None), a[1:] + 5.0)),
    "inc at": (lambda v: v[[0, 1]].inc(5.0), lambda a: a.__setitem__([0, 1], a[:2] + 5.0)),
    "add": (lambda v: v + 1.0, lambda a: a.__iadd__(1.0)),
}


def read_only() -> Any:
    array = np.arange(3.0)
    array.flags.writeable = False
    return array


GIVEN: dict[str, Callable[[], Any]] = {
    "read-only": read_only,
    "broadcast": lambda: np.broadcast_to(np.float64(1.0), (3,)),
    "overlapping": lambda: np.lib.stride_tricks.as_strided(np.ones(1), (3,), (0,)),
    "reversed": lambda: read_only()[::-1],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("given", GIVEN)
def test_what_cannot_be_overwritten_is_copied(mode: str, given: str, change: str) -> None:
    v = ot.dvector("v")
    array = GIVEN[given]()
    before = array.copy()
    expected = array.copy()
    CHANGES[change][1](expected)
    f = oc.function([oc.In(v, mutable=True)], CHANGES[change][0](v), mode=mode)
    for _ in range(3):
        np.testing.assert_allclose(f(array), expected, rtol=1e-14)
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("change", CHANGES)
def test_states_that_are_read_only_are_left_alone(mode: str, change: str) -> None:
    array = read_only()
    w = oc.shared(array, borrow=True)
    f = oc.function([], None, updates={w: CHANGES[change][0](w)}, mode=mode)
    expected = array.copy()
    for _ in range(2):
        f()
        CHANGES[change][1](expected)
        np.testing.assert_allclose(w.get_value(), expected, rtol=1e-14)
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_arrays_that_can_be_overwritten_are_taken_as_they_are() -> None:
    a = np.zeros((4, 5, 6))
    for free in (a, a.T, a[::2, ::-1], a[:, 1], a[:0], a.transpose(1, 0, 2)[1:], np.zeros(())):
        assert own_memory(free) is free
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 3, writeable=True)
    for shared in (windows, windows[:, ::-1], np.broadcast_to(a, (2, 4, 5, 6))):
        assert own_memory(shared) is not shared
        assert not np.may_share_memory(own_memory(shared), shared)
    assert own_memory(windows[::3]).base is not None
