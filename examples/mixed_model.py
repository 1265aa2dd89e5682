"""Example: a linear mixed model with a random intercept of each firm, compared with statsmodels.

Run it as ``python mixed_model.py [picture.png]``; it needs statsmodels (with its data) and matplotlib.
The restricted likelihood is profiled: all parameters but one, the ratio of standard deviations, are eliminated in closed
form (Bates et al., 2015, Fitting linear mixed-effects models using lme4, doi:10.18637/jss.v067.i01).
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize_scalar
from statsmodels.datasets import grunfeld
from statsmodels.regression.mixed_linear_model import MixedLM

import occelo as oc
import occelo.tensor as ot

# investments of eleven firms in twenty years, explained by their value and their stock of capital (millions of dollars)
table = grunfeld.load_pandas().data.sort_values(["firm", "year"])
firms = table["firm"].unique()
investment = table["invest"].to_numpy().reshape(len(firms), -1)
explaining = table[["value", "capital"]].to_numpy() / 100.0
explaining = np.column_stack([np.ones(len(table)), explaining]).reshape(len(firms), -1, 3)

# One matrix for each firm: all that follows is written for one firm and runs over the batch.
ratio = ot.dscalar("ratio")  # standard deviation of intercepts over that of noise
x, y = ot.dtensor3("x"), ot.dmatrix("y")
count, years = y.shape
common = ot.ones((years, years))
factor = ot.linalg.cholesky(ot.eye(years) + ratio**2 * common)
white_x = ot.linalg.solve_triangular(factor, x, lower=True)
white_y = ot.linalg.solve_triangular(factor, y, lower=True, b_ndim=1)

# generalised least squares over all firms
normal = ot.einsum("fti,ftj->ij", white_x, white_x)
slopes = ot.linalg.solve(normal, ot.einsum("fti,ft->i", white_x, white_y), assume_a="pos")
residuals = white_y - ot.linalg.matvec(white_x, slopes)
free = count * years - x.shape[2]
noise = (residuals**2).sum() / free
log_det = 2.0 * count * ot.log(ot.linalg.diagonal(factor)).sum()
deviance = free * (1.0 + ot.log(2.0 * np.pi * noise)) + log_det + ot.linalg.slogdet(normal)[1]
likelihood = -0.5 * deviance

slope = oc.grad(likelihood, ratio)
evaluate = oc.function([ratio, x, y], [likelihood, slope, oc.grad(slope, ratio)])
# the best prediction of each intercept: its firm's mean residual, shrunk
left = y - ot.linalg.matvec(x, slopes)
intercepts = ratio**2 * left.sum(axis=1) / (1.0 + years * ratio**2)
estimate = oc.function([ratio, x, y], [slopes, noise, ot.linalg.inv(normal) * noise, intercepts])


def by_hand(value):
    """The same likelihood with one covariance matrix of all observations, in NumPy."""
    design, response = explaining.reshape(-1, 3), investment.ravel()
    whole = np.kron(np.eye(len(firms)), np.eye(20) + value**2)
    inverse = np.linalg.inv(whole)
    inner = design.T @ inverse @ design
    rest = response - design @ np.linalg.solve(inner, design.T @ inverse @ response)
    n = len(response) - 3
    dets = np.linalg.slogdet(whole)[1] + np.linalg.slogdet(inner)[1]
    return -0.5 * (n * (1.0 + np.log(2.0 * np.pi * (rest @ inverse @ rest) / n)) + dets)


for value in (0.1, 1.0, 5.0):
    np.testing.assert_allclose(evaluate(value, explaining, investment)[0], by_hand(value), 1e-10)

# Newton's method, with both derivatives from the graph
best = 1.0
for _ in range(30):
    _, first, second = evaluate(best, explaining, investment)
    step = -first / second if second < 0 else np.sign(first) * 0.5
    best += float(np.clip(step, -0.5, 0.5))
    if abs(first) < 1e-10:
        break
searched = minimize_scalar(lambda v: -by_hand(v), bounds=(0.1, 10.0), options={"xatol": 1e-9})
np.testing.assert_allclose(best, searched.x, rtol=1e-6)

fixed, noise_variance, of_fixed, random = estimate(best, explaining, investment)
peer = MixedLM(investment.ravel(), explaining.reshape(-1, 3), table["firm"]).fit(reml=True)
np.testing.assert_allclose(evaluate(best, explaining, investment)[0], peer.llf, rtol=1e-8)
np.testing.assert_allclose(fixed, peer.fe_params, rtol=1e-4)
np.testing.assert_allclose(noise_variance, peer.scale, rtol=1e-4)
np.testing.assert_allclose(noise_variance * best**2, np.asarray(peer.cov_re)[0, 0], rtol=1e-3)
np.testing.assert_allclose(random, [peer.random_effects[f].iloc[0] for f in firms], rtol=1e-3)

errors = np.sqrt(np.diagonal(of_fixed))
for name, number, error in zip(["constant", "value", "capital"], fixed, errors, strict=True):
    print(f"{name:10} {number:8.3f} ± {error:.3f}")
print(
    f"standard deviations: firms {best * noise_variance**0.5:.1f}, noise {noise_variance**0.5:.1f}"
)

figure = Figure(figsize=(8, 4), layout="constrained")
left_axes, right_axes = figure.subplots(1, 2)
ratios = np.linspace(0.5, 5.0, 60)
left_axes.plot(ratios, [evaluate(v, explaining, investment)[0] for v in ratios])
left_axes.axvline(best, color="k", linewidth=0.8)
left_axes.set(xlabel="ratio of standard deviations", ylabel="restricted log likelihood")
order = np.argsort(random)
right_axes.barh(firms[order].astype(str), random[order])
right_axes.set(xlabel="intercept of the firm, millions of dollars")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "mixed_model.png", dpi=100)
