"""`loop`, `scan` and their like on every linker, against loops in Python over NumPy arrays; values, derivatives, batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.control.python_function import as_op
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.associative import associative_scan
from occelo_loops.ops.building.classic import filter as kept
from occelo_loops.ops.building.classic import foldr, reduce, scan, until
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop
from occelo_loops.ops.building.switching import switch_case
from occelo_loops.ops.iterate import Iterate

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(jax|pytorch|cache|runs in Python|will be static)"),
    pytest.mark.filterwarnings("ignore:scan will return:DeprecationWarning"),
]
ARRAY = np.random.default_rng(0).normal(size=7)


def compiled(inputs: list[Any], outputs: Any, mode: str, **options: Any) -> Any:
    return oc.function(inputs, outputs, mode=mode, on_unused_input="ignore", **options)


def slope(f: Callable[[float], Any], at: float, eps: float = 1e-6) -> Any:
    return (f(at + eps) - f(at - eps)) / (2 * eps)


def recurrence(a: float, x: Any) -> tuple[float, Any]:
    state, trace = 0.5, []
    for element in x:
        state = float(np.tanh(a * state + element))
        trace.append(state)
    return state, np.array(trace)


@pytest.mark.sampled(3)
def test_a_recurrence_and_its_derivatives(mode: str) -> None:
    a, x = ot.dscalar("a"), ot.dvector("x")
    final, trace = loop(lambda s, e: (ot.tanh(a * s + e),) * 2, np.float64(0.5), x)
    slopes = og.grad((trace**2).sum() + final, [a, x])
    f = compiled([a, x], [final, trace, *slopes, og.grad(slopes[0], a)], mode)

    def cost(a: float, x: Any) -> float:
        final, trace = recurrence(a, x)
        return float((trace**2).sum() + final)

    def moved(x: Any, row: Any, by: float) -> float:
        return cost(0.7, x + by * row)

    for given in (ARRAY, ARRAY[::-1], ARRAY[:1], ARRAY[:0]):
        wanted = recurrence(0.7, given)
        found = f(0.7, given)
        np.testing.assert_allclose(found[0], wanted[0])
        np.testing.assert_allclose(found[1], wanted[1])
        np.testing.assert_allclose(
            found[2], slope(partial(cost, x=given), 0.7), rtol=1e-6, atol=1e-9
        )
        each = [slope(partial(moved, given, row), 0.0) for row in np.eye(len(given))]
        np.testing.assert_allclose(found[3], each, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(
        f(0.7, ARRAY)[4],
        slope(lambda a: slope(partial(cost, x=ARRAY), a, 1e-4), 0.7, 1e-4),
        rtol=1e-4,
    )


def test_matrices_of_unknown_lengths_are_carried_and_differentiated(mode: str) -> None:
    w, u, x, start = ot.dmatrix("w"), ot.dmatrix("u"), ot.dmatrix("x"), ot.dvector("start")
    _, trace = loop(lambda h, e: (ot.tanh(h @ w + e @ u),) * 2, start, x)
    cost = (trace**2).sum()
    f = compiled([w, u, x, start], [cost, trace, *og.grad(cost, [w, u, x, start])], mode)
    generator = np.random.default_rng(1)
    values = [generator.normal(size=s) * 0.5 for s in [(3, 3), (2, 3), (5, 2), (3,)]]

    def by_hand(w: Any, u: Any, x: Any, h: Any) -> Any:
        trace = []
        for element in x:
            h = np.tanh(h @ w + element @ u)
            trace.append(h)
        return np.array(trace).reshape(len(x), len(w))

    found = f(*values)
    np.testing.assert_allclose(found[1], by_hand(*values))
    for i, value in enumerate(values):
        for index in np.ndindex(value.shape):

            def at(d: float, i: int = i, index: Any = index) -> float:
                moved = [v.copy() for v in values]
                moved[i][index] += d
                return float((by_hand(*moved) ** 2).sum())

            np.testing.assert_allclose(found[2 + i][index], slope(at, 0.0), rtol=1e-4, atol=1e-8)
    assert f(values[0], values[1], values[2][:0], values[3])[1].shape == (0, 3)


def test_a_condition_ends_a_loop_and_its_gradient(mode: str) -> None:
    s, x = ot.dscalar("s"), ot.dvector("x")
    final, trace = loop(lambda v: (v * 2, v), s, length=20, until=lambda v: v > 100)
    f = compiled([s], [final, trace, og.grad(final + trace.sum(), s)], mode)
    found = f(1.0)
    assert found[0] == 128
    np.testing.assert_array_equal(found[1], 2.0 ** np.arange(7))
    assert found[2] == 128 + 127
    final, trace = loop(lambda v, e: (v * e, v), s, xs=x, until=lambda v: v > 3.0, reverse=True)
    f = compiled([s, x], [final, trace, *og.grad(final + trace.sum(), [s, x])], mode)
    found = f(1.0, [9.0, 4.0, 2.0, 1.5])
    assert found[0] == 12
    np.testing.assert_array_equal(found[1], [3, 1.5, 1])
    np.testing.assert_allclose(found[2], 12 + 1 + 1.5 + 3)
    np.testing.assert_allclose(found[3], [0, 3, 6 + 1.5, 8 + 1 + 2])


def test_nested_states_and_loops_without_sequences(mode: str) -> None:
    s = ot.dscalar("s")
    doubled = while_loop(lambda v: v < 1000.0, lambda v: v * 3, s, max_steps=100)
    product = fori_loop(2, 6, lambda i, v: v * i, s)
    state, trace = loop(
        lambda t: ({"a": t["a"] + t["b"][0], "b": (t["b"][0] * 2,)}, {"k": t["a"]}),
        {"a": s, "b": (s,)},
        length=4,
    )
    outputs = [doubled, og.grad(doubled, s), product, state["a"], trace["k"]]
    found = compiled([s], outputs, mode)(2.0)
    assert [float(v) for v in found[:4]] == [1458, 729, 240, 32]
    np.testing.assert_array_equal(found[4], [2, 4, 8, 16])


@pytest.mark.sampled(2)
def test_batches_of_loops(mode: str) -> None:
    a, x, k = ot.dscalar("a"), ot.dvector("x"), ot.lscalar("k")
    rates, rows, counts = ot.dvector("rates"), ot.dmatrix("rows"), ot.lvector("counts")
    final, trace = loop(lambda s, e: (ot.tanh(a * s + e),) * 2, np.float64(0.5), x)
    grown = while_loop(lambda s: s < 100.0, lambda s: s * 2 + 1, a, max_steps=50)
    summed = fori_loop(0, k, lambda i, s: s * 2.0 + i, a)
    inputs, given = [a, x, rates, rows, counts], [0.3, ARRAY, [0.3, -1.2, 0.8]]
    table = np.random.default_rng(1).normal(size=(3, 5))
    outputs = [
        *og.vectorize_graph([final, trace], {x: rows, a: rates}),
        og.vectorize_graph(trace, {a: rates}),
        og.vectorize_graph(trace, {x: rows}),
        og.vectorize_graph(grown, {a: rates}),
        og.vectorize_graph(summed, {k: counts}),
    ]
    found = compiled(inputs, outputs, mode)(*given, table, [0, 3, 5])
    for i, rate in enumerate([0.3, -1.2, 0.8]):
        np.testing.assert_allclose(found[0][i], recurrence(rate, table[i])[0])
        np.testing.assert_allclose(found[1][i], recurrence(rate, table[i])[1])
        np.testing.assert_allclose(found[2][i], recurrence(rate, ARRAY)[1])
        np.testing.assert_allclose(found[3][i], recurrence(0.3, table[i])[1])
        state = rate
        while state < 100:
            state = state * 2 + 1
            if state < -1e12:  # decreasing: it ends after all steps
                break
        if rate > -1:
            np.testing.assert_allclose(found[4][i], state)
        state = 0.3
        for j in range([0, 3, 5][i]):
            state = state * 2.0 + j
        np.testing.assert_allclose(found[5][i], state)


def test_batches_of_numbers_of_steps_go_back_from_the_last_step_of_each(mode: str) -> None:
    a, x, k = ot.dscalar("a"), ot.dvector("x"), ot.lscalar("k")
    rows, counts = ot.dmatrix("rows"), ot.lvector("counts")
    final, _ = loop(
        lambda s, e: (s * 0.5 + ot.sin(a * e), None), np.float64(1), x, length=k, reverse=True
    )
    each = og.vectorize_graph(final, {k: counts})
    both = og.vectorize_graph(final, {k: counts, x: rows})
    slopes = [*og.grad(each.sum(), [a, x]), *og.grad(both.sum(), [a, rows])]
    f = compiled([a, x, rows, counts], [each, both, *slopes], mode)
    one = compiled([a, x, k], [final, *og.grad(final, [a, x])], "py")
    table = np.random.default_rng(1).normal(size=(3, 7))
    numbers = [1, 7, 0]
    found = f(0.7, ARRAY, table, numbers)
    alone = [one(0.7, ARRAY, n) for n in numbers]
    of_rows = [one(0.7, row, n) for row, n in zip(table, numbers, strict=True)]
    wanted = [
        [v[0] for v in alone],
        [v[0] for v in of_rows],
        sum(v[1] for v in alone),
        sum(v[2] for v in alone),
        sum(v[1] for v in of_rows),
        [v[2] for v in of_rows],
    ]
    for got, value in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-14)
    assert f(0.7, ARRAY, table[:0], [])[0].shape == (0,)
    for wrong in ([1, 8, 0], [1, -1, 0]):
        with pytest.raises(ValueError, match=r"number of steps|has 8 steps"):
            f(0.7, ARRAY, table, wrong)


def test_prefixes_and_choices(mode: str) -> None:
    x, k = ot.dmatrix("x"), ot.lscalar("k")
    along = associative_scan(lambda p, q: p * q, x, axis=1)
    pair = associative_scan(
        lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (x, x + 1), reverse=True
    )
    chosen = switch_case(k, [lambda v: v * 2, lambda v: v + 100, ot.exp], x[0, 0])
    f = compiled([x, k], [along, *pair, chosen], mode)
    table = np.random.default_rng(1).normal(size=(3, 5))
    found = f(table, 1)
    np.testing.assert_allclose(found[0], np.cumprod(table, 1))
    np.testing.assert_allclose(found[1], np.cumprod(table[::-1], 0)[::-1])
    second = table[2] + 1
    np.testing.assert_allclose(found[2][2], second)
    second = table[1] * second + table[1] + 1
    np.testing.assert_allclose(found[2][1], second)
    first = table[0, 0]
    wanted = [first * 2, first * 2, first + 100, np.exp(first), np.exp(first)]
    np.testing.assert_allclose([f(table, i)[3] for i in (-1, 0, 1, 2, 7)], wanted)
    assert compiled([x], along, mode)(table[:, :0]).shape == (3, 0)


@pytest.mark.sampled(3)
def test_the_classic_form(mode: str) -> None:
    x, before, k, a = ot.dvector("x"), ot.dvector("before"), ot.lscalar("k"), ot.dscalar("a")
    fibonacci = scan(
        lambda older, old: older + old,
        outputs_info=[{"initial": before, "taps": [-2, -1]}],
        n_steps=k,
        return_updates=False,
    )
    around = scan(
        lambda left, here, right: left + 10 * here + 100 * right,
        sequences=[{"input": x, "taps": [-1, 0, 1]}],
        return_updates=False,
    )
    powers, _ = scan(lambda p, a: p * a, outputs_info=ot.ones_like(a), non_sequences=a, n_steps=k)
    doubled, _ = scan(lambda p: (p * 2, until(p * 2 > 50)), outputs_info=a, n_steps=100)
    sums = scan(
        lambda e, s: [s + e, e * e], sequences=x, outputs_info=[a, None], return_updates=False
    )
    back = scan(lambda e, s: s * 0.5 + e, x, a, go_backwards=True, return_updates=False)
    digits, _ = reduce(lambda e, total: total * 2 + e, x, ot.zeros((), dtype="float64"))
    reversed_digits, _ = foldr(lambda e, total: total * 2 + e, x, ot.zeros((), dtype="float64"))
    outputs = [fibonacci, around, powers, doubled, *sums, back, digits, reversed_digits]
    outputs.append(kept(lambda e: e > 3, x))
    f = compiled([x, before, k, a], outputs, mode)
    given = np.arange(1.0, 8.0)
    found = f(given, [0.0, 1.0], 8, 2.0)
    np.testing.assert_array_equal(found[0], [1, 2, 3, 5, 8, 13, 21, 34])
    np.testing.assert_array_equal(found[1], given[:-2] + 10 * given[1:-1] + 100 * given[2:])
    np.testing.assert_array_equal(found[2], 2.0 ** np.arange(1, 9))
    np.testing.assert_array_equal(found[3], [4, 8, 16, 32, 64])
    np.testing.assert_array_equal(found[4], 2 + np.cumsum(given))
    np.testing.assert_array_equal(found[5], given**2)
    state, wanted = 2.0, []
    for e in given[::-1]:
        state = state * 0.5 + e
        wanted.append(state)
    np.testing.assert_array_equal(found[6], wanted)
    assert found[7] == sum(e * 2.0**i for i, e in enumerate(given[::-1]))
    assert found[8] == sum(e * 2.0**i for i, e in enumerate(given))
    np.testing.assert_array_equal(found[9], [4, 5, 6, 7])
    assert f(given[:2], [0.0, 1.0], 0, 2.0)[2].shape == (0,)


def test_a_gradient_is_truncated(mode: str) -> None:
    x, a = ot.dvector("x"), ot.dscalar("a")
    trace = scan(lambda e, s: s * 0.5 + e * e, x, a, truncate_gradient=2, return_updates=False)
    f = compiled([x, a], og.grad(trace[-1], [x, a]), mode)
    by_x, by_a = f(np.arange(1.0, 8.0), 1.0)
    np.testing.assert_array_equal(by_x, [0, 0, 0, 0, 0, 6, 14])
    assert by_a == 0
    by_x, by_a = f(np.arange(1.0, 3.0), 1.0)
    np.testing.assert_array_equal(by_x, [1, 4])
    assert by_a == 0.25


def test_updates_of_shared_variables_are_carried(mode: str) -> None:
    x = ot.dvector("x")
    total = og.shared(np.float64(0.0), name="total")
    out, updates = scan(lambda e: (e + total, {total: total + e}), sequences=x)
    f = compiled([x], out, mode, updates=updates)
    given = np.arange(1.0, 8.0)
    np.testing.assert_array_equal(f(given), np.cumsum(given))
    assert total.get_value() == 28
    np.testing.assert_array_equal(f(given), 28 + np.cumsum(given))


def test_a_step_may_call_python(mode: str) -> None:
    @as_op(itypes=[ot.dscalar], otypes=[ot.dscalar])
    def doubled(value: Any) -> Any:
        return np.asarray(value * 2)

    x = ot.dvector("x")
    final, trace = loop(lambda s, e: (doubled(s) + e, s), np.float64(0.0), x)
    found = compiled([x], [final, trace], mode)([1.0, 2.0, 3.0])
    assert found[0] == 11
    np.testing.assert_array_equal(found[1], [0, 1, 4])


def test_values_change_places_and_lengths(mode: str) -> None:
    a, b, k = ot.dvector("a"), ot.dvector("b"), ot.lscalar("k")
    swapped, _ = loop(lambda s: ((s[1], s[0] + 1), None), (a, b), length=k)
    longer, _ = loop(
        lambda s: (ot.concatenate([s, s[-1:] * 2]), None), ot.concatenate([a, b]), length=k
    )
    f = compiled([a, b, k], [*swapped, longer], mode)
    for count in range(5):
        first, second, grown = np.zeros(3), np.ones(3), np.array([0.0] * 3 + [1.0] * 3)
        for _ in range(count):
            first, second, grown = second, first + 1, np.append(grown, grown[-1] * 2)
        found = f(np.zeros(3), np.ones(3), count)
        for one, other in zip(found, (first, second, grown), strict=True):
            np.testing.assert_array_equal(one, other)


def test_traces_of_what_no_step_changes(mode: str) -> None:
    x = ot.dvector("x")
    _, traces = loop(lambda s, e: (s, (1.0, e, x.sum(), ot.arange(3))), np.float64(0), x)
    f = compiled([x], list(traces), mode)
    found = f(ARRAY)
    np.testing.assert_array_equal(found[0], np.ones(7))
    np.testing.assert_array_equal(found[1], ARRAY)
    np.testing.assert_allclose(found[2], [ARRAY.sum()] * 7)
    np.testing.assert_array_equal(found[3], [[0, 1, 2]] * 7)
    assert [v.shape for v in f(ARRAY[:0])] == [(0,), (0,), (0,), (0, 3)]


def test_only_products_that_become_one_move_out() -> None:
    x, m, w, v = ot.dmatrix("x"), ot.dtensor3("m"), ot.dmatrix("w"), ot.dvector("v")

    def step(s: Any, given: Any) -> Any:
        e, each = given
        return s + w @ e, (each @ e).sum() + (w @ e).sum() + each.T @ (w @ s)

    final, trace = loop(step, v, (x, m))
    generator = np.random.default_rng(0)
    xs, ms, ws, vs = (generator.normal(size=s) for s in ((6, 3), (6, 3, 3), (3, 3), 3))
    f = compiled([x, m, w, v], [final, trace], "py")
    state, kept = vs, list[Any]()
    for e, each in zip(xs, ms, strict=True):
        kept.append((each @ e).sum() + (ws @ e).sum() + each.T @ (ws @ state))
        state = state + ws @ e
    for one, other in zip(f(xs, ms, ws, vs), (state, kept), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    outside = [n for n in f.maker.fgraph.toposort() if isinstance(n.op, Dot | MatMul)]
    # one product of two matrices for all w @ e; none for products of two elements
    assert [type(n.op) for n in outside] == [Dot]


@pytest.mark.parametrize("length", [None, 5])
def test_derivatives_by_the_elements_of_an_inner_loop_are_its_trace(length: int | None) -> None:
    a, x = ot.dvector("a"), ot.tensor("x", dtype="float64", shape=(length,))

    def outer(s: Any, e: Any) -> Any:
        total, _ = loop(lambda t, v: (t + ot.sin(e * v + s), None), np.float64(0), x)
        return total / 5.0, total

    _, trace = loop(outer, np.float64(0.1), a)
    f = compiled([a, x], [trace.sum(), og.grad(trace.sum(), x)], "native")
    bodies = [n.op.body for n in f.maker.fgraph.toposort() if isinstance(n.op, Iterate)]
    assert len(bodies) == 2
    ops = [str(n.op) for body in bodies for n in body.nodes]
    # elements, never a trace that is written into zeros
    assert not [name for name in ops if "Subtensor[:" in name]
    given, xs, eps = np.array([0.3, -0.7]), np.linspace(-1, 1, 5), 1e-6
    for k, near in enumerate(np.eye(5) * eps):
        wanted = (f(given, xs + near)[0] - f(given, xs - near)[0]) / (2 * eps)
        np.testing.assert_allclose(f(given, xs)[1][k], wanted, rtol=1e-6)


def filtered(lib: Any, run: Any, solve: Any, move: Any, look: Any, ys: Any) -> Any:
    """A filter's covariances, and the squared distances of its observations."""
    (k, n), dtype = look.type.shape if lib is ot else look.shape, move.dtype

    def step(state: Any, y: Any) -> Any:
        cov = move @ state @ move.T + np.eye(n, dtype=dtype)
        cholesky = linalg.cholesky if lib is ot else np.linalg.cholesky
        factor = cholesky(look @ cov @ look.T + np.eye(k, dtype=dtype))
        half = solve(factor, look @ cov)
        z = solve(factor, y[:, None])
        return cov - half.T @ half + 0.1 * (half.T @ z), (z * z).sum()

    return run(step, np.eye(n, dtype=dtype), ys)


