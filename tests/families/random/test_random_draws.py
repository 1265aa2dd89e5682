"""Draws by keys of many distributions: the same numbers on compiled backends, in loops and in any number of threads."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops.ops.building.loops import fori_loop
from occelo_random import functions as random

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 100_000 if THOROUGH else 3000
KEY = np.uint64(987654321987654321)


def draws(key: Any) -> list[Any]:
    keys = [random.fold_in(key, i) for i in range(9)]
    rows = (COUNT // 3, 3)
    return [
        random.normal(keys[0], size=COUNT),
        random.normal(keys[1], size=COUNT, dtype="float32"),
        random.exponential(keys[2], size=COUNT),
        random.gamma(keys[3], [0.25, 1.0, 40.0], size=rows),
        random.poisson(keys[4], [0.5, 12.0, 1e5], size=rows),
        random.binomial(keys[5], [5, 200, 10**6], 0.4, size=rows),
        random.hypergeometric(keys[6], 300, 200, 100, size=COUNT),
        random.categorical(keys[7], np.full(40, 1 / 40), size=COUNT),
        random.permutation(keys[8], 50),
    ]


def agree(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype
        if one.dtype.kind == "f":
            # a gamma number near 0 is the cube of a difference
            np.testing.assert_allclose(one, other, 2e-14 if one.ndim == 2 else 1e-15, 0)
        else:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("linker", ["vm", "native", "c"])
def test_every_backend_draws_the_same_numbers(linker: str) -> None:
    key = ot.scalar("key", dtype="uint64")
    made = draws(key)
    if linker == "c" and not THOROUGH:
        made = [made[0], made[3]]  # compilers of C take seconds for each distribution
    expected = [np.asarray(og.evaluate(v, {key: KEY})) for v in made]
    agree(oc.function([key], made, mode=oc.Mode(linker))(KEY), expected)


def test_draws_in_a_loop_are_those_outside() -> None:
    key = ot.scalar("key", dtype="uint64")

    def step(i: Any, total: Any) -> Any:
        mine = random.fold_in(key, i)
        return total + random.gamma(mine, 0.5) + random.normal(mine) + random.poisson(mine, 20.0)

    looped = fori_loop(0, 6, step, ot.constant(0.0))
    keys = random.reuse(random.fold_in(key, np.arange(6)))
    outside = random.gamma(keys, 0.5) + random.normal(keys) + random.poisson(keys, 20.0)
    one, other = oc.function([key], [looped, outside.sum()])(KEY)
    np.testing.assert_allclose(one, other, rtol=1e-13)


def test_errors_name_the_parameter_and_the_line() -> None:
    scale = ot.dvector("scale")
    f = oc.function([scale], random.gamma(random.key(1), 2.0, scale))
    assert f([1.0, 2.0]).shape == (2,)
    with pytest.raises(
        ValueError, match=r"(?s)scale < 0.*test_random_draws|test_random_draws.*scale < 0"
    ):
        f([1.0, -2.0])


def test_saved_draws_are_loaded_where_nothing_was_drawn() -> None:
    key = ot.scalar("key", dtype="uint64")
    text = pickle.dumps((key, random.gamma(key, [0.5, 3.0]) + random.poisson(key, 20.0)))
    program = (
        "import pickle, numpy as np, occelo_graph as og\n"
        f"key, drawn = pickle.loads({text!r})\n"
        "print(og.evaluate(drawn, {key: np.uint64(5)}).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    expected = og.evaluate(
        random.gamma(key, [0.5, 3.0]) + random.poisson(key, 20.0), {key: np.uint64(5)}
    )
    assert done.stdout.strip() == str(np.asarray(expected).tolist())


@pytest.mark.parametrize("name", ["laplace", "gumbel", "cauchy", "logistic", "normal"])
@pytest.mark.parametrize("loc", [(2.0,), (0.0, 1.0), (0.0, 1.0, 2.0), ((0.0, 1.0), (2.0, 3.0))])
def test_tuples_are_parameters_like_arrays(name: str, loc: Any) -> None:
    draw = getattr(random, name)
    found, expected = (og.evaluate(draw(KEY, each)) for each in (loc, np.array(loc)))
    assert found.shape == np.shape(loc)
    np.testing.assert_array_equal(found, expected)
