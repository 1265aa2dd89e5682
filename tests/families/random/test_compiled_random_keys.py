"""Draws by keys in compiled functions: the same bits on every linker, in loops, with updates and with several threads."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ir.shared import shared
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random

KEY = np.uint64(77)
LINKERS = ("vm", "native", "c", "numba", "jax", "pytorch")


@pytest.fixture(params=LINKERS)
def linker(request: pytest.FixtureRequest) -> str:
    from occelo_link.capabilities import is_installed
    from occelo_testing.loop_programs import has_compiler

    if not is_installed(request.param) or (request.param == "c" and not has_compiler()):
        pytest.skip(f"{request.param} is not installed, or there is no C compiler")
    return request.param


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
def test_every_linker_draws_the_same(linker: str) -> None:
    key = ot.scalar("key", dtype="uint64")
    keys = random.split(key, 2)
    draws = [
        random.bits(keys[0], (3, 2)),
        random.uniform(keys[1], size=5),
        random.integers(key, 10, size=4),
        random.normal(random.fold_in(key, 3), size=6),
    ]
    found = oc.function([key], draws, mode=linker)(KEY)
    expected = oc.function([key], draws, mode="py")(KEY)
    for position, (one, other) in enumerate(zip(found, expected, strict=True)):
        if position < 3:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-14)


def test_a_key_for_each_step_of_a_loop() -> None:
    key = ot.scalar("key", dtype="uint64")
    _, walk = loop(
        lambda at, k: (at + random.normal(k),) * 2, ot.constant(0.0), random.split(key, 50)
    )
    found = oc.function([key], walk)(KEY)
    steps = oc.function([key], random.normal(random.split(key, 50)))(KEY)
    np.testing.assert_allclose(found, np.cumsum(steps), rtol=1e-12)


def test_a_key_that_is_updated_gives_other_draws() -> None:
    state = shared(random.key(3).data, "key")
    following, now = (random.split(state)[i] for i in range(2))
    draw = oc.function([], random.uniform(now, size=3), updates={state: following})
    first, second = draw(), draw()
    assert not np.intersect1d(first, second).size
    state.set_value(random.key(3).data)
    np.testing.assert_array_equal(draw(), first)


def test_several_threads_draw_the_same() -> None:
    key = ot.scalar("key", dtype="uint64")
    found = []
    for threads in (1, 2):
        with config.change_flags(native__threads=threads):
            found.append(oc.function([key], random.uniform(key, size=300_000))(KEY))
    np.testing.assert_array_equal(*found)
