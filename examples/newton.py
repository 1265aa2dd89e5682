"""Example: Newton's method, with a symbolic gradient and Hessian, finds the minimum of Rosenbrock's function."""

import numpy as np

import occelo as oc
import occelo.tensor as ot

x = ot.dvector("x")
cost = (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()
derivatives = oc.function([x], [oc.grad(cost, x), oc.hessian(cost, x)])

point = np.array([-1.2, 1.0, 1.0])
for step in range(20):
    gradient, hessian = derivatives(point)
    print(step, point, float(np.abs(gradient).max()))
    if np.abs(gradient).max() < 1e-10:
        break
    point = point - np.linalg.solve(hessian, gradient)
np.testing.assert_allclose(point, 1.0)
