"""The namespace of linear algebra: it collects the functions of `ops.linalg`, such as ``solve``, and some of
`ops.blas`.

Users reach the namespace as `occelo.tensor.linalg`. The namespace ``tensor`` imports this module when ``tensor.linalg``
is first used (`missing_names`). Modules with examples for tests of ops and rules import it directly.
"""

from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError as LinAlgError

from occelo_graph.missing_names import missing_linear_algebra as _missing_linear_algebra
from occelo_graph.ops.blas.products import matmul as matmul
from occelo_graph.ops.blas.products import matvec as matvec
from occelo_graph.ops.blas.products import tensordot as tensordot
from occelo_graph.ops.blas.products import vecdot as vecdot
from occelo_graph.ops.blas.products import vecmat as vecmat
from occelo_graph.ops.linalg.array_api import *
from occelo_graph.ops.linalg.banded import *
from occelo_graph.ops.linalg.block_matrices import *
from occelo_graph.ops.linalg.chains import *
from occelo_graph.ops.linalg.cholesky import *
from occelo_graph.ops.linalg.cholesky_solving import *
from occelo_graph.ops.linalg.determinant import *
from occelo_graph.ops.linalg.eig import *
from occelo_graph.ops.linalg.eigh import *
from occelo_graph.ops.linalg.householder import *
from occelo_graph.ops.linalg.inverse import *
from occelo_graph.ops.linalg.lu import *
from occelo_graph.ops.linalg.lu_solving import *
from occelo_graph.ops.linalg.matrix_functions import *
from occelo_graph.ops.linalg.pinv import *
from occelo_graph.ops.linalg.qr import *
from occelo_graph.ops.linalg.qz import *
from occelo_graph.ops.linalg.results import *
from occelo_graph.ops.linalg.riccati import *
from occelo_graph.ops.linalg.schur import *
from occelo_graph.ops.linalg.solve import *
from occelo_graph.ops.linalg.svd import *
from occelo_graph.ops.linalg.sylvester import *
from occelo_graph.ops.linalg.tensor_equations import *
from occelo_graph.ops.linalg.toeplitz import *
from occelo_graph.ops.linalg.triangular import *
from occelo_graph.ops.linalg.tridiagonal import *
from occelo_graph.ops.shape.dimensions import matrix_transpose as matrix_transpose
from occelo_graph.ops.statistics import norm as norm

if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_linear_algebra("occelo.tensor.linalg", "occelo.tensor")
