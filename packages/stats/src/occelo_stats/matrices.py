"""Distributions of matrices: Wishart, and Lewandowski, Kurowicka and Joe's distribution of correlation matrices (LKJ).

Users find the distributions in `occelo.tensor.stats`. Matrices lie along the last two axes; all axes before them are batch axes.
"""

from __future__ import annotations

import math
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.create import arange, eye
from occelo_graph.ops.elemwise.arithmetic import abs, and_, eq, gt, isnan, lt, switch
from occelo_graph.ops.elemwise.transcendental import exp
from occelo_graph.ops.reduce import all as all_of
from occelo_graph.ops.reduce import sum as sum_of
from occelo_special.functions import gammaln, psi
from occelo_stats.vectors import factor_of, floats, log_product, solved, where_valid

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["lkj", "wishart"]


def _diagonal(matrix: Any) -> Any:
    return matrix.diagonal(axis1=-2, axis2=-1)


def _log_determinant(factor: Any) -> Any:
    """Logarithms of the determinants of matrices, from their Cholesky factors."""
    return 2.0 * log_product(factor)


def _on_support(x: Any, factor: Any, value: Any) -> Any:
    """The log density ``value``; -inf where ``x`` has no NaN, but is not positive definite.

    ``factor`` is the Cholesky factor of ``x``.
    """
    total = sum_of(x, axis=(-2, -1))
    outside = and_(isnan(log_product(factor)), eq(total, total))
    return switch(outside, -math.inf, value)


def _steps(matrix: Any) -> tuple[Any, Any]:
    """The size d of square matrices as a float, and the vector 0, 1/2, ..., (d - 1)/2."""
    count = matrix.shape[-1]
    return count.astype(matrix.dtype), 0.5 * arange(count).astype(matrix.dtype)


def _log_gamma(a: Any, size: Any, steps: Any) -> Any:
    """Logarithm of the multivariate gamma function (DLMF 35.3.4)."""
    value = sum_of(gammaln(a[..., None] - steps), axis=-1)
    return value + (0.25 * math.log(math.pi)) * size * (size - 1.0)


class Wishart:
    """The Wishart distribution: sums of ``df`` outer products of normal vectors with the covariance matrix ``scale`` (d, d).

    If ``df`` is not above d - 1, results are NaN. If ``scale`` is not positive definite, densities and entropies are
    NaN.
    """

    def logpdf(self, x: Any, df: Any, scale: Any) -> TensorVariable:
        """Logarithm of the density at the matrices ``x``; -inf for a matrix that is not positive definite."""
        x, df, scale = floats("wishart.logpdf()", x, df, scale)
        size, steps = _steps(scale)
        above, below = factor_of(x), factor_of(scale)
        half = 0.5 * df
        ratio = solved(below, above, 2)
        value = (half - 0.5 * (size + 1.0)) * _log_determinant(above)
        value = value - 0.5 * sum_of(ratio * ratio, axis=(-2, -1)) - half * _log_determinant(below)
        value = value - math.log(2.0) * half * size - _log_gamma(half, size, steps)
        return where_valid(gt(df, size - 1.0), _on_support(x, above, value))

    def pdf(self, x: Any, df: Any, scale: Any) -> TensorVariable:
        """Density at the matrices ``x``."""
        return exp(self.logpdf(x, df, scale))

    def mean(self, df: Any, scale: Any) -> TensorVariable:
        """Expected matrix."""
        df, scale = floats("wishart.mean()", df, scale)
        valid = gt(df, scale.shape[-1] - 1.0)[..., None, None]
        return where_valid(valid, df[..., None, None] * scale)

    def var(self, df: Any, scale: Any) -> TensorVariable:
        """Variance of each element."""
        df, scale = floats("wishart.var()", df, scale)
        valid = gt(df, scale.shape[-1] - 1.0)[..., None, None]
        diagonal = _diagonal(scale)
        products = diagonal[..., None] * diagonal[..., None, :]
        return where_valid(valid, df[..., None, None] * (scale * scale + products))

    def entropy(self, df: Any, scale: Any) -> TensorVariable:
        """Differential entropy, by natural logarithms."""
        df, scale = floats("wishart.entropy()", df, scale)
        size, steps = _steps(scale)
        half = 0.5 * df
        slope = sum_of(psi(half[..., None] - steps), axis=-1)
        value = 0.5 * (size + 1.0) * (_log_determinant(factor_of(scale)) + math.log(2.0) * size)
        value = value + _log_gamma(half, size, steps) - (half - 0.5 * (size + 1.0)) * slope
        return where_valid(gt(df, size - 1.0), value + half * size)


