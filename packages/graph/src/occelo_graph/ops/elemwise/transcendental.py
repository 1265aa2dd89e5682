"""Elementwise powers, exponentials and logarithms, and trigonometric, hyperbolic and sigmoid functions.

Most are ops: an `Elemwise` with a scalar op that `elementwise` defines here. Users call them from `occelo.tensor`.
Gradients, stable forms, rules and functions of other families build graphs with them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ops.arguments import refuse_out
from occelo_graph.ops.elemwise.arithmetic import (
    abs,
    eq,
    ge,
    gt,
    maximum,
    mul,
    neg,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import Monotone, Sign, in_floats, inexact, ufunc_rule
from occelo_graph.tensors.nodes import computed_by
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.signatures import DerivativeOfTensors, Formula
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "deg2rad", "exp", "exp2",
    "expit", "expm1", "log", "log1mexp", "log1p", "log1pexp", "log2", "log10", "logaddexp", "pow", "power", "rad2deg",
    "sigmoid", "sin", "sinh", "softplus", "softsign", "tan", "tanh",
]  # fmt: skip


def _unary(
    name: str,
    ufunc: np.ufunc,
    derivative: DerivativeOfTensors,
    doc: str,
    sign: Sign | None = None,
    formula: Formula | None = None,
    monotone: Monotone | None = None,
) -> Elemwise:
    return elementwise(
        name,
        1,
        ufunc_rule(ufunc),
        ufunc,
        [derivative],
        doc,
        holomorphic=True,
        sign=sign,
        formula=formula,
        monotone=monotone,
    )


def _exp_partial(ct: TensorVariable, x: TensorVariable, out: TensorVariable) -> TensorVariable:
    """The derivative of exp applied to the cotangent ``ct``: ``ct * out``, where ``out`` is exp(x).

    If ``ct`` is ``a / out``, the result is ``a``. The product ``ct * out`` might multiply 0 by infinity.
    """
    divided = _undivided(ct, out)
    return ct * out if divided is None else divided


def _undivided(ct: TensorVariable, divisor: TensorVariable) -> TensorVariable | None:
    """``ct * divisor`` without the division by ``divisor`` in ``ct``. None if ``ct`` is not a quotient of a known form.

    The known forms are ``a / divisor``, ``-(a / divisor)``, and the product of one of them and a second factor. ``a``
    must have the type of the quotient.
    """
    owner = computed_by(ct, Elemwise)
    if owner is not None and owner.op == mul and len(owner.inputs) == 2:
        top = _undivided_quotient(owner.inputs[0], divisor)
        return None if top is None else top * owner.inputs[1]
    return _undivided_quotient(ct, divisor)


def _undivided_quotient(ct: TensorVariable, divisor: TensorVariable) -> TensorVariable | None:
    owner = computed_by(ct, Elemwise)
    if owner is None:
        return None
    if owner.op == true_div and owner.inputs[1] is divisor:
        top = owner.inputs[0]
        return top if top.type == ct.type else None
    if owner.op == neg:
        inner = _undivided_quotient(owner.inputs[0], divisor)
        return None if inner is None else neg(inner)
    return None


exp: Elemwise = _unary("exp", np.exp, _exp_partial, "e ** x.", "unsigned", monotone="increasing")
exp2: Elemwise = _unary(
    "exp2",
    np.exp2,
    lambda ct, x, out: ct * out * math.log(2),
    "2 ** x.",
    "unsigned",
    monotone="increasing",
)
expm1: Elemwise = _unary(
    # for x far below 0, the derivative out + 1 would cancel
    "expm1",
    np.expm1,
    lambda ct, x, out: ct * exp(x),
    "e ** x - 1, precise near 0.",
    monotone="increasing",
)
log: Elemwise = _unary("log", np.log, lambda ct, x, out: ct / x, "Natural logarithm of x.")
log1p: Elemwise = _unary(
    "log1p", np.log1p, lambda ct, x, out: ct / (1 + x), "log(1 + x), precise near 0."
)
log2: Elemwise = _unary(
    "log2", np.log2, lambda ct, x, out: ct / (x * math.log(2)), "Logarithm of x to base 2."
)
log10: Elemwise = _unary(
    "log10", np.log10, lambda ct, x, out: ct / (x * math.log(10)), "Logarithm of x to base 10."
)


def _pow_base(
    ct: TensorVariable, x: TensorVariable, y: TensorVariable, out: TensorVariable
) -> TensorVariable:
    if isinstance(y, Constant) and y.data.ndim == 0:
        exponent: Any = taken(y).item()
        if exponent == 0:
            return ct * 0
        if exponent == 1:
            return ct
        if exponent == 2:
            return ct * (2 * x)
        return ct * (exponent * x ** (exponent - 1))
    # if y is 0, the power does not depend on x; without the switch, 0 * x ** -1 could be 0 times infinity. It is as small as
    # that: elsewhere this is also differentiated by y
    least = float(np.finfo(x.dtype).smallest_normal)
    constant = eq(y, 0) & ~ge(abs(x), least)
    return ct * switch(constant, 0.0, y * x ** switch(constant, 1, sub(y, 1)))


def _pow_exponent(
    ct: TensorVariable, x: TensorVariable, y: TensorVariable, out: TensorVariable
) -> TensorVariable:
    # if the base is 0 and the exponent is positive, the derivative is 0
    return ct * out * log(switch(eq(x, 0) & ge(y, 0), 1, x))


pow: Elemwise = elementwise(
    "pow",
    2,
    ufunc_rule(np.power),
    np.power,
    [_pow_base, _pow_exponent],
    "x to the power y. The derivative with respect to x is 0 if y is 0.",
    holomorphic=True,
    infix=("**", 8),
    python_only="a negative exponent of an integer is an error that depends on the data",
)
power = pow
sin: Elemwise = _unary("sin", np.sin, lambda ct, x, out: ct * cos(x), "Sine of x in radians.")
cos: Elemwise = _unary("cos", np.cos, lambda ct, x, out: -ct * sin(x), "Cosine of x in radians.")
tan: Elemwise = _unary(
    "tan",
    np.tan,
    lambda ct, x, out: ct * (1 + out * out),
    "Tangent of x in radians.",
    formula=lambda x: None if is_complex(x.dtype) else true_div(sin(x), cos(x)),
)
arcsin: Elemwise = _unary(
    "arcsin",
    np.arcsin,
    lambda ct, x, out: ct / (1 - x * x) ** 0.5,
    "Inverse sine of x, in radians.",
)
arccos: Elemwise = _unary(
    "arccos",
    np.arccos,
    lambda ct, x, out: -ct / (1 - x * x) ** 0.5,
    "Inverse cosine of x, in radians.",
)
arctan: Elemwise = _unary(
    "arctan",
    np.arctan,
    lambda ct, x, out: ct / (1 + x * x),
    "Inverse tangent of x, in radians.",
    monotone="increasing",
)
arctan2: Elemwise = elementwise(
    "arctan2",
    2,
    ufunc_rule(np.arctan2),
    np.arctan2,
    [
        lambda ct, y, x, out: ct * x / (x * x + y * y),
        lambda ct, y, x, out: -ct * y / (x * x + y * y),
    ],
    "Angle of the point (x, y), in radians; the first argument is y.",
)
sinh: Elemwise = _unary(
    "sinh", np.sinh, lambda ct, x, out: ct * cosh(x), "Hyperbolic sine of x.", monotone="increasing"
)
cosh: Elemwise = _unary(
    "cosh", np.cosh, lambda ct, x, out: ct * sinh(x), "Hyperbolic cosine of x.", "unsigned"
)
tanh: Elemwise = _unary(
    "tanh",
    np.tanh,
    lambda ct, x, out: ct * (1 - out * out),
    "Hyperbolic tangent of x.",
    monotone="increasing",
)


def _root_of_square_plus_one(x: TensorVariable) -> TensorVariable:
    """(x^2 + 1)^(1/2), which is |x| to the last digit long before x^2 overflows."""
    (x,) = in_floats(x)
    if is_complex(x.dtype):
        return (x * x + 1) ** 0.5
    large = gt(abs(x), 2 / math.sqrt(np.finfo(x.dtype).eps))
    near = switch(large, 0, x)
    return switch(large, abs(x), (near * near + 1) ** 0.5)


arcsinh: Elemwise = _unary(
    "arcsinh",
    np.arcsinh,
    lambda ct, x, out: ct / _root_of_square_plus_one(x),
    "Inverse hyperbolic sine of x.",
    monotone="increasing",
)
arccosh: Elemwise = _unary(
    "arccosh",
    np.arccosh,
    lambda ct, x, out: ct / ((x - 1) ** 0.5 * (x + 1) ** 0.5),
    "Inverse hyperbolic cosine of x.",
)
arctanh: Elemwise = _unary(
    "arctanh", np.arctanh, lambda ct, x, out: ct / (1 - x * x), "Inverse hyperbolic tangent of x."
)
deg2rad: Elemwise = _unary(
    "deg2rad",
    np.deg2rad,
    lambda ct, x, out: ct * (math.pi / 180),
    "Degrees x in radians.",
    formula=lambda x: mul(*in_floats(x), math.pi / 180),
    monotone="increasing",
)
rad2deg: Elemwise = _unary(
    "rad2deg",
    np.rad2deg,
    lambda ct, x, out: ct * (180 / math.pi),
    "x, in radians, in degrees.",
    formula=lambda x: mul(*in_floats(x), 180 / math.pi),
    monotone="increasing",
)


def _as_inexact(x: Array) -> Array:
    return np.asarray(x, dtype=inexact([x.dtype.name]))


def _sigmoid(x: Array) -> Array:
    x = _as_inexact(x)
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def _sigmoid_formula(x: TensorVariable) -> TensorVariable:
    (x,) = in_floats(x)
    if is_complex(x.dtype):
        return true_div(1, 1 + exp(neg(x)))
    small = exp(neg(abs(x)))
    return true_div(switch(ge(x, 0), 1, small), 1 + small)


sigmoid: Elemwise = elementwise(
    "sigmoid",
    1,
    inexact,
    _sigmoid,
    # sigmoid(-x) is 1 - out, which would cancel if out is near 1
    [lambda ct, x, out: ct * out * sigmoid(-x)],
    "1 / (1 + exp(-x)), without overflow.",
    formula=_sigmoid_formula,
    holomorphic=True,
    sign="unsigned",
    monotone="increasing",
)
expit = sigmoid


def _softplus(x: Array) -> Array:
    x = _as_inexact(x)
    if x.dtype.kind == "c":
        # both terms are scaled by exp(-scale), so that nothing overflows
        real: Array = np.real(x)
        scale = np.maximum(real, 0)
        return np.where(
            real > 0, scale + np.log(np.exp(-scale) + np.exp(x - scale)), np.log1p(np.exp(x))
        )
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _softplus_formula(x: TensorVariable) -> TensorVariable | None:
    (x,) = in_floats(x)
    if is_complex(x.dtype):
        return None
    return maximum(x, 0) + log1p(exp(neg(abs(x))))


softplus: Elemwise = elementwise(
    "softplus",
    1,
    inexact,
    _softplus,
    [lambda ct, x, out: ct * sigmoid(x)],
    "log(1 + exp(x)), without overflow.",
    formula=_softplus_formula,
    holomorphic=True,
    sign="unsigned",
    monotone="increasing",
)
log1pexp = softplus


def _log1mexp(x: Array) -> Array:
    # the precise form for each x: Maechler, "Accurately computing log(1 - exp(-|a|))", 2012
    x = _as_inexact(x)
    return np.where(x > -math.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def _log1mexp_formula(x: TensorVariable) -> TensorVariable:
    (x,) = in_floats(x)
    near = log(neg(expm1(x)))
    return switch(gt(x, -math.log(2)), near, log1p(neg(exp(x))))


log1mexp: Elemwise = elementwise(
    "log1mexp",
    1,
    inexact,
    _log1mexp,
    # this equals -1 / expm1(-x), whose derivatives overflow
    # the slope at 0 is that of the numbers below
    [lambda ct, x, out: ct * exp(x) / switch(eq(x, 0), -0.0, expm1(x))],
    "log(1 - exp(x)) for x < 0, precise for all x.",
    formula=_log1mexp_formula,
    holomorphic=False,
)


def _logaddexp_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    x, y = in_floats(x, y)
    gap = neg(abs(sub(x, y)))
    # the switch is needed since the difference of equal infinities is NaN
    return maximum(x, y) + switch(eq(x, y), math.log(2), log1p(exp(gap)))


def _softsign(x: Array) -> Array:
    x = _as_inexact(x)
    return x / (1 + np.abs(x))


def _softsign_formula(x: TensorVariable) -> TensorVariable:
    (x,) = in_floats(x)
    return x / (1 + abs(x))


softsign: Elemwise = elementwise(
    "softsign",
    1,
    inexact,
    _softsign,
    [lambda ct, x, out: ct / (1 + abs(x)) ** 2],
    "x / (1 + abs(x)), which is between -1 and 1. NaN for infinities.",
    holomorphic=False,
    formula=_softsign_formula,
    keeps_sign=("nonnegative", "unsigned"),
)


logaddexp2: Elemwise = elementwise(
    "logaddexp",
    2,
    ufunc_rule(np.logaddexp),
    np.logaddexp,
    [lambda ct, x, y, out: ct * sigmoid(x - y), lambda ct, x, y, out: ct * sigmoid(y - x)],
    "log(exp(x) + exp(y)), without overflow.",
    formula=_logaddexp_formula,
    commutative=True,
    holomorphic=False,
)


def logaddexp(*xs: Any) -> Any:
    """``log(exp(x1) + exp(x2) + ...)`` of all ``xs``, computed without overflow. TypeError for fewer than two arguments."""
    if len(xs) < 2:
        raise TypeError(f"logaddexp takes at least 2 arguments, got {len(xs)}")
    refuse_out("logaddexp", xs)
    result = logaddexp2(xs[0], xs[1])
    for x in xs[2:]:
        result = logaddexp2(result, x)
    return result
