"""Draws by keys from four continuous distributions: von Mises, inverse Gaussian (Wald), skew-normal and truncated normal.

Users call the functions from `occelo.tensor.random`. Skew-normal numbers are computed in the dtype of the draw, all
others in float64. Draws have derivatives with respect to all parameters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    add,
    gt,
    le,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    reciprocal,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.error_functions import erfc, erfcx
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.transcendental import arcsin, exp, log, sin
from occelo_random.ops.draw_derivatives import SLOPES, with_derivative
from occelo_random.ops.draws import normal_numbers, normal_quantile
from occelo_random.ops.either_way import either_way
from occelo_random.ops.parameters import (
    NOT_NEGATIVE,
    POSITIVE,
    begin,
    require,
    standard_uniform,
)
from occelo_random.ops.rejection import Words, rejection

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["skewnorm", "truncnorm", "vonmises", "wald"]


def _angle_attempt(words: Words, kappa: Any) -> Any:
    """One attempt of Best and Fisher's algorithm to draw the absolute value of a von Mises angle; -1 if it is rejected.

    The algorithm is from D. J. Best and N. I. Fisher, "Efficient simulation of the von Mises distribution", 1979.

    In the paper, the cosine of the angle is (1 + r z) / (r + z), where z is the cosine of a uniform angle. Here, 1
    minus each cosine and s = r - 1 are computed instead, without cancellation.
    """
    u, v = words.uniform(0), words.uniform(1)
    root = sqrt(add(mul(kappa, kappa, 4.0), 1.0))
    double = mul(kappa, 2.0)
    # rho = (root + 1 - sqrt(2 root + 2)) / double; 1 - rho is computed first, since it is small for a large kappa
    shortfall = sub(sqrt(mul(add(root, 1.0), 2.0)), add(1.0, reciprocal(add(root, double))))
    lacking = true_div(shortfall, double)
    rho = sub(1.0, lacking)
    small = lt(kappa, 1e-5)
    s = switch(
        small,
        sub(add(reciprocal(kappa), kappa), 1.0),
        true_div(mul(lacking, lacking), mul(switch(small, 1.0, rho), 2.0)),
    )
    half = sin(mul(u, math.pi / 2))
    z = mul(half, half, 2.0)  # 1 minus the cosine of the uniform angle
    w = true_div(mul(s, z), sub(add(s, 2.0), z))
    y = mul(kappa, add(s, w))
    rejected = lt(add(log(true_div(y, v)), sub(1.0, y)), 0.0)
    return switch(rejected, -1.0, mul(arcsin(sqrt(minimum(mul(w, 0.5), 1.0))), 2.0))


_angles = rejection("vonmises", 1, 2, _angle_attempt)


def _angle_slope(angle: Array, kappa: Array) -> Array:
    """The derivative of von Mises angles with respect to kappa.

    The derivative is the integral of -exp(kappa (cos t - cos angle)) (cos t - A) over t from 0 to the angle.

    A is the mean of the cosine of angles, I1(kappa) / I0(kappa), which is also computed by an integral. Both integrals
    are computed by the Gauss-Legendre rule with 64 nodes. The integral for A omits angles whose density is negligible.
    """
    angle, kappa = (np.array(v, "float64") for v in np.broadcast_arrays(angle, kappa))
    nodes, weights = np.polynomial.legendre.leggauss(64)
    at = 0.5 * (nodes + 1)

    def lack(t: Any) -> Any:
        return 2 * np.sin(t / 2) ** 2

    with np.errstate(all="ignore"):
        end = np.minimum(np.pi, 13 / np.sqrt(np.maximum(kappa, 1e-300)))[..., None]
        t = end * at
        mass = np.exp(-kappa[..., None] * lack(t)) * weights
        mean_lack = (mass * lack(t)).sum(-1) / mass.sum(-1)
        t = angle[..., None] * at
        inside = np.exp(kappa[..., None] * (lack(angle)[..., None] - lack(t)))
        total = (inside * (mean_lack[..., None] - lack(t)) * weights).sum(-1)
    return -0.5 * angle * total


angle_slope: Elemwise = elementwise(
    "vonmises_slope",
    2,
    lambda dtypes: "float64",
    _angle_slope,
    doc="The derivative of von Mises angles with respect to the concentration, from the angles and the concentration.",
)


def _angle_slopes(angle: Any, kappa: Any) -> list[Any]:
    return [angle_slope(angle, kappa)]


SLOPES["vonmises"] = _angle_slopes


@either_way
def vonmises(
    key: Any, mu: Any, kappa: Any, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Von Mises angles from -pi to pi, with a density proportional to exp(kappa cos(x - mu)).

    A ``kappa`` below 1e-8 or above 1e40 is replaced by this bound.
    """
    distribution = begin(key, size, dtype, mu=mu, kappa=(kappa, NOT_NEGATIVE))
    mu, kappa = distribution.values
    one, other = distribution.split(2)
    # below the first bound the angles are uniform, and above the second they are 0, to the last digit
    concentration = minimum(maximum(cast(kappa, "float64"), 1e-8), 1e40)
    magnitude = _angles(one, distribution.shape, concentration)
    side = lt(standard_uniform(other, distribution.shape, "float64"), 0.5)
    angle = with_derivative("vonmises", switch(side, neg(magnitude), magnitude), concentration)
    turned = mod(add(cast(mu, "float64"), angle, math.pi), 2 * math.pi)
    return cast(sub(turned, math.pi), distribution.dtype)


