"""Pseudoinverses (`pinv`), least squares (`lstsq`), ranks and condition numbers, computed from singular values.

Users call `pinv`, `lstsq`, `matrix_rank` and `cond` from `occelo.tensor.linalg`. The ops `Pinv` and `Lstsq` decompose
into `svd`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.create import broadcast_to
from occelo_graph.ops.elemwise.arithmetic import abs as abs_
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    gt,
    isfinite,
    lt,
    maximum,
    neq,
    switch,
)
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.reduce import all as all_
from occelo_graph.ops.reduce import any as any_
from occelo_graph.ops.reduce import max as max_
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import expand_dims, squeeze
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.factorizations.svd import svd, svdvals
from occelo_linalg.ops.gradient_formulas import (
    absent,
    as_column,
    as_row,
    from_triangle,
    real_dtype,
    require_finite,
)
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.matrix_op import (
    LinAlgError,
    MatrixOp,
    as_matrices,
    check_on_error,
    hermitian,
)
from occelo_linalg.ops.norms import norm
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Lstsq", "Pinv", "cond", "lstsq", "matrix_rank", "pinv"]


def _real(x: Any) -> Any:
    return x.real if is_complex(x.dtype) else x


def _largest(values: Any) -> Any:
    """The largest value of each vector, or 0 for an empty vector. The values are not negative. The last dimension is
    kept, with length 1.
    """
    zero = sum_(values, axis=-1, keepdims=True) * np.asarray(0, values.dtype)
    return max_(concatenate([values, zero], axis=-1), axis=-1, keepdims=True)


def _inverted(values: Any, relative: Any) -> Any:
    """The reciprocals of singular values, but 0 for values up to ``relative`` times the largest value."""
    large = gt(values, expand_dims(_real(relative), -1) * _largest(values))
    return switch(large, 1 / switch(large, values, 1), 0).astype(values.dtype)


@op
class Pinv(MatrixOp):
    """Computes pseudoinverses of matrices. The second input is a tolerance.

    Singular values up to the tolerance times the largest singular value count as 0.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(m,n),()->(n,m)"

    def core(self, *arrays: Array) -> Array:
        if arrays[0].size:
            require_finite(arrays[0])
        relative: Any = arrays[1]
        return np.linalg.pinv(arrays[0], relative.real)

    def decompose(self, *inputs: Any) -> list[Any]:
        a, relative = inputs
        u, s, vh = svd(a, full_matrices=False, on_error=self.on_error)
        scaled = hermitian(vh) * as_row(_inverted(s, relative))
        return [matmul(scaled, hermitian(u))]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # Golub and Pereyra (1973), The differentiation of pseudo-inverses and nonlinear least squares problems, equation 4.12
        a, p, ct = inputs[0], outputs[0], cotangents[0]
        if absent(ct):
            return [ct, ct]
        turned = hermitian(p)
        first = matmul(turned, matmul(ct, turned))
        # the parts of the cotangent that are orthogonal to the ranges of a and p
        right = ct - matmul(matmul(ct, a), p)
        left = ct - matmul(p, matmul(a, ct))
        second = hermitian(matmul(p, matmul(turned, right)))
        third = hermitian(matmul(left, matmul(turned, p)))
        return [second + third - first, ZERO]


