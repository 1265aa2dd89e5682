"""Elementwise functions of integers: shifts, `gcd`, `lcm`, `bitwise_count`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import ufunc_rule
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "bitwise_count",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "gcd",
    "lcm",
    "left_shift",
    "right_shift",
]

_LOOP = "Euclid's algorithm, whose number of steps depends on the data, in NumPy"


def _of_integers(name: str, ufunc: Any) -> Callable[[Sequence[str]], str]:
    """The dtype rule of NumPy's ufunc, with an error of its own for other numbers."""
    rule = ufunc_rule(ufunc)

    def of_integers(dtypes: Sequence[str]) -> str:
        if not all(map(is_discrete, dtypes)):
            raise TypeError(f"{name} is for integers, got {', '.join(dtypes)}")
        return rule(dtypes)

    return of_integers


left_shift: Elemwise = elementwise(
    "left_shift",
    2,
    _of_integers("left_shift", np.left_shift),
    np.left_shift,
    [None, None],
    "The bits of x moved left by n places, x 2^n; 0 from as many places on as there are bits.",
)
right_shift: Elemwise = elementwise(
    "right_shift",
    2,
    _of_integers("right_shift", np.right_shift),
    np.right_shift,
    [None, None],
    "The bits of x moved right by n places, x 2^-n rounded down.",
)
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
gcd: Elemwise = elementwise(
    "gcd",
    2,
    _of_integers("gcd", np.gcd),
    np.gcd,
    [None, None],
    "The greatest common divisor of two integers; gcd(0, 0) is 0.",
    commutative=True,
    sign="nonnegative",
    python_only=_LOOP,
)
lcm: Elemwise = elementwise(
    "lcm",
    2,
    _of_integers("lcm", np.lcm),
    np.lcm,
    [None, None],
    "The least common multiple of two integers; 0 if one is 0.",
    commutative=True,
    python_only=_LOOP,
)


def _count_formula(x: TensorVariable) -> TensorVariable:
    # sums of neighbouring bits, of pairs, of fours, ...; each mask also removes copies of the sign
    bits: Any = ot.cast(x, "int64")
    if x.type.numpy_dtype.kind == "i":
        bits = abs(bits)  # in 64 bits, where only the least of their own is negative

    def halves(value: Any, places: int, mask: int) -> Any:
        return (value & mask) + (right_shift(value, np.int64(places)) & mask)

    for places, mask in (
        (1, 0x5555555555555555),
        (2, 0x3333333333333333),
        (4, 0x0F0F0F0F0F0F0F0F),
        (8, 0x00FF00FF00FF00FF),
        (16, 0x0000FFFF0000FFFF),
        (32, 0x00000000FFFFFFFF),
    ):
        bits = halves(bits, places, mask)
    return ot.cast(bits, "uint8")


bitwise_count: Elemwise = elementwise(
    "bitwise_count",
    1,
    _of_integers("bitwise_count", np.bitwise_count),
    np.bitwise_count,
    [None],
    "How many bits of the magnitude of an integer are 1, as uint8.",
    formula=_count_formula,
)
