"""Derivatives of stable forms: what the package changes, beside exact arithmetic, by the interpreter alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo_forms
import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_forms.stable_forms import differentiable_form, last_form, stable_form
from occelo_graph.ir.traversal import ancestors

assert occelo_forms.__version__
POINTS = [-800.0, -30.0, -1e-3, 0.0, 0.7, 30.0, 800.0]
FORMULAS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "log(1 + exp(x))": (
        lambda x: ot.log(1 + ot.exp(x)),
        lambda x: mpmath.log(1 + mpmath.exp(x)),
    ),
    "exp(x) / (1 + exp(x))": (
        lambda x: ot.exp(x) / (1 + ot.exp(x)),
        lambda x: mpmath.exp(x) / (1 + mpmath.exp(x)),
    ),
    "log(sigmoid(x))": (
        lambda x: ot.log(ot.sigmoid(x)),
        lambda x: -mpmath.log(1 + mpmath.exp(-x)),
    ),
    "log(cosh(x))": (lambda x: ot.log(ot.cosh(x)), lambda x: mpmath.log(mpmath.cosh(x))),
    "log(exp(x) + exp(2 x))": (
        lambda x: ot.log(ot.exp(x) + ot.exp(2 * x)),
        lambda x: mpmath.log(mpmath.exp(x) + mpmath.exp(2 * x)),
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_derivatives_are_right_where_intermediate_results_overflow(name: str) -> None:
    formula, exact = FORMULAS[name]
    x = ot.dvector("x")
    y = formula(x)
    reverse = og.grad(y.sum(), x)
    forward = og.pushforward(y, x, ot.ones_like(x))
    second = og.grad(reverse.sum(), x)
    got = og.evaluate([reverse, forward, second], {x: np.array(POINTS)})
    with mpmath.workdps(800):
        slopes = [float(mpmath.diff(exact, mpmath.mpf(p))) for p in POINTS]
        curvatures = [float(mpmath.diff(exact, mpmath.mpf(p), 2)) for p in POINTS]
    np.testing.assert_allclose(got[0], slopes, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(got[1], slopes, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(got[2], curvatures, rtol=1e-13, atol=1e-15)


def test_the_slope_of_log1mexp_is_a_quotient_by_one_power() -> None:
    x = ot.dvector("x")
    slope = og.grad(ot.log1mexp(x).sum(), x)
    form = stable_form(slope.owner)
    assert form is not None
    names = {str(v.owner.op) for v in ancestors(form) if v.owner}
    assert "expm1" in names
    assert "exp" not in names
    points = np.array([-np.inf, -800.0, -30.0, -1e-3, -1e-320, -0.0, 0.0])
    found = og.evaluate(form, {x: points})
    with mpmath.workdps(40):
        exact = [float(-mpmath.exp(p) / -mpmath.expm1(p)) for p in points[1:-3]]
    np.testing.assert_allclose(found[1:-3], exact, rtol=1e-15)
    assert np.isnan(found).sum() == 0
    assert (found[0], found[-3:].tolist()) == (0, [-np.inf] * 3)


def test_a_node_without_a_form_has_none() -> None:
    x = ot.dvector("x")
    node = ot.sin(x).owner
    assert stable_form(node) is None
    assert last_form(node) is None
    assert differentiable_form(node, ()) == (None, [])


def test_forms_of_no_elements_and_of_one() -> None:
    x = ot.dvector("x")
    slope = og.grad(ot.log(1 + ot.exp(x)).sum(), x)
    assert og.evaluate(slope, {x: np.zeros(0)}).shape == (0,)
    assert og.evaluate(slope, {x: np.array([1000.0])}).tolist() == [1.0]


WITHOUT = """
import sys
import numpy as np
import occelo_graph as og
import occelo_graph.tensor as ot

assert not [name for name in sys.modules if name.startswith("occelo_forms")]
x = ot.dscalar("x")
y = ot.log(1 + ot.exp(x))
with np.errstate(all="ignore"):
    assert np.isnan(og.evaluate(og.grad(y, x), {x: 1000.0}))  # inf / inf, as the chain rule writes it
    assert np.isclose(og.evaluate(og.grad(y, x), {x: 1.0}), np.exp(1.0) / (1 + np.exp(1.0)))
import occelo_forms

assert "occelo_forms.stable_forms" in sys.modules  # with those of derivatives, which are there
assert og.evaluate(og.grad(y, x), {x: 1000.0}) == 1.0
"""


def test_the_graph_package_alone_applies_the_chain_rule() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False, timeout=300
    )
    assert not done.returncode, done.stderr


def test_chains_use_the_rounded_values_of_narrow_constants() -> None:
    """The derivative of exp(x) / sqrt(2), with a root of dtype float32, has the same root as the function."""
    root = ot.sqrt(ot.constant(np.float32(2.0)))
    x = ot.dscalar("x")
    y = ot.exp(x) / root
    value, slope = og.evaluate([y, og.grad(ot.erf(y), x)], {x: -0.3})
    assert value == np.exp(-0.3) / float(np.sqrt(np.float32(2)))
    np.testing.assert_allclose(slope, 2 / np.sqrt(np.pi) * np.exp(-(value**2)) * value, rtol=1e-14)


def test_forms_are_not_narrower_than_the_node() -> None:
    """NumPy divides an int64 tensor by a float32 one in float64."""
    n, x = ot.lvector("n"), ot.fvector("x")
    values = {n: np.array([123456789, 7, -5]), x: np.array([0.3, -2.0, 30.0], "float32")}
    form = stable_form((n / (1 + ot.exp(-x))).owner)
    assert form is not None
    exact = values[n] / (1 + np.exp(-values[x].astype("float64")))
    np.testing.assert_allclose(og.evaluate(form, values), exact, rtol=1e-15)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [0.0, 1.0], [0.0, 0.0]])
def test_logarithms_of_weighted_sums_where_powers_are_0_or_infinite(weights: list[float]) -> None:
    x, w = ot.dmatrix("x"), ot.constant(np.array(weights))
    rows = [[a, b] for a in (-np.inf, np.inf, np.nan, 1.0) for b in (-np.inf, 2.0)]
    values = {x: np.array(rows)}
    y = ot.log(ot.sum(w * ot.exp(x), axis=1))
    form, differentiable = stable_form(y.owner), differentiable_form(y.owner, ())[0]
    assert form is not None
    assert differentiable is not None
    with np.errstate(all="ignore"):
        expected = np.log(np.sum(np.array(weights) * np.exp(values[x]), axis=1))
        for found in og.evaluate([form, differentiable], values):
            np.testing.assert_allclose(found, expected, rtol=1e-14)
