"""Derivatives of functions of several dtypes are computed in the precision of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arctan2": ot.arctan2,
    "pow": ot.pow,
    "logaddexp": ot.logaddexp,
    "true_div": ot.true_div,
    "mul": ot.mul,
    "maximum": ot.maximum,
    "mod": ot.mod,
    "three factors": lambda x, y: ot.mul(x, y, x),
    "difference of squares": lambda x, y: ot.sub(ot.mul(x, y, y), ot.mul(y, x, x)),
}
COMPLEX = ("pow", "true_div", "mul", "three factors", "difference of squares")
MIXED = [
    ("float16", "float64"),
    ("float16", "float32"),
    ("float32", "float64"),
    ("int8", "float32"),
    ("int16", "float64"),
    ("float16", "complex128"),
    ("float32", "complex128"),
    ("int8", "complex128"),
    ("complex64", "complex128"),
    ("complex64", "float64"),
]
NUMBERS = np.array([1.0, 2.0, 3.037, 12.0, 100.0, 119.5])
OTHERS = np.array([0.75, 1.25, 4.0, 1.1, 0.3, 1.0 / 3.0])


def _real_cost(value: Any) -> Any:
    total = value.sum()
    return total.real + 2.0 * total.imag if total.dtype.startswith("complex") else total


CASES = [
    (name, narrow, wide)
    for name in FUNCTIONS
    for narrow, wide in MIXED
    if name in COMPLEX or "complex" not in narrow + wide
]


@pytest.mark.parametrize("narrow_first", [True, False])
@pytest.mark.parametrize(("name", "narrow", "wide"), CASES)
def test_derivatives_are_those_of_the_converted_operands(
    name: str, narrow: str, wide: str, narrow_first: bool
) -> None:
    """Of f(x, y) as of f of both in the precision of the result, which is certain to be computed in that."""
    dtypes = (narrow, wide) if narrow_first else (wide, narrow)
    x, y = (ot.vector(n, dtype=d) for n, d in zip("xy", dtypes, strict=True))
    first, second = (NUMBERS, OTHERS) if narrow_first else (OTHERS, NUMBERS)
    if np.dtype(narrow).kind in "iu" and not narrow_first:
        second = np.trunc(second)
    values: dict[Any, Any] = {x: first.astype(dtypes[0]), y: second.astype(dtypes[1])}
    for v in (x, y):
        if v.dtype.startswith("complex"):
            values[v] = values[v] * v.type.numpy_dtype.type(1 - 0.25j)
    out = FUNCTIONS[name](x, y)
    real = out.type.numpy_dtype.type(0).real.dtype.name
    full = [v.astype("complex128" if "complex" in v.dtype else real) for v in (x, y)]
    tolerance = 1e-13 if real == "float64" else 1e-5
    costs = _real_cost(out), _real_cost(FUNCTIONS[name](*full))
    for operand, converted in zip((x, y), full, strict=True):
        if operand.dtype != wide:
            continue
        found = og.evaluate(og.grad(costs[0], operand), values)
        expected = og.evaluate(og.grad(costs[1], converted), values)
        assert found.dtype == wide
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
        if "complex" in narrow + wide:
            continue
        pushed = og.pushforward(out, operand, ot.ones_like(operand))
        np.testing.assert_allclose(
            og.evaluate(pushed, values), expected, rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("y", [300.0, 3.037, 6e4])
def test_squares_of_halves_do_not_overflow(y: float) -> None:
    half, x = ot.scalar("y", dtype="float16"), ot.dscalar("x")
    exact = float(np.float16(y))
    found = og.evaluate(og.grad(ot.arctan2(half, x), x), {half: np.float16(y), x: 1.5})
    np.testing.assert_allclose(found, -exact / (exact * exact + 2.25), rtol=1e-14)
    found = og.evaluate(og.grad(half * x * half, x), {half: np.float16(y), x: 1.5})
    np.testing.assert_allclose(found, exact * exact, rtol=1e-14)


def test_tangents_pass_a_number_minus_a_truth_value() -> None:
    x, d = ot.dvectors("x", "d")
    pushed = og.pushforward((x > 1.0) - x * x, x, d)
    found = og.evaluate(pushed, {x: np.array([0.5, 2.0]), d: np.array([1.0, 3.0])})
    np.testing.assert_array_equal(found, [-1.0, -12.0])
    pushed = og.pushforward(x * x - (x > 1.0), x, d)
    np.testing.assert_array_equal(
        og.evaluate(pushed, {x: np.array([0.5, 2.0]), d: np.array([1.0, 3.0])}), [1.0, 12.0]
    )
