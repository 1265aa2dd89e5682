"""Forms of arguments that NumPy takes: values and gradients against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.arguments.slopes import check_value_and_slopes

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
S = ot.dscalar("s")


@pytest.mark.parametrize("axes", [(1, (0,)), ((1,), 0), ([1], [0]), (1, 0), np.array([[1], [0]]), 1, np.array(1)])  # fmt: skip
def test_axes_of_tensordot(axes: Any) -> None:
    a, b = ot.dmatrix("a"), ot.dmatrix("b")
    wanted = np.tensordot(
        A, B, axes if np.ndim(A) and not isinstance(axes, np.ndarray) else axes.tolist()
    )
    check_value_and_slopes(ot.tensordot(a, b, axes), wanted, {a: A, b: B})


@pytest.mark.parametrize("axes", [(np.array([1, 0]),), ([1, 0],), ((1, 0),), (1, 0), (None,), ()])
def test_axes_of_transpose(axes: Any) -> None:
    a = ot.dmatrix("a")
    check_value_and_slopes(a.transpose(*axes), A.transpose(*axes), {a: A})


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
        check_value_and_slopes(ot.sum(S * S, axis=axis), 9.0, {S: np.array(3.0)})


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_a_size_depends_on_its_tensor(shape: Any) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None,) * len(shape))
    assert x in og.ancestors([x.size])
    assert og.evaluate([x.size], {x: np.ones(shape)}) == [np.prod(shape)]
