"""Scans of which steps read values of many steps before, on every linker, against loops in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building import classic
from occelo_loops.ops.building.classic import reduce, scan, until
from occelo_loops.ops.iterate import Iterate

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
Array = npt.NDArray[Any]
RNG = np.random.default_rng(0)
K = 7
LENGTHS = [0, 1, K - 1, K, K + 1, 3 * K + 2]


@pytest.fixture(autouse=True)
def few_values_are_carried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that small tests take the same path as taps of thousands of steps."""
    monkeypatch.setattr(classic, "MOST_SCALARS", 1)
    monkeypatch.setattr(classic, "MOST_TENSORS", 1)


def recurrence(start: Array, a: float, steps: int, taps: Sequence[int] = (-K, -1)) -> Array:
    """The reference: ``y_t = a sin(y_{t + taps[0]}) + 0.5 y_{t + taps[1]} + ...``."""
    values = list(start[: -min(taps)])
    made: list[Any] = []
    for _ in range(steps):
        result = a * np.sin(values[taps[0]]) + sum(
            0.5**i * values[tap] for i, tap in enumerate(taps) if i
        )
        values.append(result)
        made.append(result)
    return np.array(made).reshape(steps, *start.shape[1:])


def scanned(start: Any, a: Any, steps: Any, taps: Sequence[int] = (-K, -1), **options: Any) -> Any:
    def step(*values: Any) -> Any:
        first, *rest = values[: len(taps)]
        return a * ot.sin(first) + sum(0.5**i * v for i, v in enumerate(rest, start=1))

    info = {"initial": start, "taps": list(taps)}
    return scan(step, outputs_info=info, n_steps=steps, return_updates=False, **options)


def slopes_of(cost: Any, *arrays: Array, eps: float = 1e-6) -> list[Array]:
    """Central differences of ``cost`` by all elements of ``arrays``."""
    found: list[Array] = []
    for i, array in enumerate(arrays):
        slope = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            ends: list[float] = []
            for by in (eps, -eps):
                moved = array.copy()
                moved[at] += by
                ends.append(cost(*arrays[:i], moved, *arrays[i + 1 :]))
            slope[at] = (ends[0] - ends[1]) / (2 * eps)
        found.append(slope)
    return found


def exact_slopes_of(cost: Any, *arrays: Array) -> list[Array]:
    """The gradient of an analytic function, by steps along the imaginary axis, which lose no digits."""
    found: list[Array] = []
    for i, array in enumerate(arrays):
        slope = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            moved = array.astype(complex)
            moved[at] += 1e-30j
            slope[at] = cost(*arrays[:i], moved, *arrays[i + 1 :]).imag / 1e-30
        found.append(slope)
    return found


def variables(ndim: int) -> tuple[Any, Any, Any]:
    start = ot.tensor("start", dtype="float64", shape=(None,) * (1 + ndim))
    return start, ot.dscalar("a"), ot.lscalar("n")


def start_of(ndim: int, depth: int = K) -> Array:
    return RNG.normal(size=(depth, *(3, 2)[:ndim]))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ndim", [0, 1, 2])
