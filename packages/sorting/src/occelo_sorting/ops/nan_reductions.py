"""Reductions that ignore NaN: `nansum`, `nanmean`, `nanmax`, `nancumsum` and their relatives.

They reduce the tensor with NaN replaced by an element that does not count, so they cost a reduction and a choice, and
gradients of ignored elements are 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ops.arguments import plain_number, stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import invert, isnan, le, sqrt, switch
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.reduce import any as any_
from occelo_graph.ops.reduce import argmax, argmin, cumprod, cumsum, max, min, prod, sum
from occelo_graph.ops.shape.axes import normalize_axes
from occelo_graph.ops.statistics import mean, std, var
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.type import is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _filled(a: Any, number: complex, axis: Any) -> Any:
    """The tensor with ``number`` in place of NaN. An error of ``axis`` names the tensor as the user passed it."""
    x = as_tensor_variable(a)
    if x.type.ndim:
        normalize_axes(axis, x)
    return x if is_discrete(x.dtype) else switch(isnan(x), _number(number, x.dtype), x)


def _number(number: complex, dtype: str) -> Any:
    """A constant of a dtype; of a real one, the real part of the number."""
    return constant(np.asarray(number if is_complex(dtype) else np.real(number), dtype))


@stands_for("nansum", "a axis dtype -out keepdims initial where")
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> TensorVariable:
    """The sum over ``axis`` of the elements of ``a`` that are not NaN, 0 if there are none.

    ``dtype``, ``keepdims``, ``initial`` and ``where`` are those of `sum`.
    """
    return sum(_filled(a, 0, axis), axis, dtype, keepdims, initial=initial, where=where)


@stands_for("nanprod", "a axis dtype -out keepdims initial where")
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> TensorVariable:
    """The product over ``axis`` of the elements of ``a`` that are not NaN, 1 if there are none.

    ``dtype``, ``keepdims``, ``initial`` and ``where`` are those of `prod`.
    """
    return prod(_filled(a, 1, axis), axis, dtype, keepdims, initial=initial, where=where)


@stands_for("nancumsum", "a axis dtype -out")
def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> TensorVariable:
    """The cumulative sums of ``a`` along ``axis``, where NaN counts as 0: see `cumsum` (also for ``dtype``)."""
    return cumsum(_filled(a, 0, axis), axis, dtype)


@stands_for("nancumprod", "a axis dtype -out")
def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> TensorVariable:
    """The cumulative products of ``a`` along ``axis``, where NaN counts as 1: see `cumprod` (also for ``dtype``)."""
    return cumprod(_filled(a, 1, axis), axis, dtype)


def _extreme(
    reduce: Any, a: Any, number: complex, axis: Any, keepdims: bool, initial: Any, where: Any
) -> TensorVariable:
    x = as_tensor_variable(a)
    extremes: TensorVariable = reduce(
        _filled(x, number, axis), axis, keepdims, initial=initial, where=where
    )
    if is_discrete(x.dtype) or initial is not None:
        return extremes
    return switch(all_(isnan(x), axis, keepdims), cast(np.nan, x.dtype), extremes)


@stands_for("nanmax", "a axis -out keepdims initial where")
def nanmax(
    a: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> TensorVariable:
    """The largest element of ``a`` over ``axis`` that is not NaN, or NaN if there is none.

    ``keepdims``, ``initial`` and ``where`` are those of `max`.
    """
    return _extreme(max, a, complex(-np.inf, -np.inf), axis, keepdims, initial, where)


@stands_for("nanmin", "a axis -out keepdims initial where")
def nanmin(
    a: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> TensorVariable:
    """The smallest element of ``a`` over ``axis`` that is not NaN, or NaN if there is none.

    ``keepdims``, ``initial`` and ``where`` are those of `min`.
    """
    return _extreme(min, a, complex(np.inf, np.inf), axis, keepdims, initial, where)


def _position(find: Any, a: Any, number: float, axis: Any, keepdims: bool) -> TensorVariable:
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        positions: TensorVariable = find(x, axis, keepdims)
        return positions
    at = find(_filled(x, number, axis), axis, keepdims)
    filled = any_(invert(isnan(x)), axis, keepdims)
    check = CheckAndRaise(ValueError, "All-NaN slice encountered")
    checked: TensorVariable = check(at, all_(filled) if filled.type.ndim else filled)
    return checked


@stands_for("nanargmax", "a axis -out keepdims")
def nanargmax(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The position of the first largest element of ``a`` over ``axis`` (one, several, or None for all) that is not NaN.

    The axes stay with ``keepdims``. ValueError at run time if all elements are NaN.
    """
    return _position(argmax, a, -np.inf, axis, keepdims)


