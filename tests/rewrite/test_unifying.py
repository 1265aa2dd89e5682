"""Patterns in the form of tuples: what they match, what they bind, and what is built of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.reduce import CAReduce
from occelo_rewrite import OpPattern, PatternNodeRewriter, in2out
from occelo_rewrite.patterns.unifying import (
    Asterisk,
    ConstrainedVar,
    LiteralString,
    PatternVar,
    convert_strs_to_vars,
    match_pattern,
    reify,
    reify_pattern,
    unify,
)

x, y, z = ot.dvectors("x", "y", "z")
a, b, c = map(PatternVar, "abc")


def op_of(v: Any) -> Any:
    return v.owner.op


EXP, ADD, SUB, MUL, LOG = (op_of(v) for v in (ot.exp(x), x + y, x - y, x * y, ot.log(x)))


def found(given: Any, v: Any, subs: Any = None) -> Any:
    return match_pattern(convert_strs_to_vars(given), v.owner, subs)


def test_what_a_pattern_binds() -> None:
    assert found((SUB, (EXP, "a"), "b"), ot.exp(x) - y) == {a: x, b: y}
    assert found((SUB, "a", "a"), x - x) == {a: x}
    assert found((SUB, "a", "a"), x - y) is None
    assert found((SUB, (EXP, "a"), "b"), x - ot.exp(y)) is None
    # sums match in any order
    assert found((ADD, (EXP, "a"), "b"), y + ot.exp(x)) == {a: x, b: y}
    assert found((ADD, "a", "b"), x + y, {a: y}) == {a: y, b: x}
    assert found((ADD, "a", "b"), x + y, {a: z}) is None
    # operands that no wildcard takes are no match
    assert found((ADD, (EXP, "a"), (LOG, "b")), ADD(ot.exp(x), ot.log(y), z)) is None


def test_numbers_constants_and_variables() -> None:
    for one in (1.0, 1, np.asarray(1.0), ot.constant(1.0)):
        assert found((SUB, one, "a"), 1.0 - x) == {a: x}
        assert found((SUB, one, "a"), 2.0 - x) is None
    assert found((SUB, y, "a"), y - x) == {a: x}
    assert found((SUB, y, "a"), z - x) is None
    rows = np.array([1.0, 2.0])
    assert found((SUB, rows, "a"), ot.constant(rows) - x) == {a: x}
    assert found((SUB, rows, "a"), ot.constant(rows[::-1].copy()) - x) is None


def test_conditions() -> None:
    def short(v: Any) -> bool:
        return v.type.ndim == 0

    s = ot.dscalar("s")
    given = (SUB, {"pattern": "a", "constraint": short}, "b")
    assert found(given, s - s) == {a: s, b: s}
    assert found(given, x - s) is None
    own = ConstrainedVar(short, "a")
    assert found((EXP, own), ot.exp(s)) == {own: s}
    assert found((EXP, own), ot.exp(x)) is None
    assert ConstrainedVar(short, prefix="p").token == "p_constrained"
    assert own.constraint is short


def test_all_other_inputs() -> None:
    joined = ot.join(0, x, y, z)
    bound = found((op_of(joined), "a", Asterisk("more")), joined)
    assert bound == {a: x, Asterisk("more"): (y, z)} or bound[Asterisk("more")][-1] is z
    total = ADD(x, ot.exp(y), z)
    assert found((ADD, (EXP, "a"), Asterisk("more")), total) == {a: y, Asterisk("more"): (x, z)}
    again = reify((MUL, "a", Asterisk("more")), {a: y, Asterisk("more"): (x, z)})
    assert again.owner.inputs == [y, x, z]
    assert found((EXP, "a", Asterisk("more")), ot.exp(x)) == {a: x, Asterisk("more"): ()}


def test_fields_of_ops() -> None:
    total = ot.sum(ot.sum(ot.dtensor3("t"), axis=0), axis=1)
    inner = (OpPattern(CAReduce, scalar_op="f", axis="i"), "a")
    outer = (OpPattern(CAReduce, scalar_op="f", axis="o"), inner)
    bound = found(outer, total)
    assert (bound[PatternVar("i")], bound[PatternVar("o")]) == ((0,), (1,))
    mixed = ot.max(ot.sum(ot.dtensor3("t"), axis=0), axis=1)
    assert found(outer, mixed) is None
    assert found((OpPattern(CAReduce, axis=(1,)), "a"), total)
    assert found((OpPattern(CAReduce, axis=(0,)), "a"), total) is None
    # a text that is no wildcard
    exact = OpPattern(CAReduce, dtype=LiteralString("int8"))
    assert found((exact, "a"), total) is None
    again = reify_pattern(
        convert_strs_to_vars(OpPattern(Elemwise, scalar_op="f")), {PatternVar("f"): EXP.scalar_op}
    )
    assert again == EXP


def test_unify_and_reify_are_inverse() -> None:
    given = (SUB, (EXP, "a"), (MUL, "b", 2.0))
    variable = ot.exp(x) - y * 2.0
    bound = unify(given, variable)
    assert bound == {a: x, b: y}
    np.testing.assert_array_equal(
        og.evaluate(reify(given, bound), {x: [1.0], y: [2.0]}),
        og.evaluate(variable, {x: [1.0], y: [2.0]}),
    )
    assert unify(given, x) is False
    assert unify("a", x) == {a: x}
    assert unify(given, variable, {a: y}) is False


def test_rules_of_tuples() -> None:
    rule = PatternNodeRewriter(
        (ADD, (EXP, "a"), (EXP, "a"), Asterisk("more")),
        (ADD, (MUL, 2.0, (EXP, "a")), Asterisk("more")),
        True,
    )
    fgraph = og.FunctionGraph([x, y], [ADD(ot.exp(x), y, ot.exp(x))], clone=False)
    in2out(rule).rewrite(fgraph)
    (v,) = fgraph.outputs
    assert op_of(v) == ADD
    np.testing.assert_allclose(og.evaluate(v, {x: [1.0], y: [3.0]}), [2 * np.e + 3])
    assert "mul" in og.dprint(v, file="str")
    kept = PatternNodeRewriter((EXP, (LOG, "a")), y)
    graph = og.FunctionGraph([x, y], [ot.exp(ot.log(x))], clone=False)
    in2out(kept).rewrite(graph)
    assert graph.outputs == [y]


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="must be the last argument"):
        convert_strs_to_vars((ADD, Asterisk("a"), "b"))
    with pytest.raises(TypeError, match="a is an Asterisk and a wildcard"):
        convert_strs_to_vars((ADD, "a", Asterisk("a")))
    with pytest.raises(TypeError, match="A pattern is a tuple of an op and arguments, got"):
        convert_strs_to_vars(("a", "b"))
    with pytest.raises(TypeError, match="consists of tuples, strings and numbers"):
        convert_strs_to_vars((EXP, object()))
    with pytest.raises(ValueError, match="wildcard without a value: b"):
        reify((EXP, "b"), {a: x})
    one: Any = {"pattern": "a", "constraint": callable}
    other: Any = {"pattern": "a", "constraint": bool}
    with pytest.raises(ValueError, match="a has two constraints"):
        convert_strs_to_vars((ADD, one, other))
