"""Example: Bayesian logistic regression by variational inference, on the breast cancer data of Wisconsin.

Run it as ``python variational_regression.py [picture.png]``; it needs scikit-learn, SciPy and matplotlib. The evidence lower
bound is estimated by draws whose gradients go through mean and scale (Kucukelbir et al. 2017, "Automatic differentiation
variational inference"). The whole ascent is one compiled loop.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from scipy.special import log_expit
from sklearn.datasets import load_breast_cancer

import occelo as oc
import occelo.tensor as ot

data = load_breast_cancer()
train = np.random.default_rng(0).permutation(len(data.target)) < 400
standard = (data.data - data.data[train].mean(axis=0)) / data.data[train].std(axis=0)
features = np.c_[np.ones(len(standard)), standard]
signs = np.where(data.target == 1, 1.0, -1.0)
x, y = features[train], signs[train]
d = x.shape[1]
DRAWS, STEPS = 8, 6_000

# the posterior is approximated by independent normal laws; theta holds their means and the logarithms of their scales
key = ot.scalar("key", dtype="uint64")


def bound(theta, key):
    """An unbiased estimate of the lower bound of the log evidence, for a standard normal prior."""
    mean, log_scale = theta[:d], theta[d:]
    weights = ot.random.normal(key, mean, ot.exp(log_scale), size=(DRAWS, d))
    likelihood = -ot.softplus(-y * ot.dot(weights, x.T)).sum(axis=1).mean()
    prior = -0.5 * (mean**2 + ot.exp(2.0 * log_scale)).sum() - 0.5 * d * np.log(2.0 * np.pi)
    entropy = log_scale.sum() + 0.5 * d * np.log(2.0 * np.pi * np.e)
    return likelihood + prior + entropy


def ascend(state, step):
    """A step of Adam (Kingma and Ba 2015), whose length falls to zero."""
    theta, first, second = state
    key, number = step
    value = bound(theta, key)
    slope = oc.grad(value, theta)
    first = 0.9 * first + 0.1 * slope
    second = 0.999 * second + 0.001 * slope**2
    rate = 0.02 * (1.0 - number / STEPS)
    direction = first / (1.0 - 0.9**number)
    size = ot.sqrt(second / (1.0 - 0.999**number)) + 1e-8
    return (theta + rate * direction / size, first, second), value


start = ot.constant(np.r_[np.zeros(d), np.full(d, -1.0)])
numbers = ot.arange(STEPS) + 1.0
zero = ot.zeros_like(start)
(found, _, _), path = oc.loop(ascend, (start, zero, zero), (ot.random.split(key, STEPS), numbers))
fit = oc.function([key], [found, path])

began = perf_counter()
best, values = fit(ot.random.key(3).data)
print(f"{STEPS} steps, compiled and run in {perf_counter() - began:.2f} s")
assert values[-500:].mean() > values[:500].mean()

# the bound of this model is a sum of integrals over one variable each, which Gauss-Hermite quadrature computes exactly
nodes, masses = np.polynomial.hermite_e.hermegauss(60)
masses = masses / masses.sum()


def exact_bound(theta):
    mean, scale = theta[:d], np.exp(theta[d:])
    score, spread = y * (x @ mean), np.sqrt(x**2 @ scale**2)
    at = score[:, None] + spread[:, None] * nodes
    likelihood = (log_expit(at) @ masses).sum()
    prior = -0.5 * (mean**2 + scale**2).sum() - 0.5 * d * np.log(2 * np.pi)
    value = likelihood + prior + theta[d:].sum() + 0.5 * d * np.log(2 * np.pi * np.e)
    slope = np.exp(log_expit(-at)) * masses
    by_score, by_spread = slope.sum(axis=1), (slope * nodes).sum(axis=1) / spread
    by_mean = x.T @ (by_score * y) - mean
    by_scale = (x**2).T @ by_spread * scale - scale + 1 / scale
    return -value, -np.r_[by_mean, by_scale * scale]


optimum = minimize(exact_bound, best, jac=True, method="L-BFGS-B", options={"maxiter": 5_000})
gap = -optimum.fun + exact_bound(best)[0]
print(f"bound {-exact_bound(best)[0]:.3f}; the greatest one is {-optimum.fun:.3f}")
assert 0 <= gap < 0.1

draws = best[:d] + np.exp(best[d:]) * np.random.default_rng(1).normal(size=(2_000, d))
chance = np.exp(log_expit(features[~train] @ draws.T)).mean(axis=1)
right = ((chance > 0.5) == (signs[~train] > 0)).mean()
print(f"{100 * right:.1f} % of {(~train).sum()} patients who were not used are classified rightly")
assert right > 0.94

figure = Figure(figsize=(9, 4), layout="constrained")
left, right_ = figure.subplots(1, 2)
left.plot(values, linewidth=0.3, label="estimates from 8 draws")
left.axhline(-optimum.fun, color="k", linewidth=1, label="greatest bound, by quadrature")
left.set(xlabel="step", ylabel="evidence lower bound", ylim=(-160, -40))
left.legend()
order = np.argsort(-np.abs(best[1:d]))[:10]
right_.errorbar(best[1:d][order], range(10), xerr=2 * np.exp(best[d + 1 :][order]), fmt="o")
right_.set_yticks(range(10), data.feature_names[order])
right_.set(xlabel="weight, with two standard deviations", title="the ten largest")
right_.invert_yaxis()
path = sys.argv[1] if len(sys.argv) > 1 else "variational_regression.png"
figure.savefig(path, dpi=120)
print(f"wrote {path}")