@pytest.mark.parametrize("taps", [(-K, -1), (-1, -K), (-3, -K), (-K,), (-2, -K, -5, -1)])
def test_values_of_all_steps_and_of_the_last(mode: str, ndim: int, taps: tuple[int, ...]) -> None:
    start, a, n = variables(ndim)
    values = scanned(start, a, n, taps)
    f = oc.function([start, a, n], [values, values[-3:]], mode=mode)
    last = oc.function([start, a, n], values[-1], mode=mode)
    given = start_of(ndim)
    for steps in LENGTHS:
        wanted = recurrence(given, 0.4, steps, taps)
        whole, three = f(given, 0.4, steps)
        assert whole.shape == wanted.shape
        np.testing.assert_allclose(whole, wanted, rtol=1e-12)
        np.testing.assert_allclose(three, wanted[-3:], rtol=1e-12)
        if steps:
            np.testing.assert_allclose(last(given, 0.4, steps), wanted[-1], rtol=1e-12)
    with pytest.raises(IndexError, match="out of bounds"):
        last(given, 0.4, 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ndim", [0, 1])
def test_derivatives_of_first_and_second_order(mode: str, ndim: int) -> None:
    start, a, n = variables(ndim)
    values = scanned(start, a, n)
    cost = (values**2).sum() + (ot.cos(values[-1:])).sum()
    slopes = og.grad(cost, [start, a])
    tangent = og.pushforward(cost, [start, a], [ot.ones_like(start), ot.ones_like(a)])
    second = og.grad(slopes[1] + slopes[0].sum(), [start, a])
    f = oc.function([start, a, n], [*slopes, tangent, *second], mode=mode)
    given, factor = start_of(ndim), np.array(0.4)

    def value(start: Array, a: Array, steps: int) -> float:
        values = recurrence(start, float(a), steps)
        return float((values**2).sum() + np.cos(values[-1:]).sum())

    for steps in (1, K - 1, K, 2 * K + 3):
        found = f(given, factor, steps)
        wanted = slopes_of(lambda s, b, n=steps: value(s, b, n), given, factor)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found[1], wanted[1], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found[2], sum(w.sum() for w in wanted), rtol=1e-6)

        def total(start: Array, a: Array, steps: int = steps) -> float:
            first = slopes_of(lambda s, b: value(s, b, steps), start, a, eps=1e-4)
            return float(sum(each.sum() for each in first))

        wanted = slopes_of(total, given, factor, eps=1e-4)
        np.testing.assert_allclose(found[3], wanted[0], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(found[4], wanted[1], rtol=1e-3, atol=1e-4)
    assert not f(given, factor, 0)[1]


@pytest.mark.sampled(3)
def test_several_outputs_with_far_taps_and_sequences(mode: str) -> None:
    x, one, two = ot.dvector("x"), ot.dvector("one"), ot.dmatrix("two")

    def step(e: Any, far: Any, near: Any, other: Any) -> Any:
        return 0.3 * far + e * near, ot.tanh(other * far) + near

    info = [{"initial": one, "taps": [-K, -2]}, {"initial": two, "taps": [-12]}]
    for backwards in (False, True):
        made = scan(step, x, info, go_backwards=backwards, return_updates=False)
        cost = made[0].sum() + (made[1] ** 2).sum()
        f = oc.function([x, one, two], [*made, *og.grad(cost, [x, one, two])], mode=mode)
        given = RNG.normal(size=20), RNG.normal(size=K), RNG.normal(size=(12, 2))

        def reference(
            x: Array, one: Array, two: Array, back: bool = backwards
        ) -> tuple[Array, Array]:
            p, q = list(one), list(two)
            for e in x[::-1] if back else x:
                far, near, other = p[-K], p[-2], q[-12]
                p.append(0.3 * far + e * near)
                q.append(np.tanh(other * far) + near)
            return np.array(p[K:]), np.array(q[12:])

        found = f(*given)
        for got, wanted in zip(found, reference(*given), strict=False):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        wanted = exact_slopes_of(
            lambda *v: reference(*v)[0].sum() + (reference(*v)[1] ** 2).sum(), *given
        )
        for got, each in zip(found[2:], wanted, strict=True):
            np.testing.assert_allclose(got, each, rtol=1e-9, atol=1e-12)


@pytest.mark.sampled(3)
def test_until_at_its_real_length(mode: str) -> None:
    start, a, n = variables(0)

    def step(far: Any, near: Any) -> Any:
        value = a * ot.sin(far) + near
        return value, until(value > 3.0)

    info = {"initial": start, "taps": [-K, -1]}
    values = scan(step, outputs_info=info, n_steps=n, return_updates=False)
    f = oc.function([start, a, n], [values, og.grad(values[-1] ** 2, a)], mode=mode)
    given = np.linspace(0.1, 0.5, K)

    def reference(a: float, steps: int) -> Array:
        p = list(given)
        for _ in range(steps):
            p.append(a * np.sin(p[-K]) + p[-1])
            if p[-1] > 3.0:
                break
        return np.array(p[K:])

    for steps in (3, 40):
        found = f(given, 0.5, steps)
        wanted = reference(0.5, steps)
        np.testing.assert_allclose(found[0], wanted, rtol=1e-12)
        slope = (
            reference(0.5 + 1e-7, steps)[-1] ** 2 - reference(0.5 - 1e-7, steps)[-1] ** 2
        ) / 2e-7
        np.testing.assert_allclose(found[1], slope, rtol=1e-5)
    assert len(reference(0.5, 40)) < 40


@pytest.mark.sampled(3)
def test_gradients_through_the_last_steps(mode: str) -> None:
    start, a, n = variables(0)
    given = start_of(0)
    for last in (3, K + 2, 50):
        values = scanned(start, a, n, truncate_gradient=last)
        f = oc.function([start, a, n], og.grad(values[-1], [start, a]), mode=mode)
        for steps in (2, K, 20):
            head = max(steps - last, 0)
            before = np.concatenate([given, recurrence(given, 0.4, head)])[-K:]

            def end(s: Array, b: Array, tail: int = steps - head) -> float:
                return float(recurrence(s, float(b), tail)[-1])

            wanted = slopes_of(end, before, np.array(0.4))
            if head:
                # the initial values are before the steps that are differentiated
                wanted[0] = np.zeros(K)
            for got, each in zip(f(given, 0.4, steps), wanted, strict=True):
                np.testing.assert_allclose(got, each, rtol=1e-6, atol=1e-9)


@pytest.mark.sampled(3)
def test_nested_scans_and_checkpoints(mode: str) -> None:
    start, a, n = variables(0)
    given = start_of(0)

    def outer(far: Any, near: Any) -> Any:
        inner = scanned(ot.stack([far + i for i in range(K)]), a, 3)
        return ot.tanh(inner[-1]) + 0.5 * near

    info = {"initial": start, "taps": [-K, -1]}
    values = scan(outer, outputs_info=info, n_steps=n, return_updates=False)
    blocks = scanned(start, a, n, checkpoint=4)
    costs = [(values**2).sum(), (blocks**2).sum()]
    slopes = [og.grad(cost, a) for cost in costs]
    f = oc.function([start, a, n], [values, blocks, *slopes], mode=mode)

    def reference(a: float, steps: int) -> Array:
        p = list(given)
        for _ in range(steps):
            inner = recurrence(p[-K] + np.arange(K), a, 3)
            p.append(np.tanh(inner[-1]) + 0.5 * p[-1])
        return np.array(p[K:])

    found = f(given, 0.4, 11)
    np.testing.assert_allclose(found[0], reference(0.4, 11), rtol=1e-12)
    np.testing.assert_allclose(found[1], recurrence(given, 0.4, 11), rtol=1e-12)
    for got, by in zip(found[2:], (reference, lambda a, n: recurrence(given, a, n)), strict=True):
        ends = [(by(0.4 + e, 11) ** 2).sum() for e in (1e-6, -1e-6)]
        np.testing.assert_allclose(got, (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


@pytest.mark.sampled(3)
def test_batches(mode: str) -> None:
    start, a, n = variables(0)
    starts, factors, counts = ot.dmatrix("starts"), ot.dvector("factors"), ot.lvector("counts")
    values = scanned(start, a, n)
    cost = (values**2).sum()
    slopes = og.grad(cost, [start, a])
    batch = og.vectorize_graph([cost, *slopes], {start: starts, a: factors})
    f = oc.function([starts, factors, n], batch, mode=mode)
    ends = og.vectorize_graph(cost, {start: starts, a: factors, n: counts})
    g = oc.function([starts, factors, counts], ends, mode=mode)
    one = oc.function([start, a, n], [cost, *slopes], mode="py")
    given, b = RNG.normal(size=(3, K)), np.array([0.2, 0.4, 0.6])
    found = f(given, b, 2 * K + 1)
    for i in range(3):
        for got, wanted in zip(found, one(given[i], b[i], 2 * K + 1), strict=True):
            np.testing.assert_allclose(got[i], wanted, rtol=1e-10)
    steps = [2, 0, 2 * K + 1]
    wanted = [(recurrence(*each) ** 2).sum() for each in zip(given, b, steps, strict=True)]
    np.testing.assert_allclose(g(given, b, steps), wanted, rtol=1e-10)


@pytest.mark.sampled(2)
def test_initial_values_in_all_forms(mode: str) -> None:
    """Lists of Python numbers get the dtype that a step returns; rows beyond the longest tap are not read."""
    x = ot.fvector("x")
    floats = [0.5] * K
    cases: list[tuple[Any, Any, str, Any]] = [
        (floats, lambda e, far: e + far, "float32", floats),
        ([0] * K, lambda e, far: far + 1, "int64", [0] * K),
        ([0, 0.5] * K, lambda e, far: e.astype("float64") * 2 + far, "float64", ([0, 0.5] * K)[:K]),
        (np.arange(9.0), lambda e, far: far + e, "float64", np.arange(9.0)[:K]),
    ]
    given = np.arange(10, dtype="float32")
    for initial, step, dtype, window in cases:
        info = {"initial": initial, "taps": [-K]}
        values = scan(step, x, info, return_updates=False)
        assert values.dtype == dtype
        p = list(np.asarray(window, dtype))
        for e in given:
            p.append(np.asarray(step(np.asarray(e), p[-K])).astype(dtype))
        found = oc.function([x], values, mode=mode)(given)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, p[K:], rtol=1e-6)


def test_mistakes_are_those_of_near_taps() -> None:
    start, a, _ = variables(0)

    def made(step: Any, initial: Any = start) -> Any:
        info = {"initial": initial, "taps": [-K]}
        return scan(step, outputs_info=info, n_steps=3, return_updates=False)

    with pytest.raises(TypeError, match=r"outputs_info 0 must keep its dtype: end the step with"):
        made(lambda far: far.astype("float32"))
    with pytest.raises(TypeError, match="outputs_info 0 must keep its number of dimensions"):
        made(lambda far: far * ot.ones(2))
    with pytest.raises(TypeError, match="outputs_info 0 must keep its number of dimensions"):
        made(lambda far: far * ot.ones(2), [0.0] * K)
    with pytest.raises(TypeError, match="must keep its length along axis 0, which is 2 and then 3"):
        made(lambda far: ot.concatenate([far, ot.ones(1)]), ot.ones((K, 2)))
    with pytest.raises(ValueError, match=f"needs a first axis with the {K} values"):
        made(lambda far: far, np.zeros(K - 1))
    f = oc.function([start, a], made(lambda far: far * a))
    assert f(np.ones(K), 2.0).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(ValueError, match=rf"\({K},\) was specified"):
        f(np.ones(K - 1), 2.0)
    rows = ot.dmatrix("rows")
    single = oc.function([rows], made(lambda far: far.sum(keepdims=True), rows))
    assert single(np.ones((K, 1))).tolist() == [[1.0]] * 3
    with pytest.raises(ValueError, match="was specified"):
        single(np.ones((K, 2)))


def test_debug_mode_agrees() -> None:
    start, a, n = variables(1)
    values = scanned(start, a, n)
    outputs = [values, *og.grad((values**2).sum(), [start, a])]
    f = oc.function([start, a, n], outputs, mode="DebugMode")
    given = start_of(1)
    np.testing.assert_allclose(f(given, 0.4, 2 * K)[0], recurrence(given, 0.4, 2 * K), rtol=1e-12)


def carried_by(f: Any) -> list[Any]:
    """The types of all values that the loops of a function carry."""
    return [
        v.type
        for node in f.maker.fgraph.apply_nodes
        if isinstance(node.op, Iterate)
        for v in node.op.body.inputs[: node.op.carried]
    ]


def test_what_is_carried_and_kept_is_a_window() -> None:
    """Loops have as many carried values for far taps as for near ones. Gradients keep rows, and not the window."""
    x = ot.tensor("x", dtype="float64", shape=(1000, None))
    a, n = ot.dscalar("a"), ot.lscalar("n")
    values = scanned(x, a, n, (-1000, -3))
    last = oc.function([x, a, n], values[-1])
    assert sorted((t.shape for t in carried_by(last)), key=len) == [(), (), (1000, None)]
    slope = oc.function([x, a, n], og.grad((values[-1] ** 2).sum(), [x, a]))
    assert all(len(t.shape) < 3 for t in carried_by(slope))
    assert len(carried_by(slope)) < 12
    given = RNG.normal(size=(1000, 2))
    wanted = recurrence(given, 0.4, 1500, (-1000, -3))
    np.testing.assert_allclose(last(given, 0.4, 1500), wanted[-1], rtol=1e-12)
    ends = [recurrence(given, 0.4 + e, 1500, (-1000, -3))[-1] for e in (1e-6, -1e-6)]
    wanted = ((ends[0] ** 2).sum() - (ends[1] ** 2).sum()) / 2e-6
    np.testing.assert_allclose(slope(given, 0.4, 1500)[1], wanted, rtol=1e-6)
    twice = oc.function([x, a, n], og.grad(og.grad((values**2).sum(), x).sum(), x))
    assert all(len(t.shape) < 3 for t in carried_by(twice))
    total = reduce(
        lambda e, far: e + far,
        ot.ones(5),
        {"initial": np.arange(9.0), "taps": [-9]},
        return_updates=False,
    )
    assert oc.function([], total)() == 5.0


def test_near_taps_are_carried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    a, n = ot.dscalar("a"), ot.lscalar("n")
    for ndim, depth, line in ((0, 16, False), (0, 17, True), (1, 3, False), (1, 4, True)):
        start, _, _ = variables(ndim)
        types = carried_by(oc.function([start, a, n], scanned(start, a, n, (-depth, -1))[-1]))
        assert (len(types) == 3) == line, (ndim, depth)


def test_batches_write_in_place() -> None:
    """A batch whose elements take the same steps writes into the rows, and not into a copy of them."""
    start, a, n = variables(0)
    starts, factors = ot.dmatrix("starts"), ot.dvector("factors")
    slope = og.grad((scanned(start, a, n, (-1000, -3)) ** 2).sum(), a)
    f = oc.function(
        [starts, factors, n], og.vectorize_graph(slope, {start: starts, a: factors}), mode="native"
    )
    loops = [x.op for x in f.maker.fgraph.apply_nodes if isinstance(x.op, Iterate)]
    assert loops
    for op in loops:
        for before, after in zip(op.body.inputs[: op.carried], op.body.outputs, strict=False):
            made: Any = after
            while made is not before and 1000 in (before.type.shape or ()):
                assert hasattr(made.owner.op, "with_inplace")
                made = made.owner.inputs[0]
