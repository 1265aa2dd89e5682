"""Matrices in working memory, in the layout that LAPACK needs: column-major order, one element of a batch at a time.

The lowerings of this package use them. In these matrices, real and imaginary parts of complex elements alternate, while
lowered tensors keep the parts in separate buffers. So operands and results are copied, which takes little time compared
with the LAPACK routine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from occelo_graph import TensorApply
from occelo_linalg.ops.matrix_op import MatrixOp
from occelo_link.loops.batches import own_index
from occelo_link.loops.complexes import PARTS, ComplexTensor, parts_of
from occelo_link.loops.ir.program import Pointer, Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.registry import lowers_complex_to_loops, lowers_to_loops
from occelo_link.loops.tensors import Index, Stored, Tensor

TILE = 16
"""The number of rows and of columns of a tile. Matrices are copied tile by tile."""

_OpT = TypeVar("_OpT", bound=MatrixOp)
_Lowering = Callable[[Context, TensorApply[_OpT], list[Tensor]], Sequence[Tensor]]


def lowers_matrices(*classes: type[_OpT]) -> Callable[[_Lowering[_OpT]], _Lowering[_OpT]]:
    """Decorator that registers one lowering of op classes for real and for complex matrices."""

    def register(function: _Lowering[_OpT]) -> _Lowering[_OpT]:
        for each in classes:
            lowers_to_loops(each)(function)
            lowers_complex_to_loops(each)(function)
        return function

    return register


def stored_parts(context: Context, tensor: Tensor) -> list[Stored]:
    """The real tensors of an operand, stored: one, or two if the operand is complex."""
    return [context.store(part) for part in parts_of(tensor)]


def new_result(context: Context, dtype: str, shape: Sequence[Value]) -> list[Stored]:
    """New real tensors for the parts of a result: one, or two if the result is complex."""
    return [context.new_stored(PARTS.get(dtype, dtype), shape) for _ in range(_count(dtype))]


def whole_tensor(parts: Sequence[Stored]) -> Tensor:
    """The tensor that consists of these parts: a real tensor, or a complex tensor if there are two parts."""
    return parts[0] if len(parts) == 1 else ComplexTensor(*parts)


def _count(dtype: str) -> int:
    return 2 if dtype in PARTS else 1


@contextmanager
def in_tiles(context: Context, rows: Value, columns: Value) -> Generator[tuple[Value, Value]]:
    """A context manager that writes loops over a matrix in square tiles. Its value is the row and the column of an
    element.

    A copy between row-major and column-major order jumps through the memory of one of the two matrices. Within a tile
    it uses each cache line again before the line is evicted.
    """
    builder = context.builder

    @contextmanager
    def tiles(length: Value) -> Generator[tuple[Value | None, Value]]:
        if length.op == "const" and length.args[0] <= TILE:
            yield None, length
            return
        whole = builder.add(length, context.i64(TILE - 1))
        with builder.loop(builder.op("floordiv", whole, context.i64(TILE)), fixed=True) as loop:
            start = builder.mul(loop.index, context.i64(TILE))
            stop = builder.op("min", builder.add(start, context.i64(TILE)), length)
            yield start, stop

    with tiles(columns) as (left, right), tiles(rows) as (top, bottom):
        with builder.loop(right, start=left, fixed=True) as across:
            with builder.loop(bottom, start=top, fixed=True) as down:
                yield down.index, across.index


class WorkMatrix:
    """A matrix in working memory. ``dtype`` may be complex. A vector is a matrix with one column.

    Construct it inside the ``emit`` function of a `Context.step`, before the loop over the batch, since the constructor
    writes an allocation.

    ``leading`` is the leading dimension, which is at least 1. If ``by_rows`` is True, the elements lie in C order, so
    LAPACK reads the transpose.
    """

    def __init__(
        self, context: Context, dtype: str, rows: Value, columns: Value, by_rows: bool = False
    ) -> None:
        self.context = context
        self.rows, self.columns = rows, columns
        self.by_rows = by_rows
        self.count = _count(dtype)
        builder = context.builder
        self.leading = builder.op("max", columns if by_rows else rows, context.i64(1))
        size = builder.product([rows, columns, context.i64(self.count)])
        self.buffer = builder.scratch(PARTS.get(dtype, dtype), size, ndim=2)

    @property
    def pointer(self) -> Pointer:
        """The address of the first element."""
        return Pointer(self.buffer, self.context.i64(0))

    def offset(self, row: Value, column: Value, part: int = 0) -> Value:
        """The position of a part of an element in the buffer."""
        builder = self.context.builder
        if self.by_rows:
            at = builder.add(builder.mul(row, self.columns), column)
        else:
            at = builder.add(builder.mul(column, self.rows), row)
        at = builder.mul(at, self.context.i64(self.count))
        return builder.add(at, self.context.i64(part))

    def load(self, row: Value, column: Value, part: int = 0) -> Value:
        """A part of an element: part 0 is the real part, part 1 the imaginary part."""
        return self.context.builder.load(self.buffer, self.offset(row, column, part), fixed=True)

    def store(self, row: Value, column: Value, value: Value, part: int = 0) -> None:
        """Write a part of an element."""
        self.context.builder.store(self.buffer, self.offset(row, column, part), value)

    @contextmanager
    def _elements(self, rows: Value, columns: Value) -> Generator[tuple[Value, Value]]:
        """A context manager that writes loops over elements, in a fast order for copies from and to C order."""
        builder = self.context.builder
        if not self.by_rows:
            with in_tiles(self.context, rows, columns) as place:
                yield place
            return
        lanes = 8 if self.count == 1 else 1
        with builder.loop(rows, fixed=True) as down:
            with builder.loop(columns, lanes=lanes, fixed=True) as across:
                yield down.index, across.index

    def fill(self, operand: Sequence[Stored], index: Index, columns: Value | None = None) -> None:
        """Copy the matrix at ``index`` of a batch from an operand. ``operand`` is the list of its real tensors.

        By default all columns are copied. The operand may broadcast along the batch. If the operand is real and this
        matrix is complex, imaginary parts are 0. Elements are converted to the dtype of this matrix.
        """
        context, builder = self.context, self.context.builder
        own = [own_index(context, part, 2, index) for part in operand]
        with self._elements(self.rows, columns or self.columns) as (i, j):
            for k in range(self.count):
                if k < len(operand):
                    at = operand[k].position(builder, [*own[k], i, j])
                    value = builder.load(operand[k].buffer, at, fixed=True)
                    value = builder.cast(value, self.buffer.dtype)
                else:
                    value = builder.const(0.0, self.buffer.dtype)
                self.store(i, j, value, k)

    def copy_to(self, result: Sequence[Stored], index: Index, good: Value | None = None) -> None:
        """Copy the first rows and columns to the matrix at ``index`` of a result, as many as that matrix has.

        If ``good`` is passed and False, NaN is stored instead. A real result gets the real parts. Elements are
        converted to the dtype of the result.
        """
        builder = self.context.builder
        rows, columns = result[0].shape[-2:]
        with self._elements(rows, columns) as (i, j):
            for k, part in enumerate(result):
                value = builder.cast(self.load(i, j, k), part.dtype)
                if good is not None:
                    value = builder.select(good, value, builder.const(float("nan"), part.dtype))
                builder.store(part.buffer, part.position(builder, [*index, i, j]), value)

    def copy_column_to(self, result: Stored, index: Index, good: Value | None = None) -> None:
        """Copy the first elements of the first column to the vector at ``index`` of a result, as many as it has.

        If ``good`` is passed and False, NaN is stored instead.
        """
        builder = self.context.builder
        with builder.loop(result.shape[-1], fixed=True) as down:
            value = self.load(down.index, self.context.i64(0))
            if good is not None:
                value = builder.select(good, value, builder.const(float("nan"), result.dtype))
            builder.store(result.buffer, result.position(builder, [*index, down.index]), value)

    def all_finite(self, uplo: str = "", columns: Value | None = None) -> Value:
        """Whether all elements are finite. If ``uplo`` is "U" or "L", only the upper or lower triangle is checked."""
        builder, one = self.context.builder, self.context.i64(1)
        zero = builder.const(0.0, self.buffer.dtype)
        # the inner loop runs over elements that are neighbours in memory
        lengths = [self.rows, columns or self.columns]
        outer, inner = lengths if self.by_rows else lengths[::-1]
        with builder.loop(outer, fixed=True) as across:
            total = across.carry(zero)
            k = across.index
            start, stop = None, inner
            if uplo:
                first = (uplo == "L") == self.by_rows
                start, stop = (None, builder.add(k, one)) if first else (k, inner)
            with builder.loop(stop, start=start, lanes=8, fixed=True) as along:
                rest = along.carry(zero, "add")
                i, j = (k, along.index) if self.by_rows else (along.index, k)
                following = rest.param
                for part in range(self.count):
                    value = self.load(i, j, part)
                    # the difference is 0, or NaN if the value is not finite
                    following = builder.op("add", following, builder.op("sub", value, value))
                rest.following = following
            total.following = builder.op("add", total.param, rest.result)
        return builder.eq(total.result, zero)

    def fill_with_identity(self) -> None:
        """Write the identity matrix."""
        builder = self.context.builder
        zero, one = (builder.const(x, self.buffer.dtype) for x in (0.0, 1.0))
        with builder.loop(self.columns, fixed=True) as across:
            with builder.loop(self.rows, fixed=True) as down:
                i, j = down.index, across.index
                self.store(i, j, builder.select(builder.eq(i, j), one, zero))
                if self.count == 2:
                    self.store(i, j, zero, 1)
