"""Schur decompositions of square matrices: the function `schur` and its ops.

Users call `schur` from `occelo.tensor.linalg`. The solvers of Sylvester's and Lyapunov's equations decompose matrices
by the op `Schur`. The linkers for machine code have lowerings of `Schur` and `SortedSchur`. The other linkers call the
method ``core`` of the ops, which calls SciPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.op import op
from occelo_graph.ops.cast import cast
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.gradient_formulas import absent, complex_dtype, nothing, require_finite
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import TensorType
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Schur", "SortedSchur", "schur"]

SORTS = ("lhp", "rhp", "iuc", "ouc")
"""SciPy's names for regions of the complex plane: the left half, the right half, inside and outside the unit circle."""
Output: TypeAlias = Literal["real", "complex", "r", "c"]
"""SciPy's names for real and complex results."""


def check_sort(sort: str) -> str:
    """Return ``sort``. ValueError unless it is the name of a region in `SORTS`."""
    if sort not in SORTS:
        raise ValueError(f"sort must be one of {', '.join(map(repr, SORTS))}, got {sort!r}")
    return sort


def as_output(x: TensorVariable, output: str) -> TensorVariable:
    """Cast the matrices ``x`` to a complex dtype if ``output`` is "complex" or "c". ValueError if ``output`` is not one
    of the names in `Output`.
    """
    if output not in get_args(Output):
        raise ValueError(f'output must be "real" or "complex", got {output!r}')
    return cast(x, complex_dtype(x.dtype)) if output[0] == "c" else x


class _SchurOp(MatrixOp):
    """Base class of the two ops of this module, which have no derivatives."""

    @property
    def label(self) -> str:
        return "schur"

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        if all(map(absent, cotangents)):
            return [nothing(cotangents)]
        raise MethodNotDefined(
            "schur has no gradient: its factors are determined only up to phases and the order of eigenvalues. Functions "
            "of matrices that are computed with it have gradients of their own: expm, logm, sqrtm, solve_sylvester"
        )


@op
class Schur(_SchurOp):
    """Two outputs, T and a unitary Z, with A = Z T Z^H. The eigenvalues on the diagonal of T are in LAPACK's order.

    T is upper triangular. If A is real, T has a 2 x 2 block on its diagonal for each pair of complex eigenvalues.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n,n),(n,n)"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        return _decomposed(arrays[0], None)


@op
class SortedSchur(_SchurOp):
    """Like `Schur`, but the eigenvalues in the region ``sort`` come first. The third output is the number of these
    eigenvalues.
    """

    sort: str
    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n,n),(n,n),()"
    formula: ClassVar[str | None] = "{label}({inputs}, sort={sort!r}{options})"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        return [types[0].dtype, types[0].dtype, "int64"]

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        *factors, count = _decomposed(arrays[0], self.sort)
        return *factors, np.asarray(count, "int64")


def _decomposed(a: Array, sort: Any) -> tuple[Any, ...]:
    """Call SciPy's ``schur``. LinAlgError if elements are not finite, or if the algorithm does not converge."""
    require_finite(a)
    if a.size == 0:
        return a.copy(), a.copy(), *(() if sort is None else (0,))
    output = "c" if is_complex(a.dtype.name) else "r"
    factors: Any = scipy_module("linalg", "schur").schur(a, output, sort=sort)
    return tuple(np.ascontiguousarray(f) for f in factors[:2]) + tuple(factors[2:])


def schur(
    a: Any,
    output: Output = "real",
    sort: str | None = None,
    *,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> tuple[TensorVariable, ...]:
    """Schur decomposition of square matrices ``a`` of shape (..., n, n), like SciPy's ``schur``.

    Returns ``T`` and ``Z``, both of shape (..., n, n), with ``a == Z @ T @ Z^H``. ``Z`` is unitary. ``T`` is upper
    triangular, with the eigenvalues on its diagonal. If ``a`` is real and ``output`` is "real", ``T`` and ``Z`` are
    real, and ``T`` has a 2 x 2 block on its diagonal for each pair of complex eigenvalues. If ``output`` is "complex",
    ``T`` and ``Z`` are complex, and ``T`` has no such blocks. Results have the precision of ``a``, or float64 or
    complex128 for integers.

    If ``sort`` is given, the eigenvalues in a region come first: "lhp" (negative real parts), "rhp" (positive or zero
    real parts), "iuc" (absolute values of at most 1) or "ouc" (absolute values above 1). Then there is a third result,
    the number of these eigenvalues, int64 of shape (...). Unlike in SciPy, ``sort`` cannot be a function.

    There is no gradient (MethodNotDefined), since the factors are determined only up to phases and order. If a matrix
    has infinite or NaN elements, or if the algorithm does not converge, ``numpy.linalg.LinAlgError`` is raised. With
    ``on_error="nan"``, the ``T`` and ``Z`` of this matrix are NaN, and its number of eigenvalues in the region is 0.
    ValueError if ``a`` is not square, or for another ``output`` or ``sort``. TypeError for float16. ``options`` are SciPy's.
    """
    x = as_output(as_matrices("schur", a, options=options)[0], output)
    if sort is not None:
        check_sort(sort)
    mode = check_on_error(on_error)
    factor = Schur(mode) if sort is None else SortedSchur(sort, mode)
    return tuple(factor(x, return_list=True))
