"""Grids and positions: `meshgrid`, `indices`, `ix_`, indices of diagonals, `vander`, `diagflat`, `to_one_hot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.errors import explained_by
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Constant
from occelo_graph.narrowing import is_slice, is_tuple
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import arange, broadcast_arrays
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    eq,
    floor,
    ge,
    gt,
    sign,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp, log, pow
from occelo_graph.ops.length_inputs import integer_length, lengths_of
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.length_bounds import never_negative
from occelo_graph.ops.shape.reading import lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable, constant, promote_arguments
from occelo_graph.tensors.type import (
    TensorType,
    is_discrete,
)
from occelo_graph.upward import stack

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "bartlett",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "geomspace",
    "indices",
    "ix_",
    "linspace",
    "logspace",
    "mask_indices",
    "meshgrid",
    "mgrid",
    "ogrid",
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
    """Indices that select the grid of the positions in the vectors ``args``: ``x[ix_([0, 1], [2, 4])]``.

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
    return (ot.arange(integer_length(n)),) * static_integer(ndim, "ndim")


@stands_for("diag_indices_from", "arr")
def diag_indices_from(arr: Any) -> tuple[TensorVariable, ...]:
    """`diag_indices` for ``arr``, all of whose lengths are equal. ValueError if they are not, or if it is a vector."""
    x = ot.as_tensor_variable(arr)
    if x.type.ndim < 2:
        raise ValueError(f"diag_indices_from takes at least 2 dimensions, got {x.type}")
    lengths = {n for n in x.type.shape if n is not None}
    if len(lengths) > 1:
        raise ValueError(f"All dimensions of arr must be of equal length, got {x.type}")
    first, *rest = lengths_by_variables(x)
    if None in x.type.shape:
        check = ot.CheckAndRaise(ValueError, "All dimensions of arr must be of equal length")
        first = check(ot.as_tensor_variable(first), *(ot.eq(first, n) for n in rest))
    return diag_indices(first, x.type.ndim)


def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> tuple[TensorVariable, ...]:
    """The indices at which ``mask_func(ones((n, n)), k)`` is not 0, for a function such as `triu`."""
    if not callable(mask_func):
        raise TypeError(f"mask_func of mask_indices is a function such as triu, got {mask_func!r}")
    (length,) = lengths_of(n)
    indices: tuple[TensorVariable, ...] = ot.nonzero(
        mask_func(ot.ones((length, length), dtype="int64"), k)
    )
    return indices


@stands_for("diagflat", "v k")
def diagflat(v: Any, k: int = 0) -> TensorVariable:
    """A matrix of zeros with the elements of ``v``, flattened, on diagonal ``k``."""
    return ot.diag(ot.flatten(ot.as_tensor_variable(v)), k)


def natural_lengths(dims: Any, function: str) -> list[Any]:
    """A length or several ones. ValueError if one is negative, when the graph runs if it is a variable."""
    message = f"{function} takes no negative lengths"
    lengths = list(lengths_of(dims))
    if any(isinstance(n, int) and n < 0 for n in map(known_integer, lengths)):
        raise ValueError(f"{message}, got {dims}")
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


@stands_for("linspace", "start stop num endpoint retstep dtype axis -device")
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """``num`` evenly spaced numbers from ``start`` to ``stop``, along a new dimension ``axis``.

    The last number is exactly ``stop``; if ``endpoint`` is False, ``stop`` is excluded. If ``start`` and ``stop`` are
    integers, the default dtype is floatX. For an integer ``dtype``, the numbers are rounded down.

    If ``retstep`` is True, the result is a pair: the numbers and the step. With too few numbers for a step, the step is
    NaN. This NaN is a scalar if ``num`` is static; else it has the shape of ``stop - start``. ValueError if ``num`` is
    negative. TypeError if ``retstep`` is not a bool.
    """
    if not isinstance(retstep, bool | np.bool_):
        raise TypeError(f"retstep must be True or False, got {retstep!r}; dtype comes after it")
    start, stop = _spaced_ends(start, stop)
    count = integer_length(num)
    if isinstance(count, int):
        if count < 0:
            raise ValueError(f"The number of samples cannot be negative, got num={count}")
        divisions: Any = max(count - 1, 1) if endpoint else max(count, 1)
    else:
        if not never_negative(count):
            message = "The number of samples cannot be negative"
            count = CheckAndRaise(ValueError, message)(count, ge(count, 0))
        divisions = count - 1 if endpoint else count
        divisions = switch(ge(divisions, 1), divisions, 1)
    delta = stop - start
    number = arange(count).dimshuffle([0, *["x"] * delta.type.ndim])
    delta = delta / cast(as_tensor_variable(divisions), delta.dtype)
    result = add(start, cast(number, delta.dtype) * delta)
    if endpoint:
        result = switch(
            and_(eq(number, as_tensor_variable(count) - 1), gt(number, 0)), stop, result
        )
    if dtype is not None:
        whole = np.issubdtype(TensorType(dtype, ()).numpy_dtype, np.integer)
        result = cast(floor(result) if whole else result, dtype)
    result = moveaxis(result, 0, axis)
    if not retstep:
        return result
    steps = count - 1 if endpoint else count
    if isinstance(steps, int):
        return result, delta if steps > 0 else constant(np.nan, dtype="float64")
    return result, switch(ge(steps, 1), delta, constant(np.nan, dtype=delta.dtype))


