"""Accuracy of the elementary functions, in units in the last place, against mpmath."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from occelo_link.loops.elementary import (
    error_function,
    exponential,
    hyperbolic,
    logarithm,
    power,
    trigonometric,
)
from occelo_link.native.llvm import print_llvm
from occelo_testing.last_place import Points, same, worst
from occelo_testing.loop_programs import Compiled, map_program

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 100_000 if THOROUGH else 400
points_ = Points(11, COUNT)
between, by_exponent = points_.between, points_.by_exponent
mpmath.mp.prec = 200  # mpmath itself adds what the reduction of huge angles needs


def _erfcx(x: Any) -> Any:
    """exp(x**2) erfc(x), by the asymptotic series where that is exact enough."""
    if x < 1e6:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    by = 1 / (2 * x * x)
    return (1 - by * (1 - 3 * by * (1 - 5 * by))) / (x * mpmath.sqrt(mpmath.pi))


HARD_ANGLES = [3.0e8 * math.pi, math.pi, math.pi / 2, 710.0, 999999999.5]
KAHAN = 6381956970095103.0 * 2.0**797  # the float nearest to a multiple of pi/2
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[Any], float]] = {
    "exp": (exponential.exp, mpmath.exp, [between(-745, 709.7), by_exponent(-60, 3)], 1),
    "exp2": (
        exponential.exp2,
        lambda x: mpmath.power(2, x),
        [between(-1074, 1023.9), by_exponent(-60, 3)],
        1,
    ),
    "expm1": (
        exponential.expm1,
        mpmath.expm1,
        [between(-50, 709), between(36, 38.5), between(-2, 2), by_exponent(-1060, 3)],
        1,
    ),
    "log": (logarithm.log, mpmath.log, [by_exponent(-1073, 1023, False), between(0.5, 2)], 1),
    "log2": (
        logarithm.log2,
        lambda x: mpmath.log(x, 2),
        [by_exponent(-1073, 1023, False), between(0.5, 2)],
        1,
    ),
    "log10": (
        logarithm.log10,
        mpmath.log10,
        [by_exponent(-1073, 1023, False), between(0.5, 2)],
        1,
    ),
    "log1p": (
        logarithm.log1p,
        lambda x: mpmath.log1p(x),
        [by_exponent(-1060, 1023, False), between(-0.999, 2), -by_exponent(-60, -1, False)],
        1,
    ),
    "sin": (
        trigonometric.sin,
        mpmath.sin,
        [by_exponent(-1060, 29), between(-10, 10), HARD_ANGLES],
        1,
    ),
    "cos": (
        trigonometric.cos,
        mpmath.cos,
        [by_exponent(-60, 29), between(-10, 10), HARD_ANGLES],
        1,
    ),
    "tan": (
        trigonometric.tan,
        mpmath.tan,
        [by_exponent(-1060, 29), between(-10, 10), HARD_ANGLES],
        1,
    ),
    "arctan": (trigonometric.arctan, mpmath.atan, [by_exponent(-1060, 60), between(-3, 3)], 1),
    "tanh": (hyperbolic.tanh, mpmath.tanh, [by_exponent(-1060, 5), between(-3, 3)], 1),
    "sinh": (
        hyperbolic.sinh,
        mpmath.sinh,
        [by_exponent(-1060, 9), between(-3, 3), between(-710, 710)],
        2,
    ),
    "cosh": (
        hyperbolic.cosh,
        mpmath.cosh,
        [by_exponent(-60, 9), between(-3, 3), between(-710, 710)],
        2,
    ),
    "erf": (
        error_function.erf,
        mpmath.erf,
        [by_exponent(-1000, 3), between(-6, 6), between(0.7, 1.6), [0.9496733, 0.994831542847337]],
        1,
    ),
    "erfc": (
        error_function.erfc,
        mpmath.erfc,
        [by_exponent(-60, 3), between(-6, 27), between(0.3, 2)],
        2,
    ),
    "erfcx": (
        error_function.erfcx,
        _erfcx,
        [by_exponent(-60, 4), between(-6, 27), between(-26.7, -26.5), by_exponent(3, 1023, False)],
        2,
    ),
    "sigmoid": (
        hyperbolic.sigmoid,
        lambda x: 1 / (1 + mpmath.exp(-x)),
        [between(-700, 40), between(-3, 3)],
        2.5,
    ),
    "softplus": (
        hyperbolic.softplus,
        lambda x: mpmath.log1p(mpmath.exp(x)),
        [between(-700, 40), between(-3, 3)],
        2.5,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_accuracy(name: str) -> None:
    function, exact, parts, limit = CASES[name]
    points = np.concatenate([np.asarray(p, dtype=float) for p in parts])
    found = Compiled(map_program(function))(points)[0]
    error_, at = worst(found, points, exact)
    assert error_ <= limit, f"{name}({at!r}) is {error_:.3f} ulp off"


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles(name: str) -> None:
    function, exact, _, limit = CASES[name]
    edges = [
        1e9,
        -1e9,
        1.0000001e9,
        2.0**53,
        2.0**54,
        2.0**55,
        1e22,
        -1e300,
        1.7976931348623157e308,
    ]
    points = np.concatenate([by_exponent(29, 1023), by_exponent(29, 60), edges, [KAHAN, -KAHAN]])
    found = Compiled(map_program(function))(points)[0]
    error_, at = worst(found, points, exact)
    assert error_ <= limit, f"{name}({at!r}) is {error_:.3f} ulp off"


def test_the_logarithm_of_uniform_numbers() -> None:
    parts = [by_exponent(-1022, 0, False), between(0.5, 1), 1 - by_exponent(-53, -1, False)]
    points = np.concatenate(parts)
    found = Compiled(map_program(logarithm.minus_log_of_normal))(points)[0]
    error_, at = worst(found, points, lambda x: -mpmath.log(x))
    assert error_ <= 3, f"-log({at!r}) is {error_:.3f} ulp off"


def test_powers() -> None:
    x = np.concatenate([between(0.01, 100), by_exponent(-300, 300, False), between(0.9, 1.1)])
    y = np.concatenate([between(-100, 100), between(-2, 2), between(-3000, 3000)])
    found = Compiled(map_program(power.pow, 2))(x, y)[0]
    error_, at = worst(found, list(zip(x, y, strict=True)), mpmath.power)
    assert error_ <= 2, f"pow{at!r} is {error_:.3f} ulp off"


EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan])
AT_EDGES: dict[str, list[float]] = {
    "exp": [1, 1, np.inf, 0, np.nan],
    "exp2": [1, 1, np.inf, 0, np.nan],
    "expm1": [0, -0.0, np.inf, -1, np.nan],
    "log": [-np.inf, -np.inf, np.inf, np.nan, np.nan],
    "log2": [-np.inf, -np.inf, np.inf, np.nan, np.nan],
    "log10": [-np.inf, -np.inf, np.inf, np.nan, np.nan],
    "log1p": [0, -0.0, np.inf, np.nan, np.nan],
    "sin": [0, -0.0, np.nan, np.nan, np.nan],
    "cos": [1, 1, np.nan, np.nan, np.nan],
    "tan": [0, -0.0, np.nan, np.nan, np.nan],
    "arctan": [0, -0.0, math.pi / 2, -math.pi / 2, np.nan],
    "tanh": [0, -0.0, 1, -1, np.nan],
    "sinh": [0, -0.0, np.inf, -np.inf, np.nan],
    "cosh": [1, 1, np.inf, np.inf, np.nan],
    "erf": [0, -0.0, 1, -1, np.nan],
    "erfc": [1, 1, 0, 2, np.nan],
    "erfcx": [1, 1, 0, np.inf, np.nan],
    "sigmoid": [0.5, 0.5, 1, 0, np.nan],
    "softplus": [math.log(2), math.log(2), np.inf, 0, np.nan],
}


@pytest.mark.parametrize("name", CASES)
def test_special_values(name: str) -> None:
    # the last lane matters as well: whole vectors, then a rest
    points = np.tile(EDGES, 5)
    found = Compiled(map_program(CASES[name][0]))(points)[0]
    assert np.all(same(found, np.tile(AT_EDGES[name], 5))), found[:5]


def test_powers_of_special_values() -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, np.inf, -np.inf, np.nan, -3.5, 1e300, -1e300]
    exponents = [*values, 3.0, -3.0, -0.5, 1e19]
    x, y = (v.ravel().copy() for v in np.meshgrid(values, exponents))
    found = Compiled(map_program(power.pow, 2))(x, y)[0]
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    finite = np.isfinite(expected) & (expected != 0)
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-15)
    assert np.all(same(found, expected) | finite)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf", "arctan"])
@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3"])
def test_bits_do_not_depend_on_the_processor(name: str, cpu: str) -> None:
    from occelo_link.machine.processor import host_target

    triple, _, features = host_target()
    if not triple.startswith("x86_64") or (cpu == "x86-64-v3" and "+avx2" not in features):
        pytest.skip("needs the processor level")
    function, _, parts, _ = CASES[name]
    subnormal = np.ldexp([1.0, -1.0, 2.0**0.5], -1074 + np.arange(52)[:, None]).ravel()
    points = np.concatenate([EDGES, subnormal, *(np.asarray(p, dtype=float) for p in parts)])
    for lanes in (1, 8, 16):
        program = map_program(function, lanes=lanes)
        np.testing.assert_array_equal(
            Compiled(program, cpu, "")(points)[0], Compiled(program)(points)[0]
        )
    # AVX-512 has instructions for powers of two, mantissas and exponents
    texts = [print_llvm(map_program(function), features=f) for f in ("", "+avx512f,+avx512vl")]
    assert ["avx512" in text for text in texts] == [False, name in ("exp", "log")]
