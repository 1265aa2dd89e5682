"""Rules, rewriters, databases, merging and the pipeline."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.families import registered
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite import (
    EquilibriumDB,
    EquilibriumGraphRewriter,
    LocalGroupDB,
    MergeOptimizer,
    NodeRewriter,
    NotConvergedError,
    OpPattern,
    ProxyDB,
    RewriteDatabase,
    RewriteDatabaseQuery,
    RewriteError,
    RuleSet,
    SequenceDB,
    SequentialGraphRewriter,
    TopoDB,
    WalkingGraphRewriter,
    canonicalize_db,
    graph_rewriter,
    in2out,
    node_rewriter,
    optdb,
    optimizer_query,
    out2in,
    pipeline,
    register_canonicalize,
    register_infer_shape,
    register_optimizer,
    register_specialize,
    register_stabilize,
    register_uncanonicalize,
    register_useless,
    rewrite_graph,
    rewrite_subgraph,
    rewriter_for,
    specialize_db,
    stabilize_db,
    uncanonicalize_db,
)
from occelo_rewrite.fingerprint import database_fingerprint
from occelo_rewrite.queries import CHANGES
from occelo_rewrite.rules.fold import constant_folding
from occelo_rewrite.stages import STAGES
from occelo_testing.programs.trying import RandomGraph, on_random_graphs


def counted(graph: og.FunctionGraph, op: Any) -> int:
    return sum(1 for n in graph.apply_nodes if n.op == op)


@node_rewriter([ot.sin])
def sin_to_cos(fgraph: Any, node: Any) -> Any:
    """sin(x) = cos(x), for tests."""
    return [ot.cos(node.inputs[0])]


@node_rewriter([ot.cos])
def cos_to_sin(fgraph: Any, node: Any) -> Any:
    """cos(x) = sin(x), for tests."""
    return [ot.sin(node.inputs[0])]


@node_rewriter([OpPattern(Elemwise, (("scalar_op", ot.exp.scalar_op),))])
def exp_to_tanh(fgraph: Any, node: Any) -> Any:
    """exp(x) = tanh(x), for tests."""
    return ot.tanh(node.inputs[0])


def one_input(build: Any) -> og.FunctionGraph:
    x = ot.dvector("x")
    return og.FunctionGraph([x], [build(x)])


def test_a_rule_is_tried_where_its_op_is_and_leaves_a_record() -> None:
    graph = one_input(lambda x: ot.sin(ot.sin(x)) + ot.exp(x))
    record = in2out(sin_to_cos, exp_to_tanh).rewrite(graph)
    assert counted(graph, ot.cos) == 2
    assert counted(graph, ot.tanh) == 1
    assert [a.rule for a in record.applications].count("sin_to_cos") == 2
    first = record.applications[0]
    assert first.before.startswith("sin(")
    assert first.after.startswith("cos(")
    assert __file__ in first.source
    assert "sin_to_cos" in str(record)
    graph.check_integrity()


def test_new_nodes_are_rewritten_unless_ignored() -> None:
    @node_rewriter([ot.exp])
    def grow(fgraph: Any, node: Any) -> Any:
        return [ot.sin(node.inputs[0])]

    both = one_input(ot.exp)
    WalkingGraphRewriter([grow, sin_to_cos]).rewrite(both)
    assert counted(both, ot.cos) == 1
    once = one_input(ot.exp)
    WalkingGraphRewriter([grow, sin_to_cos], ignore_newtrees=True).rewrite(once)
    assert counted(once, ot.cos) == 0


def test_orders() -> None:
    seen: list[str] = []

    @node_rewriter(None)
    def look(fgraph: Any, node: Any) -> Any:
        seen.append(str(node.op))

    in2out(look).rewrite(one_input(lambda x: ot.sin(ot.exp(x))))
    out2in(look).rewrite(one_input(lambda x: ot.sin(ot.exp(x))))
    assert seen == ["exp", "sin", "sin", "exp"]
    with pytest.raises(ValueError, match="order is"):
        WalkingGraphRewriter(look, "sideways")


def test_rules_that_undo_each_other_end_with_both_named() -> None:
    graph = one_input(ot.sin)
    with pytest.raises(NotConvergedError, match=r"sin_to_cos.*cos_to_sin|cos_to_sin.*sin_to_cos"):
        EquilibriumGraphRewriter([sin_to_cos, cos_to_sin]).rewrite(graph)
    graph.check_integrity()


@node_rewriter([ot.tan])
def tan_to_exp(fgraph: Any, node: Any) -> Any:
    """tan(x) = exp(x), for tests."""
    return [ot.exp(node.inputs[0])]


@node_rewriter([ot.cos])
def cos_to_tan(fgraph: Any, node: Any) -> Any:
    """cos(x) = tan(x), for tests."""
    return [ot.tan(node.inputs[0])]


@pytest.mark.parametrize("merging", [False, True])
@pytest.mark.parametrize("above", [ot.neg, ot.sqr, ot.arctan])
def test_what_becomes_possible_far_below_a_node_is_seen(above: Any, merging: bool) -> None:
    """The root of a pattern is tried long before what it needs is there, three nodes below."""

    @node_rewriter([ot.log])
    def log_of_deep_exp(fgraph: Any, node: Any) -> Any:
        """log(1 + f(exp(x))) = x, for tests."""
        total = node.inputs[0].owner
        inner = None if total is None else total.inputs[1].owner
        deep = None if inner is None else inner.inputs[0].owner
        return [deep.inputs[0]] if deep is not None and deep.op == ot.exp else None

    graph = one_input(lambda x: ot.log(1 + above(ot.sin(x))))
    if merging:
        MergeOptimizer().rewrite(graph)
    rules = [log_of_deep_exp, sin_to_cos, cos_to_tan, tan_to_exp]
    EquilibriumGraphRewriter(rules).rewrite(graph)
    assert graph.outputs[0] is graph.inputs[0]


def test_comparing_expressions_with_much_sharing_is_quick() -> None:
    def doubled(v: Any) -> Any:
        for _ in range(60):
            v = ot.maximum(v, v)
        return ot.cos(v)

    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [ot.sin(doubled(x))])
    start = graph.inputs[0]

    @node_rewriter([ot.sin])
    def rebuilt(fgraph: Any, node: Any) -> Any:
        """The same expression, built anew."""
        return [ot.sin(doubled(start))]

    assert not in2out(rebuilt).rewrite(graph).applications


def test_equilibrium_runs_globals_rules_finals_and_cleanups() -> None:
    calls: list[str] = []
    make = lambda name: graph_rewriter(lambda g: calls.append(name))  # noqa: E731
    EquilibriumGraphRewriter(
        [make("global"), sin_to_cos], [make("final")], [make("cleanup")]
    ).rewrite(one_input(ot.sin))
    assert calls == ["global", "final", "cleanup", "global", "final"]


@node_rewriter([ot.sin])
def broken(fgraph: Any, node: Any) -> Any:
    raise KeyError("oops")


@node_rewriter([ot.sin])
def wrong_type(fgraph: Any, node: Any) -> Any:
    return [ot.fvector("wrong")]


@node_rewriter([ot.sin])
def wrong_count(fgraph: Any, node: Any) -> Any:
    return [node.inputs[0], node.inputs[0]]


@pytest.mark.parametrize("rule", [broken, wrong_type, wrong_count], ids=str)
def test_a_rule_that_fails_is_named_and_changes_nothing(rule: NodeRewriter) -> None:
    graph = one_input(ot.sin)
    before = og.digest(graph.outputs, graph.inputs)
    with (
        config.change_flags(on_opt_error="raise"),
        pytest.raises(RewriteError, match=str(rule)) as caught,
    ):
        in2out(rule).rewrite(graph)
    assert __file__ in str(caught.value)
    with (
        config.change_flags(on_opt_error="warn"),
        pytest.warns(UserWarning, match=str(rule)),
    ):
        in2out(rule).rewrite(graph)
    with config.change_flags(on_opt_error="ignore"):
        in2out(rule).rewrite(graph)
    assert og.digest(graph.outputs, graph.inputs) == before
    graph.check_integrity()


def test_a_stage_that_fails_is_handled_alike() -> None:
    @graph_rewriter
    def bad(fgraph: Any) -> None:
        raise KeyError("oops")

    graph = one_input(ot.sin)
    with config.change_flags(on_opt_error="warn"), pytest.warns(UserWarning, match="bad"):
        SequentialGraphRewriter(bad, in2out(sin_to_cos)).rewrite(graph)
    assert counted(graph, ot.cos) == 1


def test_replacements_may_be_dicts_and_remove_nodes() -> None:
    @node_rewriter([ot.sin])
    def as_dict(fgraph: Any, node: Any) -> Any:
        return {node.outputs[0]: node.inputs[0], "remove": [node]}

    graph = one_input(lambda x: ot.sin(x) * 2)
    in2out(as_dict).rewrite(graph)
    assert counted(graph, ot.sin) == 0


def test_rule_sets_compose() -> None:
    both = RuleSet((sin_to_cos,)) | RuleSet((exp_to_tanh, sin_to_cos))
    assert list(both) == [sin_to_cos, exp_to_tanh]
    assert list(both - RuleSet((sin_to_cos,))) == [exp_to_tanh]
    assert len(both) == 2
    assert sin_to_cos.__doc__ == "sin(x) = cos(x), for tests."


def test_merge_joins_equal_nodes_and_constants() -> None:
    x, y = ot.dvectors("x", "y")
    graph = og.FunctionGraph(
        [x, y],
        [
            ot.exp(x + y) * 2.0,
            ot.exp(y + x) * ot.constant(2.0),
            x - y,
            y - x,
            ot.constant(np.nan) + x,
            ot.constant(np.nan) + x,
        ],
    )
    MergeOptimizer().rewrite(graph)
    graph.check_integrity()
    assert graph.outputs[0] is graph.outputs[1]
    assert graph.outputs[2] is not graph.outputs[3]
    assert graph.outputs[4] is graph.outputs[5]
    assert counted(graph, ot.exp) == 1


def test_merge_tells_constants_of_other_shapes_apart() -> None:
    """Their types need not have the lengths, and of empty arrays the bytes are equal."""
    kind = ot.TensorType("float64", (None, None))
    shapes = [(3, 0), (2, 0), (2, 3), (3, 2)]
    values = [ot.constant(np.zeros(shape)).data for shape in shapes]
    constants = [type(ot.constant(v))(kind, v) for v in values]
    assert len({c.signature() for c in constants}) == 4
    graph = og.FunctionGraph([], [c + 1.0 for c in constants], clone=True)
    MergeOptimizer().rewrite(graph)
    assert [v.shape for v in og.evaluate(graph.outputs)] == shapes


def test_merge_compares_inputs_whose_hashes_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("occelo_rewrite.merge.hash", lambda _: 7, raising=False)
    x, y = ot.dvectors("x", "y")
    outputs = [x - y, y - x, x - y, x + y, x + x, y + x]
    graph = og.FunctionGraph([x, y], outputs)
    MergeOptimizer().rewrite(graph)
    graph.check_integrity()
    assert [graph.outputs.index(v) for v in graph.outputs] == [0, 1, 0, 3, 4, 3]


def test_nodes_whose_inputs_change_one_by_one_merge_with_equal_nodes() -> None:
    x = ot.dvectors(*"abcdefgh")
    sines, cosines = [ot.sin(v) for v in x], [ot.cos(v) for v in x]
    outputs = [ot.add(*sines), ot.add(*cosines[::-1])]
    outputs += [ot.join(0, *sines), ot.join(0, *cosines), ot.join(0, *cosines[::-1])]
    graph = og.FunctionGraph(list(x), outputs)
    MergeOptimizer().rewrite(graph)
    in2out(sin_to_cos).rewrite(graph)
    graph.check_integrity()
    assert [graph.outputs.index(v) for v in graph.outputs] == [0, 0, 2, 2, 4]


def test_merge_leaves_impure_and_destructive_nodes_alone() -> None:
    class Impure(og.Op):
        __props__ = ()
        pure = False

        def infer(self, x: Any) -> Any:
            return x

    inplace = Elemwise(ot.exp.scalar_op, ((0, 0),))
    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [Impure()(x), Impure()(x), inplace(x), inplace(x)])
    MergeOptimizer().rewrite(graph)
    assert len(graph.apply_nodes) == 4


def test_constants_are_folded_and_barriers_dropped() -> None:
    x = ot.dscalar("x")
    y = og.zero_grad(x) * (ot.constant(2.0) + ot.constant(3.0) * 2)
    done = rewrite_graph(y, include=("fast_run",))
    assert done.owner.op == ot.mul
    assert done.owner.inputs[0] is x
    assert done.owner.inputs[1].data == 8.0
    assert y.owner.inputs[0].owner is not None  # the user's graph is as it was


def test_only_short_repetitions_are_folded() -> None:
    for length, folded in ((5, True), (5000, False)):
        out = rewrite_graph(ot.alloc(np.float64(0.5), length), include=("fast_run",))
        assert (out.owner is None) == folded
        np.testing.assert_array_equal(og.evaluate(out), np.full(length, 0.5))


def test_what_fails_or_is_large_is_not_folded() -> None:
    bad = ot.constant([1.0, 2.0])[ot.constant(np.array([7]))]
    assert rewrite_graph(bad, include=("fast_run",)).owner is not None
    large = ot.zeros((2000, 2000))
    assert rewrite_graph(large, include=("fast_run",)).owner is not None
    assert constant_folding.__doc__ == "op(constants) = constant, for pure ops."


@on_random_graphs(dtypes=("float64", "float32", "int64", "bool"), static=True)
def test_the_pipeline_keeps_values_and_is_idempotent(graph: RandomGraph) -> None:
    # what overwrites its inputs needs the graph's own order to be computed in; see test_stages
    query = optimizer_query("fast_run").excluding("inplace")
    expected = og.evaluate(graph.outputs, graph.given())
    made = og.FunctionGraph(graph.inputs, graph.outputs)
    rewriter_for(query).rewrite(made)
    made.check_integrity()
    found = og.evaluate(made.outputs, dict(zip(made.inputs, graph.values, strict=True)))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 1e-9, atol=1e-6)
    once = og.digest(made.outputs, made.inputs)
    rewriter_for(query).rewrite(made)
    assert og.digest(made.outputs, made.inputs) == once


def test_queries_choose_by_tag() -> None:
    db = SequenceDB("tests")
    db.register("first", in2out(sin_to_cos), "a", "b", position=1)
    db.register("second", in2out(exp_to_tanh), "b", position=0)
    db.register("third", in2out(cos_to_sin), "c")
    assert db.names() == ["second", "first", "third"]
    assert [n for n, _ in db.chosen(RewriteDatabaseQuery(["b"]))] == ["second", "first"]
    assert [n for n, _ in db.chosen(RewriteDatabaseQuery(["b"]).excluding("a"))] == ["second"]
    assert [n for n, _ in db.chosen(RewriteDatabaseQuery(["b"]).requiring("a"))] == ["first"]
    assert [n for n, _ in db.chosen(RewriteDatabaseQuery(["a"]).including("c"))] == [
        "first",
        "third",
    ]
    assert [n for n, _ in db.chosen(RewriteDatabaseQuery(["b"], position_cutoff=0.5))] == ["second"]
    extra = RewriteDatabaseQuery(["c"]).register((in2out(sin_to_cos), -1.0))
    assert [n for n, _ in db.chosen(extra)] == ["sin_to_cos", "third"]
    assert [str(r) for r in db.query("+b", "-a").rewriters] == ["exp_to_tanh"]
    with pytest.raises(ValueError, match="starts with"):
        db.query("b")
    with pytest.raises(ValueError, match="already has a rewrite named 'first'"):
        db.register("first", in2out(exp_to_tanh))
    with pytest.raises(ValueError, match="is a tag"):
        db.register("b", in2out(sin_to_cos))
    db.register("first", in2out(exp_to_tanh), overwrite_existing=True)
    db.add_tags("first", "late")
    assert "first" in db
    db.remove("first")
    assert "first" not in db


def test_databases_of_rules() -> None:
    equilibrium = EquilibriumDB("eq")
    equilibrium.register_rules(RuleSet((sin_to_cos, exp_to_tanh)), "t")
    graph = one_input(lambda x: ot.sin(ot.exp(x)))
    equilibrium.query("+t").rewrite(graph)
    assert counted(graph, ot.cos) == counted(graph, ot.tanh) == 1
    group = LocalGroupDB("group")
    group.register("sin_to_cos", sin_to_cos, "t")
    assert group.query("+t") == [sin_to_cos]
    topo = TopoDB(group, "out_to_in")
    graph = one_input(ot.sin)
    topo.query("+t").rewrite(graph)
    assert counted(graph, ot.cos) == 1
    assert ProxyDB(equilibrium).query("+t") is not None
    for database in (equilibrium, topo, ProxyDB(equilibrium)):
        graph = one_input(ot.sin)
        database.query("+none").rewrite(graph)
        assert counted(graph, ot.sin) == 1
    assert group.query("+none") == []
    outer = SequenceDB("outer")
    outer.register("eq", equilibrium, "t")
    graph = one_input(lambda x: ot.sin(ot.exp(x)))
    outer.query(
        RewriteDatabaseQuery(["t"], subquery={"eq": RewriteDatabaseQuery(["sin_to_cos"])})
    ).rewrite(graph)
    assert counted(graph, ot.exp) == 1


def test_named_optimizers() -> None:
    assert optimizer_query("fast_run").include == {"fast_run"}
    assert optimizer_query(None).include == {"nothing"}
    with pytest.raises(ValueError, match="There is no optimizer 'o9'"):
        optimizer_query("o9")
    with pytest.raises(ValueError, match="already"):
        register_optimizer("o4", RewriteDatabaseQuery())
    graph = one_input(lambda x: og.zero_grad(x) + 1.0)
    rewriter_for(optimizer_query(None)).rewrite(graph)
    assert len(graph.apply_nodes) == 2
    positions = [optdb.position(n) for n in optdb.names()]
    assert positions == sorted(positions)


def test_the_table_has_all_stages_in_order() -> None:
    of_families = {
        name for f in registered() if f.rules for name in getattr(f.load("rules"), "STAGES", {})
    }
    own = [
        (e.position, e.name)
        for e in optdb.entries()
        if e.place is None and e.name not in of_families
    ]
    assert [(stage.position, stage.name) for stage in STAGES] == sorted(own)
    assert all(stage.does for stage in STAGES)


def test_the_docstring_of_the_pipeline_lists_all_tags_of_changes() -> None:
    text = pipeline.__doc__ or ""
    tags = re.findall(r"^\| (\w+) \| [^|]+ \|$", text.partition("| tag |")[2], flags=re.M)
    assert tags == list(CHANGES)


def test_no_name_of_an_initial_rewrite_is_a_tag_of_another() -> None:
    pending: list[RewriteDatabase] = [optdb]
    while pending:
        entries = pending.pop().entries()
        pending += [e.rewriter for e in entries if isinstance(e.rewriter, RewriteDatabase)]
        tags = {tag for e in entries for tag in e.tags - {e.name}}
        assert not tags & {e.name for e in entries}


def test_a_rewrite_without_a_position_comes_last() -> None:
    db = SequenceDB()
    db.register("a", sin_to_cos, position=-3)
    db.register("b", sin_to_cos)
    db.register("c", sin_to_cos, position=0.5)
    db.register("d", sin_to_cos)
    assert [db.position(n) for n in "abcd"] == [-3, -2, 0.5, 1.5]
    db.remove("d")
    db.register("e", sin_to_cos)
    db.register("e", sin_to_cos, overwrite_existing=True, position=-1)
    db.register("f", sin_to_cos)
    assert [db.position(n) for n in "ef"] == [-1, 1.5]


def test_rules_are_registered_by_decorators() -> None:
    @register_specialize("mine")
    @node_rewriter([ot.tan])
    def tan_to_sin(fgraph: Any, node: Any) -> Any:
        """tan(x) = sin(x), for tests."""
        return [ot.sin(node.inputs[0])]

    @register_uncanonicalize("mine")
    @node_rewriter([ot.cosh])
    def cosh_to_sinh(fgraph: Any, node: Any) -> Any:
        """cosh(x) = sinh(x), for tests."""
        return [ot.sinh(node.inputs[0])]

    @register_useless
    @node_rewriter([ot.sinh])
    def sinh_to_tanh(fgraph: Any, node: Any) -> Any:
        """sinh(x) = tanh(x), for tests."""
        return [ot.tanh(node.inputs[0])]

    @register_infer_shape
    @node_rewriter([ot.arctan])
    def arctan_to_arcsin(fgraph: Any, node: Any) -> Any:
        """arctan(x) = arcsin(x), for tests."""
        return [ot.arcsin(node.inputs[0])]

    registered = [
        (register_canonicalize(sin_to_cos), canonicalize_db),
        (register_stabilize(cos_to_sin, "mine"), stabilize_db),
        (tan_to_sin, specialize_db),
        (cosh_to_sinh, uncanonicalize_db),
        (sinh_to_tanh, canonicalize_db),
        (arctan_to_arcsin, canonicalize_db),
    ]
    try:
        assert all(str(rule) in db for rule, db in registered)
        x = ot.dscalar("x")
        assert rewrite_graph(ot.tan(x), include=("mine", "specialize")).owner.op == ot.sin
        # what undoes the canonical form is not brought back into it
        assert rewrite_graph(ot.cosh(x), include=("fast_run",)).owner.op == ot.sinh
        assert rewrite_graph(ot.sinh(x), include=("canonicalize",)).owner.op == ot.tanh
        assert rewrite_graph(ot.arctan(x), include=("canonicalize",)).owner.op == ot.arcsin
        with pytest.raises(ValueError, match="already"):
            register_canonicalize(node_rewriter([ot.sin], name=str(sin_to_cos))(lambda f, n: False))
    finally:
        for rule, db in registered:
            db.remove(str(rule))
    assert optdb.is_standard


def test_a_change_of_a_nested_database_is_seen_before_the_outer_one_is_used() -> None:
    inner = EquilibriumDB("inner")
    outer = RewriteDatabase("outer", lambda db: db.register("inner", inner, "fast_run", position=1))
    other = RewriteDatabase("other", lambda db: None)
    inner.register("sin_to_cos", sin_to_cos, "fast_run")
    assert not outer.is_standard
    assert other.is_standard
    assert database_fingerprint(outer) != "standard"
    inner.remove("sin_to_cos")
    assert optdb.is_standard


def test_rewrite_graph_takes_variables_lists_and_graphs() -> None:
    x = ot.dscalar("x")
    y = og.zero_grad(x)
    assert rewrite_graph(y) is x
    assert rewrite_graph([y, y]) == [x, x]
    graph = og.FunctionGraph([x], [y])
    copy = rewrite_graph(graph, clone=True)
    assert len(graph.apply_nodes) == 1
    assert len(copy.apply_nodes) == 0
    assert rewrite_graph(graph) is graph
    assert rewrite_graph(ot.sin(x), custom_rewrite=in2out(sin_to_cos)).owner.op == ot.cos


def test_rewrite_subgraph_leaves_what_is_above_the_frontier() -> None:
    x = ot.dscalar("x")
    above = og.zero_grad(x)
    below = og.zero_grad(above) * 2
    done = rewrite_subgraph(below, [above])
    assert done.owner.inputs[0] is above
    assert rewrite_subgraph([below], [above])[0].owner.op == ot.mul


def test_summaries_print(capsys: pytest.CaptureFixture[str]) -> None:
    rewriter_for(optimizer_query("fast_run")).print_summary()
    text = capsys.readouterr().out
    assert "constant_folding" in text
    assert text.index("merge1") < text.index("canonicalize")
    with config.change_flags(optimizer_verbose=True):
        rewrite_graph(og.zero_grad(ot.dscalar("x")))
    assert "drop_gradient_barriers replaces" in capsys.readouterr().out


def test_what_rules_make_comes_from_the_users_line() -> None:
    x = ot.dvector("x")
    inner = 1 + x
    y = ot.log(inner)
    fgraph = og.FunctionGraph([x], [y * 2.0 + ot.sin(x)], clone=True)
    optdb.query(optimizer_query("fast_run")).rewrite(fgraph)
    sources = {str(v.owner.op): v.source for v in fgraph.variables if v.owner is not None}
    (fused,) = sources.values()
    assert fused is not None
    assert "FunctionGraph" in fused.text
    plain = og.FunctionGraph([x], [y], clone=True)
    optdb.query(optimizer_query("fast_run")).rewrite(plain)
    (made,) = plain.outputs
    assert str(made.owner_op) == "log1p"
    assert made.source == y.source
