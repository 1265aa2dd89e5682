"""Random expressions such as ``alpha x y + beta z`` of matrices and vectors, with values that NumPy computes.

Tests in the compile package compare compiled calls of BLAS (``gemm``, ``gemv``, ``ger``) with these values.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from occelo_graph import tensor as ot

Pair = tuple[Any, Any]
"""A variable, and the value that NumPy computes for it."""

FACTORS = [2.0, -0.5, 1.0, -1.0, 0.0, np.inf, -np.inf, np.nan, 1e-30, 1e30]


class Accumulating:
    """A random expression like ``alpha x y + beta z`` of small matrices and vectors, chosen by ``seed``.

    ``inputs`` and ``outputs`` are lists of pairs of a variable and its value. The first output is the expression. There
    may be other outputs: intermediate results of the expression, and a function of it. ``slack`` is the allowed error
    of each element of the first output. With ``special``, factors and elements may be infinite, NaN, zero or far from
    1.
    """

    def __init__(self, seed: int, special: bool = True) -> None:
        self.random = Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._special = special
        self.dtype = self.random.choice(["float64", "float32"])
        self.inputs: list[Pair] = []
        self._kind = self.random.choice(["matrix", "matrix", "column", "row", "outer"])
        lengths = [0, 1, 2, 3, 5, 17, 33]
        self.rows, self.inner, self.columns = (self.random.choice(lengths) for _ in range(3))
        self.slack: Any = 0.0
        with np.errstate(all="ignore"):
            self.outputs = self._build()

    def _draw(self, *shape: int) -> Any:
        array = self._numbers.normal(size=shape).astype(self.dtype)
        if self._special and array.size and self.random.random() < 0.15:
            place = self.random.randrange(array.size)
            array.reshape(-1)[place] = self.random.choice([np.inf, -np.inf, np.nan, 0.0])
        return array

    def _input(self, *shape: int) -> Pair:
        known = tuple(n if self.random.random() < 0.2 or n == 1 else None for n in shape)
        pair = ot.tensor(dtype=self.dtype, shape=known), self._draw(*shape)
        self.inputs.append(pair)
        return pair

    def _tensor(self, *shape: int) -> Pair:
        """A tensor of the given shape: an input, a view of an input in another memory layout, or a computed value."""
        kind = self.random.randrange(6)
        if kind == 0 and len(shape) == 2:
            x, a = self._input(*shape[::-1])
            return x.T, a.T
        if kind == 1:
            x, a = self._input(*shape)
            return x[::-1], a[::-1]
        if kind == 2:
            x, a = self._input(*shape[:-1], shape[-1] + 2)
            return x[..., 1:-1], a[..., 1:-1]
        if kind == 3:
            x, a = self._input(*shape)
            return ot.tanh(x), np.tanh(a)
        return self._input(*shape)

    def _scaled(self, pair: Pair, of_size: Any) -> Pair:
        """The pair itself, or its product with a factor: a constant or a scalar input.

        ``of_size`` has the absolute values that the elements of the pair would have if nothing cancelled. ``slack``
        grows by ``of_size`` times the absolute value of the factor, or by ``of_size`` if there is no factor.
        """
        x, a = pair
        kind = self.random.randrange(4)
        factors = FACTORS if self._special else FACTORS[:4]
        number: Any = np.asarray(self.random.choice(factors), self.dtype)
        if kind > 1:
            number = np.asarray(1.0, self.dtype)
        elif kind == 0:
            x = x * ot.constant(number)
        else:
            scalar = ot.tensor(dtype=self.dtype, shape=())
            self.inputs.append((scalar, number))
            x = scalar * x if self.random.random() < 0.5 else x * scalar
        self.slack = self.slack + abs(number) * of_size
        return x, a * number

    def _product(self) -> Pair:
        kind = self._kind
        if kind == "outer":
            (x, a), (y, b) = self._tensor(self.rows), self._tensor(self.columns)
            return self._scaled((ot.outer(x, y), np.outer(a, b)), np.abs(np.outer(a, b)))
        left = [self.inner] if kind == "row" else [self.rows, self.inner]
        right = [self.inner] if kind == "column" else [self.inner, self.columns]
        (x, a), (y, b) = self._tensor(*left), self._tensor(*right)
        return self._scaled((ot.dot(x, y), a @ b), np.abs(a) @ np.abs(b))

    def _build(self) -> list[Pair]:
        shape = {"column": [self.rows], "row": [self.columns]}.get(
            self._kind, [self.rows, self.columns]
        )
        if self.random.random() < 0.15:
            shape = self.random.choice([shape[1:], [*shape[:-1], 1], [1] * len(shape)])
            z = self._input(*shape)
        else:
            z = self._tensor(*shape)
        if self.random.random() < 0.2:
            z = self._product()
        z, c = self._scaled(z, np.abs(z[1]))
        x, a = self._product()
        order = self.random.randrange(4)
        total, value = [(z + x, c + a), (x + z, a + c), (z - x, c - a), (x - z, a - c)][order]
        others: list[Pair] = []
        if self.random.random() < 0.2:
            total, value = self._scaled((total, value), np.abs(value))
        if self.random.random() < 0.2:
            others.append((x, a))
        if self.random.random() < 0.2:
            others.append((z, c))
        if self.random.random() < 0.2:
            others.append((ot.tanh(total), np.tanh(value)))
        self.slack = 100 * float(np.finfo(self.dtype).eps) * (1 + self.inner) * self.slack
        return [(total, value), *others]
