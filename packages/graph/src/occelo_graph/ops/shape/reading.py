"""The ops `Shape` and `Shape_i`, which read the lengths of a tensor, and functions that apply or recognize them.

``x.shape`` applies `Shape`. Functions of other families, gradients and `Blockwise` call `lengths_by_variables` and
`length_product`. Ops and rules call `length_read` to recognize a variable that is a length of a tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Cotangents, Op, Tangents, op
from occelo_graph.ir.terms import ATOM, Term
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.length_inputs import Lengths
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, computed_by, tensors
from occelo_graph.tensors.type import TensorType
from occelo_graph.upward import stack

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


class _OfShape(Op):
    """Base class of ops that read lengths of a tensor, but not its elements."""

    by_parts = FIRST
    of_shapes: ClassVar[bool] = True

    def may_fail(self, node: Apply) -> bool:
        return False

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [None]

    def pushforward(self, inputs: Tensors, outputs: Tensors, tangents: Tensors) -> Tangents:
        return [None]


@op
class Shape(_OfShape):
    """Computes the lengths of a tensor, as an int64 vector."""

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return Term(f"{operands[0].at(ATOM)}.shape")

    def infer(self, x: TensorType) -> TensorType:
        return TensorType("int64", (x.ndim,))

    def evaluate(self, x: Any) -> Any:
        return np.array(x.shape, dtype="int64")

    def decompose(self, x: Any) -> Sequence[Any] | None:
        if not x.ndim:
            return [as_tensor_variable(np.zeros(0, "int64"))]
        return [stack([length_op(i)(x) for i in range(x.ndim)])]

    def known_integers(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        return node.inputs[0].type.shape

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(len(input_shapes[0]),)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [inputs[0].shape[batch_ndims[0] :]]


@op
class Shape_i(_OfShape):
    """Computes the length of dimension ``i`` of a tensor, as an int64 scalar."""

    i: int

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return Term(f"{operands[0].at(ATOM)}.shape[{self.i}]")

    def infer(self, x: TensorType) -> TensorType:
        if not 0 <= self.i < x.ndim:
            raise np.exceptions.AxisError(self.i, x.ndim)
        return TensorType("int64", ())

    def evaluate(self, x: Any) -> Any:
        return np.array(x.shape[self.i], dtype="int64")

    def known_integers(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        return tensors(node.inputs)[0].type.shape[self.i]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [()]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [length_op(self.i + batch_ndims[0])(inputs[0])]


@lru_cache(64)
def length_op(axis: int) -> Shape_i:
    """The op that reads the length of an axis.

    Calls for the same axis return the same object, since each object has its own cache of inferred types.
    """
    return Shape_i(axis)


def shape(x: Any) -> TensorVariable:
    """The lengths of ``x`` as an int64 vector.

    The vector depends on ``x`` even if the lengths are static. Static lengths become constants when the graph is
    compiled.
    """
    return Shape()(as_tensor_variable(x))


def shape_i(x: Any, i: int) -> Any:
    """The length of dimension ``i`` as an int64 scalar. It depends on ``x`` even if the length is static."""
    x = as_tensor_variable(x)
    return length_op(normalize_axis(i, x))(x)


def shape_tuple(x: Any) -> Lengths:
    """A tuple of the lengths of ``x``. Static lengths are integers, dynamic lengths are scalar variables."""
    x = as_tensor_variable(x)
    return tuple(length_op(i)(x) if n is None else n for i, n in enumerate(x.type.shape))


def lengths_by_variables(x: Any) -> Lengths:
    """A tuple of the lengths of ``x`` as scalar variables, even if they are static. Lengths of a constant are integers.

    A graph that is built with these variables can be rebuilt for an ``x`` of another shape.
    """
    x = as_tensor_variable(x)
    static = x.type.shape
    return static if isinstance(x, Constant) else tuple(length_op(i)(x) for i in range(len(static)))


def length_read(length: object) -> tuple[TensorVariable, int] | None:
    """If ``length`` is a length of a tensor, such as ``x.shape[i]``, the tensor and the axis. Else None."""
    owner = length.owner if isinstance(length, Variable) else None
    if owner is None:
        return None
    if isinstance(owner.op, Shape_i) and Shape_i in owner.op.computes_as:
        return tensors(owner.inputs)[0], owner.op.i
    key = getattr(owner.op, "key", None)
    read = computed_by(owner.inputs[0], Shape) if len(owner.inputs) == 1 else None
    if read is None or not key or not isinstance(key[0], int):
        return None
    x = read.inputs[0]
    return x, key[0] % x.type.ndim


def length_product(lengths: Sequence[Any]) -> Any:
    """The product of ``lengths``, as an integer or a scalar variable.

    When dimensions are merged, this product is the new length. `reshape` could not infer it from -1 if another length
    is 0.
    """
    total, *rest = lengths or (1,)
    for n in rest:
        total = total * n
    return total
