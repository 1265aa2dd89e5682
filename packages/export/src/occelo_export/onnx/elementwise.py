"""Elementwise functions in ONNX. Functions that ONNX lacks are written as formulas of operators, and otherwise by the
formula of the scalar op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_export.onnx.registry import translates
from occelo_export.onnx.writer import NotInONNX, Scope, working_dtype
from occelo_graph import Constant
from occelo_graph.errors import describe
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_rewrite.fusion.composite import Composite

Function = Callable[..., str]
"""From the scope, the dtype in which is computed, and the names of the arguments to the name of the result."""


def _operator(kind: str, **attributes: Any) -> Function:
    def function(scope: Scope, dtype: str, *inputs: str) -> str:
        return scope.op(kind, *inputs, **attributes)

    return function


def _folded(kind: str, of_truth: str | None = None) -> Function:
    """A function of any number of arguments."""

    def function(scope: Scope, dtype: str, *inputs: str) -> str:
        folded = inputs[0]
        for each in inputs[1:]:
            folded = scope.op(of_truth if dtype == "bool" and of_truth else kind, folded, each)
        return folded

    return function


def _whole_quotient(scope: Scope, dtype: str, x: str, y: str) -> str:
    return scope.op("Floor", scope.op("Div", x, y))


def _square(scope: Scope, dtype: str, x: str) -> str:
    return scope.op("Mul", x, x)


def _sign(scope: Scope, dtype: str, x: str) -> str:
    """ONNX does not say what the sign of NaN is."""
    return _where(scope, scope.op("IsNaN", x), x, scope.op("Sign", x))


def _differs(scope: Scope, dtype: str, x: str, y: str) -> str:
    return scope.op("Not", scope.op("Equal", x, y))


def _always(scope: Scope, dtype: str, x: str) -> str:
    """True everywhere, for integers."""
    return scope.op("Equal", x, x)


def _inverted(scope: Scope, dtype: str, x: str) -> str:
    return scope.op("Not" if dtype == "bool" else "BitwiseNot", x)


def _exp2(scope: Scope, dtype: str, x: str) -> str:
    return scope.op("Pow", scope.constant(2, dtype), x)


def _of_dtypes(of_floats: Function, of_integers: Function) -> Function:
    def function(scope: Scope, dtype: str, *inputs: str) -> str:
        chosen = of_floats if dtype.startswith("float") else of_integers
        return chosen(scope, dtype, *inputs)

    return function


def _where(scope: Scope, condition: str, x: str, y: str) -> str:
    return scope.op("Where", condition, x, y)


def _where_of(scope: Scope, dtype: str, condition: str, x: str, y: str) -> str:
    """As bits of int64 for uint64, of which onnxruntime has no `Where`. A cast of integers keeps the bits."""
    if dtype != "uint64":
        return _where(scope, condition, x, y)
    x, y = scope.cast(x, dtype, "int64"), scope.cast(y, dtype, "int64")
    return scope.cast(_where(scope, condition, x, y), "int64", dtype)


def _same(scope: Scope, dtype: str, x: str) -> str:
    return x


def _floor_quotient(scope: Scope, dtype: str, x: str, y: str) -> str:
    """ONNX's integer quotients are rounded towards 0, and a divisor of 0 may end the process."""
    zero, one = scope.constant(0, dtype), scope.constant(1, dtype)
    none = scope.op("Equal", y, zero)
    safe = _where_of(scope, dtype, none, one, y)
    quotient = scope.op("Div", x, safe)
    if dtype == "uint64":  # no sign, and the working dtype of no other
        return _where_of(scope, dtype, none, zero, quotient)
    exact = scope.op("Equal", scope.op("Mul", quotient, safe), x)
    mixed = scope.op("Xor", scope.op("Less", x, zero), scope.op("Less", safe, zero))
    lower = scope.op("And", scope.op("Not", exact), mixed)
    rounded = _where_of(scope, dtype, lower, scope.op("Sub", quotient, one), quotient)
    return _where_of(scope, dtype, none, zero, rounded)


def _integer_remainder(scope: Scope, dtype: str, x: str, y: str) -> str:
    zero = scope.constant(0, dtype)
    none = scope.op("Equal", y, zero)
    safe = _where_of(scope, dtype, none, scope.constant(1, dtype), y)
    return _where_of(scope, dtype, none, zero, scope.op("Mod", x, safe))


