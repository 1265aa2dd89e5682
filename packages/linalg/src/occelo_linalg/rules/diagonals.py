"""Rules for diagonal and triangular matrices: inverses, decompositions and equations that need no factorisation.

`pipeline` puts them into the stages canonicalize and specialize.
"""

from __future__ import annotations

import numpy as np

from occelo_graph import FunctionGraph, TensorApply, TensorVariable
from occelo_graph import tensor as ot
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.sylvester import (
    DiscreteLyapunov,
    Lyapunov,
    Sylvester,
    TriangularSylvester,
)
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.factorizations.lu import LuFactor
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRTriangle
from occelo_linalg.ops.factorizations.schur import Schur
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_functions import Expm, Logm, Sqrtm
from occelo_linalg.ops.pinv import Pinv
from occelo_rewrite.matrices import (
    adjoint,
    ascending_order,
    diagonal_of,
    has,
    is_square,
    preceding,
    product,
    with_diagonal,
)
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter

CHANGES = ("stabler", "comparison", "overflow", "finite", "singular")


def _diagonal(fgraph: FunctionGraph, x: TensorVariable) -> TensorVariable | None:
    """The diagonals of square matrices that are known to be diagonal; None for other matrices."""
    if not has(fgraph, x, "diagonal") or not is_square(fgraph, x):
        return None
    return diagonal_of(x)


def _ones(d: TensorVariable) -> TensorVariable:
    """Identity matrices: a diagonal of ones for each vector of ``d``."""
    return with_diagonal(ot.ones_like(d))


def _checked(label: str, d: TensorVariable, fails: TensorVariable) -> TensorVariable:
    """The diagonals ``d``, with a check that raises LinAlgError if an element of ``fails`` is true."""
    check = CheckAndRaise(np.linalg.LinAlgError, f"{label} of a singular or indefinite matrix")
    checked: TensorVariable = check(d, ot.invert(fails).all())
    return checked


@node_rewriter([Inv], tags=("rounding", "finite"))
def inverse_of_diagonal(fgraph: FunctionGraph, node: TensorApply[Inv]) -> Replacements:
    """inv(diag(d)) = diag(1 / d), with a check that raises an error for a zero in d."""
    d = _diagonal(fgraph, node.inputs[0])
    if d is None or node.op.on_error != "raise":
        return None
    return [with_diagonal(ot.reciprocal(_checked("inv", d, ot.eq(d, 0))))]


@node_rewriter([Eigvalsh, Eigh, SingularValues], tags=(*CHANGES, "arbitrary"))
def spectrum_of_diagonal(
    fgraph: FunctionGraph, node: TensorApply[Eigvalsh | Eigh | SingularValues]
) -> Replacements:
    """eigvalsh(diag(d)) = d in ascending order, and svdvals(diag(d)) = |d| in descending order.

    The eigenvectors of eigh are unit vectors in the same order.
    """
    (x,) = node.inputs
    if x.type.ndim != 2 or node.op.on_error != "raise":
        return None
    d = _diagonal(fgraph, x)
    if d is None:
        return None
    if isinstance(node.op, SingularValues):
        sizes = ot.abs(d)
        return [sizes[ascending_order(-sizes)]]
    d = d.real if is_complex(d.type.dtype) else d
    order = ascending_order(d)
    if isinstance(node.op, Eigvalsh):
        return [d[order]]
    return [d[order], ot.eye(d.shape[0], dtype=x.type.dtype)[:, order]]


@node_rewriter([Eigvalsh, SingularValues], tags=CHANGES)
def values_of_diagonals(
    fgraph: FunctionGraph, node: TensorApply[Eigvalsh | SingularValues]
) -> Replacements:
    """`spectrum_of_diagonal` for batches of matrices."""
    (x,) = node.inputs
    if x.type.ndim == 2 or node.op.on_error != "raise":
        return None
    d = _diagonal(fgraph, x)
    if d is None:
        return None
    if isinstance(node.op, SingularValues):
        sizes = ot.abs(d)
        return [_in_order(sizes, preceding(-sizes))]
    d = d.real if is_complex(d.type.dtype) else d
    return [_in_order(d, preceding(d))]


def _in_order(values: TensorVariable, places: TensorVariable) -> TensorVariable:
    """Vectors with their elements moved to the positions ``places``."""
    mine = ot.eq(ot.expand_dims(places, -2), ot.expand_dims(ot.arange(values.shape[-1]), -1))
    return ot.switch(mine, ot.expand_dims(values, -2), 0).sum(axis=-1).astype(values.type.dtype)


