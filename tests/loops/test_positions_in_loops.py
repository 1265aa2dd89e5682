"""Positions that a loop counts up or down: what machine code needs not check, it does not, and the rest raises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph.tensor as ot
from occelo_compile import function
from occelo_loops.ops.building.loops import loop

LENGTH = 6


@pytest.mark.parametrize("offset", [-7, -6, -1, 0, 1, 5])
@pytest.mark.parametrize("reverse", [False, True])
def test_positions_out_of_range_still_raise(offset: int, reverse: bool) -> None:
    x = ot.tensor("x", shape=(LENGTH,), dtype="float64")

    def step(state: Any) -> Any:
        at, total = state
        return (at - 1 if reverse else at + 1, total + x[at + offset]), total

    first = LENGTH - 1 if reverse else 0
    (_, total), _ = loop(step, (np.int64(first), 0.0), length=LENGTH)
    f = function([x], total)
    values = np.arange(1.0, LENGTH + 1)
    positions = [k + offset for k in range(LENGTH)]
    if any(not -LENGTH <= k < LENGTH for k in positions):
        with pytest.raises(IndexError):
            f(values)
        return
    for _ in range(3):
        assert f(values) == sum(values[k] for k in positions)
