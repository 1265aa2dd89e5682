"""Stable forms of roots, and of other powers between -1 and 1: the root of a number that underflows is a normal number.

`stable_forms` calls `root_form`, and a rule in `occelo_rewrite.rules.elemwise.stable` calls `split_root`, whose results
have factors that `products` cancels. So `root_form` is for what is left then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from occelo_forms.expressions import number_in
from occelo_forms.logarithms import LEAST_SEEN, Reader, smallest_exponent
from occelo_forms.powers import Power, factors_of, plain_power, read_power, scaled
from occelo_forms.products import Product, powers_among
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import add, lt, maximum, minimum, mul, sub, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import exp, sigmoid
from occelo_graph.tensors.nodes import TensorApply

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def _power_in(node: TensorApply[Elemwise]) -> float | None:
    """The c of x^c, if it is between -1 and 1 and not 0."""
    power = 0.5 if node.op.scalar_op.name == "sqrt" else number_in(node.inputs[1])
    return power if power is not None and 0 < abs(power) < 1 else None


def root_form(reader: Reader, node: TensorApply[Elemwise]) -> TensorVariable | None:
    """The form of a root of exp(x), sigmoid(x), 1 + exp(x), cosh(x) or tanh(exp(x)). None for other roots."""
    power = _power_in(node)
    if power is None:
        return None
    for law in _LAWS:
        form = law(reader, node.inputs[0], power)
        if form is not None:
            return form
    return None


def _of_exp(reader: Reader, base: TensorVariable, power: float) -> TensorVariable | None:
    """exp(x)^c = exp(c x), for a power of two c, so that c x is exact."""
    x = reader.inner(base, "exp")
    exact = abs(math.frexp(power)[0]) == 0.5
    return exp(scaled(reader, x, power)) if x is not None and exact else None


def _of_logistic(reader: Reader, base: TensorVariable, power: float) -> TensorVariable | None:
    """sigmoid(x)^c = sigmoid(max(x, k))^c exp(c min(x - k, 0)), for a k where sigmoid(k) is exp(k) and normal.

    (1 + exp(x))^c is sigmoid(-x)^-c.
    """
    x = reader.logistic(base)
    if x is None:
        opposite = reader.power_plus_one(base)
        if opposite is None:
            return None
        x, power = reader.negated(opposite), -power
    if reader.node(x, "maximum") is not None:
        return None  # the form contains such a power of sigmoid(max(x, k)) itself
    least = reader.number(smallest_exponent(reader.dtype))
    root = plain_power(reader, sigmoid(maximum(x, least)), power)
    return mul(root, exp(scaled(reader, minimum(sub(x, least), reader.number(0.0)), power)))


def _of_cosh(reader: Reader, base: TensorVariable, power: float) -> TensorVariable | None:
    """cosh(x)^c = (1/2 + exp(-2 |x|) / 2)^c exp(c |x|)."""
    x = reader.inner(base, "cosh")
    if x is None:
        return None
    size, half = abs_(x), reader.number(0.5)
    rest = add(half, mul(half, exp(scaled(reader, size, -2.0))))
    return mul(plain_power(reader, rest, power), exp(scaled(reader, size, power)))


def root_of_sum(reader: Reader, base: TensorVariable, power: float) -> TensorVariable | None:
    """(exp(x) + exp(y))^c = exp(c log(exp(x) + exp(y))), of a value only where the sum overflows or underflows."""
    terms = reader.node(base, "add")
    log_sum = None if terms is None or read_power(reader, base) is not None else reader.log_of(base)
    if log_sum is None or not (log_sum.helps and log_sum.sure):
        return None
    form = exp(scaled(reader, log_sum.form, power))
    if reader.to_differentiate:
        return form
    normal = lt(abs_(log_sum.form), -smallest_exponent(reader.dtype))
    return switch(normal, plain_power(reader, switch(normal, base, 1), power), form)


def root_of_powers(reader: Reader, base: TensorVariable) -> TensorVariable | None:
    """sqrt(y exp(x)) = sqrt(y) exp(x / 2), to differentiate. So no derivative divides by the root of a y exp(x) that underflows."""
    whole = Product(reader, base)
    powers = [(f, reader.exponent(f.variable)) for f in whole.factors]
    taken = [(f, x) for f, x in powers if x is not None]
    if not taken:
        return None
    exponents = [x if f.above else reader.negated(x) for f, x in taken]
    total = add(*exponents) if len(exponents) > 1 else exponents[0]
    root = exp(scaled(reader, total, 0.5))
    rest = whole.without([f for f, _ in taken])
    return root if rest is None else mul(plain_power(reader, rest, 0.5), root)


def root_of_odd(reader: Reader, base: TensorVariable, power: float) -> TensorVariable | None:
    """tanh(exp(x))^c = exp(c x) where exp(x) is so small that it is tanh(exp(x)) to the last digit, and the like.

    Derivatives need it for expm1 only. Those of the others are products that have better forms where exp(x) overflows.
    """
    names = ("expm1",) if reader.to_differentiate else ("tanh", "sinh", "expm1", "log1p")
    node = reader.node(base, *names)
    logarithm = None if node is None else reader.log_of(node.inputs[0])
    if node is None or logarithm is None or not (logarithm.helps and logarithm.sure):
        return None
    if reader.is_switch(node.inputs[0]):
        return None  # the form contains such a root itself
    small = lt(logarithm.form, LEAST_SEEN)
    normal = node.op(switch(small, reader.number(1.0), node.inputs[0]))
    form = exp(scaled(reader, logarithm.form, power))
    return switch(small, form, plain_power(reader, normal, power))


_LAWS: tuple[Callable[[Reader, TensorVariable, float], TensorVariable | None], ...] = (
    _of_exp,
    _of_logistic,
    _of_cosh,
    root_of_sum,
    root_of_odd,
)


def _is_split(reader: Reader, base: TensorVariable, power: Power) -> bool:
    """Whether a power is better read as a product. Others, such as cosh(x), have laws of their own here."""
    of_bounded = power.half is not None and reader.node(base, "add", "sub") is not None
    return of_bounded or any(v.owner is not None for v, _ in power.rest)


def split_root(node: TensorApply[Elemwise]) -> TensorVariable | None:
    """A root as a product of roots, of which one underflows by itself. None for other nodes.

    (y s)^c = y^c s^c for a power s of exp(x) or sigmoid(x), and sqr(y s) = sqr(y) sqr(s) if s is a root.
    The same holds for softplus(x), sinh(x) and 1 - tanh(x)^2, as `read_power` reads them.
    """
    squares = node.op.scalar_op.name == "sqr"
    power = 2.0 if squares else _power_in(node)
    if power is None:
        return None
    base = node.inputs[0]
    reader = Reader(base.type.dtype)
    if not squares:
        power_of = read_power(reader, base, depth=0)
        fits = power_of is not None and power_of.has_sign_of_one_factor
        if power_of is not None and fits and _is_split(reader, base, power_of):
            return mul(*factors_of(reader, power_of.to(power)))
    if reader.node(base, "mul", "true_div", "reciprocal") is None:
        return None
    whole = Product(reader, base)
    taken = powers_among(reader, whole.factors)
    if squares:
        taken = [each for each in taken if reader.node(each[0].variable, "sqrt") is not None]
    if not taken:
        return None
    rest = whole.without([f for f, _ in taken])
    left = [] if rest is None else [rest]
    roots: list[TensorVariable] = []
    for factor, each in taken:
        if each.signed:  # the product may be positive where this factor is negative
            left += [plain_power(reader, v, p) for v, p in each.signed]
            positive = tuple(r for r in each.rest if r not in each.signed)
            roots += factors_of(reader, each._replace(rest=positive).to(power))
        else:
            roots.append(plain_power(reader, factor.variable, power if factor.above else -power))
    return mul(
        *([plain_power(reader, mul(*left) if len(left) > 1 else left[0], power)] if left else []),
        *roots,
    )
