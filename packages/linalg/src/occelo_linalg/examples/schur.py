"""Examples of Schur decompositions, of one matrix and of pairs of matrices, and of products of Householder reflectors.

They belong to the family linalg, and are part of the table in `examples`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_linalg import functions as linalg
from occelo_linalg.examples.factors import make

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

npl: Any = np.linalg
M = draw((-1.0, 1.0), (3, 3), salt=61)
N = draw((-1.0, 1.0), (3, 3), salt=62)
BATCH = draw((-1.0, 1.0), (2, 3, 3), salt=63)
COMPLEX = BATCH + 1j * BATCH[::-1]


def turned(x: Any) -> Any:
    """The conjugate transpose."""
    return x.conj().swapaxes(-1, -2)


def _rebuilt(*options: Any) -> Any:
    """A function that decomposes a matrix by ``schur`` and multiplies the factors, which yields the matrix again."""

    def function(x: Any) -> Any:
        form, unitary, *_ = linalg.schur(x, *options)
        return unitary @ form @ turned(unitary)

    return function


def _pair(decompose: Any, *options: Any) -> Any:
    """A function that decomposes two matrices together, rebuilds both from their factors, and multiplies them."""

    def function(x: Any, y: Any) -> Any:
        first, second, *_, left, right = decompose(x, y, *options)
        return left @ first @ turned(right) @ left @ second @ turned(right)

    return function


def product(x: Array, y: Array) -> Any:
    """The product of two matrices."""
    return x @ y


def reflected(v: Array, tau: Array) -> Any:
    """The first columns of a product of Householder reflectors, computed as explicit matrix products."""
    m, n = v.shape[-2:]
    product = np.broadcast_to(np.eye(m, dtype=v.dtype), (*v.shape[:-2], m, m))
    for i in range(tau.shape[-1]):
        column = np.tril(v, -1)[..., i, None] + np.eye(m)[:, i, None]
        product = product - (product @ column * tau[..., i, None, None]) @ turned(column)
    return product[..., :n].astype(v.dtype)


EXAMPLES: list[Example] = [
    make("schur", _rebuilt(), np.copy, BATCH),
    make("schur", _rebuilt(), np.copy, M.astype("float32"), tolerance=1e-4),
    make("schur", _rebuilt(), np.copy, COMPLEX),
    make("schur", _rebuilt("complex"), lambda x: x.astype("complex128"), M),
    make("schur", _rebuilt("real", "lhp"), np.copy, M),
    make(
        "schur",
        lambda x: linalg.schur(x, "real", "lhp")[2],
        lambda x: (npl.eigvals(x).real < 0).sum(-1),
        BATCH,
    ),
    make("qz", _pair(linalg.qz), product, M, N),
    make("qz", _pair(linalg.qz), product, COMPLEX, COMPLEX[::-1]),
    make("ordqz", _pair(linalg.ordqz), product, M, N),
    # without the factor one eigenvalue is on the unit circle, and rounding decides on which side it is sorted
    make("ordqz", _pair(linalg.ordqz, "ouc"), product, COMPLEX, 2.0 * COMPLEX[::-1]),
    make("householder_product", linalg.householder_product, reflected, M, M[0], grad=(0, 1)),
    make("householder_product", linalg.householder_product, reflected, COMPLEX, COMPLEX[:, 0, :2]),
    make("householder_product", linalg.householder_product, reflected, BATCH[..., :2], M[0, :1]),
]
