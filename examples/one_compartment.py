"""Example: a drug in one compartment: how fast it is absorbed and eliminated, from twenty concentrations.

Run it as ``python one_compartment.py [picture.png]``; it needs matplotlib. The equation is solved by `odeint`, the mode is found by
`minimize`, and the posterior by importance sampling, with the density of thousands of draws in one call.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import stats
from scipy.integrate import solve_ivp

import occelo as oc
import occelo.tensor as ot

# a dose that is swallowed at time 0, the volume of the compartment, and 20 concentrations in it: the simulated data of posteriordb
# (one_comp_mm_elim_abs)
DOSE, VOLUME = 30.0, 2.0
TIMES = np.arange(1, 21) / 2
CONCENTRATIONS = np.array([
    5.70812, 7.10126, 8.38521, 9.79008, 13.43904, 11.44790, 11.21243, 11.42692, 12.24329, 13.82018, 13.84107, 11.42229,
    10.50319, 11.91215, 14.08500, 10.55051, 10.19055, 12.22322, 11.72907, 12.27194,
])  # fmt: skip


def rate(c, t, absorption, half, fastest):
    """What is absorbed, first order, minus what is eliminated, which saturates (Michaelis and Menten)."""
    return ot.exp(-absorption * t) * DOSE * absorption / VOLUME - fastest / VOLUME * c / (half + c)


# logarithms of the rate of absorption, of the concentration of half the fastest elimination, of the fastest, and of the noise
theta = ot.dvector("theta")
values = ot.exp(theta)
curve = oc.optimize.odeint(
    rate, ot.constant(0.0), np.r_[0.0, TIMES], args=tuple(values[k] for k in range(3))
)[1:]
noise = values[3]
log_density = (-0.5 * ((np.log(CONCENTRATIONS) - ot.log(curve)) / noise) ** 2 - theta[3]).sum()
# half-Cauchy priors of scale 1, and the Jacobian of the logarithms
log_density += (theta - ot.log1p(values**2)).sum()

mode = oc.function([theta], oc.optimize.minimize(-log_density, theta))(
    np.log([0.7, 1.0, 0.8, 0.13])
)
assert mode.success
best = np.exp(mode.x)
evaluate = oc.function([theta], oc.grad(log_density, theta))
curvature = np.array([
    (evaluate(mode.x + e) - evaluate(mode.x - e)) / 2e-4 for e in 1e-4 * np.eye(4)
])  # fmt: skip

# Draws of a wide distribution are weighted by the density over their own; then again from one of the weighted draws' moments.
many = ot.dmatrix("many")
densities = oc.function([many], oc.vectorize_graph(log_density, {theta: many}))
centre, spread = mode.x, -np.linalg.inv(0.5 * (curvature + curvature.T))
for seed in range(4):
    wide = stats.multivariate_t(centre, spread, df=4, seed=seed)
    draws = wide.rvs(6000)
    # a curve that is 0 within the tolerance has no logarithm: it is far from the data, and the draw has no weight
    weights = np.nan_to_num(densities(draws), nan=-np.inf) - wide.logpdf(draws)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    centre, spread = weights @ draws, np.cov(draws.T, aweights=weights)
size = 1 / (weights**2).sum()

# means and standard deviations of the posterior, of the reference draws of posteriordb
names = ["absorption", "half at", "fastest", "noise"]
MEANS = np.array([0.761, 2.54, 0.982, 0.1288])
DEVIATIONS = np.array([0.078, 7.28, 0.563, 0.0234])
means = weights @ np.exp(draws)
print(f"{size:.0f} draws of equal weight would tell as much")
for name, value, mean in zip(names, means, MEANS, strict=True):
    print(f"{name}: mean {value:.3g}, of the reference {mean:.3g}")
# half has a tail so heavy that no sample of this size knows its mean
error = (np.abs(means - MEANS) / DEVIATIONS)[[0, 2, 3]]
assert (error < 0.15).all()

fine = np.linspace(0.0, 24.0, 241)
curves = oc.function(
    [many],
    oc.vectorize_graph(
        oc.optimize.odeint(rate, ot.constant(0.0), fine, args=tuple(values[k] for k in range(3))),
        {theta: many},
    ),
)(draws[np.random.default_rng(0).choice(len(draws), 200, p=weights)])
exact = solve_ivp(
    lambda t, c: np.exp(-best[0] * t) * DOSE * best[0] / VOLUME - best[2] / VOLUME * c / (best[1] + c),
    (0, 10), [0.0], t_eval=TIMES, rtol=1e-10, atol=1e-10,
)  # fmt: skip
np.testing.assert_allclose(oc.function([theta], curve)(mode.x), exact.y[0], rtol=1e-6)

figure = Figure(figsize=(9, 3.4), layout="constrained")
left, right = figure.subplots(1, 2)
left.plot(fine, curves.T, color="C0", alpha=0.06)
left.plot(TIMES, CONCENTRATIONS, "ko", markersize=4)
left.set(xlabel="time", ylabel="concentration", title="what 200 draws foretell", ylim=(0, 18))
chosen = np.random.default_rng(1).choice(len(draws), 2000, p=weights)
right.loglog(*np.exp(draws[chosen][:, [1, 2]]).T, ".", markersize=2)
right.set(xlabel="half at", ylabel="fastest", title="only their ratio is well known")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "one_compartment.png", dpi=100)
