"""`ContinuousDistribution`: the methods of continuous distributions, such as `pdf` and `cdf`, with names as in ``scipy.stats``.

Modules of distributions, such as `on_the_line` and `positive`, define the formulas of each distribution (`distribution.Row`), and construct a
`ContinuousDistribution` from them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    ge,
    gt,
    le,
    lt,
    or_,
    sqrt,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp, log
from occelo_stats.deriving import cdf_of, isf_of, logcdf_of, logsf_of, ppf_of, sf_of
from occelo_stats.distribution import AnyFormula, Arguments, Distribution

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

_MINUS_INF = -math.inf


class ContinuousDistribution(Distribution):
    """A continuous distribution.

    All methods accept the parameters by position or name, after the argument ``x`` or ``q`` if they have one. All
    arguments broadcast. The results have the common float dtype of the arguments (floatX if all are integers or Python
    numbers). Outside of the support a density is 0. Where a parameter is invalid, the result is NaN. If a distribution has no
    formula for a method, the method raises NotImplementedError.
    """

    def _z(self, bound: Arguments) -> Any:
        z = bound.x if bound.loc is None else bound.x - bound.loc
        return z if bound.scale is None else z / bound.scale

    def _back(self, bound: Arguments, z: Any) -> Any:
        x = z if bound.scale is None else z * bound.scale
        return x if bound.loc is None else x + bound.loc

    def _below(self, z: Any, low: Any, open_end: bool) -> Any:
        if isinstance(low, float | int):
            return le(z, low) if open_end or math.isinf(low) else lt(z, low)
        return or_(le(z, _MINUS_INF), le(z, low) if open_end else lt(z, low))

    def _above(self, z: Any, high: Any, open_end: bool) -> Any:
        if isinstance(high, float | int):
            return ge(z, high) if open_end or math.isinf(high) else gt(z, high)
        return or_(ge(z, math.inf), ge(z, high) if open_end else gt(z, high))

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of the density at ``x``; -inf outside of the support."""
        bound = self._arguments("logpdf", x, args, kwargs)
        value = self._at(bound, self.row.logdensity, self._z(bound))
        return bound.checked(value if bound.scale is None else value - log(bound.scale))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Density at ``x``."""
        row = self.row
        if row.density is None:
            return exp(self.logpdf(x, *args, **kwargs))
        bound = self._arguments("pdf", x, args, kwargs)
        z, density = self._z(bound), self._formula("pdf", row.density)
        low, high = row.bounds(bound.shapes)
        ends = [eq(z, end) for end in (low, high) if math.isfinite(end)]
        at_end = ends[0] if len(ends) == 1 else or_(*ends)
        inside = row.interior(bound.shapes)
        logarithm = self._at(bound, row.logdensity, switch(at_end, inside, z))
        if bound.scale is not None:
            logarithm = logarithm - log(bound.scale)
        value = density(switch(at_end, z, inside), *bound.shapes)
        value = value if bound.scale is None else value / bound.scale
        return bound.checked(switch(at_end, value, exp(logarithm)))

    def _at(self, bound: Arguments, formula: AnyFormula, z: Any) -> Any:
        """The value of a log density at the standardized variable ``z``; -inf outside of the closed support."""
        row = self.row
        if row.support is None or row.periodic:
            return formula(z, *bound.shapes)
        low, high = row.bounds(bound.shapes)
        # a NaN does not count as outside, so the formula returns NaN for it
        outside = or_(self._below(z, low, row.open_below), self._above(z, high, False))
        inner = switch(outside, row.interior(bound.shapes), z)
        return switch(outside, _MINUS_INF, formula(inner, *bound.shapes))

    def _between(self, bound: Arguments, formula: AnyFormula, before: float, after: float) -> Any:
        """A distribution function: ``before`` below the support, ``after`` above it, ``formula`` within the support."""
        z, row = self._z(bound), self.row
        if row.support is None:
            return formula(z, *bound.shapes)
        low, high = row.bounds(bound.shapes)
        below, above = self._below(z, low, True), self._above(z, high, True)
        inner = switch(or_(below, above), row.interior(bound.shapes), z)
        return switch(below, before, switch(above, after, formula(inner, *bound.shapes)))

    def _method(
        self, name: str, formula: AnyFormula | None, x: Any, args: Any, kwargs: Any, ends: Any
    ) -> TensorVariable:
        bound = self._arguments(name, x, args, kwargs)
        return bound.checked(self._between(bound, self._formula(name, formula), *ends))

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability that a value is at most ``x``."""
        return self._method("cdf", cdf_of(self.row), x, args, kwargs, (0.0, 1.0))

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability that a value is above ``x``, precise even if the probability is small."""
        return self._method("sf", sf_of(self.row), x, args, kwargs, (1.0, 0.0))

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `cdf`."""
        return self._method("logcdf", logcdf_of(self.row), x, args, kwargs, (_MINUS_INF, 0.0))

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `sf`."""
        return self._method("logsf", logsf_of(self.row), x, args, kwargs, (0.0, _MINUS_INF))

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Quantile: the x for which ``cdf(x)`` is ``q``; NaN for a ``q`` that is not a probability."""
        return self._quantile("ppf", ppf_of(self.row), q, args, kwargs, flipped=False)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """The x for which ``sf(x)`` is ``q``; NaN for a ``q`` that is not a probability."""
        return self._quantile("isf", isf_of(self.row), q, args, kwargs, flipped=True)

    def _quantile(
        self, name: str, formula: AnyFormula | None, q: Any, args: Any, kwargs: Any, flipped: bool
    ) -> TensorVariable:
        bound = self._arguments(name, q, args, kwargs)
        q = bound.x
        within = and_(gt(q, 0), lt(q, 1))
        z = self._formula(name, formula)(switch(within, q, 0.5), *bound.shapes)
        low, high = self.row.bounds(bound.shapes)
        at_zero, at_one = (high, low) if flipped else (low, high)
        ends = switch(eq(q, 0), at_zero, switch(eq(q, 1), at_one, math.nan))
        return bound.checked(self._back(bound, switch(within, z, ends)))

    def _moment(
        self, name: str, formula: AnyFormula | None, args: Any, kwargs: Any
    ) -> tuple[Arguments, Any]:
        bound = self._arguments(name, None, args, kwargs)
        return bound, bound.spread(bound.tensor(self._formula(name, formula)(*bound.shapes)))

    def mean(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Expected value. As in SciPy, it is inf or NaN where it does not exist."""
        bound, value = self._moment("mean", self.row.mean, args, kwargs)
        return bound.checked(self._back(bound, value))

    def var(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Variance. As in SciPy, it is inf or NaN where it does not exist."""
        bound, value = self._moment("var", self.row.var, args, kwargs)
        return bound.checked(value if bound.scale is None else value * bound.scale * bound.scale)

    def std(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Standard deviation, the square root of `var`."""
        return sqrt(self.var(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Differential entropy, by natural logarithms."""
        bound, value = self._moment("entropy", self.row.entropy, args, kwargs)
        return bound.checked(value if bound.scale is None else value + log(bound.scale))
