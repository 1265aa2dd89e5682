"""Loops on JAX and PyTorch whose steps change the length of the state only for some elements: in one of two branches,
or by a slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import Constant, Op, Type
from occelo_graph import tensor as ot
from occelo_graph.ops.control import ifelse
from occelo_graph.tensors.type import TensorType
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.loops import loop
from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are

__all__ = ["graphs_of_pytorch_run_as_they_are"]

pytestmark = pytest.mark.filterwarnings("ignore:.*(runs in Python|static|computes both sides)")
Vector = npt.NDArray[np.float64]
STEPS = [[1.0, -1.0, 3.0], [-1.0, -2.0], [2.0], [-1.0], []]
LENGTHS = [0, 1, 2, 3]


def judge(f: Any, reference: Any, *arguments: Any) -> None:
    found, expected = f(*arguments), reference(*arguments)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == np.shape(other), arguments
        np.testing.assert_allclose(one, other, err_msg=str(arguments))


def calls() -> Iterator[tuple[Vector, Vector, Vector]]:
    """Elements of the steps, the state at first, and another vector, in an order that mixes lengths."""
    for steps in STEPS:
        for n in LENGTHS:
            for k in LENGTHS:
                yield np.array(steps), np.arange(1.0, n + 1), np.arange(10.0, 10 + k)


x, s, y = ot.dvector("x"), ot.dvector("s"), ot.dvector("y")


def test_a_branch_gives_the_state_another_length(backend: str) -> None:
    state = loop(lambda v, e: (ifelse(e > 0, y, v + e), None), s, x)[0]
    f = oc.function([x, s, y], [state, state.shape, state.sum(), state[::-1] * 2], mode=backend)

    def reference(x: Vector, s: Vector, y: Vector) -> Sequence[Any]:
        for e in x:
            s = y if e > 0 else s + e
        return s, s.shape, s.sum(), s[::-1] * 2

    for arguments in calls():
        judge(f, reference, *arguments)


def test_a_branch_makes_the_state_longer_or_shorter(backend: str) -> None:
    def step(v: Any, e: Any) -> Any:
        shorter = ifelse(e < -1, v[1:], v)
        return ifelse(e > 0, ot.concatenate([v, y * e]), shorter), v.sum() + v.shape[0]

    state, kept = loop(step, s, x)
    f = oc.function([x, s, y], [state, kept], mode=backend)

    def reference(x: Vector, s: Vector, y: Vector) -> Sequence[Any]:
        kept: list[float] = []
        for e in x:
            kept.append(s.sum() + len(s))
            s = np.concatenate([s, y * e]) if e > 0 else s[1:] if e < -1 else s
        return s, np.array(kept)

    for arguments in list(calls())[::3]:
        judge(f, reference, *arguments)


def test_a_constant_of_another_length_in_a_branch(backend: str) -> None:
    constant = np.array([7.0, 8.0])
    state = loop(lambda v, e: (ifelse(e > 0, ot.as_tensor(constant), v), None), s, x)[0]
    f = oc.function([x, s], [state], mode=backend)
    for steps, start, _ in list(calls())[::4]:
        judge(f, lambda x, s: [constant if (x > 0).any() else s], steps, start)


def test_a_slice_whose_length_depends_on_values(backend: str) -> None:
    n = ot.lvector("n")
    f = oc.function([n, s], [loop(lambda v, e: (v[e:], None), s, n)[0]], mode=backend)
    for counts in ([0, 0], [1, 0, 2], [0], []):
        for length in LENGTHS:
            start = np.arange(float(length))
            judge(f, lambda n, s: [s[sum(n) :]], np.array(counts, "int64"), start)


def test_such_loops_in_branches_and_loops(backend: str) -> None:
    """The loop runs in each step of another loop, whose state keeps its length or does not, and in a branch."""

    def changed(v: Any) -> Any:
        return loop(lambda w, e: (ifelse(e > 0, y, w + e), None), v, x)[0]

    total = loop(lambda t, e: (t + (changed(s + t) * e).sum(), None), ot.constant(0.0), x)[0]
    nested = loop(lambda v, e: (changed(v) * e, None), s, x)[0]
    chosen = ifelse(s.sum() > 2, changed(s), y + 1)
    f = oc.function([x, s, y], [total, nested, chosen], mode=backend)

    def plain(x: Vector, s: Vector, y: Vector) -> Vector:
        for e in x:
            s = y if e > 0 else s + e
        return s

    def reference(x: Vector, s: Vector, y: Vector) -> Sequence[Any]:
        t, v = 0.0, s
        for e in x:
            t, v = t + (plain(x, s + t, y) * e).sum(), plain(x, v, y) * e
        return np.array(t), v, plain(x, s, y) if s.sum() > 2 else y + 1

    for arguments in list(calls())[::5]:
        judge(f, reference, *arguments)


def test_states_are_updated_once(backend: str) -> None:
    """A call that is traced again because a length changes does not update shared variables twice."""
    count = oc.shared(np.zeros(2), name="count")
    state = loop(lambda v, e: (ifelse(e > 0, y, v), None), s, x)[0]
    f = oc.function([x, s, y], [state], updates={count: count + state.sum()}, mode=backend)
    expected = np.zeros(2)
    for steps, start, other in list(calls())[::3]:
        last = other if (steps > 0).any() else start
        judge(f, lambda *_, last=last: [last], steps, start, other)
        expected = expected + last.sum()
        np.testing.assert_allclose(count.get_value(), expected)


def test_gradients_of_what_such_loops_decide(backend: str) -> None:
    """The state itself has no gradient in reverse mode, but what is computed with it has."""
    state = loop(lambda v, e: (ifelse(e > 0, y, v), None), s, x)[0]
    w = ot.dscalar("w")
    f = oc.function([x, s, y, w], og.grad((state * w**2).sum(), [w]), mode=backend)
    for steps, start, other in list(calls())[::3]:
        last = other if (steps > 0).any() else start
        judge(f, lambda *_, last=last: [2 * 3.0 * last.sum()], steps, start, other, np.array(3.0))


def test_branches_of_different_lengths_outside_of_loops(backend: str) -> None:
    c = ot.dscalar("c")
    chosen = ifelse(c > 0, y, s * 2)
    outputs = [chosen, chosen.shape, *og.grad((chosen**2).sum(), [s, y])]
    f = oc.function([c, s, y], outputs, mode=backend)

    def reference(c: Vector, s: Vector, y: Vector) -> Sequence[Any]:
        if c > 0:
            return y, y.shape, 0 * s, 2 * y
        return s * 2, s.shape, 8 * s, 0 * y

    for number in (1.0, -1.0):
        for n in LENGTHS:
            for k in LENGTHS:
                judge(f, reference, np.array(number), np.arange(1.0, n + 1), np.arange(1.0, k + 1))


class PairType(Type):
    """Two vectors of one length: a tuple of floats and of integers."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, tuple) and len(data) == 2:
            return data
        raise TypeError(f"Expected two vectors, got {data!r}")

    def parts(self) -> tuple[Any, ...]:
        return TensorType("float64", (None,)), TensorType("int64", (None,))

    def to_parts(self, value: Any) -> Sequence[Any]:
        return value

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return tuple(parts)


