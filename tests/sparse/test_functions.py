"""Functions of sparse matrices beside those of dense ones: values, structures, gradients, shapes, formats, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot

FORMATS = ("csr", "csc")
MODES = ("py", "native")
RNG = np.random.default_rng(7)


def matrix(rows: int, columns: int, format: str, dtype: str = "float64", seed: int = 0) -> Any:
    """A matrix with small integers, and an empty line."""
    rng = np.random.default_rng([seed, rows, columns])
    dense = rng.integers(-3, 4, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    if rows > 2:
        dense[1] = 0
    return sp.csr_matrix(dense).astype(dtype).asformat(format)


def as_dense(value: Any) -> Any:
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def check(
    function: Callable[..., Any],
    reference: Callable[..., Any],
    *values: Any,
    mode: str = "native",
    gradient: bool = True,
) -> Any:
    """Compare a function of matrices with one of dense arrays, and gradients with those of dense tensors.

    The gradient by a sparse matrix is that of the dense one, where the matrix has stored values.
    """
    variables = [_variable(v) for v in values]
    made = function(*variables)
    outputs = [made]
    weights = None
    if gradient:
        flat = made.toarray() if sparse.is_sparse(made) else made
        weights = RNG.normal(size=reference(*map(as_dense, values)).shape)
        outputs += og.grad((flat * weights).sum(), variables, disconnected_inputs="ignore")
    found, *gradients = oc.function(variables, outputs, mode=mode, on_unused_input="ignore")(
        *values
    )
    expected = reference(*map(as_dense, values))
    np.testing.assert_allclose(as_dense(found), expected, atol=1e-12)
    assert np.shape(as_dense(found)) == np.shape(expected)
    for own, value, variable in zip(gradients, values, variables, strict=False):
        other = _slope(reference, values, value, weights)
        if sparse.is_sparse(variable):
            stored = value.copy()
            stored.data[:] = 1
            other = other * stored.toarray()
        np.testing.assert_allclose(as_dense(own), other, atol=2e-6)
    return found


def _variable(value: Any) -> Any:
    if sp.issparse(value):
        return sparse.matrix(value.format, dtype=value.dtype)
    value = np.asarray(value)
    return ot.tensor(dtype=value.dtype, shape=[1 if n == 1 else None for n in value.shape])


def _slope(reference: Callable[..., Any], values: Any, value: Any, weights: Any) -> Any:
    """Central differences of a function of dense arrays, which is smooth at the values."""
    arrays = [as_dense(v).astype("float64") for v in values]
    at = next(i for i, v in enumerate(values) if v is value)
    slope = np.zeros_like(arrays[at])
    for place in np.ndindex(*slope.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [a.copy() for a in arrays]
            moved[at][place] += step
            ends.append((np.asarray(reference(*moved)) * weights).sum())
        slope[place] = (ends[0] - ends[1]) / 2e-6
    return slope


X, Y = matrix(4, 5, "csr"), matrix(4, 5, "csc", seed=1)
D = RNG.uniform(0.5, 2.0, (4, 5)) * RNG.choice([-1.0, 1.0], (4, 5))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_sums_and_products_with_dense_operands_of_all_shapes(format: str, mode: str) -> None:
    x = X.asformat(format)
    for dense in (D, D[:1], D[:, :1], D[0], np.array(2.5), D[:1, :1]):
        check(sparse.multiply, np.multiply, x, dense, mode=mode)
        check(sparse.add, np.add, x, dense, mode=mode)
        check(lambda a, b: b - a, lambda a, b: b - a, x, dense, mode=mode)
        check(lambda a, b: a / b, np.divide, x, dense, mode=mode)
        check(lambda a, b: b * a, np.multiply, x, dense, mode=mode, gradient=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_two_sparse_operands(format: str, mode: str) -> None:
    x = X.asformat(format)
    found = check(sparse.add, np.add, x, Y, mode=mode)
    assert found.format == format
    found = check(sparse.multiply, np.multiply, x, Y, mode=mode)
    assert found.nnz == x.multiply(Y).nnz
    check(sparse.subtract, np.subtract, x, Y, mode=mode)
    check(sparse.true_dot, np.matmul, x, Y.T.tocsc(), mode=mode)
    check(sparse.dot, np.matmul, x, Y.T.tocsc(), mode=mode)
    check(sparse.maximum, np.maximum, x, Y, mode=mode, gradient=False)
    check(sparse.minimum, np.minimum, x, Y, mode=mode, gradient=False)


def test_a_sparse_row_or_column_broadcasts() -> None:
    for row in (matrix(1, 5, f) for f in FORMATS):
        for x in (X, D):
            x_, r = _variable(x), sparse.matrix(row.format, shape=(1, None))
            f = oc.function([x_, r], [x_ * r, x_ + r])
            product, total = f(x, row)
            np.testing.assert_allclose(as_dense(product), as_dense(x) * row.toarray())
            np.testing.assert_allclose(as_dense(total), as_dense(x) + row.toarray())
            c = sparse.matrix(row.format, shape=(None, 1))
            column = sp.csr_matrix(np.arange(4.0)[:, None]).asformat(row.format)
            np.testing.assert_allclose(
                as_dense(oc.function([x_, c], c * x_)(x, column)), column.toarray() * as_dense(x)
            )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["eq", "neq", "lt", "gt", "le", "ge"])
def test_comparisons(name: str, mode: str) -> None:
    numpy_name = {"eq": "equal", "neq": "not_equal", "lt": "less", "gt": "greater"}.get(
        name, {"le": "less_equal", "ge": "greater_equal"}.get(name, "")
    )
    compare, reference = getattr(sparse, name), getattr(np, numpy_name)
    for other in (Y, Y.toarray(), X):
        found = check(compare, reference, X, other, mode=mode, gradient=False)
        assert found.dtype == "uint8"
        assert sp.issparse(found) == sp.issparse(other)


STRUCTURED = {
    "abs": np.abs, "arcsinh": np.arcsinh, "arctan": np.arctan, "ceil": np.ceil, "conj": np.conj,
    "deg2rad": np.deg2rad, "expm1": np.expm1, "floor": np.floor, "neg": np.negative, "rad2deg": np.rad2deg,
    "rint": np.rint, "sign": np.sign, "sin": np.sin, "sinh": np.sinh, "sqr": np.square, "tan": np.tan, "tanh": np.tanh,
    "trunc": np.trunc, "sqrt": np.sqrt, "log1p": np.log1p, "arcsin": np.arcsin, "arctanh": np.arctanh,
    "structured_exp": np.exp, "structured_log": np.log, "structured_sigmoid": lambda v: 1 / (1 + np.exp(-v)),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_functions(name: str) -> None:
    value = matrix(4, 3, "csc")
    value.data = RNG.uniform(0.1, 0.9, value.nnz)
    A = sparse.csc_matrix()
    made = getattr(sparse, name)(A)
    found, slope = oc.function([A], [made, og.grad(sparse.sp_sum(made * made), A)])(value)
    np.testing.assert_allclose(found.data, STRUCTURED[name](value.data))
    np.testing.assert_array_equal(found.indices, value.indices)
    v = ot.dvector()
    of_values = getattr(sparse, name)(sparse.square_diagonal(v))
    dense = oc.function([v], og.grad((sparse.csm_data(of_values) ** 2).sum(), v))(value.data)
    np.testing.assert_allclose(slope.data, dense)
    if hasattr(A, name) and name != "rint":
        np.testing.assert_allclose(
            oc.function([A], getattr(A, name)())(value).data, STRUCTURED[name](value.data)
        )


def test_structured_functions_of_scalars() -> None:
    A, s = sparse.csr_matrix(), ot.dscalar()
    functions = {
        "structured_pow": np.power, "structured_minimum": np.minimum,
        "structured_maximum": np.maximum, "structured_add": np.add,
    }  # fmt: skip
    value = matrix(4, 3, "csr")
    value.data = RNG.uniform(0.5, 2.0, value.nnz)
    for name, reference in functions.items():
        for number in (2, 1.5):
            made = oc.function([A, s], [getattr(sparse, name)(A, s), getattr(sparse, name)(A, 2)])
            found, constant = made(value, number)
            np.testing.assert_allclose(found.data, reference(value.data, number))
            np.testing.assert_allclose(constant.data, reference(value.data, 2))
    with pytest.raises(TypeError, match="structured_add takes a matrix and scalars"):
        sparse.structured_add(A, ot.dvector())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_sums_scales_and_diagonals(format: str, mode: str) -> None:
    x = X.asformat(format)
    for axis in (None, 0, 1, -1):
        check(lambda a, axis=axis: a.sum(axis), lambda a, axis=axis: a.sum(axis), x, mode=mode)
    check(sparse.col_scale, lambda a, s: a * s, x, D[0], mode=mode)
    check(sparse.row_scale, lambda a, s: a * s[:, None], x, D[:, 0], mode=mode)
    for shape in ((4, 4), (4, 2), (2, 4), (0, 3), (1, 1)):
        value = matrix(*shape, format)
        check(sparse.diag, np.diagonal, value, mode=mode, gradient=0 not in shape)
    check(sparse.square_diagonal, np.diag, D[0], mode=mode)
    for dtype in ("int8", "uint16", "float32"):
        for axis in (None, 0, 1):
            value = matrix(4, 3, format, dtype)
            A = _variable(value)
            made = oc.function([A], sparse.sp_sum(A, axis), mode=mode)(value)
            wanted = value.toarray().sum(axis)
            assert made.dtype == wanted.dtype
            np.testing.assert_array_equal(made, wanted)


SLICES = [
    (slice(None), slice(None)), (slice(1, 3), slice(0, 4, 2)), (slice(None, None, -1), slice(3, 0, -2)),
    (slice(-2, None), slice(2, 2)), (slice(5, 9), slice(None)),
]  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_parts(format: str, mode: str) -> None:
    x = X.asformat(format)
    for rows, columns in SLICES:
        for key in ((rows, columns), rows):
            found = check(lambda a, k=key: a[k], lambda a, k=key: a[k], x, mode=mode)
            assert found.format == format
    picks = np.array([2, 0, -1, 2]), np.array([3, 1, -5, 3])
    check(lambda a: a[picks[0]], lambda a: a[picks[0]], x, mode=mode)
    check(lambda a: a[:, picks[1]], lambda a: a[:, picks[1]], x, mode=mode)
    check(lambda a: a[picks[0], 1:4], lambda a: a[picks[0], 1:4], x, mode=mode)
    check(lambda a: a[picks[0], picks[1]], lambda a: a[picks[0], picks[1]], x, mode=mode)
    check(lambda a: a[np.zeros(0, int)], lambda a: a[np.zeros(0, int)], x, mode=mode)
    check(lambda a: a[[]], lambda a: a[[]], x, mode=mode)
    mask = np.array([True, False, True, True])
    check(lambda a: a[mask, ::-1], lambda a: a[mask, ::-1], x, mode=mode)
    for i, j in ((0, 0), (-1, 2), (1, 3), (3, -1)):
        check(lambda a, i=i, j=j: a[i, j], lambda a, i=i, j=j: a[i, j], x, mode=mode)
    A, i, j = sparse.matrix(format), ot.lscalar(), ot.lscalar()
    f = oc.function([A, i, j], [A[i:j], A[i, j]], mode=mode)
    np.testing.assert_allclose(f(x, 1, 3)[0].toarray(), x.toarray()[1:3])
    for wrong in ((4, 0), (-5, 0), (0, 5)):
        with pytest.raises(IndexError):
            f(x, *wrong)
    for key in (0, (0, slice(None)), (slice(None), -1)):
        with pytest.raises(NotImplementedError, match="sparse vectors"):
            A[key]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_blocks(format: str, mode: str) -> None:
    x = X.asformat(format)
    pairs = ((x, matrix(2, 5, "csc")), (x, matrix(0, 5, "csr")))
    for blocks in pairs:
        for out in (None, "csr", "csc"):
            found = check(
                lambda *b, out=out: sparse.vstack(list(b), out), lambda *b: np.vstack(b), *blocks, mode=mode
            )  # fmt: skip
            assert found.format == (out or "csc")
            turned = [b.T.asformat(b.format) for b in blocks]
            check(lambda *b, out=out: sparse.hstack(list(b), out), lambda *b: np.hstack(b), *turned, mode=mode)  # fmt: skip
        check(
            sparse.block_diag,
            lambda a, b: np.block([[a, np.zeros((len(a), b.shape[1]))], [np.zeros((len(b), a.shape[1])), b]]),
            *blocks,
            mode=mode,
        )  # fmt: skip
        check(sparse.kron, np.kron, *blocks, mode=mode)
    A = sparse.matrix(format, dtype="int8")
    made = oc.function([A], sparse.vstack([A, A.astype("float32")]), mode=mode)
    assert made(matrix(2, 2, format, "int8")).dtype == "float32"
    B, C = sparse.csr_matrix(), sparse.csr_matrix()
    with pytest.raises(ValueError, match="equally many columns"):
        oc.function([B, C], sparse.vstack([B, C]), mode=mode)(X, matrix(2, 4, "csr"))
    with pytest.raises(ValueError, match="equally many columns"):
        sparse.vstack([sparse.csr_matrix(shape=(2, 3)), sparse.csr_matrix(shape=(2, 4))])
    # a matrix without entries has rows and columns, too
    for blocks in (
        [B, sp.csr_matrix((3, 1))],
        [sp.csr_matrix((3, 1)), B],
        [B, sp.csr_matrix((0, 1))],
    ):
        with pytest.raises(ValueError, match="equally many rows"):
            oc.function([B], sparse.hstack(blocks), mode=mode)(sp.csr_matrix(np.eye(2)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("format", FORMATS)
def test_products_at_places_and_others(format: str, mode: str) -> None:
    x, u, v = X.asformat(format), RNG.normal(size=(4, 3)), RNG.normal(size=(5, 3))
    check(sparse.sampling_dot, lambda a, b, p: p * (a @ b.T), u, v, x, mode=mode)
    check(sparse.usmm, lambda s, a, b, z: s * (a @ b) + z, np.array(2.0), x, v, u, mode=mode)
    check(sparse.structured_dot, np.matmul, x, v, mode=mode)
    check(sparse.structured_dot, np.matmul, D[:, :4], x, mode=mode)
    check(sparse.true_dot, np.matmul, x, v, mode=mode, gradient=False)
    rows = np.array([2, 0])
    found = oc.function([], sparse.construct_sparse_from_list(D, D[:2] + 1, rows), mode=mode)()
    wanted = np.zeros_like(D)
    wanted[rows] = D[:2] + 1
    np.testing.assert_allclose(found.toarray(), wanted)
    A, B, G = sparse.matrix(format), ot.dmatrix(), ot.dmatrix()
    made = oc.function([A, B, G], sparse.structured_dot_grad(A, B, G), mode=mode)(x, v, u)
    np.testing.assert_allclose(made.toarray(), (u @ v.T) * (x.toarray() != 0))


@pytest.mark.parametrize("mode", MODES)
def test_shapes_that_do_not_fit(mode: str) -> None:
    A, B, d = sparse.csr_matrix(), sparse.csr_matrix(), ot.dmatrix()
    other = matrix(4, 6, "csr")
    for made, values in (
        (A + B, (X, other)),
        (A * B, (X, other)),
        (A @ B, (X, other)),
        (sparse.true_dot(A, B), (X, other)),
        (A * d, (X, np.ones((4, 6)))),
        (A + d, (X, np.ones((5, 5)))),
        (A @ d, (X, np.ones((4, 2)))),
        (A @ d, (X, np.ones((6, 2)))),
        (A.tocsc() @ d, (X, np.ones((6, 2)))),
        (d @ A, (X, np.ones((2, 5)))),
        (sparse.sampling_dot(d, d, A), (X, np.ones((5, 2)))),
        (A[d[:, 0] > 0], (X, np.ones((5, 1)))),
    ):
        inputs = [A, B if sp.issparse(values[1]) else d]
        with pytest.raises((ValueError, IndexError, TypeError, AssertionError)):
            oc.function(inputs, made, mode=mode)(*values)
    fixed = sparse.csr_matrix(shape=(2, 3))
    for made in (lambda: fixed + sparse.csr_matrix(shape=(3, 2)), lambda: fixed @ ot.ones(4)):
        with pytest.raises(ValueError, match=r"shape|needs 3 rows"):
            made()
    with pytest.raises(TypeError, match="takes a sparse matrix"):
        sparse.add(d, d)


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
def test_python_numbers_take_the_dtype_of_the_matrix(dtype: str) -> None:
    A, value = sparse.csr_matrix(dtype=dtype), matrix(3, 4, "csr", dtype)
    dense = value.toarray()
    made = oc.function([A], [2 * A, A * 2, A + 1, 1 - A, A - 1, A / 2], mode="py")(value)
    wanted = [2 * dense, dense * 2, dense + 1, 1 - dense, dense - 1, dense / 2]
    for own, other in zip(made[: 5 if dtype == "int8" else 6], wanted, strict=False):
        np.testing.assert_array_equal(as_dense(own), other)
        assert own.dtype == other.dtype


@pytest.mark.parametrize("left", [ot.constant(np.ones((3, 4))), og.shared(np.ones((3, 4)))])
def test_a_function_of_tensors_names_what_takes_matrices(left: Any) -> None:
    A, value = sparse.csr_matrix("A"), matrix(3, 4, "csr")
    for wrong in (lambda: left + A, lambda: left @ A.T, lambda: ot.exp(A)):
        with pytest.raises(TypeError, match=r"use functions of occelo.sparse.* or A.toarray()"):
            wrong()
    made = oc.function([A], [sparse.add(left, A), sparse.dot(left, A.T), sparse.multiply(left, A)])
    dense = value.toarray()
    wanted = [dense + 1, np.ones((3, 4)) @ dense.T, dense]
    for own, other in zip(made(value), wanted, strict=True):
        np.testing.assert_allclose(as_dense(own), other)


def test_a_method_of_dense_tensors_says_so() -> None:
    A = sparse.csr_matrix()
    with pytest.warns(UserWarning, match="Sparse matrices have no exp"):
        made = A.exp()
    np.testing.assert_allclose(oc.function([A], made)(X), np.exp(X.toarray()))
