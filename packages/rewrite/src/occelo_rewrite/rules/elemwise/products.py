"""Rules for products and quotients: numbers are collected, factors cancel, exp(x) / (1 + exp(x)) becomes sigmoid(x).

`pipeline` puts them into the stages canonicalize, stabilize and specialize.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import (
    Apply,
    FunctionGraph,
    TensorApply,
    TensorConstant,
    TensorVariable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.type import is_float
from occelo_rewrite.constants import is_moderate, is_power_of_two, number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.patterns.pattern import number, p, wild
from occelo_rewrite.rules.elemwise.trees import Product
from occelo_rewrite.rules.matching import applied
from occelo_rewrite.rules.matching import rule_of_floats as rule
from occelo_rewrite.shaped_like import shaped_like

x, y, z = wild("x y z")
c = number("c")
_SWITCH = Elemwise(ScalarFunction("switch"))
_PRODUCTS = [ot.mul, ot.true_div, ot.reciprocal, ot.neg]


def _times(value: TensorVariable | None, factor: complex, like: TensorVariable) -> TensorVariable:
    """``factor * value``, with the dtype and shape of ``like``. A ``value`` of None is a product without factors."""
    if value is None:
        return shaped_like(ot.constant(np.asarray(factor, like.type.dtype)), like)
    if factor == -1:
        value = ot.neg(value)
    elif factor != 1:
        owner = computed_by(value, Elemwise)
        number_ = ot.constant(np.asarray(factor, like.type.dtype))
        if owner is not None and owner.op == ot.reciprocal:
            value = ot.true_div(number_, owner.inputs[0])
        else:
            value = ot.mul(number_, value)
    return shaped_like(value, like)


def _numbers(variables: list[TensorConstant]) -> list[TensorConstant]:
    """The constants in ``variables`` other than 1 and -1."""
    return [v for v in variables if number_of(v) not in (1, -1)]


@node_rewriter(_PRODUCTS)
def canonical_product(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """(-x) (y / -1) = x y, -(2 x) = (-2) x, and 1 x = x.

    The new product has at most one sign. If a factor is a number, the sign becomes part of the number. Factors of 1 are
    dropped.
    """
    whole = Product.at(fgraph, node)
    if whole is None:
        return None
    above, below = whole.numbers()
    units = [[v for v in side if number_of(v) in (1, -1)] for side in (above, below)]
    if not whole.negations and not units[0] and not units[1]:
        return None
    if len(units[0]) + len(units[1]) == len(whole.above) + len(whole.below):
        return None
    negative = whole.negative != (sum(number_of(v) == -1 for side in units for v in side) % 2 == 1)
    others = _numbers([*above, *below])
    if negative and others:
        opposite = ot.constant(np.asarray(-others[0].data, others[0].type.dtype))
        rest, _ = whole.without(units[0], units[1], instead=(others[0], opposite))
        return [_times(rest, 1, node.outputs[0])]
    rest, _ = whole.without(units[0], units[1])
    if negative and node.op == ot.neg and rest is node.inputs[0]:
        return None
    return [_times(rest, -1 if negative else 1, node.outputs[0])]


@node_rewriter([ot.true_div])
def division_by_power_of_two(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """x / c = x (1 / c), for a power of two c, since 1 / c is exact."""
    top = node.inputs[0]
    out = node.outputs[0]
    divisor = number_of(node.inputs[1])
    if divisor is None or not is_float(out.type.dtype) or top.type.dtype != out.type.dtype:
        return None
    if not is_power_of_two(divisor):
        return None
    with np.errstate(all="ignore"):
        inverse = np.asarray(1 / divisor, out.type.dtype)
    if not np.isfinite(inverse) or abs(inverse) < np.finfo(inverse.dtype).tiny:
        return None
    return [shaped_like(ot.mul(top, inverse), out)]


@node_rewriter(_PRODUCTS, tags=("rounding", "overflow"))
def collected_numbers(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """(2 x) / (-4) = -0.5 x: several numbers in a product become one number in front.

    The new number is multiplied last. So if there are several other factors, their product could overflow or underflow
    first. In this case the numbers must be moderate (`is_moderate`). (overflow: in 1e200 (1e-200 x) the inner product
    may underflow, unlike x.)
    """
    whole = Product.at(fgraph, node)
    if whole is None:
        return None
    above, below = whole.numbers()
    if len(_numbers(above)) + len(_numbers(below)) < 2:
        return None
    others = len(whole.above) + len(whole.below) - len(above) - len(below)
    if not others:
        return None
    dtype = node.outputs[0].type.numpy_dtype
    total, divisor = dtype.type(1), dtype.type(1)
    with np.errstate(all="ignore"):
        for v in above:
            total = total * dtype.type(number_of(v))
        for v in below:
            divisor = divisor * dtype.type(number_of(v))
        if _numbers(above):
            total, divisor = total / divisor, dtype.type(1)
    if any(not np.isfinite(v) or abs(v) < np.finfo(dtype).tiny for v in (total, divisor)):
        return None
    numbers = [number_of(v) for v in (*above, *below)]
    if others > 1 and not is_moderate(dtype, total, divisor, *numbers):
        return None
    rest, number_ = whole.without(above, below, total.item())
    if divisor != 1:
        rest = ot.true_div(rest, ot.constant(np.asarray(divisor, dtype)))
    return [_times(rest, number_, node.outputs[0])]


@node_rewriter(_PRODUCTS, tags=("finite", "shape_unsafe", "rounding", "overflow"))
def cancelled_product(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """(x / y) * y = x, and x / x = 1 (finite: also if the cancelled factor is 0, infinite or NaN)."""
    whole = Product.at(fgraph, node)
    if whole is None or not whole.below:
        return None
    left = list(whole.below)
    both: list[TensorVariable] = []
    for v in whole.above:
        if v in left:
            left.remove(v)
            both.append(v)
    if not both:
        return None
    rest, number_ = whole.without(both, both)
    return [_times(rest, number_, node.outputs[0])]


@rule(p.mul(x, 0), on="any", tags=("finite",))
def mul_zero(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """x * 0 = 0 (finite: also if x is infinite or NaN)."""
    return shaped_like(ot.constant(np.zeros((), node.outputs[0].type.dtype)), node.outputs[0])


@rule(p.true_div(0, x), on="any", tags=("finite",), same_dtype=False)
def zero_divided(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """0 / x = 0 (finite: also if x is 0 or NaN)."""
    return ot.constant(np.zeros((), node.outputs[0].type.dtype))


@rule(p.mul(x, 1), on="any", same_dtype=False)
def mul_one(x: TensorVariable) -> TensorVariable | None:
    """x * 1 = x."""
    return x


@rule(p.true_div(x, 1), on="any", same_dtype=False)
def div_one(x: TensorVariable) -> TensorVariable | None:
    """x / 1 = x."""
    return x


@rule(p.true_div(1, x), on="inexact")
def one_divided(x: TensorVariable) -> TensorVariable | None:
    """1 / x = reciprocal(x)."""
    return ot.reciprocal(x)


@rule(p.mul(x, x), on="inexact")
def times_itself(x: TensorVariable) -> TensorVariable | None:
    """x x = sqr(x)."""
    return ot.sqr(x)


CANONICALIZE = RuleSet(
    (
        mul_one,
        div_one,
        mul_zero,
        zero_divided,
        times_itself,
        canonical_product,
        division_by_power_of_two,
        collected_numbers,
        cancelled_product,
    ),
    "products canonicalize",
)


# functions that several factors form together


def _inner(variable: TensorVariable, function: Elemwise) -> TensorVariable | None:
    """The input x of a variable ``function(x)`` of the same type; None for other variables."""
    node = applied(variable, function)
    if node is None or node.inputs[0].type != variable.type:
        return None
    return node.inputs[0]


def _negated(v: TensorVariable) -> TensorVariable:
    """-v; for a v that is -x, this is x."""
    inner = _inner(v, ot.neg)
    return ot.neg(v) if inner is None else inner


def _by_argument(
    factors: list[TensorVariable], function: Elemwise
) -> dict[TensorVariable, TensorVariable]:
    """A dict from x to each factor of the form ``function(x)``."""
    factor_of: dict[TensorVariable, TensorVariable] = {}
    for factor in factors:
        argument = _inner(factor, function)
        if argument is not None:
            factor_of[argument] = factor
    return factor_of


def _with_factor(*functions: Elemwise) -> list[ScalarOp]:
    """The argument ``below`` of `node_rewriter`, for rules for products that have one of ``functions`` as a factor.

    It is a quick test of a node's inputs (see `NodeRewriter`). At least one input of the last node of such a product is
    computed by one of the functions, or by another node of the product.
    """
    return [each.scalar_op for each in (*functions, *_PRODUCTS)]


def _real_product(
    fgraph: FunctionGraph, node: TensorApply[Elemwise], *functions: str
) -> Product | None:
    """The product of real floats with ``node`` as its root; None if no factor is one of ``functions``."""
    if not is_float(node.outputs[0].type.dtype):
        return None
    whole = Product.at(fgraph, node)
    return None if whole is None or whole.functions.isdisjoint(functions) else whole


def _with(
    whole: Product,
    above: list[TensorVariable],
    below: list[TensorVariable],
    new_factor: TensorVariable,
    like: TensorVariable,
) -> Replacements:
    """The product ``whole`` with ``new_factor`` in place of the factors ``above`` (of the numerator) and ``below``."""
    rest, number_ = whole.without(above, below)
    return [_times(new_factor if rest is None else ot.mul(rest, new_factor), number_, like)]


Divisor = tuple[TensorVariable, list[TensorVariable], list[TensorVariable]]


def _divisors(whole: Product) -> list[Divisor]:
    """The divisors of a product, each with the factors to remove with it: from the numerator and from the denominator.

    A divisor is a factor of the denominator, or the x of a factor 1 / x of the numerator. (If 1 / x has no other users,
    `Product` lists x in the denominator instead.)
    """
    divisors: list[Divisor] = [(v, [], [v]) for v in whole.below]
    for v in whole.above:
        divisor = _inner(v, ot.reciprocal)
        if divisor is not None:
            divisors.append((divisor, [v], []))
    return divisors


def one_plus(variable: TensorVariable) -> TensorVariable | None:
    """The x of a sum 1 + x of the same dtype; None for other variables."""
    node = applied(variable, ot.add)
    if node is None or any(v.type.dtype != variable.type.dtype for v in node.inputs):
        return None
    numbers = [v for v in node.inputs if number_of(v) is not None]
    rest = [v for v in node.inputs if number_of(v) is None]
    if len(numbers) != 1 or number_of(numbers[0]) != 1 or not rest:
        return None
    total = rest[0] if len(rest) == 1 else ot.add(*rest)
    return total if total.type == variable.type else None


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.add, ot.reciprocal))
def logistic(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """exp(x) / (1 + exp(x)) = sigmoid(x), and 1 / (1 + exp(x)) = sigmoid(-x), also among other factors."""
    whole = _real_product(fgraph, node, "add", "reciprocal")
    if whole is None:
        return None
    for divisor, over, under in _divisors(whole):
        power = one_plus(divisor)
        argument = None if power is None else _inner(power, ot.exp)
        if argument is None:
            continue
        top = _by_argument(whole.above, ot.exp).get(argument)
        factor = ot.sigmoid(_negated(argument) if top is None else argument)
        return _with(whole, over if top is None else [*over, top], under, factor, node.outputs[0])
    return None


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.expm1))
def expm1_over_power_plus_one(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """(exp(x) - 1) / (1 + exp(x)) = tanh(x / 2), also among other factors."""
    whole = _real_product(fgraph, node, "expm1")
    powers = {} if whole is None else _by_argument(whole.above, ot.expm1)
    if whole is None or not powers:
        return None
    for divisor, over, under in _divisors(whole):
        power = one_plus(divisor)
        argument = None if power is None else _inner(power, ot.exp)
        if argument is not None and argument in powers:
            factor = ot.tanh(ot.mul(argument, 0.5))
            return _with(whole, [*over, powers[argument]], under, factor, node.outputs[0])
    return None


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.sigmoid))
def exp_times_sigmoid(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """exp(x) sigmoid(-x) = sigmoid(x), and sigmoid(x) / sigmoid(-x) = exp(x), also among other factors."""
    whole = _real_product(fgraph, node, "sigmoid")
    if whole is None:
        return None
    curves = _by_argument(whole.above, ot.sigmoid)
    if not curves:
        return None
    powers = _by_argument(whole.above, ot.exp)
    under = _by_argument(whole.below, ot.sigmoid)
    for argument, factor in curves.items():
        flipped = _inner(argument, ot.neg)
        if flipped is not None and flipped in powers:
            return _with(whole, [factor, powers[flipped]], [], ot.sigmoid(flipped), node.outputs[0])
        for other, divisor in under.items():
            if _inner(other, ot.neg) is argument or flipped is other:
                return _with(whole, [factor], [divisor], ot.exp(argument), node.outputs[0])
    return None


def _sum_over(
    variable: TensorVariable, ndim: int
) -> tuple[TensorVariable, tuple[int, ...]] | tuple[None, tuple[()]]:
    """The x and the axes of a variable ``x.sum(axes, keepdims=True)``; None and () for other variables."""
    spread = computed_by(variable, DimShuffle)
    order = None if spread is None else spread.op.new_order
    owner = computed_by(variable if spread is None else spread.inputs[0], CAReduce)
    if owner is None or owner.op.scalar_op.name != "add":
        return None, ()
    summed = owner.inputs[0]
    axis: tuple[int, ...] = owner.op.axis
    if not axis or summed.type.ndim != ndim or summed.type.dtype != variable.type.dtype:
        return None, ()
    rest = iter(range(ndim - len(axis)))
    expected = tuple("x" if i in axis else next(rest) for i in range(ndim))
    if order == expected or (order is None and len(axis) == ndim):
        return summed, axis
    return None, ()


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.exp))
def exp_over_its_sum(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """exp(x) / sum(exp(x), keepdims=True) = softmax(x), also among other factors."""
    whole = _real_product(fgraph, node, "exp")
    powers = {} if whole is None else _by_argument(whole.above, ot.exp)
    if whole is None or not powers:
        return None
    for divisor, over, under in _divisors(whole):
        summed, axis = _sum_over(divisor, node.outputs[0].type.ndim)
        argument = None if summed is None else _inner(summed, ot.exp)
        if argument is not None and argument in powers:
            factor = Softmax(axis)(argument)
            return _with(whole, [*over, powers[argument]], under, factor, node.outputs[0])
    return None


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.exp))
def exp_over_sum_of_powers(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """exp(a) / (exp(a) + exp(b)) = sigmoid(a - b), also among other factors.

    For more terms, exp(a) / (exp(a) + exp(b) + ...) = 1 / (1 + exp(b - a) + ...).
    """
    whole = _real_product(fgraph, node, "exp")
    powers = {} if whole is None else _by_argument(whole.above, ot.exp)
    if whole is None or not powers:
        return None
    for divisor, over, under in _divisors(whole):
        total = applied(divisor, ot.add)
        exponents = [] if total is None else [_inner(v, ot.exp) for v in total.inputs]
        own = next((e for e in exponents if e is not None and e in powers), None)
        if own is None or None in exponents or exponents.count(own) > 1:
            continue
        others = [ot.sub(e, own) for e in exponents if e is not own]
        if len(others) == 1:
            factor = ot.sigmoid(ot.neg(others[0]))
        else:
            factor = ot.reciprocal(ot.add(1, *(ot.exp(e) for e in others)))
        return _with(whole, [*over, powers[own]], under, factor, node.outputs[0])
    return None


@node_rewriter(_PRODUCTS, tags=("stabler",), below=_with_factor(ot.exp))
def gaussian_over_erfc(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """exp(-x^2) / erfc(x) = 1 / erfcx(x) where x > 1, also among other factors.

    This quotient is part of the derivative of log(erfc(x)) (DLMF 7.2). Where x <= 1 the quotient is kept, since erfcx
    may overflow there.
    """
    whole = _real_product(fgraph, node, "exp")
    if whole is None:
        return None
    below = {
        argument: (over, under)
        for divisor, over, under in _divisors(whole)
        if (argument := _inner(divisor, ot.erfc)) is not None
    }
    powers = _by_argument(whole.above, ot.exp) if below else {}
    for exponent, factor in powers.items():
        square = _inner(exponent, ot.neg)
        argument = None if square is None else _inner(square, ot.sqr)
        if argument is not None and argument in below and applied(argument, _SWITCH) is None:
            large = ot.gt(argument, 1)
            safe, other = ot.switch(large, argument, 1), ot.switch(large, 1, argument)
            quotient = ot.switch(
                large, ot.reciprocal(ot.erfcx(safe)), ot.exp(-ot.sqr(other)) / ot.erfc(other)
            )
            over, under = below[argument]
            return _with(whole, [*over, factor], under, quotient, node.outputs[0])
    return None


@node_rewriter([ot.mul, ot.true_div], tags=("finite",), below=[_SWITCH.scalar_op])
def zero_branch_sinks(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """switch(c, a, 0) * b = switch(c, a * b, 0) and switch(c, a, 0) / b = switch(c, a / b, 0).

    (finite: where 0 is chosen, the result is 0 for every b, even if 0 * b or 0 / b would be NaN.)
    """
    if not is_float(node.outputs[0].type.dtype):
        return None
    is_product = node.op == ot.mul
    for position in range(len(node.inputs)) if is_product else (0,):
        chosen = applied(node.inputs[position], _SWITCH)
        if chosen is None:
            continue
        others = [v for i, v in enumerate(node.inputs) if i != position]
        condition, a, b = chosen.inputs
        taken = a if number_of(b) == 0 else b
        if taken.type.dtype != chosen.outputs[0].type.dtype:
            continue  # otherwise the product would be computed in another dtype
        function = ot.mul if is_product else ot.true_div
        if number_of(b) == 0:
            return [shaped_like(ot.switch(condition, function(a, *others), 0.0), node.outputs[0])]
        if number_of(a) == 0:
            return [shaped_like(ot.switch(condition, 0.0, function(b, *others)), node.outputs[0])]
    return None


def _used_once(fgraph: FunctionGraph, *nodes: Apply) -> bool:
    """Whether each of ``nodes`` has only one user, so that all are dead once this user is replaced."""
    return all(len(fgraph.clients[node.outputs[0]]) == 1 for node in nodes)


@rule(p.mul(p.exp(x, name="first"), p.exp(y, name="second")), tags=("rounding", "overflow"))
def product_of_powers(
    x: TensorVariable,
    y: TensorVariable,
    first: TensorApply,
    second: TensorApply,
    fgraph: FunctionGraph,
) -> TensorVariable | None:
    """exp(x) exp(y) = exp(x + y), if exp(x) and exp(y) have no other users."""
    return ot.exp(ot.add(x, y)) if _used_once(fgraph, first, second) else None


STABILIZE = RuleSet(
    (
        expm1_over_power_plus_one,
        logistic,
        exp_times_sigmoid,
        exp_over_its_sum,
        exp_over_sum_of_powers,
        gaussian_over_erfc,
        zero_branch_sinks,
        product_of_powers,
    ),
    "products stabilize",
)


@rule(
    p.true_div(number("c", lambda c: abs(c) >= 1), p.exp(x, name="power")),
    p.reciprocal(p.exp(x, name="power")),
    tags=("rounding", "overflow"),
)
def over_exp(
    x: TensorVariable, node: TensorApply, power: TensorApply, fgraph: FunctionGraph
) -> TensorVariable | None:
    """c / exp(x) = c exp(-x), for a constant c with abs(c) >= 1, if exp(x) has no other users.

    (overflow: if exp(x) overflows, exp(-x) need not underflow. For a smaller c, exp(-x) could overflow although the
    quotient does not.)
    """
    if not _used_once(fgraph, power):
        return None
    inverse = ot.exp(_negated(x))
    return inverse if node.op == ot.reciprocal else ot.mul(node.inputs[0], inverse)


@rule(
    p.mul(p.pow(c, x, name="first"), p.pow(c, y, name="second")),
    p.mul(p.pow(z, x, name="first"), p.pow(z, y, name="second")),
    tags=("rounding", "overflow"),
)
def product_of_equal_bases(
    x: TensorVariable,
    y: TensorVariable,
    first: TensorApply,
    second: TensorApply,
    fgraph: FunctionGraph,
) -> TensorVariable | None:
    """z^x z^y = z^(x + y), for a positive z, if z^x and z^y have no other users."""
    base = first.inputs[0]
    if not _positive(base) or not _used_once(fgraph, first, second):
        return None
    return ot.pow(base, ot.add(x, y))


def _positive(v: TensorVariable) -> bool:
    value = number_of(v)
    return (value is not None and value > 0) or applied(v, ot.exp) is not None


SPECIALIZE = RuleSet(
    (one_divided, over_exp, product_of_equal_bases),
    "products specialize",
)
