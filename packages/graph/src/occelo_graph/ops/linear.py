"""Base classes of linear ops, with their derivatives: `LinearInFirst`, linear in the first input, and `Bilinear`.

Most ops that move or multiply elements derive from them: in `create`, `shape`, `join`, `index` and `blas`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Op

__all__ = ["Bilinear", "LinearInFirst"]


class LinearInFirst(Op):
    """Linear in the first input; the others are lengths or positions, which carry no derivative."""

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> Sequence[Any]:
        return [self(tangents[0], *inputs[1:])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], *[[False]] * (len(node.inputs) - 1)]


class Bilinear(Op):
    """Linear in each of two inputs."""

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> Sequence[Any]:
        (x, y), (dx, dy) = inputs, tangents
        terms: list[Any] = []
        if dx is not None and dx is not ZERO:
            terms.append(self(dx, y))
        if dy is not None and dy is not ZERO:
            terms.append(self(x, dy))
        if not terms:
            return [ZERO]
        return [terms[0] if len(terms) == 1 else terms[0] + terms[1]]
