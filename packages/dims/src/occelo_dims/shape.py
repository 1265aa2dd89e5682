"""Functions that reorder, add, drop, divide and join named dimensions, with the names of PyTensor and xarray."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from occelo_arrays.functions import pad, roll
from occelo_dims.labelled import (
    Dims,
    Labelled,
    XTensorLike,
    aligned,
    as_xtensor,
    check_dims,
    describe,
    labelled,
    require,
    static_lengths,
)
from occelo_graph import tensor as ot
from occelo_graph.errors import explained_by
from occelo_graph.narrowing import is_list_or_tuple, is_mapping

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable

__all__ = [
    "broadcast", "concat", "diff", "expand_dims", "full_like", "ones_like", "rename", "squeeze", "stack", "transpose", "unstack",
    "zeros_like",
]  # fmt: skip

Missing = Literal["raise", "warn", "ignore"]
"""What happens for names that a tensor lacks."""


def present(x: Labelled, names: Sequence[Any], missing_dims: str, what: str) -> list[Any]:
    """The ``names`` that ``x`` has. For others, a ValueError, a warning or nothing, by ``missing_dims``."""
    if missing_dims not in ("raise", "warn", "ignore"):
        raise ValueError(f"{what}: missing_dims is raise, warn or ignore, not {missing_dims!r}")
    lacking = [name for name in names if name is not ... and name not in x.dims]
    if lacking and missing_dims != "ignore":
        text = f"{what}: {describe(x)} has no dimension {lacking[0]!r}; it has {x.dims}"
        if missing_dims == "raise":
            raise ValueError(text)
        warnings.warn(text, stacklevel=4)
    return [name for name in names if name not in lacking]


@explained_by("dimensions")
def transpose(x: XTensorLike, *dim: Any, missing_dims: Missing = "raise") -> XTensorVariable:
    """The tensor ``x`` with its dimensions in the order ``dim``, in which ``...`` stands for all others; reversed without any.

    ``missing_dims``: for a name that the tensor lacks, "raise" a ValueError, "warn" or "ignore" it. ValueError also if
    names are left out without ``...``.
    """
    own = as_xtensor(x)
    names = present(own, dim or own.dims[::-1], missing_dims, "transpose")
    if names.count(...) > 1:
        raise ValueError("transpose: ... stands for the other dimensions, and may come once only")
    if ... in names:
        at = names.index(...)
        names[at : at + 1] = [d for d in own.dims if d not in names]
    if sorted(names) != sorted(own.dims):
        raise ValueError(
            f"transpose: {tuple(names)} are not the dimensions of {describe(own)}; ... stands for the others"
        )
    if tuple(names) == own.dims:
        return own
    return labelled(own.values.dimshuffle([own.dims.index(d) for d in names]), names)


@explained_by("dimensions")
def rename(
    x: XTensorLike, name_dict: Mapping[str, str] | None = None, **names: str
) -> XTensorVariable:
    """The tensor ``x`` with other names of dimensions: ``name_dict`` from old names to new ones, or keywords ``names``.

    ValueError for a name that the tensor lacks, for two equal new names, and for a mapping and keywords.
    """
    own = as_xtensor(x)
    if name_dict is not None and names:
        raise ValueError("rename takes a mapping or keywords, not both")
    new = dict(names if name_dict is None else name_dict)
    for old in new:
        require(own, old, "rename")
    return labelled(ot.tensor_copy(own.values), [new.get(d, d) for d in own.dims])


def mapping_of(what: str, dim: Any, keywords: Mapping[str, Any]) -> dict[str, Any]:
    if dim is not None and keywords:
        raise ValueError(f"{what} takes a mapping or keywords, not both")
    if dim is not None and not is_mapping(dim):
        raise TypeError(f"{what} takes a mapping from a name, or keywords, got {dim!r}")
    return dict(keywords if dim is None else dim)


@explained_by("dimensions")
def stack(
    x: XTensorLike, dim: Mapping[str, Sequence[str]] | None = None, **dims: Sequence[str]
) -> XTensorVariable:
    """The tensor ``x`` with some dimensions made one: ``stack(x, c=("a", "b"))``. The new dimension is the last one.

    ``dim`` is a mapping instead of the keywords ``dims``. The elements are in C order of the dimensions as listed.
    TypeError if they are one string; ValueError if there are none, for a name that the tensor lacks, or a new name that
    it has.
    """
    own = as_xtensor(x)
    for new, parts in mapping_of("stack", dim, dims).items():
        if isinstance(parts, str):
            raise TypeError(f"stack: {new} is made of several dimensions, got the one {parts!r}")
        names = check_dims(parts)
        if not names:
            raise ValueError(f"stack: {new!r} is made of no dimensions")
        for name in names:
            require(own, name, "stack")
        _refuse(own, new, "stack")
        rest = [d for d in own.dims if d not in names]
        ordered = transpose(own, *rest, *names).values
        k = len(rest)
        whole = ordered.reshape(
            [*(ordered.shape[i] for i in range(k)), _product(ordered, k)], ndim=k + 1
        )
        static = own.values.type.shape
        if any(n is None for n in static):
            whole = ot.specify_shape(
                whole,
                [*(static[own.dims.index(d)] for d in rest), whole.type.shape[-1]],
            )
        own = labelled(whole, [*rest, new])
    return own


def _product(values: Any, first: int) -> Any:
    product: Any = 1
    for i in range(first, values.ndim):
        n = values.type.shape[i]
        product = product * (values.shape[i] if n is None else n)
    return product


def _refuse(x: Labelled, new: str, what: str) -> None:
    check_dims((new,))
    if new in x.dims:
        raise ValueError(f"{what}: {describe(x)} has a dimension {new!r} already")


@explained_by("dimensions")
def unstack(
    x: XTensorLike, dim: Mapping[str, Mapping[str, Any]] | None = None, **dims: Mapping[str, Any]
) -> XTensorVariable:
    """The tensor ``x`` with a dimension divided into several: ``unstack(x, c={"a": 2, "b": 3})``, in C order, at the end.

    ``dim`` is a mapping instead of the keywords ``dims``. Lengths are integers or scalars. ValueError for a name that the tensor lacks, a new name that it has, fewer than two
    new ones, or lengths whose product differs.
    """
    own = as_xtensor(x)
    for old, parts in mapping_of("unstack", dim, dims).items():
        axis = require(own, old, "unstack")
        if not is_mapping(parts):
            raise TypeError(
                f"unstack needs the lengths of new dimensions, {old}={{name: length}}, got {parts!r}"
            )
        if len(parts) < 2:
            raise ValueError(
                f"unstack: {old!r} is divided into two dimensions at least, got {dict(parts)}; rename gives another name"
            )
        for new in parts:
            _refuse(own, new, "unstack")
        parts = {d: _length(n, f"The length of {d!r} in unstack") for d, n in parts.items()}
        lengths = [n for n in parts.values() if isinstance(n, int)]
        static = own.values.type.shape[axis]
        if static is not None and len(lengths) == len(parts):
            product = 1
            for n in lengths:
                product *= n
            if product != static:
                raise ValueError(
                    f"unstack: {old!r} of {describe(own)} does not divide into {dict(parts)}"
                )
        rest = [d for d in own.dims if d != old]
        ordered = transpose(own, *rest, old).values
        front = [
            ordered.shape[i] if n is None else n for i, n in enumerate(ordered.type.shape[:-1])
        ]
        divided = ordered.reshape([*front, *parts.values()], ndim=len(rest) + len(parts))
        own = labelled(divided, [*rest, *parts])
    return own


@explained_by("dimensions")
def concat(xtensors: Sequence[XTensorLike], dim: str) -> XTensorVariable:
    """The tensors ``xtensors`` one after the other along the dimension ``dim``. Other dimensions are matched and broadcast.

    A tensor without this dimension counts as one entry; if none has it, it comes first. ValueError for no tensors, or
    two static lengths of another dimension.
    """
    parts = [as_xtensor(each) for each in xtensors]
    if not parts:
        raise ValueError("concat needs one tensor at least")
    check_dims((dim,))
    lengths = static_lengths(parts, (dim,))
    seen = [d for each in parts for d in each.dims]
    dims: Dims = tuple(dict.fromkeys(seen if dim in seen else [dim, *seen]))
    sizes = _sizes(parts, lengths)
    axis = dims.index(dim)
    filled: list[Any] = []
    for each in parts:
        values = aligned(each, dims, lengths)
        if any(d not in each.dims and d != dim for d in dims):
            to = [values.shape[axis] if d == dim else sizes[d] for d in dims]
            to[axis] = 1 if dim not in each.dims else to[axis]
            values = ot.broadcast_to(values, to)
        filled.append(values)
    return labelled(ot.concatenate(filled, axis=axis), dims)


def _sizes(parts: Sequence[Labelled], lengths: Mapping[str, int | None]) -> dict[str, Any]:
    """The length of each dimension: a number if it is static, else a scalar of the first tensor that has it."""
    sizes: dict[str, Any] = {}
    for dim, n in lengths.items():
        if n is not None:
            sizes[dim] = n
            continue
        first = next(each for each in parts if dim in each.dims)
        sizes[dim] = first.values.shape[first.dims.index(dim)]
    return sizes


@explained_by("dimensions")
def squeeze(x: XTensorLike, dim: str | Sequence[str] | None = None) -> XTensorVariable:
    """The tensor ``x`` without dimensions of length 1: those that ``dim`` names, or all whose length is 1 statically.

    ValueError for a name that the tensor lacks, or whose length is not 1; a dynamic one is checked when the graph runs.
    """
    own = as_xtensor(x)
    static = dict(zip(own.dims, own.values.type.shape, strict=True))
    names = [d for d, n in static.items() if n == 1] if dim is None else list(check_dims(dim))
    for name in names:
        require(own, name, "squeeze")
        if static[name] not in (None, 1):
            raise ValueError(f"squeeze: {name!r} of {describe(own)} has not the length 1")
    if not names:
        return own
    values = own.values
    if any(static[name] is None for name in names):
        values = ot.specify_shape(values, [1 if d in names else None for d in own.dims])
    rest = [d for d in own.dims if d not in names]
    return labelled(values.dimshuffle([own.dims.index(d) for d in rest]), rest)


@explained_by("dimensions")
def expand_dims(
    x: XTensorLike, dim: Any = None, axis: int | Sequence[int] | None = None, **dim_kwargs: Any
) -> XTensorVariable:
    """The tensor ``x`` with new dimensions in front, or at the positions ``axis``.

    ``dim`` is a name, names, or a mapping to lengths, instead of keywords ``dim_kwargs``.
    Lengths are integers, scalars, or sequences whose length counts. By default a length is 1. Positions are those in
    the result. ValueError for a name that the tensor has, a negative length, equal positions, or another number of
    positions than of names; IndexError for a position out of range; TypeError for other lengths.
    """
    own = as_xtensor(x)
    if dim is not None and dim_kwargs:
        raise ValueError("expand_dims takes names or keywords, not both")
    named: Any = dim_kwargs if dim is None else dim
    new: dict[str, Any] = dict(named) if is_mapping(named) else dict.fromkeys(check_dims(named), 1)
    for name, n in new.items():
        _refuse(own, name, "expand_dims")
        new[name] = _length(n, f"The length of {name!r} in expand_dims")
    values = own.values.dimshuffle([*("x" for _ in new), *range(len(own.dims))])
    if any(not isinstance(n, int) or n != 1 for n in new.values()):
        old = [
            values.shape[i + len(new)] if n is None else n
            for i, n in enumerate(own.values.type.shape)
        ]
        values = ot.broadcast_to(values, [*new.values(), *old])
    expanded = labelled(values, [*new, *own.dims])
    if axis is None:
        return expanded
    places = [axis] if isinstance(axis, int) else list(axis)
    if len(places) != len(new):
        raise ValueError(
            f"expand_dims: {len(new)} new dimensions need as many positions, got {places}"
        )
    total = len(new) + len(own.dims)
    for place in places:
        if not -total <= place < total:
            raise IndexError(f"expand_dims: the position {place} is not one of {total} dimensions")
    at = {place % total: name for name, place in zip(new, places, strict=True)}
    if len(at) < len(new):
        raise ValueError(f"expand_dims: positions must differ, got {places}")
    rest = iter(own.dims)
    order = [at[i] if i in at else next(rest) for i in range(total)]
    return transpose(expanded, *order)


def _length(n: Any, what: str) -> Any:
    """A length: an integer of Python, or an integer scalar. A sequence stands for its length."""
    if is_list_or_tuple(n) or getattr(n, "ndim", 0) == 1:
        n = len(n)
    if isinstance(n, Labelled) or hasattr(n, "owner"):
        scalar = ot.as_tensor_variable(n)
        if scalar.ndim or not scalar.type.is_discrete:
            raise TypeError(f"{what} must be an integer, got {scalar.type}")
        return scalar
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"{what} must be an integer, got {n!r}")
    if int(n) < 0:
        raise ValueError(f"{what} cannot be negative, got {n}")
    return int(n)


@explained_by("dimensions")
def broadcast(
    *args: XTensorLike, exclude: str | Sequence[str] | None = None
) -> tuple[XTensorVariable, ...]:
    """The tensors ``args`` with all their dimensions, in the order in which they come first, except those of ``exclude``.

    Excluded dimensions come last. ValueError for two static lengths of a dimension.
    """
    without: Dims = () if exclude is None else check_dims(exclude)
    parts = [as_xtensor(each) for each in args]
    lengths = static_lengths(parts, without)
    sizes = _sizes(parts, lengths)
    results: list[XTensorVariable] = []
    for each in parts:
        last = [d for d in without if d in each.dims]
        dims = [*lengths, *last]
        values = aligned(each, dims, lengths)
        if len(dims) > len(each.dims):
            end = [values.shape[len(lengths) + i] for i in range(len(last))]
            values = ot.broadcast_to(values, [*sizes.values(), *end])
        results.append(labelled(values, dims))
    return tuple(results)


@explained_by("dimensions")
def full_like(x: XTensorLike, fill_value: Any, dtype: Any = None) -> XTensorVariable:
    """A tensor of the scalar ``fill_value`` with the dimensions of ``x``, and its dtype unless ``dtype`` is another.

    ValueError if ``fill_value`` has dimensions.
    """
    own = as_xtensor(x)
    value = fill_value.values if isinstance(fill_value, Labelled) else fill_value
    if getattr(value, "ndim", 0):
        raise ValueError(f"full_like needs a scalar, got {value}")
    return labelled(ot.full_like(own.values, value, dtype), own.dims)


@explained_by("dimensions")
def ones_like(x: XTensorLike, dtype: Any = None) -> XTensorVariable:
    """A tensor of ones with the dimensions of ``x``, and its dtype unless ``dtype`` is another."""
    return full_like(x, 1, dtype)


@explained_by("dimensions")
def zeros_like(x: XTensorLike, dtype: Any = None) -> XTensorVariable:
    """A tensor of zeros with the dimensions of ``x``, and its dtype unless ``dtype`` is another."""
    return full_like(x, 0, dtype)


def diff(x: XTensorLike, dim: str, n: int = 1) -> XTensorVariable:
    """The differences of neighbours of ``x`` along the dimension ``dim``, ``n`` times. ValueError if the tensor lacks it."""
    own = as_xtensor(x)
    axis = require(own, dim, "diff")
    return labelled(ot.diff(own.values, n, axis), own.dims)


def rolled(x: Labelled, shifts: Mapping[str, Any], what: str) -> XTensorVariable:
    """The elements moved along dimensions by these numbers; those that go beyond the end come in at the beginning."""
    values = x.values
    for dim, shift in shifts.items():
        values = roll(values, shift, require(x, dim, what))
    return labelled(values, x.dims)


def shifted(x: Labelled, shifts: Mapping[str, Any], fill_value: Any) -> XTensorVariable:
    """The elements moved along dimensions by these numbers, and ``fill_value`` where none came from."""
    values = x.values
    for dim, shift in shifts.items():
        axis = require(x, dim, "shift")
        length = values.shape[axis]
        origin = ot.arange(length) - shift
        missing = ot.expand_dims(
            (origin < 0) | (origin >= length), [i for i in range(len(x.dims)) if i != axis]
        )
        values = ot.switch(missing, fill_value, roll(values, shift, axis))
    return labelled(values, x.dims)


def padded(
    x: Labelled, widths: Mapping[str, Any], mode: str, options: Mapping[str, Any]
) -> XTensorVariable:
    """The tensor with elements added at both ends of dimensions. ``options`` are those of ``ot.pad``; None is none.

    Widths and options that are mappings have dimensions as their keys. With the mode "constant" and without a value, NaN is added.
    """
    values = x.values
    chosen = {name: value for name, value in options.items() if value is not None}
    if mode == "constant" and "constant_values" not in chosen:
        values = _with_nan(x)
        chosen["constant_values"] = float("nan")
    for name, value in chosen.items():
        if is_mapping(value):
            lengths = values.shape
            rest = [lengths[i] if name == "stat_length" else 0 for i in range(len(x.dims))]
            chosen[name] = _in_order(x, value, rest)
    wide = _in_order(x, widths, [0] * len(x.dims))
    return labelled(pad(values, wide, mode, **chosen), x.dims)


def _in_order(x: Labelled, pairs: Mapping[str, Any], rest: Sequence[Any]) -> list[Any]:
    """A pair for each dimension: that of a mapping, of which a number is two, or twice that of ``rest``."""
    ordered = [(each, each) for each in rest]
    for dim, pair in pairs.items():
        ordered[require(x, dim, "pad")] = tuple(pair) if is_list_or_tuple(pair) else (pair, pair)
    return ordered


def _with_nan(x: Labelled) -> Any:
    """The values with a dtype that has NaN, as xarray chooses it."""
    dtype = x.values.type.numpy_dtype
    if dtype.kind == "b":
        raise TypeError(f"pad needs constant_values for {describe(x)}, since bools have no NaN")
    if dtype.kind in "iu":
        return x.values.astype("float32" if dtype.itemsize <= 2 else "float64")
    return x.values
