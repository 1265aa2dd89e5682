"""Formulas as users write them, at extreme inputs, against mpmath with hundreds of digits."""

from __future__ import annotations

import functools
import math
import os
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
from occelo_compile import function
from occelo_testing.exact import FUNCTIONS, ExactNumber, exact_derivatives
from occelo_testing.naive_formulas import FORMULAS, Formula, page

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
SPECIALIZED = {"(x ** 2) ** 0.5"}
"""Formulas whose value is stable by a rule of the stage specialize, which FAST_COMPILE leaves out: x ** 2 underflows there."""
SYMBOLIC = {name: getattr(ot, name) for name in FUNCTIONS}


def text(formula: Any) -> str | None:
    return formula.text if isinstance(formula, Formula) else None


@functools.cache
def exact(formula: Formula, dtype: str) -> list[tuple[Any, list[Any], list[Any]]]:
    """The value, gradient and second derivative of every call, or of every element of the only one."""
    by = "v" if formula.is_of_vectors else "x"
    found: list[tuple[Any, list[Any], list[Any]]] = []
    for given in formula.arguments(dtype):
        points = (
            [given]
            if formula.is_of_vectors
            else [{"x": x, "y": y} for x, y in zip(given["x"], given["y"], strict=True)]
        )
        for point in points:
            try:
                found.append(exact_derivatives(functools.partial(formula, FUNCTIONS), point, by))
            except ZeroDivisionError:
                assert formula.at_zero is not None
                found.append(
                    (mpmath.mpf(0), [mpmath.mpf(formula.at_zero)] * np.size(point[by]), [])
                )
    return found


def graphs(formula: Formula, dtype: str) -> tuple[list[Any], Any, Any, Any]:
    """Inputs, value, gradient, second derivative."""
    names = ("v", "w") if formula.is_of_vectors else ("x", "y")
    inputs = [ot.tensor(n, dtype=dtype, shape=(None,)) for n in names]
    value = formula(SYMBOLIC, dict(zip(names, inputs, strict=True)))
    gradient = og.grad(value.sum(), inputs[0])
    second = og.grad(gradient.sum(), inputs[0], disconnected_inputs="ignore")
    return inputs, value, gradient, second


def compiled(inputs: list[Any], outputs: list[Any], mode: str) -> Any:
    return function(inputs, outputs, mode=mode, on_unused_input="ignore")


def check(formula: Formula, dtype: str, order: int, results: list[Any], what: str) -> None:
    """Hold the results of all calls to the bound of the formula."""
    limits = np.finfo(dtype)
    eps, tiny = mpmath.mpf(float(limits.eps)), mpmath.mpf(float(limits.tiny))
    wanted = exact(formula, dtype)
    if formula.is_of_vectors:
        rows = [np.atleast_1d(r) for r in results]
        sizes = [float(np.abs(g["v"]).max()) for g in formula.arguments(dtype)]
    else:
        rows = [np.atleast_1d(r) for r in results[0]]
        sizes = [abs(float(x)) for x in formula.arguments(dtype)[0]["x"]]
    worst: tuple[float, str] = (0.0, "")
    for point, (row, all_wanted, size) in enumerate(zip(rows, wanted, sizes, strict=True)):
        expected = [all_wanted[0]] if order == 0 else all_wanted[order]
        for number, right in zip(row, expected, strict=False):
            scale = abs(right) + formula.scales[order]
            unit = eps * max(scale, tiny) * (max(1.0, size) if formula.by_size else 1)
            if abs(right) > mpmath.mpf(float(limits.max)):
                off = 0.0 if np.isinf(number) and (number > 0) == (right > 0) else np.inf
            elif not np.isfinite(number):
                off = np.inf
            else:
                off = float(abs(mpmath.mpf(float(number)) - right) / unit)
            if off > worst[0]:
                told = f"{float(number)!r} instead of {mpmath.nstr(right, 20)} at point {point}"
                worst = (off, told)
    assert worst[0] <= formula.bounds[order], (
        f"{what} of {formula.text} in {dtype} is off by {worst[0]:.3g} eps: {worst[1]}"
    )


