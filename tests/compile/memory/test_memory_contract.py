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
from occelo_graph.ops.control.python_function import wrap_py

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


@pytest.mark.sampled(5)
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


@og.op
class _UndeclaredView(og.Op):
    """Returns a view of its input, and does not say so."""

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x[::-1][::-1]


class _OlderUndeclaredView(og.Op):
    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return og.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
        output_storage[0][0] = inputs[0]


@og.op
class _TwoUndeclaredViews(og.Op):
    """Returns one new array twice."""

    def infer(self, x: Any) -> Any:
        return x, x

    def evaluate(self, x: Any) -> Any:
        made = x.copy()
        return made, made[:]


UNDECLARED: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda x: _UndeclaredView()(x),
    "perform": lambda x: _OlderUndeclaredView()(x),
    "one result twice": lambda x: _TwoUndeclaredViews()(x)[0] + _TwoUndeclaredViews()(x)[1] - x,
    "wrap_py": lambda x: wrap_py([x.type], [x.type])(lambda a: a)(x),
}


@pytest.mark.parametrize("backend", ["py", "vm", "native", "c|py"])
@pytest.mark.parametrize("what", UNDECLARED)
def test_views_that_an_op_does_not_declare_do_no_harm(what: str, backend: str) -> None:
    """No result is overwritten, and no array of the user's is changed or kept."""
    op, mode, a = UNDECLARED[what], oc.Mode(backend, "fast_run"), np.arange(3.0)
    x = ot.dvector("x")
    y = x * 2
    written = ot.set_subtensor(op(y)[:1], 100.0)
    first, second, third = oc.function([x], [y, written, y + written], mode=mode)(a)
    np.testing.assert_array_equal(first, 2 * a)
    np.testing.assert_array_equal(second, [100, 2, 4])
    np.testing.assert_array_equal(third, [100, 4, 8])
    found = oc.function([x], op(x), mode=mode)(a)
    assert not np.shares_memory(found, a)
    state = oc.shared(np.ones(3))
    oc.function([], op(state), mode=mode)()[:] = 7
    np.testing.assert_array_equal(state.get_value(), np.ones(3))
    b = np.zeros(3)
    oc.function([x], [], updates=[(state, op(x))], mode=mode)(b)
    b[:] = 5
    np.testing.assert_array_equal(state.get_value(), np.zeros(3))


@pytest.mark.parametrize("backend", ["py", "vm"])
def test_two_results_that_an_op_shares_are_told_apart(backend: str) -> None:
    x, a = ot.dvector("x"), np.arange(3.0)
    one, two = _TwoUndeclaredViews()(x)
    f = oc.function([x], [ot.set_subtensor(one[:1], 9.0), two], mode=oc.Mode(backend, "fast_run"))
    found, other = f(a)
    np.testing.assert_array_equal(found, [9, 1, 2])
    np.testing.assert_array_equal(other, a)
