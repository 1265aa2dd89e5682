"""Determinants of square matrices, and their signs and logarithms.

The ops `Det` and `SLogDet` decompose into the LU factorisation (`lu`) and products. The linkers for machine code lower
`Det` itself. Rules simplify both ops. Users find `det` and `slogdet` in `occelo.tensor.linalg`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import sgn
from occelo_graph.ops.elemwise.complex import complex as complex_
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.linalg.adjugate import Adjugate
from occelo_graph.ops.linalg.inverse import inv
from occelo_graph.ops.linalg.lu import LuFactor, sign_of_exchanges
from occelo_graph.ops.linalg.matrix_op import MatrixOp, as_matrices, hermitian, if_square
from occelo_graph.ops.reduce import prod
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.type import TensorType, is_complex

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Det", "SLogDet", "SlogdetResult", "det", "slogdet"]


@op
class Det(MatrixOp):
    """The determinants of square matrices."""

    signature: ClassVar[str] = "(n,n)->()"

    def core(self, *arrays: Array) -> Array:
        return np.asarray(np.linalg.det(arrays[0]))

    def decompose(self, x: Any) -> Sequence[Any]:
        pivots, sign = _pivots(x)
        return [if_square(self.label, x, prod(pivots, axis=-1) * cast(sign, x.dtype))]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        ct = cotangents[0]
        if ct is None or ct is ZERO:
            return [ct]
        return [_times_matrix(ct, Adjugate()(hermitian(inputs[0])))]


@op
class SLogDet(MatrixOp):
    """The signs of the determinants of square matrices, and the logarithms of their absolute values."""

    signature: ClassVar[str] = "(n,n)->(),()"

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        dtype = types[0].dtype
        return [dtype, {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)]

    @property
    def label(self) -> str:
        return "slogdet"

    def core(self, *arrays: Array) -> tuple[Array, ...]:
        sign, logarithm = np.linalg.slogdet(arrays[0])
        return np.asarray(sign), np.asarray(logarithm)

    def decompose(self, x: Any) -> Sequence[Any]:
        pivots, sign = _pivots(x)
        turned = prod(sgn(pivots), axis=-1) * cast(sign, x.dtype)
        logarithm = log(abs(pivots)).sum(axis=-1)
        return [if_square(self.label, x, v) for v in (turned, logarithm)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        of_sign, of_logarithm = cotangents
        if not is_complex(inputs[0].dtype):
            if not isinstance(of_logarithm, Variable):
                # the sign of a real determinant is constant wherever there is a derivative
                return [ZERO if ZERO in (of_sign, of_logarithm) or of_sign is not None else None]
            factor: Any = of_logarithm
        else:
            if not isinstance(of_sign, Variable) and not isinstance(of_logarithm, Variable):
                return [None if of_sign is None and of_logarithm is None else ZERO]
            # with t = tr(A^-1 dA): d log|det A| = Re t, and d sign = i sign Im t
            factor = of_logarithm
            if isinstance(of_sign, Variable):
                turning = (of_sign * outputs[0].conj()).imag
                growing = of_logarithm if isinstance(of_logarithm, Variable) else 0 * turning
                factor = complex_(growing, turning)
        return [_times_matrix(factor, hermitian(inv(inputs[0])))]


def _pivots(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """The diagonals of U of LU factorisations, and 1 or -1 for an even or odd number of exchanged rows, as int8."""
    factors, exchanged = LuFactor()(x)
    return diagonal(factors, 0, x.type.ndim - 2, x.type.ndim - 1), sign_of_exchanges(exchanged)


def _times_matrix(factor: Any, matrix: TensorVariable) -> TensorVariable:
    product: TensorVariable = expand_dims(factor, (-2, -1)) * matrix
    return product


@stands_for("linalg.det", "a")
def det(a: Any) -> TensorVariable:
    """The determinants of square matrices in the last two dimensions of ``a``, of shape (..., n, n); the result has shape (...).

    The result has the dtype of ``a``, float64 for integers; float16 is a TypeError. It is 1 for empty matrices. The
    gradient is the conjugate transpose of the adjugate; for a regular matrix the adjugate is ``det(a) * inv(a)`` (Giles
    2008). First and second derivatives are right for singular matrices, too. ValueError if ``a`` is not square.
    """
    (x,) = as_matrices("det", a)
    made: TensorVariable = Det()(x)
    return made


class SlogdetResult(NamedTuple):
    """The results of `slogdet`, named as NumPy's."""

    sign: TensorVariable
    logabsdet: TensorVariable


@stands_for("linalg.slogdet", "a")
def slogdet(a: Any) -> SlogdetResult:
    """Signs of determinants and logarithms of their absolute values, as ``sign`` and ``logabsdet``.

    The square matrices ``a`` have shape (..., n, n), and both results have shape (...). The sign has the dtype of ``a``
    (float64 for integers). The sign of a complex determinant is a complex number of absolute value 1. The logarithm is
    real. A singular matrix has sign 0 and logarithm -inf.

    The gradient of ``logabsdet`` is ``inv(a)^H``, and that of a real sign is 0. For a singular matrix both gradients
    raise ``numpy.linalg.LinAlgError``. TypeError for float16, ValueError if ``a`` is not square.
    """
    (x,) = as_matrices("slogdet", a)
    sign, logarithm = SLogDet()(x)
    return SlogdetResult(sign, logarithm)
