"""Sizes of draws that follow from static shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.tensors.type import TensorType
from occelo_random import functions as random
from occelo_random.ops import generators


def test_sizes_of_draws_are_read_from_static_shapes() -> None:
    """By generators and by keys: the shape of a tensor, its lengths, and computed lengths; batches of draws."""
    x = TensorType("float64", (3, 4)).make_variable("x")
    rng = generators.rng("rng")
    key = random.key(1)
    n = ot.lscalar("n")
    sizes: list[tuple[Any, tuple[int | None, ...]]] = [
        (x.shape, (3, 4)),
        (x.shape[0], (3,)),
        ((x.shape[1], 2), (4, 2)),
        ((x.shape[0] + 1, n), (4, None)),
        (ot.concatenate([x.shape, [2]]), (3, 4, 2)),
        (ot.as_tensor(np.array([2, 5])), (2, 5)),
    ]
    for size, shape in sizes:
        assert rng.normal(size=size)[1].type.shape == shape, size
        assert rng.dirichlet(np.ones(2), size=size)[1].type.shape == (*shape, 2), size
        assert random.normal(key, size=size).type.shape == shape, size
    mu, batch = ot.dvector("mu"), TensorType("float64", (5, 4)).make_variable("batch")
    for size, shape in ((None, (5, 4)), (mu.shape, (5, 4)), ((2, mu.shape[0]), (5, 2, 4))):
        draw = rng.normal(mu, size=size)[1]
        assert og.vectorize_graph(draw, {mu: batch}).type.shape == shape


def test_a_draw_of_known_size_follows_another_tensor() -> None:
    x = TensorType("float64", (3, 4)).make_variable("x")
    rng = generators.rng("rng")
    draw = rng.normal(size=x.shape)[1]
    for shape in ((None, 4), (7, 4), (None, None)):
        other = TensorType("float64", shape).make_variable("other")
        again = og.clone_replace(draw, {x: other}, rebuild_strict=False)
        assert again.type.shape == shape
        value = og.evaluate(again, {other: np.ones((7, 4)), rng: np.random.default_rng(3)})
        np.testing.assert_array_equal(value, np.random.default_rng(3).normal(size=(7, 4)))


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda n: 2 * n + 1, (7, 9)),
        (lambda n: np.array([7]) - n, (4, 3)),
        (lambda n: n[::-1] // 2, (2, 1)),
        (lambda n: ot.switch(n > 3, n, 0), (0, 4)),
    ],
)
def test_sizes_that_elementwise_ops_compute(
    build: Callable[[Any], Any], expected: tuple[int, ...]
) -> None:
    full = TensorType("float64", (3, 4)).make_variable("full")
    partly = TensorType("float64", (3, None)).make_variable("partly")
    rng = generators.rng("rng")
    assert rng.normal(size=build(full.shape))[1].type.shape == expected
    draw = rng.normal(size=build(partly.shape))[1]
    value = og.evaluate(draw, {partly: np.ones((3, 4)), rng: np.random.default_rng(3)})
    assert value.shape == expected
    assert all(n in (None, m) for n, m in zip(draw.type.shape, expected, strict=True))
    assert any(n is not None for n in draw.type.shape)
