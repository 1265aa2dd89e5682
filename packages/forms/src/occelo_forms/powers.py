"""`read_power`: expressions that grow or vanish exponentially, as powers of sigmoids and factors of ordinary size.

exp(x), 1 + exp(x), sigmoid(x), softplus(x), hyperbolic functions and their powers are all written as
r sigmoid(x)^a sigmoid(-x)^b, since exp(x) = sigmoid(x) / sigmoid(-x). Where x is large and positive, such an expression
is near r exp(-b x); where x is large and negative, it is near r exp(a x). So two factors with exponents of opposite
signs conflict: one overflows where the other one underflows. `products` and `roots` combine them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from occelo_forms.expressions import number_in, same
from occelo_forms.logarithms import Reader, as_cosh, smallest_exponent
from occelo_graph.ops.elemwise.arithmetic import lt, maximum, mul, reciprocal, sqrt, switch
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import cosh, exp, pow, sigmoid, softplus, tanh
from occelo_graph.ops.reduce import Softmax
from occelo_graph.tensors.nodes import TensorApply, computed_by

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

PRODUCT = ("mul", "true_div", "reciprocal", "neg")
"""The scalar functions of the nodes of a product."""
DIVIDING = ("true_div", "reciprocal")
_LARGEST_POWER = 64.0
_FRACTION = 64
"""Exponents that are multiples of 1 / 64 cancel exactly."""


def without_number(
    variable: TensorVariable, view: Callable[[TensorVariable], TensorVariable] | None = None
) -> tuple[float, TensorVariable]:
    """A number and a variable whose product is the given variable, as ``view`` shows it."""
    factor = 1.0
    while True:
        variable = variable if view is None else view(variable)
        node = computed_by(variable, Elemwise)
        name = "" if node is None else node.op.scalar_op.name
        if node is None or len(node.inputs) > 2 or name not in ("mul", "true_div", "neg"):
            return factor, variable
        if any(v.type.dtype != variable.type.dtype for v in node.inputs):
            return factor, variable
        if name == "neg":
            factor, variable = -factor, node.inputs[0]
            continue
        first, last = node.inputs
        value = number_in(last)
        if not value and name == "mul":
            first, value = last, number_in(first)
        if not value:
            return factor, variable
        factor, variable = factor / value if name == "true_div" else factor * value, first


class Power(NamedTuple):
    """r sigmoid(x)^a sigmoid(-x)^b. For a = -b, this is r exp(a x). If ``is_plain``, it is r x^a.

    ``rest`` has the factors of r, each with its exponent. None of them vanishes or grows exponentially. If x is 2 y and
    the power was a hyperbolic function of y, ``half`` is y.
    """

    x: TensorVariable
    a: float
    b: float
    is_plain: bool = False
    rest: tuple[tuple[TensorVariable, float], ...] = ()
    half: TensorVariable | None = None

    def to(self, power: float) -> Power:
        rest = tuple((v, p * power) for v, p in self.rest)
        return self._replace(a=self.a * power, b=self.b * power, rest=rest)

    def by(self, other: Power) -> Power | None:
        """The power as one of the other one's x. None if it is not. exp(-2 x) is exp(x)^-2."""
        if self.is_plain != other.is_plain:
            return None
        if same(self.x, other.x):
            return self._replace(half=other.half)
        own, x = without_number(self.x)
        factor, base = without_number(other.x)
        ratio = own / factor if math.isfinite(own) and factor else 0.0
        if not (ratio and (_FRACTION * ratio).is_integer() and same(x, base)):
            return None
        if abs(ratio) == 1:
            a, b = (self.a, self.b) if ratio > 0 else (self.b, self.a)
        elif self.a == -self.b:
            a, b = self.a * ratio, self.b * ratio
        else:
            return None
        return other._replace(a=a, b=b, rest=self.rest)

    @property
    def signed(self) -> list[tuple[TensorVariable, float]]:
        """The factors of r that may be negative."""
        return [(v, p) for v, p in self.rest if _is_signed(v)]

    @property
    def has_sign_of_one_factor(self) -> bool:
        """Whether roots of the power are products of the roots of its factors, also where these are negative."""
        signed = self.signed
        return not signed or (
            len(signed) == 1 and signed[0][1] == 1 and signed[0][0].owner is not None
        )

    def conflicts(self, other: Power) -> bool:
        first, second = (self, other) if self.a == -self.b else (other, self)
        aligned = first.by(second)
        return aligned is not None and (aligned.a * second.a < 0 or aligned.b * second.b < 0)


