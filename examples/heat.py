"""Example: where a rod was heated, from its temperatures later: the heat equation by cosines, and its inverse.

Run it as ``python heat.py [picture.png]``; it needs matplotlib.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import occelo as oc
import occelo.tensor as ot

# A rod of length 1, insulated at its ends, at 64 places. Its conductivity is 0.01.
PLACES, CONDUCTIVITY = 64, 0.01
places = (np.arange(PLACES) + 0.5) / PLACES
waves = np.pi * np.arange(PLACES)

heat, times = ot.dvector("heat"), ot.dvector("times")
# cosines keep their shape, and fade by their own rates
faded = ot.exp(-CONDUCTIVITY * times[:, None] * waves**2) * ot.fft.dct(heat, norm="ortho")
later = ot.fft.idct(faded, norm="ortho", axis=1)
spread = oc.function([heat, times], later)

first = np.where(np.abs(places - 0.3) < 0.08, 1.0, 0.0) + np.where(
    np.abs(places - 0.7) < 0.15, 0.5, 0.0
)
shown = np.array([0.0, 0.05, 0.2, 1.0, 5.0])
warmth = spread(first, shown)
np.testing.assert_allclose(warmth[0], first, atol=1e-12)
np.testing.assert_allclose(warmth.mean(axis=1), first.mean(), rtol=1e-12)  # no heat is lost


# against SciPy's integrator, with derivatives by the same cosines
def slope(_, u):
    return MATRIX @ u


cosines = np.cos(np.outer(waves, places)) * np.sqrt(np.where(waves == 0, 1, 2) / PLACES)[:, None]
MATRIX = -CONDUCTIVITY * cosines.T @ (waves[:, None] ** 2 * cosines)
way = solve_ivp(slope, (0, 5), first, method="BDF", t_eval=shown, rtol=1e-8, atol=1e-10)
np.testing.assert_allclose(warmth, way.y.T, atol=1e-6)

# The inverse: temperatures at one time, with noise, are given. Heat is positive, which `softplus` says, and where it starts and
# ends is a jump, so that the cost has the smoothed absolute differences of neighbours.
measured, hidden = ot.dvector("measured"), ot.dvector("hidden")
start = ot.softplus(hidden)
misfit = oc.graph_replace(later[0], {heat: start}) - measured
jumps = ot.sqrt(ot.diff(start) ** 2 + 1e-6).sum()
cost = 0.5 * (misfit**2).sum() / 0.005**2 + 20.0 * jumps
rng = np.random.default_rng(0)
WHEN = 0.2
noisy = spread(first, [WHEN])[0] + 0.005 * rng.normal(size=PLACES)
found = oc.minimize(
    cost,
    hidden,
    np.full(PLACES, -2.0),
    given={measured: noisy, times: [WHEN]},
    method="L-BFGS-B",
    options={"maxiter": 300},
)
recovered = np.log1p(np.exp(found.params))
naive = cosines.T @ (np.exp(CONDUCTIVITY * WHEN * waves**2) * (cosines @ noisy))
errors = [np.sqrt(np.mean((v - first) ** 2)) for v in (recovered, noisy, naive)]
print(f"{found.nit} steps; error {errors[0]:.3f}, of the measured temperatures {errors[1]:.3f}")
print(f"undone without a prior: {errors[2]:.1e}")
assert errors[0] < 0.25 * errors[1] < errors[2]

figure = Figure(figsize=(9, 3.3), layout="constrained")
left, right = figure.subplots(1, 2, sharey=True)
for time, row in zip(shown, warmth, strict=True):
    left.plot(places, row, label=f"after {time:g}")
left.set(xlabel="place", ylabel="temperature", title="forwards")
right.plot(places, first, "k", linewidth=0.8, label="at the start")
right.plot(places, noisy, ".", label=f"measured after {WHEN:g}")
right.plot(places, recovered, label="recovered")
right.set(xlabel="place", title="backwards")
for axes in (left, right):
    axes.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "heat.png", dpi=100)
