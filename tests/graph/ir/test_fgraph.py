"""Function graphs and their features."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot


def small() -> tuple[Any, Any, og.FunctionGraph]:
    x, y = ot.dvectors("x", "y")
    graph = og.FunctionGraph([x, y], [ot.exp(x) * y, ot.exp(x) + 1])
    return x, y, graph


def test_the_users_graph_is_copied() -> None:
    x, _, graph = small()
    assert x not in graph
    assert [v.name for v in graph.inputs] == ["x", "y"]
    graph.check_integrity()


def test_construction_errors() -> None:
    x = ot.dscalar("x")
    with pytest.raises(ValueError, match="needs a list of outputs"):
        og.FunctionGraph([x])
    with pytest.raises(ValueError, match="cannot be computed by a node"):
        og.FunctionGraph([ot.exp(x)], [x], clone=False)
    with pytest.raises(og.MissingInputError) as caught:
        og.FunctionGraph([], [ot.exp(x)], clone=False)
    assert str(caught.value).splitlines()[-1].startswith("The variable x (float64 ())")
    assert og.FunctionGraph(outputs=[ot.exp(x)]).inputs[0].name == "x"


def test_a_computed_input_is_cut_when_cloned() -> None:
    x = ot.dscalar("x")
    middle = ot.exp(x)
    graph = og.FunctionGraph([middle], [middle * 2])
    assert graph.inputs[0].owner is None
    assert len(graph.apply_nodes) == 1


def test_replace_keeps_the_books() -> None:
    _, _, graph = small()
    x = graph.inputs[0]
    exp_node = next(n for n in graph.toposort() if n.op == ot.exp)
    graph.replace(exp_node.outputs[0], ot.sin(x), reason="test")
    graph.check_integrity()
    assert exp_node not in graph.apply_nodes
    assert exp_node.tag.removed_by == ["test"]
    assert any(n.op == ot.sin for n in graph.apply_nodes)
    graph.replace(ot.dscalar(), ot.dscalar())  # not in the graph: ignored


def test_replacing_with_something_that_uses_the_old_variable() -> None:
    x = ot.dscalar("x")
    graph = og.FunctionGraph([x], [ot.exp(x)])
    old = graph.outputs[0]
    graph.replace(old, old * 2)
    graph.check_integrity()
    assert og.evaluate(graph.outputs[0], {graph.inputs[0]: 0.0}) == 2.0


def test_replace_converts_types_or_refuses() -> None:
    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [ot.exp(x)])
    with pytest.raises(TypeError, match="Cannot convert"):
        graph.replace(graph.outputs[0], ot.fvector())
    node = graph.outputs[0].owner
    with pytest.raises(TypeError, match="does not fit"):
        graph.change_node_input(node, 0, ot.fvector())
    with pytest.raises(og.MissingInputError):
        graph.replace(graph.outputs[0], ot.exp(ot.dvector("new")))
    graph.check_integrity()
    graph.replace(graph.outputs[0], ot.exp(ot.dvector("new")), import_missing=True)
    assert [v.name for v in graph.inputs] == ["x", "new"]


def test_inputs_and_outputs_come_and_go() -> None:
    _, _, graph = small()
    graph.update_mapping = {1: 0}
    graph.add_output(graph.outputs[0] * 2)
    graph.remove_output(0)
    graph.check_integrity()
    assert graph.update_mapping == {0: 0}
    graph.remove_output(1)
    assert len(graph.apply_nodes) == 2
    graph.remove_input(1)
    with pytest.raises(og.InconsistencyError, match="in use"):
        graph.remove_input(0)
    node = graph.outputs[0].owner
    assert node is not None
    graph.remove_node(node)
    graph.check_integrity()
    assert not graph.outputs
    assert not graph.apply_nodes


def test_a_node_is_removed_with_what_depends_on_it() -> None:
    x = ot.dvector("x")
    a, b = ot.exp(x), ot.sin(x)
    graph = og.FunctionGraph([x], [a + b, b * 2, a, ot.cos(x)], clone=False)
    assert a.owner is not None
    graph.remove_node(a.owner)
    graph.check_integrity()
    assert [str(v.owner and v.owner.op) for v in graph.outputs] == ["mul", "cos"]
    assert len(graph.apply_nodes) == 3
    assert graph.get_clients(a) == []
    assert len(graph.get_clients(x)) == 2


def test_a_plain_graph_has_checkpoints_and_validated_replacements() -> None:
    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [ot.exp(x) + 1], clone=False)
    before = graph.outputs[0]
    token = graph.checkpoint()
    graph.replace(before, x * 2)
    graph.revert(token)
    assert graph.outputs[0] is before
    graph.replace_validate(before, x * 2, reason="test")
    assert graph.consistent()
    assert str(graph.outputs[0].owner) == "mul(x, 2.0)"
    with pytest.raises(TypeError):
        graph.replace_all_validate([(graph.outputs[0], ot.dmatrix("m"))])
    assert not hasattr(graph, "chekpoint")
    graph.check_integrity()


def test_uses_are_found_by_number() -> None:
    x = ot.dvector("x")
    fgraph = og.FunctionGraph([x], [ot.exp(x) + x, x], clone=False)
    uses = fgraph.clients[x]
    assert [uses[i] for i in range(len(uses))] == list(uses) == fgraph.get_clients(x)
    assert uses[-1] == (fgraph.output_node(1), 0)
    with pytest.raises(IndexError):
        uses[3]
    fgraph.remove_output(0)
    assert list(fgraph.clients[x]) == [(fgraph.output_node(0), 0)]
    fgraph.check_integrity()


def test_check_integrity_finds_a_broken_book() -> None:
    _, _, graph = small()
    graph.toposort()[0].inputs[0] = graph.inputs[1]
    with pytest.raises(AssertionError):
        graph.check_integrity()


def test_clone_freeze_and_pickle() -> None:
    _, _, graph = small()
    graph.update_mapping = {1: 0}
    copy, equiv = graph.clone_get_equiv()
    assert copy.update_mapping == {1: 0}
    assert equiv[graph.outputs[0]] is copy.outputs[0]
    frozen = graph.freeze()
    assert copy.freeze() is frozen
    assert pickle.loads(pickle.dumps(frozen)) is frozen
    loaded = pickle.loads(pickle.dumps(graph))
    assert loaded.freeze() is frozen
    x = ot.dvector()
    assert og.FunctionGraph([x], [ot.exp(x)]).freeze() is not frozen
    back = frozen.unfreeze()
    assert back.freeze() is frozen
    bound = frozen.bind([ot.constant([0.0]), ot.constant([3.0])])
    np.testing.assert_array_equal(og.evaluate(bound[0]), [3.0])


class Recorder(og.Feature):
    def __init__(self) -> None:
        self.events: list[str] = []

    def on_import(self, fgraph: Any, node: Any, reason: Any) -> None:
        self.events.append(f"import {node.op}")

    def on_prune(self, fgraph: Any, node: Any, reason: Any) -> None:
        self.events.append(f"prune {node.op}")

    def on_change_input(
        self, fgraph: Any, node: Any, i: int, var: Any, new_var: Any, reason: Any = None
    ) -> None:
        self.events.append(f"change {i}")


def test_features_hear_of_every_change_in_order() -> None:
    x = ot.dscalar("x")
    graph = og.FunctionGraph([x], [ot.exp(x)])
    recorder = Recorder()
    graph.attach_feature(recorder)
    graph.replace(graph.outputs[0], ot.sin(graph.inputs[0]))
    assert recorder.events == ["import sin", "change 0", "prune exp"]
    graph.remove_feature(recorder)
    graph.replace(graph.outputs[0], ot.cos(graph.inputs[0]))
    assert len(recorder.events) == 3


def test_history_goes_back() -> None:
    _, _, graph = small()
    graph.attach_feature(og.History())
    before = og.digest(graph.outputs, graph.inputs)
    outer = graph.checkpoint()
    graph.replace(graph.outputs[0], ot.sin(graph.inputs[0]))
    inner = graph.checkpoint()
    graph.replace(graph.outputs[1], ot.cos(graph.inputs[0]))
    with pytest.raises(ValueError, match="newest"):
        graph.revert(outer)
    graph.revert(inner)
    graph.check_integrity()
    graph.revert(outer)
    graph.check_integrity()
    assert og.digest(graph.outputs, graph.inputs) == before


class Veto(og.Feature):
    def on_validate(self, fgraph: Any) -> None:
        if any(n.op == ot.cos for n in fgraph.apply_nodes):
            raise og.InconsistencyError("no cosines")


def test_validated_replacements_are_atomic() -> None:
    _, _, graph = small()
    graph.attach_feature(og.ReplaceValidate())
    graph.attach_feature(Veto())
    before = og.digest(graph.outputs, graph.inputs)
    x = graph.inputs[0]
    pairs = [(graph.outputs[0], ot.sin(x)), (graph.outputs[1], ot.cos(x))]
    with pytest.raises(og.InconsistencyError, match="no cosines"):
        graph.replace_all_validate(pairs)
    assert og.digest(graph.outputs, graph.inputs) == before
    with pytest.raises(TypeError):
        graph.replace_all_validate(
            [(graph.outputs[0], ot.sin(x)), (graph.outputs[1], ot.fvector())]
        )
    assert og.digest(graph.outputs, graph.inputs) == before
    graph.check_integrity()
    graph.replace_validate(graph.outputs[0], ot.sin(x))
    assert graph.consistent()
    exp_node = next(n for n in graph.apply_nodes if n.op == ot.exp)
    with pytest.raises(og.ReplacementDidNotRemoveError):
        graph.replace_all_validate_remove([(graph.outputs[0], ot.tan(x))], [exp_node])
    assert graph.outputs[0].owner.op == ot.sin
    graph.replace_all_validate_remove([(graph.outputs[1], ot.tan(x))], [exp_node])
    graph.check_integrity()


def test_a_second_feature_of_a_kind_is_left_out() -> None:
    _, _, graph = small()
    for make in (og.History, og.Validator, og.ReplaceValidate):
        graph.attach_feature(make())
        graph.attach_feature(make())
    kinds = [type(f) for f in graph.features]
    assert len(kinds) == len(set(kinds)) == 3
