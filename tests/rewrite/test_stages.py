"""Invariants of whole stages: values, digests, order; fusion, in-place rewriting, BLAS."""

from __future__ import annotations

import os
import sys
import types
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import families
from occelo_graph import tensor as ot
from occelo_graph.families import Family
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite import (
    EquilibriumGraphRewriter,
    MergeOptimizer,
    NotConvergedError,
    SequentialGraphRewriter,
    canonicalize_db,
    node_rewriter,
    optdb,
    optimizer_query,
    rewrite_graph,
    rewriter_for,
)
from occelo_rewrite.database import SequenceDB
from occelo_rewrite.family_rules import StageRules
from occelo_rewrite.features.protection import DestroyHandler
from occelo_rewrite.fusion.composite import Composite
from occelo_rewrite.ordering import IncrementalOrder
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_rewrite.pipeline import stages_of_family
from occelo_rewrite.queries import CHANGES, NOT_STRICT
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES
from occelo_testing.programs.trying import RandomGraph, on_random_graphs

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
STAGES = (
    "canonicalize",
    "stabilize",
    "BlasOpt",
    "specialize",
    "accumulate_products",
    "elemwise_fusion",
    "add_destroy_handler",
    "inplace_subtensor",
    "InplaceBlasOpt",
    "inplace_elemwise",
)


def staged() -> list[Any]:
    whole = rewriter_for(optimizer_query("fast_run"))
    assert isinstance(whole, SequentialGraphRewriter)
    return [r for r in whole.rewriters if str(r) in STAGES]


def check_stages(inputs: Any, outputs: Any) -> og.FunctionGraph:
    """Each stage, in order, changes nothing when it is run a second time."""
    made = og.FunctionGraph(inputs, outputs)
    MergeOptimizer().rewrite(made)
    for stage in staged():
        stage.rewrite(made)
        made.check_integrity()
        once = og.digest(made.outputs, made.inputs)
        record = stage.rewrite(made)
        assert og.digest(made.outputs, made.inputs) == once, (str(stage), record.applications[:3])
    return made


@pytest.mark.parametrize("example", EXAMPLES if THOROUGH else EXAMPLES[::5], ids=lambda e: e.name)
def test_stages_are_idempotent_on_examples(example: Any) -> None:
    for known_shapes in (True, False):
        inputs, output = symbolic(example, known_shapes)
        check_stages(inputs, [output])


@on_random_graphs(dtypes=("float64", "float32", "int64", "bool"))
def test_stages_are_idempotent_and_keep_values(graph: RandomGraph) -> None:
    with np.errstate(all="ignore"):
        expected = og.evaluate(graph.outputs, graph.given())
        made = check_stages(graph.inputs, graph.outputs)
        found = run_in_order(made, [np.array(v) for v in graph.values])
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 1e-9, atol=1e-6)


def vm(outputs: list[Any], inputs: list[Any]) -> og.FunctionGraph:
    made = og.FunctionGraph(inputs, outputs)
    rewriter_for(optimizer_query("fast_run").excluding("accumulate_products")).rewrite(made)
    return made


def run_in_order(graph: og.FunctionGraph, given_: list[Any]) -> list[Any]:
    """Compute a graph in its own order, which ops that overwrite inputs need."""
    values: dict[Any, Any] = dict(zip(graph.inputs, given_, strict=True))
    for node in graph.toposort():
        arrays = [v.data if isinstance(v, og.Constant) else values[v] for v in node.inputs]
        values.update(zip(node.outputs, node.op.kernel(node)(*arrays), strict=True))
    return [v.data if isinstance(v, og.Constant) else values[v] for v in graph.outputs]


def count(graph: og.FunctionGraph, kind: Any) -> int:
    return sum(1 for n in graph.apply_nodes if isinstance(n.op, kind))


