"""Functions whose arguments, results and updates are trees equal functions of the leaves."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occelo_compile as oc
from occelo_graph import UnusedInputError
from occelo_graph import tensor as ot
from occelo_graph.ir import trees


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Layer:
    weights: Any
    bias: Any = None


w, b, x, scale = ot.dmatrix("w"), ot.dvector("b"), ot.dvector("x"), ot.dscalar("scale")
PARAMS = {"w": w, "b": [b]}
VALUES = {"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "b": [np.array([10.0, 20.0])]}
X = np.array([1.0, -1.0])
Y = X @ VALUES["w"] + VALUES["b"][0]


def nests() -> st.SearchStrategy[Any]:
    leaf = st.integers(0, 2)

    def larger(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.lists(part, max_size=3),
            st.lists(part, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from("cab"), part, max_size=3),
            st.builds(Pair, part, part),
            st.builds(Layer, part),
            st.none(),
        )

    return st.recursive(leaf, larger, max_leaves=5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(nests(), max_size=2), nests())
def test_random_trees(arguments: list[Any], asked: Any) -> None:
    # leaf k of the arguments has k dimensions and the value of its position; results double the leaves they name
    arguments = [each for each in arguments if each is not None]
    variables = trees.map(lambda k: ot.tensor(dtype="float64", shape=(None,) * k), arguments)
    leaves = trees.leaves(variables)
    values = trees.flatten(arguments)[1].unflatten(
        [np.full((2,) * v.type.ndim, float(i)) for i, v in enumerate(leaves)]
    )
    if asked is None:
        return
    counter = iter(range(100))
    outputs = trees.map(
        lambda k: leaves[(k + next(counter)) % len(leaves)] * 2 if leaves else k, asked
    )
    f = oc.function(variables, outputs, mode="FAST_COMPILE", on_unused_input="ignore")
    counter = iter(range(100))
    flat = trees.leaves(values)
    expected = trees.map(lambda k: flat[(k + next(counter)) % len(flat)] * 2 if flat else k, asked)
    for _ in range(3):  # the third call goes through the entry
        result = f(*values)
        if type(asked) is tuple and not any(map(trees.is_tree, asked)):
            result = tuple(result)
        assert trees.flatten(result)[1] == trees.flatten(expected)[1]
        for got, want in zip(trees.leaves(result), trees.leaves(expected), strict=True):
            np.testing.assert_array_equal(got, want)


def value_and_shift(mode: str | None = None, **options: Any) -> Any:
    y = ot.dot(x, w) + b
    return oc.function([PARAMS, x], {"y": y, "more": Pair(y.sum(), [y * 2, None])}, mode, **options)


def check_value_and_shift(result: Any) -> None:
    np.testing.assert_array_equal(result["y"], Y)
    assert type(result["more"]) is Pair
    np.testing.assert_array_equal(result["more"].first, Y.sum())
    np.testing.assert_array_equal(result["more"].second[0], Y * 2)
    assert result["more"].second[1] is None


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE", "DebugMode", "c|py"])
def test_every_call_and_copy(mode: str | None) -> None:
    f = value_and_shift(mode)
    for _ in range(3):
        check_value_and_shift(f(VALUES, X))
        check_value_and_shift(f(VALUES, x=X))
        check_value_and_shift(f({"b": ([10, 20],), "w": VALUES["w"].tolist()}, [1, -1]))
    check_value_and_shift(copy.copy(f)(VALUES, X))
    if mode != "DebugMode":  # its makers of copies lack what checks need
        check_value_and_shift(f.copy()(VALUES, X))
        check_value_and_shift(pickle.loads(pickle.dumps(f))(VALUES, X))
    assert isinstance(f, oc.Function)


def test_a_profiled_function() -> None:
    f = value_and_shift(profile=True)
    for count in range(1, 5):
        check_value_and_shift(f(VALUES, X))
        assert f.profile.calls == count


def test_inputs_by_keyword() -> None:
    y = (ot.dot(x, w) + b) * scale
    f = oc.function({"params": PARAMS, "x": x, "scale": oc.In(scale, value=2.0)}, y)
    for _ in range(3):
        np.testing.assert_array_equal(f(VALUES, X), Y * 2)
        np.testing.assert_array_equal(f(params=VALUES, x=X), Y * 2)
        np.testing.assert_array_equal(f(scale=3.0, x=X, params=VALUES), Y * 3)
        np.testing.assert_array_equal(f(VALUES, X, 4.0), Y * 4)
    # a plain dict gives names only
    g = oc.function({"left": x, "right": b}, x - b)
    np.testing.assert_array_equal(g(right=[1.0], left=[3.0]), [2.0])
    np.testing.assert_array_equal(g([3.0], [1.0]), [2.0])
    assert x.name == "x"


def test_an_omitted_default_between_arguments() -> None:
    f = oc.function(
        {"scale": oc.In(scale, value=2.0, update=scale + 1), "params": PARAMS, "x": x},
        (ot.dot(x, w) + b) * scale,
    )
    for expected in (2, 3, 4):
        np.testing.assert_array_equal(f(params=VALUES, x=X), Y * expected)


def test_updates_of_trees() -> None:
    state = {"a": oc.shared(1.0, "a"), "b": (oc.shared(np.ones(2), "b"),)}
    f = oc.function(
        [scale], updates=[(state, {"a": state["a"] + scale, "b": [state["b"][0] * state["a"]]})]
    )
    f(2.0)
    f(2.0)
    assert state["a"].get_value() == 5.0
    np.testing.assert_array_equal(state["b"][0].get_value(), [3.0, 3.0])


def test_flat_functions_are_as_ever() -> None:
    y = x * 2
    assert isinstance(oc.function([x], (y, y))([1.0]), list)
    assert oc.function([x], [y]).maker.nested is None
    by_key = oc.function((x,), {"b": y, "a": x})([1.0])
    assert list(by_key) == ["a", "b"]


ERRORS: dict[str, tuple[Any, type[Exception], str]] = {
    "a leaf of another type": (
        lambda f: f({"w": [1.0], "b": VALUES["b"]}, X),
        TypeError,
        r"Bad argument inputs\[0\]\['w'\] of Function: expected float64 \(\?, \?\)",
    ),
    "another structure": (
        lambda f: f({"w": VALUES["w"], "b": []}, X),
        ValueError,
        r"Bad argument of Function: inputs\[0\]\['b'\] is a list of 0, not a list of 1",
    ),
    "missing": (lambda f: f(VALUES), TypeError, r"is missing 1 of its arguments: 1 \(x\)"),
    "too many": (lambda f: f(VALUES, X, X), TypeError, "takes 2 arguments, got 3"),
    "twice": (lambda f: f(VALUES, X, x=X), TypeError, r"got its argument 1 \(x\) twice"),
    "no such name": (lambda f: f(VALUES, w=X), TypeError, "has no argument named 'w'; its names"),
    "a subset": (lambda f: f(VALUES, X, output_subset=[0]), TypeError, "output_subset"),
    "a leaf that is no variable": (
        lambda f: oc.function([{"w": w, "b": 3.0}], w),
        TypeError,
        r"inputs\[0\]\['b'\] must be a variable or In, got 3.0",
    ),
    "a default in a tree": (
        lambda f: oc.function([{"w": oc.In(w, value=np.ones((2, 2)))}], w),
        TypeError,
        r"inputs\[0\]\['w'\] has a default, which only whole arguments can have",
    ),
    "a variable twice": (
        lambda f: oc.function([PARAMS, [w]], w),
        UnusedInputError,
        "is given twice, as input 1 and as input 2",
    ),
    "a result that is none": (
        lambda f: oc.function([x], {"y": [x, "a"]}),
        TypeError,
        r"At outputs\['y'\]\[1\]\nAn output must be a variable or Out, got 'a'",
    ),
    "keywords that are no strings": (
        lambda f: oc.function({1: x}, x),
        TypeError,
        "The keys of inputs must be strings, got 1",
    ),
    "an argument that is None": (
        lambda f: oc.function([x, None], x),
        TypeError,
        "Input 1 must be a variable or In, got None",
    ),
    "updates of another structure": (
        lambda f: oc.function([], updates=[([oc.shared(1.0)], [x, x])]),
        ValueError,
        "The update is a list of 2, not a list of 1",
    ),
    "a tree of variables that are not shared": (
        lambda f: oc.function([x], updates=[([x], [x])]),
        TypeError,
        "Only shared variables can be updated, not x",
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_mistakes(name: str) -> None:
    make, kind, message = ERRORS[name]
    f = value_and_shift("FAST_COMPILE")
    for _ in range(2):
        with pytest.raises(kind, match=message):
            make(f)
