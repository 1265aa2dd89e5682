"""Arithmetic of real or complex numbers, and functions of them in float64, for lowerings of matrices.

Algorithms that are written once for real and complex matrices use `Numbers`: square roots and logarithms of matrices,
determinants, and equations with diagonal and Toeplitz matrices. A real number is a list of one value, a complex number
is a list of two.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise import complex as complexes
from occelo_link.loops.lowerings.elemwise import complex_functions

Number = list[Value]
"""A real or complex number: a list of its real part and, if it is complex, its imaginary part."""


class Numbers:
    """Functions of numbers that are all real (``parts`` is 1) or all complex (``parts`` is 2).

    Sums, differences, products, quotients and `is_zero` are for float32 and float64, the others for float64 alone.

    Each function adds its operations to the program that the builder is writing.
    """

    def __init__(self, builder: Builder, parts: int) -> None:
        self.builder, self.parts = builder, parts

    def real(self, number: float) -> Value:
        """A constant, as a float64 value."""
        return self.builder.const(number, "float64")

    def of(self, value: Value) -> Number:
        """A float64 value as a number. If the numbers are complex, its imaginary part is 0."""
        return [value, self.real(0.0)][: self.parts]

    def add(self, x: Number, y: Number) -> Number:
        """The sum."""
        return [self.builder.op("add", a, b) for a, b in zip(x, y, strict=True)]

    def subtract(self, x: Number, y: Number) -> Number:
        """The difference ``x - y``."""
        return [self.builder.op("sub", a, b) for a, b in zip(x, y, strict=True)]

    def times(self, x: Number, y: Number) -> Number:
        """The product."""
        if self.parts == 1:
            return [self.builder.op("mul", x[0], y[0])]
        return list(complexes.times(self.builder, _pair(x), _pair(y)))

    def scaled(self, x: Number, factor: Value) -> Number:
        """The product of a number and a float64 value."""
        return [self.builder.op("mul", part, factor) for part in x]

    def divided(self, x: Number, y: Number) -> Number:
        """The quotient ``x / y``."""
        if self.parts == 1:
            return [self.builder.op("div", x[0], y[0])]
        return list(complexes.divided(self.builder, _pair(x), _pair(y)))

    def chosen(self, condition: Value, x: Number, y: Number) -> Number:
        """``x`` if the condition holds, else ``y``."""
        return [self.builder.select(condition, a, b) for a, b in zip(x, y, strict=True)]

    def is_zero(self, x: Number) -> Value:
        """Whether the number is 0."""
        each = [self.builder.op("eq", part, self.builder.const(0.0, part.dtype)) for part in x]
        return each[0] if len(each) == 1 else self.builder.op("and", *each)

    def size(self, x: Number) -> Value:
        """The absolute value."""
        if self.parts == 1:
            return self.builder.op("abs", x[0])
        return complexes.modulus(self.builder, _pair(x))

    # functions; for real numbers their results must be real, too

    def root(self, x: Number) -> Number:
        """The principal square root."""
        if self.parts == 1:
            return [self.builder.op("sqrt", x[0])]
        function = complexes.find_complex("sqrt")
        assert function is not None
        pair = function(self.builder, [_pair(x)])
        assert isinstance(pair, tuple)
        return list(pair)

    def log(self, x: Number) -> Number:
        """The principal logarithm."""
        if self.parts == 1:
            return [complex_functions.log(self.builder, x[0])]
        return list(complex_functions.logarithm_of(self.builder, _pair(x)))

    def log1p(self, x: Number) -> Number:
        """The principal logarithm of 1 + x."""
        if self.parts == 1:
            return [complex_functions.log1p(self.builder, x[0])]
        return list(complex_functions.logarithm_of_one_more(self.builder, _pair(x)))

    def exp(self, x: Number) -> Number:
        """The exponential."""
        if self.parts == 1:
            return [complex_functions.exp(self.builder, x[0])]
        return list(complex_functions.exponential_of(self.builder, _pair(x)))

    def expm1(self, x: Number) -> Number:
        """The exponential minus 1."""
        if self.parts == 1:
            return [complex_functions.expm1(self.builder, x[0])]
        return list(complex_functions.exponential_less_one(self.builder, _pair(x)))

    def sinh(self, x: Number) -> Number:
        """The hyperbolic sine."""
        if self.parts == 1:
            return [complex_functions.sinh(self.builder, x[0])]
        return list(complex_functions.hyperbolic_sine(self.builder, _pair(x)))


def _pair(x: Sequence[Value]) -> complexes.Complex:
    re, im = x
    return re, im
