"""Ops of a user run the code that the user has now, and functions with them are found in the cache."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
import scipy.stats
from pytensor.compile.ops import wrap_py
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import occelo as oc
import occelo_pytensor as bridge

pytestmark = pytest.mark.filterwarnings("ignore")
DATA = np.arange(3.0)


def _class(factor: Any) -> Any:
    """A class of ops that is made anew in each call, as in a cell of a notebook or in the function that makes a model."""

    class Times(Op):
        __props__ = ()

        def make_node(self, x: Any) -> Any:
            return Apply(self, [x], [x.type()])

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            outputs[0][0] = inputs[0] * np.sum(factor)

        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            return [cotangents[0] * float(np.sum(factor))]

    return Times


def _density(factor: Any) -> Any:
    """The log density of a model with two ops of a class of its own."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        times = _class(factor)
        pm.Potential("p", times()(x).sum() + 2 * times()(x + 1).sum())
    with bridge.use():
        made = model.logp_dlogp_function(ravel_inputs=True)
    made.set_extra_values({})
    return made._pytensor_function


def test_a_class_of_a_function_is_found_by_its_code_and_values() -> None:
    known: list[Any] = []
    for factor in (4.5, 4.5, 5.5, (1.0, 4.5), (1.0, 4.5)):
        f = _density(factor)
        total = np.sum(factor)
        value, slope = f(DATA)
        np.testing.assert_allclose(slope, 3 * total - DATA, rtol=1e-12)
        wanted = total * (DATA.sum() + 2 * (DATA + 1).sum()) - (DATA**2 / 2).sum()
        assert value == pytest.approx(wanted - 1.5 * np.log(2 * np.pi))
        assert f.maker.from_cache is (factor in known)
        known.append(factor)


def test_a_function_from_the_cache_calls_the_op_of_its_own_graph() -> None:
    """Values that can be changed are those of the user's object: no other object with the same values takes its place."""
    x = pt.dvector("x")
    held: list[list[float]] = [[6.5], [6.5]]
    made = [pytensor.function([x], _class(each)()(x), mode="OCCELO") for each in held]
    assert made[1].vm.maker.from_cache
    held[1][0] = 0.25
    np.testing.assert_array_equal(made[0](DATA), 6.5 * DATA)
    np.testing.assert_array_equal(made[1](DATA), 0.25 * DATA)
    one = pytensor.function([x], _class(held[0])()(x) + _class(held[1])()(x), mode="OCCELO")
    np.testing.assert_array_equal(one(DATA), 6.75 * DATA)


def test_code_that_cannot_be_read_is_compiled_each_time() -> None:
    x = pt.dvector("x")
    opened = iter([])  # has no text
    for _ in range(2):
        class_ = _class(2.5)
        class_.held = opened
        f = pytensor.function([x], class_()(x), mode="OCCELO")
        np.testing.assert_array_equal(f(DATA), 2.5 * DATA)
        assert not f.vm.maker.from_cache


def _wrapped(step: float) -> Any:
    """An op with a function of this module: of its name, PyTensor reads it back."""

    def seen(values: Any) -> Any:
        return values + step

    seen.__qualname__ = "seen"
    return wrap_py([pt.dvector], [pt.dvector])(seen)


def test_a_function_that_is_defined_again_replaces_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = pt.dvector("x")
    found: list[Any] = []
    for step in (1.0, 2.0, 2.0):
        monkeypatch.setattr(sys.modules[__name__], "seen", _wrapped(step), raising=False)
        found.append(pytensor.function([x], globals()["seen"](x), mode="OCCELO"))
    for f, step in zip(found, (1.0, 2.0, 2.0), strict=True):
        np.testing.assert_array_equal(f(DATA), DATA + step)


def test_a_draw_inside_an_op_has_no_size() -> None:
    """PyTensor's rewriting puts draws into ops of their own, where None is an input of the inner graph."""
    center = pt.dvector("center")
    drawn = pt.random.truncexpon(
        center, 0.0, 1.0, rng=pt.random.default_rng(5), return_next_rng=True
    )[1]
    mode = pytensor.compile.mode.Mode("py", "fast_run")
    graph = pytensor.graph.fg.FunctionGraph([center], [drawn], clone=True)
    mode.optimizer.rewrite(graph)
    ours, converted = bridge.from_pytensor(list(graph.outputs), list(graph.inputs))
    wanted = scipy.stats.truncexpon.rvs(DATA + 1, 0.0, 1.0, random_state=np.random.default_rng(5))
    np.testing.assert_allclose(oc.function(ours, converted)(DATA + 1)[0], wanted, rtol=1e-12)
