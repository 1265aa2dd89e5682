"""Lowerings of linear algebra for JAX and PyTorch, whose functions accept batches of matrices.

`occelo_link.traced.linker` imports this module when linear algebra is first used, to register the lowerings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_graph import TensorApply
from occelo_graph.ops.batching import parse_signature
from occelo_linalg.ops.equations.banded import SolveBanded, SolvePositiveBanded
from occelo_linalg.ops.equations.solve import Solve
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.factorizations.eig import Eig, Eigvals
from occelo_linalg.ops.factorizations.eigh import Eigh, Eigvalsh
from occelo_linalg.ops.factorizations.householder import HouseholderProduct
from occelo_linalg.ops.factorizations.lu import LuFactor, PivotToPermutation
from occelo_linalg.ops.factorizations.qr import QR, FullQR, QRTriangle
from occelo_linalg.ops.factorizations.svd import SVD, FullSVD, SingularValues
from occelo_linalg.ops.inverse import Inv
from occelo_linalg.ops.matrix_functions import Expm
from occelo_linalg.ops.matrix_op import MatrixOp
from occelo_link.traced.arrays import Arrays
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer


def _operands(tracer: Tracer, node: TensorApply[MatrixOp], inputs: Sequence[Array]) -> list[Array]:
    """Return the inputs, broadcast to the same batch dimensions. Raises ValueError if their shapes do not fit."""
    arrays = [tracer.array(x) for x in inputs]
    shapes = [tuple(int(n) for n in x.shape) for x in arrays]
    node.op.check_shapes([v.type for v in node.inputs], shapes)
    names, _ = parse_signature(node.op.signature)
    extras = [len(s) - len(own) for s, own in zip(shapes, names, strict=True)]
    batch = np.broadcast_shapes(*(s[:k] for s, k in zip(shapes, extras, strict=True)))
    return [
        x if s[:k] == batch else tracer.arrays.broadcast(x, (*batch, *s[k:]))
        for x, s, k in zip(arrays, shapes, extras, strict=True)
    ]


def _settled(tracer: Tracer, on_error: str, result: Array, good: Array) -> Array:
    """Return the result of an op that may fail, as the op's ``on_error`` says.

    ``good`` tells for each matrix whether the op has succeeded. If ``on_error`` is "raise", a check that ``good`` is
    true everywhere is added. Otherwise the results of failed matrices are NaN.
    """
    arrays = tracer.arrays
    if on_error == "raise":
        every = arrays.reduce("and", good, range(len(good.shape))) if len(good.shape) else good
        tracer.check(every)
        return result
    shape = tuple(int(n) for n in result.shape)
    ones = [1] * (len(shape) - len(good.shape))
    whole = arrays.broadcast(arrays.reshape(good, (*good.shape, *ones)), shape)
    nan = arrays.constant(np.full(shape, np.nan, arrays.dtype(result)))
    return arrays.where(whole, result, nan)


def _cholesky(arrays: Arrays, x: Array) -> tuple[Array, Array]:
    """Return the Cholesky factors of matrices, and for each matrix whether it is positive definite.

    Only the lower triangles are read. As in NumPy, a matrix with NaN does not fail: its factor is NaN.
    """
    factor, good = arrays.cholesky(x)
    shape = tuple(int(n) for n in x.shape)
    read = arrays.constant(np.tri(shape[-1], dtype=bool))
    missing = arrays.apply("and", arrays.apply("neq", x, x), arrays.broadcast(read, shape))
    unknown = arrays.reduce("or", missing, [len(shape) - 2, len(shape) - 1])
    whole = arrays.broadcast(arrays.reshape(unknown, (*shape[:-2], 1, 1)), shape)
    nan = arrays.constant(np.tril(np.full(shape[-2:], np.nan, arrays.dtype(x))))
    return arrays.where(whole, arrays.broadcast(nan, shape), factor), arrays.apply(
        "or", good, unknown
    )


@traces(Cholesky)
def lower_cholesky(
    tracer: Tracer, node: TensorApply[Cholesky], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return [x]
    factor, good = _cholesky(tracer.arrays, x)
    return [_settled(tracer, node.op.on_error, factor, good)]


@traces(SolveTriangular)
def lower_solve_triangular(
    tracer: Tracer, node: TensorApply[SolveTriangular], inputs: list[Array]
) -> Sequence[Array]:
    a, b = _operands(tracer, node, inputs)
    op, arrays = node.op, tracer.arrays
    if 0 in b.shape:
        return [b]
    result = arrays.solve_triangular(a, b, op.lower, op.unit_diagonal)
    if op.unit_diagonal:
        return [result]
    ndim = len(a.shape)
    pivots = arrays.diagonal(a, 0, ndim - 2, ndim - 1)
    good = arrays.reduce("and", arrays.apply("neq", pivots, 0), [ndim - 2])
    return [_settled(tracer, op.on_error, result, good)]


@traces(LuFactor)
def lower_lu_factor(
    tracer: Tracer, node: TensorApply[LuFactor], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        least = min(x.shape[-2:])
        return [x, tracer.arrays.constant(np.zeros((*x.shape[:-2], least), "int32"))]
    return list(tracer.arrays.lu(x))


@traces(PivotToPermutation)
def lower_pivot_to_permutation(
    tracer: Tracer, node: TensorApply[PivotToPermutation], inputs: list[Array]
) -> Sequence[Array]:
    arrays = tracer.arrays
    pivots = tracer.array(inputs[0])
    if 0 in pivots.shape:
        return [arrays.cast(pivots, "int64")]
    inside = arrays.apply(
        "and", arrays.apply("le", 0, pivots), arrays.apply("lt", pivots, int(pivots.shape[-1]))
    )
    tracer.check(arrays.reduce("and", inside, range(len(pivots.shape))))
    order = arrays.permutation(arrays.cast(pivots, "int32"), int(pivots.shape[-1]))
    return [order if node.op.inverse else arrays.argsort(order)]


def _solution(tracer: Tracer, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the solutions of equations with general matrices, and for each matrix whether it is regular.

    Both arguments have the same batch dimensions.
    """
    arrays = tracer.arrays
    factors, pivots = arrays.lu(a)
    solved = arrays.lu_solve(factors, pivots, b)
    return solved, _has_no_zero(tracer, factors)


