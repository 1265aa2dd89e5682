"""Examples of linear equations, inverses, determinants and LU factorisations, for the table in `examples`.

They belong to the family linalg.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_linalg.examples.factors import (
    BATCH,
    COLUMNS,
    COMPLEX,
    VECTOR,
    M,
    dominant,
    make,
    positive_definite,
)
from occelo_linalg.ops.determinant import det, slogdet
from occelo_linalg.ops.equations.banded import solve_banded, solveh_banded
from occelo_linalg.ops.equations.cholesky_solving import cho_factor, cho_solve
from occelo_linalg.ops.equations.lu_solving import LuInverse, LuSolve, lu_solve
from occelo_linalg.ops.equations.solve import solve
from occelo_linalg.ops.equations.toeplitz import solve_toeplitz, toeplitz
from occelo_linalg.ops.equations.tridiagonal import tridiagonal_lu_factor, tridiagonal_lu_solve
from occelo_linalg.ops.factorizations.lu import lu, lu_factor, pivot_to_permutation
from occelo_linalg.ops.inverse import inv

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, TensorFunction

npl: Any = np.linalg
WIDE = draw((-1.0, 1.0), (3, 5), salt=21)
BIG = draw((-1.0, 1.0), (18, 18), salt=22)
COMPLEX_COLUMNS = COMPLEX[..., :2]


def _solving() -> list[Example]:
    def assuming(kind: str, lower: bool) -> TensorFunction:
        def function(a: Any, b: Any) -> Any:
            return solve(positive_definite(a), b, lower, assume_a=kind)

        return function

    def reference(a: Array, b: Array) -> Any:
        return npl.solve(positive_definite(a), b)

    def on_diagonal(a: Array, b: Array) -> Any:
        return npl.solve(dominant(a) * np.eye(a.shape[-1]), b)

    examples = [
        make(
            "solve",
            lambda a, b: solve(dominant(a), b),
            lambda a, b: npl.solve(dominant(a), b),
            *operands,
            grad=grad,
            tolerance=tolerance,
        )
        for operands, grad, tolerance in (
            ((M, COLUMNS), (0, 1), 1e-10),
            ((BATCH, BATCH), (0, 1), 1e-10),
            ((BIG, BIG[:, :2]), (), 1e-10),
            ((M.astype("float32"), COLUMNS.astype("float32")), (), 1e-4),
            ((COMPLEX, COMPLEX_COLUMNS), (), 1e-10),
        )
    ]
    examples += [
        make("solve", assuming(kind, lower), reference, a, b, grad=(0, 1) if a is M else ())
        for kind, lower, a, b in (
            ("pos", False, M, COLUMNS),
            ("pos", True, COMPLEX, COMPLEX_COLUMNS),
            ("sym", True, M, COLUMNS),
            ("hermitian", False, COMPLEX, COMPLEX_COLUMNS),
        )
    ]
    return [
        *examples,
        make(
            "solve",
            lambda a, b: solve(dominant(a), b, transposed=True, b_ndim=1),
            lambda a, b: npl.solve(dominant(a).swapaxes(-1, -2), b[..., None])[..., 0],
            M,
            VECTOR,
            grad=(0, 1),
        ),
        make(
            "solve",
            lambda a, b: solve(dominant(a), b, assume_a="diagonal"),
            on_diagonal,
            M,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "solve",
            lambda a, b: solve(dominant(a), b, assume_a="diagonal"),
            on_diagonal,
            COMPLEX,
            COMPLEX_COLUMNS,
        ),
    ]


def _functions_of_one_matrix() -> list[Example]:
    examples: list[Example] = []
    for x, grad in ((M, (0,)), (BATCH, (0,)), (COMPLEX, ()), (np.zeros((0, 0)), ())):
        examples += [
            make("inv", lambda a: inv(dominant(a)), lambda a: npl.inv(dominant(a)), x, grad=grad),
            make("det", lambda a: det(dominant(a)), lambda a: npl.det(dominant(a)), x, grad=grad),
            make(
                "slogdet",
                lambda a: slogdet(dominant(a)).logabsdet,
                lambda a: npl.slogdet(dominant(a))[1],
                x,
                grad=grad,
            ),
        ]
    return [
        *examples,
        make("slogdet", lambda a: slogdet(a)[0], lambda a: npl.slogdet(a)[0], COMPLEX),
        make("inv", lambda a: inv(dominant(a)), lambda a: npl.inv(dominant(a)), BIG[:17, :17]),
    ]


def _factoring() -> list[Example]:
    def product(a: Any) -> Any:
        left, right = lu(a, permute_l=True)
        return left @ right

    def by_matrices(a: Any) -> Any:
        order, left, right = lu(a)
        return order.astype(left.dtype) @ left @ right

    def by_indices(a: Any) -> Any:
        _, left, right = lu(a, p_indices=True)
        return left @ right

    def same_rows(a: Array) -> Any:
        factors: Any = importlib.import_module("scipy.linalg").lu(a)
        return factors[1] @ factors[2]

    def solving(trans: int) -> TensorFunction:
        def function(a: Any, b: Any) -> Any:
            return lu_solve(lu_factor(dominant(a)), b, trans)

        return function

    def packed(a: Any) -> Any:
        return lu_factor(dominant(a))[0]

    def solved(a: Array, b: Array) -> Any:
        return npl.solve(dominant(a), b)

    def solved_transposed(a: Array, b: Array) -> Any:
        return npl.solve(dominant(a).swapaxes(-1, -2).conj(), b)

    def inverted(a: Array) -> Any:
        return npl.inv(dominant(a))

    def same(a: Array) -> Array:
        return a

    def eliminated(a: Array) -> Array:
        """L and U in one matrix, computed without row exchanges. (Diagonally dominant matrices need none.)"""
        a = dominant(a)
        for j in range(a.shape[-1]):
            a[..., j + 1 :, j] /= a[..., j, None, j]
            a[..., j + 1 :, j + 1 :] -= a[..., j + 1 :, j, None] * a[..., None, j, j + 1 :]
        return a

    def permutation(exchanged: Array) -> Any:
        rows = np.eye(exchanged.shape[-1], dtype="int64")
        for i, p in enumerate(exchanged):
            rows[[i, p]] = rows[[p, i]]
        return rows.argmax(0)

    tall = 4 * np.eye(5, 2)
    pivots = np.array([2, 2, 3, 3], "int32")
    return [
        make("lu", product, same, M, grad=(0,)),
        make("lu", product, same, WIDE, grad=(0,)),
        make("lu", by_matrices, same, COMPLEX),
        make("lu", by_indices, same_rows, M),
        make("lu_factor", packed, eliminated, M, grad=(0,)),
        make(
            "lu_factor",
            lambda a: lu_factor(a + tall)[0],
            lambda a: importlib.import_module("scipy.linalg").lu_factor(a + tall)[0],
            WIDE.T[:, :2],
            grad=(0,),
        ),
        make("lu_solve", solving(0), solved, M, COLUMNS, grad=(0, 1)),
        make("lu_solve", solving(2), solved_transposed, COMPLEX, COMPLEX_COLUMNS),
        make(
            "lu_solve",
            lambda a, b: LuSolve(1)(*lu_factor(dominant(a)), b),
            lambda a, b: npl.solve(dominant(a).T, b),
            M,
            COLUMNS,
        ),
        make("lu_inverse", lambda a: LuInverse()(*lu_factor(dominant(a))), inverted, BATCH),
        make(
            "pivot_to_permutation",
            pivot_to_permutation,
            permutation,
            pivots,
        ),
    ]


def _with_structure() -> list[Example]:
    """Examples of equations with banded, Toeplitz and factored matrices."""

    def three_diagonals(bands: Array) -> Array:
        """Tridiagonal matrices. The rows of ``bands`` are the diagonals above, on and below the main diagonal."""
        n = bands.shape[-1]
        full: Any = np.zeros((*bands.shape[:-2], n, n), bands.dtype)
        for j in range(n):
            for i in range(max(0, j - 1), min(n, j + 2)):
                full[..., i, j] = bands[..., 1 + i - j, j]
        return full

    def steady(bands: Any) -> Any:
        return bands + np.array([[0.0], [4.0], [0.0]])

    def mirrored(a: Array) -> Array:
        """Positive definite tridiagonal matrices, from the first two rows of ``a``."""
        bands: Any = np.zeros((*a.shape[:-2], 3, a.shape[-1]), a.dtype)
        bands[..., 1, :], bands[..., 2, :] = 4 + a[..., 0, :], a[..., 1, :]
        low: Any = np.tril(three_diagonals(bands), -1)
        return low + low.conj().swapaxes(-1, -2) + np.eye(a.shape[-1]) * bands[..., 1, None, :]

    def half(a: Any) -> Any:
        return a + np.array([[4.0], [0.0]])

    def constant_diagonals(c: Array, r: Array) -> Array:
        rows = [[c[i - j] if i >= j else r[j - i] for j in range(len(r))] for i in range(len(c))]
        return np.array(rows)

    def by_factor(lower: bool) -> TensorFunction:
        def function(a: Any, b: Any) -> Any:
            return cho_solve(cho_factor(positive_definite(a), lower), b)

        return function

    def pivots_of_tridiagonal(a: Array) -> Array:
        """The diagonal of U for diagonally dominant tridiagonal matrices, which need no row exchanges."""
        a = dominant(a)
        pivots: Array = np.diagonal(a).copy()
        for i in range(1, len(pivots)):
            pivots[i] -= a[i, i - 1] * a[i - 1, i] / pivots[i - 1]
        return pivots

    bands = draw((-1.0, 1.0), (3, 4), salt=23)
    first = np.array([3.0, 0.0, 0.0, 0.0])
    return [
        make(
            "solve_banded",
            lambda a, b: solve_banded((1, 1), steady(a), b),
            lambda a, b: npl.solve(three_diagonals(steady(a)), b),
            bands,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "solve_banded",
            lambda a, b: solve_banded((1, 1), steady(a), b),
            lambda a, b: npl.solve(three_diagonals(steady(a)), b),
            bands + 1j * bands[::-1],
            VECTOR + 1j,
        ),
        make(
            "solveh_banded",
            lambda a, b: solveh_banded(half(a), b, lower=True),
            lambda a, b: npl.solve(mirrored(a), b),
            bands[:2],
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "solve",
            lambda a, b: solve(dominant(a), b, assume_a="tridiagonal"),
            lambda a, b: npl.solve(np.triu(np.tril(dominant(a), 1), -1), b),
            M,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "tridiagonal_lu_solve",
            lambda a, b: tridiagonal_lu_solve(tridiagonal_lu_factor(a), b),
            lambda a, b: npl.solve(np.triu(np.tril(a, 1), -1), b),
            M,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "tridiagonal_lu_factor",
            lambda a: tridiagonal_lu_factor(dominant(a))[1],
            pivots_of_tridiagonal,
            M,
            grad=(0,),
        ),
        make("toeplitz", toeplitz, constant_diagonals, VECTOR, bands[0, :3], grad=(0, 1)),
        make(
            "solve_toeplitz",
            lambda c, r, b: solve_toeplitz((c + first, r), b),
            lambda c, r, b: npl.solve(constant_diagonals(c + first, r), b),
            VECTOR,
            bands[0],
            COLUMNS,
            grad=(0, 1, 2),
        ),
        *(
            make(
                name,
                by_factor(lower),
                lambda a, b: npl.solve(positive_definite(a), b),
                M,
                COLUMNS,
                grad=(0, 1),
            )
            for name, lower in (("cho_solve", True), ("cho_factor", False))
        ),
    ]


EXAMPLES: list[Example] = [
    *_solving(),
    *_functions_of_one_matrix(),
    *_factoring(),
    *_with_structure(),
]
