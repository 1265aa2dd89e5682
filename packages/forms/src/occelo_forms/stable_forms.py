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

from occelo_forms.conversions import before_narrowing
from occelo_forms.expressions import number_in, same
from occelo_forms.logarithms import Logarithm, Reader, log_of_abs
from occelo_forms.powers import factors_of, power_of_bounded, read_power
from occelo_forms.quotients import half, quotient_form
from occelo_forms.roots import root_form, root_of_odd, root_of_powers, root_of_sum
from occelo_graph.ir.nodes import Apply, Constant, Variable, nodes_made
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.cast import Cast, cast
from occelo_graph.ops.elemwise.arithmetic import (
    abs as abs_,
)
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    eq,
    maximum,
    minimum,
    mul,
    neg,
    sign,
    sqrt,
    sub,
    switch,
)
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import (
    exp,
    expm1,
    log,
    log1p,
    sigmoid,
    sinh,
    softplus,
    tanh,
)
from occelo_graph.ops.elemwise.transcendental import pow as pow_
from occelo_graph.tensors.nodes import TensorApply, computed_by
from occelo_graph.tensors.type import is_float

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def stable_form(node: Apply, keep: Collection[Variable] = ()) -> TensorVariable | None:
    """The stable form of a node's output. None if no form is known.

    The variables in ``keep`` are treated as roots, however they are computed.
    """
    fitting = _law(node, _FORMS)
    if fitting is None:
        return None
    law, elementwise = fitting
    return _form(elementwise, Reader("", keep), law)


def last_form(node: Apply) -> TensorVariable | None:
    """The stable form of a root or a difference of which logarithms and products have better forms. None if none is known."""
    fitting = _law(node, _LAST, _MAY_FIT_LAST)
    return None if fitting is None else _form(fitting[1], Reader(""), fitting[0])


def differentiable_form(
    node: Apply, keep: Collection[Variable]
) -> tuple[TensorVariable | None, list[Apply]]:
    """A form of a node's output with stable derivatives, and the new nodes of the form in topological order.

    The form is None if none is known. The variables in ``keep`` are treated as roots, however they are computed.
    """
    fitting = _law(node, _DIFFERENTIABLE)
    if fitting is None:
        return None, []
    law, elementwise = fitting
    reader = Reader("", keep, to_differentiate=True)
    with nodes_made() as nodes:
        form = _form(elementwise, reader, law)
    if form is None:
        return None, []
    # the reader may have looked at nodes that it made itself
    new = frozenset(v for node in nodes for v in node.outputs)
    return form, toposort([form], blockers=reader.seen - new)


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
        moved = () if node is None else node.inputs[node.op.moves or slice(0)]
        if len(moved) == 1:
            node = moved[0].owner
        if node is not None and isinstance(node.op, Elemwise):
            function = node.op.scalar_op
            count += function is exp.scalar_op or isinstance(function, Cast)
    return count > 1


def _function(variable: Variable) -> str:
    """The scalar function that computes a variable, "" for a root, and "moved" below casts and ops that move elements."""
    node = variable.owner
    if node is None:
        return ""
    op = node.op
    return (
        "moved"
        if not isinstance(op, Elemwise) or isinstance(op.scalar_op, Cast)
        else op.scalar_op.name
    )


def _may_be_stable_difference(inputs: Sequence[Variable]) -> bool:
    first, second = map(_function, inputs)
    if "softplus" in (first, second) or (second in _SQUARES and first in _LOGISTIC):
        return True
    return _has_number(inputs) or second == "moved" or (bool(second) and first == "moved")


_SQUARES = ("sqr", "pow", "mul")
_LOGISTIC = ("sigmoid", "reciprocal", "true_div", "sub")
"""The functions of which `ExpressionReader.logistic` reads."""


def _has_computed_divisor(inputs: Sequence[Variable]) -> bool:
    return inputs[1].owner is not None


def _may_vanish(inputs: Sequence[Variable]) -> bool:
    return inputs[1].owner is not None or _has_number(inputs)


