"""What functions of BLAS and LAPACK may read where it lies, and copies in C order of all the rest.

A matrix for them has the elements of its rows (or of its columns) side by side, and each row starts a fixed number of
elements after the one before: its leading dimension, which is at least the length of a row, and at least 1.
"""

from __future__ import annotations

from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Stored, Tensor, is_unit

__all__ = ["MatrixOperand", "vector_operand"]


def _is_short(stored: Stored, axis: int) -> bool:
    """Whether a dimension is known to have at most one element, so that its stride is never used."""
    length = stored.shape[axis]
    return length.op == "const" and length.args[0] <= 1


def _readable(stored: Stored, side: int, across: int) -> bool:
    """Whether elements along ``side`` are neighbours, and lines of them follow each other across."""
    return is_unit(stored.strides[side]) and (stored.forward[across] or _is_short(stored, across))


class MatrixOperand:
    """The last two dimensions of a tensor as a matrix for a library, or as many as the others say.

    ``by_rows`` says that rows are side by side, else columns; ``leading`` is the leading dimension. What is neither, and
    what lies backward in memory, is copied, also if only run time tells.
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
        # the stride of a dimension of length 1 may be anything, and so too small
        self.leading = least if is_unit(step) else builder.op("max", step, least)


def vector_operand(context: Context, tensor: Tensor) -> Stored:
    """A vector in memory whose elements are neighbours."""
    stored = context.store(tensor)
    return stored if is_unit(stored.strides[0]) else context.contiguous_copy(tensor)
