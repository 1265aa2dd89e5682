"""Derivatives as a naive chain rule or another system hands them over, at scales from 0.1 to 800, against mpmath."""

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
from occelo_compile import function
from occelo_testing.exact import FUNCTIONS, ExactNumber, exact_derivatives

SCALES = (0.1, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 800.0)
ALL = (0.0, *SCALES, *(-x for x in SCALES))
NOT_ZERO = (*SCALES, *(-x for x in SCALES))
LABELS = (0.0, 1.0, 0.25)
TAILS = (0.1, 1.0, 3.0, 10.0, 27.0, -0.1, -1.0, -3.0)
"""Where mpmath has enough digits for erf."""
VECTORS = (
    (0.0, 0.0, 0.0),
    (1.0, 2.0, 3.0),
    (800.0, -800.0, 0.0),
    (-800.0, -799.0, -801.0),
    (30.0, 30.5, -700.0),
)
SYMBOLIC = {name: getattr(ot, name) for name in FUNCTIONS}
SQRT_2_PI = 2.5066282746310002


@dataclass(frozen=True)
class Raw:
    """A derivative in x and y, or in vectors v and w; errors are relative to the exact result plus ``scale``."""

    text: str
    points: tuple[Any, ...] = ALL
    others: tuple[float, ...] = (0.0,)
    bound: float = 8
    scale: float = 0.0

    def __call__(self, names: dict[str, Any]) -> Any:
        return eval(compile(self.text, "<derivative>", "eval"), {"__builtins__": {}}, names)


