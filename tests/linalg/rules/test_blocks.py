"""Kronecker products and block-diagonal matrices: what rules compute with their blocks equals what the whole matrix gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_rewrite import optimizer_query, rewriter_for

npl: Any = np.linalg
MAKERS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "kron": (linalg.kron, np.kron),
    "block_diag": (linalg.block_diag, lambda a, b: _block_diag(a, b)),
}


def _block_diag(*blocks: Any) -> Any:
    rows, columns = (sum(b.shape[k] for b in blocks) for k in (0, 1))
    whole = np.zeros((rows, columns), np.result_type(*blocks))
    i = j = 0
    for b in blocks:
        whole[i : i + b.shape[0], j : j + b.shape[1]] = b
        i, j = i + b.shape[0], j + b.shape[1]
    return whole


def rewritten(inputs: list[Any], outputs: list[Any]) -> og.FunctionGraph:
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    return graph


def evaluated(graph: og.FunctionGraph, *arrays: Any) -> list[Any]:
    return og.evaluate(list(graph.outputs), dict(zip(graph.inputs, arrays, strict=True)))


def names(graph: og.FunctionGraph) -> set[str]:
    return {type(n.op).__name__ for n in graph.apply_nodes}


def largest(graph: og.FunctionGraph, *arrays: Any) -> int:
    """The elements of the largest intermediate value."""
    inner = [v for n in graph.toposort() for v in n.outputs if v.type.is_array]
    given = dict(zip(graph.inputs, arrays, strict=True))
    return max(np.size(v) for v in og.evaluate(inner, given))


def square(x: Any) -> Any:
    """A matrix that is known to be square."""
    return linalg.inv(x)


def definite(x: Any) -> Any:
    return ot.assume(x, positive_definite=True)


# of each: the graph of the matrix and a right-hand side, NumPy's, the facts that it needs, ops that must be gone
CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = {
    "inverse": (lambda m, y: linalg.inv(m), lambda m, y: npl.inv(m), None),
    "solution": (lambda m, y: linalg.solve(m, y), npl.solve, None),
    "solution of the transposed": (
        lambda m, y: linalg.solve(m.T, y),
        lambda m, y: npl.solve(m.T, y),
        None,
    ),
    "product with an inverse": (
        lambda m, y: linalg.inv(m) @ y,
        lambda m, y: npl.inv(m) @ y,
        None,
    ),
    "definite solution": (
        lambda m, y: linalg.solve(m, y, assume_a="pos"),
        npl.solve,
        definite,
    ),
    "solution by factor": (
        lambda m, y: linalg.cho_solve((linalg.cholesky(m), True), y),
        npl.solve,
        definite,
    ),
    "factor": (lambda m, y: linalg.cholesky(m), lambda m, y: npl.cholesky(m), definite),
    "determinant": (lambda m, y: linalg.det(m), lambda m, y: npl.det(m), definite),
    "logarithm": (lambda m, y: linalg.slogdet(m)[1], lambda m, y: npl.slogdet(m)[1], definite),
    "sign": (lambda m, y: linalg.slogdet(m)[0], lambda m, y: npl.slogdet(m)[0], definite),
    "product": (lambda m, y: m @ y, lambda m, y: m @ y, None),
    "product with a vector": (lambda m, y: m @ y[:, 0], lambda m, y: m @ y[:, 0], None),
    "product from the left": (lambda m, y: y.T @ m, lambda m, y: y.T @ m, None),
    "vector from the left": (lambda m, y: y[:, 0] @ m, lambda m, y: y[:, 0] @ m, None),
    "diagonal": (lambda m, y: ot.diagonal(m), lambda m, y: np.diagonal(m), definite),
    "eigenvalues": (lambda m, y: linalg.eigvalsh(m), lambda m, y: npl.eigvalsh(m), definite),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_whole_matrix(name: str, maker: str, dtype: str) -> None:
    function, reference, facts = CASES[name]
    make, whole = MAKERS[maker]
    a, b, y = (ot.TensorType(dtype, (None, None)).make_variable() for _ in "aby")
    known = facts or (lambda x: x)
    made = function(make(known(a), known(b)), y)
    graph = rewritten([a, b, y], [made])
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    rng = np.random.default_rng(5)
    for m, p, k in ((3, 4, 2), (1, 2, 1), (2, 1, 3)):
        left, right = (rng.normal(size=(n, n)) + 2 * np.eye(n) for n in (m, p))
        if dtype.startswith("c"):
            left = left + 1j * rng.normal(size=(m, m))
            right = right + 1j * rng.normal(size=(p, p))
        if facts is definite:
            left, right = (v @ v.conj().T + np.eye(len(v)) for v in (left, right))
        left, right = left.astype(dtype), right.astype(dtype)
        matrix = whole(left, right)
        given = rng.normal(size=(len(matrix), k)).astype(dtype)
        wanted = reference(matrix, given)
        (got,) = evaluated(graph, left, right, given)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(
            got, wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max()
        )
        if m == 3 and name != "eigenvalues" and np.shape(wanted) != matrix.shape:
            assert largest(graph, left, right, given) < matrix.size


@pytest.mark.parametrize("maker", MAKERS)
def test_eigenvectors(maker: str) -> None:
    make, whole = MAKERS[maker]
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    matrix = make(ot.assume(a, symmetric=True), ot.assume(b, symmetric=True))
    graph = rewritten([a, b], list(linalg.eigh(matrix)))
    rng = np.random.default_rng(2)
    left, right = (v + v.T for v in (rng.normal(size=(3, 3)), rng.normal(size=(2, 2))))
    right[0, 0] = right[1, 1]
    expected = whole(left, right)
    values, vectors = evaluated(graph, left, right)
    np.testing.assert_allclose(values, npl.eigvalsh(expected), rtol=1e-10)
    np.testing.assert_allclose((vectors * values) @ vectors.T, expected, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    np.testing.assert_array_equal(evaluated(graph, np.eye(3), np.eye(2))[0], np.ones(len(values)))


@pytest.mark.parametrize("maker", MAKERS)
def test_blocks_that_are_not_square_give_what_the_whole_matrix_gives(maker: str) -> None:
    make, whole = MAKERS[maker]
    a, b, y = ot.dmatrix("a"), ot.dmatrix("b"), ot.dmatrix("y")
    matrix = make(a, b)
    outputs = [linalg.det(matrix), linalg.slogdet(matrix)[0], ot.diagonal(matrix), matrix @ y]
    graph = rewritten([a, b, y], outputs)
    rng = np.random.default_rng(3)
    left, right = rng.normal(size=(2, 3)), rng.normal(size=(3, 2))
    expected = whole(left, right)
    given = rng.normal(size=(len(expected), 2))
    found = evaluated(graph, left, right, given)
    wanted = [npl.det(expected), npl.slogdet(expected)[0], np.diagonal(expected), expected @ given]
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-10)
    for got, each in zip(found[2:], wanted[2:], strict=True):
        np.testing.assert_allclose(got, each, atol=1e-12)


@pytest.mark.parametrize("static", [False, True])
def test_functions_of_blocks_that_are_not_square(static: bool) -> None:
    """The whole matrix is square, and has an exponential and eigenvalues; it is singular, and no rule may fail at that."""
    rng = np.random.default_rng(4)
    for lengths in (((2, 3), (3, 2)), ((3, 2), (2, 3))):
        arrays = [rng.normal(size=shape) for shape in lengths]
        a, b = (ot.TensorType("float64", s if static else (None, None))() for s in lengths)
        matrix = linalg.block_diag(a, b)
        outputs = [linalg.expm(matrix), linalg.eigvalsh(matrix), linalg.slogdet(matrix)[0]]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of rules that fail
            found = evaluated(rewritten([a, b], outputs), *arrays)
        wanted = og.evaluate(outputs, dict(zip((a, b), arrays, strict=True)))
        for got, each in zip(found[:2], wanted[:2], strict=True):
            np.testing.assert_allclose(got, each, atol=1e-12)
        singular = [
            linalg.inv(matrix),
            linalg.cholesky(matrix),
            linalg.solve(matrix, np.ones(5)),
            linalg.solve_triangular(matrix, np.ones(5), lower=True),
        ]
        if not static:  # the rules apply, and the first block is an error then
            continue
        for output in singular:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                graph = rewritten([a, b], [output])
            with pytest.raises(np.linalg.LinAlgError):
                evaluated(graph, *arrays)


def test_definite_factors_are_not_guessed() -> None:
    """-a and -b are no positive definite matrices, but their Kronecker product is."""
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    graph = rewritten([a, b], [linalg.cholesky(linalg.kron(a, b))])
    left, right = -np.diag([1.0, 2.0]), -np.array([[2.0, 1.0], [1.0, 3.0]])
    found = evaluated(graph, left, right)[0]
    np.testing.assert_allclose(found, npl.cholesky(np.kron(left, right)), rtol=1e-12)


def test_a_singular_block_is_an_error_and_all_of_the_matrix_nan() -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    for make, _ in MAKERS.values():
        graph = rewritten([a, b], [linalg.inv(make(a, b))])
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
            evaluated(graph, np.eye(2), np.ones((2, 2)))
        graph = rewritten([a, b], [linalg.inv(make(a, b), on_error="nan")])
        assert np.isnan(evaluated(graph, np.eye(2), np.ones((2, 2)))[0]).all()


@pytest.mark.parametrize("batch", [(2,), (2, 3)])
def test_batches_of_blocks(batch: tuple[int, ...]) -> None:
    kind = ot.TensorType("float64", (None,) * (len(batch) + 2))
    a, b, y = kind("a"), kind("b"), kind("y")
    matrix = linalg.block_diag(definite(a), definite(b), definite(a))
    outputs = [
        linalg.inv(matrix),
        linalg.solve(matrix, y),
        linalg.slogdet(matrix)[1],
        linalg.cholesky(matrix),
        ot.matmul(matrix, y),
        ot.diagonal(matrix, 0, -2, -1),
    ]
    graph = rewritten([a, b, y], outputs)
    rng = np.random.default_rng(4)
    left, right = (rng.normal(size=(*batch, n, n)) for n in (2, 3))
    left, right = (v @ v.swapaxes(-1, -2) + np.eye(v.shape[-1]) for v in (left, right))
    given = rng.normal(size=(*batch, 7, 2))
    found = evaluated(graph, left, right, given)
    for index in np.ndindex(batch):
        whole = _block_diag(left[index], right[index], left[index])
        wanted = [
            npl.inv(whole),
            npl.solve(whole, given[index]),
            npl.slogdet(whole)[1],
            npl.cholesky(whole),
            whole @ given[index],
            np.diagonal(whole),
        ]
        for got, each in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got[index], each, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("maker", MAKERS)
def test_gradients_go_to_the_blocks(maker: str) -> None:
    make, whole = MAKERS[maker]
    a, b, y = ot.dmatrix("a"), ot.dmatrix("b"), ot.dvector("y")
    matrix = make(definite(a), definite(b))
    density = y @ linalg.solve(matrix, y) + linalg.slogdet(matrix)[1]
    graph = rewritten([a, b, y], og.grad(density, [a, b]))
    rng = np.random.default_rng(6)
    left, right = (
        v @ v.T + np.eye(len(v)) for v in (rng.normal(size=(2, 2)), rng.normal(size=(3, 3)))
    )
    vector = rng.normal(size=len(whole(left, right)))
    found = evaluated(graph, left, right, vector)

    def value(first: Any, second: Any) -> Any:
        made = whole(first, second)
        return vector @ npl.solve(made, vector) + npl.slogdet(made)[1]

    for position, (got, point) in enumerate(zip(found, (left, right), strict=True)):
        for index in np.ndindex(point.shape):
            step = np.zeros_like(point)
            step[index] = 1e-6
            up, down = ([left, right] for _ in range(2))
            up[position], down[position] = point + step, point - step
            slope = (value(*up) - value(*down)) / 2e-6
            np.testing.assert_allclose(got[index], slope, rtol=1e-5, atol=1e-6)


def test_facts_of_blocks() -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    factor = linalg.cholesky(a)
    for make, _ in MAKERS.values():
        graph = rewritten([a, b], [linalg.solve(make(factor, factor), b, b_ndim=2)])
        assert "Solve" not in names(graph)
        assert "LuFactor" not in names(graph)
        graph = rewritten([a, b], [make(factor, a)])
        assert not {"Kron", "BlockDiag"} & names(graph)
