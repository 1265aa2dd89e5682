"""`vectorize_graph`: copies graphs of tensors with and without names for batches, at PyTensor's place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from occelo_dims.applying import apply_ufunc as apply_ufunc
from occelo_dims.labelled import (
    Dims,
    Labelled,
    aligned,
    as_xtensor,
    check_dims,
    describe,
    dims_of_leaves,
    labelled,
)
from occelo_graph import TensorType
from occelo_graph import tensor as ot
from occelo_graph import vectorize_graph as vectorize_tensors
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees
from occelo_graph.narrowing import is_list_or_tuple
from occelo_loops.ops.nested import Stepped


def vectorize_graph(
    outputs: Any, replace: Mapping[Any, Any], *, new_tensor_dims: Sequence[str] | str = ()
) -> Any:
    """Copy the graph of ``outputs``, a variable or a sequence of variables, with variables replaced by batches, as ``replace`` maps them.

    A replacement of a tensor with names has its dimensions and further ones, in any order. One of a tensor without names
    has further dimensions in front, which ``new_tensor_dims`` names. In the results that depend on a replaced variable the
    new dimensions come first: those that only tensors with names have, and then ``new_tensor_dims``.

    ValueError for a replacement that lacks a dimension, has new ones that another variable or an output had, or has more
    in front than there are names.
    """
    several = is_list_or_tuple(outputs)
    old_outputs: list[Any] = list(outputs) if several else [outputs]
    last = check_dims(new_tensor_dims)
    pairs = [(old, _replacement(old, new)) for old, new in replace.items()]
    labels = [x for x in (*(old for old, _ in pairs), *old_outputs) if isinstance(x, Labelled)]
    there = {d for x in labels for d in x.dims}
    lengths: dict[str, Any] = {}
    for old, new in pairs:
        named = isinstance(old, Labelled)
        places = _new_dims(old, new, there) if named else _leading(old, new, last)
        for dim, axis in places:
            _longest(lengths, dim, new.values if named else new, axis)
    first: Dims = tuple(d for d in lengths if d not in last)
    dims = (*first, *(d for d in last if d in lengths))
    dense = {
        (old.values if isinstance(old, Labelled) else old): (
            aligned(new, (*dims, *old.dims), {}) if isinstance(new, Labelled) else new
        )
        for old, new in pairs
    }
    plain = [x.values if isinstance(x, Labelled) else x for x in old_outputs]
    results = vectorize_tensors(plain, dense)
    batched = [_named(x, new, dims, lengths) for x, new in zip(old_outputs, results, strict=True)]
    return batched if several else batched[0]


@explained_by("dimensions")
def vmap(fun: Stepped, dim: str) -> Callable[..., Any]:
    """A function that applies ``fun`` to each part of its arguments along the dimension ``dim``, as one batch.

    The arguments of both, and the results of ``fun``, are trees of tensors with names. Arguments without ``dim`` are the
    same for all parts. Results have ``dim`` first, also those that are equal for all parts. TypeError if ``fun`` is no function;
    at the call, ValueError if no argument has ``dim``, and for a result that has a dimension ``dim`` of its own.
    """
    if not callable(fun):
        raise TypeError(f"fun of vmap is a Python function, and not {fun!r}; see vectorize_graph")
    check_dims((dim,))

    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = trees.flatten((args, kwargs), "arguments")
        names = dims_of_leaves(structure)
        inner = [ot.as_tensor_variable(x) for x in leaves]
        replace: dict[Any, Any] = {}
        length: Any = None
        for i, dims in enumerate(names):
            if dims is None or dim not in dims:
                continue
            axis = dims.index(dim)
            length = inner[i].shape[axis] if length is None else length
            rest = [k for k in range(len(dims)) if k != axis]
            batch = inner[i].dimshuffle([axis, *rest])
            inner[i] = TensorType(batch.dtype, batch.type.shape[1:])(inner[i].name)
            replace[inner[i]] = batch
            names[i] = tuple(dims[k] for k in rest)
        if not replace:
            raise ValueError(f"vmap: no argument has the dimension {dim!r}")
        pairs = zip(inner, names, strict=True)
        positional, keywords = structure.unflatten(
            x if dims is None else labelled(x, dims) for x, dims in pairs
        )
        called: Callable[..., Any] = fun
        outputs, form = trees.flatten(called(*positional, **keywords), "results")
        tensors = [ot.as_tensor_variable(x) for x in outputs]
        batched: list[Any] = []
        for x, new, own in zip(
            tensors, vectorize_tensors(tensors, replace), dims_of_leaves(form), strict=True
        ):
            if dim in (own or ()):
                raise ValueError(f"vmap: a result has a dimension {dim!r} of its own, among {own}")
            whole = new if new.ndim > x.ndim else ot.broadcast_to(new, [length, *x.shape])
            batched.append(labelled(whole, (dim, *own)) if own is not None else whole)
        return form.unflatten(batched)

    mapped.__doc__ = fun.__doc__
    return mapped


def _new_dims(old: Labelled, new: Labelled, there: set[str]) -> list[tuple[str, int]]:
    """The dimensions that a replacement has beside those of the variable, with their positions."""
    lacking = [d for d in old.dims if d not in new.dims]
    if lacking:
        raise ValueError(f"{describe(new)} lacks the dimension {lacking[0]!r} of {describe(old)}")
    more = [(d, axis) for axis, d in enumerate(new.dims) if d not in old.dims]
    taken = [d for d, _ in more if d in there]
    if taken:
        raise ValueError(
            f"The new dimension {taken[0]!r} of {describe(new)} is one of the graph already; rename it"
        )
    return more


def _leading(old: Any, new: Any, names: Dims) -> list[tuple[str, int]]:
    """The names of the dimensions in front of those of a variable without names, with their positions."""
    extra = new.ndim - old.ndim
    if extra > len(names):
        raise ValueError(
            f"{new} has {extra} dimensions in front of those of {old}, and new_tensor_dims names {len(names)}"
        )
    return [(d, axis) for axis, d in enumerate(names[len(names) - extra :])] if extra > 0 else []


def _replacement(old: Any, new: Any) -> Any:
    return as_xtensor(new) if isinstance(old, Labelled) else ot.as_tensor_variable(new)


def _longest(lengths: dict[str, Any], dim: str, values: Any, axis: int) -> None:
    """Note the length of a new dimension, from the first tensor whose length is not statically 1."""
    static = values.type.shape[axis]
    if dim not in lengths or lengths[dim] == 1:
        lengths[dim] = values.shape[axis] if static is None else static


def _named(old: Any, new: Any, dims: Dims, lengths: Mapping[str, Any]) -> Any:
    """A result with its names, and with the whole length of each new dimension."""
    if not isinstance(old, Labelled) or new.ndim == len(old.dims):
        return labelled(new, old.dims) if isinstance(old, Labelled) else new
    batch_shape = [lengths[d] for d in dims]
    if any(n == 1 and not _is_one(m) for n, m in zip(new.type.shape, batch_shape, strict=False)):
        core = [new.shape[len(dims) + i] for i in range(len(old.dims))]
        new = ot.broadcast_to(new, [*batch_shape, *core])
    return labelled(new, (*dims, *old.dims))


def _is_one(n: Any) -> bool:
    return isinstance(n, int) and n == 1
