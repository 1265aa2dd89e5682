"""Stable forms of quotients, such as exp(x) / (1 + exp(x)) = sigmoid(x), also of two factors of a product.

`stable_forms` calls `quotient_form` for the nodes of quotients. A rule in `occelo_rewrite.rules.elemwise.stable` calls
`quotient_in_product`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from occelo_forms.expressions import number_in, same
from occelo_forms.logarithms import Reader, read_of_whole, smallest_exponent
from occelo_forms.powers import read_power, without_number
from occelo_forms.products import Product
from occelo_graph.ops.elemwise.arithmetic import (
    gt,
    maximum,
    minimum,
    mul,
    neg,
    reciprocal,
    sqr,
    sub,
    switch,
)
from occelo_graph.ops.elemwise.error_functions import erfc, erfcx
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import exp, expm1, sigmoid, tanh
from occelo_graph.ops.reduce import Softmax
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.tensors.nodes import TensorApply, computed_by

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_Node = TensorApply[Elemwise]
_Law = Callable[
    [Reader, "list[TensorVariable]", "TensorVariable", "TensorVariable"], "TensorVariable | None"
]


def _times(factors: list[TensorVariable], made: TensorVariable) -> TensorVariable:
    return mul(*factors, made) if factors else made


def _without(
    reader: Reader, factors: list[TensorVariable], exponent: TensorVariable
) -> list[TensorVariable] | None:
    """The factors without the factor exp(``exponent``). None if there is no such factor."""
    for i, factor in enumerate(factors):
        power = reader.inner(factor, "exp")
        if power is not None and same(power, exponent):
            return factors[:i] + factors[i + 1 :]
    return None


def quotient_form(reader: Reader, node: _Node) -> TensorVariable | None:
    """The stable form of a quotient or reciprocal. None if none is known."""
    argument = reader.logistic(node.outputs[0])
    if argument is not None:
        return sigmoid(argument)
    reciprocal = node.op.scalar_op.name == "reciprocal"
    top = reader.number(1.0) if reciprocal else node.inputs[0]
    bottom = node.inputs[-1]
    factors = reader.factors(top)
    values = () if reader.to_differentiate else _LAWS_OF_VALUES
    return _form((*_LAWS_OF_QUOTIENTS, *values, *_LAWS_OF_WHOLES), reader, factors, top, bottom)


def _form(
    laws: Iterable[tuple[_Law, frozenset[str | None] | None]],
    reader: Reader,
    factors: list[TensorVariable],
    top: TensorVariable,
    bottom: TensorVariable,
) -> TensorVariable | None:
    """The form of the first law that applies."""
    divisor = reader.function(bottom)
    for law, divisors in laws:
        if divisors is None or divisor in divisors:
            form = law(reader, factors, top, bottom)
            if form is not None:
                return form
    return None


def quotient_in_product(whole: Product) -> TensorVariable | None:
    """A product with a quotient of two factors in its stable form: y / cosh(x) * sinh(x) = y tanh(x).

    None if there is no such quotient.
    """
    reader = whole.reader
    reader.renew()
    computed = [f for f in dict.fromkeys(whole.factors) if f.variable.owner is not None]
    laws = (*_LAWS_OF_QUOTIENTS, *_LAWS_OF_VALUES)
    for bottom in [f for f in computed if not f.above]:
        for top in [f for f in computed if f.above]:
            form = _form(laws, reader, [top.variable], top.variable, bottom.variable)
            if form is not None:
                rest = whole.without([top, bottom])
                return form if rest is None else mul(rest, form)
    return None


def _over_power_plus_one(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w / (1 + exp(x)) = w sigmoid(-x), and w exp(x) / (1 + exp(x)) = w sigmoid(x)."""
    exponent = reader.power_plus_one(bottom)
    if exponent is None:
        return None
    rest = _without(reader, factors, exponent)
    if rest is not None:
        return _times(rest, sigmoid(exponent))
    return mul(top, sigmoid(reader.negated(exponent)))


