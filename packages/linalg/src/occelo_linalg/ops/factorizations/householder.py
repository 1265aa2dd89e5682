"""Products of Householder reflectors: the function `householder_product` and its op.

Users call `householder_product` from `occelo.tensor.linalg`, for instance to compute Q from ``qr(a, mode="raw")``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import op
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import eye, tril, triu
from occelo_graph.optional_scipy import scipy_module
from occelo_graph.tensors.type import is_complex
from occelo_linalg.ops.equations.triangular import solve_triangular
from occelo_linalg.ops.gradient_formulas import as_column
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, hermitian

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.type import StaticShape
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["HouseholderProduct", "householder_product"]


@op
class HouseholderProduct(MatrixOp):
    """Computes the first n columns of the product H_1 H_2 ... H_k, where H_i is I - tau_i v_i v_i^H.

    The first input is a matrix with n columns and m rows. The vector v_i is column i of this matrix, but with 1 on the
    diagonal and 0 above. The second input holds tau_1 to tau_k. k must be at most n, and n at most m.
    """

    signature: ClassVar[str] = "(m,n),(k)->(m,n)"

    @property
    def label(self) -> str:
        return "householder_product"

    def _static_lengths(self, shapes: Sequence[StaticShape]) -> dict[str, int | None]:
        lengths = super()._static_lengths(shapes)
        self._check(lengths)
        return lengths

    def _check(self, lengths: dict[str, int | None]) -> None:
        m, n, k = (lengths[name] for name in "mnk")
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
        columns, _, _ = routine(vectors, factors)
        return np.ascontiguousarray(columns)

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
    """The first n columns of products of Householder reflectors, as in LAPACK's ``orgqr`` and ``ungqr``.

    The product is ``H_1 @ H_2 @ ... @ H_k``, where ``H_i`` is ``I - tau_i v_i v_i^H``. ``v`` has the shape (..., m, n)
    and ``tau`` has the shape (..., k), with k <= n <= m. The vector ``v_i`` is column i of ``v``, but with 1 on the
    diagonal and 0 above; these elements of ``v`` are not read. The result has the shape (..., m, n). Batch dimensions
    broadcast. The result has the common dtype, or float64 for integers.

    For instance, if ``a`` has at least as many rows as columns, and ``h, tau = qr(a, mode="raw")``, then
    ``householder_product(h.mT, tau)`` is the Q of ``a``.

    The gradient is computed from the compact form ``I - V T V^H`` (Schreiber and Van Loan 1989). So it is correct for
    any ``v`` and ``tau``, even if the product is not unitary. ValueError if the shapes do not fit, TypeError for
    float16.
    """
    columns: TensorVariable = HouseholderProduct()(*as_matrices("householder_product", v, tau))
    return columns
