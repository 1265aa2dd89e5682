"""The methods of continuous laws, from the formulas of a row; the names and arguments are those of ``scipy.stats``.

The files of laws make `ContinuousLaw` of their rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, log1mexp, log1p
from occelo_graph.stats.law import AnyFormula, Arguments, Law

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["ContinuousLaw"]

_MINUS_INF = -math.inf


def either(*conditions: Any) -> Any:
    """Where one of the conditions holds; None stands for a condition that never does."""
    found: Any = None
    for condition in conditions:
        if condition is not None:
            found = condition if found is None else or_(found, condition)
    return found


class ContinuousLaw(Law):
    """A continuous law.

    All methods take the parameters by position or name, after the variable; they broadcast. The results are of the float dtype that the arguments
    have together (floatX where all are integers or Python numbers). Outside of the support a density is 0; where a
    parameter is invalid, the result is NaN. NotImplementedError for methods that the law has no formula for.
    """

    def _z(self, given: Arguments) -> Any:
        z = given.x if given.loc is None else given.x - given.loc
        return z if given.scale is None else z / given.scale

    def _back(self, given: Arguments, z: Any) -> Any:
        x = z if given.scale is None else z * given.scale
        return x if given.loc is None else x + given.loc

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
        given = self._arguments("logpdf", x, args, kwargs)
        value = self._at(given, self.row.logdensity)
        return given.checked(value if given.scale is None else value - log(given.scale))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Density at ``x``."""
        return exp(self.logpdf(x, *args, **kwargs))

    def _at(self, given: Arguments, formula: AnyFormula) -> Any:
        """A log density on the closed support, -inf elsewhere."""
        z, row = self._z(given), self.row
        if row.support is None:
            return formula(z, *given.shapes)
        low, high = row.bounds(given.shapes)
        # NaN is not outside, and the formula keeps it
        outside = or_(self._below(z, low, row.open_below), self._above(z, high, False))
        inner = switch(outside, row.interior(given.shapes), z)
        return switch(outside, _MINUS_INF, formula(inner, *given.shapes))

    def _between(self, given: Arguments, formula: AnyFormula, before: float, after: float) -> Any:
        """A distribution function on the open support; ``before`` and ``after`` are its values at and beyond the ends."""
        z, row = self._z(given), self.row
        if row.support is None:
            return formula(z, *given.shapes)
        low, high = row.bounds(given.shapes)
        below, above = self._below(z, low, True), self._above(z, high, True)
        inner = switch(or_(below, above), row.interior(given.shapes), z)
        return switch(below, before, switch(above, after, formula(inner, *given.shapes)))

    def _method(
        self, name: str, formula: AnyFormula | None, x: Any, args: Any, kwargs: Any, ends: Any
    ) -> TensorVariable:
        given = self._arguments(name, x, args, kwargs)
        if formula is None:
            raise self._lacks(name)
        return given.checked(self._between(given, formula, *ends))

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability of a value of at most ``x``."""
        return self._method("cdf", _cdf(self), x, args, kwargs, (0.0, 1.0))

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Probability of a value above ``x``, precise where it is small."""
        return self._method("sf", _sf(self), x, args, kwargs, (1.0, 0.0))

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `cdf`."""
        return self._method("logcdf", _logcdf(self), x, args, kwargs, (_MINUS_INF, 0.0))

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Logarithm of `sf`."""
        return self._method("logsf", _logsf(self), x, args, kwargs, (0.0, _MINUS_INF))

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """Quantile: the x for which ``cdf(x)`` is ``q``; NaN for a ``q`` that is no probability."""
        return self._quantile("ppf", _ppf(self), q, args, kwargs, flipped=False)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> TensorVariable:
        """The x for which ``sf(x)`` is ``q``; NaN for a ``q`` that is no probability."""
        return self._quantile("isf", _isf(self), q, args, kwargs, flipped=True)

    def _quantile(
        self, name: str, formula: AnyFormula | None, q: Any, args: Any, kwargs: Any, flipped: bool
    ) -> TensorVariable:
        given = self._arguments(name, q, args, kwargs)
        if formula is None:
            raise self._lacks(name)
        q = given.x
        within = and_(gt(q, 0), lt(q, 1))
        z = formula(switch(within, q, 0.5), *given.shapes)
        low, high = self.row.bounds(given.shapes)
        at_zero, at_one = (high, low) if flipped else (low, high)
        ends = switch(eq(q, 0), at_zero, switch(eq(q, 1), at_one, math.nan))
        return given.checked(self._back(given, switch(within, z, ends)))

    def _moment(
        self, name: str, formula: AnyFormula | None, args: Any, kwargs: Any
    ) -> tuple[Arguments, Any]:
        given = self._arguments(name, None, args, kwargs)
        if formula is None:
            raise self._lacks(name)
        return given, given.spread(_as_tensor(formula(*given.shapes), given))

    def mean(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Expected value; inf or NaN where there is none, as in SciPy."""
        given, value = self._moment("mean", self.row.mean, args, kwargs)
        return given.checked(self._back(given, value))

    def var(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Variance; inf or NaN where there is none, as in SciPy."""
        given, value = self._moment("var", self.row.var, args, kwargs)
        return given.checked(value if given.scale is None else value * given.scale * given.scale)

    def std(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Standard deviation, the square root of `var`."""
        return sqrt(self.var(*args, **kwargs))

    def entropy(self, *args: Any, **kwargs: Any) -> TensorVariable:
        """Differential entropy, in units of e."""
        given, value = self._moment("entropy", self.row.entropy, args, kwargs)
        return given.checked(value if given.scale is None else value + log(given.scale))


def _as_tensor(value: Any, given: Arguments) -> Any:
    from occelo_graph.ops.create import full

    return full((), value, given.dtype) if isinstance(value, float | int) else value


def _smaller(
    p: AnyFormula, other: AnyFormula, of_p: Callable[[Any], Any], of_other: Callable[[Any], Any]
) -> AnyFormula:
    """A function of a probability, by way of it or of its complement, whichever is smaller."""

    def formula(*arguments: Any) -> Any:
        one, rest = p(*arguments), other(*arguments)
        direct = lt(one, 0.5)
        return switch(direct, of_p(switch(direct, one, 0.5)), of_other(switch(direct, 0.5, rest)))

    return formula


def _of(outer: Callable[[Any], Any], inner: AnyFormula) -> AnyFormula:
    return lambda *arguments: outer(inner(*arguments))


def _mirrored(formula: AnyFormula) -> AnyFormula:
    def mirrored(z: Any, *shapes: Any) -> Any:
        return formula(-z, *shapes)

    return mirrored


def _cdf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.cdf is not None:
        return row.cdf
    if row.logcdf is not None:
        return _of(exp, row.logcdf)
    if row.logsf is not None:
        return _of(lambda log_sf: -expm1(log_sf), row.logsf)
    return None


def _sf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.sf is not None:
        return row.sf
    if row.symmetric:
        found = _cdf(law)
        return None if found is None else _mirrored(found)
    if row.logsf is not None:
        return _of(exp, row.logsf)
    if row.logcdf is not None:
        return _of(lambda log_cdf: -expm1(log_cdf), row.logcdf)
    return None


def _logcdf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.logcdf is not None:
        return row.logcdf
    if row.logsf is not None:
        return _of(log1mexp, row.logsf)
    return _log_of(_cdf(law), _sf(law))


def _logsf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.logsf is not None:
        return row.logsf
    if row.symmetric:
        found = _logcdf(law)
        return None if found is None else _mirrored(found)
    if row.logcdf is not None:
        return _of(log1mexp, row.logcdf)
    return _log_of(_sf(law), _cdf(law))


def _log_of(p: AnyFormula | None, other: AnyFormula | None) -> AnyFormula | None:
    if p is None or other is None:
        return None
    return _smaller(p, other, log, lambda rest: log1p(-rest))


def _ppf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.ppf is not None:
        return row.ppf
    if row.from_logcdf is not None:
        return _after(log, row.from_logcdf)
    return None if row.from_logsf is None else _after(lambda q: log1p(-q), row.from_logsf)


def _isf(law: Law) -> AnyFormula | None:
    row = law.row
    if row.isf is not None:
        return row.isf
    if row.symmetric:
        found = _ppf(law)
        return None if found is None else _of(lambda x: -x, found)
    if row.from_logsf is not None:
        return _after(log, row.from_logsf)
    return None if row.from_logcdf is None else _after(lambda q: log1p(-q), row.from_logcdf)


def _after(first: Callable[[Any], Any], then: AnyFormula) -> AnyFormula:
    def formula(q: Any, *shapes: Any) -> Any:
        return then(first(q), *shapes)

    return formula
