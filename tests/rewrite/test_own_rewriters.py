"""Rewriters of users: the arguments they are called with, and the kinds that databases accept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_rewrite import (
    EquilibriumDB,
    EquilibriumGraphRewriter,
    GraphRewriter,
    LocalGroupDB,
    MergeOptimizer,
    NotConvergedError,
    RewriteDatabaseQuery,
    SequenceDB,
    SequentialGraphRewriter,
    TopoDB,
    WalkingGraphRewriter,
    canonicalize_db,
    graph_rewriter,
    in2out,
    node_rewriter,
    optdb,
    register_canonicalize,
    rewriter_for,
)


class Tangents(GraphRewriter):
    """tan(x) = sin(x) / cos(x), in the whole graph."""

    def __init__(self) -> None:
        self.calls = 0

    def apply(self, fgraph: Any) -> None:
        self.calls += 1
        for node in list(fgraph.apply_nodes):
            if node.op == ot.tan:
                (x,) = node.inputs
                fgraph.replace(node.outputs[0], ot.sin(x) / ot.cos(x), reason="tangents")


@node_rewriter([ot.exp])
def exponential(fgraph: Any, node: Any) -> Any:
    """exp(x) = tan(x), for tests."""
    return [ot.tan(node.inputs[0])]


def drawn(function: Any = ot.tan) -> Any:
    x = ot.dvector("x")
    return og.FunctionGraph([x], [function(x) * 2.0])


def value(graph: Any) -> Any:
    return og.evaluate(graph.outputs[0], {graph.inputs[0]: [0.5, 1.0]})


def ops(graph: Any) -> set[Any]:
    return {node.op for node in graph.apply_nodes}


def test_apply_takes_the_graph_alone() -> None:
    own = Tangents()
    for rewrite in (own.apply, own.rewrite, own, SequentialGraphRewriter(own).rewrite):
        graph = drawn()
        rewrite(graph)
        assert ot.tan not in ops(graph)
        np.testing.assert_allclose(value(graph), 2 * np.tan([0.5, 1.0]), rtol=1e-14)
    assert own.calls == 4


def test_our_rewriters_apply_to_a_graph_alone() -> None:
    for rewriter in (
        in2out(exponential),
        WalkingGraphRewriter(exponential),
        EquilibriumGraphRewriter([exponential]),
        SequentialGraphRewriter(MergeOptimizer(), in2out(exponential)),
    ):
        graph = drawn(ot.exp)
        rewriter.apply(graph)
        assert ot.exp not in ops(graph)


def test_a_class_below_ours_may_extend_apply() -> None:
    class Twice(SequentialGraphRewriter):
        """A sequence, and tangents after it."""

        def apply(self, fgraph: Any) -> None:
            super().apply(fgraph)
            Tangents().apply(fgraph)

    for rewrite in (Twice(in2out(exponential)).rewrite, Twice(in2out(exponential)).apply):
        graph = drawn(ot.exp)
        rewrite(graph)
        assert ops(graph).isdisjoint({ot.exp, ot.tan})


def test_own_rewriters_run_in_stages_and_until_nothing_changes() -> None:
    own = Tangents()
    db = EquilibriumDB("both")
    db.register("tangents", own, "fast_run", final_rewriter=True)
    db.register("exponential", exponential, "fast_run")
    graph = drawn(ot.exp)
    db.query("+fast_run").rewrite(graph)
    assert ops(graph).isdisjoint({ot.exp, ot.tan})
    assert own.calls == 2  # the second time nothing changes
    optdb.register("own_tangents", own, "fast_run", position=2.5)
    try:
        graph = drawn()
        rewriter_for(RewriteDatabaseQuery(["fast_run"], exclude=["fusion", "inplace"])).rewrite(
            graph
        )
        assert ot.tan not in ops(graph)
    finally:
        optdb.remove("own_tangents")
    query = RewriteDatabaseQuery(["merge"]).register((own, 3.0), (exponential, 2.0))
    graph = drawn(ot.exp)
    rewriter_for(query).rewrite(graph)
    assert ops(graph).isdisjoint({ot.exp, ot.tan})


def test_own_rewriters_that_never_settle_are_named() -> None:
    class Restless(GraphRewriter):
        """Puts a sum where another stands."""

        def apply(self, fgraph: Any) -> None:
            out = fgraph.outputs[0]
            fgraph.replace(out, ot.add(out.owner.inputs[0], out.owner.inputs[1]), reason="restless")

    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [x + 1.0])
    with pytest.raises(NotConvergedError, match="Restless"):
        EquilibriumGraphRewriter([Restless()], max_rounds=3).rewrite(graph)


def plain(fgraph: Any, node: Any) -> Any:
    return None


NO_REWRITERS = [plain, Tangents, "exp", None, 3, [exponential], RewriteDatabaseQuery()]


@pytest.mark.parametrize("given", NO_REWRITERS, ids=lambda g: type(g).__name__)
def test_databases_refuse_what_is_no_rewriter(given: Any) -> None:
    group = LocalGroupDB("group")
    for db in (SequenceDB("sequence"), EquilibriumDB("equilibrium"), group, TopoDB(group)):
        with pytest.raises(TypeError, match="takes a NodeRewriter"):
            db.register("own", given, "fast_run")
        assert "own" not in db
    for db in (canonicalize_db, optdb):
        with pytest.raises(TypeError, match=f"{db.name} takes"):
            db.register("own", given, "fast_run")
        assert "own" not in db
    with pytest.raises(TypeError, match="takes a NodeRewriter"):
        RewriteDatabaseQuery(["fast_run"]).register((given, 1.0))
    for make in (SequentialGraphRewriter, lambda r: EquilibriumGraphRewriter([r])):
        with pytest.raises(TypeError, match="GraphRewriter, not"):
            make(given)
    if not isinstance(given, list):
        with pytest.raises(TypeError, match="A walk takes a NodeRewriter, not"):
            in2out(given)


def test_messages_say_what_to_do() -> None:
    with pytest.raises(TypeError, match="make a rule of a function with node_rewriter or rule"):
        register_canonicalize(plain)
    with pytest.raises(TypeError, match="give an object of the class"):
        canonicalize_db.register("own", Tangents)
    with pytest.raises(TypeError, match="takes a NodeRewriter or a RewriteDatabase, not"):
        LocalGroupDB("group").register("own", Tangents())
    for tags in (("fast_run", 3), (("fast_run", "other"),)):
        with pytest.raises(TypeError, match="name or a tag of a rewrite is a string"):
            EquilibriumDB("db").register("own", exponential, *tags)
    with pytest.raises(TypeError, match="name or a tag of a rewrite is a string"):
        EquilibriumDB("db").register(exponential, exponential)


def test_groups_in_databases_are_their_rules() -> None:
    group = LocalGroupDB("group")
    group.register("exponential", exponential, "fast_run")
    for db in (SequenceDB("sequence"), EquilibriumDB("equilibrium"), LocalGroupDB("outer")):
        db.register("group", group, "fast_run")
        built = db.query("+fast_run")
        rewriter = in2out(*built) if isinstance(built, list) else built
        graph = drawn(ot.exp)
        rewriter.rewrite(graph)
        assert ot.exp not in ops(graph)


def test_functions_of_a_graph_are_made_rewriters() -> None:
    @graph_rewriter
    def to_sine(fgraph: Any) -> None:
        out = fgraph.outputs[0]
        fgraph.replace(out, ot.sin(out), reason="sine")

    for rewrite in (to_sine.apply, to_sine.rewrite):
        graph = drawn()
        rewrite(graph)
        assert graph.outputs[0].owner.op == ot.sin


def test_databases_in_a_database_are_queried_anew_after_a_change() -> None:
    @node_rewriter([ot.mul])
    def to_first(fgraph: Any, node: Any) -> Any:
        return [node.inputs[0]]

    @node_rewriter([ot.add])
    def to_second(fgraph: Any, node: Any) -> Any:
        return [node.inputs[1]]

    tidy = EquilibriumDB("tidy")
    inner, whole = EquilibriumDB("inner", tidy=tidy), SequenceDB("whole")
    whole.register("inner", inner, "tag", position=1)
    x, y = ot.dvectors("x", "y")
    inner.register("to_first", to_first, "tag")

    def rewritten(**query: Any) -> Any:
        graph = og.FunctionGraph([x, y], [(x + y) * y])
        whole.query(RewriteDatabaseQuery(["tag"], **query)).rewrite(graph)
        return graph.outputs[0]

    assert rewritten().owner.op == ot.add
    assert rewritten(position_cutoff=5.0).owner.op == ot.add
    assert rewritten(exclude=["to_first"]).owner.op == ot.mul
    tidy.register("to_second", to_second, "tag")
    assert rewritten().name == "y"  # the new node is tidied up
    tidy.remove("to_second")
    assert rewritten().owner.op == ot.add
    inner.register("to_second", to_second, "tag")
    assert rewritten().name == "y"
    inner.remove("to_first")
    assert rewritten().owner.op == ot.mul
    assert [v.name for v in rewritten().owner.inputs] == ["y", "y"]
