"""The command ``occelo explain``, which shows how a graph is rewritten: as a page with a slider and as tables of times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

import occelo
from occelo.command.graph_names import graph_outputs
from occelo_rewrite import explain, optimizer_query, rewrite_profile, view_rewriting
from occelo_rewrite.records.record import RewriteRecord


def explain_graph(
    graph: str,
    page: Path,
    open_page: bool,
    optimizer: str,
    text: bool,
    all_rules: bool,
) -> None:
    """Rewrite the graph called ``graph``, write the page, and print the profile.

    Raises ValueError, ImportError or AttributeError if there is no such graph.
    """
    query = optimizer_query(optimizer)
    query = replace(query, exclude=query.exclude | {"fusion", "inplace", "BlasOpt"})
    outputs = graph_outputs(graph)
    view = view_rewriting(outputs, query)
    profiled = RewriteRecord(profiling=True)
    copied = occelo.FunctionGraph(outputs=outputs, clone=True, copy_inputs=False)
    occelo.optdb.query(query).rewrite(copied, profiled)
    click.echo(rewrite_profile(profiled, idle=all_rules))
    if text:
        click.echo(explain(view.outputs, file="str"))
    if open_page:
        view.open(page)
    else:
        view.save(page)
    click.echo(f"{len(view.record.applications)} replacements; the page is {page}")