def _spaced_ends(start: Any, stop: Any) -> list[Any]:
    """Convert ``start`` and ``stop`` to their common dtype, or to floatX if both are integers.

    A Python number is converted to the dtype of the other end.
    """
    ends = promote_arguments([start, stop], lambda value, _: (value, "float64"))
    pairs = zip((start, stop), ends, strict=True)
    if all(type(end) is int or is_discrete(v.dtype) for end, v in pairs):
        return [cast(v, "floatX") for v in ends]
    common = np.result_type(*(v.type.numpy_dtype for v in ends)).name
    return [cast(v, common) for v in ends]


@stands_for("logspace", "start stop num endpoint base dtype axis")
def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> TensorVariable:
    """``base`` raised to the numbers of ``linspace(start, stop, num, endpoint)``, as ``dtype``, along a new dimension ``axis``."""
    result = moveaxis(pow(base, linspace(start, stop, num, endpoint)), 0, axis)
    return result if dtype is None else cast(result, dtype)


@stands_for("geomspace", "start stop num endpoint dtype axis")
def geomspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> TensorVariable:
    """``num`` numbers in geometric progression from ``start`` to ``stop``, along a new dimension ``axis``.

    The ends must have the same sign; ValueError for a constant that is 0. The first number is exactly ``start``, and the
    last is exactly ``stop``. If ``endpoint`` is False, ``stop`` is excluded. ``dtype`` is at least float64 by default, unless both are plain numbers.
    """
    plain = type(start) in (int, float) and type(stop) in (int, float)
    for each in map(as_tensor_variable, (start, stop)):
        if isinstance(each, Constant) and not np.all(each.data):
            raise ValueError("An end of geomspace must not be 0, which no factor reaches")
    start, stop = _spaced_ends(start, stop)
    if dtype is None and not plain:
        # as in NumPy: the dtype of geomspace is float64 at least, that of linspace may be float32
        start, stop = (cast(v, np.result_type(v.dtype, np.float64)) for v in (start, stop))
    direction = sign(start)
    # the quotient of the ends could overflow; their logarithms cannot
    powers = linspace(log(start / direction), log(stop / direction), num, endpoint)
    result = direction * exp(powers)
    number = arange(lengths_by_variables(result)[0]).dimshuffle(
        [0, *["x"] * (result.type.ndim - 1)]
    )
    if endpoint:
        result = switch(
            eq(number, as_tensor_variable(lengths_by_variables(result)[0]) - 1), stop, result
        )
    result = moveaxis(switch(eq(number, 0), start, result), 0, axis)
    return result if dtype is None else cast(result, dtype)


def bartlett(M: Any) -> TensorVariable:
    """The Bartlett window: ``M`` numbers that rise from 0 to 1 and fall to 0 again, in the shape of a triangle."""
    count = as_tensor_variable(integer_length(M))
    n = cast(arange(count), "floatX")
    half = cast(count - 1, "floatX") / 2.0
    window = 1 - abs(n - half) / switch(ge(half, 0.5), half, 1.0)
    return switch(ge(count, 2), window, 1.0)


_STEPS = "An imaginary step such as ``5j`` is the number of points, and then the end is included."


class _Grid:
    """The coordinates of the points of a grid, for the slices in the brackets."""

    def __init__(self, sparse: bool, doc: str) -> None:
        self.sparse = sparse
        self.__doc__ = f"{doc} A single slice gives a vector.\n\n{_STEPS}"

    @explained_by("arguments")
    def __getitem__(self, key: Any) -> Any:
        slices: Sequence[Any] = key if is_tuple(key) else (key,)
        vectors: list[Any] = []
        for part in slices:
            if not is_slice(part):
                raise TypeError(f"A grid is made from slices, got {part!r}")
            begin = 0 if part.start is None else part.start
            step = 1 if part.step is None else part.step
            if part.stop is None:
                raise TypeError(f"A slice of a grid needs an end, got {part!r}")
            if isinstance(step, complex):
                vectors.append(linspace(begin, part.stop, int(abs(step))))
            else:
                vectors.append(arange(begin, part.stop, step))
        if not isinstance(key, tuple):
            return vectors[0]
        dtype = np.result_type(*(v.type.numpy_dtype for v in vectors)).name
        vectors = [cast(v, dtype) for v in vectors]
        ndim = len(vectors)
        spread: list[Any] = [
            v.dimshuffle(["x" if i != j else 0 for j in range(ndim)]) for i, v in enumerate(vectors)
        ]
        return tuple(spread) if self.sparse else stack(broadcast_arrays(*spread))


mgrid = _Grid(
    False,
    "``mgrid[a:b, c:d]``: a tensor whose slice ``i`` is coordinate ``i`` of all points of a grid.",
)
ogrid = _Grid(
    True,
    "``ogrid[a:b, c:d]``: a tuple with a tensor for each coordinate of a grid, which broadcast to the grid.",
)
