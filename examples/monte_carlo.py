"""Example: Metropolis and Hamiltonian Monte Carlo as graphs, for a regression whose posterior is known exactly.

Run it as ``python monte_carlo.py [picture.png]``; it needs scikit-learn and matplotlib. Whole chains are one compiled
function: `loop` runs the steps, and keys give each step its own random numbers.
"""

import sys
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

import occelo as oc
import occelo.tensor as ot

CHAINS, LEAPFROGS = 4, 80

# the progression of diabetes in 442 patients by ten measurements, all standardized
data = load_diabetes()
columns = np.c_[np.ones(len(data.target)), data.data / data.data.std(axis=0)]
response = (data.target - data.target.mean()) / data.target.std()
NOISE, PRIOR = (
    0.7,
    1.0,
)  # standard deviations, taken as known, so that the posterior is a normal law
precision = columns.T @ columns / NOISE**2 + np.eye(columns.shape[1]) / PRIOR**2
covariance = np.linalg.inv(precision)
mean = covariance @ columns.T @ response / NOISE**2


def log_density(position):
    """The logarithm of the posterior density at the coefficients of each chain (chains, coefficients), but for a constant."""
    residuals = response - ot.dot(position, columns.T)
    misfit = (residuals**2).sum(axis=1) / NOISE**2
    return -0.5 * (misfit + (position**2).sum(axis=1) / PRIOR**2)


def slope(position):
    return oc.grad(log_density(position).sum(), position)


def accept(key, ratio, proposed, position):
    """The proposed positions of the chains that accept, and the probability of each to do so."""
    accepted = ot.log(ot.random.uniform(key, size=(CHAINS,))) < ratio
    return ot.where(accepted[:, None], proposed, position), ot.exp(ot.minimum(ratio, 0.0))


def metropolis(position, key, log_size):
    """A random walk: a normal step, which is accepted with the ratio of the densities."""
    for_step, for_choice = ot.random.split(key, 2)
    proposed = position + ot.exp(log_size) * ot.random.normal(for_step, size=position.shape)
    ratio = log_density(proposed) - log_density(position)
    return accept(for_choice, ratio, proposed, position)


def hamiltonian(position, key, log_size):
    """Leapfrog steps of a particle with a random momentum, accepted by the change of its energy (Neal 2011).

    Their number is random, lest the particle comes back to where it started.
    """
    for_momentum, for_number, for_choice = ot.random.split(key, 3)
    size = ot.exp(log_size)
    momentum = ot.random.normal(for_momentum, size=position.shape)

    def leapfrog(_, state):
        q, p = state
        q = q + size * p
        return q, p + size * slope(q)

    halfway = momentum + 0.5 * size * slope(position)
    number = ot.random.integers(for_number, 1, LEAPFROGS)
    q, p = oc.fori_loop(0, number, leapfrog, (position, halfway))
    p = p - 0.5 * size * slope(q)  # the last of the steps was half a step too long
    energy = log_density(q) - 0.5 * (p**2).sum(axis=1)
    before = log_density(position) - 0.5 * (momentum**2).sum(axis=1)
    return accept(for_choice, energy - before, q, position)


def sampler(step, target):
    """A compiled function of a key: the positions after each step of warm-up and of sampling, and the rate of acceptance."""
    key, first = ot.scalar("key", dtype="uint64"), ot.dmatrix("first")
    warm, kept = ot.lscalar("warm"), ot.lscalar("kept")
    for_warm, for_kept = ot.random.split(key, 2)

    def adapting(state, k):
        # dual averaging (Hoffman and Gelman 2014, section 3.2.1) finds the size of steps that accepts at the target rate
        position, log_size, average, excess, n = state
        position, chance = step(position, k, log_size)
        n = n + 1.0
        excess = excess + (target - chance.mean() - excess) / (n + 10.0)
        log_size = np.log(10 * 0.05) - ot.sqrt(n) / 0.05 * excess
        weight = n**-0.75
        average = weight * log_size + (1.0 - weight) * average
        return (position, log_size, average, excess, n), None

    begin = (first, ot.constant(np.log(0.05)), ot.constant(0.0), ot.constant(0.0), ot.constant(0.0))
    (position, _, log_size, _, _), _ = oc.loop(adapting, begin, ot.random.split(for_warm, warm))

    def sampling(position, k):
        position, chance = step(position, k, log_size)
        return position, (position, chance.mean())

    _, (positions, chances) = oc.loop(sampling, position, ot.random.split(for_kept, kept))
    return oc.function([key, first, warm, kept], [positions, chances.mean(), ot.exp(log_size)])


