"""Rules for batches of diagonal and permutation matrices, shared decompositions and triangular Sylvester equations."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.index.search import AllocDiag
from occelo_linalg import functions as linalg
from occelo_rewrite import optimizer_query, rewriter_for

spl: Any = scipy.linalg


def _rewritten(inputs: list[Any], outputs: list[Any]) -> og.FunctionGraph:
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    return graph


def _names(graph: og.FunctionGraph) -> Counter[str]:
    return Counter(type(node.op).__name__ for node in graph.apply_nodes)


def _values(graph: og.FunctionGraph, *arrays: Any) -> list[Any]:
    return og.evaluate(list(graph.outputs), dict(zip(graph.inputs, arrays, strict=True)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_values_of_batches_of_diagonal_matrices(dtype: str) -> None:
    d = ot.tensor("d", dtype=dtype, shape=(None, None, None))
    matrices = AllocDiag()(d)
    graph = _rewritten([d], [linalg.eigvalsh(matrices), linalg.svdvals(matrices)])
    assert not {"Eigvalsh", "SingularValues"} & set(_names(graph))
    rng = np.random.default_rng(0)
    for shape in ((2, 3, 5), (1, 2, 1), (2, 0, 3), (0, 2, 2), (2, 2, 0), (1, 1, 7)):
        x = rng.integers(-2, 3, shape) + (1j * rng.integers(-2, 3, shape) if dtype[0] == "c" else 0)
        x = x.astype(dtype)  # with equal elements and zeros
        values, sizes = _values(graph, x)
        assert values.dtype == sizes.dtype == x.real.dtype
        np.testing.assert_array_equal(values, np.sort(x.real, axis=-1))
        np.testing.assert_array_equal(sizes, np.sort(np.abs(x), axis=-1)[..., ::-1])


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize(
    ("of_p", "of_x"),
    [
        ((None, None, None), (None, None, None)),
        ((None, None, None), (None, None)),
        ((None, None), (None, None, None)),
        ((None, 1, None, None), (1, None, None, None)),
        ((1, None, None), (None, None, None)),
    ],
    ids=str,
)
def test_products_with_batches_of_permutations(of_p: Any, of_x: Any, dtype: str) -> None:
    p, x, y = (
        ot.tensor(n, dtype=dtype, shape=s) for n, s in zip("pxy", (of_p, of_x, of_x), strict=True)
    )
    known = ot.assume(p, permutation=True)
    graph = _rewritten([p, x, y], [ot.matmul(known, x), ot.matmul(y, known)])
    assert not {"MatMul", "Dot"} & set(_names(graph))
    rng = np.random.default_rng(1)
    # an unknown length of a batch is the same in all
    for count, n, k in ((2, 4, 3), (1, 3, 1), (3, 1, 2), (0, 2, 2), (2, 0, 3), (2, 3, 0)):

        def lead(shape: Any, count: int = count) -> tuple[int, ...]:
            return tuple(count if m is None else m for m in shape[:-2])

        given = np.zeros((*lead(of_p), n, n), dtype)
        for at in np.ndindex(lead(of_p)):
            given[at] = np.eye(n)[rng.permutation(n)]
        left = rng.standard_normal((*lead(of_x), n, k)).astype(dtype)
        right = rng.standard_normal((*lead(of_x), k, n)).astype(dtype)
        rows, columns = _values(graph, given, left, right)
        np.testing.assert_array_equal(rows, given @ left)
        np.testing.assert_array_equal(columns, right @ given)


def test_rows_of_a_batch_of_lu_factors_are_reads() -> None:
    x = ot.dtensor3("x")
    p, low, high = linalg.lu(x)
    graph = _rewritten([x], [ot.matmul(ot.matmul(p, low), high)])
    assert _names(graph)["MatMul"] == 1
    given = np.random.default_rng(2).standard_normal((3, 4, 4))
    np.testing.assert_allclose(_values(graph, given)[0], given, atol=1e-14)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3), (1, 1), (0, 3), (3, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_a_reduced_and_a_full_decomposition_are_one(shape: Any, dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None,) * len(shape))
    reduced, full = linalg.svd(x, full_matrices=False), linalg.svd(x)
    pair = linalg.qr(x), linalg.qr(x, "complete")
    graph = _rewritten([x], [*reduced, *full, *pair[0], *pair[1]])
    names = _names(graph)
    assert names["SVD"] + names["FullSVD"] == 1
    assert names["QR"] + names["FullQR"] == 1
    rng = np.random.default_rng(3)
    given = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype[0] == "c" else 0)
    u, s, vh, *whole, q, r, full_q, full_r = _values(graph, given)
    k = min(shape[-2:])
    assert u.shape == (*shape[:-1], k)
    assert vh.shape == (*shape[:-2], k, shape[-1])
    assert q.shape == (*shape[:-1], k)
    assert r.shape == (*shape[:-2], k, shape[-1])
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, given, atol=1e-13)
    np.testing.assert_allclose(q @ r, given, atol=1e-13)
    np.testing.assert_allclose(full_q @ full_r, given, atol=1e-13)
    np.testing.assert_allclose(whole[1], np.linalg.svd(given, compute_uv=False), atol=1e-13)


def test_a_full_decomposition_whose_vectors_are_not_read_is_not_computed() -> None:
    x = ot.dmatrix("x")
    graph = _rewritten([x], [linalg.svd(x, full_matrices=False)[0], linalg.svd(x)[1]])
    assert (_names(graph)["SVD"], _names(graph)["FullSVD"]) == (1, 0)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_the_size_of_a_determinant_comes_from_a_triangle(mode: Any, dtype: str) -> None:
    x = ot.tensor("x", dtype=dtype, shape=(None, None, None))
    factors = linalg.qr(x, mode)
    triangle = factors if mode == "r" else factors[1]
    graph = _rewritten([x], [triangle, linalg.slogdet(x)[1], abs(linalg.det(x))])
    assert not {"SLogDet", "Det", "LuFactor"} & set(_names(graph))
    rng = np.random.default_rng(4)
    for shape in ((3, 4, 4), (1, 1, 1), (2, 0, 0), (0, 2, 2)):
        given = rng.standard_normal(shape)
        given = given + 1j * rng.standard_normal(shape) if dtype[0] == "c" else given
        _, logarithm, size = _values(graph, given)
        np.testing.assert_allclose(logarithm, np.linalg.slogdet(given)[1], rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(size, np.abs(np.linalg.det(given)), rtol=1e-12)
    with pytest.raises(ValueError, match="square"):
        _values(graph, np.ones((2, 3, 2), dtype))
    signed = _rewritten([x], [triangle, *linalg.slogdet(x)])
    assert {"SLogDet", "Det", "LuFactor"} & set(_names(signed))


def _triangles(x: Any, y: Any) -> list[tuple[Any, Any, int]]:
    """Coefficients of Sylvester equations, and how many Schur decompositions they need."""
    upper = ot.assume(x, upper_triangular=True)
    lower = ot.assume(y, lower_triangular=True)
    return [(upper, y, 1), (x, lower, 1), (upper, lower, 0)]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_triangular_coefficients_are_their_own_schur_forms(dtype: str) -> None:
    x, y, q = (ot.tensor(n, dtype=dtype, shape=(None, None, None)) for n in "xyq")
    rng = np.random.default_rng(5)
    for a, b, count in _triangles(x, y):
        graph = _rewritten([x, y, q], [linalg.solve_sylvester(a, b, q)])
        assert (_names(graph)["Schur"], _names(graph)["Sylvester"]) == (count, 0)
        for lead, m, n in ((2, 3, 4), (1, 1, 2), (2, 0, 2), (0, 2, 2), (3, 2, 1)):
            given = [rng.standard_normal((lead, *s)) for s in ((m, m), (n, n), (m, n))]
            if dtype[0] == "c":
                given = [g + 1j * rng.standard_normal(g.shape) for g in given]
            given[0] = np.triu(given[0]) if a is not x else given[0]
            given[1] = np.tril(given[1]) if b is not y else given[1]
            given[0] = given[0] + 4 * np.eye(m)
            given[1] = given[1] + 4 * np.eye(n)
            (found,) = _values(graph, *given)
            assert found.shape == (lead, m, n)
            np.testing.assert_allclose(given[0] @ found + found @ given[1], given[2], atol=1e-12)
    upper = ot.assume(x, upper_triangular=True)
    graph = _rewritten([x, q], [linalg.solve_continuous_lyapunov(upper, q)])
    assert not {"Schur", "Lyapunov"} & set(_names(graph))
    one = np.triu(rng.standard_normal((1, 4, 4))) + 4 * np.eye(4)
    right = rng.standard_normal((1, 4, 4))
    (found,) = _values(graph, one.astype(dtype), right.astype(dtype))
    np.testing.assert_allclose(
        found[0], spl.solve_continuous_lyapunov(one[0], right[0]), atol=1e-13
    )


def test_products_of_few_terms_are_left() -> None:
    p, x = ot.tensor("p", dtype="float64", shape=(None, 8, 8)), ot.dtensor3("x")
    known = ot.assume(p, permutation=True)
    graph = _rewritten([p, x], [ot.matmul(known, x), ot.matmul(x, known)])
    assert _names(graph)["MatMul"] == 2


@pytest.mark.parametrize("shapes", [((2, 3), (4, 1)), ((0, 2), (3, 3)), ((1, 1), (2, 0))], ids=str)
def test_block_diagonal_matrices_times_vectors(shapes: Any) -> None:
    a, b, x, y = ot.dmatrix("a"), ot.dmatrix("b"), ot.dvector("x"), ot.dvector("y")
    blocks = linalg.block_diag(a, b)
    graph = _rewritten([a, b, x, y], [ot.dot(blocks, x), ot.dot(y, blocks)])
    assert "BlockDiag" not in _names(graph)
    rng = np.random.default_rng(6)
    given = [rng.standard_normal(s) for s in shapes]
    whole = spl.block_diag(*given)
    vectors = [rng.standard_normal(whole.shape[i]) for i in (1, 0)]
    found = _values(graph, *given, *vectors)
    np.testing.assert_allclose(found[0], whole @ vectors[0], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(found[1], vectors[1] @ whole, rtol=1e-13, atol=1e-15)
    with pytest.raises(ValueError, match=r"."):
        _values(graph, *given, np.ones(len(vectors[0]) + 1), vectors[1])


def test_the_factor_of_a_diagonal_matrix_with_nan_is_no_error() -> None:
    d = ot.dvector("d")
    graph = _rewritten([d], [linalg.cholesky(ot.diag(d))])
    assert "Cholesky" not in _names(graph)
    for values in ([4.0, 9.0], [4.0, np.nan], [np.nan, 4.0], [np.inf, 1.0], []):
        (found,) = og.evaluate(graph.outputs, {graph.inputs[0]: np.array(values)})
        np.testing.assert_array_equal(np.diagonal(found), np.sqrt(values))
    for values in ([4.0, 0.0], [-1.0, np.nan], [-np.inf, 1.0]):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            og.evaluate(graph.outputs, {graph.inputs[0]: np.array(values)})
