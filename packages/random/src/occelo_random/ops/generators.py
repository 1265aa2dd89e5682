"""Functions and methods that draw with NumPy's generators, and the variables whose values are generators.

Users call `rng`, `shared_rng` and `default_rng` from `occelo.tensor.random` to make a variable whose value is a
generator. To draw, they call methods of this variable. `RandomStream` in `streams` calls the functions. Most functions
are ops of `generator_distributions` or `further_generator_distributions`. The arguments of a function are the parameters of its distribution,
``size`` and ``rng``; some functions, such as `integers` and `choice`, have further arguments. A function returns a list
of two variables: the next generator and the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply, Constant, NominalVariable, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ops.create import arange
from occelo_graph.ops.index.search import take
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_random.ops import further_generator_distributions as further
from occelo_random.ops import generator_distributions as distributions
from occelo_random.ops.generator_type import (
    RandomGeneratorType,
    copied,
    random_generator_type,
)

Distribution = Callable[..., Any]


def in_pairs(distribution: Distribution) -> Distribution:
    """The function that returns the next generator and the draw of ``distribution``."""
    if isinstance(distribution, FunctionType) and distribution.__module__ == __name__:
        return distribution
    return partial(distribution, return_next_rng=True)


bernoulli = distributions.BernoulliRV()
beta = distributions.BetaRV()
betabinom = distributions.BetaBinomialRV()
binomial = distributions.BinomialRV()
categorical = distributions.CategoricalRV()
cauchy = distributions.CauchyRV()
chisquare = distributions.ChiSquareRV()
dirichlet = distributions.DirichletRV()
dirichlet_multinomial = further.DirichletMultinomialRV()
exponential = distributions.ExponentialRV()
f = distributions.FRV()
gamma = distributions.GammaRV()
gengamma = distributions.GenGammaRV()
geometric = distributions.GeometricRV()
gumbel = distributions.GumbelRV()
gumbel_l = further.GumbelLeftRV()
halfcauchy = distributions.HalfCauchyRV()
halfnormal = distributions.HalfNormalRV()
hypergeometric = distributions.HyperGeometricRV()
invgamma = distributions.InvGammaRV()
laplace = distributions.LaplaceRV()
logistic = distributions.LogisticRV()
lognormal = distributions.LogNormalRV()
lomax = further.LomaxRV()
multinomial = distributions.MultinomialRV()
nbinom = negative_binomial = distributions.NegBinomialRV()
normal = distributions.NormalRV()
pareto = distributions.ParetoRV()
poisson = distributions.PoissonRV()
power = distributions.PowerRV()
rayleigh = distributions.RayleighRV()
skewnorm = further.SkewNormalRV()
t = distributions.StudentTRV()
triangular = distributions.TriangularRV()
truncexpon = distributions.TruncExponentialRV()
truncnorm = further.TruncatedNormalRV()
uniform = distributions.UniformRV()
vonmises = distributions.VonMisesRV()
wald = distributions.WaldRV()
weibull = distributions.WeibullRV()
wishart = further.WishartRV()


def standard_normal(size: Any = None, rng: Any = None, **options: Any) -> list[Any]:
    """Normal numbers with mean 0 and standard deviation 1."""
    return in_pairs(normal)(0.0, 1.0, size=size, rng=rng, **options)


def multivariate_normal(
    mean: Any, cov: Any, size: Any = None, rng: Any = None, *, method: str = "svd", **options: Any
) -> list[Any]:
    """Normal vectors with the means ``mean`` and the covariances ``cov``.

    ``method`` is the method that factors the covariances: "svd", "eigh" or "cholesky". ValueError if the covariances
    are not positive semidefinite.
    """
    law = in_pairs(distributions.MvNormalRV(method=method))
    return law(mean, cov, size=size, rng=rng, **options)


def lkj(n: Any, eta: Any = 1.0, size: Any = None, rng: Any = None, **options: Any) -> list[Any]:
    """Correlation matrices x of ``n`` rows, with a density proportional to ``det(x)**(eta - 1)``.

    ``n`` is a Python integer. The shape of the draw is ``size``, or the shape of ``eta``, followed by (n, n).
    ValueError if ``eta`` is not positive.
    """
    if not isinstance(n, int) or n is True:
        raise TypeError(f"The number n of rows must be a Python integer, got {n!r}")
    return in_pairs(further.LKJRV(n=n))(eta, size=size, rng=rng, **options)


def integers(
    low: Any,
    high: Any = None,
    size: Any = None,
    dtype: str | None = None,
    endpoint: bool = False,
    rng: Any = None,
    **options: Any,
) -> list[Any]:
    """Integers from ``low`` to ``high``, which is excluded unless ``endpoint`` is True.

    With one bound, integers from 0 to this bound.
    """
    if high is None:
        low, high = 0, low
    high = high + 1 if endpoint else high
    law = in_pairs(distributions.IntegersRV())
    return law(low, high, size=size, rng=rng, dtype=dtype, **options)


def choice(
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    rng: Any = None,
    name: str | None = None,
) -> list[Any]:
    """Random entries of ``a`` along ``axis``, or random integers from 0 to ``a - 1`` if ``a`` is an integer.

    ``p`` has the probability of each entry; by default all are equal. If ``replace`` is False, no entry is drawn twice.
    """
    a = as_tensor_variable(a)
    count = a if a.type.ndim == 0 else a.shape[axis]
    draw = distributions.ChoiceRV(
        signature="()->()" if p is None else "(),(n)->()", replace=replace
    )
    following, at = in_pairs(draw)(count, *([] if p is None else [p]), size=size, rng=rng)
    chosen = at if a.type.ndim == 0 else take(a, at, axis)
    chosen.name = name
    return [following, chosen]


def permutation(
    x: Any, axis: int = 0, rng: Any = None, size: Any = None, **options: Any
) -> list[Any]:
    """The entries of ``x`` along ``axis``, or the integers from 0 to ``x - 1``, in random order.

    If ``size`` is given, several orders are drawn; ``size`` is the shape of this batch.
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0:
        if not is_discrete(x.dtype):
            raise TypeError(f"Integers below a float cannot be permuted, got {x.type}")
        x = arange(x.astype("int64"))
    return _in_random_order(distributions.PermutationRV, x, axis)(x, size=size, rng=rng, **options)


