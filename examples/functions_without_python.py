"""Example: SciPy integrates a compiled function by its address, and the function becomes a C library.

Run it as ``python functions_without_python.py [picture.png]``; it needs SciPy and matplotlib. The question: how heavy are
the tails of Newcomb's measurements of the speed of light (1882), with and without the two that are far off?
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import quad

import occelo as oc
import occelo.tensor as ot

# deviations from 24,800 nanoseconds, in which light goes 7,442 metres
measured = np.array(
    """28 26 33 24 34 -44 27 16 40 -2 29 22 24 21 25 30 23 29 31 19 24 20 36 32 36 28 25 21 28 29 37 25 28 26 30 32 36
    26 30 22 36 23 27 27 28 27 31 27 26 33 26 32 32 24 39 28 24 25 32 25 29 27 28 29 16 23""".split(),
    dtype="float64",
)
SCALE = 5.0

# the likelihood of a location under Student's law, times a constant that keeps it in range
location, tails = ot.dscalar("location"), ot.dscalar("tails")
data = oc.shared(measured, "data")
squares = ((data - location) / SCALE) ** 2
constant = (
    ot.gammaln((tails + 1) / 2) - ot.gammaln(tails / 2) - 0.5 * ot.log(tails * np.pi * SCALE**2)
)
log_likelihood = ot.sum(constant - (tails + 1) / 2 * ot.log1p(squares / tails))
f = oc.function([location, tails], ot.exp(log_likelihood + 3.2 * data.shape[0]))

# SciPy calls the function by its address: no Python runs between two evaluations
c = f.c_function("numbers")
degrees = np.geomspace(0.5, 200, 60)


def evidence(function):
    """The integral over the location, for each number of degrees of freedom."""
    return np.array([quad(function, 0, 60, args=(n,), points=[27])[0] for n in degrees])


def timed(function):
    """The evidence, and the shortest time of three runs in seconds."""
    runs = []
    for _ in range(3):
        start = perf_counter()
        found = evidence(function)
        runs.append(perf_counter() - start)
    return found, min(runs)


by_address, fast = timed(c.low_level_callable())
by_python, slow = timed(f)
assert np.allclose(by_address, by_python, rtol=1e-9, atol=0)
seconds = {"by address": fast, "by Python": slow}

# other data: another pointer, the same machine code
kept = c.with_data({data: measured[measured > 0]})
without = evidence(kept.low_level_callable())
curves = {"all 66": by_address, "without the two far off": without}

# a library that needs no Python; functions of SciPy, here gammaln, stay out of it
with TemporaryDirectory() as folder:
    library = oc.function([location], ot.sum(squares) + 0.0, name="misfit").export(folder)
    print("exported:", *(Path(p).name for p in library))

print(c.declaration("likelihood"))
for name, curve in curves.items():
    print(f"{name}: most likely with {degrees[curve.argmax()]:.1f} degrees of freedom")
print(*(f"{name}: {1e3 * s:.0f} ms" for name, s in seconds.items()), sep=", ")

figure = Figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[2, 1])
for name, curve in curves.items():
    left.semilogx(degrees, np.log(curve / curve.max()), label=name)
left.set(xlabel="degrees of freedom", ylabel="log evidence, at most 0", ylim=(-15, 0.5))
left.legend()
right.bar(list(seconds), [1e3 * s for s in seconds.values()])
right.set(ylabel="milliseconds for 60 integrals")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "functions-without-python.png")