_Test = Callable[[Sequence[Variable]], bool]
_MAY_FIT: dict[str, _Test] = {
    "mul": _has_powers,
    "add": _has_number,
    "sub": _may_be_stable_difference,
    "true_div": _has_computed_divisor,
}
"""Quick tests of the inputs of a node, by scalar function. A node that fails its test has no stable form."""
_MAY_FIT_LAST: dict[str, _Test] = {"add": _has_number, "sub": _may_vanish}
"""The same for `last_form`."""


_Node = TensorApply[Elemwise]
_Law = Callable[[Reader, _Node], "TensorVariable | None"]


def _law(
    node: Apply, laws: dict[str, _Law], tests: dict[str, _Test] = _MAY_FIT
) -> tuple[_Law, _Node] | None:
    """The law in ``laws`` that may apply to a node, and the node. None if no law can apply.

    A law is a function from a reader and a node to the stable form of the node's output, or None.
    """
    elementwise = computed_by(node.outputs[0], Elemwise)
    if elementwise is None or elementwise.op.inplace:
        return None
    name = elementwise.op.scalar_op.name
    law = laws.get(name)
    if law is None:
        return None
    may_fit = tests.get(name)
    return (law, elementwise) if may_fit is None or may_fit(elementwise.inputs) else None


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
        logarithm = reader.log_of(node.inputs[0]) or _log_of_size(reader, node.inputs[0])
        if logarithm is None or not logarithm.helps:
            return None
        return logarithm.form if scale == 1 else logarithm.form / reader.number(scale)

    return law


def _log_of_size(reader: Reader, x: TensorVariable) -> Logarithm | None:
    """log|f(x)|, and log(f(x)^2) = 2 log|f(x)|."""
    base = reader.square_root(x)
    inner = reader.inner(x, "abs") if base is None else base
    of_abs = None if inner is None else log_of_abs(reader, inner)
    return of_abs if of_abs is None or base is None else of_abs._replace(form=mul(of_abs.form, 2.0))


def _log1p(reader: Reader, node: _Node) -> TensorVariable | None:
    x = node.inputs[0]
    inner = reader.inner(x, "expm1")
    if inner is not None:
        return inner
    sum_ = reader.node(x, "sub", "add")
    if sum_ is not None and len(sum_.inputs) == 2:
        a, b = sum_.inputs
        if number_in(b) == (1 if sum_.op.scalar_op.name == "sub" else -1):  # log1p(a - 1)
            logarithm = reader.log_of(a)
            return log(a) if logarithm is None else logarithm.form
    inner = reader.inner(x, "sinh")
    if inner is not None:  # it is x - log(2) to the last digit from 40 on
        near = None if reader.node(inner, "minimum") else log1p(sinh(minimum(inner, 40.0)))
        return None if near is None else add(near, maximum(sub(inner, 40.0), 0.0))
    inner = _negative_of(reader, x)
    one = reader.number(1.0)
    if inner is None:
        logarithm = reader.log_of_sum((one, x), ())
    else:
        argument = reader.logistic(inner)
        if argument is not None:
            logarithm = reader.log_of(sigmoid(reader.negated(argument)))
        else:
            logarithm = reader.log_of_sum((one,), (inner,))
    return None if logarithm is None else logarithm.form


def _negative_of(reader: Reader, x: TensorVariable) -> TensorVariable | None:
    """Return y if x is -y, and y z if it is (-y) z. Else None."""
    product = reader.node(x, "mul")
    if product is None or len(product.inputs) != 2:
        return reader.inner(x, "neg")
    first, last = product.inputs
    y, z = reader.inner(first, "neg"), reader.inner(last, "neg")
    if (y is None) == (z is None):
        return None
    return mul(y, last) if y is not None else None if z is None else mul(first, z)


# differences


