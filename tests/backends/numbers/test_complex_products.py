"""Products, running products, recurrences and signs of complex numbers in compiled code, and their derivatives."""

from __future__ import annotations

import importlib.util
import itertools
from typing import Any

import numpy as np
import pytest

import occelo as oc
import occelo.tensor as ot

COMPILED = ["native", "c"]
if importlib.util.find_spec("numba"):
    COMPILED.append("numba")
DTYPES = ["complex64", "complex128"]
AXES: list[Any] = [None, 0, 1, 2, -1, (0, 2), (1, 2), (0, 1), ()]
LENGTHS = ((2, 3, 4), (1, 3, 1), (0, 2, 3), (2, 0, 2), (3, 1, 9))


def drawn(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def close(found: Any, expected: Any, count: int) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    room = 4 * (count + 1) * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=room, atol=room)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", COMPILED)
@pytest.mark.parametrize("keepdims", [False, True])
def test_products_are_those_of_numpy(backend: str, dtype: str, keepdims: bool) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    made = [ot.prod(x, axis=axis, keepdims=keepdims) for axis in AXES]
    assert oc.supports(backend, made) == []
    f = oc.function([x], made, mode=backend)
    for shape in LENGTHS:
        for given in (drawn(shape, dtype), drawn(shape[::-1], dtype).T, drawn(shape, dtype)[::-1]):
            for axis, found in zip(AXES, f(given), strict=True):
                expected = np.asarray(np.prod(given, axis=axis, keepdims=keepdims))
                close(found, expected, given.size)


