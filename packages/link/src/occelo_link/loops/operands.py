"""Operands of BLAS and LAPACK. If the routines can read a tensor in place, it is not copied.

`lowerings.blas`, which uses `ProductOperand`, `occelo_linalg.lowerings.equations.triangular` and `occelo_linalg.lowerings.equations.lu_solving` use this module. The routines can read a matrix
with contiguous rows or columns. The leading dimension is the distance in elements from one row (or column) to the next.
It must be at least the length of a row (or column), and at least 1.
"""

from __future__ import annotations

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Reference
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor, is_unit


def _is_short(stored: Stored, axis: int) -> bool:
    """Whether a dimension has a static length of 0 or 1, so that its stride is never used."""
    length = stored.shape[axis]
    return length.op == "const" and length.args[0] <= 1


def _readable(stored: Stored, side: int, across: int) -> bool:
    """Whether BLAS can read a matrix with the axes ``side`` and ``across``.

    Axis ``side`` must be contiguous, and the stride of axis ``across`` must not be negative.
    """
    return is_unit(stored.strides[side]) and (stored.forward[across] or _is_short(stored, across))


class MatrixOperand:
    """The last two dimensions of a tensor, as a matrix for BLAS. All other dimensions are batch dimensions.

    If ``by_rows`` is True, rows are contiguous, otherwise columns. ``leading`` is the leading dimension. A tensor is
    copied if neither rows nor columns are contiguous, or if a stride may be negative at run time.
    """

    def __init__(self, context: Context, tensor: Tensor) -> None:
        stored = context.store(tensor)
        self.by_rows = _readable(stored, -1, -2)
        if not self.by_rows and not _readable(stored, -2, -1):
            stored = context.contiguous_copy(tensor)
            self.by_rows = True
        self.stored = stored
        side, across = (-1, -2) if self.by_rows else (-2, -1)
        builder = context.builder
        least = builder.op("max", stored.shape[side], context.i64(1))
        step = stored.strides[across]
        # a dimension of length 1 may have any stride, even one that is too small
        self.leading = least if is_unit(step) else builder.op("max", step, least)


class ProductOperand:
    """The last two dimensions of a tensor, as a factor of a product that BLAS computes.

    It differs from a `MatrixOperand` in one case: an input in either order (`Buffer.in_either_order`) is not copied. Then
    ``by_rows`` is computed when the program runs.
    """

    def __init__(self, context: Context, tensor: Tensor) -> None:
        builder, one = context.builder, context.i64(1)
        self.stored = context.store(tensor)
        if not is_in_either_order(self.stored):
            operand = MatrixOperand(context, tensor)
            self.stored, self.leading = operand.stored, operand.leading
            self.by_rows = builder.const(operand.by_rows, "bool")
            return
        (rows, columns), (row, column) = self.stored.shape, self.stored.strides
        # if there is only one column, its stride may be anything, and the rows are contiguous
        self.by_rows = builder.op("or", builder.op("le", columns, one), builder.eq(column, one))
        side = builder.select(self.by_rows, columns, rows)
        step = builder.select(self.by_rows, row, column)
        self.leading = builder.op("max", step, builder.op("max", side, one))

    def letter(self, builder: Builder, by_rows: str, by_columns: str) -> Reference:
        """An argument of BLAS that depends on the order of the matrix."""
        letters = (builder.const(ord(letter), "int8") for letter in (by_rows, by_columns))
        return Reference(builder.select(self.by_rows, *letters))


def is_in_either_order(stored: Stored) -> bool:
    """Whether a tensor is an input in either order (`Buffer.in_either_order`), or its transpose."""
    return stored.buffer.in_either_order and all(s.op == "stride" for s in stored.strides)


def vector_operand(context: Context, tensor: Tensor) -> Stored:
    """The vector in contiguous memory; it is copied if necessary."""
    stored = context.store(tensor)
    return stored if is_unit(stored.strides[0]) else context.contiguous_copy(tensor)
