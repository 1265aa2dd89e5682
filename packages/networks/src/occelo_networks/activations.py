"""Activations: functions of each element, and `softmax` and its relatives over an axis.

They are finite, with their gradients, at large numbers of both signs. Integers become floats, except in `relu` and `relu6`.
NaN stays NaN.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_graph.tensor import logsumexp as logsumexp
from occelo_graph.tensor import sigmoid as sigmoid
from occelo_graph.tensor import tanh as tanh
from occelo_networks.arguments import as_float, as_mask, as_real, as_real_float

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_swish",
    "hard_tanh",
    "identity",
    "leaky_relu",
    "log1mexp",
    "log_sigmoid",
    "log_softmax",
    "logmeanexp",
    "logsumexp",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "soft_sign",
    "softmax",
    "softmin",
    "softplus",
    "sparse_plus",
    "sparse_sigmoid",
    "squareplus",
    "swish",
    "tanh",
]


def identity(x: Any) -> TensorVariable:
    """``x`` itself."""
    return ot.as_tensor_variable(x)


def relu(x: Any) -> TensorVariable:
    """The larger of ``x`` and 0. The derivative at 0 is 0."""
    x = as_real(x, "relu")
    return ot.switch(x <= 0, 0, x)  # the gradient of maximum(x, 0) is 1/2 at 0


def relu6(x: Any) -> TensorVariable:
    """``x``, but not less than 0 and not more than 6. The derivatives at 0 and 6 are 0."""
    x = as_real(x, "relu6")
    return ot.switch(x >= 6, 6, relu(x))


def hard_tanh(x: Any) -> TensorVariable:
    """``x``, but not less than -1 and not more than 1. The derivatives at -1 and 1 are 0."""
    x = as_real_float(x, "hard_tanh")
    return ot.switch(x <= -1, -1, ot.switch(x >= 1, 1, x))


def hard_sigmoid(x: Any) -> TensorVariable:
    """relu6(x + 3) / 6, a piecewise linear `sigmoid`."""
    return relu6(as_real_float(x, "hard_sigmoid") + 3) / 6


def hard_silu(x: Any) -> TensorVariable:
    """x * hard_sigmoid(x)."""
    x = as_real_float(x, "hard_silu")
    return x * hard_sigmoid(x)


def leaky_relu(x: Any, negative_slope: Any = 0.01) -> TensorVariable:
    """``x`` where it is not negative, elsewhere ``negative_slope`` times ``x``."""
    x = as_real_float(x, "leaky_relu")
    return ot.switch(x >= 0, x, x * negative_slope)


def prelu(x: Any, slopes: Any) -> TensorVariable:
    """`leaky_relu` with parameters as slopes: ``slopes`` is a tensor that broadcasts against ``x``."""
    return leaky_relu(as_real(x, "prelu"), ot.as_tensor_variable(slopes))


def elu(x: Any, alpha: Any = 1.0) -> TensorVariable:
    """``x`` where it is positive, elsewhere ``alpha`` times (exp(x) - 1)."""
    x = as_real_float(x, "elu")
    return ot.switch(x > 0, x, alpha * ot.expm1(ot.switch(x > 0, 0, x)))


def celu(x: Any, alpha: Any = 1.0) -> TensorVariable:
    """``x`` where it is positive, elsewhere ``alpha`` times (exp(x / alpha) - 1)."""
    x = as_real_float(x, "celu")
    return ot.switch(x > 0, x, alpha * ot.expm1(ot.switch(x > 0, 0, x) / alpha))


def selu(x: Any) -> TensorVariable:
    """A multiple of `elu` of ``x`` for which normalized inputs have normalized outputs (Klambauer et al., 2017)."""
    return 1.0507009873554805 * elu(as_real(x, "selu"), 1.6732632423543772)


def gelu(x: Any, approximate: bool | str = True) -> TensorVariable:
    """``x`` times the distribution function of the normal distribution at ``x`` (Hendrycks and Gimpel, 2016).

    If ``approximate`` is true, as by default in JAX, the distribution function is approximated by
    ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``. PyTorch's words for true and false are "tanh" and "none";
    ValueError for others.
    """
    if isinstance(approximate, str):
        if approximate not in ("tanh", "none"):
            raise ValueError(
                f"approximate is True or 'tanh', or False or 'none', not {approximate!r}"
            )
        approximate = approximate == "tanh"
    x = as_real_float(x, "gelu")
    if approximate:
        # (1 + tanh(z)) / 2 is sigmoid(2 z), which does not cancel for negative numbers
        return x * ot.sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * x * ot.erfc(-x / math.sqrt(2))


def silu(x: Any) -> TensorVariable:
    """x * sigmoid(x)."""
    x = as_float(x)
    return x * ot.sigmoid(x)


def mish(x: Any) -> TensorVariable:
    """x * tanh(softplus(x))."""
    x = as_float(x)
    return x * ot.tanh(ot.softplus(x))


def softplus(x: Any, beta: Any = 1.0) -> TensorVariable:
    """log(1 + exp(beta * x)) / beta, computed without overflow."""
    x = as_float(x)
    plain = not isinstance(beta, ot.TensorVariable) and beta == 1
    return ot.softplus(x) if plain else ot.softplus(beta * x) / beta


def log_sigmoid(x: Any) -> TensorVariable:
    """log(sigmoid(x))."""
    return -ot.softplus(-as_float(x))


def soft_sign(x: Any) -> TensorVariable:
    """x / (1 + abs(x))."""
    x = as_float(x)
    return x / (1 + ot.abs(x))


def squareplus(x: Any, b: Any = 4.0) -> TensorVariable:
    """(x + sqrt(x**2 + b)) / 2, a `softplus` without exponentials."""
    x = as_float(x)
    return 0.5 * (x + ot.sqrt(x**2 + b))


def sparse_plus(x: Any) -> TensorVariable:
    """0 up to -1, ``x`` from 1 on, and (x + 1)**2 / 4 between."""
    x = as_real_float(x, "sparse_plus")
    return ot.switch(x <= -1, 0, ot.switch(x >= 1, x, 0.25 * (x + 1) ** 2))


def sparse_sigmoid(x: Any) -> TensorVariable:
    """The derivative of `sparse_plus`: (x + 1) / 2, but not less than 0 and not more than 1."""
    return 0.5 * (hard_tanh(as_real(x, "sparse_sigmoid")) + 1)


def glu(x: Any, axis: int = -1) -> TensorVariable:
    """One half of ``x`` along an axis times the `sigmoid` of the other half. ValueError for an odd static length."""
    x = as_float(x)
    axis = normalize_axis(axis, x)
    length = x.type.shape[axis]
    if length is not None and length % 2:
        raise ValueError(f"glu divides axis {axis} in two halves, and its length is {length}")
    half: Any = x.shape[axis] // 2 if length is None else length // 2
    left, right = ot.split(x, [half, half], n_splits=2, axis=axis)
    return left * ot.sigmoid(right)


def softmax(x: Any, axis: Any = -1, where: Any = None) -> TensorVariable:
    """exp(x) divided by its sum over an axis, or over all axes if ``axis`` is None.

    With ``where``, a mask that broadcasts against ``x``, elements are left out of the sum where it is False, and their
    results are 0. Where nothing is left, all results are 0.
    """
    x = as_float(x)
    if where is None:
        return ot.softmax(x, axis)
    mask = as_mask(where, "where")
    return ot.switch(mask, ot.softmax(_masked(x, mask), axis), 0)


def softmin(x: Any, axis: Any = -1) -> TensorVariable:
    """The `softmax` of -x over ``axis``."""
    x = as_real_float(x, "softmin")
    return softmax(-x, None if axis is None else normalize_axes(axis, x))


def log1mexp(x: Any) -> TensorVariable:
    """log(1 - exp(-x)) for positive ``x``, as in JAX; that of ``occelo.tensor`` is log(1 - exp(x)), as in PyTensor."""
    return ot.log1mexp(-as_float(x))


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> TensorVariable:
    """The logarithm of `softmax` of ``x``, with the same ``axis`` and mask. It is -inf where ``where`` is False."""
    x = as_float(x)
    if where is None:
        return ot.log_softmax(x, axis)
    mask = as_mask(where, "where")
    return ot.switch(mask, ot.log_softmax(_masked(x, mask), axis), -math.inf)


def _masked(x: TensorVariable, mask: TensorVariable) -> TensorVariable:
    return ot.switch(mask, x, -math.inf)


def logmeanexp(x: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """log(mean(exp(x))) over one or several axes, or all, computed without overflow.

    With ``keepdims`` the reduced ``axis`` has the length 1.
    """
    x = as_float(x)
    total = ot.logsumexp(x, axis, keepdims)
    return total - ot.log(ot.cast(x.size / total.size, x.dtype))


swish = silu
hard_swish = hard_silu
