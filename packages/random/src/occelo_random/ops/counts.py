"""Draws of counts by keys, such as Poisson, binomial, geometric, hypergeometric and multinomial numbers.

Users call the functions from `occelo.tensor.random`. The methods are:

- Poisson and binomial with a mean below 10: the draw is the number of values of the distribution function that are
  below one uniform number.
- Poisson and binomial with a mean of at least 10: Hörmann's transformed rejection ("The transformed rejection method
  for generating Poisson random variables", 1993; "The generation of binomial random variates", 1993).
- negative binomial, beta-binomial, multinomial and Dirichlet-multinomial: Poisson or binomial draws, whose parameters
  are drawn or computed first.
- geometric: the quantile of one uniform number.
- hypergeometric: rejection by the quotient of two uniform numbers (Stadlober, "The ratio of uniforms approach for
  generating discrete random variates", 1990).

All counts are computed in float64 and returned as int64. They have no derivatives: a gradient with respect to a
parameter of floats raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    add,
    and_,
    ceil,
    floor,
    ge,
    gt,
    invert,
    le,
    lt,
    maximum,
    minimum,
    mul,
    or_,
    reciprocal,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.transcendental import exp, log, log1p
from occelo_graph.ops.join import stack
from occelo_graph.ops.reduce import softmax
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_random.ops.draw_derivatives import without_derivative
from occelo_random.ops.either_way import either_way
from occelo_random.ops.gamma import standard_gamma
from occelo_random.ops.keys import fold_in, split
from occelo_random.ops.parameters import (
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    begin,
    checked,
    draw_shape,
    float_parameters,
    integer_parameter,
    require,
    standard_uniform,
)
from occelo_random.ops.rejection import Words, rejection

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "betabinom",
    "binomial",
    "dirichlet_multinomial",
    "geometric",
    "hypergeometric",
    "multinomial",
    "nbinom",
    "negative_binomial",
    "poisson",
]

_LARGE = 10.0
_MOST = float(2**62)
_STEPS = 48
"""Inversion tries numbers below this one. If the mean is below 10, larger numbers have a probability below 1e-17."""


def _stirling(k: Any) -> tuple[Any, Any, Any, Any]:
    """Terms of Stirling's formula for log k!, where k >= 0 is float64. Returns x, x - k, s and q.

    log k! is (x - 1/2) log x - x + log(2 pi) / 2 + s - log q. If k >= 7, x is k + 1 and q is 1. Else x is k + 9, and q
    is (k + 1) ... (k + 8). So x is at least 8, and the error of the series s is at most 1e-12. A large x is rounded,
    but x - k is exact.
    """
    x = add(k, 1.0)
    small = lt(x, 8.0)
    product = x
    for i in range(1, 8):
        product = mul(product, add(x, float(i)))
    y = switch(small, add(x, 8.0), x)
    r = reciprocal(y)
    r2 = mul(r, r)
    series: Any = 1.0 / 1188.0
    for coefficient in (-1.0 / 1680.0, 1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0):
        series = add(mul(series, r2), coefficient)
    return y, switch(small, 9.0, 1.0), mul(series, r), switch(small, product, 1.0)


def _log_one_more(x: Any) -> Any:
    """log(1 + x) for x > -1, which is finite even if x was rounded to -1.

    For instance, such an x occurs in the Poisson probability of k = 0 for the mean 2**62.
    """
    return log1p(maximum(x, -1.0 + 2.0**-53))


def _log_poisson_mass(k: Any, mean: Any) -> Any:
    """The logarithm of the Poisson probability of k events.

    The term log k! nearly cancels with other terms. Therefore it is computed relative to ``mean``. Then the error is
    about 1e-16 times the distance of k from the mean, and not 1e-16 times k.
    """
    x, shift, series, product = _stirling(k)
    d = sub(x, mean)
    return add(
        mul(sub(0.5, shift), log(mean)),
        -mul(sub(x, 0.5), _log_one_more(true_div(d, mean))),
        d,
        -series,
        log(product),
        -0.5 * math.log(2 * math.pi),
    )


def _log_quotient(a: Any, b: Any, difference: Any) -> Any:
    """log(a! / b!), where ``difference`` is a - b.

    The error is about 1e-15 times the difference, and not 1e-15 times a. The difference must be exact; a and b may be
    rounded.
    """
    x, shift, one, mine = _stirling(a)
    y, its_shift, other, its = _stirling(b)
    d = add(difference, sub(shift, its_shift))
    return add(
        mul(d, log(y)),
        mul(sub(x, 0.5), _log_one_more(true_div(d, y))),
        -d,
        sub(one, other),
        log(true_div(its, mine)),
    )


def _integer(value: Any) -> Any:
    """Convert counts to int64."""
    return cast(value, "int64")


def _poisson_attempt(words: Words, mean: Any) -> Any:
    """One attempt of Hörmann's algorithm PTRS, for Poisson numbers with a mean of at least 10; -1 if it is rejected."""
    u, v = words.uniform(0), words.uniform(1)
    m = mean
    b = add(mul(sqrt(m), 2.53), 0.931)
    a = sub(mul(b, 0.02483), 0.059)
    centred = sub(u, 0.5)
    us = sub(0.5, abs(centred))
    k = floor(add(mul(add(true_div(mul(a, 2.0), us), b), centred), m, 0.43))
    surely = and_(ge(us, 0.07), le(v, sub(0.9277, true_div(3.6224, sub(b, 2.0)))))
    scaled = add(
        log(v),
        log(add(true_div(1.1328, sub(b, 3.4)), 1.1239)),
        -log(add(true_div(a, mul(us, us)), b)),
    )
    not_negative = maximum(k, 0.0)
    log_mass = _log_poisson_mass(not_negative, m)
    outside = or_(lt(k, 0.0), and_(lt(us, 0.013), gt(v, us)))
    rejected = and_(invert(surely), or_(outside, gt(scaled, log_mass)))
    return switch(rejected, -1.0, k)


