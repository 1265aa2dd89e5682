"""Accuracy of the gamma function's logarithm and its derivative in machine code, in units in the last place."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.special

from occelo_special.lowerings import gamma_function
from occelo_testing.last_place import Points, same, worst
from occelo_testing.loop_programs import Compiled, map_program

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
points_of = Points(11, 100_000 if THOROUGH else 400)
between, by_exponent = points_of.between, points_of.by_exponent
mpmath.mp.prec = 200
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any], float]] = {
    "gammaln": (
        gamma_function.gammaln,
        mpmath.loggamma,
        [
            by_exponent(-1022, 1010, False),
            between(0.1, 6),
            1 + by_exponent(-40, -1),
            2 + by_exponent(-40, -1),
        ],
        4,
    ),
    "psi": (
        gamma_function.psi,
        lambda x: mpmath.psi(0, x),
        [
            by_exponent(-1000, 1010, False),
            between(0.1, 6),
            1.4616321449683623 + by_exponent(-40, -2),
        ],
        4,
    ),
}
EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
AT_EDGES: dict[str, list[float]] = {
    "gammaln": [np.inf, np.inf, np.inf, -np.inf, np.nan],
    "psi": [-np.inf, np.inf, np.inf, np.nan, np.nan],
}


@pytest.mark.parametrize("name", CASES)
def test_accuracy(name: str) -> None:
    function, exact, parts, limit = CASES[name]
    points = np.concatenate([np.asarray(p, dtype=float) for p in parts])
    computed = Compiled(map_program(function))(points)[0]
    error, at = worst(computed, points, exact)
    assert error <= limit, f"{name}({at!r}) is {error:.3f} ulp off"


@pytest.mark.parametrize("name", ["gammaln", "psi"])
def test_reflected_arguments(name: str) -> None:
    # near the poles the values are large, and near the roots the terms cancel
    points = np.concatenate([between(-40, 0), -by_exponent(-300, 0, False), [-1e15 - 0.5]])
    found = Compiled(map_program(CASES[name][0]))(points)[0]
    wanted = [
        float(mpmath.psi(0, x) if name == "psi" else mpmath.log(abs(mpmath.gamma(x))))
        if x > -1e6
        else float(getattr(scipy.special, name)(x))
        for x in points
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=2e-14)
    whole = np.array([-1.0, -2.0, -1e16, -1e308])
    found = Compiled(map_program(CASES[name][0]))(whole)[0]
    np.testing.assert_array_equal(found, getattr(scipy.special, name)(whole))
    np.testing.assert_array_equal(
        np.signbit(Compiled(map_program(gamma_function.gammaln))(np.array([1.0, 2.0]))[0]), False
    )


@pytest.mark.parametrize("name", CASES)
def test_special_values(name: str) -> None:
    # the last lane matters as well: whole vectors, then a rest
    computed = Compiled(map_program(CASES[name][0]))(np.tile(EDGES, 5))[0]
    assert np.all(same(computed, np.tile(AT_EDGES[name], 5))), computed[:5]
