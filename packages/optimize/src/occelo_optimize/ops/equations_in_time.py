"""`odeint` and `solve_ivp`: solutions of ordinary differential equations, with the names of `scipy.integrate`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_arrays.ops.raveling import ravel
from occelo_graph.applicable import check_arguments
from occelo_graph.errors import describe
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.arithmetic import sign, switch
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.vectorize import vectorize_graph
from occelo_optimize.ops.applying import is_loop
from occelo_optimize.ops.events import Occurrences, events_of
from occelo_optimize.ops.ode import METHODS, Settings, solve_ode
from occelo_optimize.ops.results import OptimizeResult

__all__ = ["odeint", "solve_ivp"]

_MULTISTEP = ("BDF", "LSODA")
"""SciPy's methods that keep values of several steps, and orders that change."""


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *,
    args: Sequence[Any] = (),
    rtol: float = 1.49012e-8,
    atol: float = 1.49012e-8,
    method: str = "RK45",
    tfirst: bool = False,
    mxstep: int = 10_000,
) -> Any:
    """The solution of dy/dt = func(y, t) at the times ``t``, where y is ``y0`` at the first of them.

    - ``func(y, t, *args)``: a Python function of a tree like ``y0`` and a scalar, which returns the derivatives as a tree
      like ``y0``, or a list of scalars for a vector. With ``tfirst`` the time is the first argument.
    - ``y0``: a tensor of floats, or a tree of such tensors.
    - ``t``: a vector of floats that increases or decreases, with at least one element.
    - ``rtol``, ``atol``: numbers: the estimated error of a step is at most ``atol + rtol |y|``.
    - ``method``: "RK23", of Bogacki and Shampine, "RK45" or "DOP853", of Dormand and Prince, which have the orders 3, 5 and 8, or "Radau" for
      stiff equations. (SciPy's function chooses by itself.)
    - ``mxstep``: the most steps between two times.

    Returns a tree like ``y0``, whose tensors have a new first axis for the times. Values at times that were not reached
    are NaN. The solution has derivatives with respect to ``y0``, ``t`` and everything that ``func`` reads: in reverse mode by the adjoint
    equation, in forward mode by the equations of the derivatives, with the same tolerances.

    TypeError for values that are no floats, ValueError for derivatives that do not fit ``y0``, or for an unknown method.
    """
    rates, values = _system(func, y0, args, "odeint", tfirst=tfirst)
    settings = _settings("odeint", method, rtol, atol, mxstep)
    times = _times("odeint", t, values.vector.dtype)
    states, _, _ = solve_ode(rates, values.vector, times, settings)
    return values.rows(states)


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    *,
    args: Sequence[Any] = (),
    rtol: float = 1e-3,
    atol: float = 1e-6,
    max_steps: int = 10_000,
    events: Any = None,
    dense_output: bool = True,
) -> OptimizeResult:
    """The solution of dy/dt = fun(t, y) from ``y0`` over the interval ``t_span``.

    - ``fun(t, y, *args)``, ``y0``, ``method``, ``rtol`` and ``atol``: as in `odeint`, with the time first and SciPy's
      tolerances.
    - ``t_span``: two scalars, the first and the last time. The second may be the smaller one.
    - ``t_eval``: a vector of times inside of the interval, in its order. By default there is only the last time; SciPy's
      function returns all of its steps.
    - ``max_steps``: the most steps between two times.
    - ``events``: a function ``event(t, y, *args)`` of a scalar, or a list of them, whose zeros are events. As in SciPy, the
      attribute ``terminal`` (a bool, or a number of zeros) ends the solution with an event, and ``direction`` (a number)
      tells which changes of the sign count. A step has at most one event of each function.
    - ``dense_output``: accepted for SciPy's sake; ``sol`` is always there.

    Returns a pair of the solution and whether all times were reached, with these attributes: ``y``, a tree like ``y0`` whose tensors
    have a new last axis for the times; ``t``, the times, of which those after a terminal event are left out; ``success``; ``nit``, the number of steps;
    ``sol(t)``, a function of a time or of a vector of them in order; ``status``, which is 1 if an event ended the solution, else 0, or -1
    for a failure. With events also ``t_events``, a vector of times for each, as long as there are
    events; ``y_events``, the trees with a new first axis for them. All of these have derivatives as the solution of `odeint`.

    TypeError for events that are no functions of a real scalar.
    """
    del dense_output
    rates, values = _system(fun, y0, args, "solve_ivp", tfirst=True)
    settings = _settings("solve_ivp", method, rtol, atol, max_steps)
    span = _times("solve_ivp", t_span, values.vector.dtype)
    if span.type.shape[0] not in (None, 2):
        raise ValueError(f"solve_ivp needs two times as its t_span, got {describe(span)}")
    times = span[1:] if t_eval is None else _times("solve_ivp", t_eval, values.vector.dtype)
    happened = None
    if events is not None:
        listed = events_of(events, values.tree, args)
        happened = Occurrences(rates, listed, values.vector, span, settings)
        if any(event.terminal for event in listed):
            way = sign(span[1] - span[0])
            inside = (times * way <= happened.end * way).nonzero()
            times = happened.end[None] if t_eval is None else times[inside]
    states, success, steps = solve_ode(
        rates, values.vector, concatenate([span[:1], times]), settings
    )
    y = values.rows(states[1:], last=True)
    status = switch(success, np.int64(0), np.int64(-1))
    others: dict[str, Any] = {"y": y, "t": times, "nit": steps, "status": status}
    if happened is not None:
        success = success & happened.success
        others["status"] = switch(success, (happened.which >= 0).astype("int64"), -1)
        others["t_events"] = happened.times
        others["y_events"] = [values.rows(happened.values_at(t)) for t in happened.times]

    def sol(t: Any) -> Any:
        at = as_tensor_variable(t).astype(values.vector.dtype)
        queried = _times("sol", at[None] if at.type.ndim == 0 else at, values.vector.dtype)
        rows = solve_ode(rates, values.vector, concatenate([span[:1], queried]), settings)[0]
        return values.tree(rows[1]) if at.type.ndim == 0 else values.rows(rows[1:], last=True)

    return OptimizeResult(y, success, "solve_ivp", **others, sol=sol)