def split_r_hat(positions):
    """The potential scale reduction of halved chains (Gelman et al., Bayesian Data Analysis, 3rd edition, 11.4)."""
    n = len(positions) // 2
    halves = np.concatenate([positions[:n], positions[n : 2 * n]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    return np.sqrt((n - 1) / n + between / within)


def effective_size(positions):
    """How many independent draws have the same error of the mean, by batches of the square root of the number of steps."""
    n = int(np.sqrt(len(positions)))
    batches = positions[: n * n].reshape(n, n, *positions.shape[1:]).mean(axis=1)
    return positions.var(axis=(0, 1)) / (batches.var(axis=0, ddof=1).mean(axis=0) / n) * CHAINS


rng = np.random.default_rng(5)
start = rng.normal(size=(CHAINS, len(mean)))
runs = {}
for name, step, target, warm, kept in [
    ("Metropolis", metropolis, 0.25, 20_000, 400_000),
    ("Hamiltonian", hamiltonian, 0.8, 1_000, 4_000),
]:
    began = perf_counter()
    run = sampler(step, target)
    compiled = perf_counter() - began
    key = ot.random.key(1).data
    began = perf_counter()
    positions, rate, size = run(key, start, warm, kept)
    took = perf_counter() - began
    twice = [run(key, start, 100, 100)[0] for _ in range(2)]
    np.testing.assert_array_equal(*twice)  # the same key, the same chains
    r_hat, effective = split_r_hat(positions).max(), effective_size(positions).min()
    print(f"{name}: compiled in {compiled:.2f} s, {CHAINS} chains of {kept} steps in {took:.2f} s")
    print(f"  accepted {rate:.2f}, step size {size:.3f}, R-hat {r_hat:.4f}, {effective:.0f} draws")
    assert r_hat < (1.01 if name == "Hamiltonian" else 1.02)
    assert abs(rate - target) < 0.1
    # the moments of the posterior, within five standard errors
    error = np.sqrt(np.diagonal(covariance) / effective)
    np.testing.assert_array_less(np.abs(positions.mean(axis=(0, 1)) - mean), 5 * error)
    drawn = np.cov(positions.reshape(-1, len(mean)).T)
    np.testing.assert_allclose(np.diagonal(drawn), np.diagonal(covariance), rtol=7 / effective**0.5)
    runs[name] = positions

figure = Figure(figsize=(8, 4), layout="constrained")
left, right = figure.subplots(1, 2)
pair = [
    5,
    6,
]  # two measurements of the serum, whose coefficients are nearly determined by their sum only
for name, positions in runs.items():
    drawn = positions[:: len(positions) // 500].reshape(-1, len(mean))
    left.plot(*drawn[:, pair].T, ".", markersize=2, label=name)
    right.plot(positions[:400, 0, pair[0]], linewidth=1, label=name)
angle = np.linspace(0, 2 * np.pi, 200)
root = np.linalg.cholesky(covariance[np.ix_(pair, pair)])
for radius in (1.0, 2.0):
    left.plot(*(mean[pair][:, None] + radius * root @ [np.cos(angle), np.sin(angle)]), "k", lw=1)
names = [f"coefficient of {data.feature_names[i - 1]}" for i in pair]
left.set(xlabel=names[0], ylabel=names[1], title="draws, and the exact law at 1 and 2 sigma")
right.set(xlabel="step", ylabel=names[0], title="400 steps of one chain")
left.legend(markerscale=4)
path = sys.argv[1] if len(sys.argv) > 1 else "monte_carlo.png"
figure.savefig(path, dpi=120)
print(f"wrote {path}")
