"""Solutions of equations with sparse matrices, by SuperLU in Python, with gradients by the structure of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ops.cast import cast
from occelo_graph.ops.elemwise.arithmetic import neg
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_sparse.ops.assembling import as_sparse_variable, lengths_of, properties, where_equal
from occelo_sparse.ops.factors import factorized
from occelo_sparse.ops.multiplying import common_dtype
from occelo_sparse.ops.products import SampledProduct

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["SparseSolve", "spsolve"]


@op
class SparseSolve(Op):
    """The solution of A x = b, where A is a square CSC matrix of values, indices and offsets; or of A' x = b if ``transposed``.

    All numbers have one dtype, of floats or complex numbers. ``b`` is a vector or a matrix.
    """

    transposed: bool = False

    def infer(self, values: Any, indices: Any, offsets: Any, b: Any) -> TensorType:
        if values.dtype != b.dtype or values.is_discrete or b.ndim not in (1, 2):
            raise TypeError(f"{self} takes floats and a vector or a matrix, got {values} and {b}")
        return TensorType(b.dtype, b.shape)

    def evaluate(self, values: Any, indices: Any, offsets: Any, b: Any) -> Any:
        n = len(offsets) - 1
        if len(b) != n:
            raise ValueError(f"A matrix of {n} x {n} does not fit to {len(b)} elements")
        return factorized(values, indices, offsets).solve(b, self.transposed)

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[True], [False], [False], [True]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        values, indices, offsets, _ = inputs
        x = outputs[0]
        if is_complex(x.dtype):
            values, x = conj(values), conj(x)
        of_b = SparseSolve(not self.transposed)(values, indices, offsets, cotangents[0])
        pair = (of_b, x) if self.transposed else (x, of_b)
        return [neg(SampledProduct()(indices, offsets, *pair)), None, None, of_b]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[3]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """A batch of right sides is one matrix with more columns, so the matrix is factorized once."""
        extra = batch_ndims[3]
        if any(batch_ndims[:3]):
            return super().batch(node, inputs, batch_ndims)
        lengths = lengths_by_variables(inputs[3])
        columns = [*lengths[:extra], *lengths[extra + 1 :]]
        wide = reshape(moveaxis(inputs[3], extra, 0), [lengths[extra], length_product(columns)], 2)
        solutions = reshape(self(*inputs[:3], wide), [lengths[extra], *columns], 1 + len(columns))
        return [moveaxis(solutions, 0, extra)]


def spsolve(A: Any, b: Any) -> TensorVariable:
    """The solution x of ``A x = b`` for a square sparse matrix ``A`` and a dense vector or matrix ``b``.

    Integers become float64. TypeError if ``A`` is dense or ``b`` has more than two dimensions; ValueError, also at run time,
    for shapes that do not fit, and `numpy.linalg.LinAlgError` at run time for a singular matrix. All backends call SciPy.
    """
    matrix, b = as_sparse_variable(A), as_tensor_variable(b)
    if b.type.ndim not in (1, 2):
        raise TypeError(f"spsolve takes a vector or a matrix on its right, got {describe(b)}")
    values, indices, offsets = square_parts(matrix, "spsolve")
    dtype = common_dtype(matrix.type.dtype, b.dtype)
    if np.dtype(dtype).kind in "iu":
        dtype = "float64"
    solve = SparseSolve(matrix.type.format == "csr")
    solution: TensorVariable = solve(cast(values, dtype), indices, offsets, cast(b, dtype))
    return solution


def square_parts(a: Any, what: str) -> tuple[Any, Any, Any]:
    """The values, indices and offsets of a sparse matrix, with a check that it is square."""
    matrix = as_sparse_variable(a)
    values, indices, offsets, _ = properties(matrix)
    rows, columns = lengths_of(matrix)
    indices = where_equal(indices, rows, columns, f"{what} takes a square matrix")
    return values, indices, offsets
