"""Stable forms of products as the chain rule makes them: factors that overflow beside factors that underflow.

The derivative of log(sigmoid(x)), for instance, is 1 / s * s * (1 - s) with s = sigmoid(x), and the derivative of a
density often is a sum of quotients, times the derivative of a transformation: (a / s - b / (1 - s)) * s * (1 - s). The
rules in `occelo_rewrite.rules.elemwise.stable` call `without_conflicts` and
`distributed`; `stable_forms` reads quotients in a `Product`.

exp(x), 1 + exp(x), sigmoid(x) and their powers are all written as sigmoid(x)^a sigmoid(-x)^b, since exp(x) = sigmoid(x) /
sigmoid(-x). Where x is large and positive, such a factor is near exp(-b x); where x is large and negative, it is near
exp(a x). So two factors with exponents of opposite signs conflict: one overflows where the other one underflows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from occelo_graph.gradient.expressions import number_in, same
from occelo_graph.gradient.logarithms import Reader
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    mul,
    neg,
    reciprocal,
    sqrt,
    sub,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import exp, pow, sigmoid
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import TensorApply, computed_by
from occelo_graph.tensors.type import is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_MOST = 24
_PRODUCT = ("mul", "true_div", "reciprocal", "neg")
_DIVIDING = ("true_div", "reciprocal")
_SUMS = ("add", "sub")
_ROOTS = ("sqrt", "pow")
_EXTREME = frozenset(
    (*_ROOTS, "exp", "sigmoid", "sqr", "add", "sub", "expm1", "cosh", "sinh", "erfc", "softplus")
)
_WHOLE = (Softmax, CAReduce, DimShuffle)
_LARGEST_POWER = 64.0


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


class Factor(NamedTuple):
    """A factor of a product, and whether it stands in the numerator (``above``)."""

    variable: TensorVariable
    above: bool


class _Power(NamedTuple):
    """sigmoid(x)^a sigmoid(-x)^b. For a = -b, this is exp(a x). If ``is_plain``, it is x^a."""

    x: TensorVariable
    a: float
    b: float
    is_plain: bool = False

    def to(self, power: float) -> _Power:
        return self._replace(a=self.a * power, b=self.b * power)

    def by(self, other: _Power) -> _Power | None:
        """The power as one of the other one's x. None if it is not. exp(-2 x) is exp(x)^-2."""
        if self.is_plain != other.is_plain:
            return None
        if same(self.x, other.x):
            return self
        if self.a != -self.b:
            return None
        own, x = without_number(self.x)
        factor, base = without_number(other.x)
        ratio = own / factor if math.isfinite(own) and factor else 0.0
        if not (ratio and (2 * ratio).is_integer() and same(x, base)):
            return None
        return other._replace(a=self.a * ratio, b=self.b * ratio)

    def conflicts(self, other: _Power) -> bool:
        first, second = (self, other) if self.a == -self.b else (other, self)
        aligned = first.by(second)
        return aligned is not None and (aligned.a * second.a < 0 or aligned.b * second.b < 0)


class Product:
    """A product: its factors, through products and quotients with other users, too, without signs.

    There are no factors if there would be too many.
    """

    def __init__(self, reader: Reader, root: TensorVariable) -> None:
        self.reader = reader
        self.root = root
        self.factors: list[Factor] = []
        self._nodes: dict[Variable, TensorApply[Elemwise]] = {}
        stack = [Factor(root, True)]
        while stack:
            v, above = stack.pop()
            node = reader.node(v, *_PRODUCT)
            if node is None:
                self.factors.append(Factor(v, above))
                continue
            self._nodes[v] = node
            stack += [Factor(each, above != flips) for each, flips in _sides(node)][::-1]
            if len(stack) + len(self.factors) > _MOST:
                self.factors = []
                break

    def without(self, gone: Iterable[Factor]) -> TensorVariable | None:
        """The product without some factors; the others keep their places. None if no factor and no sign is left.

        A factor that occurs more than once is left out as often as it is named.
        """
        return self._without(self.root, Counter(gone), True)

    def _without(
        self, variable: TensorVariable, gone: Counter[Factor], above: bool
    ) -> TensorVariable | None:
        node = self._nodes.get(variable)
        if node is None:
            factor = Factor(variable, above)
            gone[factor] -= 1
            return variable if gone[factor] < 0 else None
        parts = [self._without(v, gone, above != flips) for v, flips in _sides(node)]
        if all(a is b for a, b in zip(parts, node.inputs, strict=True)):
            return variable
        left = [v for v in parts if v is not None]
        name = node.op.scalar_op.name
        if name == "neg":
            return neg(left[0]) if left else self.reader.number(-1.0)
        if name == "mul":
            return None if not left else left[0] if len(left) == 1 else mul(*left)
        if parts[-1] is None:
            return parts[0] if name == "true_div" else None
        return true_div(*left) if len(left) == 2 else reciprocal(left[0])


