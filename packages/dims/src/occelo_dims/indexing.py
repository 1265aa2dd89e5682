"""Parts of tensors with named dimensions, `index`, and copies with changed parts, by the rules of xarray.

- A slice keeps its dimension, an integer drops it.
- A vector without names is along the dimension that it indexes. Several of them choose rows and columns of a table.
- An array with names replaces the dimension that it indexes by its own. Those with a common name are matched: they
  choose elements, not a table. A dimension of this name that is sliced, or kept whole, is matched, too.
- Truth values are along their dimension, and choose where they are true.

The dimensions of the result are in the order in which they come first, from the first entry to the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_dims.labelled import (
    Dims,
    Labelled,
    aligned,
    as_xtensor,
    check_dims,
    describe,
    is_data_array,
    labelled,
    static_lengths,
)
from occelo_dims.shape import Missing, present, transpose
from occelo_graph import tensor as ot
from occelo_graph.narrowing import is_list_or_tuple, is_mapping, is_slice, is_tuple

if TYPE_CHECKING:
    from occelo_dims.variable import XTensorVariable


@dataclass(frozen=True)
class Place:
    """A part of a tensor: first ``basic``, a slice or a scalar for each dimension, then ``arrays`` for some that are left.

    ``dims`` are the dimensions of the part. ``order`` are the dimensions after the first step, those that arrays index
    first. The dimensions of all arrays come before the rest, in the order ``shared``.
    """

    base: Labelled
    basic: tuple[Any, ...]
    kept: Dims
    order: Dims
    arrays: tuple[Any, ...]
    shared: Dims
    dims: Dims

    def first(self) -> Any:
        """The tensor after the first step."""
        values = self.base.values
        if all(isinstance(k, slice) and k == slice(None) for k in self.basic):
            return values
        return values[self.basic]

    def turned(self, values: Any) -> Any:
        """The tensor of the first step with the dimensions that arrays index in front."""
        return values.dimshuffle([self.kept.index(d) for d in self.order])

    @property
    def own_dims(self) -> Dims:
        """The dimensions of the part as it is read: those of arrays, then the others."""
        return (*self.shared, *self.order[len(self.arrays) :]) if self.arrays else self.kept


def _entry(x: Labelled, dim: str, key: Any) -> Any:
    """An entry of a key as a slice, or as a tensor with names."""
    if key is None:
        raise TypeError(f"An index of {describe(x)} cannot be None; expand_dims adds dimensions")
    if is_slice(key):
        return slice(*(_scalar(each) for each in (key.start, key.stop, key.step)))
    if is_tuple(key) and len(key) == 2 and _are_names(key[0]):
        names, values = key
        if isinstance(values, Labelled):
            raise IndexError(
                f"{describe(values)} has names already; use rename in place of {names!r}"
            )
        values = np.zeros(0, "int64") if _is_empty(values) else values
        entry = as_xtensor(ot.as_tensor_variable(values), check_dims(names))
    elif isinstance(key, Labelled) or is_data_array(key):
        entry = as_xtensor(key)
    else:
        # an empty list has no dtype of its own, so that NumPy's would be that of floats
        values = ot.as_tensor_variable(np.zeros(0, "int64") if _is_empty(key) else key)
        if values.ndim > 1:
            raise IndexError(
                f"An index along {dim!r} without names has one dimension at most, got {values.type}"
            )
        entry = labelled(values, (dim,)[: values.ndim])
    kind = entry.values.type
    if kind.dtype == "bool":
        if entry.dims != (dim,):
            raise IndexError(
                f"Truth values along {dim!r} must have this dimension only, got {describe(entry)}"
            )
        (positions,) = ot.nonzero(_fitting(entry.values, x, dim))
        return labelled(positions, (dim,))
    if not kind.is_discrete:
        raise TypeError(f"An index along {dim!r} must have integers or truth values, got {kind}")
    return entry


def _fitting(mask: Any, x: Labelled, dim: str) -> Any:
    """Truth values along a dimension. IndexError if there are not as many as its length; when the graph runs, an error."""
    axis = x.dims.index(dim)
    n, own = mask.type.shape[0], x.values.type.shape[axis]
    if n is None or own is None:
        text = f"There must be as many truth values as {dim!r} of {describe(x)} is long"
        return ot.assert_op(mask, ot.eq(mask.shape[0], x.values.shape[axis]), msg=text)
    if n != own:
        raise IndexError(f"{n} truth values do not index {dim!r} of {describe(x)}")
    return mask


def _is_empty(value: object) -> bool:
    return is_list_or_tuple(value) and not value


def _same_length(x: Labelled, dims: Dims, lengths: Mapping[str, Any], what: str) -> Labelled:
    """A tensor whose dynamic lengths along ``dims`` are checked when the graph runs: a length of 1 would broadcast.

    ``lengths`` are those wanted, None for a static one that is compared already.
    """
    values = x.values
    for dim in dims:
        length = lengths[dim]
        if length is not None and dim in x.dims:
            text = f"Dimension {dim!r} of {describe(x)} has another length than {what}"
            own = x.values.shape[x.dims.index(dim)]
            values = ot.assert_op(values, ot.eq(own, length), msg=text)
    return x if values is x.values else labelled(values, x.dims)


def _are_names(value: object) -> bool:
    if is_list_or_tuple(value):
        return all(isinstance(each, str) for each in value)
    return isinstance(value, str)


def _scalar(bound: Any) -> Any:
    return bound.values if isinstance(bound, Labelled) else bound


def place_of(x: Labelled, key: Sequence[Any]) -> Place:
    """What a key with an entry for each dimension selects."""
    entries = [_entry(x, dim, each) for dim, each in zip(x.dims, key, strict=True)]
    arrays = {
        d: e for d, e in zip(x.dims, entries, strict=True) if isinstance(e, Labelled) and e.dims
    }
    named = {name for each in arrays.values() for name in each.dims}
    basic: list[Any] = []
    remaining: list[str] = []
    dims: dict[str, None] = {}
    for dim, entry in zip(x.dims, entries, strict=True):
        if isinstance(entry, Labelled) and not entry.dims:
            basic.append(entry.values)
            continue
        remaining.append(dim)
        basic.append(slice(None) if isinstance(entry, Labelled) else entry)
        dims.update(dict.fromkeys(entry.dims if isinstance(entry, Labelled) else (dim,)))
    start = x.values[tuple(basic)] if arrays else x.values
    for position, dim in enumerate(remaining):
        if dim in named and dim not in arrays:  # matched with the arrays that have its name
            arrays[dim] = labelled(ot.arange(start.shape[position]), (dim,))
    chosen = {d: arrays[d] for d in remaining if d in arrays}
    lengths = static_lengths(chosen.values())
    shared: Dims = tuple(d for d in dims if d in lengths)
    chosen = _matched(chosen)
    return Place(
        x,
        tuple(basic),
        tuple(remaining),
        (*chosen, *(d for d in remaining if d not in chosen)),
        tuple(aligned(each, shared, lengths) for each in chosen.values()),
        shared,
        tuple(dims),
    )


def _matched(arrays: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a key, with checks that dynamic lengths of a dimension of several are equal."""
    first: dict[str, Labelled] = {}
    checked: dict[str, Any] = {}
    for key, each in arrays.items():
        for dim in each.dims:
            other = first.setdefault(dim, each)
            if other is each:
                continue
            static = [v.values.type.shape[v.dims.index(dim)] for v in (other, each)]
            if None in static:
                lengths = {dim: other.values.shape[other.dims.index(dim)]}
                each = _same_length(each, (dim,), lengths, f"in {describe(other)}")
        checked[key] = each
    return checked


