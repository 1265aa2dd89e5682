"""Example: a finite-element solve: the twisted bar, and where a plate conducts badly, from temperatures at a few places.

Run it as ``python finite_elements.py [picture.png]``; it needs matplotlib.
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import sparse as sp
from scipy.spatial import Delaunay

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

# A unit square in triangles: a grid whose inner points are moved a little.
SIDE, NOISE = 24, 0.005
rng = np.random.default_rng(0)
grid = np.stack(np.meshgrid(*[np.linspace(0, 1, SIDE + 1)] * 2), axis=-1).reshape(-1, 2)
on_edge = ((grid == 0) | (grid == 1)).any(axis=1)
points = np.where(on_edge[:, None], grid, grid + rng.uniform(-0.25, 0.25, grid.shape) / SIDE)
corners = Delaunay(points).simplices

# Each triangle contributes a matrix of 3 x 3: the products of the slopes of its three hat functions, times its area.
a, b, c = np.moveaxis(points[corners], 1, 0)
along, across = b - a, c - a
areas = 0.5 * np.abs(along[:, 0] * across[:, 1] - along[:, 1] * across[:, 0])
slopes = np.stack([c - b, a - c, b - a], axis=1) / (
    2 * areas[:, None, None]
)  # turned by 90 degrees
stiffness = np.einsum("tij,tkj,t->tik", slopes, slopes, areas)

# The place of each contribution among the stored values of the matrix is known, so assembling is one sum by segments.
inner = np.flatnonzero(~on_edge)
number = np.full(len(points), -1)
number[inner] = np.arange(len(inner))
rows, columns = np.repeat(number[corners], 3, axis=1).ravel(), np.tile(number[corners], 3).ravel()
kept = (rows >= 0) & (columns >= 0)
structure = sp.csc_matrix((np.ones(kept.sum()), (rows[kept], columns[kept])), (len(inner),) * 2)
structure.sort_indices()
order = sp.csc_matrix(
    (np.arange(structure.nnz), structure.indices, structure.indptr), structure.shape
)
place = np.asarray(order[rows[kept], columns[kept]]).ravel()
triangle = np.repeat(np.arange(len(corners)), 9)[kept]

conductivity = ot.dvector("conductivity")  # of each triangle
values = ot.segment_sum(
    conductivity[triangle] * stiffness.ravel()[kept], place, num_segments=structure.nnz
)
matrix = sparse.CSC(values, structure.indices, structure.indptr, structure.shape)
load = np.bincount(corners.ravel(), np.repeat(areas / 3, 3), len(points))[inner]
solution = sparse.spsolve(matrix, ot.constant(load))
solve = oc.function([conductivity], solution)

# With conductivity 1 and heat everywhere, this is Prandtl's stress function of a bar that is twisted: its integral is known as a
# series (Timoshenko and Goodier, Theory of Elasticity).
even = solve(np.ones(len(corners)))
odd = np.arange(1, 200, 2)
exact = (1 / 3 - 64 / np.pi**5 * np.sum(np.tanh(odd * np.pi / 2) / odd**5)) / 4
print(f"integral {load @ even:.5f}, of the series {exact:.5f}")
assert abs(load @ even / exact - 1) < 0.01

# The inverse: a disc conducts badly, and temperatures are measured at 60 places. The derivatives by all conductivities cost one more solve.
middles = points[corners].mean(axis=1)


def disc_of(xp, centre, radius):
    """1 inside, 0 outside, and between them within a triangle or so."""
    distance = xp.sqrt(((middles - centre) ** 2).sum(axis=1))
    return 1 / (1 + xp.exp((distance - radius) * 2 * SIDE))


true = 1 - 0.75 * disc_of(np, np.array([0.62, 0.4]), 0.18)
where = rng.choice(len(inner), 60, replace=False)
measured = solve(true)[where] * (1 + NOISE * rng.normal(size=60))

centre, radius, inside = ot.dvector("centre"), ot.dscalar("radius"), ot.dscalar("inside")
field = 1 - (1 - inside) * disc_of(ot, centre, radius)
predicted = oc.graph_replace(solution, {conductivity: field})[where]
cost = (((predicted - measured) / (NOISE * measured)) ** 2).mean()
fit = oc.minimize(
    cost,
    [centre, radius, inside],
    [[0.5, 0.5], 0.25, 0.7],
    method="L-BFGS-B",
    bounds=[(0, 1)] * 2 + [(0.05, 0.5), (0.05, 5)],
)
found_centre, found_radius, found_inside = fit.params
print(
    f"centre {np.round(found_centre, 3)}, radius {found_radius:.3f}, conductivity {found_inside:.3f}"
)
print(f"mean squared error over variance {fit.fun:.2f}, after {fit.nit} steps")
assert np.hypot(*(found_centre - [0.62, 0.4])) < 0.02
assert abs(found_radius - 0.18) < 0.03
assert abs(found_inside - 0.25) < 0.1

figure = Figure(figsize=(9, 3.6), layout="constrained")
left, right = figure.subplots(1, 2)
for axes, shown, title in (
    (left, even, "conducts evenly"),
    (right, solve(true), "the disc conducts badly"),
):
    full = np.zeros(len(points))
    full[inner] = shown
    contours = axes.tricontourf(*points.T, corners, full, levels=14, cmap="inferno")
    axes.triplot(*points.T, corners, color="white", linewidth=0.1)
    axes.set(title=title, aspect="equal")
    figure.colorbar(contours, ax=axes)
right.plot(*points[inner][where].T, ".", color="white", markersize=4, label="measured")
angle = np.linspace(0, 2 * np.pi, 100)
right.plot(
    *(found_centre[:, None] + found_radius * np.stack([np.cos(angle), np.sin(angle)])),
    "w--",
    label="found",
)
right.legend(loc="upper left")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "finite_elements.png", dpi=80)
