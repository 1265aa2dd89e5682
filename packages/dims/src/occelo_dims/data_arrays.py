"""`data_array`: asks a compiled function for an array of xarray, with the names of dimensions, in place of a plain one."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from occelo_dims.labelled import Dims, XTensorLike, as_xtensor, labelled
from occelo_graph import is_tensor
from occelo_graph.ir import trees


class DataArrayResult:
    """A tensor with names that is an array of xarray among the results of a function. `data_array` makes it."""

    __slots__ = ("name", "tensor")

    def __init__(self, tensor: XTensorLike, name: str | None) -> None:
        self.tensor = as_xtensor(tensor)
        self.name = name


def data_array(x: XTensorLike, name: str | None = None) -> DataArrayResult:
    """A result of a compiled function that is an array of xarray with the dimensions of ``x``, and ``name`` or that of ``x``.

    It stands for ``x`` in the outputs: ``function([x], data_array(y))``. xarray is imported at the call. TypeError if ``x``
    has no names.
    """
    own = as_xtensor(x)
    return DataArrayResult(own, own.name if name is None else name)


def _rebuilt(rest: tuple[Dims, str | None], parts: Sequence[Any]) -> Any:
    dims, name = rest
    (value,) = parts
    if is_tensor(value):
        return DataArrayResult(labelled(value, dims), name)
    return importlib.import_module("xarray").DataArray(value, dims=dims, name=name)


trees.register(DataArrayResult, lambda x: ([x.tensor.values], (x.tensor.dims, x.name)), _rebuilt)
