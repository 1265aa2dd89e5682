"""`sort` and `argsort` beside NumPy's: equal elements, NaN, axes, lengths of any kind, several readers, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_sorting import functions as sorting

DTYPES = [
    "bool",
    "int8",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]


def _draw(dtype: str, *shape: int) -> Any:
    generator = np.random.default_rng([3, *shape])
    values = generator.integers(-3 if dtype[0] in "ifc" else 0, 4, shape).astype("float64")
    if dtype[0] in "fc" and values.size > 4:
        values.flat[1], values.flat[-2], values.flat[3] = np.nan, np.inf, -0.0
    with np.errstate(invalid="ignore"):
        made = values.astype(dtype)
    if dtype[0] == "c":
        made.imag = generator.integers(0, 2, shape)
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("static", [True, False])
def test_rows_are_in_the_order_of_numpy(dtype: str, static: bool) -> None:
    for n in (0, 1, 5, 17):
        value = _draw(dtype, 3, n)
        x = ot.tensor("x", dtype=dtype, shape=(None, n if static else None))
        f = oc.function(
            [x], [sorting.sort(x), sorting.argsort(x), sorting.argsort(x, descending=True)]
        )
        up, order, down = f(value)
        np.testing.assert_array_equal(up, np.sort(value))
        np.testing.assert_array_equal(order, np.argsort(value, kind="stable"))
        assert (up.dtype, order.dtype) == (dtype, "int64")
        # in descending order, equal elements keep their order, too
        whole = np.take_along_axis(value, down, -1)
        np.testing.assert_array_equal(whole, np.sort(value)[:, ::-1])
        same = whole[:, 1:] == whole[:, :-1]
        assert (down[:, 1:] > down[:, :-1])[same].all()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, None])
def test_axes_of_views_of_steps_of_any_sign(axis: Any) -> None:
    value = _draw("float64", 4, 6, 10)[::-1, ::2, 1:]
    x = ot.dtensor3("x")
    y = x[:, ::-1]
    f = oc.function([x], [sorting.sort(y, axis), y.argsort(axis, kind="heapsort"), x.sort(axis)])
    for made, expected in zip(
        f(value),
        (
            np.sort(value[:, ::-1], axis),
            np.argsort(value[:, ::-1], axis, kind="stable"),
            np.sort(value, axis),
        ),
        strict=True,
    ):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("n", [1, 6, 20])
def test_gradients_come_back_in_the_order_of_the_input(n: int) -> None:
    x = ot.dmatrix("x")
    value = np.random.default_rng(n).normal(size=(3, n))
    weights = np.arange(n, dtype="float64")
    cost = (sorting.sort(x) ** 2 * weights).sum() + x.sum()
    f = oc.function([x], [cost, og.grad(cost, x), sorting.sort(x)])
    order = np.argsort(np.argsort(value))
    cost_, gradient, _ = f(value)
    np.testing.assert_allclose(cost_, (np.sort(value) ** 2 * weights).sum() + value.sum())
    np.testing.assert_allclose(gradient, 2 * value * weights[order] + 1)
    og.verify_grad(lambda v: og.grad((sorting.sort(v) ** 3 * weights).sum(), v), [value])


def test_tangents_follow_the_elements() -> None:
    x, t = ot.dvector("x"), ot.dvector("t")
    f = oc.function([x, t], og.Rop(sorting.sort(x, descending=True), x, t))
    np.testing.assert_array_equal(f([1.0, 3.0, 2.0], [10.0, 30.0, 20.0]), [30.0, 20.0, 10.0])


def test_lengths_are_known_when_the_graph_is_built() -> None:
    x = ot.tensor("x", dtype="float32", shape=(2, None, 3))
    assert sorting.sort(x, 1).type == x.type
    assert sorting.argsort(x).type.shape == (2, None, 3)
    assert sorting.sort(ot.zeros((2, 3)), axis=None).type.shape == (6,)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (lambda x: sorting.sort(x, axis=2), np.exceptions.AxisError, "axis 2"),
        (
            lambda x: sorting.sort(x[0, 0]),
            np.exceptions.AxisError,
            "sort along axis -1 of the scalar",
        ),
        (lambda x: sorting.sort(x, kind="bubble"), ValueError, "bubble"),
        (lambda x: sorting.argsort(x, order="field"), TypeError, "no named fields"),
    ],
)
def test_errors_name_what_is_wrong(call: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        call(ot.dmatrix("x"))
