"""Inference of facts about the results of linear algebra: Cholesky factors are lower triangular.

`assumptions.inference` applies it at `Cholesky` nodes when a rule asks for a fact.
"""

from __future__ import annotations

from occelo_graph import TensorApply
from occelo_graph.ops.linalg.cholesky import Cholesky
from occelo_rewrite.assumptions.inference import Ask, infers

__all__: list[str] = []


@infers("lower_triangular", Cholesky)
def _factor(node: TensorApply[Cholesky], ask: Ask) -> bool | None:
    return True
