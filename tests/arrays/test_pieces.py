"""`roll`, `insert` and `delete` at positions in arrays, of any size, and of each element of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot

T = ot.dtensor3("t")
VALUE = np.arange(24.0).reshape(2, 3, 4)
AS: dict[str, Callable[..., Any]] = {
    "array": lambda *v: np.array(v),
    "int8 array": lambda *v: np.array(v, "int8"),
    "constant": lambda *v: ot.constant(np.array(v)),
}
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], list[int]]] = {
    "roll": (lambda x, i: arrays.roll(x, i, 0), lambda x, i: np.roll(x, i, 0), [0, 5, -2, 10**18]),
    "roll, flat": (arrays.roll, np.roll, [1, -7]),
    "insert": (lambda x, i: arrays.insert(x, i, 9, 0), lambda x, i: np.insert(x, i, 9, 0), [0, -1]),
    "insert several": (
        lambda x, i: arrays.insert(x, i, [[7], [8], [9]], 0),
        lambda x, i: np.insert(x, i, [[7], [8], [9]], 0),
        [0, 2],
    ),
    "delete": (lambda x, i: arrays.delete(x, i, 0), lambda x, i: np.delete(x, i, 0), [1, -1, 0]),
}


@pytest.mark.parametrize("kind", AS)
def test_shifts_may_be_arrays(kind: str) -> None:
    a = AS[kind]
    made = [
        arrays.roll(T, a(1, 2), a(0, 2)),
        arrays.roll(T, 1, a(0, 2)),
        arrays.roll(T, a(1, 2), 2),
        arrays.roll(T, a(1, 2)),
    ]
    wanted = [
        np.roll(VALUE, (1, 2), (0, 2)),
        np.roll(VALUE, 1, (0, 2)),
        np.roll(VALUE, (1, 2), 2),
        np.roll(VALUE, (1, 2)),
    ]
    for found, right in zip(og.evaluate(made, {T: VALUE}), wanted, strict=True):
        np.testing.assert_array_equal(found, right)


@pytest.mark.parametrize("length", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("static", [True, False])
def test_shifts_may_have_any_size(length: int, static: bool) -> None:
    """Compared with slices at Python's remainder. NumPy's roll is right for these shifts, too."""
    x = ot.tensor("x", dtype="int64", shape=(length if static else None,))
    sizes: list[Any] = [
        2**63 - 1,
        -(2**63),
        2**63,
        -(2**63) - 1,
        2**64 + 3,
        -(10**30),
        10**100 + 7,
        np.uint64(2**64 - 1),
    ]
    array = np.arange(length)
    found = og.evaluate([arrays.roll(x, k, axis) for k in sizes for axis in (None, 0)], {x: array})
    for k, values in zip(sizes, zip(found[::2], found[1::2], strict=True), strict=True):
        start = (length - int(k) % length) % length if length else 0
        for value in values:
            np.testing.assert_array_equal(value, [*array[start:], *array[:start]])


@pytest.mark.parametrize("length", [2, 3, 6])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_element_of_a_batch_has_its_own_position(name: str, dtype: str, length: int) -> None:
    ours, theirs, at = FUNCTIONS[name]
    x, i = ot.tensor("x", dtype=dtype, shape=(None, 2)), ot.lscalar("i")
    array = (np.arange(3 * length * 2) % 5).reshape(3, length, 2).astype(dtype)
    many, places = ot.tensor("many", dtype=dtype, shape=(None, None, 2)), ot.lvector("places")
    made = ours(x, i)
    each = np.resize(at, 3)
    given = {many: array, places: each}
    for replaced, pairs in (
        ({x: many, i: places}, list(zip(array, each, strict=True))),
        ({x: many[0], i: places}, [(array[0], n) for n in each]),
        ({x: many, i: places[0]}, [(row, each[0]) for row in array]),
    ):
        found = og.evaluate(ot.vectorize_graph(made, replaced), given)
        np.testing.assert_array_equal(found, [theirs(*pair) for pair in pairs], strict=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_in_a_batch_are_those_of_its_elements(name: str) -> None:
    ours, _, at = FUNCTIONS[name]
    x, i = ot.dmatrix("x"), ot.lscalar("i")
    many, places = ot.dtensor3("many"), ot.lvector("places")
    array, each = VALUE.reshape(2, 6, 2), np.array(at[:2])
    slope = og.grad((ours(x, i) ** 2).sum(), x)
    wanted = [og.evaluate(slope, {x: a, i: n}) for a, n in zip(array, each, strict=True)]
    batch = ot.vectorize_graph(slope, {x: many, i: places})
    whole = og.grad((ot.vectorize_graph(ours(x, i), {x: many, i: places}) ** 2).sum(), many)
    for found in og.evaluate([batch, whole], {many: array, places: each}):
        np.testing.assert_allclose(found, wanted)


def test_positions_of_an_empty_tensor() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    made = [arrays.roll(x, i), arrays.insert(x, i, 3.0)]
    rolled, inserted = og.evaluate(made, {x: [], i: 0})
    assert rolled.shape == (0,)
    assert list(inserted) == [3.0]
    for wrong in (arrays.insert(x, i, 3.0), arrays.delete(x, i)):
        with pytest.raises(IndexError, match="out of bounds"):
            og.evaluate(wrong, {x: [], i: 1})


def test_shifts_and_axes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="3 shifts for 2 axes"):
        arrays.roll(T, np.array([1, 2, 3]), np.array([0, 1]))
    with pytest.raises(TypeError, match="integer"):
        arrays.roll(T, 1, np.array([0.0]))


@pytest.mark.parametrize("at", [[2], [2, 0], [1, 1, 4], [], [-1, 3]])
def test_insertion_at_so_many_positions_as_there_are_at_run_time(at: list[int]) -> None:
    x, i = ot.dvector("x"), ot.lvector("i")
    array, given = np.arange(4.0), np.array(at, "int64")
    for values in ([1.0], [1.0, 2.0], [1.0, 2.0, 3.0]):
        made = arrays.insert(x, i, values)
        if len(values) in (1, len(at)) or len(at) == 1:
            np.testing.assert_array_equal(
                og.evaluate(made, {x: array, i: given}), np.insert(array, given, values)
            )
        else:
            with pytest.raises(ValueError, match="Cannot write"):
                og.evaluate(made, {x: array, i: given})


@pytest.mark.parametrize("at", [[True], [False], [0], []])
def test_deletion_at_constants(at: list[Any]) -> None:
    array = np.array([[0], [5], [1]], "int32")
    x = ot.tensor("x", dtype="int32", shape=(None, 1))
    wanted = np.delete(array, np.array(at, None if at else "int64"), axis=1)
    made = arrays.delete(x, ot.constant(np.array(at, None if at else "int64")), axis=1)
    assert made.type.shape == (None, wanted.shape[1])
    np.testing.assert_array_equal(og.evaluate(made, {x: array}), wanted, strict=True)
