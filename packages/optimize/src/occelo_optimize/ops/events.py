"""Events of a differential equation: the user's functions as `Event`s, and their times as differentiable variables.

The search for the times has no derivatives. A time t solves g(t, y(t)) = 0, so its derivatives are those of the implicit function theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.gradient.barriers import disconnected_grad
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.vectorize import vectorize_graph
from occelo_optimize.ops.applying import apply_method
from occelo_optimize.ops.methods.crossings import Event, crossings
from occelo_optimize.ops.methods.iterating import Found
from occelo_optimize.ops.ode import METHODS, Settings, solve_ode
from occelo_optimize.ops.regions import region_of

Rates = Callable[[Any, Any], Any]


def events_of(events: Any, tree: Callable[[Any], Any], args: Sequence[Any]) -> list[Event]:
    """The events of a user: functions of a time, a tree and ``args``, with SciPy's attributes ``terminal`` and ``direction``."""
    listed: Sequence[Any] = events if is_list_or_tuple(events) else [events]
    return [_event_of(each, tree, args) for each in listed]


def _event_of(function: Any, tree: Callable[[Any], Any], args: Sequence[Any]) -> Event:
    if not callable(function):
        raise TypeError(f"solve_ivp needs functions of t and y as its events, got {function!r}")

    def value(time: Any, vector: Any) -> Any:
        scalar = as_tensor_variable(function(time, tree(vector), *args))
        if scalar.type.ndim or scalar.type.numpy_dtype.kind not in "fiu":
            raise TypeError(f"An event of solve_ivp is a real scalar, and not {describe(scalar)}")
        return scalar

    terminal = getattr(function, "terminal", None)
    return Event(value, float(getattr(function, "direction", 0.0)), int(terminal or 0))


def _as_it_is(_function: Any, x: Any) -> Found:
    """The method of a problem that is solved already."""
    return Found(x, as_tensor_variable(np.bool_(True)), as_tensor_variable(np.int64(0)))


class Occurrences:
    """When events of a solution occur: a vector of times for each; ``end``, the last time; ``which`` event ended it, or -1."""

    def __init__(
        self, rates: Rates, events: Sequence[Event], y0: Any, span: Any, settings: Settings
    ) -> None:
        self._solution = rates, y0, span, settings
        own = settings._asdict()
        method = METHODS[own.pop("method")]
        results = crossings(rates, events, y0, (span[0], span[1]), method, **own)
        self.success = results.success
        self.which: Any = disconnected_grad(results.which)
        self.end = self._differentiable(self._ended(events, span[1]), results.end)
        self.times: list[Any] = []
        for event, times in zip(events, results.times, strict=True):
            guess = times[:0].sum().type.make_variable("time")
            exact = self._differentiable(event.function, guess)
            self.times.append(vectorize_graph(exact, {guess: disconnected_grad(times)}))

    def _ended(self, events: Sequence[Event], stop: Any) -> Callable[[Any, Any], Any]:
        """What is 0 at the end: the function of the event that ended the solution, or else the time less the last one."""

        def residual(time: Any, y: Any) -> Any:
            value = time - stop
            for number, event in enumerate(events):
                if event.terminal:
                    value = switch(eq(self.which, number), event.function(time, y), value)
            return value

        return residual

    def _differentiable(self, function: Callable[[Any, Any], Any], guess: Any) -> Any:
        rates, y0, span, settings = self._solution
        time = guess.type.make_variable("time")
        y = solve_ode(rates, y0, stack([span[0], time]), settings)[0][1]
        region = region_of([function(time, y).astype(time.dtype)], time, "event")
        start = disconnected_grad(guess)
        return apply_method(region, region, _as_it_is, [start], {}, "event").x

    def values_at(self, times: Any) -> Any:
        """The vectors at times, as rows."""
        rates, y0, span, settings = self._solution
        return solve_ode(rates, y0, concatenate([span[:1], times]), settings)[0][1:]
