"""Loops whose steps multiply by a matrix read it in C and in Fortran order, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_loops as ol
from occelo_graph import tensor as ot

function: Callable[..., Any] = oc.function

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "a block": lambda a: np.pad(a, 2)[2:-2, 2:-2],
    "rows backward": lambda a: a[::-1].copy()[::-1],
    "elements with gaps": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_loops_read_matrices_of_any_order(layout: str) -> None:
    x, u = ot.dmatrix(), ot.dvector()

    def step(b: Any, x: Any) -> Any:
        return b - 0.01 * (x.T @ (x @ b))

    last = ol.scan(step, outputs_info=u, non_sequences=[x], n_steps=5, return_updates=False)[-1]
    f = function([x, u], last)
    (unit,) = f.vm.units
    assert list(unit.in_either_order) == [0]
    rng = np.random.default_rng(0)
    a: Any = LAYOUTS[layout](rng.normal(size=(40, 7)))
    b: Any = rng.normal(size=7)
    exact = b
    for _ in range(5):
        exact = step(exact, a)
    for _ in range(3):
        np.testing.assert_allclose(f(a, b), exact, 1e-12, 1e-13)
