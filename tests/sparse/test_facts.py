"""Facts about sparse matrices: what is inferred holds for values, and what rules make of it is the same without sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import occelo_compile as oc
import occelo_graph as og
import occelo_sparse as sparse
from occelo_graph import tensor as ot
from occelo_graph.ops.control.facts import FACTS
from occelo_rewrite.assumptions import assumptions_of
from occelo_sparse.facts import has_order, is_symmetric
from occelo_sparse.ops.assembling import properties
from occelo_sparse.ops.merging import sum_duplicates

ORDERS = ("sorted_indices", "canonical")
MODES = ("py", "native")


def known(x: Any) -> set[str]:
    """The facts that are inferred for a sparse variable."""
    values, indices, offsets, extent = properties(x)
    rows, columns, _ = extent.type.shape
    graph = og.FunctionGraph(outputs=[values, indices, offsets], clone=False)
    feature = assumptions_of(graph)

    def ask(variable: Any, fact: str) -> bool | None:
        return feature.holds(graph, variable, fact)

    facts = {fact for fact in ORDERS if has_order(ask, fact, indices, offsets)}
    return facts | (
        {"symmetric"}
        if is_symmetric(ask, values, indices, offsets, rows is not None and rows == columns)
        else set()
    )


def true_of(value: Any) -> set[str]:
    """The facts that hold for a value, found line by line."""
    lines = [value.indices[a:b] for a, b in zip(value.indptr, value.indptr[1:], strict=False)]
    facts = set[str]()
    if all((np.diff(each) >= 0).all() for each in lines):
        facts.add("sorted_indices")
    if all((np.diff(each) > 0).all() for each in lines):
        facts.add("canonical")
    dense = value.toarray()
    if dense.shape[0] == dense.shape[1] and np.allclose(dense, dense.T, rtol=1e-12):
        facts.add("symmetric")
    return facts


def drawn(rng: Any, format: str, *facts: str) -> Any:
    """A square matrix with the facts; without them in no order, and some places are stored twice."""
    n = int(rng.integers(0, 6))
    dense = rng.integers(1, 4, (n, n)) * (rng.random((n, n)) < 0.6).astype("float64")
    dense = dense + dense.T if "symmetric" in facts else dense
    rows, columns = dense.nonzero()
    values = dense[rows, columns]
    if "canonical" not in facts:
        rows, columns, values = (np.repeat(v, 2) for v in (rows, columns, values))
    order = np.arange(len(rows)) if "sorted_indices" in facts else rng.permutation(len(rows))
    lines, indices = (rows, columns) if format == "csr" else (columns, rows)
    by_line = order[np.lexsort((indices[order], lines[order]))] if facts else order
    by_line = by_line[np.argsort(lines[by_line], kind="stable")]
    offsets = np.searchsorted(lines[by_line], np.arange(n + 1))
    cls = sp.csr_matrix if format == "csr" else sp.csc_matrix
    return cls((values[by_line], indices[by_line], offsets), shape=(n, n))


RESULTS: dict[str, Any] = {
    "itself": lambda A, B: A,
    "transpose": lambda A, B: A.T,
    "values": lambda A, B: sparse.structured_exp(2.0 * A) + 0 * A,
    "negative": lambda A, B: -A * 2.0,
    "square of stored": lambda A, B: sparse.sqr(A),
    "other format": lambda A, B: A.tocsc() if A.format == "csr" else A.tocsr(),
    "in order": lambda A, B: sparse.ensure_sorted_indices(A),
    "without duplicates": lambda A, B: sum_duplicates(A),
    "without zeros": lambda A, B: sparse.remove0(A),
    "clean": lambda A, B: sparse.clean(A),
    "sum": lambda A, B: A + B,
    "product": lambda A, B: A * B,
    "larger": lambda A, B: sparse.maximum(A, B),
    "true product": lambda A, B: sparse.true_dot(A, B),
    "lines": lambda A, B: A[1:3],
    "lines in turn": lambda A, B: A[::-1],
    "indices": lambda A, B: A[:, ::2],
    "indices in turn": lambda A, B: A[:, ::-1],
    "both in turn": lambda A, B: A[::-1, ::-1],
    "list": lambda A, B: A[[0, 0]],
    "vstack": lambda A, B: sparse.vstack([A, B], format="csr"),
    "hstack": lambda A, B: sparse.hstack([A, B]),
    "blocks": lambda A, B: sparse.block_diag(A, B),
    "Kronecker": lambda A, B: sparse.kron(A, B),
    "diagonal": lambda A, B: sparse.square_diagonal(sparse.diag(A)),
    "from dense": lambda A, B: sparse.csc_from_dense(A.toarray()),
    "ones": lambda A, B: sparse.sp_ones_like(A),
}


@pytest.mark.parametrize("what", RESULTS)
def test_facts_that_are_inferred_hold(what: str) -> None:
    rng = np.random.default_rng([7, *map(ord, what)])
    for format in ("csr", "csc"):
        for stated in ((), ("sorted_indices",), ("canonical", "sorted_indices"),
                       ("canonical", "sorted_indices", "symmetric")):  # fmt: skip
            A, B = (sparse.matrix(format, name) for name in "AB")
            told = dict.fromkeys(stated, True)
            a, b = (sparse.assume(each, **told) if told else each for each in (A, B))
            result = RESULTS[what](a, b)
            inferred = known(result)
            f = oc.function([A, B], result, mode="py", on_unused_input="ignore")
            plain = oc.function([A, B], RESULTS[what](A, B), mode="py", on_unused_input="ignore")
            for _ in range(4):
                while True:
                    values = [drawn(rng, format, *stated) for _ in range(2)]
                    n, m = (each.shape[0] for each in values)
                    if n and (n == m or what in ("blocks", "Kronecker")):
                        break
                value = f(*values)
                assert inferred <= true_of(value), (format, stated)
                np.testing.assert_array_equal(value.toarray(), plain(*values).toarray())
            if what in ("itself", "transpose", "lines", "list", "blocks", "ones", "negative"):
                assert set(ORDERS) & set(stated) <= inferred
            if what in (
                "itself",
                "transpose",
                "negative",
                "sum",
                "product",
                "clean",
                "other format",
            ):
                assert ("symmetric" in stated) == ("symmetric" in inferred)
            if what in ("sum", "product", "from dense", "true product", "without duplicates"):
                assert "canonical" in inferred
            if what in ("other format", "in order", "clean", "Kronecker"):
                assert "sorted_indices" in inferred


def test_constants_are_examined() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        for format in ("csr", "csc"):
            for facts in ((), ("canonical", "sorted_indices"),
                          ("canonical", "sorted_indices", "symmetric")):  # fmt: skip
                value = drawn(rng, format, *facts)
                inferred = known(sparse.constant(value))
                assert inferred & set(ORDERS) == true_of(value) & set(ORDERS)
                assert inferred <= true_of(value)
                if "canonical" in inferred:
                    assert inferred == true_of(value)
    # values that are not finite equal nothing, and a structure that is none has no facts
    value = sp.csr_matrix([[np.nan]])
    assert "symmetric" not in known(sparse.constant(value))
    wrong = sparse.CSR(np.ones(2), np.array([0, 1]), np.array([0, 3, 2]), (2, 2))
    assert known(wrong) == set()


def names(f: Any) -> set[str]:
    return {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}


SORTING = {"ArgSort", "Sort", "OrderOfPlaces", "DistinctPlaces", "SearchSorted"}


@pytest.mark.parametrize("mode", MODES)
def test_what_is_in_order_is_not_sorted_again(mode: str) -> None:
    A = sparse.csr_matrix("A")
    stated = sparse.assume(A, canonical=True)
    value = drawn(np.random.default_rng(3), "csr", "canonical", "sorted_indices")
    for function in (sparse.ensure_sorted_indices, sum_duplicates, sparse.clean):
        result = function(stated)
        cost = (sparse.csm_data(result) ** 2).sum()
        f = oc.function([A], [result, og.grad(cost, A)], mode=mode)
        assert not names(f) & SORTING or function is sparse.clean
        assert "ArgSort" not in names(f)
        same, slope = f(value)
        np.testing.assert_array_equal(same.toarray(), value.toarray())
        np.testing.assert_array_equal(slope.data, 2 * value.data)
        assert names(oc.function([A], function(A), mode=mode)) & SORTING
    twice = sparse.ensure_sorted_indices(sparse.ensure_sorted_indices(A))
    f = oc.function([A], twice, mode=mode)
    assert sum(type(n.op).__name__ == "OrderOfPlaces" for n in f.maker.fgraph.apply_nodes) == 1
    unordered = drawn(np.random.default_rng(4), "csr")
    ordered = f(unordered)
    assert "sorted_indices" in true_of(ordered)
    np.testing.assert_array_equal(ordered.toarray(), unordered.toarray())
    constant = oc.function([], sparse.ensure_sorted_indices(unordered), mode=mode)
    assert not names(constant) & SORTING


@pytest.mark.parametrize("mode", MODES)
def test_the_transpose_of_a_symmetric_matrix_is_itself(mode: str) -> None:
    rng = np.random.default_rng(5)
    A, x, X = sparse.csc_matrix("A"), ot.dvector("x"), ot.dmatrix("X")
    S = sparse.assume(A, symmetric=True)
    results = [S.T @ x, x @ S, S @ X, *og.grad(x @ (2.0 * S @ x), [A, x])]
    f = oc.function([A, x, X], results, mode=mode)
    assert "ScatteredProduct" not in names(f)
    value = drawn(rng, "csc", "symmetric", "canonical", "sorted_indices")
    vector, columns = rng.normal(size=len(value.indptr) - 1), rng.normal(size=(value.shape[0], 3))
    made, dense = f(value, vector, columns), value.toarray()
    expected = [dense @ vector, vector @ dense, dense @ columns, None, 4 * dense @ vector]
    for own, wanted in zip(made, expected, strict=True):
        if wanted is not None:
            np.testing.assert_allclose(own, wanted, rtol=1e-12)
    outer = 2 * np.outer(vector, vector)
    np.testing.assert_allclose(made[3].toarray(), outer * (dense != 0), rtol=1e-12)
    assert "ScatteredProduct" in names(oc.function([A, x], A @ x, mode=mode))


def test_equations_with_a_symmetric_matrix_are_one() -> None:
    A, b = sparse.csr_matrix("A"), ot.dvector("b")
    S = sparse.assume(A, symmetric=True)
    outputs = [sparse.spsolve(S, b), sparse.spsolve(S.T, b)]
    f = oc.function([A, b], outputs)
    solved = [n for n in f.maker.fgraph.apply_nodes if type(n.op).__name__ == "SparseSolve"]
    assert len(solved) == 1
    value = sp.csr_matrix([[3.0, 1.0], [1.0, -2.0]])
    np.testing.assert_allclose(f(value, [1.0, 2.0])[1], np.linalg.solve(value.toarray(), [1, 2]))


def test_precision_of_constants_and_a_parameter_is_symmetric() -> None:
    alpha, x = ot.dscalar("alpha"), ot.dvector("x")
    W, D = sp.csr_matrix([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]), sp.csr_matrix(np.diag([1.0, 2, 1]))
    P = sparse.add(D, -(sparse.as_sparse_variable(W) * alpha))
    assert known(P) == {"sorted_indices", "canonical", "symmetric"}
    f = oc.function([alpha, x], [P.T @ x, og.grad(x @ (P @ x), x)])
    assert "ScatteredProduct" not in names(f)
    dense = (D - 0.3 * W).toarray()
    vector = np.array([1.0, 2.0, -4.0])
    np.testing.assert_allclose(f(0.3, vector), [dense @ vector, 2 * dense @ vector])


def test_facts_of_one_structure_are_not_those_of_another() -> None:
    A, B = sparse.csr_matrix("A"), sparse.csr_matrix("B")
    S = sparse.assume(A, canonical=True, symmetric=True)
    mixed = sparse.CSR(sparse.csm_data(S), sparse.csm_indices(S), sparse.csm_indptr(B), B.shape)
    assert known(mixed) == set()
    # constant parts of a matrix that is not square equal their transpose, and the matrix does not
    wide = sparse.CSR(np.ones(2), np.array([1, 0]), np.array([0, 1, 2]), (2, 3))
    x = ot.dvector()
    np.testing.assert_array_equal(oc.function([x], wide.T @ x)([1.0, 2.0]), [2.0, 1.0, 0.0])
    n = ot.lscalar()
    grown = sparse.CSR(np.ones(2), np.array([1, 0]), np.array([0, 1, 2]), (2, n))
    both = grown + grown
    for each, factor in ((grown, 1), (both, 2)):
        f = oc.function([x, n], each.T @ x)
        np.testing.assert_array_equal(f([1.0, 2.0], 4), np.multiply([2.0, 1, 0, 0], factor))


def test_statements_that_are_refused() -> None:
    A = sparse.csr_matrix("A")
    with pytest.raises(TypeError, match="needs something"):
        sparse.assume(A)
    with pytest.raises(TypeError, match="sparse"):
        sparse.assume(ot.dmatrix(), symmetric=True)
    with pytest.raises(ValueError, match="square"):
        sparse.assume(sparse.csr_matrix(shape=(2, 3)), symmetric=True)
    assert FACTS["canonical"].implies == ("sorted_indices",)