def index(x: Any, *key: Any) -> XTensorVariable:
    """The part of ``x`` that ``key`` selects, with an entry for each dimension from the first one; see the module.

    IndexError for too many entries or a second ellipsis, for an array of several dimensions without names, and for
    truth values of another dimension. TypeError for None and for numbers that are no integers. ValueError for two
    static lengths of a dimension of arrays.
    """
    own = as_xtensor(x)
    place = place_of(own, _full_key(own, key))
    part = place.first()
    if place.arrays:
        part = place.turned(part)[place.arrays]
    return _in_order(labelled(part, place.own_dims), place)


def _full_key(x: Labelled, key: Sequence[Any]) -> list[Any]:
    at = [i for i, each in enumerate(key) if each is ...]
    if len(at) > 1:
        raise IndexError("An index has one ellipsis at most")
    left = len(x.dims) - len(key) + len(at)
    if left < 0:
        raise IndexError(f"{len(key) - len(at)} entries are too many for {describe(x)}")
    whole = [slice(None)] * left
    if at:
        return [*key[: at[0]], *whole, *key[at[0] + 1 :]]
    return [*key, *whole]


def _in_order(part: Labelled, place: Place) -> XTensorVariable:
    ordered = transpose(part, *place.dims)
    return labelled(ordered.values, place.dims, place)


