"""Examples of random bits, keys and draws, for the table in `examples`.

The expected results are computed by the generator Philox, written here with Python's integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_graph.optional_scipy import scipy_module
from occelo_random.functions import reuse
from occelo_random.ops.draws import bernoulli, exponential, integers, normal, uniform
from occelo_random.ops.keys import bits, fold_in, key, split
from occelo_random.ops.philox import philox

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

KEYS = np.array([0, 5, 2**63 + 17, 2**64 - 1], "uint64")
INDICES = np.array([0, 1, 2**32 - 1, 2**33 + 3], "uint64")
WORD = 2**32
SPLIT = np.uint64(0x9E3779B97F4A7C15)
_KEY_OF_7 = 16920295385781661272


def philox_block(key: int, index: int) -> int:
    """The 64 random bits that Philox2x32-10 computes for a key and an index, by Python's integers."""
    word, first, second = key % WORD, index % WORD, (key // WORD + index // WORD) % WORD
    for _ in range(10):
        high, low = divmod(first * 0xD256D193, WORD)
        first, second = high ^ word ^ second, low
        word = (word + 0x9E3779B9) % WORD
    return first * WORD + second


def _blocks(keys: Any, indices: Any) -> Array:
    whole, positions = np.broadcast_arrays(
        np.asarray(keys, "uint64"), np.asarray(indices, "uint64")
    )
    words = [philox_block(int(k), int(i)) for k, i in zip(whole.flat, positions.flat, strict=True)]
    return np.array(words, "uint64").reshape(whole.shape)


def bits_of(keys: Any, shape: tuple[int, ...]) -> Array:
    """The 64 random bits of each element of a draw of the given shape, for each key."""
    whole = np.asarray(keys, "uint64")
    words = _blocks(whole[..., None], np.arange(int(np.prod(shape))))
    return words.reshape((*whole.shape, *shape))


def uniform_numbers(keys: Any, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in [0, 1), from the bits of each element."""
    return (bits_of(keys, shape) >> np.uint64(11)) * 2.0**-53


def open_uniform(keys: Any, shape: tuple[int, ...]) -> Array:
    """Uniform numbers in (0, 1), which are never 0."""
    return (2.0 * (bits_of(keys, shape) >> np.uint64(12)) + 1.0) * 2.0**-53


def _folded(keys: Any, data: Any) -> Array:
    words = np.asarray(data).astype("uint64")
    other = np.asarray(keys) ^ np.uint64(0x243F6A8885A308D3)
    return _blocks(_blocks(other, words % WORD), words // WORD)


def make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    grad: tuple[int, ...] = (),
    batched: tuple[int, ...] = (),
) -> Example:
    """An example of the family random, with a relative tolerance of 1e-12."""
    return Example(name, "random", function, reference, args, grad, 1e-12, batched)


LOC = draw((-1.0, 1.0), (3,), salt=31)
SCALE = draw((0.5, 2.0), (3,), salt=32)
KEY = np.array(1234567890123456789, "uint64")

EXAMPLES: list[Example] = [
    make("philox", philox, _blocks, KEYS, INDICES, batched=(0, 1)),
    make("bits", lambda k: bits(k, (2, 3)), lambda k: bits_of(k, (2, 3)), KEYS, batched=(0,)),
    make("bits", lambda k: bits(k, (0,)), lambda k: bits_of(k, (0,)), KEYS[:1]),
    make("bits", lambda k, x: bits(k, x.shape), lambda k, x: bits_of(k, x.shape), KEYS[1:2].reshape(()), LOC),
    make("key", lambda k: key(7) ^ k, lambda k: np.uint64(_KEY_OF_7) ^ k, KEYS),
    make("split", lambda k: split(k, 3), lambda k: bits_of(k ^ SPLIT, (3,)), KEYS, batched=(0,)),
    make("reuse", lambda k: bits(reuse(k), (3,)), lambda k: bits_of(k, (3,)), KEYS, batched=(0,)),
    make("fold_in", fold_in, _folded, KEYS, np.array([-1, 0, 1, 2**40]), batched=(0, 1)),
    make(
        "uniform",
        lambda k, low, high: uniform(k, low, high),
        lambda k, low, high: low + (high - low) * uniform_numbers(k, (3,)),
        KEY, LOC, LOC + SCALE, grad=(1, 2),
    ),
    make(
        "exponential",
        lambda k, scale: exponential(k, scale),
        lambda k, scale: -scale * np.log1p(-uniform_numbers(k, (3,))),
        KEY, SCALE, grad=(1,),
    ),
    make(
        "normal",
        lambda k, loc, scale: normal(k, loc, scale),
        lambda k, loc, scale: loc + scale * scipy_module("special", "ndtri").ndtri(open_uniform(k, (3,))),
        KEY, LOC, SCALE, grad=(1, 2),
    ),
    make("normal", lambda k: normal(k, size=(2, 0)), lambda k: np.zeros((4, 2, 0)), KEYS),
    make(
        "bernoulli",
        lambda k, p: bernoulli(k, p, size=(5,)),
        lambda k, p: uniform_numbers(k, (5,)) < p,
        KEY, np.array(0.4),
    ),
    make(
        "integers",
        lambda k, low, high: integers(k, low, high, size=(7,)),
        lambda k, low, high: low + (bits_of(k, (7,)) % np.uint64(high - low)).astype("int64"),
        KEY, np.array(-3), np.array(9),
    ),
]  # fmt: skip
