"""Observers, inner graphs and Python functions in compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control.observing import PdbBreakpoint, Print
from occelo_graph.ops.control.python_function import wrap_py
from occelo_rewrite import node_rewriter

MODES = ["FAST_RUN", "FAST_COMPILE", "vm", "py"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def seeing() -> tuple[Print, list[Any]]:
    values: list[Any] = []
    return Print("seen", global_fn=lambda op, value: values.append(value.copy())), values


def test_print_does_not_stand_in_the_way_of_rewriting(mode: str) -> None:
    x = ot.dvector("x")
    watch, values = seeing()
    total = oc.shared(0.0, "total")
    f = oc.function([x], ot.log(watch(1 + x)), updates={total: total + 1}, mode=mode)
    np.testing.assert_array_equal(f([1e-30, 1.0]), [1e-30, np.log(2.0)])
    assert [v.tolist() for v in values] == [[1.0, 2.0]]
    f([3.0, 4.0])
    assert len(values) == 2
    assert total.get_value() == 2.0


def test_print_of_an_output_an_input_and_of_what_is_overwritten(mode: str) -> None:
    x = ot.dvector("x")
    watch, values = seeing()
    f = oc.function([oc.In(x, mutable=True)], watch(watch(x) * 2) + 1, mode=mode)
    np.testing.assert_array_equal(f(np.array([1.0, 2.0])), [3.0, 5.0])
    assert sorted(v.tolist() for v in values) == [[1.0, 2.0], [2.0, 4.0]]
    values.clear()
    g = oc.function([x], [watch(x), watch(x)], mode=mode)
    one, two = g([1.0])
    one[0] = 5.0
    assert two[0] == 1.0
    assert len(values) == 2


def test_in_a_branch_that_is_not_taken_nothing_is_printed(mode: str) -> None:
    c, x = ot.bscalar("c"), ot.dscalar("x")
    watch, values = seeing()
    f = oc.function([c, x], ot.ifelse(c, watch(x * 2), x * 3), mode=mode)
    assert f(0, 1.0) == 3.0
    assert values == []
    assert f(1, 1.0) == 2.0
    assert values == [2.0]


def test_breakpoints(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import pdb

    stops: list[int] = []
    monkeypatch.setattr(pdb, "set_trace", lambda: stops.append(1))
    x, y = ot.dvectors("x", "y")
    a, b = PdbBreakpoint("here")(ot.gt(x.sum(), 0.0), x + 1, y)
    f = oc.function([x, y], ot.log(a) + b, mode=mode)
    assert f([1e-30], [0.0]) == [1e-30]
    assert stops == [1]
    assert f([-0.5], [0.0]) == [np.log(0.5)]
    assert stops == [1]


@pytest.mark.parametrize("inline", [False, True])
def test_inner_graphs_are_rewritten_and_compiled_as_if_written_out(mode: str, inline: bool) -> None:
    a, b = ot.dvectors("a", "b")
    inner = OpFromGraph([a], [ot.exp(a)])
    op = OpFromGraph([a, b], [ot.log(1 + inner(a)), a * b], inline=inline)
    x = ot.dvector("x")
    one, two = op(x, x)
    gradient = oc.shared(np.zeros(2), "gradient")
    from occelo_graph import grad

    f = oc.function([x], [one, two], updates={gradient: grad(one.sum(), x)}, mode=mode)
    found = f([800.0, 0.0])
    np.testing.assert_allclose(found[0], [800.0, np.log(2.0)])
    np.testing.assert_allclose(found[1], [640000.0, 0.0])
    np.testing.assert_allclose(gradient.get_value(), [1.0, 0.5])
    assert not any(isinstance(n.op, OpFromGraph) for n in f.maker.fgraph.apply_nodes)


def test_rules_can_match_inner_graphs_before_they_are_written_out() -> None:
    a = ot.dvector("a")
    special = OpFromGraph([a], [a * 2.0], name="special")

    @node_rewriter([OpFromGraph])
    def replaced(fgraph: Any, node: Any) -> Any:
        return [node.inputs[0] * 5.0] if node.op == special else None

    from occelo_rewrite import in2out

    mode = oc.get_mode("FAST_RUN").register((in2out(replaced), 0.5))
    x = ot.dvector("x")
    assert oc.function([x], special(x), mode=mode)([1.0]) == [5.0]


def test_a_cached_function_with_an_inner_graph() -> None:
    a = ot.dvector("a")
    x = ot.dvector("x")

    def made() -> Any:
        op = OpFromGraph([a], [ot.exp(a) * 1.375])
        return oc.function([x], op(x))

    made()([1.0])
    assert made().maker.from_cache

    class Own(OpFromGraph):
        pass

    own = oc.function([x], Own([a], [ot.exp(a) * 1.375])(x))
    assert not own.maker.from_cache
    assert own([0.0]) == [1.375]


@wrap_py([ot.dvector], [ot.dvector])
def reversed_vector(x: Any) -> Any:
    return x[::-1]


def test_functions_of_python_between_compiled_blocks(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(reversed_vector(x * 2)) + 1, mode=mode)
    np.testing.assert_allclose(f([0.0, 1.0]), np.exp([2.0, 0.0]) + 1)
    total = oc.shared(np.zeros(2), "total")
    g = oc.function([], None, updates={total: reversed_vector(total + 1.0)}, mode=mode)
    g()
    g()
    np.testing.assert_array_equal(total.get_value(), [2.0, 2.0])
