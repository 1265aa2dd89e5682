"""Second derivatives where formulas of first ones choose between cases: at zeros, equal values and limits.

Each is compared with central differences of first derivatives, and with the forward mode.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo import tensor as ot
from occelo_testing.examples import EXAMPLES

POINTS = (0.0, 1.0, 0.5, 2.0, -0.5)
STEP = 1e-5
FUNCTIONS: dict[str, Any] = {
    "power": lambda x, y: x**y,
    "xlogy": ot.xlogy,
    "xlog1py": ot.xlog1py,
    "boxcox": ot.boxcox,
    "boxcox1p": ot.boxcox1p,
    "inv_boxcox": ot.inv_boxcox,
    "inv_boxcox1p": ot.inv_boxcox1p,
    "spence": lambda x, y: ot.spence(x) * y,
    "sinc": lambda x, y: ot.sinc(x) * ot.exp(y),
    "logaddexp": ot.logaddexp,
    "hypot of one": lambda x, y: ot.hypot(x, 1.0 + y),
    "exprel": lambda x, y: ot.exprel(x) * y,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_of_two_numbers(name):
    """Where the first derivatives are smooth by differences, the second ones are what differences say."""
    grid = np.array(list(itertools.product(POINTS, repeat=2))).T
    variables = [ot.dvector("x"), ot.dvector("y")]
    slopes = og.grad(FUNCTIONS[name](*variables).sum(), variables)
    reverse = [og.grad(g.sum(), variables, disconnected_inputs="ignore") for g in slopes]
    ones = ot.ones_like(variables[0])
    forward = [
        [og.pushforward(g, v, ones, disconnected_outputs="ignore") for v in variables]
        for g in slopes
    ]

    def at(results: Any, points: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.array(og.evaluate(results, dict(zip(variables, points, strict=True))))

    ways = np.array([at(each, grid) for each in (*reverse, *forward)]).reshape(2, 2, 2, -1)
    compared = 0
    with np.errstate(invalid="ignore"):
        for j, direction in enumerate(STEP * np.eye(2)[:, :, None]):
            above, here, below = (at(slopes, grid + k * direction) for k in (1, 0, -1))
            expected = (above - below) / (2 * STEP)
            bend = abs(above - 2 * here + below) / STEP
            smooth = np.isfinite(expected) & (bend < 1e-2 * (1 + abs(expected)))
            compared += smooth.sum()
            for way in ways[:, :, j]:
                np.testing.assert_allclose(way[smooth], expected[smooth], rtol=1e-3, atol=1e-3)
    assert compared > 20


@pytest.mark.parametrize("zeros", [(), (1,), (0, 1), (1, 3), (0, 1, 2, 3)], ids=str)
def test_of_products(zeros):
    """The elements of a Hessian are products of the other factors, however many of these are zero."""
    value = np.array([0.4, -0.3, 1.2, 0.8])
    value[list(zeros)] = 0.0
    x = ot.dvector("x")
    rows, start, weights = np.array([0, 0, 1, 0]), np.array([2.0, 3.0]), np.array([1.0, -0.5])
    cost = (ot.constant(start).at[rows].mul(x) * weights).sum()
    expected = np.zeros((4, 4))
    for i, j in itertools.permutations(range(4), 2):
        if rows[i] == rows[j]:
            others = [k for k in range(4) if rows[k] == rows[i] and k not in (i, j)]
            expected[i, j] = (start * weights)[rows[i]] * value[others].prod()
    found = og.evaluate(og.hessian(cost, x), {x: value})
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_of_draws():
    """A draw moves with its parameters also in the derivatives of its derivatives."""
    example = next(e for e in EXAMPLES if e.name == "truncnorm" and e.gradient)
    low, high = ot.dvector("low"), ot.dvector("high")
    key, *ends = example.arguments
    slopes = og.grad((example.function(key, low, high) ** 2).sum(), [low, high])
    curved = [og.grad(g.sum(), [low, high]) for g in slopes]

    def at(results: Any, i: int = 0, change: float = 0.0) -> Any:
        points = [e + (change if i == k else 0.0) for k, e in enumerate(ends)]
        return np.array(og.evaluate(results, {low: points[0], high: points[1]}))

    for i in range(2):
        expected = (at(slopes, i, STEP) - at(slopes, i, -STEP)) / (2 * STEP)
        found = np.array([at(row)[i] for row in curved])
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
