"""Workloads with loops for the benchmarks: recurrences, filters, recurrent networks, integrators, training in a loop.

Each program is written once for Occelo, JAX and PyTensor, which share the interface `Loops`. The same programs are also written
by hand for C (`loops_in_c.c`), Numba (`loops_in_numba`) and PyTorch (`loops_in_torch`). `compiled` measures all of them, in the
part `loops` of `run`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from workloads import Library, Workload

__all__ = ["LOOP_MODELS", "LOOP_WORKLOADS", "by_hand_in"]

GOAL = 0.95
"""How many times as fast as the best peer each case is to be at least."""
C_GOAL = 1.25
"""How many times the time of C the bodies of scalars and small vectors may take, forward."""


@dataclass
class Loops:
    """What programs with loops use of a library: its functions of arrays, a loop, and a triangular solve.

    ``loop(step, init, xs, kept)`` has tuples as states and as elements; ``kept`` is the number of values that a step keeps.
    ``hoisted`` says whether products of all steps are to be written before the loop, which Occelo does itself.
    """

    m: Any
    loop: Callable[..., tuple[Any, Any]]
    solve_lower: Callable[[Any, Any], Any]
    hoisted: bool = True


Program = Callable[..., list[Any]]
Cost = Callable[..., Any]


@dataclass
class Case:
    """A loop: ``program(loops, *arrays)`` gives its results, ``cost(m, *results)`` what is differentiated with respect to the arrays at ``wrt``."""

    name: str
    program: Program
    cost: Cost
    arrays: tuple[Any, ...]
    wrt: tuple[int, ...]
    steps: int
    small: bool = True
    """Whether the body consists of scalars and small vectors, so that C by hand is the measure."""


def _random() -> np.random.Generator:
    return np.random.default_rng(3)


def _sum_of_squares(m: Any, *results: Any) -> Any:
    total = (results[0] * results[0]).sum()
    for each in results[1:]:
        total = total + (each * each).sum()
    return total


def _first(m: Any, *results: Any) -> Any:
    return results[0]


# the cases


def ar1(steps: int = 10_000) -> Case:
    """A simulated autoregression of order 1."""

    def program(b: Loops, phi: Any, start: Any, noise: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            y = phi * state[0] + element[0]
            return (y,), (y,)

        return [b.loop(step, (start,), (noise,), 1)[1][0]]

    arrays = (np.array(0.9), np.array(0.5), _random().standard_normal(steps))
    return Case("AR(1)", program, _sum_of_squares, arrays, (0, 2), steps)


def ar3(steps: int = 10_000) -> Case:
    """A simulated autoregression of order 3."""

    def program(b: Loops, p1: Any, p2: Any, p3: Any, start: Any, noise: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            y1, y2, y3 = state
            y = p1 * y1 + p2 * y2 + p3 * y3 + element[0]
            return (y, y1, y2), (y,)

        return [b.loop(step, (start, start, start), (noise,), 1)[1][0]]

    first = [np.array(v) for v in (0.5, 0.2, -0.3, 0.5)]
    arrays = (*first, _random().standard_normal(steps))
    return Case("AR(3)", program, _sum_of_squares, arrays, (0, 1, 2, 4), steps)


def logistic_map(steps: int = 10_000) -> Case:
    """The logistic map where it is not chaotic, so that its derivatives are finite; the sequence only counts steps."""

    def program(b: Loops, r: Any, start: Any, count: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            x = r * state[0] * (1.0 - state[0]) + element[0]
            return (x,), (x,)

        return [b.loop(step, (start,), (count,), 1)[1][0]]

    arrays = (np.array(3.2), np.array(0.3), np.zeros(steps))
    return Case("logistic map", program, _sum_of_squares, arrays, (0, 1), steps)


def seir(steps: int = 2000) -> Case:
    """An epidemic: the SEIR equations by the classic Runge-Kutta method, and the squared distance from counts."""

    def program(b: Loops, rates: Any, start: Any, counts: Any) -> Any:
        beta, sigma, gamma, dt = rates[0], rates[1], rates[2], rates[3]

        def slope(s: Any, e: Any, i: Any) -> Any:
            new, ill, well = beta * s * i, sigma * e, gamma * i
            return -new, new - ill, ill - well

        def moved(state: Any, by: Any, h: Any) -> Any:
            return [v + h * d for v, d in zip(state, by, strict=True)]

        def step(state: Any, element: Any) -> Any:
            k1 = slope(*state)
            k2 = slope(*moved(state, k1, dt * 0.5))
            k3 = slope(*moved(state, k2, dt * 0.5))
            k4 = slope(*moved(state, k3, dt))
            found = tuple(
                v + dt / 6.0 * (a + 2.0 * c + 2.0 * d + e)
                for v, a, c, d, e in zip(state, k1, k2, k3, k4, strict=True)
            )
            return found, (found[2] - element[0],)

        return [b.loop(step, (start[0], start[1], start[2]), (counts,), 1)[1][0]]

    rates = np.array([0.8, 0.3, 0.2, 0.05])
    counts = _random().uniform(0, 0.1, steps)
    arrays = (rates, np.array([0.99, 0.0, 0.01]), counts)
    return Case("SEIR", program, _sum_of_squares, arrays, (0, 1), steps)


def hmm(steps: int = 500, states: int = 16) -> Case:
    """The forward algorithm of a hidden Markov model: the log likelihood."""

    def program(b: Loops, move: Any, first: Any, zero: Any, seen: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            alpha = (state[0] @ move) * element[0]
            total = alpha.sum()
            return (alpha / total, state[1] + b.m.log(total)), ()

        return [b.loop(step, (first, zero), (seen,), 0)[0][1]]

    rng = _random()
    move = rng.uniform(0.1, 1, (states, states))
    move /= move.sum(axis=1, keepdims=True)
    first = np.full(states, 1 / states)
    arrays = (move, first, np.array(0.0), rng.uniform(0.1, 1, (steps, states)))
    return Case(f"HMM, {steps} x {states}", program, _first, arrays, (0, 3), steps)


def kalman_filter(steps: int = 500, states: int = 4, seen: int = 2) -> Case:
    """A Kalman filter: the log density of a series."""

    def program(
        b: Loops,
        mean: Any,
        cov: Any,
        zero: Any,
        move: Any,
        q_root: Any,
        look: Any,
        r_root: Any,
        ys: Any,
    ) -> Any:
        m = b.m
        # products, since libraries differ about the derivatives with respect to matrices that are not symmetric
        q, r = q_root @ q_root.T, r_root @ r_root.T

        def step(state: Any, element: Any) -> Any:
            mean, cov, total = state
            mean, cov = move @ mean, move @ cov @ move.T + q
            factor = m.linalg.cholesky(look @ cov @ look.T + r)
            half = b.solve_lower(factor, look @ cov)
            z = b.solve_lower(factor, (element[0] - look @ mean)[:, None])[:, 0]
            density = -0.5 * (z * z).sum() - m.log(m.diagonal(factor)).sum()
            return (mean + half.T @ z, cov - half.T @ half, total + density), ()

        return [b.loop(step, (mean, cov, zero), (ys,), 0)[0][2]]

    rng = _random()
    turn = np.linalg.qr(rng.standard_normal((states, states)))[0]
    arrays = (
        np.zeros(states),
        np.eye(states),
        np.array(0.0),
        0.95 * turn,
        0.5 * np.eye(states),
        rng.standard_normal((seen, states)),
        0.7 * np.eye(seen),
        rng.standard_normal((steps, seen)),
    )
    name = f"Kalman filter, state {states}"
    return Case(name, program, _first, arrays, (3, 4, 5, 6), steps)


def _network(name: str, gates: int, cell: Callable[..., Any], states: int) -> Case:
    steps, width, batch = 200, 64, 32

    def program(b: Loops, xs: Any, u: Any, w: Any, bias: Any, *start: Any) -> Any:
        if b.hoisted:
            # all products with the elements at once
            whole = xs.reshape((steps * batch, width)) @ u + bias
            xs = whole.reshape((steps, batch, gates * width))

        def step(state: Any, element: Any) -> Any:
            given = element[0] if b.hoisted else element[0] @ u + bias
            parts = [given[:, k * width : (k + 1) * width] for k in range(gates)]
            made = cell(b.m, state, parts, w, width)
            return made, ()

        return [b.loop(step, start, (xs,), 0)[0][0]]

    rng = _random()
    arrays = (
        rng.standard_normal((steps, batch, width)) * 0.5,
        rng.standard_normal((width, gates * width)) * 0.1,
        rng.standard_normal((width, gates * width)) * 0.1,
        rng.standard_normal(gates * width) * 0.1,
        *[np.zeros((batch, width)) for _ in range(states)],
    )
    return Case(name, program, _sum_of_squares, arrays, (1, 2, 3), steps, small=False)


def rnn() -> Case:
    """A recurrent network of tanh units."""

    def cell(m: Any, state: Any, given: Any, w: Any, width: int) -> Any:
        return (m.tanh(given[0] + state[0] @ w),)

    return _network("RNN", 1, cell, 1)


def gru() -> Case:
    """Gated recurrent units."""

    def cell(m: Any, state: Any, given: Any, w: Any, width: int) -> Any:
        (h,) = state
        before = h @ w
        update = 1.0 / (1.0 + m.exp(-(given[0] + before[:, :width])))
        reset = 1.0 / (1.0 + m.exp(-(given[1] + before[:, width : 2 * width])))
        new = m.tanh(given[2] + reset * before[:, 2 * width :])
        return (update * h + (1.0 - update) * new,)

    return _network("GRU", 3, cell, 1)


def lstm() -> Case:
    """Long short-term memory."""

    def cell(m: Any, state: Any, given: Any, w: Any, width: int) -> Any:
        h, c = state
        before = h @ w
        a = [given[k] + before[:, k * width : (k + 1) * width] for k in range(4)]
        keep, enter, leave = (1.0 / (1.0 + m.exp(-v)) for v in a[:3])
        c = keep * c + enter * m.tanh(a[3])
        return (leave * m.tanh(c), c)

    return _network("LSTM", 4, cell, 2)


def leapfrog(steps: int = 1000, n: int = 8) -> Case:
    """Leapfrog steps in a potential that is quartic, with coupled coordinates."""

    def program(b: Loops, q: Any, p: Any, couple: Any, h: Any, kicks: Any) -> Any:
        def force(q: Any) -> Any:
            return -(couple @ q) - q * q * q

        def step(state: Any, element: Any) -> Any:
            q, p = state
            p = p + 0.5 * h * force(q)
            q = q + h * p
            p = p + 0.5 * h * force(q) + element[0]
            return (q, p), ()

        return list(b.loop(step, (q, p), (kicks,), 0)[0])

    rng = _random()
    a = rng.standard_normal((n, n))
    couple = a @ a.T / n + np.eye(n)
    arrays = (
        rng.standard_normal(n),
        rng.standard_normal(n),
        couple,
        np.array(0.01),
        np.zeros(steps),
    )
    return Case("leapfrog", program, _sum_of_squares, arrays, (0, 1, 2, 3), steps)


def minibatches(steps: int = 320, count: int = 32, batch: int = 32, n: int = 20) -> Case:
    """Logistic regression by gradient descent with momentum, differentiated with respect to its starting point and rate."""

    def program(b: Loops, w: Any, v: Any, rate: Any, x: Any, y: Any, order: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            w, v = state
            rows, labels = x[element[0]], y[element[0]]
            p = 1.0 / (1.0 + b.m.exp(-(rows @ w)))
            slope = rows.T @ (p - labels) / batch + 0.01 * w
            v = 0.9 * v - rate * slope
            return (w + v, v), ()

        return [b.loop(step, (w, v), (order,), 0)[0][0]]

    rng = _random()
    x = rng.standard_normal((count, batch, n))
    y = (x @ rng.standard_normal(n) > 0).astype(float)
    order = rng.integers(0, count, steps)
    arrays = (np.zeros(n), np.zeros(n), np.array(0.1), x, y, order)
    return Case("minibatches", program, _sum_of_squares, arrays, (0, 2), steps, small=False)


def nested_sums(outer: int = 100, inner: int = 100) -> Case:
    """A loop whose every step is a loop that sums."""

    def program(b: Loops, start: Any, zero: Any, a: Any, x: Any) -> Any:
        def step(state: Any, element: Any) -> Any:
            def add(total: Any, each: Any) -> Any:
                z = element[0] * each[0] + state[0]
                return (total[0] + z / (1.0 + z * z),), ()

            total = b.loop(add, (zero,), (x,), 0)[0][0]
            return (total / inner,), (total,)

        return [b.loop(step, (start,), (a,), 1)[1][0]]

    rng = _random()
    arrays = (np.array(0.1), np.array(0.0), rng.standard_normal(outer), rng.standard_normal(inner))
    name = f"{outer} nested sums"
    return Case(name, program, _sum_of_squares, arrays, (0, 2, 3), outer * inner)


# the libraries that share names


def _occelo_loops() -> Loops:
    occelo: Any = importlib.import_module("occelo")
    m: Any = importlib.import_module("occelo.tensor")

    def loop(step: Any, init: Any, xs: Any, kept: int) -> Any:
        return occelo.loop(step, init, xs)

    def solve(a: Any, b: Any) -> Any:
        return m.linalg.solve_triangular(a, b, lower=True, b_ndim=2)

    return Loops(m, loop, solve, hoisted=False)


def _pytensor_loops() -> Loops:
    pytensor: Any = importlib.import_module("pytensor")
    m: Any = importlib.import_module("pytensor.tensor")

    def loop(step: Any, init: Any, xs: Any, kept: int) -> Any:
        def flat(*given: Any) -> Any:
            elements, state = given[: len(xs)], given[len(xs) : len(xs) + len(init)]
            following, traced = step(state, elements)
            return [*following, *traced]

        made = pytensor.scan(
            flat,
            sequences=list(xs),
            outputs_info=[*init, *[None] * kept],
            return_list=True,
            return_updates=False,
        )
        return tuple(v[-1] for v in made[: len(init)]), tuple(made[len(init) :])

    def solve(a: Any, b: Any) -> Any:
        return m.linalg.solve_triangular(a, b, lower=True, b_ndim=2)

    return Loops(m, loop, solve)


def _jax_loops(jax: Any) -> Loops:
    linalg: Any = importlib.import_module("jax.scipy.linalg")

    def loop(step: Any, init: Any, xs: Any, kept: int) -> Any:
        return jax.lax.scan(step, init, xs)

    def solve(a: Any, b: Any) -> Any:
        return linalg.solve_triangular(a, b, lower=True)

    return Loops(jax.numpy, loop, solve)


# programs by hand


@functools.cache
def _c_library(dtype: str) -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    source, target = Path(__file__).with_name("loops_in_c.c"), folder / "loops.so"
    real = {"float64": "double", "float32": "float"}[dtype]
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", f"-DREAL={real}"]
    subprocess.run([*command, "-o", str(target), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(target))


def _call_of_c(function: str, dtype: str, arrays: Sequence[Any], like: Sequence[Any]) -> Any:
    """A call of a function in C, which gets the addresses of its arguments and results."""
    made = _c_library(dtype)[function]
    given = [np.ascontiguousarray(a) for a in arrays]

    def call() -> list[Any]:
        # as the others do, it allocates its results
        results = [np.empty_like(r) for r in like]
        made(*(ctypes.c_void_p(a.ctypes.data) for a in (*given, *results)))
        return results

    return call


def by_hand_in(language: str, work: Workload) -> Callable[[], Any] | None:
    """A call of a workload's program in C or Numba; None if there is none."""
    made = work.by_hand.get(language)
    return None if made is None else made()


