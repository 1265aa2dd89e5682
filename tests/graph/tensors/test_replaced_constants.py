"""A constant that decides a length or a position is followed when `clone_replace` replaces it, or there is an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_graph import tensor as ot
from occelo_testing.arguments.replaced_constants import check_followed

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
    check_followed(MADE[name], VALUES, dtype, known_within=name in ("repeat", "tile"))
