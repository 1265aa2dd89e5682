"""Elementwise functions for arithmetic, rounding, comparison, logic and selection, such as `add`, `lt` and `switch`.

Most are ops: an `Elemwise` with a scalar op that `elementwise` defines here. Users call them from `occelo.tensor`, or
by Python's operators on tensors. Gradients, rules and functions of all families build graphs with them.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import refuse_list
from occelo_graph.ops.elemwise.op import Elemwise, broadcast_static, elementwise
from occelo_graph.ops.elemwise.scalar import (
    DtypeRule,
    boolean_of,
    first_dtype,
    in_floats,
    inexact,
    promoted,
    ufunc_rule,
)
from occelo_graph.tensors.constant import as_tensor_variable, is_python_number, promote_arguments
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.signatures import Formula
    from occelo_graph.tensors.signatures import ArrayFunction
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "abs", "add", "allclose", "and_", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "ceil_intdiv",
    "clip", "divmod", "eq", "equal", "fill", "floor", "floor_div", "ge", "greater", "greater_equal", "gt", "identity_of",
    "int_div", "invert", "iround", "isclose", "isfinite", "isinf", "isnan", "isneginf", "isposinf", "largest", "le", "less",
    "less_equal", "lt", "maximum", "minimum", "mod", "mul", "neg", "neq", "not_equal", "or_", "reciprocal", "round",
    "round_half_away_from_zero", "round_half_to_even", "second", "sgn", "sign", "smallest", "sqr", "sqrt", "square", "sub",
    "switch", "tensor_copy", "true_div", "trunc", "where", "xor",
]  # fmt: skip


def _second(x: Any, y: Any) -> Any:
    return np.array(np.broadcast_arrays(x, y)[1])


def _second_dtype(dtypes: Sequence[str]) -> str:
    return dtypes[1]


second: Elemwise = elementwise(
    "second",
    2,
    _second_dtype,
    _second,
    [None, lambda ct, x, y, out: ct],
    "y, broadcast to the common shape of x and y. x is used only for its shape.",
    holomorphic=True,
    moves=slice(1, 2),
)
fill = second

tensor_copy: Elemwise = elementwise(
    "identity",
    1,
    first_dtype,
    np.array,
    [lambda ct, x, out: ct],
    "A copy of the tensor x.",
    holomorphic=True,
    moves=slice(0, 1),
)
identity_of = tensor_copy
# `identity` is a matrix, as in NumPy
tensor_copy.scalar_op.written_as = "tensor_copy"


def _cotangent(ct: TensorVariable, *rest: TensorVariable) -> TensorVariable:
    return ct


add: Elemwise = elementwise(
    "add",
    None,
    ufunc_rule(np.add),
    np.add,
    doc="Sum of any number of tensors, the inputs.",
    commutative=True,
    partial_at=lambda position: _cotangent,
    holomorphic=True,
    linear="all",
    arithmetic=True,
    keeps_sign=("nonnegative", "unsigned"),
    infix=("+", 5),
)


def _mul_partial(position: int) -> Callable[..., TensorVariable]:
    def derivative(ct: TensorVariable, *rest: TensorVariable) -> TensorVariable:
        for i, factor in enumerate(rest[:-1]):
            if i != position:
                ct = ct * factor
        return ct

    return derivative


mul: Elemwise = elementwise(
    "mul",
    None,
    ufunc_rule(np.multiply),
    np.multiply,
    doc="Product of the tensors ``inputs``, of any number.",
    commutative=True,
    partial_at=_mul_partial,
    holomorphic=True,
    linear="each",
    arithmetic=True,
    keeps_sign=("nonnegative", "unsigned"),
    infix=("*", 6),
)
sub: Elemwise = elementwise(
    "sub",
    2,
    ufunc_rule(np.subtract),
    np.subtract,
    [lambda ct, x, y, out: ct, lambda ct, x, y, out: -ct],
    "Difference x - y. TypeError for two tensors of booleans.",
    holomorphic=True,
    linear="all",
    arithmetic=True,
    infix=("-", 5),
)
true_div: Elemwise = elementwise(
    "true_div",
    2,
    ufunc_rule(np.true_divide),
    np.true_divide,
    [lambda ct, x, y, out: ct / y, lambda ct, x, y, out: -(ct / y) * out],
    "Quotient x / y. Quotients of integers are float64.",
    holomorphic=True,
    linear="first",
    arithmetic=True,
    keeps_sign=("unsigned",),
    infix=("/", 6),
)
int_div: Elemwise = elementwise(
    "int_div",
    2,
    ufunc_rule(np.floor_divide),
    np.floor_divide,
    [None, None],
    doc="Quotient of x and y, rounded down; its derivative is 0.",
    infix=("//", 6),
)
floor_div = int_div
mod: Elemwise = elementwise(
    "mod",
    2,
    ufunc_rule(np.remainder),
    np.remainder,
    [lambda ct, x, y, out: ct, lambda ct, x, y, out: -ct * int_div(x, y)],
    "Remainder of x divided by y, with the sign of y.",
    infix=("%", 6),
)


def divmod(x: Any, y: Any) -> tuple[TensorVariable, TensorVariable]:
    """A pair of tensors: the quotient ``int_div(x, y)`` and the remainder ``mod(x, y)``."""
    return int_div(x, y), mod(x, y)


def _of_all(function: Elemwise, name: str, operands: Sequence[Any]) -> TensorVariable:
    refuse_list(name, operands)
    if not operands:
        raise TypeError(f"{name} takes at least one tensor")
    return functools.reduce(function, operands[1:], as_tensor_variable(operands[0]))


def largest(*args: Any) -> TensorVariable:
    """Elementwise maximum of the tensors ``args``."""
    return _of_all(maximum, "largest", args)


def smallest(*args: Any) -> TensorVariable:
    """Elementwise minimum of the tensors ``args``."""
    return _of_all(minimum, "smallest", args)


def ceil_intdiv(a: Any, b: Any) -> TensorVariable:
    """The quotient of the integers ``a`` and ``b``, rounded up."""
    whole = int_div(a, b)
    # -((-a) // b) would wrap for unsigned integers
    return whole + neq(mod(a, b), 0).astype(whole.dtype)


neg: Elemwise = elementwise(
    "neg",
    1,
    ufunc_rule(np.negative),
    np.negative,
    [lambda ct, x, out: -ct],
    "-x. TypeError for booleans.",
    holomorphic=True,
    monotone="decreasing",
    linear="all",
    arithmetic=True,
    infix=("-", 7),
)
reciprocal: Elemwise = elementwise(
    "reciprocal",
    1,
    inexact,
    lambda x: np.reciprocal(np.asarray(x, inexact([x.dtype.name]))),
    [lambda ct, x, out: -ct * out * out],
    "1 / x, as a float for integers.",
    formula=lambda x: true_div(1, *in_floats(x)),
    holomorphic=True,
    arithmetic=True,
    keeps_sign=("unsigned",),
)
sqr: Elemwise = elementwise(
    "sqr",
    1,
    ufunc_rule(np.square),
    np.square,
    [lambda ct, x, out: ct * (2 * x)],
    "x squared.",
    formula=lambda x: mul(x, x),
    holomorphic=True,
    arithmetic=True,
    sign="unsigned",
)
square = sqr
sqrt: Elemwise = elementwise(
    "sqrt",
    1,
    ufunc_rule(np.sqrt),
    np.sqrt,
    [lambda ct, x, out: ct / (2 * out)],
    "Square root of x; its derivative at 0 is infinite.",
    holomorphic=True,
    sign="nonnegative",
    keeps_sign=("nonnegative", "unsigned"),
)


def _abs_complex(ct: TensorVariable, x: TensorVariable, out: TensorVariable) -> TensorVariable:
    # d|z| = Re(conj(z) dz) / |z|; at 0 the derivative is set to 0
    return ct * switch(eq(out, 0), 0, x / switch(eq(out, 0), 1, out))


abs: Elemwise = elementwise(
    "abs",
    1,
    ufunc_rule(np.absolute),
    np.absolute,
    [lambda ct, x, out: ct * sign(x)],
    "Absolute value of x; its derivative at 0 is 0.",
    holomorphic=False,
    complex_pullback=[_abs_complex],
    sign="unsigned",
)


def _sign_complex(ct: TensorVariable, z: TensorVariable, out: TensorVariable) -> TensorVariable:
    # s = z / |z|: ds = (dz - s Re(conj(s) dz)) / |z|; at 0 the derivative is set to 0, as for abs
    size = abs(z)
    across = ct - out * (out.conj() * ct).real
    return switch(eq(size, 0), 0, across / switch(eq(size, 0), 1, size))


sign: Elemwise = elementwise(
    "sign",
    1,
    ufunc_rule(np.sign),
    np.sign,
    [None],
    doc="Sign of x (-1, 0 or 1); its derivative is 0. The sign of a complex number z is z / abs(z).",
    holomorphic=False,
    complex_pullback=[_sign_complex],
    monotone="increasing",
)
sgn = sign


def _larger(ct: TensorVariable, mine: TensorVariable, other: TensorVariable) -> TensorVariable:
    return switch(gt(mine, other), ct, switch(eq(mine, other), ct * 0.5, 0.0))


maximum: Elemwise = elementwise(
    "maximum",
    2,
    ufunc_rule(np.maximum),
    np.maximum,
    [lambda ct, x, y, out: _larger(ct, x, y), lambda ct, x, y, out: _larger(ct, y, x)],
    "The larger of the numbers x and y; NaN if one is NaN. If they are equal, each gets half of the derivative.",
    commutative=True,
    holomorphic=False,
    keeps_sign=("nonnegative", "unsigned"),
)
minimum: Elemwise = elementwise(
    "minimum",
    2,
    ufunc_rule(np.minimum),
    np.minimum,
    [lambda ct, x, y, out: _larger(ct, y, x), lambda ct, x, y, out: _larger(ct, x, y)],
    "The smaller of the numbers x and y; NaN if one is NaN. If they are equal, each gets half of the derivative.",
    commutative=True,
    holomorphic=False,
    keeps_sign=("nonnegative", "unsigned"),
)
supremum: Elemwise = elementwise(
    "supremum",
    2,
    ufunc_rule(np.maximum),
    np.maximum,
    [lambda ct, x, y, out: _larger(ct, x, y), lambda ct, x, y, out: _larger(ct, y, x)],
    "The same as `maximum`, but its reduction of no elements is -inf (or the least integer), not an error.",
    commutative=True,
    holomorphic=False,
    keeps_sign=("nonnegative", "unsigned"),
    formula=maximum,
)
_clip: Elemwise = elementwise(
    "clip",
    3,
    promoted,
    lambda x, low, high: np.clip(x, low, high).astype(
        np.result_type(x.dtype, low.dtype, high.dtype), copy=False
    ),
    [
        lambda ct, x, low, high, out: switch(and_(ge(x, low), le(x, high)), ct, 0.0),
        lambda ct, x, low, high, out: switch(and_(lt(x, low), le(low, high)), ct, 0.0),
        # in an empty interval the result is the upper bound
        lambda ct, x, low, high, out: switch(or_(gt(x, high), gt(low, high)), ct, 0.0),
    ],
    "``x`` limited to the interval from ``low`` to ``high``. If x equals an end, the derivative passes to x.",
    holomorphic=False,
    formula=lambda x, low, high: minimum(maximum(x, low), high),
)


def clip(
    x: Any, min: Any = None, max: Any = None, *, a_min: Any = None, a_max: Any = None
) -> TensorVariable:
    """Limit ``x`` to the interval from ``min`` to ``max``. None means no limit. ``a_min`` and ``a_max`` are other names.

    If ``min`` is larger than ``max``, the result is ``max``. If an element of ``x`` equals a limit, ``x`` gets the
    cotangent. With only one limit, the function is `maximum` or `minimum`, and has their derivatives.

    Beside a tensor of integers, a Python integer that limits none of its dtype's numbers means no limit.
    """
    for one, other, name in ((min, a_min, "min"), (max, a_max, "max")):
        if one is not None and other is not None:
            raise ValueError(f"{name} and a_{name} of clip are two names of one argument")
    min, max = (a_min if min is None else min), (a_max if max is None else max)
    if not is_python_number(x):
        x = as_tensor_variable(x)
        if is_discrete(x.dtype) and x.dtype != "bool":
            limits = np.iinfo(x.dtype)
            min = None if type(min) is int and min <= limits.min else min
            max = None if type(max) is int and max >= limits.max else max
    if min is None and max is None:
        return as_tensor_variable(x)
    if min is None:
        return minimum(x, max)
    return maximum(x, min) if max is None else _clip(x, min, max)


def _comparison(
    name: str,
    ufunc: np.ufunc,
    symbol: str,
    doc: str,
    commutative: bool = False,
    formula: Formula | None = None,
) -> Elemwise:
    return elementwise(
        name,
        2,
        ufunc_rule(ufunc),
        ufunc,
        doc=doc,
        commutative=commutative,
        compares=True,
        holomorphic=False,
        formula=formula,
        # == and != compare variables by identity
        infix=None if symbol in ("==", "!=") else (symbol, 1),
    )


eq: Elemwise = _comparison(
    "eq", np.equal, "==", "Whether x and y are equal, element by element.", commutative=True
)
neq: Elemwise = _comparison(
    "neq",
    np.not_equal,
    "!=",
    "Whether elements of x and y differ.",
    commutative=True,
    formula=lambda x, y: invert(eq(x, y)),
)
lt: Elemwise = _comparison("lt", np.less, "<", "Whether x < y.")
le: Elemwise = _comparison("le", np.less_equal, "<=", "Whether x <= y.")
gt: Elemwise = _comparison("gt", np.greater, ">", "Whether x > y.", formula=lambda x, y: lt(y, x))
ge: Elemwise = _comparison(
    "ge", np.greater_equal, ">=", "Whether x >= y.", formula=lambda x, y: le(y, x)
)
equal, not_equal, less, less_equal, greater, greater_equal = eq, neq, lt, le, gt, ge


def _test(name: str, function: ArrayFunction, doc: str, formula: Formula) -> Elemwise:
    return elementwise(name, 1, boolean_of, function, doc=doc, holomorphic=False, formula=formula)


def _is_infinite(x: TensorVariable) -> TensorVariable | None:
    if is_discrete(x.dtype):
        return neq(x, x)
    # the absolute value of a finite complex number may be infinite
    return None if is_complex(x.dtype) else eq(abs(x), np.inf)


def _is_finite(x: TensorVariable) -> TensorVariable | None:
    if is_discrete(x.dtype):
        return eq(x, x)
    return None if is_complex(x.dtype) else lt(abs(x), np.inf)


isnan: Elemwise = _test(
    "isnan", np.isnan, "Whether elements of x are NaN.", formula=lambda x: neq(x, x)
)
isinf: Elemwise = _test("isinf", np.isinf, "Whether elements of x are infinite.", _is_infinite)
isfinite: Elemwise = _test(
    "isfinite", np.isfinite, "Whether elements of x are neither NaN nor infinite.", _is_finite
)


def _refuse_complex(name: str, x: Any) -> None:
    kind = as_tensor_variable(x).type
    if kind.is_complex:
        raise TypeError(f"{name} is for real numbers, got {kind}")


def isposinf(x: Any) -> TensorVariable:
    """Whether elements of ``x`` are positive infinity. TypeError for complex numbers."""
    _refuse_complex("isposinf", x)
    return eq(x, np.inf)


def isneginf(x: Any) -> TensorVariable:
    """Whether elements of ``x`` are negative infinity. TypeError for complex numbers."""
    _refuse_complex("isneginf", x)
    return eq(x, -np.inf)


def _of_integers(ufunc: np.ufunc, meant: str = "") -> DtypeRule:
    """The dtype rule of NumPy's ufunc for ``&``, ``|`` or ``^``, but with a TypeError of its own for floats.

    The message of this error explains the precedence of these operators, and ends with ``meant``.
    """
    rule = ufunc_rule(ufunc)

    def of_integers(dtypes: Sequence[str]) -> str:
        try:
            return rule(dtypes)
        except TypeError:
            raise TypeError(
                "it is for integers and truth values; & | ^ come before comparisons, "
                f"so write (x > 0) & (x < 1){meant}"
            ) from None

    return of_integers


def _bitwise(
    name: str, ufunc: np.ufunc, infix: tuple[str, int], doc: str, meant: str = ""
) -> Elemwise:
    return elementwise(
        name,
        None,
        _of_integers(ufunc, meant),
        ufunc,
        doc=doc,
        commutative=True,
        holomorphic=False,
        infix=infix,
    )


and_: Elemwise = _bitwise(
    "and", np.bitwise_and, ("&", 4), "Bitwise and of the inputs; for booleans, the logical and."
)
or_: Elemwise = _bitwise(
    "or", np.bitwise_or, ("|", 2), "Bitwise or of the inputs; for booleans, the logical or."
)
xor: Elemwise = _bitwise(
    "xor",
    np.bitwise_xor,
    ("^", 3),
    "Bitwise exclusive or of the tensors ``inputs``. TypeError for floats.",
    ", and x ** 2 for a power",
)
invert: Elemwise = elementwise(
    "invert",
    1,
    ufunc_rule(np.invert),
    np.invert,
    doc="Bitwise not of x; for booleans, the logical not.",
)
bitwise_and, bitwise_or, bitwise_xor, bitwise_not = and_, or_, xor, invert


def _switch_dtype(dtypes: Sequence[str]) -> str:
    return promoted(dtypes[1:])


_switch: Elemwise = elementwise(
    "switch",
    3,
    _switch_dtype,
    lambda c, a, b: np.where(c != 0, a, b),
    [
        None,
        lambda ct, c, a, b, out: switch(c, ct, 0.0),
        lambda ct, c, a, b, out: switch(c, 0.0, ct),
    ],
    "Elements of the second tensor where the first is not 0, elements of the third elsewhere.",
    holomorphic=True,
)


def switch(cond: Any, ift: Any, iff: Any) -> TensorVariable:
    """Elements of ``ift`` where ``cond`` holds, and elements of ``iff`` elsewhere.

    If one argument is a Python number, it is converted to the dtype of the other argument. Elements that are not chosen
    get the cotangent 0, even if they are infinite or NaN.
    """
    first, other = promote_arguments([ift, iff])
    return _switch(as_tensor_variable(cond), first, other)


def where(
    cond: Any, ift: Any = None, iff: Any = None, *, size: Any = None, fill_value: Any = None
) -> Any:
    """The same as ``switch(cond, ift, iff)``. If only ``cond`` is given, ``cond.nonzero()``: the indices of its true
    elements, with the ``size`` and ``fill_value`` of `nonzero`.
    """
    if ift is None and iff is None:
        return as_tensor_variable(cond).nonzero(size=size, fill_value=fill_value)
    if size is not None or fill_value is not None:
        raise TypeError("where takes size and fill_value only with a condition alone")
    if ift is None or iff is None:
        raise TypeError(
            "where takes a condition alone, or a condition and two values, got one value"
        )
    return switch(cond, ift, iff)


def _rounding(
    name: str,
    function: ArrayFunction,
    rule: DtypeRule,
    doc: str,
    formula: Callable[[TensorVariable], TensorVariable] | None = None,
) -> Elemwise:
    def of_floats(x: TensorVariable) -> TensorVariable:
        return x if formula is None or is_discrete(x.dtype) else formula(x)

    return elementwise(
        name,
        1,
        rule,
        function,
        [None],
        doc + " Its derivative is 0.",
        holomorphic=False,
        monotone="increasing",
        formula=None if formula is None else of_floats,
    )


ceil: Elemwise = _rounding(
    "ceil",
    np.ceil,
    ufunc_rule(np.ceil),
    "Nearest integer to x from above.",
    lambda x: neg(floor(neg(x))),
)
floor: Elemwise = _rounding(
    "floor", np.floor, ufunc_rule(np.floor), "Nearest integer to x from below."
)
trunc: Elemwise = _rounding(
    "trunc",
    np.trunc,
    ufunc_rule(np.trunc),
    "x without its fraction: the nearest integer towards 0.",
    lambda x: switch(lt(x, 0), ceil(x), floor(x)),
)
round_half_to_even: Elemwise = _rounding(
    "round_half_to_even",
    np.rint,
    ufunc_rule(np.rint),
    "The integer nearest to x, halves to the even one.",
)


def _round_away(x: Any) -> Any:
    whole = np.trunc(x)
    if whole.dtype.kind in "biu":
        return whole
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x).astype(whole.dtype)


def _away_from_zero(x: TensorVariable) -> TensorVariable:
    whole = trunc(x)
    return switch(ge(abs(sub(x, whole)), 0.5), add(whole, sign(x)), whole)


round_half_away_from_zero: Elemwise = _rounding(
    "round_half_away_from_zero",
    _round_away,
    ufunc_rule(np.trunc),
    "The integer nearest to x, halves away from 0.",
    _away_from_zero,
)


_ROUNDINGS = {"half_to_even": round_half_to_even, "half_away_from_zero": round_half_away_from_zero}


def round(a: Any, mode: str | int = "half_to_even", decimals: int | None = None) -> TensorVariable:
    """Round ``a`` to ``decimals`` decimal places (0 by default).

    ``mode`` is "half_to_even" or "half_away_from_zero" (else ValueError). If ``mode`` is an integer, it is the number
    of decimals, as in NumPy (TypeError if ``decimals`` is also given). As in NumPy, the number is multiplied by a power
    of ten, rounded to an integer, and divided by this power.
    """
    a = as_tensor_variable(a)
    if not isinstance(mode, str):
        if decimals is not None:
            raise TypeError(
                f"round takes the number of decimals once, got {mode!r} and {decimals!r}; there is no out"
            )
        decimals = mode
        mode = "half_to_even"
    rounding = _ROUNDINGS.get(mode)
    if rounding is None:
        raise ValueError(f"Rounding is half_to_even or half_away_from_zero, not {mode!r}")
    try:
        places = 0 if decimals is None else operator.index(decimals)
    except TypeError:
        raise TypeError(f"decimals of round must be an integer, got {decimals!r}") from None
    whole = is_discrete(a.dtype) and a.dtype != "bool"
    if whole and places >= 0:
        return a
    if places == 0:
        return rounding(a)
    scale = 10.0 ** builtins.abs(places)
    if places > 0:
        return true_div(rounding(mul(a, scale)), scale)
    scaled = mul(rounding(true_div(a, scale)), scale)
    return scaled.astype(a.dtype) if whole else scaled


def iround(a: Any, mode: str = "half_to_even") -> TensorVariable:
    """`round` of ``a`` to integers, as int64, by the same ``mode``. TypeError for complex numbers."""
    _refuse_complex("iround", a)
    return round(a, mode).astype("int64")


def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Whether ``|a - b| <= atol + rtol * |b|``. An infinity is close only to itself, and NaN with ``equal_nan``."""
    a, b = promote_arguments([a, b], lambda value, _: (value, "float64"))
    broadcast_static([a.type.shape, b.type.shape], "isclose")
    a, b = (v.astype("float64") if is_discrete(v.dtype) else v for v in (a, b))
    finite = and_(isfinite(a), isfinite(b))
    difference = switch(finite, abs(sub(a, b)), 0)
    close = and_(finite, le(difference, atol + rtol * switch(finite, abs(b), 0)))
    close = or_(close, eq(a, b))
    if equal_nan:
        close = or_(close, and_(isnan(a), isnan(b)))
    return close


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> TensorVariable:
    """Whether `isclose` holds for all elements of ``a`` and ``b``, as a scalar; ``rtol``, ``atol`` and ``equal_nan`` are its."""
    return isclose(a, b, rtol, atol, equal_nan).all()
