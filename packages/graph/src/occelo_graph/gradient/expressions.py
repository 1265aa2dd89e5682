"""What an expression is made of, without the graph being changed."""

# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant
from occelo_graph.ops.elemwise.arithmetic import neg, sub
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import AdvancedSubtensor, Subtensor
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape import DimShuffle
from occelo_graph.tensors.constant import as_tensor_variable

__all__ = ["ExpressionReader", "number_in", "same"]

_READS = 200


def number_in(variable: Any) -> float | None:
    """The one real number that all elements of a constant are; None if there is none."""
    data = variable.data if isinstance(variable, Constant) else None
    if not isinstance(data, np.ndarray) or data.dtype.kind not in "iuf" or not 0 < data.size <= 64:
        return None
    first = float(data.flat[0])
    return first if bool(np.all(data == first)) else None


def same(a: Any, b: Any, depth: int = 3) -> bool:
    """Whether two variables are one expression of the same variables."""
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


class ExpressionReader:
    """Looks through expressions of one dtype, but not through the variables ``keep``.

    ``seen`` collects the variables that it came upon: whatever it makes is made of these. What it makes
    ``to_differentiate`` may hold expressions of the kind that it looks for.
    """

    def __init__(
        self, dtype: str, keep: Collection[Any] = (), to_differentiate: bool = False
    ) -> None:
        self.dtype = dtype
        self.keep = keep
        self.to_differentiate = to_differentiate
        self.seen: set[Any] = set()
        self._left = _READS

    def owner(self, variable: Any) -> Apply | None:
        """The node that computes a variable, if it may be looked through."""
        node = variable.owner
        if node is None or variable in self.keep or not self._left:
            return None
        if getattr(variable.type, "dtype", None) != self.dtype:
            return None
        self._left -= 1
        self.seen.update(node.inputs)
        return node  # type: ignore[no-any-return]

    def node(self, variable: Any, *names: str) -> Any:
        """The node, if the variable is computed by one of these functions in the reader's dtype."""
        found = variable.owner
        if found is None or not isinstance(found.op, Elemwise) or found.op.inplace:
            return None
        if found.op.scalar_op.name not in names or self.owner(variable) is None:
            return None
        return found if all(v.type.dtype == self.dtype for v in found.inputs) else None

    def inner(self, variable: Any, name: str) -> Any:
        """x, if the variable is the function of x."""
        found = self.node(variable, name)
        return None if found is None else found.inputs[0]

    def exponent(self, variable: Any) -> Any:
        """x, if the variable is exp(x); a part of x, if it is that part of exp(x)."""
        found = variable.owner
        if found is not None and isinstance(found.op, DimShuffle | Subtensor | AdvancedSubtensor):
            whole = None if self.owner(variable) is None else self.exponent(found.inputs[0])
            return None if whole is None else found.op(whole, *found.inputs[1:])
        return self.inner(variable, "exp")

    def negated(self, variable: Any) -> Any:
        """-v, without two signs."""
        value = number_in(variable)
        if value is not None:
            return as_tensor_variable(np.asarray(-variable.data))
        inner = self.inner(variable, "neg")
        return neg(variable) if inner is None else inner

    @staticmethod
    def is_chosen(variable: Any) -> bool:
        """Whether a variable is computed by `switch`, as the arguments of forms for parts of the range are."""
        found = variable.owner
        return (
            found is not None
            and isinstance(found.op, Elemwise)
            and found.op.scalar_op.name == "switch"
        )

    def factors(self, variable: Any) -> list[Any]:
        """The factors of a product, the variable alone if it is none; signs are factors of their own."""
        found = self.node(variable, "mul", "neg")
        if found is None:
            return [variable]
        parts = [f for v in found.inputs for f in self.factors(v)]
        return [self.number(-1.0), *parts] if found.op.scalar_op.name == "neg" else parts

    def number(self, value: float) -> Any:
        """A constant of the reader's dtype."""
        return as_tensor_variable(np.asarray(value, self.dtype))

    def reduction(self, variable: Any, name: str) -> Any:
        """The node, if the variable is a sum or product along axes, computed in its own dtype."""
        found = variable.owner
        if found is None or not isinstance(found.op, CAReduce) or self.owner(variable) is None:
            return None
        op: Any = found.op
        plain = found.inputs[0].type.dtype == self.dtype and op.acc_dtype in (None, self.dtype)
        return found if op.scalar_op.name == name and op.axis and plain else None

    def spread_reduction(self, variable: Any, ndim: int | None = None) -> Any:
        """The sum, if the variable is one of ``ndim`` dimensions with its axes kept as length 1, or over all axes."""
        found = variable.owner
        order: Any = None
        if found is not None and isinstance(found.op, DimShuffle):
            if self.owner(variable) is None:
                return None
            order, variable = found.op.new_order, found.inputs[0]
        total = self.reduction(variable, "add")
        if total is None or ndim not in (None, total.inputs[0].type.ndim):
            return None
        axis = total.op.axis
        count: int = total.inputs[0].type.ndim
        rest = iter(range(count))
        wanted = tuple("x" if i in axis else next(rest) for i in range(count))
        fits = order == wanted or (order is None and len(axis) == count)
        return total if fits else None

    def sum_of_powers(self, variable: Any, ndim: int | None = None) -> tuple[Any, Any]:
        """The axes and x, if the variable is sum(exp(x)) as `spread_reduction` finds it; else None twice."""
        total = self.spread_reduction(variable, ndim)
        if total is None:
            return None, None
        return total.op.axis, self.inner(total.inputs[0], "exp")

    def power_plus_one(self, variable: Any) -> Any:
        """x, if the variable is 1 + exp(x)."""
        found = self.node(variable, "add")
        if found is None or len(found.inputs) != 2:
            return None
        for one, power in (found.inputs, found.inputs[::-1]):
            if number_in(one) == 1:
                return self.inner(power, "exp")
        return None

    def logistic(self, variable: Any) -> Any:
        """x, if the variable is sigmoid(x), in whatever way it is written."""
        found = self.node(variable, "sigmoid", "reciprocal", "true_div", "sub")
        if found is None:
            return None
        name = found.op.scalar_op.name
        if name == "sigmoid":
            return found.inputs[0]
        if name == "sub":
            inner = self.logistic(found.inputs[1]) if number_in(found.inputs[0]) == 1 else None
            return None if inner is None else self.negated(inner)
        top = self.number(1.0) if name == "reciprocal" else found.inputs[0]
        argument = self.power_plus_one(found.inputs[-1])
        if argument is not None and number_in(top) == 1:
            return self.negated(argument)
        power = self.inner(top, "exp")
        if power is None:
            return None
        if argument is not None and same(power, argument):
            return argument
        both = self.node(found.inputs[-1], "add")
        if both is None or len(both.inputs) != 2:
            return None
        for own, other in (both.inputs, both.inputs[::-1]):
            first, second = self.inner(own, "exp"), self.inner(other, "exp")
            if first is not None and second is not None and same(first, power):
                return sub(first, second)
        return None
