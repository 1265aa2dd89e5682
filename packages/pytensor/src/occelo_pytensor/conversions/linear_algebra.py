"""Conversions of linear algebra. The functions here have batch dimensions, so the core op and its Blockwise are the same.

Where PyTensor's op gives NaN for a matrix that it cannot factor or invert, the function here is told to do so, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.tensor.linalg.constructors import BaseBlockDiagonal
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eig, Eigh, Eigvalsh
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor, PivotToPermutations
from pytensor.tensor.linalg.decomposition.qr import QR
from pytensor.tensor.linalg.decomposition.schur import QZ, Schur
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixInverse, MatrixPinv, TensorInv
from pytensor.tensor.linalg.products import Expm
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.linear_control import TRSYL
from pytensor.tensor.linalg.solvers.lstsq import Lstsq, TensorSolve
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.solvers.tridiagonal import (
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)
from pytensor.tensor.linalg.summary import Det, SLogDet

import occelo.tensor as ot
import occelo.tensor.linalg as ol
from occelo_linalg.ops.equations.solve import Solve as OurSolve
from occelo_linalg.ops.equations.sylvester import TriangularSylvester
from occelo_linalg.ops.equations.tridiagonal import TridiagonalFactor
from occelo_linalg.ops.factorizations.eigh import Eigh as OurEigh
from occelo_pytensor.conversion import Mistyped, Unconvertible
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import as_dtype

BATCHED = (
    Cholesky, SolveTriangular, Solve, CholeskySolve, MatrixInverse, MatrixPinv, Det, SLogDet,
    Eig, Eigh, Eigvalsh, SVD, QR, LU, LUFactor, Expm, PivotToPermutations, Schur, QZ, TRSYL,
    LUFactorTridiagonal, SolveLUFactorTridiagonal,
)  # fmt: skip
"""The ops whose functions here have batch dimensions."""


@register_conversion(Cholesky)
def _cholesky(node: Any, a: Any) -> Any:
    return ol.cholesky(a, lower=node.op.lower, on_error="nan")


def _solved(node: Any, a: Any, b: Any, solve: Callable[[Any, Any], Any]) -> Any:
    """Solve with one right side or several, which the op says."""
    return solve(a, b[..., None])[..., 0] if node.op.b_ndim == 1 else solve(a, b)


@register_conversion(SolveTriangular)
def _solve_triangular(node: Any, a: Any, b: Any) -> Any:
    op = node.op
    return _solved(
        node, a, b,
        lambda a, b: ol.solve_triangular(
            a, b, lower=op.lower, unit_diagonal=op.unit_diagonal, on_error="nan"
        ),
    )  # fmt: skip


@register_conversion(Solve)
def _solve(node: Any, a: Any, b: Any) -> Any:
    op = node.op
    if op.assume_a in ("sym", "her", "pos"):  # PyTensor's gradient is that of a general matrix
        kind = "sym" if op.assume_a == "her" and not a.dtype.startswith("complex") else op.assume_a
        solve = OurSolve(kind, "nan", cotangent="matrix" if op.lower else "transposed")
        if not op.lower:
            a = ot.matrix_transpose(a if kind == "sym" else ot.conj(a))
        return _solved(node, a, b, solve)
    return _solved(
        node, a, b,
        lambda a, b: ol.solve(a, b, lower=op.lower, assume_a=op.assume_a, on_error="nan"),
    )  # fmt: skip


@register_conversion(CholeskySolve)
def _cholesky_solve(node: Any, a: Any, b: Any) -> Any:
    return _solved(
        node, a, b, lambda a, b: ol.cho_solve((a, node.op.lower), b, on_error="nan")
    )  # fmt: skip


@register_conversion(MatrixInverse)
def _inverse(node: Any, a: Any) -> Any:
    return ol.inv(a)


@register_conversion(MatrixPinv)
def _pseudo_inverse(node: Any, a: Any) -> Any:
    return ol.pinv(a, hermitian=node.op.hermitian)


@register_conversion(Det)
def _determinant(node: Any, a: Any) -> Any:
    return ol.det(a)


@register_conversion(SLogDet)
def _log_determinant(node: Any, a: Any) -> Any:
    return list(ol.slogdet(a))


@register_conversion(Eig)
def _eigen(node: Any, a: Any) -> Any:
    return list(ol.eig(a))


@register_conversion(Eigh)
def _eigen_symmetric(node: Any, a: Any, b: Any = None) -> Any:
    if b is None:
        # PyTensor's gradient divides by small differences of eigenvalues, and models of grids need it
        return OurEigh(node.op.lower, "nan", divides=True)(a, return_list=True)
    return list(ol.eigh(a, b=b, lower=node.op.lower, on_error="nan"))


@register_conversion(Eigvalsh)
def _eigenvalues(node: Any, a: Any, b: Any = None) -> Any:
    return ol.eigvalsh(a, b=b, lower=node.op.lower, on_error="nan")


@register_conversion(SVD)
def _singular(node: Any, a: Any) -> Any:
    if not node.op.compute_uv:
        return ol.svdvals(a)
    return list(ol.svd(a, full_matrices=node.op.full_matrices))


_QR_MODES = {"full": "complete", "economic": "reduced", "r": "r"}


@register_conversion(QR)
def _qr(node: Any, a: Any) -> Any:
    op = node.op
    if op.mode not in _QR_MODES:
        raise Unconvertible(str(op))
    factors = ol.qr(a, mode=_QR_MODES[op.mode], pivoting=op.pivoting)
    return list(factors) if isinstance(factors, tuple) else factors


@register_conversion(LU)
def _lu(node: Any, a: Any) -> Any:
    return list(ol.lu(a, permute_l=node.op.permute_l, p_indices=node.op.p_indices))


@register_conversion(LUFactor)
def _lu_factor(node: Any, a: Any) -> Any:
    return list(ol.lu_factor(a))


@register_conversion(Expm)
def _expm(node: Any, a: Any) -> Any:
    return ol.expm(a)


@register_conversion(BaseBlockDiagonal)
def _block_diagonal(node: Any, *blocks: Any) -> Any:
    return ol.block_diag(*blocks)


@register_conversion(PivotToPermutations)
def _permutation(node: Any, pivots: Any) -> Any:
    return ol.pivot_to_permutation(pivots, inverse=node.op.inverse)


@register_conversion(Schur)
def _schur(node: Any, a: Any) -> Any:
    op = node.op
    return list(ol.schur(a, output=op.output, sort=op.sort, on_error="nan"))[:2]


@register_conversion(QZ)
def _qz(node: Any, a: Any, b: Any) -> Any:
    op = node.op
    output = "complex" if op.complex_output else "real"
    if op.sort is None:
        if op.return_eigenvalues:
            raise Unconvertible(str(op))
        return list(ol.qz(a, b, output=output))
    results = list(ol.ordqz(a, b, sort=op.sort, output=output))
    return results if op.return_eigenvalues else [*results[:2], *results[4:]]


@register_conversion(TRSYL)
def _triangular_sylvester(node: Any, a: Any, b: Any, c: Any) -> Any:
    # the op here takes the second matrix conjugated and transposed; reversed it is an upper triangle again
    second = ot.conj(ot.matrix_transpose(b[..., ::-1, ::-1]))
    return TriangularSylvester()(a, second, c[..., ::-1])[..., ::-1]


@register_conversion(Lstsq)
def _least_squares(node: Any, a: Any, b: Any, rcond: Any) -> Any:
    results = ol.lstsq(a, b, rcond)
    return list(results) if b.ndim == 2 else Mistyped(results)  # PyTensor's op promises a matrix


@register_conversion(TensorInv)
def _tensor_inverse(node: Any, a: Any) -> Any:
    return ol.tensorinv(a, node.op.ind)


@register_conversion(TensorSolve)
def _tensor_solve(node: Any, a: Any, b: Any) -> Any:
    solution = ol.tensorsolve(a, b, node.op.axes)
    return solution if solution.ndim == 2 else Mistyped([solution])  # likewise


@register_conversion(LUFactorTridiagonal)
def _tridiagonal_factor(node: Any, below: Any, main: Any, above: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    below, main, above = (as_dtype(v, dtype) for v in (below, main, above))
    nothing = ot.zeros_like(main[..., :1])
    rows = [
        ot.concatenate([nothing, above], axis=-1),
        main,
        ot.concatenate([below, nothing], axis=-1),
    ]
    factors, pivots = TridiagonalFactor()(ot.stack(rows, axis=-2), return_list=True)
    up, diagonal, steps, second = (factors[..., i, :] for i in range(4))
    return [steps[..., :-1], diagonal, up[..., 1:], second[..., 2:], pivots + np.int32(1)]


@register_conversion(SolveLUFactorTridiagonal)
def _tridiagonal_solve(node: Any, *inputs: Any) -> Any:
    *factors, pivots, b = inputs
    op = node.op
    # LAPACK counts rows from 1
    return ol.tridiagonal_lu_solve(
        (*factors, pivots - 1), b, b_ndim=op.b_ndim, transposed=op.transposed, on_error="nan"
    )
