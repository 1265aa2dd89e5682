"""Inferred facts against matrices: every fact that is inferred of a random expression holds for its value."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.control.facts import FACTS
from occelo_graph.ops.control.python_function import wrap_py
from occelo_printing import pprint
from occelo_rewrite import optimizer_query, rewrite_graph, rewriter_for
from occelo_rewrite.assumptions import assumptions_of

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
GRAPHS = 10_000 if THOROUGH else 500


def _is_selection(m: Any) -> bool:
    return bool(np.isin(m, (0, 1)).all() and (m.sum(1) == 1).all())


def _is_identity(m: Any) -> bool:
    return np.allclose(m, np.eye(len(m)))


HOLDS: dict[str, Any] = {
    "diagonal": lambda m: not np.any(m * (np.arange(len(m))[:, None] != np.arange(m.shape[1]))),
    "lower_triangular": lambda m: not np.triu(m, 1).any(),
    "upper_triangular": lambda m: not np.tril(m, -1).any(),
    "symmetric": lambda m: m.shape[0] == m.shape[1] and np.allclose(m, m.T, rtol=1e-12),
    "hermitian": lambda m: m.shape[0] == m.shape[1] and np.allclose(m, m.T, rtol=1e-12),
    "tridiagonal": lambda m: not (np.triu(m, 2).any() or np.tril(m, -2).any()),
    "unit_diagonal": lambda m: bool((np.diagonal(m) == 1).all()),
    "positive_semidefinite": lambda m: (
        m.shape[0] == m.shape[1]
        and np.allclose(m, m.T, rtol=1e-12)
        and np.linalg.eigvalsh(m).min(initial=0.0) >= -1e-9 * np.abs(m).max(initial=0.0)
    ),
    "positive_definite": lambda m: (
        m.shape[0] == m.shape[1]
        and np.array_equal(m, m.T)
        and np.linalg.eigvalsh(m).min(initial=1.0) > 0
    ),
    "orthogonal": lambda m: m.shape[0] == m.shape[1] and _is_identity(m @ m.T),
    "selection": _is_selection,
    "permutation": lambda m: _is_selection(m) and _is_selection(m.T),
    "unique_indices": lambda m: m.size == np.unique(m).size and (m >= 0).all(),
    "nonnegative": lambda m: not (m < 0).any(),
    "positive": lambda m: not (m <= 0).any(),
}


class Drawing:
    """Random expressions over matrices of which something is known, and the values of their inputs."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.given: dict[Any, Any] = {}

    def length(self) -> int:
        return int(self.random.choice([1, 2, 3, 3, 3]))

    def values(self, *lengths: int) -> Any:
        drawn = self.random.integers(-2, 3, size=lengths).astype(float)
        return np.where(self.random.integers(4, size=lengths) == 0, -0.0, drawn)

    def input(self, value: Any, **facts: bool) -> Any:
        static = [n if self.random.integers(2) else None for n in value.shape]
        variable = ot.TensorType("float64", static).make_variable()
        self.given[variable] = value
        return ot.assume(variable, **facts) if facts else variable

    def leaf(self) -> Any:
        n, m = self.length(), self.length()
        whole = self.values(n, m)
        square = self.values(n, n)
        row = square[0]
        choices = [
            lambda: ot.eye(n, m),
            lambda: ot.eye(n, m, 1),
            lambda: ot.eye(self.symbolic(n), self.symbolic(m)),
            lambda: ot.diag(self.input(row)),
            lambda: ot.diag(ot.constant(row)),
            lambda: ot.constant(np.diag(row)),
            lambda: ot.constant(np.tril(square)),
            lambda: ot.constant(square + square.T),
            lambda: ot.constant(np.eye(n)[::-1].copy()),
            lambda: ot.constant(whole),
            lambda: ot.constant(np.array([[2.0]])),
            lambda: ot.constant(np.abs(whole)),
            lambda: self.input(whole),
            lambda: self.input(square + square.T, symmetric=True),
            lambda: self.input(np.eye(n, m) * whole, diagonal=True),
            lambda: self.input(np.tril(whole), lower_triangular=True),
            lambda: self.input(np.triu(whole), upper_triangular=True),
            lambda: self.input(np.eye(n)[self.random.permutation(n)], permutation=True),
            lambda: self.input(np.eye(m)[self.random.integers(m, size=n)], selection=True),
            lambda: self.input(square @ square.T + np.eye(n), positive_definite=True),
            lambda: self.input(square @ square.T, positive_semidefinite=True),
            lambda: self.input(np.tril(square, -1) + np.eye(n), unit_diagonal=True),
            lambda: self.input(np.triu(np.tril(whole, 1), -1), tridiagonal=True),
            lambda: ot.diag(self.input(np.abs(row) + 1, positive=True)),
            lambda: self.input(np.where(whole == 0, whole, np.abs(whole)), nonnegative=True),
            lambda: self.input(np.abs(whole) + 1, positive=True),
        ]
        return choices[self.random.integers(len(choices))]()

    def symbolic(self, n: int) -> Any:
        variable = ot.lscalar()
        self.given[variable] = np.int64(n)
        return variable

    def expression(self, depth: int) -> Any:
        if depth == 0 or self.random.integers(6) == 0:
            return self.leaf()
        a = self.expression(depth - 1)
        b = a if self.random.integers(6) == 0 else self.expression(depth - 1)
        choices = [
            lambda: a.T,
            lambda: ot.dot(a, b),
            lambda: ot.dot(a, a.T),
            lambda: a + a.T,
            lambda: ot.add(a, b, a.T),
            lambda: a * a.T,
            lambda: a - a.T,
            lambda: a + b,
            lambda: a - b,
            lambda: a * b,
            lambda: ot.mul(a, b, a),
            lambda: a / b,
            lambda: a * 2.0,
            lambda: a / 2.0,
            lambda: a + 1.0,
            lambda: a * b[0],
            lambda: a * b[:, :1],
            lambda: a / b[0, 0],
            lambda: ot.neg(a),
            lambda: ot.abs(a),
            lambda: ot.sqr(a),
            lambda: ot.sqrt(a),
            lambda: ot.reciprocal(a),
            lambda: ot.exp(a),
            lambda: ot.maximum(a, b),
            lambda: ot.second(a, b[0, 0]),
            lambda: a.sum(0, keepdims=True),
            lambda: a.prod(1, keepdims=True),
            lambda: a.max(0, keepdims=True),
            lambda: a[:, :2],
            lambda: a[::-1],
            lambda: a.reshape((-1, 1)),
            lambda: ot.join(0, a, b),
            lambda: ot.specify_shape(a, (None, None)),
            lambda: ot.cast(ot.cast(a, "int8") * 100, "float64"),
            lambda: a[:2, :2],
            lambda: a[1:, 1:],
            lambda: a[-2:, -2:],
            lambda: a[::-1, ::-1],
            lambda: a[::2, ::2],
            lambda: a[-1:, 1:],
            lambda: a[self.symbolic(-1) :, self.symbolic(-1) :],
            lambda: ot.stack([a, a])[1],
            lambda: ot.diag(ot.diagonal(a)),
            lambda: ot.dot(ot.dot(a, b), a.T),
            lambda: ot.dot(a * b[0], a.T),
            lambda: ot.dot(a.T, a * b[:, :1]),
            lambda: ot.dot(a, a.T) + ot.eye(a.shape[0]),
            lambda: ot.dot(a, a.T) / ot.abs(b[0, 0]),
            lambda: a.sum(1)[:, None] + a.sum(1)[None],
            lambda: a.sum(1)[:, None] * a.sum(1)[None, :],
            lambda: ot.broadcast_to(a, (2, *a.shape))[0],
        ]
        return choices[self.random.integers(len(choices))]()


