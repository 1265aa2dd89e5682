"""Solutions of sparse equations beside those of dense ones: both formats, dtypes, gradients, batches, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot

RNG = np.random.default_rng(3)


def matrix(n: int, format: str, dtype: str = "float64") -> Any:
    """A matrix that is far from singular, and not symmetric."""
    dense = RNG.normal(size=(n, n)) * (RNG.random((n, n)) < 0.4) + n * np.eye(n)
    if dtype.startswith("complex"):
        dense = dense * (1 + 0.5j)
    return sp.csr_matrix(dense).astype(dtype).asformat(format)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["py", "native"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_solutions(format: str, dtype: str, mode: str) -> None:
    A, b, B = sparse.matrix(format, dtype=dtype), ot.vector(dtype=dtype), ot.matrix(dtype=dtype)
    f = oc.function([A, b, B], [sparse.spsolve(A, b), sparse.spsolve(A, B)], mode=mode)
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    for n in (4, 1, 0):
        value, right = matrix(n, format, dtype), RNG.normal(size=(n, 2)).astype(dtype)
        one, two = f(value, right[:, 0], right)
        assert one.dtype == two.dtype == dtype
        np.testing.assert_allclose(value @ one, right[:, 0], atol=tolerance)
        np.testing.assert_allclose(value @ two, right, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_gradients_are_those_of_dense_solutions(format: str, dtype: str) -> None:
    value, right = matrix(3, format, dtype), RNG.normal(size=3).astype(dtype)
    A, b, D = sparse.matrix(format, dtype=dtype), ot.vector(dtype=dtype), ot.matrix(dtype=dtype)
    cost = (abs(sparse.spsolve(A, b)) ** 2).sum()
    of_matrix, of_right = oc.function([A, b], og.grad(cost, [A, b]))(value, right)
    # the inverse of a matrix of 3 x 3, whose derivatives are those of products
    first, second, third = D[0], D[1], D[2]
    cross = [ot.stack([v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]]) for v, w in ((second, third), (third, first), (first, second))]  # fmt: skip
    inverse = ot.stack(cross, axis=1) / (first * cross[0]).sum()
    whole = (abs(inverse @ b) ** 2).sum()
    wanted = oc.function([D, b], og.grad(whole, [D, b]))(value.toarray(), right)
    np.testing.assert_allclose(of_matrix.toarray(), wanted[0] * (value.toarray() != 0), atol=1e-10)
    np.testing.assert_allclose(of_right, wanted[1], atol=1e-10)


def test_batches_and_second_derivatives() -> None:
    A, b, B = sparse.csr_matrix("A"), ot.dvector("b"), ot.dtensor3("B")
    value, rights = matrix(4, "csr"), RNG.normal(size=(2, 3, 4))
    batched = og.vectorize_graph(sparse.spsolve(A, b), {b: B})
    np.testing.assert_allclose(
        oc.function([A, B], batched)(value, rights),
        np.linalg.solve(value.toarray(), rights[..., None])[..., 0],
    )
    v = ot.dvector("v")
    structure = [value.indices, value.indptr]

    def slope(values: Any) -> Any:
        made = sparse.CSR(values, *structure, (4, 4))
        return og.grad((sparse.spsolve(made, rights[0, 0]) ** 2).sum(), values)

    og.verify_grad(lambda values: slope(values + 0), [value.data])
    assert oc.function([v], slope(v))(value.data).shape == value.data.shape


def test_errors() -> None:
    A, b = sparse.csr_matrix(), ot.dvector()
    f = oc.function([A, b], sparse.spsolve(A, b))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        f(sp.csr_matrix([[1.0, 2.0], [2.0, 4.0]]), [1.0, 2.0])
    with pytest.raises(ValueError, match="square"):
        f(sp.csr_matrix(np.ones((2, 3))), [1.0, 2.0])
    with pytest.raises(ValueError, match="does not fit"):
        f(sp.csr_matrix(np.eye(3)), [1.0, 2.0])
    with pytest.raises(ValueError, match="square"):
        sparse.spsolve(sparse.csc_matrix(shape=(2, 3)), b)
    with pytest.raises(TypeError, match="vector or a matrix"):
        sparse.spsolve(A, ot.dtensor3())
