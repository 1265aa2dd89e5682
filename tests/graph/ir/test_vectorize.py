"""Vectorized graphs equal loops over their batches, even if an output depends only on shapes or checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control.branches import ifelse
from occelo_graph.ops.control.checks import Assert

X = np.arange(6.0).reshape(2, 3) - 1.5
W = np.array([0.5, -2.0, 4.0])


def looped(output: Any, over: dict[Any, Any], fixed: dict[Any, Any]) -> Any:
    """A graph run once for each element of a batch, one call at a time."""
    (count,) = {len(values) for values in over.values()}
    rows = [
        og.evaluate(output, {**fixed, **{v: values[k] for v, values in over.items()}})
        for k in range(count)
    ]
    return np.stack([np.asarray(row) for row in rows])


def vectors() -> tuple[Any, Any]:
    return ot.dvector("x"), ot.dvector("w")


@pytest.mark.parametrize(
    "build",
    [
        lambda x, w: x.shape[0],
        lambda x, w: x.shape,
        lambda x, w: ot.zeros(x.shape),
        lambda x, w: ot.zeros((x.shape[0], 2)),
        lambda x, w: ot.zeros_like(x) + 1.0,
        lambda x, w: ot.ones_like(x).sum(),
        lambda x, w: ot.arange(x.shape[0]),
        lambda x, w: ot.eye(x.shape[0]),
        lambda x, w: w * x.shape[0],
        lambda x, w: w.reshape((x.shape[0], 1)),
        lambda x, w: w[: x.shape[0] - 1],
        lambda x, w: ot.specify_shape(w, (x.shape[0],)),
        lambda x, w: ot.alloc(w[0], x.shape[0]),
        lambda x, w: Assert("no")(w, ot.gt(x.sum(), -100.0)),
        lambda x, w: Assert("no")(w, ot.gt(x, -100.0).all(), ot.gt(w.sum(), 0.0)),
        lambda x, w: Assert("no")(x, ot.gt(w.sum(), 0.0)),
        lambda x, w: Assert("no")(x.sum(), ot.gt(w.sum(), 0.0)),
        lambda x, w: ifelse(ot.gt(x.sum(), 0.0), w, -w),
        lambda x, w: ifelse(ot.gt(w.sum(), 0.0), x, w),
        lambda x, w: ifelse(ot.gt(w.sum(), 0.0), w, x),
        lambda x, w: ifelse(ot.gt(w.sum(), 0.0), w, x.shape[0] * w),
        lambda x, w: ifelse(ot.gt(w.sum(), 0.0), x, 2.0 * x),
        lambda x, w: OpFromGraph([x], [ot.zeros(x.shape), x.sum()])(x)[0],
        lambda x, w: og.grad((ot.zeros_like(x) + x).sum(), x),
        lambda x, w: x * x.shape[0] + w,
        lambda x, w: og.disconnected_grad(ot.ones(x.shape)),
    ],
)
def test_what_depends_on_a_batch_has_its_dimensions(build: Any) -> None:
    x, w = vectors()
    output = build(x, w)
    many = ot.dmatrix("X")
    found = og.vectorize_graph(output, {x: many})
    assert found.type.ndim == output.type.ndim + 1
    np.testing.assert_allclose(
        og.evaluate(found, {many: X, w: W}), looped(output, {x: X}, {w: W}), rtol=1e-13
    )


def test_a_check_that_fails_anywhere_in_a_batch_fails() -> None:
    x, w = vectors()
    checked = Assert("too small")(w, ot.gt(x.sum(), 0.0))
    many = ot.dmatrix("X")
    found = og.vectorize_graph(checked, {x: many})
    with pytest.raises(AssertionError, match="too small"):
        og.evaluate(found, {many: X, w: W})
    assert og.evaluate(found, {many: X + 10, w: W}).shape == (2, 3)


def test_lists_of_replacements_and_of_outputs() -> None:
    x, w = vectors()
    a, b = ot.dmatrix("A"), ot.tensor("B", dtype="float64", shape=(4, 1, None))
    outputs = [x.sum(), w.shape[0] * 1.0, x.shape[0] * w, x + w, ot.constant(3.0), ot.exp(w) * 0]
    both = og.vectorize_graph(outputs, [(x, a), (w, b)])
    B = np.linspace(0, 1, 12).reshape(4, 1, 3)
    shapes = [v.shape for v in og.evaluate(both, {a: X, b: B})]
    assert shapes == [(2,), (4, 1), (4, 2, 3), (4, 2, 3), (), (4, 1, 3)]
    assert og.vectorize_graph(outputs[4], {x: a}) is outputs[4]
    one = og.vectorize_graph(outputs, {x: a})
    assert [v.type.ndim for v in one] == [1, 0, 2, 2, 0, 1]
    assert one[1] is outputs[1]
    assert isinstance(og.vectorize_graph((x, w), {x: a}), tuple)
    assert og.vectorize_graph([], {x: a}) == []


def test_a_batch_of_one_stays_of_one_whatever_branch_is_taken() -> None:
    condition, x = ot.bscalar("c"), ot.dscalar("x")
    y = ot.dscalar("y")
    chosen = ifelse(condition, x, y)
    one = ot.tensor("one", dtype="float64", shape=(1,))
    many = ot.dvector("many")
    found = og.vectorize_graph(chosen, {x: one, y: many})
    for c, expected in ((1, [2.0] * 3), (0, [4.0, 5.0, 6.0])):
        given = {condition: np.int8(c), one: [2.0], many: [4.0, 5.0, 6.0]}
        np.testing.assert_array_equal(og.evaluate(found, given), expected)


def test_replacements_must_fit_what_ops_were_built_for() -> None:
    x = ot.tensor("x", dtype="float64", shape=(3,))
    whole = ot.zeros(x.shape) + ot.exp(x)
    with pytest.raises(ValueError, match="a length of 3 would become 4"):
        og.vectorize_graph(whole, {x: ot.tensor(dtype="float64", shape=(2, 4))})
    many = ot.dmatrix("X")
    found = og.vectorize_graph(whole, {x: many})
    assert og.evaluate(found, {many: X}).shape == (2, 3)
    with pytest.raises(ValueError, match="specified"):
        og.evaluate(found, {many: np.ones((2, 4))})
    f = ot.fvector("f")
    with pytest.raises(TypeError, match="cast it explicitly"):
        og.vectorize_graph(ot.exp(f), {f: many})
    assert og.vectorize_graph(ot.exp(x), {x: ot.fmatrix()}).dtype == "float64"
    assert og.vectorize_graph(ot.exp(x), {x: np.ones((2, 3), "int8")}).dtype == "float64"


def test_every_result_of_a_vectorized_function_has_the_batch() -> None:
    f = og.vectorize(
        lambda a, b: [a.sum(), b * 2, a.shape[0], ot.constant(1.5)], "(n),()->(),(),(),()"
    )
    a, b = ot.tensor("a", dtype="float64", shape=(None, 1, 3)), ot.dvector("b")
    found = og.evaluate(f(a, b), {a: np.ones((4, 1, 3)), b: [1.0, 2.0]})
    g = np.vectorize(lambda a, b: (a.sum(), b * 2, len(a), 1.5), signature="(n),()->(),(),(),()")
    for mine, wanted in zip(found, g(np.ones((4, 1, 3)), np.array([1.0, 2.0])), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_jacobians_of_what_has_no_part_in_the_batch() -> None:
    x, w = vectors()
    found = og.jacobian(x * 0 + w.sum() * ot.ones_like(w), [x, w])
    values = og.evaluate(found, {x: [1.0, 2.0, 3.0], w: W})
    np.testing.assert_array_equal(values[0], np.zeros((3, 3)))
    np.testing.assert_array_equal(values[1], np.ones((3, 3)))


@pytest.mark.parametrize("value", ["float32", "int8"])
def test_batches_keep_the_lengths_that_are_known(value: str) -> None:
    """So that what broadcasts does so in a batch, and one that is rebuilt for other lengths uses those."""
    x = ot.tensor("x", dtype="float32", shape=(1,))
    y = ot.scalar("y", dtype=value)
    ys = ot.tensor("ys", dtype=value, shape=(2,))
    k = ot.tensor("k", dtype="int32", shape=(2, 1))
    ks = ot.tensor("ks", dtype="int32", shape=(2, 2, 1))
    several = ot.tensor("several", dtype="float32", shape=(3,))
    values = {x: np.float32([5.0]), ys: np.array([2, 3], value), y: np.array(4, value)}
    values |= {k: np.zeros((2, 1), "int32"), ks: np.zeros((2, 2, 1), "int32")}
    values[several] = np.float32([5.0, 6.0, 7.0])
    cases = [
        (x[k].inc(y), {y: ys}, [[9.0], [11.0]], [[9.0, 6.0, 7.0], [11.0, 6.0, 7.0]]),
        (x[:1].set(y), {y: ys}, [[2.0], [3.0]], [[2.0, 6.0, 7.0], [3.0, 6.0, 7.0]]),
        (x[k].inc(y), {k: ks}, [[13.0], [13.0]], [[13.0, 6.0, 7.0], [13.0, 6.0, 7.0]]),
    ]
    for written, batches, one, more in cases:
        batch = og.vectorize_graph(written, batches)
        assert batch.type.shape == (2, 1)
        np.testing.assert_array_equal(og.evaluate(batch, values), one)
        wide = og.vectorize_graph(ot.broadcast_to(written, (3,)), batches)
        np.testing.assert_array_equal(og.evaluate(wide, values), np.repeat(one, 3, axis=1))
        with pytest.warns(UserWarning, match="has a length of 1 that its replacement several"):
            rebuilt = og.clone_replace(batch, {x: several}, rebuild_strict=False)
        np.testing.assert_array_equal(og.evaluate(rebuilt, values), more)


@pytest.mark.parametrize("shape", [(-1,), (2, -1), (-1, 3), (3, -1, 1)])
@pytest.mark.parametrize("batch", [0, 1, 4])
def test_a_batch_of_no_elements_has_the_inferred_length_too(
    shape: tuple[int, ...], batch: int
) -> None:
    x, xs = ot.dvector("x"), ot.dmatrix("xs")
    made = og.vectorize_graph(ot.reshape(x, shape), {x: xs})
    values = np.arange(batch * 6.0).reshape(batch, 6)
    wanted = np.zeros((batch, *np.zeros(6).reshape(shape).shape))
    for i, row in enumerate(values):
        wanted[i] = row.reshape(shape)
    np.testing.assert_array_equal(og.evaluate(made, {xs: values}), wanted, strict=True)


@pytest.mark.parametrize("batch", [0, 1, 3])
@pytest.mark.parametrize("length", [-1, 5])
def test_a_length_that_turns_out_to_be_inferred_in_a_batch(batch: int, length: int) -> None:
    x, xs, n = ot.dtensor3("x"), ot.dtensor4("xs"), ot.lscalar("n")
    made = og.vectorize_graph(x.reshape((n, 2, 1)), {x: xs})
    values = np.arange(batch * 10.0).reshape(batch, 5, 2, 1)
    np.testing.assert_array_equal(og.evaluate(made, {xs: values, n: length}), values)
    if batch:
        for shape, wrong in (((batch, 5, 1, 1), -1), ((batch, 5, 2, 1), 4)):
            with pytest.raises(ValueError, match="cannot reshape"):
                og.evaluate(made, {xs: np.zeros(shape), n: wrong})
