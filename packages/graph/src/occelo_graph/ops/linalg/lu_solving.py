"""Equations and inverses by LU factors, as ops: `LuSolve` and `LuInverse`.

Rules use these ops to let several results share one factorisation. The linkers for machine code lower them; for others
the ops decompose into `lu_solve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.create import eye
from occelo_graph.ops.linalg.lu import lu_solve
from occelo_graph.ops.linalg.matrix_op import LinAlgError, MatrixOp
from occelo_graph.optional_scipy import scipy_module

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

__all__ = ["LuInverse", "LuSolve"]


@op
class LuSolve(MatrixOp):
    """The X with A X = B, from the results of `LuFactor` for square matrices A.

    ``trans`` 1 takes the transpose of A, and 2 the conjugate transpose, instead of A.
    """

    trans: int = 0
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n),(n,k)->(n,k)"

    @property
    def label(self) -> str:
        return "lu_solve"

    def core(self, *arrays: Array) -> Array:
        factors, pivots, right = arrays
        if right.size == 0:
            return np.zeros_like(right)
        _check(self.label, factors, pivots)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("getrs",), (factors, right))
        solution, _ = routine(factors, pivots, right, trans=self.trans)
        return np.ascontiguousarray(solution)

    def decompose(self, factors: Any, pivots: Any, right: Any) -> Sequence[Any]:
        options: dict[str, Any] = {"b_ndim": 2, "on_error": self.on_error}
        return [lu_solve((factors, pivots), right, self.trans, **options)]


@op
class LuInverse(MatrixOp):
    """The inverses of square matrices, from their LU factors and pivots."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n),(n)->(n,n)"

    @property
    def label(self) -> str:
        return "inv"

    def core(self, *arrays: Array) -> Array:
        factors, pivots = arrays
        if factors.size == 0:
            return np.zeros_like(factors)
        _check(self.label, factors, pivots)
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs(("getri",), (factors,))
        inverse, _ = routine(factors, pivots)
        return np.ascontiguousarray(inverse)

    def decompose(self, factors: Any, pivots: Any) -> Sequence[Any]:
        one = eye(factors.shape[-1], dtype=factors.dtype)
        options: dict[str, Any] = {"b_ndim": 2, "on_error": self.on_error}
        return [lu_solve((factors, pivots), one, **options)]


def _check(label: str, factors: Array, pivots: Array) -> None:
    """IndexError for a pivot that is not a row number, LinAlgError for a zero on the diagonal of U."""
    n = len(factors)
    if ((pivots < 0) | (pivots >= n)).any():
        raise IndexError(f"{label}: a pivot is no position among {n} rows")
    if not np.diagonal(factors).all():
        raise LinAlgError("Singular matrix")