def _has_no_zero(tracer: Tracer, matrices: Array) -> Array:
    """Return for each matrix whether its diagonal contains no 0."""
    arrays, ndim = tracer.arrays, len(matrices.shape)
    diagonal = arrays.diagonal(matrices, 0, ndim - 2, ndim - 1)
    return arrays.reduce("and", arrays.apply("neq", diagonal, 0), [ndim - 2])


def _mirrored(tracer: Tracer, a: Array, conjugate: bool) -> Array:
    """Return symmetric or Hermitian matrices, made from lower triangles. The diagonal of a Hermitian matrix is made
    real.
    """
    arrays, n = tracer.arrays, int(a.shape[-1])
    turned = _transposed(arrays, a)
    below = arrays.broadcast(arrays.constant(np.tri(n, k=-1, dtype=bool)), a.shape)
    if not conjugate or not np.issubdtype(arrays.dtype(a), np.complexfloating):
        return arrays.where(below, a, arrays.where(_transposed(arrays, below), turned, a))
    turned = arrays.apply("conj", turned)
    half = arrays.apply("mul", arrays.apply("add", a, turned), 0.5)
    return arrays.where(below, a, arrays.where(_transposed(arrays, below), turned, half))


def _transposed(arrays: Arrays, x: Array) -> Array:
    ndim = len(x.shape)
    return arrays.transpose(x, [*range(ndim - 2), ndim - 1, ndim - 2])


