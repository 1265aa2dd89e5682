"""Derivatives of functions of integers are computed in the numbers of the result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

DTYPES = ["int8", "uint8", "int16", "int32", "uint64"]
FORMULAS: dict[str, tuple[Any, Any]] = {
    "power": (lambda n, y: n**y, lambda n, y: n**y * np.log(n)),
    "base": (lambda n, y: y**n, lambda n, y: n * y ** (n - 1)),
    "quotient": (lambda n, y: n / y, lambda n, y: -n / y**2),
    "arctan2": (lambda n, y: ot.arctan2(n, y), lambda n, y: -n / (n * n + y * y)),
    "product": (lambda n, y: n * y * ot.cast(n, "float64"), lambda n, y: n * n),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_by_the_other_operand(name: str, dtype: str) -> None:
    build, expected = FORMULAS[name]
    n, y = ot.vector("n", dtype=dtype), ot.dvector("y")
    numbers = np.array([1, 2, 7, 100]).astype(dtype)
    at = np.array([0.5, 1.25, 1.5, 0.9])
    wide = numbers.astype("float64")
    found = og.evaluate(og.grad(build(n, y).sum(), y), {n: numbers, y: at})
    np.testing.assert_allclose(found, expected(wide, at), rtol=1e-12)
    pushed = og.pushforward(build(n, y), y, ot.ones_like(y))
    np.testing.assert_allclose(
        og.evaluate(pushed, {n: numbers, y: at}), expected(wide, at), rtol=1e-12
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_formulas_do_not_wrap(dtype: str) -> None:
    """1 + n at the largest integer, n - 1 at 0."""
    largest = np.iinfo(dtype).max
    n, y = ot.vector("n", dtype=dtype), ot.dvector("y")
    values = np.array([largest], dtype)
    found = og.evaluate(og.grad(ot.log1p(n).sum(), n), {n: values})
    np.testing.assert_allclose(found, [1 / (1 + float(largest))], rtol=1e-3)
    found = og.evaluate(og.grad((y**n).sum(), y), {n: np.zeros(1, dtype), y: [1e3]})
    np.testing.assert_array_equal(found, [0.0])


def test_gradients_by_integers_are_of_the_default_float() -> None:
    n = ot.vector("n", dtype="int8")
    for cost in (ot.sqrt(n).sum(), (n * 1.5).sum(), ot.exp(ot.cast(n, "float32")).sum()):
        assert og.grad(cost, n).dtype == "float64"
