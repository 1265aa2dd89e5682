"""The op `Reshape`, which arranges the elements of a tensor in another shape, and functions such as `flatten`.

Users call the functions from `occelo.tensor`. Gradients and functions of other families call them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Op, op
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.batched_lengths import common_lengths
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    check_length_types,
    fill_static,
    lengths_of,
    specialize_lengths,
    split_static,
)
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.axes import normalize_axis, static_integer
from occelo_graph.ops.shape.length_bounds import never_negative
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors, tensors
from occelo_graph.tensors.type import StaticShape, TensorType, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class Reshape(FollowsLengths, LinearInFirst):
    """Arranges the elements of its first input, in C order, in another shape.

    ``shape`` has static lengths, and None for each length that is a further input. One length may be -1, in ``shape``
    or as the value of an input; it is computed from the other lengths.
    """

    moves = FIRST

    shape: StaticShape

    view_map = {0: [0]}

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        rest = iter(operands[1:])
        lengths = [next(rest).short if n is None else str(n) for n in self.shape]
        return called(f"{operands[0].at(ATOM)}.reshape", f"[{', '.join(lengths)}]")

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if len(lengths) != self.shape.count(None):
            raise ValueError(f"{self} takes {self.shape.count(None)} lengths, got {len(lengths)}")
        static = [None if n == -1 else n for n in self.shape]
        if None not in x.shape and not lengths:
            size = int(np.prod([n for n in x.shape if n is not None], dtype="int64"))
            product = int(np.prod([n for n in static if n is not None], dtype="int64"))
            if -1 in self.shape:
                if product == 0 or size % product:
                    raise ValueError(f"Cannot reshape {shape_text(x.shape)} to {self.shape}")
                static[self.shape.index(-1)] = size // product
            elif size != product:
                raise ValueError(f"Cannot reshape {shape_text(x.shape)} to {self.shape}")
        return TensorType(x.dtype, static)

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        shape, rest = specialize_lengths(self.shape, inputs[1:], -1)
        if (rest and shape.count(-1)) or shape.count(-1) > 1:
            # two lengths of -1 are an error at run time, so no -1 is made static if another length might be -1
            shape, rest = specialize_lengths(self.shape, inputs[1:])
        if len(rest) < len(inputs) - 1:
            return Reshape(shape)._with_inferred_length(inputs[0], rest)
        return self._with_inferred_length(inputs[0], inputs[1:])

    def _with_inferred_length(
        self, x: Variable, rest: Sequence[Variable]
    ) -> tuple[Op, Sequence[Variable]]:
        """Replace a -1 in ``shape`` by the inferred length, if it is static. Returns the op and its inputs."""
        if -1 not in self.shape or rest:
            return self, (x, *rest)
        (full,) = self.infer_types((x.type,))
        assert isinstance(full, TensorType)
        return (self if None in full.shape else Reshape(full.shape)), (x,)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        shape = [int(n) for n in fill_static(self.shape, lengths)]
        if any(n < -1 for n in shape):
            # NumPy would infer the length for any negative number
            raise ValueError(_wrong_lengths(shape))
        return x.reshape(shape)

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        x = inputs[0]
        # if x is a vector, -1 is used, so that its length need not be read
        lengths = lengths_by_variables(x) if x.type.ndim != 1 else (-1,)
        return [reshape(cotangents[0], lengths), *[None] * (len(inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        lengths = fill_static(self.shape, node.inputs[1:])
        return [tuple(_determined(lengths, length_product(input_shapes[0])))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inputs = common_lengths(self, inputs, batch_ndims, range(1, len(inputs)))
        lead = lengths_by_variables(inputs[0])[: batch_ndims[0]]
        core = fill_static(self.shape, inputs[1:])
        if -1 in self.shape and 0 not in self.shape:
            # a batch of no elements does not determine the length -1, but the dimensions behind the batch do
            missing = self.shape.index(-1)
            static = None not in tensors(node.inputs)[0].type.shape
            length = tensors(node.outputs)[0].type.shape[missing] if static else None
            size = length_product(lengths_by_variables(inputs[0])[batch_ndims[0] :])
            core[missing] = _missing_length(size, core) if length is None else length
        elif not all(map(never_negative, core)):
            size = length_product(lengths_by_variables(inputs[0])[batch_ndims[0] :])
            empty = eq(length_product(lead), 0)
            determined = _determined(core, size)
            core = [
                n if n is each else switch(empty, each, n)
                for n, each in zip(core, determined, strict=True)
            ]
        return [reshape(inputs[0], (*lead, *core))]


def _determined(lengths: Sequence[Any], size: Any) -> list[Any]:
    """The lengths with the one that is -1, or may turn out to be, computed for a tensor of ``size`` elements."""
    full = list(lengths)
    static = [i for i, n in enumerate(full) if not isinstance(n, Variable) and n == -1]
    if static:
        full[static[0]] = _missing_length(size, full)
        return full
    unknown = {i: eq(n, -1) for i, n in enumerate(full) if not never_negative(n)}
    if unknown:
        others = [switch(unknown[i], 1, n) if i in unknown else n for i, n in enumerate(full)]
        length = size // length_product(others)
        for i, missing in unknown.items():
            full[i] = switch(missing, length, full[i])
    return full


def _missing_length(size: Any, lengths: Sequence[Any]) -> Any:
    """The length that -1 means among ``lengths``, for a tensor of ``size`` elements."""
    if len(lengths) == 1:
        return size
    return size // length_product([n for n in lengths if isinstance(n, Variable) or n != -1])


def _wrong_lengths(lengths: Sequence[Any]) -> str:
    return f"A shape has lengths from 0 on and at most one -1, got {tuple(lengths)}"


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> TensorVariable:
    """Reshape ``x`` to the lengths ``newshape``. One length may be -1; it is computed from the others.

    If ``newshape`` is a vector of dynamic length, ``ndim`` is its length. ValueError if the numbers of elements differ,
    if two lengths are -1, or if a length is below -1. Dynamic lengths are checked when the graph runs. TypeError if
    ``ndim`` is a string: the third argument of NumPy's function is the order "C" or "F".
    """
    x = as_tensor_variable(x)
    if isinstance(ndim, str):
        raise TypeError(
            f"reshape takes the number of dimensions, not the order {ndim!r}, which is C"
        )
    ndim = None if ndim is None else static_integer(ndim, "number of dimensions")
    if ndim is not None and isinstance(newshape, Variable):
        vector = as_tensor_variable(newshape)
        if vector.type.ndim == 1 and vector.type.shape[0] is None:
            newshape = specify_shape(vector, (ndim,))
    elif isinstance(newshape, Variable) and getattr(newshape.type, "shape", ()) == (None,):
        raise ValueError(f"reshape by the vector {newshape} needs ndim=, the number of its lengths")
    lengths = lengths_of(newshape)
    if ndim is not None and ndim != len(lengths):
        raise ValueError(
            f"reshape to {len(lengths)} dimensions, but ndim={ndim}; pass all lengths as one tuple"
        )
    static, dynamic = split_static(lengths)
    if static.count(-1) > 1 or any(n is not None and n < -1 for n in static):
        raise ValueError(_wrong_lengths(static))
    if not dynamic and static == x.type.shape:
        return x
    reshaped: TensorVariable = Reshape(static)(x, *dynamic)
    return reshaped


def flatten(x: Any, ndim: int = 1) -> TensorVariable:
    """Merge the last dimensions of ``x`` into one, so that the result has ``ndim`` dimensions.

    ValueError if ``ndim`` is less than 1, or larger than the number of dimensions of ``x`` (for a scalar, than 1).
    """
    x = as_tensor_variable(x)
    if isinstance(ndim, str):
        raise TypeError(
            f"flatten takes the number of dimensions, not the order {ndim!r}, which is C"
        )
    ndim = static_integer(ndim, "number of dimensions")
    if not 1 <= ndim <= max(1, x.type.ndim):
        raise ValueError(f"Cannot flatten {x.type.ndim} dimensions to {ndim}")
    if x.type.ndim == ndim:
        return x
    if ndim == 1 and None not in x.type.shape:
        return reshape(x, (-1,))
    lengths = lengths_by_variables(x)
    return reshape(x, (*lengths[: ndim - 1], length_product(lengths[ndim - 1 :])))


def ravel(x: Any) -> TensorVariable:
    """All elements of ``x`` as a vector, in C order."""
    return flatten(x)


def is_flat(x: Any, ndim: int = 1) -> bool:
    """Whether ``x`` has ``ndim`` dimensions. The function exists for compatibility with PyTensor."""
    return as_tensor_variable(x).type.ndim == ndim


def join_dims(x: Any, start_axis: int = 0, n_axes: int | None = None) -> TensorVariable:
    """Merge ``n_axes`` dimensions of ``x``, from ``start_axis`` on, into one. None means all dimensions up to the last.

    ValueError if there are not so many.
    """
    x = as_tensor_variable(x)
    start = normalize_axis(start_axis, x) if x.type.ndim else 0
    most = x.type.ndim - start
    count = most if n_axes is None else static_integer(n_axes, "n_axes")
    if not 0 <= count <= most:
        raise ValueError(f"join_dims cannot merge {count} dimensions of {x.type} from {start} on")
    lengths = lengths_by_variables(x)
    merged = length_product(lengths[start : start + count])
    return reshape(x, (*lengths[:start], merged, *lengths[start + count :]))


def split_dims(x: Any, shape: Any, axis: int = 0) -> TensorVariable:
    """Split dimension ``axis`` of ``x`` into several dimensions with the lengths ``shape``."""
    x = as_tensor_variable(x)
    where = normalize_axis(axis, x)
    lengths = lengths_by_variables(x)
    return reshape(x, (*lengths[:where], *lengths_of(shape), *lengths[where + 1 :]))
