"""Scalars of loop programs with Python's operators, so that formulas for arrays and graphs serve loop programs, too."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import scalar_value


class Number:
    """A float64 or bool of the program that a builder builds. Python's numbers become float64 constants."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: Builder, value: Value) -> None:
        self.builder = builder
        self.value = value

    def operand(self, other: Any) -> Value:
        """Another number, or a number of Python as a constant, as a value of the program."""
        return other.value if isinstance(other, Number) else self.builder.const(other, "float64")

    def _with(self, name: str, other: Any) -> Number:
        return Number(self.builder, self.builder.op(name, self.value, self.operand(other)))

    def _after(self, name: str, other: Any) -> Number:
        return Number(self.builder, self.builder.op(name, self.operand(other), self.value))

    def __add__(self, other: Any) -> Number:
        return self._with("add", other)

    def __radd__(self, other: float) -> Number:
        return self._after("add", other)

    def __sub__(self, other: Any) -> Number:
        return self._with("sub", other)

    def __rsub__(self, other: float) -> Number:
        return self._after("sub", other)

    def __mul__(self, other: Any) -> Number:
        return self._with("mul", other)

    def __rmul__(self, other: float) -> Number:
        return self._after("mul", other)

    def __truediv__(self, other: Any) -> Number:
        return self._with("div", other)

    def __rtruediv__(self, other: float) -> Number:
        return self._after("div", other)

    def __neg__(self) -> Number:
        return Number(self.builder, self.builder.op("neg", self.value))

    def __lt__(self, other: Any) -> Number:
        return self._with("lt", other)

    def __le__(self, other: Any) -> Number:
        return self._with("le", other)

    def __gt__(self, other: Any) -> Number:
        return self._after("lt", other)

    def __ge__(self, other: Any) -> Number:
        return self._after("le", other)

    def same(self, other: Any) -> Number:
        """Whether it equals ``other``."""
        return self._with("eq", other)

    def __and__(self, other: Number) -> Number:
        return self._with("and", other)

    def __or__(self, other: Number) -> Number:
        return self._with("or", other)

    def __invert__(self) -> Number:
        return Number(self.builder, self.builder.op("not", self.value))


def where(condition: Number, x: Any, y: Any) -> Number:
    """``x`` where the condition holds, and otherwise ``y``. Both are computed."""
    of = condition.operand
    return Number(condition.builder, condition.builder.select(condition.value, of(x), of(y)))


def applied(name: str, *numbers: Number) -> Number:
    """A scalar function by its name."""
    b = numbers[0].builder
    return Number(b, scalar_value(b, name, "float64", *(n.value for n in numbers)))


def _function(name: str) -> Callable[..., Number]:
    return lambda *numbers: applied(name, *numbers)


def _sign(x: Number) -> Number:
    return where(x < 0.0, -1.0, 1.0)


_ELEMENTARY = ("abs", "cos", "exp", "floor", "log", "sin", "sqrt", "trunc")
NAMESPACE: Any = SimpleNamespace(
    xp=SimpleNamespace(where=where, sign=_sign, **{n: _function(n) for n in _ELEMENTARY}),
    special=SimpleNamespace(gammaln=_function("gammaln"), erfc=_function("erfc")),
)
"""What `occelo_special.ops.gamma_terms` needs, for numbers of loop programs."""

Formula = Callable[..., Number]


def own(make: Formula, *numbers: Number) -> Number:
    """A function of the program, called by the name of ``make``, which defines it if needed."""
    b = numbers[0].builder
    return Number(
        b, b.apply(make.__name__.strip("_"), _of_values(make), *(n.value for n in numbers))
    )


def rarely(condition: Number, make: Formula, *numbers: Number, usually: Any = 0.0) -> Number:
    """Like `own` in a branch that is taken where the condition holds, and ``usually`` elsewhere.

    ``make`` may call itself so: it is a loop then, of which ``numbers`` are the state.
    """
    b = numbers[0].builder
    usual = usually.value if isinstance(usually, Number) else b.const(usually, "float64")
    name = make.__name__.strip("_")
    operands = (n.value for n in numbers)
    return Number(b, b.unlikely(condition.value, usual, name, _of_values(make), *operands))


def _of_values(make: Formula) -> Callable[..., Value]:
    def function(b: Builder, *values: Value) -> Value:
        return make(*(Number(b, v) for v in values)).value

    return function
