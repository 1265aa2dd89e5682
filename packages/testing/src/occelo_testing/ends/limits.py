"""One-sided limits of functions and of their slopes, by mpmath: what tests expect at the ends of domains."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import NullTypeGradError
from occelo_graph.ops.elemwise.op import Elemwise

End = tuple[Any, ...]
"""A point, and the side from which it is reached: 1 from above, -1 from below, 0 for the point itself. Then, where
mpmath has no such function or there is no such limit, the value and the slope."""

Row = tuple[str, Callable[[Any], Any], Any, list[End]]
"""A name, a function, the same function in mpmath or None, and ends."""


def row(
    name: str,
    function: Callable[[Any], Any],
    exact: Callable[[Any], Any] | None,
    ends: Sequence[End],
) -> Row:
    """A row of a table; type checkers read the types of its functions here."""
    return name, function, exact, list(ends)


mp: Any = importlib.import_module("mpmath")
INF, NAN = math.inf, math.nan
DIGITS = 160
BOTH: list[End] = [(-INF, 1), (INF, -1)]
VANISHING: list[End] = [(-INF, 1, 0.0, 0.0), (INF, -1, 0.0, 0.0)]


def _limit(f: Callable[[Any], Any], end: float, side: int) -> float:
    """The limit of f: two numbers near the end show whether f grows without bound, vanishes, or comes to rest."""
    if not side:
        return float(f(mp.mpf(end)))
    if math.isinf(end):
        near = [f(mp.sign(end) * mp.mpf(10) ** k) for k in (5, 10)]
    else:
        near = [f(end + side * mp.mpf(10) ** k) for k in (-30, -60)]
    first, last = near
    if abs(last) > 1.15 * abs(first):
        return float(mp.sign(last)) * math.inf
    return 0.0 if abs(last) < 0.87 * abs(first) else float(last)


def _slope(f: Callable[[Any], Any], end: float, side: int) -> Callable[[Any], Any]:
    def slope(x: Any) -> Any:
        distance = 1 if math.isinf(end) else abs(x - end) if side else abs(x)
        step = mp.mpf(10) ** -45 * distance
        return (f(x + step) - f(x - step)) / (2 * step)

    return slope


def value_and_slope(exact: Callable[[Any], Any] | None, end: End) -> list[float]:
    """The value and the slope that a function should have at an end."""
    point, side, *stated = end
    if stated or exact is None:
        return [float(v) for v in stated]
    with mp.workdps(DIGITS):
        return [_limit(exact, point, side), _limit(_slope(exact, point, side), point, side)]


def compare_at_ends(
    function: Callable[[float], Sequence[Any]],
    exact: Any,
    ends: Iterable[End],
    rtol: float = 1e-9,
    atol: float = 1e-9,
) -> None:
    """Compare values and slopes that a compiled function returns with the limits."""
    for end in ends:
        near = max(1e-4, rtol) if math.isinf(end[0]) else rtol
        expected = value_and_slope(exact, end)
        np.testing.assert_allclose(
            function(float(end[0])), expected, rtol=near, atol=atol, err_msg=f"at {end[:2]}"
        )


def named_parameter(row: str) -> tuple[str, str | None]:
    """The function of a row, and the parameter that its name tells: "betainc in a, b=2" has the parameter a of betainc."""
    name, _, rest = row.partition(" ")
    return name, rest[3:].split()[0].strip(",") if rest.startswith("in ") else None


def parameters_with_slopes(function: Any, names: Sequence[str]) -> list[str]:
    """The parameters among ``names``, the first ones of a function of real numbers, by which it has a derivative.

    Derivatives that nobody has defined raise an exception. ValueError if the names are others.
    """
    if not isinstance(function, Elemwise):
        parameters = list(inspect.signature(function).parameters)
        if list(names) != parameters[: len(names)]:
            raise ValueError(f"the parameters are {parameters}, not {names}")
    with_slope: list[str] = []
    for position, name in enumerate(names):
        values: list[Any] = [0.5] * len(names)
        values[position] = x = ot.dscalar(name)
        result: Any = function(*values)
        try:
            og.grad(ot.sum(ot.real(result[0] if isinstance(result, tuple) else result)), x)
        except NullTypeGradError:
            continue
        with_slope.append(name)
    return with_slope