def shuffle(x: Any, axis: int = 0, rng: Any = None, size: Any = None, **options: Any) -> list[Any]:
    """The entries of ``x`` along ``axis`` in the order that NumPy's ``shuffle`` produces. ``x`` is not changed.

    If ``size`` is given, several orders are drawn; ``size`` is the shape of this batch. TypeError for a scalar.
    """
    x = as_tensor_variable(x)
    if x.type.ndim == 0:
        raise TypeError(f"shuffle takes an array, got {x.type}")
    return _in_random_order(distributions.ShuffleRV, x, axis)(x, size=size, rng=rng, **options)


def _in_random_order(distribution: Callable[..., Any], x: Any, axis: int) -> Any:
    names = ",".join(f"x{i}" for i in range(x.type.ndim))
    axis = normalize_axis(axis, x)
    return in_pairs(distribution(signature=f"({names})->({names})", dtype=x.dtype, axis=axis))


DISTRIBUTIONS: dict[str, Distribution] = {
    name: in_pairs(globals()[name])
    for name in (
        "bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet dirichlet_multinomial "
        "exponential f gamma gengamma geometric gumbel gumbel_l halfcauchy halfnormal hypergeometric integers invgamma "
        "laplace lkj logistic lognormal lomax multinomial multivariate_normal nbinom negative_binomial normal pareto "
        "permutation poisson power rayleigh shuffle skewnorm standard_normal t triangular truncexpon truncnorm uniform "
        "vonmises wald weibull wishart"
    ).split()
}
"""Maps the name of a function or method to the function."""


