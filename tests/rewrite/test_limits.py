"""Limits of rewriters: rules without end stop and are named, rules that end do not reach a limit, and what stops is right."""

from __future__ import annotations

import functools
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.inner_graph import OpFromGraph
from occelo_rewrite import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    MergeOptimizer,
    NotConvergedError,
    RewriteLimitWarning,
    SequentialGraphRewriter,
    in2out,
    node_rewriter,
    out2in,
)
from occelo_rewrite.limits import LEAST
from occelo_rewrite.rules.inner_graphs import RULES as OF_INNER_GRAPHS

EXPAND = OF_INNER_GRAPHS[-1].rules

VALUE = np.array([0.3, -0.2])


@node_rewriter([ot.mul])
def mul_to_quotient(fgraph: Any, node: Any) -> Any:
    """x y = x / (1 / y), for tests."""
    x, y = node.inputs
    return [x / (1.0 / y)]


@node_rewriter([ot.true_div])
def quotient_to_mul(fgraph: Any, node: Any) -> Any:
    """x / (1 / y) = x y, for tests."""
    x, below = node.inputs
    inner = below.owner
    return [x * inner.inputs[1]] if inner is not None and inner.op == node.op else None


@node_rewriter([ot.neg])
def neg_to_difference(fgraph: Any, node: Any) -> Any:
    """-x = 0 - x, for tests."""
    return [ot.sub(ot.zeros_like(node.inputs[0]), node.inputs[0])]


@node_rewriter([ot.sub])
def difference_to_product(fgraph: Any, node: Any) -> Any:
    """0 - x = -1 x, for tests."""
    return [ot.mul(node.inputs[1], -1.0)]


@node_rewriter([ot.mul])
def product_to_neg(fgraph: Any, node: Any) -> Any:
    """-1 x = -x, for tests."""
    return [-node.inputs[0]]


@node_rewriter([ot.neg])
def growing(fgraph: Any, node: Any) -> Any:
    """-x = -(x + 0), with a new number each time, for tests."""
    return [-(node.inputs[0] + 1e-300 * len(fgraph.apply_nodes))]


@node_rewriter([ot.sin])
def doubling(fgraph: Any, node: Any) -> Any:
    """sin(x) = (sin(x + 0) + sin(x - 0)) / 2, with new numbers each time, for tests."""
    x, small = node.inputs[0], 1e-300 * len(fgraph.apply_nodes)
    return [(ot.sin(x + small) + ot.sin(x - small)) / 2.0]


@node_rewriter([ot.cos])
def operand_again(fgraph: Any, node: Any) -> Any:
    """cos(x) = cos(x + 0): the node stays, and its operand is replaced, for tests."""
    x = node.inputs[0]
    return {x: x + 1e-300 * len(fgraph.apply_nodes)} if x.owner is not None else None


@node_rewriter([ot.exp])
def into_an_inner_graph(fgraph: Any, node: Any) -> Any:
    """exp(x) = f(x) with the inner graph f, for tests."""
    inner = ot.dvector()
    return [OpFromGraph([inner], [ot.exp(inner)])(node.inputs[0])]


class Restless(GraphRewriter):
    """Puts a sum where another stands."""

    def apply(self, fgraph: Any) -> None:
        out = fgraph.outputs[0]
        fgraph.replace(out, ot.add(*out.owner.inputs), reason="restless")


ENDLESS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "two rules": (lambda x: x * (x + 1.0), [mul_to_quotient, quotient_to_mul]),
    "three rules": (lambda x: -x, [neg_to_difference, difference_to_product, product_to_neg]),
    "growing": (lambda x: -x, [growing]),
    "doubling": (ot.sin, [doubling]),
    "a node that stays": (lambda x: ot.cos(x * 2.0), [operand_again]),
    "inner graphs": (ot.exp, [into_an_inner_graph, *EXPAND]),
    "a rewriter": (lambda x: x + 1.0, [Restless()]),
}


def graph_of(build: Callable[[Any], Any]) -> Any:
    x = ot.dvector("x")
    return og.FunctionGraph([x], [build(x)])


