"""Lists of tensors on every linker, against lists of Python: ops, loops that carry them, mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ir.types import generic
from occelo_graph.ops import typed_list as tl
from occelo_link import make_linker

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*runs in Python", r"ignore:Shapes in the graph", "ignore:.*script_method"
)

x, n = ot.dvector("x"), ot.lscalar("n")
VECTORS = tl.TypedListType(x.type)


@pytest.fixture
def quick(mode: str) -> Any:
    """The mode; PyTorch without Inductor, which takes seconds for each graph."""
    return oc.Mode(type(make_linker("pytorch"))(compiled=False)) if mode == "pytorch" else mode


def equal(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(found, list)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            equal(one, other)
    else:
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape


def by_python(v: Any, at: int) -> list[Any]:
    items = [v, 2 * v, v[:1]]
    inserted, written, fewer = list(items), list(items), list(items)
    inserted.insert(at, v[1:])
    written[at] = v[:0]
    fewer.pop(1)
    return [
        items, [*items, v[:2]], items + items[::-1], inserted, written, fewer, items[::-1],
        items[at:], items[::-2], items[at], np.array(3), np.array(2), np.array(1),
    ]  # fmt: skip


@pytest.mark.parametrize("at", [0, 2, -1, -3])
def test_lists_are_those_of_python(at: int, quick: Any) -> None:
    items = tl.make_list([x, 2 * x, x[:1]])
    outputs = [
        items, items.append(x[:2]), items.extend(items.reverse()), items.insert(n, x[1:]),
        items.setitem(n, x[:0]), items.remove(2 * x), items.reverse(), items[n:], items[::-2],
        items[n], items.length(), tl.index(items, x[:1]), items.count(2 * x),
    ]  # fmt: skip
    f = oc.function([x, n], outputs, mode=quick)
    for v in (np.array([1.0, 2.0, 3.0]), np.array([5.0, 7.0])):
        for found, wanted in zip(f(v, at), by_python(v, at), strict=True):
            equal(found, wanted)


def test_lists_come_in_and_stay_as_they_are(quick: Any) -> None:
    items = VECTORS("items")
    f = oc.function([items, x], [items.append(x), items], mode=quick)
    given = [np.ones(2), np.zeros(0)]
    longer, same = f(given, [3.0])
    equal(longer, [np.ones(2), np.zeros(0), np.array([3.0])])
    same[0][:] = 7.0
    equal(given, [np.ones(2), np.zeros(0)])
    equal(f([], [3.0])[0], [np.array([3.0])])
    with pytest.raises(TypeError, match="Expected a list of"):
        f(3.0, [1.0])
    with pytest.raises(TypeError):
        f([np.ones((2, 2))], [1.0])


@pytest.mark.parametrize("kind", ["int8", "bool", "complex128", "float32"])
def test_elements_of_all_dtypes_lie_in_arrays(kind: str) -> None:
    matrices = tl.TypedListType(og.TensorType(kind, (None, 2)))
    value = [np.ones((3, 2), kind), np.zeros((0, 2), kind), np.ones((1, 2), kind)]
    equal(matrices.from_parts(matrices.to_parts(value)), value)
    equal(matrices.from_parts(matrices.to_parts([])), [])
    assert matrices.values_eq(value, matrices.copy(value))
    assert not matrices.values_eq(value, value[:2])
    shapes = [part.shape for part in matrices.to_parts(value)]
    assert [p.shape for p in matrices.to_parts(matrices.filled(shapes, 1))] == shapes
    scalars = tl.TypedListType(og.TensorType(kind, ()))
    numbers = [np.ones((), kind), np.zeros((), kind)]
    equal(scalars.from_parts(scalars.to_parts(numbers)), numbers)


def test_a_list_is_saved_and_debugged(tmp_path: Any) -> None:
    items = tl.make_list([x, x[:1]]).append(x)
    og.save(tmp_path / "list", [items.length(), items[1]], [x])
    graph = og.load(tmp_path / "list")
    for found, wanted in zip(og.evaluate(graph.outputs, {graph.inputs[0]: [5.0, 6.0]}), (3, [5.0]), strict=True):  # fmt: skip
        np.testing.assert_array_equal(found, wanted)
    f = oc.function([x], [items, items[0]], mode="DebugMode")
    equal(f([1.0, 2.0])[1], np.array([1.0, 2.0]))


def test_mistakes_with_lists(quick: Any) -> None:
    items = tl.make_list([x])
    with pytest.raises(TypeError, match=r"cannot have an element of type .*float32"):
        items.append(ot.fvector())
    with pytest.raises(TypeError, match="must be of one type"):
        tl.make_list([x, ot.dmatrix()])
    with pytest.raises(TypeError, match="needs a type of its elements"):
        tl.make_list([])
    with pytest.raises(TypeError, match="must be an integer"):
        items[ot.dscalar()]
    with pytest.raises(TypeError, match="must be tensors or lists"):
        tl.TypedListType(generic)
    with pytest.raises(TypeError, match="not known before the graph runs"):
        list(items)
    with pytest.raises(NotImplementedError, match="GetItem has no derivative"):
        og.grad(items[0].sum(), x)
    with pytest.raises(NotImplementedError, match=r"MakeList.* has no batches"):
        og.vectorize_graph(items[0], {x: ot.dmatrix()})
    f = oc.function([x, n], [items[n], tl.index(items, x[n:])], mode=quick)
    with pytest.raises(IndexError, match="Position 1 is out of bounds for a list of 1 elements"):
        f([1.0], 1)
    with pytest.raises(ValueError, match="No element of the list equals the value"):
        f([1.0, 2.0], -1)
