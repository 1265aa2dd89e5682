"""Forms of arguments that NumPy takes: values and gradients against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
S = ot.dscalar("s")


def _check(made: Any, wanted: Any, given: dict[Any, Any]) -> None:
    """The value, and the gradient of its sum by central differences."""
    (found,) = og.evaluate([made], given)
    np.testing.assert_array_equal(found, wanted)
    assert np.shape(found) == np.shape(wanted)
    for x, value in given.items():
        if x.dtype == "float64":
            (slope,) = og.evaluate([og.grad(ot.sum(made), x)], given)
            expected = np.zeros_like(value)
            for place in np.ndindex(*value.shape):
                step = np.zeros_like(value)
                step[place] = 0.5
                ends = [
                    og.evaluate([ot.sum(made)], {**given, x: value + h})[0] for h in (step, -step)
                ]
                expected[place] = ends[0] - ends[1]
            np.testing.assert_allclose(slope, expected, atol=1e-12)


@pytest.mark.parametrize("axes", [(1, (0,)), ((1,), 0), ([1], [0]), (1, 0), np.array([[1], [0]]), 1, np.array(1)])  # fmt: skip
def test_axes_of_tensordot(axes: Any) -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    wanted = np.tensordot(
        A, B, axes if np.ndim(A) and not isinstance(axes, np.ndarray) else axes.tolist()
    )
    _check(ot.tensordot(a, b, axes), wanted, {a: A, b: B})


@pytest.mark.parametrize("axes", [(np.array([1, 0]),), ([1, 0],), ((1, 0),), (1, 0), (None,), ()])
def test_axes_of_transpose(axes: Any) -> None:
    a = ot.dmatrix("a")
    _check(a.transpose(*axes), A.transpose(*axes), {a: A})


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "argmax", "cumsum", "cumprod", "ptp"])  # fmt: skip
@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_scalar_is_reduced_over_the_axes_that_numpy_takes(name: str, axis: Any) -> None:
    (found,) = og.evaluate([getattr(ot, name)(S, axis=axis)], {S: np.array(3.0)})
    wanted = getattr(np, name)(np.array(3.0), axis=axis)
    np.testing.assert_array_equal(found, wanted)
    assert found.shape == np.shape(wanted)
    with pytest.raises(np.exceptions.AxisError):
        getattr(ot, name)(S, axis=1)


def test_sums_of_a_scalar_over_no_axis() -> None:
    for axis in ((), [], 0, None):
        _check(ot.sum(S * S, axis=axis), 9.0, {S: np.array(3.0)})


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_a_size_depends_on_its_tensor(shape: Any) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None,) * len(shape))
    assert x in og.ancestors([x.size])
    assert og.evaluate([x.size], {x: np.ones(shape)}) == [np.prod(shape)]
