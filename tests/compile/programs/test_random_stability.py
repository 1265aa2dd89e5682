"""Random formulas of functions that have stable forms, against NumPy in the user's order and against mpmath.

Where NumPy is right to its last digits, the compiled function is, too: at ordinary and at extreme points, for several
dtypes, with shared factors, slices, joins, sums and broadcasting. (Where NumPy is not, `test_stability` and its
neighbours say which formulas are right.)
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

mpmath: Any = importlib.import_module("mpmath")
special: Any = importlib.import_module("scipy.special")

BATCHES = 100 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 2
FIRST = (
    *("exp({a})", "exp(-{a})", "sigmoid({a})", "sigmoid(-{a})", "1 - sigmoid({a})", "tanh({a})"),
    *("softplus({a})", "1 - tanh({a}) ** 2", "erfc({a})", "0.5 * erfc(-{a} / 1.41)", "expm1({a})"),
    *("log1p(exp({a}))", "1 + exp({a})", "exp({a}) - 1", "1 - exp(-{a})", "cosh({a})", "sinh({a})"),
    *("log(1 + exp({a}))", "softmax({a})", "exp({a}) / sum(exp({a}))", "sum(exp({a}))", "{a}"),
    *("exp(-(1.0 * {a}) ** 2)", "1 - exp(-exp({a}))", "exp(-exp({a}))", "sum({a})"),
)
LATER = (
    *("sqrt({a})", "log({a})", "log1p({a})", "1 - {a}", "1 + {a}", "{a} ** 2", "-{a}", "1 / {a}"),
    *("{a} ** 3", "{a} ** 0.5", "2 * {a}", "3.0 / {a}", "{a} / 3", "{a} - 1", "{a}[1:]", "{a}[0]"),
    *("{a}[::-1]", "concatenate([{a}[:1], {a}[1:] - {a}[:-1], 1 - {a}[-1:]])", "{a}[:, None]"),
    *("sum({a})", "{a}.astype('float64')", "{a}.astype('float32')", "{a}.astype('float16')"),
)
PAIRS = (
    *("{a} * {b}", "{a} / {b}", "{a} * {b}", "{a} / {b}", "{a} + {b}", "{a} - {b}"),
    *("{a} * {a} * {b}", "{a} / {b} * {b}", "({a} + 1) * {b}", "1 / {a} - 1 / {b}"),
)
DTYPES = {"x": "float64", "y": "float64", "f": "float32", "h": "float16", "n": "int64", "k": "int8"}
NAMES = ("x", "x", "x", "x", "y", "f", "h", "n", "k")
EXTREMES = (800.0, -800.0, 30.0, -30.0, 100.0, -100.0, 1e-20, -1e-20, 0.5, 3.0, 1e-8, 40.0, -40.0)
SMALLER = (60.0, -60.0, 12.0, -12.0, 1.0, 3.0, 0.0)
"""Points that float16 and int8 hold."""
DIGITS = (400, 800)
SYMBOLIC = {
    name: getattr(ot, name)
    for name in (
        *("exp", "sigmoid", "softplus", "tanh", "erfc", "log", "log1p", "expm1", "cosh", "sinh"),
        *("softmax", "sum", "sqrt", "concatenate"),
    )
}
Names = Mapping[str, Any]


class NotExact(Exception):
    """A formula has no real value, or one that is too large even for mpmath."""


def in_our_dtype(name: str, call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(a: Any) -> Any:
        a = np.asarray(a)
        dtype = SYMBOLIC[name](ot.tensor("a", dtype=a.dtype.name, shape=(None,) * a.ndim)).dtype
        return np.asarray(call(a.astype(dtype) if a.dtype.kind != "f" else a)).astype(dtype)

    return converted


NUMPY: dict[str, Any] = {
    **{name: getattr(np, name) for name in SYMBOLIC if hasattr(np, name)},
    "sigmoid": in_our_dtype("sigmoid", special.expit),
    "softplus": in_our_dtype("softplus", lambda x: np.logaddexp(np.zeros((), x.dtype), x)),
    "erfc": in_our_dtype("erfc", special.erfc),
    "softmax": in_our_dtype("softmax", lambda x: special.softmax(x, axis=-1)),
}


def objects(values: Any) -> Any:
    made = np.asarray(values, object)
    if any(isinstance(v, mpmath.mpc) for v in made.flat):
        raise NotExact
    return made


def exactly(function: Callable[[Any], Any], most: float, least: float = -mpmath.inf) -> Any:
    def one(x: Any) -> Any:
        if not least <= x <= most:
            raise NotExact
        return function(x)

    return np.frompyfunc(one, 1, 1)


EXP, ERFC = exactly(mpmath.exp, 1e5, -1e5), exactly(mpmath.erfc, 300, -300)
LOG, SQRT = exactly(mpmath.log, mpmath.inf, 0), exactly(mpmath.sqrt, mpmath.inf, 0)
EXACT: dict[str, Callable[[Any], Any]] = {
    "exp": EXP,
    "erfc": ERFC,
    "log": LOG,
    "sqrt": SQRT,
    "sigmoid": lambda x: 1 / (1 + EXP(-x)),
    "softplus": lambda x: LOG(1 + EXP(x)),
    "tanh": lambda x: 1 - 2 / (EXP(2 * x) + 1),
    "log1p": lambda x: LOG(1 + x),
    "expm1": lambda x: EXP(x) - 1,
    "cosh": lambda x: (EXP(x) + EXP(-x)) / 2,
    "sinh": lambda x: (EXP(x) - EXP(-x)) / 2,
    "softmax": lambda x: EXP(x) / np.sum(EXP(x), axis=-1, keepdims=True),
    "sum": lambda x: objects(np.sum(x)),
    "concatenate": np.concatenate,
}


def values(steps: list[str], given: Names) -> list[Any]:
    """The value of each step, which may name the inputs and the steps before it."""
    known = dict(given)
    for i, text in enumerate(steps):
        known[f"t{i}"] = eval(compile(text, "<step>", "eval"), {"__builtins__": {}}, known)
    return [known[f"t{i}"] for i in range(len(steps))]


def exact_values(steps: list[str], points: Names) -> list[Any]:
    given = {
        n: np.vectorize(mpmath.mpf, otypes=[object])(v.astype("f8")) for n, v in points.items()
    }
    wide = [f"real({re.sub(r'[.]astype[(][^)]*[)]', '', text)})" for text in steps]
    return values(wide, {**EXACT, **given, "real": objects})


def drawn(random: np.random.Generator) -> list[str]:
    """Steps that NumPy can compute at an ordinary point."""
    points = points_at(random, NAMES, False)
    inputs = random.choice(NAMES, size=2)
    steps: list[str] = []

    def add(forms: tuple[str, ...]) -> None:
        earlier = [f"t{i}" for i in range(len(steps))] or list(inputs)
        a, b = (str(random.choice(inputs if forms is FIRST else earlier)) for _ in range(2))
        text = str(random.choice(forms)).format(a=a, b=b)
        try:
            made = np.asarray(values([*steps, text], {**NUMPY, **points})[-1])
        except (ValueError, TypeError, IndexError):
            return
        if made.ndim <= 2 and 0 < made.size <= 64:
            steps.append(text)

    for _ in range(int(random.integers(2, 5))):
        add(FIRST)
    for _ in range(int(random.integers(1, 9))):
        add((LATER, PAIRS, PAIRS)[random.integers(3)])
    return steps


def points_at(random: np.random.Generator, names: tuple[str, ...], extreme: bool) -> dict[str, Any]:
    """Four elements for each input. Integers, of which some formulas have no value at 0, are positive at ordinary points."""
    made: dict[str, Any] = {}
    for name in dict.fromkeys(names):
        dtype = np.dtype(DTYPES[name])
        if extreme:
            given = random.choice(SMALLER if dtype.itemsize < 4 else EXTREMES, 4)
        else:
            given = random.uniform(-2, 2, 4) if dtype.kind == "f" else random.integers(1, 4, 4)
        made[name] = given.astype(dtype)
    return made


def error(found: Any, right: Any) -> float:
    if not np.isfinite(found):
        return np.inf
    return float(min(abs(mpmath.mpf(float(found)) - right) / abs(right), 1e300))


def compare(steps: list[str], first: int, found: list[Any], points: Names) -> None:
    """Check each result whose exact value is sure and representable, where NumPy is right."""
    naive = [np.asarray(v) for v in values(steps, {**NUMPY, **points})]
    try:
        with mpmath.workdps(DIGITS[0]):
            rough = exact_values(steps, points)
        with mpmath.workdps(DIGITS[1]):
            exact = exact_values(steps, points)
    except (NotExact, ZeroDivisionError):
        return
    eps = max([float(np.finfo(v.dtype).eps) for v in naive if v.dtype.kind == "f"], default=2e-16)
    for step, made in enumerate(found, first):
        assert made.dtype == naive[step].dtype
        assert made.shape == naive[step].shape
        if made.dtype.kind != "f":
            continue
        limits = np.finfo(made.dtype)
        for at in np.ndindex(made.shape):
            right, beside = exact[step][at], rough[step][at]
            fits = limits.tiny * 1e3 < abs(right) < float(limits.max) / 8
            if not fits or abs(right - beside) > 1e-18 * abs(right):
                continue
            if error(naive[step][at], right) <= 64 * eps:
                assert error(made[at], right) <= 4096 * eps, (steps[: step + 1], points, at)


def try_formula(random: np.random.Generator, mode: str) -> None:
    steps = drawn(random)
    names = tuple(n for n in DTYPES if re.search(rf"\b{n}\b", " ".join(steps)))
    length = 4 if random.random() < 0.5 else None
    inputs = {n: ot.tensor(n, dtype=DTYPES[n], shape=(length,)) for n in names}
    made = values(steps, {**SYMBOLIC, **inputs})
    # all steps, whose values have other readers; or the last one alone
    first = 0 if random.random() < 0.5 else len(made) - 1
    call = oc.function(list(inputs.values()), made[first:], mode=mode, on_unused_input="ignore")
    for extreme in (False, True, True):
        points = points_at(random, names, extreme)
        compare(steps, first, call(*points.values()), points)


@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("batch", range(BATCHES))
def test_compiled_formulas_are_right_where_numpy_is(batch: int, mode: str) -> None:
    with np.errstate(all="ignore"):
        for seed in range(12):
            try_formula(np.random.default_rng([batch, seed, mode == "py"]), mode)
