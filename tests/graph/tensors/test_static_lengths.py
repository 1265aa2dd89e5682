"""Static lengths are as known as the types and the constants of a graph permit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.tensors.constant import constant
from occelo_graph.tensors.type import TensorType
from occelo_testing.examples import EXAMPLES

UNIQUE = list({(e.name, *((a.shape, a.dtype) for a in e.arguments)): e for e in EXAMPLES}.values())
BY_VALUES = {
    "arange": "the bounds are floats",
    "flatnonzero": "the number of elements of a computed vector",
    "ifelse": "the branches have other lengths",
    "nonzero_values": "the number of elements that are not zero",
    "op_from_graph": "the inner graph was built for dynamic lengths",
    "tril_indices": "the number of elements of a computed matrix",
    "triu_indices": "the number of elements of a computed matrix",
    **dict.fromkeys(["bincount", "bincount_weights"], "the largest number"),
    **dict.fromkeys(
        ["unique", "unique_all", "unique_counts", "unique_positions", "unique_rows"]
        + ["unique_wide_rows", "unique_values", "intersect1d", "setdiff1d", "setxor1d", "union1d"],
        "the number of different elements",
    ),
    "pad": "the widths are elements of a matrix that was broadcast",
    "polymul": "the number of leading zeros",
    "trim_zeros": "the number of zeros at the ends",
    "sparse_dot_csc": "the number of rows is an input, as offsets count columns",
    "mask_indices": "the values of the mask that a function makes",
}
"""Examples with lengths that depend on more than types and integer constants, and on what."""


def test_results_of_static_arguments_have_static_lengths() -> None:
    """Floats are inputs of static shape; integers and truth values, which may decide lengths, are constants."""
    dynamic: set[str] = set()
    for example in UNIQUE:
        inputs = [
            constant(a) if a.dtype.kind in "biu" else TensorType(a.dtype, a.shape).make_variable()
            for a in example.arguments
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output = example.function(*inputs)
        if output.type.is_array and None in output.type.shape:
            dynamic.add(example.name)
    # without families there are fewer examples
    assert dynamic == {example.name for example in UNIQUE} & BY_VALUES.keys()


def test_slices_that_are_always_empty() -> None:
    """The length of a slice of a vector of dynamic length is static exactly if it is 0 for every vector."""
    x = ot.dvector("x")
    bounds = [None, *range(-4, 5)]
    for start, stop, step in product(bounds, bounds, [None, 1, 2, -1, -3]):
        key = slice(start, stop, step)
        never = all(len(range(n)[key]) == 0 for n in range(20))
        assert x[key].type.shape == ((0,) if never else (None,)), key


MASKS = [
    (np.array([True, False, True, True]), (slice(None), slice(None))),
    (np.zeros(4, "bool"), (slice(None), 1)),
    (np.array([[True, False, True], [False] * 3, [False] * 3, [True] * 3]), (slice(None),)),
]


@pytest.mark.parametrize("known", [False, True])
def test_masks_that_are_constants(known: bool) -> None:
    """Reads and writes by a mask alone, beside slices and integers, and by several masks."""
    a = np.arange(24.0).reshape(4, 3, 2)
    x = TensorType("float64", a.shape if known else (None, None, None)).make_variable("x")
    for mask, rest in MASKS:
        for index in (mask, constant(mask)):
            read = x[(index, *rest)]
            expected = a[(mask, *rest)]
            for n, length, dynamic in zip(
                expected.shape, read.type.shape, (False, True, True), strict=False
            ):
                assert length == (None if dynamic and not known else n)
            np.testing.assert_array_equal(og.evaluate(read, {x: a}), expected)
            written = read.inc(1.0)
            expected = a.copy()
            expected[(mask, *rest)] += 1.0
            np.testing.assert_array_equal(og.evaluate(written, {x: a}), expected)
    y = ot.dtensor3("y")
    with pytest.raises(IndexError, match="boolean index did not match"):
        og.evaluate(y[MASKS[0][0]], {y: a[:3]})


def test_positions_and_repeats_of_constants() -> None:
    x = ot.dmatrix("x")
    truth = np.array([[True, False, True], [False, True, True]])
    counts = np.array([2, 0, 3])
    assert [v.type.shape for v in ot.nonzero(constant(truth))] == [(4,), (4,)]
    assert ot.repeat(x, constant(counts), axis=1).type.shape == (None, 5)
    assert ot.repeat(x, ot.lvector("n"), axis=1).type.shape == (None, None)
    a = np.arange(6.0).reshape(2, 3)
    repeated = ot.repeat(x, constant(counts), axis=1)
    np.testing.assert_array_equal(og.evaluate(repeated, {x: a}), np.repeat(a, counts, axis=1))
    assert ot.repeat(x, constant([-1, 2, 0]), axis=1).type.shape == (None, None)


X = TensorType("float64", (3, 4)).make_variable("x")
PARTLY = TensorType("float64", (3, None)).make_variable("partly")
SIZES: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = [
    (lambda x: x.shape.astype("int32"), lambda n: n),
    (lambda x: x.shape.astype("int8").astype("uint16"), lambda n: n),
    (lambda x: 2 * x.shape + 1, lambda n: 2 * n + 1),
    (lambda x: x.shape + np.array([1, 5]), lambda n: n + [1, 5]),
    (lambda x: np.array([7]) - x.shape, lambda n: 7 - n),
    (lambda x: x.shape[::-1] // 2, lambda n: n[::-1] // 2),
    (lambda x: ot.minimum(x.shape, x.shape[0]), lambda n: np.minimum(n, n[0])),
    (lambda x: ot.switch(x.shape > 3, x.shape, 0), lambda n: np.where(n > 3, n, 0)),
    (lambda x: (x.shape * 100).astype("int8") % 7, lambda n: (n * 100).astype("int8") % 7),
    (lambda x: ot.concatenate([x.shape - 1, x.shape[:0] * 2]), lambda n: n - 1),
]
"""Sizes that elementwise ops compute from a shape, and the same from the shape (3, 4) as an array."""


@pytest.mark.parametrize(("build", "numpy"), SIZES)
def test_sizes_that_elementwise_ops_compute(
    build: Callable[[Any], Any], numpy: Callable[[Any], Any]
) -> None:
    expected = tuple(numpy(np.array([3, 4])).tolist())
    for made in (ot.zeros(build(X)), ot.alloc(1.0, *build(X))):
        assert made.type.shape == expected
    partly = ot.zeros(build(PARTLY))
    assert og.evaluate(partly, {PARTLY: np.ones((3, 4))}).shape == expected
    assert all(n in (None, m) for n, m in zip(partly.type.shape, expected, strict=True))
    assert any(n is not None for n in partly.type.shape)
