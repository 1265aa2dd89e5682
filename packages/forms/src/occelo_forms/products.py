"""Stable forms of products as the chain rule makes them: factors that overflow beside factors that underflow.

The derivative of log(sigmoid(x)), for instance, is 1 / s * s * (1 - s) with s = sigmoid(x), and the derivative of a
density often is a sum of quotients, times the derivative of a transformation: (a / s - b / (1 - s)) * s * (1 - s). The
rules in `occelo_rewrite.rules.elemwise.stable` call `without_conflicts` and
`distributed`; `stable_forms` reads quotients in a `Product`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from occelo_forms.logarithms import Reader
from occelo_forms.powers import (
    DIVIDING,
    PRODUCT,
    Power,
    factors_of,
    product_of,
    read_power,
    sides,
)
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Op
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    eq,
    isinf,
    mul,
    neg,
    reciprocal,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import TensorApply
from occelo_graph.tensors.type import is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_MOST = 24
_SUMS = ("add", "sub")
_ROOTS = ("sqrt", "pow")
_ALGEBRAIC = (*_SUMS, *_ROOTS, "sqr")
_GROWING = ("exp", "expm1", "cosh", "sinh")
_EXTREME = frozenset(
    (
        *_ROOTS,
        "exp",
        "sigmoid",
        "sqr",
        "add",
        "sub",
        "expm1",
        "cosh",
        "sinh",
        "erfc",
        "softplus",
        "tanh",
        "log1p",
    )
)
_WHOLE = (Softmax, CAReduce, DimShuffle)


class Factor(NamedTuple):
    """A factor of a product, and whether it stands in the numerator (``above``)."""

    variable: TensorVariable
    above: bool


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
            node = reader.node(v, *PRODUCT)
            if node is None:
                self.factors.append(Factor(v, above))
                continue
            self._nodes[v] = node
            stack += [Factor(each, above != flips) for each, flips in sides(node)][::-1]
            if len(stack) + len(self.factors) > _MOST:
                self.factors = []
                break

    @cached_property
    def powers(self) -> list[tuple[Factor, Power]]:
        """The factors that are powers, each with its power."""
        return powers_among(self.reader, self.factors)

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
        parts = [self._without(v, gone, above != flips) for v, flips in sides(node)]
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


def powers_among(reader: Reader, factors: Sequence[Factor]) -> list[tuple[Factor, Power]]:
    """The factors that are powers, each with its power. A factor of the denominator has the opposite power."""
    pairs: list[tuple[Factor, Power]] = []
    power_of: dict[Variable, Power | None] = {}
    for factor in factors:
        if factor.variable not in power_of:
            power_of[factor.variable] = read_power(reader, factor.variable)
        power = power_of[factor.variable]
        if power is not None:
            pairs.append((factor, power if factor.above else power.to(-1.0)))
    return pairs


def without_conflicts(whole: Product) -> TensorVariable | None:
    """A product in which factors that conflict are one: exp(x) sigmoid(-x) = sigmoid(x), s / sqrt(s) = sqrt(s).

    Roots stay roots, so that products around this one can still cancel them; `roots` is for when none is left. None
    if no factors conflict.
    """
    reader, powers = whole.reader, whole.powers
    for i, (_, first) in enumerate(powers):
        if not any(first.conflicts(other) for _, other in powers[i + 1 :]):
            continue
        leads = [p for _, p in powers if p.a != -p.b and first.by(p) is not None]
        first = leads[0] if leads else first
        group = [(f, p) for f, p in powers if p.by(first) is not None]
        product = product_of([p for _, p in group], first)
        factors = [] if product is None else factors_of(reader, product)
        rest = whole.without([f for f, _ in group])
        parts = factors if rest is None else [rest, *factors]
        if not parts:
            return reader.number(1.0)
        return parts[0] if len(parts) == 1 else mul(*parts)
    return None


def _terms(reader: Reader, variable: TensorVariable) -> list[tuple[TensorVariable, int]]:
    """The terms of a sum with their signs. An empty list for other variables."""
    node = reader.node(variable, *_SUMS)
    if node is None:
        return []
    subtracts = node.op.scalar_op.name == "sub"
    return [(v, -1 if subtracts and i else 1) for i, v in enumerate(node.inputs)]


def _powers_in_term(reader: Reader, variable: TensorVariable, depth: int = 2) -> list[Power]:
    """The powers among the factors of a term, and those in the terms of sums among its factors."""
    factors = Product(reader, variable).factors
    powers = [p for _, p in powers_among(reader, factors)]
    for factor in factors if depth else ():
        if factor.above:
            for term, _ in _terms(reader, factor.variable):
                powers += _powers_in_term(reader, term, depth - 1)
    return powers


def distributed(whole: Product) -> TensorVariable | None:
    """(a / s + b) s = a + b s, for a power s that conflicts with a term of the sum. None if there is no such factor.

    Terms that do not conflict with any factor stay together, since they may cancel before a factor overflows.
    """
    reader, powers = whole.reader, whole.powers
    for total in dict.fromkeys(whole.factors) if powers else ():
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
        summed = _sum([(_times(term, chosen), sign) for term, sign in parts])
        rest = whole.without([total, *chosen])
        return summed if rest is None else mul(rest, summed)
    return None


def beside_vanishing(whole: Product) -> TensorVariable | None:
    """f(u) g = 0 where f(u) underflows to 0, for an f that decays exponentially in a u such as exp(x), also if g overflows.

    g is the derivative of u, or contains it, so that it grows much more slowly than f(u) decays.
    """
    reader = whole.reader
    growing = {f for f in whole.factors if _grows(reader, f.variable)}
    for factor in whole.factors if growing else ():
        others = growing - {factor} and _vanishes(reader, factor)
        rest = whole.without([factor]) if others else None
        if rest is not None:
            gone = eq(factor.variable, 0) if factor.above else isinf(factor.variable)
            return _times(switch(gone, reader.number(0.0), rest), [factor])
    return None


def _vanishes(reader: Reader, factor: Factor) -> bool:
    """Whether a factor, or each term of a sum, decays exponentially in what grows exponentially."""
    terms = _terms(reader, factor.variable) if factor.above else []
    if terms:
        parts = [Product(reader, term).factors for term, _ in terms]
        return all(any(_vanishes(reader, f) for f in part) for part in parts)
    return any(
        not power.is_plain and max(power.a, power.b) > 0 and _grows(reader, power.x)
        for _, power in powers_among(reader, [factor])
    )


def _grows(reader: Reader, variable: TensorVariable, depth: int = 4) -> bool:
    """Whether a variable is a function that grows exponentially, or an algebraic expression that contains one."""
    node = reader.node(variable, *_GROWING, *PRODUCT, *_ALGEBRAIC) if depth else None
    return node is not None and (
        node.op.scalar_op.name in _GROWING or any(_grows(reader, v, depth - 1) for v in node.inputs)
    )


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


class Kinds(NamedTuple):
    """A quick look at the factors of a product: how many may overflow or underflow, and whether some are sums or divisors.

    ``growing`` is False if nobody looked for factors that grow.
    """

    extreme: int
    sums: bool
    divisors: bool
    growing: bool


def _kinds(node: TensorApply[Elemwise], look_for_growing: bool) -> Kinds:
    extreme, sums, growing, divisors = 0, False, False, node.op.scalar_op.name in DIVIDING
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
        if name in PRODUCT:
            divisors |= name in DIVIDING
            stack += inner.inputs
        else:
            sums |= name in _SUMS
            if look_for_growing and not growing:
                below = [v.owner for v in inner.inputs] if name in _ALGEBRAIC else [inner]
                growing = any([n is not None and _is_growing(n.op) for n in below])
            extreme += name in _EXTREME or isinstance(inner.op.scalar_op, Cast)
    return Kinds(extreme, sums, divisors, growing)


def _is_growing(op: Op) -> bool:
    return isinstance(op, Elemwise) and op.scalar_op.name in _GROWING


def product_in(node: TensorApply[Elemwise], growing: bool = False) -> tuple[Product, Kinds] | None:
    """The result of a node as a product, if it is a product of floats that may have a stable form.

    With ``growing``, a factor, or a term of one, must grow exponentially.
    """
    dtype = node.outputs[0].type.dtype
    if node.op.inplace or not is_float(dtype):
        return None
    kinds = _kinds(node, growing)
    if kinds.extreme < 2 or (growing and not kinds.growing):
        return None
    return Product(Reader(dtype), node.outputs[0]), kinds
