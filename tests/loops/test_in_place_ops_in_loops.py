"""In-place ops that users put into bodies of loops: compiling refuses them, and the interpreter overwrites no values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.looping import again


@og.op
class Squared(og.Op):
    """Over what it is given."""

    destroy_map = {0: [0]}

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        x *= x
        return x


def flat(x: Any, y: Any) -> Any:
    return again(2, [x], lambda v, w: [v + Squared()(w)], [y])[0]


def nested(x: Any, y: Any) -> Any:
    return again(2, [x], lambda v, w: again(3, [v], lambda a, b: [Squared()(a) + b], [w]), [y])[0]


@pytest.mark.parametrize("loop", [flat, nested])
@pytest.mark.parametrize("accept", [False, True])
def test_bodies_may_have_no_in_place_ops(loop: Any, accept: bool) -> None:
    x, y = ot.dvectors("x", "y")
    with pytest.raises(TypeError, match="has the in-place op Squared"):
        oc.function([x, y], loop(x, y), accept_inplace=accept)


def test_the_interpreter_overwrites_no_values() -> None:
    x, y = ot.dvectors("x", "y")
    a, b = np.arange(3.0), np.full(3, 2.0)
    found = og.evaluate([flat(x, y), x * 1, y * 1], {x: a, y: b})
    np.testing.assert_array_equal(a, np.arange(3.0))
    np.testing.assert_array_equal(b, np.full(3, 2.0))
    np.testing.assert_array_equal(found[0], a + 2 * b**2)
    np.testing.assert_array_equal(found[1], a)
    np.testing.assert_array_equal(found[2], b)
