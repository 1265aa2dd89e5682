"""Random orders and choices by keys: `permutation`, `shuffle`, `choice` and `categorical`.

Users call them from `occelo.tensor.random`. To get a random order, the op `SortedOrder` sorts random numbers. A
categorical number is found by searching the cumulative sums of the probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import (
    add,
    and_,
    ge,
    le,
    maximum,
    minimum,
    mul,
    neg,
    sub,
    switch,
    true_div,
)
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.ops.index.search import take
from occelo_graph.ops.length_inputs import lengths_of
from occelo_graph.ops.reduce import cumsum
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.ops.shape.reading import length_product, shape_i
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_discrete
from occelo_random.ops.draw_derivatives import without_derivative
from occelo_random.ops.draws import integers
from occelo_random.ops.either_way import either_way
from occelo_random.ops.keys import as_key, bits
from occelo_random.ops.parameters import (
    NOT_NEGATIVE,
    checked,
    draw_shape,
    float_parameters,
    require,
    standard_uniform,
)

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SortedOrder", "categorical", "choice", "permutation", "shuffle"]

_FEW = 32


@op
class SortedOrder(Op):
    """The positions (int64) that sort the numbers in each row of the input, which are random uint64 or float64 numbers.

    In uint64 numbers, the last bits are replaced by the position of the number in its row. Then the numbers are sorted,
    and their last bits are the result. This is faster than sorting positions. Numbers with equal leading bits are
    sorted by position. Float64 numbers are sorted by a stable argsort.
    """

    def infer(self, x: TensorType) -> TensorType:
        if not x.ndim or x.dtype not in ("uint64", "float64"):
            raise TypeError(f"{self} takes rows of uint64 or float64, got {x}")
        return TensorType("int64", x.shape)

    def evaluate(self, x: Any) -> Any:
        if x.dtype != np.uint64:
            return np.asarray(np.argsort(x, axis=-1, kind="stable"), dtype="int64")
        n = x.shape[-1]
        digits = np.uint64(max(n - 1, 1).bit_length())
        mask = (np.uint64(1) << digits) - np.uint64(1)
        packed = (x & ~mask) | np.arange(n, dtype="uint64")
        packed.sort(axis=-1)
        return (packed & mask).astype("int64")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return self.make_node(*inputs).outputs


def _order(key: Any, n: Any) -> Any:
    return SortedOrder()(bits(key, (n,)))


@either_way
def permutation(key: Any, x: Any, axis: int = 0) -> TensorVariable:
    """The numbers from 0 to ``x - 1`` (int64), or the entries of an array ``x`` along ``axis``, in random order.

    All orders are equally likely. For a batch of keys, ``x`` must be an integer, and the result has a row for each key.
    ValueError if ``x`` is negative.
    """
    tensor = as_tensor_variable(x)
    if tensor.type.ndim:
        if as_key(key).type.ndim:
            raise ValueError("For a batch of keys, permute the positions: permutation(keys, n)")
        at = normalize_axis(axis, tensor)
        permuted: TensorVariable = take(tensor, _order(key, shape_i(tensor, at)), axis=at)
        return permuted
    if not is_discrete(tensor.dtype) or tensor.dtype == "bool":
        raise TypeError(f"permutation takes an integer or an array, got {tensor.type}")
    n: Any = x if isinstance(x, int) else cast(tensor, "int64")
    result: TensorVariable = _order(checked(key, x=(tensor, NOT_NEGATIVE)), n)
    return result


@either_way
def shuffle(key: Any, x: Any, axis: int = 0) -> TensorVariable:
    """The entries of the array ``x`` along ``axis`` in random order, as in `permutation`.

    ``x`` itself is not changed. TypeError if ``x`` is a scalar.
    """
    tensor = as_tensor_variable(x)
    if not tensor.type.ndim:
        raise TypeError(f"shuffle takes an array, got {tensor.type}")
    return permutation(key, tensor, axis)


@either_way
def categorical(key: Any, p: Any, size: Any = None) -> TensorVariable:
    """Numbers (int64), where number k has the probability ``p[..., k]``.

    ValueError if a probability is negative or NaN. As in NumPy, ValueError if the sum differs from 1 by at least the
    square root of the machine epsilon. There is no derivative with respect to ``p``: a gradient raises an error.
    """
    p = float_parameters(p, dtype=None)[0][0]
    if not p.type.ndim:
        raise ValueError("p must have a last axis of probabilities, got a scalar")
    key = require(key, _not_negative, p, message="p < 0 or p is NaN")
    key = require(key, _sums_to_one, p, message="p does not sum to 1")
    u = standard_uniform(key, draw_shape(key, size, [p], core=1), "float64")
    return without_derivative("categorical", _search(cumsum(cast(p, "float64"), axis=-1), u), p)


def _not_negative(p: Any) -> Any:
    return p >= 0


def _sums_to_one(p: Any) -> Any:
    return abs(p.sum(axis=-1) - 1.0) < float(np.sqrt(np.finfo(str(p.dtype)).eps))


def _search(sums: Any, u: Any) -> Any:
    """The number of cumulative sums, without the last one, that are at most ``u`` times the last sum."""
    u = mul(u, sums[..., -1])
    n = sums.type.shape[-1]
    if n is None or (sums.type.ndim > 1 and n > _FEW):
        return cast(le(sums[..., :-1], u[..., None]), "int64").sum(axis=-1)
    if n <= _FEW:
        count: Any = mul(cast(u, "int64"), np.int64(0))
        for i in range(n - 1):
            count = add(count, cast(ge(u, sums[..., i]), "int64"))
        return count
    # bisection: all sums before position `at` are at most u
    at: Any = mul(cast(u, "int64"), np.int64(0))
    step = 1 << ((n - 1).bit_length() - 1)
    while step:
        following = add(at, np.int64(step))
        reached = take(sums, minimum(sub(following, np.int64(1)), np.int64(n - 1)))
        at = switch(and_(le(following, np.int64(n - 1)), le(reached, u)), following, at)
        step //= 2
    return at


@either_way
def choice(
    key: Any,
    a: Any,
    size: Any = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
) -> TensorVariable:
    """Random entries of ``a`` along ``axis``, or random integers (int64) from 0 to ``a - 1`` if ``a`` is an integer.

    The vector ``p`` has the probability of each entry; by default all are equal. If ``replace`` is False, no entry is
    drawn twice, and the order is random. Then each entry is drawn from the remaining entries, with probabilities in
    proportion to ``p``. ``size`` is the shape of the draw, () by default. In the result, the dimensions of ``size``
    replace ``axis``.

    ValueError if there are no entries to draw from, or if the length of ``p`` is not the number of entries. If
    ``replace`` is False, ValueError if the draw has more elements than there are entries (of probability above 0, if
    ``p`` is given).
    """
    tensor = as_tensor_variable(a)
    if not tensor.type.ndim and (not is_discrete(tensor.dtype) or tensor.dtype == "bool"):
        raise TypeError(f"choice takes an integer or an array, got {tensor.type}")
    at = normalize_axis(axis, tensor) if tensor.type.ndim else 0
    n: Any = as_tensor_variable(shape_i(tensor, at)) if tensor.type.ndim else cast(tensor, "int64")
    size = () if size is None else size
    if p is not None:
        p = as_tensor_variable(p)
        if p.type.ndim != 1:
            raise ValueError(f"p must be a vector, got {p.type}")
        entries = as_tensor_variable(shape_i(p, 0))
        key = require(key, _equal, n, entries, message="a and p must have the same size")
    if replace:
        chosen = _one_of(key, n, size) if p is None else categorical(key, p, size)
    else:
        chosen = _without_replacement(key, tensor, n, size, p)
    if not tensor.type.ndim:
        return chosen
    selection: TensorVariable = take(tensor, chosen, axis=at)
    return selection


def _without_replacement(key: Any, a: Variable, n: Any, size: Any, p: Any) -> Any:
    if as_key(key).type.ndim:
        raise NotImplementedError(
            "A choice without replacement takes one key; for a batch of keys, use vectorize"
        )
    lengths = lengths_of(size)
    count = length_product(lengths)
    key = require(
        key,
        _as_many,
        as_tensor_variable(n),
        as_tensor_variable(count),
        message="size is larger than a",
    )
    if p is None:
        order = _order(key, n)
    else:
        (p,), _ = float_parameters(p, dtype="float64")
        key = require(key, _not_negative, p, message="p < 0 or p is NaN")
        key = require(key, _sums_to_one, p, message="p does not sum to 1")
        key = require(
            key,
            _enough,
            p,
            as_tensor_variable(count),
            message="size is larger than the number of entries with p > 0",
        )
        # sorts exponential waiting times with rates p; each remaining entry is next with a probability in proportion to
        # p
        times = neg(log(standard_uniform(key, (shape_i(p, 0),), "float64", half=True)))
        order = without_derivative("choice", SortedOrder()(true_div(times, p)), p)
    return order[:count].reshape(tuple(lengths))


def _one_of(key: Any, n: Any, size: Any) -> Any:
    count = as_tensor_variable(length_product(lengths_of(size)))
    message = "a must be positive unless no samples are taken"
    key = require(key, _some, n, count, message=message)
    return integers(key, maximum(n, np.int64(1)), size=size)


def _some(n: Any, count: Any) -> Any:
    return (n > 0) | (count < 1)


def _equal(n: Any, entries: Any) -> Any:
    return (n >= entries) & (n <= entries)


def _as_many(n: Any, count: Any) -> Any:
    return n >= count


def _enough(p: Any, count: Any) -> Any:
    return (p > 0).sum() >= count
