"""The quantile of the normal distribution in machine code, beside SciPy's."""

from __future__ import annotations

import os

import numpy as np
import scipy.special

import occelo_link.loops.build  # which takes the lowerings of families
import occelo_random.ops.draws  # noqa: F401
from occelo_link.loops.lowerings.elemwise.scalar import scalar_value
from occelo_testing.last_place import Points
from occelo_testing.loop_programs import Compiled, map_program

between = Points(11, 100_000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 400).between


def test_the_quantile_of_the_normal_distribution() -> None:
    tail = 0.5 * np.exp(-between(0, 36))
    points = np.concatenate([tail, 1 - tail, between(0, 1), [2.0**-53, 1 - 2.0**-53, 0.5]])
    program = map_program(lambda b, u: scalar_value(b, "normal_quantile", "float64", u), lanes=32)
    found = Compiled(program)(points)[0]
    np.testing.assert_allclose(found, scipy.special.ndtri(points), rtol=2e-15, atol=1e-16)
