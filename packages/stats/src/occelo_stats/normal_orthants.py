"""The distribution function of normal vectors: the probability that all elements are below given bounds.

`multivariate_normal` in `vectors` calls `log_probability_below`. The method is from A. Genz, "Numerical computation of
multivariate normal probabilities", 1992. The Cholesky factor of the covariance turns the probability into an integral
over the unit cube. The integrand is a product of conditional probabilities: for each element, given the elements before
it. The integral is computed as the average over a fixed lattice of points. Since the points are fixed, the result is a
smooth function of all arguments.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.create import zeros
from occelo_graph.ops.elemwise.arithmetic import le, maximum, minimum
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.ops.index.subtensor import set_subtensor
from occelo_graph.ops.reduce import logsumexp
from occelo_graph.ops.shape.broadcasting import broadcast_lengths
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import constant
from occelo_special.functions import log_ndtr, ndtri_exp

POINTS = 8191
"""The number of points of the lattice, a prime number."""
_ROOT = 2974
"""The generator of the lattice: its k-th power, modulo `POINTS`, is the step along the k-th axis.

Of 700 generators that were tried, it was the best for integrands that depend mostly on the first axes.
"""
_LONGEST = 200
"""The greatest length of vectors; longer vectors raise ValueError."""
_FARTHEST = 1e8
"""The bound for normal numbers that are computed from points of the lattice.

Numbers of a larger absolute value are clipped, so that they stay finite and their products with 0 are 0.
"""


def _lattice(dtype: str) -> Any:
    """The points of a Korobov lattice in the open unit cube, one point in each column.

    Each coordinate s of the lattice is replaced by ``abs(2 s - 1)``. So every integrand becomes a periodic function of
    s. Averages over a lattice are precise for periodic functions.
    """
    steps = [pow(_ROOT, k, POINTS) for k in range(_LONGEST)]
    shares = (np.outer(steps, np.arange(POINTS)) % POINTS + 0.25) / POINTS
    return constant(np.abs(2.0 * shares - 1.0).astype(dtype))


def log_probability_below(bounds: Any, factor: Any) -> Any:
    """Logarithm of the probability that all elements of normal vectors of mean 0 are below ``bounds`` (..., n).

    ``factor`` (..., n, n) is the lower Cholesky factor of the covariance. ValueError if n is above 200.
    """
    from occelo_loops.ops.building.loops import loop

    longest = f"The distribution function of normal vectors is for lengths up to {_LONGEST}"
    n = bounds.type.shape[-1]
    if n is not None and n > _LONGEST:
        raise ValueError(f"{longest}, got {n}")
    if n is None:
        short = le(factor.shape[-1], _LONGEST)
        factor = raise_unless(factor, short, error=ValueError, message=longest)
    lengths = [lengths_by_variables(bounds)[:-1], lengths_by_variables(factor)[:-2]]
    batch = tuple(broadcast_lengths([tuple(each) for each in lengths]))
    size = factor.shape[-1]
    columns = (
        moveaxis(bounds, -1, 0)[..., None],
        moveaxis(factor, -2, 0),
        moveaxis(factor.diagonal(axis1=-2, axis2=-1), -1, 0)[..., None],
        log(_lattice(factor.dtype))[:size],
    )

    def step(state: Any, column: Any) -> Any:
        i, before, total = state
        bound, row, pivot, share = column
        mean = matmul(before, row[..., None])[..., 0]
        chance = log_ndtr((bound - mean) / pivot)
        drawn = minimum(maximum(ndtri_exp(share + chance), -_FARTHEST), _FARTHEST)
        return (i + 1, set_subtensor(before[..., i], drawn), total + chance), None

    dtype = factor.dtype
    start = (
        constant(np.int64(0)),
        zeros((*batch, POINTS, size), dtype=dtype),
        zeros((*batch, POINTS), dtype=dtype),
    )
    (_, _, total), _ = loop(step, start, columns)
    return logsumexp(total, axis=-1) - math.log(POINTS)
