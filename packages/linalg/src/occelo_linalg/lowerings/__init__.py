"""Lowerings of linear algebra: calls of LAPACK for each matrix of a batch, and loops for small matrices.

The linkers ``native``, ``c``, ``c|py`` and ``numba`` use these lowerings. `loops.build` imports this package when
linear algebra is first used.
"""

from occelo_linalg.lowerings import determinant as determinant
from occelo_linalg.lowerings.equations import banded as banded
from occelo_linalg.lowerings.equations import levinson as levinson
from occelo_linalg.lowerings.equations import lu_solving as lu_solving
from occelo_linalg.lowerings.equations import riccati_pencils as riccati_pencils
from occelo_linalg.lowerings.equations import solve as solve
from occelo_linalg.lowerings.equations import triangular as triangular
from occelo_linalg.lowerings.equations import tridiagonal as tridiagonal
from occelo_linalg.lowerings.factorizations import cholesky as cholesky
from occelo_linalg.lowerings.factorizations import cholesky_pullback as cholesky_pullback
from occelo_linalg.lowerings.factorizations import general_spectra as general_spectra
from occelo_linalg.lowerings.factorizations import householder as householder
from occelo_linalg.lowerings.factorizations import lu as lu
from occelo_linalg.lowerings.factorizations import qr as qr
from occelo_linalg.lowerings.factorizations import qz as qz
from occelo_linalg.lowerings.factorizations import schur as schur
from occelo_linalg.lowerings.factorizations import spectra as spectra
from occelo_linalg.lowerings.matrix_functions import exponential as exponential
from occelo_linalg.lowerings.matrix_functions import logarithm as logarithm
from occelo_linalg.lowerings.matrix_functions import schur_functions as schur_functions
