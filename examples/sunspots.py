"""Example: the period of the sunspots, by a spectrogram and by the gradient of a spectrum.

Run it as ``python sunspots.py [picture.png]``; it needs statsmodels (with its data) and matplotlib.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.signal.windows import hann
from statsmodels.datasets import sunspots

import occelo as oc
import occelo.tensor as ot

# the yearly number of sunspots, from 1700 to 2008
table = sunspots.load_pandas().data
years, activity = table["YEAR"].to_numpy(), table["SUNACTIVITY"].to_numpy()
LENGTH, PADDED = (
    66,
    264,
)  # years in a window, which is filled up with zeros for a finer grid of frequencies

# All windows are one view. Their means are taken away, for else the lowest frequency hides the others.
x = ot.dvector("x")
windows = ot.sliding_window_view(x, LENGTH)
windows = (windows - windows.mean(axis=1, keepdims=True)) * ot.signal.windows.hann(
    LENGTH, sym=False
)
power = abs(ot.fft.rfft(windows, n=PADDED)) ** 2
spectrogram = oc.function([x], power)
shown = spectrogram(activity)
for at in (0, 100, len(shown) - 1):
    part = activity[at : at + LENGTH]
    expected = np.abs(np.fft.rfft((part - part.mean()) * hann(LENGTH, sym=False), PADDED)) ** 2
    np.testing.assert_allclose(shown[at], expected, rtol=1e-8, atol=1e-6)

# The frequency need not be on a grid: the power at any frequency is a formula, which Newton's method maximises, for
# every window at once.
frequency = ot.dvector("frequency")
angle = 2.0 * np.pi * frequency[:, None] * ot.arange(LENGTH)
between = (windows * ot.cos(angle)).sum(axis=1) ** 2 + (windows * ot.sin(angle)).sum(axis=1) ** 2
slope = oc.grad(between.sum(), frequency)
curvature = oc.grad(slope.sum(), frequency)  # each window depends on its own frequency alone
newton = oc.function([x, frequency], [between, slope, frequency - slope / curvature])

grid = np.fft.rfftfreq(PADDED)
band = (grid > 1 / 16) & (grid < 1 / 7)
at = grid[band][np.argmax(shown[:, band], axis=1)]
start = newton(activity, at)[0]
for _ in range(8):
    at = newton(activity, at)[2]
found, slopes, _ = newton(activity, at)
assert np.all(found >= start)
assert np.abs(slopes).max() < 1e-6 * found.max()
centres = years[: len(at)] + (LENGTH - 1) / 2
print(f"the period is {np.median(1 / at):.2f} years in the middle of {len(at)} windows")
for name, k in (("longest", np.argmin(at)), ("shortest", np.argmax(at))):
    print(f"the {name} is {1 / at[k]:.2f} years, around {centres[k]:.0f}")

figure = Figure(figsize=(8, 4.5), layout="constrained")
upper, lower = figure.subplots(2, 1, sharex=True)
upper.plot(years, activity, linewidth=0.8)
upper.set(ylabel="sunspots")
lower.pcolormesh(centres, grid, shown.T**0.5, cmap="magma", shading="nearest")
lower.plot(centres, at, "c", linewidth=1, label="the maximum, by Newton's method")
lower.set(xlabel="year", ylabel="1 / year", ylim=(0, 0.2))
lower.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "sunspots.png", dpi=100)
