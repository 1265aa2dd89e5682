"""Nests of loops with static lengths, against the same steps as plain loops of NumPy: values, and gradients by complex steps.

No rewriter may reach a limit: the tests set the option that raises.
"""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_loops.ops.building.loops import loop

pytestmark = pytest.mark.filterwarnings("ignore:.*will be static")
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
DRAWN = range(600 if THOROUGH else 24)
X, WEIGHTS = np.array([0.3, 0.4]), np.array([1.0, 2.0])
Values = npt.NDArray[Any]

STEPS: dict[str, Any] = {
    "polynomial": lambda lib, v: v - 0.1 * v * v,
    "sine": lambda lib, v: 0.9 * v + 0.1 * lib.sin(v),
    "long": lambda lib, v: lib.tanh(lib.sin(v) * lib.exp(-v) + lib.sqrt(1.0 + v * v) * 0.5) * 0.7,
}


@dataclass(frozen=True)
class Level:
    """One loop: its kind, its length, and its checkpoints."""

    kind: str
    length: int
    checkpoint: str | None = None


KINDS = ("final", "sum", "last", "element", "rows", "mapped")


@dataclass(frozen=True)
class Nest:
    """Loops inside each other, the outermost first, around a step. The lengths of the state are static or not."""

    levels: tuple[Level, ...]
    step: str
    static: bool

    def built(self, x: Any) -> Any:
        """The nest as an expression."""
        return _built(self.levels, STEPS[self.step], x)

    def computed(self, x: Values) -> Values:
        """The nest as plain loops."""
        return _computed(self.levels, STEPS[self.step], x)


def _built(levels: tuple[Level, ...], step: Any, x: Any) -> Any:
    if not levels:
        return step(ot, x)
    level, rest = levels[0], levels[1:]
    if level.kind == "mapped":
        at = ot.arange(level.length)
        _, kept = loop(lambda _, i: (None, _built(rest, step, x * (1.0 + 0.01 * i))), None, at)
        return kept.mean(axis=0)

    def following(state: Any) -> Any:
        after = _built(rest, step, state)
        # the length of what a step computes is not known if that of x is not
        return (ot.specify_shape(after, x.type.shape) if None not in x.type.shape else after), state

    final, kept = loop(following, x, length=level.length, checkpoint=level.checkpoint)
    return {
        "final": lambda: final,
        "sum": lambda: kept.sum(axis=0),
        "last": lambda: kept[-1],
        "element": lambda: kept[level.length // 2],
        "rows": lambda: kept[level.length // 2 :].sum(axis=0) + kept[0],
    }[level.kind]()


def _computed(levels: tuple[Level, ...], step: Any, x: Values) -> Values:
    if not levels:
        return np.asarray(step(np, x))
    level, rest = levels[0], levels[1:]
    if level.kind == "mapped":
        rows = [_computed(rest, step, x * (1.0 + 0.01 * i)) for i in range(level.length)]
        return np.asarray(np.mean(rows, axis=0))
    kept: list[Values] = []
    for _ in range(level.length):
        kept.append(x)
        x = _computed(rest, step, x)
    half = level.length // 2
    return np.asarray(
        {
            "final": lambda: x,
            "sum": lambda: np.sum(kept, axis=0),
            "last": lambda: kept[-1],
            "element": lambda: kept[half],
            "rows": lambda: np.sum(kept[half:], axis=0) + kept[0],
        }[level.kind]()
    )


def _check(nest: Nest, mode: str) -> None:
    x = ot.tensor("x", dtype="float64", shape=(2,) if nest.static else (None,))
    value = nest.built(x)
    slope = og.grad(ot.dot(value, WEIGHTS), x)
    with config.change_flags(cache=False):
        found = oc.function([x], [value, slope], mode=mode)(X)
    np.testing.assert_allclose(found[0], nest.computed(X), rtol=1e-12)
    small = 1e-30
    wanted = [
        (nest.computed(X + small * 1j * direction).imag / small) @ WEIGHTS
        for direction in np.eye(len(X))
    ]
    np.testing.assert_allclose(found[1], wanted, rtol=1e-10, atol=1e-13)


def drawn(seed: int) -> Nest:
    """A random nest of one to four loops of one to five steps."""
    random = np.random.default_rng(seed)

    def level() -> Level:
        kind, length = str(random.choice(KINDS)), int(random.integers(1, 6))
        return Level(kind, length, "sqrt" if random.random() < 0.3 else None)

    levels = tuple(level() for _ in range(random.integers(1, 5)))
    return Nest(levels, str(random.choice(list(STEPS))), bool(random.integers(2)))


@pytest.mark.parametrize("seed", DRAWN)
def test_drawn_nests(seed: int) -> None:
    _check(drawn(seed), "native" if seed % 6 == 0 else "vm")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("step", ["polynomial", "sine"])
@pytest.mark.parametrize("kinds", list(itertools.product(["last", "sum", "mapped"], repeat=2)))
def test_four_nested_loops_of_three_steps(kinds: tuple[str, ...], step: str) -> None:
    _check(Nest(tuple(Level(kind, 3) for kind in kinds * 2), step, False), "vm")


@pytest.mark.parametrize("checkpoint", [None, "sqrt"])
@pytest.mark.parametrize("length", [1, 2, 4, 16])
def test_one_loop(length: int, checkpoint: str | None) -> None:
    """The gradient of a loop of few steps asserts in each step that the length is that of the weights."""
    _check(Nest((Level("final", length, checkpoint),), "polynomial", False), "vm")


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_replacements_are_few(depth: int) -> None:
    """They grow with the depth of a nest, and not with the number of all steps: 65,536 in eight loops of four steps."""
    x = ot.dvector("x")
    value = Nest((Level("final", 4),) * depth, "sine", False).built(x)
    graph = og.FunctionGraph([x], [value])
    record = oc.get_mode("FAST_RUN").optimizer.rewrite(graph)
    assert len(record.applications) <= 100
    assert len(graph.apply_nodes) <= 100
