"""`LinearInFirst`: base class of ops that are linear in their first input.

Most ops that move or repeat elements derive from it. They are in `create`, `shape`, `join` and `index`.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op
from occelo_graph.ir.traits import FIRST


class LinearInFirst(Op):
    """An op that is linear in its first input. The other inputs are lengths or positions, which have no derivative."""

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return (FIRST,)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], *[[False]] * (len(node.inputs) - 1)]
