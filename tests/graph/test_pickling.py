"""Pickles and deep copies of variables, nodes and function graphs: of any depth, with names, tags and identities."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_random.ops.generators import shared_rng
from occelo_testing.graph_shapes import SHAPES, differentiated

Copied = Callable[[Any], Any]


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def _in_python(value: Any) -> Any:
    """Through the pickler in Python, whose recursion is limited more tightly."""
    stream = io.BytesIO()
    vars(pickle)["_Pickler"](stream).dump(value)
    return pickle.loads(stream.getvalue())


COPIES = pytest.mark.parametrize("copied", [_pickled, _in_python, copy.deepcopy])


def _long(nodes: int) -> tuple[Any, Any]:
    x = y = ot.dvector("x")
    for _ in range(nodes // 2):
        y = ot.sin(y) * 1.5
    return x, y


@pytest.mark.parametrize("copied", [_pickled, copy.deepcopy])
def test_depth_is_not_limited(copied: Copied) -> None:
    x, y = _long(20_000)
    graph = og.FunctionGraph([x], [y], clone=False)
    for what in (y, y.owner, graph, [y.owner.inputs[0], y]):
        found: Any = copied(what)
        assert og.digest(found) == og.digest(what)


@COPIES
@pytest.mark.parametrize("name", SHAPES)
def test_copies_compute_the_same(name: str, copied: Copied) -> None:
    inputs, outputs, updates = differentiated(SHAPES[name], 1 if name == "nested loops" else 12)
    updated = [new for _, new in updates]
    ins, outs = copied((inputs, [*outputs, *updated]))
    assert og.digest(outs, ins) == og.digest([*outputs, *updated], inputs)
    graph = copied(og.FunctionGraph(outputs=[*outputs, *updated], clone=False))
    graph.check_integrity()
    assert og.digest(graph.outputs) == og.digest([*outputs, *updated])


@COPIES
def test_variables_of_one_pickle_share_their_nodes(copied: Copied) -> None:
    x, y = _long(10)
    z = ot.exp(y) + x
    following, draw = shared_rng(np.random.default_rng(1)).normal(z)
    parts = [y, z, {"x": x, "node": draw.owner}, following, draw, y.owner.inputs[0]]
    y2, z2, told, following2, draw2, below2 = copied(parts)
    assert draw2.owner is following2.owner is told["node"]
    assert z2 in draw2.owner.inputs
    assert z2.owner.inputs[1] is told["x"]
    assert z2.owner.inputs[0].owner.inputs[0] is y2
    assert y2.owner.inputs[0] is below2
    assert [draw2.index, following2.index] == [draw.index, following.index]


@COPIES
def test_names_tags_and_lines_are_kept(copied: Copied) -> None:
    x: Any = ot.dvector("x")
    y: Any = ot.exp(x)
    y.name, y.tag.note, y.owner.tag.of = "y", [1, 2], x
    z = y + 1.0
    z.tag.below = y
    y.tag.above = z
    z2 = copied(z)
    y2 = z2.owner.inputs[0]
    assert (y2.name, y2.tag.note, y2.tag.above) == ("y", [1, 2], z2)
    assert z2.tag.below is y2
    assert y2.owner.tag.of is y2.owner.inputs[0]
    assert z2.name is None
    assert not z2.owner.has_tag
    assert (y2.source, y2.owner.source, z2.source) == (y.source, y.owner.source, z.source)
    assert y2.owner.inputs[0].source == x.source
    assert type(y2) is type(y)


@COPIES
def test_updates_that_use_what_they_update(copied: Copied) -> None:
    rng = shared_rng(np.random.default_rng(1))
    states = [og.shared(np.array([1.0, 2.0]), name=f"s{i}") for i in range(50)]
    for state, other in zip(states, [*states[1:], states[0]], strict=True):
        state.default_update = ot.sin(other) + state  # a chain of states, closed to a ring
    draws = [v for _ in range(50) for v in rng.normal(size=3)]
    total = sum(states, start=ot.constant(0.0))
    total2, draws2 = copied((total, draws))
    state: Any = next(v for v in og.graph_inputs([total2]) if v.name == "s0")
    seen: list[Any] = [state]
    for _ in range(49):
        update = seen[-1].default_update
        assert update.owner.inputs[1] is seen[-1]
        seen.append(update.owner.inputs[0].owner.inputs[0])
    assert [v.name for v in seen] == [v.name for v in states]
    assert set(seen) <= set(og.graph_inputs([total2]))
    assert og.digest(draws2) == og.digest(draws)
    assert seen[0].get_value().tolist() == [1.0, 2.0]


class Marked(og.Type):
    """A type whose variables have an attribute of their own."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data


class MarkedVariable(og.Variable):
    """A variable with a slot and a dict of its own."""

    __slots__ = ("__dict__", "extra")


class Making(og.Op):
    """An op whose output is of a class of its own."""

    __props__ = ()

    def make_node(self, *inputs: Any) -> Any:
        return og.Apply(self, inputs, [MarkedVariable(Marked())])


@COPIES
def test_variables_of_classes_of_users(copied: Copied) -> None:
    made: Any = Making().make_node(ot.dvector("x")).outputs[0]
    made.extra, made.more = 3, "text"
    found = copied([made, made.owner])[0]
    assert (type(found), found.extra, found.more) == (MarkedVariable, 3, "text")
    assert found.type == Marked()


def test_a_pickler_that_stays_writes_new_nodes_of_a_changed_graph() -> None:
    x = ot.dvector("x")
    graph: Any = og.FunctionGraph([x], [ot.exp(ot.sin(x))], clone=False)
    stream = io.BytesIO()
    first = pickle.Pickler(stream)
    first.dump(graph.outputs[0])
    old = graph.outputs[0].owner.inputs[0]
    graph.replace(old, ot.cos(graph.inputs[0]))
    assert og.digest(_pickled(graph.outputs[0])) == og.digest(graph.outputs[0])
    assert first.memo is not None


def test_shallow_copies_share_their_parts() -> None:
    y: Any = ot.exp(ot.dvector("x"))
    y.name = "y"
    other, node = copy.copy(y), copy.copy(y.owner)
    assert other is not y
    assert (other.owner, other.index, other.name, other.type) == (y.owner, 0, "y", y.type)
    assert node is not y.owner
    assert (node.op, node.inputs, node.outputs) == (y.owner.op, y.owner.inputs, y.owner.outputs)