def _sides(node: TensorApply[Elemwise]) -> list[tuple[TensorVariable, bool]]:
    """The inputs of a node of a product, each with whether the node divides by it."""
    divides = node.op.scalar_op.name in _DIVIDING
    last = len(node.inputs) - 1
    return [(v, divides and i == last) for i, v in enumerate(node.inputs)]


def _power(reader: Reader, variable: TensorVariable, depth: int = 3) -> _Power | None:
    """The variable as sigmoid(x)^a sigmoid(-x)^b. None if it has another form."""
    x = reader.inner(variable, "exp")
    found = None if x is None else _Power(x, 1.0, -1.0)
    if found is None:
        x = reader.logistic(variable)
        found = None if x is None else _Power(x, 1.0, 0.0)
    if found is None:
        x = reader.power_plus_one(variable)
        found = None if x is None else _Power(x, 0.0, -1.0)
    if found is None and reader.computed_by(variable, Softmax) is not None:
        return _Power(variable, 1.0, 0.0, True)
    if found is None:
        law = _power_of_power if reader.node(variable, *_PRODUCT) is None else _power_of_product
        return law(reader, variable, depth - 1) if depth else None
    if number_in(found.x) is not None:
        return None
    opposite = reader.inner(found.x, "neg")
    return found if opposite is None else _Power(opposite, found.b, found.a)


def _power_of_power(reader: Reader, variable: TensorVariable, depth: int) -> _Power | None:
    node = reader.node(variable, "sqr", "sqrt", "pow")
    if node is None:
        return None
    name = node.op.scalar_op.name
    power = {"sqr": 2.0, "sqrt": 0.5}.get(name) if name != "pow" else number_in(node.inputs[1])
    if power is None or not 0 < abs(power) <= _LARGEST_POWER:
        return None
    base = _power(reader, node.inputs[0], depth)
    return None if base is None else base.to(power)


def _power_of_product(reader: Reader, variable: TensorVariable, depth: int) -> _Power | None:
    """The product of powers of one x. It is only read below a power, since a `Product` has no products as factors."""
    node = reader.node(variable, "mul", "true_div", "reciprocal")
    if node is None:
        return None
    found: list[_Power] = []
    for v, flips in _sides(node):
        power = None if number_in(v) == 1 else _power(reader, v, depth)
        if power is None and number_in(v) != 1:
            return None
        if power is not None:
            found.append(power.to(-1.0) if flips else power)
    first = next((p for p in found if p.a != -p.b), found[0])
    aligned = [p.by(first) for p in found]
    made = [p for p in aligned if p is not None]
    if len(made) < len(found):
        return None
    return first._replace(a=sum(p.a for p in made), b=sum(p.b for p in made))


def powers_among(reader: Reader, factors: Sequence[Factor]) -> list[tuple[Factor, _Power]]:
    """The factors that are powers, each with its power. A factor of the denominator has the opposite power."""
    found: list[tuple[Factor, _Power]] = []
    for factor in factors:
        power = _power(reader, factor.variable)
        if power is not None:
            found.append((factor, power if factor.above else power.to(-1.0)))
    return found


def without_conflicts(reader: Reader, variable: TensorVariable) -> TensorVariable | None:
    """A product in which factors that conflict are one: exp(x) sigmoid(-x) = sigmoid(x), s / sqrt(s) = sqrt(s).

    Roots stay roots, so that products around this one can still cancel them; `roots` is for when none is left. None
    if no factors conflict.
    """
    whole = Product(reader, variable)
    powers = powers_among(reader, whole.factors)
    for i, (_, first) in enumerate(powers):
        if not any(first.conflicts(other) for _, other in powers[i + 1 :]):
            continue
        sigmoids = [p for _, p in powers if p.a != -p.b and first.by(p) is not None]
        first = sigmoids[0] if sigmoids else first
        aligned = [(f, p.by(first)) for f, p in powers]
        group = [(f, p) for f, p in aligned if p is not None]
        a, b = sum(p.a for _, p in group), sum(p.b for _, p in group)
        made = _product(reader, first._replace(a=a, b=b))
        rest = whole.without([f for f, _ in group])
        parts = made if rest is None else [rest, *made]
        if not parts:
            return reader.number(1.0)
        return parts[0] if len(parts) == 1 else mul(*parts)
    return None


