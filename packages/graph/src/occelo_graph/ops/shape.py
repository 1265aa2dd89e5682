"""Shapes: reading, asserting and changing them without touching the elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.facade import facade
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.traits import FIRST
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batching import require_unbatched
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq, switch
from occelo_graph.ops.length_inputs import (
    FollowsLengths,
    Lengths,
    check_length_types,
    fill_static,
    get_vector_length,
    integer_length,
    lengths_of,
    specialize_lengths,
    split_static,
    wrong_shape,
)
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import computed_by, tensors
from occelo_graph.tensors.type import StaticShape, TensorType, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = [
    "DimShuffle",
    "Reshape",
    "Shape",
    "Shape_i",
    "SpecifyShape",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "atleast_Nd",
    "broadcast_shape",
    "dimshuffle",
    "expand_dims",
    "flatten",
    "get_vector_length",
    "is_flat",
    "join_dims",
    "matrix_transpose",
    "moveaxis",
    "ravel",
    "reshape",
    "shape",
    "shape_i",
    "shape_padaxis",
    "shape_padleft",
    "shape_padright",
    "shape_tuple",
    "specify_broadcastable",
    "specify_shape",
    "split_dims",
    "squeeze",
    "swapaxes",
    "transpose",
]


def static_integer(value: Any, what: str) -> int:
    """An integer that must be known when the graph is built; TypeError for anything else."""
    if isinstance(value, Constant):
        value = value.data
    if isinstance(value, Variable):
        raise TypeError(f"The {what} must be known when the graph is built, got {value}")
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"The {what} must be an integer, got {value}")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"The {what} must be an integer, got {value!r}") from None


def normalize_axis(axis: Any, ndim: int, what: str = "axis") -> int:
    """An axis as a number from 0 on; `numpy.exceptions.AxisError` if there is no such axis."""
    number = static_integer(axis, what)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


def normalize_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Sorted axes from an axis, several, or None for all; ValueError for a repeated one."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Constant):
        axis = axis.data
    if isinstance(axis, Variable):
        raise TypeError(f"The axes must be known when the graph is built, got {axis}")
    given: Any = [axis] if np.ndim(axis) == 0 else list(axis)
    axes = [normalize_axis(a, ndim) for a in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"An axis is repeated in {tuple(axes)}")
    return tuple(sorted(axes))


@op
class Shape(Op):
    """The lengths of a tensor as an int64 vector."""

    by_parts = FIRST
    of_shapes: ClassVar[bool] = True

    def infer(self, x: TensorType) -> TensorType:
        return TensorType("int64", (x.ndim,))

    def evaluate(self, x: Any) -> Any:
        return np.array(x.shape, dtype="int64")

    def decompose(self, x: Any) -> Sequence[Any] | None:
        if not x.ndim:
            return [as_tensor_variable(np.zeros(0, "int64"))]
        return [facade.stack([Shape_i(i)(x) for i in range(x.ndim)])]

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [None]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [None]

    def known_integers(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        return node.inputs[0].type.shape

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [(len(input_shapes[0]),)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [inputs[0].shape[batch_ndims[0] :]]


@op
class Shape_i(Op):
    """The length of one dimension, ``i``, as an int64 scalar."""

    by_parts = FIRST
    of_shapes: ClassVar[bool] = True

    i: int

    def infer(self, x: TensorType) -> TensorType:
        if not 0 <= self.i < x.ndim:
            raise np.exceptions.AxisError(self.i, x.ndim)
        return TensorType("int64", ())

    def evaluate(self, x: Any) -> Any:
        return np.array(x.shape[self.i], dtype="int64")

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[False]]

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [None]

    def pushforward(self, inputs: Any, outputs: Any, tangents: Any) -> Sequence[Any]:
        return [None]

    def known_integers(self, node: Apply, of: Callable[[Variable], Any]) -> Any:
        return node.inputs[0].type.shape[self.i]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [()]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [Shape_i(self.i + batch_ndims[0])(inputs[0])]


def shape(x: Any) -> TensorVariable:
    """The lengths of ``x`` as an int64 vector.

    Static lengths become constants only when the graph is compiled, so the graph refers to ``x`` until then.
    """
    return Shape()(as_tensor_variable(x))


def shape_i(x: Any, i: int) -> Any:
    """The length of one dimension as an int64 scalar, also if it is static, as in `shape`."""
    x = as_tensor_variable(x)
    return Shape_i(normalize_axis(i, x.type.ndim))(x)


def shape_tuple(x: Any) -> Lengths:
    """The lengths of ``x``: integers where known, scalar variables elsewhere."""
    x = as_tensor_variable(x)
    return tuple(Shape_i(i)(x) if n is None else n for i, n in enumerate(x.type.shape))


def lengths_by_variables(x: Any) -> Lengths:
    """The lengths of ``x`` as scalar variables, also static ones, so that graphs made of them can be rebuilt.

    Those of a constant are integers.
    """
    x = as_tensor_variable(x)
    if isinstance(x, Constant):
        return x.type.shape
    return tuple(Shape_i(i)(x) for i in range(x.type.ndim))


def length_read(length: object) -> tuple[TensorVariable, int] | None:
    """The tensor and the axis whose length a scalar is, such as ``x.shape[i]``; None for other values."""
    owner = length.owner if isinstance(length, Variable) else None
    if owner is None:
        return None
    if isinstance(owner.op, Shape_i):
        return tensors(owner.inputs)[0], owner.op.i
    key = getattr(owner.op, "key", None)
    read = computed_by(owner.inputs[0], Shape) if len(owner.inputs) == 1 else None
    if read is None or not key or not isinstance(key[0], int):
        return None
    x = read.inputs[0]
    return x, key[0] % x.type.ndim


def length_product(lengths: Sequence[Any]) -> Any:
    """The product of lengths.

    It is always defined, whereas -1 in a shape cannot be inferred if another length is 0.
    """
    total, *rest = lengths or (1,)
    for n in rest:
        total = total * n
    return total


@op
class SpecifyShape(FollowsLengths, LinearInFirst):
    """The same tensor with lengths asserted: those in ``static``, and further inputs where ``given`` is True.

    Where ``static`` is None and ``given`` False nothing is asserted. ``of`` names the tensor in error messages; ops that
    differ only in it are equal.
    """

    reads_once: ClassVar[bool] = True

    moves = FIRST

    static: StaticShape
    given: tuple[bool, ...]
    of: str = field(default="", compare=False)

    view_map = {0: [0]}

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if x.ndim != len(self.static):
            raise ValueError(f"Expected {len(self.static)} dimensions, got {x}")
        merged: list[int | None] = []
        for own, wanted in zip(x.shape, self.static, strict=True):
            if own is not None and wanted is not None and own != wanted:
                raise ValueError(
                    f"The shape {shape_text(x.shape)} contradicts the specified {shape_text(self.static)}"
                )
            merged.append(own if wanted is None else wanted)
        return TensorType(x.dtype, merged)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        rest = iter(lengths)
        wanted = [int(next(rest)) if g else s for s, g in zip(self.static, self.given, strict=True)]
        if any(w is not None and w != n for w, n in zip(wanted, x.shape, strict=True)):
            text = shape_text(tuple(wanted))
            if self.of:
                raise ValueError(wrong_shape(self.of, x.shape, tuple(wanted)))
            raise ValueError(f"The shape is {x.shape}, but {text} was specified")
        return x

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        if not any(self.given):
            return self, inputs
        static, given, rest = list(self.static), list(self.given), [inputs[0]]
        lengths = iter(inputs[1:])
        for i, wanted in enumerate(self.given):
            if wanted:
                variable = next(lengths)
                n = known_integer(variable)
                if n is None or n < 0 or static[i] not in (None, n):
                    rest.append(variable)
                else:
                    static[i], given[i] = n, False
        return SpecifyShape(tuple(static), tuple(given), self.of), rest

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [self(cotangents[0], *inputs[1:]), *[None] * (len(inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        rest = iter(node.inputs[1:])
        wanted = [next(rest) if g else s for s, g in zip(self.static, self.given, strict=True)]
        return [tuple(n if w is None else w for w, n in zip(wanted, input_shapes[0], strict=True))]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        require_unbatched(self, node, batch_ndims, range(1, len(inputs)))
        extra = batch_ndims[0]
        wider = SpecifyShape((None,) * extra + self.static, (False,) * extra + self.given, self.of)
        return [wider(*inputs)]


def specify_shape(x: Any, shape: Any) -> TensorVariable:
    """``x``, asserting its shape; entries of None assert nothing.

    Lengths that are known to differ are a ValueError now, others when the graph runs.
    """
    x = as_tensor_variable(x)
    if isinstance(shape, Variable):
        entries: list[Any] = list(lengths_of(shape))
    else:
        listed: Any = shape if is_list_or_tuple(shape) or np.ndim(shape) else [shape]
        entries = [None if n is None else integer_length(n) for n in listed]
    if len(entries) != x.type.ndim:
        raise ValueError(f"Expected {x.type.ndim} lengths for {x}, got {len(entries)}")
    static = tuple(n if isinstance(n, int) else None for n in entries)
    given = tuple(isinstance(n, Variable) for n in entries)
    if not any(given) and all(
        w is None or w == n for w, n in zip(static, x.type.shape, strict=True)
    ):
        return x
    made: TensorVariable = SpecifyShape(static, given)(
        x, *(n for n in entries if isinstance(n, Variable))
    )
    return made


def specify_broadcastable(x: Any, *axes: int) -> TensorVariable:
    """``x``, asserting that the given dimensions have length 1, so that they broadcast."""
    x = as_tensor_variable(x)
    chosen = normalize_axes(axes, x.type.ndim)
    return specify_shape(x, [1 if i in chosen else None for i in range(x.type.ndim)])


@op
class DimShuffle(LinearInFirst):
    """Reorder, add and drop dimensions.

    ``new_order`` lists input dimensions, and "x" for new ones of length 1. A dimension that is not
    listed must have length 1; if that is not known, it is checked when the graph runs.
    """

    reads_once: ClassVar[bool] = True

    moves = FIRST

    input_ndim: int
    new_order: tuple[int | str, ...]

    view_map = {0: [0]}

    @property
    def dropped(self) -> tuple[int, ...]:
        """The dimensions that are not in the result."""
        return tuple(i for i in range(self.input_ndim) if i not in self.new_order)

    def infer(self, x: TensorType) -> TensorType:
        if x.ndim != self.input_ndim:
            raise TypeError(f"{self} takes {self.input_ndim} dimensions, got {x}")
        for axis in self.dropped:
            if x.shape[axis] not in (1, None):
                raise ValueError(
                    f"Cannot drop dimension {axis} of length {x.shape[axis]}; only a length of 1 can be dropped"
                )
        return TensorType(
            x.dtype, [1 if isinstance(a, str) else x.shape[a] for a in self.new_order]
        )

    def evaluate(self, x: Any) -> Any:
        kept = [a for a in self.new_order if isinstance(a, int)]
        dropped = self.dropped
        if any(x.shape[a] != 1 for a in dropped):
            raise ValueError(
                f"Cannot drop dimensions {dropped} of shape {x.shape}: not of length 1"
            )
        moved = x.transpose((*kept, *dropped))[(..., *[0] * len(dropped))]
        # without the ellipsis an array without dimensions would become a scalar, which is no view
        return moved[(..., *(None if a == "x" else slice(None) for a in self.new_order))]

    def _inverse(self) -> DimShuffle:
        order: list[int | str] = ["x"] * self.input_ndim
        for position, axis in enumerate(self.new_order):
            if isinstance(axis, int):
                order[axis] = position
        return DimShuffle(len(self.new_order), tuple(order))

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        return [self._inverse()(cotangents[0])]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [tuple(1 if isinstance(a, str) else input_shapes[0][a] for a in self.new_order)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        extra = batch_ndims[0]
        order = tuple(a if isinstance(a, str) else a + extra for a in self.new_order)
        return [DimShuffle(self.input_ndim + extra, (*range(extra), *order))(inputs[0])]

    def __str__(self) -> str:
        return f"DimShuffle{{{','.join(str(a) for a in self.new_order)}}}"


@lru_cache(256)
def _dimshuffle_op(ndim: int, order: tuple[int | str, ...]) -> DimShuffle:
    return DimShuffle(ndim, order)


def dimshuffle(x: Any, *pattern: Any) -> TensorVariable:
    """Reorder, add ("x") and drop dimensions; see `DimShuffle`. ValueError for a repeated one."""
    x = as_tensor_variable(x)
    listed = pattern[0] if len(pattern) == 1 and is_list_or_tuple(pattern[0]) else pattern
    ndim = x.type.ndim
    order = tuple([a if a == "x" else normalize_axis(a, ndim) for a in listed])
    axes = [a for a in order if a != "x"]
    if len(set(axes)) != len(axes):
        raise ValueError(f"A dimension is repeated in {order}")
    if order == tuple(range(ndim)):
        return x
    made: TensorVariable = _dimshuffle_op(ndim, order)(x)
    return made


def transpose(x: Any, axes: Any = None) -> TensorVariable:
    """Reorder dimensions, reversing them by default."""
    x = as_tensor_variable(x)
    if axes is None:
        axes = list(reversed(range(x.type.ndim)))
    elif np.ndim(axes) == 0:
        axes = [axes]
    if len(axes) != x.type.ndim:
        raise ValueError(f"axes must have {x.type.ndim} entries, got {axes}")
    return dimshuffle(x, list(axes))


def matrix_transpose(x: Any) -> TensorVariable:
    """Swap the last two dimensions; ValueError for fewer than two."""
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise ValueError(f"matrix_transpose needs at least 2 dimensions, got {x.type}")
    return swapaxes(x, -1, -2)


def swapaxes(x: Any, axis1: int, axis2: int) -> TensorVariable:
    """Swap two dimensions."""
    x = as_tensor_variable(x)
    order = list(range(x.type.ndim))
    a, b = normalize_axis(axis1, x.type.ndim), normalize_axis(axis2, x.type.ndim)
    order[a], order[b] = order[b], order[a]
    return dimshuffle(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> TensorVariable:
    """Move dimensions to new places, keeping the order of the others."""
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    sources = [normalize_axis(a, ndim) for a in np.atleast_1d(source).tolist()]
    targets = [normalize_axis(a, ndim) for a in np.atleast_1d(destination).tolist()]
    if len(sources) != len(targets):
        raise ValueError("source and destination must have as many entries as each other")
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ValueError(f"An axis is repeated in {source} or {destination}")
    order = [a for a in range(ndim) if a not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return dimshuffle(x, order)


def expand_dims(a: Any, axis: Any) -> TensorVariable:
    """Add dimensions of length 1 at the given places of the result."""
    a = as_tensor_variable(a)
    given: list[Any] = [axis] if np.ndim(axis) == 0 else list(axis)
    ndim = a.type.ndim + len(given)
    axes = normalize_axes(given, ndim)
    rest = iter(range(a.type.ndim))
    order: list[Any] = ["x" if i in axes else next(rest) for i in range(ndim)]
    return dimshuffle(a, order)


def squeeze(x: Any, axis: Any = None) -> TensorVariable:
    """Drop dimensions of length 1: those given, or all whose static length is 1."""
    x = as_tensor_variable(x)
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.type.shape) if n == 1)
    else:
        axes = normalize_axes(axis, x.type.ndim)
    return dimshuffle(x, [i for i in range(x.type.ndim) if i not in axes])


def shape_padleft(t: Any, n_ones: int = 1) -> TensorVariable:
    """Add ``n_ones`` dimensions of length 1 in front."""
    t = as_tensor_variable(t)
    order: list[Any] = [*["x"] * n_ones, *range(t.type.ndim)]
    return dimshuffle(t, order)


def shape_padright(t: Any, n_ones: int = 1) -> TensorVariable:
    """Add ``n_ones`` dimensions of length 1 at the end."""
    t = as_tensor_variable(t)
    order: list[Any] = [*range(t.type.ndim), *["x"] * n_ones]
    return dimshuffle(t, order)


def shape_padaxis(t: Any, axis: int) -> TensorVariable:
    """Add a dimension of length 1 at ``axis``."""
    return expand_dims(t, axis)


def atleast_Nd(*arys: Any, n: int = 1, left: bool = True) -> Any:
    """Tensors with dimensions of length 1 added, in front or (``left=False``) behind, up to ``n``."""
    results: list[Any] = []
    for array in arys:
        variable = as_tensor_variable(array)
        missing = n - variable.type.ndim
        if missing > 0:
            variable = (shape_padleft if left else shape_padright)(variable, missing)
        results.append(variable)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: Any) -> Any:
    """`atleast_Nd` for one dimension."""
    return atleast_Nd(*arys, n=1)


def atleast_2d(*arys: Any) -> Any:
    """`atleast_Nd` for two dimensions."""
    return atleast_Nd(*arys, n=2)


def atleast_3d(*arys: Any) -> Any:
    """`atleast_Nd` for three dimensions, all added in front."""
    return atleast_Nd(*arys, n=3)


@op
class Reshape(FollowsLengths, LinearInFirst):
    """The same elements in C order under other lengths.

    ``shape`` has static lengths, at most one -1 (inferred from the others), and None for each length that is a further
    input; that may be -1, too.
    """

    moves = FIRST

    shape: StaticShape

    view_map = {0: [0]}

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return range(1, len(node.inputs))

    def infer(self, x: TensorType, *lengths: Any) -> TensorType:
        check_length_types(self, lengths)
        if len(lengths) != self.shape.count(None):
            raise ValueError(f"{self} takes {self.shape.count(None)} lengths, got {len(lengths)}")
        static = [None if n == -1 else n for n in self.shape]
        if None not in x.shape and not lengths:
            size = int(np.prod([n for n in x.shape if n is not None], dtype="int64"))
            known = int(np.prod([n for n in static if n is not None], dtype="int64"))
            if -1 in self.shape:
                if known == 0 or size % known:
                    raise ValueError(f"Cannot reshape {shape_text(x.shape)} to {self.shape}")
                static[self.shape.index(-1)] = size // known
            elif size != known:
                raise ValueError(f"Cannot reshape {shape_text(x.shape)} to {self.shape}")
        return TensorType(x.dtype, static)

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        shape, rest = specialize_lengths(self.shape, inputs[1:], -1)
        if (rest and shape.count(-1)) or shape.count(-1) > 1:
            # one of the other inputs may be -1, too, which is an error at run time
            shape, rest = specialize_lengths(self.shape, inputs[1:])
        if len(rest) < len(inputs) - 1:
            return Reshape(shape)._with_inferred_length(inputs[0], rest)
        return self._with_inferred_length(inputs[0], inputs[1:])

    def _with_inferred_length(
        self, x: Variable, rest: Sequence[Variable]
    ) -> tuple[Op, Sequence[Variable]]:
        """This op with a -1 replaced by its length, if types determine it."""
        if -1 not in self.shape or rest:
            return self, (x, *rest)
        full: StaticShape = self.infer_types((x.type,))[0].shape
        return (self if None in full else Reshape(full)), (x,)

    def evaluate(self, x: Any, *lengths: Any) -> Any:
        wanted = [int(n) for n in fill_static(self.shape, lengths)]
        if any(n < -1 for n in wanted):
            # NumPy takes any negative number for an unknown length
            raise ValueError(_wrong_lengths(wanted))
        return x.reshape(wanted)

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Sequence[Any]:
        x = inputs[0]
        # -1 needs no length of a vector
        lengths = lengths_by_variables(x) if x.type.ndim != 1 else (-1,)
        return [reshape(cotangents[0], lengths), *[None] * (len(inputs) - 1)]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        lengths = fill_static(self.shape, node.inputs[1:])
        size = length_product(input_shapes[0])
        if -1 in self.shape:
            rest = length_product([n for n in lengths if isinstance(n, Variable) or n != -1])
            lengths[self.shape.index(-1)] = size if len(lengths) == 1 else size // rest
            return [tuple(lengths)]
        open_ = [i for i, n in enumerate(lengths) if not _is_never_negative(n)]
        if open_:
            # any of these may be the -1
            unknown = {i: eq(lengths[i], -1) for i in open_}
            others = [
                switch(unknown[i], 1, n) if i in unknown else n for i, n in enumerate(lengths)
            ]
            length = size // length_product(others)
            for i in open_:
                lengths[i] = switch(unknown[i], length, lengths[i])
        return [tuple(lengths)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        require_unbatched(self, node, batch_ndims, range(1, len(inputs)))
        lead = lengths_by_variables(inputs[0])[: batch_ndims[0]]
        core = fill_static(self.shape, inputs[1:])
        if -1 in self.shape and None not in node.inputs[0].type.shape:
            known: StaticShape = node.outputs[0].type.shape
            core[self.shape.index(-1)] = known[self.shape.index(-1)] or -1
        return [reshape(inputs[0], (*lead, *core))]


def _wrong_lengths(lengths: Sequence[Any]) -> str:
    return f"A shape has lengths from 0 on and at most one -1, got {tuple(lengths)}"


def _is_never_negative(length: Any) -> bool:
    """Whether a length is never -1: a length of a tensor, or a product, sum or extreme of such lengths."""
    pending, seen = [length], set[Any]()
    while pending:
        each = pending.pop()
        data = (
            each.data
            if isinstance(each, Constant)
            else None
            if isinstance(each, Variable)
            else each
        )
        if data is not None:
            if data < 0:
                return False
            continue
        owner = each.owner
        if owner is None:
            return False
        if length_read(each) is None:
            name = getattr(getattr(owner.op, "scalar_op", None), "name", None)
            if name not in ("mul", "add", "maximum", "minimum"):
                return False
            pending += [v for v in owner.inputs if v not in seen]
            seen.update(owner.inputs)
    return True


def reshape(x: Any, newshape: Any, ndim: int | None = None) -> TensorVariable:
    """``x`` with the lengths ``newshape``, of which one may be -1: it is inferred from the others.

    A vector of dynamic length as ``newshape`` needs ``ndim``. Sizes that differ, a second -1 and lengths below -1 are a
    ValueError, raised at once if they are static, else when the graph runs.
    """
    x = as_tensor_variable(x)
    if isinstance(ndim, str):
        raise TypeError(
            f"reshape takes the number of dimensions, not the order {ndim!r}, which is C"
        )
    if ndim is not None and isinstance(newshape, Variable):
        vector = as_tensor_variable(newshape)
        if vector.type.ndim == 1 and vector.type.shape[0] is None:
            newshape = specify_shape(vector, (ndim,))
    lengths = lengths_of(newshape)
    if ndim is not None and ndim != len(lengths):
        raise ValueError(f"Expected {ndim} lengths, got {len(lengths)}")
    static, dynamic = split_static(lengths)
    if static.count(-1) > 1 or any(n is not None and n < -1 for n in static):
        raise ValueError(_wrong_lengths(static))
    if not dynamic and static == x.type.shape:
        return x
    made: TensorVariable = Reshape(static)(x, *dynamic)
    return made


def flatten(x: Any, ndim: int = 1) -> TensorVariable:
    """Merge trailing dimensions so that ``ndim`` are left."""
    x = as_tensor_variable(x)
    if isinstance(ndim, str):
        raise TypeError(
            f"flatten takes the number of dimensions, not the order {ndim!r}, which is C"
        )
    if not 1 <= ndim <= max(1, x.type.ndim):
        raise ValueError(f"Cannot flatten {x.type.ndim} dimensions to {ndim}")
    if x.type.ndim == ndim:
        return x
    if ndim == 1 and None not in x.type.shape:
        return reshape(x, (-1,))
    lengths = lengths_by_variables(x)
    return reshape(x, (*lengths[: ndim - 1], length_product(lengths[ndim - 1 :])))


def ravel(x: Any) -> TensorVariable:
    """All elements as a vector, in C order."""
    return flatten(x)


def is_flat(x: Any, ndim: int = 1) -> bool:
    """Whether ``x`` has ``ndim`` dimensions."""
    return as_tensor_variable(x).type.ndim == ndim


def join_dims(x: Any, start_axis: int = 0, n_axes: int | None = None) -> TensorVariable:
    """Merge ``n_axes`` dimensions from ``start_axis`` on (all the rest by default) into one."""
    x = as_tensor_variable(x)
    start = normalize_axis(start_axis, x.type.ndim) if x.type.ndim else 0
    count = x.type.ndim - start if n_axes is None else n_axes
    lengths = lengths_by_variables(x)
    merged = length_product(lengths[start : start + count])
    return reshape(x, (*lengths[:start], merged, *lengths[start + count :]))


def split_dims(x: Any, shape: Any, axis: int = 0) -> TensorVariable:
    """Split one dimension into several of the lengths ``shape``."""
    x = as_tensor_variable(x)
    where = normalize_axis(axis, x.type.ndim)
    lengths = lengths_by_variables(x)
    return reshape(x, (*lengths[:where], *lengths_of(shape), *lengths[where + 1 :]))


def broadcast_shape(*arrays: Any, arrays_are_shapes: bool = False) -> Lengths:
    """The shape to which tensors (or shapes) broadcast.

    Only a static length of 1 broadcasts. Lengths that differ are a ValueError: at once if they are static, else when the
    result is computed.
    """
    shapes = [lengths_of(a) if arrays_are_shapes else lengths_by_variables(a) for a in arrays]
    result = list(broadcast_lengths(shapes))
    for i, length in enumerate(result):
        others = [s[i - len(result)] for s in shapes if len(s) >= len(result) - i]
        conditions = [eq(n, length) for n in others if n is not length and known_integer(n) is None]
        if conditions:
            result[i] = CheckAndRaise(
                ValueError,
                f"The lengths of dimension {i} differ; only a length known to be 1 when the graph is built broadcasts",
            )(as_tensor_variable(length), *conditions)
    return tuple(result)


def broadcast_lengths(shapes: Sequence[Lengths]) -> Lengths:
    """The shape to which shapes broadcast; dynamic lengths are assumed to fit."""
    ndim = max((len(s) for s in shapes), default=0)
    result: list[Any] = [1] * ndim
    known: list[int | None] = [1] * ndim
    for lengths in shapes:
        for i, n in enumerate(lengths, start=ndim - len(lengths)):
            mine, theirs = known[i], known_integer(n)
            if theirs == 1:
                if mine == 1 and isinstance(n, Variable):
                    result[i] = n
                continue
            if mine is not None and theirs is not None and mine not in (1, theirs):
                raise ValueError(
                    f"The lengths {mine} and {theirs} do not broadcast in dimension {i}"
                )
            if mine != 1 and (theirs is None or mine is not None):
                continue  # a static length, or else the first one, is kept
            result[i], known[i] = n, theirs
    return tuple(result)
