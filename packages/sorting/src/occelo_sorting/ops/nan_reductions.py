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
from occelo_graph.ops.statistics import mean, std, var
from occelo_graph.tensors.constant import as_tensor_variable
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


def _filled(a: Any, number: float) -> Any:
    """The tensor with ``number`` in place of NaN."""
    x = as_tensor_variable(a)
    return x if is_discrete(x.dtype) else switch(isnan(x), cast(number, x.dtype), x)


@stands_for("nansum", "a axis dtype -out keepdims -initial -where=True")
def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> TensorVariable:
    """The sum over ``axis`` of the elements that are not NaN, 0 if there are none: see `sum`."""
    return sum(_filled(a, 0), axis, dtype, keepdims)


@stands_for("nanprod", "a axis dtype -out keepdims -initial -where=True")
def nanprod(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> TensorVariable:
    """The product over ``axis`` of the elements that are not NaN, 1 if there are none: see `prod`."""
    return prod(_filled(a, 1), axis, dtype, keepdims)


@stands_for("nancumsum", "a axis -dtype -out")
def nancumsum(a: Any, axis: Any = None) -> TensorVariable:
    """The cumulative sums along ``axis``, where NaN counts as 0: see `cumsum`."""
    return cumsum(_filled(a, 0), axis)


@stands_for("nancumprod", "a axis -dtype -out")
def nancumprod(a: Any, axis: Any = None) -> TensorVariable:
    """The cumulative products along ``axis``, where NaN counts as 1: see `cumprod`."""
    return cumprod(_filled(a, 1), axis)


def _extreme(reduce: Any, a: Any, number: float, axis: Any, keepdims: bool) -> TensorVariable:
    x = as_tensor_variable(a)
    if is_complex(x.dtype):
        raise TypeError(f"Complex numbers are not ordered for nanmax and nanmin, got {x}: {x.type}")
    made: TensorVariable = reduce(_filled(x, number), axis, keepdims)
    if is_discrete(x.dtype):
        return made
    return switch(all_(isnan(x), axis, keepdims), cast(np.nan, x.dtype), made)


@stands_for("nanmax", "a axis -out keepdims -initial -where=True")
def nanmax(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The largest element over ``axis`` that is not NaN, or NaN if there is none: see `max`."""
    return _extreme(max, a, -np.inf, axis, keepdims)


@stands_for("nanmin", "a axis -out keepdims -initial -where=True")
def nanmin(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The smallest element over ``axis`` that is not NaN, or NaN if there is none: see `min`."""
    return _extreme(min, a, np.inf, axis, keepdims)


def _position(find: Any, a: Any, number: float, axis: Any, keepdims: bool) -> TensorVariable:
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        made: TensorVariable = find(x, axis, keepdims)
        return made
    known = any_(invert(isnan(x)), axis, keepdims)
    check = CheckAndRaise(ValueError, "All-NaN slice encountered")
    found: TensorVariable = check(
        find(_filled(x, number), axis, keepdims), all_(known) if known.type.ndim else known
    )
    return found


@stands_for("nanargmax", "a axis -out keepdims")
def nanargmax(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The position of the first largest element over ``axis`` that is not NaN. ValueError at run time if there is none."""
    return _position(argmax, a, -np.inf, axis, keepdims)


@stands_for("nanargmin", "a axis -out keepdims")
def nanargmin(a: Any, axis: Any = None, keepdims: bool = False) -> TensorVariable:
    """The position of the first smallest element over ``axis`` that is not NaN. ValueError at run time if there is none."""
    return _position(argmin, a, np.inf, axis, keepdims)


def _counted(x: Any, axis: Any, dtype: str, keepdims: bool) -> Any:
    return cast(sum(invert(isnan(x)), axis, keepdims=keepdims), dtype)


@stands_for("nanmean", "a axis dtype -out keepdims -where=True")
def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> TensorVariable:
    """The mean over ``axis`` of the elements that are not NaN, or NaN if there are none: see `mean`."""
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        return mean(x, axis, dtype, keepdims)
    if x.dtype == "float16" and dtype is None:
        return cast(nanmean(cast(x, "float32"), axis, None, keepdims), "float16")
    total = nansum(x, axis, dtype, keepdims)
    return total / _counted(x, axis, total.dtype, keepdims)


@stands_for("nanvar", "a axis -dtype -out ddof keepdims -where=True -mean -correction")
def nanvar(a: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """The variance over ``axis`` of the elements that are not NaN: see `var`.

    It is NaN where the number of these elements is not larger than ``ddof``.
    """
    plain_number(ddof, "ddof", "nanvar and nanstd have no dtype")
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        return var(x, axis, ddof, keepdims)
    if x.dtype == "float16":
        return cast(nanvar(cast(x, "float32"), axis, ddof, keepdims), "float16")
    centred = _filled(x - nanmean(x, axis, keepdims=True), 0)
    squares = (centred * centred.conj()).real if is_complex(x.dtype) else centred * centred
    total = sum(squares, axis, keepdims=keepdims)
    freedom = _counted(x, axis, total.dtype, keepdims) - ddof
    # not a choice of quotients: the root of a sum of squares has a gradient at 0
    return total / switch(le(freedom, 0), cast(np.nan, total.dtype), freedom)


@stands_for("nanstd", "a axis -dtype -out ddof keepdims -where=True -mean -correction")
def nanstd(a: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> TensorVariable:
    """The standard deviation over ``axis`` of the elements that are not NaN: see `nanvar`."""
    x = as_tensor_variable(a)
    if is_discrete(x.dtype):
        return std(x, axis, ddof, keepdims)
    return sqrt(nanvar(x, axis, ddof, keepdims))
