"""Example: a Kalman filter and smoother of sea temperatures, compared with those of statsmodels.

Run it as ``python kalman_smoother.py [picture.png]``; it needs statsmodels (with its data) and matplotlib.
The model is a level that moves, a season that changes slowly, and noise (Durbin and Koopman, 2012, Time series analysis
by state space methods, chapters 3 and 4). Two years are hidden, and the smoother estimates their temperatures.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize
from statsmodels.datasets import elnino
from statsmodels.tsa.statespace.structural import UnobservedComponents

import occelo as oc
import occelo.tensor as ot

# monthly temperatures of the sea surface off Peru, in degrees Celsius, without those of the strongest El Niño
table = elnino.load_pandas().data
table = table[table["YEAR"] >= 1970]
temperature = table.iloc[:, 1:].to_numpy().ravel()
years = table["YEAR"].iloc[0] + (np.arange(len(temperature)) + 0.5) / 12
hidden = (years > 1982) & (years < 1984)
series = np.where(hidden, np.nan, temperature)

# The state: the level, and the season of this month and of the ten months before.
states = 12
move = np.zeros((states, states))
move[0, 0] = 1.0
move[1, 1:] = -1.0  # twelve seasons have the sum 0
move[2:, 1:-1] = np.eye(states - 2)
seen = np.zeros(states)
seen[:2] = 1.0
start_mean = np.zeros(states)
start_mean[0] = 20.0
start_spread = 25.0 * np.eye(states)

# logarithms of the variances of the noise, of the level and of the season
theta = ot.dvector("theta")
y = ot.dvector("y")
noise, of_level, of_season = (ot.exp(theta[i]) for i in range(3))
moved = ot.set_subtensor(ot.zeros(states)[:2], ot.stack([of_level, of_season]))


def filtering(predicted, observed):
    """Take in one observation, which may be missing, and predict the next state."""
    mean, spread = predicted
    known = ~ot.isnan(observed)
    error = ot.where(known, observed - seen @ mean, 0.0)
    variance = seen @ spread @ seen + noise
    precision = ot.where(known, 1.0 / variance, 0.0)
    density = ot.where(known, -0.5 * (ot.log(2.0 * np.pi * variance) + error**2 / variance), 0.0)
    gain = move @ (spread @ seen) * precision
    next_mean = move @ mean + gain * error
    next_spread = move @ spread @ move.T + ot.diag(moved) - ot.outer(gain, gain) * variance
    return (next_mean, next_spread), (mean, spread, error, precision, gain, density)


_, (means, spreads, errors, precisions, gains, densities) = oc.loop(
    filtering, (start_mean, start_spread), y
)
likelihood = densities.sum()
evaluate = oc.function([theta, y], [likelihood, oc.grad(likelihood, theta)])


def smoothing(later, step):
    """Correct the prediction for one month by all that was observed in it and afterwards."""
    slope, curvature = later
    mean, spread, error, precision, gain = step
    kept = move - ot.outer(gain, seen)
    slope = seen * (precision * error) + kept.T @ slope
    curvature = np.outer(seen, seen) * precision + kept.T @ curvature @ kept
    return (slope, curvature), (mean + spread @ slope, spread - spread @ curvature @ spread)


_, (smooth_means, smooth_spreads) = oc.loop(
    smoothing,
    (np.zeros(states), np.zeros((states, states))),
    (means, spreads, errors, precisions, gains),
    reverse=True,
)
smooth = oc.function([theta, y], [smooth_means, smooth_spreads])

# the same model in statsmodels, with the same distribution of the first state
peer = UnobservedComponents(series, "local level", seasonal=12)
peer.ssm.initialize_known(start_mean, start_spread)
peer.ssm.loglikelihood_burn = 0
assert peer.param_names == ["sigma2.irregular", "sigma2.level", "sigma2.seasonal"]


def compare(point):
    """Check the log likelihood at these parameters against that of statsmodels."""
    value, gradient = evaluate(point, series)
    np.testing.assert_allclose(value, peer.loglike(np.exp(point)), rtol=1e-8)
    for i, ahead in enumerate(1e-5 * np.eye(3)):
        by_difference = peer.loglike(np.exp(point + ahead)) - peer.loglike(np.exp(point - ahead))
        np.testing.assert_allclose(gradient[i], by_difference / 2e-5, rtol=1e-4, atol=1e-3)
    return float(value)


def cost(point):
    value, gradient = evaluate(point, series)
    return -value, -gradient


first = np.log([1.0, 0.1, 0.01])
before = compare(first)
began = perf_counter()
fitted = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=[(-20.0, 5.0)] * 3)
took = perf_counter() - began
after = compare(fitted.x)
assert after > before + 10.0
print(f"log likelihood: {before:.3f} at the start, {after:.3f} fitted")
print(f"{fitted.nfev} evaluations with gradients in {took:.2f} s, for {len(series)} months")

levels, spread = smooth(fitted.x, series)
expected = peer.smooth(np.exp(fitted.x))
np.testing.assert_allclose(levels, expected.smoothed_state.T, rtol=1e-6, atol=1e-8)
np.testing.assert_allclose(
    spread, expected.smoothed_state_cov.transpose(2, 0, 1), rtol=1e-5, atol=1e-8
)

curve = levels @ seen
deviation = np.sqrt(seen @ spread @ seen)
unusual = (temperature - curve)[hidden]
print(f"the hidden years were up to {unusual.max():.1f} degrees warmer than expected")

figure = Figure(figsize=(8, 4), layout="constrained")
axes = figure.subplots()
window = (years > 1978) & (years < 1988)
axes.plot(years[window & ~hidden], temperature[window & ~hidden], "k.", label="measured")
axes.plot(years[hidden], temperature[hidden], "rx", label="measured, hidden")
axes.plot(years[window], curve[window], label="smoothed")
axes.fill_between(
    years[window],
    (curve - 2 * deviation)[window],
    (curve + 2 * deviation)[window],
    alpha=0.3,
    label="± 2 standard deviations",
)
axes.plot(years[window], levels[window, 0], linewidth=0.8, label="level")
axes.set(xlabel="year", ylabel="temperature of the sea surface, °C", title="Off Peru")
axes.legend(loc="upper left")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "kalman_smoother.png", dpi=100)