def _float_remainder(scope: Scope, dtype: str, x: str, y: str) -> str:
    """The remainder with the sign of the divisor."""
    zero = scope.constant(0, dtype)
    rest = scope.op("Mod", x, y, fmod=1)
    mixed = scope.op("Xor", scope.op("Less", rest, zero), scope.op("Less", y, zero))
    wrong = scope.op("And", scope.op("Not", scope.op("Equal", rest, zero)), mixed)
    return _where(scope, wrong, scope.op("Add", rest, y), rest)


def _trunc(scope: Scope, dtype: str, x: str) -> str:
    negative = scope.op("Less", x, scope.constant(0, dtype))
    return _where(scope, negative, scope.op("Ceil", x), scope.op("Floor", x))


def _away_from_zero(scope: Scope, dtype: str, x: str) -> str:
    whole = _trunc(scope, dtype, x)
    rest = scope.op("Abs", scope.op("Sub", x, whole))
    far = scope.op("GreaterOrEqual", rest, scope.constant(0.5, dtype))
    return _where(scope, far, scope.op("Add", whole, scope.op("Sign", x)), whole)


def _log1p(scope: Scope, dtype: str, x: str) -> str:
    """x log(u) / (u - 1) for u = 1 + x as it is rounded: the error of u cancels."""
    one = scope.constant(1, dtype)
    u = scope.op("Add", one, x)
    less = scope.op("Sub", u, one)
    # x itself where u is 1, and log(u) where u is infinite
    small = scope.op("Equal", less, scope.constant(0, dtype))
    same = scope.op("Equal", less, x)
    log = scope.op("Log", u)
    ratio = scope.op("Div", x, _where(scope, small, one, less))
    return _where(scope, small, x, _where(scope, same, log, scope.op("Mul", log, ratio)))


def _expm1(scope: Scope, dtype: str, x: str) -> str:
    """By tanh near 0, where exp(x) - 1 cancels."""
    one, two = scope.constant(1, dtype), scope.constant(2, dtype)
    near = scope.op("Less", scope.op("Abs", x), one)
    half = scope.op("Tanh", scope.op("Div", _where(scope, near, x, scope.constant(0, dtype)), two))
    close = scope.op("Div", scope.op("Mul", two, half), scope.op("Sub", one, half))
    return _where(scope, near, close, scope.op("Sub", scope.op("Exp", x), one))


def _softplus(scope: Scope, dtype: str, x: str) -> str:
    above = scope.op("Max", x, scope.constant(0, dtype))
    return scope.op(
        "Add", above, _log1p(scope, dtype, scope.op("Exp", scope.op("Neg", scope.op("Abs", x))))
    )


def _logaddexp(scope: Scope, dtype: str, x: str, y: str) -> str:
    largest = scope.op("Max", x, y)
    # of equal infinities the difference is NaN
    same = scope.op("Equal", x, y)
    apart = _where(scope, same, scope.constant(0, dtype), scope.op("Sub", x, y))
    rest = _log1p(scope, dtype, scope.op("Exp", scope.op("Neg", scope.op("Abs", apart))))
    return scope.op("Add", largest, rest)


def _finite(scope: Scope, dtype: str, x: str) -> str:
    return scope.op("Not", scope.op("Or", scope.op("IsNaN", x), scope.op("IsInf", x)))


def _never(scope: Scope, dtype: str, x: str) -> str:
    """False everywhere, for integers."""
    return scope.op("Not", scope.op("Equal", x, x))


def _logarithm(base: float) -> Function:
    def function(scope: Scope, dtype: str, x: str) -> str:
        return scope.op("Div", scope.op("Log", x), scope.constant(math.log(base), dtype))

    return function


def _double(kind: str, formula: Function) -> Function:
    """An operator, and a formula in float64, for which onnxruntime has no such operator."""

    def function(scope: Scope, dtype: str, *inputs: str) -> str:
        return formula(scope, dtype, *inputs) if dtype == "float64" else scope.op(kind, *inputs)

    return function


def _tan(scope: Scope, dtype: str, x: str) -> str:
    return scope.op("Div", scope.op("Sin", x), scope.op("Cos", x))