def _less_square(reader: Reader, node: _Node) -> TensorVariable | None:
    """The law of `_difference`, and sigmoid(x) - sigmoid(x)^2 = sigmoid(x) sigmoid(-x)."""
    x = None if node.op.scalar_op.name == "add" else reader.logistic(node.inputs[0])
    base = None if x is None else reader.square_root(node.inputs[1])
    argument = None if base is None else reader.logistic(base)
    if x is None or argument is None or not same(argument, x):
        return _difference(reader, node)
    return mul(sigmoid(x), sigmoid(reader.negated(x)))


def _difference_of_sigmoids(reader: Reader, node: _Node) -> TensorVariable | None:
    """sigmoid(x) - sigmoid(y) = sign(x - y) sigmoid(h) sigmoid(-l) (1 - exp(l - h)).

    h is the larger one of x and y, and l is the smaller one.
    """
    x = reader.logistic(node.inputs[0])
    y = None if x is None else reader.logistic(node.inputs[1])
    if x is None or y is None or number_in(x) is not None or number_in(y) is not None:
        return None
    high, low = maximum(x, y), minimum(x, y)
    size = mul(sigmoid(high), sigmoid(neg(low)), neg(expm1(sub(low, high))))
    return mul(sign(sub(x, y)), size)


def _vanishing_sum(reader: Reader, node: _Node) -> TensorVariable | None:
    """1 - tanh(x)^2 = 1 / cosh(x)^2, 1 - tanh(x) = 2 sigmoid(-2 x), and the laws of differences of sigmoids.

    One is 1 - sigmoid(x)^2 = sigmoid(-x) (1 + sigmoid(x)), others are in `_difference_of_sigmoids`.
    """
    power = power_of_bounded(reader, node.outputs[0])
    if power is not None:
        return mul(*factors_of(reader, power))
    if node.op.scalar_op.name == "add":
        return None
    base = reader.square_root(node.inputs[1]) if number_in(node.inputs[0]) == 1 else None
    x = None if base is None else reader.logistic(base)
    if x is None:
        return _difference_of_sigmoids(reader, node)
    return mul(sigmoid(reader.negated(x)), add(reader.number(1.0), sigmoid(x)))


def _less_softplus(reader: Reader, a: TensorVariable, b: TensorVariable) -> TensorVariable | None:
    """x - softplus(x) = -softplus(-x), softplus(x) - x = softplus(-x), and softplus(x) - softplus(-x) = x."""
    x, y = reader.inner(a, "softplus"), reader.inner(b, "softplus")
    if x is not None and y is not None and same(reader.negated(x), y):
        return x
    if x is not None and y is not None and same(x, reader.negated(y)):
        return x
    if y is not None and same(y, a):
        return neg(softplus(reader.negated(a)))
    if x is not None and same(x, b):
        return softplus(reader.negated(b))
    return None


def _difference(reader: Reader, node: _Node) -> TensorVariable | None:
    """2 sigmoid(x) - 1 = tanh(x / 2), and the laws of `_less_softplus`."""
    if len(node.inputs) != 2:
        return None
    a, b = node.inputs
    if node.op.scalar_op.name == "sub":
        form = _less_softplus(reader, a, b)
        if form is not None:
            return form
    if node.op.scalar_op.name == "add":
        if -1 not in (number_in(a), number_in(b)):
            return None
        a = b if number_in(a) == -1 else a
    elif number_in(b) != 1:
        return None
    product = reader.node(a, "mul", "true_div")
    if product is None or len(product.inputs) != 2:
        return None
    first, second = product.inputs
    if product.op.scalar_op.name == "true_div":
        argument = reader.power_plus_one(second) if number_in(first) == 2 else None
        argument = None if argument is None else reader.negated(argument)
    else:
        other = second if number_in(first) == 2 else first if number_in(second) == 2 else None
        argument = None if other is None else reader.logistic(other)
    return None if argument is None else tanh(half(reader, argument))


_FORMS: dict[str, _Law] = {
    "log": _log(1.0, math.log),
    "log2": _log(math.log(2), math.log2),
    "log10": _log(math.log(10), math.log10),
    "log1p": _log1p,
    "true_div": quotient_form,
    "reciprocal": quotient_form,
    "sub": _less_square,
    "add": _difference,
}


