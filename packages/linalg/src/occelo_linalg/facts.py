"""Inference of facts about the results of linear algebra.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of an op of linear algebra.
For instance, Cholesky factors are triangular, and the inverse of a diagonal matrix is diagonal.
"""

from __future__ import annotations

from occelo_graph import TensorApply, TensorVariable, computed_by
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.block_matrices import BlockDiag, Kron
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky, CholeskyPullback
from occelo_linalg.ops.factorizations.eigh import Eigh
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRTriangle
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_functions import Expm
from occelo_rewrite.assumptions.inference import Ask, infers, infers_many
from occelo_rewrite.assumptions.shape import are_transposes

_KEPT_BY_INVERSES = frozenset(
    "diagonal lower_triangular upper_triangular symmetric hermitian positive_definite orthogonal permutation".split()
)
_KEPT_BY_EXPONENTIALS = frozenset(
    "diagonal lower_triangular upper_triangular symmetric hermitian".split()
)


def _factor(node: TensorApply, ask: Ask) -> bool | None:
    return True


infers("lower_triangular", Cholesky)(_factor)
infers("lower_triangular", CholeskyPullback)(_factor)


@infers("diagonal", Cholesky)
def _diagonal_factor(node: TensorApply[Cholesky], ask: Ask) -> bool | None:
    return ask(node.inputs[0], "diagonal") or None


@infers_many(Inv)
def _inverse(node: TensorApply[Inv], fact: str, ask: Ask) -> bool | None:
    (x,) = node.inputs
    if fact == "unit_diagonal":
        triangular = ask(x, "lower_triangular") or ask(x, "upper_triangular")
        return True if triangular and ask(x, fact) else None
    return True if fact in _KEPT_BY_INVERSES and ask(x, fact) else None


@infers_many(Expm)
def _exponential(node: TensorApply[Expm], fact: str, ask: Ask) -> bool | None:
    (x,) = node.inputs
    if fact == "positive_definite":
        return ask(x, "hermitian") or None
    return True if fact in _KEPT_BY_EXPONENTIALS and ask(x, fact) else None


@infers("lower_triangular", SolveTriangular)
def _solved_lower(node: TensorApply[SolveTriangular], ask: Ask) -> bool | None:
    return True if node.op.lower and ask(node.inputs[1], "lower_triangular") else None


@infers("upper_triangular", SolveTriangular)
def _solved_upper(node: TensorApply[SolveTriangular], ask: Ask) -> bool | None:
    return True if not node.op.lower and ask(node.inputs[1], "upper_triangular") else None


@infers("positive_definite", Dot, MatMul)
def _factor_times_its_transpose(node: TensorApply, ask: Ask) -> bool | None:
    """Whether a product is positive definite because it is L L^H for a Cholesky factor L.

    (If a matrix has no Cholesky factor, computing it raises an error, or L is NaN.)
    """
    x, y = node.inputs
    if computed_by(x, Cholesky) is None or computed_by(y, Cholesky) is not None:
        return None
    return True if are_transposes(x, y, True) else None


@infers("positive_semidefinite", Dot, MatMul)
def _between_solutions(node: TensorApply, ask: Ask) -> bool | None:
    """Whether a product is positive semidefinite because it is A^H solve(S, A) for a positive semidefinite S."""
    x, y = node.inputs
    solution = computed_by(y, Solve)
    if solution is None or not are_transposes(x, solution.inputs[1], True):
        return None
    semidefinite = solution.op.assume_a == "pos" or ask(solution.inputs[0], "positive_semidefinite")
    return True if semidefinite else None


_OF_ANY_BLOCKS = frozenset(
    "symmetric hermitian positive_definite positive_semidefinite orthogonal permutation selection".split()
)
_OF_SQUARE_BLOCKS = frozenset("diagonal lower_triangular upper_triangular unit_diagonal".split())


@infers_many(Kron, BlockDiag)
def _made_of_blocks(node: TensorApply[Kron | BlockDiag], fact: str, ask: Ask) -> bool | None:
    """Whether the fact holds for a Kronecker product or a block-diagonal matrix because it holds for all blocks."""
    if fact == "tridiagonal" and isinstance(node.op, Kron):
        return None
    if fact in _OF_SQUARE_BLOCKS or fact == "tridiagonal":
        if not all(_is_known_square(v, ask) for v in node.inputs):
            return None
    elif fact not in _OF_ANY_BLOCKS:
        return None
    return True if all(ask(v, fact) for v in node.inputs) else None


def _is_known_square(x: TensorVariable, ask: Ask) -> bool:
    rows, columns = x.type.shape[-2:]
    if rows is not None and rows == columns:
        return True
    if computed_by(x, Cholesky, Inv, Expm) is not None:
        return True
    return any(ask(x, f) for f in ("hermitian", "symmetric", "orthogonal"))


# facts about results of decompositions


def _is_real_square(node: TensorApply) -> bool:
    """Whether the node's input is a real matrix of square static shape, so that its unitary factors are orthogonal."""
    rows, columns = node.inputs[0].type.shape[-2:]
    real = not is_complex(node.inputs[0].type.dtype)
    return real and rows is not None and rows == columns


def _unitary(node: TensorApply, ask: Ask) -> bool | None:
    return True if _is_real_square(node) else None


for _op in (SVD, FullSVD, QR, FullQR):
    infers("orthogonal", _op)(_unitary)
for _op in (SVD, FullSVD):
    infers("orthogonal", _op, output=2)(_unitary)


@infers("orthogonal", Eigh, output=1)
def _eigenvectors(node: TensorApply[Eigh], ask: Ask) -> bool | None:
    return True if not is_complex(node.inputs[0].type.dtype) else None


def _always(node: TensorApply, ask: Ask) -> bool | None:
    return True


infers("upper_triangular", QRTriangle)(_always)
infers("nonnegative", SingularValues)(_always)
for _op in (QR, FullQR):
    infers("upper_triangular", _op, output=1)(_always)
for _op in (SVD, FullSVD):
    infers("nonnegative", _op, output=1)(_always)
