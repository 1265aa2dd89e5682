"""Determinants of square matrices (`det`), and their signs and logarithms (`slogdet`).

Users call `det` and `slogdet` from `occelo.tensor.linalg`. Their ops are `Det` and `SLogDet`. The decompositions of the
ops begin with an LU factorisation (`LuFactor`). Up to its sign, the determinant is the product of the pivots. The
logarithm of its absolute value is the sum of the logarithms of their absolute values. The linkers for machine code have
a lowering of `Det`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import ZERO, op
from occelo_graph.ops.arguments import stands_for
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import isnan, sgn, switch
from occelo_graph.ops.elemwise.complex import complex as complex_
from occelo_graph.ops.elemwise.transcendental import log
from occelo_graph.ops.index.search import diagonal
from occelo_graph.ops.reduce import prod
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_linalg.ops.adjugate import Adjugate
from occelo_linalg.ops.factorizations.lu import LuFactor, sign_of_exchanges
from occelo_linalg.ops.inverse import inv
from occelo_linalg.ops.matrix_op import MatrixOp, as_matrices, hermitian, if_square
from occelo_linalg.ops.scipy_options import ScipyOptions

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Det", "SLogDet", "SlogdetResult", "det", "slogdet"]


@op
class Det(MatrixOp):
    """Computes the determinants of square matrices."""

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
    """Two outputs: the signs of determinants of square matrices, and the logarithms of their absolute values."""

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
        # as in NumPy, a pivot that is NaN has no sign
        signed = pivots if is_complex(x.dtype) else switch(isnan(pivots), 1.0, pivots)
        turned = prod(sgn(signed), axis=-1) * cast(sign, x.dtype)
        logarithm = log(abs(pivots)).sum(axis=-1)
        return [if_square(self.label, x, v) for v in (turned, logarithm)]

    def core_pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        of_sign, of_logarithm = cotangents
        if not is_complex(inputs[0].dtype):
            if not isinstance(of_logarithm, Variable):
                # the sign of a real determinant is constant wherever it has a derivative
                return [ZERO if ZERO in (of_sign, of_logarithm) or of_sign is not None else None]
            factor: Any = of_logarithm
        else:
            if not isinstance(of_sign, Variable) and not isinstance(of_logarithm, Variable):
                return [None if of_sign is None and of_logarithm is None else ZERO]
            # for t = tr(A^-1 dA), d log|det A| = Re t and d sign = i sign Im t
            factor = of_logarithm
            if isinstance(of_sign, Variable):
                turning = (of_sign * outputs[0].conj()).imag
                growing = of_logarithm if isinstance(of_logarithm, Variable) else 0 * turning
                factor = complex_(growing, turning)
        return [_times_matrix(factor, hermitian(inv(inputs[0])))]


def _pivots(x: Any) -> tuple[TensorVariable, TensorVariable]:
    """The diagonals of U in LU factorisations of ``x``, and the signs of the exchanges of rows.

    A sign is 1 for an even number of exchanges and -1 for an odd number, as int8.
    """
    factors, exchanged = LuFactor()(x)
    return diagonal(factors, 0, x.type.ndim - 2, x.type.ndim - 1), sign_of_exchanges(exchanged)


def _times_matrix(factor: Any, matrix: TensorVariable) -> TensorVariable:
    product: TensorVariable = expand_dims(factor, (-2, -1)) * matrix
    return product


@stands_for("linalg.det", "a")
def det(a: Any, **options: Unpack[ScipyOptions]) -> TensorVariable:
    """The determinants of square matrices ``a`` of shape (..., n, n). The result has the shape (...).

    The result has the dtype of ``a``, or float64 for integers. The determinant of an empty matrix is 1. ValueError if
    ``a`` is not square, TypeError for float16. ``options`` are SciPy's.

    The gradient is the conjugate transpose of the adjugate. For an invertible matrix, the adjugate is ``det(a) *
    inv(a)`` (Giles 2008). First and second derivatives are correct for singular matrices, too.
    """
    (x,) = as_matrices("det", a, options=options)
    dets: TensorVariable = Det()(x)
    return dets


class SlogdetResult(NamedTuple):
    """The results of `slogdet`, with the same names as in NumPy. TypeError if a field is missing."""

    sign: TensorVariable
    logabsdet: TensorVariable


@stands_for("linalg.slogdet", "a")
def slogdet(a: Any) -> SlogdetResult:
    """The signs of determinants (``sign``), and the logarithms of their absolute values (``logabsdet``).

    The square matrices ``a`` have the shape (..., n, n), and both results have the shape (...). The sign has the dtype
    of ``a``, or float64 for integers. The sign of a complex determinant is a complex number of absolute value 1. The
    logarithm is real. For a singular matrix, the sign is 0 and the logarithm is -inf.

    The gradient of ``logabsdet`` is ``inv(a)^H``. The gradient of a real sign is 0. For a singular matrix, the gradient
    of ``logabsdet`` raises ``numpy.linalg.LinAlgError``, and so does the gradient of a complex sign. TypeError for
    float16, ValueError if ``a`` is not square.
    """
    (x,) = as_matrices("slogdet", a)
    sign, logarithm = SLogDet()(x)
    return SlogdetResult(sign, logarithm)