def _attribute(module: str, name: str) -> Any:
    """A function of a module with programs by hand; None if it has no such program."""
    return getattr(importlib.import_module(module), name, None)


def workload(factory: Callable[[], Case], dtype: str, gradient: bool) -> Workload:
    """A case as a workload, with its cost and derivatives if ``gradient``, in one dtype of real numbers."""
    case = factory()
    key = factory.__name__ + ("_gradient" if gradient else "")
    arrays = tuple(a if a.dtype.kind == "i" else a.astype(dtype) for a in case.arrays)

    def build(lib: Library) -> Any:
        b = _occelo_loops() if lib.tensor.__name__ == "occelo.tensor" else _pytensor_loops()
        inputs = [
            lib.tensor.tensor(f"a{i}", shape=a.shape, dtype=str(a.dtype))
            for i, a in enumerate(arrays)
        ]
        results = case.program(b, *inputs)
        if not gradient:
            return inputs, results, []
        cost = case.cost(b.m, *results)
        return inputs, [cost, *lib.grad(cost, [inputs[i] for i in case.wrt])], []

    def with_jax(jax: Any) -> Any:
        b = _jax_loops(jax)
        if not gradient:
            return lambda *given: case.program(b, *given)

        def cost(*given: Any) -> Any:
            return case.cost(b.m, *case.program(b, *given))

        both = jax.value_and_grad(cost, argnums=case.wrt)

        def run(*given: Any) -> Any:
            value, grads = both(*given)
            return [value, *grads]

        return run

    def with_torch(torch: Any) -> Any:
        scripted = torch.jit.script(_attribute("loops_in_torch", factory.__name__))

        def results(*given: Any) -> Any:
            made = scripted(*given)
            return list(made) if isinstance(made, tuple | list) else [made]

        if not gradient:
            return results

        def run(*given: Any) -> Any:
            with torch.enable_grad():
                inputs = list(given)
                for i in case.wrt:
                    inputs[i] = inputs[i].detach().requires_grad_()
                cost = case.cost(torch, *results(*inputs))
                grads = torch.autograd.grad(cost, [inputs[i] for i in case.wrt])
            return [cost.detach(), *grads]

        return run

    def in_c() -> Any:
        like = [np.empty(s, dtype) for s in RESULTS[key]] if key in RESULTS else None
        return None if like is None else _call_of_c(key, dtype, arrays, like)

    def in_numba() -> Any:
        function = _attribute("loops_in_numba", key)
        return None if function is None else lambda: function(*arrays)

    what = "with gradient" if gradient else "forward"
    return Workload(
        f"{case.name}, {what}, {dtype}",
        build,
        arrays,
        jax=with_jax,
        torch=with_torch,
        torch_compiles=False,
        goal=GOAL,
        rtol=1e-6 if dtype == "float64" else 5e-3,
        by_hand={"c": in_c, "numba": in_numba},
        c_goal=C_GOAL if case.small and not gradient else None,
        real=dtype,
    )


