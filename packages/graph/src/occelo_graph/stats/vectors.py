"""Laws of vectors: categorical, multinomial, Dirichlet, multivariate normal. Vectors lie along the last axis; the rest broadcasts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.create import arange, eye
from occelo_graph.ops.elemwise.arithmetic import abs, and_, eq, floor, ge, lt, or_, sqrt, switch
from occelo_graph.ops.elemwise.special import gammaln, psi, xlogy
from occelo_graph.ops.elemwise.transcendental import exp, log
from occelo_graph.ops.reduce import all as all_of
from occelo_graph.ops.reduce import any as any_of
from occelo_graph.ops.reduce import sum as sum_of
from occelo_graph.stats.law import as_float, float_dtype
from occelo_graph.stats.on_the_line import LOG_ROOT_TWO_PI

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "categorical",
    "dirichlet",
    "dirichlet_multinomial",
    "multinomial",
    "multivariate_normal",
]

_ROUNDING = {"float64": 1e-10, "float32": 1e-5, "float16": 1e-2}
"""How far a sum of probabilities may be from 1."""


def floats(where: str, *given: Any) -> list[Any]:
    """The arguments in the float dtype that they have together."""
    dtype = float_dtype(given, where)
    return [as_float(each, dtype) for each in given]


def where_valid(valid: Any, value: Any) -> Any:
    """The value where the parameters are valid, NaN elsewhere."""
    return switch(valid, value, math.nan)


def factor_of(matrix: Any) -> Any:
    """The lower Cholesky factor; NaN where a matrix is not positive definite."""
    # linear algebra is imported at its first use
    from occelo_graph.ops.linalg.cholesky import cholesky

    return cholesky(matrix, on_error="nan")


def solved(factor: Any, right: Any, ndim: int) -> Any:
    """The inverse of a lower triangular matrix times vectors (``ndim`` is 1) or matrices."""
    from occelo_graph.ops.linalg.triangular import solve_triangular

    return solve_triangular(factor, right, lower=True, b_ndim=ndim, on_error="nan")


def log_product(factor: Any) -> Any:
    """Logarithm of the product of the diagonal."""
    return _last_sum(log(factor.diagonal(axis1=-2, axis2=-1)))


def _last_sum(x: Any) -> Any:
    return sum_of(x, axis=-1)


def _adds_to_one(x: Any) -> Any:
    return lt(abs(_last_sum(x) - 1.0), _ROUNDING[x.dtype])


def _are_probabilities(p: Any) -> Any:
    return and_(all_of(ge(p, 0.0), axis=-1), _adds_to_one(p))


class Categorical:
    """One of the numbers 0 ... K - 1, with probabilities ``p`` along the last axis, which add to 1 (NaN elsewhere)."""

    def logpmf(self, k: Any, p: Any) -> TensorVariable:
        """Logarithm of the probability of ``k``, which broadcasts with all axes of ``p`` but the last; -inf where it is 0."""
        k, p = floats("categorical.logpmf()", k, p)
        positions = arange(p.shape[-1]).astype(p.dtype)
        chosen = eq(k[..., None], positions)
        found = any_of(chosen, axis=-1)
        chance = _last_sum(switch(chosen, p, 0.0))
        value = switch(found, log(switch(found, chance, 1.0)), -math.inf)
        return where_valid(and_(_are_probabilities(p), eq(k, k)), value)

    def pmf(self, k: Any, p: Any) -> TensorVariable:
        """Probability of ``k``."""
        return exp(self.logpmf(k, p))

    def entropy(self, p: Any) -> TensorVariable:
        """Entropy, in units of e."""
        (p,) = floats("categorical.entropy()", p)
        return where_valid(_are_probabilities(p), -_last_sum(xlogy(p, p)))


class Multinomial:
    """How often each of several outcomes occurs among ``n`` trials, with probabilities ``p`` along the last axis.

    They add to 1; elsewhere the results are NaN.
    """

    def _valid(self, n: Any, p: Any) -> Any:
        return and_(_are_probabilities(p), and_(ge(n, 0.0), eq(floor(n), n)))

    def logpmf(self, x: Any, n: Any, p: Any) -> TensorVariable:
        """Logarithm of the probability of the counts ``x``; -inf for counts that are not whole or do not add to ``n``."""
        x, n, p = floats("multinomial.logpmf()", x, n, p)
        outside = or_(any_of(or_(lt(x, 0.0), lt(floor(x), x)), axis=-1), _last_sum(x) < n)
        outside = or_(outside, _last_sum(x) > n)
        inner = switch(outside[..., None], 0.0, x)
        value = gammaln(n + 1.0) + _last_sum(xlogy(inner, p) - gammaln(inner + 1.0))
        return where_valid(self._valid(n, p), switch(outside, -math.inf, value))

    def pmf(self, x: Any, n: Any, p: Any) -> TensorVariable:
        """Probability of the counts ``x``."""
        return exp(self.logpmf(x, n, p))

    def mean(self, n: Any, p: Any) -> TensorVariable:
        """Expected counts."""
        n, p = floats("multinomial.mean()", n, p)
        return where_valid(self._valid(n, p)[..., None], n[..., None] * p)

    def cov(self, n: Any, p: Any) -> TensorVariable:
        """Covariance matrix of the counts."""
        n, p = floats("multinomial.cov()", n, p)
        value = p[..., None] * (eye(p.shape[-1], dtype=p.dtype) - p[..., None, :])
        return where_valid(self._valid(n, p)[..., None, None], n[..., None, None] * value)


class Dirichlet:
    """Vectors of probabilities, with concentrations ``alpha`` above 0 along the last axis."""

    def _valid(self, alpha: Any) -> Any:
        return all_of(alpha > 0.0, axis=-1)

    def logpdf(self, x: Any, alpha: Any) -> TensorVariable:
        """Logarithm of the density at the vector ``x``; -inf for elements below 0 or that do not add to 1."""
        x, alpha = floats("dirichlet.logpdf()", x, alpha)
        outside = or_(any_of(lt(x, 0.0), axis=-1), ge(abs(_last_sum(x) - 1.0), _ROUNDING[x.dtype]))
        inner = switch(outside[..., None], 1.0, x)
        value = _last_sum(xlogy(alpha - 1.0, inner) - gammaln(alpha)) + gammaln(_last_sum(alpha))
        return where_valid(self._valid(alpha), switch(outside, -math.inf, value))

    def pdf(self, x: Any, alpha: Any) -> TensorVariable:
        """Density at the vector ``x``."""
        return exp(self.logpdf(x, alpha))

    def mean(self, alpha: Any) -> TensorVariable:
        """Expected vector."""
        (alpha,) = floats("dirichlet.mean()", alpha)
        return where_valid(self._valid(alpha)[..., None], alpha / _last_sum(alpha)[..., None])

    def var(self, alpha: Any) -> TensorVariable:
        """Variance of each element."""
        (alpha,) = floats("dirichlet.var()", alpha)
        total = _last_sum(alpha)[..., None]
        value = alpha / total * ((total - alpha) / total) / (total + 1.0)
        return where_valid(self._valid(alpha)[..., None], value)

    def cov(self, alpha: Any) -> TensorVariable:
        """Covariance matrix."""
        (alpha,) = floats("dirichlet.cov()", alpha)
        total = _last_sum(alpha)[..., None, None]
        share = alpha[..., None] / total
        value = share * (eye(alpha.shape[-1], dtype=alpha.dtype) - alpha[..., None, :] / total)
        return where_valid(self._valid(alpha)[..., None, None], value / (total + 1.0))

    def entropy(self, alpha: Any) -> TensorVariable:
        """Differential entropy, in units of e."""
        (alpha,) = floats("dirichlet.entropy()", alpha)
        total = _last_sum(alpha)
        size = alpha.shape[-1].astype(alpha.dtype)
        value = (
            _last_sum(gammaln(alpha) - (alpha - 1.0) * psi(alpha))
            - gammaln(total)
            + (total - size) * psi(total)
        )
        return where_valid(self._valid(alpha), value)


class DirichletMultinomial:
    """The multinomial law of ``n`` trials whose probabilities have the Dirichlet law of ``alpha``."""

    def logpmf(self, x: Any, alpha: Any, n: Any) -> TensorVariable:
        """Logarithm of the probability of the counts ``x``; -inf for counts that are not whole or do not add to ``n``."""
        x, alpha, n = floats("dirichlet_multinomial.logpmf()", x, alpha, n)
        outside = or_(any_of(or_(lt(x, 0.0), lt(floor(x), x)), axis=-1), _last_sum(x) < n)
        outside = or_(outside, _last_sum(x) > n)
        inner = switch(outside[..., None], 0.0, x)
        total = _last_sum(alpha)
        value = gammaln(n + 1.0) + gammaln(total) - gammaln(n + total)
        value = value + _last_sum(gammaln(inner + alpha) - gammaln(alpha) - gammaln(inner + 1.0))
        valid = and_(all_of(alpha > 0.0, axis=-1), and_(ge(n, 0.0), eq(floor(n), n)))
        return where_valid(valid, switch(outside, -math.inf, value))

    def pmf(self, x: Any, alpha: Any, n: Any) -> TensorVariable:
        """Probability of the counts ``x``."""
        return exp(self.logpmf(x, alpha, n))

    def mean(self, alpha: Any, n: Any) -> TensorVariable:
        """Expected counts."""
        alpha, n = floats("dirichlet_multinomial.mean()", alpha, n)
        return n[..., None] * alpha / _last_sum(alpha)[..., None]


class MultivariateNormal:
    """The normal law of vectors with mean ``mean`` (0 if it is None) and a covariance matrix.

    ``cov`` is a positive definite matrix or a batch of them, a vector of variances of independent elements, or a variance of all. Instead
    of it, ``cholesky`` gives its lower factor. A matrix that is not positive definite gives NaN.
    """

    def logpdf(
        self, x: Any, mean: Any = None, cov: Any = 1.0, cholesky: Any = None
    ) -> TensorVariable:
        """Logarithm of the density at the vectors ``x``, along its last axis; all other axes broadcast."""
        given = (x, 0.0 if mean is None else mean, cov if cholesky is None else cholesky)
        x, mean, spread = floats("multivariate_normal.logpdf()", *given)
        rest = x - mean
        size = rest.shape[-1].astype(rest.dtype)
        if cholesky is None and spread.type.ndim < 2:
            deviation = sqrt(spread) + 0.0 * rest
            z, log_volume = rest / deviation, _last_sum(log(deviation))
        else:
            factor = factor_of(spread) if cholesky is None else spread
            z = solved(factor, rest, 1)
            log_volume = log_product(factor)
        return -0.5 * _last_sum(z * z) - log_volume - LOG_ROOT_TWO_PI * size

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1.0, cholesky: Any = None) -> TensorVariable:
        """Density at the vectors ``x``."""
        return exp(self.logpdf(x, mean, cov, cholesky))

    def entropy(self, mean: Any = None, cov: Any = 1.0, cholesky: Any = None) -> TensorVariable:
        """Differential entropy, in units of e; a covariance that is no matrix needs a vector ``mean``."""
        given = (cov if cholesky is None else cholesky, 0.0 if mean is None else mean)
        spread, mean = floats("multivariate_normal.entropy()", *given)
        if cholesky is None and spread.type.ndim < 2:
            deviation = sqrt(spread) + 0.0 * (mean if mean.type.ndim else mean[None])
            return _last_sum(log(deviation) + (LOG_ROOT_TWO_PI + 0.5))
        factor = factor_of(spread) if cholesky is None else spread
        size = factor.shape[-1].astype(factor.dtype)
        return log_product(factor) + (LOG_ROOT_TWO_PI + 0.5) * size


categorical = Categorical()
multinomial = Multinomial()
dirichlet = Dirichlet()
dirichlet_multinomial = DirichletMultinomial()
multivariate_normal = MultivariateNormal()
