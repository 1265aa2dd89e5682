"""`view_rewriting` shows a rewriting as an HTML page, with a slider that moves from replacement to replacement.

Users call the function in notebooks, which show the page, or open the page in a browser. The function is in the
namespace `occelo`, and the command ``explain`` can write the page.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from occelo_graph import Apply, Feature, FunctionGraph, Variable
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.provenance import source_of
from occelo_rewrite.pipeline import rewriter_for
from occelo_rewrite.queries import RewriteDatabaseQuery
from occelo_rewrite.records.record import Application, RewriteRecord
from occelo_rewrite.records.viewer_page import PAGE

Line = list[Any]
"""A node as the page shows it: its names, its types, its op, and its arguments. An argument that is the result of a node
is a pair of the node's number and the position of the result; any other argument is a text."""


class _Film(Feature):
    """What each replacement changed in a graph: for each step the lines of new and changed nodes, and the numbers of
    nodes that are gone. A node keeps its number throughout.
    """

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.numbers: dict[Apply, int] = {}
        self.touched: dict[Apply, None] = {}
        self.shown: dict[int, Line] = {}
        self.outputs: list[Any] = []
        self.steps: list[dict[str, Any]] = []

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.touched[node] = None

    def on_prune(self, fgraph: FunctionGraph, node: Apply, reason: Any) -> None:
        self.touched[node] = None

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        self.touched[node] = None

    def on_attach(self, fgraph: FunctionGraph) -> None:
        self.touched.update(dict.fromkeys(fgraph.toposort()))

    def take(self, application: Application | None, rule: str = "") -> None:
        """Store what changed since the last step. ``application`` is the replacement that was made last; if it is None,
        ``rule`` says what happened.
        """
        step: dict[str, Any] = {"rule": rule} if application is None else _told(application)
        lines: dict[int, Line] = {}
        gone: list[int] = []
        nodes = self.fgraph.apply_nodes
        for node in self.touched:
            number = self._number(node)
            if node in nodes:
                line = self._line(node)
                if self.shown.get(number) != line:
                    lines[number] = self.shown[number] = line
            elif self.shown.pop(number, None) is not None:
                gone.append(number)
        self.touched.clear()
        outputs = [self._argument(v) for v in self.fgraph.outputs]
        if outputs != self.outputs:
            self.outputs = step["outputs"] = outputs
        self.steps.append({**step, "lines": lines, "gone": gone})

    def _number(self, node: Apply) -> int:
        return self.numbers.setdefault(node, len(self.numbers))

    def _line(self, node: Apply) -> Line:
        names = [v.name or "" for v in node.outputs]
        types = [str(v.type) for v in node.outputs]
        return [names, types, str(node.op), [self._argument(v) for v in node.inputs]]

    def _argument(self, variable: Variable) -> Any:
        if variable.owner is None:
            return str(variable)
        return [self._number(variable.owner), variable.index]


def _told(application: Application) -> dict[str, Any]:
    source = source_of(application.mark)
    return {
        "rule": application.rule,
        "stage": application.stage.removeprefix("optdb/"),
        "before": application.before,
        "after": application.after,
        "place": "" if source is None else f"{Path(source.filename).name}:{source.lineno}",
        "text": "" if source is None else source.text,
    }


@dataclass
class RewriteView:
    """An HTML page that shows a rewriting. Notebooks display it inline. TypeError if a field is missing.

    ``record`` is the record of the rewriting, and ``outputs`` are the outputs of the rewritten graph.
    """

    page: str = field(repr=False)
    record: RewriteRecord = field(repr=False)
    outputs: list[Variable]

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, and return the file's path."""
        place = Path(path)
        place.write_text(self.page, encoding="utf-8")
        return place

    def open(self, path: str | Path) -> None:
        """Write the page to a file and open it in a browser."""
        import webbrowser  # imported here, since it is slow to import

        webbrowser.open(self.save(path).resolve().as_uri())

    def _repr_html_(self) -> str:
        return f'<iframe style="width:100%;height:36em;border:0" srcdoc="{html.escape(self.page)}"></iframe>'


def view_rewriting(
    graph: Variable | list[Variable] | FunctionGraph,
    query: RewriteDatabaseQuery | None = None,
    most_steps: int = 500,
) -> RewriteView:
    """Rewrite a copy of a graph and show the first ``most_steps`` replacements one by one.

    Each step has the rule and its law, the user's line, and what changed in the graph, with the user's names, dtypes and
    shapes. ``query`` chooses the rewrites. By default, these are all rewrites except those for certain linkers, such as fusion
    and in-place ops.
    """
    chosen = query or RewriteDatabaseQuery(
        ["fast_run"], exclude=["fusion", "inplace", "BlasOpt", "accumulate_products"]
    )
    if isinstance(graph, FunctionGraph):
        fgraph = graph.clone()
    else:
        outputs = graph_parts(graph, compiled="view_rewriting takes a graph")[0]
        fgraph = FunctionGraph(outputs=outputs, clone=True, copy_inputs=False)
    film = _Film(fgraph)
    fgraph.attach_feature(film)
    film.take(None, "as it was written")

    def note(application: Application) -> None:
        if len(film.steps) <= most_steps:
            film.take(application)

    record = RewriteRecord(on_application=note)
    rewriter_for(chosen).rewrite(fgraph, record)
    if len(record.applications) > most_steps:
        film.take(None, f"and {len(record.applications) - most_steps} more steps")
    fgraph.remove_feature(film)
    inputs = [[str(v), str(v.type)] for v in fgraph.variables if v.owner is None and v.name]
    film_data = {"inputs": sorted(inputs), "laws": record.laws, "steps": film.steps}
    return RewriteView(PAGE.replace("__DATA__", _json(film_data)), record, list(fgraph.outputs))


def _json(value: Any) -> str:
    """``value`` as JSON, escaped so that it can be part of a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")