def _drawn(seed: int) -> tuple[Drawing, Any, Any] | None:
    drawing = Drawing(seed)
    try:
        with np.errstate(all="ignore"):
            built = drawing.expression(3)
            inner = [v for node in og.toposort([built]) for v in node.outputs]
            og.evaluate(inner, drawing.given)  # also what decides no more than a shape
            value = og.evaluate(built, drawing.given)
    except (ValueError, IndexError):
        return None  # lengths that do not fit
    return drawing, built, value


@pytest.mark.parametrize("start", range(0, GRAPHS, 100))
def test_every_fact_that_is_claimed_holds(start: int) -> None:
    claims = 0
    for seed in range(start, start + 100):
        found = _drawn(seed)
        if found is None:
            continue
        _, built, value = found
        graph = og.FunctionGraph(outputs=[built], clone=True)
        known = assumptions_of(graph)
        known.drain(graph)
        finite = bool(np.isfinite(value).all())
        if not finite:
            value = np.where(np.isfinite(value), value, 0.0)
        for fact in FACTS:
            told = known.holds(graph, graph.outputs[0], fact)
            if fact == "positive_definite" and not finite:
                continue  # of no matrix that is infinite
            if told is not None:
                claims += 1
                assert HOLDS[fact](value) == told, (seed, fact, pprint(built), value)
    assert claims > 20


