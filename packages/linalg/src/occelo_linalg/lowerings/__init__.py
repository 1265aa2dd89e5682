"""Lowerings of linear algebra: calls of LAPACK for each matrix of a batch, and loops for small matrices.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. `loops.build` imports this package when
linear algebra is first used.
"""

from occelo_linalg.lowerings import determinant
from occelo_linalg.lowerings.equations import (
    banded,
    levinson,
    lu_solving,
    riccati_pencils,
    solve,
    triangular,
    tridiagonal,
)
from occelo_linalg.lowerings.factorizations import (
    cholesky,
    cholesky_pullback,
    general_spectra,
    householder,
    lu,
    qr,
    qz,
    schur,
    spectra,
)
from occelo_linalg.lowerings.matrix_functions import exponential, logarithm, schur_functions

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