def run(call: Any, formula: Formula, dtype: str) -> list[Any]:
    with np.errstate(all="ignore"):
        results = [call(*given.values()) for given in formula.arguments(dtype)]
    return list(zip(*results, strict=True))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("formula", FORMULAS, ids=text)
def test_value_gradient_and_second_derivative_together(formula: Formula, dtype: str) -> None:
    inputs, value, gradient, second = graphs(formula, dtype)
    results = run(compiled(inputs, [value, gradient, second], "FAST_RUN"), formula, dtype)
    for order, what in enumerate(("value", "gradient", "second derivative")):
        check(formula, dtype, order, results[order], what)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", FORMULAS, ids=text)
def test_each_alone_and_in_pairs(formula: Formula) -> None:
    inputs, value, gradient, second = graphs(formula, "float64")
    asked = [{0: value, 1: gradient}]
    if THOROUGH:
        asked += [{0: value}, {1: gradient}, {2: second}, {1: gradient, 2: second}]
    for outputs in asked:
        call = compiled(inputs, list(outputs.values()), "FAST_RUN")
        for order, found in zip(outputs, run(call, formula, "float64"), strict=True):
            check(formula, "float64", order, found, f"output {order} of {len(outputs)}")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("formula", [f for f in FORMULAS if not f.is_of_vectors], ids=text)
def test_gradient_of_a_mean_beside_it(formula: Formula) -> None:
    inputs, value, _, _ = graphs(formula, "float64")
    mean = value.mean()
    gradient = og.grad(mean, inputs[0])
    count = len(formula.arguments("float64")[0]["x"])
    _, found = run(compiled(inputs, [mean, gradient], "FAST_RUN"), formula, "float64")
    check(formula, "float64", 1, [f * count for f in found], "gradient of the mean")


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "vm"])
@pytest.mark.parametrize("formula", FORMULAS if THOROUGH else FORMULAS[::4], ids=text)
def test_other_modes(formula: Formula, mode: str) -> None:
    inputs, value, gradient, second = graphs(formula, "float64")
    results = run(compiled(inputs, [value, gradient, second], mode), formula, "float64")
    as_written = mode == "FAST_COMPILE" and formula.text in SPECIALIZED
    for order in range(1 if as_written else 0, 3):
        check(formula, "float64", order, results[order], f"output {order} in {mode}")


def test_the_page_is_that_of_the_table() -> None:
    path = Path(__file__).parents[3] / "docs" / "stability.md"
    assert path.read_text() == page()
    assert len(FORMULAS) >= 60


REPEATED = (
    "log(sum(2 * c * exp(x)))",
    "log(sum(exp(x) / c))",
    "log(sum(c / (c + exp(x))))",
    "log(sum(c + exp(x)))",
    "log(sum(c + erf(x)))",
    "log(sum(0.5 * c - 0.5 * erf(x)))",
    "log(sum(c - tanh(x)))",
    "log(prod(c - tanh(x) ** 2))",
    "log(sum((2 * c) ** x))",
    "log2((2 * c) ** x)",
    "log(c + 10 ** x)",
    "sum((exp(x) - c) / (exp(x) + c))",
    "sum(2 / (c + exp(-x)) - c)",
)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(3,), (1,), (2, 1), (1, 1)], ids=str)
@pytest.mark.parametrize("text", REPEATED)
def test_numbers_repeated_along_a_dimension_of_their_own(text: str, shape: tuple[int, ...]) -> None:
    """The constant c of ones is larger than x, or has more dimensions."""
    code = compile(text, "<formula>", "eval")
    x = ot.tensor("x", dtype="float64", shape=(1,))
    ones, at = np.ones(shape), np.array([0.3])

    def value_at(point: Any) -> Any:
        plain = {"erf": np.vectorize(math.erf)}
        names = {n: plain.get(n) or getattr(np, n, None) for n in FUNCTIONS}
        return eval(code, {**names, "x": point, "c": ones})

    value = eval(code, {**SYMBOLIC, "x": x, "c": ot.constant(ones)})
    found, slope = compiled([x], [value, og.grad(value.sum(), x)], "FAST_RUN")(at)
    np.testing.assert_allclose(found, value_at(at), rtol=1e-12, strict=True)
    step = (value_at(at + 1e-6).sum() - value_at(at - 1e-6).sum()) / 2e-6
    np.testing.assert_allclose(slope, [step], rtol=1e-6)


