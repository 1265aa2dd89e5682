"""The decomposition of the ops for Riccati equations, by generalised Schur forms with stable eigenvalues first.

The ops in `riccati` call `stabilizing_solution`. It forms a matrix pencil from the coefficients, and solves the
equation by the steps that SciPy takes. These steps are from Van Dooren (1981), A generalized eigenvalue approach for
solving Riccati equations, SIAM J. Sci. Stat. Comput. 2, 121-135, and Benner (2001), Symplectic balancing of Hamiltonian
matrices, SIAM J. Sci. Comput. 22, 1885-1904.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import eye, zeros_like
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    gt,
    invert,
    isfinite,
    le,
    maximum,
    or_,
    round,
    switch,
)
from occelo_graph.ops.elemwise.transcendental import exp2, log2
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.reduce import max as max_
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.factorizations.qr import FullQR
from occelo_linalg.ops.factorizations.qz import SortedQZ
from occelo_linalg.ops.factorizations.svd import SVD, svdvals
from occelo_linalg.ops.matrix_op import MatrixOp, hermitian
from occelo_linalg.ops.pinv import pinv

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

LinAlgError = np.linalg.LinAlgError
EPS = float(np.finfo("float64").eps)
LARGEST_RESIDUAL = 0.1
"""A solution with a larger residual, relative to the terms of the equation, is useless. Solutions of well-posed
equations have residuals of some roundings.
"""
RANK_LIMIT = 1e-10
"""The relative limit of the pseudoinverse in the equation for the feedback matrix (see `feedback`).

