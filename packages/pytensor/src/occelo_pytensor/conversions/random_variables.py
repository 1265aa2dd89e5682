"""Conversions of draws of random numbers: the laws of Occelo where they draw NumPy's numbers in the same way.

All other laws run their own Python code (`calls`) on a copy of the generator, so each stream of numbers is PyTensor's: those that it takes
from SciPy, and normal vectors, which it computes in another way.
"""

from __future__ import annotations

from typing import Any

import pytensor.tensor.random.basic as theirs
from pytensor.tensor.random.op import DefaultGeneratorMakerOp, RandomVariable

import occelo_random.ops.generators as ours
from occelo_pytensor.calls import call_of
from occelo_pytensor.conversion import Unconvertible
from occelo_pytensor.registry import register_conversion
from occelo_random.ops.generator_distributions import IntegersRV

LAWS: dict[type, Any] = {
    theirs.NormalRV: ours.normal,
    theirs.UniformRV: ours.uniform,
    theirs.LogNormalRV: ours.lognormal,
    theirs.GammaRV: ours.gamma,
    theirs.BetaRV: ours.beta,
    theirs.ExponentialRV: ours.exponential,
    theirs.LaplaceRV: ours.laplace,
    theirs.LogisticRV: ours.logistic,
    theirs.PoissonRV: ours.poisson,
    theirs.BinomialRV: ours.binomial,
    theirs.NegBinomialRV: ours.negative_binomial,
    theirs.GeometricRV: ours.geometric,
    theirs.HyperGeometricRV: ours.hypergeometric,
    theirs.IntegersRV: IntegersRV(),
    theirs.TriangularRV: ours.triangular,
    theirs.VonMisesRV: ours.vonmises,
    theirs.BernoulliRV: ours.bernoulli,
    theirs.BetaBinomialRV: ours.betabinom,
    theirs.CategoricalRV: ours.categorical,
    theirs.DirichletRV: ours.dirichlet,
    theirs.GenGammaRV: ours.gengamma,
    theirs.HalfCauchyRV: ours.halfcauchy,
    theirs.HalfNormalRV: ours.halfnormal,
    theirs.InvGammaRV: ours.invgamma,
    theirs.MultinomialRV: ours.multinomial,
    theirs.StudentTRV: ours.t,
    theirs.WaldRV: ours.wald,
    theirs.WeibullRV: ours.weibull,
}
"""Occelo's laws by PyTensor's classes; their parameters have the same order and meaning."""


def _law(op: Any) -> Any:
    """The law of a draw, also of a subclass that draws like its base, such as PyMC's positions of minibatches."""
    base = next((each for each in type(op).__mro__ if each in LAWS), None)
    if base is None or (type(op).rng_fn, op.name) != (base.rng_fn, base.name):
        return None
    return LAWS[base]


@register_conversion(RandomVariable)
def _draw(node: Any, generator: Any, size: Any, *parameters: Any) -> Any:
    op = node.op
    law = _law(op)
    # PyTensor draws from any numbers, such as the probabilities of cut points without order in draws from a prior
    if law is None or isinstance(op, theirs.CategoricalRV):
        return call_of(node, [generator, size, *parameters])
    # PyTensor draws integers of 64 bits, and converts them: NumPy draws shorter ones in another way
    dtype = "int64" if isinstance(op, theirs.IntegersRV) else op.dtype
    drawn = law.changed(dtype=dtype)
    return drawn(*parameters, size=size, rng=generator, return_next_rng=True)


@register_conversion(theirs.PermutationRV)
def _permutation(node: Any, generator: Any, size: Any, x: Any) -> Any:
    if size is not None or x.ndim != node.op.ndims_params[0]:
        return call_of(node, [generator, size, x])
    return ours.permutation(x, rng=generator)


@register_conversion(theirs.ChoiceWithoutReplacement)
def _choice(node: Any, generator: Any, size: Any, a: Any, *others: Any) -> Any:
    *weights, lengths = others
    ndims = [v.ndim for v in (a, *others)]
    if size is not None or ndims != list(node.op.ndims_params):  # a batch
        return call_of(node, [generator, size, a, *others])
    return ours.choice(a, lengths, False, *weights, rng=generator)


@register_conversion(DefaultGeneratorMakerOp)
def _generator(node: Any, seed: Any) -> Any:
    if seed is None or seed.ndim > 1:
        raise Unconvertible(str(node.op))  # NumPy chooses another seed in each call
    return ours.default_rng(seed)
