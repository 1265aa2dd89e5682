"""Keys for random numbers: functions that make and split keys, and compute the random bits of a key.

Users call the functions from `occelo.tensor.random`. `draws` and the other modules of draws by keys compute numbers
from the bits, which `philox` generates. A key is an ordinary scalar of dtype uint64. So it can be an input, a shared
variable, a carried value of a loop or an element of a batch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.create import ARange
from occelo_graph.ops.elemwise.arithmetic import and_, int_div, xor
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    fill_static,
    integer_length,
    lengths_of,
    specialize_lengths,
    split_static,
)
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete
from occelo_random.ops.philox import LOW, philox

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

# A key is combined with one of these words before new keys are made from it, so that the new keys are independent of
# draws with the key. The words are from the fractional parts of the golden ratio and of pi.
_SPLIT = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(0x243F6A8885A308D3)


@explained_by("keys")
def key(seed: int | Sequence[int]) -> TensorVariable:
    """Make a key from a seed. The key is a constant uint64 scalar.

    A seed is one or several nonnegative integers of any size. `numpy.random.SeedSequence` mixes them, so the keys of
    similar seeds are unrelated. ValueError for a negative seed, TypeError for other values. For a symbolic integer,
    call ``fold_in(key(0), seed)`` instead.
    """
    if isinstance(seed, Variable):
        raise TypeError(
            f"A seed is a Python integer; for {seed}, fold it in: fold_in(key(0), seed)"
        )
    try:
        sequence = np.random.SeedSequence(seed)
    except (TypeError, ValueError) as error:
        raise type(error)(f"A seed is one or several non-negative integers, got {seed!r}") from None
    words = sequence.generate_state(1, np.uint64)
    return constant(words[0])


@explained_by("keys")
def as_key(given: Any) -> TensorVariable:
    """Convert ``given`` to a tensor of keys. TypeError if its dtype is not uint64."""
    keys = as_tensor_variable(given)
    if keys.dtype != "uint64":
        raise TypeError(
            f"A key of random numbers is a tensor of dtype uint64, made by random.key(seed); got {keys.type}"
        )
    return keys


@explained_by("keys")
def split(key: Any, num: Any = 2) -> TensorVariable:
    """Make ``num`` new keys from each key. They lie along a new last axis.

    The new keys are independent of each other, and of draws with ``key``. If ``key`` is split again, the same keys are
    returned. So use a key only once, either to draw or to split it.
    """
    keys: TensorVariable = bits(xor(as_key(key), _SPLIT), integer_length(num))
    return keys


@explained_by("keys")
def fold_in(key: Any, data: Any) -> TensorVariable:
    """A new key for each pair of a key in ``key`` and an integer in ``data``, such as the number of a step or a row.

    Keys and integers broadcast. TypeError if ``data`` is not of an integer dtype.
    """
    number = as_tensor_variable(data)
    if not is_discrete(number.dtype) or number.dtype == "bool":
        raise TypeError(f"Integers are folded into keys, got {number.type}")
    words = number.astype("uint64")
    # the two halves of the number are folded in one after the other, so that different numbers give different keys
    low = philox(xor(as_key(key), _FOLD), and_(words, LOW))
    folded: TensorVariable = philox(low, int_div(words, np.uint64(1 << 32)))
    return folded


@op
class RandomBits(FollowsLengths):
    """Computes 64 random bits for each key and each position of a shape.

    The inputs are keys and the dynamic lengths of the shape. The result has the dimensions of the keys, followed by the
    dimensions of the shape. The bits are ``philox(key, index)``, where the index is the number of the position in
    row-major order.
    """

    shape: StaticShape

    def infer(self, key: TensorType, *lengths: Any) -> TensorType:
        if key.dtype != "uint64":
            raise TypeError(f"{self} takes keys of dtype uint64, got {key}")
        check_length_types(self, lengths)
        return TensorType("uint64", (*key.shape, *self.shape))

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def evaluate(self, key: Any, *lengths: Any) -> Any:
        shape = tuple(int(n) for n in fill_static(self.shape, lengths))
        index = np.arange(math.prod(shape), dtype="uint64").reshape(shape)
        return philox.evaluate(np.reshape(key, (*key.shape, *[1] * len(shape))), index)

    def decompose(self, key: Any, *lengths: Any) -> Sequence[Any]:
        shape = fill_static(self.shape, lengths)
        if not shape:
            return [philox(key, np.uint64(0))]
        count: Any = constant(1)
        for n in shape:
            count = count * n
        # always an `ARange`, since a constant would be as large as the draw
        index: Any = ARange("uint64")(constant(0), count, constant(1))
        axes = tuple(range(-len(shape), 0))
        return [philox(expand_dims(key, axes), index.reshape(shape))]

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        shape, rest = specialize_lengths(self.shape, inputs[1:])
        return RandomBits(shape), (inputs[0], *rest)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False] for _ in node.inputs]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None] * len(inputs)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(*input_shapes[0], *fill_static(self.shape, node.inputs[1:]))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(1, len(inputs)))
        # batch dimensions come first in the keys, and so they come first in the result
        return self.make_node(*inputs).outputs


def bits(key: Any, shape: Any = ()) -> TensorVariable:
    """64 random bits (uint64) for each key and each position of ``shape``.

    The result has the dimensions of the keys, followed by the dimensions of the shape.
    """
    static, dynamic = split_static(lengths_of(shape))
    words: TensorVariable = RandomBits(static)(as_key(key), *dynamic)
    return words
