"""First values of parameters: moments, bounds and orthogonality, beside their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from occelo_networks import functions, initializers
from occelo_random import functions as random

init: Any = initializers
KEY = random.key(3)
SHAPE = (60, 90)


def values(initializer: Any, shape: tuple[int, ...] = SHAPE, **options: Any) -> Any:
    return initializer(KEY, shape, **options).eval()


@pytest.mark.parametrize("word", ["normal", "uniform"])
@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("lecun", 1 / 60),
        ("he", 2 / 60),
        ("kaiming", 2 / 60),
        ("glorot", 1 / 75),
        ("xavier", 1 / 75),
    ],
)
def test_variances_follow_from_the_numbers_of_inputs_and_outputs(
    name: str, variance: float, word: str
) -> None:
    made = values(getattr(init, f"{name}_{word}")())
    assert made.dtype == "float64"
    np.testing.assert_allclose(made.var(), variance, rtol=0.1)
    np.testing.assert_allclose(made.mean(), 0, atol=4 * math.sqrt(variance / made.size))
    end = (
        math.sqrt(3 * variance)
        if word == "uniform"
        else 2 * math.sqrt(variance) / 0.8796256610342398
    )
    assert abs(made).max() <= end
    assert abs(made).max() > 0.95 * end


def test_modes_axes_and_distributions_of_scaled_variances() -> None:
    shape = (3, 40, 4, 30)
    for mode, axes, count in (
        ("fan_in", {}, 4 * 120),
        ("fan_out", {}, 30 * 120),
        ("fan_avg", {}, 120 * 17),
        ("fan_geo_avg", {}, 120 * math.sqrt(120)),
        ("fan_in", {"in_axis": 1, "out_axis": (2, 3), "batch_axis": 0}, 40),
        ("fan_out", {"in_axis": 1, "out_axis": (2, 3), "batch_axis": 0}, 120),
    ):
        for distribution in ("normal", "uniform", "truncated_normal"):
            made = values(init.variance_scaling(0.7, mode, distribution, **axes), shape)
            np.testing.assert_allclose(made.var(), 0.7 / count, rtol=0.06)
    for mode, distribution in (("fan", "normal"), ("fan_in", "even")):
        with pytest.raises(ValueError, match="not '"):
            init.variance_scaling(1.0, mode, distribution)
    with pytest.raises(ValueError, match="2 dimensions"):
        init.he_normal()(KEY, (3,))


def test_plain_initializers() -> None:
    assert (values(init.zeros) == 0).all()
    assert (values(init.ones, dtype="float32") == np.float32(1)).all()
    np.testing.assert_array_equal(
        values(init.constant([1.0, 2.0], "float32"), (3, 2)), [[1, 2]] * 3
    )
    even, normal = values(init.uniform(0.5)), values(init.normal(2.0, "float32"))
    assert 0 <= even.min() < 0.01
    assert 0.49 < even.max() < 0.5
    assert normal.dtype == "float32"
    np.testing.assert_allclose(normal.std(), 2.0, rtol=0.05)
    within = values(init.truncated_normal(3.0, lower=-1.0, upper=0.5))
    assert -3 <= within.min() < -2.9
    assert 1.4 < within.max() <= 1.5


@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3), (2, 3, 4), (4, 1)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_orthogonal_rows(shape: tuple[int, ...], axis: int) -> None:
    made = values(init.orthogonal(2.0, axis), shape)
    assert made.shape == shape
    rows = np.moveaxis(made, axis, 0).reshape(shape[axis], -1)
    product = rows @ rows.T if rows.shape[0] <= rows.shape[1] else rows.T @ rows
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_filters_that_are_orthogonal_at_their_middle() -> None:
    made = values(init.delta_orthogonal(), (3, 4, 2, 5))
    assert np.count_nonzero(made) == 10
    np.testing.assert_allclose(made[1, 1] @ made[1, 1].T, np.eye(2), atol=1e-12)
    for shape in ((2, 3), (3, 5, 4)):
        with pytest.raises(ValueError, match="delta_orthogonal"):
            init.delta_orthogonal()(KEY, shape)


def test_keys_and_shapes_are_checked() -> None:
    for made in (init.he_normal(), init.glorot_uniform(), init.normal(), init.orthogonal()):
        with pytest.raises(TypeError, match="A key of random numbers is"):
            made(3, (2, 3))
        with pytest.raises(TypeError, match="The shape of an initializer is a tuple"):
            made(KEY, 3)


def test_log1mexp_is_that_of_jax() -> None:
    x = np.array([1e-9, 0.3, 0.7, 5.0, 800.0])
    np.testing.assert_allclose(functions.log1mexp(x).eval(), np.log(-np.expm1(-x)), rtol=1e-12)
