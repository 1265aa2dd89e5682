"""`MergeFeature`: after merging, no two nodes with equal ops have the same inputs."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_rewrite import MergeOptimizer
from occelo_rewrite.merge import MergeFeature
from occelo_rewrite.records.record import RewriteRecord


def equal_nodes(fgraph: og.FunctionGraph) -> int:
    """How many nodes of a graph equal an earlier one."""
    seen: set[Any] = set()
    for node in fgraph.apply_nodes:
        inputs = [id(v) for v in node.inputs]
        seen.add((node.op, *(sorted(inputs) if node.op.commutative else inputs)))
    return len(fgraph.apply_nodes) - len(seen)


@pytest.mark.parametrize("op", [ot.mul, ot.sub])
def test_addresses_of_inputs_do_not_matter(op: Callable[[Any, Any], Any]) -> None:
    """Variables that are made one after the other lie at equal distances, so that many sums of two addresses are equal."""
    variables = [ot.dscalar() for _ in range(400)]
    pairs = [(i, total - i) for total in (300, 301, 302) for i in range(total // 2)]
    outputs = [op(variables[i], variables[j]) for _ in range(2) for i, j in pairs]
    fgraph = og.FunctionGraph(variables, outputs)
    MergeOptimizer().rewrite(fgraph)
    fgraph.check_integrity()
    assert len(fgraph.apply_nodes) == len(pairs)


@pytest.mark.parametrize("seed", range(20))
def test_nodes_that_become_equal_are_merged(seed: int) -> None:
    """Whatever is replaced by what in a random graph, in whichever order nodes become equal and differ again."""
    chosen = random.Random(seed)
    inputs = [ot.dscalar() for _ in range(4)]
    variables: list[Any] = [*inputs]
    for _ in range(60):
        apply = chosen.choice([ot.neg, ot.sin, ot.mul, ot.sub, ot.add])
        count = 1 if apply in (ot.neg, ot.sin) else 2
        variables.append(apply(*chosen.choices(variables[-12:] + inputs, k=count)))
    fgraph = og.FunctionGraph(inputs, variables[-20:], clone=False)
    MergeOptimizer().rewrite(fgraph)
    (feature,) = [each for each in fgraph.features if isinstance(each, MergeFeature)]
    assert equal_nodes(fgraph) == 0
    for _ in range(10):
        # several changes before nodes are merged: of a node that was the first of its kind, too
        for _ in range(chosen.randrange(1, 6)):
            old = chosen.choice([n.outputs[0] for n in fgraph.apply_nodes])
            fgraph.replace(old, chosen.choice(inputs))
            if not fgraph.apply_nodes:
                return
        feature.settle(fgraph, RewriteRecord())
        fgraph.check_integrity()
        assert equal_nodes(fgraph) == 0


def test_equal_nodes_are_merged_when_the_first_of_them_has_gone() -> None:
    a, b, c, z = inputs = [ot.dscalar(name) for name in "abcz"]
    first, second, third = outputs = [ot.sin(v) for v in (a, b, c)]
    fgraph = og.FunctionGraph(inputs, outputs, clone=False)
    MergeOptimizer().rewrite(fgraph)
    (feature,) = [each for each in fgraph.features if isinstance(each, MergeFeature)]
    for old, new in ((a, z), (b, z), (c, z), (first, z)):
        fgraph.replace(old, new)
    assert second.owner is not third.owner
    feature.settle(fgraph, RewriteRecord())
    assert len(fgraph.apply_nodes) == 1
