"""Example: a particle filter as a loop, for the flow of the Nile, beside the Kalman filter that is exact here.

Run it as ``python particle_filter.py [picture.png]``; it needs statsmodels and matplotlib. Each step moves 2,000 particles,
weighs them by the observation of a year, and draws the next ones by their weights.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from statsmodels.datasets import nile

import occelo as oc
import occelo.tensor as ot

data = nile.load_pandas().data
years, flow = data["year"].to_numpy(), data["volume"].to_numpy(float)
PARTICLES = 2_000
# the level is a random walk; variances of Durbin and Koopman, Time Series Analysis by State Space Methods, 2.2.5
NOISE, DRIFT = np.sqrt(15099.0), np.sqrt(1469.1)
FIRST, SPREAD = 1000.0, 400.0  # what is known of the level before the first year

key, seen, drift = ot.scalar("key", dtype="uint64"), ot.dvector("seen"), ot.dscalar("drift")


def resample(key, weights, particles):
    """Systematic resampling: a particle is taken once for each of n equidistant points, shifted at random, in its share."""
    points = (ot.arange(PARTICLES) + ot.random.uniform(key)) / PARTICLES
    shares = ot.cumsum(weights)
    chosen = (shares[None, :] < points[:, None]).sum(axis=1)
    return particles[ot.minimum(chosen, PARTICLES - 1)]


def step(state, year):
    particles, total = state
    value, key = year
    for_move, for_choice = ot.random.split(key, 2)
    weights = ot.stats.norm.logpdf(value, particles, NOISE)
    total = total + ot.logsumexp(weights) - np.log(PARTICLES)
    weights = ot.softmax(weights)
    mean = (weights * particles).sum()
    spread = ot.sqrt((weights * (particles - mean) ** 2).sum())
    particles = resample(for_choice, weights, particles)
    particles = particles + drift * ot.random.normal(for_move, size=(PARTICLES,))
    return (particles, total), (mean, spread)


for_first, for_years = ot.random.split(key, 2)
start = FIRST + SPREAD * ot.random.normal(for_first, size=(PARTICLES,))
keys = ot.random.split(for_years, seen.shape[0])
(_, likelihood), (means, spreads) = oc.loop(step, (start, 0.0), (seen, keys))
run = oc.function([key, seen, drift], [likelihood, means, spreads])


def kalman(drift):
    """The exact log likelihood, and the means and standard deviations of the level given the years so far."""
    mean, variance, total, moments = FIRST, SPREAD**2, 0.0, []
    for value in flow:
        scale = variance + NOISE**2
        total -= 0.5 * (np.log(2 * np.pi * scale) + (value - mean) ** 2 / scale)
        mean += variance / scale * (value - mean)
        variance *= NOISE**2 / scale
        moments.append((mean, np.sqrt(variance)))
        variance += drift**2
    return total, *np.transpose(moments)


began = perf_counter()
runs = [run(ot.random.key(k).data, flow, DRIFT) for k in range(20)]
took = perf_counter() - began
exact, level, deviation = kalman(DRIFT)
found = np.array([r[0] for r in runs])
print(f"20 filters with {PARTICLES} particles over {len(flow)} years in {took:.2f} s")
print(f"log likelihood {found.mean():.3f}, standard deviation {found.std():.3f}; exact {exact:.3f}")
# the mean of the likelihoods, not of their logarithms, is the exact one
assert abs(np.log(np.exp(found - exact).mean())) < 4 * found.std() / np.sqrt(len(found))
error = np.abs(np.mean([r[1] for r in runs], axis=0) - level) / deviation
print(f"the mean level differs by at most {error.max():.3f} of its standard deviation")
assert error.max() < 0.1
np.testing.assert_allclose(np.mean([r[2] for r in runs], axis=0), deviation, rtol=0.03)

# the same key in each call makes the likelihood a function of the drift that can be compared
drifts = np.linspace(20.0, 90.0, 15)
curve = np.array([run(ot.random.key(0).data, flow, each)[0] for each in drifts])
truth = np.array([kalman(each)[0] for each in drifts])
assert np.abs(curve - truth).max() < 1.0

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[2, 1])
left.plot(years, flow, ".", color="gray", label="flow")
mean, spread = runs[0][1:]
left.plot(years, mean, label="level, by particles")
left.fill_between(years, mean - 2 * spread, mean + 2 * spread, alpha=0.3)
left.plot(years, level, "k--", linewidth=1, label="level, exactly")
left.set(xlabel="year", ylabel="flow of the Nile, 10$^8$ m$^3$")
left.legend()
right.plot(drifts, curve, "o", label="particles")
right.plot(drifts, truth, "k", linewidth=1, label="exact")
right.set(xlabel="standard deviation of the drift", ylabel="log likelihood")
right.legend()
path = sys.argv[1] if len(sys.argv) > 1 else "particle_filter.png"
figure.savefig(path, dpi=120)
print(f"wrote {path}")
