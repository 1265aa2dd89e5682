"""Draws by keys: uniform, normal and exponential numbers, integers and booleans.

Users call the functions from `occelo.tensor.random`. A draw is composed of elementwise functions of random bits
(`keys.bits`). So every backend can fuse a draw with the code that reads it, and draws of floats have derivatives with
respect to their parameters. A key must be used for one draw only; `keys.split` makes several keys of one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    eq,
    le,
    lt,
    minimum,
    mod,
    mul,
    sqrt,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_discrete
from occelo_random.ops.draw_derivatives import without_derivative
from occelo_random.ops.either_way import either_way
from occelo_random.ops.keys import bits
from occelo_random.ops.parameters import (
    FRACTION,
    NOT_NEGATIVE,
    checked,
    draw_shape,
    float_parameters,
    require,
    standard_uniform,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["bernoulli", "exponential", "integers", "normal", "standard_normal", "uniform"]


@either_way
def uniform(
    key: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Numbers from the interval [low, high), all with equal probability.

    ``size`` is the shape of the draw: an integer, a sequence of integers or scalar variables, or a vector of static
    length. If ``size`` is None, the shape is the common shape to which the parameters broadcast. The default dtype is
    the dtype of the parameters, or floatX if they are Python numbers or integers. For a batch of keys, each key has a
    draw of the shape ``size``, and the dimensions of the keys come first. Without ``size``, the dimensions of the keys
    broadcast against those of the parameters. If the interval is far from 0, a number may be rounded to ``high``.

    TypeError for a dtype other than float32 and float64. ValueError if the parameters do not broadcast to ``size``, if
    ``high`` is below ``low``, or if ``high - low`` is not finite in the dtype.
    """
    (low, high), name = float_parameters(low, high, dtype=dtype)
    key = require(key, _is_interval, low, high, message="high < low, or high - low is not finite")
    u = standard_uniform(key, draw_shape(key, size, [low, high]), name)
    return add(low, mul(sub(high, low), u))


def _is_interval(low: Any, high: Any) -> Any:
    half = high * 0.5 - low * 0.5  # halves are subtracted, since the whole length may overflow
    return (half >= 0) & (half <= np.finfo(str(low.dtype)).max * 0.5)


