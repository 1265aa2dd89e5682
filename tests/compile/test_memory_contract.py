"""The memory contract over combinations of borrow, mutable, views, repeated outputs and updates."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot

Build = Callable[[Any, Any], Any]

BUILDS: dict[str, Build] = {
    "the input": lambda x, w: x,
    "a view of the input": lambda x, w: x[::-1],
    "a part of the input": lambda x, w: x[1:],
    "the shared variable": lambda x, w: w,
    "a view of the shared variable": lambda x, w: w[1:],
    "a constant": lambda x, w: ot.constant(np.arange(3.0)),
    "a branch": lambda x, w: ot.ifelse(x[0] > 0, x, w),
    "something new": lambda x, w: ot.exp(x) * 2,
    "a checked input": lambda x, w: ot.assert_op(x, ot.gt(x[0], 0)),
    "a reshaped input": lambda x, w: x.reshape((3, 1)).T,
}
UPDATES: dict[str, Build | None] = {
    "none": None,
    "to the input": lambda x, w: x,
    "to a view of itself": lambda x, w: w[::-1],
    "to itself": lambda x, w: w * 1.0,
    "to something new": lambda x, w: w + x,
}
INPUTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "borrowed": {"borrow": True},
    "mutable": {"mutable": True},
}


@dataclass(frozen=True)
class Combination:
    """What one function is made of."""

    given: str
    outputs: tuple[tuple[str, bool], ...]
    update: str

    def __str__(self) -> str:
        outs = ", ".join(f"{name}{' borrowed' if b else ''}" for name, b in self.outputs)
        return f"{self.given} input; {outs}; update {self.update}"


def combinations() -> Iterator[Combination]:
    pairs = [
        tuple(zip(names, flags, strict=True))
        for names in itertools.combinations_with_replacement(BUILDS, 2)
        for flags in itertools.product([False, True], repeat=2)
    ]
    for given, outs, update in itertools.product(INPUTS, pairs, UPDATES):
        yield Combination(given, outs, update)


ALL = list(combinations())


def chosen(mode: str) -> list[Combination]:
    """All of them in thorough runs; else a fixed sample, a small one where compiling takes long."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        return ALL
    return random.Random(5).sample(ALL, 8 if mode in ("c", "c|py", "numba") else 120)


def stored(w: Any) -> Any:
    """What lies in the container: an array of NumPy's, or memory that another library holds."""
    value = w.container.storage[0]
    return value if isinstance(value, np.ndarray) else np.asarray(value)


def check(combination: Combination, mode: str) -> None:
    x = ot.dvector("x")
    w = oc.shared(np.array([5.0, 6.0, 7.0]), "w")
    update = UPDATES[combination.update]
    f = oc.function(
        [oc.In(x, **INPUTS[combination.given])],
        [oc.Out(BUILDS[name](x, w), borrow=b) for name, b in combination.outputs],
        updates=None if update is None else {w: update(x, w)},
        mode=mode,
        on_unused_input="ignore",
    )
    value = np.array([1.0, 2.0, 3.0])
    given, before = value.copy(), w.get_value()
    held = stored(w)
    first = f(given)
    expected = [
        og.evaluate(BUILDS[name](ot.constant(value), ot.constant(before)))
        for name, _ in combination.outputs
    ]
    for found, wanted in zip(first, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    if combination.given != "mutable":
        np.testing.assert_array_equal(given, value)
    own = stored(w)
    assert not np.may_share_memory(own, given), "an update shares the user's array"
    for (_, borrowed), out in zip(combination.outputs, first, strict=True):
        if not borrowed:
            assert not np.may_share_memory(out, given)
        for storage in (own, held):
            assert not np.may_share_memory(out, storage), "an output shares what is shared"
    (_, a), (_, b) = combination.outputs
    if not (a and b):
        assert not np.may_share_memory(*first)
    new = own.copy()
    for (_, borrowed), out in zip(combination.outputs, first, strict=True):
        if not borrowed:
            out[...] = -9.0
    np.testing.assert_array_equal(stored(w), new)
    second = f(value.copy())
    if update is None:
        for found, wanted in zip(second, expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
    for (_, borrowed), out in zip(combination.outputs, first, strict=True):
        if not borrowed:
            assert (out == -9.0).all(), "a later call wrote into what was handed out"


def test_what_is_the_users_stays_the_users_and_what_is_internal_stays_inside(mode: str) -> None:
    for combination in chosen(mode):
        try:
            check(combination, mode)
        except Exception as error:
            error.add_note(str(combination))
            raise


def test_overlapping_arguments_are_safe_whatever_their_flags(mode: str) -> None:
    for one, other in itertools.product(INPUTS, repeat=2):
        x, y = ot.dvectors("x", "y")
        f = oc.function(
            [oc.In(x, **INPUTS[one]), oc.In(y, **INPUTS[other])],
            [ot.exp(x) * 2, ot.sin(y) + 1, x + y],
            mode=mode,
        )
        data = np.arange(4.0)
        left, right = data[:3], data[1:]
        kept = data.copy()
        a, b, c = f(left, right)
        np.testing.assert_allclose(a, np.exp(kept[:3]) * 2)
        np.testing.assert_allclose(b, np.sin(kept[1:]) + 1)
        np.testing.assert_allclose(c, kept[:3] + kept[1:])
        if "mutable" not in (one, other):
            np.testing.assert_array_equal(data, kept)


@pytest.mark.parametrize("borrow", [False, True])
def test_shared_values_are_copied_unless_borrowed(borrow: bool) -> None:
    data = np.ones(2)
    w = oc.shared(data, borrow=borrow)
    assert np.may_share_memory(w.container.storage[0], data) is borrow
    assert np.may_share_memory(w.get_value(borrow=borrow), w.container.storage[0]) is borrow
    more = np.zeros(2)
    w.set_value(more, borrow=borrow)
    assert np.may_share_memory(w.container.storage[0], more) is borrow
