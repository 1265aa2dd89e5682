"""`pprint`: prints a graph as a formula on one line, such as ``exp(x) * 2.0``.

Users call the function. Error messages show variables without names as such formulas.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarOp

__all__ = ["pp", "pprint"]

_POWERS = 8
"""The precedence of operators that are evaluated from right to left, such as ``**``."""
_ATOM = 10
_LONGEST = 10_000


def _elementwise(row: ScalarOp, parts: list[tuple[str, int]]) -> tuple[str, int]:
    if row.infix is not None and len(parts) >= 2:
        symbol, level = row.infix
        regrouped = row.arithmetic and row.commutative
        texts: list[str] = []
        for i, (text, inner) in enumerate(parts):
            loose = inner < level or (
                inner == level and (i > 0) != (level == _POWERS) and not regrouped
            )
            texts.append(f"({text})" if loose else text)
        return f" {symbol} ".join(texts), level
    if row.infix is not None and row.nin == 1:
        symbol, level = row.infix
        text, inner = parts[0]
        return f"{symbol}{text}" if inner >= level else f"{symbol}({text})", level
    return f"{row.name}({', '.join(text for text, _ in parts)})", _ATOM


def _node(node: Apply, parts: list[tuple[str, int]]) -> tuple[str, int]:
    if isinstance(node.op, Elemwise):
        return _elementwise(node.op.scalar_op, parts)
    name = type(node.op).__name__
    if name == "Dot" or name == "MatMul":
        texts = [f"({text})" if level <= 6 else text for text, level in parts]
        return " @ ".join(texts), 6
    if name == "DimShuffle" and len(parts) == 1:
        order = getattr(node.op, "new_order", ())
        if order == (1, 0):
            text, level = parts[0]
            return f"{text}.T" if level >= _ATOM else f"({text}).T", _ATOM
    return f"{node.op}({', '.join(text for text, _ in parts)})", _ATOM


def pprint(graph: Any) -> str:
    """The formula of a variable, with only the parentheses that Python's operator precedence requires.

    For a sequence of variables, a `FunctionGraph` or a compiled function, the result has a line for each output. A
    subexpression of more than 10,000 characters is abbreviated.
    """
    return "\n".join(_formula(v) for v in graph_parts(graph)[0])


def _formula(variable: Variable) -> str:
    texts: dict[Variable, tuple[str, int]] = {}

    def of(v: Variable) -> tuple[str, int]:
        return texts[v] if v in texts else (str(v), _ATOM)

    order = toposort(variable)
    pending = Counter(v for node in order for v in node.inputs)
    for node in order:
        text, level = _node(node, [of(v) for v in node.inputs])
        pending.subtract(node.inputs)
        for used in node.inputs:
            if not pending[used]:
                texts.pop(used, None)
        if len(text) > _LONGEST:
            text, level = f"{node.op}(...)", _ATOM
        for i, output in enumerate(node.outputs):
            if output.name is not None and output is not variable:
                texts[output] = (output.name, _ATOM)
            else:
                texts[output] = (f"{text}[{i}]", _ATOM) if len(node.outputs) > 1 else (text, level)
    return of(variable)[0]


def pp(variable: Any) -> str:
    """Short name of `pprint`."""
    return pprint(variable)