def isel(
    x: Any,
    indexers: Mapping[str, Any] | None = None,
    drop: bool = False,
    missing_dims: Missing = "raise",
    **indexers_kwargs: Any,
) -> XTensorVariable:
    """The part of ``x`` that a mapping from dimensions to entries selects, or keywords; see the module.

    ``missing_dims``: for a dimension that the tensor lacks, "raise" a ValueError, "warn" or "ignore" it. ``drop`` is for
    xarray's coordinates, and changes nothing. TypeError for an ellipsis; other errors are those of `index`.
    """
    own = as_xtensor(x)
    if indexers is not None and indexers_kwargs:
        raise ValueError("isel takes a mapping or keywords, not both")
    entries = dict(indexers_kwargs if indexers is None else indexers)
    if any(each is ... for each in entries.values()):
        raise TypeError(
            "isel: an entry cannot be an ellipsis; a dimension that is left out stays whole"
        )
    names = present(own, list(entries), missing_dims, "isel")
    return index(own, *(entries[d] if d in names else slice(None) for d in own.dims))


def set_part(part: Labelled, value: Any, what: str) -> XTensorVariable:
    """The tensor of which ``part`` is a part with ``value`` there: in its place ("set") or added to it ("inc").

    Dimensions of ``value`` are matched by name with those of the part. Values at the same place are all added; the last
    one is set. ValueError if ``part`` is no part, or ``value`` has a dimension that it lacks.
    """
    place = part.place
    if not isinstance(place, Place):
        raise ValueError(
            f"{what} is for a part of a tensor: x[key].{what}(y) or x.isel(a=0).{what}(y)"
        )
    written = _value(value, part)
    lacking = [d for d in written.dims if d not in place.dims]
    if lacking:
        raise ValueError(
            f"{what}: {describe(written)} has the dimension {lacking[0]!r}, which the part {describe(part)} lacks"
        )
    lengths = static_lengths((part, written))
    part_lengths = {
        d: part.values.shape[i]
        if None in (own, written.values.type.shape[written.dims.index(d)])
        else None
        for i, (d, own) in enumerate(zip(part.dims, part.values.type.shape, strict=True))
        if d in written.dims
    }
    checked = _same_length(written, written.dims, part_lengths, f"in the part {describe(part)}")
    y = aligned(checked, place.own_dims, lengths)
    change = ot.set_subtensor if what == "set" else ot.inc_subtensor
    base = place.base
    first = place.first()
    whole = first is base.values
    if place.arrays:
        turned = place.turned(first)
        changed = change(turned[place.arrays], y)
        back = changed.dimshuffle([place.order.index(d) for d in place.kept])
        return labelled(back if whole else ot.set_subtensor(first, back), base.dims)
    return labelled(change(base.values[place.basic], y), base.dims)


def _value(value: Any, part: Labelled) -> XTensorVariable:
    """A value with names. A tensor or array without names, if it is no scalar, has all dimensions of the part."""
    if isinstance(value, Labelled) or is_data_array(value):
        return as_xtensor(value)
    tensor = ot.as_tensor_variable(value)
    return as_xtensor(tensor, part.dims if tensor.ndim else ())


def head_tail_thin(
    x: Labelled, indexers: Any, keywords: Mapping[str, Any], kind: str
) -> XTensorVariable:
    """The first or last elements along dimensions, or each of some distance: the methods `head`, `tail` and `thin`."""
    if indexers is not None and keywords:
        raise ValueError(f"{kind} takes numbers or keywords, not both")
    sizes: Any = dict(keywords) if keywords else indexers
    if sizes is None:
        if kind == "thin":
            raise TypeError("thin needs a number, or a mapping from dimensions to numbers")
        sizes = 5
    counts: dict[str, Any] = dict(sizes) if is_mapping(sizes) else dict.fromkeys(x.dims, sizes)
    entries: dict[str, slice] = {}
    for dim, n in counts.items():
        if isinstance(n, int) and n < (kind == "thin"):
            raise ValueError(f"{kind}: the number of {dim!r} cannot be {n}")
        if kind == "head":
            entries[dim] = slice(None, n)
        elif kind == "thin":
            entries[dim] = slice(None, None, n)
        elif dim in x.dims:
            axis = x.dims.index(dim)
            length = x.values.type.shape[axis]
            # from the front, since an end of -0 would be no end
            total = x.values.shape[axis] if length is None else length
            entries[dim] = slice(ot.maximum(total - n, 0), None)
        else:
            entries[dim] = slice(None)
    return isel(x, entries)
