"""Functions of complex numbers in machine code: digits beside NumPy's, branch cuts, special numbers, order, powers."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpc

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link import make_linker
from occelo_link.capabilities import is_installed
from occelo_link.loops.build import find_lowering
from occelo_testing.loop_programs import has_compiler

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
# Numba takes a minute for what the others take a second for
LINKERS = [
    "native",
    *(["c"] if has_compiler() else []),
    *(["numba"] if THOROUGH and is_installed("numba") else []),
]
INVERSES: dict[str, Callable[[Any], Any]] = {
    "arcsin": mp.asin,
    "arccos": mp.acos,
    "arctan": mp.atan,
    "arcsinh": mp.asinh,
    "arccosh": mp.acosh,
    "arctanh": mp.atanh,
}
# of these NumPy's formulas lose digits too where a part of the result is near 0
OTHERS: dict[str, Callable[[Any], Any]] = {
    "exp": mp.exp,
    "log": mp.log,
    "sqrt": mp.sqrt,
    "sinh": mp.sinh,
    "cosh": mp.cosh,
    "tanh": mp.tanh,
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "reciprocal": lambda z: 1 / z,
}
PARTS = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1.7e308, -1e308, 1e-310, -5e-324, 0.5, 2.0]
SPECIAL = np.array([complex(a, b) for a, b in itertools.product([*PARTS, -2.0, 1e200], repeat=2)])


def run(linker: str, given: list[Any], outputs: list[Any], arguments: list[Any]) -> list[Any]:
    graph = og.FunctionGraph(given, outputs)
    assert all(find_lowering(node) for node in graph.toposort())
    found = make_linker(linker).accept(graph).make_function()(*arguments)
    return found if isinstance(found, list) else [found]


def applied(name: str, value: Any, linker: str = "native") -> Any:
    z = ot.tensor("z", dtype=value.dtype.name, shape=(None,))
    return run(linker, [z], [getattr(ot, name)(z)], [value])[0]


def drawn(count: int) -> Any:
    """Numbers of ordinary size, of all sizes, and near the points 1, -1, i and -i and the unit circle."""
    rng = np.random.default_rng(1)
    angle = np.exp(1j * rng.uniform(-np.pi, np.pi, count))
    sign, other = (rng.choice([-1, 1], count) for _ in "xy")
    near = sign * (1 + other * 10.0 ** rng.uniform(-15, 0, count))
    beside = other * 10.0 ** rng.uniform(-20, 0, count)
    return np.concatenate(
        [
            rng.standard_normal(count) + 1j * rng.standard_normal(count),
            angle * (1 + 1e-8 * rng.standard_normal(count)),
            angle * 10.0 ** rng.uniform(-160, 160, count),
            near + 1j * beside,
            beside + 1j * near,
            sign * 10.0 ** rng.uniform(-20, 20, count) + 1j * beside * 1e10,
        ]
    )


def errors(found: Any, exact: list[Any], part: str) -> Any:
    """The errors of the real or the imaginary parts, in ulps of the exact ones."""
    shown = [getattr(v, part) for v in exact]
    pairs = zip(getattr(found, part), shown, strict=True)
    return np.array([float(abs(float(a) - v) / np.spacing(abs(float(v)))) for a, v in pairs])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*INVERSES, *OTHERS])
def test_both_parts_have_as_many_digits_as_those_of_numpy(name: str, dtype: str) -> None:
    mp.prec = 1500  # so that mpmath itself loses nothing near branch points
    value = drawn(400 if THOROUGH else 40)
    if name in ("exp", "sinh", "cosh", "tanh", "sin", "cos", "tan"):
        value = value[(abs(value.real) < 80) & (abs(value.imag) < 80)]
    if dtype == "complex64":
        size = abs(value)
        value = value[(size > 1e-15) & (size < 1e15)].astype(dtype)
    found, reference = applied(name, value), getattr(np, name)(value)
    assert found.dtype == reference.dtype
    exact = [(INVERSES | OTHERS)[name](mpc(float(v.real), float(v.imag))) for v in value]
    if dtype == "complex64":
        exact = [complex(v) for v in exact]
        normal = [min(abs(v.real), abs(v.imag)) > 1e-37 for v in exact]
        found = found[normal].astype(complex)
        for part in ("real", "imag"):
            rows = zip(getattr(found, part), np.array(exact)[normal], strict=True)
            worst = max(abs(a - getattr(v, part)) / abs(getattr(v, part)) for a, v in rows)
            # half an ulp, since the others are computed in double precision
            assert worst <= (2e-7 if name == "reciprocal" else 0.65e-7), part
        return
    for part in ("real", "imag"):
        own, others = (errors(r, exact, part).max() for r in (found, reference))
        assert own <= max(1.6 * others, 4.0), (part, own, others)


@pytest.mark.parametrize("name", [*INVERSES, *OTHERS])
def test_special_numbers_and_branch_cuts_are_those_of_numpy(name: str) -> None:
    found = applied(name, SPECIAL)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(SPECIAL)
    whole = np.isfinite(SPECIAL.real) & np.isfinite(SPECIAL.imag)
    for part in ("real", "imag"):
        a, b = getattr(found, part), getattr(expected, part)
        np.testing.assert_allclose(
            np.where(whole, a, abs(a)), np.where(whole, b, abs(b)), 1e-13, 1e-322
        )
        # C leaves the signs of parts open if an argument is not finite
        known = whole & ~np.isnan(b)
        np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_order_and_extremes_are_those_of_numpy(linker: str, dtype: str) -> None:
    numbers = np.array([0, 1, 1 + 1j, 1 - 1j, complex(1, np.nan), complex(np.nan, 1), np.inf, -1])
    x, y = (v.ravel().astype(dtype) for v in np.meshgrid(numbers, numbers))
    a, b = (ot.tensor(n, dtype=dtype, shape=(None,)) for n in "ab")
    names = ("less", "less_equal", "greater", "greater_equal", "maximum", "minimum")
    outputs = [getattr(ot, n)(a, b) for n in names]
    outputs += [ot.round(2.5 * a), ot.clip(a, 0, 1 + 1j)]
    with np.errstate(all="ignore"):
        expected = [getattr(np, n)(x, y) for n in names]
        scaled = (2.5 * x).astype(dtype)
    expected += [np.rint(scaled), np.clip(x, 0, np.asarray(1 + 1j, dtype))]
    for result, wanted in zip(run(linker, [a, b], outputs, [x, y]), expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_reductions_by_order_are_those_of_numpy(linker: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    value = rng.integers(-2, 3, (4, 3, 5)) + 1j * rng.integers(-2, 3, (4, 3, 5))
    value = value.astype(dtype)
    value[1, 2, 3] = complex(0, np.nan)
    value[2, 2] = -np.inf
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    outputs, expected = [], []
    for axis in (None, 0, 1, 2):
        for name in ("max", "min", "argmax", "argmin"):
            if axis is None and name.startswith("arg"):
                continue
            outputs.append(getattr(ot, name)(x, axis=axis))
            expected.append(getattr(np, name)(value, axis=axis))
    outputs += list(ot.nonzero(x))
    expected += list(np.nonzero(value))
    for result, wanted in zip(run(linker, [x], outputs, [value]), expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(result, wanted)
    with pytest.raises(ValueError, match=r"zero-size|no elements|empty"):
        run(linker, [x], [ot.max(x, axis=0)], [value[:0]])


@pytest.mark.parametrize("linker", LINKERS)
def test_powers_are_those_of_numpy(linker: str) -> None:
    rng = np.random.default_rng(3)
    base = rng.standard_normal(300) + 1j * rng.standard_normal(300)
    exponent = 3 * (rng.standard_normal(300) + 1j * rng.standard_normal(300))
    exponent[::3] = rng.integers(-99, 100, 100)
    exponent[1::5] = rng.standard_normal(60)
    finite = SPECIAL[np.isfinite(SPECIAL.real) & np.isfinite(SPECIAL.imag)]
    finite = finite[np.maximum(abs(finite.real), abs(finite.imag)) < 1e100]
    ends = np.array([0, 1, -1, 2, -2, 0.5, 100, 1j, 1 + 1j, -1 + 1j, complex(1, -0.0)])
    base = np.concatenate([base, np.repeat(finite, len(ends))])
    exponent = np.concatenate([exponent, np.tile(ends, len(finite))])
    z, w = (ot.tensor(n, dtype="complex128", shape=(None,)) for n in "zw")
    [found] = run(linker, [z, w], [ot.pow(z, w)], [base, exponent])
    with np.errstate(all="ignore"):
        expected = np.power(base, exponent)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    some = np.isfinite(expected) & (expected != 0)
    assert (abs(found[some] - expected[some]) <= 3e-13 * abs(expected[some]) + 1e-300).all()
    np.testing.assert_array_equal(found[~some], expected[~some])

    numbers = [1, 2, 3, -2, 7, 0.5, 0, 2 + 1j]
    constants = run(linker, [z], [ot.pow(z, n) for n in numbers], [base[:300]])
    for n, result in zip(numbers, constants, strict=True):
        np.testing.assert_allclose(result, np.power(base[:300], n), rtol=1e-13)


def test_powers_of_zero_and_one_are_those_of_numpy() -> None:
    base = np.array([0, 0, 0, 0, 0, complex(np.nan, 0), complex(0, np.inf), np.inf])
    exponent = np.array([0, 2, 1 + 1j, -1, 1j, 0, 0, 1])
    z, w = (ot.tensor(n, dtype="complex128", shape=(None,)) for n in "zw")
    [found] = run("native", [z, w], [ot.pow(z, w)], [base, exponent])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.power(base, exponent))


def test_softplus_of_complex_numbers_neither_overflows_nor_cancels() -> None:
    mp.prec = 300
    rng = np.random.default_rng(4)
    value = rng.uniform(-60, 60, 200) + 1j * rng.uniform(-3, 3, 200)
    exact = [complex(mp.log(1 + mp.exp(mpc(v.real, v.imag)))) for v in value]
    np.testing.assert_allclose(applied("softplus", value), exact, rtol=2e-15)
    np.testing.assert_allclose(applied("softplus", np.array([800 + 1j])), [800 + 1j])


@pytest.mark.parametrize("linker", LINKERS)
def test_gradients_of_inverse_functions_are_compiled(linker: str) -> None:
    z = ot.tensor("z", dtype="complex128", shape=(None,))
    value = np.array([0.3 + 1j, -1 + 0.2j, 2 - 0.5j])
    outputs = [og.grad(abs(getattr(ot, n)(z) ** 1.5).sum(), z) for n in INVERSES]
    expected = og.evaluate(outputs, {z: value})
    for result, wanted in zip(run(linker, [z], outputs, [value]), expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12)
