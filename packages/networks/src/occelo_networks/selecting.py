"""Functions that select: `one_hot`, `embedding`, and `dropout` by a key of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.shape.axes import listed_axes, normalize_axis
from occelo_networks.arguments import as_counts, as_float
from occelo_random import functions as random

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = ["dropout", "embedding", "one_hot"]


def one_hot(x: Any, num_classes: Any, dtype: str = "floatX", axis: int = -1) -> TensorVariable:
    """Vectors of length ``num_classes`` that are 1 at position ``x`` and 0 elsewhere, along a new axis.

    A vector is 0 everywhere if its position is negative or too large. ``axis`` is the place of the new axis in the
    result, and ``dtype`` is its dtype. TypeError if ``x`` or ``num_classes`` is not of integers, ValueError for a negative number of classes.
    """
    x = ot.as_tensor_variable(x)
    if not x.type.is_discrete:
        raise TypeError(f"Positions are integers, got {x.type}")
    spread = ot.expand_dims(x, axis)
    places = ot.arange(*as_counts([num_classes], "num_classes is"), dtype="int64")
    back = spread.type.ndim - 1 - axis % spread.type.ndim
    return ot.cast(ot.eq(spread, places.dimshuffle(0, *["x"] * back)), dtype)


def embedding(ids: Any, weights: Any) -> TensorVariable:
    """The rows of the matrix ``weights`` at ``ids``, integers of any shape. Its gradient adds rows that are repeated.

    TypeError if ``ids`` are not integers or ``weights`` is not a matrix.
    """
    ids, weights = ot.as_tensor_variable(ids), ot.as_tensor_variable(weights)
    if not ids.type.is_discrete or ids.dtype == "bool":
        raise TypeError(f"Rows are chosen by integers, got {ids.type}")
    if weights.type.ndim != 2:
        raise TypeError(f"The weights of an embedding are a matrix, got {weights.type}")
    return weights[ids]


def dropout(key: Any, x: Any, rate: Any = 0.5, broadcast: Sequence[int] = ()) -> TensorVariable:
    """``x`` with elements set to 0 with probability ``rate``, and the others divided by 1 - rate.

    The choice is a function of ``key`` (`occelo_random`), so it is the same in each use of this key. Along the axes in
    ``broadcast`` all elements share one choice. Leave dropout out of graphs that do not train. Integers become floats.
    ValueError for a rate that is not between 0 and 1, TypeError for one that is no number.
    """
    key = ot.as_tensor_variable(key)
    if key.dtype != "uint64":
        raise TypeError(
            f"The first argument of dropout is a key, made by random.key(seed), got {key.type}"
        )
    x = as_float(x)
    if not isinstance(rate, Variable):
        if isinstance(rate, str) or rate is None:
            raise TypeError(f"A rate of dropout is a number or a variable, got {rate!r}")
        if not 0 <= rate <= 1:
            raise ValueError(f"A rate of dropout lies between 0 and 1, got {rate}")
        if rate == 0:
            return x
        if rate == 1:
            return ot.zeros_like(x)
    shared = {normalize_axis(axis, x) for axis in listed_axes(broadcast)}
    size = tuple(1 if i in shared else x.shape[i] for i in range(x.type.ndim))
    remaining: Any = 1 - ot.as_tensor_variable(rate)
    mask = random.bernoulli(key, remaining, size=size)
    scale = ot.cast(1 / remaining, x.dtype)
    return ot.switch(mask, x * scale, 0)
