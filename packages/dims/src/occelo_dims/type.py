"""The type of tensors with named dimensions, and the functions that make variables, constants and shared ones of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_dims.kinds import XTensorType as XTensorType
from occelo_dims.labelled import as_xtensor as as_xtensor
from occelo_dims.labelled import check_dims, is_data_array, labelled
from occelo_dims.variable import XTensorConstant as XTensorConstant
from occelo_dims.variable import XTensorSharedVariable as XTensorSharedVariable
from occelo_dims.variable import XTensorVariable as XTensorVariable
from occelo_graph import shared
from occelo_graph import tensor as ot


def xtensor(
    name: str | None = None,
    *,
    dims: Sequence[str] | str,
    shape: Sequence[int | None] | None = None,
    dtype: Any = "floatX",
) -> XTensorVariable:
    """A variable ``name`` with the dimensions ``dims``, as an input of functions.

    ``shape`` has static lengths, None for dynamic ones; by default all are dynamic. ``dtype`` is that of the option
    ``floatX`` by default. ValueError for equal names, or another number of lengths than of names.
    """
    return XTensorType(dtype, dims=dims, shape=shape)(name)


def xtensor_constant(
    x: Any, name: str | None = None, dims: Sequence[str] | str | None = None
) -> XTensorConstant:
    """A constant ``name`` with the dimensions ``dims`` from ``x``, an array, a list, a number or an array of xarray.

    An array of xarray has its own names. TypeError for another array without ``dims``, if it has dimensions.
    """
    constant: Any = as_xtensor(x if is_data_array(x) else ot.constant(x, name), dims, name=None)
    if is_data_array(x) and name is not None:
        constant.name = name
    return constant


def xtensor_shared(
    x: Any,
    *,
    name: str | None = None,
    shape: Sequence[int | None] | None = None,
    dims: Sequence[str] | str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    borrow: bool = False,
) -> XTensorSharedVariable:
    """A shared variable with the dimensions ``dims`` and the value ``x``, an array or an array of xarray.

    ``shape`` has static lengths; by default all are dynamic, so that the value may change its shape. An array of xarray
    has its own names of dimensions, and its own ``name`` by default. ``strict``, ``allow_downcast`` and ``borrow`` are
    those of `shared`. TypeError for another array without ``dims``, if it has dimensions.
    """
    if is_data_array(x):
        dims = as_xtensor(x, dims).dims
        name, x = x.name if name is None else name, x.values
    options: dict[str, Any] = {} if shape is None else {"shape": shape}
    values: Any = shared(x, name, strict, allow_downcast, borrow=borrow, **options)
    own = () if dims is None else check_dims(dims)
    if values.ndim and dims is None:
        raise TypeError(
            f"A value of shape {values.get_value(borrow=True).shape} needs the names of its dimensions: "
            "xtensor_shared(x, dims=...)"
        )
    variable: Any = labelled(values, own)
    return variable
