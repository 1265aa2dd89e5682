"""Graphs as one line of text."""

from __future__ import annotations

import occelo_graph.tensor as ot
from occelo_printing import as_string


def test_nodes_that_are_used_again_are_written_once() -> None:
    x, y = ot.dvectors("xy")
    z = ot.exp(x)
    assert as_string([x, y], [x]) == ["x"]
    assert as_string([x, y], [(z + y) * z]) == ["mul(add(*1 -> exp(x), y), *1)"]
    assert as_string([x, y], [z, z + 1]) == ["*1 -> exp(x)", "add(*1, 1.0)"]
    assert as_string([z, y], [z * y]) == ["mul(exp.out, y)"]


def test_outputs_of_a_node_with_several_have_numbers() -> None:
    x, y = ot.dvectors("xy")
    q, r = ot.divmod(x, y)
    assert as_string([x], [q + y]) == [
        f"add({q.owner.op if q.owner else ''}(x, y)"
        + ("::0" if q.owner and len(q.owner.outputs) > 1 else "")
        + ", y)"
    ]
    assert as_string(
        [x], [r], leaf_formatter=lambda v: "?", node_formatter=lambda o, a: "|".join(a)
    )[0].startswith("?|?")


def test_deep_graphs() -> None:
    x = ot.dscalar("x")
    y = x
    for _ in range(3000):
        y = ot.exp(y)
    assert as_string([x], [y])[0].count("exp(") == 3000
