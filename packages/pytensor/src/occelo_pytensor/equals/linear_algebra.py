"""The equals of products and of linear algebra. Where a matrix cannot be factored, PyTensor's give NaN or raise as they do."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg.decomposition.lu import PivotToPermutations
from pytensor.tensor.linalg.solvers.linear_control import TRSYL

from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_linalg.ops.block_matrices import BlockDiag, Kron
from occelo_linalg.ops.determinant import Det, SLogDet
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.sylvester import TriangularSylvester
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.factorizations.eig import Eig, Eigvals
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.factorizations.lu import LuFactor, PivotToPermutation
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRPivots, QRTriangle
from occelo_linalg.ops.factorizations.qz import QZ, SortedQZ
from occelo_linalg.ops.factorizations.schur import Schur
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_functions import Expm
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt


@register_equal(Dot)
def _dot(op: Any, a: Any, b: Any) -> Any:
    return pt.dot(a, b)


@register_equal(MatMul)
def _matmul(op: Any, a: Any, b: Any) -> Any:
    return pt.matmul(a, b)


@register_equal(Cholesky)
def _cholesky(op: Any, a: Any) -> Any:
    return pt.linalg.cholesky(a, lower=True)


@register_equal(SolveTriangular)
def _solve_triangular(op: Any, a: Any, b: Any) -> Any:
    return pt.linalg.solve_triangular(
        a, b, lower=op.lower, unit_diagonal=op.unit_diagonal, b_ndim=2
    )


@register_equal(Inv)
def _inverse(op: Any, a: Any) -> Any:
    return pt.linalg.inv(a)


@register_equal(Det)
def _determinant(op: Any, a: Any) -> Any:
    return pt.linalg.det(a)


@register_equal(SLogDet)
def _log_determinant(op: Any, a: Any) -> Any:
    return list(pt.linalg.slogdet(a))


@register_equal(Solve)
def _solve(op: Any, a: Any, b: Any) -> Any:
    # these read one triangle here, the lower one
    lower = op.assume_a in ("sym", "her", "pos")
    kind = "gen" if op.assume_a == "diagonal" else op.assume_a
    a = a * pt.eye(a.shape[-1], dtype=a.dtype) if op.assume_a == "diagonal" else a
    return pt.linalg.solve(a, b, assume_a=kind, lower=lower, b_ndim=2)


@register_equal(TriangularSylvester)
def _triangular_sylvester(op: Any, a: Any, b: Any, c: Any) -> Any:
    # PyTensor's op takes the second matrix as it is; reversed, the conjugate transpose is an upper triangle again
    second = pt.conj(pt.matrix_transpose(b))[..., ::-1, ::-1]
    solved: Any = Blockwise(TRSYL())
    return solved(a, second, c[..., ::-1])[..., ::-1]


@register_equal(BlockDiag)
def _block_diagonal(op: Any, *blocks: Any) -> Any:
    return pt.linalg.block_diag(*blocks)


@register_equal(Kron)
def _kronecker(op: Any, a: Any, b: Any) -> Any:
    return pt.linalg.kron(a, b) if a.type.ndim == b.type.ndim == 2 else NotImplemented


@register_equal(Eig, Eigvals)
def _eigen(op: Any, a: Any) -> Any:
    results = list(pt.linalg.eig(a))
    return results if isinstance(op, Eig) else results[0]


@register_equal(Eigh)
def _eigen_symmetric(op: Any, a: Any) -> Any:
    return list(pt.linalg.eigh(a, lower=op.lower))


@register_equal(Eigvalsh)
def _eigenvalues(op: Any, a: Any) -> Any:
    return pt.linalg.eigvalsh(a, None, lower=op.lower)


@register_equal(SVD, FullSVD)
def _singular(op: Any, a: Any) -> Any:
    return list(pt.linalg.svd(a, full_matrices=isinstance(op, FullSVD)))


@register_equal(SingularValues)
def _singular_values(op: Any, a: Any) -> Any:
    return pt.linalg.svd(a, compute_uv=False)


@register_equal(QR, FullQR)
def _qr(op: Any, a: Any) -> Any:
    return list(pt.linalg.qr(a, mode="full" if isinstance(op, FullQR) else "economic"))


@register_equal(QRTriangle)
def _triangle(op: Any, a: Any) -> Any:
    return pt.linalg.qr(a, mode="economic")[1]


@register_equal(QRPivots)
def _order_of_columns(op: Any, a: Any) -> Any:
    return pt.linalg.qr(a, mode="economic", pivoting=True)[2]


@register_equal(LuFactor)
def _lu_factor(op: Any, a: Any) -> Any:
    return list(pt.linalg.lu_factor(a))


@register_equal(PivotToPermutation)
def _permutation(op: Any, pivots: Any) -> Any:
    return Blockwise(PivotToPermutations(inverse=op.inverse))(pivots)


@register_equal(Schur)
def _schur(op: Any, a: Any) -> Any:
    return list(pt.linalg.schur(a, output=_output(a)))


@register_equal(QZ)
def _qz(op: Any, a: Any, b: Any) -> Any:
    return list(pt.linalg.qz(a, b, output=_output(a)))


@register_equal(SortedQZ)
def _sorted_qz(op: Any, a: Any, b: Any) -> Any:
    return list(pt.linalg.qz(a, b, output=_output(a), sort=op.sort, return_eigenvalues=True))


def _output(a: Any) -> str:
    return "complex" if a.type.dtype.startswith("complex") else "real"


@register_equal(Expm)
def _expm(op: Any, a: Any) -> Any:
    return pt.linalg.expm(a)
