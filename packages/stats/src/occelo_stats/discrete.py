"""`DiscreteDistribution`: the methods of distributions on whole numbers, such as `pmf` and `cdf`, with names as in ``scipy.stats``.

`counts` defines the formulas of each distribution (`distribution.Row`), and constructs a `DiscreteDistribution` from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Constant
from occelo_graph.ir.taken_constants import taken
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    eq,
    floor,
    ge,
    gt,
    lt,
    or_,
    sqrt,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp
from occelo_stats.deriving import cdf_of, logcdf_of, logsf_of, sf_of
from occelo_stats.distribution import AnyFormula, Arguments, Distribution
from occelo_stats.quantile_search import smallest_count

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_MINUS_INF = -math.inf


class DiscreteDistribution(Distribution):
    """A distribution on whole numbers.

    All methods accept the parameters by position or name, after the argument ``k`` or ``q`` if they have one. All
    arguments broadcast. The results have the common float dtype of the arguments (floatX if all are integers or Python
    numbers). Quantiles have this float dtype, too, although they are whole numbers. A number that is not whole, or not
    in the support, has the probability 0. Where a parameter is invalid, the result is NaN. If a distribution has no formula for
    a method, the method raises NotImplementedError.
    """

    scaled = False

    def _count(self, bound: Arguments) -> Any:
        return bound.x if bound.loc is None else bound.x - bound.loc

    def _within(self, count: Any, shapes: Sequence[Any]) -> tuple[Any, Any]:
        """A mask of counts outside of the support, and the counts. The lower bound replaces the masked counts."""
        low, high = self.row.bounds(shapes)
        # a NaN does not count as outside, so the formula returns NaN for it
        outside = or_(or_(lt(count, low), gt(count, high)), lt(floor(count), count))
        outside = or_(outside, eq(count, math.inf))
        return outside, switch(outside, low, count)

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of the probability of ``k``; -inf if the probability is 0."""
        bound = self._arguments("logpmf", k, args, kwargs)
        outside, inner = self._within(self._count(bound), bound.shapes)
        value = self._formula("logpmf", self.row.logdensity)(inner, *bound.shapes)
        return bound.checked(switch(outside, _MINUS_INF, value))

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability of ``k``.

        Its derivatives are finite even where a parameter is at an end of its range, such as ``p`` = 0.
        """
        bound = self._arguments("pmf", k, args, kwargs)
        row, shapes = self.row, bound.shapes
        outside, inner = self._within(self._count(bound), shapes)
        at_end, usual, ends = self._split_ends(shapes)
        value = exp(self._formula("pmf", row.logdensity)(inner, *usual))
        if at_end is not None:
            value = switch(at_end, self._formula("pmf", row.density)(inner, *ends), value)
        return bound.checked(switch(outside, 0.0, value))

    def _split_ends(self, shapes: Sequence[Any]) -> tuple[Any, list[Any], list[Any]]:
        """A mask, and the parameters for the two formulas of `pmf`: ``logdensity``, and ``density`` at ends of ranges.

        The mask is true where a parameter is at an end of its range, such as ``p`` = 0. The mask is None if no
        parameter can be at an end. For ``logdensity``, 0.5 replaces parameters that are at an end. For ``density``, an
        end replaces parameters that are at no end. So the derivatives of both formulas are finite everywhere.
        """
        mask, usual, at_ends = None, list(shapes), list(shapes)
        for i, name in enumerate(self.row.parameters):
            value, numbers = shapes[i], self.row.ends.get(name, ())
            if isinstance(value, Constant) and not np.isin(taken(value), numbers).any():
                continue
            for number in numbers:
                here = eq(value, number)
                mask = here if mask is None else or_(mask, here)
            if numbers:
                usual[i] = switch(mask, 0.5, value)
                at_ends[i] = switch(mask, value, numbers[0])
        return mask, usual, at_ends

    def _between(
        self, name: str, formula: AnyFormula | None, k: Any, args: Any, kwargs: Any, ends: Any
    ) -> TensorVariable:
        bound = self._arguments(name, k, args, kwargs)
        return bound.checked(self._clamped(self._formula(name, formula), bound, ends))

    def _clamped(self, formula: AnyFormula, bound: Arguments, ends: tuple[float, float]) -> Any:
        """A distribution function: ``ends[0]`` below the support, ``ends[1]`` above it, ``formula`` within it."""
        count = floor(self._count(bound))
        low, high = self.row.bounds(bound.shapes)
        below, above = lt(count, low), ge(count, high)
        inner = switch(or_(below, above), low, count)
        value = formula(inner, *bound.shapes)
        return switch(below, ends[0], switch(above, ends[1], value))

    def cdf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability that a number is at most ``k``."""
        return self._between("cdf", cdf_of(self.row), k, args, kwargs, (0.0, 1.0))

    def sf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability that a number is above ``k``, precise even if the probability is small."""
        return self._between("sf", sf_of(self.row), k, args, kwargs, (1.0, 0.0))

    def logcdf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `cdf`."""
        return self._between("logcdf", logcdf_of(self.row), k, args, kwargs, (_MINUS_INF, 0.0))

    def logsf(self, k: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `sf`."""
        return self._between("logsf", logsf_of(self.row), k, args, kwargs, (0.0, _MINUS_INF))

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Quantile: the smallest k with ``cdf(k) >= q``; NaN for a ``q`` that is not a probability.

        Bisection with `cdf` finds k, so `ppf` is the exact inverse of `cdf`. The derivatives are 0.
        """
        return self._quantile("ppf", cdf_of(self.row), q, args, kwargs)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """The smallest k with ``sf(k) <= q``, by bisection; NaN for a ``q`` that is not a probability."""
        return self._quantile("isf", sf_of(self.row), q, args, kwargs)

    def _quantile(
        self, name: str, formula: AnyFormula | None, q: Any, args: Any, kwargs: Any
    ) -> TensorVariable:
        bound = self._arguments(name, q, args, kwargs)
        function, row = self._formula(name, formula), self.row
        mean, var = self._formula(name, row.mean), self._formula(name, row.var)
        upper = name == "isf"
        within = and_(gt(bound.x, 0), lt(bound.x, 1))
        if bound.valid is not None:
            within = and_(within, bound.valid)
        chance = switch(within, bound.x, 0.5)
        low, high = row.bounds(bound.shapes)

        def reached(count: Any, q: Any, *shapes: Any) -> Any:
            low, high = row.bounds(shapes)
            top = ge(count, high)
            value = function(switch(top, low, count), *shapes)
            return or_(top, value <= q if upper else value >= q)

        tail = switch(within, chance, 0.5)
        odds = (1.0 - tail) / tail if upper else tail / (1.0 - tail)
        count = smallest_count(
            reached,
            (chance, *bound.shapes),
            low,
            high,
            mean(*bound.shapes),
            var(*bound.shapes),
            odds,
        )
        at_zero, at_one = (high, low - 1.0) if upper else (low - 1.0, high)
        ends = switch(eq(bound.x, 0), at_zero, switch(eq(bound.x, 1), at_one, math.nan))
        quantile = switch(within, count, ends)
        return bound.checked(quantile if bound.loc is None else add(quantile, bound.loc))

    def _moment(
        self, name: str, formula: AnyFormula | None, args: Any, kwargs: Any
    ) -> tuple[Arguments, Any]:
        bound = self._arguments(name, None, args, kwargs)
        return bound, bound.spread(bound.tensor(self._formula(name, formula)(*bound.shapes)))

    def mean(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Expected value."""
        bound, value = self._moment("mean", self.row.mean, args, kwargs)
        return bound.checked(value if bound.loc is None else value + bound.loc)

    def var(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Variance."""
        bound, value = self._moment("var", self.row.var, args, kwargs)
        return bound.checked(value)

    def std(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Standard deviation, the square root of `var`."""
        return sqrt(self.var(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Entropy, by natural logarithms."""
        bound, value = self._moment("entropy", self.row.entropy, args, kwargs)
        return bound.checked(value)