def _over_opposite(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w sigmoid(x) / sigmoid(-x) = w exp(x): the odds of a probability."""
    below = reader.logistic(bottom)
    if below is None:
        return None
    opposite = reader.negated(below)
    for i, factor in enumerate(factors):
        argument = reader.logistic(factor)
        if argument is not None and same(argument, opposite):
            return _times([*factors[:i], *factors[i + 1 :]], exp(argument))
    return None


def _over_square(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w exp(x) / (1 + exp(x))^2 = w sigmoid(x) sigmoid(-x)."""
    base = reader.square_root(bottom)
    exponent = None if base is None else reader.power_plus_one(base)
    rest = None if exponent is None else _without(reader, factors, exponent)
    if exponent is None or rest is None:
        return None
    return _times(rest, mul(sigmoid(exponent), sigmoid(reader.negated(exponent))))


def _over_erfc(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w exp(-x^2) / erfc(x) = w / erfcx(x) where x > 1 (DLMF 7.2). For negative x, erfcx may overflow."""
    x = reader.inner(bottom, "erfc")
    if x is None or reader.is_switch(x):
        return None
    for i, factor in enumerate(factors):
        power = reader.inner(factor, "exp")
        if power is not None and _is_negative_square(reader, power, x):
            large = gt(x, 1)
            safe, other = switch(large, x, 1), switch(large, 1, x)
            quotient = switch(large, reciprocal(erfcx(safe)), exp(neg(sqr(other))) / erfc(other))
            return _times(factors[:i] + factors[i + 1 :], quotient)
    return None


def _is_negative_square(reader: Reader, variable: TensorVariable, x: TensorVariable) -> bool:
    """Whether a variable is -x^2, also if x has a numeric factor: -y^2 / 2 for an x of y / sqrt(2)."""
    factor, factors = _number_and_factors(reader, variable)
    root = reader.square_root(factors[0]) if len(factors) == 1 else None
    if len(factors) == 2 and same(factors[0], factors[1]):
        root = factors[0]
    if root is None:
        return False
    inner, root = without_number(root, reader.view)
    own, base = without_number(x, reader.view)
    return same(root, base) and math.isclose(
        -factor * inner**2, own**2, rel_tol=4 * float(np.finfo(reader.dtype).eps)
    )


def _number_and_factors(
    reader: Reader, variable: TensorVariable
) -> tuple[float, list[TensorVariable]]:
    """A number and variables, whose product is a variable. For -x x / 2 they are -1/2, x and x."""
    number, base = without_number(variable, reader.view)
    value = number_in(base)
    if value is not None:
        return number * value, []
    node = reader.node(base, "mul")
    if node is None:
        return number, [base]
    parts = [_number_and_factors(reader, v) for v in node.inputs]
    return number * math.prod(n for n, _ in parts), [f for _, fs in parts for f in fs]


def _over_total(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w exp(x) / sum(exp(x)) = w softmax(x), and w exp(x)[i] / sum(exp(x)) = w softmax(x)[i]."""
    total = reader.sum_of_powers(bottom, top.type.ndim)
    if total is not None:
        axis, summed = total
        rest = _without(reader, factors, summed)
        if rest is not None:
            return _times(rest, Softmax(axis)(summed))
    for i, factor in enumerate(factors):
        power = reader.exponent(factor)
        if power is None:
            continue
        others = factors[:i] + factors[i + 1 :]
        read = read_of_whole(reader, power, bottom)
        if read is not None:
            return _times(others, read(Softmax))
        if not reader.to_differentiate and _are_roots_of_one(reader, factor, bottom):
            continue  # other factors may cancel them
        whole = None if reader.inner(bottom, "erfc") is not None else reader.log_of(bottom)
        if whole is not None and whole.helps and whole.sure and reader.inner(bottom, "exp") is None:
            return _times(others, exp(sub(power, whole.form)))
    return None


def _are_roots_of_one(reader: Reader, a: TensorVariable, b: TensorVariable) -> bool:
    """Whether two variables are powers of the same x, and roots are among them, which `products` cancels."""
    first, second = read_power(reader, a), read_power(reader, b)
    if first is None or second is None or first.by(second) is None:
        return False
    return not all(float(p).is_integer() for p in (first.a, first.b, second.a, second.b))


def _of_totals(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """sum(w exp(x)) / sum(exp(x)) = sum(w softmax(x))."""
    above, below = reader.reduction(top, "add"), reader.reduction(bottom, "add")
    if above is None or below is None or above.op.axis != below.op.axis:
        return None
    summed = reader.inner(below.inputs[0], "exp")
    if summed is None:
        return None
    rest = _without(reader, reader.factors(above.inputs[0]), summed)
    if not rest or summed.type.ndim != above.inputs[0].type.ndim:
        return None
    return sum_(_times(rest, Softmax(above.op.axis)(summed)), axis=above.op.axis)


def _hyperbolic(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """sinh(x) / cosh(x) = tanh(x), and (exp(x) - exp(y)) / (exp(x) + exp(y)) = tanh((x - y) / 2).

    In the second law, 1 is read as exp(0).
    """
    sine, cosine = reader.inner(top, "sinh"), reader.inner(bottom, "cosh")
    if sine is not None and cosine is not None:
        return tanh(sine) if same(sine, cosine) else None
    below = reader.node(bottom, "add")
    above = _difference_of_powers(reader, top)
    if above is None or below is None or len(below.inputs) != 2:
        return None
    a, b = above
    c, d = (_exponent(reader, v) for v in below.inputs)
    if c is None or d is None:
        return None
    if not ((same(a, c) and same(b, d)) or (same(a, d) and same(b, c))):
        return None
    if number_in(a) == 0 or number_in(b) == 0:
        one_first = number_in(a) == 0
        return tanh(half(reader, reader.negated(b) if one_first else a))
    opposite = same(reader.negated(a), b) or same(a, reader.negated(b))
    return tanh(a) if opposite else tanh(sub(a, b) * 0.5)


def _exponent(reader: Reader, variable: TensorVariable) -> TensorVariable | None:
    """Return x if the variable is exp(x), and 0 if the variable is 1. Else None."""
    return reader.number(0.0) if number_in(variable) == 1 else reader.inner(variable, "exp")


def _difference_of_powers(
    reader: Reader, variable: TensorVariable
) -> tuple[TensorVariable, TensorVariable] | None:
    """Return x and y if the variable is exp(x) - exp(y), where 1 is read as exp(0). Else None."""
    inner = reader.inner(variable, "neg")
    if inner is not None:
        exponents = _difference_of_powers(reader, inner)
        return None if exponents is None else (exponents[1], exponents[0])
    less_one = reader.inner(variable, "expm1")
    if less_one is not None:
        return less_one, reader.number(0.0)
    node = reader.node(variable, "sub", "add")
    if node is None or len(node.inputs) != 2:
        return None
    first, second = node.inputs
    if node.op.scalar_op.name == "add":
        first, second = (second, first) if number_in(first) == -1 else (first, second)
        a = None if number_in(second) != -1 else reader.inner(first, "exp")
        return None if a is None else (a, reader.number(0.0))
    a, b = _exponent(reader, first), _exponent(reader, second)
    return None if a is None or b is None else (a, b)


def _less_one_over_power(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """(exp(x) - 1) / exp(x) = 1 - exp(-x)."""
    exponent = reader.inner(bottom, "exp")
    above = None if exponent is None else _difference_of_powers(reader, top)
    if exponent is None or above is None:
        return None
    if number_in(above[1]) != 0 or not same(above[0], exponent):
        return None
    return neg(expm1(reader.negated(exponent)))


def _over_weighted_total(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """u exp(x) / sum(w exp(x)) = u softmax(x) / sum(w softmax(x))."""
    total = reader.spread_reduction(bottom, top.type.ndim)
    if total is None:
        return None
    weights = reader.factors(total.inputs[0])
    powers = [reader.inner(w, "exp") for w in weights]
    exponent = next((e for e in powers if e is not None), None)
    rest = None if exponent is None else _without(reader, factors, exponent)
    others = None if exponent is None else _without(reader, weights, exponent)
    if exponent is None or rest is None or not others:
        return None
    if exponent.type.ndim != total.inputs[0].type.ndim:
        return None
    axis = total.op.axis
    share = Softmax(axis)(exponent)
    return _times(rest, share / sum_(_times(others, share), axis=axis, keepdims=True))


def _over_difference_of_powers(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w exp(x) / (exp(x) - exp(y)) = -w / expm1(y - x), and w exp(y) / (exp(x) - exp(y)) = w / expm1(x - y).

    1 is read as exp(0).
    """
    below = _difference_of_powers(reader, bottom)
    if below is None:
        return None
    for i, factor in enumerate(factors):
        power = reader.inner(factor, "exp")
        for (own, other), sign in ((below, -1), (below[::-1], 1)):
            if power is not None and same(power, own):
                quotient = reciprocal(expm1(_less(reader, other, own)))
                rest = factors[:i] + factors[i + 1 :]
                return _times(rest, quotient if sign > 0 else neg(quotient))
    return None


def _slope_of_log1mexp(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w exp(x) / expm1(x) = -w / expm1(-x), as the derivative of log1mexp(x) has it, with the sign of its divisor where it is 0."""
    node = reader.computed_by(bottom, Elemwise)
    if node is None or node.op.scalar_op.name != "switch" or number_in(node.inputs[1]) != 0:
        return None
    x = reader.inner(node.inputs[2], "expm1")
    zero = computed_by(node.inputs[0], Elemwise)
    if x is None or zero is None or zero.op.scalar_op.name != "eq" or not same(zero.inputs[0], x):
        return None
    rest = _without(reader, factors, x)
    if rest is None:
        return None
    opposite = reader.negated(x)
    if reader.inner(opposite, "exp") is None:  # a power is never -0
        opposite = switch(node.inputs[0], reader.number(0.0), opposite)
    return _times(rest, neg(reciprocal(expm1(opposite))))


def _less(reader: Reader, a: TensorVariable, b: TensorVariable) -> TensorVariable:
    """a - b, without a number 0."""
    if number_in(a) == 0:
        return reader.negated(b)
    return a if number_in(b) == 0 else sub(a, b)


def _over_expm1_of_power(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """w u / (exp(u) - 1) for u = exp(x), where u would underflow or overflow: it is w or 0 there, to the last digit."""
    below = _difference_of_powers(reader, bottom)
    x = None if below is None else reader.inner(below[0], "exp")
    if below is None or x is None or number_in(below[1]) != 0:
        return None
    if reader.node(x, "maximum", "minimum") is not None:
        return None  # the form below contains such a quotient itself
    rest = _without(reader, factors, x)
    if rest is None:
        return None
    least = smallest_exponent(reader.dtype)
    power = exp(maximum(minimum(x, reader.number(-least)), reader.number(least)))
    return _times(rest, power / expm1(power))


def _of_powers(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """exp(x) / exp(y) = exp(x - y)."""
    a, b = reader.inner(top, "exp"), reader.inner(bottom, "exp")
    return None if a is None or b is None else exp(sub(a, b))


def _over(*names: str | None) -> frozenset[str | None]:
    return frozenset(names)


_LAWS_OF_QUOTIENTS = (
    (_hyperbolic, _over("cosh", "add")),
    (_over_power_plus_one, _over("add")),
    (_over_opposite, _over("sigmoid", "reciprocal", "true_div", "sub", None)),
    (_over_square, _over("sqr", "pow", "mul")),
    (_over_erfc, _over("erfc")),
    (_over_total, None),
    (_less_one_over_power, _over("exp")),
)
"""Laws for quotients of which numerator and denominator may be factors among others.

Each has the functions of the denominators that it reads, in the terms of `ExpressionReader.function`; None for all.
"""
_LAWS_OF_VALUES = (
    (_over_weighted_total, _over(None)),
    (_over_expm1_of_power, _over("neg", "expm1", "sub", "add")),
    (_over_difference_of_powers, _over("neg", "expm1", "sub", "add")),
    (_slope_of_log1mexp, _over("switch")),
)
"""Such laws whose forms have no stable derivatives."""
_LAWS_OF_WHOLES = ((_of_totals, _over(None)), (_of_powers, _over("exp")))
"""Laws for quotients of which the denominator is all of the node's."""


def half(reader: Reader, argument: TensorVariable) -> TensorVariable:
    """Half of a variable: y for 2 y, and x / 2 for all other x."""
    product = reader.node(argument, "mul")
    if product is not None and len(product.inputs) == 2:
        for factor, other in (product.inputs, product.inputs[::-1]):
            value = number_in(factor)
            if value is not None and abs(value) == 2:
                return other if value > 0 else reader.negated(other)
    return mul(argument, reader.number(0.5))
