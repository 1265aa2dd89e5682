"""Schur decompositions, of one matrix and of pairs, and the equations that are solved by them: as SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import MethodNotDefined
from occelo_graph.interpret import evaluate
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_linalg import functions as ol

npl: Any = np.linalg
spl: Any = scipy.linalg
DTYPES = ["float32", "float64", "complex64", "complex128", "int64"]


def draw(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    made: Any = 3 * rng.standard_normal(shape)
    if dtype.startswith("complex"):
        made = made + 3j * rng.standard_normal(shape)
    return made.round().astype(dtype) if dtype == "int64" else made.astype(dtype)


def run(function: Callable[..., Any], *arrays: Any) -> list[Any]:
    inputs = [og.TensorType(a.dtype.name, (None,) * a.ndim)() for a in arrays]
    made = function(*inputs)
    given = dict(zip(inputs, arrays, strict=True))
    return [evaluate(v, given) for v in (made if isinstance(made, tuple) else [made])]


def agree(found: Any, expected: Any, tolerance: float = 1e-9) -> None:
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    tolerance = 1e-3 if expected.dtype in ("float32", "complex64") else tolerance
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 4])
def test_values_are_those_of_scipy(n: int, dtype: str) -> None:
    a, b = draw((n, n), dtype), draw((n, n), dtype, 1)
    for output in ("real", "complex"):
        for sort in (None, "lhp", "rhp", "iuc", "ouc"):
            made = run(lambda x, o=output, s=sort: ol.schur(x, o, s), a)
            for found, expected in zip(made, spl.schur(a, output, sort=sort), strict=True):
                agree(found, expected)
            if sort is not None:
                made = run(lambda x, y, o=output, s=sort: ol.ordqz(x, y, s, o), a, b)
                for found, expected in zip(made, spl.ordqz(a, b, sort, output), strict=True):
                    agree(found, expected)
        made = run(lambda x, y, o=output: ol.qz(x, y, o), a, b)
        for found, expected in zip(made, spl.qz(a, b, output), strict=True):
            agree(found, expected)


def test_batches_are_loops_over_their_elements() -> None:
    a, b = draw((2, 1, 3, 3)), draw((3, 3), seed=1)
    for function, arrays in (
        (ol.schur, [a]),
        (lambda x: ol.schur(x, sort="rhp"), [a]),
        (ol.qz, [a, b]),
        (ol.ordqz, [a, b]),
    ):
        made = run(function, *arrays)
        for i in range(2):
            each = run(function, a[i, 0], *arrays[1:])
            for found, expected in zip(made, each, strict=True):
                np.testing.assert_array_equal(found[i, 0], expected)
    for n, lead in ((0, 2), (3, 0)):
        for found in run(ol.ordqz, np.zeros((lead, n, n)), np.zeros((n, n))):
            assert found.shape[:2] == (lead, n)
        for found in run(ol.schur, np.zeros((lead, n, n))):
            assert found.shape == (lead, n, n)


def test_what_is_not_finite_is_an_error() -> None:
    bad = np.stack([np.eye(2), np.full((2, 2), np.nan)])
    for function in (ol.schur, lambda x, **k: ol.schur(x, sort="lhp", **k)):
        with pytest.raises(
            npl.LinAlgError, match=r"schur: .*infs or NaNs, at index 1 of the batch"
        ):
            run(function, bad)
        form, unitary, *count = run(lambda x, f=function: f(x, on_error="nan"), bad)
        assert np.isnan(form[1]).all()
        assert np.isnan(unitary[1]).all()
        np.testing.assert_array_equal(form[0], np.eye(2))
        assert all(c[1] == 0 for c in count)
    for function in (ol.qz, ol.ordqz):
        with pytest.raises(npl.LinAlgError, match=r"qz: .*infs or NaNs, at index 1 of the batch"):
            run(function, np.eye(2), bad)


def test_arguments_that_mean_nothing_are_errors() -> None:
    x = ot.dmatrix()
    for call in (
        lambda: ol.schur(x, "imaginary"),
        lambda: ol.schur(x, sort="left"),
        lambda: ol.ordqz(x, x, "left"),
        lambda: ol.qz(x, x, "imaginary"),
        lambda: ol.schur(ot.tensor(dtype="float64", shape=(2, 3))),
        lambda: ol.qz(ot.tensor(dtype="float64", shape=(2, 2)), np.eye(3)),
    ):
        with pytest.raises(ValueError, match=r"must be|square"):
            call()
    with pytest.raises(TypeError, match="float16"):
        ol.schur(ot.tensor(dtype="float16", shape=(2, 2)))
    for result in (ol.schur(x)[0], ol.qz(x, x)[2]):
        with pytest.raises(MethodNotDefined, match="has no gradient"):
            og.grad(result.sum(), x)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_equations_by_schur_forms(dtype: str) -> None:
    a, b, q = draw((2, 4, 4), dtype), draw((3, 3), dtype, 1), draw((4, 3), dtype, 2)
    (x,) = run(ol.solve_sylvester, a, b, q)
    np.testing.assert_allclose(a @ x + x @ b, np.stack([q, q]), atol=1e-10)
    (x,) = run(ol.solve_continuous_lyapunov, a, a[0])
    turned = a.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(a @ x + x @ turned, np.stack([a[0]] * 2), atol=1e-10)
    # compiled code runs the decompositions
    for method in (None, "direct", "bilinear"):
        for n in (3, 11):
            c, right = draw((2, n, n), dtype) * 0.05, draw((n, n), dtype, 1)
            types = [og.TensorType(dtype, (None, n, n)), og.TensorType(dtype, (n, n))]
            node = ol.solve_discrete_lyapunov(*(t() for t in types), method).owner
            kernel = decomposed_kernel(node)
            assert kernel is not None
            (x,) = kernel(c, right)
            np.testing.assert_allclose(x, c @ x @ c.conj().swapaxes(-1, -2) + right, atol=1e-10)


def test_equations_without_a_single_solution_are_perturbed() -> None:
    # a large solution needs a scale below 1, by which it is divided
    found = run(ol.solve_sylvester, np.diag([1.0, 2.0]), np.diag([-1.0, 3.0]), np.ones((2, 2)))[0]
    assert abs(found[0, 0]) > 1e10
    np.testing.assert_allclose(found[1], [1.0, 0.2])
    huge, tiny = np.array([[1e200]]), np.array([[1e-100]])
    np.testing.assert_allclose(run(ol.solve_sylvester, tiny, tiny, huge)[0], huge / 2e-100)


def test_gradients_of_equations() -> None:
    a, q = draw((3, 3)) + 5 * np.eye(3), draw((3, 3), seed=1)
    og.verify_grad(ol.solve_continuous_lyapunov, [a, q])
    og.verify_grad(lambda x: og.grad(ol.solve_continuous_lyapunov(x, q).prod(), x), [a / 3])
    z = draw((3, 3), "complex128")

    def by_parts(u: Any, v: Any) -> Any:
        w = u + 1j * v
        made = ol.solve_continuous_lyapunov(w + 9 * np.eye(3), z)
        return ot.stack([made.real, made.imag])

    og.verify_grad(by_parts, [z.real.copy(), z.imag.copy()])
