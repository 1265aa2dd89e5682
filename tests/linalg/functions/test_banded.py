"""Equations with banded, Toeplitz and factored matrices against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_graph import grad, verify_grad
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_linalg import functions as linalg

sl = pytest.importorskip("scipy.linalg", reason="the interpreter solves banded equations by SciPy")


def drawn(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    real = rng.uniform(-1, 1, shape)
    return (real + 1j * rng.uniform(-1, 1, shape) if dtype.startswith("c") else real).astype(dtype)


def run(function: Callable[..., Any], *arrays: Any) -> Any:
    inputs = [ot.tensor(dtype=a.dtype.name, shape=a.shape) for a in arrays]
    return evaluate([function(*inputs)], dict(zip(inputs, arrays, strict=True)))[0]


def whole(bands: Any, upper: int) -> Any:
    """The matrix with these diagonals, element by element."""
    n = bands.shape[-1]
    full = np.zeros((n, n), bands.dtype)
    for j in range(n):
        for row in range(len(bands)):
            i = j + row - upper
            if 0 <= i < n:
                full[i, j] = bands[row, j]
    return full


def by_parts(function: Callable[[Any], Any]) -> Callable[..., Any]:
    def of_parts(re: Any, im: Any) -> Any:
        made = function(ot.complex(re, im))
        return made.real * 0.3 + made.imag * 0.7

    return of_parts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (1, 1), (2, 1), (0, 2), (3, 0)])
def test_banded_equations(lower: int, upper: int, dtype: str) -> None:
    for n in (0, 1, 2, 5):
        bands = drawn((lower + upper + 1, n), dtype)
        bands[upper] += 4
        for b in (drawn((n, 2), dtype, 1), drawn((n,), dtype, 2), drawn((2, n, 2), dtype, 3)):
            got = run(lambda a, y: linalg.solve_banded((lower, upper), a, y), bands, b)
            wanted = np.linalg.solve(whole(bands, upper), b)
            assert got.dtype == dtype
            np.testing.assert_allclose(got, wanted, rtol=1e-4 if dtype == "float32" else 1e-10)
        if n > 1 and dtype == "float64":
            columns = drawn((n, 2), seed=1)
            verify_grad(lambda a, y: linalg.solve_banded((lower, upper), a, y), [bands, columns])
        if n == 5 and dtype == "complex128":
            parts = [bands.real.copy(), bands.imag.copy()]
            verify_grad(
                by_parts(lambda a: linalg.solve_banded((lower, upper), a, np.ones((5, 2)))), parts
            )


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_positive_definite_banded_equations(dtype: str, lower: bool) -> None:
    for below in (0, 1, 2):
        for n in (1, 3, 5):
            bands = drawn((below + 1, n), dtype)
            bands[0 if lower else below] = 8
            half = whole(bands, 0 if lower else below)
            full = half + half.conj().T - np.diag(np.diag(half))
            b = drawn((2, n, 2), dtype, 1)
            got = run(lambda a, y, lower=lower: linalg.solveh_banded(a, y, lower), bands, b)
            np.testing.assert_allclose(got, np.linalg.solve(full, b), rtol=1e-10)
            if n == 3 and dtype == "float64":
                verify_grad(
                    lambda a, lower=lower: linalg.solveh_banded(a, np.ones((3, 1)), lower), [bands]
                )
            elif n == 3:
                verify_grad(
                    by_parts(lambda a: linalg.solveh_banded(a, np.ones((3, 1)), lower)),
                    [bands.real.copy(), bands.imag.copy()],
                )


def test_batches_of_bands_broadcast() -> None:
    bands, b = drawn((2, 3, 4)) + [[0], [4], [0]], drawn((3, 1, 4, 2), seed=1)
    got = run(lambda a, y: linalg.solve_banded((1, 1), a, y), bands, b)
    for index in np.ndindex(3, 2):
        wanted = sl.solve_banded((1, 1), bands[index[1]], b[index[0], 0])
        np.testing.assert_allclose(got[index], wanted)


def test_banded_matrices_that_fail() -> None:
    bands = np.zeros((2, 3, 3)) + [[0], [1], [0]]
    bands[1, 1, 2] = 0
    for function, reason in (
        (lambda a, **k: linalg.solve_banded((1, 1), a, np.ones((3, 1)), **k), "Singular matrix"),
        (
            lambda a, **k: linalg.solveh_banded(a[:, 1:], np.ones((3, 1)), True, **k),
            "Matrix is not positive definite",
        ),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=f"{reason}, at index 1 of the batch"):
            run(function, bands)
        found = run(lambda a, function=function: function(a, on_error="nan"), bands)
        assert np.isnan(found[1]).all()
        np.testing.assert_allclose(found[0], 1)
    x = ot.tensor(dtype="float64", shape=(2, 3))
    with pytest.raises(ValueError, match="takes 3 rows of diagonals, got 2"):
        linalg.solve_banded((1, 1), x, x.T)
    with pytest.raises(ValueError, match="must not be negative"):
        linalg.solve_banded((-1, 1), x, x.T)
    with pytest.raises(ValueError, match="at least one row"):
        linalg.solveh_banded(ot.matrix(), ot.matrix())


def test_toeplitz_equals_scipys() -> None:
    c, r = drawn((5,)) + [3, 0, 0, 0, 0], drawn((5,), seed=1)
    for m in (1, 2, 5):
        for n in (1, 3, 5):
            np.testing.assert_array_equal(
                run(linalg.toeplitz, c[:m], r[:n]), sl.toeplitz(c[:m], r[:n])
            )
    z = c + 1j
    np.testing.assert_array_equal(run(linalg.toeplitz, z), sl.toeplitz(z))
    whole_numbers = np.arange(4)
    found = run(linalg.toeplitz, whole_numbers)
    assert found.dtype == whole_numbers.dtype
    np.testing.assert_array_equal(found, sl.toeplitz(whole_numbers))
    stacked = run(linalg.toeplitz, np.stack([c, r]), r)
    np.testing.assert_array_equal(stacked, [sl.toeplitz(c, r), sl.toeplitz(r, r)])
    b = drawn((5, 2), seed=2)
    got = run(lambda x, y, z: linalg.solve_toeplitz((x, y), z), c, r, b)
    np.testing.assert_allclose(got, sl.solve_toeplitz((c, r), b))
    with pytest.raises(ValueError, match="vectors"):
        linalg.toeplitz(ot.scalar())


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_solving_with_cholesky_factors(dtype: str, lower: bool) -> None:
    a = drawn((2, 4, 4), dtype)
    a = a @ a.swapaxes(-1, -2).conj() + 3 * np.eye(4)

    def solving(x: Any, y: Any) -> Any:
        return linalg.cho_solve(linalg.cho_factor(x, lower), y)

    for b in (drawn((4,), dtype, 1), drawn((2, 4, 3), dtype, 2), drawn((3, 1, 4, 1), dtype, 3)):
        got = run(solving, a, b)
        np.testing.assert_allclose(got, np.linalg.solve(a, b), rtol=1e-9)
    factor = sl.cho_factor(a[0], lower)[0]  # with elements of a in the other triangle
    b = drawn((4, 2), dtype, 4)
    got = run(lambda x, y: linalg.cho_solve((x, lower), y), factor, b)
    np.testing.assert_allclose(got, sl.cho_solve((factor, lower), b))


def test_toeplitz_equations_over_batches_and_of_every_length() -> None:
    for dtype in ("float32", "complex128"):
        for n, k in ((1, 1), (2, 3), (3, 0), (0, 2), (9, 2)):
            c, r, b = (
                drawn(shape, dtype, seed) for seed, shape in enumerate([(2, 1, n), (3, n), (n, k)])
            )
            c[..., :1] += 5
            found = run(lambda x, y, z: linalg.solve_toeplitz((x, y), z), c, r, b)
            assert (found.dtype, found.shape) == (dtype, (2, 3, n, k))
            alone = run(linalg.solve_toeplitz, c, b)
            for i in range(2):
                for j in range(3):
                    matrix = sl.toeplitz(c[i, 0], r[j]) if n else np.zeros((0, 0))
                    np.testing.assert_allclose(matrix @ found[i, j], b, atol=1e-4)
                matrix = sl.toeplitz(c[i, 0]) if n else np.zeros((0, 0))
                np.testing.assert_allclose(matrix @ alone[i, 0], b, atol=1e-4)


def test_singular_leading_minors_are_errors_as_in_scipy() -> None:
    columns = np.array([[4.0, 1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError, match="principal minor, at index 1 of the batch"):
        run(linalg.solve_toeplitz, columns, np.ones(3))
    found = run(lambda c, b: linalg.solve_toeplitz(c, b, on_error="nan"), columns, np.ones(3))
    assert np.isnan(found[1:]).all()
    np.testing.assert_allclose(found[0], sl.solve_toeplitz(columns[0], np.ones(3)))
    with pytest.raises(ValueError, match=r"square|fit"):
        linalg.solve_toeplitz((np.ones(3), np.ones(2)), np.ones(3))
    with pytest.raises(ValueError, match=r"square|fit"):
        linalg.solve_toeplitz(np.ones(3), np.ones(2))


def test_gradients_of_toeplitz_equations() -> None:
    c, r, b = drawn((5,)), drawn((5,), seed=1), drawn((5, 2), seed=2)
    c[0] += 5

    def solved(x: Any, y: Any, z: Any) -> Any:
        return linalg.solve_toeplitz((x, y), z)

    verify_grad(solved, [c, r, b])
    verify_grad(lambda x, z: linalg.solve_toeplitz(x, z), [np.stack([c, 2 * c]), b])
    verify_grad(solved, [c[:1], r[:1], b[:1]])
    verify_grad(lambda x, y, z: grad((solved(x, y, z) ** 2).sum(), x), [c, r, b])

    def by_parts(u: Any, v: Any) -> Any:
        made = linalg.solve_toeplitz(u + 1j * v, b)
        return ot.stack([made.real, made.imag])

    verify_grad(by_parts, [c, r])
