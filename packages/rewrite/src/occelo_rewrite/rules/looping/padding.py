"""`padded`: replaces tensors of a graph by tensors with rows to spare, whose shapes do not depend on a number of steps.

JAX and PyTorch compile for known shapes. If a tensor has one row for each step of a loop, they compile the graph again
for each number of steps. `padded` replaces all such tensors of a graph by padded ones, or none. A padded tensor has at
least as many rows (elements along its first axis) as there are steps. The values in the rows after the last step are
arbitrary. If a padded tensor is transposed, its columns (along the last axis) are padded instead.

The base class of the tracing linkers (`occelo_link.traced.linker`) calls `padded` with rewritten graphs.
`occelo_link.traced.padded_vm` runs the results.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph
from occelo_rewrite.rules.looping.padded_rows import FORMS
from occelo_rewrite.rules.looping.padded_tensors import NotByRows, PaddedGraph, PaddedTensors

__all__ = ["PaddedGraph", "padded"]


def padded(fgraph: FunctionGraph) -> PaddedGraph | None:
    """The graph with padded tensors; None if it needs none or cannot be padded.

    A graph needs no padded tensors if no loop would read or make one. A graph cannot be padded in these cases:

    - An op has no form for padded tensors, or reads them in another way than by rows and adjacent ones.
    - An op other than a loop reads padded tensors of different lengths.
    - A length is not computed by mere arithmetic on scalars (`_is_quick`).
    - A result would be padded along its last axis.
    """
    work = PaddedTensors(fgraph, FORMS)
    try:
        return work.run()
    except NotByRows:
        return None
