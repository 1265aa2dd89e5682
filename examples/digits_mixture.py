"""Example: a mixture of normal distributions of handwritten digits, by expectation and maximisation.

Run it as ``python digits_mixture.py [picture.png]``; it needs scikit-learn (with its digits) and matplotlib.
"""

import sys
import warnings

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

import occelo as oc
import occelo.tensor as ot

# 1,797 images of 8 x 8 pixels, by their ten main components
PARTS, KINDS, NOISE = 10, 16, 1e-2
digits = load_digits()
pca = PCA(PARTS, whiten=True, random_state=0).fit(digits.data)
images = pca.transform(digits.data)

x = ot.dmatrix("x")
shares, means, spreads = ot.dvector("shares"), ot.dmatrix("means"), ot.dtensor3("spreads")


def log_densities(shares, means, spreads):
    """Of every image and kind: the logarithm of the share of the kind, times its density there."""
    factors = ot.linalg.cholesky(spreads)
    away = x[:, None, :] - means  # images, kinds, components
    z = ot.linalg.solve_triangular(factors, ot.moveaxis(away, 0, 2), lower=True)
    log_size = ot.log(ot.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    constant = 0.5 * PARTS * np.log(2 * np.pi)
    return ot.log(shares) - log_size - constant - 0.5 * (z**2).sum(axis=1).T


def improve(state, _):
    joint = log_densities(*state)
    total = ot.logsumexp(joint, axis=1)
    belongs = ot.exp(joint - total[:, None])
    counts = belongs.sum(axis=0)
    means = belongs.T @ x / counts[:, None]
    away = x[:, None, :] - means
    spreads = ot.einsum("nk,nki,nkj->kij", belongs, away, away) / counts[:, None, None]
    return (counts / x.shape[0], means, spreads + NOISE * ot.eye(PARTS)), total.mean()


steps = ot.lscalar("steps")
found, bounds = oc.loop(improve, (shares, means, spreads), ot.arange(steps))
fit = oc.function([x, shares, means, spreads, steps], [*found, bounds])
score = oc.function(
    [x, shares, means, spreads], ot.softmax(log_densities(shares, means, spreads), axis=1)
)

rng = np.random.default_rng(0)
start = (
    np.full(KINDS, 1 / KINDS),
    images[rng.choice(len(images), KINDS, replace=False)],
    np.broadcast_to(np.eye(PARTS), (KINDS, PARTS, PARTS)).copy(),
)
*fitted, history = fit(images, *start, 40)
belongs = score(images, *fitted)
assert np.all(np.diff(history[:-1]) > -1e-3)
print(f"mean log density {history[0]:.3f} to {history[-1]:.3f} in 40 steps")

# the same steps by scikit-learn
peer = GaussianMixture(
    KINDS, tol=0.0, max_iter=40, reg_covar=NOISE, init_params="random_from_data",
    weights_init=start[0], means_init=start[1], precisions_init=start[2],
)  # fmt: skip
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says that 40 steps have not converged
    peer.fit(images)
np.testing.assert_allclose(fitted[0], peer.weights_, rtol=1e-6)
np.testing.assert_allclose(fitted[1], peer.means_, rtol=1e-5, atol=1e-6)
np.testing.assert_allclose(belongs, peer.predict_proba(images), atol=1e-6)

figure = Figure(figsize=(8, 2.6), layout="constrained")
right = 0
order = np.argsort([np.bincount(digits.target, weights=b).argmax() for b in belongs.T])
for axes, kind in zip(figure.subplots(2, KINDS // 2).ravel(), order, strict=True):
    counts = np.bincount(digits.target[belongs.argmax(axis=1) == kind], minlength=10)
    right += counts.max()
    axes.imshow(pca.inverse_transform(fitted[1][kind : kind + 1]).reshape(8, 8), cmap="binary")
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{counts.argmax()}: {counts.max()} of {counts.sum()}", fontsize=8)
print(
    f"{100 * right / len(images):.1f} % of the images are of the digit that is most common in their kind"
)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "digits_mixture.png", dpi=100)
