"""Grids and positions: `meshgrid`, `indices`, `ix_`, indices of diagonals, `vander`, `diagflat`, `to_one_hot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.type import is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "indices",
    "ix_",
    "mask_indices",
    "meshgrid",
    "to_one_hot",
    "vander",
]


def _spread(vector: Any, axis: int, ndim: int) -> Any:
    return vector.dimshuffle([0 if i == axis else "x" for i in range(ndim)])


@stands_for("meshgrid", "* -copy=True sparse indexing")
def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> tuple[TensorVariable, ...]:
    """The coordinates of the points of a grid, whose lines lie at the elements of the vectors ``xi``.

    With k vectors of lengths n_0, n_1, ... there are k tensors of shape (n_0, n_1, ...) if ``indexing`` is "ij", and of
    shape (n_1, n_0, ...) if it is "xy". If ``sparse`` is True, they have lengths of 1 where they do not change. A scalar
    counts as a vector of one element, other tensors are flattened. ValueError for another ``indexing``.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing of meshgrid is 'xy' or 'ij', not {indexing!r}")
    ndim = len(xi)
    vectors = [ot.flatten(ot.as_tensor_variable(x)) for x in xi]
    order = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        order[:2] = [1, 0]
    spread = [_spread(v, order[i], ndim) for i, v in enumerate(vectors)]
    if sparse or not spread:
        return tuple(spread)
    lengths: list[Any] = [None] * ndim
    for i, v in enumerate(vectors):
        (lengths[order[i]],) = lengths_by_variables(v)
    return tuple(ot.broadcast_to(v, lengths) for v in spread)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The positions in a tensor of shape ``dimensions``: slice i of the result has the indices of dimension i.

    The result has the shape (k, *dimensions) for k dimensions, and ``dtype``, int64 by default. If ``sparse`` is True, it
    is a tuple of k tensors with lengths of 1 where they do not change.
    """
    lengths = lengths_of(dimensions)
    ndim = len(lengths)
    lines = [_spread(ot.arange(n, dtype=dtype), i, ndim) for i, n in enumerate(lengths)]
    if sparse:
        return tuple(lines)
    if not lines:
        return ot.zeros((0,), dtype=dtype)
    return ot.stack([ot.broadcast_to(v, lengths) for v in lines])


@stands_for("ix_", "*")
def ix_(*args: Any) -> tuple[TensorVariable, ...]:
    """Indices that select the grid of the positions in vectors: ``x[ix_([0, 1], [2, 4])]``.

    A vector of truth values stands for the positions where it is true. ValueError unless all are vectors.
    """
    result: list[Any] = []
    for i, each in enumerate(args):
        v = ot.as_tensor_variable(np.zeros(0, "int64") if _is_empty(each) else each)
        if v.type.ndim != 1:
            raise ValueError(f"ix_ takes vectors, got argument {i} of type {v.type}")
        result.append(_spread(ot.flatnonzero(v) if v.dtype == "bool" else v, i, len(args)))
    return tuple(result)


def _is_empty(each: Any) -> bool:
    return isinstance(each, list | tuple) and not each


def diag_indices(n: Any, ndim: int = 2) -> tuple[TensorVariable, ...]:
    """The indices of the main diagonal of a tensor with ``ndim`` dimensions of length ``n``: ``ndim`` equal vectors."""
    return (ot.arange(*lengths_of(n)),) * static_integer(ndim, "ndim")


@stands_for("diag_indices_from", "arr")
def diag_indices_from(arr: Any) -> tuple[TensorVariable, ...]:
    """`diag_indices` for ``arr``, all of whose lengths are equal. ValueError if they are not, or if it is a vector."""
    x = ot.as_tensor_variable(arr)
    if x.type.ndim < 2:
        raise ValueError(f"diag_indices_from takes at least 2 dimensions, got {x.type}")
    known = {n for n in x.type.shape if n is not None}
    if len(known) > 1:
        raise ValueError(f"All dimensions of arr must be of equal length, got {x.type}")
    first, *rest = lengths_by_variables(x)
    if None in x.type.shape:
        check = ot.CheckAndRaise(ValueError, "All dimensions of arr must be of equal length")
        first = check(ot.as_tensor_variable(first), *(ot.eq(first, n) for n in rest))
    return diag_indices(first, x.type.ndim)


def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> tuple[TensorVariable, ...]:
    """The indices at which ``mask_func(ones((n, n)), k)`` is not 0, for a function such as `triu`."""
    (length,) = lengths_of(n)
    found: tuple[TensorVariable, ...] = ot.nonzero(
        mask_func(ot.ones((length, length), dtype="int64"), k)
    )
    return found


@stands_for("diagflat", "v k")
def diagflat(v: Any, k: int = 0) -> TensorVariable:
    """A matrix of zeros with the elements of ``v``, flattened, on diagonal ``k``."""
    return ot.diag(ot.flatten(ot.as_tensor_variable(v)), k)


def natural_lengths(given: Any, function: str) -> list[Any]:
    """A length or several ones. ValueError if one is negative, when the graph runs if it is a variable."""
    message = f"{function} takes no negative lengths"
    lengths = list(lengths_of(given))
    if any(isinstance(n, int) and n < 0 for n in map(known_integer, lengths)):
        raise ValueError(f"{message}, got {given}")
    check = ot.CheckAndRaise(ValueError, message)
    return [n if known_integer(n) is not None else check(n, ot.ge(n, 0)) for n in lengths]


@stands_for("vander", "x N increasing")
def vander(x: Any, N: Any = None, increasing: bool = False) -> TensorVariable:
    """The powers of the elements of the vector ``x`` as rows of a matrix of ``N`` columns, by default as many as rows.

    The powers rise from 0 to N - 1 if ``increasing`` is True, and fall else. ValueError unless ``x`` is a vector.
    """
    v = ot.as_tensor_variable(x)
    if v.type.ndim != 1:
        raise ValueError(f"x of vander must be a vector, got {v.type}")
    (count,) = lengths_by_variables(v) if N is None else natural_lengths(N, "vander")
    v = ot.cast(v, np.result_type(v.type.numpy_dtype, np.int64).name)  # as NumPy does
    powers = ot.arange(count)
    raised = ot.pow(v.dimshuffle(0, "x"), powers.dimshuffle("x", 0).astype(v.dtype))
    return raised if increasing else raised[:, ::-1]


def to_one_hot(y: Any, nb_class: Any, dtype: Any = None) -> TensorVariable:
    """The unit vectors of length ``nb_class`` with ones at the positions ``y``, along a new last dimension.

    The name is PyTensor's. ``dtype`` None is floatX. TypeError unless ``y`` are integers. IndexError at run time if one
    is not from ``-nb_class`` to ``nb_class - 1``.
    """
    y = ot.as_tensor_variable(y)
    if not is_discrete(y.dtype) or y.dtype == "bool":
        raise TypeError(f"y of to_one_hot must be integers, got {y.type}")
    (count,) = lengths_of(nb_class)
    rows = ot.eye(count, dtype="bool") if y.type.ndim == 0 else None
    if rows is not None:
        return ot.cast(rows[y], "floatX" if dtype is None else dtype)
    lengths = lengths_by_variables(y)
    key = tuple(_spread(ot.arange(n), i, y.type.ndim) for i, n in enumerate(lengths))
    empty = ot.zeros((*lengths, count), dtype=dtype)
    return empty[(*key, y)].set(1)