@node_rewriter([SVD, FullSVD], tags=(*CHANGES, "arbitrary"))
def svd_of_diagonal(fgraph: FunctionGraph, node: TensorApply[SVD | FullSVD]) -> Replacements:
    """svd(diag(d)) = (U, S, V^H), with |d| in descending order as S, and unit vectors as the columns of V.

    The columns of U are the same unit vectors times the signs of d.
    """
    (x,) = node.inputs
    if x.type.ndim != 2 or node.op.on_error != "raise":
        return None
    d = _diagonal(fgraph, x)
    if d is None:
        return None
    sizes = ot.abs(d)
    order = ascending_order(-sizes)
    phases = ot.switch(ot.eq(d, 0), 1, ot.sgn(d)).astype(d.type.dtype)
    vectors = ot.eye(d.shape[0], dtype=x.type.dtype)[:, order]
    return [vectors * phases[order], sizes[order], ot.matrix_transpose(vectors)]


@node_rewriter([QR, FullQR, QRTriangle], tags=("rounding", "finite", "singular"))
def qr_of_triangular(
    fgraph: FunctionGraph, node: TensorApply[QR | FullQR | QRTriangle]
) -> Replacements:
    """qr(x) = (1, x), for a real upper triangular x.

    (For a column that is 0 below the diagonal, LAPACK's reflector is the identity.)
    """
    (x,) = node.inputs
    if is_complex(x.type.dtype):
        return None
    if not has(fgraph, x, "upper_triangular") or not is_square(fgraph, x):
        return None
    return [x] if isinstance(node.op, QRTriangle) else [_ones(diagonal_of(x)), x]


@node_rewriter([LuFactor], tags=("rounding", "finite", "singular"))
def lu_of_triangular(fgraph: FunctionGraph, node: TensorApply[LuFactor]) -> Replacements:
    """lu_factor(x) = x without row exchanges, for an upper triangular x, since L = 1 and U = x."""
    (x,) = node.inputs
    if not has(fgraph, x, "upper_triangular") or not is_square(fgraph, x):
        return None
    d = diagonal_of(x)
    pivots = ot.arange(d.shape[-1], dtype="int32") + ot.zeros_like(d, dtype="int32")
    return [x, pivots]


@node_rewriter([Schur], tags=(*CHANGES, "arbitrary"))
def schur_of_triangular(fgraph: FunctionGraph, node: TensorApply[Schur]) -> Replacements:
    """schur(x) = (x, 1), for an upper triangular x, which is its own Schur form."""
    (x,) = node.inputs
    if node.op.on_error != "raise" or not is_square(fgraph, x):
        return None
    return [x, _ones(diagonal_of(x))] if has(fgraph, x, "upper_triangular") else None


@node_rewriter([Expm, Logm, Sqrtm], tags=CHANGES)
def function_of_diagonal(
    fgraph: FunctionGraph, node: TensorApply[Expm | Logm | Sqrtm]
) -> Replacements:
    """expm(diag(d)) = diag(exp(d)), logm(diag(d)) = diag(log(d)) and sqrtm(diag(d)) = diag(sqrt(d)).

    A check raises an error for a real matrix without a real logarithm or root.
    """
    d = _diagonal(fgraph, node.inputs[0])
    if d is None:
        return None
    op, real = node.op, not is_complex(node.inputs[0].type.dtype)
    if isinstance(op, Expm):
        return [with_diagonal(ot.exp(d))]
    if op.on_error != "raise":
        return None
    if isinstance(op, Logm):
        return [with_diagonal(ot.log(_checked("logm", d, ot.le(d, 0) if real else ot.eq(d, 0))))]
    return [with_diagonal(ot.sqrt(_checked("sqrtm", d, ot.lt(d, 0)) if real else d))]


@node_rewriter([Pinv], tags=CHANGES)
def pinv_of_diagonal(fgraph: FunctionGraph, node: TensorApply[Pinv]) -> Replacements:
    """pinv(diag(d)) = diag(1 / d), with 0 in place of 1 / d for elements that are small relative to the largest."""
    x, relative = node.inputs
    d = None if x.type.ndim != 2 or relative.type.ndim else _diagonal(fgraph, x)
    if d is None or node.op.on_error != "raise":
        return None
    limit = relative.real if is_complex(relative.type.dtype) else relative
    sizes = ot.abs(d)
    # a 0 is appended, since empty matrices have no largest element
    limit = limit * ot.max(ot.concatenate([sizes, ot.zeros(1, sizes.type.dtype)]))
    small = ot.le(sizes, limit)
    inverted = ot.switch(small, 0, ot.reciprocal(ot.switch(small, 1, d)))
    return [with_diagonal(inverted.astype(x.type.dtype))]


