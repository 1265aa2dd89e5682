"""Functions of unsigned 64-bit integers for PyTorch, which computes on signed integers only.

PyTorch can store uint64 but has few operations on it, so `torch.arrays` computes on int64 numbers with the same bits.
Sums, products and bitwise operations of these give the right bits. Comparisons, quotients and signs do not, so this
module has functions for them. Their arguments are the library (``of``), and int64 tensors that stand for uint64
tensors. A table in `traced.functions` maps the names of scalar ops to them. `torch.arrays` finds maxima and minima with
`in_order`.
"""

from __future__ import annotations

from typing import Any

from occelo_link.traced.traced_values import Array

__all__ = [
    "in_order",
    "itself",
    "larger",
    "less",
    "more",
    "not_less",
    "not_more",
    "quotient",
    "remainder",
    "sign_of",
    "smaller",
    "within",
]

_LOWEST = -(2**63)


def in_order(x: Array) -> Array:
    """Signed integers in the same order as the unsigned integers that ``x`` stands for.

    The function is its own inverse.
    """
    return x ^ _LOWEST


def less(of: Any, x: Array, y: Array) -> Array:
    """Whether x < y."""
    return in_order(x) < in_order(y)


def not_more(of: Any, x: Array, y: Array) -> Array:
    """Whether x <= y."""
    return in_order(x) <= in_order(y)


def more(of: Any, x: Array, y: Array) -> Array:
    """Whether x > y."""
    return less(of, y, x)


def not_less(of: Any, x: Array, y: Array) -> Array:
    """Whether x >= y."""
    return not_more(of, y, x)


def larger(of: Any, x: Array, y: Array) -> Array:
    """The larger of two numbers, elementwise."""
    return in_order(of.torch.maximum(in_order(x), in_order(y)))


def smaller(of: Any, x: Array, y: Array) -> Array:
    """The smaller of two numbers, elementwise."""
    return in_order(of.torch.minimum(in_order(x), in_order(y)))


def within(of: Any, x: Array, low: Array, high: Array) -> Array:
    """The nearest number that is not below ``low`` and not above ``high``."""
    return smaller(of, larger(of, x, low), high)


def quotient(of: Any, x: Array, y: Array) -> Array:
    """The quotient, rounded down; 0 for a division by 0, as in NumPy.

    If the dividend has its highest bit set, it is halved, and the quotient is doubled; the result is at most 1 too
    small (Warren, Hacker's Delight, section 9-3). If the divisor has its highest bit set, the quotient is 1 or 0.
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
    """The remainder of the division; 0 for a division by 0, as in NumPy."""
    return of.torch.where(y == 0, 0, x - quotient(of, x, y) * y)


def sign_of(of: Any, x: Array) -> Array:
    """The sign: 0 for 0, otherwise 1."""
    return (x != 0).to(x.dtype)


def itself(of: Any, x: Array) -> Array:
    """The absolute value, which is the argument itself."""
    return x
