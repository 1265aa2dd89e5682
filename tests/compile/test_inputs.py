"""What may be an input: shared variables with updates of their own, constants, and what counts as used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot


def test_a_shared_variable_as_input_with_an_update_is_updated(mode: str) -> None:
    for build in (
        lambda s, x: oc.function([oc.In(s, update=s + x), x], s * 2, mode=mode),
        lambda s, x: oc.function([x, oc.In(s, update=s + x, mutable=True)], s * 2, mode=mode),
        lambda s, x: oc.function([x, oc.In(s, value=s, update=s + x)], s * 2, mode=mode),
        lambda s, x: oc.function([x, oc.In(s, value=s.container, update=s + x)], s * 2, mode=mode),
    ):
        s, x = oc.shared(np.ones(2), "s"), ot.dscalar("x")
        f = build(s, x)
        assert f(3.0).tolist() == [2.0, 2.0]
        assert s.get_value().tolist() == [4.0, 4.0]
        assert f(1.0).tolist() == [8.0, 8.0]
        assert s.get_value().tolist() == [5.0, 5.0]
        s.set_value(np.zeros(2))
        assert f(7.0).tolist() == [0.0, 0.0]
        assert oc.function([], s, mode=mode)().tolist() == [7.0, 7.0]
        with pytest.raises(TypeError):
            f(1.0, 2.0, 3.0)


def test_such_an_input_may_take_an_argument_or_have_a_value_of_its_own() -> None:
    s = oc.shared(1.0, "s")
    given = oc.function([oc.In(s, update=s + 1, implicit=False)], s * 2)
    assert given(5.0) == 10.0
    assert s.get_value() == 6.0
    assert given() == 12.0
    own = oc.function([oc.In(s, value=20.0, update=s + 1)], s * 2)
    assert [own(), own()] == [40.0, 42.0]
    assert s.get_value() == 7.0


def test_its_result_is_not_the_storage() -> None:
    s = oc.shared(np.ones(3), "s")
    f = oc.function([oc.In(s, update=s * 2)], oc.Out(s, borrow=True))
    result = f()
    f()
    assert result.tolist() == [1.0, 1.0, 1.0]
    assert s.get_value().tolist() == [4.0, 4.0, 4.0]


def test_two_updates_of_one_variable_are_an_error() -> None:
    s = oc.shared(1.0, "s")
    with pytest.raises(ValueError, match="given two updates"):
        oc.function([oc.In(s, update=s + 1)], s, updates={s: s + 2})
    with pytest.raises(ValueError, match="is an input, so updates cannot update it"):
        oc.function([oc.In(s)], s, updates={s: s + 2})


def test_a_constant_is_no_input() -> None:
    c: Any = ot.constant(1.0)
    for given in (c, oc.In(c)):
        with pytest.raises(TypeError, match="Input 0 is the constant"):
            oc.function([given], c + 1)
