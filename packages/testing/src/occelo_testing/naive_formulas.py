"""Table of numerically delicate formulas, as users write them, with test inputs and error bounds.

Tests of numerical stability check every formula of the table. ``python -m occelo_testing.naive_formulas >
docs/stability.md`` writes a page of the documentation from the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_SIZES = (1e-300, 1e-8, 1e-3, 0.5, 1.0, 3.0, 30.0, 100.0, 800.0, 1e5)
EVERYWHERE = (0.0, *_SIZES, *(-v for v in _SIZES))
UP_TO_800 = EVERYWHERE[:-11] + EVERYWHERE[11:-1]
POSITIVE = (1e-300, 1e-8, 0.5, 1.0, 1.5, 3.0, 30.0, 800.0, 1e5)
NEGATIVE = (-1e-300, -1e-8, -0.5, -1.0, -3.0, -30.0, -100.0)
BETWEEN = (1e-300, 1e-8, 0.1, 0.25, 0.5, 0.75, 0.9)
SMALL = (0.0, 1e-300, -1e-300, 1e-8, -1e-8, 0.1, -0.1, 0.5, -0.5, 0.9, -0.9)
TAILS = (0.0, 1e-8, 0.5, -0.5, 1.5, -1.5, 3.0, -3.0, 9.0, -9.0, 30.0, -30.0, 100.0)
VECTORS = (
    (0.0, 0.0, 0.0),
    (1.0, 2.0, 3.0),
    (1e-8, 0.0, -1e-8),
    (800.0, -800.0, 0.0),
    (-800.0, -799.0, -801.0),
    (1e5, 0.0, -1e5),
    (1e5, 1e5, 1e5 - 1.0),
)
LENGTHS = ((1.0, 2.0, 3.0), (1e-8, 2e-8, -1e-8), (1e5, 2.0, 1e-3), (0.0, 0.0, 0.0), (3.0, 3.0, 3.0))
LABELS = (0.0, 1.0, 0.25)


@dataclass(frozen=True)
class Formula:
    """A formula as source text, and the ``points`` at which tests evaluate it.

    The formula is an elementwise function of ``x`` (and ``y``), or a function of a vector ``v`` (and weights ``w``).
    ``others`` are the values of ``y``. ``bounds`` are the allowed errors of the value, the gradient and the second
    derivative (the row sums of the Hessian). The unit of an error is ``eps * (abs(exact) + scale)``; ``scales`` has the
    scales for the three bounds. With ``by_size`` the result may be as inexact as if the inputs were rounded. For that,
    the unit is multiplied by the largest absolute value of the inputs, if this is above 1. ``at_zero`` is the expected
    derivative at points where the formula has no derivative.
    """

    text: str
    points: Sequence[Any] = EVERYWHERE
    bounds: tuple[int, int, int] = (4, 4, 8)
    scales: tuple[float, float, float] = (0.0, 0.0, 1.0)
    by_size: bool = False
    others: Sequence[float] = ()
    at_zero: float | None = None

    @property
    def is_of_vectors(self) -> bool:
        """Whether the formula is a function of a vector."""
        return isinstance(self.points[0], tuple)

    def __call__(self, functions: dict[str, Any], variables: dict[str, Any]) -> Any:
        """The value of the formula for the given functions and variables."""
        code = compile(self.text, "<formula>", "eval")
        return eval(code, {"__builtins__": {}}, {**functions, **variables})

    def arguments(self, dtype: str) -> list[dict[str, Any]]:
        """The arguments of each test call.

        One call has all points of ``x`` in an array. For a function of vectors, each vector has a call of its own.
        """
        with np.errstate(all="ignore"):
            points = np.asarray(self.points, dtype)
        # points that the dtype cannot represent are dropped
        held = np.isfinite(points) & ((points == 0) == (np.asarray(self.points) == 0))
        points = points[held.reshape(len(points), -1).all(axis=1)]
        if self.is_of_vectors:
            weights = np.asarray((0.25, 0.5, 2.0), dtype)
            return [{"v": p, "w": weights} for p in points]
        others = np.asarray(self.others or (0.0,), dtype)
        return [{"x": np.tile(points, len(others)), "y": np.repeat(others, len(points))}]


_ABSOLUTE = (0.0, 1.0, 1.0)
_ALL_ABSOLUTE = (1.0, 1.0, 1.0)

FORMULAS: tuple[Formula, ...] = (
    # log(1 + exp(x)) and the like
    Formula("log(1 + exp(x))"),
    Formula("log(exp(x) + 1)"),
    Formula("log(1 + exp(-x))"),
    Formula("log1p(exp(x))"),
    Formula("log(1 / (1 + exp(-x)))"),
    Formula("-log(1 / (1 + exp(-x)))"),
    Formula("log(exp(x) / (1 + exp(x)))"),
    Formula("log(sigmoid(x))"),
    Formula("log(1 - sigmoid(x))", UP_TO_800),
    Formula("log(1 - 1 / (1 + exp(-x)))", UP_TO_800),
    Formula("log(exp(x) + 3)", bounds=(4, 16, 16)),
    Formula("log(2 + exp(-x))", bounds=(4, 16, 16)),
    Formula("log(exp(x) + y)", bounds=(4, 24, 24), scales=_ALL_ABSOLUTE, others=(1.0, 0.25, 1e5)),
    Formula("log(exp(x) + exp(y))", others=(0.0, 1.0, 800.0)),
    Formula(
        "log(exp(x) - exp(y))", (1.5, 3.0, 30.0, 800.0, 1e5), others=(0.0, 1.0), bounds=(8, 8, 16)
    ),
    Formula("log(exp(x) - 1)", POSITIVE, bounds=(4, 4, 16)),
    Formula("log(1 - exp(x))", NEGATIVE),
    Formula("log10(1 + exp(x))"),
    Formula("log2(exp(x) + exp(-x))", scales=_ABSOLUTE),
    Formula("log2(1 + 2 ** x)", by_size=True),
    Formula("log2(1 + exp2(x))", by_size=True),
    Formula("log(1 + 10 ** -x)", by_size=True),
    # log of products and powers
    Formula("log(exp(x))"),
    Formula("log(2 * exp(x))", scales=_ALL_ABSOLUTE),
    Formula("log(exp(x) / 3)", scales=_ALL_ABSOLUTE),
    Formula("log(exp(x) * exp(y))", others=(0.0, 1.0, 800.0)),
    Formula("log(sqrt(exp(x)))"),
    Formula("log(exp(x) ** 3)"),
    Formula("log10(10 ** x)"),
    Formula("log(2 ** x)"),
    Formula("log(cosh(x))", scales=_ABSOLUTE),
    Formula("log((exp(x) + exp(-x)) / 2)", scales=_ABSOLUTE),
    Formula("exp(log(x))", POSITIVE),
    Formula("exp(x) * exp(-x)"),
    Formula("expm1(x) / exp(x)"),
    Formula("exp(x) / exp(y)", others=(0.0, 1.0), bounds=(4, 4, 4)),
    # sigmoids
    Formula("1 / (1 + exp(-x))"),
    Formula("1 / (1 + exp(x))"),
    Formula("exp(x) / (1 + exp(x))"),
    Formula("1 - 1 / (1 + exp(-x))"),
    Formula("exp(-x) / (1 + exp(-x)) ** 2", scales=_ABSOLUTE),
    Formula("sigmoid(x) * (1 - sigmoid(x))", scales=_ABSOLUTE),
    Formula("x / (1 + exp(-x))", by_size=True),
    Formula("x * sigmoid(x)", by_size=True),
    Formula(
        "-(y * log(sigmoid(x)) + (1 - y) * log(1 - sigmoid(x)))",
        UP_TO_800,
        others=LABELS,
        scales=_ABSOLUTE,
    ),
    Formula(
        "-(y * log(1 / (1 + exp(-x))) + (1 - y) * log(1 - 1 / (1 + exp(-x))))",
        UP_TO_800,
        others=LABELS,
        scales=_ABSOLUTE,
    ),
    Formula(
        "-y * log(sigmoid(x)) - (1 - y) * log(1 - sigmoid(x))",
        UP_TO_800,
        others=LABELS,
        scales=_ABSOLUTE,
    ),
    # hyperbolic functions
    Formula("(exp(x) - exp(-x)) / (exp(x) + exp(-x))", scales=_ABSOLUTE),
    Formula("sinh(x) / cosh(x)", scales=_ABSOLUTE),
    Formula("(exp(2 * x) - 1) / (exp(2 * x) + 1)", scales=_ABSOLUTE),
    Formula("(1 - exp(-x)) / (1 + exp(-x))", scales=_ABSOLUTE),
    Formula("log(1 - tanh(x) ** 2)", UP_TO_800, scales=_ABSOLUTE),
    Formula("log(1 - tanh(x))", UP_TO_800),
    Formula("log((1 + tanh(x)) / 2)", UP_TO_800),
    Formula("2 / (1 + exp(-2 * x)) - 1", scales=_ABSOLUTE),
    Formula("2 * sigmoid(2 * x) - 1", scales=_ABSOLUTE),
    # near 0 and 1
    Formula("exp(x) - 1"),
    Formula("1 - exp(-x)"),
    Formula("(exp(x) - 1) / x", (0.5, -0.5, 1.0, -3.0, 30.0, -800.0), bounds=(4, 16, 64)),
    Formula("log(1 + x)", (*SMALL, 1.0, 30.0, 1e5)),
    Formula("log(1 - x)", SMALL),
    Formula("log((1 + x) / (1 - x)) / 2", SMALL, scales=_ALL_ABSOLUTE),
    Formula("log(x / (1 - x))", BETWEEN, scales=_ABSOLUTE, bounds=(4, 4, 16)),
    Formula("x * log(x)", POSITIVE),
    # roots of squares
    Formula("sqrt(x ** 2)", at_zero=0.0),
    Formula("sqrt(x * x)", at_zero=0.0),
    Formula("(x ** 2) ** 0.5", at_zero=0.0),
    Formula("sqrt(x ** 2 + 1)"),
    # the normal distribution
    Formula("log(erfc(x))", TAILS, bounds=(8, 64, 128), by_size=True),
    Formula("log(1 - erf(x))", TAILS[:-1], bounds=(8, 64, 64), by_size=True),
    Formula("log(1 + erf(x))", TAILS[:-1], bounds=(8, 64, 64), by_size=True),
    Formula(
        "log(0.5 * erfc(-x / sqrt(2)))",
        TAILS,
        bounds=(16, 64, 64),
        scales=_ALL_ABSOLUTE,
        by_size=True,
    ),
    *(
        Formula(text, TAILS[:-1], bounds=(16, 64, 64), scales=_ALL_ABSOLUTE, by_size=True)
        for text in (
            "log(0.5 + 0.5 * erf(x / sqrt(2)))",
            "log(0.5 - 0.5 * erf(x / sqrt(2)))",
            "log(1 - 0.5 * (1 + erf(x / sqrt(2))))",
        )
    ),
    Formula(
        "-(y * log(0.5 * (1 + erf(x / sqrt(2)))) + (1 - y) * log(1 - 0.5 * (1 + erf(x / sqrt(2)))))",
        TAILS[:-1],
        bounds=(16, 64, 64),
        scales=_ALL_ABSOLUTE,
        by_size=True,
        others=LABELS,
    ),
    Formula("1 - erf(x)", TAILS[:-3], bounds=(8, 64, 64), by_size=True),
    # soft maxima
    Formula("log(sum(exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(mean(exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(sum(3 * exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(sum(exp(v)) / 3)", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(sum(w * exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(mean(w * exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(sum(sigmoid(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(prod(exp(v)))", VECTORS, scales=_ALL_ABSOLUTE),
    Formula("log(softmax(v))[0]", VECTORS, scales=_ALL_ABSOLUTE),
    Formula("sum(log(softmax(v)))", VECTORS, scales=_ALL_ABSOLUTE),
    Formula("-log(exp(v[0]) / sum(exp(v)))", VECTORS, scales=_ALL_ABSOLUTE),
    Formula("-log((exp(v) / sum(exp(v)))[0])", VECTORS, scales=_ALL_ABSOLUTE),
    Formula("v[0] - log(sum(exp(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("(exp(v) / sum(exp(v)))[0]", VECTORS, scales=_ABSOLUTE),
    Formula("exp(v[0]) / sum(exp(v))", VECTORS, scales=_ABSOLUTE),
    Formula("exp(v[0]) / (exp(v[0]) + exp(v[1]))", VECTORS, scales=_ABSOLUTE),
    Formula("sum(softmax(v) * log(softmax(v)))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("sum(w * exp(v)) / sum(exp(v))", VECTORS, bounds=(4, 8, 16), scales=_ALL_ABSOLUTE),
    Formula("sum(v * exp(v)) / sum(exp(v))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula("log(exp(v[0]) + exp(v[1]) + exp(v[2]))", VECTORS, scales=_ALL_ABSOLUTE, by_size=True),
    Formula(
        "log(sum(exp(v - max(v)))) + max(v)", VECTORS[1:2] + VECTORS[4:6], scales=_ALL_ABSOLUTE
    ),
    # lengths
    Formula("norm(v)", LENGTHS, scales=_ABSOLUTE, at_zero=0.0),
    Formula("sqrt(sum(v ** 2))", LENGTHS, scales=_ABSOLUTE, at_zero=0.0),
    Formula("std(v)", LENGTHS, scales=(0.0, 1.0, 1.0), at_zero=0.0),
)


def _points(formula: Formula) -> str:
    def number(v: float) -> str:
        return f"{v:g}"

    if formula.is_of_vectors:
        return "; ".join("(" + ", ".join(map(number, p)) + ")" for p in formula.points)
    listed = sorted(set(formula.points))
    return ", ".join(map(number, listed))


def _unit(formula: Formula, order: int) -> str:
    bound, scale = formula.bounds[order], formula.scales[order]
    return f"{bound} (abs.)" if scale else f"{bound}"


def page() -> str:
    """The text of ``docs/stability.md``."""
    points = dict.fromkeys(_points(f) for f in FORMULAS)
    names = {each: chr(ord("A") + i) for i, each in enumerate(points)}
    lines = [
        "# Formulas that stay right at extreme inputs",
        "",
        "This table lists formulas as in textbooks, with bounds on the errors of their values, gradients and second "
        "derivatives, in float32 and float64. The bounds hold in the modes FAST_RUN and FAST_COMPILE, whether value, gradient "
        "and second derivative are computed by separate functions or by one, and also for sums and means of the formula. "
        "`python -m occelo_testing.naive_formulas` writes this page. `tests/families/stability/test_stability.py` compares every "
        "formula with arithmetic of hundreds of digits.",
        "",
        "The unit of the bounds is the machine epsilon (2.2e-16, 1.2e-7), relative to the exact result. With *abs.* it is "
        "relative to the exact result plus 1, for results that are differences of numbers near 1. In rows marked with * the unit "
        "is multiplied by the largest input, since an input itself has a rounding error. Results above the range of the dtype are "
        "infinite, and results below it are 0. The second derivative is the derivative of the sum of the gradient's elements.",
        "",
        "Inputs may also be integers or booleans, and of several dtypes; results may be cast to a wider dtype between two "
        "functions. Then the unit is that of the coarsest float dtype in which NumPy would compute a part of the formula, but "
        "no part overflows in it. `tests/families/stability/test_stability_of_dtypes.py` compares every pair of dtypes.",
        "",
        "Many derivatives that a chain rule wrote down, such as `(1 / s - 1 / (1 - s)) * s * (1 - s)` with `s = sigmoid(x)`, are "
        "finite and right in FAST_RUN wherever the result can be represented, too: those that `DERIVATIVES` in "
        "`tests/families/stability/test_raw_gradients.py` lists, with other factors beside them. There are no such forms for quotients "
        "whose numerator and denominator are both sums of several exponentials with weights, such as "
        "`(exp(x) + 2 * exp(2 * x)) / (exp(x) + exp(2 * x))`; for complementary log-log functions with a factor in the exponent, "
        "such as `1 - exp(-t * exp(x))`; and for sums in which two results that are right cancel, such as `1 / expm1(x) - 1 / x`.",
        "",
        "So are `1 - tanh(x) ** 2`, `1 - tanh(x)`, and roots and powers of `exp(x)`, `sigmoid(x)`, `1 + exp(x)`, `softplus(x)`, "
        "`cosh(x)` and these differences, where such numbers underflow or overflow, and their first and second derivatives: "
        "`ROOTS` in the same file. Not covered are second derivatives of roots of products with factors that change their sign, "
        "such as `sqrt(x * sinh(x))`: they may be NaN where `sinh(x)` overflows. Nor are roots of other functions of `exp(x)`, such as "
        "`sqrt(erf(exp(x)))`, `sqrt(arctan(exp(x)))` and `sqrt(sin(exp(x)))`: where `exp(x)` underflows they are 0, and their gradients NaN. "
        "Second derivatives of `log(1 - sigmoid(x) ** 2)` lose digits from 10 on, since they are sums that cancel. Where a part of a "
        "formula overflows that no form is known for, as in `x / (sinh(x ** 2) + x ** 2)`, `log1p(x * exp(x ** 2))` at 30 and "
        "`1 / (x * cosh(1 / x ** 2))` at 1e-8, values are those of NumPy's order, and gradients may be NaN.",
        "",
        "| formula | value | gradient | second | inputs |",
        "|---|---|---|---|---|",
    ]
    for f in FORMULAS:
        mark = " *" if f.by_size else ""
        units = " | ".join(_unit(f, order) for order in range(3))
        lines.append(f"| `{f.text}`{mark} | {units} | {names[_points(f)]} |")
    lines += ["", "Inputs, as far as the dtype can hold them:", ""]
    lines += [f"- {name}: {where}" for where, name in names.items()]
    chosen = ", ".join(f"`{f.text}`" for f in FORMULAS if f.at_zero is not None)
    lines += [
        "",
        "Where a function is not differentiable, the gradient is the subgradient of least norm. It is 0 at 0 for "
        + chosen
        + " and `abs(x)`.",
        "",
        "There are some limits. Sums and products are computed in the order in which they are written, so `(a + b) - a` loses "
        "the same digits as in NumPy, unless `a` cancels exactly. A number is moved across a product only if that cannot overflow. "
        "The optimizer `strict` computes every formula as it is written, but gradients are stable.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