pair = PairType()


def appended(p: Any, e: Any) -> Any:
    """The two vectors with an element more: a number, and the length so far."""
    return np.append(p[0], e), np.append(p[1], len(p[1]))


class Appended(Op):
    __props__ = ()

    def infer(self, p: Any, e: Any) -> Any:
        return p

    def evaluate(self, p: Any, e: Any) -> Any:
        return appended(p, e)


def test_values_of_several_arrays_change_their_length_in_a_branch(backend: str) -> None:
    p, q = pair.make_variable("p"), Constant(pair, (np.array([5.0]), np.array([0])))
    longer = loop(lambda v, e: (ifelse(e > 0, Appended()(v, e), v), None), p, x)[0]
    other = loop(lambda v, e: (ifelse(e > 0, q, v), None), p, x)[0]
    f = oc.function([p, x], [longer, other], mode=backend)
    for steps in STEPS:
        for length in LENGTHS:
            start = (np.arange(float(length)), np.arange(length))
            expected = start
            for e in steps:
                expected = appended(expected, e) if e > 0 else expected
            found = f(start, np.array(steps))
            last = q.data if any(e > 0 for e in steps) else start
            for one, two in zip([*found[0], *found[1]], [*expected, *last], strict=True):
                assert one.dtype == two.dtype
                np.testing.assert_array_equal(one, two)


def test_the_errors_of_ops_with_empty_results_are_raised(backend: str) -> None:
    """JAX does not call functions whose results are empty."""
    a = ot.dmatrix("a")
    f = oc.function([a], linalg.schur(a), mode=backend)
    with pytest.raises(ValueError, match="square"):
        f(np.ones((0, 3)))
    assert [r.shape for r in f(np.ones((0, 0)))] == [(0, 0), (0, 0)]
