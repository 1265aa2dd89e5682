"""The length of a slice of a dimension whose length is computed at run time (`length_of_slice`), and its first position.

Slices with static bounds get their lengths in one normal form (`clipped_length`), so that slices of equal lengths, such
as ``x[1:]`` and ``x[:-1]``, are known to fit.
"""

from __future__ import annotations

from typing import Any

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ops.elemwise.arithmetic import ge, lt, maximum, minimum, switch
from occelo_graph.ops.index.key import LARGEST
from occelo_graph.tensors.constant import as_tensor_variable


def clipped_length(
    start: int | None, stop: int | None, forward: bool
) -> tuple[int, int | None] | None:
    """Two numbers (less, most) for which a slice with step 1 or -1 has min(max(n - less, 0), most) elements.

    n is the length of the dimension. If ``most`` is None, there is no such bound. The result is None if the number of
    elements has another form: from a negative start up to a position that is counted from 0.
    """
    if not forward:
        # the same elements in the other order
        after = None if start is None or start == -1 else start + 1
        if stop == -1:
            return 0, 0
        start, stop = 0 if stop is None else stop + 1, after
    start = 0 if start is None else start
    if stop is None:
        less, most = (start, None) if start >= 0 else (0, -start)
    elif (start < 0) == (stop < 0):
        less, most = (start if start >= 0 else -stop), max(stop - start, 0)
    elif start >= 0:
        less, most = start - stop, None
    else:
        return None
    return min(less, LARGEST), most if most is None else min(most, LARGEST)


def length_of_slice(entry: slice, length: Any) -> Any:
    """The number of elements that a slice selects from a dimension of length ``length``, an integer or a scalar."""
    parts = slice_parts(entry)
    start, stop, step = parts
    dynamic = any(isinstance(p, Variable) for p in parts)
    if isinstance(length, int) and not dynamic:
        return len(range(*entry.indices(length)))
    step = 1 if step is None else step
    if parts in ((None, None, None), (None, None, -1)):
        return length
    clipped = None if dynamic else clipped_length(start, stop, step > 0)
    if clipped is not None:
        less, most = clipped
        if most == 0:
            return 0
        span: Any = maximum(length - less, 0) if less else length
        span = span if most is None else minimum(span, most)
        return span if abs(step) == 1 else (span - 1) // min(abs(step), LARGEST) + 1
    forward = step > 0 if isinstance(step, int) else ge(step, 1)
    if isinstance(forward, bool):
        low, high = (0, length) if forward else (-1, length - 1)
        first = first_of_slice(entry, length)
        last = _clamp(stop, length, low, high, high if forward else low)
        span = last - first if forward else first - last
        return _count(span, min(abs(step), LARGEST))
    a = first_of_slice(entry, length)
    b = _clamp(
        stop,
        length,
        switch(forward, 0, -1),
        switch(forward, length, length - 1),
        switch(forward, length, -1),
    )
    span = switch(forward, b - a, a - b)
    return _count(span, abs(maximum(as_tensor_variable(step), -LARGEST)))


def first_of_slice(entry: slice, length: Any) -> Any:
    """The position where a slice begins in a dimension of length ``length``, if it selects any element."""
    start, _, step = slice_parts(entry)
    step = 1 if step is None else step
    if isinstance(step, int):
        low, high = (0, length) if step > 0 else (-1, length - 1)
        return _clamp(start, length, low, high, low if step > 0 else high)
    forward = ge(step, 1)
    return _clamp(
        start,
        length,
        switch(forward, 0, -1),
        switch(forward, length, length - 1),
        switch(forward, 0, length - 1),
    )


def _count(span: Any, step: Any) -> Any:
    """The number of elements in ``span`` positions, of which each ``step``-th is taken. No sum of the two overflows."""
    whole: Any = span if isinstance(step, int) and step == 1 else (span - 1) // step + 1
    return maximum(whole, 0)


def _clamp(position: Any, length: Any, low: Any, high: Any, default: Any) -> Any:
    if position is None:
        return as_tensor_variable(default)
    variable = as_tensor_variable(position)
    shifted = switch(lt(variable, 0), variable + length, variable)
    return minimum(maximum(shifted, low), high)
