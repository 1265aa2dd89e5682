"""Elementwise functions of floating-point numbers that NumPy has as ufuncs: `hypot`, `copysign`, `nextafter`, `fmax`.

Those with a loop or a function of a library of their own have it in `occelo_arrays.lowerings` and `occelo_arrays.traced`;
the others are compiled by their formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.arguments import real_tensor
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import boolean_of, converting, in_floats, ufunc_rule
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "cbrt",
    "copysign",
    "fabs",
    "float_power",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "heaviside",
    "hypot",
    "ldexp",
    "logaddexp2",
    "modf",
    "nextafter",
    "signbit",
    "sinc",
    "spacing",
]


def _real(name: str, ufunc: np.ufunc) -> Callable[[Sequence[str]], str]:
    """The dtype rule of NumPy's ufunc, with an error of its own for complex numbers."""
    rule = ufunc_rule(ufunc)

    def of_reals(dtypes: Sequence[str]) -> str:
        if any(map(is_complex, dtypes)):
            raise TypeError(f"{name} is for real numbers, got {', '.join(dtypes)}")
        return rule(dtypes)

    return converting(of_reals)


def _boolean_of_reals(dtypes: Sequence[str]) -> str:
    if is_complex(dtypes[0]):
        raise TypeError(f"signbit is for real numbers, got {dtypes[0]}")
    return boolean_of(dtypes)


signbit: Elemwise = elementwise(
    "signbit",
    1,
    _boolean_of_reals,
    np.signbit,
    [None],
    "Whether x is negative, -0.0 or a NaN with the sign bit.",
    holomorphic=False,
)


def _copysign_slope(
    ct: TensorVariable, x: TensorVariable, y: TensorVariable, out: TensorVariable
) -> TensorVariable:
    return ot.switch(ot.eq(signbit(x), signbit(y)), ct, -ct)


copysign: Elemwise = elementwise(
    "copysign",
    2,
    ufunc_rule(np.copysign),
    np.copysign,
    [_copysign_slope, None],
    "x with the sign of y, also of -0.0. Integers become floats.",
)


_next_dtype = _real("nextafter", np.nextafter)


def _wide_next_dtype(dtypes: Sequence[str]) -> str:
    dtype = _next_dtype(dtypes)
    if dtype == "float16":
        raise TypeError("Loops compute float16 in float32, which has other neighbours")
    return dtype


def _next(name: str, dtype: Callable[[Sequence[str]], str], **options: Any) -> Elemwise:
    return elementwise(
        name,
        2,
        dtype,
        np.nextafter,
        [lambda ct, x, y, out: ct, None],
        "The number next to the first argument in the direction of the second.",
        **options,
    )


_nextafter = _next("nextafter", _wide_next_dtype)
_nextafter_of_halves = _next(
    "nextafter_of_halves",
    _next_dtype,
    python_only="loops compute float16 in float32, which has other neighbours",
)


def nextafter(x1: Any, x2: Any) -> TensorVariable:
    """The number next to ``x1`` in the direction of ``x2``, in the dtype of the result. Its derivative is 1."""
    x, y = promote_arguments([x1, x2], lambda value, dtypes: (value, _next_dtype(dtypes)))
    is_half = _next_dtype([x.dtype, y.dtype]) == "float16"
    neighbors: TensorVariable = (_nextafter_of_halves if is_half else _nextafter)(x, y)
    return neighbors


def _ldexp_dtype(dtypes: Sequence[str]) -> str:
    if not is_discrete(dtypes[1]) or dtypes[1] in ("bool", "uint64"):
        raise TypeError(f"The exponent of ldexp must be an integer, got {dtypes[1]}")
    if is_complex(dtypes[0]):
        raise TypeError(f"ldexp is for real numbers, got {dtypes[0]}")
    return np.ldexp.resolve_dtypes((np.dtype(dtypes[0]), np.dtype(dtypes[1]), None))[-1].name


_ldexp: Elemwise = elementwise(
    "ldexp",
    2,
    _ldexp_dtype,
    np.ldexp,
    [lambda ct, x, n, out: _ldexp(ct, ot.cast(n, "int64")), None],
    "x 2^n for an integer n, exact unless it overflows or underflows.",
    linear="first",
)


def ldexp(x1: Any, x2: Any) -> TensorVariable:
    """``x1 * 2**x2`` for integers ``x2``, exact unless it overflows or underflows. TypeError for other ``x2``."""
    # a plain number 2 would become a float beside floats
    scaled: TensorVariable = _ldexp(ot.as_tensor_variable(x1), ot.as_tensor_variable(x2))
    return scaled


def _exponent_dtype(dtypes: Sequence[str]) -> str:
    if is_discrete(dtypes[0]) or is_complex(dtypes[0]):
        raise TypeError(f"Only floats have exponents, got {dtypes[0]}")
    return "int32"


