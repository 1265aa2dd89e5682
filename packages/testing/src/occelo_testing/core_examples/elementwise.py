"""Examples of the elementwise functions, each with several dtypes and shapes, for the table in `occelo_testing.examples`."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Domain, Example, draw
from occelo_graph.examples.functions import (
    ABOVE_ONE,
    INSIDE,
    NEGATIVE,
    POSITIVE,
    REAL,
    every_argument,
    examples_of_functions,
    of_scipy,
)
from occelo_graph.ops.elemwise.arithmetic import supremum

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import ArrayFunction


def _np(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(np, name)
    return function


# Each row: name, reference, domains of the arguments. Functions are differentiated with respect to
# every argument; the exceptions are listed below.
_REAL_TABLE: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *(
        (name, _np(name), [REAL])
        for name in ("exp", "exp2", "expm1", "sin", "cos", "sinh", "cosh", "tanh")
    ),
    *(
        (name, _np(name), [REAL])
        for name in ("arctan", "arcsinh", "deg2rad", "rad2deg", "conj", "real")
    ),
    *((name, _np(name), [POSITIVE]) for name in ("log", "log2", "log10", "log1p", "sqrt")),
    *((name, _np(name), [INSIDE]) for name in ("arcsin", "arccos", "arctanh")),
    ("tan", np.tan, [(-1.2, 1.2)]),
    ("arccosh", np.arccosh, [ABOVE_ONE]),
    ("arctan2", np.arctan2, [POSITIVE, REAL]),
    ("sqr", np.square, [REAL]),
    ("reciprocal", lambda x: 1 / x, [POSITIVE]),
    ("neg", np.negative, [REAL]),
    ("abs", np.abs, [POSITIVE]),
    ("add", np.add, [REAL, REAL]),
    ("sub", np.subtract, [REAL, REAL]),
    ("mul", np.multiply, [REAL, REAL]),
    ("true_div", np.true_divide, [REAL, POSITIVE]),
    ("mod", np.mod, [(4.2, 4.8), (1.1, 1.3)]),
    ("pow", np.power, [POSITIVE, REAL]),
    ("maximum", np.maximum, [REAL, REAL]),
    ("minimum", np.minimum, [REAL, REAL]),
    ("clip", np.clip, [REAL, (-1.4, -1.0), (1.0, 1.4)]),
    ("second", lambda x, y: y + 0 * x, [REAL, REAL]),
    ("tensor_copy", np.array, [REAL]),
    ("sigmoid", of_scipy("expit"), [REAL]),
    ("softplus", lambda x: np.logaddexp(0, x), [REAL]),
    ("softsign", lambda x: x / (1 + np.abs(x)), [POSITIVE]),
    ("log1mexp", lambda x: np.log(-np.expm1(x)), [NEGATIVE]),
    ("logaddexp", np.logaddexp, [REAL, REAL]),
    *((name, of_scipy(name), [REAL]) for name in ("erf", "erfc", "erfcx")),
]
_NO_DERIVATIVE: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *(
        (name, _np(name), [REAL])
        for name in ("sign", "ceil", "floor", "trunc", "isnan", "isinf", "isfinite")
    ),
    *((name, _np(name), [REAL]) for name in ("isposinf", "isneginf", "imag", "angle")),
    ("round", np.rint, [REAL]),
    ("round_half_away_from_zero", lambda x: np.trunc(x + np.copysign(0.5, x)), [REAL]),
    ("iround", lambda x: np.rint(x).astype("int64"), [REAL]),
    ("int_div", np.floor_divide, [(4.2, 4.8), (1.1, 1.3)]),
    ("eq", np.equal, [REAL, REAL]),
    ("neq", np.not_equal, [REAL, REAL]),
    ("lt", np.less, [REAL, REAL]),
    ("le", np.less_equal, [REAL, REAL]),
    ("gt", np.greater, [REAL, REAL]),
    ("ge", np.greater_equal, [REAL, REAL]),
    ("isclose", np.isclose, [REAL, REAL]),
]
_INTEGERS: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *(
        (name, _np(ref), ["int", "int"])
        for name, ref in (
            ("add", "add"),
            ("sub", "subtract"),
            ("mul", "multiply"),
            ("maximum", "maximum"),
            ("minimum", "minimum"),
            ("and_", "bitwise_and"),
            ("or_", "bitwise_or"),
            ("xor", "bitwise_xor"),
            ("lt", "less"),
            ("eq", "equal"),
        )
    ),
    ("invert", np.invert, ["int"]),
    ("neg", np.negative, ["int"]),
    ("abs", np.abs, ["int"]),
    ("sign", np.sign, ["int"]),
    ("sqr", np.square, ["int"]),
    ("sqrt", np.sqrt, ["nonzero int"]),
    ("exp", np.exp, ["int"]),
    ("floor", np.floor, ["int"]),
    ("int_div", np.floor_divide, ["int", "nonzero int"]),
    ("mod", np.mod, ["int", "nonzero int"]),
    ("true_div", np.true_divide, ["int", "nonzero int"]),
    ("pow", np.power, ["int", "nonzero int"]),
    (
        "ceil_intdiv",
        lambda a, b: np.floor_divide(a, b) + (np.mod(a, b) != 0),
        ["int", "nonzero int"],
    ),
]
_BOOLS: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    ("and_", np.logical_and, ["bool", "bool"]),
    ("or_", np.logical_or, ["bool", "bool"]),
    ("xor", np.logical_xor, ["bool", "bool"]),
    ("invert", np.logical_not, ["bool"]),
    ("add", np.add, ["bool", "bool"]),
    ("mul", np.multiply, ["bool", "bool"]),
]
_COMPLEX: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *(
        (name, _np(name), [POSITIVE])
        for name in ("exp", "log", "sqrt", "sin", "tanh", "conj", "real", "imag", "angle", "abs")
    ),
    ("mul", np.multiply, [REAL, REAL]),
    ("true_div", np.true_divide, [REAL, POSITIVE]),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), [REAL]),
]


def _switch_examples() -> list[Example]:
    a, b = draw(REAL, (2, 3)), draw(REAL, (3,), salt=1)
    mask = draw("bool", (2, 3))
    special = np.array([np.nan, np.inf, -np.inf, 1.0])
    return [
        Example("switch", "elemwise", ot.switch, np.where, (mask, a, b), (1, 2), batched=(0, 1, 2)),
        Example("where", "elemwise", ot.where, np.where, (mask, b, a), (1, 2), batched=(0,)),
        Example(
            "allclose", "elemwise", ot.allclose, lambda x, y: np.asarray(np.allclose(x, y)), (a, a)
        ),
        Example(
            "isclose",
            "elemwise",
            lambda x, y: ot.isclose(x, y, equal_nan=True),
            lambda x, y: np.isclose(x, y, equal_nan=True),
            (special, np.array([np.nan, np.inf, np.inf, 1.0 + 1e-9])),
        ),
        Example("complex", "elemwise", ot.complex, lambda x, y: x + 1j * y, (a, b), batched=(0, 1)),
        Example(
            "complex_from_polar",
            "elemwise",
            ot.complex_from_polar,
            lambda r, t: r * np.exp(1j * t),
            (draw(POSITIVE, (3,)), b),
        ),
        Example(
            "divmod",
            "elemwise",
            lambda x, y: ot.divmod(x, y)[0] + ot.divmod(x, y)[1],
            lambda x, y: np.floor_divide(x, y) + np.mod(x, y),
            (draw("int", (4,), "int64"), draw("nonzero int", (4,), "int64")),
        ),
        Example(
            "add",
            "elemwise",
            ot.add,
            lambda x, y, z: x + y + z,
            (a, b, draw(REAL, ())),
            (0, 1, 2),
            batched=(0, 1, 2),
        ),
        Example(
            "mul", "elemwise", ot.mul, lambda x, y, z: x * y * z, (a, b, draw(REAL, ())), (0, 1, 2)
        ),
        Example("pow", "elemwise", lambda x: x**2, np.square, (a,), (0,)),
        Example("pow", "elemwise", lambda x: x**3, lambda x: x**3, (a,), (0,)),
        Example("pow", "elemwise", lambda x: 2.0**x, lambda x: 2.0**x, (a,), (0,)),
        Example("largest", "elemwise", ot.largest, np.maximum, (a, b), (0, 1)),
        Example("supremum", "elemwise", supremum, np.maximum, (a, b), (0, 1)),
        Example("smallest", "elemwise", ot.smallest, np.minimum, (a, b), (0, 1)),
        Example(
            "exp",
            "elemwise",
            ot.exp,
            np.exp,
            (np.array([-800.0, 0.0, 800.0, math.inf, -math.inf, math.nan]),),
        ),
        Example(
            "sigmoid",
            "elemwise",
            ot.sigmoid,
            lambda x: importlib.import_module("scipy.special").expit(x),
            (np.array([-800.0, -30.0, 0.0, 30.0, 800.0, math.nan]),),
        ),
        Example(
            "softplus",
            "elemwise",
            ot.softplus,
            lambda x: np.logaddexp(0, x),
            (np.array([-800.0, -30.0, 0.0, 30.0, 800.0, math.nan]),),
        ),
    ]


def _none(nin: int) -> tuple[int, ...]:
    return ()


EXAMPLES: list[Example] = [
    *examples_of_functions(ot, "elemwise", _REAL_TABLE, ["float64", "float32"], every_argument),
    *examples_of_functions(ot, "elemwise", _NO_DERIVATIVE, ["float64", "float32"], _none),
    *examples_of_functions(ot, "elemwise", _INTEGERS, ["int64", "int8", "uint16"], _none),
    *examples_of_functions(ot, "elemwise", _BOOLS, ["bool"], _none),
    *examples_of_functions(ot, "elemwise", _COMPLEX, ["complex128", "complex64"], _none),
    *_switch_examples(),
]
