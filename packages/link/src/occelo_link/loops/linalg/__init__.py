"""Lowerings of linear algebra: calls of LAPACK for each matrix of a batch, and loops for small matrices.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. `loops.build` imports this package when
linear algebra is first used.
"""

from occelo_link.loops.linalg import (
    banded,
    cholesky,
    cholesky_pullback,
    determinant,
    exponential,
    general_spectra,
    householder,
    levinson,
    logarithm,
    lu,
    lu_solving,
    qr,
    qz,
    riccati_pencils,
    schur,
    schur_functions,
    solve,
    spectra,
    triangular,
    tridiagonal,
)

__all__ = [
    "banded",
    "cholesky",
    "cholesky_pullback",
    "determinant",
    "exponential",
    "general_spectra",
    "householder",
    "levinson",
    "logarithm",
    "lu",
    "lu_solving",
    "qr",
    "qz",
    "riccati_pencils",
    "schur",
    "schur_functions",
    "solve",
    "spectra",
    "triangular",
    "tridiagonal",
]
