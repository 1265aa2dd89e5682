"""Whole graphs of linear algebra after rewriting: how often matrices are factored, and the values."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_rewrite import optimizer_query, rewrite_graph, rewriter_for

rng = np.random.default_rng(8)


def rewritten(inputs: list[Any], outputs: list[Any]) -> og.FunctionGraph:
    graph = og.FunctionGraph(inputs, outputs, clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    return graph


def ops_of(graph: og.FunctionGraph) -> Counter[str]:
    return Counter(type(node.op).__name__ for node in graph.apply_nodes)


def _name(node: Any) -> str:
    return type(node.op).__name__


def values_of(graph: og.FunctionGraph, *arrays: Any) -> list[Any]:
    return og.evaluate(list(graph.outputs), dict(zip(graph.inputs, arrays, strict=True)))


def definite(n: int, *batch: int) -> Any:
    x = rng.normal(size=(*batch, n, n))
    return x @ x.swapaxes(-1, -2) + n * np.eye(n)


def test_a_quadratic_form_and_a_determinant_share_one_factor() -> None:
    s, v = ot.dmatrix("s"), ot.dvector("v")
    a = ot.assume(s, positive_definite=True)
    density = -0.5 * (v @ linalg.inv(a) @ v + ot.log(linalg.det(a)))
    graph = rewritten([s, v], [density])
    counted = ops_of(graph)
    assert counted["Cholesky"] == 1
    assert not {"Inv", "Det", "SLogDet", "Solve"} & set(counted)
    matrix, vector = definite(5), rng.normal(size=5)
    expected = -0.5 * (
        vector @ np.linalg.solve(matrix, vector) + np.linalg.slogdet(matrix).logabsdet
    )
    np.testing.assert_allclose(values_of(graph, matrix, vector)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("lead", [(), (2,)])
def test_determinants_of_products_with_triangular_matrices_need_no_product(
    lead: tuple[int, ...],
) -> None:
    x, y = (ot.tensor(n, dtype="float64", shape=(*lead, 4, 4)) for n in "xy")
    lower = ot.tril(x)
    outputs = [linalg.slogdet(lower @ lower.mT)[1], *linalg.slogdet(-lower @ y)]
    graph = rewritten([x, y], outputs)
    counted = ops_of(graph)
    assert not {"Dot", "MatMul"} & set(counted)
    assert counted["SLogDet"] == 1
    given = [rng.normal(size=(*lead, 4, 4)) for _ in "xy"]
    tri = np.tril(given[0])
    expected = [
        np.linalg.slogdet(tri @ tri.swapaxes(-1, -2)).logabsdet,
        *np.linalg.slogdet(-tri @ given[1]),
    ]
    for found, wanted in zip(values_of(graph, *given), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-10)
    # a product of matrices that are not square
    wide = ot.tensor("w", dtype="float64", shape=(3, 5))
    assert "SLogDet" in ops_of(rewritten([wide], [linalg.slogdet(ot.tril(wide) @ wide.T)[1]]))


def test_the_value_and_the_gradient_of_a_density_share_one_factor() -> None:
    s, v = ot.dmatrix("s"), ot.dvector("v")
    a = ot.assume(s, positive_definite=True)
    density = v @ linalg.solve(a, v, assume_a="pos") + linalg.slogdet(a)[1]
    graph = rewritten([s, v], [density, og.grad(density, v)])
    assert ops_of(graph)["Cholesky"] == 1
    assert "Solve" not in ops_of(graph)
    matrix, vector = definite(4), rng.normal(size=4)
    value, slope = values_of(graph, matrix, vector)
    np.testing.assert_allclose(slope, 2 * np.linalg.solve(matrix, vector), rtol=1e-11)
    expected = vector @ np.linalg.solve(matrix, vector) + np.linalg.slogdet(matrix).logabsdet
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_the_gradient_of_a_density_by_its_matrix_takes_one_factor() -> None:
    s, v = ot.dmatrix("s"), ot.dvector("v")
    a = ot.assume(s, positive_definite=True)
    density = v @ linalg.inv(a) @ v + ot.log(linalg.det(a))
    graph = rewritten([s, v], [density, og.grad(density, s)])
    counted = ops_of(graph)
    assert counted["Cholesky"] == 1
    assert not {"Inv", "Det", "SLogDet", "Solve"} & set(counted)
    matrix, vector = definite(5), rng.normal(size=5)
    inverse = np.linalg.inv(matrix)
    expected = inverse - np.outer(inverse @ vector, inverse @ vector)
    np.testing.assert_allclose(values_of(graph, matrix, vector)[1], expected, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_products_with_inverses_are_solutions_over_batches(batch: tuple[int, ...]) -> None:
    kind = ot.TensorType("float64", (None,) * (len(batch) + 2))
    a, b = kind("a"), kind("b")
    graph = rewritten([a, b], [linalg.inv(a) @ b, b @ linalg.inv(a), linalg.inv(a) @ a[..., :1]])
    # three products read the inverse, which is then worth computing
    assert ops_of(graph)["Inv"] == 1
    for build, expected in (
        (lambda: linalg.inv(a) @ b, lambda x, y: np.linalg.solve(x, y)),
        (lambda: b @ linalg.inv(a), lambda x, y: y @ np.linalg.inv(x)),
    ):
        graph = rewritten([a, b], [build()])
        assert "Inv" not in ops_of(graph)
        x, y = definite(4, *batch), rng.normal(size=(*batch, 4, 4))
        np.testing.assert_allclose(values_of(graph, x, y)[0], expected(x, y), rtol=1e-10)


def test_the_factor_of_a_factor_times_its_transpose_has_a_positive_diagonal() -> None:
    x = ot.dmatrix("x")
    lower = ot.assume(ot.specify_shape(x, (3, 3)), lower_triangular=True)
    graph = rewritten([x], [linalg.cholesky(lower @ lower.T)])
    assert "Cholesky" not in ops_of(graph)
    matrix = np.tril(rng.normal(size=(3, 3)) + 2.0) * [1.0, -1.0, 1.0]
    np.testing.assert_allclose(
        values_of(graph, matrix)[0], np.linalg.cholesky(matrix @ matrix.T), rtol=1e-12
    )
    with pytest.raises(np.linalg.LinAlgError):
        values_of(graph, matrix * [1.0, 0.0, 1.0])


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_chains_of_products_are_multiplied_in_the_cheapest_order(order: tuple[int, ...]) -> None:
    lengths = [(40, 30), (30, 20), (20, 2)]
    shapes = [lengths[i] if order[0] == 0 else lengths[i][::-1] for i in order]
    factors = [ot.TensorType("float64", s)(f"x{i}") for i, s in enumerate(shapes)]
    x, y, z = factors
    written = (x @ y) @ z if order[0] == 0 else x @ (y @ z)
    graph = rewritten(factors, [written])
    widths = sorted(
        n.outputs[0].type.shape for n in graph.apply_nodes if type(n.op).__name__ == "Dot"
    )
    assert (40, 20) not in widths
    assert (20, 40) not in widths
    values = [rng.normal(size=s) for s in shapes]
    expected = values[0] @ values[1] @ values[2]
    np.testing.assert_allclose(values_of(graph, *values)[0], expected, rtol=1e-11)


def test_a_product_with_a_vector_at_its_end_forms_no_matrix() -> None:
    x = ot.TensorType("float64", (30, 20))("x")
    y = ot.TensorType("float64", (20, 25))("y")
    v = ot.TensorType("float64", (25,))("v")
    graph = rewritten([x, y, v], [(x @ y) @ v])
    assert all(n.outputs[0].type.ndim == 1 for n in graph.apply_nodes)


def test_strict_optimizers_leave_singular_matrices_as_errors() -> None:
    x = ot.TensorType("float64", (3, 3))("x")
    found = rewrite_graph(linalg.inv(linalg.inv(x)), include=("canonicalize",))
    assert found is x
    graph = og.FunctionGraph([x], [linalg.inv(linalg.inv(x))], clone=True)
    rewriter_for(optimizer_query("strict")).rewrite(graph)
    assert ops_of(graph)["Inv"] == 2


def test_a_triangle_that_is_cut_out_is_known_to_be_one() -> None:
    x = ot.dmatrix("x")
    b = ot.dvector("b")
    for build, reference in (
        (ot.tril, np.tril),
        (ot.triu, np.triu),
        (lambda v: ot.tril(v, -1) + ot.eye(v.shape[0]), lambda v: np.tril(v, -1) + np.eye(4)),
    ):
        graph = rewritten([x, b], [linalg.solve(build(x), b), linalg.det(build(x))])
        counted = ops_of(graph)
        assert counted["SolveTriangular"] == 1
        assert not {"Solve", "Det", "LuFactor"} & set(counted)
        matrix, vector = definite(4), rng.normal(size=4)
        solution, determinant = values_of(graph, matrix, vector)
        np.testing.assert_allclose(solution, np.linalg.solve(reference(matrix), vector), rtol=1e-9)
        np.testing.assert_allclose(determinant, np.linalg.det(reference(matrix)), rtol=1e-12)
    graph = rewritten([x, b], [linalg.solve(ot.tril(x, 1), b)])
    assert ops_of(graph)["Solve"] == 1


def test_a_low_rank_update_is_solved_by_its_small_part_where_asked_for() -> None:
    d, b = ot.dvector("d"), ot.dvector("b")
    u = ot.TensorType("float64", (None, 2))("u")
    a = ot.diag(d) + u @ u.T
    outputs = [linalg.solve(a, b), linalg.slogdet(a)[1]]
    usual = rewritten([d, u, b], outputs)
    factored = [n.inputs[0].type.shape for n in usual.apply_nodes if _name(n) == "LuFactor"]
    assert factored == [(None, None)]
    graph = og.FunctionGraph([d, u, b], outputs, clone=True)
    rewriter_for(optimizer_query("o3").including("low_rank")).rewrite(graph)
    factored = [n.inputs[0].type.shape for n in graph.apply_nodes if _name(n) == "LuFactor"]
    assert factored == [(2, 2)]
    values = rng.uniform(1, 2, 30), rng.normal(size=(30, 2)), rng.normal(size=30)
    matrix = np.diag(values[0]) + values[1] @ values[1].T
    solution, logarithm = values_of(graph, *values)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, values[2]), rtol=1e-11)
    np.testing.assert_allclose(logarithm, np.linalg.slogdet(matrix).logabsdet, rtol=1e-12)


def test_inverses_and_determinants_of_low_rank_updates_are_those_of_the_small_part() -> None:
    d, u = ot.dtensor3("d"), ot.TensorType("float64", (None, None, 2))("u")
    a = ot.assume(d, diagonal=True) + u @ ot.matrix_transpose(u)
    graph = og.FunctionGraph([d, u], [linalg.inv(a), linalg.det(a)], clone=True)
    rewriter_for(optimizer_query("o3").including("low_rank")).rewrite(graph)
    factored = [n.inputs[0] for n in graph.apply_nodes if _name(n) in ("LuFactor", "Inv", "Det")]
    assert [v.type.shape[-2:] for v in factored] == [(2, 2)]
    tall = rng.normal(size=(3, 8, 2))
    matrices = rng.uniform(1, 2, (3, 8, 1)) * np.eye(8)
    whole = matrices + tall @ tall.swapaxes(-1, -2)
    inverse, determinant = values_of(graph, matrices, tall)
    np.testing.assert_allclose(inverse, np.linalg.inv(whole), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(determinant, np.linalg.det(whole), rtol=1e-11)


def test_one_number_that_is_added_everywhere_is_no_diagonal_matrix() -> None:
    one, u = ot.TensorType("float64", (1, 1))("one"), ot.TensorType("float64", (None, 2))("u")
    a = ot.assume(one, diagonal=True) + ot.dot(u, u.T) + ot.diag(u[:, 0])
    b = ot.assume(one, diagonal=True) + ot.dot(u, u.T)
    values = np.array([[2.0]]), rng.uniform(1, 2, (2, 2))
    for outputs in ([linalg.inv(a), linalg.det(a)], [linalg.det(b), linalg.slogdet(b + a)[1]]):
        graph = og.FunctionGraph([one, u], outputs, clone=True)
        rewriter_for(optimizer_query("o3").including("low_rank")).rewrite(graph)
        wanted = og.evaluate(outputs, dict(zip((one, u), values, strict=True)))
        for found, each in zip(values_of(graph, *values), wanted, strict=True):
            np.testing.assert_allclose(found, each, rtol=1e-9, atol=1e-12)


def test_batches_of_quadratic_forms_and_determinants_share_factors() -> None:
    s, x = ot.dtensor3("s"), ot.dmatrix("x")
    a = ot.assume(s, positive_definite=True)
    forms = (
        (x[..., None, :] @ linalg.inv(a) @ x[..., None])[..., 0, 0],
        linalg.vecdot(x, linalg.solve(a, x, b_ndim=1)),
        (x * linalg.matvec(ot.matrix_transpose(linalg.inv(a)), x)).sum(-1),
    )
    matrices, vectors = definite(4, 3), rng.normal(size=(3, 4))
    expected = np.linalg.slogdet(matrices).logabsdet + (
        vectors * np.linalg.solve(matrices, vectors[..., None])[..., 0]
    ).sum(-1)
    for form in forms:
        graph = rewritten([s, x], [form + ot.log(linalg.det(a))])
        counted = ops_of(graph)
        assert counted["Cholesky"] == 1
        assert not {"Inv", "Det", "SLogDet", "Solve", "LuFactor"} & set(counted)
        np.testing.assert_allclose(values_of(graph, matrices, vectors)[0], expected, rtol=1e-11)
    slope = rewritten([s, x], [og.grad(ot.log(linalg.det(a)).sum(), s)])
    assert "Adjugate" not in ops_of(slope)
    np.testing.assert_allclose(values_of(slope, matrices, vectors)[0], np.linalg.inv(matrices))


def test_products_with_transposed_inverses_are_solutions() -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    matrix, other = definite(4) + rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    inverse = np.linalg.inv(matrix)
    for made, wanted in (
        (linalg.inv(a).T @ b, inverse.T @ other),
        (b @ linalg.inv(a).T, other @ inverse.T),
        (b[0] @ linalg.inv(a.T), other[0] @ inverse.T),
    ):
        graph = rewritten([a, b], [made])
        assert "Inv" not in ops_of(graph)
        np.testing.assert_allclose(values_of(graph, matrix, other)[0], wanted, rtol=1e-9)


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize(
    "build",
    [
        lambda x: linalg.det(ot.tril(x)),
        lambda x: linalg.slogdet(ot.triu(x))[0],
        lambda x: linalg.slogdet(ot.triu(x))[1],
        lambda x: linalg.det(ot.assume(x, lower_triangular=True, unit_diagonal=True)),
        lambda x: linalg.det(ot.matrix_transpose(x)),
        lambda x: linalg.inv(linalg.inv(x)),
        lambda x: linalg.inv(ot.tril(x)),
    ],
)
def test_matrices_that_are_not_square_stay_errors(build: Any, batch: tuple[int, ...]) -> None:
    x = ot.TensorType("float64", (None,) * (len(batch) + 2))("x")
    graph = rewritten([x], [build(x)])
    values_of(graph, np.broadcast_to(np.eye(3), (*batch, 3, 3)))
    for shape in ((2, 3), (3, 2)):
        with pytest.raises(ValueError, match="square"):
            values_of(graph, np.ones((*batch, *shape)))


def test_the_determinant_of_a_batch_of_unit_triangles_is_one() -> None:
    x = ot.dtensor3("x")
    unit = ot.assume(x, lower_triangular=True, unit_diagonal=True)
    graph = rewritten([x], [linalg.det(unit)])
    assert "Det" not in ops_of(graph)
    np.testing.assert_array_equal(values_of(graph, np.stack([np.eye(3)] * 2))[0], [1.0, 1.0])


def test_the_inverse_of_an_inverse_that_fails_stays_nan() -> None:
    x = ot.dtensor3("x")
    graph = rewritten([x], [linalg.inv(linalg.inv(x, on_error="nan"), on_error="nan")])
    found = values_of(graph, np.stack([2 * np.eye(2), np.ones((2, 2))]))[0]
    np.testing.assert_allclose(found[0], 2 * np.eye(2))
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("fact", ["diagonal", "orthogonal"])
def test_known_structure_does_not_make_a_matrix_definite(fact: str) -> None:
    x, b = ot.dmatrix("x"), ot.dvector("b")
    known = ot.assume(x, **{fact: True})
    matrix = np.diag([1.0, -1.0])
    graph = rewritten([x, b], [linalg.solve(known, b, assume_a="pos", on_error="nan")])
    assert np.isnan(values_of(graph, matrix, np.ones(2))[0]).all()
    graph = rewritten([x, b], [linalg.solve(known, b, assume_a="pos")])
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        values_of(graph, matrix, np.ones(2))
    np.testing.assert_array_equal(values_of(graph, np.eye(2), np.ones(2))[0], [1.0, 1.0])


SHARING = {
    "two solutions": lambda a, b: [linalg.solve(a, b), linalg.solve(a, 2 * a)],
    "a solution and its gradient": lambda a, b: [
        linalg.solve(a, b),
        *og.grad(ot.real(linalg.solve(a, b) ** 2).sum(), [a, b]),
    ],
    "transposed": lambda a, b: [linalg.solve(ot.matrix_transpose(a), b), linalg.det(a)],
    "conjugated": lambda a, b: [
        linalg.solve(ot.matrix_transpose(a).conj(), b),
        linalg.inv(a),
    ],
    "determinants": lambda a, b: [linalg.det(a), *linalg.slogdet(a)],
    "a logarithm and its gradient": lambda a, b: [
        linalg.slogdet(a)[1],
        og.grad(linalg.slogdet(a)[1].sum(), a),
    ],
    "the user's factors": lambda a, b: [linalg.lu_factor(a)[0], linalg.solve(a, b)],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("name", SHARING)
def test_results_of_one_matrix_share_its_factors(
    name: str, batch: tuple[int, ...], dtype: str
) -> None:
    kind = ot.TensorType(dtype, (None,) * (len(batch) + 2))
    a, b = kind("a"), kind("b")
    outputs = SHARING[name](a, b)
    graph = rewritten([a, b], outputs)
    counted = ops_of(graph)
    assert counted["LuFactor"] == 1
    assert not {"Inv", "Det", "SLogDet", "Solve"} & set(counted)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    for n in (4, 1, 0):
        x = rng.normal(size=(*batch, n, n)) + 3 * np.eye(n)
        y = rng.normal(size=(*batch, n, 2))
        if dtype.startswith("c"):
            x = x + 1j * rng.normal(size=x.shape)
        x, y = x.astype(dtype), y.astype(dtype)
        with np.errstate(divide="ignore"):
            expected = og.evaluate(outputs, {a: x, b: y})
            found = values_of(graph, x, y)
        for got, wanted in zip(found, expected, strict=True):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def test_matrices_of_which_only_a_part_is_read_share_no_lu() -> None:
    x, b = ot.dmatrix("x"), ot.dmatrix("b")
    outputs = [linalg.solve(x, b, assume_a="sym"), linalg.solve(x, b, assume_a="pos")]
    assert "LuFactor" not in ops_of(rewritten([x, b], [*outputs, linalg.inv(x)]))
    assert ops_of(rewritten([x, b], [linalg.solve(x, b), linalg.solve(b, x)]))["Solve"] == 2


def test_a_singular_matrix_stays_an_error_where_factors_are_shared() -> None:
    x, b = ot.dtensor3("x"), ot.dtensor3("b")
    batch = np.stack([np.eye(2), np.ones((2, 2))])
    nan = [linalg.solve(x, b, on_error="nan"), linalg.inv(x, on_error="nan")]
    for found in values_of(rewritten([x, b], nan), batch, batch):
        assert np.isnan(found).all(axis=(1, 2)).tolist() == [False, True]
    for outputs in ([linalg.solve(x, b), linalg.det(x)], [linalg.inv(x), linalg.det(x)]):
        with pytest.raises(np.linalg.LinAlgError, match="Singular matrix, at index 1 of the batch"):
            values_of(rewritten([x, b], outputs), batch, batch)
    for shape in ((2, 3), (3, 2)):
        with pytest.raises(ValueError, match="square"):
            values_of(rewritten([x], [linalg.inv(x), linalg.det(x)]), np.ones((1, *shape)))


@pytest.mark.parametrize("batch", [(), (2,)])
def test_the_gradient_of_a_logarithm_of_a_determinant_is_an_inverse(batch: tuple[int, ...]) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None,) * (len(batch) + 2))
    for cost in (ot.log(linalg.det(x)), 1 / linalg.det(x)):
        graph = rewritten([x], [og.grad(cost.sum(), x)])
        assert "Adjugate" not in ops_of(graph)
        matrix = definite(4, *batch)
        expected = np.linalg.inv(matrix).swapaxes(-1, -2)
        if cost.owner.op != ot.log:
            expected = -expected / np.linalg.det(matrix)[..., None, None]
        np.testing.assert_allclose(values_of(graph, matrix)[0], expected, rtol=1e-10)
    graph = rewritten([x], [og.grad(linalg.det(x).sum(), x)])
    assert "Adjugate" in ops_of(graph)
    singular = np.ones((*batch, 2, 2))
    np.testing.assert_allclose(
        values_of(graph, singular)[0],
        np.broadcast_to([[1, -1], [-1, 1]], singular.shape),
        atol=1e-12,
    )


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_the_determinant_of_a_permutation_counts_exchanges(n: int, batch: tuple[int, ...]) -> None:
    kind = ot.TensorType("float64", (None,) * (len(batch) + 2))
    p = kind("p")
    known = ot.assume(p, permutation=True)
    graph = rewritten([p], [linalg.det(known), *linalg.slogdet(known)])
    assert not {"Det", "SLogDet", "LuFactor"} & set(ops_of(graph))
    for _ in range(4):
        order = rng.permuted(np.broadcast_to(np.arange(n), (*batch, n)), axis=-1)
        matrix = np.eye(n)[order]
        wanted = [np.linalg.det(matrix), *np.linalg.slogdet(matrix)]
        for got, each in zip(values_of(graph, matrix), wanted, strict=True):
            np.testing.assert_array_equal(got, each)


def test_products_with_permutations_read_rows_and_columns() -> None:
    p, x, v = ot.dmatrix("p"), ot.dmatrix("x"), ot.dvector("v")
    known = ot.assume(p, permutation=True)
    graph = rewritten([p, x], [known @ x, x @ known])
    assert [v.shape for v in values_of(graph, np.zeros((0, 0)), np.zeros((0, 0)))] == [(0, 0)] * 2
    graph = rewritten([p, x, v], [known @ x, x @ known, v @ known, known.T @ x])
    assert not {"Dot", "Gemm", "Gemv"} & set(ops_of(graph))
    matrix = np.eye(4)[[2, 0, 3, 1]]
    a, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    wanted = [matrix @ a, a @ matrix, b @ matrix, matrix.T @ a]
    for got, each in zip(values_of(graph, matrix, a, b), wanted, strict=True):
        np.testing.assert_array_equal(got, each)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_eigenvalues_of_hermitian_matrices_are_those_of_eigh(
    dtype: str, batch: tuple[int, ...]
) -> None:
    kind = ot.TensorType(dtype, (None,) * (len(batch) + 2))
    x = kind("x")
    known = ot.assume(x, hermitian=True)
    graph = rewritten([x], [linalg.eigvals(known), *linalg.eig(known)])
    assert not {"Eig", "Eigvals"} & set(ops_of(graph))
    tolerance = 1e-4 if dtype == "float32" else 1e-10
    for n in (4, 1, 0):
        a = rng.normal(size=(*batch, n, n)) + (1j if dtype[0] == "c" else 0) * rng.normal(size=n)
        a = (a + a.swapaxes(-1, -2).conj()).astype(dtype)
        alone, values, vectors = values_of(graph, a)
        written = og.evaluate([linalg.eigvals(x)], {x: a})[0]
        assert alone.dtype == written.dtype
        assert vectors.dtype == written.dtype
        for got in (alone, values):
            np.testing.assert_allclose(np.sort(got.real), np.sort(written.real), atol=tolerance)
        back = (vectors * values[..., None, :]) @ vectors.swapaxes(-1, -2).conj()
        np.testing.assert_allclose(back, a, atol=tolerance)
    strict = og.FunctionGraph([x], [linalg.eigvals(known)], clone=True)
    rewriter_for(optimizer_query("strict")).rewrite(strict)
    assert "Eigvals" in ops_of(strict)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("batch", [(4,), (2, 3), (0,), (1,)])
def test_many_equations_with_one_matrix_are_one(batch: tuple[int, ...], dtype: str) -> None:
    a = ot.TensorType(dtype, (None, None))("a")
    b = ot.TensorType(dtype, (None,) * (len(batch) + 1))("b")
    columns = ot.stack([b, 2 * b], axis=-1)
    outputs = [
        linalg.solve(a, b, b_ndim=1),
        linalg.solve_triangular(a, columns),
        linalg.solve(a, columns, assume_a="sym"),
    ]
    graph = rewritten([a, b], outputs)
    solving = [n for n in graph.apply_nodes if _name(n) in ("Solve", "SolveTriangular", "LuSolve")]
    assert solving
    assert all(n.inputs[-1].type.ndim == 2 for n in solving)
    tolerance = 1e-3 if dtype == "float32" else 1e-10
    for n in (3, 1):
        x = rng.normal(size=(n, n)) + 3 * np.eye(n)
        x = (x + x.T).astype(dtype)
        y = rng.normal(size=(*batch, n)).astype(dtype)
        both = np.stack([y, 2 * y], axis=-1)
        wanted = [
            np.linalg.solve(x, y[..., None])[..., 0],
            np.linalg.solve(np.triu(x), both),
            np.linalg.solve(x, both),
        ]
        for got, each in zip(values_of(graph, x, y), wanted, strict=True):
            assert got.dtype == each.dtype
            assert got.shape == each.shape
            np.testing.assert_allclose(got, each, rtol=tolerance, atol=tolerance)
    gradient = rewritten([a, b], og.grad(ot.real(outputs[0]).sum(), [a, b]))
    value = [rng.normal(size=(3, 3)) + 3 * np.eye(3), rng.normal(size=(*batch, 3))]
    value = [v.astype(dtype) for v in value]
    expected = og.evaluate(og.grad(ot.real(outputs[0]).sum(), [a, b]), {a: value[0], b: value[1]})
    for got, each in zip(values_of(gradient, *value), expected, strict=True):
        np.testing.assert_allclose(got, each, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("batch", [(), (2,), (2, 3)])
def test_traces_and_diagonals_of_products_form_no_product(batch: tuple[int, ...]) -> None:
    kind = ot.TensorType("float64", (None,) * (len(batch) + 2))
    x, y = kind("x"), kind("y")
    product = x @ y
    outputs = [ot.trace(product, 0, -2, -1)]
    diagonals = rewritten([x, y], [ot.diagonal(product, 0, -2, -1)])
    graph = rewritten([x, y], outputs)
    assert not {"Dot", "MatMul", "ExtractDiag"} & {*ops_of(graph), *ops_of(diagonals)}
    for m, n, k in ((3, 4, 3), (2, 3, 4), (4, 1, 2), (0, 2, 1), (2, 0, 2)):
        a, b = rng.normal(size=(*batch, m, n)), rng.normal(size=(*batch, n, k))
        wanted = np.diagonal(a @ b, 0, -2, -1)
        np.testing.assert_allclose(values_of(diagonals, a, b)[0], wanted, atol=1e-12)
        np.testing.assert_allclose(values_of(graph, a, b)[0], wanted.sum(-1), atol=1e-12)
    with pytest.raises(ValueError, match=r"shape|length|match|broadcast"):
        values_of(graph, np.ones((*batch, 2, 3)), np.ones((*batch, 2, 2)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_the_spectrum_of_a_diagonal_matrix_is_its_diagonal(dtype: str) -> None:
    d = ot.TensorType(dtype, (None,))("d")
    x = ot.diag(d)
    graph = rewritten([d], [linalg.eigvalsh(x), *linalg.eigh(x), linalg.svdvals(x)])
    assert not {"Eigh", "Eigvalsh", "SingularValues"} & set(ops_of(graph))
    for given in ([3.0, -1.0, 2.0, -1.0, 0.0, -4.0], [1.5], []):
        values = np.asarray(given, dtype)
        matrix = np.diag(values)
        alone, found, vectors, sizes = values_of(graph, values)
        for got, wanted in (
            (alone, np.linalg.eigvalsh(matrix)),
            (found, np.linalg.eigvalsh(matrix)),
            (sizes, np.linalg.svd(matrix, compute_uv=False)),
        ):
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, atol=1e-6)
        assert vectors.dtype == dtype
        np.testing.assert_array_equal((vectors * found) @ vectors.T, matrix)


@pytest.mark.parametrize(
    ("values", "op"),
    [
        (lambda x: linalg.svd(x)[1], "SingularValues"),
        (lambda x: linalg.svd(x, full_matrices=False).S, "SingularValues"),
        (lambda x: linalg.eigh(x, "U")[0], "Eigvalsh"),
        (lambda x: linalg.eig(x)[0].real, "Eigvals"),
        (lambda x: linalg.qr(x)[1], "QRTriangle"),
    ],
)
def test_vectors_that_nothing_reads_are_not_computed(values: Any, op: str) -> None:
    x = ot.dtensor3("x")
    graph = rewritten([x], [values(x)])
    found = ops_of(graph)
    assert found[op] == 1
    assert not found.keys() & {"SVD", "FullSVD", "Eigh", "Eig", "QR"}
    given = definite(4, 3)
    expected = og.evaluate(values(x), {x: given})
    np.testing.assert_allclose(values_of(graph, given)[0], expected, rtol=1e-9)


@pytest.mark.parametrize("definite_too", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 30])
def test_tridiagonal_matrices_are_solved_by_their_diagonals(n: int, definite_too: bool) -> None:
    x, b = ot.dtensor3("x"), ot.dmatrix("b")
    stated = ot.assume(x, tridiagonal=True)
    if definite_too:
        stated = ot.assume(stated, positive_definite=True)
    graph = rewritten([x, b], [linalg.solve(stated, b)])
    assert ops_of(graph)["SolvePositiveBanded" if definite_too else "SolveBanded"] == 1
    near = np.tri(n, k=1) * np.tri(n, k=1).T
    rows = np.random.default_rng(0).standard_normal((2, n, n)) * near
    given = (rows + rows.swapaxes(-1, -2) if definite_too else rows) + 6 * np.eye(n)
    right = np.random.default_rng(1).standard_normal((n, 3))
    expected = np.linalg.solve(given, np.broadcast_to(right, (2, n, 3)))
    np.testing.assert_allclose(values_of(graph, given, right)[0], expected, atol=1e-12)


def test_small_constants_are_not_solved_as_tridiagonal_matrices() -> None:
    b = ot.dvector("b")
    graph = rewritten([b], [linalg.solve(np.array([[2.0, 1.0], [1.0, -3.0]]), b)])
    assert ops_of(graph)["Solve"] == 1


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_logarithms_of_determinants_do_not_overflow(dtype: str) -> None:
    x = ot.matrix("x", dtype=dtype)
    graph = rewritten([x], [ot.log(linalg.det(x)), ot.log(ot.abs(linalg.det(x)))])
    assert ops_of(graph)["SLogDet"] == 1
    turn = 1 if dtype == "float64" else np.exp(0.5j)
    given = np.diag([1e200, 1e200 * turn, 1e200])
    logarithm, size = values_of(graph, given)
    np.testing.assert_allclose(logarithm, 3 * np.log(1e200) + np.log(turn), rtol=1e-14)
    np.testing.assert_allclose(size, 3 * np.log(1e200), rtol=1e-14)