class LKJ:
    """The LKJ distribution: correlation matrices x with a density proportional to ``det(x)**(eta - 1)``, for ``eta`` above 0.

    The distribution is from Lewandowski, Kurowicka and Joe, "Generating random correlation matrices based on vines and extended
    onion method", 2009.
    """

    def _log_constant(self, ends: Any, steps: Any) -> Any:
        # one factor for each of the d - 1 subdiagonals; the first of the steps is 0 and adds nothing
        return sum_of(
            gammaln(ends[..., None] - steps) - gammaln(ends)[..., None] + math.log(math.pi) * steps,
            axis=-1,
        )

    def logpdf(self, x: Any, eta: Any) -> TensorVariable:
        """Logarithm of the density at the matrices ``x``, with respect to the elements below the diagonal.

        The result is -inf for a matrix that is not positive definite, or with a diagonal element other than 1.
        """
        x, eta = floats("lkj.logpdf()", x, eta)
        size, steps = _steps(x)
        constant = self._log_constant(eta + 0.5 * (size - 1.0), steps)
        factor = factor_of(x)
        value = _on_support(x, factor, (eta - 1.0) * _log_determinant(factor) - constant)
        rounding = 1e-10 if x.dtype == "float64" else 1e-5
        inside = all_of(lt(abs(_diagonal(x) - 1.0), rounding), axis=-1)
        return where_valid(gt(eta, 0.0), switch(inside, value, -math.inf))

    def mean(self, eta: Any, dim: int) -> TensorVariable:
        """Expected matrix of ``dim`` rows, which is the identity."""
        (eta,) = floats("lkj.mean()", eta)
        return where_valid(gt(eta, 0.0)[..., None, None], eye(dim, dtype=eta.dtype))

    def var(self, eta: Any, dim: int) -> TensorVariable:
        """Variance of each element.

        An element off the diagonal has a beta distribution on [-1, 1]. Both shape parameters are ``eta - 1 + dim / 2``.
        """
        (eta,) = floats("lkj.var()", eta)
        one = (1.0 / (2.0 * eta + (dim - 1.0)))[..., None, None]
        return where_valid(gt(eta, 0.0)[..., None, None], one * (1.0 - eye(dim, dtype=eta.dtype)))

    def entropy(self, eta: Any, dim: int) -> TensorVariable:
        """Differential entropy of the elements below the diagonal, by natural logarithms."""
        (eta,) = floats("lkj.entropy()", eta)
        size, steps = _steps(eye(dim, dtype=eta.dtype))
        ends = eta + 0.5 * (size - 1.0)
        # the expected logarithm of the determinant is the derivative of the logarithm of the
        # constant
        slope = sum_of(psi(ends[..., None] - steps) - psi(ends)[..., None], axis=-1)
        value = self._log_constant(ends, steps) - (eta - 1.0) * slope
        return where_valid(gt(eta, 0.0), value)

    def pdf(self, x: Any, eta: Any) -> TensorVariable:
        """Density at the matrices ``x``."""
        return exp(self.logpdf(x, eta))


wishart = Wishart()
lkj = LKJ()
# help() shows what an object says of itself
for _each in (wishart, lkj):
    _each.__doc__ = cleandoc(_each.__doc__ or "") + "\n"
