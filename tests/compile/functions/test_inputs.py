"""Inputs of functions: shared variables with updates, constants, and unused inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import MissingInputError, UnusedInputError, grad
from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate


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


X50: Any = ot.tensor("x50", dtype="float64", shape=(50,))
S: Any = ot.dscalar("s")
V: Any = ot.dvector("v")
USED: dict[str, tuple[Any, Any, Any]] = {
    "linear": (S, grad(3 * S, S), 3.0),
    "linear in a vector": (V, grad((3 * V).sum(), V), np.full(50, 3.0)),
    "linear in a known shape": (X50, grad((3 * X50).sum(), X50), np.full(50, 3.0)),
    "itself": (S, grad(S, S), 1.0),
    "no slope": (S, grad(ot.round(S), S), 0.0),
    "zeros": (X50, ot.zeros_like(X50), np.zeros(50)),
    "ones": (S, ot.ones_like(S), 1.0),
    "full": (X50, ot.full_like(X50, 7), np.full(50, 7.0)),
    "its shape": (X50, X50.shape, np.array([50])),
    "its length": (X50, X50.shape[0] * 2, 100),
    "its size": (X50, X50.size, 50),
    "zeros of its shape": (X50, ot.zeros(X50.shape), np.zeros(50)),
    "a second derivative": (S, grad(grad(S**2, S), S), 2.0),
}


@pytest.mark.parametrize("name", USED)
def test_what_an_expression_used_counts_as_used(name: str, mode: str) -> None:
    x, y, expected = USED[name]
    expected = np.asarray(expected)
    f = oc.function([x], y, mode=mode)
    np.testing.assert_array_equal(f(1.0 if x is S else np.ones(50)), expected)
    # what its value does not depend on need not be there
    if x is not V:
        np.testing.assert_array_equal(oc.function([], y, mode=mode)(), expected)
        np.testing.assert_array_equal(evaluate(y), expected)
        assert all(x is not v for v in f.maker.fgraph.variables)


def test_what_no_expression_used_is_an_error() -> None:
    with pytest.raises(UnusedInputError, match="Input 1, v"):
        oc.function([S, V], grad(3 * S, S))
    with pytest.raises(MissingInputError):
        oc.function([], grad(S**2, S))


def test_models_of_known_shapes_are_no_part_of_what_is_compiled() -> None:
    f = oc.function([X50], grad((ot.exp(X50) * 0 + 2 * X50).sum(), X50), mode="FAST_COMPILE")
    plain = oc.function([X50], grad((2 * X50).sum(), X50))
    np.testing.assert_array_equal(f(np.ones(50)), plain(np.ones(50)))
    assert len(plain.maker.users_graph().apply_nodes) < 8
