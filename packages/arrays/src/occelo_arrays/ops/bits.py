"""Elementwise functions of integers: shifts, `gcd`, `lcm`, `bitwise_count`; bits in bytes: `packbits`, `unpackbits`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import ufunc_rule
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.reading import lengths_by_variables
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
    "packbits",
    "right_shift",
    "unpackbits",
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
    "The bits of x moved left by y places, x 2^y; 0 from as many places on as there are bits.",
)
right_shift: Elemwise = elementwise(
    "right_shift",
    2,
    _of_integers("right_shift", np.right_shift),
    np.right_shift,
    [None, None],
    "The bits of x moved right by y places, x 2^-y rounded down.",
)
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
gcd: Elemwise = elementwise(
    "gcd",
    2,
    _of_integers("gcd", np.gcd),
    np.gcd,
    [None, None],
    "The greatest common divisor of the integers x and y; gcd(0, 0) is 0.",
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
    "The least common multiple of the integers x and y; 0 if one is 0.",
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
    "How many bits of the magnitude of the integer x are 1, as uint8.",
    formula=_count_formula,
)


def _places(bitorder: Any, name: str) -> Any:
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder of {name} is 'big' or 'little', not {bitorder!r}")
    return np.arange(8, dtype="uint8")[:: -1 if bitorder == "big" else 1]


def _last(x: Any, axis: int | None) -> tuple[Any, int]:
    """The tensor with ``axis`` moved to the end, or flattened for None, and where the axis was."""
    if axis is None:
        return ot.flatten(x), 0
    where = normalize_axis(axis, x)
    return ot.moveaxis(x, where, -1), where


@stands_for("packbits", "a axis bitorder")
def packbits(a: Any, axis: int | None = None, bitorder: str = "big") -> TensorVariable:
    """Bytes (uint8) of eight elements each along ``axis``: a bit is 1 where an element is not 0. Zeros fill the last byte.

    ``axis`` None flattens first. The first element is the bit of 128 if ``bitorder`` is "big", and of 1 if it is "little".
    TypeError unless the elements are integers or bools.
    """
    places = _places(bitorder, "packbits")
    x = ot.as_tensor_variable(a)
    if not is_discrete(x.dtype):
        raise TypeError(f"packbits takes integers or bools, got {describe(x)}")
    rows, where = _last(x, axis)
    *lead, length = lengths_by_variables(rows)
    count = (length + 7) // 8
    rest = ot.zeros((*lead, count * 8 - length), dtype="bool")
    bits = ot.reshape(ot.join(-1, ot.neq(rows, 0), rest), (*lead, count, 8), ndim=len(lead) + 2)
    packed = ot.sum(ot.cast(bits, "uint8") << places, axis=-1, dtype="uint8")
    return ot.moveaxis(packed, -1, where)


@stands_for("unpackbits", "a axis count bitorder")
def unpackbits(
    a: Any, axis: int | None = None, count: Any = None, bitorder: str = "big"
) -> TensorVariable:
    """The bits of the bytes ``a`` along ``axis``, as uint8 numbers 0 and 1: what `packbits` packed, by the same ``bitorder``.

    ``axis`` None flattens first. ``count`` is the number of bits to return; a negative one leaves out as many at the end,
    and more than there are adds zeros. TypeError unless ``a`` is uint8.
    """
    places = _places(bitorder, "unpackbits")
    x = ot.as_tensor_variable(a)
    if x.dtype != "uint8":
        raise TypeError(f"unpackbits takes uint8, got {describe(x)}")
    rows, where = _last(x, axis)
    *lead, length = lengths_by_variables(rows)
    bits = (ot.expand_dims(rows, -1) >> places) & np.uint8(1)
    line = ot.reshape(bits, (*lead, length * 8), ndim=len(lead) + 1)
    if count is not None:
        static = line.type.shape[-1]
        line = _of_length(line, count, lead, length * 8 if static is None else static)
    return ot.moveaxis(line, -1, where)


def _of_length(line: Any, count: Any, lead: list[Any], bits: Any) -> Any:
    """The first ``count`` of so many ``bits``, with zeros if there are fewer; of a negative count, all but so many."""
    if isinstance(count, int) and isinstance(bits, int):
        length, more = (count, max(count - bits, 0)) if count >= 0 else (bits + count, 0)
    else:
        variable = ot.as_tensor_variable(count)
        if not is_discrete(variable.dtype):
            raise TypeError(
                f"count of unpackbits must be an integer, got {count} of type {variable.type}"
            )
        length = ot.switch(variable < 0, bits + variable, variable)
        more = ot.maximum(length - bits, 0)
    message = "count of unpackbits leaves out more bits than there are"
    if isinstance(length, int):
        if length < 0:
            raise ValueError(f"{message}: {count} of {bits}")
    else:
        length = ot.CheckAndRaise(ValueError, message)(length, length >= 0)
    return ot.join(-1, line, ot.zeros((*lead, more), dtype="uint8"))[..., :length]