def _product(reader: Reader, power: _Power) -> list[TensorVariable]:
    """Factors whose product is a power, and of which no two conflict."""
    x, a, b, is_plain = power
    if is_plain:
        return [plain_power(reader, x, a)] if a else []
    made: list[TensorVariable] = []
    if a * b < 0:  # exp(k x) takes what conflicts
        k = math.copysign(min(abs(a), abs(b)), a)
        made.append(exp(scaled(reader, x, k)))
        a, b = a - k, b + k
    if a:
        made.append(plain_power(reader, sigmoid(x), a))
    if b:
        made.append(plain_power(reader, sigmoid(reader.negated(x)), b))
    return made


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


def _terms(reader: Reader, variable: TensorVariable) -> list[tuple[TensorVariable, int]]:
    """The terms of a sum with their signs. An empty list for other variables."""
    node = reader.node(variable, *_SUMS)
    if node is None:
        return []
    subtracts = node.op.scalar_op.name == "sub"
    return [(v, -1 if subtracts and i else 1) for i, v in enumerate(node.inputs)]


def _powers_in_term(reader: Reader, variable: TensorVariable, depth: int = 2) -> list[_Power]:
    """The powers among the factors of a term, and those in the terms of sums among its factors."""
    factors = Product(reader, variable).factors
    found = [p for _, p in powers_among(reader, factors)]
    for factor in factors if depth else ():
        if factor.above:
            for term, _ in _terms(reader, factor.variable):
                found += _powers_in_term(reader, term, depth - 1)
    return found


def distributed(reader: Reader, variable: TensorVariable) -> TensorVariable | None:
    """(a / s + b) s = a + b s, for a power s that conflicts with a term of the sum. None if there is no such factor.

    Terms that do not conflict with any factor stay together, since they may cancel before a factor overflows.
    """
    whole = Product(reader, variable)
    powers = powers_among(reader, whole.factors)
    for total in whole.factors if powers else ():
        terms = _terms(reader, total.variable) if total.above else []
        inside = [_powers_in_term(reader, term) for term, _ in terms]
        chosen = [
            factor
            for factor, power in powers
            if any(power.conflicts(other) for each in inside for other in each)
        ]
        if not chosen:
            continue
        taken = [power for factor, power in powers if factor in chosen]
        parts: list[tuple[TensorVariable, int]] = []
        others: list[tuple[TensorVariable, int]] = []
        for (term, sign), each in zip(terms, inside, strict=True):
            fits = any(power.conflicts(other) for power in taken for other in each)
            (parts if fits else others).append((term, sign))
        if others:
            parts.append((_sum(others), 1))
        made = _sum([(_times(term, chosen), sign) for term, sign in parts])
        rest = whole.without([total, *chosen])
        return made if rest is None else mul(rest, made)
    return None


def _times(term: TensorVariable, factors: Sequence[Factor]) -> TensorVariable:
    for factor in factors:
        term = mul(term, factor.variable) if factor.above else true_div(term, factor.variable)
    return term


def _sum(terms: Sequence[tuple[TensorVariable, int]]) -> TensorVariable:
    total, sign = terms[0]
    total = total if sign > 0 else neg(total)
    for term, sign in terms[1:]:
        total = add(total, term) if sign > 0 else sub(total, term)
    return total


class _Kinds(NamedTuple):
    """A quick look at the factors of a product: how many may overflow or underflow, and whether some are sums or divisors."""

    extreme: int
    sums: bool
    divisors: bool


def _kinds(node: TensorApply[Elemwise]) -> _Kinds:
    extreme, sums, divisors = 0, False, node.op.scalar_op.name in _DIVIDING
    left = _MOST
    stack: list[Variable] = list(node.inputs)
    while stack and left:
        left -= 1
        inner = stack.pop().owner
        if inner is None:
            continue
        if not isinstance(inner.op, Elemwise):
            extreme += isinstance(inner.op, _WHOLE)
            continue
        name = inner.op.scalar_op.name
        if name in _PRODUCT:
            divisors |= name in _DIVIDING
            stack += inner.inputs
        else:
            sums |= name in _SUMS
            extreme += name in _EXTREME or isinstance(inner.op.scalar_op, Cast)
    return _Kinds(extreme, sums, divisors)


def product_in(
    node: TensorApply[Elemwise], sums: bool = False, divisors: bool = False
) -> tuple[Reader, TensorVariable] | None:
    """A reader, and the result of a node, if the node is a product of floats that may have a stable form.

    With ``sums``, one of its factors must be a sum, and with ``divisors`` one must be a divisor.
    """
    dtype = node.outputs[0].type.dtype
    if node.op.inplace or not is_float(dtype):
        return None
    kinds = _kinds(node)
    if kinds.extreme < 2 or (sums and not kinds.sums) or (divisors and not kinds.divisors):
        return None
    return Reader(dtype), node.outputs[0]