def _poisson_ratio(mean: Any) -> Callable[[int], Any]:
    def ratio(k: int) -> Any:
        return mul(mean, 1.0 / (k + 1))

    return ratio


def _by_inversion(u: Any, mass: Any, ratio: Callable[[int], Any]) -> Any:
    """The quantile of u: the number of all k below `_STEPS` for which P(X <= k) < u.

    ``mass`` is P(X = 0), and ``ratio(k)`` is P(X = k + 1) / P(X = k).
    """
    count: Any = 0.0
    cumulative = mass
    for i in range(_STEPS):
        count = add(count, cast(gt(u, cumulative), "float64"))
        if i + 1 < _STEPS:
            mass = mul(mass, ratio(i))
            cumulative = add(cumulative, mass)
    return count


def _binomial_ratio(n: Any, odds: Any) -> Callable[[int], Any]:
    def ratio(k: int) -> Any:
        return mul(maximum(sub(n, float(k)), 0.0), odds, 1.0 / (k + 1))

    return ratio


def _binomial_attempt(words: Words, n: Any, p: Any) -> Any:
    """One attempt of Hörmann's algorithm BTRS, for binomial numbers; -1 if it is rejected.

    p must be at most 1/2, and the mean at least 10.
    """
    u, v = words.uniform(0), words.uniform(1)
    size, share = n, p
    rest = sub(1.0, share)
    spread = sqrt(mul(size, share, rest))
    b = add(mul(spread, 2.53), 1.15)
    a = add(mul(b, 0.0248), mul(share, 0.01), -0.0873)
    centred = sub(u, 0.5)
    us = sub(0.5, abs(centred))
    k = floor(add(mul(add(true_div(mul(a, 2.0), us), b), centred), mul(size, share), 0.5))
    surely = and_(ge(us, 0.07), le(v, sub(0.92, true_div(4.2, b))))
    alpha = mul(add(true_div(5.1, b), 2.83), spread)
    scaled = log(true_div(mul(v, alpha), add(true_div(a, mul(us, us)), b)))
    mode = floor(mul(add(size, 1.0), share))
    inside = minimum(maximum(k, 0.0), size)
    below = sub(mode, inside)
    log_mass = add(
        _log_quotient(mode, inside, below),
        _log_quotient(sub(size, mode), sub(size, inside), -below),
        -mul(below, log(true_div(share, rest))),
    )
    outside = or_(lt(k, 0.0), gt(k, size))
    rejected = and_(invert(surely), or_(outside, gt(scaled, log_mass)))
    return switch(rejected, -1.0, k)


