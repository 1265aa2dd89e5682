"""Patterns written as expressions, and patterns written as tuples."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.reduce import CAReduce
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_rewrite import (
    OpPattern,
    PatternNodeRewriter,
    SubstitutionNodeRewriter,
    call,
    in2out,
    node_rewriter,
    number,
    p,
    rewrite_graph,
    rule,
    wild,
)
from occelo_rewrite.patterns.pattern import match

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


def test_rules_are_tried_where_their_numbers_repetitions_and_functions_occur() -> None:
    seen: list[tuple[str, Any]] = []

    def noting(name: str, pattern: Any) -> Any:
        def law(node: Any) -> None:
            seen.append((name, node.outputs[0]))

        return rule(pattern, name=name, same_dtype=False)(law)

    a, b = ot.dvectors("a", "b")
    patterns = {
        "zero": p.mul(x, 0),
        "one": p.mul(1, x),
        "number": p.mul(number("c"), x),
        "square": p.mul(x, x),
        "powers": p.mul(p.exp(x), p.exp(y)),
        "half": p.true_div(1, x),
    }
    powers = ot.exp(a), ot.exp(b)
    cases: list[tuple[Any, set[str]]] = [
        (a * 0.0, {"zero", "number"}),
        (a * -0.0, {"zero", "number"}),
        (np.ones(3) * a, {"one", "number"}),
        (a * np.ones(100), set()),  # larger constants are not examined
        (a * np.array([1.0, 0.0]), set()),
        (a * 3.0, {"number"}),
        (ot.mul(a, b, a), {"square"}),
        (ot.mul(b, powers[0], powers[1]), {"powers"}),
        (powers[0] * b, set()),
        (powers[0] * powers[0], {"powers", "square"}),
        (ot.true_div(1.0, a), {"half"}),
        (ot.true_div(2.0, a), set()),
    ]
    graph = og.FunctionGraph([a, b], [v for v, _ in cases], clone=False)
    in2out(*[noting(name, pattern) for name, pattern in patterns.items()]).rewrite(graph)
    for v, expected in cases:
        assert {name for name, at in seen if at is v} == expected, v.owner


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
    assert plus == OpPattern(CAReduce, scalar_op=ot.add.scalar_op)
    assert plus == OpPattern(CAReduce, {"scalar_op": ot.add.scalar_op})
    assert matches(call(plus, x), total)
    assert not matches(call(plus, x), a.max(axis=1))
    for either in (OpPattern((CAReduce, DimShuffle)), OpPattern(CAReduce | DimShuffle)):
        assert [either.match_op(v.owner.op) for v in (total, a.T, ot.exp(a))] == [True, True, False]
        ops: list[Any] = []
        rule_of_either = node_rewriter([either])(lambda fgraph, node, ops=ops: ops.append(node.op))
        fgraph = og.FunctionGraph([a], [ot.exp(a.T).sum(axis=0)], clone=True)
        in2out(rule_of_either, name="seen").rewrite(fgraph)
        assert {type(op) for op in ops} == {CAReduce, DimShuffle}
    with pytest.raises(ValueError, match="DimShuffle has no field 'scalar_op'"):
        OpPattern((CAReduce, DimShuffle), scalar_op=ot.add.scalar_op)


def test_a_pattern_says_what_it_is_made_of() -> None:
    assert str(p.log(1 + p.exp(x))) == "log(add(1, exp(x)))"
    assert str(-x * 2 / y**2 - 1) == "sub(true_div(mul(neg(x), 2), sqr(y)), 1)"
    with pytest.raises(TypeError, match="consists of wildcards"):
        p.exp("x")
    with pytest.raises(TypeError, match="root of a pattern"):
        rule(x)
    with pytest.raises(ValueError, match="no scalar function 'nothing'"):
        p.nothing(x)


def test_parameters_that_no_pattern_binds_keep_their_defaults() -> None:
    a = ot.dvector("a")

    def law(x: Any, by: float = 3.0, *, node: Any) -> Any:
        return ot.tan(x) * by if node.op == ot.sin else None

    class Laws:
        def bound(self, x: Any) -> Any:
            return law(x, node=ot.sin(x).owner)

        __call__ = bound

    numbers = rule(p.sin(p.mul(number("by"), x)), p.sin(x), same_dtype=False)
    for decorated, tripled in (
        (numbers(law), True),
        (rule(p.sin(x))(functools.partial(law, by=4.0)), False),
        (rule(p.sin(x))(Laws().bound), True),
        (rule(p.sin(x))(Laws()), True),
    ):
        graph = og.FunctionGraph([a], [ot.sin(a)])
        in2out(decorated).rewrite(graph)
        found = og.evaluate(graph.outputs[0], {graph.inputs[0]: np.ones(2)})
        np.testing.assert_allclose(found, np.tan(np.ones(2)) * (3 if tripled else 4))
    doubled = og.FunctionGraph([a], [ot.sin(2.0 * a)])
    in2out(numbers(law)).rewrite(doubled)
    found = og.evaluate(doubled.outputs[0], {doubled.inputs[0]: np.ones(2)})
    np.testing.assert_allclose(found, np.tan(np.ones(2)) * 2)


def test_rules_that_could_never_apply_are_refused() -> None:
    def takes_more(x: Any, other: Any) -> Any: ...

    def in_order(x: Any, /) -> Any: ...

    with pytest.raises(ValueError, match=r"takes other, .* pattern exp\(x\) .* it binds x"):
        rule(p.exp(x))(takes_more)
    with pytest.raises(ValueError, match=r"pattern sin\(x\)"):
        rule(p.add(x, wild("other")), p.sin(x))(takes_more)
    with pytest.raises(TypeError, match="x can only be given in order"):
        rule(p.exp(x))(in_order)
    with pytest.raises(TypeError, match="at least one pattern"):
        rule()
    for pattern in (p.mul(p.exp(y, name="x"), x), p.mul(p.exp(number("x")), x)):
        with pytest.raises(ValueError, match="x stands for two things"):
            rule(pattern)(lambda x: x)
    with pytest.raises(ValueError, match=r"exp\(node\) may not bind them"):
        rule(p.exp(wild("node")))(lambda node: node)


def test_operators_of_patterns_mean_what_canonical_graphs_have() -> None:
    a = ot.dvector("a")
    for pattern, expression in (
        (p.sin(x) ** 2 + p.cos(x) ** 2, ot.sin(a) ** 2 + ot.cos(a) ** 2),
        (x * x, a * a),
        (1 / x, 1 / a),
        (1.0 / x, 1.0 / a),
        (x**3, a**3),
        (2 / x, 2 / a),
        (x * y, a * ot.exp(a)),
    ):
        canonical = rewrite_graph(expression, include=("canonicalize",))
        assert matches(pattern, canonical), str(pattern)


def test_a_number_that_occurs_twice_is_one() -> None:
    a = ot.dvector("a")
    pattern = p.mul(number("c"), p.pow(x, number("c")))
    assert matches(pattern, 3.0 * a**3.0) == [{"c": 3.0, "x": a}]
    assert matches(pattern, 4.0 * a**3.0) == []


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


class Colour(og.Type):
    """A type of variables that are no tensors."""

    __props__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
        return str(data)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


class Mixed(og.Op):
    """A colour of colours and numbers."""

    def make_node(self, *inputs: Any) -> Any:
        return og.Apply(self, list(inputs), [Colour()()])

    def evaluate(self, *values: Any) -> Any:
        return "-".join(map(str, values))


class Deeply(Mixed):
    """A class of ops below another."""


def test_a_rule_fires_on_types_that_are_no_tensors() -> None:
    mix = Mixed()

    @rule(call(mix, x, x))
    def mixed_with_itself(x: Any) -> Any:
        """mix(x, x) = x."""
        return x

    a = Colour()("a")
    graph = og.FunctionGraph([a], [mix(mix(a, a), a)])
    in2out(mixed_with_itself).rewrite(graph)
    assert graph.outputs[0] is graph.inputs[0]

    class Later(Deeply):
        """A class that there was not yet when the rule was made."""

    @rule(call(Mixed, call(Mixed, x, name="inner"), y))
    def unmixed(x: Any, y: Any) -> Any:
        """mix(mix(x), y) = mix(x, y), for ops of any class below."""
        return mix(x, y)

    graph = og.FunctionGraph([a], [mix(Later()(a), a)])
    assert len(in2out(unmixed).rewrite(graph).applications) == 1

    @rule(call(mix, x, 3))
    def mixed_with_three(x: Any) -> Any:
        """mix(x, 3) = x, for a 3 that is no tensor."""
        return x

    three = og.Constant(Colour(), 3)
    three.data = 3
    graph = og.FunctionGraph([a], [mix(a, three)])
    in2out(mixed_with_three).rewrite(graph)
    assert graph.outputs[0] is graph.inputs[0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_a_rule_fires_on_every_dtype_unless_it_says_otherwise(dtype: str) -> None:
    @rule(p.maximum(x, x))
    def larger_itself(x: Any) -> Any:
        """max(x, x) = x."""
        return x

    @rule(p.maximum(x, x), on="float")
    def larger_float(x: Any) -> Any:
        """max(x, x) = x, for floats."""
        return x

    a = ot.TensorType(dtype, (None,)).make_variable()
    for own, fires in ((larger_itself, True), (larger_float, dtype.startswith("float"))):
        graph = og.FunctionGraph([a], [ot.maximum(a, a)])
        assert bool(in2out(own).rewrite(graph).applications) == fires
    with pytest.raises(ValueError, match="on 'float', 'inexact', 'any', not on 'int'"):
        rule(p.exp(x), on="int")(lambda x: x)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32"])
def test_a_rule_computes_in_the_dtype_of_what_it_replaces(dtype: str) -> None:
    @rule(p.mul(p.exp(x), p.exp(y)))
    def product_of_powers(x: Any, y: Any) -> Any:
        """exp(x) exp(y) = exp(x + y)."""
        return ot.exp(x + y)

    @rule(p.sqr(p.true_div(x, y)))
    def squared_quotient(x: Any, y: Any) -> Any:
        """(x / y)^2 = x^2 / y^2."""
        return ot.sqr(x) / ot.sqr(y)

    @rule(p.lt(x, y))
    def turned(x: Any, y: Any) -> Any:
        """x < y is y > x."""
        return ot.gt(y, x)

    @rule(p.switch(z, x, x))
    def either(x: Any, z: Any) -> Any:
        """switch(z, x, x) = x, for tests of conditions."""
        return ot.switch(ot.invert(z), x, x) if z.type.dtype == "bool" else None

    a = ot.TensorType(dtype, (None,)).make_variable()
    b = ot.dvector()
    cases = [
        (product_of_powers, ot.exp(a) * ot.exp(a + 0 * a)),
        (squared_quotient, ot.sqr(a / b)),
        (squared_quotient, ot.sqr(b / a)),
        (turned, ot.lt(a, b)),
        (either, ot.switch(a > 3, a, a)),
    ]
    values = (np.array([3, 100, 120, 2], dtype), np.array([7.0, 3.0, 200.0, 0.5]))
    for own, built in cases:
        graph = og.FunctionGraph([a, b], [built])
        assert in2out(own, ignore_newtrees=True).rewrite(graph).applications, own
        expected = og.evaluate(built, dict(zip((a, b), values, strict=True)))
        found = og.evaluate(graph.outputs[0], dict(zip(graph.inputs, values, strict=True)))
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(
            found, expected, rtol=4 * np.finfo(np.result_type(found, "f2")).eps
        )


def test_tuples_with_constants_of_several_values() -> None:
    a = ot.tensor("a", dtype="float64", shape=(2,))
    drop = PatternNodeRewriter((ot.add, "u", ot.constant([1.0, 2.0])), "u")
    for value, fires in (([1.0, 2.0], True), ([1.0, 3.0], False), ([4.0, 4.0], False)):
        graph = og.FunctionGraph([a], [a + ot.constant(value)])
        assert bool(in2out(drop).rewrite(graph).applications) == fires


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
