"""`as_string`: each output of a graph as one line of text, such as ``mul(add(x, 1.0), y)``.

Users and libraries call it from `occelo.graph.basic`, for short messages; `debugprint` prints graphs as trees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import toposort


def default_node_formatter(op: Any, arguments: Sequence[str]) -> str:
    """A node as text: the op, and its arguments in parentheses."""
    return f"{op}({', '.join(arguments)})"


@explained_by("arguments")
def as_string(
    inputs: Collection[Variable],
    outputs: Sequence[Variable],
    leaf_formatter: Callable[[Variable], str] = str,
    node_formatter: Callable[[Any, Sequence[str]], str] = default_node_formatter,
) -> list[str]:
    """The text of each output, by the variables ``inputs`` and the roots of the graph.

    A node that is used several times is written once, as in ``*1 -> exp(x)``, and ``*1`` where it is used again. TypeError unless
    both are sequences of variables.
    """
    both: list[Any] = [inputs, outputs]
    for each in both:
        if isinstance(each, Variable) or not all(isinstance(v, Variable) for v in each):
            raise TypeError(f"as_string takes sequences of variables, got {each!r}")
    stop = set(inputs)
    uses = Counter(v.owner for v in outputs if v.owner is not None and v not in stop)
    for node in toposort(outputs, stop):
        uses.update(v.owner for v in node.inputs if v.owner is not None and v not in stop)
    numbers: dict[Apply, int] = {}
    return [_text(v, stop, uses, numbers, leaf_formatter, node_formatter) for v in outputs]


def _text(
    root: Variable,
    stop: Collection[Variable],
    uses: Counter[Apply],
    numbers: dict[Apply, int],
    leaf: Callable[[Variable], str],
    formatter: Callable[[Any, Sequence[str]], str],
) -> str:
    texts: list[list[str]] = [[]]
    pending: list[Variable | Apply] = [root]
    while pending:  # graphs may be deeper than Python's recursion
        each = pending.pop()
        if isinstance(each, Variable):
            node = each.owner
            if node is None or each in stop:
                texts[-1].append(leaf(each))
            elif node in numbers:
                texts[-1].append(_part(f"*{numbers[node]}", each))
            else:
                if uses[node] > 1:
                    numbers[node] = len(numbers) + 1
                texts.append([str(each.index or 0)])
                pending.append(node)
                pending.extend(reversed(node.inputs))
        else:
            index, *arguments = texts.pop()
            text = formatter(each.op, arguments)
            if each in numbers:
                text = f"*{numbers[each]} -> {text}"
            texts[-1].append(_part(text, each.outputs[int(index)]))
    return texts[0][0]


def _part(text: str, variable: Variable) -> str:
    node = variable.owner
    several = node is not None and len(node.outputs) > 1
    return f"{text}::{variable.index}" if several else text
