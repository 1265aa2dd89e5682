"""Example: the equations of Lotka and Volterra, fitted to the pelts of lynxes and hares.

Run it as ``python lynx_and_hare.py [picture.png]``; it needs matplotlib. The equations are solved by `odeint`, the parameters
are found by `minimize`, and the derivatives go through both.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import occelo as oc
import occelo.tensor as ot

# pelts that the Hudson's Bay Company collected from 1900 to 1920, in thousands: C. Gordon Hewitt, The Conservation of the
# Wild Life of Canada (1921), as Howard (2009) has them
YEARS = np.arange(1900, 1921)
HARES = np.array([
    30, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22, 25.4, 27.1, 40.3, 57, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7,
])  # fmt: skip
LYNXES = np.array([
    4, 6.1, 9.8, 35.2, 59.4, 41.7, 19, 13, 8.3, 9.1, 7.4, 8, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6,
])  # fmt: skip
PELTS = np.stack([HARES, LYNXES], axis=1)


def rates(y, t, births, hunted, deaths, fed):
    """The derivatives of the numbers of hares and lynxes."""
    return [y[0] * (births - hunted * y[1]), y[1] * (fed * y[0] - deaths)]


# logarithms of the four rates, in 1/year, of both numbers in 1900, and of both scales of the noise
theta, pelts = ot.dvector("theta"), ot.dmatrix("pelts")
values = ot.exp(theta)
times = (YEARS - YEARS[0]).astype(float)
curves = oc.optimize.odeint(rates, values[4:6], times, args=tuple(values[k] for k in range(4)))
# each count is right up to a factor, so its logarithm has the noise
errors = (ot.log(pelts) - ot.log(curves)) / values[6:]
cost = (0.5 * errors**2 + theta[6:]).sum()
# priors, which matter little: rates near 1 and 0.05, numbers near 10, scales near 0.4
cost += (
    0.5 * ((values[:4] - np.array([1.0, 0.05, 1.0, 0.05])) / [0.5, 0.05, 0.5, 0.05]) ** 2
).sum()
cost += (0.5 * (theta[4:6] - np.log(10.0)) ** 2).sum() + (0.5 * (theta[6:] + 1.0) ** 2).sum()

fit = oc.optimize.minimize(cost, theta)
start = np.log([0.6, 0.03, 0.8, 0.025, 30.0, 4.0, 0.3, 0.3])
found = oc.function([theta, pelts], fit)(start, PELTS)
assert found.success
best = np.exp(found.x)
names = ["births", "hunted", "deaths", "fed", "hares in 1900", "lynxes in 1900", "noise", "noise"]

# the inverse of the Hessian is the covariance of the estimates, where there are many observations
evaluate = oc.function([theta, pelts], [curves, oc.grad(cost, theta)])
solution, slope = evaluate(found.x, PELTS)
assert np.abs(slope).max() < 1e-3
hessian = np.array([
    (evaluate(found.x + e, PELTS)[1] - evaluate(found.x - e, PELTS)[1]) / 2e-4
    for e in 1e-4 * np.eye(8)
])  # fmt: skip
spread = np.sqrt(np.diagonal(np.linalg.inv(0.5 * (hessian + hessian.T))))
# means and standard deviations of the posterior, of the reference draws of posteriordb (hudson_lynx_hare-lotka_volterra)
MEANS = np.array([0.547, 0.0277, 0.800, 0.0241, 34.0, 5.94, 0.248, 0.251])
DEVIATIONS = np.array([0.063, 0.0042, 0.089, 0.0035, 2.9, 0.53, 0.043, 0.044])
print(f"{found.nit} iterations")
for name, value, relative, mean in zip(names, best, spread, MEANS, strict=True):
    print(f"{name}: {value:.3g} +- {value * relative:.1g}, posterior mean {mean:.3g}")
assert (np.abs(best - MEANS) < DEVIATIONS).all()
np.testing.assert_allclose(best * spread, DEVIATIONS, rtol=0.4)
exact = solve_ivp(
    lambda t, y: rates(y, t, *best[:4]), (0, 20), best[4:6], t_eval=times, rtol=1e-10, atol=1e-10
)
np.testing.assert_allclose(solution, exact.y.T, rtol=1e-5)


# the curves between the years, and ten years on
fine = np.linspace(0.0, 30.0, 601)
smooth = oc.function(
    [theta], oc.optimize.odeint(rates, values[4:6], fine, args=tuple(values[k] for k in range(4)))
)(found.x)
figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
for k, (name, colour) in enumerate([("hares", "C0"), ("lynxes", "C1")]):
    axes.plot(YEARS, PELTS[:, k], "o", color=colour, markersize=4, label=name)
    axes.plot(YEARS[0] + fine, smooth[:, k], color=colour)
axes.set(xlabel="year", ylabel="pelts, in thousands", title="Lynxes and hares")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "lynx-and-hare.png", dpi=100)
