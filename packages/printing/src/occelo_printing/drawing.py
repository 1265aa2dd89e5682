"""`draw`: a picture of a graph as SVG, without other programs. Users call it, and notebooks show it for variables.

`layout` places the nodes. `dot` writes graphs for Graphviz instead.
"""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.traversal import toposort
from occelo_printing.layout import layered

_HEIGHT, _STEP = 34.0, 64.0
"""The height of a box, and the distance between two layers."""
_LETTER = 6.4
"""The width of a letter."""
_LONGEST = 34
"""The number of letters after which a label is cut."""
_STYLE = """\
.occelo-graph text{font:11px ui-monospace,monospace;text-anchor:middle;fill:#1b2733}
.occelo-graph .type{fill:#51606e;font-size:9.5px}
.occelo-graph rect{stroke:#7a8a99;fill:#fff}
.occelo-graph path{fill:none;stroke:#7a8a99}
.occelo-graph .input rect{fill:#d9efdc}
.occelo-graph .shared rect{fill:#d5eef0}
.occelo-graph .constant rect{fill:#ececec}
.occelo-graph .output rect{fill:#dbe8f9}
.occelo-graph .folded rect{stroke-dasharray:4 3}"""
"""The class keeps it from other pictures of the same page, to which a style in a picture applies, too."""


@dataclass(frozen=True)
class Drawing:
    """A picture of a graph: ``svg`` is its text. Notebooks show the picture."""

    svg: str

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture to a file, which should end in ".svg", and return the file's path."""
        place = Path(path)
        place.write_text(self.svg, encoding="utf-8")
        return place

    def _repr_svg_(self) -> str:
        return self.svg


@explained_by("arguments")
def draw(graph: Any, most: int = 60) -> Drawing:
    """Draw a graph: its inputs at the top, its outputs at the bottom, each with name, dtype and shape.

    ``graph`` is a variable, a sequence of variables, a `FunctionGraph`, or a compiled function, whose rewritten graph
    is drawn. Inputs are green, shared variables cyan, constants grey and outputs blue. Of a graph with more than
    ``most`` nodes, those nearest to the outputs are drawn; a dashed box stands for those above it, with their number.
    TypeError for anything else, and if ``most`` is no integer.

    >>> from occelo_graph import tensor as ot
    >>> x = ot.dvector("x")
    >>> draw(ot.exp(x) + 1).svg[:4]
    '<svg'
    """
    if not hasattr(most, "__index__"):
        raise TypeError(
            f"most of draw is the number of nodes that are drawn, got {most!r}; what a file needs is draw(graph).svg"
        )
    outputs, _ = graph_parts(graph)
    return Drawing(picture(_boxes(outputs, most)))


@dataclass
class Boxes:
    """The boxes in topological order, by key: the kind, the label and the type; and the edges between them."""

    boxes: dict[Any, tuple[str, str, str]]
    edges: list[tuple[Any, Any]]


def _boxes(outputs: list[Variable], most: int) -> Boxes:
    order = toposort(outputs)
    shown = _nearest(outputs, most) if len(order) > most else set(order)
    drawn = Boxes({}, [])
    for node in order:
        if node in shown:
            sources = [_source(v, shown, drawn) for v in node.inputs]
            types = ", ".join(str(v.type) for v in node.outputs)
            names = ", ".join(v.name for v in node.outputs if v.name)
            label = f"{names} = {node.op}" if names else str(node.op)
            drawn.boxes[node] = ("op", label, types)
            drawn.edges += [(source, node) for source in sources]
    for i, variable in enumerate(outputs):
        source = _source(variable, shown, drawn)
        key = ("output", i)
        drawn.boxes[key] = ("output", variable.name or f"output {i}", str(variable.type))
        drawn.edges.append((source, key))
    return drawn


def _nearest(outputs: Sequence[Variable], most: int) -> set[Apply]:
    """The nodes nearest to the outputs, by the number of edges."""
    nodes: dict[Apply, None] = {}
    level = [v.owner for v in outputs if v.owner is not None]
    while level and len(nodes) < most:
        nodes.update(dict.fromkeys(level[: most - len(nodes)]))
        above = dict.fromkeys(v.owner for n in level for v in n.inputs if v.owner is not None)
        level = [node for node in above if node not in nodes]
    return set(nodes)


def _source(variable: Variable, shown: set[Apply], drawn: Boxes) -> Any:
    """The key of the box that an edge from ``variable`` starts at. The box is made if it is no node's."""
    if variable.owner in shown:
        return variable.owner
    # a constant has a box at each reader, since its edges would cross the picture
    key: Any = ("constant", len(drawn.boxes)) if isinstance(variable, Constant) else variable
    if key not in drawn.boxes:
        kind, label = _kind(variable), str(variable)
        if variable.owner is not None:
            label = f"{len(toposort([variable]))} more: {label}"
        drawn.boxes[key] = (kind, label, str(variable.type))
    return key


def _kind(variable: Variable) -> str:
    if variable.owner is not None:
        return "folded"
    if isinstance(variable, Constant):
        return "constant"
    return "shared" if isinstance(variable, SharedVariable) else "input"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}"


def picture(drawn: Boxes) -> str:
    """The text in SVG of boxes, each below those from which edges lead to it."""
    texts = {
        key: (kind, _short(label), _short(of)) for key, (kind, label, of) in drawn.boxes.items()
    }
    widths = {
        key: max(len(label) * _LETTER, len(of) * _LETTER * 0.87) + 14
        for key, (_, label, of) in texts.items()
    }
    layout = layered(list(texts), drawn.edges, widths)
    height = _STEP * (max(layout.layers.values(), default=0) + 1) - _STEP + _HEIGHT + 4
    width = layout.width + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="occelo-graph" viewBox="-2 -2 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'style="max-width:100%;height:auto;background:#fff" role="img"><style>{_STYLE}</style>'
    ]
    for (start, end), bends in layout.bends.items():
        points = [
            (layout.centers[start], layout.layers[start] * _STEP + _HEIGHT),
            *((x, layer * _STEP + _HEIGHT / 2) for x, layer in bends),
            (layout.centers[end], layout.layers[end] * _STEP),
        ]
        parts.append(f'<path d="{_curve(points)}"/>')
    for key, (kind, label, of) in texts.items():
        x, y, wide = layout.centers[key], layout.layers[key] * _STEP, widths[key]
        full = html.escape(" ".join(drawn.boxes[key][1:]))
        parts.append(
            f'<g class="{kind}"><title>{full}</title><rect x="{x - wide / 2:.1f}" y="{y:.0f}" '
            f'width="{wide:.1f}" height="{_HEIGHT:.0f}" rx="{_HEIGHT / 2 if kind != "op" else 4:.0f}"/>'
            f'<text x="{x:.1f}" y="{y + 14:.0f}">{html.escape(label)}</text>'
            f'<text class="type" x="{x:.1f}" y="{y + 27:.0f}">{html.escape(of)}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def _curve(points: Sequence[tuple[float, float]]) -> str:
    """A path through the points, with vertical tangents at each."""
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (u, v) in pairwise(points):
        middle = (y + v) / 2
        path += f"C{x:.1f} {middle:.1f} {u:.1f} {middle:.1f} {u:.1f} {v:.1f}"
    return path
