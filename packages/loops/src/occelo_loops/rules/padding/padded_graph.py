"""`padded`: a copy of a graph in which padded tensors replace tensors with one row for each step of a loop.

The base class of the linkers for JAX and PyTorch (`occelo_link.traced.linker`) calls it with rewritten graphs, and
`occelo_loops.traced` runs the result.

JAX and PyTorch compile a graph for known shapes. If a tensor has one row for each step of a loop, they would compile
the graph again for each number of steps. A padded tensor has a fixed number of rows (elements along its first axis), at
least as many as there are steps. The values in the rows after the last step, the padding, are arbitrary. If a padded
tensor is transposed, its columns are padded instead.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph
from occelo_loops.rules.padding.padded_rows import FORMS
from occelo_loops.rules.padding.padded_tensors import (
    NotByRows,
    PaddedTensors,
)
from occelo_loops.rules.padding.padded_tensors import (
    PaddedGraph as PaddedGraph,
)


def padded(fgraph: FunctionGraph) -> PaddedGraph | None:
    """The graph with padded tensors; None if it needs no padded tensors, or if it cannot be padded.

    A graph needs no padded tensors if no loop would read or compute one. A graph cannot be padded in these cases:

    - An op has no padded form, or reads padded tensors in another way than single rows and adjacent rows.
    - An op other than a loop reads padded tensors of different lengths.
    - A length is computed by more than arithmetic of scalars (`_is_quick`).
    - A result would be padded along its last axis.
    """
    work = PaddedTensors(fgraph, FORMS)
    try:
        return work.run()
    except NotByRows:
        return None
