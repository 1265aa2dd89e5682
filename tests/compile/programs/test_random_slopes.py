"""Random compositions of functions of one variable: values and gradients from -800 to 800, against mpmath.

A formula is right if its error is at most that of its sums, whose terms have the rounding of one operation. What its
functions lose or overflow between the sums, in the formula and in what the chain rule makes of it, must not show.
(`test_random_stability` compares arrays of several dtypes and shapes, where NumPy is right.)
"""

from __future__ import annotations

import importlib
import os
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.exact import FUNCTIONS, ExactNumber

BATCHES = 60 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2
OF_A_BATCH = 25
mpmath: Any = importlib.import_module("mpmath")

NAMES = (
    *("exp", "log", "log1p", "expm1", "softplus", "sigmoid", "tanh", "sinh", "cosh", "sqrt"),
    *("exp", "log", "sqrt"),
)
"""Functions of which formulas are made; some are more likely."""
ONE = (
    *(f"{name}({{a}})" for name in NAMES),
    *("({a}) ** 2", "({a}) ** 2", "-({a})", "1 / ({a})", "2 * ({a})", "({a}) / 2"),
    *("1 + term({a})", "term({a}) - 1", "1 - term({a})"),
)
TWO = ("term({a}) + term({b})", "term({a}) - term({b})", "term({a}) * term({b})", "term({a}) / term({b})")  # fmt: skip


def as_it_is(term: Any) -> Any:
    return term


POINTS = tuple(s * p for p in (800.0, 100.0, 30.0, 12.0, 3.0, 1.0, 0.3, 1e-8) for s in (1, -1))
SYMBOLIC: dict[str, Any] = {"term": as_it_is, **{n: getattr(ot, n) for n in NAMES}}
LIMITS = np.finfo("float64")
TINY, MOST, EPS = (mpmath.mpf(float(v)) for v in (LIMITS.tiny, LIMITS.max, LIMITS.eps))
Names = Mapping[str, Any]


class NoValue(Exception):
    """A formula has no real value, or an intermediate result that is too large even for mpmath, or for a sum in float64."""


def drawn(numbers: random.Random) -> list[str]:
    """Steps of a formula, of which each names x and the steps before it, most often the last one."""
    while True:
        steps: list[str] = []
        for _ in range(numbers.randint(1, 5)):
            known = ["x", *(f"t{i}" for i in range(len(steps)))]
            a, b = (
                numbers.choice(known) if numbers.random() < 0.3 else known[-1],
                numbers.choice(known),
            )
            steps.append(
                numbers.choice(ONE if len(known) == 1 or numbers.random() < 0.7 else TWO).format(
                    a=a, b=b
                )
            )
        if any(name in step for step in steps for name in NAMES):
            return steps


def result(steps: list[str], names: Names) -> Any:
    known = dict(names)
    for i, step in enumerate(steps):
        known[f"t{i}"] = eval(step, {"__builtins__": {}}, known)
    return known[f"t{len(steps) - 1}"]


