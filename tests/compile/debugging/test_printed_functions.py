"""Printing of compiled functions and of their graphs."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_printing import pprint, to_dot, to_python
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES, Example
from occelo_testing.formulas import same_values


@pytest.fixture
def f() -> Any:
    x, y = ot.dvectors("x", "y")
    return oc.function([x, y], [ot.exp(x) * y, x - y], mode=oc.Mode("vm", None))


def test_functions_and_graphs_are_printed(f: Any) -> None:
    for graph in (f, f.maker, f.maker.fgraph, f.maker.fgraph.outputs):
        assert pprint(graph) == "exp(x) * y\nx - y"
        dot = to_dot(graph, f.maker.fgraph.inputs)
        assert dot == to_dot(f) == to_dot(f.maker.fgraph)
        assert to_python(graph, f.maker.fgraph.inputs) == to_python(f)
        assert og.debugprint(graph, file="str").count("mul") == 1
    frozen = f.maker.fgraph.freeze()
    assert pprint(frozen).count("exp(") == 1
    assert to_dot(frozen).count("->") == to_dot(f).count("->")


def test_graphs_of_functions_are_saved_and_functions_are_not(f: Any) -> None:
    graph = f.maker.fgraph
    stream = io.BytesIO()
    og.save(stream, graph)
    stream.seek(0)
    loaded = og.load(stream)
    assert [v.name for v in loaded.inputs] == ["x", "y"]
    assert og.digest(loaded) == og.digest(graph) == og.digest(graph.outputs, graph.inputs)
    assert pprint(loaded) == pprint(f)
    with pytest.raises(TypeError, match=re.escape("pickle a function, or save its maker.fgraph")):
        og.save(io.BytesIO(), f)
    with pytest.raises(TypeError, match=r"such as a function's maker\.fgraph"):
        og.digest(f)


def test_what_is_no_graph_is_named(f: Any) -> None:
    for take in (pprint, to_dot, to_python, og.digest, lambda g: og.save(io.BytesIO(), g)):
        for wrong in (3, "x", None):
            with pytest.raises(TypeError, match="Expected variables or a graph, got"):
                take(wrong)
        with pytest.raises(TypeError, match=r"A graph has variables as outputs, not 1\.5"):
            take([1.5])
    with pytest.raises(TypeError, match="not iterable"):
        list(f)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_formulas_of_rewritten_graphs_evaluate_to_the_same_values(example: Example) -> None:
    variables, outputs = symbolic(example)
    for number, each in enumerate(variables):
        each.name = f"v{number}"
    mode = oc.Mode("vm", "fast_run")
    function: Any = oc.function(list(variables), outputs, mode=mode, on_unused_input="ignore")
    inputs = function.maker.fgraph.inputs
    values = dict(zip(inputs, example.arguments, strict=True))
    for printed in function.maker.fgraph.outputs:
        same_values(printed, pprint(printed), {v.name: v for v in inputs}, values)
