"""Branches that read common values, some of which ops overwrite in place."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.testing import has_compiler

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
