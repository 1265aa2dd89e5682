"""Functions of unsigned 64-bit integers for PyTorch, which can store uint64 numbers but has few operations on them.

`torch.arrays` computes on int64 numbers with the same bits. Sums, products and bitwise operations of these numbers have
the right bits. Comparisons, quotients and signs would be wrong, so they are defined here. The argument ``of`` is the
library, and all other arguments are int64 tensors with the bits of uint64 numbers. A table in `traced.functions` maps
the names of scalar ops to these functions. `torch.arrays` computes maxima and minima along axes with `in_order`.
"""

from __future__ import annotations

from typing import Any

from occelo_link.traced.traced_values import Array

_LOWEST = -(2**63)


def in_order(x: Array) -> Array:
    """Map unsigned integers, given by int64 numbers of the same bits, to signed integers in the same order.

    The function is its own inverse.
    """
    return x ^ _LOWEST


def less(of: Any, x: Array, y: Array) -> Array:
    """Return whether x < y."""
    return in_order(x) < in_order(y)


def not_more(of: Any, x: Array, y: Array) -> Array:
    """Return whether x <= y."""
    return in_order(x) <= in_order(y)


def more(of: Any, x: Array, y: Array) -> Array:
    """Return whether x > y."""
    return less(of, y, x)


def not_less(of: Any, x: Array, y: Array) -> Array:
    """Return whether x >= y."""
    return not_more(of, y, x)


def larger(of: Any, x: Array, y: Array) -> Array:
    """Return the larger of two numbers, elementwise."""
    return in_order(of.torch.maximum(in_order(x), in_order(y)))


def smaller(of: Any, x: Array, y: Array) -> Array:
    """Return the smaller of two numbers, elementwise."""
    return in_order(of.torch.minimum(in_order(x), in_order(y)))


def within(of: Any, x: Array, low: Array, high: Array) -> Array:
    """Clip a number: return the nearest number from ``low`` to ``high``."""
    return smaller(of, larger(of, x, low), high)


def quotient(of: Any, x: Array, y: Array) -> Array:
    """Return the quotient, rounded down. The quotient of a division by 0 is 0, as in NumPy.

    The dividend is halved and divided, and the quotient is doubled. The result is at most 1 too small, and is corrected
    (Warren, Hacker's Delight, section 9-3). If the highest bit of the divisor is set, the quotient is 1 or 0.
    """
    torch = of.torch
    small = torch.where(y <= 0, 1, y)
    halved = (x >> 1) & (2**63 - 1)
    doubled = torch.floor_divide(halved, small) * 2
    rest = x - doubled * small
    whole = doubled + torch.logical_not(less(of, rest, small)).to(x.dtype)
    once = torch.logical_not(less(of, x, y)).to(x.dtype)
    return torch.where(y == 0, 0, torch.where(y < 0, once, whole))


def remainder(of: Any, x: Array, y: Array) -> Array:
    """Return the remainder of the division. The remainder of a division by 0 is 0, as in NumPy."""
    return of.torch.where(y == 0, 0, x - quotient(of, x, y) * y)


def sign_of(of: Any, x: Array) -> Array:
    """Return the sign: 0 for 0, and otherwise 1."""
    return (x != 0).to(x.dtype)


def itself(of: Any, x: Array) -> Array:
    """Return the absolute value, which is the argument itself."""
    return x
