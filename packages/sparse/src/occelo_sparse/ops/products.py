"""Ops on compressed matrices and dense tensors: products from both sides, and products at the stored places.

Each op's derivatives are the other ones. `dot` and its relatives are graphs of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import zeros
from occelo_graph.ops.elemwise.arithmetic import mul
from occelo_graph.ops.elemwise.complex import conj
from occelo_graph.ops.length_inputs import integer_length
from occelo_graph.ops.reduce import sum as sum_
from occelo_graph.ops.shape.dimensions import moveaxis
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import TensorType, is_complex
from occelo_sparse.ops.structure import check_structure, lines_of


def _conj(x: Any) -> Any:
    return conj(x) if is_complex(x.dtype) else x


def _scaled(values: Any, rows: Any) -> Any:
    """``values`` times vectors or scalars, one for each."""
    return values[:, None] * rows if rows.ndim == 2 else values * rows


def _check_types(op_: Op, values: Any, indices: Any, offsets: Any, *dense: Any) -> None:
    for kind in (values, indices, offsets):
        if kind is not None and kind.ndim != 1:
            raise TypeError(f"{op_} takes vectors as parts of a matrix, got {kind}")
    for kind in dense:
        if kind.ndim not in (1, 2) or (values is not None and kind.dtype != values.dtype):
            raise TypeError(f"{op_} takes vectors and matrices of one dtype, got {kind}")


@op
class _Product(Op):
    """Base class of the products: ``values``, ``indices`` and ``offsets`` of a compressed matrix, and dense ``x``."""

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i in (0, 3)] for i in range(len(node.inputs))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """A batch of dense operands is one matrix with more columns."""
        extra = batch_ndims[3]
        if any(batch_ndims[:3]) or any(batch_ndims[4:]) or node.inputs[0].type.is_discrete:
            return super().batch(node, inputs, batch_ndims)
        x = inputs[3]
        lengths = lengths_by_variables(x)
        columns = [*lengths[:extra], *lengths[extra + 1 :]]
        wide = moveaxis(x, extra, 0)
        wide = reshape(wide, [lengths[extra], length_product(columns)], 2)
        product: Any = self(*inputs[:3], wide, *inputs[4:])
        product = reshape(product, [lengths_by_variables(product)[0], *columns], 1 + len(columns))
        return [moveaxis(product, 0, extra)]


@op
class LineProduct(_Product):
    """Element (or row) i of the result is the sum of ``values[k] * x[indices[k]]`` over the values k of line i.

    So it is A x of a CSR matrix, and A' x of a CSC matrix. ``x`` is a vector or a matrix.
    """

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, slice(3, 4)

    def infer(self, values: Any, indices: Any, offsets: Any, x: Any) -> TensorType:
        _check_types(self, values, indices, offsets, x)
        (more,) = offsets.shape
        return TensorType(x.dtype, [None if more is None else more - 1, *x.shape[1:]])

    def evaluate(self, values: Any, indices: Any, offsets: Any, x: Any) -> Any:
        lines = check_structure(indices, offsets, len(x))
        product = np.zeros((len(offsets) - 1, *x.shape[1:]), x.dtype)
        np.add.at(product, lines, _scaled(values, x[indices]))
        return product

    def decompose(self, values: Any, indices: Any, offsets: Any, x: Any) -> Sequence[Any]:
        lines = lines_of(indices, offsets)
        start = zeros([offsets.shape[0] - 1, *lengths_by_variables(x)[1:]], x.dtype)
        return [start[lines].inc(_scaled_rows(values, x[indices]))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        values, indices, offsets, x = inputs
        ct = cotangents[0]
        of_values = SampledProduct()(indices, offsets, ct, _conj(x))
        of_x = ScatteredProduct()(_conj(values), indices, offsets, ct, _rows(x))
        return [of_values, None, None, of_x]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        _, _, offsets, x = input_shapes
        return [(offsets[0] - 1, *x[1:])]


@op
class ScatteredProduct(_Product):
    """Element (or row) j of the result is the sum of ``values[k] * x[line of k]`` over the values k with the index j.

    So it is A' x of a CSR matrix, and A x of a CSC matrix. The last input is the number of elements or rows.
    """

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return FIRST, slice(3, 4)

    def infer(self, values: Any, indices: Any, offsets: Any, x: Any, n: Any) -> TensorType:
        _check_types(self, values, indices, offsets, x)
        return TensorType(x.dtype, [None, *x.shape[1:]])

    def evaluate(self, values: Any, indices: Any, offsets: Any, x: Any, n: Any) -> Any:
        lines = check_structure(indices, offsets, int(n))
        _check_lines(offsets, x)
        product = np.zeros((int(n), *x.shape[1:]), x.dtype)
        np.add.at(product, indices, _scaled(values, x[lines]))
        return product

    def decompose(self, values: Any, indices: Any, offsets: Any, x: Any, n: Any) -> Sequence[Any]:
        lines = lines_of(indices, offsets)
        start = zeros([n, *lengths_by_variables(x)[1:]], x.dtype)
        return [start[indices].inc(_scaled_rows(values, x[lines]))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        values, indices, offsets, x, _ = inputs
        ct = cotangents[0]
        of_values = SampledProduct()(indices, offsets, _conj(x), ct)
        return [
            of_values,
            None,
            None,
            LineProduct()(_conj(values), indices, offsets, ct),
            None,
        ]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(node.inputs[4], *input_shapes[3][1:])]


@op
class SampledProduct(Op):
    """Element k of the result is ``x[line of k] * y[indices[k]]``, or the sum of such products if these are rows.

    So for matrices it is the element of x y' at each stored place. Complex numbers are not conjugated.
    """

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return slice(2, 3), slice(3, 4)

    def infer(self, indices: Any, offsets: Any, x: Any, y: Any) -> TensorType:
        _check_types(self, None, indices, offsets, x, y)
        if x.dtype != y.dtype or x.ndim != y.ndim:
            raise TypeError(f"{self} takes two vectors or matrices of one dtype, got {x} and {y}")
        return TensorType(x.dtype, indices.shape)

    def evaluate(self, indices: Any, offsets: Any, x: Any, y: Any) -> Any:
        lines = check_structure(indices, offsets, len(y))
        _check_lines(offsets, x)
        if x.shape[1:] != y.shape[1:]:
            raise ValueError(f"Rows of {x.shape[1:]} and {y.shape[1:]} elements have no product")
        terms = x[lines] * y[indices]
        return terms if terms.ndim == 1 else terms.sum(axis=1, dtype=x.dtype)

    def decompose(self, indices: Any, offsets: Any, x: Any, y: Any) -> Sequence[Any]:
        terms = mul(x[lines_of(indices, offsets)], y[indices])
        return [terms if terms.type.ndim == 1 else sum_(terms, axis=1, dtype=x.dtype)]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False], [False], [True], [True]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        indices, offsets, x, y = inputs
        ct = cotangents[0]
        of_x = LineProduct()(ct, indices, offsets, _conj(y))
        return [None, None, of_x, ScatteredProduct()(ct, indices, offsets, _conj(x), _rows(y))]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        indices, offsets, x, y = inputs
        if any(batch_ndims[:2]):
            return super().batch(node, inputs, batch_ndims)
        whole = (slice(None),) * (tensors(node.inputs)[2].type.ndim - 1)
        terms = x[(..., lines_of(indices, offsets), *whole)] * y[(..., indices, *whole)]
        return [sum_(terms, axis=-1, dtype=x.dtype) if whole else terms]


def _rows(x: Any) -> Any:
    """The number of elements of a vector, or of rows of a matrix, as an int64 scalar."""
    return cast(as_tensor_variable(integer_length(lengths_by_variables(x)[0])), "int64")


def _scaled_rows(values: Any, rows: Any) -> Any:
    return mul(values.dimshuffle(0, "x") if rows.type.ndim == 2 else values, rows)


def _check_lines(offsets: Any, x: Any) -> None:
    if len(x) != len(offsets) - 1:
        raise ValueError(f"A matrix of {len(offsets) - 1} lines does not fit to {len(x)} elements")
