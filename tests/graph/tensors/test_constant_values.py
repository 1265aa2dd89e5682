"""Values that all elements of a variable have, read while the graph is built, and the static shapes of lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph.tensors.constant_values import (
    NotScalarConstantError,
    get_scalar_constant_value,
    get_underlying_scalar_constant_value,
    infer_static_shape,
)

X = ot.dvector("x")
N = ot.iscalar("n")


@pytest.mark.parametrize(
    "v",
    [
        3,
        np.float32(2.5),
        [2.0, 2.0],
        np.array([np.nan, np.nan]),
        ot.constant(3.0) * 2,
        ot.ones((3,)) * 2 + 1,
        ot.ones((3,))[0],
        ot.full((2, 3), 4.0)[1:],
        ot.zeros(3).reshape((3, 1)).T,
        ot.constant(3.7).astype("int8"),
        ot.stack([ot.constant(2.0), ot.constant(2.0)]),
        ot.divmod(ot.constant(7), ot.constant(2))[1],
        ot.as_tensor(np.True_) & np.True_,
    ],
)
def test_a_value_is_what_the_graph_computes(v: Any) -> None:
    found = get_underlying_scalar_constant_value(v)
    assert np.ndim(found) == 0
    expected = np.asarray(og.evaluate(v, {}) if isinstance(v, og.Variable) else v)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.full_like(expected, found), expected)


@pytest.mark.parametrize(
    ("v", "expected"),
    [
        (ot.ones_like(X), 1.0),
        (ot.alloc(3.0, N), 3.0),
        (ot.dmatrix(shape=(3, None)).shape[0], 3),
        (ot.full_like(X, 2), 2.0),
        (ot.stack([ot.constant(1.5), X[0]])[0], 1.5),
        (ot.stack([X[0], ot.constant(1.5)])[-1], 1.5),
    ],
)
def test_values_whose_number_is_not_known(v: Any, expected: float) -> None:
    assert get_underlying_scalar_constant_value(v) == expected


@pytest.mark.parametrize("v", [X, X[0], X + 1, [1.0, 2.0], [], ot.exp(N), "text", None, X.shape[0]])
def test_what_is_no_constant(v: Any) -> None:
    with pytest.raises(NotScalarConstantError):
        get_underlying_scalar_constant_value(v)
    assert get_underlying_scalar_constant_value(v, raise_not_constant=False) is v


def test_limits() -> None:
    six = ot.constant(3.0) * 2
    assert get_scalar_constant_value(six) == 6
    with pytest.raises(NotScalarConstantError):
        get_underlying_scalar_constant_value(six, elemwise=False)
    with pytest.raises(NotScalarConstantError):
        get_underlying_scalar_constant_value(six, only_process_constants=True)
    with pytest.raises(NotScalarConstantError):
        get_underlying_scalar_constant_value(six * 2 * 2, max_recur=2)
    with pytest.raises(NotScalarConstantError, match="1 dimensions"):
        get_scalar_constant_value(ot.ones(3))
    assert get_scalar_constant_value([1.0], raise_not_constant=False) == [1.0]


def test_static_shapes() -> None:
    variables, static = infer_static_shape((3, N, ot.constant(4) + 1))
    assert static == (3, None, 5)
    assert [v.dtype for v in variables] == ["int64"] * 3
    assert infer_static_shape(ot.dmatrix(shape=(2, None)).shape)[1] == (2, None)
    assert infer_static_shape(7)[1] == (7,)
    assert infer_static_shape(())[1] == ()
    with pytest.raises(TypeError):
        infer_static_shape((1.5,))
