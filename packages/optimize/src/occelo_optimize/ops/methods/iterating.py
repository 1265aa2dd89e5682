"""`iterate`: the loop of all methods. It repeats a step until a state is final, or until there were enough steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from occelo_graph.gradient.reverse import grad
from occelo_graph.ops.elemwise.arithmetic import switch
from occelo_loops.ops.building.loops import while_loop

S = TypeVar("S")
TEXT = "text"
"""The name of the output of a method with its message: UTF-8, with zeros after it."""
derivative: Callable[..., Any] = grad
"""`grad` of one variable, with a type that says so."""


class Found(NamedTuple):
    """What a method returns: the solution, whether it was found (bool), and numbers (int64).

    These are of iterations, of points at which the function was computed, of those at which its derivatives were, and why the search ended: 0 if
    the solution was found, 1 after the most iterations, 2 if no step was good. (Levenberg and Marquardt's has SciPy's numbers.)
    ``others`` are tensors of one method alone, such as the inverse Hessian.
    """

    x: Any
    success: Any
    nit: Any
    nfev: Any = np.int64(0)
    njev: Any = np.int64(0)
    status: Any = np.int64(0)
    others: Mapping[str, Any] = MappingProxyType({})


def status_of(success: Any, stuck: Any) -> Any:
    """Why a search ended, as in `Found`."""
    return switch(success, np.int64(0), switch(stuck, np.int64(2), np.int64(1)))


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
