"""Slices, None, strings and nested lists as values of variables, on every linker."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays.ops.parts import slice_values as sv
from occelo_graph import Op, op
from occelo_graph import tensor as ot
from occelo_graph.ir.types import generic, none_type
from occelo_graph.ops import typed_list as tl

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python", r"ignore:Shapes in the graph")

BOUNDS = [None, 0, 2, 7, -1, -3, -9]
SLICES = [slice(a, b, c) for a in BOUNDS for b in BOUNDS for c in (None, 1, 2, -1, -2)]
X = np.arange(5.0)
x, i, j = ot.dvector("x"), ot.lscalar("i"), ot.lscalar("j")


@op
class Named(Op):
    """The function of NumPy with the name in the first input, a string."""

    def infer(self, name: Any, y: Any) -> Any:
        return y

    def evaluate(self, name: Any, y: Any) -> Any:
        return getattr(np, name)(y)


def test_an_input_that_is_a_slice(mode: str) -> None:
    s = sv.slicetype("s")
    f = oc.function([x, s], [x[s], x[s][1:], s, ot.set_subtensor(x[s], 9.0)], mode=mode)
    for given in SLICES[:: 1 if mode in ("native", "py") else 61]:
        part, rest, same, written = f(X, given)
        np.testing.assert_array_equal(part, X[given])
        np.testing.assert_array_equal(rest, X[given][1:])
        assert same == given
        expected = X.copy()
        expected[given] = 9.0
        np.testing.assert_array_equal(written, expected)
    for n in (0, 1):
        np.testing.assert_array_equal(f(X[:n], slice(None, None, -1))[0], X[:n][::-1])
    with pytest.raises(ValueError, match="step of a slice cannot be 0"):
        f(X, slice(None, None, 0))
    with pytest.raises(TypeError, match="Expected a slice, got 3"):
        f(X, 3)
    with pytest.raises(TypeError, match="must be integers or None"):
        f(X, slice(1.5, None))


def test_a_slice_that_is_made(mode: str) -> None:
    s = sv.make_slice(i, None, j)
    two = ot.dmatrix("two")
    f = oc.function([x, two, i, j], [s, x[s], two[..., s, None]], mode=mode)
    pair = np.arange(10.0).reshape(2, 5)
    for a, b in ((1, 2), (-2, -1), (4, 1)):
        made, part, columns = f(X, pair, a, b)
        assert made == slice(a, None, b)
        np.testing.assert_array_equal(part, X[made])
        np.testing.assert_array_equal(columns, pair[..., made, None])


def test_gradients_and_branches_of_slices() -> None:
    s, flag = sv.slicetype("s"), ot.bscalar("flag")
    chosen = ot.ifelse(flag > 0, s, sv.make_slice(i))
    cost = (x[chosen] ** 2).sum()
    f = oc.function([x, s, flag, i], og.grad(cost, x))
    np.testing.assert_array_equal(f(X, slice(3, None), 1, 0), [0, 0, 0, 6, 8])
    np.testing.assert_array_equal(f(X, slice(3, None), 0, 2), [0, 0, 4, 6, 8])


def test_constants() -> None:
    assert x[sv.NoneSliceConst].type.shape == (None,)
    made = sv.make_slice(1, None, 2)
    assert isinstance(made, og.Constant)
    assert oc.function([x], x[made])(X).tolist() == [1.0, 3.0]
    fixed = og.TensorType("float64", (5,)).make_variable("fixed")
    assert fixed[made].type.shape == (2,)
    assert x[sv.as_symbolic(None)].type.ndim == 2
    assert sv.as_symbolic(x) is x
    assert sv.as_symbolic("sin").type == generic
    assert sv.as_symbolic(None).type == none_type
    assert sv.as_symbolic(slice(i, 2)).type == sv.slicetype
    assert sv.as_symbolic([1.0, 2.0]).type.ndim == 1
    assert sv.as_symbolic({"a": object}).type == generic
    assert sv.make_slice(i, sv.as_symbolic(None)).type == sv.slicetype


def test_mistakes() -> None:
    with pytest.raises(TypeError, match="bound of a slice must be an integer scalar, got float64"):
        sv.make_slice(ot.dscalar("d"))
    with pytest.raises(TypeError, match="must be integers or None"):
        sv.make_slice(1.5)
    with pytest.raises(TypeError, match="takes a slice or its bounds"):
        sv.make_slice(slice(1), 2)


@pytest.mark.parametrize("value", ["sin", slice(1, None, 2), slice(-1, None, -1), None], ids=str)
def test_saved_pickled_and_shared(value: Any, tmp_path: Any) -> None:
    constant = sv.as_symbolic(value)
    other = sv.as_symbolic("cos" if value == "sin" else slice(3))
    y = Named()(constant, x) if isinstance(value, str) else x[constant]
    z = Named()(other, x) if isinstance(value, str) else x[other]
    assert og.digest([y], [x]) != og.digest([z], [x])
    og.save(tmp_path / "graph", [y], [x])
    graph = og.load(tmp_path / "graph")
    (again,) = og.evaluate(graph.outputs, {graph.inputs[0]: X})
    expected = np.sin(X) if isinstance(value, str) else X[value]
    np.testing.assert_array_equal(again, expected)
    copied = pickle.loads(pickle.dumps(constant))
    assert copied.equals(constant)
    assert not copied.equals(other)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(oc.function([x], y)))(X), expected)
    state = og.shared(value)
    assert oc.function([], state)() == value


def test_strings_and_none_are_inputs(mode: str) -> None:
    name, nothing = generic("name"), none_type("nothing")
    f = oc.function([name, nothing, x], [Named()(name, x) * 2.0, name, nothing], mode=mode)
    for each in ("sin", "exp"):
        value, same, none = f(each, None, X)
        np.testing.assert_allclose(value, 2.0 * getattr(np, each)(X))
        assert (same, none) == (each, None)


NESTED = tl.TypedListType(x.type, depth=1)


def plain(value: Any) -> Any:
    return [plain(v) for v in value] if isinstance(value, list) else np.asarray(value).tolist()


def test_lists_of_lists(mode: str) -> None:
    items, row = NESTED("items"), NESTED.ttype("row")
    outputs = [
        items.append(row), items[i], items[i][0], items.reverse(), items.setitem(0, row), items.count(row),
        items.length(), items[i].length(), tl.index(items, items[i]), items[1:],
        tl.make_list([row, row.append(x)]), items.extend(items).remove(items[i]),
    ]  # fmt: skip
    f = oc.function([items, row, i, x], outputs, mode=mode)
    value = [[np.ones(2), np.zeros(0)], [], [np.full(1, 4.0)]]
    given = [np.full(3, 2.0)]
    for at in (0, 2):
        twice = [*value, *value]
        del twice[at]
        expected = [
            [*value, given], value[at], value[at][0], value[::-1], [given, *value[1:]], 0,
            3, len(value[at]), at, value[1:], [given, [*given, X]], twice,
        ]  # fmt: skip
        for found, wanted in zip(f(value, given, at, X), expected, strict=True):
            assert plain(found) == plain(wanted)
    with pytest.raises(IndexError):
        f(value, given, 1, X)


def test_types_of_lists_of_lists() -> None:
    assert NESTED == tl.TypedListType(tl.TypedListType(x.type))
    deep = tl.TypedListType(og.TensorType("float32", (None, 2)), depth=2)
    assert [NESTED.get_depth(), deep.get_depth()] == [1, 2]
    value = [[[np.ones((3, 2), "float32")], []], [], [[], [np.zeros((0, 2), "float32")] * 2]]
    assert plain(deep.from_parts(deep.to_parts(value))) == plain(value)
    assert plain(deep.from_parts(deep.to_parts([]))) == []
    assert deep.values_eq(value, deep.copy(value))
    assert not deep.values_eq(value, value[:2])
    assert deep.may_share_memory(value, [value[0]])
    assert not deep.may_share_memory(value, deep.copy(value))
    shapes = [part.shape for part in deep.to_parts(value)]
    assert [p.shape for p in deep.to_parts(deep.filled(shapes, 1))] == shapes
    narrow = tl.TypedListType(og.TensorType("float64", (3,)))
    assert tl.TypedListType(x.type).is_super(narrow)
    assert not narrow.is_super(tl.TypedListType(x.type))
    with pytest.raises(ValueError, match="at least 0"):
        tl.TypedListType(x.type, depth=-1)
    with pytest.raises(TypeError, match="must be of one type"):
        tl.make_list([tl.make_list([x]), x])
