"""Reading and writing parts of tensors: every kind of key against NumPy, with values of every shape that broadcasts."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.index.key import ARRAY
from occelo_graph.ops.index.subtensor import AdvancedSubtensor, IncSubtensor, Subtensor
from occelo_testing.keys import Indexing, indexings

settings.register_profile(
    "ci", max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.mark.measured(0)
@given(indexings())
def test_keys_mean_what_they_mean_in_numpy(indexing: Indexing) -> None:
    outputs = indexing.outputs()
    given = dict(zip(indexing.inputs, indexing.values, strict=True))
    found = og.evaluate(outputs, given)
    for number, (variable, value, wanted) in enumerate(
        zip(outputs, found, indexing.expected(), strict=True)
    ):
        assert variable.type.is_valid_value(value), (number, indexing.plain)
        np.testing.assert_array_equal(value, wanted, err_msg=f"{number} of {indexing.plain}")


@given(indexings(dtypes=("float64",)))
def test_lengths_of_parts_can_be_told_without_the_parts(indexing: Indexing) -> None:
    part = indexing.x[indexing.key]
    node = part.owner
    lengths = list(part.shape)
    if isinstance(node.op, Subtensor | AdvancedSubtensor):
        lengths = list(node.op.infer_shape(node, [tuple(v.shape) for v in node.inputs])[0])
    given = dict(zip(indexing.inputs, indexing.values, strict=True))
    found = [int(og.evaluate(ot.as_tensor_variable(n), given)) for n in lengths]
    assert tuple(found) == np.shape(indexing.of_x[indexing.plain])


X, v, w = ot.dmatrix("X"), ot.dvector("v"), ot.dvector("w")
I, J = ot.lvector("I"), ot.lvector("J")  # noqa: E741
B = ot.tensor(dtype="bool", shape=(), name="B")
M = ot.tensor(dtype="bool", shape=(None,), name="M")
A = np.arange(6.0).reshape(2, 3)


def test_what_an_index_makes_can_be_written_whole() -> None:
    i = ot.lvector("i")
    for part, wanted in (
        (v[:].set(1.0), [1.0, 1.0]),
        (v[...].inc(w), [4.0, 6.0]),
        (v[None].set(w), [3.0, 4.0]),
        (v[:, None].set(w[:, None]), [3.0, 4.0]),
        (v[None, 1:, None].set(7.0), [1.0, 7.0]),
        (v[None, [0, 0], None].inc(1.0), [3.0, 2.0]),
        (ot.set_subtensor(v[1:, None], np.array([[5.0]])), [1.0, 5.0]),
        # what is indexed is what was made before, new dimensions included
        (v[None][0:1].set(w), [[3.0, 4.0]]),
        (v[None][None].set(0.0), [[0.0, 0.0]]),
        (v[1:][:].set(9.0), [9.0]),
        (v[1:][None].set(9.0), [9.0]),
    ):
        given = {v: np.array([1.0, 2.0]), w: np.array([3.0, 4.0])}
        found = og.evaluate(part, given)
        assert found.shape == np.shape(wanted)
        np.testing.assert_array_equal(found, wanted)
    for part in (i[:].set(1.0), i[None].set(1.0), i[:].set([1.0, 1.0])):
        np.testing.assert_array_equal(og.evaluate(part, {i: np.zeros(2, "int64")}), [1, 1])
    for value in (0.5, np.inf, np.nan, [0.5, 1.0], 1j):
        with pytest.raises(TypeError, match="without losing precision"):
            i[:].set(value)
    with pytest.raises(TypeError, match="not the result of an index"):
        v.set(1.0)
    s = ot.dscalar("s")
    for part in (s[()].set(2.0), s[...].set(2.0), s[None].set(2.0), s[None, None].inc(1.0)):
        assert og.evaluate(part, {s: np.array(1.0)}) == 2.0


KEYS_WITH_A_TRUTH_VALUE: dict[str, Callable[[Any], Any]] = {
    "alone": lambda b: b,
    "after a slice": lambda b: (slice(None), b),
    "beside an array": lambda b: (b, np.array([1])),
    "beside a position": lambda b: (0, b),
    "apart from a position": lambda b: (b, None, 0),
    "between": lambda b: (slice(1, None), b, np.array([[-1]])),
    "at the end": lambda b: (..., b),
    "twice": lambda b: (b, b),
}


@pytest.mark.parametrize("name", KEYS_WITH_A_TRUTH_VALUE)
@pytest.mark.parametrize("value", [False, True])
def test_a_truth_value_adds_a_dimension(name: str, value: bool) -> None:
    key, mask = KEYS_WITH_A_TRUTH_VALUE[name], np.array(value)
    wanted = A[key(mask)]
    replaced, added = A.copy(), A.copy()
    replaced[key(mask)] = 9.0
    added[key(mask)] += 9.0
    for single in (mask, B) if name not in ("beside an array", "between") or value else (mask,):
        part = X[key(single)]
        outputs = [part, part.set(9.0), part.inc(9.0), og.grad(part.sum(), X)]
        found = og.evaluate(outputs, {X: A, B: mask})
        for got, of_numpy in zip(found, [wanted, replaced, added, (added - A) / 9], strict=True):
            assert got.shape == of_numpy.shape
            np.testing.assert_array_equal(got, of_numpy)
    assert X[key(mask)].type.shape.count(int(value)) >= 1


def test_ops_take_masks_with_dimensions_only() -> None:
    with pytest.raises(TypeError, match="dimension"):
        AdvancedSubtensor((ARRAY, slice(None), slice(None)))(X, B)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: v[0:3].set(w), ValueError, r"of shape \(2,\) to a part of shape \(3,\)"),
        (lambda: v[I].inc(w), ValueError, r"of shape \(2,\) to a part of shape \(3,\)"),
        (lambda: v[M].set(w), ValueError, r"of shape \(2,\) to a part of shape \(3,\)"),
        (lambda: X[:2, I].inc(w), ValueError, r"of shape \(2,\) to a part of shape \(..., 3\)"),
        (lambda: X[I, J], IndexError, r"the shape \(2,\), which does not broadcast to \(3,\)"),
        (lambda: X[I, J].set(0.0), IndexError, r"do not fit each other"),
        (lambda: X[J, M[:3]], IndexError, r"do not fit each other"),
        (lambda: IncSubtensor((slice(0, 3),), True)(v, w[:1]), ValueError, "known to be 1"),
    ],
)
def test_lengths_that_do_not_broadcast_are_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    given = {v: np.ones(3), w: np.ones(2), X: np.ones((3, 3)), I: np.array([0, 1, 2])}
    given |= {J: np.array([2, 0]), M: np.array([True, True, True])}
    with pytest.raises(error, match=message):
        og.evaluate(make(), given)


def test_increments_of_a_value_that_is_spread_are_all_added() -> None:
    rows = ot.lmatrix("rows")
    at = np.array([[0, 0, 0], [1, 1, 1]])
    for value in (np.ones(3), np.ones((1, 3)), np.ones((2, 1)), np.array(1.0), np.ones(3, "int8")):
        found = og.evaluate(v[rows].inc(value), {v: np.ones(3), rows: at})
        np.testing.assert_array_equal(found, [4.0, 4.0, 1.0])


KNOWN_MASKS = {
    "one place": ([True, False, False], np.array([[2, 0], [1, -1]])),
    "as many places": ([True, False, True], np.array([1, 3])),
    "no places": ([False, False, False], np.zeros(0, "int64")),
    "one place and none": ([False, True, False], np.zeros(0, "int64")),
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("name", KNOWN_MASKS)
def test_the_count_of_a_known_mask_broadcasts(name: str, known: bool) -> None:
    """Before and behind an index array, with a slice between, over two dimensions, read, written and differentiated."""
    mask, other = np.array(KNOWN_MASKS[name][0]), KNOWN_MASKS[name][1]
    a = np.arange(24.0).reshape(3, 4, 2)
    wide = np.zeros((3, 4), bool)
    wide[:, 0] = mask
    x = ot.tensor("x", dtype="float64", shape=a.shape if known else (None,) * 3)
    keys: list[Any] = [
        (mask, other),
        (mask, other, 0),
        (mask, slice(1, None, 2), other % 2),
        (wide, other % 2),
        (mask, ot.constant(other), None),
    ]
    for key in keys:
        plain = tuple(np.asarray(k.data) if isinstance(k, ot.TensorConstant) else k for k in key)
        expected = a[plain]
        part = x[key]
        assert all(m in (None, n) for m, n in zip(part.type.shape, expected.shape, strict=True))
        np.testing.assert_array_equal(og.evaluate(part, {x: a}), expected)
        added, replaced = a.copy(), a.copy()
        np.add.at(added, plain, 1.5)
        replaced[plain] = 1.5
        np.testing.assert_array_equal(og.evaluate(part.inc(1.5), {x: a}), added)
        np.testing.assert_array_equal(og.evaluate(part.set(1.5), {x: a}), replaced)
        found = og.evaluate(og.grad((part * 1.5).sum(), x), {x: a})
        np.testing.assert_array_equal(found, added - a)


def test_a_known_mask_that_does_not_fit_is_an_index_error() -> None:
    mask, other = np.array([False, True]), np.array([0, 1])
    with pytest.raises(IndexError, match="mask of shape"):
        ot.tensor("x", dtype="float64", shape=(3, 2))[mask, other]
    x = ot.dmatrix("x")
    for part in (x[mask, other], x[mask, other].set(1.0)):
        with pytest.raises(IndexError, match="mask of shape"):
            og.evaluate(part, {x: np.ones((3, 2))})
    small = ot.tensor("small", dtype="float64", shape=(2, 2))
    rebuilt = og.clone_replace(small[mask, other], {small: x}, rebuild_strict=False)
    with pytest.raises(IndexError, match="mask of shape"):
        og.evaluate(rebuilt, {x: np.ones((3, 2))})


@pytest.mark.parametrize("static", [(None, None), (2, 3), (2, None)])
def test_an_element_of_a_shape_can_be_written(static: Any) -> None:
    x = ot.tensor("x", dtype="float64", shape=static)
    a = np.ones((2, 3))
    lengths = x.shape
    for i, expected in ((0, [9, 3]), (1, [2, 9]), (-1, [2, 9])):
        np.testing.assert_array_equal(og.evaluate(lengths[i].set(9), {x: a}), expected)
    np.testing.assert_array_equal(og.evaluate(lengths[1].inc(2), {x: a}), [2, 5])
    np.testing.assert_array_equal(og.evaluate(lengths[1:].inc(2), {x: a}), [2, 5])


ROWS, COLUMNS = np.array([2, 0, -1, 0]), np.array([1, 1, 1, -3])


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("key", "shape"),
    [
        (lambda i, j: i, (4, 4)),
        (lambda i, j: i, (4,)),
        (lambda i, j: i, ()),
        (lambda i, j: (slice(None), i), (3, 4)),
        (lambda i, j: (i, slice(None, None, -2)), (4, 2)),
        (lambda i, j: (i, j), (4,)),
        (lambda i, j: (i[:, None], j[None]), (4, 4)),
        (lambda i, j: (1, j), (4,)),
        (lambda i, j: i[:2], (2, 4)),
        (lambda i, j: i[:0], (0, 4)),
    ],
)
def test_the_gradient_by_values_counts_those_that_stay(
    key: Callable[..., Any], shape: tuple[int, ...], known: bool
) -> None:
    rng = np.random.default_rng(0)
    a, weights = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    x, y = ot.dmatrix("x"), ot.tensor("y", dtype="float64", shape=(None,) * len(shape))
    i, j = ot.lvector("i"), ot.lvector("j")
    written = x[key(ROWS, COLUMNS) if known else key(i, j)].set(y)
    given = {x: a, y: rng.normal(size=shape)} | ({} if known else {i: ROWS, j: COLUMNS})
    used = [v for v in given if v is x or v is y or not known]
    gradient = og.grad((written * weights).sum(), y)
    wanted = np.zeros(shape)
    for place in np.ndindex(shape):
        one, changed = np.zeros(shape), np.zeros((3, 4))
        one[place] = 1.0
        changed[key(ROWS, COLUMNS)] = one
        wanted[place] = (changed * weights).sum()
    reached = set(og.ancestors([gradient]))
    found = og.evaluate(gradient, {v: given[v] for v in used if v in reached})
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)
