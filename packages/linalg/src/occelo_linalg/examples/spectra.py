"""Examples of eigenvalues, singular values, orthogonal factors, pseudoinverses and least squares.

They belong to the family linalg, and are part of the table in `examples`. Backends return vectors of different signs
and phases, so each example computes a result that does not depend on signs and phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw
from occelo_graph.narrowing import is_array
from occelo_graph.optional_scipy import scipy_module
from occelo_linalg import functions as linalg
from occelo_linalg.examples.factors import COMPLEX, M, make, positive_definite
from occelo_linalg.ops.factorizations.eig import eig, eigvals
from occelo_linalg.ops.factorizations.eigh import eigh, eigvalsh
from occelo_linalg.ops.factorizations.qr import qr
from occelo_linalg.ops.factorizations.svd import svd, svdvals
from occelo_linalg.ops.pinv import cond, lstsq, matrix_rank, pinv

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

npl: Any = np.linalg
TALL = draw((-1.0, 1.0), (4, 3), salt=16)
WIDE = draw((-1.0, 1.0), (2, 3, 4), salt=17)


def spread(x: Any) -> Any:
    """Square matrices with distinct eigenvalues and singular values, made from any square matrices ``x``."""
    steps: Any = np.diag(np.arange(1.0, 1 + x.shape[-1])) if is_array(x) else None
    if steps is None:
        n = x.shape[-1]
        steps = ot.arange(1, n + 1).astype(x.dtype) * ot.eye(n, dtype=x.dtype)
    return x * np.asarray(0.3, x.dtype) + 2 * steps.astype(x.dtype)


def turned(x: Any) -> Any:
    """The conjugate transpose."""
    return x.conj().swapaxes(-1, -2)


def _scaled(left: Any, values: Any, right: Any) -> Any:
    return (left * values[..., None, :]) @ right


def _from_lower(x: Array) -> Any:
    """The Hermitian matrix with the lower triangle of ``x``."""
    low: Any = np.tril(x, -1)
    diagonal: Any = np.einsum("...ii->...i", x).real[..., None] * np.eye(x.shape[-1], dtype=x.dtype)
    return low + diagonal + turned(low)


def _hermitian() -> list[Example]:
    def rebuilt(x: Any) -> Any:
        values, vectors = eigh(spread(x))
        return _scaled(vectors, values * values, turned(vectors))

    def square(x: Array) -> Any:
        whole = _from_lower(spread(x))
        return whole @ whole

    def of_pair(x: Any, y: Any) -> Any:
        return eigvalsh(spread(x), b=positive_definite(y))

    def of_quotient(x: Array, y: Array) -> Any:
        values: Any = npl.eigvals(npl.solve(positive_definite(y), _from_lower(spread(x))))
        return np.sort(values.real)

    def upper(x: Array) -> Any:
        return npl.eigvalsh(spread(x), "U")

    return [
        make("eigh", rebuilt, square, M, grad=(0,)),
        make("eigh", rebuilt, square, M.astype("float32"), tolerance=1e-4),
        make("eigh", rebuilt, square, COMPLEX),
        make("eigh", lambda x: eigh(x)[1], lambda x: npl.eigh(x)[1], np.zeros((0, 0))),
        make("eigvalsh", lambda x: eigvalsh(spread(x), "U"), upper, M, grad=(0,)),
        make("eigvalsh", of_pair, of_quotient, M, draw((-1.0, 1.0), (4, 4), salt=18), grad=(0, 1)),
        make("eigvalsh", lambda x: eigvalsh(spread(x), "U"), upper, COMPLEX),
    ]


def _singular() -> list[Example]:
    def polar(x: Any) -> Any:
        u, _, vh = svd(spread(x), full_matrices=False)
        return u @ vh

    def polar_reference(x: Array) -> Any:
        u, _, vh = npl.svd(spread(x), full_matrices=False)
        return u @ vh

    def complement(x: Any) -> Any:
        u, s, _ = svd(x)
        rest = u[..., s.shape[-1] :]
        return rest @ turned(rest)

    def projector(x: Array) -> Any:
        return np.eye(x.shape[-2]) - x @ npl.pinv(x)

    def values(x: Array) -> Any:
        return npl.svd(x, compute_uv=False)

    return [
        make("svd", polar, polar_reference, M, grad=(0,)),
        make("svd", polar, polar_reference, COMPLEX),
        make("svd", complement, projector, TALL, grad=(0,), tolerance=1e-9),
        make("svdvals", svdvals, values, WIDE, grad=(0,)),
        make("svdvals", svdvals, values, TALL.astype("float32"), tolerance=1e-5),
        make("svdvals", svdvals, values, COMPLEX),
    ]


def _orthogonal() -> list[Example]:
    def fixed(q: Any, r: Any) -> Any:
        """Q, with the phases of its columns changed so that the diagonal of R would be positive."""
        k = r.shape[-2]
        diagonal = (r[..., :k] * np.eye(3, dtype=r.dtype)).sum(-1)
        return q * (abs(diagonal) / diagonal).conj()[..., None, :] + 0 * abs(r).sum()

    def orthogonal(x: Any) -> Any:
        return fixed(*qr(x))

    def triangle(x: Any) -> Any:
        r: Any = qr(x, mode="r")
        return turned(r) @ r

    def ordered(x: Any) -> Any:
        _, r, order = qr(x, mode="economic", pivoting=True)
        return abs(r).sum(-1) + ot.sum(order)

    def ordered_reference(x: Array) -> Any:
        r, order = scipy_module("linalg", "qr").qr(x, mode="r", pivoting=True)
        return abs(r[: min(x.shape)]).sum(-1) + order.sum()

    def completed(x: Any) -> Any:
        q, _ = qr(x, mode="complete")
        # 1 is added so that no element is near 0, where relative errors mean nothing
        return q @ turned(q) + np.asarray(1, x.dtype)

    def identities(x: Array) -> Any:
        one = np.eye(x.shape[-2], dtype=x.dtype) + np.asarray(1, x.dtype)
        return np.broadcast_to(one, (*x.shape[:-1], x.shape[-2]))

    def raw(x: Any) -> Any:
        return abs(qr(x, mode="raw")[0])

    return [
        make("qr", orthogonal, lambda x: fixed(*npl.qr(x)), TALL, grad=(0,)),
        make("qr", orthogonal, lambda x: fixed(*npl.qr(x)), COMPLEX),
        make("qr", triangle, lambda x: turned(x) @ x, WIDE, grad=(0,)),
        make("qr", completed, identities, TALL.astype("float32"), tolerance=1e-5),
        Example("qr", "linalg", ordered, ordered_reference, (TALL,), (0,), 1e-10, (0,)),
        Example("qr", "linalg", raw, lambda x: abs(npl.qr(x, "raw")[0]), (TALL,), (), 1e-10, (0,)),
    ]


def _inverses() -> list[Example]:
    right = draw((-1.0, 1.0), (4, 2), salt=19)

    def solved(x: Any, y: Any) -> Any:
        return lstsq(x, y)[0]

    def powers(x: Any) -> Any:
        values, vectors = eig(spread(x))
        return (_scaled(vectors, values * values, linalg.inv(vectors))).real

    def square(x: Array) -> Any:
        return (spread(x) @ spread(x)).real

    def spectrum(x: Any) -> Any:
        values = eigvals(spread(x))
        return (values * values * values).real.sum(-1)

    def cubes(x: Array) -> Any:
        return np.einsum("...ii->...", spread(x) @ spread(x) @ spread(x)).real

    return [
        make("pinv", pinv, npl.pinv, WIDE, grad=(0,), tolerance=1e-9),
        make("pinv", pinv, npl.pinv, COMPLEX, tolerance=1e-9),
        Example(
            "lstsq",
            "linalg",
            solved,
            lambda x, y: npl.lstsq(x, y, rcond=None)[0],
            (TALL, right),
            (0, 1),
            1e-9,
            (0, 1),
        ),
        make("matrix_rank", matrix_rank, npl.matrix_rank, WIDE),
        make("cond", lambda x: cond(spread(x)), lambda x: npl.cond(spread(x)), M, grad=(0,)),
        make("eig", powers, square, M, grad=(0,), tolerance=1e-9),
        make("eigvals", spectrum, cubes, COMPLEX, tolerance=1e-9),
        make("eigvals", spectrum, cubes, M, grad=(0,), tolerance=1e-9),
    ]


EXAMPLES: list[Example] = [*_hermitian(), *_singular(), *_orthogonal(), *_inverses()]
