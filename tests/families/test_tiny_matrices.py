"""Products and gradients of Cholesky factors of tiny matrices, which are formulas without calls of BLAS and LAPACK."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.loops import loop

Array = npt.NDArray[Any]
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
PRODUCTS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    ((6, 4, 4), (4, 4)),
    ((3, 3), (5, 3, 2)),
    ((2, 1, 2, 3), (4, 3, 5)),
    ((5, 4, 3), (5, 3, 1)),
    ((5, 4, 9), (1, 9, 1)),
    ((7, 1, 16), (7, 16, 2)),
    ((4, 3, 17), (17, 2)),
    ((0, 2, 2), (2, 2)),
    ((3, 2, 0), (3, 0, 2)),
)


def _only_loops(mode: str) -> None:
    if mode not in ("native", "c", "numba"):
        pytest.skip("this linker has no loops")


def test_small_products_in_batches(mode: str) -> None:
    _only_loops(mode)
    if mode == "numba" and not THOROUGH:
        pytest.skip("Numba compiles the same loops for 10 seconds")
    inputs: list[Any] = []
    outputs: list[Any] = []
    for left, right in PRODUCTS:
        x, y = ot.tensor("x", shape=left, dtype="float64"), ot.tensor("y", shape=right)
        turned = y.dimshuffle(*range(y.ndim - 2), y.ndim - 1, y.ndim - 2)
        back = turned.dimshuffle(*range(y.ndim - 2), y.ndim - 1, y.ndim - 2)
        inputs += [x, y]
        outputs += [ot.matmul(x, back), ot.matmul(ot.exp(x), y) + 1.0]
    f = oc.function(inputs, outputs, mode=mode)
    generator = np.random.default_rng(0)
    given: list[Array] = [generator.normal(size=shape) for pair in PRODUCTS for shape in pair]
    found = f(*given)
    for k in range(len(PRODUCTS)):
        x, y = given[2 * k], given[2 * k + 1]
        np.testing.assert_allclose(found[2 * k], x @ y, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(found[2 * k + 1], np.exp(x) @ y + 1.0, rtol=1e-12, atol=1e-12)


def test_gradients_of_tiny_cholesky_factors(mode: str) -> None:
    _only_loops(mode)
    sizes = (1, 2, 3, 4, 5)
    matrices = [ot.tensor("a", shape=(n, n), dtype="float64") for n in sizes]
    weights = [ot.tensor("w", shape=(n, n), dtype="float64") for n in sizes]
    costs = [
        (w * linalg.cholesky(a)).sum() + (w * linalg.cholesky(a[None])[0] ** 2).sum()
        for a, w in zip(matrices, weights, strict=True)
    ]
    f = oc.function([*matrices, *weights], grad(sum(costs), matrices), mode=mode)
    generator = np.random.default_rng(1)
    roots = [generator.normal(size=(n, n)) for n in sizes]
    a = [r @ r.T + n * np.eye(n) for r, n in zip(roots, sizes, strict=True)]
    w = [generator.normal(size=(n, n)) for n in sizes]

    def cost(a: Array, w: Array) -> float:
        factor = np.linalg.cholesky(a)
        return float((w * (factor + factor**2)).sum())

    for found, one, weight in zip(f(*a, *w), a, w, strict=True):
        for i, j in np.ndindex(one.shape):
            # only the lower triangle is read
            step = np.zeros_like(one)
            step[i, j] = 1e-6 * (i >= j)
            slope = (cost(one + step, weight) - cost(one - step, weight)) / 2e-6
            np.testing.assert_allclose(found[i, j], slope, rtol=1e-5, atol=1e-8)


def test_a_loop_of_tiny_factors_and_products(mode: str) -> None:
    _only_loops(mode)
    move = ot.tensor("move", shape=(3, 3), dtype="float64")
    ys = ot.tensor("ys", shape=(6, 3), dtype="float64")

    def step(p: Any, y: Any) -> Any:
        p = move @ p @ move.T + np.eye(3)
        factor = linalg.cholesky(p)
        return p - 0.1 * factor @ factor.T, (factor * y).sum()

    total = loop(step, ot.eye(3), ys)[1].sum()
    f = oc.function([move, ys], [total, *grad(total, [move, ys])], mode=mode)
    generator = np.random.default_rng(2)
    a, b = generator.normal(size=(3, 3)) / 2, generator.normal(size=(6, 3))

    def cost(move: Array, ys: Array) -> float:
        p, total = np.eye(3), 0.0
        for y in ys:
            p = move @ p @ move.T + np.eye(3)
            factor = np.linalg.cholesky(p)
            p, total = p - 0.1 * factor @ factor.T, total + float((factor * y).sum())
        return total

    found = f(a, b)
    np.testing.assert_allclose(found[0], cost(a, b), rtol=1e-12)
    for k, array in enumerate((a, b)):
        for i in np.ndindex(array.shape):
            step_ = np.zeros_like(array)
            step_[i] = 1e-6
            more, less = ([a + s, b] if k == 0 else [a, b + s] for s in (step_, -step_))
            slope = (cost(*more) - cost(*less)) / 2e-6
            np.testing.assert_allclose(found[1 + k][i], slope, rtol=1e-5, atol=1e-7)