def _hypergeometric_attempt(words: Words, good: Any, bad: Any, drawn: Any) -> Any:
    """One attempt of Stadlober's algorithm HRUA, for hypergeometric numbers; -1 if it is rejected.

    The attempt counts the items of the rarer kind in a sample of at most half of all items. The number of good items in
    the caller's sample is computed from this count.
    """
    x, y = words.uniform(0), words.uniform(1)
    total = add(good, bad)
    rarer, others = minimum(good, bad), maximum(good, bad)
    m = minimum(drawn, sub(total, drawn))
    share = true_div(rarer, maximum(total, 1.0))
    centre = add(mul(m, share), 0.5)
    rest = sub(1.0, share)
    variance = true_div(mul(sub(total, m), m, share, rest), maximum(sub(total, 1.0), 1.0))
    spread = sqrt(add(variance, 0.5))
    width = add(mul(spread, 2.0 * math.sqrt(2.0 / math.e)), 3.0 - 2.0 * math.sqrt(3.0 / math.e))
    mode = floor(true_div(mul(add(m, 1.0), add(rarer, 1.0)), add(total, 2.0)))
    end = minimum(add(minimum(m, rarer), 1.0), floor(add(centre, mul(spread, 16.0))))
    w = add(centre, true_div(mul(width, sub(y, 0.5)), x))
    outside = or_(lt(w, 0.0), ge(w, end))
    k = floor(minimum(maximum(w, 0.0), sub(end, 1.0)))
    below = sub(mode, k)
    log_mass = add(
        _log_quotient(mode, k, below),
        _log_quotient(sub(rarer, mode), sub(rarer, k), -below),
        _log_quotient(sub(m, mode), sub(m, k), -below),
        _log_quotient(add(sub(others, m), mode), add(sub(others, m), k), below),
    )
    rejected = or_(outside, gt(mul(log(x), 2.0), log_mass))
    k = switch(gt(good, bad), sub(m, k), k)
    k = switch(lt(m, drawn), sub(good, k), k)
    return switch(rejected, -1.0, k)


_many_events = rejection("poisson", 1, 2, _poisson_attempt)
_many_successes = rejection("binomial", 2, 2, _binomial_attempt)
_hypergeometric = rejection("hypergeometric", 3, 2, _hypergeometric_attempt)


def _few_events_formula(u: Any, mean: Any) -> Any:
    return _by_inversion(u, exp(-mean), _poisson_ratio(mean))


def _few_successes_formula(u: Any, n: Any, p: Any) -> Any:
    odds = true_div(p, sub(1.0, p))
    successes = _by_inversion(u, exp(mul(n, log1p(-p))), _binomial_ratio(n, odds))
    return minimum(successes, n)


_few_events: Elemwise = elementwise(
    "poisson_quantile",
    2,
    lambda dtypes: "float64",
    None,
    [None, None],
    "The number of events below which there are fewer with probability u, for a mean below 10.",
    formula=_few_events_formula,
)
_few_successes: Elemwise = elementwise(
    "binomial_quantile",
    3,
    lambda dtypes: "float64",
    None,
    [None, None, None],
    "The number of successes in n trials below which there are fewer with probability u, for a mean below 10 and p up to 1/2.",
    formula=_few_successes_formula,
)