@pytest.mark.parametrize("start", range(0, GRAPHS, 100))
def test_rewriting_by_facts_keeps_values(start: int) -> None:
    rewriter = rewriter_for(optimizer_query("o3"))
    for seed in range(start, start + 100):
        found = _drawn(seed)
        if found is None:
            continue
        drawing, built, value = found
        inputs = list(drawing.given)
        graph = og.FunctionGraph(inputs, [built], clone=True)
        rewriter.rewrite(graph)
        given = dict(zip(graph.inputs, drawing.given.values(), strict=True))
        result = og.evaluate(graph.outputs[0], given)
        assert result.shape == value.shape, (seed, pprint(built))
        inner = [v for node in og.toposort([built]) for v in node.outputs]
        values = og.evaluate(inner, drawing.given)
        if all(np.isfinite(v).all() for v in values):
            scale = max((np.abs(v).max(initial=1.0) for v in values), default=1.0)
            np.testing.assert_allclose(
                result, value, rtol=1e-9, atol=1e-12 * scale, err_msg=f"{seed}"
            )


P, S, C = ot.dmatrix("P"), ot.dmatrix("S"), ot.dtensor3("C")
Y, SUMS = ot.dmatrix("Y"), S.sum(1)
DEFINITE, SYMMETRIC = ot.assume(P, positive_definite=True), ot.assume(Y, symmetric=True)
BATCH = ot.assume(C, positive_definite=True)
WIDE = ot.tensor("wide", dtype="float64", shape=(3, 5))


@pytest.mark.parametrize(
    ("built", "fact"),
    [
        (S @ S.T, "positive_semidefinite"),
        (S @ DEFINITE @ S.T, "positive_semidefinite"),
        (S @ (SYMMETRIC @ S.T), "symmetric"),
        (S.T @ ot.diag(ot.exp(P[0])) @ S + ot.eye(S.shape[1]), "positive_definite"),
        ((S * ot.exp(P[0])) @ S.T + ot.eye(S.shape[0]), "positive_definite"),
        (WIDE @ WIDE.T + 0.5 * ot.eye(3), "positive_definite"),
        (ot.eye(S.shape[0]) * 2.0, "positive_definite"),
        (C @ ot.matrix_transpose(C) + ot.eye(C.shape[1]), "positive_definite"),
        (DEFINITE / 3.0 + DEFINITE * (S @ S.T + ot.eye(S.shape[0])), "positive_definite"),
        (DEFINITE[1:3, 1:3], "positive_definite"),
        (DEFINITE[::-1, ::-1], "positive_definite"),
        (BATCH[0], "positive_definite"),
        (DEFINITE[None] + BATCH, "positive_definite"),
        (ot.broadcast_to(DEFINITE, (4, 3, 3)), "positive_definite"),
        (ot.specify_shape(DEFINITE, (3, 3)), "positive_definite"),
        (ot.exp(SYMMETRIC), "symmetric"),
        (SUMS[:, None] + SUMS[None], "symmetric"),
        (ot.diagonal(DEFINITE), "positive"),
    ],
)
def test_structure_is_known_as_written_and_after_rewriting(built: Any, fact: str) -> None:
    inputs = [v for v in (P, S, Y, C, WIDE) if v in og.graph_inputs([built])]
    graph = og.FunctionGraph(inputs, [built], clone=True)
    known = assumptions_of(graph)
    known.drain(graph)
    assert known.holds(graph, graph.outputs[0], fact)
    graph = og.FunctionGraph(inputs, [built], clone=True)
    rewriter_for(optimizer_query("stabilize")).rewrite(graph)
    assert assumptions_of(graph).holds(graph, graph.outputs[0], fact)


def test_an_accumulated_product_is_as_definite_as_it_is_written() -> None:
    graph = og.FunctionGraph([S], [S @ S.T + ot.eye(S.shape[0])], clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    assert type(graph.outputs[0].owner.op).__name__ == "Gemm"
    assert assumptions_of(graph).holds(graph, graph.outputs[0], "positive_definite")


@pytest.mark.parametrize(
    ("built", "fact"),
    [
        (S @ SYMMETRIC @ S.T, "positive_semidefinite"),
        (S.T @ (S * P[0]), "symmetric"),
        (DEFINITE[1:, 2:], "symmetric"),
        (ot.assume(S, lower_triangular=True)[-2:, -2:], "lower_triangular"),
        (ot.assume(S, lower_triangular=True)[::-1, ::-1], "lower_triangular"),
        (DEFINITE - 0.5 * DEFINITE * DEFINITE, "positive_semidefinite"),
        (ot.diagonal(DEFINITE, 1), "positive"),
        (ot.constant(np.array([[1.0, 1.0], [1.0, 1.0]])), "positive_definite"),
    ],
)
def test_what_does_not_follow_is_not_known(built: Any, fact: str) -> None:
    graph = og.FunctionGraph(outputs=[built], clone=True)
    known = assumptions_of(graph)
    known.drain(graph)
    assert known.holds(graph, graph.outputs[0], fact) is None


X3 = ot.tensor("x3", dtype="float64", shape=(3, 3))
A = np.arange(9.0).reshape(3, 3)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: (X3 * np.array([[2.0]])).T, 2 * A.T),
        (lambda: ot.dot(X3 * np.array([[2.0]]), X3), 2 * A @ A),
        (lambda: ot.dot(X3, ot.diag(X3[:1, 0]) + X3), A @ (A + A[0, 0])),
        (lambda: (ot.diag(X3[0, :1]) + X3[:, :1]).T, (A[:, :1] + A[:1, :1]).T),
    ],
)
def test_a_matrix_that_is_broadcast_says_nothing_of_the_result(build: Any, expected: Any) -> None:
    built = build()
    graph = og.FunctionGraph([X3], [built], clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    np.testing.assert_array_equal(og.evaluate(graph.outputs[0], {graph.inputs[0]: A}), expected)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (1, 3), (3, 3)])