@pytest.mark.parametrize("backend", COMPILED)
def test_products_in_another_dtype(backend: str) -> None:
    x, z = ot.fvector("x"), ot.cvector("z")
    made = [ot.prod(z, dtype="complex128"), ot.prod(x, dtype="complex64")]
    made += [ot.sum(x, dtype="complex128"), ot.prod(z, acc_dtype="complex128")]
    f = oc.function([x, z], made, mode=backend)
    given = drawn((7,), "complex64")
    found = f(given.real, given)
    close(found[0], np.asarray(np.prod(given, dtype="complex128")), 7)
    close(found[1], np.asarray(np.prod(given.real, dtype="complex64")), 7)
    close(found[2], np.asarray(np.sum(given.real, dtype="complex128")), 7)
    close(found[3], np.asarray(np.prod(given.astype("complex128")).astype("complex64")), 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", COMPILED)
def test_running_products_are_those_of_numpy(backend: str, dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    axes = (None, 0, 1, 2)
    made = [ot.cumprod(x, axis=axis) for axis in axes]
    assert oc.supports(backend, made) == []
    f = oc.function([x], made, mode=backend)
    for shape in LENGTHS:
        for given in (drawn(shape, dtype), drawn(shape[::-1], dtype).T, drawn(shape, dtype)[::-1]):
            for axis, found in zip(axes, f(given), strict=True):
                close(found, np.cumprod(given, axis=axis), given.size)


@pytest.mark.parametrize("backend", COMPILED)
def test_infinite_factors_give_what_numpy_gives(backend: str) -> None:
    z = ot.zmatrix("z")
    f = oc.function([z], [ot.prod(z, axis=1), ot.cumprod(z, axis=1)], mode=backend)
    ends = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 3.0]
    numbers = [complex(a, b) for a, b in itertools.product(ends, repeat=2)]
    given = np.array(list(itertools.product(numbers, repeat=2)))
    with np.errstate(all="ignore"):
        expected = [np.prod(given, axis=1), np.cumprod(given, axis=1)]
    for found, wanted in zip(f(given), expected, strict=True):
        for part, own in ((found.real, wanted.real), (found.imag, wanted.imag)):
            np.testing.assert_array_equal(part, own)


@pytest.mark.parametrize("backend", [*COMPILED, "py"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_have_length_one(backend: str, dtype: str) -> None:
    z = ot.tensor("z", dtype=dtype, shape=(None,))
    made = ot.sgn(z)
    if backend != "py":
        assert oc.supports(backend, made) == []
    f = oc.function([z], made, mode=backend)
    big = float(np.finfo(dtype).max) / 4
    inf, nan = np.inf, np.nan
    given = [0, 1 + 1j, complex(inf, 0), complex(inf, 1), complex(-3, -inf), complex(inf, inf)]
    given += [complex(nan, 1), complex(big, -big), -2, -3j, 1e-30 + 1e-30j, complex(1, nan)]
    z0 = np.array(given, dtype)
    with np.errstate(all="ignore"):
        expected = np.sign(z0)
    np.testing.assert_allclose(f(z0), expected, rtol=4 * np.finfo(dtype).eps)
    assert f(np.zeros(0, dtype)).shape == (0,)
    assert f(z0[1:2]).shape == (1,)
    if dtype == "complex128" and backend != "py":
        # NumPy loses digits of the smallest numbers
        tiny, huge = 1e-310 * (3 + 4j), np.finfo("float64").max * (1 + 1j)
        found = f(np.array([tiny, huge, 5e-324]))
        np.testing.assert_allclose(found[0], 0.6 + 0.8j, rtol=1e-13)
        np.testing.assert_allclose(found[1:], [np.sqrt(0.5) * (1 + 1j), 1], rtol=1e-15)


def _slopes(function: Any, z: Any, step: float = 1e-6) -> Any:
    """The derivatives of a real function by the parts of each element, as a + ib."""
    found = np.zeros_like(z)
    for at in np.ndindex(z.shape):
        for direction in (1, 1j):
            move = np.zeros_like(z)
            move[at] = direction * step
            found[at] += direction * (function(z + move) - function(z - move)) / (2 * step)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", [*COMPILED, "py"])
def test_gradients(backend: str) -> None:
    z = ot.zmatrix("z")
    weight = drawn((2, 3), "complex128", 1)
    cases: list[tuple[Any, Any]] = [
        (lambda x, lib: lib.prod(x, axis=1) * weight[:, 0], "prod"),
        (lambda x, lib: lib.cumprod(x, axis=1) * weight, "cumprod"),
        (lambda x, lib: lib.sign(x) * weight, "sign"),
    ]
    given = drawn((2, 3), "complex128", 2)
    with_zero = given.copy()
    with_zero[0, 1] = 0
    for build, name in cases:
        cost = build(z, ot).real.sum()
        slope = oc.grad(cost, z)
        assert backend == "py" or oc.supports(backend, slope) == []
        f = oc.function([z], slope, mode=backend)
        for at in (given,) if name == "sign" else (given, with_zero, given[:, :1] * np.ones(3)):
            expected = _slopes(lambda v: float(np.real(build(v, np)).sum()), at)  # noqa: B023
            np.testing.assert_allclose(f(at), expected, rtol=1e-7, atol=1e-7)
    # second derivatives
    direction = drawn((2, 3), "complex128", 3)
    for build, name in cases:
        slope = oc.grad(build(z, ot).real.sum(), z)
        along = (slope * direction).real.sum()
        f = oc.function([z], [along, oc.grad(along, z)], mode=backend)
        expected = _slopes(lambda v: float(f(v)[0]), given)  # noqa: B023
        np.testing.assert_allclose(f(given)[1], expected, rtol=1e-6, atol=1e-6, err_msg=name)
    assert oc.function([z], oc.grad(ot.sgn(z).real.sum(), z), mode=backend)([[0]]) == 0


@pytest.mark.parametrize("backend", COMPILED)
def test_gradients_of_determinants_are_compiled(backend: str) -> None:
    z = ot.ztensor3("z")
    slope = oc.grad(abs(ot.linalg.det(z)).sum(), z)
    assert oc.supports(backend, slope) == []
    given = drawn((3, 4, 4), "complex128")
    found = oc.function([z], slope, mode=backend)(given)
    sizes = np.abs(np.linalg.det(given))[:, None, None]
    np.testing.assert_allclose(found, sizes * np.linalg.inv(given).conj().swapaxes(-1, -2))
