"""Pseudoinverses, least squares, ranks, condition numbers, norms and eigenvalues: as NumPy's, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_linalg import functions as linalg
from occelo_linalg import functions as ol

npl: Any = np.linalg
DTYPES = ["float32", "float64", "complex128", "int64"]
SHAPES = [(3, 3), (4, 2), (2, 4), (1, 1), (2, 3, 2), (2, 1, 3, 3), (0, 2, 3)]


def draw(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0, rank: int = 9) -> Any:
    """Random matrices of at most the given rank."""
    rng = np.random.default_rng([seed, *shape])
    left = rng.standard_normal((*shape[:-1], min(rank, *shape[-2:])))
    made: Any = left @ rng.standard_normal((*shape[:-2], left.shape[-1], shape[-1]))
    if dtype.startswith("complex"):
        made = made + 1j * left @ rng.standard_normal((*shape[:-2], left.shape[-1], shape[-1]))
    return (made * 3).round().astype(dtype) if dtype == "int64" else made.astype(dtype)


def run(function: Callable[..., Any], *arrays: Any) -> Any:
    inputs = [og.TensorType(a.dtype.name, (None,) * a.ndim)() for a in arrays]
    made = function(*inputs)
    given = dict(zip(inputs, arrays, strict=True))
    return [evaluate(v, given) for v in made] if isinstance(made, tuple) else evaluate(made, given)


def agree(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = 1e-3 if expected.dtype in ("float32", "complex64") else tolerance
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [1, 9])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_are_those_of_numpy(shape: tuple[int, ...], rank: int, dtype: str) -> None:
    x = draw(shape, dtype, rank=rank)
    agree(run(lambda v: ol.pinv(v, 1e-4), x), npl.pinv(x, 1e-4))
    agree(run(lambda v: ol.pinv(v, rtol=1e-4), x), npl.pinv(x, rtol=1e-4))
    agree(run(lambda v: ol.matrix_rank(v, rtol=1e-4), x), npl.matrix_rank(x, rtol=1e-4))
    agree(run(lambda v: ol.matrix_rank(v, 0.5), x), npl.matrix_rank(x, 0.5))
    for order in (2, -2, "nuc"):
        for axis in ((-2, -1), (-1, -2)):
            for keep in (False, True):
                made = run(lambda v, o=order, a=axis, k=keep: linalg.norm(v, o, a, k), x)
                agree(made, npl.norm(x, order, axis, keep))
    if rank == 9:
        agree(run(ol.matrix_rank, x), npl.matrix_rank(x))
        agree(run(ol.pinv, x), npl.pinv(x))
        agree(run(ol.cond, x), npl.cond(x), 1e-7)
        if shape[-1] == shape[-2]:
            # NumPy finds no nuclear norm of what a singular matrix has as its inverse
            rest = () if dtype == "int64" else ("nuc",)
            for p in (1, -1, np.inf, "fro", 2, -2, *rest):
                # of complex matrices NumPy 2.0 has complex ones for some p
                agree(run(lambda v, p=p: ol.cond(v, p), x), np.real(npl.cond(x, p)), 1e-7)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("static", [True, False])
def test_norms_of_nothing_are_zero(shape: tuple[int, int], static: bool) -> None:
    x = ot.tensor("x", dtype="float64", shape=shape if static else (None, None))
    for order in (None, "fro", "nuc", 1, 2, np.inf):
        for keep in (False, True):
            found = evaluate(linalg.norm(x, order, (0, 1), keep), {x: np.zeros(shape)})
            np.testing.assert_array_equal(found, np.zeros((1, 1) if keep else ()), strict=True)
    v = ot.tensor("v", dtype="float64", shape=(0,) if static else (None,))
    for order in (None, 0, 1, 2, 3, np.inf):
        assert evaluate(linalg.norm(v, order), {v: np.zeros(0)}) == 0
    slope = og.grad(linalg.norm(x, np.inf, (0, 1)), x)
    assert evaluate(slope, {x: np.zeros(shape)}).shape == shape
    with pytest.raises(ValueError, match=r"zero-size|no elements"):
        evaluate(linalg.norm(v, -np.inf), {v: np.zeros(0)})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rank", [1, 9])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (1, 1), (0, 2), (3, 0)], ids=str)
def test_least_squares_are_those_of_numpy(shape: tuple[int, int], rank: int, dtype: str) -> None:
    a = draw(shape, dtype, rank=rank) if 0 not in shape else np.zeros(shape, dtype)
    for b in (draw((shape[0], 2), dtype, 1), draw((shape[0], 1), dtype, 2)[:, 0]):
        for rcond in (1e-4, None if rank == 9 else 1e-3):
            found = run(lambda x, y, r=rcond: ol.lstsq(x, y, r), a, b)
            x, residuals, count, values = npl.lstsq(a, b, rcond)
            agree(found[0], x)
            agree(found[1], residuals)
            assert found[2] == count
            agree(found[3], values)


@pytest.mark.parametrize("rcond", [-1, 0, 1e-20, 0.5, 0.7, 1, 2, -1.0, 1.0])
@pytest.mark.parametrize("symbolic", [False, True])
def test_tolerances_of_least_squares_are_those_of_lapack(rcond: float, symbolic: bool) -> None:
    a, b = np.diag([3.0, 2.0, 1e-17]), np.array([1.0, 2.0, 1e-17])
    if symbolic:
        found = run(ol.lstsq, a, b, np.asarray(rcond))
    else:
        found = run(lambda x, y: ol.lstsq(x, y, rcond), a, b)
    for r, e in zip(found, npl.lstsq(a, b, rcond), strict=True):
        np.testing.assert_allclose(r, e, rtol=1e-9, atol=1e-12)


def test_batches_of_least_squares() -> None:
    a, b = draw((2, 4, 2)), draw((2, 4, 3), seed=1)
    found = run(ol.lstsq, a, b)
    for k in range(2):
        for r, e in zip(found, npl.lstsq(a[k], b[k], None), strict=True):
            np.testing.assert_allclose(r[k], e, rtol=1e-9)


def test_condition_numbers_of_singular_matrices_and_ranks_of_vectors() -> None:
    x = np.array([[[1.0, 2.0], [2.0, 4.0]], [[1.0, np.nan], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]])
    assert run(lambda v: ol.cond(v, "nuc"), x[0]) == np.inf
    for p in (1, "fro"):
        np.testing.assert_array_equal(run(lambda v, p=p: ol.cond(v, p), x), npl.cond(x, p))
    assert run(ol.matrix_rank, np.zeros(3)) == 0
    assert run(ol.matrix_rank, np.ones(3)) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (0, 0), (1, 1), (2, 3, 3)], ids=str)
def test_eigenvalues_are_those_of_numpy_as_complex_numbers(
    shape: tuple[int, ...], dtype: str
) -> None:
    x = draw(shape, dtype) if x_has_elements(shape) else np.zeros(shape, dtype)
    values, vectors = run(ol.eig, x)
    expected = npl.eig(x)
    kind = np.result_type(dtype, np.complex64)
    agree(values, expected.eigenvalues.astype(kind))
    agree(vectors, expected.eigenvectors.astype(kind))
    agree(run(ol.eigvals, x), npl.eigvals(x).astype(kind))


def x_has_elements(shape: tuple[int, ...]) -> bool:
    return 0 not in shape


def turned(x: Any) -> Any:
    return x.conj().swapaxes(-1, -2)


RIGHT = draw((3, 2), seed=5)
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], list[tuple[int, ...]]]] = {
    "pinv": (ol.pinv, [(3, 2), (2, 3), (2, 2, 2)]),
    "lstsq": (lambda x: ol.lstsq(x, RIGHT)[0], [(3, 2), (3, 4)]),
    "residuals": (lambda x: ol.lstsq(x, RIGHT)[1], [(3, 2)]),
    "cond": (ol.cond, [(3, 2)]),
    "norm": (lambda x: ot.stack([linalg.norm(x, p) for p in (2, -2, "nuc")]), [(3, 2), (2, 3)]),
    "eigvals": (lambda x: ot.exp(ol.eigvals(x)).sum(), [(3, 3)]),
    "eig": (lambda x: abs(ol.eig(x)[1]) ** 2 @ np.arange(3.0), [(3, 3)]),
}
CASES = [(name, shape) for name, (_, shapes) in FUNCTIONS.items() for shape in shapes]


@pytest.mark.sampled(7)
@pytest.mark.parametrize("complex_", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize(("name", "shape"), CASES, ids=str)
def test_gradients_of_first_and_second_order(
    name: str, shape: tuple[int, ...], complex_: bool
) -> None:
    function = FUNCTIONS[name][0]

    def parts(*given: Any) -> Any:
        made = function(given[0] + 1j * given[1] if complex_ else given[0])
        return ot.stack([made.real, made.imag]) if made.dtype.startswith("complex") else made

    def derivative(*given: Any) -> Any:
        return og.grad(ot.sin(parts(*given)).sum(), given[0])

    points = [draw(shape, seed=7), draw(shape, seed=8)][: 2 if complex_ else 1]
    rng = np.random.default_rng(4)
    og.verify_grad(parts, points, n_tests=1, rng=rng)
    og.verify_grad(derivative, points, n_tests=1, rng=rng, rel_tol=2e-3, abs_tol=2e-3)


def test_gradient_of_a_pseudoinverse_is_right_among_matrices_of_one_rank() -> None:
    left, right = draw((4, 2), seed=9), draw((2, 3), seed=10)
    og.verify_grad(lambda x, y: ol.pinv(x @ y, 1e-8), [left, right], n_tests=1)
    og.verify_grad(lambda x, y: ol.lstsq(x @ y, np.eye(4), 1e-8)[0], [left, right], n_tests=1)
    # singular values are equal
    og.verify_grad(ol.pinv, [np.eye(3)], n_tests=1)


@pytest.mark.parametrize("p", [None, -2, 1, -np.inf, "fro", "nuc"])
def test_matrices_without_elements_have_no_condition(p: Any) -> None:
    for static in ((2, 0, 0), (None, None, None), (None, None, 0)):
        x = ot.TensorType("float64", static)()
        with pytest.raises(npl.LinAlgError, match="cond is not defined"):
            og.evaluate(ol.cond(x, p), {x: np.zeros((2, 0, 0))})
    none = ot.TensorType("float64", (None, None, None))()
    assert og.evaluate(ol.cond(none, p), {none: np.zeros((0, 2, 2))}).shape == (0,)


@pytest.mark.parametrize("order", [None, 3])
def test_norms_of_zeros_have_the_subgradient_zero(order: int | None) -> None:
    v = ot.dvector("v")
    norm = ol.norm(v, order)
    outputs = [norm, og.grad(norm, v), og.pushforward(norm, v, ot.ones_like(v))]
    for mode in ("FAST_RUN", "FAST_COMPILE", "vm"):
        value, gradient, tangent = function([v], outputs, mode=mode)(np.zeros(3))
        assert value == tangent == 0
        np.testing.assert_array_equal(gradient, 0)
