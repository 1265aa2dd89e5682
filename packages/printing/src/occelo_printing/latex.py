"""`to_latex`: writes a graph as formulas in LaTeX. Notebooks show variables so.

The formulas are those of `pprint`, which are expressions of Python; this module translates their syntax trees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from occelo_printing.formulas import pprint

_GREEK = frozenset(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi
    omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega""".split()
)
_FUNCTIONS = frozenset(
    "exp log sin cos tan sinh cosh tanh arcsin arccos arctan max min det".split()
)
_SPECIAL = {"sigmoid": r"\sigma", "gamma": r"\Gamma", "gammaln": r"\log\Gamma", "psi": r"\psi"}
_OPERATORS: dict[type[ast.AST], tuple[str, int]] = {
    ast.BitOr: (r"\lor", 1),
    ast.BitXor: (r"\oplus", 2),
    ast.BitAnd: (r"\land", 3),
    ast.Add: ("+", 5),
    ast.Sub: ("-", 5),
    ast.Mult: (r"\,", 6),
    ast.MatMult: (r"\cdot", 6),
    ast.Mod: (r"\bmod", 6),
}
"""Signs of operators, and their precedences."""
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: r"\le",
    ast.Gt: ">",
    ast.GtE: r"\ge",
    ast.Eq: "=",
    ast.NotEq: r"\ne",
}
_SUM, _PRODUCT, _UNARY, _POWER, _ATOM = 5, 6, 7, 8, 9


def to_latex(graph: Any) -> str:
    """The formulas of ``graph`` in LaTeX: a variable, a sequence of variables, a `FunctionGraph` or a compiled function.

    Elementwise products are written without a sign, products of matrices with a dot; the other functions by their names.
    Parts that `pprint` writes in lines of their own come first. The text has no dollars around it. ValueError if a
    part has no form in Python, such as an op with its fields in braces, or is the definition of a function.

    >>> from occelo_graph import tensor as ot
    >>> mu, sigma = ot.dscalars("mu", "sigma")
    >>> print(to_latex(mu / (1 + sigma)))
    \\frac{\\mu}{1 + \\sigma}
    """
    text = pprint(graph)
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        raise ValueError(f"The graph has no formula that can be read: {text}") from None
    return r"\\ ".join(_statement(each) for each in statements)


def _statement(each: ast.stmt) -> str:
    if isinstance(each, ast.Assign):
        return f"{_latex(each.targets[0])[0]} = {_latex(each.value)[0]}"
    if isinstance(each, ast.Expr):
        return _latex(each.value)[0]
    raise ValueError("A definition of a function has no form in LaTeX")


def _at(node: ast.expr, level: int) -> str:
    """The text of an operand, in parentheses unless it binds at least as tightly as ``level``."""
    text, own = _latex(node)
    return text if own >= level else rf"\left({text}\right)"


