"""Products of functions that have stable forms, whose factors occur several times, against NumPy at ordinary points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import occelo_compile as oc
from occelo_graph import tensor as ot

FACTORS: list[tuple[Any, Any]] = [
    (lambda x: x, lambda x: x),
    (ot.exp, np.exp),
    (lambda x: 1 + ot.exp(x), lambda x: 1 + np.exp(x)),
    (lambda x: ot.exp(x) - 1, lambda x: np.exp(x) - 1),
    (ot.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    (lambda x: ot.sigmoid(-x), lambda x: 1 / (1 + np.exp(x))),
    (ot.cosh, np.cosh),
    (ot.sinh, np.sinh),
    (ot.tanh, np.tanh),
    (ot.softplus, lambda x: np.log(1 + np.exp(x))),
    (lambda x: ot.sum(ot.exp(x)), lambda x: np.sum(np.exp(x))),
]
STEPS: dict[str, Any] = {
    "mul": lambda np_or_ot, a, b: a * b,
    "div": lambda np_or_ot, a, b: a / b,
    "add": lambda np_or_ot, a, b: a + b,
    "neg": lambda np_or_ot, a, b: -a,
    "sqr": lambda np_or_ot, a, b: a * a,
    "sqrt": lambda np_or_ot, a, b: np_or_ot.sqrt(abs(a)),
}
POINTS = np.array([0.3, 1.1, 1.9, 0.7])


def compare(chosen: list[int], steps: list[tuple[str, int, int]]) -> None:
    """Apply each step to two earlier values, and compare all values with NumPy's."""
    x = ot.dvector("x")
    ours = [FACTORS[i][0](x) for i in chosen]
    theirs = [FACTORS[i][1](POINTS) for i in chosen]
    for name, a, b in steps:
        i, j = a % len(ours), b % len(ours)
        ours.append(STEPS[name](ot, ours[i], ours[j]))
        theirs.append(STEPS[name](np, theirs[i], theirs[j]))
    if all(np.isfinite(t).all() and (np.abs(t) < 1e100).all() for t in theirs):
        for first in (
            0,
            -1,
        ):  # all values, whose factors have other readers; then only the last one
            found = oc.function([x], ours[first:], mode="py")(POINTS)
            for each, exact in zip(found, theirs[first:], strict=True):
                # terms that differ in sign cancel by at most this much in a sum of ordinary numbers
                np.testing.assert_allclose(each, exact, rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, len(FACTORS) - 1), min_size=2, max_size=4),
    st.lists(
        st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 20), st.integers(0, 20)),
        min_size=1,
        max_size=9,
    ),
)
def test_products_of_shared_factors_are_what_numpy_computes(
    chosen: list[int], steps: list[tuple[str, int, int]]
) -> None:
    compare(chosen, steps)


@pytest.mark.parametrize(
    ("chosen", "steps"),
    [
        # x / c / c * s * s
        ([0, 6, 7], [("div", 0, 1), ("div", 3, 1), ("mul", 4, 2), ("mul", 5, 2)]),
        # -(s / c) * (x / c) * s
        ([0, 6, 7], [("div", 2, 1), ("neg", 3, 0), ("div", 0, 1), ("mul", 4, 5), ("mul", 6, 2)]),
    ],
)
def test_a_quotient_of_factors_that_occur_twice_takes_one_of_each(
    chosen: list[int], steps: list[tuple[str, int, int]]
) -> None:
    compare(chosen, steps)
