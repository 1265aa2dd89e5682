"""Walks, copies with replacements, comparison, vectorization."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot


def test_walks() -> None:
    x, y = ot.dscalars("x", "y")
    a = ot.exp(x)
    b = a + y
    c = b * a
    assert set(og.ancestors([c])) >= {x, y, a, b, c}
    assert a.owner in og.apply_ancestors([c])
    assert set(og.graph_inputs([c])) == {x, y}
    assert set(og.ancestors([c], blockers=[b, a])) == {c, b, a}
    assert list(og.explicit_graph_inputs([c * og.shared(1.0) + 2])) == [x, y]
    assert set(og.vars_between([a], [c])) == {a, y, b, c}
    assert list(og.orphans_between([a], [c])) == [y]
    assert {n.op for n in og.applys_between([a], [c])} == {ot.add, ot.mul}
    assert og.variable_depends_on(c, x)
    assert not og.variable_depends_on(a, y)
    assert og.apply_depends_on(c.owner, a.owner)
    assert not og.apply_depends_on(a.owner, c.owner)
    assert set(og.truncated_graph_inputs([c], [a])) == {a, y}
    assert set(og.truncated_graph_inputs([c], [y])) == {a, y}
    assert og.get_var_by_name([c], "x") == (x,)
    assert og.get_var_by_name([c], b.auto_name) == (b,)
    assert list(og.walk([1], lambda n: [n * 2] if n < 8 else None, hash_fn=lambda n: n)) == [
        1,
        2,
        4,
        8,
    ]


def test_orders() -> None:
    x = ot.dscalar("x")
    a, b = ot.exp(x), ot.sin(x)
    c = a + b
    assert [n.op for n in og.toposort([c])] == [ot.exp, ot.sin, ot.add]
    forced = og.toposort_with_orderings([c], orderings={a.owner: [b.owner]})
    assert [n.op for n in forced] == [ot.sin, ot.exp, ot.add]
    assert og.io_toposort([a], [c]) == [b.owner, c.owner]
    assert og.general_toposort([3], lambda n: [n - 1] if n else []) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="cycle"):
        og.general_toposort([0], lambda n: [1 - n])


def test_clone_replace() -> None:
    x, y = ot.dvectors("x", "y")
    z = ot.exp(x) * x
    replaced = og.clone_replace(z, {x: y + 1})
    np.testing.assert_allclose(og.evaluate(replaced, {y: [0.0]}), [np.e])
    assert og.clone_replace([z], {x: [1.0]})[0].type.shape == (None,)
    with pytest.raises(TypeError, match="Cannot convert"):
        og.clone_replace(z, {x: ot.fvector()})
    assert og.clone_replace(z, {x: ot.fvector()}, rebuild_strict=False).dtype == "float32"
    with pytest.raises(TypeError, match="Only variables"):
        og.clone_replace(z, {"x": y})
    swapped = og.clone_replace(x - y, [(x, y), (y, x)])
    assert og.evaluate(swapped, {x: [1.0], y: [5.0]})[0] == 4.0
    fresh = og.clone_replace(z, copy_inputs_over=False)
    assert x not in set(og.ancestors([fresh]))
    inputs, outputs = og.clone([x], [z])
    assert og.equal_computations([z], outputs, [x], inputs)


def test_graph_replace_works_inside_other_replacements() -> None:
    x, y = ot.dscalars("x", "y")
    a = ot.exp(x)
    b = a * 2
    replaced = og.graph_replace(b + x, {x: y, a: x + 1})
    assert og.evaluate(replaced, {y: 3.0}) == 2 * (3.0 + 1) + 3.0
    with pytest.raises(ValueError, match="not used"):
        og.graph_replace(b, {ot.dscalar("other"): y})
    assert og.graph_replace(b, {ot.dscalar("other"): y}, strict=False) is not None
    assert og.evaluate(og.graph_replace([b], {x: y})[0], {y: 0.0}) == 2.0


def test_equal_computations() -> None:
    x, y = ot.dscalars("x", "y")
    assert og.equal_computations([ot.exp(x) + 1], [ot.exp(y) + 1], [x], [y])
    assert not og.equal_computations([ot.exp(x) + 1], [ot.exp(y) + 2], [x], [y])
    assert not og.equal_computations([ot.exp(x)], [ot.exp(y)])
    assert not og.equal_computations([x - y], [y - x])
    assert og.equal_computations([ot.constant(1.0)], [1.0])
    assert not og.equal_computations([ot.constant(1.0)], [ot.constant(np.float32(1))])
    one, single = ot.constant(1.0), ot.constant(np.float32(1))
    assert og.equal_computations([one], [single], strict_dtype=False)
    assert not og.equal_computations([one], [ot.constant(np.float32(2))], strict_dtype=False)
    assert not og.equal_computations([one], [ot.constant([1.0])], strict_dtype=False)
    with pytest.raises(ValueError, match="differ in length"):
        og.equal_computations([x], [])


def test_vectorize_graph_broadcasts_batches() -> None:
    x, y = ot.dvector("x"), ot.dscalar("y")
    z = (x * y).sum() + ot.exp(y)
    many_x, many_y = ot.dmatrix("X"), ot.dvector("Y")
    both = og.vectorize_graph(z, {x: many_x, y: many_y})
    X, Y = np.arange(6.0).reshape(2, 3), np.array([0.5, -1.0])
    expected = [(X[i] * Y[i]).sum() + np.exp(Y[i]) for i in range(2)]
    np.testing.assert_allclose(og.evaluate(both, {many_x: X, many_y: Y}), expected)
    grid = og.vectorize_graph(z, {x: ot.tensor("T", dtype="float64", shape=(4, 1, 3)), y: many_y})
    assert grid.type.shape == (4, None)
    with pytest.raises(TypeError, match="fewer than"):
        og.vectorize_graph(z, {x: y})
    n = ot.lscalar("n")
    many_n = ot.lvector()
    zeros = og.vectorize_graph(ot.zeros((n,)), {n: many_n})
    np.testing.assert_array_equal(og.evaluate(zeros, {many_n: np.array([3, 3])}), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="other lengths"):
        og.evaluate(zeros, {many_n: np.array([3, 2])})


def test_vectorize_a_function() -> None:
    inner = og.vectorize(lambda a, b: (a * b).sum(), "(n),(n)->()")
    X, Y = ot.dmatrix(), ot.dvector()
    found = og.evaluate(inner(X, Y), {X: np.ones((4, 3)), Y: np.arange(3.0)})
    np.testing.assert_array_equal(found, [3.0] * 4)
    scalars = og.vectorize(lambda a: a**2)
    np.testing.assert_array_equal(og.evaluate(scalars(Y), {Y: [1.0, 2.0]}), [1.0, 4.0])
    with pytest.raises(ValueError, match="Not a signature"):
        og.vectorize(lambda a: a, "n")
    with pytest.raises(ValueError, match="fewer than the 2"):
        og.vectorize(lambda a: a, "(n,m)->(n)")(Y)
    with pytest.raises(ValueError, match="outputs of"):
        og.vectorize(lambda a: a, "(n)->()")(Y)


def counted(calls: list[int]) -> og.Op:
    class Count(og.Op):
        pure = False

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            calls.append(1)
            return x + 0

    return Count()


def test_the_interpreter_is_lazy_and_needs_every_root() -> None:
    x, c = ot.dscalar("x"), ot.dscalar("c")
    calls: list[int] = []
    out = ot.ifelse(c > 0, x, counted(calls)(x))
    assert og.evaluate(out, {x: 3.0, c: 1.0}) == 3.0
    assert calls == []
    og.evaluate(out, {x: 3.0, c: -1.0})
    assert calls == [1]
    with pytest.raises(og.MissingInputError, match="There is no value for x"):
        og.evaluate(x * 2)
    assert og.evaluate([x * 2, x], {x: 1.0}) == [2.0, 1.0]
    assert og.evaluate(ot.exp(x) * 2, {ot.exp(x): 1.0, x: 0.0}) == 2.0
    assert (x * og.shared(4.0)).eval({"x": 2.0}) == 8.0
    with pytest.raises(ValueError, match="No variable named 'q'"):
        x.eval({"q": 1.0})
    with pytest.raises(ValueError, match="Several variables"):
        (x + ot.dscalar("x")).eval({"x": 1.0})


A = np.array([1.0, np.nan, -0.0])


@pytest.mark.parametrize(
    ("xs", "ys", "equal"),
    [
        ([A], [A.copy()], True),
        ([A], [A + 1], False),
        ([A], [A.astype("float32")], False),
        ([A], [A[None]], False),
        ([A[:0]], [A[:0]], True),
        ([A], [3], False),
        ([[A, 1]], [[A.copy(), 1]], True),
        ([[A, 1]], [[A.copy()]], False),
        ([np.int64(3)], [3], True),
        ([3], [3], True),
        ([3], [4], False),
        ([ot.constant(A)], [A], True),
        ([A], [ot.constant(A)], True),
        ([ot.constant(A)], [A + 1], False),
        ([ot.constant(A)], [A.astype("float32")], False),
        ([ot.dvector()], [A], False),
        ([A, A], [A, A + 1], False),
    ],
)
def test_computations_of_arrays_compare(xs: Any, ys: Any, equal: bool) -> None:
    assert og.equal_computations(xs, ys) is equal


def test_eval_refuses_values_that_are_not_needed() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    z = x * 2
    assert z.eval({x: [1.0]}).tolist() == [2.0]
    with pytest.raises(og.UnusedInputError, match="y"):
        z.eval({x: [1.0], y: [2.0]})
    with pytest.raises(ValueError, match="'q'"):
        z.eval({"x": [1.0], "q": [2.0]})
    with pytest.raises(ValueError, match="two values"):
        z.eval({"x": [1.0], x: [2.0]})
    assert z.eval({x: [1.0], y: [2.0], "q": 3}, on_unused_input="ignore").tolist() == [2.0]


def test_nominal_variables_of_tensors_are_tensors() -> None:
    nominal: Any = og.NominalVariable(0, ot.TensorType("float64", (None,)))
    assert isinstance(nominal, ot.TensorVariable)
    assert nominal is og.NominalVariable(0, ot.TensorType("float64", (None,)))
    assert pickle.loads(pickle.dumps(nominal)) is nominal
    assert nominal.clone() is nominal
    frozen = og.freeze([nominal], [(nominal + 1).sum()])
    assert frozen is not None
    plain = og.NominalVariable(0, og.DisconnectedType())
    assert type(plain) is og.NominalVariable


@pytest.mark.parametrize(
    "function",
    [ot.mean, ot.var, ot.std, ot.zeros_like, ot.ones_like],
    ids=["mean", "var", "std", "zeros_like", "ones_like"],
)
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("shape", [(7, 3), (1, 3), (None, 3)])
def test_a_graph_rebuilt_for_other_lengths_uses_those(function: Any, axis: Any, shape: Any) -> None:
    known = ot.tensor("known", dtype="float64", shape=(5, 2))
    other = ot.tensor("other", dtype="float64", shape=shape)
    made = function(known) if "like" in function.__name__ else function(known, axis=axis)
    rebuilt = og.clone_replace(made, {known: other}, rebuild_strict=False)
    array = np.linspace(-1.0, 2.0, 3 * (shape[0] or 7)).reshape(-1, 3) ** 2
    numpys = getattr(np, function.__name__)
    expected = numpys(array) if "like" in function.__name__ else numpys(array, axis=axis)
    np.testing.assert_allclose(og.evaluate(rebuilt, {other: array}), expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("build", "numpys"),
    [
        (lambda x: ot.zeros(x.shape), lambda a: np.zeros(a.shape)),
        (lambda x: ot.ones(x.shape, dtype="int8"), lambda a: np.ones(a.shape, dtype="int8")),
        (lambda x: ot.full(x.shape, 7.0), lambda a: np.full(a.shape, 7.0)),
        (lambda x: x.shape * 2, lambda a: np.array(a.shape) * 2),
        (lambda x: ot.arange(x.shape[0]), lambda a: np.arange(a.shape[0])),
        (lambda x: x.size + 1, lambda a: a.size + 1),
        (lambda x: ot.eye(x.shape[0], x.shape[1]), lambda a: np.eye(*a.shape)),
        (lambda x: x.reshape((x.shape[1], x.shape[0])), lambda a: a.reshape(a.shape[::-1])),
    ],
)
def test_what_decides_a_length_can_be_replaced(build: Any, numpys: Any) -> None:
    known = ot.tensor("known", dtype="float64", shape=(5, 2))
    for shape in ((7, 3), (1, 1), (None, 3)):
        other = ot.tensor("other", dtype="float64", shape=shape)
        made = build(known)
        rebuilt = og.clone_replace(made, {known: other}, rebuild_strict=False)
        array = np.linspace(-1.0, 2.0, (shape[0] or 4) * shape[1]).reshape(-1, shape[1])
        found, expected = og.evaluate(rebuilt, {other: array}), numpys(array)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.asarray(expected).dtype
