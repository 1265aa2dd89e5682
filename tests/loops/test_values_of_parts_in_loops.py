"""Loops carry values that are no arrays: lists of tensors, and a type of users whose values consist of several arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.types import Type
from occelo_graph.ops import typed_list as tl
from occelo_graph.ops.control import ifelse
from occelo_link.loops.registry import lowers_parts_to_loops
from occelo_link.loops.tensors import TensorGroup
from occelo_loops.ops.building.loops import loop, while_loop
from occelo_testing.looping import again

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*runs in Python", r"ignore:Shapes in the graph", "ignore:.*script_method"
)
x = ot.dvector("x")


def numbers(values: Any) -> list[Any]:
    """Lists of Python's numbers, of a list of arrays."""
    assert isinstance(values, list)
    assert all(v.dtype == "float64" for v in values)
    return [v.tolist() for v in values]


def test_a_loop_carries_a_list_of_changing_length(mode: str) -> None:
    def step(state: Any, e: Any) -> Any:
        k, items = state
        items = items.append(e * ot.ones(k))
        return (k + 1, ot.ifelse(e > 2.5, items[1:], items)), items.length()

    (_, items), lengths = loop(step, (0, tl.make_list([], x.type)), x)
    f = oc.function([x], [items, lengths, items.length()], mode=mode)
    for v in ([], [1.0], [3.0], [1.0, 3.0, 2.0, 4.0, 0.5]):
        kept: list[list[float]] = []
        counts: list[int] = []
        for k, e in enumerate(v):
            kept.append([e] * k)
            counts.append(len(kept))
            kept = kept[1:] if e > 2.5 else kept
        found = f(v)
        assert numbers(found[0]) == kept
        np.testing.assert_array_equal(found[1], counts)
        assert found[2] == len(kept)


def test_all_forms_of_loops_carry_lists(mode: str) -> None:
    """A queue that is emptied, and a list that an outer loop gives to an inner one."""
    queue = tl.make_list([x, x[:1]])
    emptied, total = while_loop(
        lambda s: s[0].length() > 0, lambda s: (s[0][1:], s[1] + s[0][0].sum()), (queue, 0.0)
    )

    def row(items: Any, e: Any) -> Any:
        return loop(lambda s: (s.append(e * s[-1]), None), items, length=2)[0]

    inner = loop(lambda items, e: (row(items, e), None), tl.make_list([x]), x)[0]
    f = oc.function([x], [emptied.length(), total, inner], mode=mode)
    length, sum_, found = f(np.array([2.0, 3.0]))
    assert (length, sum_) == (0, 7.0)
    assert numbers(found) == [[2.0 * k, 3.0 * k] for k in (1, 2, 4, 12, 36)]


class MarkedType(Type):
    """A vector and a flag, as a tuple."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if isinstance(data, tuple) and len(data) == 2:
            return data
        raise TypeError(f"Expected a vector and a flag, got {data!r}")

    def parts(self) -> tuple[Any, ...]:
        return og.TensorType("float64", (None,)), og.TensorType("bool", ())

    def to_parts(self, value: Any) -> Sequence[Any]:
        return value[0], np.asarray(value[1])

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return parts[0], bool(parts[1])


@op
class Grown(Op):
    """One element more, and the other flag; only Python knows it."""

    def infer(self, marked: Any) -> Any:
        return marked

    def evaluate(self, marked: Any) -> Any:
        return ((np.append(marked[0], 1.0), not marked[1]),)


@op
class Scaled(Op):
    """Has a lowering over parts: only the first of them changes."""

    def infer(self, marked: Any, factor: Any) -> Any:
        return marked

    def evaluate(self, marked: Any, factor: Any) -> Any:
        return ((marked[0] * factor, marked[1]),)


@lowers_parts_to_loops(Scaled)
def lower_scaled(context: Any, node: Any, inputs: list[Any]) -> Sequence[Any]:
    vector, flag = inputs[0].parts
    factor = context.scalar(inputs[1])

    def element(builder: Any, at: Any) -> Any:
        return builder.op("mul", vector.at(builder, at), factor)

    scaled = context.virtual(
        vector.dtype, vector.shape, element, [vector], flat=vector.flat, identity=True
    )
    return [TensorGroup([scaled, flag])]


def test_a_loop_carries_values_of_a_vector_and_a_flag(mode: str) -> None:
    n, marked, factor = ot.lscalar("n"), MarkedType()("marked"), ot.dscalar("factor")

    def step(marked: Any, count: Any, factor: Any) -> list[Any]:
        longer = Scaled()(Grown()(marked), factor)
        return [ifelse(ot.gt(count, 2.0), marked, longer), count + 1.0]

    f = oc.function(
        [n, marked, factor], again(n, [marked, factor * 0.0], step, [factor]), mode=mode
    )
    for count in (0, 1, 2, 5):
        start = np.array([0.5, -3.0])
        (vector, flag), last = f(count, (start, True), 2.0)
        expected = start
        for _ in range(min(count, 3)):
            expected = np.append(expected, 1.0) * 2.0
        np.testing.assert_array_equal(vector, expected)
        assert flag is (min(count, 3) % 2 == 0)
        assert last == count
        np.testing.assert_array_equal(start, [0.5, -3.0])