CASES: tuple[Callable[[], Case], ...] = (
    ar1,
    ar3,
    logistic_map,
    seir,
    hmm,
    kalman_filter,
    rnn,
    gru,
    lstm,
    leapfrog,
    minibatches,
    nested_sums,
)
RESULTS: dict[str, list[tuple[int, ...]]] = {
    "ar1": [(10_000,)],
    "ar1_gradient": [(), (), (10_000,)],
    "ar3": [(10_000,)],
    "ar3_gradient": [(), (), (), (), (10_000,)],
    "logistic_map": [(10_000,)],
    "logistic_map_gradient": [(), (), ()],
    "seir": [(2000,)],
    "hmm": [()],
    "kalman_filter": [()],
    "rnn": [(32, 64)],
    "gru": [(32, 64)],
    "lstm": [(32, 64)],
    "leapfrog": [(8,), (8,)],
    "minibatches": [(20,)],
    "nested_sums": [(100,)],
}
"""The shapes of the results of the functions in C, by their names."""
LOOP_WORKLOADS: list[Callable[[], Workload]] = [
    lambda f=f, dtype=dtype, gradient=gradient: workload(f, dtype, gradient)
    for f in CASES
    for gradient in (False, True)
    for dtype in ("float64", "float32")
]
LOOP_MODELS: dict[str, Callable[[], Workload]] = {
    f.__name__: (lambda f=f: workload(f, "float64", True)) for f in CASES
}
