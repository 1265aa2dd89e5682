"""Products of Householder reflectors.

Users find `householder_product` in `occelo.tensor.linalg`. Linkers lower the op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import eye, tril, triu
from occelo_graph.ops.linalg.gradient_formulas import as_column
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, hermitian
from occelo_graph.ops.linalg.triangular import solve_triangular
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import StaticShape
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["HouseholderProduct", "householder_product"]


@op
class HouseholderProduct(MatrixOp):
    """The first n columns of H_1 H_2 ... H_k with H_i = I - tau_i v_i v_i^H.

    v_i is column i of the first argument, with its element on the diagonal replaced by 1, and those above by 0. k <= n
    <= m.
    """

    signature: ClassVar[str] = "(m,n),(k)->(m,n)"

    @property
    def label(self) -> str:
        return "householder_product"

    def _static_lengths(self, shapes: Sequence[StaticShape]) -> dict[str, int | None]:
        known = super()._static_lengths(shapes)
        self._check(known)
        return known

    def _check(self, known: dict[str, int | None]) -> None:
        m, n, k = (known[name] for name in "mnk")
        for low, high in ((k, n), (n, m), (k, m)):
            if low is not None and high is not None and low > high:
                raise ValueError(
                    f"{self.label} takes at most as many reflectors as columns, and columns as rows, "
                    f"got matrices {(m, n)} with {k} reflectors"
                )

    def check_shapes(self, types: Any, shapes: Sequence[tuple[int, ...]]) -> None:
        super().check_shapes(types, shapes)
        (*_, m, n), (*_, k) = shapes
        self._check({"m": m, "n": n, "k": k})

    def core(self, *arrays: Array) -> Array:
        vectors, factors = arrays
        if vectors.size == 0:
            return vectors.copy()
        name = "ungqr" if is_complex(vectors.dtype.name) else "orgqr"
        linalg: Any = scipy_module("linalg", self.label)
        (routine,) = linalg.get_lapack_funcs((name,), (vectors,))
        made, _, _ = routine(vectors, factors)
        return np.ascontiguousarray(made)

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any]:
        # Schreiber and Van Loan (1989), A storage-efficient WY representation for products of Householder transformations:
        # the product is I - V T V^H, where T^-1 has 1 / tau on its diagonal and the upper triangle of V^H V above it
        vectors, factors = inputs
        m, n, k = vectors.shape[-2], vectors.shape[-1], factors.shape[-1]
        v = tril(vectors[..., :k], -1) + eye(m, k, dtype=vectors.dtype)
        scaled = as_column(factors) * triu(matmul(hermitian(v), v), 1)
        right = as_column(factors) * hermitian(v[..., :n, :])
        solved = solve_triangular(scaled, right, lower=False, unit_diagonal=True, b_ndim=2)
        return [eye(m, n, dtype=vectors.dtype) - matmul(v, solved)]


def householder_product(v: Any, tau: Any) -> TensorVariable:
    """The first n columns of products of Householder reflectors, of shape (..., m, n): LAPACK's ``orgqr`` and ``ungqr``.

    The product is ``H_1 @ H_2 @ ... @ H_k`` with ``H_i = I - tau_i v_i v_i^H``. ``v`` has shape (..., m, n) and ``tau``
    (..., k), with k <= n <= m. Below the diagonal, the vector ``v_i`` has the elements of column i of ``v``. On the
    diagonal ``v_i`` is 1 and above it 0; these elements are not read from ``v``. If ``a`` has no more columns than
    rows, and ``h, tau = qr(a, mode="raw")``, then the Q of ``a`` is ``householder_product(h.mT, tau)``. Batch
    dimensions broadcast. The result has the common dtype, float64 for integers; float16 is a TypeError.

    The gradient is computed from the compact form ``I - V T V^H`` (Schreiber and Van Loan 1989). So it is right for any
    ``v`` and ``tau``, even if the product is not unitary. ValueError for shapes that do not fit.
    """
    made: TensorVariable = HouseholderProduct()(*as_matrices("householder_product", v, tau))
    return made