S, T = "sigmoid(x)", "(1 - sigmoid(x))"
DERIVATIVES = (
    # softplus, sigmoid and their logarithms
    Raw("1 / (1 + exp(x)) * exp(x)"),
    Raw("-1 / (1 + exp(-x)) ** 2 * -exp(-x)"),
    Raw(f"1 / {S} * {S} * {T}"),
    Raw(f"1 / {S} * ({S} * {T})"),
    Raw(f"-1 / {T} * {S} * {T}"),
    Raw("1 / (exp(x) / (1 + exp(x))) * (exp(x) / (1 + exp(x)) - (exp(x) / (1 + exp(x))) ** 2)"),
    Raw(f"2 * {S} * {S} * {T} / {S} ** 2"),
    Raw(f"({S} - {S} ** 2) / {S}"),
    Raw("1 / softplus(x) * sigmoid(x)"),
    Raw("exp(x) / (1 + exp(x)) / log(1 + exp(x))"),
    Raw(f"{S} + x * {S} * {T}", scale=1.0),
    # densities of probabilities that are sigmoids
    Raw(f"(1 / {S} - 1 / {T}) * {S} * {T}", scale=1.0),
    Raw(f"(1 / {S} - 1 / {T}) * ({S} * {T})", scale=1.0),
    Raw(f"(y / {S} - (1 - y) / {T}) * {S} * {T}", others=LABELS, scale=1.0),
    Raw(f"(y / {S} + -(1 - y) / {T}) * ({S} * sigmoid(-x))", others=LABELS, scale=1.0),
    Raw(f"0.5 * (y / {S} - (1 - y) / {T}) * {S} * {T}", others=LABELS, scale=1.0),
    Raw(f"(1.5 / {S} - 0.5 / {T}) * ({S} * {T}) + (1 - 2 * {S})", scale=1.0),
    Raw(f"y / {S} * {S} * {T} - (1 - y) / {T} * {S} * {T}", others=LABELS, scale=1.0),
    Raw(f"({S} - y) / ({S} * {T}) * ({S} * {T})", others=LABELS, scale=1.0),
    # densities of positive values that are exponentials
    Raw("(1 / exp(x) + 2) * exp(x)"),
    Raw("(exp(x) ** -1 + 2) * exp(x)"),
    Raw("(2 / exp(x) - 3) * exp(x)", scale=1.0),
    Raw("exp(x) * (y / exp(x) - 1)", others=(0.0, 3.0), scale=1.0),
    Raw("(-1 / exp(x) + y ** 2 / exp(x) ** 3) * exp(x)", others=(0.5, 3.0), scale=1.0),
    Raw("(y / exp(x) - (y + 2) / (exp(x) + 2)) * exp(x)", others=(0.0, 3.0), scale=4.0),
    Raw("1 / exp(-exp(x)) * exp(-exp(x)) * -exp(x)"),
    # roots and powers
    Raw(f"0.5 / sqrt({S}) * {S} * {T}"),
    Raw(f"1 / (2 * sqrt({S})) * ({S} * {T})"),
    Raw(f"-0.5 / sqrt({T}) * {S} * {T}"),
    Raw(f"0.5 * {T} ** -0.5 * -({S} * {T})"),
    Raw(f"0.3 * {S} ** -0.7 * {S} * {T}"),
    Raw("0.5 / sqrt(exp(x)) * exp(x)"),
    Raw("3 * exp(x) ** 2 * exp(x) / exp(x) ** 3"),
    Raw(f"sqrt({S})"),
    Raw(f"sqrt({T})"),
    Raw(f"{S} ** 0.3"),
    Raw(f"y / sqrt({S})", others=(2.0,)),
    Raw("sqrt(exp(x))"),
    # hyperbolic functions
    Raw("1 / cosh(x) * sinh(x)"),
    Raw("1 / (exp(x) + exp(-x)) * (exp(x) - exp(-x))"),
    Raw("1 / (1 - tanh(x) ** 2) * (1 - tanh(x) ** 2)"),
    Raw("-2 * tanh(x) * (1 - tanh(x) ** 2) / (1 - tanh(x) ** 2)"),
    # log1mexp and logarithms of ratios
    Raw("-exp(-x) / (1 - exp(-x))", SCALES),
    Raw("1 / (1 - exp(-x)) * exp(-x)", SCALES),
    Raw("1 / (exp(x) - 1) * exp(x)", NOT_ZERO),
    Raw("1 / (1 - exp(-x)) * exp(-x)", NOT_ZERO),
    Raw("exp(x) / (exp(x) - 1) - exp(x) / expm1(x) + exp(x) / (1 - exp(x))", NOT_ZERO),
    Raw("1 / (exp(x) - exp(y)) * exp(x)", NOT_ZERO, others=(0.25, 799.5), bound=16),
    Raw("1 / (exp(y) - exp(x)) * exp(x)", NOT_ZERO, others=(0.25, 799.5), bound=16),
    Raw("1 / (exp(x) + exp(y)) * exp(x)", others=(0.0, 800.0)),
    Raw("exp(y) / exp(x) * (exp(x) / exp(y))", others=(0.0, 1.0)),
    Raw("sigmoid(x) - sigmoid(y)", others=(0.25, 799.5, -799.5)),
    # the complementary log-log function (the rounding of exp(x) grows by exp(x))
    Raw("log(1 - exp(-exp(x)))", bound=64),
    Raw("exp(-exp(x)) * exp(x)", bound=64),
    Raw("-exp(-exp(x)) * -exp(x) / (1 - exp(-exp(x)))", bound=64),
    Raw("1 / (1 - exp(-exp(x))) * -(exp(-exp(x)) * -exp(x))", bound=64),
    Raw("-1 / exp(-exp(x)) * (exp(-exp(x)) * exp(x))", bound=64),
    # the normal distribution
    Raw(f"-{2 / np.sqrt(np.pi)} * exp(-x ** 2) / erfc(x)", TAILS),
    # (the rounded constant is not the root of 2, which the exponentials of squares enlarge)
    Raw(
        f"exp(-x ** 2 / 2) / {SQRT_2_PI} / (0.5 * erfc(x / 1.4142135623730951))", TAILS, bound=1024
    ),
    Raw(
        f"1 / (0.5 * erfc(x / 1.4142135623730951)) * (exp(-x ** 2 / 2) / {SQRT_2_PI})",
        TAILS,
        bound=1024,
    ),
    Raw(
        f"exp(-x ** 2 / 2) / {SQRT_2_PI} / (0.5 * (1 - erf(x / 1.4142135623730951)))",
        TAILS,
        bound=1024,
    ),
    # soft maxima
    Raw("exp(v) * (1 / sum(exp(v)))", VECTORS),
    Raw("(exp(v) * (1 / sum(exp(v))))[0]", VECTORS),
    Raw("softmax(v) * (w - sum(w * softmax(v)))", VECTORS, scale=1.0),
    Raw("(w / softmax(v) - sum(w / softmax(v) * softmax(v))) * softmax(v)", VECTORS, scale=1.0),
    Raw("exp(v) * (w / sum(w * exp(v)))", VECTORS),
    Raw("w - exp(v) * (sum(w) / sum(exp(v)))", VECTORS, scale=1.0),
)


def off(found: Any, right: Any, scale: float) -> float:
    """The error in units of the machine epsilon; results below the normal numbers may be 0."""
    limits = np.finfo(found.dtype)
    if abs(right) > mpmath.mpf(float(limits.max)):
        return 0.0 if np.isinf(found) and (found > 0) == (right > 0) else np.inf
    if not np.isfinite(found):
        return np.inf
    unit = float(limits.eps) * max(abs(right) + scale, float(limits.tiny))
    return float(abs(mpmath.mpf(float(found)) - right) / unit)


