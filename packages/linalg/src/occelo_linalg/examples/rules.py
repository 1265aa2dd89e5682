"""Cases for the rules of linear algebra, which are part of the table in `examples`.

The inputs are arbitrary matrices. From the inputs, the graphs compute the matrices that the rules need, such as
positive definite matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from occelo_arrays.ops.rearranging import roll
from occelo_graph import TensorVariable, grad
from occelo_graph import tensor as ot
from occelo_graph.ops.index.search import AllocDiag
from occelo_graph.tensors.type import is_complex
from occelo_linalg import functions as linalg
from occelo_linalg.ops.factorizations.cholesky import CholeskyPullback
from occelo_rewrite.examples.case import Case

SQUARE = ((3, 3),)
VANISHING = (0.0, -20.0)
"""The multiples of the identity for which plain matrices and those of `_dominant` and `_diagonal` are 0."""


def _dominant(x: TensorVariable) -> TensorVariable:
    """Matrices that have inverses, made from arbitrary matrices ``x``."""
    n = x.shape[-1]
    return x * 0.1 + 2.0 * ot.eye(n)


def _definite(x: TensorVariable) -> TensorVariable:
    """Positive definite matrices, made from arbitrary matrices ``x``."""
    product = ot.dot(x, x.conj().T)
    if is_complex(x.type.dtype):
        # rounding leaves other numbers above the diagonal than below, and functions read only one of the two
        product = (product + product.conj().T) * 0.5
    return ot.assume(product * 0.1 + 2.0 * ot.eye(x.shape[0]), positive_definite=True)


def _lower(x: TensorVariable) -> TensorVariable:
    return ot.assume(ot.tril(_dominant(x)), lower_triangular=True)


def _diagonal(x: TensorVariable) -> TensorVariable:
    return ot.diag(x[0] * 0.1 + 2.0)


def _reversal(x: TensorVariable) -> TensorVariable:
    """The permutation matrix that reverses the columns of ``x``."""
    return ot.assume(ot.eye(x.shape[1])[::-1], permutation=True)


def _turns(x: TensorVariable) -> TensorVariable:
    """A batch of two permutation matrices of as many columns as ``x``."""
    one = ot.eye(x.shape[1])
    return ot.assume(ot.stack([one[::-1], roll(one, 1, axis=0)]), permutation=True)


def _both_decompositions(decomposed: Any, x: TensorVariable) -> TensorVariable:
    """A graph with both the reduced and the full decomposition of a matrix."""
    if decomposed is linalg.qr:
        (q, r), (full, _) = decomposed(x), decomposed(x, "complete")
        return ot.dot(q, r) + ot.abs(full[0, 0])
    (u, s, vh), (full, _, _) = decomposed(x, full_matrices=False), decomposed(x)
    return ot.dot(u * s, vh) + ot.abs(full[0, 0])


def _factor_and_size(a: TensorVariable) -> TensorVariable:
    return linalg.qr(a)[0] * linalg.slogdet(a)[1]


def _triangle_and_size(a: TensorVariable) -> TensorVariable:
    return linalg.qr(a, "r") * ot.abs(linalg.det(a))


def _shared(x: TensorVariable) -> TensorVariable:
    a = _definite(x)
    solved = linalg.solve(a, x, assume_a="pos", lower=True)
    return solved.sum() + linalg.slogdet(a)[1]


def _quadratic(x: TensorVariable) -> TensorVariable:
    v = x[0]
    return ot.dot(v, linalg.solve(_definite(x), v, assume_a="pos", lower=True))


def _turned_back(q: TensorVariable, x: TensorVariable) -> TensorVariable:
    return ot.dot(q.T, ot.dot(q, x))


def _factor(x: TensorVariable) -> TensorVariable:
    """A triangular matrix that is known to be square."""
    return ot.assume(_definite(x) * ot.tri(x.shape[0]), lower_triangular=True)


def _of_factor(factor: TensorVariable) -> TensorVariable:
    factor = ot.assume(factor, lower_triangular=True)
    return linalg.cholesky(ot.dot(factor, factor.T))


def _low_rank(x: TensorVariable) -> TensorVariable:
    column = ot.expand_dims(x[:, 0], 1)
    return ot.diag(ot.sqr(x[:, 1]) + 1.0) + ot.dot(column * 0.1, column.T)


def _values_twice(x: TensorVariable) -> TensorVariable:
    return linalg.svdvals(x) * linalg.svd(x)[1]


def _inverse_and_logarithm(a: TensorVariable) -> TensorVariable:
    return linalg.inv(a) + linalg.slogdet(a)[1]


def _gradient_of_log_det(x: TensorVariable) -> TensorVariable:
    return grad(ot.log(linalg.det(x)), x)


def _two_results(a: TensorVariable) -> TensorVariable:
    return linalg.det(a) + linalg.cholesky(a)


def _both_solutions(x: TensorVariable) -> TensorVariable:
    a = _dominant(x)
    return linalg.solve(a, x) + linalg.solve(a.T, x)


def _inverse_and_solution(x: TensorVariable) -> TensorVariable:
    a = _dominant(x)
    return linalg.inv(a) * linalg.solve(a, x[:, 0])


def _determinant_and_logarithm(x: TensorVariable) -> TensorVariable:
    a = _dominant(x)
    return linalg.det(a.T) + linalg.slogdet(a)[1]


def _blocks(x: TensorVariable) -> TensorVariable:
    return linalg.block_diag(_dominant(x), _lower(x))


def _product(x: TensorVariable) -> TensorVariable:
    return linalg.kron(_definite(x), _definite(x.T))


def _pulled_back_twice(x: TensorVariable) -> TensorVariable:
    factor = linalg.cholesky(_definite(x))
    pullback = CholeskyPullback()
    return pullback(factor, x) - pullback(factor, ot.exp(x.T))


def _long(x: TensorVariable, n: int) -> TensorVariable:
    return ot.join(0, *[x] * n)


def _tridiagonal(x: TensorVariable) -> TensorVariable:
    n = x.shape[0]
    near = ot.tri(n, k=1) * ot.tri(n, k=1).T
    return ot.assume(_dominant(x) * near, tridiagonal=True)


def _upper(x: TensorVariable) -> TensorVariable:
    return linalg.cholesky(_definite(x), lower=False)


def _rebuilt(factors: Sequence[TensorVariable]) -> TensorVariable:
    """The product of the factors of a matrix. A vector among them is the diagonal of a diagonal matrix."""
    first, *rest = factors
    for factor in rest:
        first = first * factor if factor.type.ndim == 1 else ot.dot(first, factor)
    return first


def _of_complex_factor(x: TensorVariable) -> TensorVariable:
    factor = ot.complex(_definite(x), _definite(-x)) * ot.tri(x.shape[0])
    factor = ot.assume(factor, lower_triangular=True)
    return ot.abs(linalg.cholesky(ot.dot(factor, factor.conj().T)))


_CASES: list[Case] = [
    Case("inverse_of_diagonal", lambda x: linalg.inv(_diagonal(x)), shapes=SQUARE),
    Case("inverse_of_diagonal", lambda x: linalg.inv(AllocDiag()(ot.sqr(x) + 1.0))),
    Case("inverse_of_transposed", lambda x: linalg.inv(_dominant(x).T), shapes=SQUARE),
    Case(
        "inverse_of_transposed",
        lambda x: linalg.inv(ot.complex(_dominant(x), x).conj().T).imag,
        shapes=SQUARE,
    ),
    Case(
        "svd_of_diagonal",
        lambda x: _rebuilt(linalg.svd(ot.diag(x[0]))),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case(
        "svd_of_diagonal",
        lambda x: _rebuilt(linalg.svd(ot.diag(ot.complex(x[0], x[1])), full_matrices=False)).imag,
        shapes=SQUARE,
        differentiable=False,
    ),
    Case("qr_of_triangular", lambda x: linalg.qr(_upper(x))[0] + x, shapes=SQUARE),
    Case("qr_of_triangular", lambda x: linalg.qr(_upper(x), "complete")[1], shapes=SQUARE),
    Case("qr_of_triangular", lambda x: linalg.qr(_upper(-x), "r"), shapes=SQUARE),
    Case("lu_of_triangular", lambda x: linalg.lu_factor(_upper(x))[0], shapes=SQUARE),
    Case("lu_of_triangular", lambda x: linalg.lu_factor(_upper(x))[1] * x, shapes=SQUARE),
    Case(
        "schur_of_triangular",
        lambda x: _rebuilt(linalg.schur(_upper(x))),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case("function_of_diagonal", lambda x: linalg.expm(ot.diag(x[0])), shapes=SQUARE),
    Case("function_of_diagonal", lambda x: linalg.logm(_diagonal(x)), shapes=SQUARE),
    Case("function_of_diagonal", lambda x: linalg.sqrtm(_diagonal(x)), shapes=SQUARE),
    Case(
        "function_of_diagonal",
        lambda x: linalg.sqrtm(ot.diag(ot.complex(x[0], x[1]))).imag,
        shapes=SQUARE,
        differentiable=False,
    ),
    Case("pinv_of_diagonal", lambda x: linalg.pinv(_diagonal(x)), shapes=SQUARE),
    Case(
        "pinv_of_diagonal",
        lambda x: linalg.pinv(ot.diag(x[0]), rcond=0.5),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case(
        "lyapunov_of_diagonal",
        lambda x: linalg.solve_continuous_lyapunov(_diagonal(x), x),
        shapes=SQUARE,
    ),
    Case(
        "lyapunov_of_diagonal",
        lambda x: linalg.solve_discrete_lyapunov(_diagonal(x) * 0.1, x),
        shapes=SQUARE,
    ),
    Case(
        "unread_vectors",
        lambda x: linalg.svd(x)[1] + linalg.eigh(_definite(x))[0],
        shapes=SQUARE,
        differentiable=False,
    ),
    Case("unread_vectors", lambda x: linalg.eig(x)[0].sum().real, shapes=SQUARE),
    Case("unread_vectors", lambda x: linalg.qr(x)[1], differentiable=False),
    Case(
        "batched_product_of_orthogonal",
        lambda x: (lambda q: ot.matmul(q, ot.matrix_transpose(q)) * x)(
            ot.assume(ot.stack([_reversal(x), _reversal(x)]), orthogonal=True)
        ),
        shapes=SQUARE,
    ),
    Case(
        "solve_by_facts",
        lambda x: linalg.solve(_tridiagonal(_long(x, 6)), _long(x, 6)),
        shapes=((3, 18),),
    ),
    Case("cholesky_of_product", _of_complex_factor, shapes=SQUARE, differentiable=False),
    Case("function_of_det", lambda x: ot.log(linalg.det(ot.complex(x, x.T))).real, shapes=SQUARE),
    Case(
        "function_of_det",
        lambda x: ot.sgn(linalg.det(ot.complex(x, x.T))).imag,
        shapes=SQUARE,
        differentiable=False,
    ),
    Case("spectrum_of_diagonal", lambda x: linalg.eigvalsh(_diagonal(x)), shapes=SQUARE),
    Case("spectrum_of_diagonal", lambda x: linalg.svdvals(_diagonal(x)), shapes=SQUARE),
    Case("values_of_diagonals", lambda x: linalg.eigvalsh(AllocDiag()(ot.sqr(x) + x))),
    Case("values_of_diagonals", lambda x: linalg.svdvals(AllocDiag()(ot.complex(x, x[::-1])))),
    Case(
        "batched_product_with_selection",
        lambda x: ot.matmul(_turns(x), ot.stack([x, ot.exp(x)])),
        shapes=SQUARE,
    ),
    Case(
        "batched_product_with_selection",
        lambda x: ot.matmul(ot.exp(x)[None], _turns(x)),
        shapes=SQUARE,
    ),
    Case("reduced_of_full", lambda x: _both_decompositions(linalg.svd, x), differentiable=False),
    Case("reduced_of_full", lambda x: _both_decompositions(linalg.qr, x), differentiable=False),
    Case(
        "size_of_det_by_qr",
        lambda x: _factor_and_size(_dominant(x)),
        shapes=SQUARE,
    ),
    Case(
        "size_of_det_by_qr",
        lambda x: _triangle_and_size(_dominant(x)),
        shapes=SQUARE,
    ),
    Case(
        "sylvester_of_triangular",
        lambda x: linalg.solve_sylvester(_diagonal(x), _dominant(x), x),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case(
        "sylvester_of_triangular",
        lambda x: linalg.solve_sylvester(_dominant(x), _lower(x), x),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case(
        "lyapunov_of_triangular",
        lambda x: linalg.solve_continuous_lyapunov(_lower(x).T, x),
        shapes=SQUARE,
    ),
    Case("det_of_permutation", lambda x: linalg.det(_reversal(x)) * x, shapes=SQUARE),
    Case("det_of_permutation", lambda x: linalg.slogdet(_reversal(x))[0] * x, shapes=SQUARE),
    Case(
        "eig_of_symmetric",
        lambda x: ot.sqr(linalg.eigvals(_definite(x)).real).sum(),
        shapes=SQUARE,
        differentiable=False,
    ),
    Case(
        "solve_of_many_columns",
        lambda x: linalg.solve(_dominant(x), ot.stack([x, x + 1.0])),
        shapes=SQUARE,
    ),
    Case(
        "solve_of_many_columns",
        lambda x: linalg.solve_triangular(_dominant(x), ot.stack([x, x]), b_ndim=1),
        shapes=SQUARE,
    ),
    Case("sum_of_linear", _pulled_back_twice, shapes=SQUARE),
    Case("transposed_blocks", lambda x: linalg.kron(x, x).T, shapes=SQUARE),
    Case(
        "conjugate_of_blocks", lambda x: linalg.kron(ot.complex(x, x), x).conj().imag, shapes=SQUARE
    ),
    Case("inverse_of_blocks", lambda x: linalg.inv(_product(x)), shapes=SQUARE),
    Case("inverse_of_blocks", lambda x: linalg.inv(_blocks(x)), shapes=SQUARE),
    Case(
        "exponential_of_blocks",
        lambda x: linalg.expm(linalg.block_diag(ot.dot(x, x.T) * 0.1, ot.dot(x.T, x) * 0.1)),
        shapes=SQUARE,
    ),
    Case("cholesky_of_blocks", lambda x: linalg.cholesky(_product(x)), shapes=SQUARE),
    Case("det_of_blocks", lambda x: linalg.det(_product(x)), shapes=((2, 2),)),
    Case("slogdet_of_blocks", lambda x: linalg.slogdet(_product(x))[1], shapes=SQUARE),
    Case("solve_of_blocks", lambda x: linalg.solve(_product(x), _long(x, 3)), shapes=SQUARE),
    Case("solve_of_blocks", lambda x: linalg.solve(_blocks(x), _long(x, 2)), shapes=SQUARE),
    Case(
        "triangular_solve_of_blocks",
        lambda x: linalg.solve_triangular(
            linalg.block_diag(_lower(x), _lower(x)), _long(x, 2), lower=True
        ),
        shapes=SQUARE,
    ),
    Case("product_with_blocks", lambda x: ot.dot(linalg.kron(x, x.T), _long(x, 3)), shapes=SQUARE),
    Case("product_with_blocks", lambda x: ot.dot(_long(x, 2).T, _blocks(x)), shapes=SQUARE),
    Case("diagonal_of_blocks", lambda x: ot.diagonal(_product(x)), shapes=SQUARE),
    Case("eigenvalues_of_blocks", lambda x: linalg.eigvalsh(_product(x)), shapes=SQUARE),
    Case("blocks_as_written", lambda x: linalg.kron(x, x.T), shapes=SQUARE),
    Case("blocks_as_written", lambda x: linalg.block_diag(x, x.T), shapes=SQUARE),
    Case("solve_by_shared_lu", _both_solutions, shapes=SQUARE),
    Case("inverse_by_shared_lu", _inverse_and_solution, shapes=SQUARE),
    Case("det_by_shared_lu", _determinant_and_logarithm, shapes=SQUARE),
    Case("inverse_of_inverse", lambda x: linalg.inv(linalg.inv(_dominant(x))), shapes=SQUARE),
    Case("inverse_of_orthogonal", lambda x: linalg.inv(_reversal(x)) + x, shapes=SQUARE),
    Case("inverse_of_triangular", lambda x: linalg.inv(_lower(x)), shapes=SQUARE),
    Case(
        "inverse_of_triangular",
        lambda x: linalg.inv(_diagonal(x), on_error="nan"),
        shapes=SQUARE,
    ),
    Case("product_with_inverse", lambda x: ot.dot(linalg.inv(_dominant(x)), x), shapes=SQUARE),
    Case("product_with_inverse", lambda x: ot.dot(x, linalg.inv(_dominant(x))), shapes=SQUARE),
    Case("product_with_inverse", lambda x: ot.dot(linalg.inv(_dominant(x)).T, x), shapes=SQUARE),
    Case("product_with_inverse", lambda x: ot.dot(x[0], linalg.inv(_dominant(x))), shapes=SQUARE),
    Case(
        "product_with_inverse", lambda x: ot.dot(linalg.inv(_dominant(x)), x[:, 0]), shapes=SQUARE
    ),
    Case("product_of_orthogonal", lambda x: _turned_back(_reversal(x), x), shapes=SQUARE),
    Case("solve_by_facts", lambda x: linalg.solve(_reversal(x), x), shapes=SQUARE),
    Case("solve_by_facts", lambda x: linalg.solve(_diagonal(x), x), shapes=SQUARE),
    Case("solve_by_facts", lambda x: linalg.solve(_lower(x), x), shapes=SQUARE),
    Case("solve_by_facts", lambda x: linalg.solve(_lower(x).T, x), shapes=SQUARE),
    Case("solve_by_facts", lambda x: linalg.solve(_definite(x), x), shapes=SQUARE),
    Case("solve_by_shared_factor", _shared, shapes=SQUARE),
    Case(
        "inverse_by_shared_factor",
        lambda x: _inverse_and_logarithm(_definite(x)),
        shapes=SQUARE,
    ),
    Case("slogdet_by_shared_factor", _shared, shapes=SQUARE),
    Case(
        "det_by_shared_factor",
        lambda x: _two_results(_definite(x)),
        shapes=SQUARE,
    ),
    Case("quadratic_form", _quadratic, shapes=SQUARE),
    Case("function_of_det", lambda x: ot.log(linalg.det(_dominant(x))), shapes=SQUARE),
    Case("function_of_det", lambda x: ot.log(ot.abs(linalg.det(-_dominant(x)))), shapes=SQUARE),
    Case("function_of_det", lambda x: ot.sgn(linalg.det(-_dominant(x))), shapes=SQUARE),
    Case("det_of_triangular", lambda x: linalg.det(_lower(x)), shapes=SQUARE),
    Case("slogdet_of_triangular", lambda x: linalg.slogdet(-_lower(x))[1], shapes=SQUARE),
    Case(
        "det_of_triangular_product",
        lambda x: linalg.slogdet(_factor(x) @ -_definite(x))[1],
        shapes=SQUARE,
    ),
    Case(
        "det_of_triangular_product",
        lambda x: linalg.det(_definite(x) @ _factor(x).T),
        shapes=SQUARE,
    ),
    Case("adjugate_beside_det", lambda x: _gradient_of_log_det(_dominant(x)), shapes=SQUARE),
    Case("det_of_transposed", lambda x: linalg.det(_dominant(x).T), shapes=SQUARE),
    Case("det_of_inverse", lambda x: linalg.det(linalg.inv(_dominant(x))), shapes=SQUARE),
    Case("det_of_inverse", lambda x: linalg.slogdet(linalg.inv(_dominant(x)))[1], shapes=SQUARE),
    Case(
        "cholesky_of_product",
        lambda x: _of_factor(-_definite(x) * ot.tri(x.shape[0])),
        shapes=SQUARE,
    ),
    Case("cholesky_of_diagonal", lambda x: linalg.cholesky(_diagonal(x)), shapes=SQUARE),
    Case("part_of_decomposition", lambda x: _values_twice(x), shapes=SQUARE, differentiable=False),
    Case(
        "sylvester_of_diagonals",
        lambda x: linalg.solve_sylvester(_diagonal(x), _diagonal(x), x),
        shapes=SQUARE,
    ),
    Case("solve_of_low_rank", lambda x: linalg.solve(_low_rank(x), x), shapes=((5, 2),)),
    Case("det_of_low_rank", lambda x: linalg.det(_low_rank(x)), shapes=((5, 2),)),
    Case("inverse_of_low_rank", lambda x: linalg.inv(_low_rank(x)), shapes=((5, 2),)),
    Case("slogdet_of_low_rank", lambda x: linalg.slogdet(_low_rank(x))[1], shapes=((5, 2),)),
    Case(
        "batched_product_with_diagonal",
        lambda x: ot.matmul(AllocDiag()(x), ot.sqr(x)[..., None]),
    ),
    Case(
        "cheapest_order",
        lambda x: ot.dot(ot.dot(ot.ones((40, 30)), ot.ones((30, 20))), ot.ones((20, 1)) * x.sum()),
    ),
    Case(
        "cheapest_order",
        lambda x: ot.dot(ot.dot(ot.ones((40, 30)), ot.ones((30, 20))), ot.ones(20) * x.sum()),
    ),
]

CASES: list[Case] = [replace(case, vanishing=VANISHING) for case in _CASES]
