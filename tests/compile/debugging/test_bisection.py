"""Finding the rule that made a function wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import occelo_graph.tensor as ot
from occelo_compile import bisect, function
from occelo_graph import shared
from occelo_rewrite import p, rule, specialize_db, wild

x = ot.dvector("x")


@rule(p.tanh(wild("x")))
def wrong(x: Any) -> Any:
    """tanh(x) = sin(x), which is wrong."""
    return ot.sin(x)


@pytest.fixture
def with_a_wrong_rule() -> Iterator[None]:
    specialize_db.register("wrong", wrong, "fast_run")
    yield
    specialize_db.remove("wrong")


@pytest.mark.parametrize("mode", ["vm", "native"])
@pytest.mark.usefixtures("with_a_wrong_rule")
def test_the_guilty_application_is_named(mode: str) -> None:
    out = ot.log(1 + ot.exp(x)) * 1.0 + ot.tanh(x) + (x + 0.0) * 2.0 * 3.0
    made = function([x], out, mode=mode)
    value = np.array([0.5, 1.0])
    expected = np.log1p(np.exp(value)) + np.tanh(value) + value * 6
    found = bisect(made, lambda f: bool(np.allclose(f(value), expected)))
    assert found.application.rule == "wrong"
    assert __file__ in str(found)
    assert "tanh(x)" in str(found)
    count = len(made.maker.rewritten.record.applications)
    assert count > 3
    assert found.compilations <= math.log2(count) + 2


def test_nothing_to_find_is_an_error() -> None:
    made = function([x], x * 1.0 + 0.0)
    with pytest.raises(ValueError, match="nothing wrong"):
        bisect(made, lambda f: True)
    with pytest.raises(ValueError, match="before any replacement"):
        bisect(made, lambda f: False)


@pytest.mark.usefixtures("with_a_wrong_rule")
def test_shared_variables_keep_their_cells() -> None:
    state = shared(np.ones(2), "state")
    made = function([], ot.tanh(state), updates=[(state, state * 1.0 + 0.0)])

    def right(f: Any) -> bool:
        state.set_value(np.ones(2))
        return bool(np.allclose(f(), np.tanh(1.0)))

    assert bisect(made, right).application.rule == "wrong"
