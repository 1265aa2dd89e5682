"""`splu` and `factorized`: several solutions, and the determinant, from the factors of one sparse matrix.

The factors are no variables: their places and their order depend on values, and no derivative needs them. The nodes of a graph share them
when it runs (`occelo_sparse.ops.factors`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.tensors.type import is_complex
from occelo_sparse.ops.assembling import as_sparse_variable
from occelo_sparse.ops.conversions import cast, transpose
from occelo_sparse.ops.determinants import SlogdetResult, slogdet
from occelo_sparse.ops.solving import spsolve

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_sparse.ops.variable import SparseVariable

__all__ = ["SuperLU", "factorized", "splu"]


class SuperLU:
    """What `splu` returns: the equations with a square sparse matrix and its determinant, with SciPy's names.

    TypeError if the matrix is dense; ValueError if it is known not to be square.
    """

    def __init__(self, A: Any) -> None:
        matrix = as_sparse_variable(A)
        rows, columns = matrix.type.shape
        if None not in (rows, columns) and rows != columns:
            raise ValueError(f"splu takes a square matrix, got the shape {(rows, columns)}")
        whole = np.dtype(matrix.type.dtype).kind in "iu"
        self.matrix: SparseVariable = cast(matrix, "float64") if whole else matrix

    @property
    def shape(self) -> Any:
        """The numbers of rows and columns, as an int64 vector."""
        return self.matrix.shape

    @explained_by("arguments")
    def solve(self, rhs: Any, trans: str = "N") -> TensorVariable:
        """The solution x of ``A x = rhs``, for a vector or a matrix ``rhs``; of ``A' x = rhs`` with ``trans="T"``.

        With ``trans="H"`` it is that of the conjugate transpose. ValueError for another ``trans``; further errors are those of `spsolve`.
        """
        if trans not in ("N", "T", "H"):
            raise ValueError(f'trans is "N", "T" or "H", got {trans!r}')
        turned = self.matrix if trans == "N" else transpose(self.matrix)
        if trans != "H" or not is_complex(self.matrix.type.dtype):
            return spsolve(turned, rhs)
        # conj(A') x = b is A' conj(x) = conj(b), which the same factors solve
        solution: TensorVariable = conj(spsolve(turned, conj(rhs)))
        return solution

    def slogdet(self) -> SlogdetResult:
        """The sign of the determinant and the logarithm of its absolute value, as `slogdet`."""
        return slogdet(self.matrix)


def splu(A: Any) -> SuperLU:
    """The factors of the square sparse matrix ``A`` for several equations and the determinant, as SciPy's ``splu``.

    All solutions and determinants of one matrix in a function factorize it once, also those in gradients. The factors themselves are no
    variables. A positive definite matrix is factorized without exchanges of rows. TypeError if ``A`` is dense, ValueError if
    it is known not to be square; `numpy.linalg.LinAlgError` at run time for a singular matrix.
    """
    return SuperLU(A)


def factorized(A: Any) -> Callable[[Any], TensorVariable]:
    """A function that solves ``A x = b`` for vectors or matrices ``b``: the method ``solve`` of `splu`, as in SciPy. ``A`` is that of `splu`."""
    return SuperLU(A).solve
