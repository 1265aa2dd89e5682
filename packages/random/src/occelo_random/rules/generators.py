"""In-place variants of draws with generators, and a rule that drops draws that nothing reads.

When random numbers are imported, `pipeline` makes the stage ``random_make_inplace`` from the variants and registers the
rule. The rule is off unless a query includes the tag ``random_unsafe``, since it changes the numbers of later draws.
"""

from __future__ import annotations

from typing import Any, cast

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_random.ops.random_variable import RandomVariable
from occelo_rewrite.inplace import flag_variants
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

IN_PLACE = flag_variants(RandomVariable)
"""A function that returns the in-place variants of a draw, which overwrite the state of the generator.

The stage uses a variant if nothing else reads this state. The states of shared variables are protected.
"""


@node_rewriter([RandomVariable], tags=("random_unsafe",))
def dead_draw(fgraph: FunctionGraph, node: Any) -> Replacements:
    """A draw that nothing reads is dropped. The generator keeps its state, so later draws yield other numbers."""
    drawing = cast("Apply", node)
    outputs: list[Variable] = drawing.outputs
    if fgraph.clients[outputs[1]] or not fgraph.clients[outputs[0]]:
        return None
    return [drawing.inputs[0], None]


UNSAFE = RuleSet((dead_draw,), "random unsafe")
