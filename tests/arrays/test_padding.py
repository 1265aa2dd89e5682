"""Padding beside NumPy: widths that are variables, that are wrong, and numbers that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot

PAD: Any = np.pad
PAD_WIDTHS = [
    lambda n: n,
    lambda n: (n, 0),
    lambda n: [[n, 2]],
    lambda n: ((1, n), (n, n)),
    lambda n: [[n], [1]],
    lambda n: np.array([[1, 2], [0, 1]]),
]


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("widths", PAD_WIDTHS)
def test_pad_widths_may_be_variables(widths: Any, mode: str) -> None:
    x, n = ot.dmatrix("x"), ot.iscalar("n")
    out = arrays.pad(x, widths(n), mode)
    slope = og.grad(ot.sqr(out).sum(), x)
    for shape, number in (((3, 4), 2), ((3, 4), 0), ((2, 2), 1)):
        value = np.random.default_rng(1).normal(size=shape)
        expected = PAD(value, widths(number), mode)
        given = {x: value, n: number}
        np.testing.assert_array_equal(out.eval(given, on_unused_input="ignore"), expected)
        # each element counts as often as it stands there
        marks = PAD(np.arange(value.size).reshape(shape) + 1, widths(number), mode)
        count = np.bincount(marks.ravel(), minlength=value.size + 1)[1:].reshape(shape)
        np.testing.assert_allclose(
            slope.eval(given, on_unused_input="ignore"), 2 * value * count, rtol=1e-12
        )


def test_pad_widths_of_the_own_length() -> None:
    x = ot.dvector("x")
    assert arrays.pad(x, (x.shape[0] - 1, 0)).eval({x: [1.0, 2.0, 3.0]}).tolist() == [0, 0, 1, 2, 3]


@pytest.mark.parametrize("mode", ["constant", "edge", "wrap"])
def test_pad_widths_that_turn_out_negative_are_an_error(mode: str) -> None:
    x, n = ot.dvector("x"), ot.iscalar("n")
    with pytest.raises(ValueError, match="pad_width must not be negative"):
        arrays.pad(x, (n, 1), mode).eval({x: [1.0, 2.0], n: -1})


@pytest.mark.parametrize(
    ("widths", "error"),
    [
        (1.5, TypeError),
        (True, TypeError),
        ("a", TypeError),
        (ot.dscalar(), TypeError),
        (ot.ivector(), TypeError),
        ((ot.iscalar(), 0.5), TypeError),
        (-1, ValueError),
        ((ot.iscalar(), -1), ValueError),
        ([1, 2, 3], ValueError),
        ([[ot.iscalar()], [1, 2]], ValueError),
    ],
    ids=str,
)
def test_pad_widths_that_are_none(widths: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        arrays.pad(ot.dvector(), widths)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32"])
def test_integers_that_do_not_fit_are_not_wrapped(dtype: str) -> None:
    x, value = ot.tensor("x", dtype=dtype, shape=(3,)), np.array([1, 2, 3], dtype=dtype)
    for number in (-(2**63), -129, -128, -1, 0, 127, 128, 255, 256, 2**63, 2**64 - 1):
        if value.dtype.kind == "f" or number in range(np.iinfo(dtype).min, np.iinfo(dtype).max + 1):
            whole = np.full((), number, dtype=dtype)
            made = [
                arrays.pad(x, 1, constant_values=number),
                arrays.fill_diagonal(ot.outer(x, x), number),
            ]
            padded, filled = og.evaluate(made, {x: value})
            np.testing.assert_array_equal(
                padded, np.pad(value, 1, constant_values=whole), strict=True
            )
            matrix = np.outer(value, value)
            np.fill_diagonal(matrix, whole)
            np.testing.assert_array_equal(filled, matrix, strict=True)
        else:
            with pytest.raises(OverflowError):
                arrays.pad(x, 1, constant_values=number)
            with pytest.raises(OverflowError):
                arrays.fill_diagonal(ot.outer(x, x), number)


def test_python_bools_are_no_numbers_to_fill_with() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    for build in (
        lambda b: arrays.pad(x, 1, constant_values=b),
        lambda b: arrays.fill_diagonal(ot.dmatrix(), b),
    ):
        with pytest.raises(TypeError, match=r"ot\.eq.*ot\.neq|must be an integer"):
            build(x == y)


@pytest.mark.parametrize("mode", ["constant", "reflect"])
def test_a_graph_rebuilt_for_another_shape_pads_that_one(mode: str) -> None:
    x, y = ot.tensor("x", dtype="float64", shape=(3, 4)), ot.dmatrix("y")
    made = og.clone_replace(arrays.pad(x, 2, mode), {x: y}, rebuild_strict=False)
    value = np.arange(15.0).reshape(5, 3)
    np.testing.assert_array_equal(og.evaluate(made, {y: value}), PAD(value, 2, mode))


@pytest.mark.parametrize("mode", ["edge", "wrap", "mean", "reflect", "symmetric"])
def test_an_empty_axis_is_padded_by_nothing(mode: str) -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")
    y, empty = arrays.pad(x, (n, 0), mode=mode), np.zeros(0)
    assert og.evaluate(y, {x: empty, n: np.int64(0)}).shape == (0,)
    with pytest.raises(ValueError, match="cannot extend an empty axis"):
        og.evaluate(y, {x: empty, n: np.int64(1)})
