"""Rules for single elementwise functions: functions that cancel, powers, signs, comparisons, selections.

`pipeline` puts them into the stages canonicalize and specialize.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorVariable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.create import Alloc
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.type import is_discrete, is_float
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.constants import number_of
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_rewrite.patterns.pattern import call, number, p, wild
from occelo_rewrite.patterns.pattern_rule import PatternRule
from occelo_rewrite.rules.matching import applied
from occelo_rewrite.rules.matching import rule_of_floats as rule

x, y, z = wild("x y z")
c, d = number("c"), number("d")


# functions that cancel


def cancels(
    outer: str, inner: str, on: str = "float", tags: tuple[str, ...] = ("stabler",)
) -> PatternRule:
    """Make the rule outer(inner(x)) = x, for an ``outer`` that inverts ``inner`` wherever ``inner`` is defined."""

    def law(x: TensorVariable) -> TensorVariable:
        return x

    law.__name__ = f"{outer}_of_{inner}"
    law.__doc__ = f"{outer}({inner}(x)) = x."
    return rule(getattr(p, outer)(getattr(p, inner)(x)), on=on, tags=tags)(law)


def cancels_where(
    outer: str, inner: str, condition: Callable[[TensorVariable], TensorVariable], text: str
) -> PatternRule:
    """Make the rule outer(inner(x)) = x where ``condition(x)`` holds, else NaN.

    ``text`` is the condition for the docstring.
    """

    def law(x: TensorVariable) -> TensorVariable:
        return ot.switch(condition(x), x, np.nan)

    law.__name__ = f"{outer}_of_{inner}"
    law.__doc__ = f"{outer}({inner}(x)) = x where {text}, else NaN."
    return rule(getattr(p, outer)(getattr(p, inner)(x)), tags=("stabler",))(law)


INVERSES = (
    cancels("neg", "neg", "any", ()),
    cancels("reciprocal", "reciprocal", tags=("stabler", "finite")),
    cancels("conj", "conj", "any", ()),
    cancels("invert", "invert", "any", ()),
    cancels("sinh", "arcsinh"),
    cancels("arcsinh", "sinh"),
    cancels("arctanh", "tanh"),
    cancels("log1p", "expm1"),
    cancels("log", "exp"),
    cancels("log2", "exp2"),
    cancels("deg2rad", "rad2deg"),
    cancels("rad2deg", "deg2rad"),
    cancels_where("exp", "log", lambda x: ot.ge(x, 0), "x >= 0"),
    cancels_where("exp2", "log2", lambda x: ot.ge(x, 0), "x >= 0"),
    cancels_where("sqr", "sqrt", lambda x: ot.ge(x, 0), "x >= 0"),
    cancels_where("expm1", "log1p", lambda x: ot.ge(x, -1), "x >= -1"),
    cancels_where("cosh", "arccosh", lambda x: ot.ge(x, 1), "x >= 1"),
    cancels_where("tanh", "arctanh", lambda x: ot.le(ot.abs(x), 1), "|x| <= 1"),
)


# powers


@rule(p.pow(x, 0), on="any", same_dtype=False, tags=("shape_unsafe",))
def pow_zero(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """x ^ 0 = 1, NaN included."""
    return ot.constant(np.ones((), node.outputs[0].type.dtype))


@rule(p.pow(1, x), on="any", same_dtype=False, tags=("shape_unsafe",))
def pow_of_one(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """1 ^ x = 1, NaN included.

    (This is for real floats only. A negative integer power of an integer is an error, and in NumPy 1 ^ NaN is NaN for
    complex numbers.)
    """
    if not is_float(node.outputs[0].type.dtype):
        return None
    return ot.constant(np.ones((), node.outputs[0].type.dtype))


@rule(p.pow(x, 1), on="any", same_dtype=False)
def pow_one(x: TensorVariable) -> TensorVariable | None:
    """x ^ 1 = x."""
    return x


@rule(p.pow(x, 2), on="any", same_dtype=False, tags=("rounding",))
def pow_two(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
    """x ^ 2 = sqr(x)."""
    return ot.sqr(ot.cast(x, node.outputs[0].type.dtype))


@rule(p.pow(x, -1), tags=("rounding",))
def pow_minus_one(x: TensorVariable) -> TensorVariable | None:
    """x ^ -1 = 1 / x."""
    return ot.reciprocal(x)


@rule(p.pow(x, 0.5), tags=("rounding", "finite"))
def pow_half(x: TensorVariable) -> TensorVariable | None:
    """x ^ 0.5 = sqrt(x) (finite: results differ for x = -infinity, and in the sign of a zero)."""
    return ot.sqrt(x)


@rule(p.pow(x, -0.5), tags=("rounding", "finite"))
def pow_minus_half(x: TensorVariable) -> TensorVariable | None:
    """x ^ -0.5 = 1 / sqrt(x) (finite: as for `pow_half`)."""
    return ot.reciprocal(ot.sqrt(x))


_MOST_SQUARINGS = 16


@rule(
    p.pow(x, number("c", lambda c: float(c).is_integer() and 2 < abs(c) <= _MOST_SQUARINGS)),
    tags=("rounding", "overflow"),
)
def small_power(x: TensorVariable, c: float) -> TensorVariable | None:
    """x ^ n = products of repeated squares, for whole n from -16 to 16."""
    result: TensorVariable | None = None
    square = x
    rest = abs(int(c))
    while rest:
        if rest & 1:
            result = square if result is None else ot.mul(result, square)
        rest >>= 1
        if rest:
            square = ot.sqr(square)
    return ot.reciprocal(result) if c < 0 else result


@rule(p.sqrt(p.sqr(x)), tags=("stabler",))
def sqrt_of_square(x: TensorVariable) -> TensorVariable | None:
    """sqrt(sqr(x)) = |x|, which is exact even if the square overflows or underflows."""
    return ot.abs(x)


@rule(p.sqr(p.abs(x)), p.sqr(p.neg(x)))
def square_of_sign(x: TensorVariable) -> TensorVariable | None:
    """sqr(|x|) = sqr(x), and sqr(-x) = sqr(x)."""
    return ot.sqr(x)


# absolute values and signs


@rule(p.abs(p.neg(x)), on="inexact")
def abs_of_neg(x: TensorVariable) -> TensorVariable | None:
    """|-x| = |x|."""
    return ot.abs(x)


@rule(p.abs(x), tags=("rounding",))
def abs_of_nonnegative(x: TensorVariable, fgraph: FunctionGraph) -> TensorVariable | None:
    """|x| = x, if x is known not to be negative, such as y^2 or exp(y) (rounding: the sign of a zero)."""
    return x if assumptions_of(fgraph).holds(fgraph, x, "nonnegative") else None


@rule(p.mul(p.abs(x), p.abs(y)))
def product_of_abs(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """|x| |y| = |x y|."""
    return ot.abs(ot.mul(x, y))


@rule(p.true_div(p.abs(x), p.abs(y)))
def quotient_of_abs(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """|x| / |y| = |x / y|."""
    return ot.abs(ot.true_div(x, y))


@rule(p.sign(p.exp(x)), p.sign(p.sigmoid(x)), p.sign(x), tags=("stabler", "finite"))
def sign_of_positive(
    x: TensorVariable, node: TensorApply, fgraph: FunctionGraph
) -> TensorVariable | None:
    """sign(x) = 1, if x is an exp, a sigmoid, or known to be positive (finite: also if x underflows to 0 or is NaN)."""
    sure = node.inputs[0] is not x or assumptions_of(fgraph).holds(fgraph, x, "positive")
    return ot.constant(np.ones((), node.outputs[0].type.dtype)) if sure else None


@rule(p.sign(p.true_div(x, y)), tags=("stabler", "finite"))
def sign_of_quotient(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """sign(x / y) = sign(x) if y is a positive number or an exp, and -sign(x) if y is a negative number.

    (finite: x / y may be NaN for an infinite x.)
    """
    value = number_of(y)
    if (value is not None and value > 0) or applied(y, ot.exp) is not None:
        return ot.sign(x)
    return ot.neg(ot.sign(x)) if value is not None and value < 0 else None


@rule(p.sign(p.sign(x)), on="any", tags=("rounding",))
def sign_of_sign(x: TensorVariable) -> TensorVariable | None:
    """sign(sign(x)) = sign(x)."""
    return ot.sign(x)


# comparisons


def _reflexive(name: str, result: bool) -> PatternRule:
    def law(x: TensorVariable, node: TensorApply) -> TensorVariable | None:
        if not is_discrete(x.type.dtype) and (result or name == "neq"):
            return None  # with NaN, eq, le and ge are false and neq is true
        return ot.constant(result)

    law.__name__ = f"{name}_itself"
    law.__doc__ = f"{name}(x, x) = {result}; where NaN decides otherwise, for integers only."
    return rule(getattr(p, name)(x, x), on="any", same_dtype=False)(law)


REFLEXIVE = tuple(
    _reflexive(name, result)
    for name, result in (
        ("lt", False),
        ("gt", False),
        ("neq", False),
        ("le", True),
        ("ge", True),
        ("eq", True),
    )
)


@rule(
    getattr(p, "and")(c, x),
    getattr(p, "or")(c, x),
    on="any",
    same_dtype=False,
    tags=("shape_unsafe",),
)
def decided_truth(x: TensorVariable, c: complex, node: TensorApply) -> TensorVariable | None:
    """x and False = False, x and True = x, x or True = True, x or False = x, for truth values."""
    if node.outputs[0].type.dtype != "bool":
        return None
    decides = bool(c) == (node.op == ot.or_)
    return ot.constant(bool(c)) if decides else x


_length = call(Shape_i, x, name="length")


@rule(p.lt(_length, c), p.ge(_length, c), on="any", same_dtype=False, tags=("shape_unsafe",))
def length_is_not_negative(node: TensorApply, c: float) -> TensorVariable | None:
    """length < c is False, for c <= 0."""
    return ot.constant(node.op == ot.ge) if c <= 0 else None


@rule(p.eq(_length, c), p.neq(_length, c), on="any", same_dtype=False, tags=("shape_unsafe",))
def length_is_no_negative_number(node: TensorApply, c: float) -> TensorVariable | None:
    """length == c is False, for c < 0."""
    return ot.constant(node.op == ot.neq) if c < 0 else None


# selections


@rule(p.switch(z, x, y), on="any", same_dtype=False, tags=("shape_unsafe",))
def switch_constant(
    x: TensorVariable, y: TensorVariable, z: TensorVariable
) -> TensorVariable | None:
    """switch(True, x, y) = x, and switch(False, x, y) = y, also for repeated truth values."""
    repeated = computed_by(z, Alloc, Elemwise)
    if repeated is not None and repeated.op == ot.second:
        z = repeated.inputs[1]
    elif repeated is not None and isinstance(repeated.op, Alloc):
        z = repeated.inputs[0]
    c = number_of(z)
    return None if c is None else x if c else y


@rule(p.switch(z, x, x), on="any", same_dtype=False, tags=("shape_unsafe",))
def switch_same(x: TensorVariable) -> TensorVariable | None:
    """switch(z, x, x) = x."""
    return x


@rule(p.switch(p.invert(z), x, y), on="any", same_dtype=False)
def switch_of_not(x: TensorVariable, y: TensorVariable, z: TensorVariable) -> TensorVariable | None:
    """switch(not z, x, y) = switch(z, y, x), for truth values."""
    return ot.switch(z, y, x) if z.type.dtype == "bool" else None


@rule(p.switch(z, p.switch(z, x, wild("w")), y), on="any", same_dtype=False, tags=("shape_unsafe",))
def switch_in_then(
    x: TensorVariable, y: TensorVariable, z: TensorVariable
) -> TensorVariable | None:
    """switch(z, switch(z, x, w), y) = switch(z, x, y)."""
    return ot.switch(z, x, y)


@rule(p.switch(z, x, p.switch(z, wild("w"), y)), on="any", same_dtype=False, tags=("shape_unsafe",))
def switch_in_else(
    x: TensorVariable, y: TensorVariable, z: TensorVariable
) -> TensorVariable | None:
    """switch(z, x, switch(z, w, y)) = switch(z, x, y)."""
    return ot.switch(z, x, y)


CANONICALIZE = RuleSet(
    (
        *INVERSES,
        pow_zero,
        pow_of_one,
        pow_one,
        pow_two,
        abs_of_neg,
        abs_of_nonnegative,
        sqrt_of_square,
        square_of_sign,
        sign_of_positive,
        sign_of_quotient,
        sign_of_sign,
        *REFLEXIVE,
        decided_truth,
        length_is_not_negative,
        length_is_no_negative_number,
        switch_constant,
        switch_same,
        switch_of_not,
        switch_in_then,
        switch_in_else,
    ),
    "identities canonicalize",
)
SPECIALIZE = RuleSet(
    (pow_minus_one, pow_half, pow_minus_half, small_power, product_of_abs, quotient_of_abs),
    "identities specialize",
)
