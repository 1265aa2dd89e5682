"""`pprint`: prints a graph as a formula on one line, such as ``exp(x) * 2.0``.

Users call the function. Error messages show variables without names as such formulas. Ops other than elementwise ones
say themselves how they are written (`Op.written`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarOp
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.statistics import mean
from occelo_graph.tensors.type import DTYPES

_UNARY = 7
_POWERS = 8
"""The precedences of ``-x``, and of ``**``, which is evaluated from right to left."""
_LONGEST = 10_000
_MOST_ELEMENTS = 8
_DEFAULTS = ("bool", "int64", "float64", "complex128")
"""The dtypes of constants that are made of Python numbers."""


def _literal(data: Any) -> str:
    if data.ndim:
        return f"[{', '.join(map(_literal, data))}]"
    if data.dtype.kind in "fc" and not np.isfinite(data):
        return f'{"float" if data.dtype.kind == "f" else "complex"}("{data[()]}")'
    return str(data[()])


def _constant(variable: Constant) -> Term:
    data: Any = variable.data
    dtype = getattr(variable.type, "dtype", None)
    if variable.name is not None or dtype not in DTYPES or data.size > _MOST_ELEMENTS:
        return Term(str(variable))
    if 0 in data.shape:
        return called("zeros", str(data.shape), dtype=dtype)
    text = _literal(data)
    number = _literal(data.reshape(())) if data.size == 1 and dtype != "bool" else None
    usual = dtype in _DEFAULTS
    made = called("constant", text, dtype=None if usual else dtype)
    return made._replace(number=number, plain=text if usual and dtype != "bool" else None)


def _leaf(variable: Variable) -> Term:
    return _constant(variable) if isinstance(variable, Constant) else Term(str(variable))


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
        kept = {
            i
            for i in weak & decide
            if beside
            and kinds[i].ndim <= widest
            and np.result_type(*beside, inputs[i].data.item()) == kinds[i].numpy_dtype
        }
        if kept == weak:
            return weak
        weak = kept


def _operands(node: Apply, row: ScalarOp, terms: Sequence[Term]) -> list[Term]:
    """The terms of operands as they may be written: without dimensions and dtypes that broadcasting gives them."""
    weak = _weak(node, row, terms)
    kinds: list[Any] = [v.type for v in node.inputs]
    whole: list[Any] = [node.outputs[0].type]
    full = any(
        kind.ndim == whole[0].ndim and term.inner is None and i not in weak
        for i, (kind, term) in enumerate(zip(kinds, terms, strict=True))
    )
    made: list[Term] = []
    for i, term in enumerate(terms):
        number = term.number
        if i in weak and number is not None:
            made.append(Term(number, _UNARY if number.startswith("-") else ATOM))
        else:
            made.append(term if term.inner is None or not full else term.inner)
    return made


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


def _mean(node: Apply) -> tuple[Variable, dict[str, Any]] | None:
    """The argument and the options of `mean`, if the node is the division that it ends in."""
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


def _node(node: Apply, terms: Sequence[Term]) -> Term:
    written = None
    if isinstance(node.op, Elemwise):
        if not node.op.inplace:
            written = _elementwise(node, node.op.scalar_op, terms)
    else:
        written = node.op.written(node, terms)
    return written or Term(f"{node.op}({', '.join(term.text for term in terms)})")


def pprint(graph: Any) -> str:
    """The formula of a variable, with only the parentheses that Python's operator precedence requires.

    In the namespace of `occelo.tensor`, with the inputs by their names, the text is an expression that computes the same
    numbers in the same order. Exceptions are ops that only rules or less common functions make, which are printed with
    their parameters in braces, and constants of more than 8 elements and subexpressions of more than 10,000 characters,
    which are abbreviated.

    For a sequence of variables, a `FunctionGraph` or a compiled function, the result has a line for each output.
    """
    return "\n".join(_formula(v) for v in graph_parts(graph)[0])


def _formula(variable: Variable) -> str:
    texts: dict[Variable, Term] = {}

    def of(v: Variable) -> Term:
        return texts[v] if v in texts else _leaf(v)

    order = toposort(variable)
    means: dict[Apply, tuple[Variable, dict[str, Any]]] = {}
    pending = Counter(v for node in order for v in node.inputs)
    for node in order:
        if isinstance(node.op, Elemwise) and node.op.scalar_op.name == "true_div":
            found = _mean(node)
            if found is not None:
                means[node] = found
                pending[found[0]] += 1
    for node in order:
        if node in means:
            x, options = means[node]
            term = called("mean", of(x).text, **options)
            pending[x] -= 1
        else:
            term = _node(node, [of(v) for v in node.inputs])
        pending.subtract(node.inputs)
        for used in node.inputs:
            if not pending[used]:
                texts.pop(used, None)
        if len(term.text) > _LONGEST:
            term = Term(f"{node.op}(...)")
        for i, output in enumerate(node.outputs):
            if output.name is not None and output is not variable:
                texts[output] = Term(output.name)
            else:
                texts[output] = Term(f"{term.at(ATOM)}[{i}]") if len(node.outputs) > 1 else term
    return of(variable).text


def pp(variable: Any) -> str:
    """Short name of `pprint`."""
    return pprint(variable)
