"""Features of graphs that are rewritten."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.features.observers import (
    FullHistory,
    NodeFinder,
    PreserveVariableAttributes,
    PrintListener,
)
from occelo_rewrite.features.protection import (
    DestroyHandler,
    InputsAt,
    NoOutputFromInplace,
    NoOutputInplaceOnInput,
    Supervisor,
    inplace_candidates,
)


def small() -> tuple[Any, Any, og.FunctionGraph]:
    x, y = ot.dvectors("x", "y")
    graph = og.FunctionGraph([x, y], [ot.exp(x) * y, ot.exp(x) + 1])
    return x, y, graph


class Counting(og.Feature):
    """A feature of a user's, with state of its own and a method for its graphs."""

    provides = ("seen",)

    def __init__(self, start: int = 0) -> None:
        self.start = self.count = start

    def on_change_input(self, *_: object, **__: object) -> None:
        self.count += 1

    def seen(self, fgraph: og.FunctionGraph) -> int:
        return self.count

    def clone(self) -> Counting:
        return Counting(self.start)


def inplace_on_first(x: Any, y: Any) -> Any:
    return ot.add.inplace_on_inputs([0])(x, y)


@pytest.mark.parametrize("copied", [lambda g: pickle.loads(pickle.dumps(g)), copy.deepcopy])
def test_a_loaded_graph_has_the_features_of_the_old_one(
    copied: Callable[[og.FunctionGraph], og.FunctionGraph],
) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    listed = [
        og.ReplaceValidate(),
        DestroyHandler(),
        Supervisor(InputsAt([0])),
        PreserveVariableAttributes(),
        NodeFinder(),
        FullHistory(),
        Counting(5),
    ]
    graph = og.FunctionGraph([x, y], [ot.exp(x) * y], listed, clone=False)
    graph.replace(graph.outputs[0], ot.exp(x) + y)
    loaded: Any = copied(graph)
    assert [type(f) for f in loaded.features] == [type(f) for f in graph.features]
    assert {type(f) for f in loaded.features} >= {type(f) for f in listed}
    assert not {id(f) for f in loaded.features} & {id(f) for f in graph.features}
    loaded.check_integrity()
    assert loaded.seen() == 5
    (exp,) = loaded.get_nodes(ot.exp)
    assert exp in loaded.apply_nodes
    loaded.replace(loaded.outputs[0], loaded.inputs[1] * 2.0)
    assert loaded.seen() > 5
    # what is protected stays so
    in_place = inplace_on_first(*loaded.inputs)
    with pytest.raises(og.InconsistencyError, match="would be overwritten"):
        loaded.replace_validate(loaded.outputs[0], in_place)


def test_full_history_travels() -> None:
    _, _, graph = small()
    calls: list[int] = []
    history = FullHistory(callback=lambda: calls.append(1))
    graph.attach_feature(history)
    digests = [og.digest(graph.outputs, graph.inputs)]
    for function in (ot.sin, ot.cos, ot.tan):
        graph.replace(graph.outputs[0], function(graph.inputs[0]))
        digests.append(og.digest(graph.outputs, graph.inputs))
    assert len(calls) == 3
    for step in (0, 2, 1, 3):
        found = history.goto(step)
        assert og.digest(found.outputs, found.inputs) == digests[step]
        found.check_integrity()
    history.start()
    history.next()
    assert og.digest(graph.outputs, graph.inputs) == digests[1]
    history.prev()
    history.end()
    assert og.digest(graph.outputs, graph.inputs) == digests[3]
    with pytest.raises(IndexError):
        history.goto(9)


def test_names_pass_to_replacements_and_nodes_are_found() -> None:
    x = ot.dscalar("x")
    y = ot.exp(x)
    y.name = "y"
    graph = og.FunctionGraph([x], [y], features=[PreserveVariableAttributes(), NodeFinder()])
    graph.outputs[0].tag.nan_guard_mode_check = False
    assert len(graph.get_nodes(ot.exp)) == 1
    graph.replace(graph.outputs[0], ot.sin(graph.inputs[0]))
    assert graph.outputs[0].name == "y"
    assert graph.outputs[0].tag.nan_guard_mode_check is False
    assert not graph.get_nodes(ot.exp)
    stream = io.StringIO()
    graph.attach_feature(PrintListener(file=stream))
    graph.replace(graph.outputs[0], ot.cos(graph.inputs[0]))
    assert "-- importing: cos(x)" in stream.getvalue()


def inplace(x: Any) -> Any:
    return Elemwise(ot.exp.scalar_op, ((0, 0),))(x)


def test_a_destroyer_runs_after_all_readers() -> None:
    x = ot.dvector("x")
    graph = og.FunctionGraph(
        [x], [inplace(x), ot.sin(x), x[1:] * 2], features=[DestroyHandler(), og.Validator()]
    )
    graph.validate()
    order = [str(n.op) for n in graph.toposort()]
    assert order.index("exp_inplace") > order.index("sin")
    assert order.index("exp_inplace") > order.index("mul")
    assert graph.has_destroyers([graph.inputs[0]])
    assert len(graph.destroyers(graph.inputs[0])) == 1


@pytest.mark.parametrize(
    "build",
    [
        lambda x: [inplace(x), inplace(x)],
        lambda x: [inplace(x[1:]), inplace(x[:2])],
        lambda x: [inplace(x) + x],
        lambda x: [inplace(x[1:]) + x[1:]],
        lambda x: [inplace(ot.constant([1.0]))],
        lambda x: [ot.set_subtensor(x[:2], x[1:], inplace=True)],
    ],
    ids=[
        "twice",
        "through views",
        "read after",
        "view read after",
        "constant",
        "reads what it writes",
    ],
)
def test_graphs_that_no_order_can_save_are_inconsistent(build: Any) -> None:
    x = ot.tensor("x", dtype="float64", shape=(3,))
    graph = og.FunctionGraph([x], build(x), features=[DestroyHandler(), og.Validator()])
    assert not graph.consistent()


def test_a_second_feature_of_a_kind_is_left_out() -> None:
    _, _, graph = small()
    for make in (DestroyHandler, NodeFinder):
        graph.attach_feature(make())
        graph.attach_feature(make())
    assert len(graph.features) == len({type(f) for f in graph.features})


def test_protection() -> None:
    x = ot.dvector("x")
    supervisor = Supervisor(lambda g: g.inputs)
    graph = og.FunctionGraph(
        [x], [inplace(x)], features=[DestroyHandler(), og.Validator(), supervisor]
    )
    with pytest.raises(og.InconsistencyError, match="protected variable x"):
        graph.validate()
    assert not graph.clone(attach_feature=True).consistent()
    free = og.FunctionGraph([x], [inplace(x)], features=[DestroyHandler(), og.Validator()])
    free.validate()
    free.attach_feature(NoOutputFromInplace([0]))
    with pytest.raises(og.InconsistencyError, match="computed in place"):
        free.validate()
    other = og.FunctionGraph([x], [inplace(x)], features=[DestroyHandler(), og.Validator()])
    other.attach_feature(NoOutputInplaceOnInput())
    with pytest.raises(og.InconsistencyError, match="overwrite an input"):
        other.validate()


def test_inplace_candidates() -> None:
    x, y = ot.dvectors("x", "y")
    graph = og.FunctionGraph(
        [x, y], [ot.add(x, y, x[:1], ot.constant([1.0]))], features=[DestroyHandler()]
    )
    node = graph.outputs[0].owner
    assert inplace_candidates(graph, node.inputs, []) == [graph.inputs[1]]
    assert inplace_candidates(graph, node.inputs, [graph.inputs[1]]) == []
