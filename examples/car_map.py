"""Example: a map of rates that neighbours share: a conditional autoregression (ICAR) with a sparse matrix of precisions.

Run it as ``python car_map.py [picture.png]``; it needs matplotlib and scikit-learn, which bundles the data.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse as sp
from scipy.special import logit
from sklearn.datasets import load_digits

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

# Each number of a digit's 8 x 8 counts how many of 16 pixels are black. Five handwritten threes are known, and 178 are not.
SIDE, PIXELS = 8, 16
digits = load_digits()
threes = digits.data[digits.target == 3]
known, unknown = threes[:5], threes[5:]

# The precision of an intrinsic autoregression: the Laplacian of the graph of neighbours. u' Q u is the sum of (u_i - u_j)^2.
path = sp.diags([np.ones(SIDE - 1)] * 2, [-1, 1])
neighbours = sp.csc_matrix(sp.kron(sp.identity(SIDE), path) + sp.kron(path, sp.identity(SIDE)))
laplacian = sp.csc_matrix(sp.diags(neighbours.sum(axis=1).A1) - neighbours)
cells = SIDE**2

Q = sparse.as_sparse_variable(laplacian)
counts, strength = ot.dmatrix("counts"), ot.dscalar("strength")


def log_density(u, strength):
    """Of the counts and the field: binomial counts, and an ICAR of rank `cells - 1`. It leaves out what no argument changes."""
    fit = (counts * u - PIXELS * ot.softplus(u)).sum()
    return fit + 0.5 * (cells - 1) * ot.log(strength) - 0.5 * strength * (u * (Q @ u)).sum()


start = ot.log((counts.mean(axis=0) + 0.5) / (PIXELS - counts.mean(axis=0) + 0.5))


def precision(u, strength):
    """Of the field given the counts: sparse, too, since each count depends on its own element of the field."""
    curvature = oc.hessian_vector_product(
        (counts * u - PIXELS * ot.softplus(u)).sum(), u, ot.ones_like(u)
    )
    return strength * Q - sparse.square_diagonal(curvature)


def newton(u, strength):
    return u + sparse.spsolve(precision(u, strength), oc.grad(log_density(u, strength), u))


mode = oc.scan(
    newton, outputs_info=start, non_sequences=[strength], n_steps=20, return_updates=False
)[-1]
# the standard deviations of Laplace's approximation
around = precision(mode, strength).toarray()
fitted = oc.function([counts, strength], [mode, ot.sqrt(ot.diagonal(ot.linalg.inv(around)))])


def score(u, seen):
    """The mean log likelihood of digits, without the constants."""
    return float(np.mean(seen @ u - PIXELS * np.logaddexp(0, u).sum()))


# The strength is the one by which each known digit is foretold best from the others.
strengths = np.geomspace(0.01, 100, 17)
foretold = [
    sum(score(fitted(np.delete(known, i, axis=0), s)[0], known[[i]]) for i in range(len(known)))
    for s in strengths
]
best = int(np.argmax(foretold))
results = [fitted(known, s) for s in strengths]
scores = [score(r[0], unknown) for r in results]
alone = score(logit((known.sum(axis=0) + 0.5) / (PIXELS * len(known) + 1)), unknown)
print(
    f"strength {strengths[best]:.3g}; log likelihood of a new digit {scores[best]:.1f}, of each cell alone {alone:.1f}"
)

# the mode and the standard deviations against dense matrices of NumPy
u, deviations = results[best]
p = 1 / (1 + np.exp(-u))
slope = known.sum(axis=0) - len(known) * PIXELS * p - strengths[best] * (laplacian @ u)
np.testing.assert_allclose(slope, 0, atol=1e-8)
dense = strengths[best] * laplacian.toarray() + np.diag(len(known) * PIXELS * p * (1 - p))
np.testing.assert_allclose(deviations, np.sqrt(np.diag(np.linalg.inv(dense))), rtol=1e-8)
assert scores[best] > alone + 2

figure = Figure(figsize=(9.5, 2.9), layout="constrained")
panels = figure.subplots(1, 4)
pictures = [
    (known.mean(axis=0) / PIXELS, "five digits"),
    (p, "rates that neighbours share"),
    (unknown.mean(axis=0) / PIXELS, f"{len(unknown)} other digits"),
]
for axes, (picture, title) in zip(panels, pictures, strict=False):
    axes.imshow(picture.reshape(SIDE, SIDE), cmap="gray_r", vmin=0, vmax=1)
    axes.set(title=title, xticks=[], yticks=[])
panels[3].semilogx(strengths, scores, color="#0a7d4f", label="ICAR")
panels[3].axhline(alone, color="k", linewidth=0.8, label="each cell alone")
panels[3].axvline(strengths[best], linestyle=":", color="k", linewidth=0.8)
panels[3].set(xlabel="strength", title="log likelihood of a new digit")
panels[3].legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "car_map.png", dpi=100)