@either_way
def wald(
    key: Any, mean: Any, scale: Any, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Inverse Gaussian (Wald) numbers with mean ``mean`` and variance ``mean**3 / scale``.

    Each number is one of the two roots of an equation with a chi-square number (Michael, Schucany and Haas, 1976). The
    choice of the root depends on the parameters. So the derivatives are not computed by the chain rule, but as in
    `draw_derivatives`.
    """
    distribution = begin(key, size, dtype, mean=(mean, POSITIVE), scale=(scale, POSITIVE))
    mean, scale = (cast(v, "float64") for v in distribution.values)
    one, other = distribution.split(2)
    z = normal_numbers(one, distribution.shape, "float64")
    y = true_div(mul(mean, z, z), scale)
    # the smaller root divided by the mean, computed without cancellation
    root = true_div(2.0, add(2.0, y, mul(sqrt(y), sqrt(add(y, 4.0)))))
    u = standard_uniform(other, distribution.shape, "float64")
    smaller = le(u, reciprocal(add(root, 1.0)))
    draws = mul(mean, switch(smaller, root, reciprocal(root)))
    return cast(with_derivative("wald", draws, mean, scale), distribution.dtype)


def _wald_slopes(x: Any, mean: Any, scale: Any) -> list[Any]:
    """The derivatives of inverse Gaussian draws x with respect to the mean and the scale.

    The derivative by the mean is -dF/dmean / p, where F is the distribution function and p is the density. The
    derivative by the scale follows from the derivative by the mean, since c x is a draw with the parameters c mean and
    c scale.

    F(x) is Phi(a) + exp(2 scale / mean) Phi(-b), where a is sqrt(scale / x) (x / mean - 1) and b is sqrt(scale / x) (x
    / mean + 1). In dF/dmean, the two terms with the normal density cancel.
    """
    ratio = true_div(x, mean)
    b = mul(sqrt(true_div(scale, x)), add(ratio, 1.0))
    by_mean = mul(sqrt(mul(scale, true_div(ratio, mean))), ratio, math.sqrt(2 * math.pi))
    by_mean = mul(by_mean, erfcx(mul(b, _ROOT)))
    return [by_mean, true_div(sub(x, mul(mean, by_mean)), scale)]


SLOPES["wald"] = _wald_slopes


_SKEWEST = 1e12
"""For a larger skewness parameter, the distribution is the half-normal distribution, to the last digit."""


@either_way
def skewnorm(
    key: Any,
    a: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: str | None = None,
) -> TensorVariable:
    """Skew-normal numbers with the skewness parameter ``a``, times ``scale``, plus ``loc``, as in SciPy."""
    distribution = begin(key, size, dtype, a=a, loc=loc, scale=(scale, NOT_NEGATIVE))
    a, loc, scale = distribution.values
    a = minimum(maximum(a, -_SKEWEST), _SKEWEST)
    one, other = distribution.split(2)
    size_ = abs(normal_numbers(one, distribution.shape, distribution.dtype))
    z = normal_numbers(other, distribution.shape, distribution.dtype)
    return add(loc, mul(scale, true_div(add(mul(a, size_), z), sqrt(add(1.0, mul(a, a))))))


@either_way
def truncnorm(
    key: Any,
    a: Any,
    b: Any,
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Any = None,
    dtype: str | None = None,
) -> TensorVariable:
    """Truncated normal numbers, between ``loc + a scale`` and ``loc + b scale``, as in SciPy. ValueError unless a < b.

    They are drawn by inversion, even if both bounds are far in a tail, beyond 40 standard deviations. An infinite bound
    has no derivative.
    """
    distribution = begin(key, size, dtype, a=a, b=b, loc=loc, scale=(scale, NOT_NEGATIVE))
    values = distribution.values
    checked = require(distribution.key, _below, values[0], values[1], message="a >= b")
    a, b, loc, scale = (cast(v, "float64") for v in values)
    u = standard_uniform(checked, distribution.shape, "float64", half=True)
    # an interval in the upper tail is mirrored to the lower tail, where probabilities are small numbers
    upper = gt(add(a, b), 0.0)
    low, high = switch(upper, neg(b), a), switch(upper, neg(a), b)
    quantile = _between(low, high, switch(upper, sub(1.0, u), u))
    x = minimum(maximum(switch(upper, neg(quantile), quantile), a), b)
    return cast(add(loc, mul(scale, with_derivative("truncnorm", x, a, b, u))), distribution.dtype)


def _below(a: Any, b: Any) -> Any:
    return a < b


_ROOT = math.sqrt(0.5)
_DEEP = -5.0
_FARTHEST = 1e150
"""Larger bounds are replaced by this number, so that squares are finite. That far out, draws equal the nearer bound to
the last digit.
"""


def _between(low: Any, high: Any, u: Any) -> Any:
    """The u-quantile of a standard normal number X between ``low`` and ``high``, where low + high <= 0.

    It is the number x for which P(low < X < x) is u P(low < X < high).
    """
    deep = lt(high, _DEEP)
    below = mul(erfc(mul(low, -_ROOT)), 0.5)
    whole = sub(mul(erfc(mul(high, -_ROOT)), 0.5), below)
    # if the other branch is used, the probability is replaced by 1/2
    usual = normal_quantile(switch(deep, 0.5, add(below, mul(u, whole))))
    near = switch(deep, minimum(neg(high), _FARTHEST), -_DEEP)
    far = switch(deep, neg(low), -2 * _DEEP)
    return switch(deep, neg(_beyond(near, far, u)), usual)


def _beyond(near: Any, far: Any, u: Any) -> Any:
    """The (1 - u)-quantile of a standard normal number X between ``near`` and ``far``, where ``near`` is far above 0.

    It is the number x for which P(x < X < far) is u P(near < X < far). Newton's method solves the logarithm of this
    equation. Let Q(x) be P(X > x). Then log Q(x) is -x**2 / 2 + log(erfcx(x / sqrt(2)) / 2), and its derivative is
    minus the hazard rate.
    """
    scale = log(erfcx(mul(near, _ROOT)))
    # the probability beyond an infinite bound is 0
    end = minimum(far, _FARTHEST)
    rest = exp(
        sub(sub(log(erfcx(mul(end, _ROOT))), scale), mul(sub(end, near), add(end, near), 0.5))
    )
    e = -log(add(u, mul(sub(1.0, u), rest)))
    x = sqrt(add(mul(near, near), mul(e, 2.0)))
    for _ in range(4):
        own = erfcx(mul(x, _ROOT))
        excess = sub(sub(mul(sub(x, near), add(x, near), 0.5), sub(log(own), scale)), e)
        x = sub(x, mul(excess, own, math.sqrt(math.pi / 2)))
    return x


def _bound_slopes(x: Any, a: Any, b: Any, u: Any) -> list[Any]:
    return [
        mul(exp(mul(sub(x, a), add(x, a), 0.5)), sub(1.0, u)),
        mul(exp(mul(sub(x, b), add(x, b), 0.5)), u),
        None,
    ]


SLOPES["truncnorm"] = _bound_slopes
