"""`crossings`: the times at which functions of a solution are 0, found step by step from the values between steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.ops.elemwise.arithmetic import abs, eq, maximum, sign, switch
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_loops.ops.building.loops import loop
from occelo_optimize.ops.methods.integrating import State, steps
from occelo_optimize.ops.methods.iterating import iterate
from occelo_optimize.ops.methods.steps import Method, Rates

_HALVINGS = 100


class Event(NamedTuple):
    """A function of a time and a vector, of which zeros are events.

    - ``direction``: a positive number if only zeros count where the function increases, negative for those where it decreases, else 0.
    - ``terminal``: how many zeros there are at most, since the solution ends with the last one; 0 if it does not end.
    """

    function: Callable[[Any, Any], Any]
    direction: float
    terminal: int


class Crossings(NamedTuple):
    """``times``: a vector for each event. ``which``: the number of the event that ended the solution at ``end``, or -1.

    ``success``: whether the whole interval was searched, or its part before ``end``.
    """

    times: list[Any]
    which: Any
    end: Any
    success: Any


class _Search(NamedTuple):
    step: State
    values: tuple[Any, ...]
    counts: tuple[Any, ...]
    which: Any
    end: Any


def crossings(
    f: Rates,
    events: Sequence[Event],
    y: Any,
    ends: tuple[Any, Any],
    method: Method,
    *,
    rtol: Any,
    atol: Any,
    max_steps: Any,
) -> Crossings:
    """The events of the solution between two times. A step has at most one event of each kind, as in SciPy."""
    start, stop = ends
    way = sign(stop - start)
    first, advance = steps(f, start, y, way, method, rtol, atol)

    def step(search: _Search) -> tuple[_Search, tuple[Any, ...]]:
        now = advance(search.step)
        moved = ~eq(now.t, search.step.t)
        last = switch(now.t * way >= stop * way, stop, now.t)
        value = now.at(last)
        after = tuple(_value(e, last, value) for e in events)
        times: list[Any] = []
        counts: list[Any] = []
        which, end = search.which, last
        for number, event in enumerate(events):
            low = search.values[number]
            active = moved & _crosses(event, low, after[number], eq(now.t0, start))
            time = _between(event, now, last, low, active)
            count = search.counts[number] + active
            if event.terminal:
                ended = active & (count >= event.terminal) & (time * way <= end * way)
                which, end = switch(ended, number, which), switch(ended, time, end)
            times.append(switch(active, time, np.nan).astype(y.dtype))
            counts.append(count.astype("int64"))
        reached = tuple(switch(time * way <= end * way, time, np.nan) for time in times)
        return _Search(now, after, tuple(counts), which.astype("int64"), end), reached

    def is_final(search: _Search) -> Any:
        return search.step.failed | (search.step.t * way >= stop * way) | (search.which >= 0)

    zero = as_tensor_variable(np.int64(0))
    begin = _Search(
        first, tuple(_value(e, start, y) for e in events), (zero,) * len(events), zero - 1, start
    )
    length = switch(eq(start, stop), 0, max_steps)
    final, times = loop(step, begin, length=length, until=is_final)
    reached = (final.step.t * way >= stop * way) & ~final.step.failed
    return Crossings(
        [t[eq(t, t).nonzero()] for t in times],
        final.which,
        switch(final.which >= 0, final.end, stop),
        reached | (final.which >= 0),
    )


def _value(event: Event, time: Any, y: Any) -> Any:
    return event.function(time, y).astype(y.dtype)


def _crosses(event: Event, before: Any, after: Any, is_first: Any) -> Any:
    """Whether a function changes its sign in a step. A 0 at the end of a step was counted in that step."""
    up = ((before < 0.0) | (is_first & eq(before, 0.0))) & (after >= 0.0)
    down = ((before > 0.0) | (is_first & eq(before, 0.0))) & (after <= 0.0)
    return up if event.direction > 0 else down if event.direction < 0 else up | down


def _between(event: Event, step: State, last: Any, before: Any, active: Any) -> Any:
    """The time of a change of sign between the start of a step and ``last``, by bisection; if it is not active, any time."""
    small = 2.0 * np.finfo(step.y.dtype).eps

    def halve(ends: tuple[Any, Any]) -> tuple[Any, Any]:
        low, high = ends
        middle = 0.5 * (low + high)
        same = eq(sign(_value(event, middle, step.at(middle))), sign(before))
        return switch(same, middle, low), switch(same, high, middle)

    def is_final(ends: tuple[Any, Any]) -> Any:
        low, high = ends
        size = maximum(abs(low), abs(high))
        return ~active | (abs(high - low) <= small * size)

    (_, high), _ = iterate(halve, is_final, (step.t0, last), _HALVINGS)
    return high
