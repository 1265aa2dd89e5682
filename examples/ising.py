"""Example: the Ising model at 24 temperatures at once, compared with Onsager's and Yang's solution.

Run it as ``python ising.py [picture.png]``; it needs matplotlib. The lattices are a batch, and each half of a sweep gets its
own key for its random numbers.
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import occelo as oc
import occelo.tensor as ot

SIZE, WARM, KEPT = 32, 400, 800
temperatures = np.linspace(1.5, 3.5, 24)
rows, columns = np.indices((SIZE, SIZE))
white = ot.constant((rows + columns) % 2 == 0)

seed = ot.scalar("seed", dtype="uint64")
coldness = ot.dvector("coldness")


def flip(spins, key, field):
    """Offer a flip to every spin of one colour of the chessboard: none of them are neighbours."""
    around = sum(ot.roll(spins, by, axis=axis) for by in (1, -1) for axis in (1, 2))
    gain = -2.0 * coldness[:, None, None] * spins * around
    accepted = ot.log(ot.random.uniform(key, size=spins.shape)) < gain
    return ot.where(accepted & field, -spins, spins)


def sweep(spins, key):
    first, second = ot.random.split(key, 2)
    spins = flip(flip(spins, first, white), second, ~white)
    right, below = ot.roll(spins, 1, axis=1), ot.roll(spins, 1, axis=2)
    energy = -(spins * (right + below)).mean(axis=(1, 2))
    return spins, (abs(spins.mean(axis=(1, 2))), energy)


start = ot.ones((coldness.shape[0], SIZE, SIZE))
spins, (magnets, energies) = oc.loop(sweep, start, ot.random.split(seed, WARM + KEPT))
run = oc.function([seed, coldness], [spins, magnets[WARM:].mean(axis=0), energies[WARM:]])
lattices, magnetisation, energy = run(np.uint64(5), 1.0 / temperatures)
np.testing.assert_array_equal(run(np.uint64(5), 1.0 / temperatures)[0], lattices)

# the exact solution of the infinite lattice (Onsager 1944, Yang 1952); the energy by an integral (SciPy's `ellipk`)
critical = 2.0 / np.log1p(np.sqrt(2.0))
k = ot.dvector("k")
modulus = 2.0 * ot.sinh(2.0 * k) / ot.cosh(2.0 * k) ** 2
onsager = -(
    1.0 + (2.0 / np.pi) * (2.0 * ot.tanh(2.0 * k) ** 2 - 1.0) * ot.ellipk(modulus**2)
) / ot.tanh(2.0 * k)
exact = oc.function([k], [onsager, ot.maximum(1.0 - ot.sinh(2.0 * k) ** -4.0, 0.0) ** 0.125])
exact_energy, exact_magnets = exact(1.0 / temperatures)
away = np.abs(temperatures - critical) > 0.3
worst = np.abs(energy.mean(axis=0) - exact_energy)[away].max()
cold = temperatures < critical - 0.3
print(f"energy: at most {worst:.4f} from Onsager's")
print(f"magnetisation: at most {np.abs(magnetisation - exact_magnets)[cold].max():.4f} from Yang's")
assert worst < 0.02
np.testing.assert_allclose(magnetisation[cold], exact_magnets[cold], atol=0.01)

figure = Figure(figsize=(9, 3.6), layout="constrained")
left, *pictures = figure.subplots(1, 4, width_ratios=[2, 1, 1, 1])
fine = np.linspace(1.5, 3.5, 400)
left.plot(fine, exact(1.0 / fine)[1], "k", linewidth=0.8, label="magnetisation, exact")
left.plot(temperatures, magnetisation, "o", markersize=4, label="magnetisation")
left.plot(fine, exact(1.0 / fine)[0], "k--", linewidth=0.8, label="energy, exact")
left.plot(temperatures, energy.mean(axis=0), "s", markersize=4, label="energy")
left.set(xlabel="temperature")
left.legend(loc="lower right", fontsize="small")
for axes, at in zip(pictures, (3, 9, 20), strict=True):
    axes.imshow(lattices[at], cmap="binary", vmin=-1, vmax=1)
    axes.set(xticks=[], yticks=[], title=f"temperature {temperatures[at]:.2f}")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "ising.png", dpi=100)
