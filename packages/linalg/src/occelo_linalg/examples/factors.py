"""Examples of Cholesky factors and triangular equations, for the table in `examples`.

Other tables of the family linalg make their matrices and examples with the functions of this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw
from occelo_graph.narrowing import is_array
from occelo_linalg.ops.adjugate import Adjugate
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.factorizations.cholesky import CholeskyPullback, cholesky

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

npl: Any = np.linalg
M = draw((-1.0, 1.0), (4, 4), salt=11)
BATCH = draw((-1.0, 1.0), (2, 3, 3), salt=12)
COMPLEX = BATCH + 1j * BATCH[::-1]
COLUMNS = draw((-1.0, 1.0), (4, 2), salt=13)
VECTOR = draw((-1.0, 1.0), (4,), salt=14)


def positive_definite(x: Any) -> Any:
    """Positive definite matrices, made from any square matrices ``x``, which may be arrays or variables."""
    return x @ x.conj().swapaxes(-1, -2) + _two_on_diagonal(x)


def dominant(x: Any) -> Any:
    """Diagonally dominant, well-conditioned matrices, made from any square matrices ``x``."""
    return x * np.asarray(0.2, x.dtype) + _two_on_diagonal(x)


def _two_on_diagonal(x: Any) -> Any:
    eye = np.eye if is_array(x) else ot.eye
    return 2 * eye(x.shape[-1], dtype=x.dtype)


def make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    grad: tuple[int, ...] = (),
    tolerance: float = 1e-10,
) -> Example:
    """An example of the family linalg that can be vectorized over every argument."""
    batched = tuple(range(len(args)))
    return Example(name, "linalg", function, reference, args, grad, tolerance, batched)


def _triangular() -> list[Example]:
    def by_inverse(part: Any) -> ArrayFunction:
        def reference(a: Array, b: Array) -> Array:
            return npl.solve(part(dominant(a)), b)

        return reference

    def conjugate_transposed(a: Array, b: Array) -> Array:
        upper: Any = np.triu(dominant(a))
        return npl.solve(upper.conj().swapaxes(-1, -2), b[..., None])[..., 0]

    return [
        make(
            "solve_triangular",
            lambda a, b: solve_triangular(dominant(a), b),
            by_inverse(np.triu),
            M,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "solve_triangular",
            lambda a, b: solve_triangular(dominant(a), b, lower=True),
            by_inverse(np.tril),
            M,
            VECTOR,
            grad=(0, 1),
        ),
        make(
            "solve_triangular",
            lambda a, b: solve_triangular(a, b, trans=1, lower=True, unit_diagonal=True),
            lambda a, b: npl.solve((np.tril(a, -1) + np.eye(4)).T, b),
            M,
            COLUMNS,
            grad=(0, 1),
        ),
        make(
            "solve_triangular",
            lambda a, b: solve_triangular(dominant(a), b, trans="C", b_ndim=1),
            conjugate_transposed,
            COMPLEX,
            draw((-1.0, 1.0), (3,), "complex128", salt=15),
        ),
    ]


def _cholesky() -> list[Example]:
    def upper(x: Array) -> Any:
        factor = npl.cholesky(positive_definite(x))
        return factor.conj().swapaxes(-1, -2)

    def lower(x: Any) -> Any:
        return cholesky(positive_definite(x))

    def reference(x: Array) -> Any:
        return npl.cholesky(positive_definite(x))

    return [
        make("cholesky", lower, reference, M, grad=(0,)),
        make("cholesky", lower, reference, BATCH, grad=(0,)),
        make(
            "cholesky",
            lambda x: cholesky(positive_definite(x), lower=False),
            upper,
            M.astype("float32"),
            tolerance=1e-5,
        ),
        make("cholesky", lower, reference, COMPLEX),
        make("cholesky", cholesky, npl.cholesky, np.zeros((0, 0))),
    ]


def _derivatives() -> list[Example]:
    """Examples of ops that users do not call: only gradients contain them."""

    def cofactors(x: Array) -> Array:
        n = range(x.shape[-1])
        minors = [[npl.det(np.delete(np.delete(x, i, -2), j, -1)) for i in n] for j in n]
        signs: Array = (-1.0) ** np.add.outer(n, n)
        signed: Array = signs * np.array(minors)
        return signed

    def by_basis(factor: Array, ct: Array) -> Array:
        """The cotangent of the factored matrix, one element at a time.

        A change of an element and of its mirror image changes the factor. The cotangent is the product of this change
        with ``ct``.
        """
        lower, n = np.tril(factor), len(factor)
        below = [(i, j) for i in range(n) for j in range(i + 1)]

        def change(i: int, j: int) -> Any:
            basis = np.zeros((n, n))
            basis[i, j] = 1
            return (basis @ lower.T + lower @ basis.T).ravel()

        changes = np.stack([change(*each) for each in below], axis=1)
        result = np.zeros((n, n))
        for i, j in below:
            target = np.zeros((n, n))
            target[i, j] = target[j, i] = 1
            along = npl.lstsq(changes, target.ravel(), rcond=None)[0]
            result[i, j] = sum(c * ct[at] for c, at in zip(along, below, strict=True))
        return result

    return [
        make("adjugate", Adjugate(), cofactors, M),
        make("cholesky_pullback", CholeskyPullback(), by_basis, M + 2 * np.eye(4), M.T),
    ]


EXAMPLES: list[Example] = [*_cholesky(), *_triangular(), *_derivatives()]
