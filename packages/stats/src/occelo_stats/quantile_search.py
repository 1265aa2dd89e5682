"""Quantiles by bisection, for distributions without a formula for the quantile. The bisection is a loop in the graph.

`deriving` uses `searched_quantile` for continuous distributions, and `discrete` uses `smallest_count`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.gradient.barriers import zero_grad
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    ceil,
    floor,
    gt,
    isfinite,
    lt,
    maximum,
    minimum,
    second,
    sqrt,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp, log
from occelo_graph.ops.reduce import any as any_of
from occelo_stats.distribution import AnyFormula, Row

_MOST = 4.0e15
"""The largest number that bisection tries. Up to this number, the middle of two whole numbers is exact in float64."""


def searched_quantile(row: Row, upper: bool) -> AnyFormula:
    """The formula of the quantile of a row. With ``upper`` it is the formula of the inverse of the survival function.

    Bisection narrows the interval from `_bracket` until the dtype has no number between its ends. Below the median,
    bisection compares values of the distribution function, and above the median values of the survival function: the
    smaller of the two is precise. One step of Newton's method follows. The derivatives of this step are those of the
    quantile, by the implicit function theorem. The bisection itself has no derivatives.
    """
    logcdf: AnyFormula | None = row.logcdf
    logsf: AnyFormula | None = row.logsf
    logdensity: AnyFormula = row.logdensity
    assert logcdf is not None, row.name
    assert logsf is not None, row.name

    def formula(q: Any, *shapes: Any) -> Any:
        rest = 1.0 - q
        p, tail = (rest, q) if upper else (q, rest)
        low_half = lt(p, 0.5)
        log_p = log(switch(low_half, p, 0.5))
        log_tail = log(switch(low_half, 0.5, tail))

        def reached(x: Any) -> Any:
            below, above = logcdf(x, *shapes), logsf(x, *shapes)
            return switch(low_half, below >= log_p, above <= log_tail)

        start, end = _bracket(row, rest / q if upper else q / rest, shapes)
        root = _bisected(reached, start, end, (p, *shapes))
        below, above = logcdf(root, *shapes), logsf(root, *shapes)
        log_here = switch(low_half, below, above)
        miss = switch(low_half, below - log_p, log_tail - above)
        # at a bound of the support the logarithm is infinite, so the step of Newton's method is 0
        # there
        miss = switch(isfinite(miss), miss, 0.0)
        # Newton's method solves for the logarithm of the probability, which does not underflow in a
        # tail
        return root - miss * exp(log_here - logdensity(root, *shapes))

    return formula


def _bracket(row: Row, odds: Any, shapes: Any) -> tuple[Any, Any]:
    """A lower and an upper bound of a quantile.

    If the row has mean and variance, bounds by Cantelli's inequality replace the bounds of the support where they are
    narrower.
    """
    low, high = row.bounds(shapes)
    if row.mean is None or row.var is None:
        return low, high
    formulas: list[AnyFormula] = [row.mean, row.var]
    mean, var = (formula(*shapes) for formula in formulas)
    root, deviation = sqrt(odds), sqrt(var)
    start, end = mean - 2.0 * deviation / root, mean + 2.0 * deviation * root
    return maximum(low, start), minimum(high, end)


def _bisected(reached: Callable[[Any], Any], start: Any, end: Any, broadcast: Any) -> Any:
    """The smallest x from ``start`` to ``end`` with ``reached(x)``, to the precision of the dtype.

    The result has no derivatives.
    """
    from occelo_loops.ops.building.loops import while_loop

    whole = sum((0.0 * each for each in broadcast[1:]), 0.0 * broadcast[0])
    start, end = start + whole, end + whole
    valid = isfinite(start + end)
    start, end = switch(valid, start, 0.0), switch(valid, end, 0.0)

    def divide(before: Any, at: Any) -> tuple[Any, Any]:
        middle = 0.5 * (before + at)
        return middle, gt(middle, before) & lt(middle, at)

    def unfinished(state: Any) -> Any:
        return any_of(divide(*state)[1])

    def halve(state: Any) -> Any:
        before, at = state
        middle, open_ = divide(before, at)
        there = reached(middle)
        return switch(open_ & ~there, middle, before), switch(open_ & there, middle, at)

    return zero_grad(while_loop(unfinished, halve, (start, end))[1])


def smallest_count(
    reached: Callable[..., Any],
    arguments: Sequence[Any],
    low: Any,
    high: Any,
    mean: Any,
    var: Any,
    odds: Any,
) -> Any:
    """The smallest whole number k of the support with ``reached(k, *arguments)``.

    ``reached`` must be false below some k and true from there on. ``low`` and ``high`` are the bounds of the support.
    ``odds`` is p / (1 - p) for the probability p of the quantile. The quantile is at most ``sqrt(odds)`` standard
    deviations above the mean, and at most ``1 / sqrt(odds)`` standard deviations below it (Cantelli's inequality).
    Bisection halves the interval between these bounds until one number is left.
    """
    from occelo_loops.ops.building.loops import while_loop

    root, deviation = sqrt(odds), sqrt(var)
    # the interval is wider by one number on either side, since its bounds are rounded
    start = maximum(low - 1.0, floor(mean - deviation / root) - 2.0)
    end = minimum(minimum(high, _MOST), ceil(mean + deviation * root) + 2.0)
    # invalid parameters make the bounds NaN; an empty interval replaces them
    valid = isfinite(start + end)
    start, end = switch(valid, start, -1.0), switch(valid, end, 0.0)
    whole = start + end
    for each in arguments:
        whole = whole + each
    # arithmetic with bounds that are Python numbers may have changed the dtype
    start, end = (cast(second(whole, each), arguments[0].dtype) for each in (start, end))

    def divide(before: Any, at: Any) -> tuple[Any, Any]:
        middle = floor(0.5 * (before + at))
        # where the dtype cannot represent all whole numbers, the middle is one of the ends
        return middle, gt(middle, before) & lt(middle, at)

    def unfinished(state: Any) -> Any:
        return any_of(divide(*state)[1])

    def halve(state: Any) -> Any:
        before, at = state
        middle, open_ = divide(before, at)
        there = reached(middle, *arguments)
        return switch(open_ & ~there, middle, before), switch(open_ & there, middle, at)

    # the quantile is a step function, so its derivative is 0
    return zero_grad(while_loop(unfinished, halve, (start, end))[1])
