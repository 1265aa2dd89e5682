"""`written_node`: writes a node as an expression, such as ``exp(x) * 2.0``.

Ops other than elementwise ones say themselves how they are written (`Op.written`). `printing.formulas` joins the
expressions of a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.fgraph.frozen import FrozenFunctionGraph, inner_graphs
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Op
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarOp
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.statistics import mean
from occelo_graph.tensors.type import DTYPES
from occelo_printing.values import ValueWriter

_UNARY = 7
_POWERS = 8
"""The precedences of ``-x``, and of ``**``, which is evaluated from right to left."""
MOST_ELEMENTS = 8
"""Constants with more elements are no part of an expression."""
_DEFAULTS = ("bool", "int64", "float64", "complex128")
"""The dtypes of constants that are made of Python numbers."""


def _literal(data: Any) -> str:
    if data.ndim:
        return f"[{', '.join(map(_literal, data))}]"
    if data.dtype.kind in "fc" and not np.isfinite(data):
        return f'{"float" if data.dtype.kind == "f" else "complex"}("{data[()]}")'
    return str(data[()])


def is_tensor_constant(variable: Constant) -> bool:
    """Whether `written_constant` writes the constant: an unnamed tensor."""
    return variable.name is None and getattr(variable.type, "dtype", None) in DTYPES


def written_constant(variable: Constant) -> Term:
    """A constant as a call of `constant` or `zeros`."""
    data: Any = variable.data
    dtype: Any = getattr(variable.type, "dtype", None)
    if 0 in data.shape:
        return called("zeros", str(data.shape), dtype=dtype)
    text = _literal(data)
    number = _literal(data.reshape(())) if data.size == 1 and dtype != "bool" else None
    usual = dtype in _DEFAULTS
    term = called("constant", text, dtype=None if usual else dtype)
    return term._replace(number=number, plain=text if usual and dtype != "bool" else None)


def _weak(node: Apply, row: ScalarOp, terms: Sequence[Term]) -> set[int]:
    """The positions of constants that Python numbers may stand for: they would get the same dtypes again."""
    inputs: list[Any] = list(node.inputs)
    kinds: list[Any] = [v.type for v in inputs]
    positions = range(len(terms))
    decide = set(positions if row.moves is None else positions[row.moves])
    weak = {i for i in positions if terms[i].number is not None}
    while True:
        strong = [kinds[i] for i in positions if i not in weak]
        beside = [kinds[i].numpy_dtype for i in decide - weak]
        widest = max((kind.ndim for kind in strong), default=-1)
        still_weak = {
            i
            for i in weak & decide
            if beside
            and kinds[i].ndim <= widest
            and np.result_type(*beside, inputs[i].data.item()) == kinds[i].numpy_dtype
        }
        if still_weak == weak:
            return weak
        weak = still_weak


def _operands(node: Apply, row: ScalarOp, terms: Sequence[Term]) -> list[Term]:
    """The terms of operands as they may be written: without dimensions and dtypes that broadcasting gives them."""
    weak = _weak(node, row, terms)
    kinds: list[Any] = [v.type for v in node.inputs]
    whole: list[Any] = [node.outputs[0].type]
    full = any(
        kind.ndim == whole[0].ndim and term.inner is None and i not in weak
        for i, (kind, term) in enumerate(zip(kinds, terms, strict=True))
    )
    written: list[Term] = []
    for i, term in enumerate(terms):
        number = term.number
        if i in weak and number is not None:
            written.append(Term(number, _UNARY if number.startswith("-") else ATOM))
        else:
            written.append(term if term.inner is None or not full else term.inner)
    return written


def _elementwise(node: Apply, row: ScalarOp, given: Sequence[Term]) -> Term:
    terms = _operands(node, row, given)
    if row.infix is None or (len(terms) == 1 and row.nin != 1):
        return row.written([term.text for term in terms])
    symbol, level = row.infix
    if len(terms) == 1:
        return Term(f"{symbol}{terms[0].at(level)}", level)
    if level == _POWERS:
        return Term(f"{terms[0].at(level + 1)} {symbol} {terms[1].at(_UNARY)}", level)
    # comparisons in a row would be a chain
    first = terms[0].at(level + 1 if level == 1 else level)
    return Term(f" {symbol} ".join([first, *(t.at(level + 1) for t in terms[1:])]), level)


def written_as_mean(node: Apply) -> tuple[Variable, dict[str, Any]] | None:
    """The argument and the options of `mean`, if the node is the division that it ends in."""
    if not isinstance(node.op, Elemwise) or node.op.scalar_op.name != "true_div":
        return None
    total: Any = node.inputs[0].owner
    if total is None:
        return None
    keepdims = not isinstance(total.op, CAReduce)
    if keepdims and len(total.inputs) == 1:
        total = total.inputs[0].owner
    if total is None or not isinstance(total.op, CAReduce):
        return None
    x: Any = total.inputs[0]
    axes = total.op.axis
    if not _alike(mean(x, axes, keepdims=keepdims), node.outputs[0], x):
        return None
    axis = None if len(axes) == x.type.ndim else axes[0] if len(axes) == 1 else axes
    return x, {"axis": axis, "keepdims": True if keepdims else None}


def _alike(a: Variable, b: Variable, leaf: Variable) -> bool:
    """Whether two graphs over ``leaf`` are equal. ``a`` is small."""
    pending = [(a, b)]
    while pending:
        one, other = pending.pop()
        if one is other:
            continue
        first, second = one.owner, other.owner
        if one is leaf or first is None or second is None or first.op != second.op:
            return False
        pending += zip(first.inputs, second.inputs, strict=True)
    return True


def graphs_of(op: Op) -> list[FrozenFunctionGraph]:
    """The inner graphs of an op, or of the function of elements that it applies."""
    if not isinstance(op, Elemwise):
        return inner_graphs(op)
    return [v for v in op.scalar_op.fields().values() if isinstance(v, FrozenFunctionGraph)]


def written_node(node: Apply, terms: Sequence[Term]) -> Term:
    """A node as an expression. ``terms`` are those of the inputs, and of functions that compute the inner graphs.

    An op that no function makes is written as a call of its class with its fields, ``Gemv()(y, a, m, x, b)``. An op
    that has no such form is written with its fields in braces, which is no expression.
    """
    op, inputs = node.op, ", ".join(term.text for term in terms)
    if isinstance(op, Elemwise):
        if not graphs_of(op):
            return _elementwise(node, op.scalar_op, terms)
        *arguments, function = terms
        return called(function.text, *(term.text for term in arguments))
    written = op.written(node, terms)
    if written is not None:
        return written
    try:
        text = ValueWriter(brief=True).op(op)
    except TypeError:
        return Term(f"{op}({inputs})")
    if type(op).__call__ is not Op.__call__ or op.default_output is not None:
        # a call would take other arguments, or return one of several outputs only
        several = len(node.outputs) > 1
        return Term(f"{text}.make_node({inputs}).outputs{'' if several else '[0]'}")
    return Term(f"{text}({inputs})")
