"""Sparse matrices as values: inputs, outputs, constants, shared variables, conversions and products, beside SciPy."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot
from occelo_link import as_torch

FORMATS = ("csr", "csc")
MODES = ("py", "native")


def matrix(rows: int, columns: int, format: str, dtype: str = "float64", seed: int = 0) -> Any:
    """A matrix with stored zeros, an empty line, and stored values in no order."""
    rng = np.random.default_rng([seed, rows, columns])
    dense = rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    if rows > 2:
        dense[1] = 0
    made = sp.csr_matrix(dense).astype(dtype)
    if dtype.startswith("complex"):
        made.data = (made.data + 1j * np.arange(made.nnz)).astype(dtype)
    if made.nnz:
        made.data[0] = 0
    for line in range(rows):
        own = slice(made.indptr[line], made.indptr[line + 1])
        made.indices[own], made.data[own] = made.indices[own][::-1], made.data[own][::-1]
    made.has_sorted_indices = False
    return made.asformat(format)


SHAPES = [(4, 6), (5, 1), (1, 3), (3, 0), (0, 4), (0, 0)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_products_and_conversions_of_all_shapes(format: str, mode: str) -> None:
    A, x, y, X = sparse.matrix(format, "A"), ot.dvector(), ot.dvector(), ot.dmatrix()
    f = oc.function(
        [A, x, y, X],
        [A @ x, y @ A, A @ X, X.T @ A.T, A.T, A.toarray(), A.tocsr(), A.tocsc(), A.shape],
        mode=mode,
    )
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        value = matrix(rows, columns, format)
        dense = value.toarray()
        arrays = rng.normal(size=columns), rng.normal(size=rows), rng.normal(size=(columns, 2))
        made = f(value, *arrays)
        assert [getattr(m, "format", None) for m in made[4:8]] == [
            "csc" if format == "csr" else "csr", None, "csr", "csc",
        ]  # fmt: skip
        expected = [
            dense @ arrays[0], arrays[1] @ dense, dense @ arrays[2], (dense @ arrays[2]).T,
            dense.T, dense, dense, dense, dense.shape,
        ]  # fmt: skip
        for own, wanted in zip(made, expected, strict=True):
            got = own.toarray() if sp.issparse(own) else own
            np.testing.assert_allclose(got, wanted, atol=1e-12)
            assert got.shape == np.shape(wanted)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_gradients_have_the_structure_of_the_matrix(format: str, mode: str) -> None:
    A, X = sparse.matrix(format, "A"), ot.dmatrix("X")
    cost = (ot.sin(A @ X) ** 2).sum() + ((A.T @ (A @ X)) ** 3).sum()
    f = oc.function([A, X], [cost, *og.grad(cost, [A, X])], mode=mode)
    value, dense = matrix(4, 3, format), np.random.default_rng(1).normal(size=(3, 2))
    _, of_matrix, of_dense = f(value, dense)
    assert of_matrix.format == format
    np.testing.assert_array_equal(of_matrix.indices, value.indices)
    np.testing.assert_array_equal(of_matrix.indptr, value.indptr)
    D, Y = ot.dmatrix(), ot.dmatrix()
    whole = (ot.sin(D @ Y) ** 2).sum() + ((D.T @ (D @ Y)) ** 3).sum()
    wanted = oc.function([D, Y], og.grad(whole, [D, Y]))(value.toarray(), dense)
    stored = value.copy()
    stored.data[:] = 1
    np.testing.assert_allclose(of_matrix.toarray(), wanted[0] * stored.toarray(), atol=1e-9)
    np.testing.assert_allclose(of_dense, wanted[1], rtol=1e-9)


def test_a_matrix_without_influence_has_a_gradient_of_zeros() -> None:
    A, x = sparse.csr_matrix("A"), ot.dvector()
    cost = x.sum() + 0 * ot.isnan((A @ x).sum())
    f = oc.function([A], og.grad(cost, A, disconnected_inputs="ignore"))
    value = matrix(3, 4, "csr")
    made = f(value)
    assert made.nnz == value.nnz
    assert not made.data.any()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "complex64", "complex128"])
def test_dtypes_are_those_of_numpy(dtype: str, mode: str) -> None:
    for other in ("int64", "float32", "complex128"):
        A, x = sparse.csc_matrix("A", dtype), ot.vector(dtype=other)
        value, vector = matrix(4, 3, "csc", dtype), np.arange(3).astype(other)
        made = oc.function([A, x], A @ x, mode=mode)(value, vector)
        wanted = value.toarray() @ vector
        assert made.dtype == wanted.dtype == np.result_type(dtype, other)
        np.testing.assert_allclose(made, wanted)


def test_complex_gradients() -> None:
    values, x = ot.zvector(), ot.zvector()
    A = sparse.CSR(values, [1, 0, 2], [0, 1, 3], (2, 3))
    cost = ot.abs(A @ x).sum()
    D = ot.zeros((2, 3), "complex128")[[0, 1, 1], [1, 0, 2]].set(values)
    whole = ot.abs(D @ x).sum()
    f = oc.function([values, x], og.grad(cost, [values, x]) + og.grad(whole, [values, x]))
    made = f(np.array([1 + 2j, 3 - 1j, 2j]), np.array([1j, 2.0, 1 - 1j]))
    np.testing.assert_allclose(made[0], made[2])
    np.testing.assert_allclose(made[1], made[3])


def test_values_of_all_formats_and_arrays_are_taken() -> None:
    A, x = sparse.csr_matrix("A"), ot.dvector()
    f = oc.function([A, x], [A, A @ x])
    for value in (
        sp.coo_matrix(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)),
        sp.csc_array([[0.0, 3.0], [4.0, 0.0]]),
        np.array([[0.0, 3.0], [4.0, 0.0]]),
        sp.csr_matrix([[0, 3], [4, 0]], dtype="int32"),
    ):
        same, product = f(value, [1.0, 2.0])
        assert isinstance(same, sp.csr_matrix)
        np.testing.assert_array_equal(same.toarray(), [[0.0, 3.0], [4.0, 0.0]])
        np.testing.assert_array_equal(product, [6.0, 4.0])
    for wrong in (np.zeros(3), "matrix", sp.csr_matrix([[1j]])):
        with pytest.raises(TypeError):
            f(wrong, [1.0, 2.0])


def test_duplicates_and_room_at_the_end_of_arrays() -> None:
    value = sp.csr_matrix(
        (np.array([1.0, 2.0, 3.0, 9.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    A, x = sparse.csr_matrix("A"), ot.dvector()
    f = oc.function([A, x], [A @ x, A.toarray(), sparse.csm_data(A)])
    product, dense, data = f(value, [1.0, 10.0])
    np.testing.assert_array_equal(product, [30.0, 3.0])
    np.testing.assert_array_equal(dense, [[0.0, 3.0], [3.0, 0.0]])
    assert len(data) == 3


@pytest.mark.parametrize("mode", MODES)
def test_wrong_structures_are_refused(mode: str) -> None:
    indices, offsets, x = ot.ivector(), ot.ivector(), ot.dvector()
    A = sparse.CSR(ot.ones(indices.shape), indices, offsets, (2, 3))
    f = oc.function([indices, offsets, x], [A @ x, A.T @ x[:2], A.toarray()], mode=mode)
    f([0, 2], [0, 1, 2], [1.0, 2.0, 3.0])
    for wrong in ([0, 3], [-1, 2], [0, 2**31 - 1]):
        with pytest.raises(IndexError):
            f(wrong, [0, 1, 2], [1.0, 2.0, 3.0])
    for wrong in ([0, 1, 1], [1, 1, 2], [0, 3, 2], [0, -1, 2]):
        with pytest.raises(ValueError, match="offsets"):
            f([0, 2], wrong, [1.0, 2.0, 3.0])


def test_shared_matrices_and_constants() -> None:
    value = matrix(3, 3, "csc")
    A, x = og.shared(value, "A"), ot.dvector()
    assert isinstance(A, sparse.SparseTensorSharedVariable)
    assert A.format == "csc"
    constant = sparse.as_sparse_variable(value)
    double = constant.with_values(2 * sparse.csm_data(A))
    f = oc.function([x], [A @ x, constant @ x], updates={A: double})
    first, second = f([1.0, 2.0, 3.0])
    np.testing.assert_allclose(first, value @ [1.0, 2.0, 3.0])
    np.testing.assert_allclose(second, first)
    np.testing.assert_allclose(f([1.0, 2.0, 3.0])[0], 2 * first)
    np.testing.assert_allclose(A.get_value().toarray(), 4 * value.toarray())
    A.set_value(value.tocsr())
    np.testing.assert_allclose(A.get_value().toarray(), value.toarray())
    again = pickle.loads(pickle.dumps(constant @ x))
    assert og.digest(again) == og.digest(constant @ x)


def test_a_loop_reads_a_matrix() -> None:
    loops = pytest.importorskip("occelo_loops", reason="the family of loops is not installed")
    A, n = sparse.csr_matrix("A"), 3
    x = ot.dvector()
    last = loops.fori_loop(0, n, lambda i, v: A @ v, x)
    value = matrix(3, 3, "csr")
    made = oc.function([A, x], [last, og.grad(last.sum(), A)])(value, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(made[0], value @ (value @ (value @ [1.0, 2.0, 3.0])))
    D = ot.dmatrix()
    dense = loops.fori_loop(0, n, lambda i, v: D @ v, x)
    wanted = oc.function([D, x], og.grad(dense.sum(), D))(value.toarray(), [1.0, 2.0, 3.0])
    stored = value.copy()
    stored.data[:] = 1
    np.testing.assert_allclose(made[1].toarray(), wanted * stored.toarray())


def test_batches_of_vectors_are_columns() -> None:
    A, x = sparse.csr_matrix("A"), ot.dvector("x")
    X = ot.dtensor3("X")
    batched = og.vectorize_graph(A @ x, {x: X})
    value, vectors = matrix(4, 3, "csr"), np.random.default_rng(0).normal(size=(2, 5, 3))
    made = oc.function([A, X], batched)(value, vectors)
    np.testing.assert_allclose(made, vectors @ value.toarray().T)


def test_jax_knows_lengths() -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    A, x = sparse.csr_matrix("A"), ot.dvector()
    cost = ((A.T @ (A @ x)) ** 2).sum()
    f = oc.function([A, x], [A.toarray(), *og.grad(cost, [A, x])], mode="jax")
    g = oc.function([A, x], [A.toarray(), *og.grad(cost, [A, x])], mode="py")
    for shape in ((4, 3), (2, 5)):
        value, vector = matrix(*shape, "csr"), np.arange(1.0, shape[1] + 1)
        for own, wanted in zip(f(value, vector), g(value, vector), strict=True):
            got, wanted = (v.toarray() if sp.issparse(v) else v for v in (own, wanted))
            np.testing.assert_allclose(got, wanted)


def test_threads_give_the_same_bits() -> None:
    rng, n = np.random.default_rng(0), 50_000
    places = rng.integers(0, n, (2, 8 * n))
    value = sp.csr_matrix((rng.normal(size=8 * n), tuple(places)), shape=(n, n))
    A, x, X = sparse.csr_matrix("A"), ot.dvector(), ot.dmatrix()
    cost = (ot.tanh(A @ X) ** 2).sum() + (A @ x).sum() ** 2
    slopes = og.grad(cost, [A, x, X])
    outputs = [A @ x, A.T @ x, A @ X, sparse.csm_data(slopes[0]), *slopes[1:]]
    arguments = value, rng.normal(size=n), rng.normal(size=(n, 3))
    results: list[Any] = []
    for count in (1, 2, 3, 8):
        with og.config.change_flags(native__threads=count):
            results.append(oc.function([A, x, X], outputs, mode="native")(*arguments))
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_pytorch_has_products_of_its_own() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    values, indices, offsets = ot.dvector(), ot.ivector(), ot.ivector()
    x, X = ot.dvector(), ot.dmatrix()
    A = sparse.CSR(values, indices, offsets, (offsets.shape[0] - 1, x.shape[0]))
    cost = (ot.tanh(A @ x) ** 2).sum()
    outputs = [A @ x, A @ X, A.T @ (A @ x), *og.grad(cost, [values, x]), A.toarray()]
    with og.config.change_flags(pytorch__compile=False):
        f = oc.function([values, indices, offsets, x, X], outputs, mode="pytorch")
    g = oc.function([values, indices, offsets, x, X], outputs, mode="py")
    rng = np.random.default_rng(2)
    for width, (rows, columns) in enumerate(SHAPES[::2]):
        value = matrix(rows, columns, "csr")
        arguments = (
            value.data, value.indices, value.indptr,
            rng.normal(size=columns), rng.normal(size=(columns, (3 * width) % 4)),
        )  # fmt: skip
        for own, wanted in zip(f(*arguments), g(*arguments), strict=True):
            np.testing.assert_allclose(own, wanted, atol=1e-12)
            assert own.shape == wanted.shape
    vector, columns = [1.0, 2.0, 3.0], np.ones((3, 2))
    for wrong in ([0, 3], [-1, 2], [0, 2**31 - 1]):
        with pytest.raises(IndexError):
            f([1.0, 2.0], wrong, [0, 1, 2], vector, columns)
    for offset in ([0, 1, 1], [1, 1, 2], [0, 3, 2], [0, -1, 2]):
        with pytest.raises(ValueError, match="offsets"):
            f([1.0, 2.0], [0, 2], offset, vector, columns)
    # torch.autograd differentiates it, by gathers and scatters
    h = as_torch(oc.function([values, x], sparse.CSR(values, [1, 0], [0, 1, 2], (2, 2)) @ x))
    first, second = torch.tensor([2.0, 3.0]).double(), torch.tensor([5.0, 7.0]).double()
    first.requires_grad_()
    h(first, second).sum().backward()
    np.testing.assert_array_equal(first.grad, [7.0, 5.0])
