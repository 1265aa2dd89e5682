"""Rules for draws with generators: draws in place, and draws that nothing reads.

When random numbers are imported, `pipeline` makes a stage of the in-place variants and registers `UNSAFE`. The rules of
`UNSAFE` are only applied if a query includes the tag ``random_unsafe``, since they change the numbers of later draws.
"""

from __future__ import annotations

from typing import Any, cast

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_graph.ops.random.random_variable import RandomVariable
from occelo_rewrite.inplace import flag_variants
from occelo_rewrite.node_rule import Replacements, RuleSet, node_rewriter

__all__ = ["IN_PLACE", "UNSAFE"]

IN_PLACE = flag_variants(RandomVariable)
"""The in-place variants of draws. A draw may change the generator that it takes if nothing else reads this generator.
The states of shared variables are protected.
"""


@node_rewriter([RandomVariable], tags=("random_unsafe",))
def dead_draw(fgraph: FunctionGraph, node: Any) -> Replacements:
    """A draw that nothing reads is not made. The generator keeps its state, so later draws give other numbers."""
    drawing = cast("Apply", node)
    outputs: list[Variable] = drawing.outputs
    if fgraph.clients[outputs[1]] or not fgraph.clients[outputs[0]]:
        return None
    return [drawing.inputs[0], None]


UNSAFE = RuleSet((dead_draw,), "random unsafe")
