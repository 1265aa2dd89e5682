"""Trees are taken apart and rebuilt, and derivatives by trees equal those by lists of their leaves."""

from __future__ import annotations

import pickle
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import DisconnectedInputError
from occelo_graph.ir import trees

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Layer:
    weights: Any
    bias: Any = None
    size: int = field(default=3, metadata={"static": True})
    derived: int = field(default=0, init=False)


def nests(leaf: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Random trees with the given leaves."""

    def larger(part: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.lists(part, max_size=3),
            st.lists(part, max_size=3).map(tuple),
            st.dictionaries(st.sampled_from("cab"), part, max_size=3),
            st.dictionaries(st.integers(0, 3), part, max_size=2),
            st.builds(Pair, part, part),
            st.builds(Layer, part, part),
            st.none(),
        )

    return st.recursive(leaf, larger, max_leaves=6)


def leaves_by_hand(tree: Any) -> list[Any]:
    """The leaves in order, by a walk that knows the five classes."""
    if tree is None:
        return []
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_by_hand(tree[key])]
    if isinstance(tree, Layer):
        return leaves_by_hand(tree.weights) + leaves_by_hand(tree.bias)
    if isinstance(tree, list | tuple):
        return [leaf for part in tree for leaf in leaves_by_hand(part)]
    return [tree]


@PATIENT
@given(nests(st.integers()))
def test_a_tree_is_rebuilt(tree: Any) -> None:
    leaves, structure = trees.flatten(tree)
    assert leaves == leaves_by_hand(tree) == trees.leaves(tree) == structure.leaves_of(tree)
    assert structure.unflatten(leaves) == tree
    assert type(structure.unflatten(leaves)) is type(tree)
    assert structure.count == len(leaves)
    again = pickle.loads(pickle.dumps(structure))
    assert again == structure == trees.flatten(trees.map(str, tree))[1]
    assert hash(again) == hash(structure)


@PATIENT
@given(nests(st.integers(-9, 9)))
def test_paths_lead_to_the_leaves(tree: Any) -> None:
    leaves, structure = trees.flatten(tree)
    assert [eval(path, {"tree": tree}) for path in structure.paths()] == leaves


@PATIENT
@given(nests(st.integers()), nests(st.integers()))
def test_other_structures_are_refused(tree: Any, other: Any) -> None:
    structure, its = trees.flatten(tree)[1], trees.flatten(other)[1]
    if structure == its:
        assert trees.map(lambda a, b: (a, b)[1], tree, other) == other
    else:
        # a leaf takes anything, and a list stands for a tuple
        try:
            taken = structure.leaves_of(other)
        except ValueError:
            return
        assert len(taken) == structure.count


def test_special_dicts_keep_their_class_and_order() -> None:
    ordered = OrderedDict(b=1, a=2)
    assert trees.leaves(ordered) == [1, 2]
    assert trees.map(str, ordered) == OrderedDict(b="1", a="2")
    assert trees.leaves(defaultdict(int, b=1, a=2)) == [2, 1]
    assert trees.map(str, {"b": 1, "a": 2}) == {"a": "2", "b": "1"}


class Registered:
    def __init__(self, parts: list[Any], rest: str) -> None:
        self.parts, self.rest = parts, rest


def test_a_registered_class() -> None:
    assert trees.leaves(Registered([1], "a")) != [1]
    with pytest.raises(ValueError, match="Objects of dict are trees already"):
        trees.register(dict, lambda d: (d.values(), None), lambda _, parts: {})

    class Own(Registered):
        pass

    trees.register(Own, lambda v: (v.parts, v.rest), lambda rest, parts: Own(list(parts), rest))
    leaves, structure = trees.flatten({"k": Own([1, [2]], "a")})
    assert leaves == [1, 2]
    made = structure.unflatten([3, 4])["k"]
    assert (made.parts, made.rest, type(made)) == ([3, [4]], "a", Own)
    assert structure.leaves_of({"k": Own([5, [6]], "a")}) == [5, 6]
    with pytest.raises(ValueError, match=r"tree\['k'\] has 2 parts and 'b', not 2 and 'a'"):
        structure.leaves_of({"k": Own([5, [6]], "b")})
    assert structure.paths() == ["tree['k']<part 0>", "tree['k']<part 1>[0]"]


STRUCTURE = trees.flatten({"w": [1, (2, Pair(3, None))], "v": Layer(4)})[1]
MISFITS: list[tuple[Any, str]] = [
    ({"w": [1, (2, Pair(3, 1))], "v": Layer(4)}, "tree['w'][1][1].second is an int, not None"),
    ({"w": [1, (2, (3, None))], "v": Layer(4)}, "tree['w'][1][1] is a tuple of 2, not a Pair"),
    ({"w": [1], "v": Layer(4)}, "tree['w'] is a list of 1, not a list of 2"),
    ({"w": [1, (2, Pair(3, None))]}, "tree lacks ['v']"),
    ({"w": 1, "v": 1, "x": 2}, "tree has ['x'] too many"),
    ({"w": [1, (2, Pair(3, None))], "v": Layer(4, size=5)}, "tree['v'] has size = 5, not 3"),
    ({"w": [1, (2, Pair(3, None))], "v": 3}, "tree['v'] is an int, not a Layer"),
    (None, "tree is None, not a dict"),
]


@pytest.mark.parametrize(("tree", "message"), MISFITS)
def test_errors_name_the_place(tree: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}(?m:$)"):
        STRUCTURE.leaves_of(tree)


def test_further_errors() -> None:
    with pytest.raises(TypeError, match=r"p\['k'\] has keys that cannot be sorted"):
        trees.flatten({"k": {1: 2, "a": 3}}, "p")
    with pytest.raises(ValueError, match="The structure has 4 leaves, got 1"):
        STRUCTURE.unflatten([1])
    with pytest.raises(TypeError, match=r"got 3.0 at wrt\['b'\]\[0\]"):
        og.grad(ot.dscalar("s"), {"a": ot.dscalar("a"), "b": [3.0]})
    with pytest.raises(TypeError, match="Gradients are taken by variables, got None"):
        og.grad(ot.dscalar("s"), None)
    x = ot.dvector("x")
    with pytest.raises(DisconnectedInputError):
        og.grad(x.sum(), {"x": x, "y": ot.dvector("y")})


# derivatives


def cost_of(variables: list[Any]) -> Any:
    """A cost in which the derivatives by the variables differ, mixed ones included."""
    total: Any = ot.constant(1.0)
    for i, v in enumerate(variables):
        total = total + (i + 1.0) * (v**3).sum() + total * v.sum()
    return total


def assert_equal_values(tree: Any, other: Any, values: dict[Any, Any]) -> None:
    mine, structure = trees.flatten(tree)
    others = structure.leaves_of(other)
    assert trees.flatten(other)[1] == structure
    for a, b in zip(mine, others, strict=True):
        np.testing.assert_array_equal(og.evaluate(a, values), og.evaluate(b, values))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "of", [og.grad, og.hessian, lambda c, w: og.jacobian(ot.stack([c, c**2]), w)]
)
def test_derivatives_by_trees(of: Callable[[Any, Any], Any]) -> None:
    @PATIENT
    @given(nests(st.sampled_from([0, 2, 3])))
    def check(lengths: Any) -> None:
        tree = trees.map(lambda n: ot.tensor(dtype="float64", shape=(n,)), lengths)
        variables, structure = trees.flatten(tree)
        if tree is None or not variables:
            return
        values = {v: np.arange(1.0, 1 + v.type.shape[0]) for v in variables}
        cost = cost_of(variables)
        assert_equal_values(of(cost, tree), structure.unflatten(of(cost, variables)), values)

    check()


def test_mixed_second_derivatives() -> None:
    p = {"a": ot.dvector("a"), "b": (ot.dscalar("b"),)}
    cost = (p["a"] ** 2).sum() * p["b"][0] ** 3
    values = {p["a"]: np.array([1.0, 2.0]), p["b"][0]: np.array(2.0)}
    h = trees.map(lambda v: og.evaluate(v, values), og.hessian(cost, p, mixed=True))
    np.testing.assert_array_equal(h["a"]["a"], np.eye(2) * 2 * 8)
    np.testing.assert_array_equal(h["a"]["b"][0], np.array([2.0, 4.0]) * 3 * 4)
    np.testing.assert_array_equal(h["b"][0]["a"], np.array([2.0, 4.0]) * 3 * 4)
    np.testing.assert_array_equal(h["b"][0]["b"][0], 5 * 6 * 2.0)
    plain = trees.map(lambda v: og.evaluate(v, values), og.hessian(cost, p))
    np.testing.assert_array_equal(plain["a"], h["a"]["a"])
    np.testing.assert_array_equal(plain["b"][0], h["b"][0]["b"][0])


def test_products_with_trees() -> None:
    p = {"a": ot.dvector("a"), "b": (ot.dscalar("b"),)}
    ones = {"a": np.array([1.0, -1.0]), "b": (np.array(2.0),)}
    values = {p["a"]: np.array([1.0, 2.0]), p["b"][0]: np.array(3.0)}
    f = Pair(p["a"] * p["b"][0], {"s": p["a"].sum()})
    pushed = og.pushforward(f, p, ones)
    assert type(pushed) is Pair
    np.testing.assert_array_equal(og.evaluate(pushed.first, values), [1 * 3 + 2 * 1, -3 + 2 * 2])
    np.testing.assert_array_equal(og.evaluate(pushed.second["s"], values), 0)
    pulled = og.pullback(f, p, Pair(np.array([1.0, 10.0]), {"s": np.array(5.0)}))
    np.testing.assert_array_equal(og.evaluate(pulled["a"], values), [3 + 5, 30 + 5])
    np.testing.assert_array_equal(og.evaluate(pulled["b"][0], values), 1 + 20)
    product = og.hessian_vector_product(f.first.sum() ** 2, p, ones)
    by_hand = (9 * 2 * 0) + 2 * 2 * 3 * 3 * 2  # d/da of 2 b sum(ab), along ones
    np.testing.assert_array_equal(og.evaluate(product["a"], values), [by_hand] * 2)
    with pytest.raises(ValueError, match=r"cotangents.second lacks \['s'\]"):
        og.pullback(f, p, Pair(1.0, {"t": 1.0}))


def test_jacobians_of_trees() -> None:
    p = {"a": ot.dvector("a")}
    jac = og.jacobian(Pair(p["a"] ** 2, {"s": p["a"].sum()}), p)
    values = {p["a"]: np.array([1.0, 2.0])}
    np.testing.assert_array_equal(og.evaluate(jac.first["a"], values), np.diag([2.0, 4.0]))
    np.testing.assert_array_equal(og.evaluate(jac.second["s"]["a"], values), [1.0, 1.0])


def test_vectorized_functions_return_trees() -> None:
    both = ot.vectorize(
        lambda x: {"sum": x.sum(), "more": (x * 2, ot.constant(1.0))}, "(n)->(n),(),()"
    )
    made = both(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(og.evaluate(made["sum"]), [3.0, 12.0])
    np.testing.assert_array_equal(og.evaluate(made["more"][0]), 2 * np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(og.evaluate(made["more"][1]), [1.0, 1.0])
    x = ot.dscalar("x")
    batch = og.vectorize_graph({"d": x * 2, "l": [x]}, {x: np.arange(3.0)})
    np.testing.assert_array_equal(og.evaluate(batch["d"]), [0.0, 2.0, 4.0])
    np.testing.assert_array_equal(og.evaluate(batch["l"][0]), [0.0, 1.0, 2.0])
