"""Exact values and derivatives of formulas, by hyper-dual numbers with hundreds of digits.

Tests of numerical stability compare with these results. With so many digits, even a naive formula is exact: it cannot
overflow, and cancellation loses no digit that matters. The derivatives do not use the gradients of this package. The
module needs mpmath.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.narrowing import is_array, is_list_or_tuple

DIGITS = 750


def _mp() -> Any:
    mp = importlib.import_module("mpmath").mp
    mp.dps = DIGITS
    return mp


class ExactNumber:
    """A hyper-dual number a + b e1 + c e2 + d e1 e2, where e1^2 = e2^2 = 0, but e1 e2 is not 0.

    For a function g, g(a + b e1 + c e2 + d e1 e2) is g(a) + g'(a) (b e1 + c e2) + (g'(a) d + g''(a) b c) e1 e2. So the
    coefficients of the result are the first derivatives in two directions and the mixed second derivative. The method
    is from Fike and Alonso, "The development of hyper-dual numbers for exact second-derivative calculations", 2011.
    """

    __slots__ = ("a", "b", "c", "d")

    def __init__(self, a: Any, b: Any = 0, c: Any = 0, d: Any = 0) -> None:
        self.a, self.b, self.c, self.d = a, b, c, d

    def apply(self, value: Any, first: Any, second: Any) -> ExactNumber:
        """g(self), where ``value``, ``first`` and ``second`` are g(a), g'(a) and g''(a)."""
        b, c = self.b, self.c
        if not (b or c or self.d):
            return ExactNumber(value)
        return ExactNumber(
            value, first * b, first * c, first * self.d + (second * b * c if b and c else 0)
        )

    def __add__(self, other: Any) -> ExactNumber:
        o = _exact(other)
        return ExactNumber(self.a + o.a, self.b + o.b, self.c + o.c, self.d + o.d)

    def __neg__(self) -> ExactNumber:
        return ExactNumber(-self.a, -self.b, -self.c, -self.d)

    def __sub__(self, other: Any) -> ExactNumber:
        return self + -_exact(other)

    def __rsub__(self, other: Any) -> ExactNumber:
        return _exact(other) + -self

    def __mul__(self, other: Any) -> ExactNumber:
        o = _exact(other)
        return ExactNumber(
            self.a * o.a,
            self.a * o.b + self.b * o.a,
            self.a * o.c + self.c * o.a,
            self.a * o.d + self.b * o.c + self.c * o.b + self.d * o.a,
        )

    def __truediv__(self, other: Any) -> ExactNumber:
        o = _exact(other)
        inverse = 1 / o.a
        return self * o.apply(inverse, -(inverse**2), 2 * inverse**3)

    def __rtruediv__(self, other: Any) -> ExactNumber:
        return _exact(other) / self

    def __pow__(self, n: Any) -> ExactNumber:
        a = self.a
        if isinstance(n, int):
            return self.apply(
                a**n,
                n * a ** (n - 1) if n != 0 else 0,
                n * (n - 1) * a ** (n - 2) if n > 1 or n < 0 else 0,
            )
        n = _mp().mpf(n)
        return self.apply(a**n, n * a ** (n - 1), n * (n - 1) * a ** (n - 2))

    def __rpow__(self, base: Any) -> Any:
        return exp(self * log(base))

    __radd__, __rmul__ = __add__, __mul__

    def __gt__(self, other: Any) -> bool:
        return bool(self.a > _exact(other).a)

    def __ge__(self, other: Any) -> bool:
        return bool(self.a >= _exact(other).a)

    def __le__(self, other: Any) -> bool:
        return bool(self.a <= _exact(other).a)

    def __lt__(self, other: Any) -> bool:
        return bool(self.a < _exact(other).a)


def _exact(value: Any) -> ExactNumber:
    return value if isinstance(value, ExactNumber) else ExactNumber(_mp().mpf(value))


def _each(function: Callable[[Any, ExactNumber], ExactNumber]) -> Callable[[Any], Any]:
    """A function of one number or of an array, computed element by element.

    ``function`` gets mpmath and an `ExactNumber`.
    """

    def single(x: Any) -> ExactNumber:
        return function(_mp(), _exact(x))

    many = np.frompyfunc(single, 1, 1)
    return lambda x: many(x) if is_array(x) else single(x)


def _exp(mp: Any, x: ExactNumber) -> ExactNumber:
    e = mp.exp(x.a)
    return x.apply(e, e, e)


