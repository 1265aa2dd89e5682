"""The table of scalar functions: for each class of PyTensor's scalar ops, the elementwise function of Occelo.

An entry is a function ``(scalar_op, dtype, *inputs)``, where ``dtype`` is that of PyTensor's result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import occelo.tensor as ot
from occelo_pytensor.variables import as_dtype

Scalar = Callable[..., Any]

_INEXACT = ("float", "complex")


def _of_floats(function: Callable[..., Any]) -> Scalar:
    """A function of floats: integers are first cast to the dtype of PyTensor's result."""

    def apply(op: Any, dtype: str, *inputs: Any) -> Any:
        if dtype.startswith(_INEXACT):
            inputs = tuple(
                x if x.dtype.startswith(_INEXACT) else as_dtype(x, dtype) for x in inputs
            )
        return function(*inputs)

    return apply


def _as_is(function: Callable[..., Any]) -> Scalar:
    """A function of inputs of any dtype."""
    return lambda op, dtype, *inputs: function(*inputs)


def _in_result_dtype(function: Callable[..., Any]) -> Scalar:
    """A function that computes in the dtype of PyTensor's result."""
    return lambda op, dtype, *inputs: function(*(as_dtype(x, dtype) for x in inputs))


def _associative(function: Callable[..., Any]) -> Scalar:
    """A function of two inputs that PyTensor applies to any number of inputs."""

    def apply(op: Any, dtype: str, *inputs: Any) -> Any:
        result, *others = (as_dtype(x, dtype) for x in inputs)
        for each in others:
            result = function(result, each)
        return result

    return apply


def _power(op: Any, dtype: str, base: Any, exponent: Any) -> Any:
    # an integer exponent of a float base stays an integer: it has its own, exact formula
    whole = dtype.startswith("float") and base.dtype.startswith("int")
    return ot.power(base if whole else as_dtype(base, dtype), exponent)


def _clip(x: Any, low: Any, high: Any) -> Any:
    """Where the bounds are in the wrong order, PyTensor's clip compares with the lower one first, and NumPy's last."""
    bounds: list[Any] = [getattr(v, "data", None) for v in (low, high)]
    if all(v is not None for v in bounds) and np.all(np.less_equal(*bounds)):
        return ot.clip(x, low, high)
    return ot.switch(ot.lt(x, low), low, ot.switch(ot.gt(x, high), high, x))


def _condition(x: Any) -> Any:
    return x if x.dtype == "bool" else ot.neq(x, 0)


def _switch(op: Any, dtype: str, condition: Any, then: Any, otherwise: Any) -> Any:
    return ot.switch(_condition(condition), as_dtype(then, dtype), as_dtype(otherwise, dtype))


def _product_without_zeros(op: Any, dtype: str, a: Any, b: Any) -> Any:
    a, b = as_dtype(a, dtype), as_dtype(b, dtype)
    return ot.switch(ot.eq(a, 0), b, ot.switch(ot.eq(b, 0), a, a * b))


def _sign(op: Any, dtype: str, x: Any) -> Any:
    return ot.sgn(x)


def _invert(op: Any, dtype: str, x: Any) -> Any:
    return ot.invert(x)


SCALARS: dict[str, Scalar] = {
    "Add": _associative(ot.add),
    "Mul": _associative(ot.mul),
    "Maximum": _associative(ot.maximum),
    "Minimum": _associative(ot.minimum),
    "AND": _associative(ot.and_),
    "OR": _associative(ot.or_),
    "XOR": _associative(ot.xor),
    "Sub": _in_result_dtype(ot.sub),
    "IntDiv": _in_result_dtype(ot.floor_div),
    "Mod": _in_result_dtype(ot.mod),
    "Clip": _in_result_dtype(_clip),
    "TrueDiv": _of_floats(ot.true_div),
    "Pow": _power,
    "Second": lambda op, dtype, model, value: ot.second(model, as_dtype(value, dtype)),
    "Switch": _switch,
    "Cast": lambda op, dtype, x: as_dtype(x, dtype),
    "Identity": lambda op, dtype, x: x,
    "MulWithoutZeros": _product_without_zeros,
    "Sign": _sign,
    "Invert": _invert,
    "Complex": _as_is(ot.complex),
}
"""The functions by the name of the class of the scalar op."""

_BY_NAME = {
    _as_is: {
        "GT": "gt", "GE": "ge", "LT": "lt", "LE": "le", "EQ": "eq", "NEQ": "neq",
        "Abs": "abs", "Neg": "neg", "Sqr": "sqr", "IsNan": "isnan", "IsInf": "isinf",
        "Real": "real", "Imag": "imag", "Conj": "conj",
    },
    _of_floats: {
        "Ceil": "ceil", "Floor": "floor", "Trunc": "trunc",
        "RoundHalfToEven": "round_half_to_even", "RoundHalfAwayFromZero": "round_half_away_from_zero",
        "Reciprocal": "reciprocal", "Sqrt": "sqrt",
        "Log": "log", "Log2": "log2", "Log10": "log10", "Log1p": "log1p",
        "Exp": "exp", "Exp2": "exp2", "Expm1": "expm1",
        "Cos": "cos", "ArcCos": "arccos", "Sin": "sin", "ArcSin": "arcsin",
        "Tan": "tan", "ArcTan": "arctan", "ArcTan2": "arctan2",
        "Cosh": "cosh", "ArcCosh": "arccosh", "Sinh": "sinh", "ArcSinh": "arcsinh",
        "Tanh": "tanh", "ArcTanh": "arctanh", "Deg2Rad": "deg2rad", "Rad2Deg": "rad2deg",
        "Erf": "erf", "Erfc": "erfc", "Erfcx": "erfcx", "Erfinv": "erfinv", "Erfcinv": "erfcinv",
        "NdtriExp": "ndtri_exp", "Owens_t": "owens_t",
        "Gamma": "gamma", "GammaLn": "gammaln", "Psi": "psi", "TriGamma": "tri_gamma",
        "PolyGamma": "polygamma", "GammaInc": "gammainc", "GammaIncC": "gammaincc",
        "GammaIncInv": "gammaincinv", "GammaIncCInv": "gammainccinv",
        "Jv": "jv", "J1": "j1", "J0": "j0", "I1": "i1", "I0": "i0", "Ive": "ive", "Kve": "kve",
        "I0e": "i0e", "I1e": "i1e",  # PyMC's
        "Sigmoid": "sigmoid", "Softplus": "softplus", "Log1mexp": "log1mexp",
        "BetaInc": "betainc", "BetaIncInv": "betaincinv", "Hyp2F1": "hyp2f1",
    },
}  # fmt: skip

for _kind, _names in _BY_NAME.items():
    for _theirs, _ours in _names.items():
        SCALARS[_theirs] = _kind(getattr(ot, _ours))


def scalar_constant(value: Any) -> Any:
    """A constant of the value of a scalar constant of PyTensor."""
    return ot.constant(np.asarray(value))
