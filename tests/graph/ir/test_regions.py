"""The nodes that belong to each region, against a search along paths of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.regions import divide


def reachable(outputs: list[Any], closed: tuple[Apply, int] | None = None) -> set[Apply]:
    """The nodes that outputs need when nothing is computed through one region."""
    found: set[Apply] = set()
    waiting = [v.owner for v in outputs if v.owner is not None]
    while waiting:
        node = waiting.pop()
        if node in found:
            continue
        found.add(node)
        shut: set[int] = set()
        if closed is not None and closed[0] is node:
            shut = set(node.op.regions(node)[closed[1]].results)
        waiting += [
            v.owner for i, v in enumerate(node.inputs) if i not in shut and v.owner is not None
        ]
    return found


def expected_members(outputs: list[Any]) -> dict[tuple[Apply, int], set[Apply]]:
    """All nodes that are needed through a region alone, those of regions further in among them."""
    every = reachable(outputs)
    return {
        (node, k): every - reachable(outputs, (node, k))
        for node in every
        for k in range(len(node.op.regions(node)))
    }


def random_graph(seed: int) -> list[Any]:
    generator = np.random.default_rng(seed)
    pool: list[Any] = [ot.dscalar() for _ in range(3)]
    for _ in range(int(generator.integers(3, 25))):
        a, b, c, d = (pool[int(i)] for i in generator.integers(0, len(pool), 4))
        kind = generator.integers(0, 5)
        if kind == 0:
            pool.append(a + ot.sin(b))
        elif kind == 1:
            pool.append(ot.exp(a) * b)
        elif kind == 2:
            pool += ot.ifelse(ot.gt(a, 0.0), [b, c], [d, ot.cos(b)])
        else:
            pool.append(ot.ifelse(ot.gt(a, 0.0), ot.sin(b), ot.exp(c)))
    return [pool[-1], *(pool[int(i)] for i in generator.integers(0, len(pool), 1))]


@pytest.mark.parametrize("seed", range(150))
def test_a_node_belongs_to_the_innermost_region_that_all_paths_to_it_lead_through(
    seed: int,
) -> None:
    outputs = random_graph(seed)
    order = og.toposort(outputs)
    found = divide(order, outputs)
    members = expected_members(outputs)
    innermost: dict[Apply, tuple[Apply, int]] = {}
    for region, nodes in members.items():
        for node in nodes:
            known = innermost.get(node)
            if known is None or len(nodes) < len(members[known]):
                innermost[node] = region
    assert found.outside == [n for n in order if n not in innermost]
    for owner, k in members:
        wanted = [n for n in order if innermost.get(n) == (owner, k)]
        assert found.inside[owner][k] == wanted
    for node in order:
        around = [owner for (owner, _), nodes in members.items() if node in nodes]
        outer = [n for n in around if n not in innermost]
        assert [found.outermost[node]] == outer if around else node not in found.outermost


def test_what_every_level_of_deep_nesting_reads_is_found_quickly() -> None:
    x = ot.dscalar("x")
    shared, flag = ot.exp(x), ot.gt(x, 0.0)
    y: Any = shared
    for _ in range(3000):
        y = ot.ifelse(flag, y + shared, shared)
    division = divide(og.toposort([y]), [y])
    assert len(division.outside) == 3
    assert set(division.outermost.values()) == {y.owner}
    assert all(len(then) <= 2 and not other for then, other in division.inside.values())