def _sinh(scope: Scope, dtype: str, x: str) -> str:
    """(e + e / (e + 1)) / 2 for e = expm1(x), which neither cancels nor overflows before the result."""
    half, one = scope.constant(0.5, dtype), scope.constant(1, dtype)
    size = scope.op("Abs", x)
    grown = _expm1(scope, dtype, size)
    near = scope.op("Less", size, scope.constant(20, dtype))
    inside = _expm1(scope, dtype, _where(scope, near, size, scope.constant(0, dtype)))
    small = scope.op("Add", inside, scope.op("Div", inside, scope.op("Add", inside, one)))
    total = _where(scope, near, small, grown)
    return scope.op("Mul", scope.op("Sign", x), scope.op("Mul", half, total))


def _cosh(scope: Scope, dtype: str, x: str) -> str:
    grown = scope.op("Exp", scope.op("Abs", x))
    half = scope.constant(0.5, dtype)
    return scope.op("Mul", half, scope.op("Add", grown, scope.op("Reciprocal", grown)))


def _arcsinh(scope: Scope, dtype: str, x: str) -> str:
    one, size = scope.constant(1, dtype), scope.op("Abs", x)
    # beyond 1e8 it is log(2 x), and a square would overflow
    large = scope.op("Greater", size, scope.constant(1e8, dtype))
    inner = _where(scope, large, one, size)
    square = scope.op("Mul", inner, inner)
    root = scope.op("Sqrt", scope.op("Add", one, square))
    more = scope.op("Div", square, scope.op("Add", one, root))
    near = _log1p(scope, dtype, scope.op("Add", inner, more))
    far = scope.op("Add", scope.op("Log", size), scope.constant(math.log(2), dtype))
    return scope.op("Mul", scope.op("Sign", x), _where(scope, large, far, near))


def _arccosh(scope: Scope, dtype: str, x: str) -> str:
    one = scope.constant(1, dtype)
    t = scope.op("Sub", x, one)
    large = scope.op("Greater", x, scope.constant(1e8, dtype))
    inner = _where(scope, large, one, t)
    square = scope.op("Mul", inner, scope.op("Add", inner, scope.constant(2, dtype)))
    near = _log1p(scope, dtype, scope.op("Add", inner, scope.op("Sqrt", square)))
    far = scope.op("Add", scope.op("Log", x), scope.constant(math.log(2), dtype))
    below = scope.op("Less", x, one)
    return _where(scope, below, scope.constant(math.nan, dtype), _where(scope, large, far, near))


def _arctanh(scope: Scope, dtype: str, x: str) -> str:
    one, two = scope.constant(1, dtype), scope.constant(2, dtype)
    grown = scope.op("Div", scope.op("Mul", two, x), scope.op("Sub", one, x))
    return scope.op("Div", _log1p(scope, dtype, grown), two)


def _arctan2(scope: Scope, dtype: str, y: str, x: str) -> str:
    """By the arctangent of a quotient of at most 1, so that infinities and zeros need no cases of their own."""
    pi, half, zero = (scope.constant(n, dtype) for n in (math.pi, math.pi / 2, 0))
    height, width = scope.op("Abs", y), scope.op("Abs", x)
    steep = scope.op("Greater", height, width)
    same = scope.op("Equal", height, width)
    above, below = _where(scope, steep, width, height), _where(scope, steep, height, width)
    nothing = scope.op("And", same, scope.op("Equal", width, zero))
    both = _where(
        scope, scope.op("And", same, scope.op("Not", nothing)), scope.constant(1, dtype), above
    )
    whole = _where(scope, scope.op("Or", same, nothing), scope.constant(1, dtype), below)
    angle = scope.op("Atan", scope.op("Div", both, whole))
    turned = _where(scope, steep, scope.op("Sub", half, angle), angle)
    # the sign of a zero is that of its reciprocal
    left = scope.op("Or", scope.op("Less", x, zero), _is_negative_zero(scope, dtype, x))
    full = _where(scope, left, scope.op("Sub", pi, turned), turned)
    down = scope.op("Or", scope.op("Less", y, zero), _is_negative_zero(scope, dtype, y))
    return _where(scope, down, scope.op("Neg", full), full)


def _is_negative_zero(scope: Scope, dtype: str, x: str) -> str:
    zero = scope.constant(0, dtype)
    return scope.op(
        "And", scope.op("Equal", x, zero), scope.op("Less", scope.op("Reciprocal", x), zero)
    )


