"""`integrate`: the solution of a differential equation at given times, by steps whose lengths follow from estimates of their errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from occelo_graph.ops.create import alloc
from occelo_graph.ops.elemwise.arithmetic import abs, eq, isfinite, maximum, minimum, sign, switch
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.reshaping import reshape
from occelo_loops.ops.building.loops import loop
from occelo_optimize.ops.methods.iterating import iterate
from occelo_optimize.ops.methods.steps import Method, Rates, interpolated, root_mean_square

_SAFETY, _LEAST, _MOST = 0.9, 0.2, 10.0


def _first_step(
    f: Rates, t: Any, y: Any, rate: Any, way: Any, method: Method, rtol: Any, atol: Any
) -> Any:
    """The length of the first step, after Hairer, Nørsett and Wanner: from the sizes of y, its derivative and its change."""
    scale = atol + abs(y) * rtol
    size, speed = root_mean_square(y, scale), root_mean_square(rate, scale)
    first = switch((size < 1e-5) | (speed < 1e-5), 1e-6, 0.01 * size / speed)
    change = root_mean_square(f(t + way * first, y + way * first * rate) - rate, scale) / first
    largest = maximum(speed, change)
    second = switch(
        largest <= 1e-15, maximum(1e-6, first * 1e-3), (0.01 / largest) ** (1.0 / method.order)
    )
    length = minimum(100.0 * first, second)
    return switch(isfinite(length) & (length > 0.0), length, 1e-6).astype(y.dtype)


class State(NamedTuple):
    """The last good step, from (``t0``, ``y0``) to (``t``, ``y``) with the coefficients ``dense``, and the length of the next one."""

    t0: Any
    y0: Any
    t: Any
    y: Any
    rate: Any
    h: Any
    dense: Any
    failed: Any
    count: Any

    def at(self, time: Any) -> Any:
        """The value at a time inside of the step, or at its end if it has no length."""
        width = self.t - self.t0
        moved = abs(width) > 0.0
        fraction = switch(moved, (time - self.t0) / switch(moved, width, 1.0), 1.0)
        return switch(moved, interpolated(self.y0, self.dense, fraction), self.y)


def steps(
    f: Rates, start: Any, y: Any, way: Any, method: Method, rtol: Any, atol: Any
) -> tuple[State, Callable[[State], State]]:
    """The state at the start, and the function that tries a step. ``way`` is 1, or -1 for decreasing times."""
    rate = f(start, y)
    h = _first_step(f, start, y, rate, way, method, rtol, atol)
    nothing = alloc(np.zeros((), y.dtype), method.rows, y.shape[0])
    first = State(start, y, start, y, rate, h, nothing, np.bool_(False), np.int64(0))

    def advance(state: State) -> State:
        t0, y0, t, y, rate, h, dense, failed, count = state
        step = method.step(f, t, y, rate, way * h)
        error = method.size(step.error, atol + rtol * maximum(abs(y), abs(step.y)))
        good = step.usable & (error <= 1.0)
        raw = _SAFETY * maximum(error, 1e-10) ** (-1.0 / method.order)
        factor = switch(step.usable & isfinite(raw), minimum(maximum(raw, _LEAST), _MOST), 0.25)
        after = t + way * h
        tiny = ~(after * way > t * way) | ~isfinite(h)
        return State(
            switch(good, t, t0),
            switch(good, y, y0),
            switch(good, after, t),
            switch(good, step.y, y),
            switch(good, step.rate, rate),
            h * factor,
            switch(good, step.dense, dense),
            failed | tiny,
            count + 1,
        )

    return first, advance


def integrate(
    f: Rates, y: Any, times: Any, method: Method, *, rtol: Any, atol: Any, max_steps: Any
) -> tuple[Any, Any, Any]:
    """The values at ``times`` (rows), of which the first is where ``y`` is given; whether all were reached; the steps.

    A step may go beyond a time, where the value is interpolated. Times may increase or decrease.
    """
    start = times[0]
    way = sign(times[-1] - start)
    first, advance = steps(f, start, y, way, method, rtol, atol)

    def to(state: State, at: Any) -> Any:
        target, in_order = at
        lengths = state.y.shape

        def is_final(state: State) -> Any:
            return (state.t * way >= target * way) | state.failed

        state, _ = iterate(advance, is_final, state, max_steps)
        reached = (state.t * way >= target * way) & ~state.failed & in_order
        # its lengths are those of the state, which the steps in between do not say
        value = reshape(switch(reached, state.at(target), np.nan), lengths)
        return state._replace(failed=state.failed | ~reached), value

    # a time before the last one lies outside of the current step, whose polynomial is good only inside
    moves = times[1:] - times[:-1]
    in_order = switch(eq(way, 0.0), eq(moves, 0.0), moves * way >= 0.0)
    final, values = loop(to, first, (times[1:], in_order))
    return concatenate([y[None, :], values]), ~final.failed, final.count