def _is_signed(variable: TensorVariable) -> bool:
    node = computed_by(variable, Elemwise)
    if node is None:
        return (number_in(variable) or -1) < 0
    return node.op.scalar_op.name != "switch"


def product_of(powers: Sequence[Power], first: Power) -> Power | None:
    """The product of powers, as a power of ``first``'s x. None if one of them is not a power of it."""
    aligned = [p.by(first) for p in powers]
    fitting = [p for p in aligned if p is not None]
    if len(fitting) < len(aligned):
        return None
    a, b = sum(p.a for p in fitting), sum(p.b for p in fitting)
    return first._replace(a=a, b=b, rest=tuple(each for p in fitting for each in p.rest))


def read_power(reader: Reader, variable: TensorVariable, depth: int = 3) -> Power | None:
    """The variable as a power. None if it has another form."""
    name = reader.function(variable)
    for law in _LAWS.get(name, ()):
        power = law(reader, variable)
        if power is not None:
            return None if number_in(power.x) is not None else power
    law = _power_of_product if name in PRODUCT else _power_of_power if name in _POWERS else None
    return law(reader, variable, depth - 1) if law is not None and depth else None


def _directed(reader: Reader, x: TensorVariable, a: float, b: float) -> Power:
    """sigmoid(x)^a sigmoid(-x)^b as a power of y if x is -y."""
    opposite = reader.inner(x, "neg")
    return Power(x, a, b) if opposite is None else Power(opposite, b, a)


def _of_exp(reader: Reader, variable: TensorVariable) -> Power | None:
    """exp(x) = sigmoid(x) / sigmoid(-x)."""
    x = reader.inner(variable, "exp")
    return None if x is None else _of_exponents(reader, x) or _directed(reader, x, 1.0, -1.0)


def _of_logistic(reader: Reader, variable: TensorVariable) -> Power | None:
    x = reader.logistic(variable)
    return None if x is None else _directed(reader, x, 1.0, 0.0)


def _of_power_plus_one(reader: Reader, variable: TensorVariable) -> Power | None:
    """1 + exp(x) = 1 / sigmoid(-x)."""
    x = reader.power_plus_one(variable)
    return None if x is None else _directed(reader, x, 0.0, -1.0)


def _of_exponents(reader: Reader, total: TensorVariable) -> Power | None:
    """exp(c x + softplus(x)) = exp(c x) / sigmoid(-x). None if no term of the sum is a multiple of softplus(x)."""
    node = reader.node(total, "add", "sub")
    powers: list[Power] = []
    for i, term in enumerate([] if node is None else node.inputs):
        factor, x = without_number(term, reader.view)
        if i and node is not None and node.op.scalar_op.name == "sub":
            factor = -factor
        inner = reader.inner(x, "softplus")
        powers.append(
            Power(x, factor, -factor) if inner is None else _directed(reader, inner, 0.0, -factor)
        )
    first = next((p for p in powers if p.a != -p.b), None)
    return None if first is None else product_of(powers, first)


def _of_softmax(reader: Reader, variable: TensorVariable) -> Power | None:
    fits = reader.computed_by(variable, Softmax) is not None
    return Power(variable, 1.0, 0.0, True) if fits else None


def _of_softplus(reader: Reader, variable: TensorVariable) -> Power | None:
    """softplus(x) = sigmoid(x) softplus(m) / sigmoid(m) for m = max(x, k): the quotient is 1 for all x below k."""
    x = reader.inner(variable, "softplus")
    if x is None or reader.node(x, "maximum", "exp", "cosh") is not None:
        return None  # for a maximum, the function is the numerator here; for exp(y), it is exp(y) or a number near 1
    least = reader.number(smallest_exponent(reader.dtype))
    large = maximum(x, least)
    # the switch is no product, so its numerator and denominator are not combined with other factors
    ratio = switch(lt(x, least), reader.number(1.0), softplus(large) / sigmoid(large))
    return _directed(reader, x, 1.0, 0.0)._replace(rest=((ratio, 1.0),))


