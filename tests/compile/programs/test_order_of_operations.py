"""Sums and products equal NumPy's in the user's order, even if another order overflows or rounds differently."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import Mode, function
from occelo_graph import tensor as ot
from occelo_printing import pprint

DRAWS = 2000 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 60
MODES = {"FAST_RUN": "FAST_RUN", "FAST_COMPILE": "FAST_COMPILE", "strict": Mode("vm", "strict")}
HUGE = 1.7e308

EXACT: list[tuple[str, Callable[..., Any], tuple[float, ...]]] = [
    ("a product over a small number", lambda x, y: (x * y) / 1e-300, (1e10, 1e-20)),
    ("a small number times a product", lambda x, y: (1e-300 * x) * y, (1e300, 1e300)),
    ("numbers on both sides", lambda x, y: (1e-200 * x) * (1e-200 * y), (1e250, 1e250)),
    ("huge constants", lambda x, y: (x + HUGE) + HUGE, (-HUGE, 0.0)),
    ("constants on both sides", lambda x, y: (x + 1.0) - (y + 1e15), (3e15, 1e15)),
    ("constants at the end", lambda x, y: (x - y) + 1.0 + 2.0, (1e16, 1e16)),
    ("a difference, then a sum", lambda x, y: (x - y) + x, (HUGE, HUGE)),
    ("a sum with a term twice", lambda x, y: (x + y) + x, (1e308, -1e308)),
    ("what cancels first", lambda x, y: (x - y) + 1.0, (1e16, 1e16)),
    ("a sum of sums", lambda x, y: (x + 1.0) + (y - 1e16), (0.5, 1e16)),
    ("a distance", lambda x, y: x - (y + 1e-3), (1e13, 1e13)),
    ("a power in a divisor", lambda x, y: y / og.tensor.exp(x) if _is_graph(x) else y / np.exp(x), (-720.0, 0.0)),
    ("a comparison with 0", lambda x, y: 0.1 * (3 * x - 9) > 0, (3.0, 0.0)),
    ("a comparison with 1", lambda x, y: x / 49 >= 1, (49.0, 0.0)),
    ("a comparison of sums", lambda x, y: (x - y) + 1 > 0, (1e16, 1e16)),
    ("a division and a product", lambda x, y: (x / 3) * y, (HUGE, 2.0)),
]  # fmt: skip


def _is_graph(v: Any) -> bool:
    return isinstance(v, og.Variable)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("build", "values"), [e[1:] for e in EXACT], ids=[e[0] for e in EXACT])
def test_results_are_those_of_the_order_as_written(build: Any, values: Any, mode: str) -> None:
    inputs = [ot.dscalar("x"), ot.dscalar("y")]
    call = function(inputs, build(*inputs), mode=MODES[mode], on_unused_input="ignore")
    with np.errstate(all="ignore"):
        wanted = build(*map(np.float64, values))
    assert np.isfinite(wanted)
    found = call(*values)
    if found.dtype == bool:
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=4e-16)


REDUCTIONS: list[tuple[str, Callable[[Any], Any]]] = [
    ("a scaled sum", lambda v: (v * np.float16(0.001)).sum()),
    ("a divided sum", lambda v: (v / np.float16(100)).sum()),
    ("a mean", lambda v: v.mean()),
    ("a mean of quotients", lambda v: (v / np.float16(100)).mean()),
    ("a root of a variance", lambda v: (v * np.float16(1e-3)).std() + 1),
    ("a difference and a sum", lambda v: ((v - v[::-1]) + v).max()),
]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
@pytest.mark.parametrize("build", [r[1] for r in REDUCTIONS], ids=[r[0] for r in REDUCTIONS])
def test_reductions_of_float16(build: Any, mode: str) -> None:
    v = ot.tensor("v", dtype="float16", shape=(None,))
    value = np.full(100, 60000, "float16")
    found = function([v], build(v), mode=mode)(value)
    assert found.dtype == "float16"
    with np.errstate(all="ignore"):
        wanted = build(value)
    np.testing.assert_allclose(found, wanted, rtol=0.01)
    assert np.isfinite(found)


def test_sums_of_quotients_do_not_overflow() -> None:
    v, x = ot.dvector("v"), ot.dscalar("x")
    value = np.full(4, 1e308)
    assert function([v], (v / 4).sum())(value) == 1e308
    np.testing.assert_allclose(function([v, x], (v / x).sum())(value, 8.0), 5e307)
    np.testing.assert_allclose(function([v, x], (v * x).sum())(value, 0.125), 5e307)


OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
NUMBERS = (1.0, -1.0, 0.0, 2.0, 0.25, 3.0, 0.1, 1e-3, 1e6, 1e200, 1e-200)


def _drawn(generator: np.random.Generator, leaves: list[Any], depth: int) -> Callable[..., Any]:
    """A function of arguments: sums and products of them and of numbers, of some depth."""
    if depth == 0 or generator.random() < 0.1:
        if generator.random() < 0.4:
            number = float(generator.choice(NUMBERS))
            return lambda *v: v[0] * 0 + number if depth == -1 else number
        place = int(generator.integers(len(leaves)))
        return lambda *v: v[place]
    chosen = OPERATIONS[generator.integers(4)]
    first, second = (_drawn(generator, leaves, depth - 1) for _ in range(2))

    def combined(*v: Any) -> Any:
        a, b = first(*v), second(*v)
        if not _is_graph(a) and not _is_graph(b):
            a = np.float64(a)
        return chosen(a, b)

    return combined


@pytest.mark.parametrize("seed", range(DRAWS))
def test_drawn_sums_and_products_do_not_cease_to_be_finite(seed: int) -> None:
    """Where the order as written has no huge or tiny value on the way, ours has none either, and comes as near."""
    generator = np.random.default_rng(seed)
    inputs = [ot.dscalar(n) for n in "xyz"]
    build = _drawn(generator, inputs, 4)
    with np.errstate(all="ignore"):
        out = build(*inputs)
    if not _is_graph(out):
        return
    call = function(inputs, out, on_unused_input="ignore")
    for _ in range(4):
        values = [
            np.float64(v) for v in generator.choice([0.3, -7.0, 1e5, 1e-7, 1e100, -1e-100], 3)
        ]
        with np.errstate(all="ignore"):
            wanted = build(*values)
            size = float(build(*[np.abs(v) for v in values]))
        if np.isfinite(wanted) and np.isfinite(size):
            assert np.isfinite(call(*values)), (values, pprint(out))


@pytest.mark.parametrize("base", ["int8", "uint8", "int32", "float16", "float32", "bool"])
def test_derivatives_of_mixed_dtypes_are_computed_in_that_of_the_result(base: str) -> None:
    b, e = ot.tensor("b", dtype=base, shape=(None,)), ot.dvector("e")
    values = np.array([1, 100, 3]).astype(base), np.array([2.5, 2.0, 0.5])
    wide = values[0].astype("float64")
    by_exponent = wide ** values[1] * np.log(wide)
    gradient = function([b, e], og.grad((b**e).sum(), e))
    np.testing.assert_allclose(gradient(*values), by_exponent, rtol=1e-14)
    by_base = function([b], og.grad((b ** np.float64(2.0)).sum(), b))(values[0])
    np.testing.assert_allclose(by_base, 2 * wide, rtol=1e-3)
    turned = function([b, e], og.grad(ot.arctan2(b, e).sum(), e))
    np.testing.assert_allclose(turned(*values), -wide / (wide**2 + values[1] ** 2), rtol=1e-14)


ZEROS: list[tuple[str, Callable[[Any], Any]]] = [
    ("std", ot.std),
    ("sqrt(sum(v^2))", lambda v: ot.sqrt((v**2).sum())),
    ("sqrt(v^2)", lambda v: ot.sqrt(v**2).sum()),
    ("sqrt(v v)", lambda v: ot.sqrt(v * v).sum()),
    ("abs", lambda v: ot.abs(v).sum()),
]


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "vm"])
@pytest.mark.parametrize("build", [z[1] for z in ZEROS], ids=[z[0] for z in ZEROS])
def test_subgradients_at_zero(build: Any, mode: str) -> None:
    v = ot.dvector("v")
    value = build(v)
    call = function([v], [value, og.grad(value, v)], mode=mode)
    found, gradient = call(np.zeros(3))
    assert found == 0
    np.testing.assert_array_equal(gradient, 0)
    tangent = function([v], og.pushforward(value, v, ot.ones_like(v)), mode=mode)(np.zeros(3))
    assert tangent == 0


def test_gradient_of_the_log_of_a_soft_maximum_of_a_row() -> None:
    x = ot.dmatrix("x")
    value = ot.log(ot.softmax(x, axis=1))
    call = function([x], [value, og.grad(value[0, 1], x)])
    rows = np.array([[1e5, 0.0, -1e5], [0.0, 1.0, 2.0]])
    found, gradient = call(rows)
    np.testing.assert_array_equal(found[0], [0.0, -1e5, -2e5])
    np.testing.assert_array_equal(gradient, [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