def guarded(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def call(v: ExactNumber) -> Any:
        low = {"log": 0, "sqrt": 0, "log1p": -1}.get(name, -mpmath.inf)
        if not low < v.a or abs(v.a) > mpmath.mpf(10) ** 400:
            raise NoValue
        return function(v)

    return call


EXACT = {name: guarded(name, FUNCTIONS[name]) for name in NAMES}


def exactly(
    steps: list[str], point: float, digits: int, numbers: random.Random | None = None
) -> ExactNumber:
    """Value and gradient. With ``numbers``, terms of sums and factors have random errors of the rounding of float64."""
    x = ExactNumber(mpmath.mpf(point), mpmath.mpf(1))
    known: dict[int, tuple[ExactNumber, ExactNumber]] = {}

    def term(v: ExactNumber) -> ExactNumber:
        if abs(v.a) > MOST or (v.a and abs(v.a) < TINY):
            raise NoValue
        if v is x or numbers is None:
            return v
        off = [1 + EPS * numbers.uniform(-1, 1) for _ in range(2)]
        return known.setdefault(id(v), (v, ExactNumber(v.a * off[0], v.b * off[1])))[1]

    with mpmath.workdps(digits):
        try:
            found: ExactNumber = result(steps, {**EXACT, "term": term, "x": x})
        except (ZeroDivisionError, OverflowError):
            raise NoValue from None
        return found


def judge(found: float, right: Any, noise: Any, order: int) -> bool | None:
    """Whether a result is right. None if it cannot be, or need not be."""
    if abs(right) > MOST / 8:
        return (
            None if order or abs(right) < 8 * MOST else found == np.copysign(np.inf, float(right))
        )
    error = abs(mpmath.mpf(found) - right) if np.isfinite(found) else mpmath.inf
    return bool(error <= mpmath.mpf(10) ** -6 * abs(right) + 1000 * noise + 1e6 * TINY)


def wrong(steps: list[str], mode: str, together: bool) -> tuple[int, list[str]]:
    """The number of comparisons, and those that are wrong."""
    x = ot.dvector("x")
    value = result(steps, {**SYMBOLIC, "x": x})
    asked = [value, og.grad(value.sum(), x, disconnected_inputs="ignore")]
    groups = [asked] if together else [[v] for v in asked]
    with np.errstate(all="ignore"):
        results = [
            r for group in groups for r in oc.function([x], group, mode=mode)(np.array(POINTS))
        ]
    count = 0
    told: list[str] = []
    for i, point in enumerate(POINTS):
        try:
            right, beside = (exactly(steps, point, digits) for digits in (900, 450))
            noisy = [exactly(steps, point, 450, random.Random(k)) for k in range(4)]
        except NoValue:
            continue
        for order, part in enumerate("ab"):
            one = getattr(right, part)
            noise = max(abs(getattr(v, part) - one) for v in noisy)
            sure = abs(getattr(beside, part) - one) <= mpmath.mpf(10) ** -20 * abs(one)
            held = judge(float(results[order][i]), one, noise, order) if sure else None
            count += held is not None
            if held is False:
                told.append(
                    f"{steps}: derivative {order} at {point} is {results[order][i]}, not {mpmath.nstr(one, 12)}"
                )
    return count, told


KNOWN: tuple[list[str], ...] = (
    ["expm1(x)", "log1p(t0)", "1 - term(t1)"],
    ["softplus(x)", "log(t0)"],
    ["sigmoid(x)", "log1p(t0)", "log(t1)"],
    ["expm1(x)", "2 * (t0)", "sqrt(t1)"],
    ["(x) ** 2", "term(t0) - term(t0)", "softplus(x)", "sqrt(t2)", "term(t1) + term(t3)"],
    ["cosh(x)", "tanh(t0)"],
    ["sinh(x)", "log1p(t0)", "1 / (t1)"],
    ["tanh(x)", "log(t0)"],
    ["sigmoid(x)", "tanh(t0)", "term(t1) / term(t0)"],
    ["exp(x)", "term(t0) - term(t0)"],
    ["softplus(x)", "term(x) - term(t0)", "expm1(t1)"],
    ["expm1(x)", "(t0) ** 2", "sqrt(t1)", "log(t2)"],
    ["exp(x)", "tanh(t0)", "sqrt(t1)"],
    ["exp(x)", "sinh(t0)", "sqrt(t1)"],
    ["exp(x)", "expm1(t0)", "sqrt(t1)"],
    ["sigmoid(x)", "(t0) ** 2", "1 - term(t1)", "log(t2)"],
)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("steps", KNOWN, ids=lambda steps: ", ".join(steps))
def test_formulas_that_were_wrong(steps: list[str]) -> None:
    for together in (True, False):
        assert not wrong(steps, "py", together)[1]


def test_the_slope_of_arcsinh_does_not_vanish_before_it_underflows() -> None:
    x = ot.dvector("x")
    points = np.array([1e200, -1e160, 1e8, 6e7, 0.5, 0.0])
    slope = oc.function([x], og.grad(ot.arcsinh(x).sum(), x))(points)
    np.testing.assert_allclose(slope, 1 / np.hypot(1, points), rtol=1e-15)


@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_formulas_and_their_gradients(batch: int, mode: str) -> None:
    for seed in range(OF_A_BATCH * batch, OF_A_BATCH * (batch + 1)):
        _, told = wrong(drawn(random.Random(seed)), mode, together=bool(seed % 2))
        assert not told, told
