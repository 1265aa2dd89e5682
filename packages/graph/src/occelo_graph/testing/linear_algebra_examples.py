"""Examples of Cholesky factors and triangular equations, and matrices for all examples of the family linalg.

`examples` collects them. The other tables of the family make their arguments with the functions of this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.narrowing import is_array
from occelo_graph.ops.linalg.cholesky import cholesky
from occelo_graph.ops.linalg.triangular import solve_triangular
from occelo_graph.testing.example import Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

__all__ = ["EXAMPLES"]

npl: Any = np.linalg
M = draw((-1.0, 1.0), (4, 4), salt=11)
BATCH = draw((-1.0, 1.0), (2, 3, 3), salt=12)
COMPLEX = BATCH + 1j * BATCH[::-1]
COLUMNS = draw((-1.0, 1.0), (4, 2), salt=13)
VECTOR = draw((-1.0, 1.0), (4,), salt=14)


def positive_definite(x: Any) -> Any:
    """Positive definite matrices made of any square ones, by NumPy or as a graph."""
    return x @ x.conj().swapaxes(-1, -2) + _two_on_diagonal(x)


def dominant(x: Any) -> Any:
    """Well-conditioned matrices made of any square ones."""
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
    """An example that can be vectorized over every argument."""
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


EXAMPLES: list[Example] = [*_cholesky(), *_triangular()]
