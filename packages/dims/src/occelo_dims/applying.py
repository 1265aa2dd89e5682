"""`apply_ufunc`: applies a function of tensors to the core dimensions of tensors with names, and matches all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occelo_dims.labelled import (
    Dims,
    Labelled,
    XTensorLike,
    aligned,
    as_xtensor,
    check_dims,
    describe,
    labelled,
    static_lengths,
)
from occelo_graph.errors import explained_by
from occelo_graph.narrowing import is_list_or_tuple

CoreDims = Sequence[Sequence[str]]


@explained_by("dimensions")
def core_arguments(
    args: Sequence[XTensorLike], core_dims: CoreDims, what: str
) -> tuple[Sequence[Labelled], list[Dims], Dims, dict[str, int | None]]:
    """The arguments with names, their core dimensions, and the other dimensions, with all static lengths.

    ``what`` names the function in messages. ValueError for another number of arguments than of core dimensions, for an
    argument that lacks a core dimension, or has one of another argument that is not its own, and for two static lengths
    of a dimension.
    """
    named = [as_xtensor(each) for each in args]
    cores = [check_dims(each) for each in core_dims]
    if len(named) != len(cores):
        raise ValueError(f"{what}: {len(named)} arguments, and core dimensions of {len(cores)}")
    every = {name for each in cores for name in each}
    for x, core in zip(named, cores, strict=True):
        for name in core:
            if name not in x.dims:
                raise ValueError(
                    f"{what}: {describe(x)} lacks the core dimension {name!r}; it has {x.dims}"
                )
        for name in x.dims:
            if name in every and name not in core:
                raise ValueError(
                    f"{what}: {describe(x)} has {name!r}, which is a core dimension of another argument only"
                )
    lengths = static_lengths(named)
    return named, cores, tuple(d for d in lengths if d not in every), lengths


def apply_ufunc(
    func: Callable[..., Any],
    *args: XTensorLike,
    input_core_dims: CoreDims | None = None,
    output_core_dims: CoreDims = ((),),
    kwargs: Mapping[str, Any] | None = None,
) -> Any:
    """The results of ``func``, a function of tensors, with names, as of xarray's function of this name.

    Each of ``args`` is passed without names: first the dimensions that are matched by name, of length 1 if an argument lacks
    one, and then its core dimensions in the order of ``input_core_dims``, a sequence of names for each argument. ``func``
    must apply to the last dimensions, as functions of linear algebra do. Its results have the matched dimensions, and
    then those of ``output_core_dims``; several results come as a tuple. ``kwargs`` are its other arguments.

    ValueError for an argument that lacks a core dimension, or has one of another argument, and for results with another
    number of dimensions.
    """
    cores = [()] * len(args) if input_core_dims is None else input_core_dims
    what: str = getattr(func, "__name__", "apply_ufunc")
    named, inner, batch, lengths = core_arguments(args, cores, what)
    tensors = [aligned(x, (*batch, *core), lengths) for x, core in zip(named, inner, strict=True)]
    results = func(*tensors, **dict(kwargs or {}))
    if not is_list_or_tuple(results):
        return labelled(results, (*batch, *output_core_dims[0]))
    if len(results) != len(output_core_dims):
        raise ValueError(
            f"{what} has {len(results)} results, and {len(output_core_dims)} output_core_dims"
        )
    return tuple(
        labelled(each, (*batch, *core))
        for each, core in zip(results, output_core_dims, strict=True)
    )
