"""Ops for draws with NumPy's generators: one class for each distribution, with the NumPy code that draws.

`generators` makes the functions and methods that users call. A few of these distributions, such as the half-normal distribution, are
computed from draws that NumPy has. `further_generator_distributions` has other distributions that NumPy lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.tensors.constant import as_tensor_variable
from occelo_random.ops.random_variable import RandomVariable

__all__ = [
    "FRV",
    "BernoulliRV",
    "BetaBinomialRV",
    "BetaRV",
    "BinomialRV",
    "CategoricalRV",
    "CauchyRV",
    "ChiSquareRV",
    "ChoiceRV",
    "DirichletRV",
    "ExponentialRV",
    "GammaRV",
    "GenGammaRV",
    "GeometricRV",
    "GumbelRV",
    "HalfCauchyRV",
    "HalfNormalRV",
    "HyperGeometricRV",
    "IntegersRV",
    "InvGammaRV",
    "LaplaceRV",
    "LogNormalRV",
    "LogisticRV",
    "MultinomialRV",
    "MvNormalRV",
    "NegBinomialRV",
    "NormalRV",
    "ParetoRV",
    "PermutationRV",
    "PoissonRV",
    "PowerRV",
    "RayleighRV",
    "ShuffleRV",
    "StudentTRV",
    "TriangularRV",
    "TruncExponentialRV",
    "UniformRV",
    "VonMisesRV",
    "WaldRV",
    "WeibullRV",
]


def require_valid(holds: Any, text: str) -> None:
    """Raise ValueError with the message ``text`` unless all elements of ``holds`` are true."""
    if not np.all(holds):
        raise ValueError(text)


def batch_size(size: Any, *parameters: Any) -> Any:
    """The shape of a batch of draws: ``size``, or the shape to which the parameters broadcast if ``size`` is None."""
    return np.broadcast_shapes(*map(np.shape, parameters)) if size is None else size


def uniform_numbers(rng: Any, size: Any, *parameters: Any) -> Any:
    """Uniform numbers from [0, 1) in the shape of the draw."""
    return rng.uniform(size=batch_size(size, *parameters))


class ComposedRV(RandomVariable):
    """Base class of distributions that NumPy lacks, whose numbers are computed from draws that NumPy has."""


class BernoulliRV(RandomVariable):
    """The Bernoulli distribution: 1 with probability ``p``, else 0."""

    name, signature, dtype = "bernoulli", "()->()", "int64"
    parameters = {"p": 0.5}
    _print_name = ("Bernoulli", r"\operatorname{Bernoulli}")

    def rng_fn(self, rng: Any, p: Any, size: Any) -> Any:
        return rng.binomial(1, p, size)


class BetaRV(RandomVariable):
    """The beta distribution with the shape parameters ``alpha`` and ``beta``."""

    name, signature = "beta", "(),()->()"
    parameters = {"alpha": ..., "beta": ...}
    _print_name = ("Beta", r"\operatorname{Beta}")


class BetaBinomialRV(RandomVariable):
    """Numbers of successes in ``n`` trials. The probability is drawn from the beta distribution of ``a`` and ``b``."""

    name, signature, dtype = "beta_binomial", "(),(),()->()", "int64"
    parameters = {"n": ..., "a": ..., "b": ...}
    _print_name = ("BetaBinomial", r"\operatorname{BetaBinomial}")

    def rng_fn(self, rng: Any, n: Any, a: Any, b: Any, size: Any) -> Any:
        size = batch_size(size, n, a, b)
        return rng.binomial(n, rng.beta(a, b, size), size)


class BinomialRV(RandomVariable):
    """Numbers of successes in ``n`` trials with probability ``p``."""

    name, signature, dtype = "binomial", "(),()->()", "int64"
    parameters = {"n": ..., "p": ...}
    _print_name = ("Binomial", r"\operatorname{Binomial}")


class CategoricalRV(RandomVariable):
    """Indices with the probabilities ``p``, which sum to 1 along the last axis. Each draw reads one uniform number."""

    name, signature, dtype = "categorical", "(p)->()", "int64"
    parameters = {"p": ...}
    _print_name = ("Categorical", r"\operatorname{Categorical}")

    def rng_fn(self, rng: Any, p: Any, size: Any) -> Any:
        require_valid(p >= 0, "p < 0 or p is NaN")
        sums: Any = p.cumsum(-1)
        require_valid(abs(sums[..., -1:] - 1) < 1e-6, "the probabilities p do not sum to 1")
        number: Any = rng.uniform(size=p.shape[:-1] if size is None else size)
        if p.ndim == 1:
            return np.minimum(sums.searchsorted(number, "right"), p.shape[0] - 1)
        return np.minimum((np.asarray(number)[..., None] >= sums).sum(-1), p.shape[-1] - 1)


class CauchyRV(RandomVariable):
    """The Cauchy distribution with median ``loc`` and scale ``scale``."""

    name, signature = "cauchy", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("Cauchy", r"\operatorname{Cauchy}")

    def rng_fn(self, rng: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, loc, scale)
        return loc + scale * rng.standard_cauchy(size)


class ChiSquareRV(RandomVariable):
    """The chi-square distribution with ``df`` degrees of freedom."""

    name, signature = "chisquare", "()->()"
    parameters = {"df": ...}
    _print_name = ("ChiSquare", r"\operatorname{ChiSquare}")


class DirichletRV(RandomVariable):
    """Dirichlet vectors: probabilities with the concentrations ``alphas``."""

    name, signature = "dirichlet", "(a)->(a)"
    one_batch = False
    parameters = {"alphas": ...}
    _print_name = ("Dirichlet", r"\operatorname{Dirichlet}")


class ExponentialRV(RandomVariable):
    """The exponential distribution with mean ``scale``."""

    name, signature = "exponential", "()->()"
    parameters = {"scale": 1.0}
    _print_name = ("Exponential", r"\operatorname{Exponential}")


class GammaRV(RandomVariable):
    """The gamma distribution with shape parameter ``shape`` and scale ``scale``, or with the scale 1 / ``rate``."""

    name, signature = "gamma", "(),()->()"
    parameters = {"shape": ..., "scale": 1.0}
    _print_name = ("Gamma", r"\operatorname{Gamma}")

    def __call__(self, *parameters: Any, rate: Any = None, **options: Any) -> Any:
        if rate is None:
            return super().__call__(*parameters, **options)
        if "scale" in options or len(parameters) > 1:
            raise TypeError("gamma takes a rate or a scale, which is its reciprocal, got both")
        return super().__call__(*parameters, scale=1.0 / as_tensor_variable(rate), **options)


class GenGammaRV(RandomVariable):
    """The generalized gamma distribution: ``lambd * g**(1 / p)`` for gamma numbers g with shape parameter ``alpha / p``."""

    name, signature = "gengamma", "(),(),()->()"
    parameters = {"alpha": 1.0, "p": 1.0, "lambd": 1.0}
    _print_name = ("GenGamma", r"\operatorname{GenGamma}")

    def rng_fn(self, rng: Any, alpha: Any, p: Any, lambd: Any, size: Any) -> Any:
        require_valid(np.asarray(p) > 0, "p <= 0")
        size = batch_size(size, alpha, p, lambd)
        return lambd * rng.standard_gamma(np.true_divide(alpha, p), size) ** np.true_divide(1.0, p)


class GeometricRV(RandomVariable):
    """Numbers of trials until the first success of probability ``p``."""

    name, signature, dtype = "geometric", "()->()", "int64"
    parameters = {"p": ...}
    _print_name = ("Geometric", r"\operatorname{Geometric}")


class GumbelRV(RandomVariable):
    """The Gumbel distribution of maxima, with mode ``loc`` and scale ``scale``."""

    name, signature = "gumbel", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("Gumbel", r"\operatorname{Gumbel}")


class HalfCauchyRV(RandomVariable):
    """The half-Cauchy distribution: ``loc`` plus the absolute value of a Cauchy number with scale ``scale``, drawn by inversion."""

    name, signature = "halfcauchy", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("HalfCauchy", r"\operatorname{HalfCauchy}")

    def rng_fn(self, rng: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        return loc + scale * np.tan(np.pi / 2 * uniform_numbers(rng, size, loc, scale))


class HalfNormalRV(RandomVariable):
    """The half-normal distribution: ``loc`` plus the absolute value of a normal number with standard deviation ``scale``."""

    name, signature = "halfnormal", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("HalfNormal", r"\operatorname{HalfNormal}")

    def rng_fn(self, rng: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, loc, scale)
        return loc + scale * abs(rng.standard_normal(size))


class HyperGeometricRV(RandomVariable):
    """Numbers of good items in samples of ``nsample`` items from ``ngood`` good and ``nbad`` bad items."""

    name, signature, dtype = "hypergeometric", "(),(),()->()", "int64"
    parameters = {"ngood": ..., "nbad": ..., "nsample": ...}
    _print_name = ("HyperGeometric", r"\operatorname{HyperGeometric}")


class IntegersRV(RandomVariable):
    """Integers from ``low`` to ``high``, which is excluded."""

    name, signature, dtype = "integers", "(),()->()", "int64"
    parameters = {"low": ..., "high": ...}
    _print_name = ("integers", r"\operatorname{integers}")

    def rng_fn(self, rng: Any, low: Any, high: Any, size: Any) -> Any:
        return rng.integers(low, high, size, dtype=self.dtype)


class InvGammaRV(RandomVariable):
    """The inverse gamma distribution: ``scale`` divided by a gamma number with shape parameter ``shape``."""

    name, signature = "invgamma", "(),()->()"
    parameters = {"shape": ..., "scale": 1.0}
    _print_name = ("InverseGamma", r"\operatorname{InverseGamma}")

    def rng_fn(self, rng: Any, shape: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, shape, scale)
        return scale / rng.standard_gamma(shape, size)


class LaplaceRV(RandomVariable):
    """The Laplace distribution with mean ``loc`` and scale ``scale``."""

    name, signature = "laplace", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("Laplace", r"\operatorname{Laplace}")


class LogisticRV(RandomVariable):
    """The logistic distribution with mean ``loc`` and scale ``scale``."""

    name, signature = "logistic", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("Logistic", r"\operatorname{Logistic}")


class LogNormalRV(RandomVariable):
    """The log-normal distribution: the exponential of a normal number with mean ``mean`` and standard deviation ``sigma``."""

    name, signature = "lognormal", "(),()->()"
    parameters = {"mean": 0.0, "sigma": 1.0}
    _print_name = ("LogNormal", r"\operatorname{LogNormal}")


class MultinomialRV(RandomVariable):
    """Counts of each outcome in ``n`` trials with the probabilities ``p``."""

    name, signature, dtype = "multinomial", "(),(p)->(p)", "int64"
    parameters = {"n": ..., "p": ...}
    _print_name = ("Multinomial", r"\operatorname{Multinomial}")


class MvNormalRV(RandomVariable):
    """Normal vectors with the means ``mean`` and the covariances ``cov``, by NumPy's ``method``: "svd", "eigh" or "cholesky"."""

    name, signature = "multivariate_normal", "(n),(n,n)->(n)"
    one_batch = False
    parameters = {"mean": ..., "cov": ...}
    _print_name = ("MultivariateNormal", r"\operatorname{MultivariateNormal}")
    __props__ = ("name", "signature", "dtype", "inplace", "method")

    def __init__(self, *fields: Any, method: str = "svd", **named: Any) -> None:
        if method not in ("svd", "eigh", "cholesky"):
            raise ValueError(f"The method is 'svd', 'eigh' or 'cholesky', got {method!r}")
        self.method = method
        super().__init__(*fields, **named)

    def rng_fn(self, rng: Any, mean: Any, cov: Any, size: Any) -> Any:
        return rng.multivariate_normal(mean, cov, size, "raise", method=self.method)


