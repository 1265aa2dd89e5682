"""Lowerings of LU factorisations (`LuFactor`), and of permutations from pivots (`PivotToPermutation`).

LAPACK's getrf factors the matrices; small matrices are factored by loops. The linkers ``native``, ``c``, ``c|py`` and
``numba`` use these lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_arrays.lowerings.lanes import Lanes
from occelo_graph import TensorApply
from occelo_linalg.lowerings.elimination import Rows, eliminate
from occelo_linalg.lowerings.lane_algorithms import eliminate_lanes
from occelo_linalg.lowerings.lapack import Lapack
from occelo_linalg.lowerings.ways import ELIMINATION, Choice, choose
from occelo_linalg.lowerings.work_matrices import (
    WorkMatrix,
    lowers_matrices,
    new_result,
    stored_parts,
    whole_tensor,
)
from occelo_linalg.ops.factorizations.lu import LuFactor, PivotToPermutation
from occelo_link.loops.batches import each_element
from occelo_link.loops.complexes import parts_of
from occelo_link.loops.ir.program import Buffer, Pointer, Value
from occelo_link.loops.loop_nests import copy_elements
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_to_loops
from occelo_link.loops.tensors import Stored, Tensor


@lowers_matrices(LuFactor)
def lower_lu_factor(
    context: Context, node: TensorApply[LuFactor], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, dtype = context.builder, node.outputs[0].type.dtype
    parts = parts_of(inputs[0])
    *batch, m, n = parts[0].shape
    square = context.canonical(m) is context.canonical(n)
    choice = choose(context, ELIMINATION, node, inputs, batch, n) if square else Choice(context)
    small = choice.way != "library"
    least = m if square else builder.op("min", m, n)
    result = new_result(context, dtype, [*batch, m, n])
    pivots = context.new_stored("int32", [*batch, least])
    source_in_lanes = context.contiguous_copy(inputs[0]) if choice.way == "lanes" else None
    # loops copy the matrices into the memory of the results and factor them there, so the matrices may be formulas
    source = result if small else stored_parts(context, inputs[0])

    def by_lapack() -> None:
        if small:
            copy_elements(context, parts[0], result[0])
        lapack = Lapack(context, dtype)
        work = WorkMatrix(context, dtype, m, n)
        exchanged = lapack.integers(builder.op("max", m, context.i64(1)))
        arguments = {"m": m, "n": n, "a": work.pointer, "lda": work.leading}
        with each_element(context, batch) as index:
            work.fill(source, index)
            lapack.call("getrf", ipiv=Pointer(exchanged, context.i64(0)), **arguments)
            work.copy_to(result, index)
            with builder.loop(least, fixed=True) as loop:
                # LAPACK counts rows from 1
                row = builder.cast(builder.load(exchanged, loop.index, fixed=True), "int64")
                row = builder.cast(builder.sub(row, context.i64(1)), "int32")
                builder.store(pivots.buffer, pivots.position(builder, [*index, loop.index]), row)

    def by_lanes() -> None:
        assert source_in_lanes is not None
        _in_lanes(context, source_in_lanes, result[0], pivots)

    def by_loops() -> None:
        copy_elements(context, parts[0], result[0])
        zero = context.i64(0)
        with each_element(context, batch) as index:
            start = result[0].position(builder, [*index, zero, zero])
            rows = Rows(context, result[0].buffer, start, n)
            first = pivots.position(builder, [*index, zero])

            def record(j: Value, p: Value, first: Value = first) -> None:
                builder.store(pivots.buffer, builder.add(first, j), builder.cast(p, "int32"))

            eliminate(rows, n, record=record)

    def emit() -> None:
        choice.write(by_lapack, lanes=by_lanes, loops=by_loops)

    reads = parts if source_in_lanes is None else [source_in_lanes]
    context.step([*parts, *reads] if small else source, [*result, pivots], emit)
    return [whole_tensor(result), pivots]


def _in_lanes(context: Context, source: Stored, result: Stored, pivots: Stored) -> None:
    """Factor a batch of small matrices, one matrix per lane."""
    builder = context.builder
    lanes = Lanes(context, result.dtype, source.shape[:-2])
    n = source.shape[-1]
    matrix = lanes.matrix(n, n)

    def record(k: Value, places: Buffer) -> None:
        with builder.loop(lanes.remaining(), fixed=True) as loop:
            row = builder.cast(builder.load(places, loop.index, fixed=True), "int32")
            start = builder.mul(builder.add(lanes.first, loop.index), n)
            builder.store(pivots.buffer, builder.add(start, k), row)

    # a pivot of 0 is no failure: the factors exist
    with lanes.groups(nan=True):
        matrix.fill(source)
        eliminate_lanes(lanes, matrix, record=record, keep=True)
        matrix.copy_to(result, nan=False)


@lowers_to_loops(PivotToPermutation)
def lower_pivot_to_permutation(
    context: Context, node: TensorApply[PivotToPermutation], inputs: list[Tensor]
) -> Sequence[Tensor]:
    builder, pivots = context.builder, inputs[0]
    *batch, n = pivots.shape
    result = context.new_stored("int64", pivots.shape)
    inverse = node.op.inverse

    def emit() -> None:
        order = builder.scratch("int64", n)
        with each_element(context, batch) as index:
            with builder.loop(n, fixed=True) as loop:
                builder.store(order, loop.index, loop.index)
            with builder.loop(n, fixed=True) as loop:
                other = builder.cast(pivots.at(builder, [*index, loop.index]), "int64")
                low = builder.op("le", context.i64(0), other)
                context.check(builder.op("and", low, builder.lt(other, n)))
                _exchange(order, loop.index, other)
            with builder.loop(n, fixed=True) as loop:
                entry = builder.load(order, loop.index, fixed=True)
                place, value = (loop.index, entry) if inverse else (entry, loop.index)
                builder.store(result.buffer, result.position(builder, [*index, place]), value)

    def _exchange(order: Buffer, i: Value, p: Value) -> None:
        first = builder.load(order, i, fixed=True)
        second = builder.load(order, p, fixed=True)
        builder.store(order, i, second)
        builder.store(order, p, first)

    context.step([pivots], [result], emit)
    return [result]
