"""`to_dot` and `pydotprint`: write a graph in dot, the language of Graphviz. Users call them to draw graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from occelo_graph.canonical.document import Numbering
from occelo_graph.ir.graph_like import graph_parts, inspected
from occelo_graph.ir.nodes import Constant, Variable
from occelo_graph.ir.op import Op
from occelo_graph.ir.shared import SharedVariable

_COLORS = {"input": "#b6e3b6", "output": "#a9c9f0", "shared": "#a8e4e4", "constant": "#e0e0e0"}

_TEXTS = ("", ".dot", ".gv", ".txt")
"""The endings of files that `pydotprint` writes as text."""


def _quoted(text: str, limit: int) -> str:
    short = text if len(text) <= limit else text[: limit - 3] + "..."
    return '"' + short.replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_dot(
    outputs: Any,
    inputs: Sequence[Variable] = (),
    max_label_size: int = 70,
    with_ids: bool = False,
) -> str:
    """The text in dot of the graph of ``outputs``, from ``inputs``.

    ``outputs`` is a variable, a sequence of variables, a `FunctionGraph`, or a compiled function. Inputs are green,
    outputs blue, shared variables cyan and constants grey. An edge from an input to a node is blue if an output of the
    node may alias the input, and red if the node overwrites the input. Labels are cut after ``max_label_size``
    characters. With ``with_ids``, nodes show their positions in topological order.
    """
    listed, inputs = graph_parts(outputs, inputs)
    numbering = Numbering(inputs, listed)
    rows = ["digraph {", "  node [shape=box, style=filled, fillcolor=white];"]
    computed = {out for node in numbering.nodes for out in node.outputs}
    names: dict[Variable, str] = {}
    for number, variable in enumerate(numbering.variables):
        names[variable] = f"v{number}"
        if variable in computed:
            continue
        kind = (
            "constant"
            if isinstance(variable, Constant)
            else "shared"
            if isinstance(variable, SharedVariable)
            else "input"
        )
        label = _quoted(f"{variable} {variable.type}", max_label_size)
        rows.append(f'  v{number} [label={label}, shape=ellipse, fillcolor="{_COLORS[kind]}"];')
    for position, node in enumerate(numbering.nodes):
        label = _quoted(f"{node.op} id={position}" if with_ids else str(node.op), max_label_size)
        rows.append(f"  n{position} [label={label}];")
        for i, variable in enumerate(node.inputs):
            color = _edge_color(node.op, i)
            attributes = (
                f' [label="{i}"{color}]'
                if len(node.inputs) > 1
                else f" [{color[2:]}]"
                if color
                else ""
            )
            source = names[variable] if variable not in computed else _producer(numbering, variable)
            rows.append(f"  {source} -> n{position}{attributes};")
    for i, variable in enumerate(listed):
        source = names[variable] if variable not in computed else _producer(numbering, variable)
        label = _quoted(f"{variable.name or f'output {i}'} {variable.type}", max_label_size)
        rows.append(f'  o{i} [label={label}, shape=ellipse, fillcolor="{_COLORS["output"]}"];')
        rows.append(f"  {source} -> o{i};")
    return "\n".join([*rows, "}", ""])


def _producer(numbering: Numbering, variable: Variable) -> str:
    positions: dict[Any, int] | None = numbering.__dict__.get("positions")
    if positions is None:
        positions = {node: i for i, node in enumerate(numbering.nodes)}
        numbering.__dict__["positions"] = positions
    return f"n{positions[variable.owner]}"


def _edge_color(op: Op, i: int) -> str:
    if any(i in ins for ins in op.destroy_map.values()):
        return ', color="red"'
    if any(i in ins for ins in op.view_map.values()):
        return ', color="blue"'
    return ""


def _write(text: str, path: str) -> None:
    kind = os.path.splitext(path)[1].lower()
    if kind in _TEXTS:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return
    # slow to import, and most programs draw nothing
    import shutil
    import subprocess

    program = shutil.which("dot")
    if program is None:
        raise RuntimeError(
            f"To draw {path}, pydotprint needs the program `dot` of Graphviz, which is not installed (graphviz.org). "
            "A file that ends in .dot gets the graph as text"
        )
    drawn = subprocess.run(
        [program, f"-T{kind[1:]}"], input=text.encode(), capture_output=True, check=False
    )
    if drawn.returncode:
        raise ValueError(f"Graphviz cannot draw {path}: {drawn.stderr.decode().strip()}")
    with open(path, "wb") as picture:
        picture.write(drawn.stdout)


def pydotprint(
    fct: Any,
    outfile: str | os.PathLike[str] | None = None,
    with_ids: bool = False,
    max_label_size: int = 70,
    print_output_file: bool = True,
) -> str:
    """Draw a graph into ``outfile``, and return its text in dot. ``fct``, ``with_ids`` and
    ``max_label_size`` are those of `to_dot`.

    The ending of ``outfile`` is the format: ".png", ".svg", ".pdf" and others are drawn by Graphviz's program ``dot``. A
    file without an ending, or with ".dot", ".gv" or ".txt", gets the text. With ``print_output_file`` the name of the
    file is printed.

    RuntimeError if the program is not installed, and ValueError if it does not know the format. No file is written then.
    """
    fct = inspected(fct)
    graph = getattr(getattr(fct, "maker", None), "fgraph", fct)
    outputs: Any = getattr(graph, "outputs", graph)
    text = to_dot(outputs, getattr(graph, "inputs", ()), max_label_size, with_ids)
    if outfile is not None:
        _write(text, os.fspath(outfile))
        if print_output_file:
            print(f"The graph was written to {os.fspath(outfile)}")
    return text
