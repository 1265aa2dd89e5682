"""Elementary functions at many points: float64 against the C library's long double, float32 at all inputs."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.elementary import (
    error_function,
    exponential,
    hyperbolic,
    logarithm,
    trigonometric,
)
from occelo_testing.loop_programs import Compiled, map_program

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
POINTS = 10_000_000 if THOROUGH else 100_000
rng = np.random.default_rng(5)
Reference = Callable[[Any], Any]


def by_exponent(low: int, high: int, count: int, signed: bool = True) -> Any:
    """Numbers whose exponents are spread evenly."""
    size = np.ldexp(rng.uniform(1, 2, count), rng.integers(low, high, count))
    return size * rng.choice([-1.0, 1.0], count) if signed else size


def of_c(name: str) -> Reference:
    """A function of long double of the C library, one number at a time."""

    def reference(x: Any) -> Any:
        function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
        function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
        return np.array([function(float(v)) for v in x], dtype=np.longdouble)

    return reference


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# function, reference, the range of exponents, whether there are negative arguments, the bound in ulp
WIDE: dict[str, tuple[Callable[..., Any], Reference, tuple[int, int], bool, float]] = {
    "exp": (exponential.exp, np.exp, (-60, 9), True, 1),
    "exp2": (exponential.exp2, np.exp2, (-60, 9), True, 1),
    "expm1": (exponential.expm1, np.expm1, (-1060, 9), True, 1),
    "log": (logarithm.log, np.log, (-1073, 1023), False, 1),
    "log2": (logarithm.log2, np.log2, (-1073, 1023), False, 1),
    "log10": (logarithm.log10, np.log10, (-1073, 1023), False, 1),
    "log1p": (logarithm.log1p, np.log1p, (-1060, 1023), False, 1),
    "sin": (trigonometric.sin, np.sin, (-1060, 60), True, 1),
    "cos": (trigonometric.cos, np.cos, (-60, 60), True, 1),
    "tan": (trigonometric.tan, np.tan, (-1060, 60), True, 1),
    "arctan": (trigonometric.arctan, np.arctan, (-1060, 1000), True, 1),
    "tanh": (hyperbolic.tanh, np.tanh, (-1060, 5), True, 1),
    "sinh": (hyperbolic.sinh, np.sinh, (-1060, 9), True, 2),
    "cosh": (hyperbolic.cosh, np.cosh, (-60, 9), True, 2),
    "erf": (error_function.erf, of_c("erfl"), (-1000, 3), True, 1),
    "erfc": (error_function.erfc, of_c("erfcl"), (-60, 4), True, 2),
    "sigmoid": (hyperbolic.sigmoid, lambda x: 1 / (1 + np.exp(-x)), (-60, 9), True, 2.5),
    "softplus": (hyperbolic.softplus, _softplus, (-60, 9), True, 2.5),
}


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="long double has no more bits than double here"
)
@pytest.mark.parametrize("name", WIDE)
def test_float64_functions_at_ten_million_points(name: str) -> None:
    """Points spread over the exponents, and as many between -3 and 3 (or 0 and 3)."""
    function, reference, (low, high), signed, limit = WIDE[name]
    compiled = Compiled(map_program(function))
    half = POINTS // 2
    for points in (
        by_exponent(low, high, half, signed),
        rng.uniform(-3 if signed else 2.0**-30, 3, half),
    ):
        with np.errstate(all="ignore"):
            exact = reference(points.astype(np.longdouble))
            nearest = exact.astype(np.float64)
            found = compiled(points)[0]
            unit = np.spacing(np.abs(nearest))
            off = np.abs(found.astype(np.longdouble) - exact) / unit
        special_ = ~np.isfinite(nearest)
        np.testing.assert_array_equal(found[special_], nearest[special_])
        off = np.where(special_, 0, off)
        at = int(np.argmax(off))
        # the reference is wrong by some thousandths of a unit itself
        assert off[at] <= limit + 0.01, f"{name}({points[at]!r}) is {float(off[at]):.3f} ulp off"


NARROW: dict[str, Reference] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "softplus": _softplus,
    "erf": special.erf,
    "erfc": special.erfc,
    "sqrt": np.sqrt,
    "reciprocal of sqrt": lambda x: 1 / np.sqrt(x),
}
LIMITS = {"sigmoid": 2.5, "softplus": 2.5, "reciprocal of sqrt": 1.5}


@pytest.mark.parametrize("name", NARROW)
def test_float32_functions_at_all_inputs(name: str) -> None:
    """All 2**32 inputs in thorough runs, against float64 of NumPy and SciPy."""
    x = ot.fvector("x")
    y = 1 / ot.sqrt(x) if name == "reciprocal of sqrt" else getattr(ot, name)(x)
    nodes = [v.owner for v in y.owner.inputs if v.owner is not None and x in v.owner.inputs]
    compiled = Compiled(lower_graph([x], [y], [*nodes, y.owner]))
    # arrays of this length stay in the processor's cache
    chunk = 2**16
    starts = range(0, 2**32, chunk) if THOROUGH else range(0, 2**32, 2**26 + 12345)
    for start in (2**31, *starts):  # -0.0 is among the first
        bits = np.arange(start, min(start + chunk, 2**32), dtype=np.uint64).astype(np.uint32)
        given = bits.view(np.float32)
        # some inputs are signaling NaNs
        with np.errstate(all="ignore"):
            found = compiled(given)[0]
            assert found.dtype == np.float32
            exact = NARROW[name](given.astype(np.float64))
            nearest = exact.astype(np.float32)
            unit = np.spacing(np.abs(nearest)).astype(np.float64)
            off = np.abs(found.astype(np.float64) - exact) / unit
        special_ = np.isnan(exact) | np.isinf(nearest)
        np.testing.assert_array_equal(found[special_], nearest[special_])
        zero = nearest == 0
        np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(nearest[zero]))
        off[special_] = 0
        at = int(np.argmax(off))
        assert off[at] <= LIMITS.get(name, 1.0), f"{name}({given[at]!r}) is {off[at]:.3f} ulp off"