_exponent: Elemwise = elementwise(
    "exponent",
    1,
    _exponent_dtype,
    lambda x: np.asarray(np.frexp(x)[1], "int32"),
    [None],
    "The integer e for which |x| is from 2^(e-1) to 2^e; 0 for 0, infinity and NaN.",
)


def frexp(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """A pair: mantissas m with 0.5 <= |m| < 1, and int32 exponents e, for which x = m 2^e; (x, 0) for 0, inf and NaN.

    TypeError for complex numbers.
    """
    x = ot.as_tensor_variable(x)
    if is_complex(x.dtype):
        raise TypeError(f"frexp is for real numbers, got {x.type}")
    (x,) = in_floats(x)
    exponent = _exponent(x)
    return ldexp(x, -exponent), exponent


def modf(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """A pair: the fractional and the integral parts of ``x``, both with its sign. TypeError for complex numbers."""
    (x,) = in_floats(real_tensor(x, "modf"))
    # the remainder has the sign of the number where it is 0, too
    rest = fmod(x, np.array(1, x.dtype))
    return ot.switch(ot.isinf(x), copysign(np.array(0, x.dtype), x), rest), ot.trunc(x)


def spacing(x: Any) -> TensorVariable:
    """The distance from each number in ``x`` to the next one that is farther from 0, with its sign. TypeError if complex."""
    (x,) = in_floats(real_tensor(x, "spacing"))
    size = abs(x)
    above = nextafter(size, np.array(np.inf, x.dtype))
    gap = ot.switch(ot.isinf(above), size - nextafter(size, np.array(0, x.dtype)), above - size)
    gap = ot.switch(ot.isinf(x), np.array(np.nan, x.dtype), gap)
    return ot.switch(ot.lt(x, 0), -gap, gap)


def _hypot_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    x, y = (abs(v) for v in in_floats(x, y))
    large, small = ot.maximum(x, y), ot.minimum(x, y)
    ratio = small / ot.switch(ot.eq(large, 0), np.array(1, large.dtype), large)
    infinite = ot.or_(ot.isinf(x), ot.isinf(y))
    return ot.switch(infinite, np.array(np.inf, x.dtype), large * ot.sqrt(1 + ratio * ratio))


def _part_of(ct: Any, x: Any, out: Any) -> Any:
    return ct * ot.switch(ot.isinf(x), ot.sign(x), ot.switch(ot.eq(out, 0), 0.0, x / out))


hypot: Elemwise = elementwise(
    "hypot",
    2,
    _real("hypot", np.hypot),
    np.hypot,
    [lambda ct, x, y, out: _part_of(ct, x, out), lambda ct, x, y, out: _part_of(ct, y, out)],
    "sqrt(x^2 + y^2), which neither overflows nor underflows on the way. The derivative at (0, 0) is 0.",
    commutative=True,
    sign="nonnegative",
    formula=_hypot_formula,
)


def _cbrt_formula(x: TensorVariable) -> TensorVariable:
    (x,) = in_floats(x)
    size = abs(x)
    inner = ot.and_(ot.gt(size, 0), ot.lt(size, np.array(np.inf, x.dtype)))
    safe = ot.switch(inner, size, np.array(1, x.dtype))
    root = safe ** np.array(1 / 3, x.dtype)
    # a step of Newton's method, since 1/3 is rounded
    root = root - (root - safe / (root * root)) / 3
    return ot.switch(inner, ot.sign(x) * root, x)


cbrt: Elemwise = elementwise(
    "cbrt",
    1,
    _real("cbrt", np.cbrt),
    np.cbrt,
    [lambda ct, x, out: ct / (3 * out * out)],
    "The real cube root of x, also of negative numbers.",
    formula=_cbrt_formula,
    monotone="increasing",
    keeps_sign=("unsigned", "nonnegative"),
)


def _logaddexp2_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    x, y = in_floats(x, y)
    gap = ot.switch(ot.eq(x, y), 0.0, -abs(x - y))
    more = ot.log1p(ot.exp2(gap)) * np.array(1 / math.log(2), x.dtype)
    return ot.maximum(x, y) + ot.switch(ot.eq(x, y), np.array(1, x.dtype), more)


logaddexp2: Elemwise = elementwise(
    "logaddexp2",
    2,
    _real("logaddexp2", np.logaddexp2),
    np.logaddexp2,
    [
        # 2^x divided by 2^x + 2^y
        lambda ct, x, y, out: ct * ot.sigmoid((x - y) * math.log(2)),
        lambda ct, x, y, out: ct * ot.sigmoid((y - x) * math.log(2)),
    ],
    "log2(2^x + 2^y), which does not overflow.",
    commutative=True,
    formula=_logaddexp2_formula,
)


def _heaviside_formula(x: TensorVariable, h: TensorVariable) -> TensorVariable:
    x, h = in_floats(x, h)
    step = ot.switch(ot.lt(x, 0), 0.0, ot.switch(ot.gt(x, 0), np.array(1, x.dtype), x))
    return ot.switch(ot.eq(x, 0), h, step)


heaviside: Elemwise = elementwise(
    "heaviside",
    2,
    _real("heaviside", np.heaviside),
    np.heaviside,
    [None, lambda ct, x, h, out: ot.switch(ot.eq(x, 0), ct, 0.0)],
    "0 for negative x, 1 for positive x, and h for 0. The derivative by x is 0.",
    formula=_heaviside_formula,
)


def _half_if_equal(ct: Any, mine: Any, other: Any, chosen: Any) -> Any:
    """The share of the cotangent: all where the argument is chosen or the other one is NaN, half where both are equal."""
    share = ot.switch(ot.eq(mine, other), 0.5, ot.cast(ot.or_(chosen, ot.isnan(other)), ct.dtype))
    return ct * share


def _unless_nan(x: Any, y: Any, chosen: TensorVariable) -> TensorVariable | None:
    if is_complex(chosen.dtype):
        return None
    if is_discrete(chosen.dtype):
        return chosen
    return ot.switch(ot.isnan(x), y, ot.switch(ot.isnan(y), x, chosen))


fmax: Elemwise = elementwise(
    "fmax",
    2,
    ufunc_rule(np.fmax),
    np.fmax,
    [
        lambda ct, x, y, out: _half_if_equal(ct, x, y, ot.gt(x, y)),
        lambda ct, x, y, out: _half_if_equal(ct, y, x, ot.gt(y, x)),
    ],
    "The larger of x and y; if one is NaN, the other one. Equal numbers get half of the derivative each.",
    formula=lambda x, y: _unless_nan(x, y, ot.maximum(x, y)),
    holomorphic=False,
)
fmin: Elemwise = elementwise(
    "fmin",
    2,
    ufunc_rule(np.fmin),
    np.fmin,
    [
        lambda ct, x, y, out: _half_if_equal(ct, x, y, ot.lt(x, y)),
        lambda ct, x, y, out: _half_if_equal(ct, y, x, ot.lt(y, x)),
    ],
    "The smaller of x and y; if one is NaN, the other one. Equal numbers get half of the derivative each.",
    formula=lambda x, y: _unless_nan(x, y, ot.minimum(x, y)),
    holomorphic=False,
)


def _fmod_formula(x: TensorVariable, y: TensorVariable) -> TensorVariable:
    common = np.result_type(x.type.numpy_dtype, y.type.numpy_dtype).name
    if not is_discrete(common):
        return copysign(ot.mod(abs(x), abs(y)), x.astype(common))
    x, y = x.astype(common), y.astype(common)
    rest = ot.mod(x, y)
    crossed = ot.and_(ot.neq(rest, 0), ot.neq(ot.lt(x, 0), ot.lt(y, 0)))
    return ot.switch(crossed, rest - y, rest)


fmod: Elemwise = elementwise(
    "fmod",
    2,
    ufunc_rule(np.fmod),
    np.fmod,
    [lambda ct, x, y, out: ct, lambda ct, x, y, out: -ct * ot.trunc(x / y)],
    "Remainder of x divided by y, with the sign of x, as in C. `mod` has the sign of y.",
    formula=_fmod_formula,
)


def fabs(x: Any) -> TensorVariable:
    """The magnitudes of real numbers ``x`` as floats. TypeError for complex numbers, which `abs` takes."""
    x = ot.as_tensor_variable(x)
    if is_complex(x.dtype):
        raise TypeError(f"fabs is for real numbers, got {x.type}; use abs")
    return abs(in_floats(x)[0])


def float_power(x1: Any, x2: Any) -> TensorVariable:
    """``x1 ** x2``, computed in float64, or in complex128 if an argument is complex."""
    x, y = ot.as_tensor_variable(x1), ot.as_tensor_variable(x2)
    dtype = "complex128" if is_complex(x.dtype) or is_complex(y.dtype) else "float64"
    return ot.pow(ot.cast(x, dtype), ot.cast(y, dtype))


def sinc(x: Any) -> TensorVariable:
    """sin(pi x) / (pi x), and 1 at 0. Near 0 it is a series, so that its derivatives keep their digits."""
    x = ot.as_tensor_variable(x)
    if is_discrete(x.dtype):
        x = ot.cast(x, "float64")  # as in NumPy, also for small integers
    (x,) = in_floats(x)
    angle = np.array(np.pi, x.dtype) * x
    near = ot.lt(abs(angle), 0.5)
    square = ot.switch(near, angle * angle, 0.0)
    series: Any = np.array(1, x.dtype)
    for k in range(8, 0, -1):
        series = 1 - square * series / (2 * k * (2 * k + 1))
    far = ot.switch(near, np.array(1, x.dtype), angle)
    return ot.switch(near, series, ot.sin(far) / far)