def exactly(values: Any) -> Any:
    return np.array([ExactNumber(mpmath.mpf(float(v))) for v in values], object)


def exact(raw: Raw, given: dict[str, Any]) -> list[Any]:
    mpmath.mp.dps = 750
    total = {"sum": lambda v: functools.reduce(operator.add, v)}  # NumPy's sum is an array
    result = raw({**FUNCTIONS, **total, **{n: exactly(v) for n, v in given.items()}})
    return [getattr(r, "a", r) for r in np.atleast_1d(np.asarray(result, object))]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("raw", DERIVATIVES, ids=lambda raw: raw.text)
def test_raw_derivatives(raw: Raw, dtype: str) -> None:
    of_vectors = isinstance(raw.points[0], tuple)
    names = ("v", "w") if of_vectors else ("x", "y")
    inputs = [ot.tensor(n, dtype=dtype, shape=(None,)) for n in names]
    made = raw({**SYMBOLIC, **dict(zip(names, inputs, strict=True))})
    call = function(inputs, made, on_unused_input="ignore")
    assert made.dtype == dtype
    pairs = list(itertools.product(raw.points, raw.others))
    calls = (
        [(p, (0.25, 0.5, 2.0)) for p in raw.points]
        if of_vectors
        else [tuple(zip(*pairs, strict=True))]
    )
    for values in calls:
        given = dict(zip(names, (np.asarray(v, dtype) for v in values), strict=True))
        with np.errstate(all="ignore"):
            found = np.atleast_1d(call(*given.values()))
        for i, (one, right) in enumerate(zip(found, exact(raw, given), strict=True)):
            # in float32, exponents such as 0.3 x are rounded by as much as x is large
            slack = 4 if dtype == "float32" else 1
            assert off(one, right, raw.scale) <= raw.bound * slack, (
                f"{raw.text} at {values} [{i}]: {one!r} instead of {mpmath.nstr(right, 20)}"
            )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("sqrt(1 - sigmoid(x))", 4),
        ("sqrt(sigmoid(x))", 4),
        ("sigmoid(x) ** 0.25", 4),
        ("sqrt(exp(x))", 4),
        ("1 - exp(-exp(x))", 64),
        ("log(1 - exp(-exp(x)))", 64),
        ("0.25 * log(1 - exp(-exp(x))) + 0.75 * log(1 - (1 - exp(-exp(x))))", 64),
    ],
)
def test_values_and_their_gradients(text: str, bound: float, dtype: str) -> None:
    raw = Raw(text)
    x = ot.vector("x", dtype=dtype)
    value = raw({**SYMBOLIC, "x": x})
    call = function([x], [value, og.grad(value.sum(), x)])
    points = np.asarray(ALL, dtype)
    with np.errstate(all="ignore"):
        results = call(points)
    for i, point in enumerate(points):
        try:
            by_x = exact_derivatives(lambda p: raw({**FUNCTIONS, **p}), {"x": point}, "x")
        except ZeroDivisionError:  # where exp(-exp(x)) has too few digits even for mpmath
            continue
        assert off(results[0][i], by_x[0], 0.0) <= bound, (text, point)
        assert off(results[1][i], by_x[1][0], 0.0) <= 2 * bound, (text, point)


