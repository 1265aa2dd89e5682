"""Table of the scalar operations of loop programs: their arities, their dtypes, and a NumPy function for each.

The builder, the verifier and bounds checks look operations up in the table. The interpreter of loop programs runs the
NumPy functions, and tests compare printers with them. Lowerings and printers call `is_float` and similar functions to
test a dtype.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.frozen_dataclasses import frozen_dataclass


def is_float(dtype: str) -> bool:
    """Whether the dtype is float32 or float64."""
    return dtype.startswith("float")


def is_integer(dtype: str) -> bool:
    """Whether the dtype is an integer other than bool."""
    return dtype.startswith(("int", "uint"))


def is_signed(dtype: str) -> bool:
    """Whether the dtype is a signed integer."""
    return dtype.startswith("int")


def width(dtype: str) -> int:
    """The number of bits of a dtype; 1 for bool."""
    return 1 if dtype == "bool" else int(dtype.lstrip("uintfloa"))


@frozen_dataclass(eq=False, repr=False)
class Operation:
    """An operation with ``arity`` arguments. ``meaning`` computes it with NumPy.

    ``takes`` lists the kinds of dtypes that its arguments may have: ``f`` (floats), ``i`` (integers), ``b`` (bool).
    ``gives`` is the dtype of its result, or "same" if the result has the dtype of the arguments.
    """

    arity: int
    takes: str
    gives: str
    meaning: Callable[..., Any]
    commutative: bool = False


def _floor_div(x: Any, y: Any) -> Any:
    return type(x)(0) if y == 0 else np.floor_divide(x, y)


def _remainder(x: Any, y: Any) -> Any:
    return type(x)(0) if y == 0 else np.remainder(x, y)


def _shift_left(x: Any, y: Any) -> Any:
    bits = x.dtype.itemsize * 8
    return np.left_shift(x, y) if 0 <= y < bits else type(x)(0)


def _shift_right(x: Any, y: Any) -> Any:
    bits = x.dtype.itemsize * 8
    if 0 <= y < bits:
        return np.right_shift(x, y)
    return type(x)(-1) if x < 0 else type(x)(0)


def _fma(x: Any, y: Any, z: Any) -> Any:
    # computed with exact fractions, and rounded once
    if x.dtype == np.float32:
        return np.float32(_fma64(np.float64(x), np.float64(y), np.float64(z), np.float32))
    return _fma64(x, y, z, np.float64)


def _fma64(x: Any, y: Any, z: Any, to: Any) -> Any:
    from fractions import Fraction

    if not (np.isfinite(x) and np.isfinite(y) and np.isfinite(z)):
        return to(x * y + z)
    exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if exact == 0:
        return to(x * y + z)
    if to is np.float32:
        return _round_float32(exact)
    try:
        return to(float(exact))
    except OverflowError:
        return to(np.inf if exact > 0 else -np.inf)


def _round_float32(exact: Any) -> Any:
    """The float32 that is nearest to an exact fraction. There is only one rounding."""
    from fractions import Fraction

    try:
        guess = np.float32(float(exact))
    except OverflowError:
        return np.float32(np.inf if exact > 0 else -np.inf)
    if not np.isfinite(guess):
        return guess
    below, above = np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))
    candidates = [v for v in (below, guess, above) if np.isfinite(v)]
    even = {float(v): int(np.float32(v).view(np.int32)) & 1 for v in candidates}
    return np.float32(
        min(candidates, key=lambda v: (abs(Fraction(float(v)) - exact), even[float(v)]))
    )


def _select(condition: Any, x: Any, y: Any) -> Any:
    return x if condition else y


def _same(x: Any) -> Any:
    return x


def _float(function: Callable[..., Any], arity: int, commutative: bool = False) -> Operation:
    return Operation(arity, "f", "same", function, commutative)


OPERATIONS: dict[str, Operation] = {
    "add": Operation(2, "fi", "same", operator.add, True),
    "sub": Operation(2, "fi", "same", operator.sub),
    "mul": Operation(2, "fi", "same", operator.mul, True),
    "div": _float(np.divide, 2),
    "neg": Operation(1, "fi", "same", operator.neg),
    "abs": Operation(1, "fi", "same", operator.abs),
    # x * y + z, rounded once
    "fma": _float(_fma, 3),
    # NaN if one argument is NaN; the first argument if both are equal
    "min": Operation(2, "fib", "same", np.minimum, True),
    "max": Operation(2, "fib", "same", np.maximum, True),
    "sqrt": _float(np.sqrt, 1),
    "floor": _float(np.floor, 1),
    "ceil": _float(np.ceil, 1),
    "trunc": _float(np.trunc, 1),
    "rint": _float(np.rint, 1),
    "copysign": _float(np.copysign, 2),
    "floordiv": Operation(2, "i", "same", _floor_div),
    "remainder": Operation(2, "i", "same", _remainder),
    "and": Operation(2, "ib", "same", np.bitwise_and, True),
    "or": Operation(2, "ib", "same", np.bitwise_or, True),
    "xor": Operation(2, "ib", "same", np.bitwise_xor, True),
    "not": Operation(1, "ib", "same", operator.invert),
    "shl": Operation(2, "i", "same", _shift_left),
    "shr": Operation(2, "i", "same", _shift_right),
    "eq": Operation(2, "fib", "bool", operator.eq, True),
    "ne": Operation(2, "fib", "bool", operator.ne, True),
    "lt": Operation(2, "fib", "bool", operator.lt),
    "le": Operation(2, "fib", "bool", operator.le),
    # the second argument if the first is True, else the third
    "select": Operation(3, "fib", "same", _select),
    # "cast" converts the number, "bits" reinterprets its bits; the value that uses the operation has the dtype of the
    # result
    "cast": Operation(1, "fib", "cast", _same),
    "bits": Operation(1, "fi", "cast", _same),
}

PRIMITIVES = frozenset(
    f"{name}_{kind}_{dtype}"
    for name in ("scale_by", "mantissa_of", "exponent_of")
    for kind in ("any", "special", "positive", "normal")
    for dtype in ("float64", "float32")
)
"""The names of functions of programs for which some processors have instructions (`elementary.building_blocks` defines them).

Printers print their bodies where they are used, or the instructions. A use counts as one operation.
"""
