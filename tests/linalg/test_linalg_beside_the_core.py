"""Linear algebra beside what the core tests: conventions of gradients, messages, facts, results that nothing reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_linalg.ops.determinant import SLogDet
from occelo_rewrite import node_rewriter
from occelo_rewrite.assumptions import assumptions_of
from occelo_rewrite.pipeline import rewriter_for
from occelo_rewrite.queries import optimizer_query
from occelo_rewrite.rewriter import in2out


def test_the_gradient_of_the_norm_of_a_zero_vector_is_zero() -> None:
    x = ot.dvector("x")
    np.testing.assert_array_equal(
        og.evaluate(og.grad(linalg.norm(x), x), {x: np.zeros(3)}), np.zeros(3)
    )


@pytest.mark.parametrize("batch", [1, 2])
def test_a_batch_of_equations_that_turns_out_1_is_told_how_it_could_broadcast(batch: int) -> None:
    x, y = ot.dtensor3("x"), ot.dtensor3("y")
    given = {x: np.ones((batch, 2, 2)) + np.eye(2), y: np.ones((3, 2, 2))}
    with pytest.raises(
        ValueError, match=r"atch dimensions do not match: \(.*\(3, 2, 2\)"
    ) as caught:
        og.evaluate(linalg.solve(x, y), given)
    assert str(caught.value).endswith("(specify_broadcastable says so)") == (batch == 1)
    known = linalg.solve(ot.specify_broadcastable(x, 0), y)
    if batch == 1:
        assert og.evaluate(known, given).shape == (3, 2, 2)


@pytest.mark.parametrize("read", [[0], [1], [0, 1]])
@pytest.mark.parametrize("as_dict", [False, True])
def test_nothing_is_computed_for_results_that_nothing_reads(read: list[int], as_dict: bool) -> None:
    applied: list[int] = []

    @node_rewriter([SLogDet])
    def by_parts(fgraph: Any, node: Any) -> Any:
        applied.append(1)
        new = [ot.sgn(ot.prod(ot.diag(node.inputs[0]))), ot.log(ot.diag(node.inputs[0])).sum()]
        return dict(zip(node.outputs, new, strict=True)) if as_dict else new

    x = ot.dmatrix("x")
    parts = linalg.slogdet(x)
    fgraph = og.FunctionGraph([x], [parts[i] for i in read], clone=False)
    in2out(by_parts).rewrite(fgraph)
    assert applied
    ops = {n.op for n in fgraph.apply_nodes}
    assert (ot.sgn in ops, ot.log in ops) == (0 in read, 1 in read)
    for node in fgraph.apply_nodes:
        assert any(fgraph.clients[v] for v in node.outputs), node


P, S = ot.dmatrix("P"), ot.dmatrix("S")
FACTOR, DEFINITE = linalg.cholesky(S), ot.assume(P, positive_definite=True)


@pytest.mark.parametrize(
    ("built", "fact"),
    [
        (linalg.inv(DEFINITE), "positive_definite"),
        (FACTOR @ FACTOR.T, "positive_definite"),
        (S.T @ linalg.solve(DEFINITE, S), "positive_semidefinite"),
    ],
)
def test_structure_is_known_as_written_and_after_rewriting(built: Any, fact: str) -> None:
    inputs = [v for v in (P, S) if v in og.graph_inputs([built])]
    graph = og.FunctionGraph(inputs, [built], clone=True)
    known = assumptions_of(graph)
    known.drain(graph)
    assert known.holds(graph, graph.outputs[0], fact)
    graph = og.FunctionGraph(inputs, [built], clone=True)
    rewriter_for(optimizer_query("stabilize")).rewrite(graph)
    assert assumptions_of(graph).holds(graph, graph.outputs[0], fact)