class _Values:
    """A user's tree of initial values as a vector, and back."""

    def __init__(self, y0: Any, who: str) -> None:
        leaves, self.structure = trees.flatten(y0, "y0")
        floats: list[Any] = []
        for leaf, path in zip(leaves, self.structure.paths("y0"), strict=True):
            value = as_tensor_variable(float(leaf) if type(leaf) is int else leaf)
            if value.type.numpy_dtype.kind != "f":
                raise TypeError(f"{who} needs floats, and {path} is {describe(value)}")
            floats.append(value)
        if not floats:
            raise ValueError(f"{who} needs initial values, and y0 has no leaves")
        self.vector, self.unravel = ravel(floats)

    def tree(self, vector: Any) -> Any:
        """The user's tree of a vector."""
        return self.structure.unflatten(self.unravel(vector))

    def rows(self, states: Any, *, last: bool = False) -> Any:
        """The user's tree of all rows, with a first axis for them, or a last one."""
        row = self.vector.type.make_variable()
        leaves = vectorize_graph(self.unravel(row), {row: states})
        if last:
            leaves = [v.dimshuffle([*range(1, v.type.ndim), 0]) for v in leaves]
        return self.structure.unflatten(leaves)


def _system(
    func: Callable[..., Any], y0: Any, args: Sequence[Any], who: str, *, tfirst: bool
) -> tuple[Callable[[Any, Any], Any], _Values]:
    """The derivatives as a function of the time and a vector, and the initial values."""
    if not callable(func):
        raise TypeError(f"{who} needs a function of y and t, got {func!r}")
    two = ("the time", "y") if tfirst else ("y", "the time")
    check_arguments(f"The function of {who}", func, *two, *("one of args" for _ in args))
    values = _Values(as_tensor_variable(y0) if _is_numbers(y0) else y0, who)

    def rates(t: Any, vector: Any) -> Any:
        y = values.tree(vector)
        derivatives: Any = func(t, y, *args) if tfirst else func(y, t, *args)
        if values.structure.is_leaf:
            leaves, before = [_joined(derivatives)], [y]
        else:
            parts = values.structure.leaves_of(derivatives, "the derivatives")
            leaves, before = list(map(_joined, parts)), trees.leaves(y)
        for leaf, old in zip(leaves, before, strict=True):
            if not _fits(leaf.type.shape, old.type.shape):
                raise ValueError(
                    f"The function of {who} returns {describe(leaf)} as the derivative of {describe(old)}"
                )
        return ravel(leaves)[0].astype(vector.dtype)

    return rates, values


def _joined(value: Any) -> Any:
    """A tensor, also of a list of tensors or numbers."""
    if is_list_or_tuple(value):
        return stack([as_tensor_variable(v) for v in value])
    return as_tensor_variable(value)


def _fits(shape: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether two static shapes may be those of equal tensors."""
    return len(shape) == len(other) and all(
        a == b or None in (a, b) for a, b in zip(shape, other, strict=True)
    )


def _is_numbers(values: Any) -> bool:
    return (
        is_list_or_tuple(values)
        and bool(values)
        and all(isinstance(v, int | float) for v in values)
    )


def _settings(who: str, method: str, rtol: Any, atol: Any, steps: int) -> Settings:
    if str(method).upper() in _MULTISTEP:
        raise ValueError(
            f"{who} has no {method}: Radau is the method for stiff equations, RK45 or DOP853 for others"
        )
    name, _ = is_loop(who, method, None, METHODS, ())
    for value, what in ((rtol, "rtol"), (atol, "atol")):
        if isinstance(value, Variable) or not value > 0:
            raise ValueError(f"{who} needs a positive number as its {what}, got {value!r}")
    return Settings(name, float(rtol), float(atol), int(steps))


def _times(who: str, t: Any, dtype: str) -> Any:
    times = _joined(t)
    if times.type.ndim != 1 or times.type.numpy_dtype.kind not in "fiu":
        raise TypeError(f"{who} needs a vector of times, got {describe(times)}")
    return times.astype(dtype)
