"""Sums over the whole numbers of a distribution's support: probabilities, entropies, expected values.

`counts` and `vectors` use these functions for distributions without closed formulas. Each sum is a loop in the graph. If the
parameters are arrays, each element has a sum of its own, and the loop runs until the longest sum is complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from occelo_graph.gradient.barriers import zero_grad
from occelo_graph.ops.elemwise.arithmetic import (
    ceil,
    floor,
    isfinite,
    le,
    lt,
    maximum,
    minimum,
    sqrt,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp, log1mexp, logaddexp
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.reduce import max as max_of
from occelo_graph.tensors.constant import constant
from occelo_stats.distribution import AnyFormula, constant_in


def _accumulated(
    add: Callable[[Any, Any, Any], Any], first: Any, last: Any, shapes: Any, start: Any, skip: int
) -> Any:
    """The state after ``state = add(state, k, included)`` for each k from ``first + skip`` to ``last``, elementwise.

    The loop takes as many steps as the longest range has numbers. For an element whose k is above its ``last``,
    ``included`` is false, and ``add`` gets the element's ``first`` as k.
    """
    from occelo_loops.ops.building.loops import fori_loop

    count = last - first
    for each in shapes:
        count = count + 0.0 * each
    # an appended 0, since an empty array has no maximum
    finite = switch(isfinite(count), count, 0.0)
    counts = concatenate([finite.ravel(), constant(np.zeros(1, finite.dtype))])
    steps = maximum(max_of(counts) + 1.0, 0.0).astype("int64")

    def step(i: Any, state: Any) -> Any:
        k = first + i.astype(count.dtype)
        included = le(k, last)
        return add(state, switch(included, k, first), included)

    # This adds NaN where the count is NaN. (Rules would simplify a product with 0.)
    return fori_loop(skip, steps, step, start + zero_grad(constant_in(count, 0.0)))


def expectation(
    value: Callable[[Any], Any], logpmf: AnyFormula, first: Any, last: Any, *shapes: Any
) -> Any:
    """The sum of ``value(k) exp(logpmf(k, *shapes))`` over the whole numbers k from ``first`` to ``last``.

    If there are no such numbers, the sum is 0.
    """

    def add(total: Any, k: Any, included: Any) -> Any:
        return total + switch(included, value(k) * exp(logpmf(k, *shapes)), 0.0)

    return _accumulated(add, first, last, shapes, 0.0, 0)


def sum_of_probabilities(logpmf: AnyFormula, first: Any, last: Any, *shapes: Any) -> Any:
    """The sum of ``exp(logpmf(k, *shapes))`` over the whole numbers k from ``first`` to ``last``; 0 if there are none."""
    return expectation(lambda k: 1.0, logpmf, first, last, *shapes)


def _log_sum(logpmf: AnyFormula, first: Any, last: Any, *shapes: Any) -> Any:
    def add(total: Any, k: Any, included: Any) -> Any:
        return switch(included, logaddexp(total, logpmf(k, *shapes)), total)

    return _accumulated(add, first, last, shapes, logpmf(first, *shapes), 1)


def log_of_sums(
    logpmf: AnyFormula, included: tuple[Any, Any], others: tuple[Any, Any], *shapes: Any
) -> Any:
    """The logarithm of the probability of the numbers from ``included[0]`` to ``included[1]``.

    ``others`` are the first and the last number of the rest of the support. If the probability is more than one half,
    it is computed as 1 minus the probability of the rest.
    """
    value = _log_sum(logpmf, *included, *shapes)
    small = lt(value, -math.log(2.0))
    rest = _log_sum(logpmf, *others, *shapes)
    return switch(small, value, log1mexp(switch(small, -1.0, rest)))


def entropy_of_counts(
    logpmf: AnyFormula, support: tuple[Any, Any], mean: Any, var: Any, reach: Any, *shapes: Any
) -> Any:
    """The entropy of a distribution on whole numbers, summed over the part of the support near the mean.

    The sum covers numbers at a distance of at most ``12 * sqrt(var) + reach`` from the mean. ``reach`` must be so large
    that all other numbers add less than the rounding error.
    """
    width = 12.0 * sqrt(var) + reach
    first = zero_grad(maximum(support[0], floor(mean - width)))
    last = zero_grad(minimum(support[1], ceil(mean + width)))

    def add(total: Any, k: Any, included: Any) -> Any:
        value = logpmf(k, *shapes)
        included = included & (value > -math.inf)
        inner = switch(included, value, 0.0)
        return total - inner * exp(inner)

    return _accumulated(add, first, last, shapes, 0.0, 0)