class NegBinomialRV(RandomVariable):
    """Numbers of failures before the ``n``-th success of probability ``p``."""

    name, signature, dtype = "negative_binomial", "(),()->()", "int64"
    parameters = {"n": ..., "p": ...}
    _print_name = ("NegativeBinomial", r"\operatorname{NegativeBinomial}")


class NormalRV(RandomVariable):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``."""

    name, signature = "normal", "(),()->()"
    parameters = {"loc": 0.0, "scale": 1.0}
    _print_name = ("Normal", r"\operatorname{Normal}")


class ParetoRV(RandomVariable):
    """The Pareto distribution with exponent ``b``. Its numbers are at least ``scale``."""

    name, signature = "pareto", "(),()->()"
    parameters = {"b": ..., "scale": 1.0}
    _print_name = ("Pareto", r"\operatorname{Pareto}")

    def rng_fn(self, rng: Any, b: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, b, scale)
        return (rng.pareto(b, size) + 1.0) * scale


class PoissonRV(RandomVariable):
    """The Poisson distribution with mean ``lam``."""

    name, signature, dtype = "poisson", "()->()", "int64"
    parameters = {"lam": 1.0}
    _print_name = ("Poisson", r"\operatorname{Poisson}")


class StudentTRV(RandomVariable):
    """``loc`` plus ``scale`` times a number of Student's distribution with ``df`` degrees of freedom."""

    name, signature = "t", "(),(),()->()"
    parameters = {"df": ..., "loc": 0.0, "scale": 1.0}
    _print_name = ("StudentT", r"\operatorname{StudentT}")

    def rng_fn(self, rng: Any, df: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        size = batch_size(size, df, loc, scale)
        return loc + scale * rng.standard_t(df, size)


class TriangularRV(RandomVariable):
    """The triangular distribution: numbers between ``left`` and ``right``, whose density is highest at ``mode``."""

    name, signature = "triangular", "(),(),()->()"
    parameters = {"left": ..., "mode": ..., "right": ...}
    _print_name = ("Triangular", r"\operatorname{Triangular}")


class TruncExponentialRV(RandomVariable):
    """The truncated exponential distribution: ``loc`` plus ``scale`` times an exponential number below ``b``.

    Numbers are drawn by inversion.
    """

    name, signature = "truncexpon", "(),(),()->()"
    parameters = {"b": ..., "loc": 0.0, "scale": 1.0}
    _print_name = ("TruncatedExponential", r"\operatorname{TruncatedExponential}")

    def rng_fn(self, rng: Any, b: Any, loc: Any, scale: Any, size: Any) -> Any:
        require_valid(np.asarray(b) > 0, "b <= 0")
        require_valid(~(np.asarray(scale) < 0), "scale < 0")
        numbers = uniform_numbers(rng, size, b, loc, scale)
        return loc - scale * np.log1p(numbers * np.expm1(-np.asarray(b, "float64")))


class UniformRV(RandomVariable):
    """Numbers from [low, high), all with equal probability."""

    name, signature = "uniform", "(),()->()"
    parameters = {"low": 0.0, "high": 1.0}
    _print_name = ("Uniform", r"\operatorname{Uniform}")


class VonMisesRV(RandomVariable):
    """The von Mises distribution: angles with mean direction ``mu`` and concentration ``kappa``."""

    name, signature = "vonmises", "(),()->()"
    parameters = {"mu": ..., "kappa": ...}
    _print_name = ("VonMises", r"\operatorname{VonMises}")


class FRV(RandomVariable):
    """Fisher's F distribution with ``dfnum`` and ``dfden`` degrees of freedom."""

    name, signature = "f", "(),()->()"
    parameters = {"dfnum": ..., "dfden": ...}
    _print_name = ("F", r"\operatorname{F}")


class PowerRV(RandomVariable):
    """The power distribution: numbers in [0, 1] with the density ``a x**(a - 1)``."""

    name, signature = "power", "()->()"
    parameters = {"a": ...}
    _print_name = ("Power", r"\operatorname{Power}")


class RayleighRV(RandomVariable):
    """The Rayleigh distribution: lengths of vectors of two normal numbers with standard deviation ``scale``."""

    name, signature = "rayleigh", "()->()"
    parameters = {"scale": 1.0}
    _print_name = ("Rayleigh", r"\operatorname{Rayleigh}")


class WaldRV(RandomVariable):
    """The inverse Gaussian (Wald) distribution with mean ``mean`` and scale ``scale``."""

    name, signature = "wald", "(),()->()"
    parameters = {"mean": ..., "scale": ...}
    _print_name = ("Wald", r"\operatorname{Wald}")


class WeibullRV(RandomVariable):
    """The Weibull distribution with the shape parameter ``shape``."""

    name, signature = "weibull", "()->()"
    parameters = {"shape": ...}
    _print_name = ("Weibull", r"\operatorname{Weibull}")


class ChoiceRV(RandomVariable):
    """Indices below ``n``. The second parameter, if given, has their probabilities; else they are equal.

    If ``replace`` is False, no index is drawn twice.
    """

    name, signature, dtype = "choice", "()->()", "int64"
    one_batch = False
    _print_name = ("choice", r"\operatorname{choice}")
    __props__ = ("name", "signature", "dtype", "inplace", "replace")

    def __init__(self, *fields: Any, replace: bool = True, **named: Any) -> None:
        self.replace = replace
        super().__init__(*fields, **named)

    def rng_fn(self, rng: Any, n: Any, *rest: Any) -> Any:
        *p, size = rest
        return rng.choice(int(n), size, self.replace, *p)

    def batch(self, node: Any, inputs: Sequence[Any], batch_ndims: Sequence[int]) -> Sequence[Any]:
        if not self.replace and max(batch_ndims):
            raise NotImplementedError("A choice without replacement has no batches")
        return super().batch(node, inputs, batch_ndims)


class PermutationRV(RandomVariable):
    """The entries of the parameter, an array, along ``axis`` in random order.

    The signature has all dimensions of the parameter, for instance "(x0,x1)->(x0,x1)" for a matrix. So one draw is a
    rearrangement of the whole parameter.
    """

    name, signature, dtype = "permutation", "(x)->(x)", "int64"
    one_batch = False
    _print_name = ("permutation", r"\operatorname{permutation}")
    __props__ = ("name", "signature", "dtype", "inplace", "axis")

    def __init__(self, *fields: Any, axis: int = 0, **named: Any) -> None:
        self.axis = axis
        super().__init__(*fields, **named)

    def in_random_order(self, rng: Any, x: Any) -> Any:
        """The entries of ``x`` in random order, as a new array."""
        # NumPy refuses an array of no elements that is read-only, such as a constant
        return rng.permutation(x if x.size else np.array(x), self.axis)

    def rng_fn(self, rng: Any, x: Any, size: Any) -> Any:
        if size is None:
            return self.in_random_order(rng, x)
        draws: list[Any] = [self.in_random_order(rng, x) for _ in np.ndindex(*size)]
        return np.reshape(draws, (*size, *x.shape))


class ShuffleRV(PermutationRV):
    """The entries of the parameter, an array, along ``axis`` in the order that NumPy's ``shuffle`` produces."""

    name = "shuffle"
    _print_name = ("shuffle", r"\operatorname{shuffle}")

    def in_random_order(self, rng: Any, x: Any) -> Any:
        """A copy of ``x`` that NumPy's ``shuffle`` has shuffled."""
        shuffled = np.array(x)
        rng.shuffle(shuffled, self.axis)
        return shuffled