def in_python(step: Callable[[Any, Any], Any], state: Any, xs: Any) -> Any:
    kept: list[Any] = []
    for x in xs:
        state, each = step(state, x)
        kept.append(each)
    return state, kept


# few rows are unrolled in loop programs, which Numba gets, too
@pytest.mark.parametrize("mode", ["py", "native", "c"])
def test_filters_of_small_matrices(mode: str) -> None:
    generator = np.random.default_rng(0)
    solve = partial(linalg.solve_triangular, lower=True, b_ndim=2)
    sizes = [(4, 2)] if mode == "c" else [(1, 1), (2, 3), (4, 2), (5, 9)]
    for (n, k), dtype in product(sizes, ["float64", "float32"][: len(sizes)]):
        given = [generator.normal(size=s) * 0.5 for s in ((n, n), (k, n), (4, k))]
        given = [v.astype(dtype) for v in given]
        inputs = [
            ot.tensor(c, dtype=dtype, shape=v.shape) for c, v in zip("mlx", given, strict=True)
        ]
        found = compiled(inputs, list(filtered(ot, loop, solve, *inputs)), mode)(*given)
        wanted = filtered(np, in_python, np.linalg.solve, *given)
        rtol = 1e-9 if dtype == "float64" else 1e-3
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol, rtol / 10)
