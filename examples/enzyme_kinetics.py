"""Example: how fast an enzyme works, with and without puromycin, by nonlinear least squares.

Run it as ``python enzyme_kinetics.py [picture.png]``; it needs matplotlib. One function fits both sets of measurements, as a batch would, and
the exact regions of confidence of both parameters are contours of the sum of squares, which one call computes on a grid.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

import occelo as oc
import occelo.tensor as ot

# Treloar, Effects of puromycin on galactosyltransferase in Golgi membranes (1974), as in Bates and Watts, Nonlinear Regression Analysis
# and Its Applications (1988), table A1.3: parts per million, and counts per minute squared
CONCENTRATIONS = np.repeat([0.02, 0.06, 0.11, 0.22, 0.56, 1.10], 2)
TREATED = np.array([76, 47, 97, 107, 123, 139, 159, 152, 191, 201, 207, 200.0])
UNTREATED = np.array([67, 51, 84, 86, 98, 115, 131, 124, 144, 158, 160.0])

x, rates, theta = ot.dvector("x"), ot.dvector("rates"), ot.dvector("theta")


def residuals(values):
    """What is measured minus the curve of Michaelis and Menten: the fastest rate, and the concentration of half of it."""
    return rates - values[0] * x / (values[1] + x)


start = ot.stack([rates.max(), x.mean() / 4])
found = oc.optimize.least_squares(residuals, start)
fit = oc.function([x, rates], [found.x, found.cost])

# the slopes of the estimates by each measurement, through the minimum
influence = oc.function([x, rates], oc.jacobian(found.x, rates))

grid = ot.dmatrix("grid")
squares = oc.function(
    [x, rates, grid], oc.vectorize_graph((residuals(theta) ** 2).sum(), {theta: grid})
)

figure = Figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subplots(1, 2)
fine = np.linspace(0, 1.15, 200)
published = {"treated": (212.7, 0.06412), "untreated": (160.3, 0.04771)}
for color, (name, measured) in zip(
    ("C0", "C1"), {"treated": TREATED, "untreated": UNTREATED}.items(), strict=True
):
    doses = CONCENTRATIONS[: len(measured)]
    best, cost = fit(doses, measured)
    free = len(measured) - 2
    variance = 2 * cost / free
    errors = np.sqrt(variance * (influence(doses, measured) ** 2).sum(axis=1))
    print(
        f"{name}: fastest {best[0]:.1f} +- {errors[0]:.1f}, half at {best[1]:.4f} +- {errors[1]:.4f}"
    )
    np.testing.assert_allclose(best, published[name], rtol=5e-4)
    left.plot(doses, measured, color + "o", label=name)
    left.plot(fine, best[0] * fine / (best[1] + fine), color)

    fastest = np.linspace(best[0] - 5 * errors[0], best[0] + 5 * errors[0], 120)
    half = np.linspace(max(best[1] - 5 * errors[1], 1e-3), best[1] + 6 * errors[1], 120)
    points = np.stack(np.meshgrid(fastest, half, indexing="ij"), axis=-1)
    sums = squares(doses, measured, points.reshape(-1, 2)).reshape(120, 120)
    assert sums.min() >= 2 * cost
    limits = [2 * cost * (1 + 2 / free * stats.f.ppf(level, 2, free)) for level in (0.5, 0.95)]
    right.contour(fastest, half, sums.T, levels=limits, colors=color, linestyles=["--", "-"])
    right.plot(*best, color + "+")
left.set(xlabel="substrate (ppm)", ylabel="rate (counts / min^2)")
left.legend()
right.set(xlabel="fastest rate", ylabel="half of it at (ppm)", title="50 % and 95 % regions")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "enzyme-kinetics.png", dpi=100)
