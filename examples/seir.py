"""Example: the SEIR model of an epidemic, fitted to the influenza of a boarding school in 1978.

Run it as ``python seir.py [picture.png]``; it needs matplotlib. The equations are integrated by a loop; the likelihood, its
derivatives and its second derivatives go through it.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

import occelo as oc
import occelo.tensor as ot

# boys confined to bed, from 22 January to 4 February 1978, of 763: "Influenza in a boarding school", British Medical
# Journal, 4 March 1978, page 587, read from its figure, so that others have numbers that differ by a few boys
in_bed = np.array([3, 8, 26, 76, 225, 298, 258, 233, 189, 128, 68, 29, 14, 4], float)
boys = 763.0
STEPS = 10  # of the Runge-Kutta method, for each day


def slopes(state, rates):
    """The derivatives of the shares of boys who are susceptible, exposed and infectious (in bed)."""
    s, e, i = state
    infection, onset, recovery = rates
    return -infection * s * i, infection * s * i - onset * e, onset * e - recovery * i


def runge_kutta(state, rates, h):
    """One step of the classic method of order 4."""

    def at(by, length):
        return tuple(v + length * d for v, d in zip(state, by, strict=True))

    a = slopes(state, rates)
    b = slopes(at(a, h / 2), rates)
    c = slopes(at(b, h / 2), rates)
    d = slopes(at(c, h), rates)
    return tuple(
        v + h / 6 * (p + 2 * q + 2 * r + t) for v, p, q, r, t in zip(state, a, b, c, d, strict=True)
    )


# the parameters are logarithms: three rates in 1/day, and the scale of the noise
theta, counts = ot.dvector("theta"), ot.dvector("counts")
rates = [ot.exp(theta[k]) for k in range(3)]
scale, infectious = ot.exp(theta[3]), counts[0] / boys


def day(state, _):
    state = oc.fori_loop(0, STEPS, lambda _, s: runge_kutta(s, rates, 1 / STEPS), state)
    return state, state[2]


# those in bed on the first day are the only ones who are infected
start = (1.0 - infectious, 0.0, infectious)
_, days = oc.loop(day, start, counts[1:])
# square roots of counts have nearly the same variance, however large they are
residuals = (ot.sqrt(counts[1:]) - ot.sqrt(boys * days)) / scale
likelihood = (-0.5 * residuals**2 - ot.log(scale) - 0.5 * np.log(2.0 * np.pi)).sum()
gradient = oc.grad(likelihood, theta)
evaluate = oc.function([theta, counts], [likelihood, gradient])
curvature = oc.function([theta, counts], oc.hessian(likelihood, theta))
predict = oc.function([theta, counts], boys * days)


def cost(point):
    value, slope = evaluate(point, in_bed)
    return -value, -slope


began = perf_counter()
fitted = minimize(
    cost, np.log([2.0, 1.0, 0.5, 1.0]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8}
)
took = perf_counter() - began
best = fitted.x
print(f"log likelihood {-fitted.fun:.3f}, {fitted.nfev} evaluations with gradients in {took:.3f} s")

# the inverse of the negative Hessian is the covariance of the estimates, where there are many observations
covariance = np.linalg.inv(-curvature(best, in_bed))
errors = np.sqrt(np.diagonal(covariance))
names = ["infection, 1/day", "onset, 1/day", "recovery, 1/day", "scale"]
for name, value, error in zip(names, best, errors, strict=True):
    low, high = np.exp(value - 2 * error), np.exp(value + 2 * error)
    print(f"{name}: {np.exp(value):.3g}, between {low:.3g} and {high:.3g}")
infected = np.exp(best[0] - best[2])
print(f"each case infects {infected:.2f} others at the start")
assert 4.0 < infected < 16.0

# against SciPy's integrator of adaptive order and step, and finite differences
values = np.exp(best)
first = [1 - in_bed[0] / boys, 0.0, in_bed[0] / boys]
exact = solve_ivp(
    lambda _, state: slopes(state, values[:3]),
    (0, len(in_bed) - 1),
    first,
    method="DOP853",
    t_eval=np.arange(1, len(in_bed)),
    rtol=1e-11,
    atol=1e-13,
)
np.testing.assert_allclose(predict(best, in_bed), boys * exact.y[2], rtol=1e-4)
slope = evaluate(best, in_bed)[1]
assert np.abs(slope).max() < 1e-3
hessian = curvature(best, in_bed)
for i, near in enumerate(1e-5 * np.eye(4)):
    before, after = evaluate(best - near, in_bed), evaluate(best + near, in_bed)
    np.testing.assert_allclose(slope[i], (after[0] - before[0]) / 2e-5, atol=1e-4)
    np.testing.assert_allclose(hessian[i], (after[1] - before[1]) / 2e-5, rtol=1e-4, atol=1e-2)

# the curves of parameters that are drawn from their distribution
rng = np.random.default_rng(0)
curves = np.array([predict(p, in_bed) for p in rng.multivariate_normal(best, covariance, 200)])
low, high = np.percentile(curves, [5, 95], axis=0)
at = np.arange(len(in_bed))
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
axes.plot(at, in_bed, "ko", markersize=4, label="in bed")
axes.plot(at[1:], predict(best, in_bed), label="SEIR")
axes.fill_between(at[1:], low, high, alpha=0.3, label="90 % of the curves")
axes.set(xlabel="days since 22 January 1978", ylabel="boys", title="Influenza in a boarding school")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "seir.png", dpi=100)
