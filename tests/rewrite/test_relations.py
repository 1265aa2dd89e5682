"""Rules that are relations of miniKanren, and what its libraries make of variables, ops and types."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.reduce import CAReduce
from occelo_rewrite import OpPattern, in2out
from occelo_rewrite.patterns.unifying import ConstrainedVar

kanren: Any = pytest.importorskip("kanren", reason="miniKanren is not installed")
etuples: Any = pytest.importorskip("etuples", reason="etuples is not installed")
unification: Any = pytest.importorskip("unification", reason="logical-unification is not installed")

from occelo_rewrite.patterns.relations import KanrenRelationSub, eval_if_etuple  # noqa: E402

etuple, unify, reify = etuples.etuple, unification.unify, unification.reify
a, b, c = map(kanren.var, "abc")
x, y, z = ot.dvectors("x", "y", "z")
s = ot.dscalar("s")


def op_of(v: Any) -> Any:
    return v.owner.op


ADD, MUL, EXP, LOG = (op_of(v) for v in (x + y, x * y, ot.exp(x), ot.log(x)))


def test_variables_unify_with_tuples() -> None:
    assert unify(etuple(ADD, a, etuple(MUL, b, 2.0)), x + y * 2.0, {}) == {a: x, b: y}
    assert unify(x + y * 2.0, etuple(ADD, a, etuple(MUL, b, 3.0)), {}) is False
    assert unify(etuple(MUL, a, a), x * y, {}) is False
    assert unify(etuple(a, x), ot.exp(x), {}) == {a: EXP}
    assert unify(etuple(EXP, a), x, {}) is False
    assert unify(x + y, x + y, {}) == {}
    assert unify(x + y, y + x, {}) is False
    assert unify(x, y, {}) is False
    assert unify(ot.constant(2.0), ot.constant([2.0, 2.0]), {}) == {}
    assert unify(ot.constant(2.0), ot.constant(3.0), {}) is False
    assert unify(ot.constant(2.0), x, {}) is False


def test_reify_builds_variables() -> None:
    built = reify(etuple(MUL, a, etuple(EXP, b)), {a: x, b: y}).evaled_obj
    values = {x: [2.0], y: [1.0]}
    np.testing.assert_allclose(og.evaluate(built, values), [2 * np.e])
    whole = x + ot.exp(y)
    assert etuples.etuplize(whole).evaled_obj is whole
    assert eval_if_etuple(etuples.etuplize(whole)) is whole
    assert eval_if_etuple(x) is x


def test_ops_and_types_have_parts() -> None:
    total = ot.sum(ot.dmatrix("m"), axis=1)
    assert unify(etuple(OpPattern(CAReduce, axis=a), b), total, {})[a] == (1,)
    assert unify(etuple(OpPattern(CAReduce, axis=(0,)), b), total, {}) is False
    assert unify(etuple(OpPattern(CAReduce, axis=a), b), ot.exp(x), {}) is False
    op = op_of(total)
    parts = [kanren.var() for _ in op.props()]
    bound = unify(etuple(type(op), *parts), op, {})
    assert [bound[each] for each in parts] == list(op.props().values())
    assert unify(etuple(type(x.type), a, b), x.type, {}) == {a: "float64", b: (None,)}


def test_conditions() -> None:
    short = ConstrainedVar(lambda v: v.type.ndim == 0, "short")
    assert unify(etuple(EXP, short), ot.exp(s), {}) == {short: s}
    assert unify(etuple(EXP, short), ot.exp(x), {}) is False
    assert unify(etuple(ADD, short, short), s + s, {}) == {short: s}
    assert unify(a, short, {}) in ({a: short}, {short: a})
    assert unify((a, short), (ot.exp(s), a), {})[a].owner.inputs == [s]


def rewritten(rule: KanrenRelationSub, *outputs: Any) -> Any:
    fgraph = og.FunctionGraph([x, y, z], list(outputs), clone=False)
    in2out(rule).rewrite(fgraph)
    return fgraph.outputs[0] if len(outputs) == 1 else fgraph.outputs


def logs_to_exps(old: Any, new: Any) -> Any:
    inputs = kanren.var()
    return kanren.lall(kanren.conso(LOG, inputs, old), kanren.conso(EXP, inputs, new))


def test_a_relation_of_first_parts() -> None:
    v = rewritten(KanrenRelationSub(logs_to_exps), ot.log(x) + y * ot.log(z))
    values = {x: [1.0], y: [3.0], z: [2.0]}
    np.testing.assert_allclose(og.evaluate(v, values), np.exp([1.0]) + 3 * np.exp([2.0]))


def distributed(old: Any, new: Any) -> Any:
    f, u, w = (kanren.var() for _ in range(3))
    factored, summed = (
        etuple(MUL, f, etuple(ADD, u, w)),
        etuple(ADD, etuple(MUL, f, u), etuple(MUL, f, w)),
    )
    return kanren.lall(kanren.eq(old, factored), kanren.eq(new, summed))


def factored(old: Any, new: Any) -> Any:
    return distributed(new, old)


@pytest.mark.parametrize(
    ("relation", "given"), [(distributed, z * (x + y)), (factored, z * x + z * y)]
)
def test_a_relation_both_ways(relation: Any, given: Any) -> None:
    v = rewritten(KanrenRelationSub(relation), given)
    assert op_of(v) == (ADD if relation is distributed else MUL)
    values = {x: [1.0], y: [3.0], z: [2.0]}
    np.testing.assert_allclose(og.evaluate(v, values), [8.0])
    unchanged = rewritten(KanrenRelationSub(relation), x - y)
    assert op_of(unchanged) == op_of(x - y)


def test_filters() -> None:
    given = ot.log(x) + y
    assert rewritten(KanrenRelationSub(logs_to_exps, node_filter=lambda _: False), given) is given
    assert rewritten(KanrenRelationSub(logs_to_exps, lambda _: None), given) is given
    # the last answer instead of the first one
    rule = KanrenRelationSub(
        lambda old, new: kanren.lall(kanren.eq(old, etuple(EXP, a)), kanren.membero(new, [y, z])),
        lambda answers: [*answers, None][-2] if (answers := list(answers)) else None,
    )
    assert rewritten(rule, ot.exp(x)) is z


def test_an_open_answer_is_an_error() -> None:
    rule = KanrenRelationSub(lambda old, new: kanren.eq(old, etuple(EXP, a)))
    applied: Any = ot.exp(x).owner
    with pytest.raises(ValueError, match=r"leaves ~\S+ open in"):
        rule.transform(og.FunctionGraph([x], [ot.exp(x)], clone=False), applied)


def test_without_the_libraries() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['unification', 'kanren', 'cons', 'etuples']))\n"
        "import occelo_rewrite\n"
        "try:\n    import occelo_rewrite.patterns.relations\n"
        "except ModuleNotFoundError as error:\n    assert str(error).endswith(\"pip install 'occelo-rewrite[kanren]'\"), error\n"
        "else:\n    raise AssertionError"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_results_of_one_node_are_different_things() -> None:
    """Q and R of a decomposition have the same op and the same inputs."""
    x, y = ot.dmatrices("x", "y")
    op = OpFromGraph([x], [ot.sin(x), ot.cos(x)])
    first, second = op(x)
    other, _ = op(y)
    assert unify(first, second, {}) is False
    assert unify(first, op(x)[0], {}) == {}
    assert unify(first, other, {}) is False
    assert unify(first, etuple(op, x), {}) is False