_LAST: dict[str, _Law] = {
    "sqrt": root_form,
    "pow": root_form,
    "add": _vanishing_sum,
    "sub": _vanishing_sum,
}


# forms that are only differentiated


def _product_of_powers(reader: Reader, node: _Node) -> TensorVariable | None:
    """w exp(x) exp(y) = w exp(x + y)."""
    powers = [reader.exponent(v) for v in node.inputs]
    exponents = [e for e in powers if e is not None]
    if len(exponents) < 2:
        return None
    rest = [v for v, e in zip(node.inputs, powers, strict=True) if e is None]
    return mul(*rest, exp(add(*exponents))) if rest else exp(add(*exponents))


def _quotient(reader: Reader, node: _Node) -> TensorVariable | None:
    """c / exp(x) = c exp(-x) for a constant array c and a single x, such as distances by a length.

    Else c / x^2 = c x^-2 for a number c and a sum x. So the derivative has no square of exp(x) or x^2, which vanishes long before they do.
    """
    top, bottom = node.inputs[0], node.inputs[-1]
    if isinstance(top, Constant) and top.type.ndim and all(bottom.type.broadcastable):
        exponent = reader.exponent(bottom)
        if exponent is not None:
            return mul(top, exp(neg(exponent)))
    form = quotient_form(reader, node)
    alone = node.op.scalar_op.name == "reciprocal"
    square = reader.square_root(bottom) if form is None and (alone or number_in(top)) else None
    if square is None or read_power(reader, square) is not None:
        return form
    inverse = pow_(square, reader.number(-2.0))
    return inverse if alone else mul(top, inverse)


def _root(reader: Reader, node: _Node) -> TensorVariable | None:
    """sqrt(x^2) = |x|. The square root of a sum of squares has the derivative 0 where all squares are 0."""
    if node.op.scalar_op.name == "pow" and number_in(node.inputs[1]) != 0.5:
        return None
    x = node.inputs[0]
    base = reader.square_root(x)
    if base is not None:
        return abs_(base)
    if not _is_sum_of_squares(reader, x):
        laws = (root_of_powers(reader, x), root_of_sum(reader, x, 0.5), root_of_odd(reader, x, 0.5))
        return next((form for form in laws if form is not None), None)
    zero = eq(x, 0)
    return switch(zero, reader.number(0.0), sqrt(switch(zero, reader.number(1.0), x)))


def _is_sum_of_squares(reader: Reader, variable: TensorVariable) -> bool:
    """Whether a variable is a sum of squares, or the quotient of a sum of squares and any other variable."""
    quotient = reader.node(variable, "true_div")
    total = variable if quotient is None else quotient.inputs[0]
    reduced = reader.reduction(total, "add")
    if reduced is not None:
        return reader.square_root(reduced.inputs[0]) is not None
    terms = reader.node(total, "add")
    return terms is not None and all(reader.square_root(v) is not None for v in terms.inputs)


def _expm1(reader: Reader, node: _Node) -> TensorVariable | None:
    """expm1(softplus(x)) = exp(x)."""
    x = reader.inner(node.inputs[0], "softplus")
    return None if x is None else exp(x)


def _inverse_of(name: str) -> _Law:
    """The law g(f(x)) = x, for the function f called ``name``, of which g is the inverse."""
    return lambda reader, node: reader.inner(node.inputs[0], name)


_DIFFERENTIABLE: dict[str, _Law] = {
    **_FORMS,
    "expm1": _expm1,
    "arcsinh": _inverse_of("sinh"),
    "sinh": _inverse_of("arcsinh"),
    "arctanh": _inverse_of("tanh"),
    "true_div": _quotient,
    "reciprocal": _quotient,
    "sub": _difference,
    "mul": _product_of_powers,
    "sqrt": _root,
    "pow": _root,
}