def shares(row: Any) -> Any:
    """The limit of soft maxima as what is infinite grows: equal shares of what is +inf."""
    with np.errstate(all="ignore"):
        if (row == np.inf).any() and not np.isnan(row).any():
            return (row == np.inf) / (row == np.inf).sum()
        powers = np.exp(row - np.max(row, initial=-1e300))
        return powers / powers.sum()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("axis", [0, 1])
def test_soft_maxima_at_infinities(mode: str, axis: int, dtype: str) -> None:
    x = og.TensorType(dtype, (None, None))("x")
    made = [ot.softmax(x, axis=axis), ot.log_softmax(x, axis=axis), ot.logsumexp(x, axis=axis)]
    f = function([x], made, mode=mode)
    inf, nan = np.inf, np.nan
    rows = [[1, inf, 2], [inf, inf, 0], [-inf] * 3, [-inf, 0, 0], [1, nan, 2], [-inf, inf, 3]]
    value = np.array(rows, dtype)
    value = value if axis else value.T.copy()
    soft, log_soft, total = f(value)
    wanted = np.apply_along_axis(shares, axis, value)
    np.testing.assert_allclose(soft, wanted, rtol=1e-6)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_soft, np.log(wanted), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(total, [inf, inf, -inf, np.log(2), nan, inf], rtol=1e-6)


CANCELLING: dict[str, Any] = {
    "softplus(x) - x": lambda f, x: f("softplus")(x) - x,
    "x - softplus(x)": lambda f, x: x - f("softplus")(x),
    "log1p(exp(x)) - log(exp(x))": lambda f, x: f("log1p")(f("exp")(x)) - f("log")(f("exp")(x)),
    "log(s) - log1p(-s)": lambda f, x: f("log")(f("sigmoid")(x)) - f("log1p")(-f("sigmoid")(x)),
    "log(s / (1 - s))": lambda f, x: f("log")(f("sigmoid")(x) / (1 - f("sigmoid")(x))),
    "log(1 - s^2)": lambda f, x: f("log")(1 - f("sigmoid")(x) ** 2),
    "log(1 - s^3)": lambda f, x: f("log")(1 - f("sigmoid")(x) ** 3),
    "log1p(-s s)": lambda f, x: f("log1p")(-f("sigmoid")(x) * f("sigmoid")(x)),
    "1 - s^2": lambda f, x: 1 - f("sigmoid")(x) ** 2,
    "exp(-x x) / erfc(x)": lambda f, x: f("exp")(-x * x) / f("erfc")(x),
}
"""Formulas of s = sigmoid(x) and x whose terms cancel, or whose factors overflow and underflow."""


@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CANCELLING)
def test_values_and_gradients_keep_digits_that_cancel(name: str, dtype: str, mode: str) -> None:
    points = np.array([-800, -100, -20, -1, -1e-6, 1e-6, 0.3, 1, 20, 100, 800], dtype)
    points = points if "erfc" not in name else points[points > -5]
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    value = CANCELLING[name](SYMBOLIC.__getitem__, x)
    gradient = og.grad(value.sum(), x)
    found = (function([x], value, mode=mode)(points), function([x], gradient, mode=mode)(points))
    together = function([x], [value, gradient], mode=mode)(points)
    limits = np.finfo(dtype)
    for i, point in enumerate(points):
        with mpmath.workdps(800):
            exactly = CANCELLING[name](
                FUNCTIONS.__getitem__, ExactNumber(mpmath.mpf(float(point)), mpmath.mpf(1))
            )
            for order, right in enumerate((exactly.a, exactly.b)):
                for results in (found, together):
                    error = abs(mpmath.mpf(float(results[order][i])) - right)
                    allowed = 1000 * float(limits.eps) * abs(right) + 10 * float(limits.tiny)
                    assert error <= allowed, (order, point, results[order][i], mpmath.nstr(right))
