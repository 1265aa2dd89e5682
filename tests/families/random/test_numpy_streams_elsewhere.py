"""Draws with NumPy's generators in loops, and in functions that are to leave the process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from occelo_compile import function
from occelo_export import save_function
from occelo_graph import tensor as ot
from occelo_link.standalone.selection import NeedsPython
from occelo_loops import functions as loops
from occelo_random import functions as random
from occelo_random.ops.generator_type import random_generator_type


@pytest.mark.parametrize("linker", ["native", "c"])
def test_draws_in_loops(linker: str) -> None:
    rng = random.shared_rng(np.random.default_rng(3))

    def step(carried: Any) -> Any:
        total, state = carried
        following, x = state.normal(total, 1.0)
        following, k = following.poisson(2.0)
        return (x + k, following), x

    (total, last), steps = loops.loop(step, (ot.constant(0.0), rng), length=20)
    drawing = function([], [total, steps], updates={rng: last}, mode=linker)
    assert drawing.vm.python_nodes == []
    theirs = np.random.default_rng(3)
    for _ in range(2):
        expected: list[Any] = []
        mean: Any = 0.0
        for _ in range(20):
            expected.append(theirs.normal(mean, 1.0))
            mean = expected[-1] + theirs.poisson(2.0)
        found = drawing()
        assert found[1].tolist() == expected
        assert found[0] == mean
        assert rng.get_value().bit_generator.state == theirs.bit_generator.state


def test_functions_that_draw_stay_in_the_process(tmp_path: Path) -> None:
    x = ot.dscalar("x")
    fixed: Any = random_generator_type.make_constant(np.random.default_rng(3))
    drawing = cast("Any", function([x], fixed.normal(x, size=3)[1], mode="native"))
    expected = np.random.default_rng(3).normal(0.5, size=3).tolist()
    assert drawing(0.5).tolist() == expected
    called, drawn = drawing.c_function(), np.zeros(3)  # a constant generator is data
    assert called.ctypes(0.5, drawn.ctypes, None) == 0
    assert drawn.tolist() == expected
    with pytest.raises(NeedsPython, match=r"calls occelo_random\.streams\.loading:draw_normal"):
        save_function(drawing, tmp_path / "drawing")
    with pytest.raises(NeedsPython, match=r"calls occelo_random\.streams\.loading:draw_normal"):
        drawing.export(tmp_path / "exported")
