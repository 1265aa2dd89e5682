"""Elementwise functions match dimensions by name, as xarray does."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xarray as xr

import occelo_arrays.functions as arrays
import occelo_special.functions as special
from occelo_dims import as_xtensor, math, xtensor
from occelo_graph import evaluate
from occelo_graph import tensor as ot
from occelo_graph.tensor import dvector
from occelo_testing.beside_xarray import LENGTHS, array, compare, evaluated

PAIRS = ["ab,b", "b,ab", "ab,ba", "a,b", "abc,cb", ",ab", "ad,d", "e,ae", "ab,cd", "cab,abc", ","]


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("pair", PAIRS)
def test_two_arguments(pair: str, static: bool) -> None:
    x, y = (array(dims, seed=i) for i, dims in enumerate(pair.split(",")))
    compare(lambda x, y: x + 2 * y, (x, y), static=static)
    compare(lambda x, y: (x - y) / (1 + y * y), (x, y), static=static)
    compare(lambda x, y: x < y, (x, y), static=static)


def test_operators() -> None:
    x, y = array("ab"), array("ca", seed=1)
    for each in [
        lambda x, y: x - y, lambda x, y: 3.0 - x, lambda x, y: x / y, lambda x, y: 1 / x, lambda x, y: x // y,
        lambda x, y: 5 // x, lambda x, y: x % y, lambda x, y: 2 % x, lambda x, y: abs(x) ** y, lambda x, y: 2.0**x,
        lambda x, y: -x + +y, lambda x, y: (x > y) & (x < 1), lambda x, y: (x <= y) | (y >= 0),
        lambda x, y: ~(x > 0) ^ (y > 0),
    ]:  # fmt: skip
        compare(each, (x, y))
    compare(lambda x: round(x, 1), [x], lambda x: x.round(1))
    quotient, rest = divmod(xtensor("x", dims="a"), 2)
    assert quotient.dims == rest.dims == ("a",)
    n, m = array("ab", "int32"), array("b", "int8")
    compare(lambda n, m: (n & m) | (n ^ 3), (n, m))
    compare(lambda n, m: n + m, (n, m))


@pytest.mark.parametrize(
    "dtypes", list(itertools.product(["float32", "float64", "int16", "bool"], repeat=2))
)
def test_dtypes_are_those_of_tensors(dtypes: tuple[str, str]) -> None:
    x, y = (array(d, k) for d, k in zip(("ab", "b"), dtypes, strict=True))
    compare(lambda x, y: x * y, (x, y), rtol=1e-6)
    compare(lambda x: x * 2.5, (x,), rtol=1e-6)


NUMPY = (
    "abs arccosh arcsinh arctan ceil cos cosh deg2rad exp exp2 expm1 floor isnan isinf log log10 log1p log2 rad2deg "
    "reciprocal sign sin sinh sqrt square tan tanh trunc conj real imag cbrt isfinite"
).split()


@pytest.mark.parametrize("name", NUMPY)
def test_functions_of_numpy(name: str) -> None:
    x = abs(array("ab")) + 1
    compare(getattr(math, name), (x,), getattr(np, name))


@pytest.mark.sampled(30)
@pytest.mark.parametrize("name", [n for n in dir(math) if hasattr(getattr(math, n), "of_tensors")])
def test_a_function_is_that_of_tensors(name: str) -> None:
    """Each elementwise function gives what the function of tensors gives at the same elements."""
    own = getattr(math, name)
    plain = (
        next(getattr(m, name) for m in (ot, arrays, special) if name in dir(m))
        if name != "identity"
        else ot.tensor_copy
    )
    rng = np.random.default_rng(1)
    values = [rng.uniform(0.2, 0.9, n) for n in (3, 2, 4, 3)]
    for kinds in ("float64", "int64", "bool"):
        for count in (1, 2, 3, 4):
            own_args = [
                as_xtensor(v.astype(kinds), dims=d)
                for v, d in zip(values[:count], "abcd", strict=False)
            ]
            flat = [
                ot.constant(v.astype(kinds).reshape([-1 if i == j else 1 for j in range(count)]))
                for i, v in enumerate(values[:count])
            ]
            try:
                expected = plain(*flat)
            except (TypeError, ValueError):
                continue
            found = own(*own_args)
            if isinstance(found, tuple):
                found, expected = found[0], expected[0]
            assert found.dims == tuple("abcd"[:count])
            np.testing.assert_array_equal(evaluated(found, {}), evaluate(expected, {}))
            return
    raise AssertionError(f"{name} takes neither one, two, three nor four arguments")


def test_numbers_and_scalars() -> None:
    x = array("ab", "float32")
    for number in (2, 2.5, np.float32(2.5), np.asarray(2.5, "float32")):
        compare(lambda x, n=number: x * n, (x,), rtol=1e-6)
    scalar = ot.dscalar("s")
    made = xtensor("x", dims=("a",)) * scalar
    assert made.dims == ("a",)
    assert (scalar * xtensor("x", dims=())).ndim == 0
    assert math.exp(2.0).dims == ()


def test_arrays_of_xarray_are_constants() -> None:
    x = xtensor("x", dims=("a", "b"))
    weights = array("bc", seed=3)
    made = x * weights
    assert made.dims == ("a", "b", "c")
    value = array("ab")
    np.testing.assert_allclose(evaluated(made, {x: value.values}), (value * weights).values)
    assert (as_xtensor(weights) * x).dims == ("b", "c", "a")
    with pytest.raises(NotImplementedError, match="coordinates"):
        weights * x  # xarray takes its operators for its own arrays


def test_a_length_of_one_does_not_broadcast() -> None:
    one, many = xtensor("one", dims="a", shape=(1,)), xtensor("many", dims="a", shape=(3,))
    with pytest.raises(
        ValueError, match=r"Dimension 'a' has length 1 in one \(float64, a: 1\) and 3 in many"
    ):
        one + many
    free = xtensor("free", dims="a")
    for made in (one + free, free + one):
        assert made.type.shape == (1,)
        assert evaluated(made, {one: [1.0], free: [2.0]}) == [3.0]
        with pytest.raises((ValueError, AssertionError)):
            evaluated(made, {one: np.ones(1), free: np.ones(3)})
    other = xtensor("other", dims="a")
    with pytest.raises(ValueError, match="mismatch"):
        evaluated(free + other, {free: np.ones(1), other: np.ones(3)})


def test_errors_name_both_tensors() -> None:
    x = xtensor("x", dims=("a", "b"), shape=(2, 3))
    y = xtensor("y", dims=("b", "c"), shape=(4, None))
    with pytest.raises(
        ValueError, match=r"Dimension 'b' has length 3 in x .* and 4 in y \(float64, b: 4, c: \?\)"
    ):
        x * y
    with pytest.raises(ValueError, match=r"Dimension 'b' has length 3 in x > 0.* and 4 in y"):
        math.where(x > 0, x, y)
    for wrong in (np.ones(3), dvector("v"), [1.0, 2.0]):
        with pytest.raises(TypeError, match="needs the names of its dimensions"):
            x + wrong
        with pytest.raises(TypeError, match="name"):
            wrong + x  # type: ignore[operator]
    for call in (lambda: ot.exp(x), lambda: dvector("v") * x, lambda: ot.stack([x, x])):
        with pytest.raises(TypeError, match=r"x \(float64, a: 2, b: 3\) has named dimensions"):
            call()
    with pytest.raises(TypeError):
        np.exp(x)  # type: ignore[call-overload]


def test_where_and_missing_values() -> None:
    x, y = array("ab"), array("ba", seed=1)
    x.values[0, 1] = np.nan
    condition = array("b", "bool")
    compare(lambda c, x, y: x.where(c, y), (condition, x, y))
    compare(lambda c, x: x.where(c), (condition, x))
    compare(lambda c, x: x.where(c > 0), (condition, x))
    compare(lambda x: x.fillna(0.5), (x,))
    compare(lambda x: x.isnull(), (x,))
    compare(lambda x: x.notnull(), (x,))
    compare(math.where, (condition, x, y), xr.where)
    compare(lambda x: x.clip(-0.5, 0.5), (x,))
    compare(lambda x: x.clip(min=0.0), (x,))
    with pytest.raises(NotImplementedError, match="drop=True"):
        xtensor("x", dims="a").where(True, drop=True)


@pytest.mark.parametrize("dim", ["b", ("a", "c"), None, ...], ids=str)
def test_softmax_and_logsumexp(dim: Any) -> None:
    x = array("abc") * 300
    names = list(x.dims) if dim in (None, ...) else dim
    largest = x.max(names)
    shifted = np.exp(x - largest)
    compare(lambda x: math.softmax(x, dim), (x,), lambda _: shifted / shifted.sum(names), rtol=1e-9)
    total = np.log(shifted.sum(names)) + largest
    compare(lambda x: math.logsumexp(x, dim), (x,), lambda _: total, rtol=1e-9)


def test_cast() -> None:
    x = array("ab") * 5
    compare(lambda x: x.astype("int32"), (x,))
    compare(lambda x: math.cast(x, "float32"), (x,), lambda x: x.astype("float32"))
    assert LENGTHS["e"] == 0
