"""Graphs in which tensors have rows to spare, so that their shapes do not depend on a number of steps.

JAX and PyTorch compile for known shapes. If a tensor of a graph has one row for each step of a loop, they compile the graph
anew for each number of steps. `padded` replaces such tensors by padded ones, in a whole graph or not at all. A padded tensor
has at least as many rows (elements along its first axis) as there are steps. The values in the rows after the last step are
arbitrary. A padded tensor that is transposed has columns instead, along its last axis.

The base class of the tracing linkers (`occelo_link.traced.linker`) calls `padded` with rewritten graphs.
`occelo_link.traced.padded` runs the results.
"""

from __future__ import annotations

from occelo_graph import FunctionGraph
from occelo_rewrite.rules.looping.padded_rows import FORMS
from occelo_rewrite.rules.looping.padded_tensors import NotByRows, PaddedGraph, PaddedTensors

__all__ = ["PaddedGraph", "padded"]


def padded(fgraph: FunctionGraph) -> PaddedGraph | None:
    """The graph with padded tensors; None if it needs none or cannot be padded.

    It needs none if no loop reads or makes a padded tensor. It cannot be padded in these cases:

    - An op has no form for padded tensors, or reads them in another way than by rows and adjacent ones.
    - An op other than a loop reads padded tensors of different lengths.
    - A length takes more to compute than arithmetic of scalars (`_is_quick`).
    - A result would be padded along its last axis.
    """
    work = PaddedTensors(fgraph, FORMS)
    try:
        return work.run()
    except NotByRows:
        return None
