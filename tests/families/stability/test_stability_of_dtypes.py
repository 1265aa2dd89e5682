"""Formulas of integers, booleans and floats of several dtypes at extreme inputs, against mpmath."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
from occelo_compile import function
from occelo_testing.exact import FUNCTIONS, exact_derivatives
from occelo_testing.naive_formulas import FORMULAS, Formula

SYMBOLIC = {name: getattr(ot, name) for name in FUNCTIONS}
DTYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64"),
)
OF_INTEGERS = ("** x", "** -x", "x ** 2", "x * x", "v ** 2", "norm(", "std(", "max(v)")
"""Parts of formulas that integers compute by integer arithmetic, which wraps around, or not at all."""
SIGNED = ("-x", "- x", "-2 *", "-v", "- v", "-y", "- y", "1 - ")
"""Parts of formulas in which unsigned integers wrap around, and booleans are not defined."""
HALF_OVERFLOWS = ("x ** 2 + 1", "x * log(x)", "(exp(x) - 1) / x")


def kind(dtype: str) -> str:
    return np.dtype(dtype).kind


def names_of(formula: Formula) -> tuple[str, str]:
    return ("v", "w") if formula.is_of_vectors else ("x", "y")


def is_defined(formula: Formula, dtypes: tuple[str, ...]) -> bool:
    text = formula.text
    kinds = {kind(d) for d in dtypes}
    if kinds & set("iub") and any(part in text for part in OF_INTEGERS):
        return False
    if kinds & set("ub") and any(part in text for part in SIGNED):
        return False
    return "float16" not in dtypes or not any(part in text for part in HALF_OVERFLOWS)


def cases() -> list[tuple[Formula, str, str]]:
    found: list[tuple[Formula, str, str]] = []
    for formula in FORMULAS:
        uses_both = bool(formula.others) or "w" in formula.text
        pairs = itertools.product(DTYPES, DTYPES) if uses_both else zip(DTYPES, DTYPES, strict=True)
        found += [(formula, *pair) for pair in pairs if is_defined(formula, pair)]
    return found


def held(values: Any, dtype: str) -> Any:
    """The values in a dtype; None if the dtype, or twice as much, does not hold them."""
    given = np.asarray(values, "float64")
    with np.errstate(all="ignore"):
        made = given.astype(dtype)
    if kind(dtype) == "f":
        fits = np.isfinite(made) & ((made == 0) == (given == 0))
    else:
        most = 1 if dtype == "bool" else np.iinfo(dtype).max // 2
        least = np.iinfo(dtype).min if kind(dtype) == "i" else 0
        fits = (given == np.round(given)) & (given <= most) & (given >= least)
    return made if fits.all() else None


def points(formula: Formula, dtypes: tuple[str, str]) -> list[dict[str, Any]]:
    """The arguments of each call: of one element for functions of elements, so that each point stands alone."""
    if formula.is_of_vectors:
        weights = (0.25, 0.5, 2.0) if kind(dtypes[1]) == "f" else (1, 0, 1)
        pairs: Any = [(p, weights) for p in formula.points]
    else:
        pairs = itertools.product(formula.points, formula.others or (0.0,))
        pairs = [([a], [b]) for a, b in pairs]
    made = [[held(v, d) for v, d in zip(pair, dtypes, strict=True)] for pair in pairs]
    names = names_of(formula)
    return [dict(zip(names, p, strict=True)) for p in made if all(v is not None for v in p)]


def precision(dtypes: tuple[str, ...]) -> tuple[float, float]:
    """The machine epsilon and the least normal number of the coarsest float dtype that computes with the inputs."""
    floats = [np.finfo(np.sqrt(np.zeros(1, d)).dtype) for d in dtypes]
    return max(float(f.eps) for f in floats), max(float(f.tiny) for f in floats)


def error(found: Any, right: Any, scale: float, unit: float, tiny: float) -> float:
    if abs(right) > mpmath.mpf(float(np.finfo(found.dtype).max)):
        return 0.0 if np.isinf(found) and (found > 0) == (right > 0) else np.inf
    if not np.isfinite(found):
        return np.inf
    return float(abs(mpmath.mpf(float(found)) - right) / (unit * max(abs(right) + scale, tiny)))


def check(
    formula: Formula,
    dtypes: tuple[str, str],
    functions: dict[str, Callable[..., Any]],
) -> None:
    names = names_of(formula)
    inputs = [ot.tensor(n, dtype=d, shape=(None,)) for n, d in zip(names, dtypes, strict=True)]
    value = formula(functions, dict(zip(names, inputs, strict=True)))
    eps, tiny = precision(dtypes)
    wrt = [v for v in inputs if kind(v.dtype) == "f" and eps < 1e-4]
    slopes = og.grad(value.sum(), wrt, disconnected_inputs="ignore") if wrt else []
    call = function(inputs, [value, *slopes], on_unused_input="ignore")
    slack = 1 if eps < 1e-4 else 4
    for given in points(formula, dtypes):
        with np.errstate(all="ignore"):
            results = call(*given.values())
        size = float(np.abs(given[names[0]].astype("float64")).max())
        unit = eps * (max(1.0, size) if formula.by_size else 1.0)
        scalars = given if formula.is_of_vectors else {n: v[0] for n, v in given.items()}
        for order, (found, by) in enumerate(
            zip(results, [names[0], *(v.name for v in wrt)], strict=True)
        ):
            try:
                exact = exact_derivatives(functools.partial(formula, FUNCTIONS), scalars, by)
            except ZeroDivisionError:
                continue
            wanted = exact[1] if order else [exact[0]]
            bound = slack * formula.bounds[min(order, 1)]
            scale = max(formula.scales[min(order, 1)], 0.0 if by == names[0] else 1.0)
            for one, right in zip(np.atleast_1d(found), wanted, strict=False):
                off = error(one, right, scale, unit, tiny)
                what = f"derivative by {by}" if order else "value"
                assert off <= bound, f"{what} at {given}: {one!r}, not {mpmath.nstr(right, 20)}"


def told(value: Any) -> str:
    return value.text if isinstance(value, Formula) else value


@pytest.mark.sampled(97)
@pytest.mark.parametrize(("formula", "first", "second"), cases(), ids=told)
def test_formulas_of_every_pair_of_dtypes(formula: Formula, first: str, second: str) -> None:
    check(formula, (first, second), SYMBOLIC)


def converting(call: Callable[..., Any], dtype: str) -> Callable[..., Any]:
    def converted(*args: Any) -> Any:
        result = call(*args)
        return result.astype(dtype) if result.dtype != dtype else result

    return converted


@pytest.mark.sampled(9)
@pytest.mark.parametrize("formula", [f for f in FORMULAS if is_defined(f, ("float32",))], ids=told)
def test_results_of_float32_that_are_converted_between_two_functions(formula: Formula) -> None:
    wide = {name: converting(call, "float64") for name, call in SYMBOLIC.items()}
    check(formula, ("float32", "float32"), wide)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "uint64", "float32"])
def test_terms_of_another_dtype_cancel(dtype: str) -> None:
    x = ot.dvector("x")
    n = ot.tensor("n", dtype=dtype, shape=(None,))
    numbers = np.array([1, 0, 1]).astype(dtype)
    tiny = np.array([1e-20, -3e-20, 0.0])
    for added in (n, ot.constant(numbers), ot.constant(numbers[0])):
        call = function([x, n], (added + x) - added, on_unused_input="ignore")
        np.testing.assert_array_equal(call(tiny, numbers), tiny)


def test_rounded_results_are_read_before_they_are_rounded() -> None:
    x = ot.dvector("x")
    made = ot.log((1 + ot.exp(x)).astype("float32"))
    call = function([x], [made, og.grad(made.sum(), x)])
    value, slope = call(np.array([-80.0, 0.0, 100.0, 800.0]))
    assert value.dtype == "float32"
    assert slope.dtype == "float64"
    np.testing.assert_allclose(value, [np.exp(-80.0), np.log(2.0), 100, 800], rtol=2e-7)
    np.testing.assert_allclose(slope, [np.exp(-80.0), 0.5, 1, 1], rtol=2e-7)


def joined(x: Any) -> Any:
    ends = [end((1,), "float16") for end in (ot.zeros, ot.ones)]
    return ot.diff(ot.concatenate([ends[0], ot.sigmoid(x), ends[1]]))


S = FUNCTIONS["sigmoid"]
OF_HALF: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda x: 1 - ot.sigmoid(x).astype("float32"), lambda x: 1 - S(x)),
    (lambda x: ot.sigmoid(x) - ot.sigmoid(x / 2), lambda x: S(x) - S(x / 2)),
    (joined, lambda x: np.diff(np.concatenate([[0], S(x), [1]]))),
    (lambda x: x / ot.cosh(x) * ot.sinh(x), lambda x: x * FUNCTIONS["tanh"](x)),
    (lambda x: 1 / ot.softplus(x) * ot.sigmoid(x), lambda x: S(x) / FUNCTIONS["softplus"](x)),
    (
        lambda x: 1 / ot.sum(x * ot.exp(x)) * ot.exp(x) * x,
        lambda x: x * FUNCTIONS["exp"](x) / np.sum(x * FUNCTIONS["exp"](x)),
    ),
]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16"])
@pytest.mark.parametrize("number", range(len(OF_HALF)))
def test_half_precision_results_are_those_of_exact_arithmetic(number: int, dtype: str) -> None:
    """Rules whose results differ from those of naive float16 by more than its rounding are right where those are not."""
    ours, exactly = OF_HALF[number]
    values = (-9, -4, -1, 1, 3, 5, 9) if kind(dtype) in "if" else (1, 3, 5, 9)
    points = np.array(values).astype(dtype)
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    found = function([x], ours(x))(points)
    wanted = exactly(np.array([mpmath.mpf(float(v)) for v in points], object))
    unit, tiny = precision(("float16",))
    for one, right in zip(found, wanted, strict=True):
        assert error(one, getattr(right, "a", right), 0.0, unit, tiny) <= 4, (points, one)


PAIRS = {
    **{"logit": ot.sigmoid, "arctanh": ot.tanh, "erfinv": ot.erf, "arcsinh": ot.sinh},
    **{"log": ot.exp, "log1p": ot.expm1, "log2": ot.exp2},
}
"""Functions by the names of their inverses, which are right for every x of the inverse's domain."""


@pytest.mark.parametrize("wide", [None, "float32", "float64"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", PAIRS)
def test_inverses_cancel_through_casts(name: str, dtype: str, wide: str | None) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None,))
    inner = PAIRS[name](x)
    if wide is not None and not np.can_cast(inner.dtype, wide, "safe"):
        return
    made = getattr(ot, name)(inner if wide is None else inner.astype(wide))
    values = (-8, -3, -1, 0, 1, 3, 8) if kind(dtype) in "if" else (0, 1, 3, 8)
    if np.dtype(dtype).itemsize > 2:
        values = (-800, -30.25, *values, 30.25, 800)
    points = np.array(values).astype(dtype)
    np.testing.assert_array_equal(function([x], made)(points), points.astype(made.dtype))
