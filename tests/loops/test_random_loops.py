"""Random loops: values and gradients on every linker, against the same steps in NumPy and differences of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import loop

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(jax|pytorch|cache|runs in Python|will be static)"
)
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SEEDS = range(300 if THOROUGH else 6)
SIZE = 3
Array = npt.NDArray[np.float64]


@dataclass
class Drawn:
    """A random step over ``states``, ``elements`` and ``constants`` of the numbers of dimensions given."""

    states: list[int]
    elements: list[int]
    constants: list[int]
    moves: list[tuple[str, list[int], float]]
    """What is computed: the name of an operation, which earlier values it takes, and a number."""
    following: list[int]
    kept: list[int]
    stops: int | None
    reverse: bool
    length: int

    def step(self, lib: Any, values: list[Any]) -> list[Any]:
        """All values of a step, in order."""
        made = list(values)
        for name, at, number in self.moves:
            made.append(OPERATIONS[name][1](lib, [made[i] for i in at], number))
        return made


Operation = tuple[Callable[[list[int]], int | None], Callable[[Any, list[Any], float], Any]]


def _broadcast(ndims: list[int]) -> int | None:
    return max(ndims)


def _matvec(ndims: list[int]) -> int | None:
    return 1 if ndims == [2, 1] else 2 if ndims == [2, 2] else None


OPERATIONS: dict[str, Operation] = {
    "add": (_broadcast, lambda lib, v, n: v[0] + v[1] * n),
    "mul": (_broadcast, lambda lib, v, n: lib.tanh(v[0] * v[1])),
    "sin": (lambda d: d[0], lambda lib, v, n: lib.sin(v[0] * n)),
    "where": (_broadcast, lambda lib, v, n: lib.where(v[0] > n, v[1], v[0] * 0.5)),
    "matmul": (_matvec, lambda lib, v, n: lib.tanh(v[0] @ v[1])),
    "sum": (lambda d: d[0] - 1 if d[0] else None, lambda lib, v, n: lib.sin(v[0].sum(axis=0))),
    "last": (lambda d: d[0] - 1 if d[0] else None, lambda lib, v, n: v[0][-1] * n),
    "reversed": (lambda d: d[0] if d[0] else None, lambda lib, v, n: v[0][::-1]),
}


def drawn(seed: int) -> Drawn:
    g = np.random.default_rng(seed)
    states, elements, constants = (
        [int(n) for n in g.integers(0, 3, size=g.integers(low, 4))] for low in (1, 0, 0)
    )
    ndims = [*states, *elements, *constants]
    moves: list[tuple[str, list[int], float]] = []
    names = list(OPERATIONS)
    while len(moves) < g.integers(3, 12):
        name = names[g.integers(len(names))]
        at = [int(i) for i in g.integers(len(ndims), size=2)]
        made = OPERATIONS[name][0]([ndims[i] for i in at])
        if made is not None:
            moves.append((name, at, float(g.normal())))
            ndims.append(made)

    def one_of(ndim: int) -> int:
        fits = [i for i, n in enumerate(ndims) if n == ndim]
        return fits[-1 - int(min(g.geometric(0.5) - 1, len(fits) - 1))]

    following = [one_of(n) for n in states]
    kept = [int(i) for i in g.integers(len(ndims), size=g.integers(0, 4))]
    scalars = [i for i, n in enumerate(ndims) if n == 0]
    stops = scalars[-1] if scalars and g.random() < 0.3 else None
    return Drawn(
        states,
        elements,
        constants,
        moves,
        following,
        kept,
        stops,
        bool(g.random() < 0.3),
        int(g.integers(0, 7)),
    )


def by_hand(d: Drawn, initial: list[Array], xs: list[Array], constants: list[Array]) -> list[Any]:
    """Final states and traces, by a loop in Python."""
    state, traces, count = initial, [[] for _ in d.kept], 0
    for t in range(d.length):
        at = d.length - 1 - t if d.reverse else t
        values = d.step(np, [*state, *(x[at] for x in xs), *constants])
        state = [values[i] for i in d.following]
        for trace, i in zip(traces, d.kept, strict=True):
            trace.append(values[i])
        count += 1
        if d.stops is not None and values[d.stops] > 0.5:
            break
    return [*state, *(np.array(t[::-1] if d.reverse else t) for t in traces)]


def compiled(d: Drawn, mode: str) -> tuple[Any, Any]:
    """The function of the results, and of the gradient of a weighted sum of them by all inputs."""

    def tensors(ndims: list[int], what: str, extra: int = 0) -> list[Any]:
        return [
            ot.tensor(f"{what}{i}", dtype="float64", shape=(None,) * (n + extra))
            for i, n in enumerate(ndims)
        ]

    init, xs, constants = (
        tensors(d.states, "s"), tensors(d.elements, "x", 1), tensors(d.constants, "c")
    )  # fmt: skip

    def step(state: list[Any], elements: list[Any]) -> Any:
        values = d.step(ot, [*state, *elements, *constants])
        new = [values[i] for i in d.following]
        flag = values[d.stops] if d.stops is not None else ot.as_tensor_variable(0.0)
        return [*new, flag], [values[i] for i in d.kept]

    def body(state: list[Any], elements: Any) -> Any:
        return step(state[:-1], elements)

    until = None if d.stops is None else (lambda state: state[-1] > 0.5)
    final, traces = loop(
        body, [*init, np.float64(0.0)], xs=xs, length=d.length, until=until, reverse=d.reverse
    )
    results = [*final[:-1], *traces]
    cost = sum((ot.sin(r) * (i + 1)).sum() for i, r in enumerate(results))
    inputs = [*init, *xs, *constants]
    slopes = og.grad(cost, inputs, disconnected_inputs="ignore")
    options: Any = {"mode": mode, "on_unused_input": "ignore"}
    return oc.function(inputs, results, **options), oc.function(inputs, slopes, **options)


def values_for(d: Drawn, seed: int) -> list[list[Array]]:
    g = np.random.default_rng(seed + 10_000)
    shapes = [
        [(SIZE,) * n for n in d.states],
        [(d.length, *(SIZE,) * n) for n in d.elements],
        [(SIZE,) * n for n in d.constants],
    ]
    return [[np.asarray(g.normal(size=s)) for s in kind] for kind in shapes]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops(seed: int, mode: str) -> None:
    d = drawn(seed)
    init, xs, constants = values_for(d, seed)
    f, slopes = compiled(d, mode)
    inputs = [*init, *xs, *constants]
    wanted = by_hand(d, init, xs, constants)
    for found, value in zip(f(*inputs), wanted, strict=True):
        if d.length:
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-11)
    directions = [np.random.default_rng(seed + 1).normal(size=v.shape) for v in inputs]

    def cost(h: float) -> tuple[float, list[int]]:
        moved = [v + h * w for v, w in zip(inputs, directions, strict=True)]
        a, b = len(init), len(init) + len(xs)
        results = by_hand(d, moved[:a], moved[a:b], moved[b:])
        total = float(sum((np.sin(r) * (i + 1)).sum() for i, r in enumerate(results)))
        return total, [len(r) if r.ndim else 0 for r in results[len(init) :]]

    h = 1e-5
    (up, above), (down, below), (_, here) = cost(h), cost(-h), cost(0.0)
    along = sum(float((s * w).sum()) for s, w in zip(slopes(*inputs), directions, strict=True))
    if above == below == here:  # else the loop ends elsewhere: no derivative there
        np.testing.assert_allclose(along, (up - down) / (2 * h), rtol=2e-4, atol=2e-6)
