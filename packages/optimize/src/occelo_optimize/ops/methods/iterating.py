"""`iterate`: the loop of all methods. It repeats a step until a state is final, or until there were enough steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from occelo_graph.gradient.reverse import grad
from occelo_loops.ops.building.loops import while_loop

S = TypeVar("S")
derivative: Callable[..., Any] = grad
"""`grad` of one variable, with a type that says so."""


class Found(NamedTuple):
    """What a method returns: the solution, whether it was found (bool), and the number of iterations (int64)."""

    x: Any
    success: Any
    nit: Any


def iterate(
    step: Callable[[S], S], is_final: Callable[[S], Any], start: S, maxiter: Any
) -> tuple[S, Any]:
    """The first final state, and the number of steps to it. ``maxiter`` steps are the most."""

    def again(carried: tuple[Any, S]) -> Any:
        return (carried[0] < maxiter) & ~is_final(carried[1])

    def body(carried: tuple[Any, S]) -> tuple[Any, S]:
        return carried[0] + 1, step(carried[1])

    count, state = while_loop(again, body, (np.int64(0), start))
    return state, count
