"""Trees of tensors as vectors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occelo_graph as og
from occelo_arrays.ops.raveling import ravel
from occelo_graph import tensor as ot
from occelo_graph.ir import trees

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def nests(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Random trees with the given leaves."""

    def larger(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.lists(part, max_size=3),
            st.lists(part, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from("cab"), part, max_size=3),
            st.none(),
        )

    return st.recursive(leaf, larger, max_leaves=6)


SHAPES = [(), (0,), (1,), (2, 3), (2, 0)]


@PATIENT
@given(nests(st.integers(0, 4)), st.booleans())
def test_ravel_and_back(numbers: Any, static: bool) -> None:
    shapes = [SHAPES[k] for k in trees.leaves(numbers)]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    arrays = [
        np.arange(float(start), end).reshape(shape)
        for start, end, shape in zip(ends, ends[1:], shapes, strict=False)
    ]
    tree = trees.flatten(numbers)[1].unflatten(arrays)
    vector, back = ravel(tree)
    np.testing.assert_array_equal(vector, np.arange(float(ends[-1])))
    rebuilt = trees.leaves(back(vector))
    for a, b in zip(rebuilt, arrays, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    # cut by arrays, applied to a variable
    v = ot.dvector("v")
    for a, b in zip(trees.leaves(back(v)), arrays, strict=True):
        assert a.type.shape == b.shape
        np.testing.assert_array_equal(og.evaluate(a, {v: vector}), b)
    if not arrays:
        return
    variables = trees.map(
        lambda x: ot.tensor(dtype="float64", shape=x.shape if static else (None,) * x.ndim), tree
    )
    values = dict(zip(trees.leaves(variables), arrays, strict=True))
    symbolic, unravel = ravel(variables)
    np.testing.assert_array_equal(og.evaluate(symbolic, values), vector)
    for a, b in zip(trees.leaves(unravel(symbolic * 2)), arrays, strict=True):
        np.testing.assert_array_equal(og.evaluate(a, values), b * 2)
        assert a.type.shape == (b.shape if static else (None,) * b.ndim)


def test_ravel_of_dtypes() -> None:
    tree = {"i": np.arange(2, dtype="int32"), "f": np.float32(0.5)}
    vector, back = ravel(tree)
    np.testing.assert_array_equal(vector, np.array([0.5, 0.0, 1.0]), strict=True)
    made = back(vector + 1)
    np.testing.assert_array_equal(made["i"], np.array([1, 2], dtype="int32"), strict=True)
    np.testing.assert_array_equal(made["f"], np.array(1.5, dtype="float32"), strict=True)
    symbolic, unravel = ravel(trees.map(ot.constant, tree))
    assert symbolic.dtype == "float64"
    assert [x.dtype for x in trees.leaves(unravel(symbolic))] == ["float32", "int32"]


def test_ravel_of_misfits() -> None:
    tree = {"w": np.ones((2, 3))}
    back = ravel(tree)[1]
    with pytest.raises(ValueError, match="The tree has 6 elements, got a vector of 5"):
        back(np.ones(5))
    with pytest.raises(ValueError, match="A raveled tree is a vector, got 2 dimensions"):
        back(tree["w"])
    v = ot.dvector("v")
    with pytest.raises(Exception, match="6"):
        og.evaluate(back(v)["w"], {v: np.ones(7)})
    with pytest.raises(ValueError, match="unknown lengths"):
        ravel({"v": v})[1](np.ones(3))
    with pytest.raises(TypeError, match=r"tree\['w'\] is no array of numbers"):
        ravel({"w": "text"})
