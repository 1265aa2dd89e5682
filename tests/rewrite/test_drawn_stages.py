"""The rewrites of whole stages on random graphs that they apply to, tested as single rules are.

Each test checks that the stage applied, and that value, dtype, shape and gradient are preserved. A graph with in-place
ops has no gradient, so for these stages the graph of the gradient is rewritten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_rewrite import optimizer_query, rewriter_for
from occelo_rewrite.fusion.composite import Composite

DRAWS = 200 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 20
Draw = tuple[list[Any], list[Any]]
UNARY = (ot.exp, ot.sin, ot.cos, ot.tanh, ot.sigmoid, ot.sqr, ot.neg, ot.arctan)
BINARY = (ot.add, ot.mul, ot.sub, ot.maximum, ot.arctan2)


def elementwise(random: np.random.Generator, leaves: Sequence[Any], nodes: int) -> Any:
    """A graph of elementwise functions in which every node is used."""
    made = [random.choice(np.array(UNARY, object))(v) for v in leaves]
    for _ in range(nodes):
        function = random.choice(np.array(UNARY, object))
        joined = random.choice(np.array(BINARY, object))
        at = random.integers(len(made))
        made[at] = joined(made[at], function(made[random.integers(len(made))]))
    out = made[0]
    for other in made[1:]:
        out = out + ot.sin(other)
    return out


def fused(random: np.random.Generator) -> Draw:
    """Functions over matrices, rows and numbers."""
    x, y = ot.dmatrices("x", "y")
    row = ot.dvector("row")
    number = ot.dscalar("number")
    return [x, y, row, number], [elementwise(random, [x, y, row, number], random.integers(1, 8))]


def updated(kind: type[og.Op]) -> Callable[[np.random.Generator], Draw]:
    """A term and a product, with numbers before both."""

    def draw(random: np.random.Generator) -> Draw:
        x, y = ot.dmatrices("x", "y")
        row, number = ot.dvector("row"), ot.dscalar("number")
        scale: Any = number if random.random() < 0.5 else float(random.integers(2, 5))
        left = x.T if random.random() < 0.5 else x
        if kind is Gemm:
            term, product = y, ot.dot(left, y)
        elif kind is Gemv:
            term, product = row, ot.dot(left, row)
        else:
            term, product = left, ot.outer(row, row)
        if random.random() < 0.5:
            term = term * 0.5
        out = term + scale * product if random.random() < 0.5 else term - scale * product
        return [x, y, row, number], [out]

    return draw


def overwritten(random: np.random.Generator) -> Draw:
    """Functions of a product that nothing else needs."""
    inputs, (out,) = fused(random)
    x, y = inputs[:2]
    return inputs, [elementwise(random, [ot.dot(x, y)], random.integers(1, 4)), out.sum()]


def written(random: np.random.Generator) -> Draw:
    """A part of a product that nothing else needs is set, or added to."""
    inputs, (out,) = fused(random)
    x, y, _, number = inputs
    whole = ot.dot(x, y)
    keys = (0, slice(1, None), (slice(None), -1), np.array([2, 0]), (slice(None, None, 2), 1))
    part = whole[keys[random.integers(len(keys))]]
    write = ot.set_subtensor if random.random() < 0.5 else ot.inc_subtensor
    return inputs, [write(part, ot.sin(number)), out]


def blas_overwritten(random: np.random.Generator) -> Draw:
    """A product is added to a term that nothing else needs."""
    inputs, _ = fused(random)
    x, y, row, number = inputs
    if random.random() < 0.5:
        return inputs, [ot.tanh(ot.dot(y, x)) + number * ot.dot(x, y)]
    return inputs, [ot.tanh(ot.dot(y, row)) + number * ot.dot(x, row)]


def has_composite(graph: og.FunctionGraph) -> bool:
    return any(isinstance(getattr(n.op, "scalar_op", None), Composite) for n in graph.apply_nodes)


def has(kind: type[og.Op]) -> Callable[[og.FunctionGraph], bool]:
    return lambda graph: any(isinstance(n.op, kind) for n in graph.apply_nodes)


def overwrites(family: str) -> Callable[[og.FunctionGraph], bool]:
    return lambda graph: any(
        n.op.destroy_map and type(n.op).__module__.startswith(f"occelo_graph.ops.{family}")
        for n in graph.apply_nodes
    )


STAGES = [
    pytest.param(fused, has_composite, True, id="elemwise_fusion"),
    pytest.param(updated(Gemm), has(Gemm), True, id="BlasOpt-gemm"),
    pytest.param(updated(Gemv), has(Gemv), True, id="BlasOpt-gemv"),
    pytest.param(updated(Ger), has(Ger), True, id="BlasOpt-ger"),
    pytest.param(overwritten, overwrites("elemwise"), False, id="inplace_elemwise"),
    pytest.param(written, overwrites("index"), False, id="inplace_subtensor"),
    pytest.param(blas_overwritten, overwrites("blas"), False, id="InplaceBlasOpt"),
]


def rewritten(
    inputs: Sequence[Any], outputs: Sequence[Any], without: tuple[str, ...] = ()
) -> og.FunctionGraph:
    made = og.FunctionGraph(list(inputs), list(outputs))
    rewriter_for(optimizer_query("fast_run").excluding(*without)).rewrite(made)
    made.check_integrity()
    return made


def run(graph: og.FunctionGraph, values: Sequence[Any]) -> list[Any]:
    """Compute a graph in its own order, and see that the arguments stay as they are."""
    given = [np.array(v) for v in values]
    held: dict[Any, Any] = dict(zip(graph.inputs, given, strict=True))
    for node in graph.toposort():
        arrays = [v.data if isinstance(v, og.Constant) else held[v] for v in node.inputs]
        held.update(zip(node.outputs, node.op.kernel(node)(*arrays), strict=True))
    for now, before in zip(given, values, strict=True):
        np.testing.assert_array_equal(now, before)
    return [v.data if isinstance(v, og.Constant) else held[v] for v in graph.outputs]


def same(found: Sequence[Any], expected: Sequence[Any]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("draw", "fired", "differentiable"), STAGES)
def test_a_stage_on_what_it_looks_for(
    draw: Callable[[np.random.Generator], Draw],
    fired: Callable[[og.FunctionGraph], bool],
    differentiable: bool,
) -> None:
    for seed in range(DRAWS):
        random = np.random.default_rng(seed)
        inputs, outputs = draw(random)
        values: list[Any] = [random.uniform(-1, 1, (3,) * v.type.ndim) for v in inputs]
        values = [np.asarray(v) for v in values]
        given = dict(zip(inputs, values, strict=True))
        made = rewritten(inputs, outputs)
        assert fired(made), f"seed {seed}: {made}"
        same(run(made, values), og.evaluate(outputs, given))
        cost = sum((ot.sin(o).sum() for o in outputs), ot.constant(0.0))
        slopes = og.grad(cost, inputs, disconnected_inputs="ignore")
        expected = og.evaluate(slopes, given)
        same(run(rewritten(inputs, slopes), values), expected)
        if differentiable:
            plain = rewritten(inputs, outputs, without=("inplace",))
            assert fired(plain)
            cost = sum((ot.sin(o).sum() for o in plain.outputs), ot.constant(0.0))
            of_plain = og.grad(cost, plain.inputs, disconnected_inputs="ignore")
            same(
                og.evaluate(of_plain, dict(zip(plain.inputs, values, strict=True))),
                expected,
            )
