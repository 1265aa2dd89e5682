"""Rules of elementwise functions: cancellation of identities, and forms that neither overflow nor cancel.

Each rule's docstring is its law. Rules that are marked ``finite`` below may change which NaN or infinity
a result is when a part of it is not finite; all others hold for every value.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.type import is_discrete, is_float
from occelo_rewrite.rule import OpPattern, RuleSet, node_rewriter
from occelo_rewrite.rules.matching import computed_by, number_of, shaped_like, split_constant

__all__ = ["CANONICALIZE", "STABILIZE"]


def _real(variable: Any) -> bool:
    return is_float(variable.type.dtype)


# canonical forms


@node_rewriter([ot.add])
def add_zero(fgraph: FunctionGraph, node: Apply) -> Any:
    """x + 0 = x, for an integer x and for a float x and a 0 that is -0.0 or an addend beside others.

    (-0.0 + 0.0 is 0.0, so a float loses only the sign of a zero; that is accepted, as NumPy's sum does.)
    """
    numbers, rest = split_constant(node)
    kept = [v for v in numbers if number_of(v) != 0]
    if len(kept) == len(numbers) or not rest:
        return None
    terms = [*rest, *kept]
    return [shaped_like(terms[0] if len(terms) == 1 else ot.add(*terms), node.outputs[0])]


@node_rewriter([ot.mul])
def mul_one(fgraph: FunctionGraph, node: Apply) -> Any:
    """x * 1 = x."""
    numbers, rest = split_constant(node)
    kept = [v for v in numbers if number_of(v) != 1]
    if len(kept) == len(numbers) or not (rest or kept):
        return None
    factors = [*rest, *kept]
    return [shaped_like(factors[0] if len(factors) == 1 else ot.mul(*factors), node.outputs[0])]


@node_rewriter([ot.sub])
def sub_zero(fgraph: FunctionGraph, node: Apply) -> Any:
    """x - 0 = x."""
    x, y = node.inputs
    return (
        [shaped_like(x, node.outputs[0])]
        if number_of(y) == 0 and type(number_of(y)) is not bool
        else None
    )


@node_rewriter([ot.true_div])
def div_one(fgraph: FunctionGraph, node: Apply) -> Any:
    """x / 1 = x."""
    x, y = node.inputs
    return [shaped_like(x, node.outputs[0])] if number_of(y) == 1 else None


@node_rewriter([ot.pow])
def pow_one_or_two(fgraph: FunctionGraph, node: Apply) -> Any:
    """x ** 1 = x and x ** 2 = sqr(x)."""
    x, y = node.inputs
    exponent = number_of(y)
    if exponent == 1:
        return [shaped_like(x, node.outputs[0])]
    if exponent == 2:
        base: Any = x
        if base.type.dtype != node.outputs[0].type.dtype:  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            base = ot.cast(base, node.outputs[0].type.dtype)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return [shaped_like(ot.sqr(base), node.outputs[0])]
    return None


@node_rewriter([ot.neg])
def neg_neg(fgraph: FunctionGraph, node: Apply) -> Any:
    """-(-x) = x."""
    inner = computed_by(node.inputs[0], ot.neg)
    return [inner.inputs[0]] if inner is not None else None


@node_rewriter([ot.reciprocal])
def reciprocal_reciprocal(fgraph: FunctionGraph, node: Apply) -> Any:
    """1 / (1 / x) = x, for floats, but for rounding (finite)."""
    inner = computed_by(node.inputs[0], ot.reciprocal)
    if inner is None or inner.inputs[0].type != node.outputs[0].type:
        return None
    return [inner.inputs[0]]


_SWITCH: Any = ot.switch(True, 1.0, 2.0).owner_op


@node_rewriter([_SWITCH])
def switch_constant(fgraph: FunctionGraph, node: Apply) -> Any:
    """switch(True, a, b) = a, switch(False, a, b) = b, and switch(c, a, a) = a."""
    condition, a, b = node.inputs
    truth = number_of(condition)
    if a is b:
        return [shaped_like(a, node.outputs[0])]
    return None if truth is None else [shaped_like(a if truth else b, node.outputs[0])]


@node_rewriter([OpPattern(Elemwise)])
def cast_of_cast(fgraph: FunctionGraph, node: Apply) -> Any:
    """cast(x, dtype of x) = x, and a cast of a cast that lost nothing is one cast."""
    op: Any = node.op
    if not isinstance(op.scalar_op, Cast):
        return None
    x: Any = node.inputs[0]
    if x.type.dtype == op.scalar_op.dtype:
        return [x]
    inner: Any = x.owner
    if (
        inner is None
        or not isinstance(inner.op, Elemwise)
        or not isinstance(inner.op.scalar_op, Cast)
    ):
        return None
    original = inner.inputs[0]
    widened = original.type.numpy_dtype, x.type.numpy_dtype
    if not _holds_exactly(*widened):
        return None
    return [ot.cast(original, op.scalar_op.dtype)]


def _holds_exactly(small: Any, large: Any) -> bool:
    """Whether every value of one dtype is a value of another (NumPy's "safe" lets int64 into float64)."""
    if small.kind in "iu" and large.kind in "fc":
        digits = {2: 11, 4: 24, 8: 53}.get(large.itemsize // (2 if large.kind == "c" else 1), 0)
        return bool(small.itemsize * 8 <= digits)
    return bool(np.can_cast(small, large, "safe"))


CANONICALIZE = RuleSet(
    (
        add_zero,
        mul_one,
        sub_zero,
        div_one,
        pow_one_or_two,
        neg_neg,
        reciprocal_reciprocal,
        switch_constant,
        cast_of_cast,
    ),
    "elemwise canonicalize",
)


# stable forms


def _one_plus(variable: Any) -> Any:
    """The other addends, if ``variable`` is 1 plus them; else None."""
    node = computed_by(variable, ot.add)
    if node is None or not _real(variable):
        return None
    numbers, rest = split_constant(node)
    if not rest or sum(number_of(v) for v in numbers) != 1 or not numbers:
        return None
    total = rest[0] if len(rest) == 1 else ot.add(*rest)
    return total if total.type == variable.type else None


def _one_minus(variable: Any) -> Any:
    """x, if ``variable`` is 1 - x; else None."""
    node = computed_by(variable, ot.sub)
    if node is None or number_of(node.inputs[0]) != 1 or not _real(variable):
        return None
    return node.inputs[1] if node.inputs[1].type == variable.type else None


@node_rewriter([ot.log])
def log_one_plus(fgraph: FunctionGraph, node: Apply) -> Any:
    """log(1 + x) = log1p(x)."""
    x = _one_plus(node.inputs[0])
    return [ot.log1p(x)] if x is not None else None


@node_rewriter([ot.log])
def log_one_minus(fgraph: FunctionGraph, node: Apply) -> Any:
    """log(1 - x) = log1p(-x), and log(1 - sigmoid(x)) = -softplus(x)."""
    x = _one_minus(node.inputs[0])
    if x is None:
        return None
    inner = computed_by(x, ot.sigmoid)
    if inner is not None and inner.inputs[0].type == x.type:
        return [-ot.softplus(inner.inputs[0])]
    return [ot.log1p(-x)]


@node_rewriter([ot.log1p])
def log1p_exp(fgraph: FunctionGraph, node: Apply) -> Any:
    """log1p(exp(x)) = softplus(x), log1p(-exp(x)) = log1mexp(x), log1p(-sigmoid(x)) = -softplus(x)."""
    argument = node.inputs[0]
    inner = computed_by(argument, ot.exp)
    if inner is not None and inner.inputs[0].type == argument.type and _real(argument):
        return [ot.softplus(inner.inputs[0])]
    negated = computed_by(argument, ot.neg)
    if negated is None or not _real(argument):
        return None
    power = computed_by(negated.inputs[0], ot.exp)
    if power is not None and power.inputs[0].type == argument.type:
        return [ot.log1mexp(power.inputs[0])]
    logistic = computed_by(negated.inputs[0], ot.sigmoid)
    if logistic is not None and logistic.inputs[0].type == argument.type:
        return [-ot.softplus(logistic.inputs[0])]
    return None


@node_rewriter([ot.log])
def log_sigmoid(fgraph: FunctionGraph, node: Apply) -> Any:
    """log(sigmoid(x)) = -softplus(-x)."""
    inner = computed_by(node.inputs[0], ot.sigmoid)
    if inner is None or not _real(node.inputs[0]) or inner.inputs[0].type != node.outputs[0].type:
        return None
    return [-ot.softplus(-inner.inputs[0])]  # type: ignore[operator] # pyright: ignore[reportOperatorIssue, reportUnknownArgumentType]


@node_rewriter([ot.sub])
def exp_minus_one(fgraph: FunctionGraph, node: Apply) -> Any:
    """exp(x) - 1 = expm1(x), and 1 - exp(x) = -expm1(x)."""
    x, y = node.inputs
    if not _real(node.outputs[0]):
        return None
    for power, one, sign in ((x, y, 1), (y, x, -1)):
        inner = computed_by(power, ot.exp)
        if (
            inner is not None
            and number_of(one) == 1
            and inner.inputs[0].type == node.outputs[0].type
        ):
            result = ot.expm1(inner.inputs[0])
            return [result if sign > 0 else -result]
    return None


@node_rewriter([ot.sub])
def one_minus_sigmoid(fgraph: FunctionGraph, node: Apply) -> Any:
    """1 - sigmoid(x) = sigmoid(-x)."""
    x = _one_minus(node.outputs[0])
    inner = None if x is None else computed_by(x, ot.sigmoid)
    if inner is None or inner.inputs[0].type != node.outputs[0].type:
        return None
    return [ot.sigmoid(ot.neg(inner.inputs[0]))]


@node_rewriter([ot.sub])
def one_minus_erf(fgraph: FunctionGraph, node: Apply) -> Any:
    """1 - erf(x) = erfc(x), and 1 - erfc(x) = erf(x)."""
    x = _one_minus(node.outputs[0])
    if x is None:
        return None
    for function, other in ((ot.erf, ot.erfc), (ot.erfc, ot.erf)):
        inner = computed_by(x, function)
        if inner is not None and inner.inputs[0].type == node.outputs[0].type:
            return [other(inner.inputs[0])]
    return None


@node_rewriter([ot.true_div, ot.reciprocal])
def logistic(fgraph: FunctionGraph, node: Apply) -> Any:
    """exp(x) / (1 + exp(x)) = sigmoid(x), and a / (1 + exp(x)) = a * sigmoid(-x)."""
    top, bottom = node.inputs if len(node.inputs) == 2 else (None, node.inputs[0])
    power = _one_plus(bottom)
    inner = None if power is None else computed_by(power, ot.exp)
    if inner is None or power is None or inner.inputs[0].type != power.type:
        return None
    x: Any = inner.inputs[0]
    above = None if top is None else computed_by(top, ot.exp)
    if above is not None and above.inputs[0] is x:
        return [ot.sigmoid(x)]
    flipped = computed_by(x, ot.neg)
    result = ot.sigmoid(-x if flipped is None else flipped.inputs[0])
    if top is not None and number_of(top) != 1:
        result = top * result
    return [shaped_like(result, node.outputs[0])]


_MOST_FACTORS = 2000


def _factors(fgraph: FunctionGraph, node: Apply) -> list[Any]:
    """The factors of a whole product: through nested products that nothing else uses.

    Empty for a node that is itself a factor of such a product, so that each product is flattened
    once, from its root.
    """
    uses = fgraph.clients[node.outputs[0]]
    if len(uses) == 1:
        ((user, _),) = uses
        if user.op == ot.mul:
            return []
    pending: list[Any] = list(reversed(node.inputs))
    found: list[Any] = []
    while pending and len(found) + len(pending) <= _MOST_FACTORS:
        each = pending.pop()
        inner = computed_by(each, ot.mul)
        same_dtype = inner is not None and all(
            v.type.dtype == each.type.dtype  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            for v in inner.inputs
        )
        if inner is not None and same_dtype and len(fgraph.clients[each]) == 1:
            pending.extend(reversed(inner.inputs))
        else:
            found.append(each)
    return [*found, *reversed(pending)]


@node_rewriter([ot.mul])
def exp_times_sigmoid(fgraph: FunctionGraph, node: Apply) -> Any:
    """exp(x) * sigmoid(-x) = sigmoid(x), also among other factors."""
    factors = _factors(fgraph, node)
    powers = {e.inputs[0]: f for f in factors if (e := computed_by(f, ot.exp)) is not None}
    for logistic_factor in factors if powers else ():
        inner = computed_by(logistic_factor, ot.sigmoid)
        negated = None if inner is None else computed_by(inner.inputs[0], ot.neg)
        if negated is None or negated.inputs[0] not in powers:
            continue
        x: Any = negated.inputs[0]
        if x.type != logistic_factor.type:
            continue
        rest = list(factors)
        rest.remove(powers[x])
        rest.remove(logistic_factor)
        made = ot.sigmoid(x)
        return [shaped_like(ot.mul(*rest, made) if rest else made, node.outputs[0])]
    return None


def _cancelled(factor: Any, present: set[Any]) -> tuple[Any, Any]:
    """For a factor a / b or -(a / b) beside a factor b: a or -a, and b; else None twice."""
    negated = computed_by(factor, ot.neg)
    quotient = computed_by(factor if negated is None else negated.inputs[0], ot.true_div)
    if quotient is None:
        return None, None
    top, bottom = quotient.inputs
    if bottom not in present or bottom.type != factor.type:
        return None, None
    return (top if negated is None else ot.neg(top)), bottom


@node_rewriter([ot.mul])
def cancel_division(fgraph: FunctionGraph, node: Apply) -> Any:
    """(a / b) * b = a, also among other factors, for floats (finite: also where b is 0 or infinite)."""
    if not _real(node.outputs[0]):
        return None
    factors = _factors(fgraph, node)
    present = set(factors)
    for factor in factors:
        top, bottom = _cancelled(factor, present)
        if top is None:
            continue
        rest = list(factors)
        rest.remove(factor)
        rest.remove(bottom)
        return [shaped_like(ot.mul(*rest, top) if rest else top, node.outputs[0])]
    return None


@node_rewriter([ot.mul, ot.true_div])
def zero_branch_sinks(fgraph: FunctionGraph, node: Apply) -> Any:
    """switch(c, a, 0) * b = switch(c, a * b, 0) and switch(c, a, 0) / b = switch(c, a / b, 0).

    A branch that was not taken is then 0 whatever b is there, where 0 * inf or 0 / 0 would be NaN
    (finite).
    """
    if not _real(node.outputs[0]) or len(node.inputs) != 2:
        return None
    is_product = node.op == ot.mul
    for position in (0, 1) if is_product else (0,):
        chosen = computed_by(node.inputs[position], _SWITCH)
        if chosen is None:
            continue
        other = node.inputs[1 - position]
        condition, a, b = chosen.inputs
        function = ot.mul if is_product else ot.true_div
        if number_of(b) == 0:
            return [shaped_like(ot.switch(condition, function(a, other), 0.0), node.outputs[0])]
        if number_of(a) == 0:
            return [shaped_like(ot.switch(condition, 0.0, function(b, other)), node.outputs[0])]
    return None


@node_rewriter([ot.sqrt])
def sqrt_of_square(fgraph: FunctionGraph, node: Apply) -> Any:
    """sqrt(sqr(x)) = |x|, for real floats; exact where the square overflows or vanishes."""
    inner = computed_by(node.inputs[0], ot.sqr)
    if inner is None or not _real(inner.inputs[0]) or is_discrete(inner.inputs[0].type.dtype):  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
        return None
    return [ot.abs(inner.inputs[0])]


STABILIZE = RuleSet(
    (
        log_one_plus,
        log_one_minus,
        log1p_exp,
        log_sigmoid,
        exp_minus_one,
        one_minus_sigmoid,
        one_minus_erf,
        logistic,
        exp_times_sigmoid,
        cancel_division,
        zero_branch_sinks,
        sqrt_of_square,
    ),
    "elemwise stabilize",
)