class _Drawing:
    """A descriptor that makes a function of this module a method of variables whose values are generators."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution
        self.__doc__ = distribution.__doc__ if callable(distribution) else None

    def __get__(self, variable: Any, owner: Any = None) -> Callable[..., Any]:
        pairs = in_pairs(self.distribution)
        return pairs if variable is None else partial(pairs, rng=variable)


class GeneratorMethods:
    """The functions of this module as methods: ``next_rng, x = rng.normal(0.0, 1.0, size=3)``."""

    __slots__ = ()

    bernoulli = _Drawing(bernoulli)
    beta = _Drawing(beta)
    betabinom = _Drawing(betabinom)
    binomial = _Drawing(binomial)
    categorical = _Drawing(categorical)
    cauchy = _Drawing(cauchy)
    chisquare = _Drawing(chisquare)
    choice = _Drawing(choice)
    dirichlet = _Drawing(dirichlet)
    dirichlet_multinomial = _Drawing(dirichlet_multinomial)
    exponential = _Drawing(exponential)
    f = _Drawing(f)
    gamma = _Drawing(gamma)
    gengamma = _Drawing(gengamma)
    geometric = _Drawing(geometric)
    gumbel = _Drawing(gumbel)
    gumbel_l = _Drawing(gumbel_l)
    halfcauchy = _Drawing(halfcauchy)
    halfnormal = _Drawing(halfnormal)
    hypergeometric = _Drawing(hypergeometric)
    integers = _Drawing(integers)
    invgamma = _Drawing(invgamma)
    laplace = _Drawing(laplace)
    lkj = _Drawing(lkj)
    logistic = _Drawing(logistic)
    lognormal = _Drawing(lognormal)
    lomax = _Drawing(lomax)
    multinomial = _Drawing(multinomial)
    multivariate_normal = _Drawing(multivariate_normal)
    nbinom = _Drawing(nbinom)
    negative_binomial = _Drawing(negative_binomial)
    normal = _Drawing(normal)
    pareto = _Drawing(pareto)
    permutation = _Drawing(permutation)
    poisson = _Drawing(poisson)
    power = _Drawing(power)
    rayleigh = _Drawing(rayleigh)
    shuffle = _Drawing(shuffle)
    skewnorm = _Drawing(skewnorm)
    standard_normal = _Drawing(standard_normal)
    t = _Drawing(t)
    triangular = _Drawing(triangular)
    truncexpon = _Drawing(truncexpon)
    truncnorm = _Drawing(truncnorm)
    uniform = _Drawing(uniform)
    vonmises = _Drawing(vonmises)
    wald = _Drawing(wald)
    weibull = _Drawing(weibull)
    wishart = _Drawing(wishart)


class RandomGeneratorVariable(GeneratorMethods, Variable):
    """A variable whose value is a generator."""

    __slots__ = ()


class RandomGeneratorConstant(GeneratorMethods, Constant):
    """A constant whose value is a generator. Each call of a compiled function draws the same numbers with it."""

    __slots__ = ()

    def __init__(self, type: Any, data: Any, name: str | None = None) -> None:
        super().__init__(type, copied(type.filter(data)), name)

    def __str__(self) -> str:
        return self._name if self._name is not None else f"<{self.type}>"


class RandomGeneratorNominalVariable(GeneratorMethods, NominalVariable):
    """An input of an inner graph whose value is a generator."""

    __slots__ = ()


class RandomGeneratorSharedVariable(GeneratorMethods, SharedVariable):
    """A shared variable whose value is a generator."""

    __slots__ = ()

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        value = self.container.storage[0]
        return value if borrow else copied(value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        copies = isinstance(new_value, np.random.Generator) and not borrow
        super().set_value(copied(self.type.filter(new_value)) if copies else new_value, borrow=True)


RandomGeneratorType.variable_class = RandomGeneratorVariable
RandomGeneratorType.constant_class = RandomGeneratorConstant
RandomGeneratorType.nominal_class = RandomGeneratorNominalVariable


@explained_by("keys")
def rng(name: str | None = None) -> RandomGeneratorVariable:
    """A variable named ``name`` for an input whose value is a generator. Calls of a compiled function do not change the generators that
    they are given.
    """
    variable: Any = random_generator_type(name)
    return variable


@explained_by("keys")
def shared_rng(
    value: Any = None,
    *,
    seed: Any = None,
    name: str | None = None,
    borrow: bool = False,
) -> RandomGeneratorSharedVariable:
    """A shared variable named ``name`` whose value is a generator: ``value``, or ``numpy.random.default_rng(seed)``.

    ``value`` is copied unless ``borrow`` is True. A draw returns the next generator, as in ``next_rng, x =
    rng.normal()``. Compiled functions should update the variable with the next generator, by ``updates={rng:
    next_rng}``. Without an update, each call draws the same numbers. TypeError if ``value`` is not a generator, or if
    both a value and a seed are given.
    """
    if value is None:
        generator: Any = np.random.default_rng(seed)
    elif seed is not None:
        raise TypeError("A shared generator has a value or a seed, not both")
    else:
        if not isinstance(value, np.random.Generator):
            raise TypeError(
                f"The value of a shared generator is a numpy.random.Generator, got {value!r}; for a seed, write seed="
            )
        random_generator_type.filter(value)
        generator = value if borrow else copied(value)
    return RandomGeneratorSharedVariable(random_generator_type, generator, name=name)


@op
class DefaultGenerator(Op):
    """Computes ``numpy.random.default_rng(seed)``. The input is the seed, an integer or a vector of integers."""

    def infer(self, seed: Any) -> Any:
        if not isinstance(seed, TensorType) or not is_discrete(seed.dtype) or seed.ndim > 1:
            raise TypeError(f"A seed is an integer or a vector of integers, got {seed}")
        return random_generator_type

    def evaluate(self, seed: Any) -> Any:
        # NumPy does not accept arrays without dimensions
        return np.random.default_rng(int(seed) if np.ndim(seed) == 0 else seed)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [None]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        raise NotImplementedError("There are no batches of generators; draw by keys for a batch")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None]


@explained_by("keys")
def default_rng(seed: Any) -> Any:
    """A variable whose value is ``numpy.random.default_rng(seed)``. It is a constant if ``seed`` is not a variable.

    TypeError if ``seed`` is None: NumPy would then choose another seed in each call. `shared_rng` accepts None, and
    NumPy chooses a seed once.
    """
    if seed is None:
        raise TypeError("default_rng needs a seed; for an unknown one, use shared_rng()")
    if isinstance(seed, Variable):
        return DefaultGenerator()(seed)
    return random_generator_type.make_constant(np.random.default_rng(seed))
