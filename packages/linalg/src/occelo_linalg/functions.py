"""The namespace of linear algebra: it collects the functions of `occelo_linalg.ops`, such as ``solve``, and some of
`occelo_graph.ops.blas`.

Users reach the namespace as `occelo.tensor.linalg`. The namespace ``tensor`` imports this module when ``tensor.linalg``
is first used (`missing_names`). Modules with examples for tests of ops and rules import it directly.
"""

from typing import TYPE_CHECKING

from numpy.linalg import LinAlgError as LinAlgError

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.ops.blas.products import matmul as matmul
from occelo_graph.ops.blas.products import matvec as matvec
from occelo_graph.ops.blas.products import tensordot as tensordot
from occelo_graph.ops.blas.products import vecdot as vecdot
from occelo_graph.ops.blas.products import vecmat as vecmat
from occelo_graph.ops.shape.dimensions import matrix_transpose as matrix_transpose
from occelo_linalg.missing_names import missing_linear_algebra as _missing_linear_algebra
from occelo_linalg.ops.array_api import *
from occelo_linalg.ops.block_matrices import *
from occelo_linalg.ops.block_matrices import BlockDiag as _BlockDiag
from occelo_linalg.ops.block_matrices import Kron as _Kron
from occelo_linalg.ops.chains import *
from occelo_linalg.ops.determinant import *
from occelo_linalg.ops.equations.banded import *
from occelo_linalg.ops.equations.cholesky_solving import *
from occelo_linalg.ops.equations.lu_solving import *
from occelo_linalg.ops.equations.riccati import *
from occelo_linalg.ops.equations.solve import *
from occelo_linalg.ops.equations.sylvester import *
from occelo_linalg.ops.equations.toeplitz import *
from occelo_linalg.ops.equations.triangular import *
from occelo_linalg.ops.equations.tridiagonal import *
from occelo_linalg.ops.factorizations.cholesky import *
from occelo_linalg.ops.factorizations.eig import *
from occelo_linalg.ops.factorizations.eigh import *
from occelo_linalg.ops.factorizations.householder import *
from occelo_linalg.ops.factorizations.lu import *
from occelo_linalg.ops.factorizations.lu import LuFactor as _LuFactor
from occelo_linalg.ops.factorizations.qr import *
from occelo_linalg.ops.factorizations.qz import *
from occelo_linalg.ops.factorizations.schur import *
from occelo_linalg.ops.factorizations.svd import *
from occelo_linalg.ops.inverse import *
from occelo_linalg.ops.inverse import Inv as _Inv
from occelo_linalg.ops.matrix_functions import *
from occelo_linalg.ops.norms import norm as norm
from occelo_linalg.ops.pinv import *
from occelo_linalg.ops.pinv import Pinv as _Pinv
from occelo_linalg.ops.results import *
from occelo_linalg.ops.tensor_equations import *

# PyTensor's names of classes of ops
BlockDiagonal = _BlockDiag
KroneckerProduct = _Kron
LUFactor = _LuFactor
MatrixInverse = _Inv
MatrixPinv = _Pinv
_explain_errors(globals(), "arguments")
if not TYPE_CHECKING:  # so that type checkers report unknown names
    __getattr__ = _missing_linear_algebra("occelo.tensor.linalg", "occelo.tensor")
