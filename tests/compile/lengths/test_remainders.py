"""Iterations that are left after the whole vectors of a loop, where their number is static."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import occelo_graph.tensor as ot
from occelo_compile import function
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import For, Value
from occelo_link.native.llvm.vector_loops import VectorLoops


def _remainders(loop: Any) -> set[int] | None:
    made: Any = object.__new__(VectorLoops)
    made._residues = {}
    found: set[int] | None = VectorLoops.remainders(made, loop)
    return found


LENGTHS = (1, 3, 7, 16, 31, 32, 33, 40, 45, 63, 64, 100, 1000, 2047, 2048, 2049, 4096, 4107, 10_000)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
def test_static_lengths_give_the_bits_of_dynamic_ones(dtype: str) -> None:
    rng = np.random.default_rng(5)
    v = ot.tensor("v", shape=(None,), dtype=dtype)

    def results(x: ot.TensorVariable) -> list[ot.TensorVariable]:
        return [x * x + x, x.sum(), x.max(), (x * x).sum(), x[::-1] - x, ot.eq(x, x[0])]

    dynamic = function([v], results(v))
    for length in LENGTHS:
        s = ot.tensor("s", shape=(length,), dtype=dtype)
        static = function([s], results(s))
        array = (rng.uniform(1, 9, length)).astype(dtype)
        for got, other, wanted in zip(
            static(array),
            dynamic(array),
            [
                array * array + array,
                array.astype("float64").sum(),
                array.max(),
                (array * array).astype("float64").sum(),
                array[::-1] - array,
                array == array[0],
            ],
            strict=True,
        ):
            assert got.dtype == other.dtype
            assert got.tobytes() == other.tobytes(), length
            np.testing.assert_allclose(got, wanted, rtol=1e-5)


def ranges(start: Value, stop: Value, index: Value, count: int) -> list[int]:
    """How many iterations there are for each value of ``index`` from 0 to ``count - 1``."""

    def number(value: Value, at: int) -> int:
        if value is index:
            return at
        if value.op == "const":
            return int(value.args[0])
        x, y = (number(v, at) for v in value.args)
        return int({"add": x + y, "sub": x - y, "mul": x * y, "min": min(x, y)}[value.op])

    return [number(stop, at) - number(start, at) for at in range(count)]


@pytest.mark.parametrize(
    ("size", "count"), list(itertools.product([1, 8, 24, 32, 64, 2048], [0, 1, 31, 64, 100, 9999]))
)
def test_remainders_of_blocks_are_those_that_occur(size: int, count: int) -> None:
    b = Builder()
    blocks = -(-count // size)
    with b.loop(b.i64(blocks)) as outer:
        start = b.mul(outer.index, b.i64(size))
        stop = b.op("min", b.add(start, b.i64(size)), b.i64(count))
        with b.loop(stop, start=start, lanes=32) as inner:
            pass
    loop = inner.statement
    assert isinstance(loop, For)
    found = _remainders(loop)
    occurring = {n % 32 for n in ranges(start, stop, outer.index, blocks) if n > 0} - {0}
    if size % 32:
        assert found is None or found >= occurring
    else:
        assert found is not None
        assert found >= occurring
        assert len(found) <= 1


def test_remainders_of_other_loops() -> None:
    b = Builder()
    n = b.param("int64", b.block)

    def of(start: Value, stop: Value) -> set[int] | None:
        with b.loop(stop, start=start, lanes=8) as loop:
            pass
        return _remainders(loop.statement)

    assert of(b.i64(3), b.i64(40)) == {5}
    assert of(b.i64(4), b.i64(44)) == set()
    assert of(b.i64(0), n) is None
    assert of(n, b.add(n, b.i64(8))) is None
    assert of(b.i64(0), b.mul(n, b.i64(16))) == set()
    assert of(b.i64(2), b.op("max", b.mul(n, b.i64(16)), b.i64(13))) == {6, 3}
