"""Inverses of square matrices: the function `inv` and its op `Inv`.

Users call `inv` from `occelo.tensor.linalg`. Powers of matrices, gradients of `slogdet`, derivatives of adjugates,
condition numbers and inverses of tensors call it, too. Rules replace products with an inverse by `solve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.blas.products import matmul
from occelo_graph.ops.create import eye
from occelo_linalg.ops.equations.solve import GENERAL, solve
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, check_on_error, hermitian
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Inv", "inv"]


@op
class Inv(MatrixOp):
    """Computes the inverses of square matrices."""

    on_error: str = "raise"
    signature: ClassVar[str] = "(n,n)->(n,n)"

    def core(self, *arrays: Array) -> Array:
        return np.linalg.inv(arrays[0])

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        # Giles (2008), Collected matrix derivative results, section 2.2.3
        turned = hermitian(outputs[0])
        return [-matmul(turned, matmul(ct, turned))]


@stands_for("linalg.inv", "a")
def inv(
    a: Any,
    *,
    assume_a: str | None = "gen",
    lower: bool = False,
    on_error: str = "raise",
    **options: Unpack[ScipyOptions],
) -> TensorVariable:
    """The inverses of square matrices ``a`` of shape (..., n, n).

    The result has the dtype of ``a``, or float64 for integers. ``solve(a, b)`` is faster and more accurate than
    ``inv(a) @ b``. ``assume_a`` and ``lower`` are those of `solve`: what is known of ``a``, and which triangle is read then.

    If a matrix is singular, ``numpy.linalg.LinAlgError`` is raised. The message has the matrix's position in the batch.
    With ``on_error="nan"``, its inverse is NaN. ValueError if ``a`` is not square, TypeError for float16. ``options``
    are SciPy's.
    """
    (x,) = as_matrices("inv", a, options=options)
    if assume_a not in GENERAL:
        unit = eye(x.shape[-1], dtype=x.dtype)
        return solve(x, unit, lower, assume_a=assume_a, b_ndim=2, on_error=on_error)
    inverse: TensorVariable = Inv(check_on_error(on_error))(x)
    return inverse
