"""Determinants of sparse matrices beside those of dense ones: values, gradients, second gradients, singular matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot
from occelo_sparse.ops import factors


def matrix(n: int, kind: str, dtype: str, format: str) -> Any:
    """A positive definite matrix, one that is symmetric and indefinite, or one that is neither."""
    rng = np.random.default_rng([n, len(kind)])
    dense: Any = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.3)
    if dtype.startswith("complex"):
        dense = dense * (1 + 0.5j)
    if kind == "general":
        dense += 2 * np.diag((-1.0) ** np.arange(n))
    else:
        dense = dense + dense.T.conj() + n * np.eye(n)
        if kind == "indefinite" and n > 1:
            dense[[0, 1], [0, 1]], dense[0, 1], dense[1, 0] = 0, 3, 3
    made: Any = sp.csr_matrix(dense)
    return made.astype(dtype).asformat(format)


def _inverse(dense: Any) -> Any:
    return np.asarray(np.linalg.inv(dense))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "complex64"])
@pytest.mark.parametrize("kind", ["definite", "indefinite", "general"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_signs_logarithms_and_gradients(format: str, kind: str, dtype: str, mode: str) -> None:
    A = sparse.matrix(format, dtype=dtype)
    sign, logarithm = sparse.slogdet(A)
    f = oc.function([A], [sign, logarithm, og.grad(logarithm, A)], mode=mode)
    tolerance = 2e-4 if dtype in ("float32", "complex64") else 1e-9
    for n in (0, 1, 2, 7, 20):
        value = matrix(n, kind, dtype, format)
        dense: Any = value.toarray()
        found: Any = f(value)
        for own, wanted in zip(found, np.linalg.slogdet(dense), strict=False):
            np.testing.assert_allclose(own, wanted, rtol=tolerance, atol=tolerance)
            assert own.dtype == wanted.dtype
        slope = _inverse(dense).T.conj() * (dense != 0)
        np.testing.assert_allclose(found[2].toarray(), slope, rtol=tolerance, atol=tolerance)


def test_the_sign_of_a_complex_determinant_has_a_gradient() -> None:
    value = matrix(5, "general", "complex128", "csc")
    structure = value.indices, value.indptr, (5, 5)

    def weighed(real: Any, imaginary: Any) -> Any:
        sign, logarithm = sparse.slogdet(sparse.CSC(ot.complex(real, imaginary), *structure))
        return ot.real(sign) + 2 * ot.imag(sign) + 3 * logarithm

    og.verify_grad(weighed, [value.data.real.copy(), value.data.imag.copy()])


@pytest.mark.parametrize("kind", ["definite", "general"])
def test_second_derivatives(kind: str) -> None:
    value = matrix(5, kind, "float64", "csr")

    def slope(values: Any) -> Any:
        made = sparse.CSR(values, value.indices, value.indptr, (5, 5))
        return og.grad(sparse.slogdet(made)[1], values)

    og.verify_grad(slope, [value.data])


def test_elements_in_any_order_and_several_for_a_place() -> None:
    parts = np.array([1.0, 1.0, 0.5, 5.0, 2.0]), np.array([1, 0, 1, 1, 0]), np.array([0, 3, 5])
    value: Any = sp.csc_matrix(parts, shape=(2, 2))
    A, b = sparse.csc_matrix(), ot.dvector()
    sign, logarithm = sparse.slogdet(A)
    f = oc.function([A, b], [sign, logarithm, og.grad(logarithm, A), sparse.spsolve(A, b)])
    made: Any = f(value, [1.0, 2.0])
    sign, logarithm, slope, solution = made
    dense: Any = value.toarray()
    inverse = _inverse(dense)
    np.testing.assert_allclose(sign * np.exp(logarithm), np.linalg.det(dense))
    np.testing.assert_allclose(slope.data, inverse.T[parts[1], [0, 0, 0, 1, 1]])
    np.testing.assert_allclose(dense @ solution, [1.0, 2.0])
    np.testing.assert_array_equal(value.indices, [1, 0, 1, 1, 0])


def test_singular_matrices() -> None:
    A = sparse.csr_matrix()
    sign, logarithm = sparse.slogdet(A)
    value: Any = sp.csr_matrix([[1.0, 2.0], [2.0, 4.0]])
    assert [float(v) for v in oc.function([A], [sign, logarithm])(value)] == [0.0, -np.inf]
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        oc.function([A], og.grad(logarithm, A))(value)


def test_a_matrix_is_factorized_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []

    class Counted(factors.Factors):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            made.append(self.definite)

    monkeypatch.setattr(factors, "Factors", Counted)
    A, b = sparse.csc_matrix(), ot.dvector()
    cost = sparse.slogdet(A)[1] - b @ sparse.spsolve(A, b)
    f = oc.function([A, b], [cost, *og.grad(cost, [A, b])])
    for kind, wanted in (("definite", [True]), ("general", [False])):
        f(matrix(6, kind, "float64", "csc"), np.ones(6))
        assert made == wanted
        made.clear()


def test_a_value_of_the_factors_that_is_zero_by_chance() -> None:
    """Where the pattern of L has a gap, the elements of the inverse come by columns."""
    rows = [[5, 2, 2, -2, 0], [2, 8, 2, -2, 2], [2, 2, 8, 0, 2], [-2, -2, 0, 4, 2], [0, 2, 2, 2, 4]]
    dense = np.array(rows, "float64")
    value: Any = sp.csc_matrix(dense)
    found = factors.Factors(value.data, value.indices, value.indptr)
    assert found.definite
    assert found.selected() is None
    lines = np.repeat(np.arange(5), np.diff(value.indptr))
    wanted = np.linalg.inv(dense)[lines, value.indices]
    np.testing.assert_allclose(found.inverse_at_places(), wanted, atol=1e-13)


def test_errors() -> None:
    with pytest.raises(ValueError, match="square"):
        sparse.slogdet(sparse.csc_matrix(shape=(2, 3)))
    with pytest.raises(TypeError, match="csr_from_dense"):
        sparse.slogdet(ot.dmatrix())
    A = sparse.csc_matrix(dtype="int64")
    sign, logarithm = sparse.slogdet(A)
    found = oc.function([A], [sign, logarithm])(sp.csc_matrix([[2, 0], [0, -3]]))
    np.testing.assert_allclose([float(v) for v in found], [-1.0, np.log(6.0)])


def test_batches_of_values() -> None:
    value = matrix(4, "general", "float64", "csc")
    v, many = ot.dvector(), ot.dmatrix()
    logarithm = sparse.slogdet(sparse.CSC(v, value.indices, value.indptr, (4, 4)))[1]
    rows = value.data * np.array([[1.0], [2.0], [-0.5]])
    slopes = og.grad(logarithm, v)
    batched = og.vectorize_graph([logarithm, slopes], {v: many})
    logarithms, gradients = map(np.asarray, oc.function([many], batched)(rows))
    wanted = [np.linalg.slogdet(f * value.toarray())[1] for f in (1.0, 2.0, -0.5)]
    np.testing.assert_allclose(logarithms, wanted)
    one: Any = oc.function([v], slopes)
    np.testing.assert_allclose(gradients, [one(row) for row in rows])
