"""Example: Gaussian-process regression of carbon dioxide at Mauna Loa, compared with scikit-learn's result.

Run it as ``python gaussian_process.py [picture.png]``; it needs scikit-learn, statsmodels (for its data) and matplotlib.
The log marginal likelihood and its gradient are compiled, and SciPy maximises the likelihood with them.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, RationalQuadratic, WhiteKernel
from statsmodels.datasets import co2

import occelo as oc
import occelo.tensor as ot

# the mean of each month that was measured; the model is for the differences from the overall mean
monthly = co2.load_pandas().data["co2"].resample("MS").mean().dropna()
years = monthly.index.year.to_numpy() + (monthly.index.month.to_numpy() - 0.5) / 12
level = monthly.to_numpy().mean()
measured = monthly.to_numpy() - level


# The model: a trend, a season whose shape changes slowly, irregularities, and noise that lasts for a month.
def covariance(parameters, a, b):
    """Covariances of the process at times ``a`` and at times ``b``, without the noise of measuring."""
    p = ot.exp(parameters)
    apart = a[:, None] - b[None, :]
    square = apart**2
    trend = p[0] * ot.exp(-0.5 * square / p[1] ** 2)
    season = ot.exp(-0.5 * square / p[3] ** 2 - 2.0 * (ot.sin(np.pi * apart) / p[4]) ** 2)
    irregular = (1.0 + square / (2.0 * p[6] * p[7] ** 2)) ** -p[6]
    lasting = ot.exp(-0.5 * square / p[9] ** 2)
    return trend + p[2] * season + p[5] * irregular + p[8] * lasting


theta, t, y = ot.dvector("theta"), ot.dvector("t"), ot.dvector("y")
noisy = covariance(theta, t, t) + ot.exp(theta[10]) * ot.eye(t.shape[0])
factor = ot.linalg.cholesky(noisy)
whitened = ot.linalg.solve_triangular(factor, y, lower=True)
likelihood = (
    -0.5 * (whitened**2).sum()
    - ot.log(ot.linalg.diagonal(factor)).sum()
    - 0.5 * t.shape[0] * np.log(2.0 * np.pi)
)
evaluate = oc.function([theta, t, y], [likelihood, oc.grad(likelihood, theta)])

# the distribution of the process at new times, given the measurements
new = ot.dvector("new")
across = ot.linalg.solve_triangular(factor, covariance(theta, t, new), lower=True)
mean = ot.linalg.matvec(across.T, whitened)
variance = ot.linalg.diagonal(covariance(theta, new, new)) - (across**2).sum(axis=0)
predict = oc.function([theta, t, y, new], [mean, ot.sqrt(variance + ot.exp(theta[10]))])

# the same model in scikit-learn, whose parameters are the same logarithms in the same order
kernel = (
    50.0**2 * RBF(50.0)
    + 2.0**2 * RBF(100.0) * ExpSineSquared(1.0, 1.0, periodicity_bounds="fixed")
    + 0.5**2 * RationalQuadratic(alpha=1.0, length_scale=1.0)
    + 0.1**2 * RBF(0.1)
    + WhiteKernel(0.1**2)
)
peer = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(years[:, None], measured)


def compare(point):
    """Check the log marginal likelihood and its gradient against scikit-learn's at these parameters."""
    value, gradient = evaluate(point, years, measured)
    expected, slope = peer.log_marginal_likelihood(point, eval_gradient=True)
    # of 1,000 terms each; those of the gradient nearly cancel where the likelihood is largest
    np.testing.assert_allclose(value, expected, rtol=1e-8)
    np.testing.assert_allclose(gradient, slope, rtol=1e-6, atol=1e-4)
    return float(value)


start = kernel.theta
first = compare(start)


def cost(point):
    value, gradient = evaluate(point, years, measured)
    return -value, -gradient


began = perf_counter()
fitted = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=kernel.bounds)
took = perf_counter() - began
last = compare(fitted.x)
print(f"log marginal likelihood: {first:.3f} at the start, {last:.3f} fitted")
print(f"{fitted.nfev} evaluations with gradients in {took:.2f} s, for {len(years)} months")
assert last > first + 10.0

# predictions of the decade that follows
ahead = np.arange(years[-1], years[-1] + 10.0, 1 / 24)
middle, deviation = predict(fitted.x, years, measured, ahead)
peer.set_params(kernel=kernel.clone_with_theta(fitted.x)).fit(years[:, None], measured)
expected, spread = peer.predict(ahead[:, None], return_std=True)
np.testing.assert_allclose(middle, expected, rtol=1e-6, atol=1e-5)
np.testing.assert_allclose(deviation, spread, rtol=1e-5)
print(f"ten years later: {middle[-1] + level:.1f} ± {2 * deviation[-1]:.1f} ppm")

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.subplots()
axes.plot(years, measured + level, "k.", markersize=2, label="monthly means")
axes.plot(ahead, middle + level, label="predicted")
axes.fill_between(
    ahead,
    middle + level - 2 * deviation,
    middle + level + 2 * deviation,
    alpha=0.3,
    label="± 2 standard deviations",
)
axes.set(xlabel="year", ylabel="carbon dioxide, ppm", title="Mauna Loa")
axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "gaussian_process.png", dpi=100)