def test_a_transposed_diagonal_matrix_has_the_shape_of_the_transposed(shape: Any) -> None:
    n, m = ot.lscalars("n", "m")
    x = ot.dmatrix("x")
    built = [ot.eye(n, m).T, ot.assume(x, diagonal=True).T]
    graph = og.FunctionGraph([n, m, x], built, clone=True)
    rewriter_for(optimizer_query("o3")).rewrite(graph)
    given = dict(zip(graph.inputs, (*shape, np.eye(*shape)), strict=True))
    for found in og.evaluate(list(graph.outputs), given):
        np.testing.assert_array_equal(found, np.eye(*shape).T)


def test_a_quotient_by_a_negative_zero_is_negative() -> None:
    x = ot.dvector("x")
    zeros = np.array([-0.0, 0.0, -4.0, 4.0])
    for built, expected in (
        (ot.abs(1 / ot.sqrt(x)), [np.inf, np.inf, np.nan, 0.5]),
        (ot.abs(ot.reciprocal(ot.sqrt(x))), [np.inf, np.inf, np.nan, 0.5]),
        (ot.abs(ot.abs(x) / ot.sqrt(x)), [np.nan, np.nan, np.nan, 2.0]),
        (ot.abs(ot.exp(x) / ot.sqrt(x)), [np.inf, np.inf, np.nan, np.exp(4.0) / 2]),
    ):
        graph = og.FunctionGraph([x], [built], clone=True)
        rewriter_for(optimizer_query("o3")).rewrite(graph)
        np.testing.assert_allclose(
            og.evaluate(graph.outputs[0], {graph.inputs[0]: zeros}), expected, rtol=1e-15
        )


def test_a_rule_of_shapes_that_fails_is_told() -> None:
    x = ot.dvector("x")
    for rule, told in (
        (lambda node, shapes: shapes[7], "IndexError"),
        (lambda node, shapes: [(1, 2)], "as many lengths as it has dimensions"),
    ):
        called = wrap_py([ot.dvector], [ot.dvector], infer_shape=rule)(np.sin)
        with pytest.warns(UserWarning, match=told) as caught:
            rewrite_graph(called(x).shape)
        assert "test_facts.py:" in str(caught[0].message)


@pytest.mark.parametrize(
    ("build", "symmetric", "hermitian"),
    [
        (lambda x, y: x + x.T, True, None),
        (lambda x, y: x + x.conj().T, None, True),
        (lambda x, y: x + x.T.conj(), None, True),
        (lambda x, y: x * x.T, True, None),
        (lambda x, y: x - x.T, None, None),
        (lambda x, y: ot.add(x, y, x.T), None, None),
        (lambda x, y: ot.add(x, y, x.T, y.T), True, None),
        (lambda x, y: ot.add(x, x, x.T), None, None),
        (lambda x, y: (x + x.T) / 2.0, True, None),
    ],
)
def test_a_matrix_and_its_transpose(
    build: Any, symmetric: bool | None, hermitian: bool | None
) -> None:
    for make in (ot.zmatrix, ot.dmatrix):
        x, y = make("x"), make("y")
        graph = og.FunctionGraph(outputs=[build(x, y)], clone=True)
        told = [
            assumptions_of(graph).holds(graph, graph.outputs[0], f)
            for f in ("symmetric", "hermitian")
        ]
        real = symmetric or hermitian
        assert told == ([symmetric, hermitian] if make is not ot.dmatrix else [real, real])


@pytest.mark.parametrize("fact", ["lower_triangular", "unit_diagonal", "orthogonal"])
@pytest.mark.parametrize("factors", [20, 150])
def test_facts_of_long_products_are_found_without_deep_recursion(fact: str, factors: int) -> None:
    matrices = [ot.dmatrix() for _ in range(factors)]
    product: Any = ot.tril(matrices[0])
    for i, m in enumerate(matrices[1:]):
        product = ot.dot(product, ot.tril(m)) if i % 2 else ot.dot(ot.tril(m), product)
    graph = og.FunctionGraph(matrices, [product], clone=False)
    expected = True if fact == "lower_triangular" else None
    assert assumptions_of(graph).holds(graph, product, fact) is expected
