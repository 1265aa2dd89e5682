"""`indexings`, a Hypothesis strategy for random index keys.

Each draw is a tensor, a key, and values to write there, with the results of NumPy. Tests of indexing in the packages
graph, link and compile, and of every backend, use this strategy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from occelo_graph import tensor as ot
from occelo_graph.gradient.reverse import grad

_WIDER = {
    "float64": ("float64", "float32", "int64", "int8", "bool"),
    "float32": ("float32", "int8", "bool"),
    "int64": ("int64", "int8", "uint8", "bool"),
    "int8": ("int8", "bool"),
    "bool": ("bool",),
    "complex128": ("complex128", "float32", "int64"),
}
"""For each dtype of a tensor, the dtypes of values that may be written to it."""


@dataclass
class Indexing:
    """A tensor ``x``, a key, and a value ``y`` to write at ``x[key]``: for Occelo and for NumPy.

    ``x`` and ``y`` are variables, and ``of_x`` and ``of_y`` are their arrays. ``plain`` is the key for NumPy.
    ``inputs`` and ``values`` are all inputs with their values. ``places`` are the positions in the flattened ``x`` that
    the key selects.
    """

    x: Any
    y: Any
    key: tuple[Any, ...]
    inputs: list[Any]
    values: list[Any]
    of_x: Any
    of_y: Any
    plain: tuple[Any, ...]
    places: Any = field(init=False)

    def __post_init__(self) -> None:
        numbers: Any = np.reshape(np.arange(int(self.of_x.size)), self.of_x.shape)
        self.places = np.asarray(numbers[self.plain])

    @property
    def repeats(self) -> bool:
        """Whether the key selects a position more than once."""
        return bool(len(np.unique(self.places)) < self.places.size)

    def outputs(self) -> list[Any]:
        """The part ``x[key]``, ``x`` with this part set to ``y``, and ``x`` with this part incremented by ``y``.

        For float64, the gradients of these three outputs are appended.
        """
        part = self.x[self.key]
        results = [part, part.set(self.y), part.inc(self.y)]
        if self.x.type.dtype == "float64" and self.y.type.dtype == "float64":
            weights = [ot.arange(v.size).reshape(v.shape, ndim=v.type.ndim) * 1.0 for v in results]
            costs = [(w * v).sum() for w, v in zip(weights, results, strict=True)]
            results.append(grad(costs[0], self.x))
            for cost in costs[1:]:
                results += grad(cost, [self.x, self.y])
        return results

    def expected(self) -> list[Any]:
        """The values of `outputs`, computed with NumPy by loops over elements."""
        flat = self.places.reshape(-1)
        written = np.broadcast_to(self.of_y, self.places.shape).astype(self.of_x.dtype).reshape(-1)
        replaced, added = (self.of_x.copy().reshape(-1) for _ in range(2))
        for place, value in zip(flat, written, strict=True):
            replaced[place] = value
            added[place] += value
        shape = self.of_x.shape
        parts = [self.of_x.reshape(-1)[self.places], replaced.reshape(shape), added.reshape(shape)]
        if self.of_x.dtype == "float64" and self.of_y.dtype == "float64":
            of_read = np.zeros(self.of_x.size)
            for number, place in enumerate(flat):
                of_read[place] += number
            weights = np.arange(self.of_x.size, dtype=float)
            of_set = weights.copy()
            of_set[flat] = 0
            # if several values are set at one position, the last value is kept
            last = {place: number for number, place in enumerate(flat)}
            stays = np.array([last[place] == number for number, place in enumerate(flat)], bool)
            of_written = weights[self.places] * stays.reshape(self.places.shape)
            parts += [of_read.reshape(shape), of_set.reshape(shape)]
            parts += [_summed(of_written, self.of_y.shape), weights.reshape(shape)]
            parts += [_summed(weights[self.places], self.of_y.shape)]
        return [np.asarray(v) for v in parts]


def _summed(array: Any, shape: tuple[int, ...]) -> Any:
    """The sums of an array over the axes along which an array of shape ``shape`` was broadcast."""
    total = array.sum(axis=tuple(range(array.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1)
    return total.sum(axis=axes, keepdims=True)


class _Drawing:
    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.inputs: list[Any] = []
        self.values: list[Any] = []

    def choose(self, *values: Any) -> Any:
        return self.draw(st.sampled_from(values))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def given(self, value: Any) -> Any:
        """A new input variable for an array. Each length is static or dynamic at random."""
        shape = [n if self.choose(True, False) else None for n in value.shape]
        variable = ot.tensor(dtype=value.dtype.name, shape=shape)
        self.inputs.append(variable)
        self.values.append(value)
        return variable

    def integer(self, value: int) -> Any:
        return self.given(np.array(value, "int64")) if self.number(0, 3) == 0 else value

    def slice(self, length: int) -> tuple[Any, Any]:
        low, high = -length - 1, length + 1
        parts = [
            self.choose(None, self.number(low, high)),
            self.choose(None, self.number(low, high)),
            self.choose(None, 1, -1, 2, -2, 3),
        ]
        return slice(*[p if p is None else self.integer(p) for p in parts]), slice(*parts)

    def position(self, length: int) -> tuple[Any, Any]:
        value = self.number(-length, length - 1)
        return self.integer(value), value

    def array(self, length: int, shape: tuple[int, ...]) -> tuple[Any, Any]:
        low = -length if length else 0
        elements = [
            self.number(low, length - 1) if length else 0 for _ in range(int(np.prod(shape)))
        ]
        signed = any(e < 0 for e in elements)
        dtype = self.choose("int64", "int8", *([] if signed else ["uint8"]))
        value = np.array(elements, dtype).reshape(shape)
        variable = value if self.choose(True, False) else self.given(value)
        return variable, value

    def mask(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        value = np.array([self.choose(True, False) for _ in range(int(np.prod(shape)))], bool)
        value = value.reshape(shape)
        variable = value if self.choose(True, False) else self.given(value)
        return variable, value

    def key(
        self, shape: tuple[int, ...], advanced: bool
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        entries: list[tuple[Any, Any]] = []
        arrays = self.choose((1,), (2,), (3,), (2, 1), (1, 2), (2, 2), (0,), ())
        axis = 0
        while axis < len(shape):
            kind = self.number(0, 9)
            n = shape[axis]
            if kind == 0:
                entries.append((None, None))
                continue
            if kind == 1 and advanced:
                entries.append(self.mask(()))
                continue
            if kind == 2 and advanced and axis + 1 < len(shape):
                entries.append(self.mask(shape[axis : axis + 2]))
                axis += 2
                continue
            if kind == 3 and advanced:
                entries.append(self.mask(shape[axis : axis + 1]))
            elif kind in (4, 5) and advanced and (n or 0 in arrays):
                own = tuple(self.choose(m, 1) if m != 0 else m for m in arrays)
                entries.append(self.array(n, own[self.number(0, len(own)) :]))
            elif kind in (6, 7) and n:
                entries.append(self.position(n))
            else:
                entries.append(self.slice(n))
            axis += 1
            if kind == 9 and not any(e is Ellipsis for e, _ in entries):
                break
        if axis < len(shape) and self.choose(True, False):
            entries.append((Ellipsis, Ellipsis))
        return tuple(e for e, _ in entries), tuple(p for _, p in entries)

    def value(self, region: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
        lead = self.number(0, len(region))
        spread = [self.number(0, 3) == 0 for _ in region[lead:]]
        shape = tuple(1 if s else n for s, n in zip(spread, region[lead:], strict=True))
        value = self.array_of(self.choose(*_WIDER[dtype]), shape)
        return self.given(value), value

    def array_of(self, dtype: str, shape: tuple[int, ...]) -> Any:
        low = 0 if dtype in ("bool", "uint8") else -9
        elements = [self.number(low, 9) for _ in range(int(np.prod(shape)))]
        return np.array(elements, "int64").astype(dtype).reshape(shape)


@st.composite
def indexings(
    draw: Any, dtypes: Sequence[str] = tuple(_WIDER), advanced: bool = True, unique: bool = False
) -> Indexing:
    """Random keys for tensors of 0 to 3 dimensions. Index arrays and the written value broadcast, also by lengths of 1 that
    are dynamic. Without ``advanced`` the keys have no index arrays and no masks.

    With ``unique`` a key selects no position twice.
    """
    drawing = _Drawing(draw)
    shape = tuple(drawing.choose(0, 1, 2, 3, 3, 4) for _ in range(drawing.number(0, 3)))
    dtype = drawing.choose(*dtypes)
    of_x = drawing.array_of(dtype, shape)
    x = drawing.given(of_x)
    key, plain = drawing.key(shape, advanced)
    try:
        region = np.shape(of_x[plain])
    except IndexError:
        assume(False)
        raise
    y, of_y = drawing.value(region, dtype)
    indexing = Indexing(x, y, key, drawing.inputs, drawing.values, of_x, of_y, plain)
    assume(not (unique and indexing.repeats))
    return indexing
