"""Rules for numerical stability: expressions that overflow or cancel become log1p, expm1, softplus, erfc and so on.

`pipeline` puts them into the stage stabilize, and two of them into the stage specialize.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from occelo_forms.conversions import in_one_dtype
from occelo_forms.expressions import ExpressionReader
from occelo_forms.logarithms import log_erfc as log_of_erfc
from occelo_forms.logarithms import smallest_exponent
from occelo_forms.products import (
    beside_vanishing,
    distributed,
    product_in,
    without_conflicts,
)
from occelo_forms.quotients import quotient_in_product
from occelo_forms.roots import split_root as split_root_of
from occelo_forms.stable_forms import last_form, stable_form
from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import AdvancedSubtensor, Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_graph.tensors.type import is_float
from occelo_rewrite.patterns.node_rule import NodeRewriter, Replacements, RuleSet, node_rewriter
from occelo_rewrite.patterns.pattern import number, p, wild
from occelo_rewrite.rules.elemwise.identities import INVERSES
from occelo_rewrite.rules.matching import applied
from occelo_rewrite.rules.matching import rule_of_floats as rule
from occelo_rewrite.shaped_like import shaped_like

x, y = wild("x y")
c = number("c")


@rule(p.log(1 + x), tags=("stabler",))
def log_one_plus(x: TensorVariable) -> TensorVariable | None:
    """log(1 + x) = log1p(x)."""
    return ot.log1p(x)


@rule(p.log(1 - x), tags=("stabler",))
def log_one_minus(x: TensorVariable) -> TensorVariable | None:
    """log(1 - x) = log1p(-x)."""
    return ot.log1p(-x)


@rule(p.log1p(p.exp(x)), tags=("stabler",))
def log1p_exp(x: TensorVariable) -> TensorVariable | None:
    """log1p(exp(x)) = softplus(x)."""
    return ot.softplus(x)


@rule(p.log1p(-p.exp(x)), p.log(-p.expm1(x)), tags=("stabler",))
def log_one_minus_exp(x: TensorVariable) -> TensorVariable | None:
    """log1p(-exp(x)) = log(-expm1(x)) = log1mexp(x)."""
    return ot.log1mexp(x)


@rule(p.log1mexp(-p.exp(x)), tags=("stabler",))
def log1mexp_of_power(x: TensorVariable) -> TensorVariable | None:
    """log1mexp(-exp(x)) = log1mexp(-exp(max(x, c))) + min(x - c, 0), for a c where the result is c to the last digit.

    It is the logarithm of the inverse of the complementary log-log function. exp(x) alone may underflow.
    """
    if applied(x, ot.maximum) is not None:
        return None  # this is a result of this rule
    least = smallest_exponent(x.type.dtype)
    return ot.log1mexp(-ot.exp(ot.maximum(x, least))) + ot.minimum(x - least, 0.0)


@rule(p.log(p.sigmoid(x)), tags=("stabler",))
def log_sigmoid(x: TensorVariable) -> TensorVariable | None:
    """log(sigmoid(x)) = -softplus(-x)."""
    return -ot.softplus(-x)


@rule(p.log1p(-p.sigmoid(x)), tags=("stabler",))
def log1p_minus_sigmoid(x: TensorVariable) -> TensorVariable | None:
    """log1p(-sigmoid(x)) = -softplus(x)."""
    return -ot.softplus(x)


@rule(p.exp(x) - 1, p.exp(x) + (-1.0), tags=("stabler",))
def exp_minus_one(x: TensorVariable) -> TensorVariable | None:
    """exp(x) - 1 = expm1(x)."""
    return ot.expm1(x)


@rule(1 - p.exp(x), tags=("stabler",))
def one_minus_exp(x: TensorVariable) -> TensorVariable | None:
    """1 - exp(x) = -expm1(x)."""
    return -ot.expm1(x)


@rule(p.expm1(p.softplus(x)), tags=("stabler",))
def expm1_of_softplus(x: TensorVariable) -> TensorVariable | None:
    """expm1(softplus(x)) = exp(x)."""
    return ot.exp(x)


@rule(1 - p.sigmoid(x), tags=("stabler",))
def one_minus_sigmoid(x: TensorVariable) -> TensorVariable | None:
    """1 - sigmoid(x) = sigmoid(-x)."""
    return ot.sigmoid(-x)


@rule(p.sigmoid(x) - 1, p.sigmoid(x) + (-1.0), tags=("stabler",))
def sigmoid_minus_one(x: TensorVariable) -> TensorVariable | None:
    """sigmoid(x) - 1 = -sigmoid(-x)."""
    return -ot.sigmoid(-x)


@rule(p.cosh(x) - 1, p.cosh(x) + (-1.0), tags=("stabler",))
def cosh_minus_one(x: TensorVariable) -> TensorVariable | None:
    """cosh(x) - 1 = 2 sinh(x / 2)^2."""
    return 2 * ot.sqr(ot.sinh(x * 0.5))


@rule(1 - p.cosh(x), tags=("stabler",))
def one_minus_cosh(x: TensorVariable) -> TensorVariable | None:
    """1 - cosh(x) = -2 sinh(x / 2)^2."""
    return -2 * ot.sqr(ot.sinh(x * 0.5))


@rule(1 + p.expm1(x), tags=("stabler",))
def one_plus_expm1(x: TensorVariable) -> TensorVariable | None:
    """1 + expm1(x) = exp(x)."""
    return ot.exp(x)


@rule(1 - p.erf(x), tags=("stabler",))
def one_minus_erf(x: TensorVariable) -> TensorVariable | None:
    """1 - erf(x) = erfc(x)."""
    return ot.erfc(x)


@rule(1 + p.erf(x), tags=("stabler",))
def one_plus_erf(x: TensorVariable) -> TensorVariable | None:
    """1 + erf(x) = erfc(-x)."""
    return ot.erfc(-x)


@rule(p.erf(x) - 1, p.erf(x) + (-1.0), tags=("stabler",))
def erf_minus_one(x: TensorVariable) -> TensorVariable | None:
    """erf(x) - 1 = -erfc(x)."""
    return -ot.erfc(x)


@rule(1 - p.erfc(x), tags=("stabler",))
def one_minus_erfc(x: TensorVariable) -> TensorVariable | None:
    """1 - erfc(x) = erf(x)."""
    return ot.erf(x)


@rule(p.log(p.erfc(x)), tags=("stabler",))
def log_erfc(x: TensorVariable) -> TensorVariable | None:
    """log(erfc(x)) = log(erfcx(x)) - x^2 where x > 1, since erfc(x) may underflow there (DLMF 7.2).

    Near 0 the result is log1p(-erf(x)).
    """
    if ExpressionReader.is_switch(x):
        return None  # this log(erfc(x)) is part of a result of this rule
    return log_of_erfc(x)


@rule(p.log(p.exp(x) - p.exp(y)), tags=("stabler",))
def log_difference_of_powers(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """log(exp(x) - exp(y)) = x + log1mexp(y - x)."""
    return x + ot.log1mexp(y - x)


@rule(p.log(p.sqrt(x)), tags=("stabler",))
def log_of_sqrt(x: TensorVariable) -> TensorVariable | None:
    """log(sqrt(x)) = log(x) / 2."""
    return ot.log(x) * 0.5


_SMOOTH = ("exp", "sigmoid", "erfc", "sqrt")


@rule(
    p.log(p.mul(number("c", lambda c: c > 0 and np.isfinite(c)), x)), tags=("stabler", "comparison")
)
def log_of_scaled(x: TensorVariable, c: float) -> TensorVariable | None:
    """log(c x) = log(x) + log(c), for a constant c > 0, if log(x) has a stable form.

    (comparison: the sum may cancel. So the rule does not apply if log(x) has no stable form.)
    """
    if not any(applied(x, getattr(ot, name)) is not None for name in _SMOOTH):
        return None
    return ot.log(x) + float(np.log(c))


@node_rewriter([ot.log], tags=("stabler",))
def log_sum_of_powers(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """log(exp(a) + exp(b) + ...) = logaddexp(a, b, ...)."""
    total = applied(node.inputs[0], ot.add)
    out = node.outputs[0]
    if total is None or len(total.inputs) < 2 or not is_float(out.type.dtype):
        return None
    exponents: list[TensorVariable] = []
    for term in total.inputs:
        power = applied(term, ot.exp)
        if power is None or power.inputs[0].type.dtype != out.type.dtype:
            return None
        exponents.append(power.inputs[0])
    return [ot.logaddexp(*exponents)]


@node_rewriter([ot.log, ot.log1p, ot.log2, ot.log10], tags=("stabler", "comparison"))
def stable_logarithm(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """log(expression) = a form that does not overflow, for instance log(mean(exp(x))) = logsumexp(x) - log(n).

    The expression consists of sums, means, products, quotients, powers and slices of exp, sigmoid, softmax, cosh and
    erfc. For log(exp(x) + c), the larger of the two terms is factored out. log(cosh(x)) is computed from |x|.
    """
    return _stable(node)


@node_rewriter([ot.true_div, ot.reciprocal], tags=("stabler",))
def stable_quotient(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """Quotients of sums of exponentials = sigmoid, softmax or tanh, for instance exp(x) / (1 + exp(x)) = sigmoid(x).

    Unlike the rules in `products`, this rule applies even if intermediate results have other users.
    """
    return _stable(node)


@node_rewriter(
    [ot.sub, ot.add],
    tags=("stabler",),
    below=(
        *(f.scalar_op for f in (ot.mul, ot.true_div, ot.sigmoid, ot.softplus)),
        *(Cast("float32"), Cast("float64")),
    ),
)
def stable_difference(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """2 sigmoid(x) - 1 = tanh(x / 2), x - softplus(x) = -softplus(-x), and s - s^2 = s sigmoid(-x) for s = sigmoid(x).

    softplus(x) - softplus(-x) = x, and softplus(x) - x = softplus(-x).
    """
    return _stable(node)


def _last(node: TensorApply[Elemwise]) -> Replacements:
    form = last_form(node)
    return None if form is None else [shaped_like(form, node.outputs[0])]


_INSIDE_DIFFERENCES = (ot.sigmoid.scalar_op, DimShuffle, Subtensor, AdvancedSubtensor, Join)


_OF_SMALL = (ot.tanh, ot.sinh, ot.expm1, ot.log1p)
_PRODUCTS = [ot.mul, ot.true_div, ot.reciprocal, ot.neg]
_OPS_OF_PRODUCTS = frozenset(_PRODUCTS)
_SPLIT = (ot.softplus, ot.sinh, ot.expm1, ot.tanh, ot.log1p, ot.add, ot.sub, *_PRODUCTS)


@node_rewriter(
    [ot.sqrt, ot.pow, ot.sqr],
    tags=("stabler", "finite"),
    below=[f.scalar_op for f in _SPLIT],
)
def split_root(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """sqrt(y s) = sqrt(y) sqrt(s) for an s such as sigmoid(x), and the like for softplus(x), squares and powers from -1 to 1.

    So sqrt(s) cancels other factors, and gets the form of `stable_root`. (finite: the root of 0 * inf may change.)
    """
    out = node.outputs[0]
    if (
        node.op.inplace
        or not is_float(out.type.dtype)
        or any(v.type.dtype != out.type.dtype for v in node.inputs)
    ):
        return None
    form = split_root_of(node)
    return None if form is None else [shaped_like(form, out)]


@node_rewriter(
    [ot.sqrt, ot.pow],
    tags=("stabler",),
    below=[f.scalar_op for f in (ot.exp, ot.sigmoid, ot.add, ot.cosh, *_OF_SMALL)],
)
def stable_root(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """sqrt(exp(x)) = exp(x / 2), and sqrt(sigmoid(x)) in a form that does not underflow where sigmoid(x) does.

    The same holds for tanh(exp(x)), for cosh(x) and 1 + exp(x), which overflow, and for other powers between -1 and 1.
    """
    return _last(node)


@node_rewriter([ot.sub], tags=("stabler", "finite"), below=_INSIDE_DIFFERENCES)
def difference_of_sigmoids(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """sigmoid(x) - sigmoid(y) = sign(x - y) sigmoid(h) sigmoid(-l) (1 - exp(l - h)).

    h is the larger one of x and y, and l is the smaller one, so that nothing cancels if both are large. (finite: if both
    are the same infinity, the result is NaN.)
    """
    return _last(node)


@node_rewriter(
    [ot.add, ot.sub],
    tags=("stabler",),
    below=[f.scalar_op for f in (ot.tanh, ot.sqr, ot.pow, ot.mul, ot.neg)],
)
def vanishing_sum(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """1 - tanh(x)^2 = 1 / cosh(x)^2, 1 - tanh(x) = 2 sigmoid(-2 x), and 1 - s^2 = sigmoid(-x) (1 + s) for s = sigmoid(x)."""
    return _last(node)


@rule(p.mul(p.exp(x), p.exp(-p.exp(x))), tags=("stabler", "finite", "rounding"))
def power_times_decay(x: TensorVariable) -> TensorVariable | None:
    """exp(x) exp(-exp(x)) = exp(x - exp(x)): exp(x) may overflow where the other factor is 0."""
    return ot.exp(x - ot.exp(x))


def _is_inner(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> bool:
    """Whether a node of a product is only read by nodes of products of its dtype, at which rules find its factors."""
    out = node.outputs[0]
    users = [user for user, _ in fgraph.clients[out]]
    return bool(users) and all(
        user.op in _OPS_OF_PRODUCTS and tensors(user.outputs)[0].type.dtype == out.type.dtype
        for user in users
    )


@node_rewriter(
    _PRODUCTS, tags=("stabler", "comparison", "finite", "shape_unsafe", "rounding", "overflow")
)
def stable_product(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """s / sqrt(s) = sqrt(s), exp(x)^2 / exp(x)^3 = exp(-x), (a / s + b) s = a + b s, (y / cosh(x)) sinh(x) = y tanh(x).

    Powers of exp(x), sigmoid(x), 1 + exp(x) and 1 - sigmoid(x), of which one overflows where another one underflows,
    become one or two powers that do not, also among other factors, and in terms of a sum. Among other factors, the laws
    of `stable_quotient` apply, too.
    """
    product = None if _is_inner(fgraph, node) else product_in(node)
    if product is None:
        return None
    whole, kinds = product
    form = without_conflicts(whole)
    if form is None and kinds.sums:
        form = distributed(whole)
    if form is None and kinds.divisors:
        form = quotient_in_product(whole)
    return None if form is None else [shaped_like(form, node.outputs[0])]


@node_rewriter(_PRODUCTS, tags=("stabler", "finite"))
def product_that_vanishes(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """f(u) g = 0 where f(u) underflows to 0, for an f such as sigmoid(-u) of u = exp(x), also if g is infinite."""
    product = None if _is_inner(fgraph, node) else product_in(node, growing=True)
    form = None if product is None else beside_vanishing(product[0])
    return None if form is None else [shaped_like(form, node.outputs[0])]


_INVERSES = tuple(each for each in INVERSES if "stabler" in each.tags)
_INVERTING = [op for each in _INVERSES for op in each.tracks() or () if isinstance(op, Elemwise)]


BELOW_CASTS = (Cast("float32"), Cast("float64"))


def through_casts(
    fgraph: FunctionGraph, node: TensorApply, rules: Iterable[NodeRewriter]
) -> Replacements:
    """What one of the rules makes of a node if casts of its inputs to a wider float dtype are moved to their inputs."""
    inputs = [in_one_dtype(v) for v in node.inputs]
    if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
        return None
    wide = computed_by(node.op(*inputs), Elemwise)
    if wide is None:
        return None
    for each in rules:
        replaced = each.transform(fgraph, wide) if each.applies_to(wide.op) else None
        if replaced and not isinstance(replaced, dict) and is_tensor(replaced[0]):
            return [shaped_like(replaced[0], node.outputs[0])]
    return None


@node_rewriter(
    [ot.add, ot.sub, *_INVERTING], tags=("stabler", "comparison", "finite"), below=BELOW_CASTS
)
def stable_through_casts(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """1 - cast(sigmoid(x)) = sigmoid(-cast(x)), and log(cast(exp(x))) = cast(x), for a cast to a wider float dtype.

    These are the laws of the rules in `STABILIZE` and in `identities.INVERSES`. (comparison: the function below the cast
    is computed in the wider dtype, so digits that cancel differ. finite: reciprocal(cast(reciprocal(x))) is x.)
    """
    return through_casts(fgraph, node, (*STABILIZE.rules, *_INVERSES))


def _stable(node: TensorApply[Elemwise]) -> Replacements:
    form = stable_form(node)
    return None if form is None else [shaped_like(form, node.outputs[0])]


STABILIZE = RuleSet(
    (
        log_sum_of_powers,
        log_difference_of_powers,
        log_one_plus,
        log_one_minus,
        log1p_exp,
        log_one_minus_exp,
        log1mexp_of_power,
        log_sigmoid,
        log1p_minus_sigmoid,
        exp_minus_one,
        one_minus_exp,
        one_minus_sigmoid,
        sigmoid_minus_one,
        cosh_minus_one,
        one_minus_cosh,
        one_plus_expm1,
        expm1_of_softplus,
        one_minus_erf,
        one_plus_erf,
        erf_minus_one,
        one_minus_erfc,
        log_erfc,
        log_of_sqrt,
        log_of_scaled,
    ),
    "stable forms",
)
GENERAL = RuleSet(
    (
        stable_logarithm,
        stable_quotient,
        stable_difference,
        split_root,
        stable_product,
        stable_through_casts,
    ),
    "general stable forms",
)
"""Rules that are tried after all others. They also apply if intermediate results have other users."""
SPECIALIZE = RuleSet(
    (stable_root, difference_of_sigmoids, vanishing_sum, power_times_decay, product_that_vanishes),
    "stable forms of what is left",
)
"""Rules for roots, differences and products, tried when logarithms and products of them have their own stable forms."""
