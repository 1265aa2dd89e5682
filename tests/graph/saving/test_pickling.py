"""Pickles and deep copies of variables, nodes and function graphs: of any depth, with names, tags and identities."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.copying import COPIES, long_chain, pickled

Copied = Callable[[Any], Any]


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
def test_depth_is_not_limited(copied: Copied) -> None:
    x, y = long_chain(20_000)
    graph = og.FunctionGraph([x], [y], clone=False)
    for what in (y, y.owner, graph, [y.owner.inputs[0], y]):
        found: Any = copied(what)
        assert og.digest(found) == og.digest(what)


@pytest.mark.parametrize("copied", COPIES)
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


@pytest.mark.parametrize("copied", COPIES)
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
    assert og.digest(pickled(graph.outputs[0])) == og.digest(graph.outputs[0])
    assert first.memo is not None


def test_shallow_copies_share_their_parts() -> None:
    y: Any = ot.exp(ot.dvector("x"))
    y.name = "y"
    other, node = copy.copy(y), copy.copy(y.owner)
    assert other is not y
    assert (other.owner, other.index, other.name, other.type) == (y.owner, 0, "y", y.type)
    assert node is not y.owner
    assert (node.op, node.inputs, node.outputs) == (y.owner.op, y.owner.inputs, y.owner.outputs)
