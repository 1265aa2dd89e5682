"""Rules of loops in whole functions: what they leave out still fails, and what a call does not need does not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.control.python_function import as_op
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.loops import loop

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
Array = npt.NDArray[Any]


def test_loops_in_different_branches_run_only_where_they_are_needed() -> None:
    calls: list[float] = []

    @as_op(itypes=[ot.dscalar], otypes=[ot.dscalar])
    def counted(value: Array) -> Array:
        calls.append(float(value))
        return value * 2.0

    one, two, x = ot.bscalar("one"), ot.bscalar("two"), ot.dvector("x")

    def total(keep: Any) -> Any:
        return loop(lambda s, e: (counted(s) + e, keep(s)), np.float64(1.0), x, length=x.shape[0])[
            1
        ].sum()

    both = ifelse(one, total(ot.exp), x.sum()) + ifelse(two, total(ot.sin), x.sum())
    for mode in ("native", "vm"):
        f = oc.function([one, two, x], both, mode=mode)
        for first in (0, 1):
            for second in (0, 1):
                calls.clear()
                f(first, second, [0.1, 0.2, 0.3])
                # the last value that is carried is not read
                assert len(calls) in ((first + second) * 2, (first + second) * 3)
    g = oc.function([x], total(ot.exp) + total(ot.sin), mode="vm")
    calls.clear()
    g([0.1, 0.2, 0.3])
    assert len(calls) == 3


def test_a_sequence_that_is_not_read_must_be_long_enough(mode: str) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    kept = loop(lambda s, e: (s + e[0], (s, e[1])), np.float64(0.0), (x, y), length=x.shape[0])[1]
    f = oc.function([x, y], kept[0], mode=mode)
    assert f([1.0, 2.0], [1.0, 2.0, 3.0]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="2 steps, but its sequence 1 has only 1 elements"):
        f([1.0, 2.0], [1.0])


def test_what_may_fail_does_not_run_for_a_loop_without_a_step(mode: str) -> None:
    """In each case a part of the step depends on no state and no element, so it is computed once, before the loop."""
    a, x, n = ot.dmatrix("a"), ot.dvector("x"), ot.lscalar("n")

    def inner(s: Any) -> Any:
        return loop(lambda t: (t + linalg.inv(a)[0, 0], None), s, length=n)[0]

    cases = [
        loop(lambda s, e: (s + e * x.max(), s), np.float64(0.0), x),
        loop(lambda s, e: (s + ifelse(e > 1.0, x[1], x.sum()) * x[0], s), np.float64(0.0), x),
        loop(lambda s: (linalg.inv(a) @ s, s), ot.ones_like(a[0]), length=n),
        loop(lambda s: (inner(s), s), np.float64(1.0), length=n),
    ]
    slopes = [grad(cases[1][0], x), grad(cases[2][0].sum(), a)]
    f = oc.function([a, x, n], [*(r for case in cases for r in case), *slopes], mode=mode)
    m, v = np.array([[2.0, 1.0], [0.0, 4.0]]), np.array([1.0, 2.0])
    found = f(m, v, 2)
    inverse = np.linalg.inv(m)
    second = [np.ones(2), inverse @ np.ones(2)]
    wanted = [6.0, [0.0, 2.0], 5.0, [0.0, 3.0], inverse @ second[1], second]
    wanted += [1.0 + 4 * inverse[0, 0], [1.0, 1.0 + 2 * inverse[0, 0]]]
    # the sum and the second element, times the first one
    wanted += [[6.0, 2.0]]
    for one, other in zip(found, wanted, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    back = [inverse.T @ np.ones(2), inverse.T @ inverse.T @ np.ones(2)]
    np.testing.assert_allclose(
        found[-1], -np.outer(back[0], inverse @ second[1]) - np.outer(back[1], second[1])
    )
    with np.errstate(all="ignore"):
        none = f(np.zeros((2, 2)), np.zeros(0), 0)
    empty = [0.0, [], 0.0, [], [1.0, 1.0], np.zeros((0, 2)), 1.0, [], [], np.zeros((2, 2))]
    for one, other in zip(none, empty, strict=True):
        np.testing.assert_array_equal(one, other, strict=False)
        assert np.shape(one) == np.shape(other)
    with pytest.raises(np.linalg.LinAlgError):
        f(np.zeros((2, 2)), np.zeros(0), 1)


def test_what_a_step_reads_from_before_the_loop_is_taken_as_it_is() -> None:
    """Only what the step makes is searched for what can be computed once."""
    x = ot.dvector("x")
    far = x
    for _ in range(5):
        far = linalg.inv(far[:, None] * far + ot.eye(3))[0]
    final, _ = loop(lambda s, e: (s + e * far.sum(), None), np.float64(0.0), x)
    (total,) = [v for v in final.owner.inputs if v.owner is not None and v.owner.inputs[0] is far]
    assert final.owner.inputs[-1] is total


def _body_sizes(f: Any) -> list[int]:
    return [len(n.op.body.nodes) for n in f.maker.fgraph.toposort() if n.op.loops]


def test_functions_of_elements_are_computed_before_the_loop(mode: str) -> None:
    """Against the steps in NumPy, with derivatives, for no step, one and several, and a function that is read twice."""
    x, c = ot.dvector("x"), ot.dscalar("c")

    def step(s: Any, e: Any) -> Any:
        moved = ot.exp(e * c)
        return s * 0.5 + moved, (ot.sin(e) + s, moved, e)

    last, traces = loop(step, np.float64(0.0), x)
    cost = last + (traces[0] * traces[1]).sum() + traces[2].sum()
    f = oc.function([x, c], [last, *traces, *grad(cost, [x, c])], mode=mode)

    def by_hand(x: Array, c: float) -> tuple[list[Any], float]:
        s, kept = 0.0, list[tuple[float, float, float]]()
        for e in x:
            kept.append((np.sin(e) + s, np.exp(e * c), e))
            s = s * 0.5 + np.exp(e * c)
        columns = np.array(kept).reshape(-1, 3).T
        return [s, *columns], float(s + (columns[0] * columns[1]).sum() + columns[2].sum())

    for n in (0, 1, 5):
        given = np.linspace(-0.7, 0.9, n)
        *found, of_x, of_c = f(given, 0.3)
        for one, other in zip(found, by_hand(given, 0.3)[0], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        h = 1e-6
        for i, row in enumerate(np.eye(n) * h):
            up, down = by_hand(given + row, 0.3)[1], by_hand(given - row, 0.3)[1]
            np.testing.assert_allclose(of_x[i], (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
        up, down = by_hand(given, 0.3 + h)[1], by_hand(given, 0.3 - h)[1]
        np.testing.assert_allclose(of_c, (up - down) / (2 * h), rtol=1e-6, atol=1e-8)


def test_a_loop_that_only_maps_is_no_loop() -> None:
    x = ot.dmatrix("x")
    _, kept = loop(lambda s, e: (s, e * 2.0 + 1.0), np.float64(0.0), x)
    f = oc.function([x], kept, mode="vm")
    assert not _body_sizes(f)
    for rows in (0, 1, 3):
        given = np.arange(rows * 2.0).reshape(rows, 2)
        np.testing.assert_array_equal(f(given), given * 2.0 + 1.0)


def test_only_the_steps_that_are_read_are_taken() -> None:
    calls: list[float] = []

    @as_op(itypes=[ot.dscalar], otypes=[ot.dscalar])
    def counted(value: Array) -> Array:
        calls.append(float(value))
        return value * 1.0

    x, y = ot.dvector("x"), ot.dvector("y")
    _, kept = loop(
        lambda s, e: (counted(s) + e[0] * e[1], s), np.float64(0.0), (x, y), length=x.shape[0]
    )
    f = oc.function([x, y], [kept[2], kept[:2], kept[1]], mode="vm")
    found = f(np.arange(100.0), np.ones(100))
    assert len(calls) == 3
    assert [np.asarray(v).tolist() for v in found] == [1.0, [0.0, 0.0], 0.0]
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        f([1.0, 2.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="100 steps, but its sequence 1 has only 50 elements"):
        f(np.arange(100.0), np.ones(50))
    # a length, a reversed part, or a final state needs all steps
    for outputs in ([kept[0], kept[::-1]], [kept[0], kept[-1]]):
        calls.clear()
        oc.function([x, y], outputs, mode="vm")(np.arange(9.0), np.ones(9))
        assert len(calls) >= 8


@pytest.mark.parametrize("ends", [False, True])
def test_only_the_steps_before_symbolic_positions_are_taken(ends: bool) -> None:
    calls: list[float] = []

    @as_op(itypes=[ot.dscalar], otypes=[ot.dscalar])
    def counted(value: Array) -> Array:
        calls.append(float(value))
        return value * 1.0

    x, k, j = ot.dvector("x"), ot.lscalar("k"), ot.lscalar("j")
    condition: Any = (lambda s: s > 50.0) if ends else None
    _, kept = loop(lambda s, e: (counted(s) + e, s), np.float64(0.0), x, until=condition)
    given = np.arange(20.0)
    trace = np.concatenate([[0.0], np.cumsum(given)[:-1]])
    trace = trace[: int(np.argmax(np.cumsum(given) > 50)) + 1] if ends else trace
    count = len(trace)
    # for each read the steps that it needs; a negative position counts from an end that is not known before the loop
    cases: list[tuple[Any, Any]] = [
        (lambda t, k, j: t[k], lambda k, j: k + 1 if k >= 0 else count),
        (lambda t, k, j: t[:k], lambda k, j: k if k >= 0 else count),
        (lambda t, k, j: t[k:j], lambda k, j: j if min(k, j) >= 0 else count),
        (lambda t, k, j: t[k:3], lambda k, j: 3 if k >= 0 else count),
        (lambda t, k, j: t[3:k] + t[2], lambda k, j: max(k, 3) if k >= 0 else count),
        (lambda t, k, j: t[k::-1], lambda k, j: count),
    ]
    for read, needed in cases:
        f = oc.function([x, k, j], read(kept, k, j), mode="vm", on_unused_input="ignore")
        for at in (0, 4, count - 1, count + 3, -1, -count - 1):
            for stop in (0, 2, 40, -3):
                calls.clear()
                try:
                    wanted = read(trace, at, stop)
                except IndexError as error:
                    with pytest.raises(IndexError, match=f"{error}"):
                        f(given, at, stop)
                    continue
                np.testing.assert_array_equal(f(given, at, stop), wanted)
                assert len(calls) == min(needed(at, stop), count)


def test_steps_are_all_taken_where_positions_depend_on_them() -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")
    _, kept = loop(lambda s, e: (s * 0.5 + e, s), np.float64(1.0), x, length=n)
    at = ot.argmax(kept)
    f = oc.function([x, n], [kept[at], kept[n - 1], kept[ot.cast(kept[0], "int64")]], mode="vm")
    np.testing.assert_array_equal(f([4.0, 1.0, 0.0], 3), [4.5, 3.25, 4.5])
    # the last position saves nothing
    last = oc.function([x, n], kept[n - 1], mode="vm")
    (node,) = [node for node in last.maker.fgraph.toposort() if node.op.loops]
    assert "minimum" not in og.dprint(node.inputs[0], file="str")
    with pytest.raises(IndexError, match="out of bounds"):
        oc.function([x, n], kept[n], mode="vm")(np.ones(3), 2)


def test_gradients_by_matrices_that_multiply_vectors_are_one_product(mode: str) -> None:
    w, u, x, start = ot.dmatrix("w"), ot.dmatrix("u"), ot.dmatrix("x"), ot.dvector("start")
    final, _ = loop(lambda h, e: (ot.tanh(h @ w + e @ u), None), start, x)
    f = oc.function([w, u, x, start], grad((final**2).sum(), [w, u]), mode=mode)
    g = np.random.default_rng(0)
    matrices, first = [g.normal(size=(3, 3)), g.normal(size=(2, 3))], g.normal(size=3)

    def cost(w: Array, u: Array, x: Array) -> float:
        h = first
        for e in x:
            h = np.tanh(h @ w + e @ u)
        return float((h**2).sum())

    for n in (0, 1, 6):
        elements = g.normal(size=(n, 2))
        found = f(*matrices, elements, first)
        ways = [g.normal(size=m.shape) for m in matrices]
        h = 1e-6
        up = cost(*(m + h * v for m, v in zip(matrices, ways, strict=True)), elements)
        down = cost(*(m - h * v for m, v in zip(matrices, ways, strict=True)), elements)
        along = sum(float((s * v).sum()) for s, v in zip(found, ways, strict=True))
        np.testing.assert_allclose(along, (up - down) / (2 * h), rtol=1e-6, atol=1e-9)


def test_a_loop_that_was_merged_does_not_come_back_for_a_length() -> None:
    """The length of the final state is that of the matrix, or of the initial state where there is no step."""
    w, x, start = ot.dmatrix("w"), ot.dmatrix("x"), ot.dvector("start")
    final, _ = loop(lambda h, e: (ot.tanh(h @ w + e), None), start, x)
    f = oc.function([w, x, start], grad(final.sum(), w), mode="vm")
    assert len(_body_sizes(f)) == 2


def test_memory_for_functions_of_elements_is_not_that_of_the_body() -> None:
    x = ot.dvector("x")

    def step(s: Any, e: Any) -> Any:
        for k in range(8):
            s = ot.sin(s * ot.exp(e * k))
        return s, None

    final, _ = loop(step, np.float64(0.5), x)
    f = oc.function([x], final, mode="vm")
    (node,) = [n for n in f.maker.fgraph.toposort() if n.op.loops]
    # the position, the state, and the sequence itself
    assert [v.type.ndim for v in node.inputs[1:]].count(1) == 1


def test_nan_guard_mode_says_after_which_step() -> None:
    x = ot.dvector("x")
    final, _ = loop(lambda s, e: (ot.log(s - e), None), np.float64(5.0), x)
    f = oc.function([x], final, mode="NanGuardMode")
    assert np.isfinite(f([1.0, -2.0]))
    with pytest.raises(AssertionError, match=r"found NaN in .*, first after step 1$"):
        f([1.0, 2.0, -1.0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "complex128"])
def test_running_sums_and_products_need_no_loop(dtype: str) -> None:
    x, y = ot.tensor("x", dtype=dtype, shape=(None, 3)), ot.tensor("y", dtype=dtype, shape=(3,))
    n = ot.lscalar("n")

    def step(s: Any, e: Any) -> Any:
        total, product = s[0] + (e + y), s[1] * e
        return (total, product), (total, product)

    outputs: list[Any] = []
    for reverse in (False, True):
        (total, product), traces = loop(step, (y, y), x, length=n, reverse=reverse)
        outputs += [total, product, *traces]
    f = oc.function([x, y, n], outputs, mode="native")
    assert not _body_sizes(f)
    generator = np.random.default_rng(0)
    a, b = ((generator.normal(size=s) * 3).astype(dtype) for s in ((6, 3), (3,)))
    for steps in (6, 4, 1, 0):
        wanted: list[Any] = []
        for reverse in (False, True):
            total = product = b
            kept: list[Any] = []
            for e in a[:steps][::-1] if reverse else a[:steps]:
                total, product = total + (e + b), product * e
                kept.append((total, product))
            traces = [np.array([k[i] for k in kept], dtype).reshape(-1, 3) for i in (0, 1)]
            wanted += [total, product, *(t[::-1] if reverse else t for t in traces)]
        for found, value in zip(f(a, b, steps), wanted, strict=True):
            assert found.dtype == dtype
            np.testing.assert_allclose(found, value, rtol=1e-5 if dtype == "float32" else 1e-12)
    for wrong in (7, -1):
        with pytest.raises(ValueError, match=r"number of steps|has only 6 elements"):
            f(a, b, wrong)


def test_states_that_are_more_than_running_sums() -> None:
    x, a = ot.dvector("x"), ot.dscalar("a")
    steps: list[Any] = [
        lambda s, e: (s + e * s, None),
        lambda s, e: (s + e, s),
        lambda s, e: (s + a, None),
        lambda s, e: (s + s, None),
        lambda s, e: (ot.tanh(s + e), None),
    ]
    for step in steps:
        final, kept = loop(step, a, x)
        outputs = [final] if kept is None else [final, kept]
        assert (
            len(_body_sizes(oc.function([x, a], outputs, mode="vm", on_unused_input="ignore"))) == 1
        )


@pytest.mark.parametrize("mode", ["native", "vm"])
def test_only_last_elements_are_kept_where_only_these_are_read(mode: str) -> None:
    x, a = ot.dmatrix("x"), ot.dvector("a")
    final, (tanhs, sums, states) = loop(
        lambda s, e: (ot.tanh(s * a + e), (ot.tanh(s), (s * e).sum(), s)), a, x
    )
    outputs = [tanhs[-2:], sums[-3:], states[-1], final]
    f = oc.function([x, a], outputs, mode=mode)
    one = oc.function([x, a], [sums[-1], final], mode=mode)
    second = oc.function([x, a], [sums[-2], states[-1, 1:]], mode=mode)
    if mode == "native":
        assert [len(_body_sizes(g)) for g in (f, one, second)] == [2, 1, 2]
    values = np.random.default_rng(0).normal(size=(9, 3))
    start = values[0] / 2
    for n in (9, 4, 3, 1, 0):
        s, kept = start, [list[Any]() for _ in range(3)]
        for e in values[:n]:
            for trace, v in zip(kept, (np.tanh(s), (s * e).sum(), s), strict=True):
                trace.append(v)
            s = np.tanh(s * start + e)
        if not n:
            with pytest.raises(
                IndexError, match="index -1 is out of bounds for axis 0 with size 0"
            ):
                one(values[:0], start)
            continue
        found = f(values[:n], start)
        for got, wanted in zip(found, (kept[0][-2:], kept[1][-3:], kept[2][-1], s), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
        np.testing.assert_allclose(one(values[:n], start)[0], kept[1][-1], rtol=1e-12)
        if n == 1:
            with pytest.raises(
                IndexError, match="index -2 is out of bounds for axis 0 with size 1"
            ):
                second(values[:1], start)
            continue
        got = second(values[:n], start)
        np.testing.assert_allclose(got[0], kept[1][-2], rtol=1e-12)
        np.testing.assert_allclose(got[1], kept[2][-1][1:], rtol=1e-12)


@pytest.mark.parametrize("mode", ["py", "vm", "native", "c", "numba"], indirect=True)
def test_initial_values_may_have_more_static_lengths_than_what_steps_return(mode: str) -> None:
    """Each loop is built with dynamic lengths, and then gets inputs with static ones, as if an op was inlined."""
    s, t, c, m = ot.dvector("s"), ot.dvector("t"), ot.dvector("c"), ot.dmatrix("m")
    rows, a, n = ot.dmatrix("rows"), ot.dmatrix("a"), ot.lscalar("n")
    x, y = ot.dvector("x"), ot.dvector("y")
    three = ot.stack([x[0], x[1], x[2]])
    steps: list[tuple[Any, Any]] = [
        loop(lambda v: (v @ a, v.sum()), m, length=n),
        loop(lambda v: (v[1:], v.sum()), s, length=n),
        loop(lambda p: ((p[1], p[0] * c), p[0][0] - p[1][1]), (s, t), length=n),
        loop(lambda v, e: (v + e + t, v * e), s, rows, length=n),
    ]
    m3 = x[:2, None] * np.arange(3.0)
    rows4 = rows * np.arange(4.0)
    given: list[dict[Any, Any]] = [{m: m3}, {s: three}, {s: three, t: y, c: x}]
    replaced = [
        clone_replace(_flat(made), pairs) for made, pairs in zip(steps, given, strict=False)
    ]
    f = oc.function([n, x, y, a], [v for case in replaced for v in case], mode=mode)
    xs, ys, square = np.array([1.0, 2.0, -3.0]), np.array([0.5, 5.0, 6.0]), np.arange(9.0) / 9
    square = square.reshape(3, 3)
    for count in (0, 1, 3):
        v, w, one, two = xs[:2, None] * np.arange(3.0), xs, xs, ys
        kept: list[list[Any]] = [[], [], []]
        for _ in range(count):
            kept[0].append(v.sum())
            kept[1].append(w.sum())
            kept[2].append(one[0] - two[1])
            v, w, one, two = v @ square, w[1:], two, one * xs
        wanted = [v, kept[0], w, kept[1], one, two, kept[2]]
        for got, right in zip(f(count, xs, ys, square), wanted, strict=True):
            assert got.shape == np.shape(right)
            np.testing.assert_allclose(got, right, rtol=1e-12)
    # lengths that disagree do not matter to a loop without a step
    last = clone_replace(steps[3][0], {s: three, rows: rows4, t: y})
    none = oc.function([n, x, y, rows], last, mode=mode)
    assert none(0, xs, ys, np.zeros((0, 4))).tolist() == xs.tolist()
    with pytest.raises(ValueError, match=r"[Mm]ismatch|broadcast"):
        none(1, xs, ys, np.ones((1, 4)))


def _flat(results: Any) -> list[Any]:
    states, trace = results
    return [*(states if isinstance(states, tuple) else (states,)), trace]