def _positive_solution(arrays: Arrays, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the solutions of equations, and for each matrix whether it is positive definite.

    Only the lower triangles of the matrices are read.
    """
    factor, good = _cholesky(arrays, a)
    half = arrays.solve_triangular(factor, b, True, False)
    turned = _transposed(arrays, factor)
    if np.issubdtype(arrays.dtype(a), np.complexfloating):
        turned = arrays.apply("conj", turned)
    return arrays.solve_triangular(turned, half, False, False), good


@traces(Solve)
def lower_solve(tracer: Tracer, node: TensorApply[Solve], inputs: list[Array]) -> Sequence[Array]:
    a, b = _operands(tracer, node, inputs)
    op, arrays = node.op, tracer.arrays
    if 0 in b.shape:
        return [b]
    if op.assume_a == "diagonal":
        ndim = len(a.shape)
        pivots = arrays.diagonal(a, 0, ndim - 2, ndim - 1)
        wide = arrays.broadcast(arrays.reshape(pivots, (*pivots.shape, 1)), b.shape)
        result, good = arrays.apply("true_div", b, wide), _has_no_zero(tracer, a)
    elif op.assume_a == "pos":
        result, good = _positive_solution(arrays, a, b)
    elif op.assume_a == "gen":
        result, good = _solution(tracer, a, b)
    else:
        fine, finite = _where_finite(tracer, a, "L")
        result, good = _solution(tracer, _mirrored(tracer, fine, op.assume_a == "her"), b)
        result = _settled(tracer, "nan", result, finite)
        good = arrays.apply("or", good, arrays.apply("invert", finite))
    return [_settled(tracer, op.on_error, result, good)]


@traces(Inv)
def lower_inv(tracer: Tracer, node: TensorApply[Inv], inputs: list[Array]) -> Sequence[Array]:
    (a,) = _operands(tracer, node, inputs)
    if 0 in a.shape:
        return [a]
    arrays = tracer.arrays
    eye = arrays.constant(np.eye(int(a.shape[-1]), dtype=arrays.dtype(a)))
    result, good = _solution(tracer, a, arrays.broadcast(eye, a.shape))
    return [_settled(tracer, node.op.on_error, result, good)]


def _where_finite(tracer: Tracer, x: Array, uplo: str = "") -> tuple[Array, Array]:
    """Return the matrices, with zeros in place of each matrix that is not finite, and for each matrix whether it is
    finite.

    If ``uplo`` is "L" or "U", only elements of the lower or upper triangle count.
    """
    arrays = tracer.arrays
    shape = tuple(int(n) for n in x.shape)
    difference = arrays.apply("sub", x, x)
    fine = arrays.apply("eq", difference, 0)
    if uplo:
        outside = np.logical_not((np.tril if uplo == "L" else np.triu)(np.ones(shape, bool)))
        fine = arrays.apply("or", fine, arrays.constant(outside))
    good = arrays.reduce("and", fine, [len(shape) - 2, len(shape) - 1])
    zeros = arrays.constant(np.zeros(shape, arrays.dtype(x)))
    whole = arrays.broadcast(arrays.reshape(good, (*shape[:-2], 1, 1)), shape)
    return arrays.where(whole, x, zeros), good


def _of_empty(tracer: Tracer, node: TensorApply[MatrixOp], x: Array) -> list[Array]:
    """Return the results for matrices without elements. They do not depend on values."""
    zeros = np.zeros(tuple(int(n) for n in x.shape), tracer.arrays.dtype(x))
    return [tracer.arrays.constant(r) for r in node.op.evaluate(zeros)]


@traces(Eigh, Eigvalsh)
def lower_eigh(
    tracer: Tracer, node: TensorApply[Eigh | Eigvalsh], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return _of_empty(tracer, node, x)
    op = node.op
    fine, good = _where_finite(tracer, x, "L" if op.lower else "U")
    results = tracer.arrays.eigh(fine, op.lower, len(node.outputs) == 2)
    return [_settled(tracer, op.on_error, r, good) for r in results]


@traces(Eig, Eigvals)
def lower_eig(
    tracer: Tracer, node: TensorApply[Eig | Eigvals], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    arrays, dtype = tracer.arrays, node.outputs[0].type.dtype
    if 0 in x.shape:
        return [arrays.cast(r, dtype) for r in _of_empty(tracer, node, x)]
    # as in NumPy, eigenvalues are always computed in double precision
    complex_ = np.issubdtype(arrays.dtype(x), np.complexfloating)
    fine, good = _where_finite(tracer, arrays.cast(x, "complex128" if complex_ else "float64"))
    results = arrays.eig(fine, len(node.outputs) == 2)
    if results is None:
        outputs: Sequence[Array] = fall_back(tracer, node, inputs)
        return outputs
    return [_settled(tracer, node.op.on_error, arrays.cast(r, dtype), good) for r in results]


@traces(SVD, FullSVD, SingularValues)
def lower_svd(
    tracer: Tracer, node: TensorApply[SVD | FullSVD | SingularValues], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return _of_empty(tracer, node, x)
    fine, good = _where_finite(tracer, x)
    results = tracer.arrays.svd(fine, isinstance(node.op, FullSVD), len(node.outputs) == 3)
    return [_settled(tracer, node.op.on_error, r, good) for r in results]


@traces(QR, FullQR, QRTriangle)
def lower_qr(
    tracer: Tracer, node: TensorApply[QR | FullQR | QRTriangle], inputs: list[Array]
) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return _of_empty(tracer, node, x)
    results = tracer.arrays.qr(x, isinstance(node.op, FullQR))
    return results if len(node.outputs) == 2 else results[1:]


def _full(arrays: Arrays, bands: Array, upper: int) -> Array:
    """Return whole matrices with the given diagonals. The libraries have no functions for banded matrices."""
    *_, rows, n = (int(k) for k in bands.shape)
    i, j = np.indices((n, n))
    row = upper + i - j
    inside = (row >= 0) & (row < rows)
    lead = [slice(None)] * (len(bands.shape) - 2)
    places = [arrays.constant(p) for p in (np.where(inside, row, 0), j)]
    dense = arrays.gather(bands, [*lead, *places])
    zeros = arrays.constant(np.zeros(tuple(dense.shape), arrays.dtype(bands)))
    return arrays.where(arrays.broadcast(arrays.constant(inside), tuple(dense.shape)), dense, zeros)


@traces(SolveBanded)
def lower_solve_banded(
    tracer: Tracer, node: TensorApply[SolveBanded], inputs: list[Array]
) -> Sequence[Array]:
    bands, b = _operands(tracer, node, inputs)
    if 0 in b.shape:
        return [b]
    result, good = _solution(tracer, _full(tracer.arrays, bands, node.op.upper), b)
    return [_settled(tracer, node.op.on_error, result, good)]


@traces(SolvePositiveBanded)
def lower_solve_positive_banded(
    tracer: Tracer, node: TensorApply[SolvePositiveBanded], inputs: list[Array]
) -> Sequence[Array]:
    bands, b = _operands(tracer, node, inputs)
    if 0 in b.shape:
        return [b]
    result, good = _positive_solution(tracer.arrays, _full(tracer.arrays, bands, 0), b)
    return [_settled(tracer, node.op.on_error, result, good)]


@traces(Expm)
def lower_expm(tracer: Tracer, node: TensorApply[Expm], inputs: list[Array]) -> Sequence[Array]:
    (x,) = _operands(tracer, node, inputs)
    if 0 in x.shape:
        return [x]
    # a diagonal matrix may have infinite elements
    arrays, ndim = tracer.arrays, len(x.shape)
    one = arrays.broadcast(arrays.constant(np.eye(x.shape[-1], dtype=bool)), tuple(x.shape))
    zeros = arrays.constant(np.zeros(tuple(x.shape), arrays.dtype(x)))
    outside = arrays.apply("eq", arrays.where(one, zeros, x), zeros)
    is_diagonal = arrays.reduce("and", outside, [ndim - 2, ndim - 1])
    each = arrays.where(one, arrays.apply("exp", arrays.where(one, x, zeros)), zeros)
    is_diagonal = arrays.reshape(is_diagonal, (*x.shape[:-2], 1, 1))
    is_diagonal = arrays.broadcast(is_diagonal, tuple(x.shape))
    return [arrays.where(is_diagonal, each, arrays.expm(x))]


@traces(HouseholderProduct)
def lower_householder_product(
    tracer: Tracer, node: TensorApply[HouseholderProduct], inputs: list[Array]
) -> Sequence[Array]:
    vectors, factors = _operands(tracer, node, inputs)
    empty = 0 in vectors.shape
    return [vectors if empty else tracer.arrays.householder_product(vectors, factors)]