def _latex(node: ast.expr) -> tuple[str, int]:
    """The text of an expression, and its precedence."""
    match node:
        case ast.Name(id=name):
            return _name(name), _ATOM
        case ast.Constant(value=value):
            return _number(value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return f"-{_at(inner, _UNARY)}", _SUM
        case ast.UnaryOp(op=ast.Invert(), operand=inner):
            return rf"\lnot {_at(inner, _UNARY)}", _UNARY
        case ast.BinOp():
            return _operation(node)
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if (
            type(comparison) in _COMPARISONS
        ):
            return f"{_at(left, 4)} {_COMPARISONS[type(comparison)]} {_at(right, 4)}", 0
        case ast.Subscript(value=value, slice=key):
            # in braces, since a name may have an index already
            return f"{{{_at(value, _ATOM)}}}_{{{_key(key)}}}", _POWER
        case ast.Attribute(value=value, attr="T"):
            return rf"{_at(value, _ATOM)}^\top", _POWER
        case ast.Call():
            return _call(node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return rf"\left({_joined(parts)}\right)", _ATOM
        case _:
            return rf"\texttt{{{_escaped(ast.unparse(node))}}}", _ATOM


def _operation(node: ast.BinOp) -> tuple[str, int]:
    left, right = node.left, node.right
    match node.op:
        case ast.Div():
            return rf"\frac{{{_latex(left)[0]}}}{{{_latex(right)[0]}}}", _POWER
        case ast.FloorDiv():
            return (
                rf"\left\lfloor\frac{{{_latex(left)[0]}}}{{{_latex(right)[0]}}}\right\rfloor",
                _ATOM,
            )
        case ast.Pow():
            return f"{_at(left, _ATOM)}^{{{_latex(right)[0]}}}", _POWER
        case _:
            sign, level = _OPERATORS.get(type(node.op), (ast.unparse(node), _ATOM))
    second = _at(right, level + 1)
    if sign == r"\," and second[:1].isdigit():
        sign = r"\cdot"
    if isinstance(left, ast.UnaryOp):
        return f"{_latex(left)[0]} {sign} {second}", min(level, _SUM)
    return f"{_at(left, level)} {sign} {second}", level


def _call(node: ast.Call) -> tuple[str, int]:
    name = ast.unparse(node.func).rpartition(".")[2]
    arguments = node.args
    if len(arguments) == 1 and not node.keywords:
        inside = _latex(arguments[0])[0]
        match name:
            case "invert":
                return rf"\lnot {_at(arguments[0], _UNARY)}", _UNARY
            case "sqrt":
                return rf"\sqrt{{{inside}}}", _ATOM
            case "sqr":
                return f"{_at(arguments[0], _ATOM)}^{{2}}", _POWER
            case "abs":
                return rf"\left|{inside}\right|", _ATOM
            case "reciprocal":
                return rf"\frac{{1}}{{{inside}}}", _POWER
            case "transpose" | "matrix_transpose":
                return rf"{_at(arguments[0], _ATOM)}^\top", _POWER
            case _:
                pass
    if name in ("sum", "prod") and arguments:
        sign = r"\sum" if name == "sum" else r"\prod"
        axis = next((ast.unparse(k.value) for k in node.keywords if k.arg == "axis"), "")
        rest = [k for k in node.keywords if k.arg != "axis"]
        if len(arguments) == 1 and not rest:
            index = rf"_{{\mathrm{{axis}}\;{axis}}}" if axis else ""
            return rf"{sign}{index} {_at(arguments[0], _PRODUCT)}", _SUM
    shown = [
        *(_latex(a)[0] for a in arguments),
        *(f"{_word(k.arg or '')}={_latex(k.value)[0]}" for k in node.keywords),
    ]
    return rf"{_function(name)}\left({', '.join(shown)}\right)", _ATOM


def _joined(parts: Sequence[ast.expr]) -> str:
    return ", ".join(_latex(part)[0] for part in parts)


def _key(key: ast.expr) -> str:
    match key:
        case ast.Slice(lower=lower, upper=upper, step=step):
            ends = [_latex(e)[0] if e is not None else "" for e in (lower, upper)]
            return ":".join([*ends, _latex(step)[0]] if step is not None else ends)
        case ast.Tuple(elts=parts):
            return ", ".join(map(_key, parts))
        case _:
            return _latex(key)[0]


def _function(name: str) -> str:
    if name in _FUNCTIONS:
        return f"\\{name}"
    return _SPECIAL.get(name, rf"\operatorname{{{_escaped(name)}}}")


def _name(name: str) -> str:
    """A name: Greek letters by their names, what follows the first underscore or the last letter as an index."""
    base, _, index = name.partition("_")
    digits = re.fullmatch(r"([A-Za-z]+?)(\d+)", base)
    if digits and not index:
        base, index = digits.groups()
    return f"{_word(base)}_{{{_word(index)}}}" if base and index else _word(name)


def _word(text: str) -> str:
    if text in _GREEK:
        return f"\\{text}"
    return text if len(text) == 1 or text.isdigit() else rf"\mathrm{{{_escaped(text)}}}"


def _number(value: Any) -> tuple[str, int]:
    if isinstance(value, str):
        return rf"\texttt{{{_escaped(value)}}}", _ATOM
    if isinstance(value, bool) or value is None:
        return rf"\mathrm{{{value}}}", _ATOM
    text = repr(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
        text = str(int(value))
    mantissa, e, exponent = text.partition("e")
    if e and not isinstance(value, complex):
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}", _PRODUCT
    return text, _ATOM


def _escaped(text: str) -> str:
    return re.sub(r"([_%&#${}])", r"\\\1", text.replace("\\", " "))
