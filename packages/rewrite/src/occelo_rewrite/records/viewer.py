"""`view_rewriting` shows a rewriting as an HTML page, with a slider that moves from replacement to replacement.

Users call the function in notebooks, which show the page, or open the page in a browser. The function is in the
namespace `occelo`, and the command ``explain`` can write the page.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from occelo_graph import Apply, FunctionGraph, Variable
from occelo_rewrite.database import RewriteDatabaseQuery
from occelo_rewrite.pipeline import rewriter_for
from occelo_rewrite.records.record import Application, RewriteRecord


class _Film:
    """The graph after each replacement, as numbered lines of text. A node keeps its number throughout."""

    def __init__(self, fgraph: FunctionGraph) -> None:
        self.fgraph = fgraph
        self.numbers: dict[Apply, int] = {}
        self.names: dict[Variable, str] = {}
        self.texts: dict[int, str] = {}
        self.frames: list[list[list[Any]]] = []
        self.steps: list[dict[str, str]] = []

    def take(self, application: Application | None) -> None:
        """Store the present text of the graph. ``application`` is the replacement that was made last, or None."""
        frame: list[list[Any]] = []
        for node in self.fgraph.toposort():
            number = self.numbers.setdefault(node, len(self.numbers))
            arguments = ", ".join(self._name(v) for v in node.inputs)
            frame.append([number, f"n{number} = {node.op}({arguments})"])
        results = ", ".join(self._name(v) for v in self.fgraph.outputs)
        frame.append([-1, f"return {results}"])
        self.frames.append(frame)
        step = {"rule": "as given", "stage": "", "before": "", "after": "", "source": ""}
        if application is not None:
            step = {
                "rule": application.rule,
                "stage": application.stage,
                "before": application.before,
                "after": application.after,
                "source": application.source,
            }
        self.steps.append(step)

    def _name(self, variable: Variable) -> str:
        if variable.owner is None:
            return str(variable)
        number = self.numbers.setdefault(variable.owner, len(self.numbers))
        several = len(variable.owner.outputs) > 1
        return f"n{number}.{variable.index}" if several else f"n{number}"


@dataclass
class RewriteView:
    """An HTML page that shows a rewriting. Notebooks display it inline.

    ``record`` is the record of the rewriting, and ``outputs`` are the outputs of the rewritten graph.
    """

    page: str
    record: RewriteRecord
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

    ``query`` chooses the rewrites. By default, these are all rewrites except those for certain linkers, such as fusion
    and in-place ops.
    """
    chosen = query or RewriteDatabaseQuery(
        ["fast_run"], exclude=["fusion", "inplace", "BlasOpt", "accumulate_products"]
    )
    if isinstance(graph, FunctionGraph):
        fgraph = graph.clone()
    else:
        outputs = [graph] if isinstance(graph, Variable) else list(graph)
        fgraph = FunctionGraph(outputs=outputs, clone=True, copy_inputs=False)
    film = _Film(fgraph)
    film.take(None)

    def note(application: Application) -> None:
        if len(film.frames) <= most_steps:
            film.take(application)

    record = RewriteRecord(on_application=note)
    rewriter_for(chosen).rewrite(fgraph, record)
    if len(record.applications) > most_steps:
        film.take(None)
        film.steps[-1]["rule"] = f"and {len(record.applications) - most_steps} more steps"
    page = _PAGE.replace("__DATA__", _json({"frames": film.frames, "steps": film.steps}))
    return RewriteView(page, record, list(fgraph.outputs))


def _json(value: Any) -> str:
    """``value`` as JSON, escaped so that it can be part of a script element."""
    return json.dumps(value).replace("<", "\\u003c")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Rewriting, step by step</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;margin:1.5em;color:#1b2733;background:#fbfcfd}
h1{font-size:1.2em;margin:0 0 .6em}
input[type=range]{width:100%}
#step{margin:.4em 0 1em;min-height:3.2em}
#rule{font-weight:600}
.stage,.source{color:#5a6b7b}
.panes{display:grid;grid-template-columns:1fr 1fr;gap:1em}
pre{background:#fff;border:1px solid #dde4ea;border-radius:6px;padding:.8em;overflow:auto;margin:0;min-height:14em}
.gone{background:#fde3df}.made{background:#dcf3e1}
h2{font-size:.95em;margin:.2em 0;color:#5a6b7b}
</style></head><body>
<h1>Rewriting, step by step</h1>
<input id="at" type="range" min="0" value="0" aria-label="step">
<div id="step"><span id="count"></span> <span id="rule"></span> <span class="stage" id="stage"></span>
<span class="source" id="source"></span><div id="change"></div></div>
<div class="panes"><div><h2>before</h2><pre id="before"></pre></div><div><h2>after</h2><pre id="after"></pre></div></div>
<script>
const data=__DATA__;
const at=document.getElementById("at");
at.max=data.frames.length-1;
function fill(id,frame,other,cls){
  const known=new Set(other.map(l=>l[1]));
  const pre=document.getElementById(id);pre.replaceChildren();
  for(const [,text] of frame){
    const line=document.createElement("div");line.textContent=text;
    if(!known.has(text))line.className=cls;
    pre.append(line);
  }
}
function show(){
  const i=+at.value,now=data.frames[i],last=data.frames[Math.max(0,i-1)],s=data.steps[i];
  document.getElementById("count").textContent=`${i} / ${data.frames.length-1}`;
  document.getElementById("rule").textContent=s.rule;
  document.getElementById("stage").textContent=s.stage;
  document.getElementById("source").textContent=s.source;
  document.getElementById("change").textContent=s.before?`${s.before} \\u2192 ${s.after}`:"";
  fill("before",last,now,"gone");fill("after",now,last,"made");
}
at.addEventListener("input",show);show();
</script></body></html>
"""
