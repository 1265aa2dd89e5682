"""Derivatives by variables that depend on each other, or occur twice, beside closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot

X, T, S = np.array([0.5, -0.2, 2.0]), np.array([1.0, -3.0, 0.5]), np.array([0.3, 2.0, -1.0])
C = np.exp(X)


@pytest.mark.parametrize("own", [True, False])
def test_tangents_of_variables_that_depend_on_others(own):
    x, t, s = ot.dvector("x"), ot.dvector("t"), ot.dvector("s")
    c = ot.exp(x)
    values = {x: X, t: T, s: S}

    def pushed(f, wrt, tangents, **options):
        return og.evaluate(
            og.pushforward(f, wrt, tangents, use_op_pushforward=own, **options), values
        )

    by_both = (2 * X * C + X**2 * C) * T + X**2 * S
    np.testing.assert_allclose(pushed(x**2 * c, [x, c], [t, s]), by_both)
    np.testing.assert_allclose(pushed(x**2 * c, [c, x], [s, t]), by_both)
    np.testing.assert_allclose(pushed(x**2 * c, c, s), X**2 * S)
    np.testing.assert_allclose(pushed(x**2, [x, x], [t, s]), 2 * X * (T + S))
    np.testing.assert_allclose(pushed([c, x], [x, c], [t, s]), [C * T + S, T])
    # log(exp(x)) is differentiated as x, also where the user moves it
    y = ot.log(c)
    np.testing.assert_allclose(pushed(y * y, [x, y], [t, s]), 2 * X * (T + S))
    held = pushed(x**2 * c, [x, c], [t, s], consider_constant=[c])
    np.testing.assert_allclose(held, 2 * X * C * T + X**2 * S)
    np.testing.assert_allclose(pushed(x**2 * c, x, t, consider_constant=[c]), 2 * X * C * T)


def test_products_of_hessians():
    x, p, q = ot.dvector("x"), ot.dvector("p"), ot.dvector("q")
    c = ot.exp(x)
    cost, values = (x**2 * c).sum(), {x: X, p: T, q: S}
    held = og.hessian_vector_product(cost, x, p, consider_constant=[c])
    np.testing.assert_allclose(og.evaluate(held, values), 2 * C * T)
    whole = og.hessian_vector_product(cost, x, p)
    np.testing.assert_allclose(og.evaluate(whole, values), (2 + 4 * X + X**2) * C * T)
    for wrt, points in (([x, c], [p, q]), ([c, x], [q, p]), ([x, x], [p, q]), ([c], [q])):
        for constants in (None, [c], [x]):
            found = og.hessian_vector_product(cost, wrt, points, consider_constant=constants)
            rows = og.hessian(cost, wrt, constants, mixed=True)
            expected = [sum(h @ v for h, v in zip(row, points, strict=True)) for row in rows]
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_allclose(*og.evaluate([a, b], values), rtol=1e-12, atol=1e-14)