def _right_shift(scope: Scope, dtype: str, x: str, y: str) -> str:
    """ONNX shifts numbers without a sign: a negative one is its complement, shifted. By all bits, nothing remains."""
    negative = scope.op("Less", x, scope.constant(0, dtype))
    size = x if dtype == "uint64" else _where(scope, negative, scope.op("BitwiseNot", x), x)
    far = scope.op("GreaterOrEqual", y, scope.constant(8 * np.dtype(dtype).itemsize, dtype))
    by = scope.cast(_where_of(scope, dtype, far, scope.constant(0, dtype), y), dtype, "uint64")
    shifted = scope.op("BitShift", scope.cast(size, dtype, "uint64"), by, direction="RIGHT")
    shifted = _where_of(
        scope, dtype, far, scope.constant(0, dtype), scope.cast(shifted, "uint64", dtype)
    )
    if dtype == "uint64":
        return shifted
    return _where(scope, negative, scope.op("BitwiseNot", shifted), shifted)


def _left_shift(scope: Scope, dtype: str, x: str, y: str) -> str:
    """Of the bits as a number without a sign. By all bits, nothing remains."""
    far = scope.op("GreaterOrEqual", y, scope.constant(8 * np.dtype(dtype).itemsize, dtype))
    by = scope.cast(_where_of(scope, dtype, far, scope.constant(0, dtype), y), dtype, "uint64")
    shifted = scope.op("BitShift", scope.cast(x, dtype, "uint64"), by, direction="LEFT")
    return _where_of(
        scope, dtype, far, scope.constant(0, dtype), scope.cast(shifted, "uint64", dtype)
    )


def _second(scope: Scope, dtype: str, x: str, y: str) -> str:
    return scope.op("Expand", y, scope.op("Shape", x))


def _clip(scope: Scope, dtype: str, x: str, low: str, high: str) -> str:
    return scope.op("Min", scope.op("Max", x, low), high)


FUNCTIONS: dict[str, tuple[str, Function]] = {
    # name: in which dtype is computed ("out", that of the result; "common", that of the arguments), the function
    "identity": ("out", _same),
    "second": ("out", _second),
    "add": ("out", _folded("Add", "Or")),
    "mul": ("out", _folded("Mul", "And")),
    "sub": ("out", _operator("Sub")),
    "true_div": ("out", _operator("Div")),
    "int_div": (
        "out",
        _of_dtypes(_whole_quotient, _floor_quotient),
    ),
    "mod": ("out", _of_dtypes(_float_remainder, _integer_remainder)),
    "neg": ("out", _operator("Neg")),
    "reciprocal": ("out", _operator("Reciprocal")),
    "sqr": ("out", _square),
    "sqrt": ("out", _operator("Sqrt")),
    "abs": ("out", _operator("Abs")),
    "sign": (
        "out",
        _of_dtypes(_sign, _operator("Sign")),
    ),
    "maximum": ("out", _folded("Max", "Or")),
    "minimum": ("out", _folded("Min", "And")),
    "clip": ("out", _clip),
    "eq": ("common", _operator("Equal")),
    "neq": ("common", _differs),
    "lt": ("common", _operator("Less")),
    "le": ("common", _operator("LessOrEqual")),
    "gt": ("common", _operator("Greater")),
    "ge": ("common", _operator("GreaterOrEqual")),
    "isnan": ("common", _of_dtypes(_operator("IsNaN"), _never)),
    "isinf": ("common", _of_dtypes(_operator("IsInf"), _never)),
    "isfinite": (
        "common",
        _of_dtypes(_finite, _always),
    ),
    "and": ("out", _folded("BitwiseAnd", "And")),
    "or": ("out", _folded("BitwiseOr", "Or")),
    "xor": ("out", _folded("BitwiseXor", "Xor")),
    "invert": ("out", _inverted),
    "right_shift": ("out", _right_shift),
    "left_shift": ("out", _left_shift),
    "ceil": ("out", _of_dtypes(_operator("Ceil"), _same)),
    "floor": ("out", _of_dtypes(_operator("Floor"), _same)),
    "trunc": ("out", _of_dtypes(_trunc, _same)),
    "round_half_to_even": ("out", _of_dtypes(_operator("Round"), _same)),
    "round_half_away_from_zero": ("out", _of_dtypes(_away_from_zero, _same)),
    "exp": ("out", _operator("Exp")),
    "exp2": ("out", _exp2),
    "expm1": ("out", _expm1),
    "log": ("out", _operator("Log")),
    "log1p": ("out", _log1p),
    "log2": ("out", _logarithm(2)),
    "log10": ("out", _logarithm(10)),
    "pow": ("out", _operator("Pow")),
    "sin": ("out", _operator("Sin")),
    "cos": ("out", _operator("Cos")),
    "tan": ("out", _double("Tan", _tan)),
    "arcsin": ("out", _operator("Asin")),
    "arccos": ("out", _operator("Acos")),
    "arctan": ("out", _operator("Atan")),
    "arctan2": ("out", _arctan2),
    "sinh": ("out", _double("Sinh", _sinh)),
    "cosh": ("out", _double("Cosh", _cosh)),
    "tanh": ("out", _operator("Tanh")),
    "arcsinh": ("out", _double("Asinh", _arcsinh)),
    "arccosh": ("out", _double("Acosh", _arccosh)),
    "arctanh": ("out", _double("Atanh", _arctanh)),
    "sigmoid": ("out", _operator("Sigmoid")),
    "softplus": ("out", _softplus),
    "logaddexp": ("out", _logaddexp),
    "erf": ("out", _operator("Erf")),
    "real": ("out", _same),
    "conj": ("out", _same),
}
_OF_TRUTH = {
    "add",
    "mul",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "invert",
    "eq",
    "neq",
    "identity",
    "second",
}
"""Functions that are computed for booleans as such; others are computed for them as integers."""