def _log(mp: Any, x: ExactNumber) -> ExactNumber:
    return x.apply(mp.log(x.a), 1 / x.a, -1 / x.a**2)


def _sqrt(mp: Any, x: ExactNumber) -> ExactNumber:
    r = mp.sqrt(x.a)
    return x.apply(r, 1 / (2 * r), -1 / (4 * r**3))


def _abs(mp: Any, x: ExactNumber) -> ExactNumber:
    return x if x.a >= 0 else -x


def _tanh(mp: Any, x: ExactNumber) -> ExactNumber:
    t = mp.tanh(x.a)
    c = mp.sech(x.a) ** 2
    return x.apply(t, c, -2 * t * c)


def _cosh(mp: Any, x: ExactNumber) -> ExactNumber:
    c, s = mp.cosh(x.a), mp.sinh(x.a)
    return x.apply(c, s, c)


def _sinh(mp: Any, x: ExactNumber) -> ExactNumber:
    c, s = mp.cosh(x.a), mp.sinh(x.a)
    return x.apply(s, c, s)


def _erf(mp: Any, x: ExactNumber, sign: int = 1) -> ExactNumber:
    slope = sign * 2 / mp.sqrt(mp.pi) * mp.exp(-(x.a**2))
    return x.apply((mp.erf if sign > 0 else mp.erfc)(x.a), slope, -2 * x.a * slope)


def _gammaln(mp: Any, x: ExactNumber) -> ExactNumber:
    return x.apply(mp.loggamma(x.a), mp.psi(0, x.a), mp.psi(1, x.a))


def _sin(mp: Any, x: ExactNumber) -> ExactNumber:
    s, c = mp.sin(x.a), mp.cos(x.a)
    return x.apply(s, c, -s)


def _cos(mp: Any, x: ExactNumber) -> ExactNumber:
    s, c = mp.sin(x.a), mp.cos(x.a)
    return x.apply(c, -s, -c)


def _mean(v: Any) -> Any:
    return np.sum(v) / len(v)


def _var(v: Any) -> Any:
    return _mean((v - _mean(v)) ** 2)


exp, log, sqrt = _each(_exp), _each(_log), _each(_sqrt)

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "abs": _each(_abs),
    "tanh": _each(_tanh),
    "cosh": _each(_cosh),
    "sinh": _each(_sinh),
    "erf": _each(_erf),
    "erfc": _each(lambda mp, x: _erf(mp, x, -1)),
    "gammaln": _each(_gammaln),
    "sin": _each(_sin),
    "cos": _each(_cos),
    "log1p": lambda x: log(1 + x),
    "expm1": lambda x: exp(x) - 1,
    "log2": lambda x: log(x) / log(2),
    "log10": lambda x: log(x) / log(10),
    "exp2": lambda x: exp(x * log(2)),
    "sigmoid": lambda x: 1 / (1 + exp(-x)),
    "softplus": lambda x: log(1 + exp(x)),
    "softmax": lambda v: exp(v) / np.sum(exp(v)),
    "sum": np.sum,
    "prod": np.prod,
    "mean": _mean,
    "var": _var,
    "std": lambda v: sqrt(_var(v)),
    "norm": lambda v: sqrt(np.sum(v * v)),
    "max": np.max,
    "min": np.min,
}
"""The functions that formulas may call, by name. They accept numbers and arrays."""


def _is_vector(value: object) -> bool:
    return is_array(value) or is_list_or_tuple(value)


def exact_derivatives(
    formula: Callable[[dict[str, Any]], Any], point: dict[str, Any], by: str
) -> tuple[Any, list[Any], list[Any]]:
    """The value of a formula at a point, its gradient with respect to the argument ``by``, and the row sums of its
    Hessian.

    ``point`` maps names of arguments to numbers or lists of numbers. The formula gets each argument as an `ExactNumber`
    or as an array of `ExactNumber`.
    """
    mp = _mp()
    vector = _is_vector(point[by])
    count = len(point[by]) if vector else 1
    gradient: list[Any] = []
    second: list[Any] = []
    value: Any = None
    for i in range(count):
        arguments: dict[str, Any] = {}
        for name, v in point.items():
            many = _is_vector(v)
            own = [
                ExactNumber(mp.mpf(float(n)), *((int(k == i), 1) if name == by else (0, 0)))
                for k, n in enumerate(v if many else [v])
            ]
            arguments[name] = np.array(own, dtype=object) if many else own[0]
        result = _exact(formula(arguments))
        value = result.a
        gradient.append(result.b)
        second.append(result.d)
    return value, gradient, second
