"""A constant that decides a length or a position is followed when `clone_replace` replaces it, or there is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot

X, V = ot.dmatrix("x"), ot.dvector("v")
VALUES: dict[Any, Any] = {X: np.arange(12.0).reshape(3, 4), V: np.arange(4.0)}


MADE: dict[str, Callable[[Any], Any]] = {
    "read": lambda c: X[c],
    "read behind": lambda c: X[:, c],
    "slice": lambda c: X[c:],
    "step": lambda c: X[::c],
    "read and value": lambda c: X[c] * c,
    "write": lambda c: X[c].set(0.0),
    "increment": lambda c: X[:, :c].inc(1.0),
    "take": lambda c: ot.take(X, c, axis=0),
    "zeros": lambda c: ot.zeros((c, 2)),
    "full": lambda c: ot.full((c,), 2.0),
    "reshape": lambda c: ot.concatenate([V, V, V]).reshape((c, -1)),
    "arange": lambda c: ot.arange(c),
    "eye": lambda c: ot.eye(c),
    "repeat": lambda c: ot.repeat(X, c, axis=0),
    "tile": lambda c: ot.tile(V, c),
    "broadcast": lambda c: ot.broadcast_to(V, (c, 4)),
    "triangle": lambda c: ot.triu(X, c),
    "power": lambda c: V**c,
}


@pytest.mark.parametrize("dtype", ["int64", "int8"])
@pytest.mark.parametrize("name", MADE)
def test_a_replaced_constant_is_followed(name: str, dtype: str) -> None:
    one = ot.constant(np.array(1, dtype))
    made = MADE[name](one)
    np.testing.assert_array_equal(
        og.evaluate(made, VALUES), og.evaluate(MADE[name](1), VALUES), strict=True
    )
    if dtype == "int64":
        assert made.type.shape == MADE[name](1).type.shape
    for new in (ot.constant(np.array(2, dtype)), ot.scalar("n", dtype=dtype)):
        given = dict(VALUES)
        if not isinstance(new, og.Constant):
            given[new] = np.array(2, dtype)
        followed = og.clone_replace(made, {one: new}, rebuild_strict=False)
        expected = og.evaluate(MADE[name](2), VALUES)
        np.testing.assert_array_equal(og.evaluate(followed, given), expected)
        assert followed.type.is_super(ot.TensorType(followed.dtype, expected.shape))
        try:
            strictly = og.clone_replace(made, {one: new})
            found = og.evaluate(strictly, given)
        except ValueError:
            # it says that a length, here or within, was known when the graph was built
            within = name in ("repeat", "tile")
            assert within or made.type.shape != MADE[name](2).type.shape
        else:
            np.testing.assert_array_equal(found, expected)
