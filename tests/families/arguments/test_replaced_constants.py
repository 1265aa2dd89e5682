"""A constant that decides a length in functions of families is followed when `clone_replace` replaces it, or there is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random
from occelo_random.ops import generators

V = ot.dvector("v")
VALUES: dict[Any, Any] = {V: np.arange(4.0)}


def doubled(s: Any) -> Any:
    return s * 2.0


def halved(s: Any) -> Any:
    return s / 2.0 + 1.0, s


MADE: dict[str, Callable[[Any], Any]] = {
    "roll": lambda c: arrays.roll(V, c),
    "linspace": lambda c: arrays.linspace(0.0, 1.0, c),
    "steps": lambda c: scan(
        doubled, outputs_info=ot.constant(1.0), n_steps=c, return_updates=False
    ),
    "steps in blocks": lambda c: loop(halved, V, length=5, checkpoint=c)[0],
    "kept in blocks": lambda c: loop(halved, V, length=5, checkpoint=c)[1],
    "steps of blocks": lambda c: loop(halved, V, length=c + 4, checkpoint=2)[0],
    "kept of blocks": lambda c: loop(halved, V, length=c + 4, checkpoint="sqrt")[1],
    "draw by a key": lambda c: random.normal(random.key(1), size=(c,)),
    "draw by a generator": lambda c: generators.default_rng(1).normal(size=c)[1],
}


@pytest.mark.parametrize("dtype", ["int64", "int8"])
@pytest.mark.parametrize("name", MADE)
def test_a_replaced_constant_is_followed(name: str, dtype: str) -> None:
    one = ot.constant(np.array(1, dtype))
    made = MADE[name](one)
    np.testing.assert_array_equal(
        og.evaluate(made, VALUES), og.evaluate(MADE[name](1), VALUES), strict=True
    )
    if dtype == "int64":
        assert made.type.shape == MADE[name](1).type.shape
    for new in (ot.constant(np.array(2, dtype)), ot.scalar("n", dtype=dtype)):
        given = dict(VALUES)
        if not isinstance(new, og.Constant):
            given[new] = np.array(2, dtype)
        followed = og.clone_replace(made, {one: new}, rebuild_strict=False)
        expected = og.evaluate(MADE[name](2), VALUES)
        np.testing.assert_array_equal(og.evaluate(followed, given), expected)
        assert followed.type.is_super(ot.TensorType(followed.dtype, expected.shape))
        try:
            strictly = og.clone_replace(made, {one: new})
            found = og.evaluate(strictly, given)
        except ValueError:
            # it says that a length, here or within, was known when the graph was built
            within = name.endswith("blocks")
            assert within or made.type.shape != MADE[name](2).type.shape
        else:
            np.testing.assert_array_equal(found, expected)
