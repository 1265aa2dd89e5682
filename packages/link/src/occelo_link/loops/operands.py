"""Operands of BLAS and LAPACK. If the routines can read a tensor in place, it is not copied.

`lowerings.blas`, `occelo_linalg.lowerings.equations.triangular` and `occelo_linalg.lowerings.equations.lu_solving` use this module. The routines can read a matrix
with contiguous rows or columns. The leading dimension is the distance in elements from one row (or column) to the next.
It must be at least the length of a row (or column), and at least 1.
"""

from __future__ import annotations

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


def vector_operand(context: Context, tensor: Tensor) -> Stored:
    """The vector in contiguous memory; it is copied if necessary."""
    stored = context.store(tensor)
    return stored if is_unit(stored.strides[0]) else context.contiguous_copy(tensor)
