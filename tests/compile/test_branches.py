"""Branches that read common values, some of which ops overwrite in place."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.testing.looping import again
from occelo_link.testing import has_compiler

pytestmark = pytest.mark.filterwarnings("ignore:.*(jax|pytorch|runs in Python)")
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LINKERS = ["vm", "py", "native", *(["c|py", "c"] if has_compiler() else [])]
# compilers of C are slow: one seed in four
CASES = [
    (seed, linker)
    for seed in range(12)
    for linker in LINKERS
    if THOROUGH or seed % 4 == 0 or not linker.startswith("c")
]


def branching(seed: int) -> tuple[Any, Any]:
    """A function of a library, a choice, two flags and two vectors; the choice takes a flag and two lists."""
    generator = np.random.default_rng(seed)
    steps = generator.integers(0, 8, size=9)
    picks = generator.integers(0, 1000, size=(9, 3))

    def run(lib: Any, choose: Any, flags: Any, x: Any, y: Any) -> list[Any]:
        pool = [x + 0.5, y * 2.0]
        for kind, (i, j, k) in zip(steps, picks, strict=True):
            a, b = pool[i % len(pool)], pool[j % len(pool)]
            if kind == 0:
                pool.append(lib.exp(-a * a))
            elif kind == 1:
                pool.append(lib.cumsum(a))
            elif kind == 2:
                pool.append(a + b)
            elif kind == 3:
                pool.append(a[::-1] * 1.5)
            elif kind == 4:
                pool.append(lib.sqrt(abs(a)) - b)
            elif kind == 5:
                pool += choose(flags[k % 2], [a + 1.0, b * 0.5], [b - 2.0, a])
            else:
                pool += choose(flags[k % 2], [lib.sin(a)], [lib.cos(b) + a])
        return pool[-3:]

    return run, generator


@pytest.mark.parametrize(("seed", "linker"), CASES)
def test_nothing_is_overwritten_that_is_still_read(seed: int, linker: str) -> None:
    run, generator = branching(seed)
    c, d, x, y = ot.bscalar("c"), ot.bscalar("d"), ot.dvector("x"), ot.dvector("y")
    outputs = run(ot, ot.ifelse, (c, d), x, y)
    f = oc.function([c, d, x, y], outputs, mode=linker, on_unused_input="ignore")
    values = generator.normal(size=5), generator.normal(size=5)
    for flags in ((0, 0), (0, 1), (1, 0), (1, 1)):
        wanted = run(np, lambda flag, then, other: then if flag else other, flags, *values)
        for found, value in zip(f(*flags, *values), wanted, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-12)


@pytest.mark.parametrize("linker", ["vm", "py"])
def test_a_reader_in_the_other_branch_is_not_run_for_an_op_that_overwrites(linker: str) -> None:
    class Failing(og.Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return og.Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            raise AssertionError("this branch is not taken")

    c, x = ot.bscalar("c"), ot.dvector("x")
    t = ot.cumsum(x)
    one, two = ot.exp(t), Failing()(t)
    f = oc.function([c, x], [ot.ifelse(c, one, two), ot.ifelse(c, t[::-1], two)], mode=linker)
    found = f(1, np.ones(3))
    np.testing.assert_allclose(found[0], np.exp([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found[1], [3.0, 2.0, 1.0])


CALLS: list[int] = []


@og.op
class Numbered(og.Op):
    """What only Python knows; it notes its number."""

    number: int

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        CALLS.append(self.number)
        return x + self.number

    def infer_shape(self, node: Any, input_shapes: Any) -> Any:
        return input_shapes

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return list(cotangents)


def test_branches_on_one_condition_in_different_branches_of_another_stay_lazy(mode: str) -> None:
    if mode == "pytorch":
        pytest.skip("without torch.compile, both branches run to tell the shapes of results")
    x, flags = ot.dvector("x"), [ot.lscalar(f"c{i}") for i in range(3)]

    def choice(flags: list[Any], first: int, count: int) -> Any:
        if count == 1:
            return Numbered(first)(x) * 2.0
        half = count // 2
        then, other = (choice(flags[1:], first + k, half) for k in (0, half))
        return ot.ifelse(flags[0], then, other)

    f = oc.function([x, *flags], choice(flags, 0, 8), mode=mode)
    for number in range(8):
        CALLS.clear()
        taken = [1 - (number >> k & 1) for k in (2, 1, 0)]
        np.testing.assert_array_equal(f([1.0, 2.0], *taken), [2.0 + 2 * number, 4.0 + 2 * number])
        assert set(CALLS) == {number}


def test_a_branch_that_is_not_taken_does_not_fail(mode: str) -> None:
    a, c = ot.lscalar("a"), ot.lscalar("c")
    x, y = ot.dvector("x"), ot.dvector("y")
    f = oc.function(
        [a, c, x, y],
        ot.ifelse(a, ot.ifelse(c, x[0], 1.0), ot.ifelse(c, y[0], 2.0)),
        mode=mode,
    )
    assert [f(1, 1, [5.0], []), f(0, 1, [], [6.0]), f(1, 0, [], []), f(0, 0, [], [])] == [
        5,
        6,
        1,
        2,
    ]
    with pytest.raises(IndexError):
        f(1, 1, [], [6.0])


def test_branches_that_are_needed_together_are_merged() -> None:
    c, d, x = ot.lscalar("c"), ot.lscalar("d"), ot.dvector("x")

    def choices(made: Any) -> list[Any]:
        graph = oc.function([c, d, x], made, mode="vm", on_unused_input="ignore").maker.fgraph
        return [n for n in graph.toposort() if n.op.lazy]

    one = ot.ifelse(d, ot.sin(x), x)
    assert len(choices([one, ot.ifelse(d, ot.exp(x), x * 2.0)])) == 1
    # both in one branch
    inner = one * ot.ifelse(d, ot.exp(x), x * 2.0)
    assert len(choices(ot.ifelse(c, inner, x))) == 2
    # needed in both branches, and so always
    both = ot.ifelse(c, one + 1.0, one * 2.0)
    assert len(choices([both, ot.ifelse(d, ot.cos(x), x)])) == 2
    # one is always needed, the other one in a branch
    assert len(choices([one, ot.ifelse(c, ot.ifelse(d, ot.cos(x), x), x)])) == 3


def test_an_iteration_that_does_not_run_does_not_fail(mode: str) -> None:
    n, a, x = ot.lscalar("n"), ot.dscalar("a"), ot.dvector("x")

    def step(s: Any, v: Any) -> list[Any]:
        return [s + v[0]]

    f = oc.function([n, a, x], again(n, [a], step, [x])[0], mode=mode)
    assert [f(0, 1.0, []), f(2, 1.0, [3.0])] == [1.0, 7.0]
    with pytest.raises(IndexError):
        f(1, 1.0, [])
