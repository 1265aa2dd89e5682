"""Products in which the right factor has one column or the left one has one row: machine code calls gemv for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph.tensor as ot
from occelo_graph import TensorType

SHAPES = [(33, 40, 1), (1, 40, 33), (1, 50, 1), (20, 0, 1), (0, 20, 1), (1, 0, 17), (1, 1, 30), (30, 1, 1)]  # fmt: skip
BATCHES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((), ()), ((3,), (3,)), ((2, 1), (2, 3)), ((), (3,)), ((0,), (0,)),
]  # fmt: skip
# what lies in memory, and how the matrix is read from it: by rows, by columns, with gaps between rows
LAYOUTS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "rows": (lambda a: a, lambda v: v),
    "columns": (lambda a: np.swapaxes(a, -1, -2).copy(), lambda v: ot.swapaxes(v, -1, -2)),
    "gaps": (lambda a: np.repeat(a, 2, axis=-2), lambda v: v[..., ::2, :]),
}


def known_ones(shape: tuple[int, ...]) -> tuple[int | None, ...]:
    return tuple(1 if n == 1 else None for n in shape)


@pytest.mark.parametrize("mode", ["native", "c"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layouts", [(x, y) for x in LAYOUTS for y in LAYOUTS], ids="-".join)
def test_products(mode: str, dtype: str, layouts: tuple[str, str]) -> None:
    rng = np.random.default_rng(1)
    inputs: list[Any] = []
    products: list[Any] = []
    given: list[Any] = []
    expected: list[Any] = []
    for rows, inner, columns in SHAPES:
        for lead, other in BATCHES:
            factors: list[Any] = []
            exact: list[Any] = []
            for layout, shape in zip(
                layouts, [(*lead, rows, inner), (*other, inner, columns)], strict=True
            ):
                array = rng.normal(size=shape).astype(dtype)
                store, read = LAYOUTS[layout]
                stored = store(array)
                variable = TensorType(dtype, known_ones(stored.shape))()
                inputs.append(variable)
                given.append(stored)
                factors.append(ot.specify_shape(read(variable), known_ones(shape)))
                exact.append(array.astype("float64"))
            products.append(factors[0] @ factors[1])
            expected.append(exact[0] @ exact[1])
    found = oc.function(inputs, products, mode=mode)(*given)
    bound = {"float64": 1e-13, "float32": 1e-4}[dtype]
    for value, exact_value in zip(found, expected, strict=True):
        assert value.shape == exact_value.shape
        np.testing.assert_allclose(value, exact_value, bound, bound)
