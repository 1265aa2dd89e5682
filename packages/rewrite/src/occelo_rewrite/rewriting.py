"""`rewrite_graph` and `rewrite_subgraph` rewrite a graph without compiling it.

Both functions are for users and tests; `rewrite_graph` is in the namespace `occelo`. (Compiling a function does not use
this module.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph import FunctionGraph, Variable, clone_replace
from occelo_graph.errors import explained_by
from occelo_graph.ir.graph_like import graph_parts
from occelo_rewrite.pipeline import optdb, rewriter_for
from occelo_rewrite.queries import RewriteDatabaseQuery
from occelo_rewrite.rewriter import GraphRewriter


@explained_by("rules")
def rewrite_graph(
    graph: Any,
    include: Sequence[str] = ("canonicalize",),
    custom_rewrite: GraphRewriter | None = None,
    clone: bool = False,
    **query: Any,
) -> Any:
    """Rewrite ``graph``, a variable, a list of variables or a `FunctionGraph`, with the rewrites that ``include`` chooses.

    ``include`` lists tags of stages and rules. The graph of variables is copied, and new variables are returned in the
    same form. A `FunctionGraph` is changed in place, unless ``clone`` is True. ``custom_rewrite`` runs afterwards.
    ``query`` has further arguments of `RewriteDatabaseQuery`. TypeError if ``include`` is one text; a warning for a
    misspelt tag.
    """
    chosen = RewriteDatabaseQuery(include, **query)
    optdb.warn_of_misspelt(chosen.include | chosen.require | chosen.exclude, stacklevel=2)
    if isinstance(graph, FunctionGraph):
        fgraph = graph.clone() if clone else graph
    else:
        outputs = graph_parts(graph, compiled="rewrite_graph takes a graph")[0]
        fgraph = FunctionGraph(outputs=outputs, clone=True, copy_inputs=False)
    rewriter_for(chosen).rewrite(fgraph)
    if custom_rewrite is not None:
        custom_rewrite.rewrite(fgraph)
    if isinstance(graph, FunctionGraph):
        return fgraph
    return fgraph.outputs[0] if isinstance(graph, Variable) else list(fgraph.outputs)


def rewrite_subgraph(
    outputs: Variable | Sequence[Variable],
    frontier: Sequence[Variable],
    include: Sequence[str] = ("canonicalize",),
    **options: Any,
) -> Any:
    """Rewrite only the part of a graph between ``frontier`` and ``outputs``, and return the new outputs.

    The variables in ``frontier`` and their ancestors stay as they are. ``include`` and ``options`` are passed to
    `rewrite_graph`.
    """
    listed: list[Variable] = [outputs] if isinstance(outputs, Variable) else list(outputs)
    stand_ins = [v.type.make_variable(v.name) for v in frontier]
    cut: list[Variable] = clone_replace(listed, list(zip(frontier, stand_ins, strict=True)))
    rewritten: list[Variable] = rewrite_graph(cut, include, **options)
    joined: list[Variable] = clone_replace(rewritten, list(zip(stand_ins, frontier, strict=True)))
    return joined[0] if isinstance(outputs, Variable) else joined
