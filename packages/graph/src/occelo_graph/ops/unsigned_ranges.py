"""Ranges of integers of which some are uint64: their lengths, and their numbers.

`create.arange` computes such ranges from a range of int64. The functions compute modulo 2**64, apart from signs, so that
they are exact for all integers of 64 bits.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq, ge, lt, neq, switch
from occelo_graph.tensors.constant import constant
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


def checked_count(start: Any, stop: Any, step: Any) -> TensorVariable:
    """The length of a range of integers, an int64 scalar.

    It is a constant if it is known. When the graph runs, a step of 0 raises ZeroDivisionError, and a length beyond int64
    ValueError.
    """
    first, last, by = (known_integer(v) for v in (start, stop, step))
    if first is not None and last is not None and by:
        return constant(np.int64(builtins.max(0, -((first - last) // by))))
    count: Any = cast(_count(start, stop, step), "int64")
    if not by:
        count = CheckAndRaise(ZeroDivisionError, "division by zero")(count, neq(step, 0))
    checked: TensorVariable = CheckAndRaise(ValueError, "Maximum allowed size exceeded")(
        count, ge(count, 0)
    )
    return checked


def numbers_at(places: Any, start: Any, stop: Any, step: Any, dtype: str) -> TensorVariable:
    """The numbers of a range at the int64 ``places``, in ``dtype``; modulo 2**64 if that is an integer's."""
    place = cast(places, "uint64")
    wrapped = cast(start, "uint64") + cast(step, "uint64") * place
    if is_discrete(dtype) or (_never_negative(start) and _never_negative(stop)):
        return cast(wrapped, dtype)
    # the bits of a negative number are also those of a large one: its place tells which of them it is
    before_zero = lt(place, _count(start, constant(0), step))
    negative = _choice(_forward(step), before_zero, ~before_zero)
    return switch(negative, cast(cast(wrapped, "int64"), dtype), cast(wrapped, dtype))


def _count(start: Any, stop: Any, step: Any) -> Any:
    """The length of a range modulo 2**64, as uint64. A step of 0 is a division by 0."""
    forward, zero, one = _forward(step), constant(0, dtype="uint64"), constant(1, dtype="uint64")
    bits = [cast(v, "uint64") for v in (start, stop)]
    low, high = _choice(forward, *bits), _choice(forward, *reversed(bits))
    signed = not (_never_negative(start) and _never_negative(stop))
    signs = [lt(v, 0) for v in (start, stop)] if signed else []
    some = lt(low, high)
    below: list[Any] = [None, None]
    if signed:
        below = [_choice(forward, *signs), _choice(forward, *reversed(signs))]
        some = switch(eq(*below), some, below[0])
    if known_integer(step) in (1, -1):
        return switch(some, high - low, zero)
    by = cast(step, "uint64")
    size = _choice(forward, by, zero - by)

    def divided(number: Any, negative: Any) -> tuple[Any, Any]:
        if negative is None:
            return number // size, number % size
        # floor(x / size) is ~(~x // size) for a negative x
        whole = switch(negative, ~number, number)
        quotient, rest = whole // size, whole % size
        return switch(negative, ~quotient, quotient), switch(negative, size - one - rest, rest)

    (first, low_rest), (last, high_rest) = map(divided, (low, high), below)
    return switch(some, last - first + cast(lt(low_rest, high_rest), "uint64"), zero)


def _never_negative(x: Any) -> bool:
    number = known_integer(x)
    return x.dtype.startswith("uint") or (number is not None and number >= 0)


def _forward(step: Any) -> Any:
    """Whether a range ascends, as far as that is known; else a variable."""
    if _never_negative(step):
        return True
    return ge(step, 0) if known_integer(step) is None else False


def _choice(condition: Any, x: Any, y: Any) -> Any:
    return (x if condition else y) if isinstance(condition, bool) else switch(condition, x, y)
