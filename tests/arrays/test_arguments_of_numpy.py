"""Forms of arguments that NumPy takes: values and gradients against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_testing.arguments.slopes import check_value_and_slopes


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(("rows", "orders"), [((3,), (2, 3)), ((2, 3), (3,)), ((1, 3), (2, 3)), ((2, 3), (1, 3)), ((0, 3), (3,))])  # fmt: skip
def test_rows_and_orders_broadcast(rows: Any, orders: Any, static: bool) -> None:
    def lengths(shape: Any) -> Any:
        # elementwise operands broadcast only along lengths that are known to be 1
        return shape if static else tuple(n if n == 1 else None for n in shape)

    value = np.arange(float(np.prod(rows))).reshape(rows)
    order = np.array([[2, 0, 1], [0, 2, 1]])[: orders[0] if len(orders) > 1 else 1].reshape(orders)
    x = ot.tensor("x", dtype="float64", shape=lengths(rows))
    y = ot.tensor("y", dtype="int64", shape=lengths(orders))
    full = np.broadcast_shapes(rows, orders)
    wanted = np.take_along_axis(np.broadcast_to(value, full), np.broadcast_to(order, full), -1)
    check_value_and_slopes(arrays.permute_row_elements(x, y), wanted, {x: value, y: order})


@pytest.mark.parametrize(
    "shape",
    [(5, 2), (7, 2), (2, 5), (3, 3), (1, 1), (4, 1), (0, 3), (3, 0), (2, 2, 2), (1, 1, 1, 1)],
)
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled(shape: tuple[int, ...], wrap: bool) -> None:
    value = np.arange(float(np.prod(shape))).reshape(shape) + 1
    expected = value.copy()
    np.fill_diagonal(expected, -1, wrap=wrap)
    for static in (shape, (None,) * len(shape)):
        x, v = ot.tensor("x", dtype="float64", shape=static), ot.dscalar("v")
        made = arrays.fill_diagonal(x, v, wrap)
        np.testing.assert_array_equal(og.evaluate(made, {x: value, v: -1.0}), expected)
        slope = og.evaluate(og.grad((made * made).sum(), v), {x: value, v: -1.0})
        assert slope == -2 * (expected == -1).sum()


@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (7, 2), (3, 3), (0, 3), (3, 3, 3)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled_with_repeated_values(shape: tuple[int, ...], wrap: bool) -> None:
    value = np.arange(float(np.prod(shape))).reshape(shape) + 1
    for filling in (np.array([-1.0, -2.0]), -np.arange(1.0, 5).reshape(2, 2), -np.arange(1.0, 10)):
        expected = value.copy()
        np.fill_diagonal(expected, filling, wrap=wrap)
        for static in (shape, (None,) * len(shape)):
            x = ot.tensor("x", dtype="float64", shape=static)
            v = ot.tensor("v", dtype="float64", shape=(None,) * filling.ndim)
            made = arrays.fill_diagonal(x, v, wrap)
            given = {x: value, v: filling}
            np.testing.assert_array_equal(og.evaluate(made, given), expected)
            slope = og.evaluate(og.grad(made.sum(), v), given)
            counts = (expected == filling[..., *[None] * expected.ndim]).reshape(*filling.shape, -1)
            np.testing.assert_array_equal(slope, counts.sum(-1))
        written = og.evaluate(arrays.fill_diagonal(x, filling.tolist(), wrap), {x: value})
        np.testing.assert_array_equal(written, expected)
    if value.size:
        empty = arrays.fill_diagonal(x, np.zeros(0), wrap)
        np.testing.assert_array_equal(og.evaluate(empty, {x: value}), value)


def test_diagonals_of_unequal_lengths_are_refused() -> None:
    x = ot.dtensor3("x")
    with pytest.raises(ValueError, match="equal length"):
        og.evaluate(arrays.fill_diagonal(x, 0), {x: np.ones((2, 2, 3))})
    with pytest.raises(ValueError, match="equal length"):
        arrays.fill_diagonal(ot.tensor(dtype="float64", shape=(2, None, 3)), 0)
    with pytest.raises(ValueError, match="two dimensions"):
        arrays.fill_diagonal(ot.dvector(), 0)
