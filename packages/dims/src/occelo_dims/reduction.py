"""Reductions and running sums over named dimensions.

``dim`` is a name, names, or all for None and an ellipsis; ValueError for a name that the tensor lacks. Missing values
are numbers as any other, as in PyTensor and unlike in xarray; ``skipna=True`` leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import occelo_sorting.functions as sorting
from occelo_dims.labelled import XTensorLike, as_xtensor, labelled, names_of, require
from occelo_graph import tensor as ot
from occelo_graph.errors import explained_by

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable


def _reduced(
    what: str, x: XTensorLike, dim: Any, function: Callable[..., Any], **options: Any
) -> XTensorVariable:
    own = as_xtensor(x)
    names = names_of(own, dim, what)
    axes = tuple(own.dims.index(name) for name in names)
    reduced = function(own.values, axis=axes, **options)
    return labelled(reduced, [d for d in own.dims if d not in names])


def sum(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The sum of ``x`` over ``dim``. Integers are added in 64 bits. ``skipna`` leaves NaN out."""
    return _reduced("sum", x, dim, sorting.nansum if skipna else ot.sum)


def prod(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The product of ``x`` over ``dim``. Integers are multiplied in 64 bits. ``skipna`` leaves NaN out."""
    return _reduced("prod", x, dim, sorting.nanprod if skipna else ot.prod)


def max(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The largest element of ``x`` over ``dim``. ``skipna`` leaves NaN out."""
    return _reduced("max", x, dim, sorting.nanmax if skipna else ot.max)


def min(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The smallest element of ``x`` over ``dim``. ``skipna`` leaves NaN out."""
    return _reduced("min", x, dim, sorting.nanmin if skipna else ot.min)


def mean(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The mean of ``x`` over ``dim``. ``skipna`` leaves NaN out."""
    return _reduced("mean", x, dim, sorting.nanmean if skipna else ot.mean)


def var(x: XTensorLike, dim: Any = None, *, ddof: Any = 0, skipna: bool = False) -> XTensorVariable:
    """The variance of ``x`` over ``dim``: squared distances from the mean, divided by their number less ``ddof``.

    ``skipna`` leaves NaN out.
    """
    return _reduced("var", x, dim, sorting.nanvar if skipna else ot.var, ddof=ddof)


def std(x: XTensorLike, dim: Any = None, *, ddof: Any = 0, skipna: bool = False) -> XTensorVariable:
    """The square root of the variance of ``x`` over ``dim``; ``ddof`` and ``skipna`` as there."""
    return _reduced("std", x, dim, sorting.nanstd if skipna else ot.std, ddof=ddof)


def median(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The median of ``x`` over ``dim``. ``skipna`` leaves NaN out."""
    return _reduced("median", x, dim, sorting.nanmedian if skipna else sorting.median)


def all(x: XTensorLike, dim: Any = None) -> XTensorVariable:
    """Whether all elements of ``x`` over ``dim`` are true, or not 0."""
    return _reduced("all", x, dim, ot.all)


def any(x: XTensorLike, dim: Any = None) -> XTensorVariable:
    """Whether an element of ``x`` over ``dim`` is true, or not 0."""
    return _reduced("any", x, dim, ot.any)


def count(x: XTensorLike, dim: Any = None) -> XTensorVariable:
    """The number of elements of ``x`` over ``dim`` that are not NaN."""
    own = as_xtensor(x)
    names = names_of(own, dim, "count")
    return sum(labelled(ot.invert(ot.isnan(own.values)), own.dims), names)


def argmax(x: XTensorLike, dim: str) -> XTensorVariable:
    """The position of the largest element of ``x`` along the dimension ``dim``, of the first one if there are several."""
    return _position("argmax", x, dim, ot.argmax)


def argmin(x: XTensorLike, dim: str) -> XTensorVariable:
    """The position of the smallest element of ``x`` along the dimension ``dim``, of the first one if there are several."""
    return _position("argmin", x, dim, ot.argmin)


@explained_by("dimensions")
def _position(what: str, x: XTensorLike, dim: Any, function: Callable[..., Any]) -> XTensorVariable:
    own = as_xtensor(x)
    if not isinstance(dim, str):
        raise TypeError(f"{what} needs the name of one dimension, got {dim!r}")
    axis = require(own, dim, what)
    return labelled(function(own.values, axis=axis), [d for d in own.dims if d != dim])


def _running(what: str, x: XTensorLike, dim: Any, function: Callable[..., Any]) -> XTensorVariable:
    own = as_xtensor(x)
    values = own.values
    for name in names_of(own, dim, what):
        values = function(values, axis=own.dims.index(name))
    return labelled(values, own.dims)


def cumsum(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The running sum of ``x`` along ``dim``, along one dimension after the other if there are several.

    ``skipna`` takes NaN for 0.
    """
    return _running("cumsum", x, dim, sorting.nancumsum if skipna else ot.cumsum)


def cumprod(x: XTensorLike, dim: Any = None, *, skipna: bool = False) -> XTensorVariable:
    """The running product of ``x`` along ``dim``, along one dimension after the other if there are several.

    ``skipna`` takes NaN for 1.
    """
    return _running("cumprod", x, dim, sorting.nancumprod if skipna else ot.cumprod)