@op
class Lstsq(MatrixOp):
    """Solves least-squares problems: for each column b of B, the shortest x for which b - A x has the least length.

    The inputs are A, B and a tolerance. Singular values of A up to the tolerance times the largest one count as 0.
    """

    on_error: str = "raise"
    signature: ClassVar[str] = "(m,n),(m,k),()->(n,k)"
    formula: ClassVar[str | None] = "{label}({0}, {1}, real({2}){options})[0]"

    def core(self, *arrays: Array) -> Array:
        a, b, tolerance = arrays
        if a.size:
            require_finite(a)
        relative: Any = tolerance
        return np.linalg.lstsq(a, b, float(relative.real))[0]

    def decompose(self, *inputs: Any) -> list[Any]:
        a, b, relative = inputs
        u, s, vh = svd(a, full_matrices=False, on_error=self.on_error)
        inner = as_column(_inverted(s, relative)) * matmul(hermitian(u), b)
        return [matmul(hermitian(vh), inner)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        # pulls back x = pinv(a) b
        a, b, relative = inputs
        x, ct = outputs[0], cotangents[0]
        if absent(ct):
            return [ct, ct, ct]
        p: Any = Pinv(self.on_error)(a, relative)
        turned = hermitian(p)
        of_b = matmul(turned, ct)
        rest = b - matmul(a, x)
        outside = ct - matmul(p, matmul(a, ct))
        of_a = (
            matmul(rest, hermitian(matmul(p, of_b)))
            + matmul(matmul(turned, x), hermitian(outside))
            - matmul(of_b, hermitian(x))
        )
        return [of_a, of_b, ZERO]


def _default_tolerance(x: Any) -> Any:
    """The machine epsilon times the larger one of the numbers of rows and columns of ``x``."""
    dtype = real_dtype(x.dtype)
    eps = np.asarray(np.finfo(dtype).eps, dtype)
    return maximum(x.shape[-2], x.shape[-1]).astype(dtype) * eps


@stands_for("linalg.pinv", "a rcond hermitian rtol")
def pinv(
    a: Any,
    rcond: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = "none",
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """The pseudoinverses of matrices ``a`` of shape (..., m, n), like NumPy's ``pinv``.

    Singular values up to ``rcond`` times the largest singular value count as 0. ``rtol`` is another name of ``rcond``.
    The default is 1e-15. ``rtol=None`` means the machine epsilon times the larger one of m and n. The tolerance may
    have batch dimensions. If ``hermitian`` is True, the upper triangle of ``a`` is not read. The result has the shape
    (..., n, m), and the precision of ``a``, or float64 for integers.

    The gradient assumes that the rank does not change. It is correct even if singular values are equal. The gradient
    with respect to the tolerance is 0. ValueError if ``rcond`` and ``rtol`` are both given. If a matrix has infinite or
    NaN elements, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the pseudoinverse of this matrix is
    NaN. ``options`` are SciPy's.
    """
    (x,) = as_matrices("pinv", a, options=options)
    relative = not (isinstance(rtol, str) and rtol == "none")
    if relative and rcond is not None:
        raise ValueError("rtol and rcond cannot be both set")
    if hermitian:
        x = from_triangle(x, True)
    tolerance: Any = rcond
    if rcond is None:
        tolerance = (_default_tolerance(x) if rtol is None else rtol) if relative else 1e-15
    invert = Pinv(check_on_error(on_error))
    inverse: TensorVariable = invert(x, as_tensor_variable(tolerance).astype(x.dtype))
    return inverse


@stands_for("linalg.lstsq", "a b rcond")
def lstsq(
    a: Any,
    b: Any,
    rcond: Any = None,
    *,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> tuple[TensorVariable, TensorVariable, TensorVariable, TensorVariable]:
    """Least-squares solutions of ``a @ x == b``, like NumPy's ``lstsq``, but also for batches.

    ``a`` has the shape (..., m, n), and ``b`` has the shape (m,) or (..., m, k). Singular values up to ``rcond`` times
    the largest singular value count as 0. The default of ``rcond`` is the machine epsilon times the larger one of m and
    n. If ``rcond`` is not between 0 and 1, it is replaced by half of the machine epsilon, as in LAPACK. There are four
    results:

    - the solutions ``x`` of least length, of shape (n,) or (..., n, k)
    - the sums of squared magnitudes of ``b - a @ x``, of shape (..., k) or (1,); empty unless m > n and all matrices
      have rank n
    - the ranks, int32, of shape (...)
    - the singular values of ``a``, of shape (..., min(m, n))

    The batch dimensions of ``a``, ``b`` and ``rcond`` broadcast.

    The gradient assumes that the rank does not change. It is correct even if singular values are equal. If a matrix has
    infinite or NaN elements, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``, the solutions and
    singular values of this matrix are NaN, and its rank is 0. ``options`` are SciPy's.
    """
    x, right = as_matrices("lstsq", a, b, options=options)
    if x.type.ndim < 2 or not right.type.ndim:
        raise ValueError(
            f"lstsq takes matrices a, and vectors or matrices b, got {x.type} and {right.type}"
        )
    vector = right.type.ndim == 1
    columns: Any = expand_dims(right, -1) if vector else right
    tolerance: Any = _default_tolerance(x)
    if rcond is not None:
        # like LAPACK's gelsd
        dtype = real_dtype(x.dtype)
        ratio: Any = as_tensor_variable(rcond).astype(dtype)
        eps = np.asarray(np.finfo(dtype).eps / 2, dtype)
        tolerance = switch(and_(gt(ratio, 0), gt(1, ratio)), ratio, eps)
    solution: Any = Lstsq(check_on_error(on_error))(x, columns, tolerance.astype(x.dtype))
    values: Any = svdvals(x, on_error=on_error)
    limit = expand_dims(tolerance.astype(values.dtype), -1) * _largest(values)
    rank = sum_(gt(values, limit), axis=-1, dtype="int32")
    size = abs_(columns - matmul(x, solution))
    squares: Any = sum_(size * size, axis=-2)
    m, n = x.shape[-2], x.shape[-1]
    full_rank = and_(gt(m, n), all_(eq(rank, n)))
    squares = squares[..., : switch(full_rank, squares.shape[-1], 0)]
    if solution.type.ndim > 2 and solution.type.shape[:-2] != values.type.shape[:-1]:
        batch = [solution.shape[i] for i in range(solution.type.ndim - 2)]
        rank, values = broadcast_to(rank, batch), broadcast_to(values, [*batch, values.shape[-1]])
    return (squeeze(solution, -1) if vector else solution), squares, rank, values


@stands_for("linalg.matrix_rank", "A tol hermitian rtol")
def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    rtol: Any = None,
    on_error: str = "raise",
) -> TensorVariable:
    """The ranks of matrices ``A`` as int64 numbers of shape (...), like NumPy's ``matrix_rank``.

    The rank is the number of singular values above a tolerance. ``tol`` is an absolute tolerance, and ``rtol`` is
    relative to the largest singular value. The default of ``rtol`` is the machine epsilon times the larger one of the
    numbers of rows and columns. The rank of a vector or scalar is 1, or 0 if all elements are 0. The rank has no
    gradient. With ``hermitian``, the upper triangle is not read. If a matrix has infinite or NaN elements, ``numpy.linalg.LinAlgError`` is raised. With ``on_error="nan"``,
    the rank of this matrix is 0. ValueError if both tolerances are given.
    """
    if tol is not None and rtol is not None:
        raise ValueError("tol and rtol cannot be both set")
    (x,) = as_matrices("matrix_rank", A)
    if x.type.ndim < 2:
        return any_(neq(x, 0)).astype("int64")
    values: Any = svd(x, compute_uv=False, hermitian=hermitian, on_error=on_error)
    if tol is None:
        relative: Any = _default_tolerance(x) if rtol is None else as_tensor_variable(rtol)
        tolerance = expand_dims(relative, -1) * _largest(values)
    else:
        tolerance = expand_dims(as_tensor_variable(tol), -1)
    return sum_(gt(values, tolerance), axis=-1, dtype="int64")


@stands_for("linalg.cond", "x p")
def cond(x: Any, p: Any = None) -> TensorVariable:
    """The condition numbers of matrices ``x``, of shape (...), like NumPy's ``cond``.

    If ``p`` is None or 2, the condition number is the largest singular value divided by the smallest. If ``p`` is -2,
    it is the smallest singular value divided by the largest. Otherwise it is the norm of order ``p`` (see `norm`) of
    the matrix, times the same norm of its inverse. The condition number is infinite for singular matrices, and NaN only
    for matrices with NaN. ``numpy.linalg.LinAlgError`` for matrices without elements. The gradient is computed from the
    gradients of singular values, inverses and norms.
    """
    (matrix,) = as_matrices("cond", x)
    if matrix.type.ndim < 2:
        raise ValueError(f"cond takes matrices, got {matrix.type}")
    matrix = _not_empty(matrix)
    if p is None or p in (2, -2):
        values: Any = svdvals(matrix, on_error="nan")
        first, last = values[..., 0], values[..., -1]
        ratio = last / first if p == -2 else first / last
        # not from the ratio: rules assume that a number divided by itself, the only singular value, is 1
        regular = and_(gt(first, 0), lt(first, np.inf))
    else:
        inverse = inv(matrix, on_error="nan")
        ratio = _norm_or_nan(matrix, p) * _norm_or_nan(inverse, p)
        regular = all_(and_(isfinite(matrix), isfinite(inverse)), axis=(-2, -1))
    whole = all_(eq(matrix, matrix), axis=(-2, -1))
    number = switch(whole, switch(regular, ratio, np.inf), np.nan)
    return number.astype(real_dtype(matrix.dtype))


def _not_empty(x: TensorVariable) -> TensorVariable:
    """The matrices ``x``, with a check that they have elements (LinAlgError)."""
    message = "cond is not defined for matrices without elements"
    sizes = x.type.shape[-2:]
    if 0 in sizes:
        raise LinAlgError(message)
    if None not in sizes:
        return x
    places = range(x.type.ndim - 2, x.type.ndim)
    checks = [neq(x.shape[i], 0) for i in places if x.type.shape[i] is None]
    checked: TensorVariable = CheckAndRaise(LinAlgError, message)(x, *checks)
    return checked


def _norm_or_nan(x: Any, p: Any) -> TensorVariable:
    if p == "nuc":
        return sum_(svdvals(x, on_error="nan"), axis=-1)
    return norm(x, p, axis=(-2, -1))
