"""A constant that decides a length in functions of families is followed when `clone_replace` replaces it, or there is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random
from occelo_random.ops import generators
from occelo_testing.arguments.replaced_constants import check_followed

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
    check_followed(MADE[name], VALUES, dtype, known_within=name.endswith("blocks"))
