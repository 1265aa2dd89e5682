"""`oc.minimize` with a sparse matrix among the given values: least squares, compared with NumPy's."""

import numpy as np
from scipy import sparse as sp

import occelo as oc
import occelo.tensor as ot
from occelo import sparse


def test_a_given_matrix_may_be_sparse() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_matrix(rng.normal(size=(12, 4)) * (rng.random((12, 4)) < 0.6))
    target = rng.normal(size=12)
    A, b, w = sparse.csr_matrix("A"), ot.dvector("b"), ot.dvector("w")
    found = oc.minimize(
        ((A @ w - b) ** 2).sum(), w, np.zeros(4), given={A: matrix, b: target}, tol=1e-10
    )
    expected = np.linalg.lstsq(matrix.toarray(), target, rcond=None)[0]
    np.testing.assert_allclose(found.params, expected, atol=1e-5)