Singular values below this multiple of the largest singular value count as 0.
"""


@op
class BalancingScale(MatrixOp):
    """Powers of two that scale the rows and columns of a matrix so that their norms are similar.

    LAPACK's gebal computes them, without permutations.
    """

    signature: ClassVar[str] = "(n,n)->(n)"
    formula: ClassVar[str | None] = None

    def core(self, *arrays: Array) -> Array:
        (a,) = arrays
        if a.size == 0 or not np.isfinite(a).all():
            return np.ones_like(np.diagonal(a))
        balance: Any = scipy_module("linalg", "matrix_balance").matrix_balance
        _, (scale, _) = balance(a, separate=True, permute=False)
        return np.asarray(scale, a.dtype)

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [ZERO]


def stabilizing_solution(
    inputs: Sequence[Any], continuous: bool, balanced: bool, on_error: str
) -> Any:
    """The stabilizing solution of a Riccati equation, computed in double precision. ``inputs`` are A, B, Q and R,
    followed by S if the equation is in discrete time.

    As for all `MatrixOp`s, ``on_error`` is "raise" (an error if there is no solution) or "nan" (the result is NaN).
    """
    dtype = inputs[0].dtype
    wide = "complex128" if is_complex(dtype) else "float64"
    inputs = [cast(v, wide) for v in inputs]
    a, b, q, r, *cross = over_one_batch(*inputs)
    n, m = b.shape[-2], b.shape[-1]
    conditions = _Conditions(on_error)
    finite = _all_finite(a, b, q, r, *cross)
    symmetric = [le(_norm(v - hermitian(v)), 50 * EPS * _norm(v)) for v in (q, r)]
    a = conditions.add(a, finite)
    a = CheckAndRaise(ValueError, "q and r must be Hermitian")(
        a, *(or_(s, invert(finite)) for s in symmetric)
    )
    if continuous:
        values = svdvals(r, on_error=on_error)
        a = conditions.add(a, _all(gt(values, EPS * expand_dims(_norm(r), -1))))
    if continuous:
        left, right = _continuous(a, b, q, r)
    else:
        left, right = _discrete(a, b, q, r + cost_without_effect(b, r, *cross), *cross)
    scale: Any = None
    if balanced:
        scale = _symplectic_scale(abs_(left) + abs_(right), n)
        both = expand_dims(scale, -1) / expand_dims(scale, -2)
        left, right = left * both, right * both
    # eliminates the control; its columns are the last ones
    unitary, _ = FullQR()(left[..., :, 2 * n :], return_list=True)
    rest = hermitian(unitary[..., :, m:])
    pencil = [matmul(rest, x[..., :, : 2 * n]) for x in (left, right)]
    ordered = SortedQZ("lhp" if continuous else "iuc", on_error)
    *_, vectors = ordered(*pencil, return_list=True)
    above, below = vectors[..., :n, :n], vectors[..., n:, :n]
    values = svdvals(above, on_error=on_error)
    above = conditions.add(above, _all(gt(values, 4 * EPS * _largest(values))))
    product = matmul(hermitian(above), below)
    limit = maximum(1e-13, 0.1 * _norm(product))
    below = conditions.add(below, le(_norm(product - hermitian(product)), limit))
    solution = solve(hermitian(above), hermitian(below), b_ndim=2, on_error=on_error)
    if balanced:
        own = scale[..., :n]
        solution = solution * expand_dims(own, -1) * expand_dims(own, -2)
    solution = (solution + hermitian(solution)) * np.asarray(0.5, wide)
    solution = conditions.add(solution, _is_solution(a, b, q, r, cross, solution))
    return cast(conditions.settle(solution), dtype)


def equation_terms(
    x: Any, a: Any, b: Any, q: Any, gain: Any, cross: Any, adjoint: Callable[[Any], Any]
) -> list[Any]:
    """The terms of a Riccati equation, which sum to zero for its solution ``x``.

    ``gain`` is the feedback matrix (see `feedback`). ``cross`` is S in discrete time, and None in continuous time. All
    are arrays or all are variables. ``adjoint`` computes conjugate transposes.
    """
    if cross is None:
        own = x @ a
        return [own, adjoint(own), -(x @ b) @ gain, q]
    turned = adjoint(a) @ x
    return [turned @ a, -x, -(turned @ b + cross) @ gain, q]


def feedback(
    x: Any, a: Any, b: Any, r: Any, cross: Any, adjoint: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """The matrix and the right side of the equation for the feedback matrix. The arguments are as in `equation_terms`."""
    turned = adjoint(b) @ x
    if cross is None:
        return r, turned
    return r + turned @ b, turned @ a + adjoint(cross)


def _is_solution(a: Any, b: Any, q: Any, r: Any, cross: Sequence[Any], x: Any) -> Any:
    """For each element of the batch, whether ``x`` solves the equation, up to `LARGEST_RESIDUAL`.

    The feedback matrix is computed by `solve`. In discrete time it is also computed by a pseudoinverse, since the
    equation for it may be singular. Then ``x`` needs to solve the equation with only one of the two matrices.
    """
    own = cross[0] if cross else None
    matrix, right = feedback(x, a, b, r, own, hermitian)
    gains = [solve(matrix, right, b_ndim=2, on_error="nan")]
    if cross:
        gains.append(matmul(pinv(matrix, RANK_LIMIT, on_error="nan"), right))
    small: list[Any] = []
    for gain in gains:
        terms = equation_terms(x, a, b, q, gain, own, hermitian)
        limit = LARGEST_RESIDUAL * sum_terms([_norm(v) for v in terms])
        small.append(le(_norm(sum_terms(terms)), limit))
    return or_(*small) if cross else small[0]


def sum_terms(terms: Sequence[Any]) -> Any:
    """The sum of arrays or variables."""
    first, *rest = terms
    for each in rest:
        first = first + each
    return first


def nan_if_singular(e: Any) -> Any:
    """Matrices ``e``, with NaN in place of those that are singular numerically, as SciPy defines it.

    The equation that contains the NaN has no solution then. Its gradient is NaN, too.
    """
    values = svdvals(e, on_error="nan")
    least = cast(float(np.finfo(e.dtype).eps) * expand_dims(_norm(e), -1), values.dtype)
    usable = expand_dims(_all(gt(values, least)), (-2, -1))
    return e * switch(usable, np.ones((), values.dtype), np.full((), np.nan, values.dtype))


class _Conditions:
    """Collects conditions for a solution to exist, for each element of a batch.

    If a condition does not hold, an error is raised, or the solution becomes NaN.
    """

    def __init__(self, on_error: str) -> None:
        self.on_error = on_error
        self.all: list[Any] = []

    def add(self, value: Any, condition: Any) -> Any:
        """Add a condition. If ``on_error`` is "raise", the returned ``value`` has a run-time check of the condition."""
        if self.on_error == "raise":
            check = CheckAndRaise(LinAlgError, "there is no stabilizing solution")
            return check(value, condition)
        self.all.append(condition)
        return value

    def settle(self, x: Any) -> Any:
        """``x``, but NaN for elements of the batch for which a condition does not hold."""
        if not self.all:
            return x
        met = expand_dims(and_(*self.all), (-2, -1))
        return switch(met, x, np.asarray(np.nan, x.dtype))


def _rows(*blocks: Sequence[Any]) -> Any:
    """Join blocks into matrices. Each of ``blocks`` is a row of blocks."""
    return concatenate([concatenate(row, axis=-1) for row in blocks], axis=-2)


def _continuous(a: Any, b: Any, q: Any, r: Any) -> tuple[Any, Any]:
    """The matrix pencil of an equation in continuous time, as two matrices."""
    none, across = zeros_like(a), zeros_like(hermitian(b))
    one = none + eye(a.shape[-1], dtype=a.dtype)
    left = _rows([a, none, b], [-q, -hermitian(a), zeros_like(b)], [across, hermitian(b), r])
    right = _rows(
        [one, none, zeros_like(b)], [none, one, zeros_like(b)], [across, across, zeros_like(r)]
    )
    return left, right


def _discrete(a: Any, b: Any, q: Any, r: Any, s: Any) -> tuple[Any, Any]:
    """The matrix pencil of an equation in discrete time, as two matrices."""
    none, across = zeros_like(a), zeros_like(hermitian(b))
    one = none + eye(a.shape[-1], dtype=a.dtype)
    left = _rows([a, none, b], [-q, one, -s], [hermitian(s), across, r])
    right = _rows(
        [one, none, zeros_like(b)],
        [none, hermitian(a), zeros_like(b)],
        [across, -hermitian(b), zeros_like(r)],
    )
    return left, right


def over_one_batch(*matrices: Any) -> list[Any]:
    """The matrices, broadcast to one batch shape."""
    # zeros of that shape; adding them broadcasts the matrices
    none = sum(sum_(v[..., :0, :0], axis=(-2, -1)) for v in matrices)
    return [v + expand_dims(none, (-2, -1)) for v in matrices]


def cost_without_effect(b: Any, r: Any, s: Any) -> Any:
    """A multiple of the projector onto the controls u without effect and cost, for which B u, R u and S u are zero.

    With such controls the pencil is singular, and rounding would decide what its elimination leaves. To add this cost
    for them to R does not change the solution.
    """
    _, values, rows = SVD(on_error="nan")(concatenate([b, r, s], axis=-2), return_list=True)
    largest = _largest(values)
    none = le(values, EPS * cast(b.shape[-2] + b.shape[-1], values.dtype) * largest)
    kernel = rows * expand_dims(cast(none, rows.dtype), -1)
    cost = expand_dims(switch(gt(largest, 0.0), largest, 1.0), -1)
    return matmul(hermitian(kernel), kernel) * cost


def _symplectic_scale(sizes: Any, n: Any) -> Any:
    """Scale factors that balance a pencil and preserve its symplectic structure.

    ``sizes`` are the sums of the absolute values of corresponding elements of the pencil's two matrices. ``n`` is the
    number of states.
    """
    scale = BalancingScale()(sizes * (1 - eye(sizes.shape[-1])))
    half = round((log2(scale[..., n : 2 * n]) - log2(scale[..., :n])) * 0.5)
    return concatenate([exp2(half), exp2(-half), scale[..., 2 * n :]], axis=-1)


def _largest(values: Any) -> Any:
    """The largest of the nonnegative values of each vector, or 0 for an empty vector. The last dimension is kept, with
    length 1.
    """
    more = expand_dims(zeros_like(sum_(values, axis=-1)), -1)
    return max_(concatenate([values, more], axis=-1), axis=-1, keepdims=True)


def _norm(x: Any) -> Any:
    """The 1-norm of each matrix: the largest column sum of absolute values."""
    return _largest(sum_(abs_(x), axis=-2))[..., 0]


def _all(conditions: Any) -> Any:
    """For each vector of booleans, whether all are True."""
    return all_(conditions, axis=-1)


def _all_finite(*matrices: Any) -> Any:
    """For each element of the batch, whether all elements of all matrices are finite."""
    return and_(*(all_(isfinite(x), axis=(-2, -1)) for x in matrices))
