"""`RandomGeneratorType`: the type of variables whose values are NumPy's generators (`numpy.random.Generator`).

The ops in `random_variable` have inputs and outputs of this type. In compiled code, caches and saved graphs, a
generator is represented by its state, as an array of 64-bit words.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random.bit_generator import ISeedSequence

from occelo_graph.ir.types import Type
from occelo_graph.provenance import warn_user
from occelo_graph.tensors.type import TensorType

_WORDS = TensorType("uint64", (None,))
_MASK = 2**64 - 1


class _NoSeed(ISeedSequence):
    """The seed sequence of generators that are made from a state. They have no seed, so spawning raises an exception."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return np.zeros(n_words, dtype)


_NO_SEED = _NoSeed()


def _from_pcg(state: Any) -> list[Any]:
    inner = state["state"]
    halves = [half for n in (inner["state"], inner["inc"]) for half in (n >> 64, n & _MASK)]
    return [*halves, state["has_uint32"], state["uinteger"]]


def _to_pcg(words: Any) -> dict[str, Any]:
    # one call makes Python integers of all words, which is faster than one for each
    high, low, inc_high, inc_low, flag, half = words.tolist()
    inner = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
    return {"state": inner, "has_uint32": flag, "uinteger": half}


def _from_philox(state: Any) -> list[Any]:
    inner = state["state"]
    ends = [state["buffer_pos"], state["has_uint32"], state["uinteger"]]
    arrays = (inner["counter"], inner["key"], state["buffer"])
    return [*(word for array in arrays for word in array.tolist()), *ends]


def _to_philox(words: Any) -> dict[str, Any]:
    return {
        "state": {"counter": words[:4].copy(), "key": words[4:6].copy()},
        "buffer": words[6:10].copy(),
        "buffer_pos": int(words[10]),
        "has_uint32": int(words[11]),
        "uinteger": int(words[12]),
    }


def _from_sfc(state: Any) -> list[Any]:
    return [*state["state"]["state"].tolist(), state["has_uint32"], state["uinteger"]]


def _to_sfc(words: Any) -> dict[str, Any]:
    inner = {"state": words[:4].copy()}
    return {"state": inner, "has_uint32": int(words[4]), "uinteger": int(words[5])}


def _from_twister(state: Any) -> list[Any]:
    return [*state["state"]["key"].tolist(), state["state"]["pos"]]


def _to_twister(words: Any) -> dict[str, Any]:
    return {"state": {"key": words[:624].astype("uint32"), "pos": int(words[624])}}


class _Kind(NamedTuple):
    """One of NumPy's bit generators, with functions that convert its state to words and back.

    ``length`` is the number of words.
    """

    make: Callable[[Any], Any]
    name: str
    length: int
    from_state: Callable[[Any], list[Any]]
    to_state: Callable[[Any], dict[str, Any]]


_KINDS = (
    _Kind(np.random.PCG64, "PCG64", 6, _from_pcg, _to_pcg),
    _Kind(np.random.PCG64DXSM, "PCG64DXSM", 6, _from_pcg, _to_pcg),
    _Kind(np.random.Philox, "Philox", 13, _from_philox, _to_philox),
    _Kind(np.random.SFC64, "SFC64", 6, _from_sfc, _to_sfc),
    _Kind(np.random.MT19937, "MT19937", 625, _from_twister, _to_twister),
)
"""All bit generators of NumPy. The first word of a state is the position of its bit generator in this tuple, so the
order must not change.
"""
_NUMBERS = {kind.name: number for number, kind in enumerate(_KINDS)}


def _state_words(generator: np.random.Generator) -> Any:
    state: Any = generator.bit_generator.state
    number = _NUMBERS[state["bit_generator"]]
    return np.array([number, *_KINDS[number].from_state(state)], "uint64")


def _of_words(words: Any) -> np.random.Generator:
    kind = _KINDS[int(words[0])]
    if len(words) != kind.length + 1:
        raise ValueError(
            f"The state of a generator {kind.name} has {kind.length} words, got {len(words) - 1}"
        )
    bit_generator = kind.make(_NO_SEED)
    bit_generator.state = {"bit_generator": kind.name, **kind.to_state(words[1:])}
    return np.random.Generator(bit_generator)


def copied(generator: np.random.Generator) -> np.random.Generator:
    """A copy of a generator: a new generator with the same state. It has no seed, so its ``spawn`` raises TypeError."""
    state: Any = generator.bit_generator.state
    bit_generator = _KINDS[_NUMBERS[state["bit_generator"]]].make(_NO_SEED)
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def unseeded(lack: str) -> Any:
    """A new shared generator with an unknown seed, with a warning that begins with ``lack``: what the user left out."""
    warn_user(
        f"{lack}. Its generator has an unknown seed and no update, so that each call of a function draws the same numbers"
    )
    return importlib.import_module("occelo_random.ops.generators").shared_rng()


class RandomGeneratorType(Type):
    """The type of NumPy's generators with any bit generator of NumPy.

    Two values are equal if they have the same bit generator and the same state. TypeError if it is given arguments.
    """

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        """Return ``data``. TypeError unless it is a generator with a bit generator of NumPy; a seed is refused, too."""
        if not isinstance(data, np.random.Generator):
            raise TypeError(
                f"Expected a numpy.random.Generator, made by numpy.random.default_rng(seed), got {data!r}"
            )
        name = type(data.bit_generator).__name__
        if type(data.bit_generator) is not getattr(np.random, name, None):
            raise TypeError(
                f"The bit generator {name} is not one of NumPy's: {', '.join(_NUMBERS)}"
            )
        return data

    def may_share_memory(self, a: Any, b: Any) -> bool:
        return a.bit_generator is b.bit_generator

    def copy(self, value: Any) -> Any:
        return copied(value)

    def parts(self) -> tuple[TensorType, ...]:
        return (_WORDS,)

    def to_parts(self, value: Any) -> Sequence[Any]:
        return (_state_words(value),)

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return _of_words(np.asarray(parts[0]))

    def filled(self, shapes: Sequence[tuple[int, ...]], number: int) -> Any:
        """A generator for trial runs, with the seed ``number``. ``shapes`` has one shape: that of the generator's
        state.

        If no bit generator has a state of this length, the result is a PCG64. `Type.filled` sets all elements of a
        value's arrays to ``number``. That is not done with the words of a generator's state: with equal words, an
        algorithm that rejects numbers could loop forever.
        """
        (shape,) = shapes
        make = next((kind.make for kind in _KINDS if (kind.length + 1,) == shape), np.random.PCG64)
        return np.random.Generator(make(number))

    def __repr__(self) -> str:
        return "RandomGenerator"


random_generator_type = RandomGeneratorType()
