"""Example: ridge regression in closed form and the lasso by proximal gradient, compared with scikit-learn.

Run it as ``python ridge_and_lasso.py [picture.png]``; it needs scikit-learn (with its diabetes data) and matplotlib.
Both are computed for all strengths of the penalty at once: the strengths are a batch.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge, RidgeCV

import occelo as oc
import occelo.tensor as ot

features, progress = load_diabetes(return_X_y=True, scaled=False)
features = (features - features.mean(axis=0)) / features.std(axis=0)
progress = progress - progress.mean()
names = load_diabetes().feature_names
n, p = features.shape

x, y, strengths = ot.dmatrix("x"), ot.dvector("y"), ot.dvector("strengths")

# Ridge: one system of equations for each strength, which one call solves by a batch of Cholesky factors.
systems = x.T @ x + strengths[:, None, None] * ot.eye(x.shape[1])
weights = ot.linalg.solve(systems, x.T @ y, assume_a="pos", b_ndim=1)
# predictions of each observation from all others follow from the diagonal of x inv(x'x + strength) x'
influence = ot.einsum("ij,sjk,ik->si", x, ot.linalg.inv(systems), x)
left_out = (y - weights @ x.T) / (1.0 - influence)
score = (left_out**2).mean(axis=1)
ridge = oc.function([x, y, strengths], [weights, score])

penalties = np.logspace(-1, 4, 40)
path, scores = ridge(features, progress, penalties)
for strength, found in zip(penalties, path, strict=True):
    expected = Ridge(alpha=strength, fit_intercept=False).fit(features, progress)
    np.testing.assert_allclose(found, expected.coef_, rtol=1e-8, atol=1e-10)
chosen = RidgeCV(penalties, fit_intercept=False).fit(features, progress)
best = int(np.argmin(scores))
assert chosen.alpha_ == penalties[best]
np.testing.assert_allclose(-chosen.best_score_, scores[best], rtol=1e-8)
print(f"ridge: {penalties[best]:.2f} predicts best, with an error of {scores[best] ** 0.5:.2f}")

# The strength that predicts best, not only of those tried, by Newton's method.
log_strength = ot.dscalar("log_strength")
error = oc.graph_replace(score[0], {strengths: ot.exp(log_strength)[None]})
slope = oc.grad(error, log_strength)
derivatives = oc.function([x, y, log_strength], [slope, oc.grad(slope, log_strength)])
at = float(np.log(penalties[best]))
for _ in range(20):
    first, second = derivatives(features, progress, at)
    at -= float(first / second)
assert abs(float(first)) < 1e-9
assert ridge(features, progress, [np.exp(at)])[1][0] <= scores[best]
print(f"ridge: {np.exp(at):.2f} is the best of all strengths")

# Lasso: a step along the gradient of the squares, then the proximal map of the penalty, with momentum that restarts
# where it leads uphill (Beck and Teboulle, 2009, doi:10.1137/080716542; O'Donoghue and Candes, 2015,
# doi:10.1007/s10208-013-9150-3).
strongest = np.abs(features.T @ progress).max() / n  # from here on all weights are 0
strong = np.geomspace(0.1, 0.99 * strongest, 40)
at_point = oc.shared(np.zeros((len(strong), p)), "at_point")
before = oc.shared(np.zeros((len(strong), p)), "before")
momentum = oc.shared(np.ones(len(strong)), "momentum")
squares = 0.5 * ((y - at_point @ x.T) ** 2).sum() / x.shape[0]
rate = oc.shared(n / np.linalg.norm(features, 2) ** 2, "rate")
moved = at_point - rate * oc.grad(squares, at_point)
after = ot.sign(moved) * ot.maximum(ot.abs(moved) - rate * strengths[:, None], 0.0)
uphill = ((at_point - after) * (after - before)).sum(axis=1) > 0.0
restarted = ot.where(uphill, 1.0, momentum)
grown = 0.5 * (1.0 + ot.sqrt(1.0 + 4.0 * restarted**2))
ahead = after + ((restarted - 1.0) / grown)[:, None] * (after - before)
step = oc.function(
    [x, y, strengths],
    ot.abs(after - before).max(),
    updates={at_point: ahead, before: after, momentum: grown},
)
steps = 1
while step(features, progress, strong) > 1e-12:
    steps += 1
    assert steps < 20_000
sparse = before.get_value()
print(f"lasso: {steps} steps for {len(strong)} strengths")
for strength, found in zip(strong, sparse, strict=True):
    expected = Lasso(alpha=strength, fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected.fit(features, progress)
    np.testing.assert_allclose(found, expected.coef_, rtol=1e-6, atol=1e-6)
    assert (np.abs(found) > 0).tolist() == (np.abs(expected.coef_) > 0).tolist()

figure = Figure(figsize=(8, 4), layout="constrained")
for axes, along, coefficients, title in zip(
    figure.subplots(1, 2, sharey=True),
    [penalties, strong],
    [path, sparse],
    ["ridge", "lasso"],
    strict=True,
):
    axes.plot(along, coefficients, label=names)
    axes.set(xscale="log", xlabel="strength of the penalty", title=title)
figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "ridge_and_lasso.png", dpi=100)
