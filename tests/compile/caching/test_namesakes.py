"""Definitions of the same name within inner graphs: graphs as ops run the one that they were made with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.elemwise.op import elementwise
from occelo_graph.ops.elemwise.scalar import inexact

pytestmark = pytest.mark.filterwarnings("ignore:.*(cache|runs in Python)")
VALUE = np.array([1.0, -2.0, 3.0])


def _class_of(factor: float) -> Any:
    """An op of a class whose name does not tell the factor, as in two runs of one cell of a notebook."""

    @og.op
    class Scaled(og.Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x * factor

    return Scaled()


def _function_of(factor: float) -> Any:
    return elementwise(
        "of_namesakes", 1, inexact, lambda x: x * factor, formula=lambda x: x * factor
    )


@pytest.mark.parametrize("make", [_class_of, _function_of])
def test_graphs_as_ops_are_not_taken_for_each_other(make: Callable[[float], Any]) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    ops = [OpFromGraph([x], [s(x)]) for s in (make(2.0), make(5.0))]
    assert ops[0] != ops[1]
    nested = [OpFromGraph([x], [o(x)]) for o in ops]
    f = oc.function([y], [o(y) for o in (*ops, *nested)])
    for found, factor in zip(f(VALUE), (2.0, 5.0) * 2, strict=True):
        np.testing.assert_array_equal(found, VALUE * factor)


def test_an_op_that_changes_within_a_frozen_graph_is_not_taken_for_what_it_was() -> None:
    class Scaled(og.Op):
        __props__ = ("factor",)

        def __init__(self, factor: float) -> None:
            self.factor = factor

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return x * self.factor

    op, x = Scaled(2.0), ot.dvector("x")
    before = freeze([x], [op(x)])
    assert freeze([x], [Scaled(2.0)(x)]) is before
    op.factor = 5.0
    after = freeze([x], [Scaled(2.0)(x)])
    assert after is not before
    np.testing.assert_array_equal(og.evaluate(after.bind([x])[0], {x: VALUE}), VALUE * 2)


def test_types_of_one_name_are_not_taken_for_each_other() -> None:
    def type_of(factor: float) -> og.Type:
        class Numbers(og.Type):
            def filter(self, data: Any, strict: bool = False, allow_downcast: Any = None) -> Any:
                return float(data) * factor

        return Numbers()

    frozen = [freeze([v], [v]) for v in (type_of(k)() for k in (2.0, 5.0))]
    assert frozen[0] is not frozen[1]
    assert [g.inputs[0].type.filter(1) for g in frozen] == [2.0, 5.0]