def _perturbed(total: TensorVariable, size: TensorVariable) -> TensorVariable:
    """The sums ``total`` of two eigenvalues, with small numbers in place of zeros, as in LAPACK's trsyl.

    ``size`` is the absolute value of one of the two eigenvalues.
    """
    limits = np.finfo(total.type.dtype)
    small = ot.maximum(size * limits.eps, limits.tiny / limits.eps)
    return ot.switch(ot.eq(total, 0), small.astype(total.type.dtype), total)


@node_rewriter([Sylvester], tags=CHANGES)
def sylvester_of_diagonals(fgraph: FunctionGraph, node: TensorApply[Sylvester]) -> Replacements:
    """solve_sylvester(A, B, q) = q_ij / (a_i + b_j), for diagonal A and B.

    This solves A x + x B = q. Sums a_i + b_j that are 0 are replaced by small numbers, as in LAPACK.
    """
    a, b, q = node.inputs
    if node.op.on_error != "raise":
        return None
    if not has(fgraph, a, "diagonal") or not has(fgraph, b, "diagonal"):
        return None
    d = ot.expand_dims(diagonal_of(a), -1)
    return [q / _perturbed(d + ot.expand_dims(diagonal_of(b), -2), ot.abs(d))]


@node_rewriter([Sylvester], tags=CHANGES)
def sylvester_of_triangular(fgraph: FunctionGraph, node: TensorApply[Sylvester]) -> Replacements:
    """solve_sylvester(A, B, q) without a Schur decomposition of an upper triangular A or a lower triangular B.

    Such a matrix is its own Schur form.
    """
    a, b, q = node.inputs
    if node.op.on_error != "raise":
        return None
    left, right = has(fgraph, a, "upper_triangular"), has(fgraph, b, "lower_triangular")
    if not (left or right):
        return None
    r, s = a, adjoint(b)
    unitary: list[TensorVariable | None] = [None, None]
    if not left:
        r, unitary[0] = Schur()(a, return_list=True)
    if not right:
        s, unitary[1] = Schur()(s, return_list=True)
    u, v = unitary
    q = q if u is None else product(adjoint(u), q)
    solution: TensorVariable = TriangularSylvester()(r, s, q if v is None else product(q, v))
    solution = solution if u is None else product(u, solution)
    return [solution if v is None else product(solution, adjoint(v))]


@node_rewriter([Lyapunov], tags=CHANGES)
def lyapunov_of_triangular(fgraph: FunctionGraph, node: TensorApply[Lyapunov]) -> Replacements:
    """solve_continuous_lyapunov(A, q) without a Schur decomposition, for an upper triangular A.

    Such a matrix is its own Schur form.
    """
    a, q = node.inputs
    if node.op.on_error != "raise" or not has(fgraph, a, "upper_triangular"):
        return None
    return [TriangularSylvester()(a, a, q)]


@node_rewriter([Lyapunov, DiscreteLyapunov], tags=CHANGES)
def lyapunov_of_diagonal(
    fgraph: FunctionGraph, node: TensorApply[Lyapunov | DiscreteLyapunov]
) -> Replacements:
    """solve_continuous_lyapunov(A, q) = q_ij / (a_i + a*_j), for diagonal A; the equation is A x + x A^H = q.

    solve_discrete_lyapunov(A, q) = q_ij / (1 - a_i a*_j); the equation is x = A x A^H + q. If a divisor is 0, the
    equation has no unique solution. Then a small number replaces the divisor of the first equation, as in LAPACK, and a
    check raises an error for the second equation.
    """
    a, q = node.inputs
    if node.op.on_error != "raise" or not has(fgraph, a, "diagonal"):
        return None
    d = diagonal_of(a)
    turned = ot.expand_dims(d.conj() if is_complex(d.type.dtype) else d, -2)
    d = ot.expand_dims(d, -1)
    if isinstance(node.op, Lyapunov):
        return [q / _perturbed(d + turned, ot.abs(d))]
    total = 1 - d * turned
    return [q / _checked("solve_discrete_lyapunov", total, ot.eq(total, 0))]


CANONICALIZE = RuleSet(
    (
        inverse_of_diagonal,
        spectrum_of_diagonal,
        values_of_diagonals,
        svd_of_diagonal,
        qr_of_triangular,
        lu_of_triangular,
        schur_of_triangular,
        function_of_diagonal,
        pinv_of_diagonal,
        sylvester_of_diagonals,
        lyapunov_of_diagonal,
    ),
    "diagonal and triangular matrices",
)
# These rules come late: `Schur` has no gradient, so gradients must be computed before.
SPECIALIZE = RuleSet((sylvester_of_triangular, lyapunov_of_triangular), "triangular matrices")