@either_way
def exponential(
    key: Any, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Exponential numbers with the mean ``scale``, drawn by inversion. ValueError if ``scale`` is negative.

    ``size`` and ``dtype`` are as in `uniform`.
    """
    (scale,), name = float_parameters(scale, dtype=dtype)
    key = checked(key, scale=(scale, NOT_NEGATIVE))
    u = standard_uniform(key, draw_shape(key, size, [scale]), name, rest=True)
    return mul(scale, exponential_quantile(u))


_NEAR = (
    -3.3408952670514297e-22, -2.37408706321372e-19, 1.5595624147452077e-18, 1.5734249840893945e-17,
    -1.825328774880696e-16, 3.064593190079847e-17, 9.308290460578683e-15, -5.735221444041998e-14,
    -1.1464455824953867e-13, 3.724433936330848e-12, -1.835296386245696e-11, -7.658591205111031e-11,
    1.486649926123177e-09, -5.8161415131622495e-09, -4.111173507827262e-08, 5.988894294256318e-07,
    -1.9310650328765146e-06, -1.9632852817479085e-05, 0.00026408204954264024, -0.0010475115695030076,
    -0.00853289917726757, 0.33963495870114085, 2.338620710026593,
)  # fmt: skip
"""Coefficients of a polynomial in -log(4 u (1 - u)) - 3.125. Its value is the normal quantile of u divided by 2 u - 1.

The coefficients were computed by Chebyshev interpolation with mpmath.
"""
_TAIL = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
_FAR = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093,
     0.29656057182850489123, 1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     0.0148753612908506148525, 0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def _rational(coefficients: Sequence[Sequence[float]], x: Any) -> Any:
    """The quotient of two polynomials in x, computed by Horner's scheme.

    ``coefficients`` are two lists, which begin with the coefficient of the highest power.
    """
    values: list[Any] = []
    for polynomial in coefficients:
        value: Any = polynomial[0]
        for coefficient in polynomial[1:]:
            value = add(mul(value, x), coefficient)
        values.append(value)
    return true_div(*values)


def _tail(u: Any) -> Any:
    """The normal quantile of ``u`` in the tails, by Wichura's algorithm AS 241 (1988, PPND16)."""
    root = sqrt(-log(minimum(u, sub(1.0, u))))
    far = switch(le(root, 5.0), _rational(_TAIL, sub(root, 1.6)), _rational(_FAR, sub(root, 5.0)))
    return switch(lt(u, 0.5), -far, far)


def _quantile(u: Any) -> Any:
    product = mul(u, sub(1.0, u), 4.0)
    t = sub(-log(product), 3.125)
    value: Any = _NEAR[0]
    for coefficient in _NEAR[1:]:
        value = add(mul(value, t), coefficient)
    near = mul(value, sub(mul(u, 2.0), 1.0))
    return switch(lt(product, math.exp(-6.25)), _normal_tail(u), near)


_normal_tail: Elemwise = elementwise(
    "normal_quantile_tail",
    1,
    lambda dtypes: dtypes[0],
    None,
    [None],
    "The quantile of the normal distribution for probabilities u in its tails, with u (1 - u) below exp(-6.25) / 4.",
    formula=_tail,
)
normal_quantile: Elemwise = elementwise(
    "normal_quantile",
    1,
    lambda dtypes: dtypes[0],
    None,
    [None],
    """The number below which a standard normal number lies with probability u, in (0, 1); a relative error near 1e-15.

    The tails are a function of their own: one number in 500 needs it, so in loops it is a cold branch.
    """,
    formula=_quantile,
)
exponential_quantile: Elemwise = elementwise(
    "exponential_quantile",
    1,
    lambda dtypes: dtypes[0],
    None,
    [None],
    "The number above which a standard exponential number lies with probability u, in (0, 1]: -log(u).",
    formula=lambda u: -log(u),
)


def normal_numbers(key: Any, shape: Any, dtype: str) -> TensorVariable:
    """Normal numbers with mean 0 and variance 1. ``shape`` is their shape, without the dimensions of the keys."""
    # float32 numbers are computed in float64, too, which is not slower
    u = cast(standard_uniform(key, shape, dtype, half=True), "float64")
    return cast(normal_quantile(u), dtype)


@either_way
def normal(
    key: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None, dtype: str | None = None
) -> TensorVariable:
    """Normal numbers with mean ``loc`` and standard deviation ``scale``, drawn by inversion.

    ``size`` and ``dtype`` are as in `uniform`. ValueError if ``scale`` is negative. A float64 number is computed from
    52 random bits, so no number is more than 8.2 standard deviations from the mean. A float32 number is computed from
    23 bits, and the limit is 5.4 standard deviations.
    """
    (loc, scale), name = float_parameters(loc, scale, dtype=dtype)
    key = checked(key, scale=(scale, NOT_NEGATIVE))
    z = normal_numbers(key, draw_shape(key, size, [loc, scale]), name)
    return add(loc, mul(scale, z))


@either_way
def standard_normal(key: Any, size: Any = None, dtype: str | None = None) -> TensorVariable:
    """Normal numbers with mean 0 and standard deviation 1. ``size`` and ``dtype`` are as in `uniform`."""
    return normal(key, size=size, dtype=dtype)


@either_way
def bernoulli(key: Any, p: Any = 0.5, size: Any = None) -> TensorVariable:
    """Booleans that are True with probability ``p``. ``size`` is as in `uniform`.

    ValueError if ``p`` is not between 0 and 1.
    """
    (p,), name = float_parameters(p, dtype=None)
    key = checked(key, p=(p, FRACTION))
    draws = lt(standard_uniform(key, draw_shape(key, size, [p]), name), p)
    return without_derivative("bernoulli", draws, p)


def _below(low: Any, high: Any) -> Any:
    return low < high


def _ordered(one: Any, other: Any) -> Any:
    return one <= other


def _representable(key: Any, low: Any, high: Any, dtype: str) -> Any:
    """The key, with run-time checks that the integers from ``low`` to ``high`` are in the range of ``dtype``.

    There is a check for each of the two bounds, unless the dtype of the bound ensures the range.
    """
    bounds = np.iinfo(dtype)
    least, limit = int(bounds.min), int(bounds.max) + 1
    if np.iinfo(low.dtype).min < least:
        first = np.array(least, low.dtype)
        key = require(key, _ordered, first, low, message=f"low is out of bounds for {dtype}")
    if np.iinfo(high.dtype).max > limit:
        last = np.array(limit, high.dtype)
        key = require(key, _ordered, high, last, message=f"high is out of bounds for {dtype}")
    return key


@either_way
def integers(
    key: Any, low: Any, high: Any = None, size: Any = None, dtype: str = "int64"
) -> TensorVariable:
    """Integers from ``low`` to ``high``, which is excluded. With one bound, integers from 0 to this bound.

    ``size`` is as in `uniform`. The integers are remainders of 64 random bits, so each of n integers has the
    probability 1/n, up to a relative error of n / 2**64. TypeError unless bounds and ``dtype`` are of integer dtypes.
    ValueError if ``high`` is not above ``low``, or if an integer is out of the range of ``dtype``.
    """
    if high is None:
        low, high = 0, low
    low, high = (as_tensor_variable(each) for each in (low, high))
    for each in (low.dtype, high.dtype, dtype):
        if not is_discrete(each) or each == "bool":
            raise TypeError(f"Random integers have integer bounds and dtypes, got {each}")
    key = require(key, _below, low, high, message="low >= high")
    key = _representable(key, low, high, dtype)
    shape = draw_shape(key, size, [low, high])
    count = cast(sub(cast(high, "int64"), cast(low, "int64")), "uint64")
    drawn = bits(key, shape)
    steps = mod(drawn, count)
    if high.dtype == "uint64" and not low.dtype.startswith("u"):
        steps = switch(
            eq(count, 0), drawn, steps
        )  # if there are 2**64 integers, their number is 0 in 64 bits
    return cast(add(cast(low, "int64"), cast(steps, "int64")), dtype)
