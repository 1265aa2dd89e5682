"""Determinants of sparse matrices: signs and logarithms of absolute values, with gradients by the structure of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangents, Op, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import eye
from occelo_graph.ops.elemwise.arithmetic import neg
from occelo_graph.ops.elemwise.complex import complex as complex_
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_sparse.ops.factors import factorized
from occelo_sparse.ops.products import LineProduct
from occelo_sparse.ops.solving import SparseSolve, square_parts
from occelo_sparse.ops.structure import lines_of

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SlogdetResult", "slogdet"]


@op
class _OfMatrix(Op):
    """Base class of ops on the values, indices and offsets of a square CSC matrix of floats or complex numbers."""

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """A batch of values is computed one after the other."""
        return super().batch(node, inputs, batch_ndims)


@op
class SparseSLogDet(_OfMatrix):
    """Two scalars of a square CSC matrix of values, indices and offsets: the sign of its determinant and the logarithm."""

    def infer(self, values: Any, indices: Any, offsets: Any) -> tuple[TensorType, ...]:
        if values.is_discrete:
            raise TypeError(f"{self} takes floats, got {values}")
        real = np.dtype(values.dtype).type(0).real.dtype.name
        return TensorType(values.dtype, ()), TensorType(real, ())

    def evaluate(self, values: Any, indices: Any, offsets: Any) -> Any:
        real = values.dtype.type(0).real.dtype
        try:
            sign, logarithm = factorized(values, indices, offsets).slogdet()
        except np.linalg.LinAlgError:
            sign, logarithm = 0, -np.inf
        return np.asarray(sign, values.dtype), np.asarray(logarithm, real)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True, True], [False, False], [False, False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        of_sign: Any
        of_logarithm: Any
        of_sign, of_logarithm = cotangents
        real = not is_complex(inputs[0].dtype)
        if not isinstance(of_logarithm, Variable) and (real or not isinstance(of_sign, Variable)):
            # the sign of a real determinant is constant wherever it has a derivative
            return [None if of_sign is None and of_logarithm is None else ZERO, None, None]
        inverse = InverseAtPlaces()(*inputs)
        factor: Any = of_logarithm
        if not real and isinstance(of_sign, Variable):
            # for t = tr(A^-1 dA), d log|det A| = Re t and d sign = i sign Im t
            turning = (of_sign * conj(outputs[0])).imag
            growing = of_logarithm if isinstance(of_logarithm, Variable) else 0 * turning
            factor = complex_(growing, turning)
        return [factor * (inverse if real else conj(inverse)), None, None]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(), ()]


@op
class InverseAtPlaces(_OfMatrix):
    """The elements of the inverse of a square CSC matrix that belong to its stored values.

    For a value in row i and column j it is the element in row j and column i, which is the derivative of the logarithm of
    the determinant. Derivatives of these elements compute the whole inverse, a dense matrix.
    """

    def infer(self, values: Any, indices: Any, offsets: Any) -> TensorType:
        if values.is_discrete:
            raise TypeError(f"{self} takes floats, got {values}")
        return TensorType(values.dtype, indices.shape)

    def evaluate(self, values: Any, indices: Any, offsets: Any) -> Any:
        elements = factorized(values, indices, offsets).inverse_at_places()
        return np.array(elements, values.dtype)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        """For the inverse M, d M = -M dA M: the cotangent of A is -M' K M', where K has the cotangents at the places of A'."""
        values, *structure = inputs
        if is_complex(values.dtype):
            values = conj(values)
        solve = SparseSolve(True)
        whole = solve(values, *structure, eye(inputs[2].shape[0] - 1, dtype=values.dtype))
        product = solve(values, *structure, LineProduct()(cotangents[0], *structure, whole))
        return [neg(product[inputs[1], lines_of(*structure)]), None, None]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[1]]


class SlogdetResult(NamedTuple):
    """The results of `slogdet`, with the same names as in NumPy. TypeError if a field is missing."""

    sign: TensorVariable
    logabsdet: TensorVariable


def slogdet(a: Any) -> SlogdetResult:
    """The sign of the determinant of a square sparse matrix ``a``, and the logarithm of its absolute value, by SuperLU.

    Integers become float64. For a singular matrix the sign is 0 and the logarithm -inf. The gradient has the elements of the
    inverse at the places of ``a`` alone; `numpy.linalg.LinAlgError` at run time for a singular matrix. TypeError if ``a`` is
    dense; ValueError, also at run time, if it is not square. All backends call SciPy.
    """
    values, indices, offsets = square_parts(a, "slogdet")
    kind = np.dtype(values.dtype).kind
    floats = cast(values, "float64") if kind in "iu" else values
    sign, logarithm = SparseSLogDet()(floats, indices, offsets)
    return SlogdetResult(sign, logarithm)