def names(rules: list[Any]) -> set[str]:
    return set(map(str, rules))


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize("case", ENDLESS)
def test_rules_without_end_stop_once_and_are_named(case: str, merging: bool) -> None:
    build, rules = ENDLESS[case]
    graph = graph_of(build)
    wanted = og.evaluate(graph.outputs[0], {graph.inputs[0]: VALUE})
    endless = EquilibriumGraphRewriter(rules, name="endless")
    after = in2out(tan_of_root, name="after")
    steps = [MergeOptimizer()] if merging else []
    graph.add_output(ot.tan(graph.inputs[0]))
    with config.change_flags(optdb__on_limit="warn"):
        with pytest.warns(RewriteLimitWarning) as told:
            record = SequentialGraphRewriter(*steps, endless, after, name="all").rewrite(graph)
        assert len(told) == 1
    message = str(told[0].message)
    assert "all/endless does not converge" in message
    assert "occelo.save" in message
    assert all(f"{name} " in message or f"{name}\n" in message for name in names(rules))
    assert list(record.limits) == ["all/endless"]
    assert len(record.applications) <= 2 * (1 + len(rules)) * 8 * LEAST
    graph.check_integrity()
    found = og.evaluate(graph.outputs[0], {graph.inputs[0]: VALUE})
    np.testing.assert_allclose(found, wanted)
    # the next rewriter ran
    assert record.applications[-1].rule == "tan_of_root"
    assert pickle.loads(pickle.dumps(record)).limits == record.limits


@node_rewriter([ot.tan])
def tan_of_root(fgraph: Any, node: Any) -> Any:
    """tan(x) = sin(x) / cos(x), for tests."""
    return [ot.sinh(node.inputs[0])]


@pytest.mark.parametrize("case", ENDLESS)
def test_the_option_makes_them_errors(case: str) -> None:
    build, rules = ENDLESS[case]
    graph = graph_of(build)
    with pytest.raises(NotConvergedError, match="|".join(names(rules))):
        EquilibriumGraphRewriter(rules).rewrite(graph)
    graph.check_integrity()


def test_the_warning_can_be_left_out_and_comes_from_direct_calls() -> None:
    with config.change_flags(optdb__on_limit="warn"):
        rewriter = EquilibriumGraphRewriter([mul_to_quotient, quotient_to_mul])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", RewriteLimitWarning)
            rewriter.rewrite(graph_of(lambda x: x * (x + 1.0)))
        with pytest.warns(RewriteLimitWarning):
            rewriter.apply(graph_of(lambda x: x * (x + 1.0)))


@functools.cache
def nested(depth: int, calls: int) -> Any:
    """An op with an inner graph that applies such an op ``calls`` times, and so on. The innermost one is sin."""
    x = ot.dvector()
    made: Any = ot.sin
    for _ in range(depth):
        value = x
        for _ in range(calls):
            value = made(value) * 2.0
        made = OpFromGraph([x], [value])
    return made


@node_rewriter([ot.mul])
def twice(fgraph: Any, node: Any) -> Any:
    """2 x = x + x, for tests."""
    return [node.inputs[0] + node.inputs[0]]


@pytest.mark.parametrize("walk", [EquilibriumGraphRewriter, in2out, out2in])
@pytest.mark.parametrize(("depth", "calls"), [(105, 1), (7, 2), (5, 3), (2, 20)])
def test_one_node_may_stand_for_a_large_program(depth: int, calls: int, walk: Any) -> None:
    """A nest is opened at once; the other rule applies hundreds of times, to a graph that has one node at first."""
    rules = [*EXPAND, twice]
    graph = graph_of(nested(depth, calls))
    rewriter = walk(rules) if walk is EquilibriumGraphRewriter else walk(*rules)
    record = rewriter.rewrite(graph)
    assert len(record.applications) == 1 + sum(calls**k for k in range(1, depth + 1))


@node_rewriter([ot.erf])
def pieces(fgraph: Any, node: Any) -> Any:
    """A node = a sum of fifty nodes, for tests."""
    x = node.inputs[0]
    total = x
    for k in range(50):
        total = total + ot.mul(x, float(k))
    return [total]


def test_what_a_replacement_consists_of_counts_as_nodes_do() -> None:
    graph = graph_of(lambda x: ot.erf(x) + ot.erf(x + 1.0) + ot.erf(x + 2.0))
    record = EquilibriumGraphRewriter([pieces, twice]).rewrite(graph)
    assert len(record.applications) == 3 + 150
