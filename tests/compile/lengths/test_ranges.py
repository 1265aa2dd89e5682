"""Bounds of integers in programs, and the checks that they make needless."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.ir.ranges import Ranges

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "min": min,
    "max": max,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "and": lambda *given: all(given),
    "or": lambda *given: any(given),
    "select": lambda c, x, y: x if c else y,
}


def number(value: Value, given: dict[Value, int]) -> Any:
    """The value of an expression of consts, params and operations."""
    if value in given:
        return given[value]
    if value.op == "const":
        return value.args[0]
    return OPERATIONS[value.op](*(number(v, given) for v in value.args))


@pytest.mark.parametrize(
    ("start", "stop", "initial", "step"),
    [
        case
        for case in itertools.product((0, 3), (0, 4, 9), (-2, 0, 7), (-3, -1, 0, 1, 2))
        if case[0] < case[1]
    ],
)
def test_ranges_and_conditions_are_those_of_all_iterations(
    start: int, stop: int, initial: int, step: int
) -> None:
    b = Builder()
    with b.loop(b.i64(stop), start=b.i64(start), fixed=True) as outer:
        carried = outer.carry(b.i64(initial))
        i, c, ten = outer.index, carried.param, b.i64(10)
        wrapped = b.select(b.lt(c, b.i64(0)), b.add(c, ten), c)
        inside = b.op("and", b.op("le", b.i64(0), wrapped), b.lt(wrapped, ten))
        others = [
            b.sub(i, c),
            b.op("min", b.add(i, c), b.i64(5)),
            b.op("max", c, i),
            b.select(b.lt(i, b.i64(5)), i, b.i64(5)),
        ]
        conditions = [
            inside,
            b.lt(c, i),
            b.op("le", i, b.i64(stop - 1)),
            b.lt(i, b.i64(start)),
            b.op("le", i, b.i64(start - 1)),
            b.op("or", b.lt(i, b.i64(stop)), b.lt(c, i)),
        ]
        carried.following = b.add(c, b.i64(step)) if step >= 0 else b.sub(c, b.i64(-step))
    ranges = Ranges(b.program)
    runs = [{i: k, c: initial + step * (k - start)} for k in range(start, stop)]
    for value in (i, c, wrapped, *others):
        found = ranges.of(value)
        assert found is not None
        occurring = [number(value, run) for run in runs]
        assert found[0] <= min(occurring) <= max(occurring) <= found[1]
    for exact in (i, c):
        occurring = [number(exact, run) for run in runs]
        assert ranges.of(exact) == (min(occurring), max(occurring))
    end = ranges.of(carried.result)
    assert end is not None
    assert end[0] <= initial + step * (stop - start) <= end[1]
    for condition in conditions:
        occurring = {number(condition, run) for run in runs}
        assert ranges.truth(condition) in (None, *(occurring if len(occurring) == 1 else ()))
    assert ranges.truth(conditions[2]) is True
    assert ranges.truth(conditions[3]) is ranges.truth(conditions[4]) is False


def test_what_is_not_static_is_not_known() -> None:
    b = Builder()
    n = b.param("int64", b.block)
    with b.loop(n) as dynamic:
        pass
    with b.loop(b.i64(5), start=b.i64(5)) as empty:
        pass
    with b.loop(b.i64(5), fixed=True) as grown:
        doubled, real = grown.carry(b.i64(1)), grown.carry(b.const(0.0, "float64"))
        doubled.following = b.add(doubled.param, doubled.param)
        real.following = real.param
        huge = grown.carry(b.i64(2**62 - 3))
        huge.following = b.add(huge.param, b.i64(1))
        small = b.op("lt", real.param, b.const(1.0, "float64"))
        deep = grown.index
        for _ in range(1000):
            deep = b.op("add", deep, b.i64(1))
    ranges = Ranges(b.program)
    unknown = (n, dynamic.index, empty.index, doubled.param, doubled.result, real.param, huge.param)
    assert [ranges.of(v) for v in unknown] == [None] * len(unknown)
    assert ranges.truth(b.lt(n, b.i64(3))) is None
    assert ranges.truth(small) is None
    assert ranges.of(deep) is None
