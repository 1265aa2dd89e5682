"""Laws over random well-typed graphs."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph.vectorize import vectorize_graph
from occelo_printing import to_python
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

DTYPES = ("float64", "float32", "int64", "int8", "bool")


def same(found: Any, expected: Any) -> None:
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@on_random_graphs(dtypes=DTYPES)
def test_values_have_the_inferred_types(graph: RandomGraph) -> None:
    for variable, value in zip(
        graph.outputs, og.evaluate(graph.outputs, graph.given()), strict=True
    ):
        assert value.dtype == variable.type.dtype
        assert variable.type.is_valid_value(value)


@on_random_graphs(dtypes=DTYPES)
def test_saved_and_printed_graphs_are_equal(graph: RandomGraph) -> None:
    wanted = og.digest(graph.outputs, graph.inputs)
    stream = io.BytesIO()
    og.save(stream, graph.outputs, graph.inputs)
    loaded = og.load(stream)
    assert og.digest(loaded.outputs, loaded.inputs) == wanted
    space: dict[str, Any] = {}
    exec(to_python(graph.outputs, graph.inputs), space)
    assert og.digest(space["outputs"], space["inputs"]) == wanted


@on_random_graphs(dtypes=DTYPES)
def test_copies_compute_the_same(graph: RandomGraph) -> None:
    expected = og.evaluate(graph.outputs, graph.given())
    made = og.FunctionGraph(graph.inputs, graph.outputs)
    made.check_integrity()
    same(og.evaluate(made.outputs, dict(zip(made.inputs, graph.values, strict=True))), expected)
    assert og.equal_computations(graph.outputs, made.outputs, graph.inputs, made.inputs)
    assert made.freeze() is og.FunctionGraph(graph.inputs, graph.outputs).freeze()


@on_random_graphs()
def test_gradients_have_the_types_of_their_variables_and_both_modes_agree(
    graph: RandomGraph,
) -> None:
    cost = sum((v.astype("float64").sum() for v in graph.outputs), start=0.0)
    gradients = og.grad(cost, graph.inputs, disconnected_inputs="ignore")
    for gradient, variable in zip(gradients, graph.inputs, strict=True):
        assert gradient.type.dtype == variable.type.dtype
        assert gradient.type.ndim == variable.type.ndim
    tangents = [v.type.make_variable() for v in graph.inputs]
    pushed = og.pushforward(cost, graph.inputs, tangents, disconnected_outputs="ignore")
    generator = np.random.default_rng(0)
    directions = [generator.normal(size=v.shape) for v in graph.values]
    point = graph.given() | dict(zip(tangents, directions, strict=True))
    values = og.evaluate([*gradients, pushed], point)
    inner = sum((g * d).sum() for g, d in zip(values[:-1], directions, strict=True))
    if np.all(np.isfinite(values[-1])) and np.isfinite(inner):
        np.testing.assert_allclose(values[-1], inner, rtol=1e-6, atol=1e-6)


@on_random_graphs(most=8)
def test_vectorized_graphs_are_loops(graph: RandomGraph) -> None:
    first = graph.inputs[0]
    batch = og.TensorType(first.type.dtype, (2, *first.type.shape)).make_variable()
    vectorized = vectorize_graph(graph.outputs, {first: batch})
    stacked = np.stack([graph.values[0], graph.values[0] * 0.5])
    rest = graph.given()
    whole = og.evaluate(vectorized, {**rest, batch: stacked})
    for k in range(2):
        expected = og.evaluate(graph.outputs, {**rest, first: stacked[k]})
        for out, found, wanted, many in zip(
            graph.outputs, whole, expected, vectorized, strict=True
        ):
            row = found[k] if many.ndim > out.ndim else found
            np.testing.assert_allclose(row, wanted, rtol=1e-9, atol=1e-12)
