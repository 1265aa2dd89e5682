"""Gradients through loops with checkpoints inside loops: lengths that are known stay known in every copy of a body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_loops import functions as loops

SHAPES = [(1, 2), (3, 2), (3, 4), (2, 1), (0, 2)]


def by_hand(x: Any, start: Any) -> Any:
    state = start
    for row in x:
        for y in row:
            state = np.sin(state) + y
    return state


@pytest.mark.parametrize("checkpoint", [1, 2, "sqrt", None])
@pytest.mark.parametrize("outer", [None, "sqrt"])
@pytest.mark.parametrize("static", [(True, True), (False, True), (True, False)])
@pytest.mark.sampled(8)
def test_gradients(checkpoint: Any, outer: Any, static: tuple[bool, bool]) -> None:
    for shape in SHAPES[:: 1 if checkpoint == 2 else 2]:
        kind = [n if known else None for n, known in zip(shape, static, strict=True)]
        x = ot.TensorType("float64", kind).make_variable("x")
        start = ot.dscalar("start")

        def inner(state: Any, row: Any) -> tuple[Any, None]:
            made, _ = loops.loop(
                lambda u, y: (ot.sin(u) + y, None), state, row, checkpoint=checkpoint
            )
            return made, None

        final, _ = loops.loop(inner, start, x, checkpoint=outer)
        f = oc.function([x, start], [final, *og.grad(final, [x, start])], mode="vm")
        rows = np.linspace(-0.7, 0.9, shape[0] * shape[1]).reshape(shape)
        value, of_rows, of_start = f(rows, 0.3)
        np.testing.assert_allclose(value, by_hand(rows, 0.3), rtol=1e-12)
        step = 1e-200j
        np.testing.assert_allclose(of_start, by_hand(rows, 0.3 + step).imag / 1e-200, rtol=1e-10)
        for i, j in np.ndindex(shape):
            moved = rows.astype(complex)
            moved[i, j] += step
            slope = by_hand(moved, 0.3).imag / 1e-200
            np.testing.assert_allclose(of_rows[i, j], slope, rtol=1e-10)