def _by_mean(mean: Any, few: Callable[[], Any], many: Callable[[], Any]) -> Any:
    """``few()`` for means below 10, ``many()`` for other means. Both are tensors of draws.

    If the means are constants, and all or none are below 10, only one of the functions is called.
    """
    if isinstance(mean, Constant):
        small = np.asarray(taken(mean)) < _LARGE
        if small.all():
            return few()
        if not small.any():
            return many()
    return switch(lt(mean, _LARGE), few(), many())


def _poisson(key: Any, shape: Any, mean: Any) -> Any:
    """Poisson numbers, as float64, for float64 means."""

    def few() -> Any:
        u = standard_uniform(key, shape, "float64", half=True)
        return _few_events(u, minimum(mean, _LARGE))

    return _by_mean(mean, few, lambda: _many_events(key, shape, maximum(mean, _LARGE)))


@either_way
def poisson(key: Any, lam: Any = 1.0, size: Any = None) -> TensorVariable:
    """Poisson numbers (int64) with the mean ``lam``. ValueError if ``lam`` is negative, NaN or above 2**62."""
    distribution = begin(key, size, "float64", lam=lam)
    (lam,) = distribution.values
    checked = require(
        distribution.key, _is_mean, lam, message="lam < 0, lam is NaN or lam is too large"
    )
    return without_derivative("poisson", _integer(_poisson(checked, distribution.shape, lam)), lam)


def _is_mean(lam: Any) -> Any:
    return (lam >= 0.0) & (lam <= _MOST)


def _standard_binomial(key: Any, shape: Any, n: Any, p: Any) -> Any:
    """Binomial numbers (int64) for integers n. The parameters are not checked.

    If p is above 1/2, the number of failures is drawn and subtracted from n.
    """
    whole, n, p = n, cast(n, "float64"), cast(p, "float64")
    share = minimum(p, sub(1.0, p))
    mean = mul(n, share)
    numbers = [taken(v) for v in (n, p) if isinstance(v, Constant)]
    if len(numbers) == 2:
        mean = constant(numbers[0] * np.minimum(numbers[1], 1.0 - numbers[1]))
    small = lt(mean, _LARGE)

    def few() -> Any:
        u = standard_uniform(key, shape, "float64", half=True)
        return _few_successes(u, switch(small, n, 0.0), share)

    def many() -> Any:
        # for small means the result is not used; other numbers are passed, since the formulas might not be finite
        return _many_successes(key, shape, switch(small, 40.0, n), switch(small, 0.5, share))

    successes = _integer(_by_mean(mean, few, many))
    return switch(gt(p, 0.5), sub(whole, successes), successes)


@either_way
def binomial(key: Any, n: Any, p: Any, size: Any = None) -> TensorVariable:
    """Binomial numbers (int64): the numbers of successes in ``n`` trials with probability ``p``.

    TypeError unless ``n`` has an integer dtype. ValueError if ``n`` is negative, or if ``p`` is not between 0 and 1.
    """
    count = integer_parameter(n, "n")
    (p,), _ = float_parameters(p, dtype="float64")
    key = checked(key, n=(count, NOT_NEGATIVE), p=(p, FRACTION))
    shape = draw_shape(key, size, [count, p])
    draws = _standard_binomial(key, shape, count, p)
    return without_derivative("binomial", draws, p)


