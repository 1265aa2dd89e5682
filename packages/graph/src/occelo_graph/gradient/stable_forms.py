"""Stable forms: for common expressions, equal expressions that neither overflow nor cancel.

For example, the stable form of log(1 + exp(x)) is softplus(x). The forms have two uses:

- The rules in `occelo_rewrite.rules.elemwise.stable` replace nodes by their forms in compiled graphs (`stable_form`).
- Reverse and forward mode differentiate the form of a node instead of the node (`differentiable_form`). So the
  derivative of log(1 + exp(x)) is sigmoid(x). The chain rule would compute exp(x) / (1 + exp(x)), which is inf / inf
  for large x.

A form is used even if other nodes also use the intermediate results of the expression.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from occelo_graph.gradient.conversions import before_narrowing
from occelo_graph.gradient.expressions import number_in, same
from occelo_graph.gradient.logarithms import Reader, read_of_whole
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.cast import Cast, cast
from occelo_graph.ops.elemwise.arithmetic import (
    abs as abs_,
)
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    eq,
    gt,
    mul,
    neg,
    reciprocal,
    sqr,
    sqrt,
    sub,
    switch,
)
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.special import erfc, erfcx
from occelo_graph.ops.elemwise.transcendental import exp, expm1, sigmoid, tanh
from occelo_graph.ops.reduce import Softmax
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.tensors.nodes import TensorApply, computed_by
from occelo_graph.tensors.type import is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["differentiable_form", "stable_form"]


def stable_form(node: Apply, keep: Collection[Variable] = ()) -> TensorVariable | None:
    """The stable form of a node's output. None if no form is known.

    The variables in ``keep`` are treated as roots, however they are computed.
    """
    found = _law(node, _FORMS)
    if found is None:
        return None
    law, elementwise = found
    return _form(elementwise, Reader("", keep), law)


def differentiable_form(
    node: Apply, keep: Collection[Variable]
) -> tuple[TensorVariable | None, list[Apply]]:
    """A form of a node's output with stable derivatives, and the new nodes of the form in topological order.

    The form is None if none is known. The variables in ``keep`` are treated as roots, however they are computed.
    """
    found = _law(node, _DIFFERENTIABLE)
    if found is None:
        return None, []
    law, elementwise = found
    reader = Reader("", keep, to_differentiate=True)
    form = _form(elementwise, reader, law)
    return form, [] if form is None else toposort([form], blockers=frozenset(reader.seen))


def _has_number(inputs: Sequence[Variable]) -> bool:
    if len(inputs) != 2:
        return False
    # a quick test first: only a constant can be a number, and a constant has no owner
    first, second = [number_in(v) if v.owner is None else None for v in inputs]
    return bool(first) or second is not None


def _has_powers(inputs: Sequence[Variable]) -> bool:
    count = 0
    for v in inputs:
        node = v.owner
        if node is not None and isinstance(node.op, Elemwise):
            function = node.op.scalar_op
            count += function is exp.scalar_op or isinstance(function, Cast)
    return count > 1


def _has_computed_divisor(inputs: Sequence[Variable]) -> bool:
    return inputs[1].owner is not None


_MAY_FIT: dict[str, Callable[[Sequence[Variable]], bool]] = {
    "mul": _has_powers,
    "add": _has_number,
    "sub": _has_number,
    "true_div": _has_computed_divisor,
}
"""Quick tests of the inputs of a node, by scalar function. A node that fails its test has no stable form."""


_Node = TensorApply[Elemwise]
_Law = Callable[[Reader, _Node], "TensorVariable | None"]


def _law(node: Apply, laws: dict[str, _Law]) -> tuple[_Law, _Node] | None:
    """The law in ``laws`` that may apply to a node, and the node. None if no law can apply.

    A law is a function from a reader and a node to the stable form of the node's output, or None.
    """
    found = computed_by(node.outputs[0], Elemwise)
    if found is None or found.op.inplace:
        return None
    name = found.op.scalar_op.name
    law = laws.get(name)
    if law is None:
        return None
    may_fit = _MAY_FIT.get(name)
    return (law, found) if may_fit is None or may_fit(found.inputs) else None


def _form(node: _Node, reader: Reader, law: _Law) -> TensorVariable | None:
    kind = node.outputs[0].type
    if not is_float(kind.dtype):
        return None
    whole = before_narrowing(node, reader.keep)
    reader.dtype = dtype = whole.outputs[0].type.dtype
    root = computed_by(reader.view(whole.outputs[0]), Elemwise)
    if root is None or any(v.type.dtype != dtype for v in root.inputs):
        return None
    reader.see(root)
    form = law(reader, root)
    if form is None or form in (node.outputs[0], root.outputs[0]):
        return None
    form = cast(form, kind.dtype)
    fits = form.type.dtype == kind.dtype and form.type.ndim == kind.ndim
    return form if fits and form.type.broadcastable == kind.broadcastable else None


# logarithms


def _log(scale: float, of_number: Callable[[float], float]) -> _Law:
    """The law for the logarithm to the base exp(``scale``). ``of_number`` computes this logarithm for a number."""

    def law(reader: Reader, node: _Node) -> TensorVariable | None:
        power = reader.power_of_number(node.inputs[0])
        if power is not None:
            base, exponent = power
            factor = of_number(base)
            return exponent if factor == 1 else mul(exponent, reader.number(factor))
        found = reader.log_of(node.inputs[0])
        if found is None or not found.helps:
            return None
        return found.form if scale == 1 else found.form / reader.number(scale)

    return law


def _log1p(reader: Reader, node: _Node) -> TensorVariable | None:
    x = node.inputs[0]
    inner = reader.inner(x, "neg")
    one = reader.number(1.0)
    if inner is None:
        found = reader.log_of_sum((one, x), ())
    else:
        argument = reader.logistic(inner)
        if argument is not None:
            found = reader.log_of(sigmoid(reader.negated(argument)))
        else:
            found = reader.log_of_sum((one,), (inner,))
    return None if found is None else found.form


# quotients


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


def _quotient(reader: Reader, node: _Node) -> TensorVariable | None:
    argument = reader.logistic(node.outputs[0])
    if argument is not None:
        return sigmoid(argument)
    reciprocal = node.op.scalar_op.name == "reciprocal"
    top = reader.number(1.0) if reciprocal else node.inputs[0]
    bottom = node.inputs[-1]
    factors = reader.factors(top)
    for law in (
        _hyperbolic,
        _over_power_plus_one,
        _over_square,
        _over_erfc,
        _over_total,
        _of_totals,
        _less_one_over_power,
        _of_powers,
    ):
        found = law(reader, factors, top, bottom)
        if found is not None:
            return found
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
        square = None if power is None else reader.inner(power, "neg")
        base = None if square is None else reader.square_root(square)
        if base is not None and same(base, x):
            large = gt(x, 1)
            safe, other = switch(large, x, 1), switch(large, 1, x)
            made = switch(large, reciprocal(erfcx(safe)), exp(neg(sqr(other))) / erfc(other))
            return _times(factors[:i] + factors[i + 1 :], made)
    return None


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
        whole = None if reader.inner(bottom, "erfc") is not None else reader.log_of(bottom)
        if whole is not None and whole.helps and whole.sure and reader.inner(bottom, "exp") is None:
            return _times(others, exp(sub(power, whole.form)))
    return None


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
        return tanh(_half(reader, reader.negated(b) if one_first else a))
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
        found = _difference_of_powers(reader, inner)
        return None if found is None else (found[1], found[0])
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


def _of_powers(
    reader: Reader, factors: list[TensorVariable], top: TensorVariable, bottom: TensorVariable
) -> TensorVariable | None:
    """exp(x) / exp(y) = exp(x - y)."""
    a, b = reader.inner(top, "exp"), reader.inner(bottom, "exp")
    return None if a is None or b is None else exp(sub(a, b))


def _difference(reader: Reader, node: _Node) -> TensorVariable | None:
    """2 sigmoid(x) - 1 = tanh(x / 2)."""
    if len(node.inputs) != 2:
        return None
    a, b = node.inputs
    if node.op.scalar_op.name == "add":
        if -1 not in (number_in(a), number_in(b)):
            return None
        a = b if number_in(a) == -1 else a
    elif number_in(b) != 1:
        return None
    found = reader.node(a, "mul", "true_div")
    if found is None or len(found.inputs) != 2:
        return None
    first, second = found.inputs
    if found.op.scalar_op.name == "true_div":
        argument = reader.power_plus_one(second) if number_in(first) == 2 else None
        argument = None if argument is None else reader.negated(argument)
    else:
        other = second if number_in(first) == 2 else first if number_in(second) == 2 else None
        argument = None if other is None else reader.logistic(other)
    return None if argument is None else tanh(_half(reader, argument))


def _half(reader: Reader, argument: TensorVariable) -> TensorVariable:
    """Half of a variable: y for 2 y, and x / 2 for all other x."""
    found = reader.node(argument, "mul")
    if found is not None and len(found.inputs) == 2:
        for factor, other in (found.inputs, found.inputs[::-1]):
            value = number_in(factor)
            if value is not None and abs(value) == 2:
                return other if value > 0 else reader.negated(other)
    return mul(argument, reader.number(0.5))


_FORMS: dict[str, _Law] = {
    "log": _log(1.0, math.log),
    "log2": _log(math.log(2), math.log2),
    "log10": _log(math.log(10), math.log10),
    "log1p": _log1p,
    "true_div": _quotient,
    "reciprocal": _quotient,
    "sub": _difference,
    "add": _difference,
}


# forms that are only differentiated


def _product_of_powers(reader: Reader, node: _Node) -> TensorVariable | None:
    """w exp(x) exp(y) = w exp(x + y)."""
    powers = [reader.inner(v, "exp") for v in node.inputs]
    exponents = [e for e in powers if e is not None]
    if len(exponents) < 2:
        return None
    rest = [v for v, e in zip(node.inputs, powers, strict=True) if e is None]
    return _times(rest, exp(add(*exponents)))


def _root(reader: Reader, node: _Node) -> TensorVariable | None:
    """sqrt(x^2) = |x|. The square root of a sum of squares has the derivative 0 where all squares are 0."""
    if node.op.scalar_op.name == "pow" and number_in(node.inputs[1]) != 0.5:
        return None
    x = node.inputs[0]
    base = reader.square_root(x)
    if base is not None:
        return abs_(base)
    if not _is_sum_of_squares(reader, x):
        return None
    zero = eq(x, 0)
    return switch(zero, reader.number(0.0), sqrt(switch(zero, reader.number(1.0), x)))


def _is_sum_of_squares(reader: Reader, variable: TensorVariable) -> bool:
    """Whether a variable is a sum of squares, or the quotient of a sum of squares and any other variable."""
    found = reader.node(variable, "true_div")
    total = variable if found is None else found.inputs[0]
    reduced = reader.reduction(total, "add")
    if reduced is not None:
        return reader.square_root(reduced.inputs[0]) is not None
    terms = reader.node(total, "add")
    return terms is not None and all(reader.square_root(v) is not None for v in terms.inputs)


_DIFFERENTIABLE: dict[str, _Law] = {
    **_FORMS,
    "mul": _product_of_powers,
    "sqrt": _root,
    "pow": _root,
}