def _working(dtype: str, name: str) -> str:
    return "bool" if dtype == "bool" and name in _OF_TRUTH else working_dtype(dtype)


def scalar(
    scope: Scope, op: Any, inputs: Sequence[str], dtypes: Sequence[str], dtype: str
) -> str | None:
    """Write a scalar op. ``dtypes`` are those of the inputs, and ``dtype`` that of the result. None if ONNX lacks it."""
    if isinstance(op, Cast):
        return scope.cast(inputs[0], dtypes[0], dtype)
    if op.name == "switch":
        condition = scope.cast(inputs[0], dtypes[0], "bool")
        working = _working(dtype, op.name)
        x, y = (scope.cast(v, d, working) for v, d in zip(inputs[1:], dtypes[1:], strict=True))
        return scope.cast(_where_of(scope, working, condition, x, y), working, dtype)
    if op.name not in FUNCTIONS:
        return _formula(scope, op, inputs, dtypes)
    how, function = FUNCTIONS[op.name]
    common = dtype if how == "out" else np.result_type(*map(np.dtype, dtypes)).name
    working = _working(common, op.name)
    arguments = [scope.cast(v, d, working) for v, d in zip(inputs, dtypes, strict=True)]
    output = function(scope, working, *arguments)
    return output if how == "common" else scope.cast(output, working, dtype)


def _formula(scope: Scope, op: Any, inputs: Sequence[str], dtypes: Sequence[str]) -> str | None:
    if not isinstance(op, ScalarFunction):
        return None
    expression = op.expression(list(dtypes))
    if expression is None:
        return None
    arguments, _, result = expression
    inner = Scope(scope.writer, dict(zip(arguments, inputs, strict=True)), scope)
    inner.nodes = scope.nodes
    return inner.value(result)


@translates(Elemwise)
def elementwise(scope: Scope, node: Any, inputs: list[str]) -> Sequence[str]:
    """Write an elementwise op, or the scalar ops that are fused in it."""
    op = node.op.scalar_op
    dtypes = [v.type.dtype for v in node.inputs]
    if isinstance(op, Composite):
        return _composite(scope, node, op, inputs)
    output = scalar(scope, op, inputs, dtypes, node.outputs[0].type.dtype)
    if output is None:
        raise NotInONNX(f"ONNX has no function {op.name}, of {describe(node.outputs[0])}")
    return [output]


def _composite(scope: Scope, node: Any, op: Composite, inputs: Sequence[str]) -> list[str]:
    names: dict[Any, str] = dict(zip(op.inner.inputs, inputs, strict=True))
    for each in op.inner_nodes:
        arguments = [
            scope.constant(v.data) if isinstance(v, Constant) else names[v] for v in each.inputs
        ]
        (out,) = each.outputs
        its: Any = each.op
        output = scalar(
            scope,
            its.scalar_op,
            arguments,
            [v.type.dtype or "" for v in each.inputs],
            out.type.dtype or "",
        )
        if output is None:
            raise NotInONNX(
                f"ONNX has no function {its.scalar_op.name}, of {describe(node.outputs[0])}"
            )
        names[out] = output
    return [names[v] for v in op.inner.outputs]