def _of_small(reader: Reader, variable: TensorVariable) -> Power | None:
    """f(s) = s r for s = sigmoid(x), where r is 1 where s may underflow, for an f such as tanh."""
    node = reader.node(variable, "tanh", "sinh", "expm1", "log1p")
    x = None if node is None else reader.inner(node.inputs[0], "sigmoid")
    if node is None or x is None:
        return None
    s, one = node.inputs[0], reader.number(1.0)
    small = lt(s, reader.number(float(np.finfo(reader.dtype).tiny)))
    normal = switch(small, one, s)
    ratio = switch(small, one, node.op(normal) / normal)
    return _directed(reader, x, 1.0, 0.0)._replace(rest=((ratio, 1.0),))


def _of_hyperbolic(reader: Reader, variable: TensorVariable) -> Power | None:
    """cosh(x) = (sigmoid(2 x) sigmoid(-2 x))^(-1/2) / 2, sinh(x) = tanh(x) cosh(x), expm1(x) = tanh(x / 2) / sigmoid(-x)."""
    x = reader.inner(variable, "expm1")
    opposite = None if x is None else reader.inner(x, "neg")
    # where exp(y) underflows, quotients by expm1(exp(y)) have better forms
    if x is not None and reader.inner(x if opposite is None else opposite, "exp") is None:
        power = _directed(reader, x, 0.0, -1.0)
        return power._replace(rest=((tanh(mul(x, reader.number(0.5))), 1.0),))
    x = reader.inner(variable, "cosh")
    if x is not None:
        return _of_cosh(reader, x, 1.0)
    x = reader.inner(variable, "sinh")
    if x is None:
        return None
    power = _of_cosh(reader, x, 1.0)
    return power._replace(rest=(*power.rest, (tanh(x), 1.0)))


def _of_cosh(reader: Reader, x: TensorVariable, power: float) -> Power:
    """cosh(x)^power."""
    opposite = reader.inner(x, "neg")
    x = x if opposite is None else opposite
    twice = mul(x, reader.number(2.0))
    return Power(twice, -0.5, -0.5, rest=((reader.number(0.5), 1.0),), half=x).to(power)


def power_of_bounded(reader: Reader, variable: TensorVariable) -> Power | None:
    """1 + tanh(x) = 2 sigmoid(2 x), 1 - tanh(x)^2 = 1 / cosh(x)^2, and exp(x) + exp(-x) = 2 cosh(x)."""
    node = reader.node(variable, "add", "sub")
    if node is None:
        return None
    adds = node.op.scalar_op.name == "add"
    x = as_cosh(reader, node.inputs) if adds else None
    if x is not None:
        power = _of_cosh(reader, x, 1.0)
        return power._replace(rest=())
    total = reader.bounded_sum(*((node.inputs, ()) if adds else (node.inputs[:1], node.inputs[1:])))
    sign = -1.0 if total is not None and total.a < 0 else 1.0
    total = None if total is None else total.times(sign)
    function = None if total is None or not total.vanishes else total.function
    if total is None or function is None or function.name == "erf":
        return None
    factor = (reader.number(sign * total.a), 1.0)
    if function.name == "tanh^2":
        power = _of_cosh(reader, function.x, -2.0)
        return None if total.b > 0 else power._replace(rest=(*power.rest, factor))
    inner = reader.inner(function.x, "neg")
    x, rises = (function.x, total.b > 0) if inner is None else (inner, total.b < 0)
    twice, rest = mul(x, reader.number(2.0)), ((reader.number(2.0), 1.0), factor)
    return Power(twice, float(rises), float(not rises), rest=rest, half=x)


