"""Ops for draws with NumPy's generators from distributions that NumPy itself lacks, such as skew-normal and Wishart.

Each draw is computed from draws that NumPy has. If SciPy has the distribution, its function ``rvs`` computes the same numbers
from the same generator (the argument ``random_state``), up to the last digits, and leaves the generator in the same
state. `generators` makes the functions and methods that users call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import StaticShape, TensorType
from occelo_random.ops.generator_distributions import ComposedRV, batch_size, require_valid

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

__all__ = [
    "LKJRV",
    "DirichletMultinomialRV",
    "GumbelLeftRV",
    "LomaxRV",
    "SkewNormalRV",
    "TruncatedNormalRV",
    "WishartRV",
]


class DirichletMultinomialRV(ComposedRV):
    """Counts of each outcome in ``n`` trials. The probabilities are drawn from the Dirichlet distribution of ``alpha``."""

    name, signature, dtype = "dirichlet_multinomial", "(a),()->(a)", "int64"
    one_batch = False
    parameters = {"alpha": ..., "n": ...}
    _print_name = ("DirichletMultinomial", r"\operatorname{DirichletMultinomial}")

    def rng_fn(self, rng: Any, alpha: Any, n: Any, size: Any) -> Any:
        return rng.multinomial(n, rng.dirichlet(alpha, size))


class GumbelLeftRV(ComposedRV):
    """The Gumbel distribution of minima. A draw is minus a draw of the Gumbel distribution of maxima with the location ``-loc``."""

    name, signature = "gumbel_l", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("GumbelLeft", r"\operatorname{GumbelLeft}")

    def rng_fn(self, rng: Any, loc: Any, scale: Any, size: Any) -> Any:
        return -rng.gumbel(np.negative(loc), scale, size)


class LomaxRV(ComposedRV):
    """The Lomax distribution with exponent ``c``. A draw is ``loc`` plus ``scale`` times a draw of NumPy's ``pareto(c)``."""

    name, signature = "lomax", "(),(),()->()"
    parameters = {"c": ..., "loc": 0.0, "scale": 1.0}
    _print_name = ("Lomax", r"\operatorname{Lomax}")

    def rng_fn(self, rng: Any, c: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        return loc + scale * rng.pareto(c, batch_size(size, c, loc, scale))


class SkewNormalRV(ComposedRV):
    """The skew-normal distribution with skewness parameter ``a``. Each draw is computed from two normal numbers, as in SciPy.

    The first normal numbers of all draws are drawn before the second normal numbers.
    """

    name, signature = "skewnorm", "(),(),()->()"
    parameters = {"a": ..., "loc": 0.0, "scale": 1.0}
    _print_name = ("SkewNormal", r"\operatorname{SkewNormal}")

    def rng_fn(self, rng: Any, a: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, a, loc, scale)
        side, other = rng.standard_normal(size), rng.standard_normal(size)
        a = np.clip(np.asarray(a, "float64"), -1e300, 1e300)
        length = np.hypot(1.0, a)
        return loc + scale * (a / length * abs(side) + np.copysign(1.0, side) * other / length)


class TruncatedNormalRV(ComposedRV):
    """Truncated normal numbers, between ``loc + a scale`` and ``loc + b scale``.

    As in SciPy, a draw is the quantile of one uniform number. The result is always between the bounds. The uniform
    number 0 is replaced by 2**-54, so an infinite bound is never drawn. ValueError unless a < b.
    """

    name, signature = "truncnorm", "(),(),(),()->()"
    parameters = {"a": ..., "b": ..., "loc": 0.0, "scale": 1.0}
    _print_name = ("TruncatedNormal", r"\operatorname{TruncatedNormal}")

    def rng_fn(self, rng: Any, a: Any, b: Any, loc: Any, scale: Any, size: Any) -> Any:
        a, b = (np.array(v, "float64") for v in (a, b))
        require_valid(a < b, "a >= b")
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        u = rng.uniform(size=batch_size(size, a, b, loc, scale))
        return loc + scale * _truncated_quantile(np.maximum(u, 2.0**-54), a, b)


def _truncated_quantile(u: Array, a: Array, b: Array) -> Array:
    """The u-quantile of the standard normal distribution that is truncated to the interval from ``a`` to ``b``.

    If X is standard normal and not truncated, the quantile is the number x for which P(a < X < x) is u P(a < X < b). It
    is computed from logarithms of probabilities. An interval above 0 is mirrored, so that they are probabilities of the
    lower tail.
    """
    special = scipy_module("special", "a draw of the distribution truncnorm")
    upper = a >= 0
    low, high = np.where(upper, -b, a), np.where(upper, -a, b)
    share = np.where(upper, 1 - u, u)
    with np.errstate(divide="ignore", over="ignore"):
        below: Array = special.log_ndtr(low)
        whole: Array = special.log_ndtr(high)
        nearest: Array = special.ndtri_exp(
            np.logaddexp(np.log1p(-share) + below, np.log(share) + whole)
        )
    # that far out, all numbers equal the nearer bound, to the last digit
    quantile = np.where(np.isneginf(whole), high, nearest)
    return np.clip(np.where(upper, -quantile, quantile), a, b)


class LKJRV(ComposedRV):
    """Correlation matrices x of ``n`` rows, with a density proportional to ``det(x)**(eta - 1)`` (the LKJ distribution).

    The Cholesky factors are drawn by the method of `matrices.lkj`. Row k of a factor, counted from 0, has k elements to
    the left of the diagonal. First, standard normal numbers are drawn for these elements, matrix by matrix and row by
    row. Then, standard gamma numbers a with the shapes k / 2 are drawn for all rows except the first, and after them
    standard gamma numbers b with the shapes eta + (n - 1 - k) / 2. Last, the normal numbers of each row are scaled, so
    that the sum of their squares is a / (a + b).
    """

    name, signature = "lkj", "()->(n,n)"
    parameters = {"eta": 1.0}
    _print_name = ("LKJ", r"\operatorname{LKJ}")
    __props__ = ("name", "signature", "dtype", "inplace", "n")

    def __init__(self, *fields: Any, n: int = 2, **named: Any) -> None:
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        self.n = n
        super().__init__(*fields, **named)

    def rng_fn(self, rng: Any, eta: Any, size: Any) -> Any:
        n, size = self.n, batch_size(size, eta)
        eta = np.asarray(eta, "float64")
        require_valid(eta > 0, "eta <= 0")
        k = np.arange(1, n)
        directions = np.zeros((*size, n, n))
        directions[..., *np.tril_indices(n, -1)] = rng.standard_normal((*size, n * (n - 1) // 2))
        before = rng.standard_gamma(k / 2, (*size, n - 1))
        diagonal = rng.standard_gamma(eta[..., None] + (n - 1 - k) / 2, (*size, n - 1))
        whole = before + diagonal
        lower = directions
        lengths = np.linalg.norm(directions[..., 1:, :], axis=-1)
        lower[..., 1:, :] *= (np.sqrt(before / whole) / lengths)[..., None]
        lower[..., 0, 0] = 1.0
        lower[..., k, k] = np.sqrt(diagonal / whole)
        matrices = _times_transpose(lower)
        matrices[..., range(n), range(n)] = 1.0
        return matrices

    def _core_static(self, parameters: Sequence[TensorType]) -> StaticShape:
        return (self.n, self.n)

    def _supp_shape_from_params(self, parameters: Sequence[Any], shapes: Sequence[Any]) -> Any:
        return [self.n, self.n]


class WishartRV(ComposedRV):
    """Wishart matrices: sums of ``df`` outer products of normal vectors with the covariance ``scale``.

    They are computed by Bartlett's decomposition, as in SciPy. First, the normal numbers below the diagonal are drawn
    for all factors. Then, the chi-square numbers of the diagonal are drawn, column by column. ``df`` need not be an
    integer. ValueError unless ``df`` is above n - 1, LinAlgError unless ``scale`` is positive definite.
    """

    name, signature = "wishart", "(),(n,n)->(n,n)"
    one_batch = False
    parameters = {"df": ..., "scale": ...}
    _print_name = ("Wishart", r"\operatorname{Wishart}")

    def rng_fn(self, rng: Any, df: Any, scale: Any, size: Any) -> Any:
        n, size = scale.shape[-1], () if size is None else size
        require_valid(df > n - 1, "df <= n - 1")
        lower = np.zeros((*size, n, n))
        lower[..., *np.tril_indices(n, -1)] = rng.normal(size=(*size, n * (n - 1) // 2))
        for k in range(n):
            # in SciPy's order of draws, the first dimension of the batch varies fastest
            lower[..., k, k] = np.sqrt(rng.chisquare(df - k, size[::-1])).T
        return _times_transpose(_scaled(lower, scale))


def _scaled(lower: Array, scale: Array) -> Array:
    return np.linalg.cholesky(scale) @ lower


def _times_transpose(factor: Array) -> Array:
    return factor @ factor.swapaxes(-1, -2)
