"""Linear equations with banded matrices, which are given by their diagonals.

Users find `solve_banded` and `solveh_banded` in `occelo.tensor.linalg`. `solve` uses the module for tridiagonal
matrices. Linkers lower both ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.create import zeros
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.linalg.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
)
from occelo_graph.ops.linalg.triangular import with_columns
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import TensorType, is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveBanded", "SolvePositiveBanded", "solve_banded", "solveh_banded"]


@op
class SolveBanded(MatrixOp):
    """The X with A X = B, for an A with ``lower`` diagonals below the main diagonal and ``upper`` ones above it.

    The first input has the diagonals of A, with A[i, j] in row ``upper + i - j`` and column j. The second input is B.
    """

    lower: int
    upper: int
    on_error: str = "raise"
    signature: ClassVar[str] = "(r,n),(n,k)->(n,k)"

    @property
    def label(self) -> str:
        return "solve_banded"

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        made = super().infer(*types)
        _check_rows(self.label, self.lower + self.upper + 1, types[0].shape[-2])
        return made

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        super().check_shapes(types, shapes)
        _check_rows(self.label, self.lower + self.upper + 1, shapes[0][-2])

    def core(self, *arrays: Array) -> Array:
        bands, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("gbsv",), (bands, b))
        # the routine stores more diagonals above, which appear when rows are exchanged
        work: Array = np.zeros((2 * self.lower + self.upper + 1, b.shape[0]), b.dtype)
        work[self.lower :] = bands
        _, _, solution, info = routine(self.lower, self.upper, work, b)
        if info > 0:
            raise LinAlgError("Singular matrix")
        return np.ascontiguousarray(solution)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        bands, ct = inputs[0], cotangents[0]
        if ct is None or ct is ZERO:
            return [ct, ct]
        low, up = self.lower, self.upper
        turned = [
            _shifted(_conj(bands[..., low + up - row, :]), row - low) for row in range(low + up + 1)
        ]
        of_b = SolveBanded(up, low, self.on_error)(stack(turned, axis=-2), ct)
        solution = _conj(outputs[0])
        rows = [
            -(_shifted(of_b, row - up, -2) * solution).sum(axis=-1) for row in range(low + up + 1)
        ]
        return [stack(rows, axis=-2), of_b]


@op
class SolvePositiveBanded(MatrixOp):
    """The X with A X = B, for a positive definite banded A.

    The first input has the main diagonal of A and those below it, with A[j + i, j] in row i and column j. The second
    input is B.
    """

    below: int
    on_error: str = "raise"
    signature: ClassVar[str] = "(r,n),(n,k)->(n,k)"

    @property
    def label(self) -> str:
        return "solveh_banded"

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        made = super().infer(*types)
        _check_rows(self.label, self.below + 1, types[0].shape[-2])
        return made

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        super().check_shapes(types, shapes)
        _check_rows(self.label, self.below + 1, shapes[0][-2])

    def core(self, *arrays: Array) -> Array:
        bands, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("pbsv",), (bands, b))
        _, solution, info = routine(bands, b, lower=True)
        if info > 0:
            raise LinAlgError("Matrix is not positive definite")
        return np.ascontiguousarray(solution)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct, solution = cotangents[0], outputs[0]
        if ct is None or ct is ZERO:
            return [ct, ct]
        of_b = self(inputs[0], ct)
        rows: list[Any] = []
        for row in range(self.below + 1):
            # the elements of each diagonal below the main one occur twice in the matrix
            below = -(_shifted(of_b, row, -2) * _conj(solution)).sum(axis=-1)
            above = -(_conj(of_b) * _shifted(solution, row, -2)).sum(axis=-1)
            both = below + above
            rows.append(both if row else both * np.asarray(0.5, inputs[0].type.numpy_dtype))
        return [stack(rows, axis=-2), of_b]


def _check_rows(label: str, wanted: int, rows: int | None) -> None:
    if rows is not None and rows != wanted:
        raise ValueError(f"{label} takes {wanted} rows of diagonals, got {rows}")


def _conj(x: Any) -> Any:
    return x.conj() if is_complex(x.dtype) else x


def _shifted(x: Any, by: int, axis: int = -1) -> TensorVariable:
    """``x`` shifted along an axis: element j of the result is element ``j + by`` of ``x``, or 0 if there is none."""
    ndim, n = x.type.ndim, x.shape[axis]
    lengths = [x.shape[i] for i in range(ndim)]
    lengths[axis] = abs(by)
    empty = zeros(lengths, x.dtype)
    padded = concatenate([x, empty] if by >= 0 else [empty, x], axis=ndim + axis)
    start = max(by, 0)
    key = [slice(None)] * ndim
    key[axis] = slice(start, start + n)
    moved: TensorVariable = padded[tuple(key)]
    return moved


def solve_banded(
    l_and_u: tuple[int, int],
    ab: Any,
    b: Any,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
) -> TensorVariable:
    """The ``x`` with ``a @ x == b`` for banded matrices ``a``, given by their diagonals; SciPy's ``solve_banded``.

    ``l_and_u`` has the numbers of diagonals below and above the main one. ``ab`` has shape (..., l + u + 1, n), with
    ``ab[u + i - j, j] == a[i, j]``; its other elements are not read. ``b`` consists of vectors, (..., n), if ``b_ndim``
    is 1, and of matrices, (..., n, k), if it is 2. By default ``b`` has vectors if it has one dimension. Batch
    dimensions broadcast.

    A singular matrix raises ``numpy.linalg.LinAlgError``; with ``on_error="nan"`` this element of the batch is NaN.
    ValueError if ``ab`` has another number of rows.
    """
    low, up = (int(n) for n in l_and_u)
    if low < 0 or up < 0:
        raise ValueError(f"l_and_u must not be negative, got {l_and_u!r}")
    bands, right = as_matrices("solve_banded", ab, b)
    return with_columns(SolveBanded(low, up, check_on_error(on_error)), [bands], right, b_ndim)


def solveh_banded(
    ab: Any,
    b: Any,
    lower: bool = False,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
) -> TensorVariable:
    """The ``x`` with ``a @ x == b`` for positive definite banded ``a``; SciPy's ``solveh_banded``.

    The matrices are given by half of their diagonals: ``ab`` has shape (..., u + 1, n); its number of rows must be
    known when the graph is built. The upper diagonals are in ``ab[u + i - j, j] == a[i, j]`` for i <= j. With ``lower``
    the lower diagonals are in ``ab[i - j, j] == a[i, j]`` for i >= j. Other arguments are as in `solve_banded`. The
    gradient is the derivative with respect to the elements of ``ab``.

    A matrix that is not positive definite raises ``numpy.linalg.LinAlgError``; with ``on_error="nan"`` this element of
    the batch is NaN. ValueError if the number of rows of ``ab`` is 0 or not known when the graph is built.
    """
    bands, right = as_matrices("solveh_banded", ab, b)
    rows = bands.type.shape[-2] if bands.type.ndim > 1 else None
    if rows is None or rows < 1:
        raise ValueError(
            f"solveh_banded needs at least one row of diagonals, and their number when the graph is built, got {bands.type}"
        )
    if not lower:
        below = [_shifted(_conj(bands[..., rows - 1 - i, :]), i) for i in range(rows)]
        bands = stack(below, axis=-2)
    made = SolvePositiveBanded(rows - 1, check_on_error(on_error))
    return with_columns(made, [bands], right, b_ndim)


def three_diagonals(a: TensorVariable) -> TensorVariable:
    """The three middle diagonals of matrices (..., n, n), in the form of `SolveBanded`: (..., 3, n)."""
    ndim, n = a.type.ndim, a.shape[-1]
    above, main, below = (diagonal(a, k, ndim - 2, ndim - 1) for k in (1, 0, -1))
    # one element is missing, but none for an empty matrix
    lead = [main.shape[i] for i in range(ndim - 2)]
    missing = zeros([*lead, n - above.shape[-1]], a.dtype)
    rows = [concatenate([missing, above], axis=-1), main, concatenate([below, missing], axis=-1)]
    return stack(rows, axis=-2)


def solve_with_three_diagonals(
    a: TensorVariable, right: TensorVariable, b_ndim: int | None, on_error: str
) -> TensorVariable:
    """Solve with matrices of which only three diagonals are read."""
    return with_columns(SolveBanded(1, 1, on_error), [three_diagonals(a)], right, b_ndim)