_LAWS: dict[str | None, tuple[Callable[[Reader, TensorVariable], Power | None], ...]] = {
    None: (_of_logistic, _of_softmax),
    "exp": (_of_exp,),
    **dict.fromkeys(("sigmoid", "reciprocal", "true_div"), (_of_logistic,)),
    "add": (_of_power_plus_one, power_of_bounded),
    "sub": (_of_logistic, power_of_bounded),
    "softplus": (_of_softplus,),
    **dict.fromkeys(("tanh", "log1p"), (_of_small,)),
    **dict.fromkeys(("sinh", "expm1"), (_of_small, _of_hyperbolic)),
    "cosh": (_of_hyperbolic,),
}
"""What reads a variable as a power, by the scalar function that computes it."""
_POWERS = ("sqr", "sqrt", "pow")


def _power_of_power(reader: Reader, variable: TensorVariable, depth: int) -> Power | None:
    node = reader.node(variable, "sqr", "sqrt", "pow")
    if node is None:
        return None
    name = node.op.scalar_op.name
    power = {"sqr": 2.0, "sqrt": 0.5}.get(name) if name != "pow" else number_in(node.inputs[1])
    if power is None or not 0 < abs(power) <= _LARGEST_POWER:
        return None
    base = read_power(reader, node.inputs[0], depth)
    if base is None or not (power.is_integer() or base.has_sign_of_one_factor):
        return None
    return base.to(power)


def _power_of_product(reader: Reader, variable: TensorVariable, depth: int) -> Power | None:
    """The product of powers of one x. It is only read below a power, since a `Product` has no products as factors."""
    node = reader.node(variable, "mul", "true_div", "reciprocal")
    if node is None:
        return None
    powers: list[Power] = []
    others: list[tuple[TensorVariable, float]] = []
    for v, flips in sides(node):
        power = None if number_in(v) is not None else read_power(reader, v, depth)
        sign = -1.0 if flips else 1.0
        if power is not None:
            powers.append(power.to(sign))
        elif number_in(v) is None:
            return None
        elif number_in(v) != 1:
            others.append((v, sign))
    first = next((p for p in powers if p.a != -p.b), powers[0]) if powers else None
    whole = None if first is None else product_of(powers, first)
    return None if whole is None else whole._replace(rest=(*whole.rest, *others))


def sides(node: TensorApply[Elemwise]) -> list[tuple[TensorVariable, bool]]:
    """The inputs of a node of a product, each with whether the node divides by it."""
    divides = node.op.scalar_op.name in DIVIDING
    last = len(node.inputs) - 1
    return [(v, divides and i == last) for i, v in enumerate(node.inputs)]


def factors_of(reader: Reader, power: Power) -> list[TensorVariable]:
    """Factors whose product is a power, and of which no two conflict."""
    x, a, b, is_plain, rest, half = power
    number = 1.0
    factors: list[TensorVariable] = []
    for v, exponent in rest:
        value = number_in(v)
        if value is None:
            factors.append(plain_power(reader, v, exponent))
        else:
            number *= value**exponent
    if is_plain:
        factors += [plain_power(reader, x, a)] if a else []
    elif half is not None and a == b != 1:
        number *= 4.0**-a
        factors += [plain_power(reader, cosh(half), -2 * a)] if a else []
    else:
        if a * b < 0:  # exp(k x) takes what conflicts
            k = math.copysign(min(abs(a), abs(b)), a)
            factors.append(exp(scaled(reader, x, k)))
            a, b = a - k, b + k
        for each, exponent in ((x, a), (reader.negated(x), b)):
            if exponent:
                factors.append(plain_power(reader, sigmoid(each), exponent))
    return factors if number == 1 else [reader.number(number), *factors]


def plain_power(reader: Reader, base: TensorVariable, power: float) -> TensorVariable:
    """base^power, by the function for this power."""
    if power == 1:
        return base
    if power == -1:
        return reciprocal(base)
    return sqrt(base) if power == 0.5 else pow(base, reader.number(power))


def scaled(reader: Reader, x: TensorVariable, factor: float) -> TensorVariable:
    """x times a number."""
    if factor == 1:
        return x
    return reader.negated(x) if factor == -1 else mul(x, reader.number(factor))