def test_fusion_joins_what_has_one_shape_and_keeps_values_and_gradients() -> None:
    x, y = ot.dvectors("x", "y")
    s = ot.exp(x) * ot.sin(y)
    made = vm([s + x, ot.cos(s)], [x, y])
    assert len(made.apply_nodes) == 1
    (node,) = made.apply_nodes
    assert isinstance(node.op, Elemwise)
    assert isinstance(node.op.scalar_op, Composite)
    assert str(node.op).startswith("Composite{")
    values = [np.linspace(0, 1, 5), np.linspace(1, 2, 5)]
    found = og.evaluate(made.outputs, dict(zip(made.inputs, values, strict=True)))
    expected = og.evaluate([s + x, ot.cos(s)], dict(zip([x, y], values, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    a, b = made.inputs
    before = og.grad((s + x + ot.cos(s)).sum(), [x, y])
    after = og.grad((made.outputs[0] + made.outputs[1]).sum(), [a, b])
    wanted = og.evaluate(before, dict(zip([x, y], values, strict=True)))
    got = og.evaluate(after, dict(zip([a, b], values, strict=True)))
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_composites_compute_in_blocks_and_are_one_object_for_equal_functions() -> None:
    x, y = ot.dvectors("x", "y")
    first = vm([ot.exp(x) * 2.0 + y], [x, y])
    second = vm([ot.exp(y) * 3.0 + x], [x, y])
    ops = [next(iter(g.apply_nodes)).op for g in (first, second)]
    assert ops[0] is ops[1]
    large = np.linspace(0, 1, 50_000)
    found = og.evaluate(first.outputs[0], {first.inputs[0]: large, first.inputs[1]: large})
    np.testing.assert_allclose(found, np.exp(large) * 2 + large, rtol=1e-14)


def test_fusion_never_makes_a_cycle() -> None:
    x = ot.dvector("x")
    a = ot.exp(x)
    b = a.sum()
    out = ot.sin(a) * b + ot.cos(a)
    made = vm([out], [x])
    made.check_integrity()
    value = np.linspace(0, 1, 4)
    expected = np.sin(np.exp(value)) * np.exp(value).sum() + np.cos(np.exp(value))
    np.testing.assert_allclose(og.evaluate(made.outputs[0], {made.inputs[0]: value}), expected)


@on_random_graphs(dtypes=("float64", "float32"))
def test_fused_and_overwriting_graphs_keep_values_and_arguments(graph: RandomGraph) -> None:
    with np.errstate(all="ignore"):
        expected = og.evaluate(graph.outputs, graph.given())
        made = vm(graph.outputs, graph.inputs)
        given_ = [np.array(v) for v in graph.values]
        found = run_in_order(made, given_)
    made.check_integrity()
    for a, b in zip(given_, graph.values, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype == np.float32 else 1e-9, atol=1e-6)


def test_what_is_not_needed_any_more_is_overwritten() -> None:
    x = ot.dmatrix("x")
    product = ot.dot(x, x)
    made = vm([ot.exp(product) + ot.sin(product)], [x])
    (fused,) = [n for n in made.apply_nodes if isinstance(n.op, Elemwise)]
    assert fused.op.destroy_map == {0: [0]}
    kept = vm([ot.exp(product), product], [x])
    assert not any(n.op.destroy_map for n in kept.apply_nodes)
    written = vm([ot.set_subtensor(ot.dot(x, x)[0], 1.0)], [x])
    assert [n.op.destroy_map for n in written.apply_nodes if "Subtensor" in str(n.op)] == [{0: [0]}]


def test_views_are_not_overwritten() -> None:
    x = ot.dmatrix("x")
    view = ot.diagonal(ot.cumsum(x, axis=0))
    made = vm([ot.exp(view)], [x])
    (node,) = [n for n in made.apply_nodes if isinstance(n.op, Elemwise)]
    assert not node.op.destroy_map
    value = np.array([[1.0, 2.0], [0.5, 1.0]])
    found = run_in_order(made, [value])[0]
    np.testing.assert_allclose(found, og.evaluate(ot.exp(view), {x: value}))


def test_complex_functions_are_not_fused() -> None:
    z = ot.zvector("z")
    made = vm([ot.exp(z) * 2.0 + z], [z])
    assert not any(
        isinstance(getattr(n.op, "scalar_op", None), Composite) for n in made.apply_nodes
    )


def test_an_order_is_kept_while_demands_are_added() -> None:
    x = ot.dvector("x")
    first, second, third = ot.exp(x), ot.sin(x), ot.cos(x)
    last = ot.tan(third)
    graph = og.FunctionGraph([x], [first, second, last], clone=False)
    users = lambda n: [u for o in n.outputs for u, _ in graph.clients[o]]  # noqa: E731
    order = IncrementalOrder(graph.toposort(), users)
    nodes = [v.owner for v in (first, second, third, last)]
    assert order.add(nodes[3], nodes[0])  # tan(cos(x)) before exp(x)
    assert not order.add(nodes[0], nodes[2])  # then exp(x) cannot come before cos(x)
    assert order.add(nodes[0], nodes[1])
    assert not order.add(nodes[1], nodes[2])
    order.withdraw(nodes[0], nodes[1])
    assert order.add(nodes[1], nodes[0])


UPDATES = [
    (Gemm, lambda a, b, v, w: a + 2.0 * ot.dot(a, b)),
    (Gemm, lambda a, b, v, w: 0.5 * b - ot.dot(a, b)),
    (Gemm, lambda a, b, v, w: 3.0 * (a + ot.dot(a, b))),
    (Gemv, lambda a, b, v, w: v + ot.dot(a, w)),
    (Gemv, lambda a, b, v, w: v - 0.5 * ot.dot(w, a)),
    (Gemv, lambda a, b, v, w: v * v.sum() - ot.dot(a.T, w)),
    (Ger, lambda a, b, v, w: a - 0.5 * ot.outer(v, w)),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("kind", "build"), UPDATES)
def test_updates_of_blas(kind: Any, build: Any, dtype: str) -> None:
    shapes = ((None, None), (None, None), (None,), (None,))
    inputs = [ot.TensorType(dtype, s).make_variable() for s in shapes]
    out = build(*inputs)
    made = vm([out], inputs)
    assert count(made, kind) == 1
    generator = np.random.default_rng(0)
    values = [generator.normal(size=(3,) * len(s)).astype(dtype) for s in shapes]
    found = og.evaluate(made.outputs[0], dict(zip(made.inputs, values, strict=True)))
    expected = og.evaluate(out, dict(zip(inputs, values, strict=True)))
    np.testing.assert_allclose(found, expected, rtol=1e-4 if dtype == "float32" else 1e-12)


def test_updates_check_shapes_and_are_not_made_where_something_broadcasts() -> None:
    a, b = ot.dmatrices("a", "b")
    made = vm([a + ot.dot(a, b)], [a, b])
    with pytest.raises(ValueError, match="do not give"):
        og.evaluate(
            made.outputs[0], {made.inputs[0]: np.ones((2, 3)), made.inputs[1]: np.ones((3, 4))}
        )
    row = ot.drow("row")
    assert count(vm([row + ot.dot(a, b)], [a, b, row]), Gemm) == 0
    shared = ot.dot(a, b)
    assert count(vm([a + shared, shared], [a, b]), Gemm) == 0


def test_inplace_updates_of_blas_write_where_they_are_told() -> None:
    z = np.ones((2, 3))
    result = Gemm(True).evaluate(
        z, np.float64(2.0), np.ones((2, 4)), np.ones((4, 3)), np.float64(1.0)
    )
    assert result is z
    np.testing.assert_array_equal(z, np.full((2, 3), 9.0))
    v = np.ones(2)
    assert (
        Gemv(True).evaluate(v, np.float64(1.0), np.ones((2, 4)), np.ones(4), np.float64(0.5)) is v
    )
    np.testing.assert_array_equal(v, [4.5, 4.5])
    m = np.zeros((2, 3))
    assert Ger(True).evaluate(m, np.float64(2.0), np.ones(2), np.ones(3)) is m
    np.testing.assert_array_equal(m, np.full((2, 3), 2.0))


def test_the_order_of_stages() -> None:
    names = optdb.names()
    assert names.index("merge1") < names.index("canonicalize") < names.index("stabilize")
    assert names.index("specialize") < names.index("elemwise_fusion")
    assert names.index("elemwise_fusion") < names.index("add_destroy_handler")
    assert names.index("add_destroy_handler") < names.index("inplace_elemwise")


def test_strict_takes_no_rule_that_may_hide_something() -> None:
    x, y = ot.dvectors("x", "y")
    usual = rewrite_graph(x - x + y, include=("fast_run",))
    assert usual is y or usual.owner.op != ot.sub
    strict = og.FunctionGraph([x, y], [(x - x) * 0.0 + x / x])
    rewriter_for(optimizer_query("strict").excluding("inplace", "fusion")).rewrite(strict)
    found = og.evaluate(strict.outputs[0], {strict.inputs[0]: [np.inf, np.nan]})
    assert np.isnan(found).all()


def test_strict_takes_only_rules_that_change_the_last_digits_at_most() -> None:
    taken = [
        (rule.name, rule.tags)
        for stage in rewriter_for(optimizer_query("strict")).rewriters
        for rule in getattr(stage, "rules", ())
    ]
    assert len(taken) > 50
    for name, tags in taken:
        assert set(tags) & CHANGES.keys() <= {"rounding"}, name


@pytest.mark.parametrize("tag", NOT_STRICT)
def test_tags_of_a_rule_count_however_it_is_registered(tag: str) -> None:
    @node_rewriter([ot.sin], name="cosine_instead", tags=(tag,))
    def rule(fgraph: Any, node: Any) -> Any:
        return [ot.cos(node.inputs[0])]

    x = ot.dvector("x")
    canonicalize_db.register("cosine_instead", rule, "fast_run")
    try:
        usual = rewriter_for(optimizer_query("o3"))
        for rewriter, wanted in (
            (usual, ot.cos),
            (rewriter_for(optimizer_query("strict")), ot.sin),
        ):
            graph = og.FunctionGraph([x], [ot.sin(x)], clone=True)
            rewriter.rewrite(graph)
            assert graph.outputs[0].owner.op.scalar_op is wanted.scalar_op
    finally:
        canonicalize_db.remove("cosine_instead")


def test_checks_are_dropped_only_for_those_who_ask() -> None:
    x = ot.dvector("x")
    checked = ot.assert_op(x, x.sum() > 0) * 2.0
    for include in (("fast_run",), ("canonicalize",)):
        assert any(
            n.op == ot.Assert() for n in og.toposort(rewrite_graph(checked, include=include))
        )
    unsafe = rewrite_graph(checked, include=("fast_run", "unsafe"), exclude=("inplace", "fusion"))
    assert not any(n.op == ot.Assert() for n in og.toposort(unsafe))


def test_rules_say_what_they_assume() -> None:
    """What drops an operand that takes part in broadcasting is known to hide shape errors."""
    x, y, z = ot.dvectors("x", "y", "z")
    for out in (
        x + y - x,
        ot.switch(np.True_, x, y),
        ot.switch(x > 0, y, y),
        x * y / y,
        ot.alloc(0.0, 2) * x,
    ):
        strict = og.FunctionGraph([x, y, z], [out], clone=True)
        rewriter_for(optimizer_query("strict").excluding("inplace", "fusion")).rewrite(strict)
        values = [np.ones(2), np.ones(3), np.ones(2)]
        a, b, _ = strict.inputs
        with pytest.raises(ValueError, match=r"mismatch|differ|broadcast|length"):
            og.evaluate(strict.outputs[0], {a: values[1], b: values[0]})


def overwriting(v: Any) -> Any:
    return Elemwise(ot.exp.scalar_op, ((0, 0),))(v)


class Counting(og.Feature):
    """Counts validations, and may refuse some."""

    def __init__(self, refuse: Any = lambda graph: False) -> None:
        self.count = 0
        self.refuse = refuse

    def on_validate(self, fgraph: Any) -> None:
        self.count += 1
        if self.refuse(fgraph):
            raise og.InconsistencyError("refused")


def in_place_graph(feature: Any) -> og.FunctionGraph:
    x = ot.dvector("x")
    out = overwriting(ot.sin(x * 1.0) + 0.0) * 1.0 * 2.0 * 3.0
    made = og.FunctionGraph([x], [out])
    made.attach_feature(DestroyHandler())
    made.attach_feature(feature)
    return made


def test_a_graph_with_ops_in_place_is_validated_once_a_stage() -> None:
    feature = Counting()
    made = in_place_graph(feature)
    (stage,) = [s for s in staged() if str(s) == "canonicalize"]
    record = stage.rewrite(made)
    assert len(record.applications) >= 3
    assert feature.count == 1
    value = np.array([0.5, 1.0])
    found = og.evaluate(made.outputs[0], {made.inputs[0]: value})
    np.testing.assert_allclose(found, np.exp(np.sin([0.5, 1.0])) * 6)


def test_a_stage_that_raises_leaves_the_graph_as_it_was() -> None:
    made = in_place_graph(Counting())
    before = og.digest(made.outputs, made.inputs)

    @node_rewriter([ot.mul])
    def growing(fgraph: Any, node: Any) -> Any:
        """x y = y (x 1), for ever."""
        return [ot.mul(*reversed(node.inputs), float(len(fgraph.apply_nodes)))]

    with pytest.raises(NotConvergedError, match="growing"):
        EquilibriumGraphRewriter([growing]).rewrite(made)
    assert og.digest(made.outputs, made.inputs) == before
    made.check_integrity()


def test_a_stage_that_cannot_stay_is_done_again_step_by_step() -> None:
    # one of the replacements is refused, so only that one must be missing in the end
    feature = Counting(lambda graph: not any(n.op == ot.add for n in graph.apply_nodes))
    made = in_place_graph(feature)
    (stage,) = [s for s in staged() if str(s) == "canonicalize"]
    record = stage.rewrite(made)
    made.check_integrity()
    assert count(made, Elemwise) == 4  # sin, add, exp in place, mul
    assert feature.count > 3
    assert len(record.applications) == sum(t.applications for t in record.stages.values())
    assert "canonical_sum" not in {a.rule for a in record.applications}


def test_rules_of_a_family_for_a_stage_that_does_not_exist_are_an_error() -> None:
    module: Any = types.ModuleType("a_family_with_a_mistake")
    module.__file__ = __file__
    module.RULES = (StageRules("cannonicalize", RuleSet(())),)
    sys.modules["a_family_with_a_mistake"] = module
    sys.modules["a_family_with_a_mistake.rules"] = module
    db = SequenceDB("optdb", lambda db: None)
    try:
        family = Family("mistaken", "a_family_with_a_mistake", rules="rules")
        with pytest.raises(ValueError, match=r"rules for \['cannonicalize'\]: no such stage"):
            stages_of_family(family, db)
    finally:
        families._declared.pop("mistaken", None)
        del sys.modules["a_family_with_a_mistake"], sys.modules["a_family_with_a_mistake.rules"]