ROOTS = (
    *("sqrt(sigmoid(x))", "sqrt(1 - sigmoid(x))", "sigmoid(x) ** 0.3", "1 / sqrt(sigmoid(x))"),
    *("sqrt(sigmoid(x) * (1 - sigmoid(x)))", "sqrt(sigmoid(x) * sigmoid(-x) / 3)"),
    *("sqrt(sigmoid(x) / (1 - sigmoid(x)))", "sqrt(exp(x) * sigmoid(x))", "sqrt(1 / sigmoid(x))"),
    *("sqrt(softplus(x))", "sqrt(log(1 + exp(x)))", "sqrt(cosh(x))"),
    *("sqrt(1 + exp(x))", "1 / sqrt(1 + exp(x))", "(1 + exp(x)) ** -0.25"),
    *("1 / sigmoid(x)", "1 / sigmoid(x) ** 2"),
    *("(sigmoid(x) * sigmoid(-x)) ** 0.25", "1 / sqrt(sigmoid(x) * (1 - sigmoid(x)))"),
    *("softplus(x) ** 0.25", "1 / sqrt(softplus(-x))"),
    *(
        "1 / sqrt(cosh(-x))",
        "1 - tanh(-x) ** 2",
        "cosh(x) ** 0.25",
        "sinh(x) / sqrt(cosh(x))",
        "tanh(x) * cosh(x) ** 0.3",
    ),
    *("1 - tanh(x) ** 2", "1 - tanh(x) * tanh(x)", "(tanh(x) ** 2 - 1) ** 2", "1 + tanh(-x)"),
    *("1 - tanh(x)", "sqrt(1 - tanh(x))", "sqrt(1 + tanh(x))", "tanh(x) * (1 - tanh(x) ** 2)"),
)
FAR = (*ALL, *(s * x for s in (1, -1) for x in (690.0, 709.5, 745.0, 1400.0)))
"""Also where sigmoid(x) is subnormal, and where its square root barely is a normal number."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", ROOTS)
def test_gradients_of_roots(text: str, dtype: str) -> None:
    """Each output in a graph of its own and all in one, since products that have several users have other factors."""
    raw = Raw(text)
    x = ot.vector("x", dtype=dtype)
    outputs = [raw({**SYMBOLIC, "x": x})]
    for _ in range(2):
        outputs.append(og.grad(outputs[-1].sum(), x))
    calls = [function([x], outputs), *(function([x], [out]) for out in outputs)]
    points = np.asarray(FAR, dtype) / (1 if dtype == "float64" else 8)
    with np.errstate(all="ignore"):
        together, *apart = (call(points) for call in calls)
    for i, point in enumerate(points):
        try:
            exact = exact_derivatives(lambda p: raw({**FUNCTIONS, **p}), {"x": point}, "x")
        except ZeroDivisionError:  # 1 - tanh(x) has too few digits even for mpmath
            continue
        # derivatives of even functions cancel near 0; exponents such as -0.7 + 1 are rounded, which x enlarges
        scale, bound = abs(exact[0]) if abs(point) < 1 else 0, 32 + 2 * abs(point)
        for n, right in enumerate((exact[0], exact[1][0], exact[2][0])):
            for found in (together[n][i], apart[n][0][i]):
                error = off(found, right, scale if n else 0)
                assert error <= bound, f"derivative {n} at {point}: {found!r}"


def joined_first(cuts: Any, eta: Any, sigmoid: Any, join: Any) -> Any:
    below = join([0.0], sigmoid(cuts - eta), [1.0])
    return below[1:] - below[:-1]


def joined_last(cuts: Any, eta: Any, sigmoid: Any, join: Any) -> Any:
    below = sigmoid(cuts - eta)
    return join(below[:1], below[1:] - below[:-1], 1 - below[-1:])


@pytest.mark.parametrize("probabilities", [joined_first, joined_last])
@pytest.mark.parametrize("eta", [0.3, 3.0, 30.0, 800.0, -800.0])
@pytest.mark.parametrize("cuts", [(-1.0, 0.5, 2.0), (10.0, 10.25, 20.0), (1.0, 1.0625)])
def test_ordered_logistic(probabilities: Any, cuts: tuple[float, ...], eta: float) -> None:
    def join(*parts: Any) -> Any:
        return ot.concatenate([ot.as_tensor(p) for p in parts])

    def join_exactly(*parts: Any) -> Any:
        return np.concatenate([np.asarray(p, object) for p in parts])

    cut, shift, chosen = ot.dvector("cut"), ot.dscalar("shift"), ot.lvector("chosen")
    value = ot.log(probabilities(cut, shift, ot.sigmoid, join)[chosen]).sum()
    call = function([cut, shift, chosen], [value, *og.grad(value, [cut, shift])])
    for k in range(len(cuts) + 1):
        found = call(np.array(cuts), eta, np.array([k]))

        def density(given: dict[str, Any], k: int = k) -> Any:
            each = probabilities(given["cuts"], given["eta"], FUNCTIONS["sigmoid"], join_exactly)
            return FUNCTIONS["log"](each[k])

        point = {"cuts": list(cuts), "eta": eta}
        right, by_cuts, _ = exact_derivatives(density, point, "cuts")
        (by_eta,) = exact_derivatives(density, point, "eta")[1]
        wanted = [right, *by_cuts, by_eta]
        for one, exact_one in zip([found[0], *found[1], found[2]], wanted, strict=True):
            assert off(np.float64(one), exact_one, 0.0 if one is found[0] else 0.5) <= 16


def test_large_differences_of_sigmoids_keep_their_signs() -> None:
    x, y = ot.dvectors("x", "y")
    call = function([x, y], ot.sigmoid(x) - ot.sigmoid(y))
    inf = np.inf
    found = call(
        np.array([800.0, -800.0, 2.0, inf, -inf, 800.0, 700.0]),
        np.array([-800.0, 800.0, 2.0, -inf, inf, 800.0, 701.0]),
    )
    np.testing.assert_array_equal(found[:6], [1, -1, 0, 1, -1, 0])
    np.testing.assert_allclose(found[6], np.exp(-701.0) - np.exp(-700.0), rtol=1e-15)