@either_way
def betabinom(key: Any, n: Any, a: Any, b: Any, size: Any = None) -> TensorVariable:
    """Beta-binomial numbers (int64): binomial numbers of ``n`` trials, whose probability is drawn first.

    The probability is a beta number with the parameters ``a`` and ``b``.
    """
    count = integer_parameter(n, "n")
    distribution = begin(key, None, "float64", a=(a, POSITIVE), b=(b, POSITIVE))
    a, b = distribution.values
    shape = draw_shape(key, size, [count, a, b])
    keys = split(checked(distribution.key, n=(count, NOT_NEGATIVE)), 3)
    one, other, last = (keys[..., i] for i in range(3))
    difference = sub(standard_gamma(one, shape, a, True), standard_gamma(other, shape, b, True))
    draws = _standard_binomial(last, shape, count, reciprocal(add(exp(-difference), 1.0)))
    return without_derivative("betabinom", draws, a, b)


@either_way
def negative_binomial(key: Any, n: Any, p: Any, size: Any = None) -> TensorVariable:
    """Negative binomial numbers (int64): the numbers of failures before ``n`` successes of probability ``p``.

    ``n`` and ``p`` must be above 0. ``n`` need not be an integer. ValueError if numbers above 2**62 might occur.
    """
    distribution = begin(key, size, "float64", n=(n, POSITIVE), p=(p, FRACTION))
    n, p = distribution.values
    guarded = require(
        checked(distribution.key, p=(p, POSITIVE)),
        _fits,
        n,
        p,
        message="n too large or p too small",
    )
    one, other = distribution._replace(key=guarded).split(2)
    mean = mul(standard_gamma(one, distribution.shape, n), true_div(sub(1.0, p), p))
    draws = _poisson(other, distribution.shape, minimum(mean, _MOST))
    return without_derivative("negative_binomial", _integer(draws), n, p)


nbinom = negative_binomial


def _fits(n: Any, p: Any) -> Any:
    # a gamma number with the shape n exceeds n + 10 sqrt(n) + 40 only with a probability of 1e-21
    return (n + 10 * n**0.5 + 40) * (1 - p) <= _MOST * p


@either_way
def geometric(key: Any, p: Any, size: Any = None) -> TensorVariable:
    """Geometric numbers (int64): the numbers of trials until the first success of probability ``p`` > 0.

    The successful trial is counted. As in NumPy, a number above 2**63 - 1 is replaced by 2**63 - 1.
    """
    distribution = begin(key, size, "float64", p=(p, FRACTION))
    (p,) = distribution.values
    u = distribution._replace(key=checked(distribution.key, p=(p, POSITIVE))).uniform(half=True)
    trials = maximum(ceil(true_div(log(u), log1p(-p))), 1.0)
    limit = np.iinfo("int64").max
    fits = lt(trials, float(limit))
    whole = switch(fits, _integer(switch(fits, trials, 1.0)), np.int64(limit))
    return without_derivative("geometric", whole, p)


@either_way
def hypergeometric(
    key: Any, ngood: Any, nbad: Any, nsample: Any, size: Any = None
) -> TensorVariable:
    """Hypergeometric numbers (int64): the numbers of good items in samples of ``nsample`` items.

    Samples are taken without replacement from ``ngood`` good and ``nbad`` bad items. TypeError if a parameter does not
    have an integer dtype. ValueError if a parameter is negative, if ``ngood`` or ``nbad`` is above 2**52, or if
    ``nsample`` is above ``ngood + nbad``.
    """
    values = [
        integer_parameter(v, name)
        for v, name in ((ngood, "ngood"), (nbad, "nbad"), (nsample, "nsample"))
    ]
    good, bad, drawn = values
    key = checked(
        key,
        ngood=(good, NOT_NEGATIVE),
        nbad=(bad, NOT_NEGATIVE),
        nsample=(drawn, NOT_NEGATIVE),
    )
    key = require(key, _exact, good, message="ngood > 2**52")
    key = require(key, _exact, bad, message="nbad > 2**52")
    key = require(key, _enough, good, bad, drawn, message="ngood + nbad < nsample")
    shape = draw_shape(key, size, values)
    return _integer(_hypergeometric(key, shape, *(cast(v, "float64") for v in values)))


def _exact(count: Any) -> Any:
    return count <= 2**52


