"""Functions of empty, zero, infinite and NaN matrices, of known and unknown lengths, against NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_linalg import functions as ol

SHAPES = ((1, 1), (1, 3), (3, 1), (2, 2))


@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, "fro", np.inf])
def test_cond_where_nothing_can_be_divided(p: Any, mode: str) -> None:
    for shape in SHAPES:
        if p not in (None, 2, -2) and shape[0] != shape[1]:
            continue
        for static in {shape, (None, None), (shape[0], None)}:
            x = ot.TensorType("float64", static).make_variable("x")
            cond = oc.function([x], ol.cond(x, p), mode=mode)
            for number in (0.0, np.inf, 2.0):
                value = np.full(shape, number) if shape != (2, 2) else np.diag([number, 3.0])
                np.testing.assert_allclose(
                    cond(value), np.linalg.cond(value, p), err_msg=f"{value}"
                )
            # NumPy raises or returns NaN, as its version decides
            assert np.isnan(cond(np.full(shape, np.nan)))


INFINITE = ([[np.inf]], [[-np.inf]], [[np.nan]], [[np.inf, 0], [0, 1]], [[-np.inf, 0], [0, np.inf]])
NOT_DIAGONAL = ([[np.inf, 1], [0, 2]], [[0, np.inf], [0, 0]], [[1, 0], [np.nan, 1]])
EXPM = [
    ("py", "complex128"),
    *(("native", dtype) for dtype in ("float32", "float64", "complex128")),
    ("c", "float64"),
    ("jax", "float64"),
]


@pytest.mark.parametrize(("mode", "dtype"), EXPM)
def test_expm_of_infinite_matrices(mode: str, dtype: str) -> None:
    """SciPy's value for diagonal matrices; NaN for others, where SciPy has NaN and zeros of triangular matrices."""
    if mode == "jax":
        pytest.importorskip("jax")
    scipy_linalg = pytest.importorskip("scipy.linalg")
    x = ot.TensorType(dtype, (None, None)).make_variable("x")
    expm = oc.function([x], ol.expm(x), mode=mode)
    with np.errstate(all="ignore"):
        for matrix in INFINITE:
            value = np.array(matrix, dtype)
            np.testing.assert_allclose(expm(value), scipy_linalg.expm(value), rtol=1e-6)
        for matrix in NOT_DIAGONAL:
            value = np.array(matrix, dtype)
            assert np.isnan(scipy_linalg.expm(value)).any()
            assert np.isnan(expm(value)).all()
    batch = np.array([INFINITE[3], [[0, 1], [0, 0]], NOT_DIAGONAL[0]], dtype)
    y = ot.TensorType(dtype, (None,) * 3).make_variable("y")
    if mode != "jax":
        first, second, third = oc.function([y], ol.expm(y), mode=mode)(batch)
        np.testing.assert_allclose(first, [[np.inf, 0], [0, np.exp(1)]], rtol=1e-6)
        np.testing.assert_allclose(second, [[1, 1], [0, 1]])
        assert np.isnan(third).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("mode", ["native", "c", "py"])
def test_quotients_by_diagonals_are_those_of_complex_numbers(mode: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    draws = (10.0 ** rng.uniform(-8, 8, (2, 40)) * rng.choice([-1, 1], (2, 40)) for _ in range(2))
    (re, im), (by_re, by_im) = draws
    b, d = (np.asarray(x, dtype) for x in (re + 1j * im, by_re + 1j * by_im))
    x, y = (ot.tensor(dtype=dtype, shape=s) for s in ((None, None), (None,)))
    solved = ol.solve(x, y, assume_a="diagonal")
    made = oc.function([x, y], solved, mode=mode)(np.diag(d), b)
    assert made.tobytes() == (b / d).tobytes()


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_complex_toeplitz_matrices_near_the_ends_of_the_range(scale: float) -> None:
    c, b = (ot.tensor(dtype="complex128", shape=(None,)) for _ in range(2))
    solve = oc.function([c, b], ol.solve_toeplitz(c, b))
    column, right = np.array([3 + 1j, 1, 0.5j]), np.array([1, 2j, 3])
    np.testing.assert_allclose(solve(scale * column, scale * right), solve(column, right))
