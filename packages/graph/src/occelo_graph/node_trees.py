"""`debugprint`: prints a graph as an indented tree.

Users call the function to look at a graph. The method ``dprint`` of variables, function graphs and compiled functions
calls the function, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.errors import explained
from occelo_graph.fgraph.frozen import inner_graphs
from occelo_graph.ir.graph_like import graph_parts, inspected
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.narrowing import is_list_or_tuple

if TYPE_CHECKING:
    from occelo_graph.ir.op import Op

_DEEPEST_INDENT = 100


def _letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(65 + digit) + text
    return text


class _Ids:
    """The identifiers of variables and nodes in the tree, such as "[id A]".

    ``kind`` is the argument ``id_type`` of `debugprint`.
    """

    def __init__(self, kind: str, used: dict[Any, str]) -> None:
        if kind not in ("CHAR", "int", "id", "auto", ""):
            raise explained(
                ValueError(f"id_type is CHAR, int, id, auto or '', not {kind!r}"), "arguments"
            )
        self.kind = kind
        self.used = used

    def of(self, item: Variable) -> str:
        if self.kind == "":
            return ""
        key = item if item.owner is None else item.owner
        if key not in self.used:
            count = len(self.used)
            if self.kind == "CHAR":
                self.used[key] = f"[id {_letters(count)}]"
            elif self.kind == "int":
                self.used[key] = f"[id {count}]"
            elif self.kind == "auto":
                self.used[key] = f"[id {item.auto_name}]"
            else:
                self.used[key] = f"[id {id(key):x}]"
        return self.used[key]


class _Printer:
    """Collects the lines of printed trees in ``lines``, and the ops with inner graphs in ``inner``."""

    def __init__(self, options: dict[str, Any], order: dict[Apply, int]) -> None:
        self.options = options
        used: dict[Any, str] = options["used_ids"] if options["used_ids"] is not None else {}
        self.ids = _Ids(options["id_type"], used)
        self.done: dict[Any, Any] = options["done"] if options["done"] is not None else {}
        self.order = order
        self.inner: dict[Op, None] = {}
        self.lines: list[str] = []
        self.storage: Any = None
        self.graph: Any = None

    def label(self, variable: Variable) -> str:
        node = variable.owner
        parts: list[str] = []
        if node is None:
            parts.append(str(variable))
            text = self.ids.of(variable)
            if text:
                parts.append(text)
        else:
            suffix = f".{variable.index}" if len(node.outputs) > 1 else ""
            parts.append(f"{node.op}{suffix}")
            text = self.ids.of(variable)
            if text:
                parts.append(text)
            if variable.name is not None:
                parts.append(f"'{variable.name}'")
            if node in self.order:
                parts.append(str(self.order[node]))
        if self.options["print_type"]:
            parts.insert(1, f"<{variable.type}>")
        if self.options["print_shape"]:
            parts.append(f"shape={getattr(variable.type, 'shape', None)}")
        if node is not None:
            parts += self._maps(node)
        if self.storage is not None and variable in self.storage:
            parts.append(f"= {self.storage[variable][0]!r}")
        facts = getattr(self.graph, "assumption_feature", None)
        if facts is not None:
            stated = facts.known(self.graph, variable)
            parts += [fact if holds else f"not {fact}" for fact, holds in stated.items()]
        return " ".join(parts)

    def _maps(self, node: Apply) -> list[str]:
        parts: list[str] = []
        if self.options["print_destroy_map"] and node.op.destroy_map:
            parts.append(f"d={dict(node.op.destroy_map)}")
        if self.options["print_view_map"] and node.op.view_map:
            parts.append(f"v={dict(node.op.view_map)}")
        if self.options["print_op_info"]:
            props = node.op.props()
            if props:
                parts.append(str(props))
        return parts

    def tree(self, root: Variable, label: str | None = None) -> None:
        """Add the lines of the tree of ``root``. ``label`` replaces the text of its first line.

        The method is not recursive, so only the option ``depth`` limits the depth of the tree.
        """
        depth: int = self.options["depth"]
        stop: bool = self.options["stop_on_name"]
        stack: list[tuple[Variable, str, str, int]] = [(root, "", "", 1)]
        while stack:
            variable, lead, below, level = stack.pop()
            text = self.label(variable) if level > 1 or label is None else label
            node = variable.owner
            repeated = node is not None and node in self.done
            self.lines.append(f"{lead}{text}")
            if node is None or (stop and variable.name is not None and level > 1):
                continue
            if repeated:
                if node.inputs:
                    self.lines.append(f"{below} └─ ···")
                continue
            self.done[node] = None
            if inner_graphs(node.op):
                self.inner[node.op] = None
            if depth != -1 and level >= depth:
                continue
            last = len(node.inputs) - 1
            children: list[tuple[Variable, str, str, int]] = []
            for i, child in enumerate(node.inputs):
                if level >= _DEEPEST_INDENT:
                    # a number instead of an indent: with indents, the text of a deep graph has quadratic size
                    children.append((child, f"({level + 1}) ", "", level + 1))
                    continue
                mark, space = (" └─ ", "    ") if i == last else (" ├─ ", " │  ")
                children.append((child, below + mark, below + space, level + 1))
            stack.extend(reversed(children))


def _roots(graph_like: Any) -> tuple[list[Variable], dict[Apply, int], Any, Any]:
    """What `debugprint` prints of ``graph_like``.

    Returns the outputs, the position of each node in the order of execution, the storage of a compiled function, and
    the function graph. What ``graph_like`` does not have is empty or None.
    """
    if is_list_or_tuple(graph_like):
        roots: list[Variable] = []
        for item in graph_like:
            roots += _roots(item)[0]
        return roots, {}, None, None
    graph_like = inspected(graph_like)
    outputs, _ = graph_parts(graph_like)
    maker = getattr(graph_like, "maker", None)
    graph: Any = getattr(graph_like if maker is None else maker, "fgraph", graph_like)
    if isinstance(graph, Variable) or not hasattr(graph, "toposort"):
        return outputs, {}, None, None
    order: dict[Apply, int] = {node: i for i, node in enumerate(graph.toposort())}
    storage = getattr(getattr(graph_like, "vm", None), "storage_map", None)
    return outputs, order, storage, graph


def debugprint(
    graph_like: Any,
    depth: int = -1,
    print_type: bool = False,
    print_shape: bool = False,
    file: Any = None,
    id_type: str = "CHAR",
    stop_on_name: bool = False,
    done: dict[Any, Any] | None = None,
    print_storage: bool = False,
    used_ids: dict[Any, str] | None = None,
    print_op_info: bool = False,
    print_destroy_map: bool = False,
    print_view_map: bool = False,
    print_memory_map: bool = False,
    print_inner_graphs: bool | str = True,
    print_fgraph_inputs: bool = False,
    print_assumptions: bool = False,
) -> Any:
    """Print ``graph_like``, a variable, node, list of these, `FunctionGraph` or compiled function, as a tree.

    A node that was printed before is abbreviated. From level 100 on, lines begin with the number of their level instead
    of a longer indent. For function graphs, the tree shows each node's position in the order of execution.

    - ``depth``: the number of levels that are printed; -1 prints all.
    - ``file``: a stream (by default standard output), "str" to return the text, or "rich" to return a
      `rich.tree.Tree`.
    - ``id_type``: the kind of identifiers: "CHAR" (letters), "int", "id" (addresses), "auto" (`Variable.auto_name`),
      or "" for none.
    - ``stop_on_name``: whether variables with names are printed without their inputs.
    - ``done``, ``used_ids``: dictionaries of printed nodes and used identifiers, to share between calls.
    - ``print_inner_graphs``: whether the inner graphs of ops are printed after the tree (by default they are).
    - ``print_assumptions``: add the facts that a rewritten graph knows about each variable.
    - ``print_type``, ``print_shape``, ``print_storage``, ``print_op_info``, ``print_destroy_map``, ``print_view_map``,
      ``print_memory_map`` (both maps), ``print_fgraph_inputs``: add what they name.
    """
    options = {
        "depth": depth,
        "print_type": print_type,
        "print_shape": print_shape,
        "id_type": id_type,
        "stop_on_name": stop_on_name,
        "done": done,
        "used_ids": used_ids,
        "print_op_info": print_op_info,
        "print_destroy_map": print_destroy_map or print_memory_map,
        "print_view_map": print_view_map or print_memory_map,
    }
    roots, order, storage, graph = _roots(graph_like)
    printer = _Printer(options, order)
    if print_storage:
        printer.storage = storage
    if print_assumptions:
        printer.graph = graph
    if print_fgraph_inputs and graph is not None:
        printer.lines += [f"-{printer.label(v)}" for v in graph.inputs]
    updates: dict[int, int] = getattr(graph, "update_mapping", None) or {}
    for position, root in enumerate(roots):
        text = None
        if graph is not None and position in updates:
            text = f"{printer.label(root)} (updates {graph.inputs[updates[position]]})"
        printer.tree(root, text)
    if print_inner_graphs and printer.inner:
        _print_inner(printer)
    return _deliver(printer.lines, file)


def _print_inner(printer: _Printer) -> None:
    printer.lines += ["", "Inner graphs:"]
    pending = list(printer.inner)
    seen: set[Op] = set()
    while pending:
        op = pending.pop(0)
        if op in seen:
            continue
        seen.add(op)
        printer.lines += ["", str(op)]
        for graph in inner_graphs(op):
            start = len(printer.lines)
            for output in graph.outputs:
                printer.tree(output)
            printer.lines[start:] = [f"  {line}" for line in printer.lines[start:]]
        pending += [o for o in printer.inner if o not in seen]


def _deliver(lines: Sequence[str], file: Any) -> Any:
    text = "\n".join(lines) + "\n"
    if file == "str":
        return text
    if file == "rich":
        return _rich_tree(lines)
    print(text, end="", file=file or sys.stdout)
    return file


def _rich_tree(lines: Sequence[str]) -> Any:
    from rich.tree import Tree

    root = Tree("graph", hide_root=True)
    branches: list[Any] = [root]
    for line in lines:
        body = line.lstrip(" │├└─")
        level = (len(line) - len(body)) // 4
        del branches[level + 1 :]
        branches.append(branches[level].add(body))
    return root


dprint = debugprint
