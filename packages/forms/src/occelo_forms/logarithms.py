"""`Reader.log_of`: the logarithm of an expression, in a form without overflow and underflow.

`stable_forms` calls `Reader.log_of` for logarithms in a graph, but not for those of powers with a constant base. The
rules in `occelo_rewrite.rules.elemwise.stable` use `log_erfc`.

A form is known for expressions of exponentials, sigmoids, softmax, hyperbolic and error functions, and for their sums,
products, quotients, powers, means, elements and slices. For example, log(exp(x) + exp(y)) becomes logaddexp(x, y). The
form is a new graph; the graph of the expression is not changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from occelo_forms.expressions import ExpressionReader, OfBounded, number_in, same
from occelo_graph.gradient.barriers import zero_grad
from occelo_graph.ir.nodes import Constant
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    eq,
    gt,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    sqr,
    sub,
    switch,
)
from occelo_graph.ops.elemwise.error_functions import erf, erfc, erfcx
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.transcendental import (
    exp,
    log,
    log1mexp,
    log1p,
    logaddexp,
    sinh,
    softplus,
    tanh,
)
from occelo_graph.ops.index.subtensor import AdvancedSubtensor, Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.reduce import LogSoftmax, Softmax, logsumexp
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import length_read
from occelo_graph.tensors.nodes import TensorApply, computed_by, tensors

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_SMALLEST = {"float16": -8.0, "float32": -80.0}
LEAST_SEEN = -40.0
"""For all smaller x, 1 + exp(x) is 1 in all dtypes."""
_LARGE_LOGARITHM = 4.0
"""exp(-x) / x is below the last digit of all dtypes for all x with larger logarithms."""
_ODD = ("sinh", "tanh")


def smallest_exponent(dtype: str) -> float:
    """An x about as small as possible for which exp(x) does not underflow in a float dtype."""
    return _SMALLEST.get(dtype, -700.0)


class Logarithm(NamedTuple):
    """The logarithm of an expression, in a stable form.

    ``sure`` is true if the expression is known to be nonnegative. If two factors of a product are negative, the product
    has a real logarithm, but the sum of the factors' logarithms is NaN. So a product has a form only if at most one of
    its factors is not ``sure``.
    """

    form: TensorVariable
    helps: bool
    """Whether the form is more accurate than the logarithm of the computed value.

    False for the logarithm of a number or of a product of lengths.
    """
    sure: bool = True


class Reader(ExpressionReader):
    """Finds stable forms of logarithms, for expressions of one dtype."""

    def log_of(self, variable: TensorVariable) -> Logarithm | None:
        """The logarithm of a variable in a stable form. None if no form is known."""
        logarithm = self._log_of(variable)
        if logarithm is None or not logarithm.helps:
            return logarithm
        # constants become scalars in the form, so it may lack a dimension that only a constant has
        form_type, kind = logarithm.form.type, variable.type
        fits = form_type.ndim == kind.ndim and form_type.broadcastable == kind.broadcastable
        return logarithm if fits else None

    def _log_of(self, variable: TensorVariable) -> Logarithm | None:
        value = number_in(variable)
        if value is not None:
            fits = 0 < value < math.inf
            return Logarithm(self.number(math.log(value)), False) if fits else None
        if isinstance(variable, Constant):
            positive = variable.type.dtype == self.dtype and bool((variable.data > 0).all())
            return Logarithm(log(variable), False) if positive else None
        argument = self.logistic(variable)
        if argument is not None:
            return Logarithm(neg(softplus(self.negated(argument))), True)
        owner = self.owner(variable)
        if owner is None:
            return None
        if isinstance(owner.op, Elemwise):
            if isinstance(owner.op.scalar_op, Cast):
                counts = _is_count(tensors(owner.inputs)[0])
                return Logarithm(log(variable), False) if counts else None
            return self._log_of_elemwise(variable, owner.op.scalar_op.name)
        return self._log_of_whole(variable)

    def _log_of_elemwise(self, variable: TensorVariable, name: str) -> Logarithm | None:
        if name in ("mul", "true_div"):
            bounded = self.bounded_sum((variable,), ())
            if bounded is not None and bounded.vanishes:
                return _log_of_bounded(self, bounded)
        law = _LAWS.get(name)
        node = None if law is None else self.node(variable, name)
        return None if law is None or node is None else law(self, *node.inputs)

    def _log_of_whole(self, variable: TensorVariable) -> Logarithm | None:
        softmax = self.computed_by(variable, Softmax)
        if softmax is not None:
            return Logarithm(LogSoftmax(softmax.op.axis)(softmax.inputs[0]), True)
        part = self.computed_by(variable, DimShuffle, Subtensor, AdvancedSubtensor)
        if part is not None:
            inner = self.log_of(part.inputs[0])
            if inner is None or not inner.helps:
                return None
            return Logarithm(part.op(inner.form, *part.inputs[1:]), True, inner.sure)
        joined = self.computed_by(variable, Join)
        if joined is not None:
            return self._log_of_joined(joined)
        total, product = self.reduction(variable, "add"), self.reduction(variable, "mul")
        if product is not None:
            inner = self.log_of(product.inputs[0])
            if inner is not None and inner.helps and inner.sure:
                return Logarithm(sum_(inner.form, axis=product.op.axis), True)
        if total is None:
            return None
        inner = self.log_of(total.inputs[0])
        if inner is not None and inner.sure:
            whole = logsumexp(inner.form, axis=total.op.axis)
            return Logarithm(whole, True) if inner.helps else None
        return self._log_of_weighted_sum(total.inputs[0], total.op.axis)

    def _log_of_joined(self, joined: TensorApply[Join]) -> Logarithm | None:
        parts = [self.log_of(v) for v in joined.inputs]
        forms = [
            part.form if part is not None and part.helps else log(v)
            for part, v in zip(parts, joined.inputs, strict=True)
        ]
        if not any(part is not None and part.helps for part in parts):
            return None
        sure = all(part is not None and part.sure for part in parts)
        return Logarithm(joined.op(*forms), True, sure)

    def _log_of_weighted_sum(
        self, summed: TensorVariable, axis: tuple[int, ...]
    ) -> Logarithm | None:
        """log(sum(w exp(x))) = m + log(sum(w exp(x - m))), where m is log(sum(exp(x))).

        If the form is only computed, exp(x - m) is written as softmax(x), and as 0 and 1 where m is infinite. If the
        form is differentiated, m is treated as a constant (`zero_grad`): the derivatives through the two occurrences
        of m sum to 0, and would only add rounding errors.
        """
        quotient = self.node(summed, "true_div")
        divisors = [] if quotient is None else [quotient.inputs[1]]
        factors = self.factors(summed if quotient is None else quotient.inputs[0])
        powers = [self.inner(f, "exp") for f in factors]
        exponents = [e for e in powers if e is not None]
        if not exponents:
            return None
        exponent = exponents[0] if len(exponents) == 1 else add(*exponents)
        if exponent.type.ndim != summed.type.ndim:
            return None
        top = logsumexp(exponent, axis=axis, keepdims=True)
        finite = lt(abs_(top), np.inf)
        if self.to_differentiate:
            top = zero_grad(switch(finite, top, self.number(0.0)))
            share = exp(sub(exponent, top))
        else:
            share = switch(finite, Softmax(axis)(exponent), eq(exponent, self.number(math.inf)))
        rest = [f for f, e in zip(factors, powers, strict=True) if e is None]
        weighted = mul(*rest, share)
        for divisor in divisors:
            weighted = weighted / divisor
        total = add(sum_(top, axis=axis), log(sum_(weighted, axis=axis)))
        return Logarithm(total, True, sure=False)

    def log_of_sum(
        self, plus: Sequence[TensorVariable], minus: Sequence[TensorVariable]
    ) -> Logarithm | None:
        """The logarithm of sum(``plus``) - sum(``minus``). None if no form is known.

        A stable form of the logarithm must be known for each term. One term may be an exception, such as c in
        log(exp(x) + c). Then all other terms must be added, and c must not be a product or quotient that contains a
        power such as exp(y).
        """
        if len(plus) == len(minus) == 1 and number_in(plus[0]) == 1:
            logarithm = _log_of_one_less_power(self, minus[0])
            if logarithm is not None:
                return logarithm
        bounded = self.bounded_sum(plus, minus)
        if bounded is not None:
            if bounded.vanishes:
                return _log_of_bounded(self, bounded)
            if bounded.function is None or bounded.function.name != "erf":
                return None
        logs: list[list[Logarithm]] = [[], []]
        unknown: list[TensorVariable] = []
        for side, terms in enumerate((plus, minus)):
            for term in terms:
                value = number_in(term)
                if value is not None and value <= 0:
                    if value < 0:
                        logs[1 - side].append(Logarithm(self.number(math.log(-value)), False))
                    continue
                logarithm = self.log_of(term)
                if logarithm is None or self.is_odd(term, logarithm):
                    unknown.append(neg(term) if side else term)
                    if self._holds_power(term):
                        return None
                elif logarithm.sure:
                    logs[side].append(logarithm)
                else:
                    return None
        if len(unknown) > 1 or not logs[0] or not any(k.helps for side in logs for k in side):
            return None
        total = self._log_of_known_sum(logs[0])
        if logs[1]:
            # the logarithm of c^x is rounded, so the difference could be negative where it should be 0
            if unknown or any(self._holds_power_of_number(v) for v in (*plus, *minus)):
                return None
            difference = _log_of_difference(total, self._log_of_known_sum(logs[1]))
            return Logarithm(difference, True, sure=False)
        if not unknown:
            return Logarithm(total, True)
        # log(exp(a) + c) = m + log(exp(a - m) + c exp(-m)), where m is about the logarithm of the
        # larger term
        top = maximum(maximum(total, log(abs_(unknown[0]))), smallest_exponent(self.dtype))
        top = zero_grad(top)
        scaled = add(exp(sub(total, top)), mul(unknown[0], exp(neg(top))))
        return Logarithm(add(top, log(scaled)), True, sure=False)

    def is_odd(self, variable: TensorVariable, logarithm: Logarithm) -> bool:
        """Whether a variable is an odd function of what may be negative."""
        return not logarithm.sure and self.node(variable, *_ODD) is not None

    def _holds_power(self, variable: TensorVariable, depth: int = 4) -> bool:
        """Whether a variable is exp(x) or c^x for a number c, or a product or quotient that contains one of them."""
        if self.inner(variable, "exp") is not None or self.power_of_number(variable) is not None:
            return True
        node = self.node(variable, "mul", "true_div", "neg", "reciprocal") if depth else None
        return node is not None and any(self._holds_power(v, depth - 1) for v in node.inputs)

    def _holds_power_of_number(self, variable: TensorVariable, depth: int = 4) -> bool:
        """Whether a variable is c^x for a number c, or contains c^x in products, quotients, powers and sums."""
        if self.power_of_number(variable) is not None:
            return True
        names = ("mul", "true_div", "neg", "reciprocal", "sqrt", "sqr", "pow", "add", "sub")
        node = self.node(variable, *names) if depth else None
        return node is not None and any(
            self._holds_power_of_number(v, depth - 1) for v in node.inputs
        )

    def _log_of_known_sum(self, terms: list[Logarithm]) -> TensorVariable:
        forms = [t.form for t in terms]
        if len(forms) == 1:
            return forms[0]
        if len(forms) == 2:
            for one, power in (forms, forms[::-1]):
                if number_in(one) == 0:
                    return softplus(power)
        return logaddexp(*forms)


def _log_of_difference(a: TensorVariable, b: TensorVariable) -> TensorVariable:
    """log(exp(a) - exp(b)), without computing exp(a) or exp(b)."""
    return log1mexp(b) if number_in(a) == 0 else add(a, log1mexp(sub(b, a)))


def _log_of_one_less_power(reader: Reader, variable: TensorVariable) -> Logarithm | None:
    """log(1 - sigmoid(x)^c) = log1mexp(l) for l = -c softplus(-x), or log(c) - x where l underflows, for a number c > 0."""
    node = reader.node(variable, "sqr", "pow", "mul")
    base = reader.square_root(variable)
    power = None if node is None else 2.0
    if node is not None and node.op.scalar_op.name == "pow":
        base, power = node.inputs[0], number_in(node.inputs[1])
    x = None if base is None else reader.logistic(base)
    if x is None or power is None or not 0 < power < math.inf:
        return None
    opposite, least = reader.negated(x), smallest_exponent(reader.dtype)
    exponent = minimum(mul(softplus(opposite), reader.number(-power)), -math.exp(least))
    rest = minimum(add(opposite, reader.number(math.log(power) - least)), 0.0)
    return Logarithm(add(log1mexp(exponent), rest), True)


def _is_count(variable: TensorVariable, depth: int = 4) -> bool:
    """Whether a variable is a product of lengths of tensors and nonnegative constants, all of them integers."""
    if not variable.type.is_discrete:
        return False
    if isinstance(variable, Constant):
        return bool(np.all(variable.data >= 0))
    if variable.owner is None or not depth:
        return False
    if length_read(variable) is not None:
        return True
    node = computed_by(variable, Elemwise)
    if node is None or node.op.scalar_op.name != "mul":
        return False
    return all(_is_count(v, depth - 1) for v in node.inputs)


def log_erfc(x: TensorVariable) -> TensorVariable:
    """log(erfc(x)). It uses erfcx for x > 1, since erfc(x) may underflow, and log1p near 0, where erfc(x) is near 1."""
    large, small = gt(x, 1), lt(abs_(x), 0.25)
    safe = switch(large, x, 1)
    other = switch(large, 1, x)
    near = switch(small, x, 0)
    return switch(
        large,
        sub(log(erfcx(safe)), sqr(safe)),
        switch(small, log1p(neg(erf(near))), log(erfc(other))),
    )


def log_half_erfc(x: TensorVariable) -> TensorVariable:
    """log(erfc(x) / 2). It uses erfcx for x > 1, since erfc(x) may underflow, and log1p for x < 0."""
    large, negative = gt(x, 1), lt(x, 0)
    safe = switch(large, x, 1)
    other = switch(large, 1, x)
    opposite = switch(negative, neg(x), 0)
    return switch(
        large,
        sub(log(erfcx(safe)), sqr(safe)) - math.log(2),
        switch(negative, log1p(erfc(opposite) * -0.5), log(erfc(other) * 0.5)),
    )


def log_one_plus_tanh(x: TensorVariable) -> TensorVariable:
    """log(1 + tanh(x)). It is log(2) - log(1 + exp(-2 x)), but log1p(tanh(x)) near 0."""
    small = lt(abs_(x), 0.5)
    near, far = switch(small, x, 0), switch(small, 1, x)
    return switch(small, log1p(tanh(near)), math.log(2) - softplus(-2 * far))


def _log_of_bounded(reader: Reader, bounded: OfBounded) -> Logarithm | None:
    """The logarithm of a + b f(x) with |a| = |b|, for a bounded function f.

    The forms follow from 1 + erf(x) = erfc(-x), 1 + tanh(x) = 2 sigmoid(2 x) and 1 - tanh(x)^2 = 1 / cosh(x)^2.
    """
    a, b, function = bounded
    if function is None:
        return None
    name, x = function
    # the forms below contain such expressions of a switch themselves; 1 + tanh(x)^2 has no form
    if reader.is_switch(x) or (name == "tanh^2" and b > 0):
        return None
    if name == "tanh^2":
        form, rest = mul(log_cosh(x), -2), a
    elif name == "tanh":
        x = x if b > 0 else reader.negated(x)
        form, rest = (log_one_plus_tanh(x), 1.0) if a == 1 else (neg(softplus(mul(x, -2))), 2 * a)
    else:
        x = x if b < 0 else reader.negated(x)
        form, rest = (log_erfc(x), 1.0) if a == 1 else (log_half_erfc(x), 2 * a)
    return Logarithm(form if rest == 1 else add(form, reader.number(math.log(rest))), True)


def log_cosh(x: TensorVariable) -> TensorVariable:
    """log(cosh(x)). It is log(1 + 2 sinh(x / 2)^2) near 0, and |x| + log(1 + exp(-2 |x|)) - log(2) elsewhere."""
    small = lt(abs_(x), 1)
    near, far = switch(small, x, 0), abs_(switch(small, 1, x))
    by_halves = log1p(2 * sqr(sinh(near * 0.5)))
    return switch(small, by_halves, far + (softplus(-2 * far) - math.log(2)))


def _of_product(reader: Reader, *factors: TensorVariable) -> Logarithm | None:
    return _of_factors(reader, [each for f in factors for each in reader.factors(f)], [])


def _of_factors(
    reader: Reader, above: Sequence[TensorVariable], below: Sequence[TensorVariable]
) -> Logarithm | None:
    """The logarithm of a quotient of products. Factors of which nothing is known have one logarithm together."""
    forms: list[tuple[TensorVariable, int]] = []
    others: list[list[TensorVariable]] = [[], []]
    helps, unsure = False, 0
    logs = [[reader.log_of(f) for f in factors] for factors in (above, below)]
    single = sum(v is None or not v.sure for side in logs for v in side) < 2
    for side, (factors, sign) in enumerate(((above, 1), (below, -1))):
        for factor, logarithm in zip(factors, logs[side], strict=True):
            if logarithm is None or (not single and reader.is_odd(factor, logarithm)):
                others[side].append(factor)
            else:
                helps, unsure = helps or logarithm.helps, unsure + (not logarithm.sure)
                if number_in(logarithm.form) != 0:
                    forms.append((logarithm.form, sign))
    # one factor may be negative: then the logarithm and the form are both NaN
    if not helps or unsure + any(others) > 1:
        return None
    tops, bottoms = [v[0] if len(v) == 1 else mul(*v) if v else None for v in others]
    if tops is not None:
        forms.append((log(tops if bottoms is None else tops / bottoms), 1))
    elif bottoms is not None:
        forms.append((log(bottoms), -1))
    plus, minus = ([v for v, sign in forms if sign == s] for s in (1, -1))
    sums = [v[0] if len(v) == 1 else add(*v) if v else None for v in (plus, minus)]
    first, last = sums
    form = first if last is None else neg(last) if first is None else sub(first, last)
    return None if form is None else Logarithm(form, True, not unsure and not any(others))


def _of_quotient(reader: Reader, top: TensorVariable, bottom: TensorVariable) -> Logarithm | None:
    power = reader.exponent(top)
    if power is not None:
        total = reader.sum_of_powers(bottom, top.type.ndim)
        if total is not None and same(total[1], power):
            axis, summed = total
            return Logarithm(LogSoftmax(axis)(summed), True)
        read = read_of_whole(reader, power, bottom)
        if read is not None:
            return Logarithm(read(LogSoftmax), True)
    return _of_factors(reader, reader.factors(top), reader.factors(bottom))


def read_of_whole(
    reader: Reader, exponent: TensorVariable, bottom: TensorVariable
) -> Callable[[type[Softmax | LogSoftmax]], TensorVariable] | None:
    """For exp(x)[i] / sum(exp(x)), a function that makes softmax(x)[i] or log_softmax(x)[i].

    ``exponent`` is x[i], for any index or slice i, and ``bottom`` is the sum over all axes. None if ``exponent`` or
    ``bottom`` has another form. The argument of the returned function is the class `Softmax` or `LogSoftmax`.
    """
    total = reader.sum_of_powers(bottom)
    read = reader.computed_by(exponent, Subtensor, AdvancedSubtensor)
    if total is None or read is None:
        return None
    axis, summed = total
    if axis != tuple(range(summed.type.ndim)) or not same(read.inputs[0], summed):
        return None
    reader.see(read)

    def part_of(softmax: type[Softmax | LogSoftmax]) -> TensorVariable:
        return read.op(softmax(axis)(summed), *read.inputs[1:])

    return part_of


def _of_power(reader: Reader, base: TensorVariable, exponent: TensorVariable) -> Logarithm | None:
    value = number_in(base)
    if value is not None:
        fits = 0 < value < math.inf and value != 1
        return Logarithm(mul(exponent, reader.number(math.log(value))), True) if fits else None
    logarithm = reader.log_of(base)
    if logarithm is None or not logarithm.helps or not logarithm.sure:
        return None
    return Logarithm(mul(exponent, logarithm.form), True)


def _of_sum(reader: Reader, *terms: TensorVariable) -> Logarithm | None:
    values = [number_in(t) for t in terms]
    if len(terms) == 2 and 1 in values:
        other = terms[1 - values.index(1)]
        inner = reader.inner(other, "erf")
        if inner is not None:
            return Logarithm(log_erfc(reader.negated(inner)), True)
        negated = reader.inner(other, "neg")
        if negated is not None:
            return _of_difference(reader, reader.number(1.0), negated)
    cosh = as_cosh(reader, terms)
    if cosh is not None:
        return Logarithm(add(log_cosh(cosh), math.log(2)), True)
    return reader.log_of_sum(terms, ())


def as_cosh(reader: Reader, terms: Sequence[TensorVariable]) -> TensorVariable | None:
    """Return x if ``terms`` are exp(x) and exp(-x), whose sum is 2 cosh(x). Else None."""
    if len(terms) != 2:
        return None
    first, second = (reader.inner(t, "exp") for t in terms)
    if first is None or second is None:
        return None
    if same(reader.negated(first), second) or same(first, reader.negated(second)):
        return first
    return None


def _of_difference(reader: Reader, a: TensorVariable, b: TensorVariable) -> Logarithm | None:
    if number_in(a) == 1:
        inner = reader.inner(b, "erf")
        if inner is not None:
            return Logarithm(log_erfc(inner), True)
        rest = reader.node(b, "sub")
        if rest is not None and number_in(rest.inputs[0]) == 1:  # 1 - (1 - x) = x
            logarithm = reader.log_of(rest.inputs[1])
            if logarithm is not None and logarithm.helps:
                return logarithm
    x, y = reader.logistic(a), reader.logistic(b)
    if x is not None and y is not None:
        # sigmoid(x) - sigmoid(y) = sigmoid(x) sigmoid(-y) (1 - exp(y - x))
        ends = neg(add(softplus(reader.negated(x)), softplus(y)))
        return Logarithm(add(ends, log1mexp(sub(y, x))), True, sure=False)
    return reader.log_of_sum((a,), (b,))


def _of_negative(reader: Reader, x: TensorVariable) -> Logarithm | None:
    odd = reader.node(x, *_ODD)
    if odd is not None:  # -sinh(x) = sinh(-x)
        return _LAWS[odd.op.scalar_op.name](reader, reader.negated(odd.inputs[0]))
    inner = reader.inner(x, "expm1")
    return None if inner is None else Logarithm(log1mexp(inner), True, sure=False)


def _of_erfc(reader: Reader, x: TensorVariable) -> Logarithm | None:
    # `log_erfc` contains log(erfc) of a switch itself, which must not be replaced again
    return None if reader.is_switch(x) else Logarithm(log_erfc(x), True)


def _of_exp(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return Logarithm(x, True)


def _of_exp2(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_power(reader, reader.number(2.0), x)


def _of_expm1(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_odd(reader, x, lambda y: add(y, log1mexp(reader.negated(y))))


def _of_sinh(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_odd(reader, x, lambda y: add(y, log1mexp(mul(y, -2)), -math.log(2)))


def _of_tanh(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_odd(reader, x, lambda y: sub(log1mexp(mul(y, -2)), softplus(mul(y, -2))))


def _of_odd(
    reader: Reader, x: TensorVariable, of: Callable[[TensorVariable], TensorVariable]
) -> Logarithm:
    """``of`` makes the logarithm of f(x). Where x is so small that it may underflow, f(x) is x to the last digit."""
    logarithm = None if reader.node(x, "cosh", "add") is not None else reader.log_of(x)
    if logarithm is None or not (logarithm.helps and logarithm.sure):
        return Logarithm(of(x), True, sure=False)
    small = lt(logarithm.form, LEAST_SEEN)
    return Logarithm(switch(small, logarithm.form, of(switch(small, 1, x))), True)


def _of_softplus(reader: Reader, x: TensorVariable) -> Logarithm | None:
    """log(softplus(x)) is x, or log(x), where exp(x), or x, is so small or large that the rest is below the last digit."""
    if reader.is_switch(x):
        return None
    logarithm = reader.log_of(x)
    if logarithm is not None and logarithm.helps and logarithm.sure:
        if reader.node(logarithm.form, "minimum") is not None:
            return None  # the form contains such a logarithm itself
        power = exp(minimum(logarithm.form, _LARGE_LOGARITHM))
        return Logarithm(
            add(log(softplus(power)), maximum(sub(logarithm.form, _LARGE_LOGARITHM), 0)), True
        )
    small = lt(x, LEAST_SEEN)
    return Logarithm(switch(small, x, log(softplus(switch(small, 0, x)))), True)


def _of_log1p(reader: Reader, x: TensorVariable) -> Logarithm | None:
    """log(log1p(x)) = log(softplus(log(x)))."""
    logarithm = reader.log_of(x)
    fits = logarithm is not None and logarithm.helps and logarithm.sure
    return _of_softplus(reader, logarithm.form) if logarithm is not None and fits else None


def log_of_abs(reader: Reader, x: TensorVariable) -> Logarithm | None:
    """The logarithms of |sinh(x)| = sinh(|x|), |tanh(x)| = tanh(|x|) and |expm1(x)| = exp(max(x, 0)) (1 - exp(-|x|))."""
    node = reader.node(x, *_ODD, "expm1")
    if node is None:
        return None
    size = abs_(node.inputs[0])
    if node.op.scalar_op.name != "expm1":
        logarithm = _LAWS[node.op.scalar_op.name](reader, size)
        return None if logarithm is None else logarithm._replace(sure=True)
    return Logarithm(add(maximum(node.inputs[0], 0), log1mexp(neg(size))), True)


def _of_cosh(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return Logarithm(log_cosh(x), True)


def _of_reciprocal(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_quotient(reader, reader.number(1.0), x)


def _of_sqrt(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_power(reader, x, reader.number(0.5))


def _of_sqr(reader: Reader, x: TensorVariable) -> Logarithm | None:
    return _of_power(reader, x, reader.number(2.0))


_LAWS: dict[str, Callable[..., Logarithm | None]] = {
    "exp": _of_exp,
    "exp2": _of_exp2,
    "expm1": _of_expm1,
    "neg": _of_negative,
    "cosh": _of_cosh,
    "sinh": _of_sinh,
    "tanh": _of_tanh,
    "softplus": _of_softplus,
    "log1p": _of_log1p,
    "erfc": _of_erfc,
    "mul": _of_product,
    "true_div": _of_quotient,
    "reciprocal": _of_reciprocal,
    "sqrt": _of_sqrt,
    "sqr": _of_sqr,
    "pow": _of_power,
    "add": _of_sum,
    "sub": _of_difference,
}
"""Maps the name of a scalar function f to a function that finds the logarithm of f(x).

The arguments of the second function are a reader, and the arguments of f.
"""