@stands_for("nanargmin", "a axis -out keepdims")
def nanargmin(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The position of the first smallest element of ``a`` over ``axis`` (one, several, or None for all) that is not NaN.

    The axes stay with ``keepdims``. ValueError at run time if all elements are NaN.
    """
    return _position(argmin, a, np.inf, axis, keepdims)


def _counted(x: Any, axis: Any, dtype: str, keepdims: bool, where: Any) -> Any:
    return cast(sum(invert(isnan(x)), axis, keepdims=keepdims, where=where), dtype)


@stands_for("nanmean", "a axis dtype -out keepdims where")
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, *, where: Any = None
) -> TensorVariable:
    """The mean over ``axis`` of the elements of ``a`` that are not NaN, or NaN if there are none.

    ``dtype``, ``keepdims`` and ``where`` are those of `mean`.
    """
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        return mean(x, axis, dtype, keepdims, where=where)
    if x.dtype == "float16" and dtype is None:
        return cast(nanmean(cast(x, "float32"), axis, None, keepdims, where=where), "float16")
    total = nansum(x, axis, dtype, keepdims, where=where)
    return total / _counted(x, axis, total.dtype, keepdims, where)


_OF_VARIANCE = "a axis dtype -out ddof keepdims where mean correction"


@stands_for("nanvar", _OF_VARIANCE)
def nanvar(
    a: Any,
    axis: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> TensorVariable:
    """The variance over ``axis`` of the elements of ``a`` that are not NaN: see `var`, also for ``keepdims``.

    It is NaN where the number of these elements is not larger than ``ddof``, or ``correction``. Sums are computed in
    ``dtype``. Only elements for which ``where`` is true count; ``mean`` is the mean, if it is known, with the axes kept.
    """
    plain_number(ddof, "ddof", "nanvar and nanstd take dtype= by keyword")
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        return var(
            x, axis, ddof, keepdims, dtype=dtype, where=where, mean=mean, correction=correction
        )
    if correction is not None:
        if ddof != 0:
            raise ValueError(
                "ddof and correction of nanvar and nanstd are two names of one argument"
            )
        ddof = correction
    if x.dtype == "float16":
        wide = cast(x, "float32")
        narrow = "float16" if dtype is None else dtype
        return cast(nanvar(wide, axis, ddof, keepdims, where=where, mean=mean), narrow)
    center = nanmean(x, axis, dtype, keepdims=True, where=where) if mean is None else mean
    centred = switch(isnan(x), 0, x - center)  # the difference of infinities is NaN in the result
    squares = (centred * centred.conj()).real if is_complex(x.dtype) else centred * centred
    total = sum(squares, axis, dtype, keepdims, where=where)
    freedom = _counted(x, axis, total.dtype, keepdims, where) - ddof
    # not a choice of quotients: the root of a sum of squares has a gradient at 0
    return total / switch(le(freedom, 0), cast(np.nan, total.dtype), freedom)


@stands_for("nanstd", _OF_VARIANCE)
def nanstd(
    a: Any,
    axis: Any = None,
    ddof: int = 0,
    keepdims: bool = False,
    *,
    dtype: Any = None,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> TensorVariable:
    """The root of `nanvar` of ``a`` over ``axis``, with the same ``ddof``, ``keepdims``, ``dtype``, ``where``, ``mean`` and ``correction``."""
    x = as_tensor_variable(a)
    variance = std if is_discrete(x.dtype) else nanvar
    spread = variance(
        x, axis, ddof, keepdims, dtype=dtype, where=where, mean=mean, correction=correction
    )
    return spread if is_discrete(x.dtype) else sqrt(spread)
