"""Solves linear equations with banded matrices, which are given by their diagonals.

Users call `solve_banded` and `solveh_banded` from `occelo.tensor.linalg`. `solve` calls `solve_with_three_diagonals`
for tridiagonal matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.create import zeros
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.join import concatenate, stack
from occelo_graph.ops.shape.axes import static_integer
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_linalg.ops.equations.triangular import with_columns
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    several,
)
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SolveBanded", "SolvePositiveBanded", "solve_banded", "solveh_banded"]


@op
class SolveBanded(MatrixOp):
    """Solves A X = B for a banded A, with ``lower`` diagonals below the main diagonal and ``upper`` diagonals above it.

    The first input holds the diagonals of A: A[i, j] is in row ``upper + i - j`` and column j. The second input is B.
    """

    lower: int
    upper: int
    on_error: str = "raise"
    signature: ClassVar[str] = "(r,n),(n,k)->(n,k)"
    formula: ClassVar[str | None] = "{label}(({lower}, {upper}), {inputs}{options})"

    @property
    def label(self) -> str:
        return "solve_banded"

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        results = super().infer(*types)
        _check_rows(self.label, self.lower + self.upper + 1, types[0].shape[-2])
        return results

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        super().check_shapes(types, shapes)
        _check_rows(self.label, self.lower + self.upper + 1, shapes[0][-2])

    def core(self, *arrays: Array) -> Array:
        bands, b = arrays
        if b.size == 0:
            return np.zeros_like(b)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("gbsv",), (bands, b))
        # the routine needs rows for more upper diagonals, which become nonzero when it exchanges rows
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
    """Solves A X = B for a positive definite banded A.

    The first input holds the main diagonal of A and the diagonals below it: A[j + i, j] is in row i and column j. The
    second input is B.
    """

    below: int
    on_error: str = "raise"
    signature: ClassVar[str] = "(r,n),(n,k)->(n,k)"
    formula: ClassVar[str | None] = "{label}({inputs}, lower=True{options})"

    @property
    def label(self) -> str:
        return "solveh_banded"

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        results = super().infer(*types)
        _check_rows(self.label, self.below + 1, types[0].shape[-2])
        return results

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
            # each element below the main diagonal occurs twice in the Hermitian matrix
            below = -(_shifted(of_b, row, -2) * _conj(solution)).sum(axis=-1)
            above = -(_conj(of_b) * _shifted(solution, row, -2)).sum(axis=-1)
            both = below + above
            rows.append(both if row else both * np.asarray(0.5, inputs[0].type.numpy_dtype))
        return [stack(rows, axis=-2), of_b]


def _check_rows(label: str, count: int, rows: int | None) -> None:
    if rows is not None and rows != count:
        raise ValueError(f"{label} takes {count} rows of diagonals, got {rows}")


def _conj(x: Any) -> Any:
    return x.conj() if is_complex(x.dtype) else x


def _shifted(x: Any, by: int, axis: int = -1) -> TensorVariable:
    """Shift ``x`` along ``axis``. Element j of the result is element ``j + by`` of ``x``, or 0 if ``x`` has no such
    element.
    """
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
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for banded matrices ``a``, given by their diagonals, like SciPy's ``solve_banded``.

    ``l_and_u`` is a pair (l, u): the numbers of diagonals below and above the main diagonal. ``ab`` has the shape (...,
    l + u + 1, n), and ``ab[u + i - j, j]`` is ``a[i, j]``. The other elements of ``ab`` are not read. If ``b_ndim`` is
    1, ``b`` consists of vectors (..., n); if it is 2, of matrices (..., n, k). By default, ``b`` is a vector if it has
    one dimension, else it consists of matrices. Batch dimensions broadcast.

    If a matrix is singular, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solution is NaN for
    this element of the batch. ValueError if ``ab`` does not have l + u + 1 rows. ``options`` are SciPy's.
    """
    pair = several("solve_banded", "l_and_u", l_and_u, 2, "a pair of numbers of diagonals")
    low, up = (static_integer(n, "number of diagonals") for n in pair)
    if low < 0 or up < 0:
        raise ValueError(f"l_and_u must not be negative, got {l_and_u!r}")
    bands, right = as_matrices("solve_banded", ab, b, options=options)
    return with_columns(SolveBanded(low, up, check_on_error(on_error)), [bands], right, b_ndim)


def solveh_banded(
    ab: Any,
    b: Any,
    lower: bool = False,
    *,
    b_ndim: int | None = None,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """Solve ``a @ x == b`` for positive definite banded ``a``, like SciPy's ``solveh_banded``.

    ``ab`` has the shape (..., u + 1, n), where u is the number of diagonals above the main diagonal. It holds the upper
    diagonals of ``a``: ``ab[u + i - j, j]`` is ``a[i, j]`` for i <= j. If ``lower`` is True, it holds the lower
    diagonals: ``ab[i - j, j]`` is ``a[i, j]`` for i >= j. ``b``, ``b_ndim`` and ``options`` are as in `solve_banded`.
    The gradient is taken with respect to the elements of ``ab``.

    If a matrix is not positive definite, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solution
    is NaN for this element of the batch. ValueError if the number of rows of ``ab`` is 0 or dynamic.
    """
    bands, right = as_matrices("solveh_banded", ab, b, options=options)
    rows = bands.type.shape[-2] if bands.type.ndim > 1 else None
    if rows is None or rows < 1:
        raise ValueError(
            f"solveh_banded needs at least one row of diagonals, and their number when the graph is built, got {bands.type}"
        )
    if not lower:
        below = [_shifted(_conj(bands[..., rows - 1 - i, :]), i) for i in range(rows)]
        bands = stack(below, axis=-2)
    solver = SolvePositiveBanded(rows - 1, check_on_error(on_error))
    return with_columns(solver, [bands], right, b_ndim)


def three_diagonals(a: TensorVariable) -> TensorVariable:
    """The three middle diagonals of matrices (..., n, n), as the rows of matrices (..., 3, n) for `SolveBanded`."""
    ndim, n = a.type.ndim, a.shape[-1]
    above, main, below = (diagonal(a, k, ndim - 2, ndim - 1) for k in (1, 0, -1))
    # the diagonals above and below have one element less than the main diagonal, except for an empty matrix
    lead = [main.shape[i] for i in range(ndim - 2)]
    missing = zeros([*lead, n - above.shape[-1]], a.dtype)
    rows = [concatenate([missing, above], axis=-1), main, concatenate([below, missing], axis=-1)]
    return stack(rows, axis=-2)


def solve_with_three_diagonals(
    a: TensorVariable, right: TensorVariable, b_ndim: int | None, on_error: str
) -> TensorVariable:
    """Solve ``a @ x == right``. Only the three middle diagonals of ``a`` are read."""
    return with_columns(SolveBanded(1, 1, on_error), [three_diagonals(a)], right, b_ndim)
