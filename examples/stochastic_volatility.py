"""Example: the stochastic volatility of economic growth, by a filter on a grid that is one loop.

Run it as ``python stochastic_volatility.py [picture.png]``; it needs statsmodels (for its data) and matplotlib. The log
likelihood and its derivatives are compiled, and SciPy maximises the likelihood with them.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import logsumexp
from statsmodels.datasets import macrodata

import occelo as oc
import occelo.tensor as ot

# the growth of the real gross domestic product of the United States, in percent for each quarter
data = macrodata.load_pandas().data
growth = 100.0 * np.diff(np.log(data["realgdp"].to_numpy()))
quarters = data["year"].to_numpy()[1:] + (data["quarter"].to_numpy()[1:] - 0.5) / 4

# The model: y[t] = mean + exp(h[t] / 2) e[t], where h[t] is an autoregression of order 1 around a level of its own.
# h[t] is approximated by a Markov chain on these points.
grid = np.linspace(-5.0, 4.0, 181)


def chain(theta, points):
    """The distribution of h[0], and the probabilities of moving from each point to each other one."""
    level, decay, scale = theta[1], ot.tanh(theta[2]), ot.exp(theta[3])
    middle = level + decay * (points[:, None] - level)
    moves = ot.softmax(-0.5 * ((points[None, :] - middle) / scale) ** 2, axis=1)
    first = ot.softmax(-0.5 * ((points - level) / scale) ** 2 * (1.0 - decay**2))
    return first, moves


def log_densities(theta, y, points):
    """Of each observation (rows), given each point of the grid."""
    z = (y[:, None] - theta[0]) * ot.exp(-0.5 * points)
    return -0.5 * (z**2 + points + np.log(2.0 * np.pi))


theta, y, points = ot.dvector("theta"), ot.dvector("y"), ot.dvector("points")
first, moves = chain(theta, points)
seen = log_densities(theta, y, points)


def step(state, log_density):
    predicted, total = state
    top = log_density.max()
    joint = predicted * ot.exp(log_density - top)
    weight = joint.sum()
    filtered = joint / weight
    return (filtered @ moves, total + top + ot.log(weight)), filtered


(_, likelihood), filtered = oc.loop(step, (first, 0.0), seen)
evaluate = oc.function([theta, y, points], [likelihood, oc.grad(likelihood, theta)])

# the derivatives with respect to the log densities are the probabilities of the points, given the whole series: the loop that
# computes them goes back in time, as a smoother does
smoothed = oc.grad(likelihood, seen)
smooth = oc.function([theta, y, points], [filtered, smoothed])


def by_hand(theta, y, points):
    """The log likelihood and the smoothed probabilities by the forward-backward algorithm, over logarithms."""
    level, decay, scale = theta[1], np.tanh(theta[2]), np.exp(theta[3])
    middle = level + decay * (points[:, None] - level)
    moves = -0.5 * ((points[None, :] - middle) / scale) ** 2
    moves = moves - logsumexp(moves, axis=1, keepdims=True)
    first = -0.5 * ((points - level) / scale) ** 2 * (1.0 - decay**2)
    seen = -0.5 * ((y[:, None] - theta[0]) ** 2 * np.exp(-points) + points + np.log(2.0 * np.pi))
    ahead = [first - logsumexp(first) + seen[0]]
    for row in seen[1:]:
        ahead.append(logsumexp(ahead[-1][:, None] + moves, axis=0) + row)
    back = [np.zeros_like(points)]
    for row in seen[:0:-1]:
        back.append(logsumexp(moves + (row + back[-1])[None, :], axis=1))
    total = logsumexp(ahead[-1])
    return total, np.exp(np.array(ahead) + np.array(back[::-1]) - total)


def cost(point):
    value, gradient = evaluate(point, growth, grid)
    return -value, -gradient


start = np.array([growth.mean(), np.log(growth.var()), np.arctanh(0.9), np.log(0.3)])
began = perf_counter()
fitted = minimize(cost, start, jac=True, method="L-BFGS-B")
took = perf_counter() - began
best = fitted.x
print(f"log likelihood: {-cost(start)[0]:.3f} at the start, {-fitted.fun:.3f} fitted")
print(f"{fitted.nfev} evaluations with gradients in {took:.2f} s, for {len(growth)} quarters")

# against the algorithm by hand, and finite differences
value, slope = evaluate(best, growth, grid)
ahead, whole = smooth(best, growth, grid)
expected, probabilities = by_hand(best, growth, grid)
np.testing.assert_allclose(value, expected, rtol=1e-10)
np.testing.assert_allclose(whole, probabilities, atol=1e-10)
for i, near in enumerate(1e-5 * np.eye(4)):
    difference = evaluate(best + near, growth, grid)[0] - evaluate(best - near, growth, grid)[0]
    np.testing.assert_allclose(slope[i], difference / 2e-5, atol=1e-5)
# a finer grid changes almost nothing
finer = evaluate(best, growth, np.linspace(-6.0, 5.0, 441))[0]
np.testing.assert_allclose(value, finer, atol=2e-3)
# a constant volatility explains the series much worse
constant = -0.5 * len(growth) * (np.log(2.0 * np.pi * growth.var()) + 1.0)
assert value > constant + 10.0

deviations = np.exp(0.5 * grid)
middle = whole @ deviations
cumulated = np.cumsum(whole, axis=1)
low, high = (deviations[(cumulated > p).argmax(axis=1)] for p in (0.05, 0.95))
before, after = (middle[m].mean() for m in (quarters < 1984, quarters >= 1984))
print(f"decay {np.tanh(best[2]):.3f}, scale {np.exp(best[3]):.3f}")
print(f"mean volatility: {before:.2f} percent until 1983, {after:.2f} since 1984")
assert before > 1.5 * after

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
axes.plot(quarters, growth - best[0], "k.", markersize=3, label="growth less its mean")
axes.plot(quarters, middle, label="volatility, given the whole series")
axes.fill_between(quarters, low, high, alpha=0.3, label="90 % of its distribution")
axes.plot(quarters, ahead @ deviations, "--", linewidth=0.8, label="given the past")
axes.set(xlabel="year", ylabel="percent", title="Real gross domestic product of the United States")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "stochastic_volatility.png", dpi=100)
