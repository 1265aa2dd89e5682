"""Functions that derive a missing formula of a distribution from its other formulas, for instance `cdf` from ``logcdf``.

If a formula can be derived in several ways, the functions choose the most precise way. The methods of distributions in
`continuous` and `discrete` call these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph.ops.elemwise.arithmetic import lt, switch
from occelo_graph.ops.elemwise.transcendental import exp, expm1, log, log1mexp, log1p
from occelo_stats.distribution import AnyFormula, Row
from occelo_stats.quantile_search import searched_quantile


def _smaller(
    p: AnyFormula, other: AnyFormula, of_p: Callable[[Any], Any], of_other: Callable[[Any], Any]
) -> AnyFormula:
    """A function of the probability ``p``, computed from ``p`` or its complement ``other``, whichever is smaller.

    ``of_p`` computes the result from ``p``, and ``of_other`` computes it from ``other``.
    """

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


def cdf_of(row: Row) -> AnyFormula | None:
    """The formula of the distribution function; None if ``row`` has no formula to derive it from."""
    if row.cdf is not None:
        return row.cdf
    if row.logcdf is not None:
        return _of(exp, row.logcdf)
    if row.logsf is not None:
        return _of(lambda log_sf: -expm1(log_sf), row.logsf)
    return None


def sf_of(row: Row) -> AnyFormula | None:
    """The formula of the survival function, 1 - cdf; None if ``row`` has no formula to derive it from."""
    if row.sf is not None:
        return row.sf
    if row.symmetric:
        cdf = cdf_of(row)
        return None if cdf is None else _mirrored(cdf)
    if row.logsf is not None:
        return _of(exp, row.logsf)
    if row.logcdf is not None:
        return _of(lambda log_cdf: -expm1(log_cdf), row.logcdf)
    return None


def logcdf_of(row: Row) -> AnyFormula | None:
    """The formula of the logarithm of the distribution function; None if it cannot be derived."""
    if row.logcdf is not None:
        return row.logcdf
    if row.logsf is not None:
        return _of(log1mexp, row.logsf)
    return _log_of(cdf_of(row), sf_of(row))


def logsf_of(row: Row) -> AnyFormula | None:
    """The formula of the logarithm of the survival function; None if it cannot be derived."""
    if row.logsf is not None:
        return row.logsf
    if row.symmetric:
        logcdf = logcdf_of(row)
        return None if logcdf is None else _mirrored(logcdf)
    if row.logcdf is not None:
        return _of(log1mexp, row.logcdf)
    return _log_of(sf_of(row), cdf_of(row))


def _log_of(p: AnyFormula | None, other: AnyFormula | None) -> AnyFormula | None:
    if p is None or other is None:
        return None
    return _smaller(p, other, log, lambda rest: log1p(-rest))


def ppf_of(row: Row) -> AnyFormula | None:
    """The formula of the quantile, the inverse of the distribution function; None if it cannot be derived."""
    if row.ppf is not None:
        return row.ppf
    if row.searched:
        return searched_quantile(row, upper=False)
    if row.from_logcdf is not None:
        return _after(log, row.from_logcdf)
    return None if row.from_logsf is None else _after(lambda q: log1p(-q), row.from_logsf)


def isf_of(row: Row) -> AnyFormula | None:
    """The formula of the inverse of the survival function; None if it cannot be derived."""
    if row.isf is not None:
        return row.isf
    if row.searched:
        return searched_quantile(row, upper=True)
    if row.symmetric:
        ppf = ppf_of(row)
        return None if ppf is None else _of(lambda x: -x, ppf)
    if row.from_logsf is not None:
        return _after(log, row.from_logsf)
    return None if row.from_logcdf is None else _after(lambda q: log1p(-q), row.from_logcdf)


def _after(first: Callable[[Any], Any], then: AnyFormula) -> AnyFormula:
    def formula(q: Any, *shapes: Any) -> Any:
        return then(first(q), *shapes)

    return formula
