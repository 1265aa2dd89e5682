"""Patterns written as expressions, and patterns written as tuples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.reduce import CAReduce
from occelo_rewrite import (
    OpPattern,
    PatternNodeRewriter,
    SubstitutionNodeRewriter,
    call,
    in2out,
    number,
    p,
    rule,
    wild,
)
from occelo_rewrite.pattern import match

x, y, z = wild("x y z")


def matches(pattern: Any, variable: Any) -> list[dict[str, Any]]:
    return list(match(pattern, variable.owner))


def test_wildcards_stand_for_one_variable_each() -> None:
    a, b = ot.dvectors("a", "b")
    assert matches(p.sub(x, y), a - b) == [{"x": a, "y": b}]
    assert matches(p.sub(x, x), a - b) == []
    assert matches(p.sub(x, x), a - a) == [{"x": a}]
    positive = wild("x", lambda v: v is a)
    assert matches(p.exp(positive), ot.exp(a))
    assert not matches(p.exp(positive), ot.exp(b))


def test_numbers_match_constants_of_one_value() -> None:
    a = ot.dvector("a")
    assert matches(1 - x, 1 - a) == [{"x": a}]
    assert matches(1 - x, np.ones(3) - a) == [{"x": a}]
    assert matches(1 - x, 2 - a) == []
    assert matches(p.mul(number("c"), x), 3.0 * a) == [{"c": 3.0, "x": a}]
    assert matches(p.mul(number("c", lambda c: c < 0), x), 3.0 * a) == []
    assert matches(p.mul(number("c"), x), a * np.array([1.0, 2.0])) == []


def test_sums_and_products_match_in_any_order() -> None:
    a, b, c = ot.dvectors("a", "b", "c")
    assert {"x": a, "y": b} in matches(p.add(p.exp(x), y), ot.exp(a) + b)
    assert {"x": a, "y": b} in matches(p.add(p.exp(x), y), b + ot.exp(a))
    # below the root a wildcard takes what is left over
    inner = matches(p.log(1 + x), ot.log(ot.add(a, 1.0, b)))
    assert len(inner) == 1
    assert inner[0]["x"].owner.inputs == [a, b]
    # at the root what is left over stays
    rest = matches(p.add(p.exp(x), -1.0), ot.add(c, ot.exp(a), -1.0, b))
    assert [r["*rest"] for r in rest] == [[c, b]]
    # functions of two arguments that commute match both ways
    assert len(matches(p.maximum(p.exp(x), y), ot.maximum(b, ot.exp(a)))) == 1


def test_nodes_are_bound_by_name_and_classes_match_any_of_their_ops() -> None:
    a = ot.dmatrix("a")
    total = ot.exp(a).sum(axis=1)
    (found,) = matches(call(CAReduce, p.exp(x), name="s"), total)
    assert found["s"] is total.owner
    assert found["x"] is a
    plus = OpPattern(CAReduce, (("scalar_op", ot.add.scalar_op),))
    assert matches(call(plus, x), total)
    assert not matches(call(plus, x), a.max(axis=1))


def test_a_pattern_says_what_it_is_made_of() -> None:
    assert str(p.log(1 + p.exp(x))) == "log(add(1, exp(x)))"
    assert str(-x * 2 / y**2 - 1) == "sub(true_div(mul(neg(x), 2), pow(y, 2)), 1)"
    with pytest.raises(TypeError, match="consists of wildcards"):
        p.exp("x")
    with pytest.raises(TypeError, match="root of a pattern"):
        rule(x)
    with pytest.raises(ValueError, match="no scalar function 'nothing'"):
        p.nothing(x)


def test_the_engine_keeps_dtype_and_shape() -> None:
    @rule(p.sin(p.cos(x)), on="any", same_dtype=False)
    def smaller(node: Any) -> Any:
        """sin(cos(x)) = 0, for tests."""
        return ot.constant(np.float32(0.0))

    a = ot.dmatrix("a")
    graph = og.FunctionGraph([a], [ot.sin(ot.cos(a))])
    in2out(smaller).rewrite(graph)
    found = og.evaluate(graph.outputs[0], {graph.inputs[0]: np.ones((2, 3))})
    assert found.dtype == np.float64
    assert found.shape == (2, 3)
    narrow = ot.fvector("narrow")
    mixed = og.FunctionGraph([narrow], [ot.log(1 + ot.cast(narrow, "float64"))])

    @rule(p.log(1 + x))
    def log_one_plus(x: Any) -> Any:
        """log(1 + x) = log1p(x)."""
        return ot.log1p(x)

    in2out(log_one_plus).rewrite(mixed)
    assert mixed.outputs[0].type.dtype == "float64"


def test_tuples() -> None:
    a, b = ot.dvectors("a", "b")
    distribute = PatternNodeRewriter(
        (ot.mul, "k", (ot.add, "u", "v")), (ot.add, (ot.mul, "k", "u"), (ot.mul, "k", "v"))
    )
    graph = og.FunctionGraph([a, b], [(a + b) * a])
    assert in2out(distribute, ignore_newtrees=True).rewrite(graph).applications
    assert graph.outputs[0].owner.op == ot.add
    shared = og.FunctionGraph([a, b], [(a + b) * a, a + b])
    shared.replace(shared.outputs[1], shared.outputs[0].owner.inputs[0])
    assert not in2out(distribute).rewrite(shared).applications
    generous = PatternNodeRewriter(
        (ot.mul, "k", (ot.add, "u", "v")), "k", allow_multiple_clients=True, name="generous"
    )
    assert in2out(generous).rewrite(shared).applications


def test_tuples_with_constraints_numbers_and_functions() -> None:
    a = ot.dvector("a")
    only_vectors = {"pattern": "u", "constraint": lambda v: v.type.ndim == 1}
    drop = PatternNodeRewriter((ot.pow, only_vectors, 1), "u")
    graph = og.FunctionGraph([a], [a**1.0])
    in2out(drop).rewrite(graph)
    assert graph.outputs[0] is graph.inputs[0]
    made = PatternNodeRewriter(
        (ot.exp, "u"), lambda fgraph, node, matched: ot.sin(matched["u"]), name="to sin"
    )
    graph = og.FunctionGraph([a], [ot.exp(a)])
    in2out(made).rewrite(graph)
    assert graph.outputs[0].owner.op == ot.sin
    refused = PatternNodeRewriter(
        (ot.exp, {"pattern": (ot.sin, "u"), "constraint": lambda v: False}), "u"
    )
    graph = og.FunctionGraph([a], [ot.exp(ot.sin(a))])
    assert not in2out(refused).rewrite(graph).applications
    with pytest.raises(TypeError, match="A pattern is a tuple"):
        PatternNodeRewriter("u", "u")  # type: ignore[arg-type]


def test_substitution() -> None:
    a = ot.dvector("a")
    graph = og.FunctionGraph([a], [ot.exp(a)])
    in2out(SubstitutionNodeRewriter(ot.exp, ot.sin)).rewrite(graph)
    assert graph.outputs[0].owner.op == ot.sin


def test_a_rule_may_replace_several_outputs() -> None:
    @rule(call(ot.IfElse, z, x, y), on="any", same_dtype=False)
    def first(x: Any, node: Any) -> Any:
        """ifelse(z, x, y) = x, for tests."""
        return [x]

    a, b = ot.dvectors("a", "b")
    graph = og.FunctionGraph([a, b], [ot.ifelse(a.sum() > 0, a, b)])
    in2out(first).rewrite(graph)
    assert graph.outputs[0] is graph.inputs[0]
