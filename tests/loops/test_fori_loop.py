"""`fori_loop` as a loop over `range`: dtypes of bounds, limits of integers, states, derivatives and batches."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import grad, hessian, pushforward
from occelo_graph import tensor as ot
from occelo_loops import scan
from occelo_loops.ops.building.loops import fori_loop, loop

pytestmark = pytest.mark.filterwarnings("ignore:.*(jax|pytorch|runs in Python)")

s, x = ot.dscalar("s"), ot.dvector("x")
lo, hi = ot.lscalar("lo"), ot.lscalar("hi")
los, his = ot.lvector("los"), ot.lvector("his")
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
MOST, LEAST = 2**63 - 1, -(2**63)


def polynomial(lower: Any, upper: Any, state: Any) -> Any:
    return fori_loop(lower, upper, lambda i, v: v * 0.5 + i, state)


def by_hand(lower: int, upper: int, state: float) -> float:
    for i in range(lower, upper):
        state = state * 0.5 + i
    return state


def test_dtypes_of_bounds() -> None:
    """The counter is int64 for all of them, for constants and for variables."""
    seen: list[str] = []

    def body(i: Any, v: Any) -> Any:
        seen.append(i.type.dtype)
        return v * 0.5 + i

    kinds = [int, *(np.dtype(d).type for d in DTYPES)]
    for one, other in itertools.product(kinds, kinds):
        out = fori_loop(one(2), other(7), body, 1.0)
        assert og.evaluate(out) == by_hand(2, 7, 1.0)
    scalars = {d: ot.scalar(dtype=d) for d in DTYPES}
    for one, other in zip(DTYPES, [*DTYPES[3:], *DTYPES[:3]], strict=True):
        a, b = scalars[one], ot.scalar(dtype=other)
        out = [fori_loop(a, b, body, 1.0), fori_loop(a, 9, body, 1.0), fori_loop(0, b, body, 1.0)]
        f = oc.function([a, b], out, mode="py")
        for values in ((2, 7), (100, 101), (0, 0), (7, 2)):
            wanted = [by_hand(*values, 1.0), by_hand(values[0], 9, 1.0), by_hand(0, values[1], 1.0)]
            np.testing.assert_allclose(f(*values), wanted)
    assert set(seen) == {"int64"}


def test_all_ranges(mode: str) -> None:
    f = oc.function([lo, hi, s], polynomial(lo, hi, s), mode=mode)
    g = oc.function([lo, s], polynomial(lo, 3, s), mode=mode)
    h = oc.function([hi, s], [polynomial(0, hi, s), polynomial(-2, hi, s)], mode=mode)
    for lower, upper in ((0, 5), (-5, -2), (-3, 4), (4, -3), (2, 2), (3, 4), (-1, 0)):
        wanted = by_hand(lower, upper, 1.5)
        np.testing.assert_allclose(f(lower, upper, 1.5), wanted)
        np.testing.assert_allclose(g(lower, 1.5), by_hand(lower, 3, 1.5))
        found = [by_hand(0, upper, 1.5), by_hand(-2, upper, 1.5)]
        np.testing.assert_allclose(h(upper, 1.5), found)
        np.testing.assert_allclose(
            oc.function([s], polynomial(lower, upper, s), mode="py")(1.5), wanted
        )


def test_limits_of_integers(mode: str) -> None:
    def last(lower: Any, upper: Any) -> Any:
        return fori_loop(lower, upper, lambda i, v: i, np.int64(5))

    f = oc.function([lo, hi], last(lo, hi), mode=mode)
    for lower, upper in (
        (2**31 - 1, 2**31 + 2),
        (2**40, 2**40 + 3),
        (MOST - 3, MOST),
        (LEAST, LEAST + 3),
        (MOST, MOST),
    ):
        wanted = max(upper - 1, lower) if upper > lower else 5
        assert f(lower, upper) == wanted
        assert og.evaluate(last(lower, upper)) == wanted
    # without a step, although the difference overflows
    for lower, upper in ((1, LEAST), (MOST, LEAST), (MOST, -2)):
        assert f(lower, upper) == 5
        assert og.evaluate(last(lower, upper)) == 5
    with pytest.raises(ValueError, match="cannot be negative"):
        f(LEAST, MOST)


def test_bounds_that_are_no_int64() -> None:
    def same(i: Any, v: Any) -> Any:
        return v

    for pair in ((0, 2**63), (LEAST - 1, 0), (np.uint64(2**63), 5), (0, 2**80)):
        with pytest.raises(OverflowError, match="bound of fori_loop must be an int64 scalar"):
            fori_loop(*pair, same, 1.0)
    with pytest.raises(OverflowError, match="number of steps must be an int64 scalar"):
        fori_loop(LEAST, MOST, same, 1.0)
    big = ot.scalar("big", dtype="uint64")
    f = oc.function([big], polynomial(0, big, ot.constant(1.0)), mode="native")
    assert f(3) == by_hand(0, 3, 1.0)
    with pytest.raises(OverflowError, match="must be an int64 scalar, and is too large"):
        f(2**63)
    bounds: list[Any] = [1.0, np.float64(2), 2j, True, np.True_, None, np.arange(1), s, x, "1"]
    for bound in bounds:
        for pair in ((bound, 3), (0, bound)):
            with pytest.raises(TypeError, match=r"must be an integer scalar|Cannot make a tensor"):
                fori_loop(*pair, same, 1.0)
    with pytest.raises(TypeError, match=r"test_fori_loop\.py:\d+"):
        fori_loop(0, s, same, 1.0)


@dataclasses.dataclass
class Pair:
    first: Any
    second: Any


def test_nested_states(mode: str) -> None:
    def body(i: Any, state: Any) -> Any:
        pair, rest = state["pair"], state["rest"]
        return {
            "rest": (rest[0] + pair.first, {"v": rest[1]["v"][::-1] * 0.5}),
            "pair": Pair(pair.second, pair.first + pair.second + i),
        }

    init = {"pair": Pair(0, 1), "rest": (s, {"v": x})}
    out: Any = fori_loop(lo, hi, body, init)
    assert isinstance(out["pair"], Pair)
    f = oc.function(
        [lo, hi, s, x],
        [out["pair"].first, out["pair"].second, out["rest"][0], out["rest"][1]["v"]],
        mode=mode,
    )
    for lower, upper in ((1, 6), (3, 3), (-2, 0)):
        a, b, total, v = 0, 1, 0.25, np.array([1.0, 2.0, 4.0])
        for i in range(lower, upper):
            a, b, total, v = b, a + b + i, total + a, v[::-1] * 0.5
        for found, wanted in zip(
            f(lower, upper, 0.25, [1.0, 2.0, 4.0]), (a, b, total, v), strict=True
        ):
            np.testing.assert_allclose(found, wanted)


def test_dtypes_of_states() -> None:
    """A float32 state keeps its dtype if the counter is cast; without a cast the message says what to do."""
    start = np.float32(1)
    with pytest.raises(TypeError, match="must keep its dtype"):
        fori_loop(0, 5, lambda i, v: v + i, start)
    out = fori_loop(0, 5, lambda i, v: v + i.astype("float32"), start)
    assert out.type.dtype == "float32"
    assert og.evaluate(out) == 11.0
    # a Python number takes the dtype of the steps
    assert fori_loop(0, hi, lambda i, v: v + i, 0).type.dtype == "int64"
    assert fori_loop(0, hi, lambda i, v: v + i, 0.0).type.dtype == "float64"


def test_derivatives(mode: str) -> None:
    def powers(lower: Any, upper: Any) -> Any:
        return fori_loop(lower, upper, lambda i, v: ot.sin(v * s) + i * s, s * s)

    outs = [powers(1, 4), powers(lo, hi), powers(0, hi), powers(lo, 4)]
    slopes: list[Any] = []
    for out in outs:
        slope = grad(out, s)
        slopes += [slope, grad(slope, s), pushforward(out, s, ot.constant(1.0))]
    f = oc.function([lo, hi, s], slopes, mode=mode)

    def value(z: complex, lower: int, upper: int) -> complex:
        v = z * z
        for i in range(lower, upper):
            v = np.sin(v * z) + i * z
        return v

    for lower, upper in ((1, 4), (-2, 3), (3, 1)):
        found = f(lower, upper, 0.7)
        pairs = [(1, 4), (lower, upper), (0, upper), (lower, 4)]
        for at, pair in enumerate(pairs):
            slope = value(0.7 + 1e-30j, *pair).imag / 1e-30
            ends = [value(0.7 + d + 1e-30j, *pair).imag / 1e-30 for d in (-1e-6, 1e-6)]
            np.testing.assert_allclose(found[3 * at], slope, rtol=1e-12)
            np.testing.assert_allclose(
                found[3 * at + 1], (ends[1] - ends[0]) / 2e-6, rtol=1e-6, atol=1e-6
            )
            np.testing.assert_allclose(found[3 * at + 2], slope, rtol=1e-12)
    with pytest.raises((TypeError, ValueError), match=r"hi|discrete"):
        grad(powers(0, hi), hi)


def test_hessian_of_a_vector() -> None:
    out = fori_loop(lo, hi, lambda i, v: ot.tanh(v * x) + i, x).sum()
    f = oc.function([lo, hi, x], [grad(out, x), hessian(out, x)], mode="native")

    def slope(v: Any) -> Any:
        return grad(fori_loop(1, 4, lambda i, u: ot.tanh(u * v) + i, v).sum(), v)

    og.verify_grad(
        slope,
        [np.array([0.3, -0.2])],
        rng=np.random.default_rng(0),
    )
    _, h = f(1, 4, [0.3, -0.2])
    np.testing.assert_allclose(h, np.diag(np.diag(h)))
    assert f(4, 1, [0.3, -0.2])[0].tolist() == [1.0, 1.0]


def test_shared_bounds_and_states(mode: str) -> None:
    count = og.shared(np.int32(3), name="count")
    state = og.shared(np.ones(2), name="state")
    out = fori_loop(0, count, lambda i, v: v * 2 + i, state)
    f = oc.function([], out, updates={state: out, count: count + np.int32(1)}, mode=mode)
    wanted = np.ones(2)
    for steps in (3, 4):
        for i in range(steps):
            wanted = wanted * 2 + i
        np.testing.assert_allclose(f(), wanted)
    np.testing.assert_allclose(state.get_value(), wanted)


def test_batches_of_bounds(mode: str) -> None:
    out = fori_loop(lo, hi, lambda i, v: ot.sin(v) + i * s, s)
    outs = [out, grad(out, s), grad(grad(out, s), s)]
    f = oc.function([los, his, s], og.vectorize_graph(outs, {lo: los, hi: his}), mode=mode)
    g = oc.function([lo, his, s], og.vectorize_graph(outs[:2], {hi: his}), mode=mode)
    one = oc.function([lo, hi, s], outs, mode="py")
    for lower, upper in (([0, -3, 5, 2], [4, -1, 2, 9]), ([3], [1]), ([], [])):
        wanted = [one(a, b, 0.7) for a, b in zip(lower, upper, strict=True)]
        for i, found in enumerate(f(lower, upper, 0.7)):
            np.testing.assert_allclose(found, [v[i] for v in wanted], rtol=1e-10)
    for i, found in enumerate(g(1, [0, 4, 2], 0.7)):
        np.testing.assert_allclose(found, [one(1, b, 0.7)[i] for b in (0, 4, 2)], rtol=1e-10)


def test_against_jax() -> None:
    jax: Any = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        for lower, upper in ((0, 5), (-4, 2), (3, 1)):
            for dtype in ("int32", "int64"):
                bounds = [np.dtype(dtype).type(v) for v in (lower, upper)]

                def step(i: Any, u: Any) -> Any:
                    return u * 0.5 + i

                def run(a: Any, b: Any, step: Any = step) -> Any:
                    return jax.lax.fori_loop(a, b, step, 1.0)

                theirs = [run(*bounds), jax.jit(run)(*bounds)]
                a, b = ot.scalar(dtype=dtype), ot.scalar(dtype=dtype)
                ours = oc.function([a, b], polynomial(a, b, 1.0), mode="py")(*bounds)
                np.testing.assert_allclose(theirs, ours)


def test_one_compilation_for_all_bounds() -> None:
    """JAX compiles a graph once for all bounds, and with values of each step once for each power of two."""
    pytest.importorskip("jax")
    out = fori_loop(lo, hi, lambda i, v: v * 0.5 + i, s)
    f = oc.function([lo, hi, s], [out, grad(out, s)], mode="jax")
    for lower, upper in ((0, 5), (-2, 4), (7, 3)):
        np.testing.assert_allclose(f(lower, upper, 1.0)[0], by_hand(lower, upper, 1.0))
    outer = loop(lambda v: (fori_loop(lo, hi, lambda i, u: u * 0.5 + i, v), v), s, length=hi)[1]
    g = oc.function([lo, hi, s], outer, mode="jax")
    np.testing.assert_allclose(
        g(1, 3, 1.0), [1.0, by_hand(1, 3, 1.0), by_hand(1, 3, by_hand(1, 3, 1.0))]
    )


@pytest.mark.parametrize("new", [0, 1, 3])
@pytest.mark.parametrize(
    "made",
    [
        lambda x, n: scan(lambda v: 2 * v, outputs_info=[x], n_steps=n, return_updates=False),
        lambda x, n: loop(lambda v: (2 * v, v), x, length=n)[1],
        lambda x, n: loop(lambda v: (2 * v, None), x, length=n)[0],
        lambda x, n: fori_loop(0, n, lambda i, v: 2 * v, x),
        lambda x, n: fori_loop(n - n, n, lambda i, v: 2 * v, x),
    ],
)
def test_another_number_of_steps_is_followed_or_refused(made: Any, new: int) -> None:
    x, old = ot.dvector("x"), ot.constant(np.int64(2))
    graph = made(x, old)
    try:
        replaced = og.clone_replace(graph, {old: ot.constant(np.int64(new))})
    except ValueError:
        return
    outs = [replaced, replaced.shape, replaced.sum(), ot.ones_like(replaced)]
    found = oc.function([x], outs)([1.0, 2.0])
    wanted = made(x, ot.constant(np.int64(new)))
    wanted = oc.function([x], [wanted, wanted.shape, wanted.sum(), ot.ones_like(wanted)])(
        [1.0, 2.0]
    )
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)
