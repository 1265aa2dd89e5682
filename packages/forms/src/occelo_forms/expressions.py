"""`ExpressionReader`: recognizes expressions such as 1 + exp(x) in a graph.

`logarithms.Reader` extends it, to find the expressions that have stable forms; `stable_forms` uses functions of this
module. A rule in `occelo_rewrite.rules.elemwise.stable` calls `is_switch`.

Most methods recognize one form of expression. They return the parts of the expression, or None if the variable is not
computed by an expression of this form.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from occelo_forms.conversions import converted, in_one_dtype
from occelo_graph.ir.nodes import Apply, Constant, OpT, Variable
from occelo_graph.narrowing import is_array
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.arithmetic import neg, second, sub
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import AdvancedSubtensor, Subtensor
from occelo_graph.ops.join import Join
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.tensors.constant import constant, scalar_constant
from occelo_graph.tensors.nodes import TensorApply, computed_by

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorConstant, TensorVariable

_READS = 200
_DEPTH = 5


def number_in(variable: Variable) -> float | None:
    """The real number to which all elements of a constant are equal. None for other variables and large constants."""
    if not isinstance(variable, Constant):
        return None
    data = variable.data
    if not is_array(data) or data.dtype.kind not in "iuf" or not 0 < data.size <= 64:
        return None
    first = float(data.flat[0])
    return first if data.size == 1 or bool((data == first).all()) else None


def same(a: Variable, b: Variable, depth: int = 3) -> bool:
    """Whether two variables are computed by equal expressions of the same variables, up to ``depth`` nodes deep."""
    if a is b:
        return True
    if isinstance(a, Constant) and isinstance(b, Constant):
        return bool(a.equals(b))
    first, second = a.owner, b.owner
    if first is None or second is None or not depth or a.index != b.index:
        return False
    return (
        first.op == second.op
        and len(first.inputs) == len(second.inputs)
        and all(same(v, w, depth - 1) for v, w in zip(first.inputs, second.inputs, strict=True))
    )


def _end(variable: Variable) -> float | None:
    """-inf for zeros and inf for ones, also if their number is not known. None for other variables."""
    while variable.owner is not None:
        moved = variable.owner.inputs[variable.owner.op.moves or slice(0)]
        if len(moved) != 1:
            return None
        variable = moved[0]
    value = number_in(variable)
    return None if value not in (0, 1) else math.inf if value else -math.inf


class BoundedFunction(NamedTuple):
    """A bounded function f of x. Its ``name`` is "erf", "tanh" or, for the square of tanh, "tanh^2"."""

    name: str
    x: TensorVariable


class OfBounded(NamedTuple):
    """An expression a + b f(x), for a bounded function f. If ``function`` is None, the expression is the number a."""

    a: float
    b: float
    function: BoundedFunction | None = None

    @property
    def vanishes(self) -> bool:
        """Whether a + b f(x) is positive and approaches 0 where f(x) approaches 1 or -1."""
        return 0 < self.a < math.inf and abs(self.b) == self.a

    def times(self, factor: float) -> OfBounded:
        """The product of a + b f(x) and ``factor``."""
        return self._replace(a=self.a * factor, b=self.b * factor)


class ExpressionReader:
    """Recognizes expressions of one dtype.

    - ``keep``: variables that the reader treats as roots, however they are computed.
    - ``to_differentiate``: whether the stable forms that are built are only differentiated. Then they may contain
      expressions that have a stable form themselves. A form that replaces a node must not: rules would replace the
      expressions again.
    - ``seen``: the inputs of all nodes that the reader has looked at. Stable forms are built from these variables, and
      from new ones that the reader has made: it may look at those, too.
    """

    def __init__(
        self, dtype: str, keep: Collection[Variable] = (), to_differentiate: bool = False
    ) -> None:
        self.dtype = dtype
        self.keep = keep
        self.to_differentiate = to_differentiate
        self.seen: set[Variable] = set()
        self._left = _READS
        self._views: dict[Variable, TensorVariable] = {}
        self._uniform: dict[Variable, TensorApply[Elemwise] | None] = {}
        self._converted: dict[Variable, TensorVariable] = {}
        self._sources: dict[Variable, Variable] = {}

    def renew(self) -> None:
        """Let the reader look at as many nodes as a new one."""
        self._left = _READS

    def view(self, variable: TensorVariable) -> TensorVariable:
        """The variable as the reader reads it: an equal variable whose node has inputs of the reader's dtype only.

        See `in_one_dtype`. If there is none, the variable itself.
        """
        if variable.owner is None or variable.type.dtype != self.dtype or variable in self.keep:
            return variable
        view = self._views.get(variable)
        if view is None:
            view = in_one_dtype(variable, self.keep, self._convert)
            self._views[variable] = view
        return view

    def _convert(self, variable: TensorVariable, dtype: str) -> TensorVariable:
        if variable.type.dtype == dtype:
            return variable
        in_dtype = self._converted.get(variable)
        if in_dtype is None:
            in_dtype = self._converted[variable] = converted(variable, dtype)
            self._sources[in_dtype] = variable
        return in_dtype

    def owner(self, variable: TensorVariable) -> Apply | None:
        """The node that computes the `view` of a variable.

        None for a root, for a variable of another dtype, or if the reader has looked at too many nodes already.
        """
        if variable.owner is None or variable in self.keep or not self._left:
            return None
        if variable.type.dtype != self.dtype:
            return None
        node = self.view(variable).owner
        if node is None:
            return None
        self._left -= 1
        self.see(node)
        return node

    def see(self, node: Apply) -> None:
        """Add the inputs of a node to ``seen``. For an input that the reader has converted, add what it converted."""
        self.seen.update([self._sources.get(v, v) for v in node.inputs])

    def computed_by(
        self, variable: TensorVariable, *op_classes: type[OpT]
    ) -> TensorApply[OpT] | None:
        """The node that computes the `view` of a variable, if its op is of one of ``op_classes``. Else None."""
        return computed_by(self.view(variable), *op_classes)

    def node(self, variable: TensorVariable, *names: str) -> TensorApply[Elemwise] | None:
        """The node that computes the variable, if it applies a scalar function in ``names``. Else None.

        All inputs must have the reader's dtype.
        """
        owner = variable.owner
        op = None if owner is None else owner.op
        if not isinstance(op, Elemwise):
            return None
        # a quick test first: the view applies the same function, unless this one is a cast
        function = op.scalar_op
        if function.name not in names and not isinstance(function, Cast):
            return None
        if variable in self._uniform:
            uniform = self._uniform[variable]
        else:
            uniform = self._uniform[variable] = self._uniform_node(variable)
        if uniform is None or not self._left or uniform.op.scalar_op.name not in names:
            return None
        self._left -= 1
        return uniform

    def _uniform_node(self, variable: TensorVariable) -> TensorApply[Elemwise] | None:
        """The node that computes the `view` of a variable elementwise from inputs of the reader's dtype, if there is one."""
        if variable.type.dtype != self.dtype or variable in self.keep:
            return None
        uniform = computed_by(self.view(variable), Elemwise)
        if uniform is None or uniform.op.inplace:
            return None
        self.see(uniform)
        return uniform if all([v.type.dtype == self.dtype for v in uniform.inputs]) else None

    def function(self, variable: TensorVariable) -> str | None:
        """The name of the scalar function that computes the `view` of a variable, "" for a root. None for other ops."""
        node = self.view(variable).owner
        if node is None:
            return ""
        return node.op.scalar_op.name if isinstance(node.op, Elemwise) else None

    def inner(self, variable: TensorVariable, name: str) -> TensorVariable | None:
        """Return x if the variable is f(x), for the scalar function f called ``name``. Else None."""
        node = self.node(variable, name)
        return None if node is None else node.inputs[0]

    def exponent(self, variable: TensorVariable) -> TensorVariable | None:
        """Return x if the variable is exp(x). For a part of exp(x), such as exp(x)[1:], return the same part of x."""
        part = self.computed_by(variable, DimShuffle, Subtensor, AdvancedSubtensor)
        if part is not None:
            whole = None if self.owner(variable) is None else self.exponent(part.inputs[0])
            return None if whole is None else part.op(whole, *part.inputs[1:])
        return self.inner(variable, "exp")

    def negated(self, variable: TensorVariable) -> TensorVariable:
        """The negative of the variable, simplified: x if the variable is -x, and a constant for a constant."""
        if isinstance(variable, Constant) and number_in(variable) is not None:
            return constant(np.asarray(-variable.data))
        inner = self.inner(variable, "neg")
        return neg(variable) if inner is None else inner

    @staticmethod
    def is_switch(variable: TensorVariable) -> bool:
        """Whether a variable is computed by `switch`.

        A stable form that distinguishes cases contains expressions of such variables. For instance, the stable form of
        log(erfc(x)) contains log(erfc(s)) where s is a `switch`. Such an expression must not be replaced by a
        stable form again.
        """
        node = computed_by(variable, Elemwise)
        return node is not None and node.op.scalar_op.name == "switch"

    def factors(self, variable: TensorVariable) -> list[TensorVariable]:
        """The factors of a product, with a factor -1 for each negation. For -x y they are -1, x and y."""
        node = self.node(variable, "mul", "neg")
        if node is None:
            return [variable]
        parts = [f for v in node.inputs for f in self.factors(v)]
        return [self.number(-1.0), *parts] if node.op.scalar_op.name == "neg" else parts

    def number(self, value: float) -> TensorConstant:
        """A constant of the reader's dtype."""
        return scalar_constant(value, self.dtype)

    def square_root(self, variable: TensorVariable) -> TensorVariable | None:
        """Return x if the variable is the square of x. Else None."""
        node = self.node(variable, "sqr", "pow", "mul")
        if node is None:
            return None
        name, base, rest = node.op.scalar_op.name, node.inputs[0], node.inputs[1:]
        fits = name == "sqr" or (
            len(rest) == 1 and (number_in(rest[0]) == 2 if name == "pow" else same(base, rest[0]))
        )
        return base if fits else None

    def power_of_number(self, variable: TensorVariable) -> tuple[float, TensorVariable] | None:
        """Return c and x if the variable is c^x, for a positive number c other than 1. Else None."""
        x = self.inner(variable, "exp2")
        if x is not None:
            return 2.0, x
        node = self.node(variable, "pow")
        if node is None:
            return None
        base = number_in(node.inputs[0])
        if base is None or not 0 < base < math.inf or base == 1:
            return None
        return base, node.inputs[1]

    def _of_bounded(self, variable: TensorVariable, depth: int) -> OfBounded | None:
        value = number_in(variable)
        if value is not None:
            return OfBounded(value, 0.0)
        node = self.node(
            variable, "erf", "erfc", "tanh", "sqr", "pow", "neg", "add", "sub", "mul", "true_div"
        )
        if node is None or not depth:
            return None
        name, x = node.op.scalar_op.name, node.inputs[0]
        if name in ("erf", "tanh"):
            return OfBounded(0.0, 1.0, BoundedFunction(name, x))
        if name == "erfc":
            return OfBounded(1.0, -1.0, BoundedFunction("erf", x))
        if name in ("add", "sub"):
            split = 1 if name == "sub" else len(node.inputs)
            plus, minus = node.inputs[:split], node.inputs[split:]
            return self._sum_of_bounded(plus, minus, depth - 1)
        base = self.square_root(variable)
        if base is not None:
            inner = self.inner(base, "tanh")
            if inner is None:
                return None
            return OfBounded(0.0, 1.0, BoundedFunction("tanh^2", inner))
        return self._product_of_bounded(name, node.inputs, depth - 1)

    def _product_of_bounded(
        self, name: str, inputs: Sequence[TensorVariable], depth: int
    ) -> OfBounded | None:
        factor = -1.0 if name == "neg" else 1.0
        function: OfBounded | None = None
        for i, v in enumerate(inputs):
            value = number_in(v)
            if value is None:
                function = self._of_bounded(v, depth) if function is None else None
                if function is None or (name == "true_div" and i):
                    return None
            elif name == "true_div" and i:
                factor = factor / value if value else math.nan
            else:
                factor *= value
        return None if function is None or name == "pow" else function.times(factor)

    def bounded_sum(
        self, plus: Sequence[TensorVariable], minus: Sequence[TensorVariable]
    ) -> OfBounded | None:
        """Read sum(``plus``) - sum(``minus``) as a + b f(x), for a bounded function f. None if this is not possible.

        erfc(x) is read as 1 - erf(x).
        """
        left = self._left
        bounded = self._sum_of_bounded(plus, minus, _DEPTH)
        self._left = left  # such expressions are small, so their nodes do not count for the limit
        return None if bounded is None or bounded.function is None else bounded

    def _sum_of_bounded(
        self, plus: Sequence[TensorVariable], minus: Sequence[TensorVariable], depth: int
    ) -> OfBounded | None:
        total = OfBounded(0.0, 0.0)
        for sign, terms in ((1.0, plus), (-1.0, minus)):
            for term in terms:
                read = self._of_bounded(term, depth)
                if read is None:
                    return None
                scaled = read.times(sign)
                own, function = scaled.function, total.function or scaled.function
                if own is not None and function is not None:
                    if own.name != function.name or not same(own.x, function.x):
                        return None
                total = OfBounded(total.a + scaled.a, total.b + scaled.b, function)
        return total

    def reduction(self, variable: TensorVariable, name: str) -> TensorApply[CAReduce] | None:
        """The node that computes the variable, if it is a reduction by the scalar function ``name``. Else None.

        The elements and the accumulator must have the reader's dtype.
        """
        node = self.computed_by(variable, CAReduce)
        if node is None or self.owner(variable) is None:
            return None
        op = node.op
        plain = node.inputs[0].type.dtype == self.dtype and op.acc_dtype in (None, self.dtype)
        return node if op.scalar_op.name == name and op.axis and plain else None

    def spread_reduction(
        self, variable: TensorVariable, ndim: int | None = None
    ) -> TensorApply[CAReduce] | None:
        """The node of a sum that broadcasts against its own input. None if the variable is not such a sum.

        Such a sum is over all axes, or its axes are kept with length 1 (``keepdims``). If ``ndim`` is given, the input
        of the sum must have this number of dimensions.
        """
        shuffled = self.computed_by(variable, DimShuffle)
        order: Any = None
        if shuffled is not None:
            if self.owner(variable) is None:
                return None
            order, variable = shuffled.op.new_order, shuffled.inputs[0]
        total = self.reduction(variable, "add")
        if total is None or ndim not in (None, total.inputs[0].type.ndim):
            return None
        axis = total.op.axis
        count = total.inputs[0].type.ndim
        rest = iter(range(count))
        expected = tuple("x" if i in axis else next(rest) for i in range(count))
        fits = order == expected or (order is None and len(axis) == count)
        return total if fits else None

    def sum_of_powers(
        self, variable: TensorVariable, ndim: int | None = None
    ) -> tuple[tuple[int, ...], TensorVariable] | None:
        """Return the axes and x if the variable is sum(exp(x)), as a sum that `spread_reduction` accepts. Else None."""
        total = self.spread_reduction(variable, ndim)
        x = None if total is None else self.inner(total.inputs[0], "exp")
        return None if total is None or x is None else (total.op.axis, x)

    def power_plus_one(self, variable: TensorVariable) -> TensorVariable | None:
        """Return x if the variable is 1 + exp(x). Else None."""
        node = self.node(variable, "add")
        if node is None or len(node.inputs) != 2:
            return None
        for one, power in (node.inputs, node.inputs[::-1]):
            if number_in(one) == 1:
                return self.inner(power, "exp")
        return None

    def _logistic_of_parts(self, variable: TensorVariable) -> TensorVariable | None:
        """Return x if the variable is a part of sigmoid(x), or sigmoid(x) joined with numbers 0 and 1. Else None.

        0 and 1 are read as sigmoid(-inf) and sigmoid(inf). So is a part of an x like that.
        """
        part = self.computed_by(variable, DimShuffle, Subtensor, AdvancedSubtensor)
        if part is not None:
            whole = None if self.owner(variable) is None else self.logistic(part.inputs[0])
            return None if whole is None else part.op(whole, *part.inputs[1:])
        joined = self.computed_by(variable, Join)
        if joined is None or self.owner(variable) is None:
            return None
        ends = [_end(v) for v in joined.inputs]
        read = [
            self.logistic(v) if end is None else second(v, self.number(end))
            for v, end in zip(joined.inputs, ends, strict=True)
        ]
        arguments = [x for x in read if x is not None]
        fits = len(arguments) == len(read) and None in ends
        return joined.op(*arguments) if fits else None

    def logistic(self, variable: TensorVariable) -> TensorVariable | None:
        """Return x if the variable is sigmoid(x), or an equal expression such as 1 / (1 + exp(-x)). Else None."""
        node = self.node(variable, "sigmoid", "reciprocal", "true_div", "sub")
        if node is None:
            return self._logistic_of_parts(variable)
        name = node.op.scalar_op.name
        if name == "sigmoid":
            return node.inputs[0]
        if name == "sub":
            inner = self.logistic(node.inputs[1]) if number_in(node.inputs[0]) == 1 else None
            return None if inner is None else self.negated(inner)
        top = self.number(1.0) if name == "reciprocal" else node.inputs[0]
        argument = self.power_plus_one(node.inputs[-1])
        if argument is not None and number_in(top) == 1:
            return self.negated(argument)
        power = self.inner(top, "exp")
        if power is None:
            return None
        if argument is not None and same(power, argument):
            return argument
        both = self.node(node.inputs[-1], "add")
        if both is None or len(both.inputs) != 2:
            return None
        for own, other in (both.inputs, both.inputs[::-1]):
            first, second = self.inner(own, "exp"), self.inner(other, "exp")
            if first is not None and second is not None and same(first, power):
                return sub(first, second)
        return None