def _enough(good: Any, bad: Any, drawn: Any) -> Any:
    return good + bad >= drawn


@either_way
def multinomial(key: Any, n: Any, pvals: Any, size: Any = None) -> TensorVariable:
    """Multinomial counts (int64) of each of K outcomes in ``n`` trials with the probabilities ``pvals`` (..., K).

    The shape of the draw is ``size`` followed by K, which must be static. As in NumPy, the last outcome gets the
    probability that the others leave, whatever the last entry of ``pvals`` is. ValueError if an entry is not between 0
    and 1, or if the sum of all except the last is above 1.
    """
    count = integer_parameter(n, "n")
    (p,), _ = float_parameters(pvals, dtype="float64")
    outcomes = _outcomes(p, "pvals")
    if not outcomes:
        raise ValueError("pvals must have a last axis with at least one probability")
    key = checked(key, n=(count, NOT_NEGATIVE), pvals=(p, FRACTION))
    key = require(key, _sums_to_one, p, message="sum(pvals[:-1]) > 1.0")
    shape = draw_shape(key, size, [count.dimshuffle(*range(count.type.ndim), "x"), p], core=1)
    counts = _counts(key, shape, count, p, outcomes)
    return without_derivative("multinomial", counts, p)


def _counts(key: Any, shape: Any, count: Any, p: Any, outcomes: int) -> Any:
    """Multinomial counts of outcomes. Each count is a binomial number of the trials that remain after earlier outcomes."""
    left, rest = count, as_tensor_variable(np.float64(1.0))
    counts: list[Any] = []
    for i in range(outcomes - 1):
        share = minimum(true_div(p[..., i], maximum(rest, 1e-300)), 1.0)
        each = _standard_binomial(fold_in(key, i), shape, left, maximum(share, 0.0))
        counts.append(each)
        left, rest = sub(left, each), sub(rest, p[..., i])
    # a single outcome occurs in all trials; adding zeros broadcasts the count to the shape of the draw
    if not counts:
        left = add(left, _integer(standard_uniform(key, shape, "float64")))
    counts.append(left)
    return stack(counts, axis=-1)


@either_way
def dirichlet_multinomial(key: Any, alpha: Any, n: Any, size: Any = None) -> TensorVariable:
    """Dirichlet-multinomial counts (int64) of each of K outcomes in ``n`` trials.

    The probabilities are drawn first, from the Dirichlet distribution with the parameters ``alpha`` (..., K) > 0. The shape of
    the draw is ``size`` followed by K, which must be static.
    """
    count = integer_parameter(n, "n")
    distribution = begin(key, None, "float64", core=1, alpha=(alpha, POSITIVE))
    (alpha,) = distribution.values
    outcomes = _outcomes(alpha, "alpha")
    if not outcomes:
        raise ValueError("alpha must have a last axis with at least one concentration")
    own = count.dimshuffle(*range(count.type.ndim), "x")
    shape = draw_shape(key, size, [own, alpha], core=1)
    keys = split(checked(distribution.key, n=(count, NOT_NEGATIVE)), 2)
    logarithms = standard_gamma(keys[..., 0], (*shape, outcomes), alpha, True)
    p = softmax(logarithms, axis=-1)
    counts = _counts(keys[..., 1], shape, count, p, outcomes)
    return without_derivative("dirichlet_multinomial", counts, alpha)


def _outcomes(parameter: Any, name: str) -> int:
    """The length of the last axis; 0 for a scalar. ValueError if it is not static."""
    if not parameter.type.ndim:
        return 0
    if (outcomes := parameter.type.shape[-1]) is None:
        raise ValueError(
            f"The number of outcomes of {name} must be known when the graph is built, got {parameter.type}"
        )
    return static_integer(outcomes, f"number of outcomes of {name}")


def _sums_to_one(p: Any) -> Any:
    return p[..., :-1].sum(axis=-1) <= 1.0 + 1e-12
