"""Ranges of integers of which some are uint64, known at run time only, against Python's exact ranges on all backends."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot

TOP = 2**63
UNSIGNED = [
    (TOP, TOP + 3, 1),
    (TOP - 2, TOP + 2, 1),
    (0, 2**64 - 1, 2**62),
    (0, 2**64 - 1, 2**64 - 1),
    (2**64 - 1, 2**64 - 1, 1),
    (TOP + 3, TOP, 1),
    (3, 7, TOP + 1),
    (2**64 - 1025, 2**64 - 1, 512),
]
"""Starts, stops and steps that are all uint64."""
MIXED: list[tuple[str, str, str, tuple[int, int, int]]] = [
    ("uint64", "int64", "int64", (TOP + 5, -4, -(2**62))),
    ("uint64", "uint64", "int64", (2**64 - 1, 2**64 - 4, -1)),
    ("uint64", "int64", "int64", (3, -1, -1)),
    ("uint64", "int64", "int64", (2**64 - 1, -TOP, -(2**62) - 1)),
    ("uint64", "int64", "int64", (2**64 - 1, -TOP, -TOP)),
    ("int64", "uint64", "int64", (-3, TOP + 5, 2**62)),
    ("int64", "uint64", "int64", (-TOP, 2**64 - 1, 2**62)),
    ("int64", "uint64", "uint64", (-TOP, 2**64 - 1, TOP + 3)),
    ("int64", "uint64", "int64", (-2, 3, 1)),
    ("int8", "int8", "uint64", (-7, 8, 5)),
    ("bool", "uint64", "int8", (1, 4, 2)),
]
CASES = [("uint64", "uint64", "uint64", ends) for ends in UNSIGNED] + MIXED


@pytest.mark.parametrize("dtype", [None, "uint64"])
@pytest.mark.parametrize("mode", ["native", "c", "numba", "py", "vm"])
def test_ranges_of_unsigned_integers(mode: str, dtype: str | None) -> None:
    every = list(dict.fromkeys((one, two, three) for one, two, three, _ in CASES))
    # numba compiles slowly
    for kinds in [("int64", "uint64", "int64")] if mode == "numba" else every:
        inputs = [ot.scalar(dtype=kind) for kind in kinds]
        made = ot.arange(*inputs, dtype=dtype)
        f = oc.function(inputs, [made, made.shape[0]], mode=mode)
        for one, two, three, ends in CASES:
            if (one, two, three) != kinds:
                continue
            numbers = range(*ends)
            expected = [n % 2**64 for n in numbers] if dtype == "uint64" else [*map(float, numbers)]
            found, length = f(*(np.array(n, k) for n, k in zip(ends, kinds, strict=True)))
            np.testing.assert_array_equal(found, np.array(expected, made.dtype), str(ends))
            assert length == len(numbers)


@pytest.mark.filterwarnings("ignore:Shapes in the graph depend on values")
@pytest.mark.parametrize("case", [CASES[0], CASES[2], CASES[8], CASES[13]], ids=str)
def test_ranges_of_unsigned_integers_on_jax(case: Any) -> None:
    pytest.importorskip("jax", reason="jax is not installed")
    kinds, ends = case[:3], case[3]
    inputs = [ot.scalar(dtype=kind) for kind in kinds]
    f = oc.function(inputs, ot.arange(*inputs), mode="jax")
    found = f(*(np.array(n, k) for n, k in zip(ends, kinds, strict=True)))
    np.testing.assert_array_equal(found, [*map(float, range(*ends))])


@pytest.mark.parametrize("mode", ["native", "py"])
def test_unsigned_ranges_that_are_refused(mode: str) -> None:
    inputs = ot.scalars("start", "stop", "step", dtype="uint64")
    f = oc.function(inputs, ot.arange(*inputs), mode=mode)
    with pytest.raises(ZeroDivisionError):
        f(np.uint64(1), np.uint64(TOP), np.uint64(0))
    with pytest.raises(ValueError, match="Maximum allowed size"):
        f(np.uint64(0), np.uint64(2**64 - 1), np.uint64(1))


@pytest.mark.parametrize("step", [1, -1, 3, -(2**62)])
@pytest.mark.parametrize("dtypes", [("uint64", "int64"), ("int64", "uint64"), ("uint64", "uint64")])
def test_unsigned_ranges_of_constant_steps(dtypes: tuple[str, str], step: int) -> None:
    start, stop = (ot.scalar(dtype=d) for d in dtypes)
    values = {"int64": (-4, 0, 3, TOP - 1), "uint64": (0, 5, TOP + 2, 2**64 - 1)}
    made = ot.arange(start, stop, step)
    f = oc.function([start, stop], made, mode="py")
    for first, last in itertools.product(*(values[d] for d in dtypes)):
        numbers = range(first, last, step)
        if last - first and abs(last - first) // abs(step) < 1000:
            found = f(np.array(first, dtypes[0]), np.array(last, dtypes[1]))
            np.testing.assert_array_equal(found, [*map(float, numbers)], str(numbers))


def test_ranges_of_unsigned_integers_in_a_batch() -> None:
    start, stop = ot.lscalar(), ot.scalar(dtype="uint64")
    starts, stops = ot.lvector(), ot.vector(dtype="uint64")
    made = ot.vectorize_graph(ot.arange(start, stop, 2), {start: starts, stop: stops})
    found = oc.function([starts, stops], made)([-2, 2], np.array([3, 7], "uint64"))
    np.testing.assert_array_equal(found, [[-2.0, 0.0, 2.0], [2.0, 4.0, 6.0]])


def test_unsigned_ranges_keep_static_lengths() -> None:
    start = ot.constant(np.uint64(TOP))
    assert ot.arange(start, start + np.uint64(5), 2).type.shape == (3,)


@pytest.mark.parametrize("mode", ["native", "py"])
@pytest.mark.parametrize("stop", [0.5, 3.0, 3.5, -1.0])
def test_integers_between_floats(mode: str, stop: float) -> None:
    end = ot.dscalar()
    made = ot.arange(0, end, dtype="int64")
    values, length = oc.function([end], [made, made.shape[0]], mode=mode)(stop)
    np.testing.assert_array_equal(values, np.arange(0, stop, dtype="int64"))
    assert length == len(values)
