"""Random programs that write parts of tensors and read them through views, with expected values from NumPy.

Tests of in-place writes in the packages link and compile, and of every backend, use these programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np

from occelo_graph import tensor as ot

__all__ = ["Writing"]

Pair = tuple[Any, Any]
"""A variable, and the value that NumPy computes for it."""


class Writing:
    """A random program over small tensors.

    ``seed`` chooses the program and the values of its inputs. ``values`` maps positions of inputs to other values for
    them. ``inputs``, ``outputs`` and ``made`` are lists of pairs of a variable and its value; ``made`` has all pairs,
    inputs first.
    """

    def __init__(self, seed: int, values: Mapping[int, Any] | None = None) -> None:
        self.random = Random(seed)
        self._values: Mapping[int, Any] = {} if values is None else values
        self.inputs: list[Pair] = []
        self.made: list[Pair] = []
        for _ in range(self.random.randint(2, 3)):
            self.add_input()
        for _ in range(self.random.randint(2, 7)):
            made, value = self.random.choice(STEPS)(self)
            self.made.append((made, np.asarray(value)))
        count = self.random.randint(1, 3)
        self.outputs = self.made[-1:] + self.random.sample(
            self.made, min(count - 1, len(self.made))
        )

    def add_input(self) -> None:
        shape = self.random.choice([(1,), (1,), (1, 1), (3,), (2, 1), (1, 3), (2, 3), (0,), ()])
        static = tuple(n if self.random.random() < 0.6 else None for n in shape)
        count = int(np.prod(shape))
        drawn: Any = np.reshape([float(self.random.randint(-9, 9)) for _ in range(count)], shape)
        value: Any = np.asarray(self._values.get(len(self.inputs), drawn), float)
        pair: Pair = ot.tensor(dtype="float64", shape=static), value
        self.inputs.append(pair)
        self.made.append(pair)

    def any(self) -> Pair:
        # the latest three values are chosen more often
        return self.random.choice(self.made[-3:] if self.random.random() < 0.6 else self.made)

    def key(self, shape: tuple[int, ...], repeats: bool = True) -> Any:
        """A random index: integers, slices in both directions, index arrays."""
        entries: list[Any] = []
        arrays = self.random.random() < 0.4
        for n in shape:
            kind = self.random.randrange(3)
            if kind == 0 and n:
                entries.append(self.random.randrange(-n, n))
            elif kind == 1 and n and arrays:
                width = self.random.randint(1, 3) if repeats else 1
                entries.append([self.random.randrange(-n, n) for _ in range(width)])
                arrays = False
            else:
                start, stop = (self.random.choice([None, 0, 1, -1, n]) for _ in range(2))
                entries.append(slice(start, stop, self.random.choice([None, 1, -1, 2])))
        return tuple(entries)

    def fitting(self, shape: tuple[int, ...], when_built: bool = True) -> Pair:
        """A random earlier value that broadcasts to the shape, or a random number.

        Without ``when_built``, dynamic lengths that turn out to be 1 broadcast, too.
        """
        fits = [
            p
            for p in self.made
            if p[1].ndim <= len(shape)
            and all(
                m == n or (m == 1 and (s == 1 or not when_built))
                for m, s, n in zip(
                    p[1].shape, p[0].type.shape, shape[len(shape) - p[1].ndim :], strict=True
                )
            )
        ]
        if fits and self.random.random() < 0.8:
            return self.random.choice(fits)
        number = float(self.random.randint(-9, 9))
        return ot.as_tensor_variable(number), np.array(number)


def write(w: Writing) -> Pair:
    x, value = w.any()
    replace = w.random.random() < 0.5
    # a write must not set a position twice, since NumPy does not define which value is kept
    key = w.key(value.shape, repeats=not replace)
    y, of_y = w.fitting(value[key].shape, when_built=False)
    made = np.array(value)
    if replace:
        made[key] = of_y
        return x[key].set(y), made
    np.add.at(made, key, np.broadcast_to(of_y, value[key].shape))
    return x[key].inc(y), made


def read(w: Writing) -> Pair:
    x, value = w.any()
    key = w.key(value.shape)
    return x[key], np.array(value[key])


def combine(w: Writing) -> Pair:
    x, value = w.any()
    y, other = w.fitting(value.shape)
    return x * y + 1.0, value * other + 1.0


def broadcast(w: Writing) -> Pair:
    """The sum of a tensor and one element of another tensor."""
    x, value = w.any()
    y, other = w.any()
    if not other.size:
        return x + 1.0, value + 1.0
    place = tuple(w.random.randrange(n) for n in other.shape)
    return x + y[place], value + other[place]


def reverse(w: Writing) -> Pair:
    x, value = w.any()
    return x.T[..., ::-1] if value.ndim else -x, value.T[..., ::-1] if value.ndim else -value


def total(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return x + x, value + value
    axis = w.random.randrange(value.ndim)
    return x.sum(axis=axis, keepdims=True), value.sum(axis=axis, keepdims=True)


def join(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return ot.stack([x, x + 1.0]), np.stack([value, value + 1.0])
    return ot.concatenate([x, x * 2.0]), np.concatenate([value, value * 2.0])


def running(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return x - 2.0, value - 2.0
    return ot.cumsum(x, axis=0), np.cumsum(value, axis=0)


def choose(w: Writing) -> Pair:
    x, value = w.any()
    y, other = w.any()
    if not other.size or not value.size:
        return x - 3.0, value - 3.0
    first, zero = (0,) * other.ndim, (0,) * value.ndim
    changed = value.copy()
    changed[zero] = other[first]
    condition = other[first] > 0
    made = ot.ifelse(y[first] > 0, x[zero].set(y[first]), x * 2.0)
    return made, changed if condition else value * 2.0


STEPS = [
    write,
    write,
    write,
    write,
    read,
    read,
    combine,
    broadcast,
    broadcast,
    reverse,
    total,
    join,
    running,
    choose,
]
