"""The command ``occelo explain``, which shows how a graph is rewritten: as a page with a slider and as tables of times.

The command ``occelo backends`` also finds its graph with `graph_outputs`.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

import occelo
from occelo_rewrite import explain, optimizer_query, rewrite_profile, view_rewriting
from occelo_rewrite.records.record import RewriteRecord


def graph_outputs(name: str) -> list[Any]:
    """Return the outputs of a graph.

    ``name`` is the name of a file with a saved graph, or ``MODULE:NAME`` or ``FILE.py:NAME`` for a variable, a list of
    variables or a compiled function in a module.
    """
    if Path(name).exists():
        return list(occelo.load(name).outputs)
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(
            f"There is no file {name!r}; a variable in a module is MODULE:NAME or FILE.py:NAME"
        )
    file = Path(module)
    sys.path.insert(0, str(file.parent.resolve()))
    value: Any = getattr(importlib.import_module(file.name.removesuffix(".py")), attribute)
    if isinstance(value, occelo.Function):
        return list(value.maker.rewritten.before.outputs)
    return [value] if isinstance(value, occelo.Variable) else list(value)


def explain_graph(
    name: str,
    page: Path,
    open_page: bool,
    optimizer: str,
    text: bool,
    all_rules: bool,
    console: Console,
) -> None:
    """Rewrite the graph called ``name``, write the page, and print the profile.

    Raises ValueError, ImportError or AttributeError if there is no such graph.
    """
    query = optimizer_query(optimizer)
    query = replace(query, exclude=query.exclude | {"fusion", "inplace", "BlasOpt"})
    outputs = graph_outputs(name)
    view = view_rewriting(outputs, query)
    profiled = RewriteRecord(profiling=True)
    graph = occelo.FunctionGraph(outputs=outputs, clone=True, copy_inputs=False)
    occelo.optdb.query(query).rewrite(graph, profiled)
    console.print(rewrite_profile(profiled, idle=all_rules), markup=False, highlight=False)
    if text:
        console.print(explain(view.outputs, file="str"), markup=False, highlight=False)
    if open_page:
        view.open(page)
    else:
        view.save(page)
    console.print(f"{len(view.record.applications)} replacements; the page is {page}", markup=False)
