"""The op `DimShuffle`, which reorders, adds and drops dimensions, and functions that apply it, such as `transpose`.

Users call the functions from `occelo.tensor`. Gradients, rules and functions of other families call them, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, op
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.ops.linear import LinearInFirst
from occelo_graph.ops.shape.axes import listed_axes, normalize_axes, normalize_axis, static_integer
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import TensorType

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable


@op
class DimShuffle(LinearInFirst):
    """Reorders, adds and drops dimensions of an input that has ``input_ndim``.

    ``new_order`` lists the dimensions of the result: the number of a dimension of the input, or "x" for a new dimension
    of length 1. For instance, ``(1, "x", 0)`` transposes a matrix and adds a dimension in the middle. Dimensions of the
    input that are not listed are dropped. They must have length 1, which is checked when the graph runs if the length
    is dynamic.
    """

    reads_once: ClassVar[bool] = True

    moves = FIRST

    input_ndim: int
    new_order: tuple[int | str, ...]

    view_map = {0: [0]}

    @property
    def dropped(self) -> tuple[int, ...]:
        """The dimensions of the input that are not in the result."""
        return tuple(i for i in range(self.input_ndim) if i not in self.new_order)

    def may_fail(self, node: Apply) -> bool:
        return bool(self.dropped)

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
        axes = [a for a in self.new_order if isinstance(a, int)]
        dropped = self.dropped
        if any(x.shape[a] != 1 for a in dropped):
            raise ValueError(
                f"Cannot drop dimensions {dropped} of shape {x.shape}: not of length 1"
            )
        moved = x.transpose((*axes, *dropped))[(..., *[0] * len(dropped))]
        # without the ellipsis, an array without dimensions would become a scalar, which is not a view
        return moved[(..., *(None if a == "x" else slice(None) for a in self.new_order))]

    def _inverse(self) -> DimShuffle:
        order: list[int | str] = ["x"] * self.input_ndim
        for position, axis in enumerate(self.new_order):
            if isinstance(axis, int):
                order[axis] = position
        return DimShuffle(len(self.new_order), tuple(order))

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        return [self._inverse()(cotangents[0])]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        lengths = input_shapes[0]
        return [tuple([1 if a == "x" else lengths[a] for a in self.new_order])]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        extra = batch_ndims[0]
        order = tuple(a if isinstance(a, str) else a + extra for a in self.new_order)
        return [DimShuffle(self.input_ndim + extra, (*range(extra), *order))(inputs[0])]

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        x, ones = operands[0], self.new_order.count("x")
        rest = tuple(range(self.input_ndim))
        if self.new_order == rest[::-1]:
            return Term(f"{x.at(ATOM)}.T")
        written = called(f"{x.at(ATOM)}.dimshuffle", *map(repr, self.new_order))
        return written._replace(inner=x if self.new_order[ones:] == rest else None)

    def __str__(self) -> str:
        return f"DimShuffle{{{','.join(str(a) for a in self.new_order)}}}"


@lru_cache(256)
def _dimshuffle_op(ndim: int, order: tuple[int | str, ...]) -> DimShuffle:
    return DimShuffle(ndim, order)


def dimshuffle(x: Any, *pattern: Any) -> TensorVariable:
    """Reorder, add and drop dimensions of ``x``, as `DimShuffle` does with ``new_order``.

    ``pattern`` is this order, as several arguments, one sequence or one array. ValueError if a dimension is repeated.
    """
    x = as_tensor_variable(x)
    listed = listed_axes(pattern[0]) if len(pattern) == 1 else pattern
    ndim = x.type.ndim
    order = tuple([a if isinstance(a, str) and a == "x" else normalize_axis(a, x) for a in listed])
    axes = [a for a in order if a != "x"]
    if len(set(axes)) != len(axes):
        raise ValueError(f"A dimension is repeated in {order}")
    if order == tuple(range(ndim)):
        return x
    shuffled: TensorVariable = _dimshuffle_op(ndim, order)(x)
    return shuffled


def transpose(x: Any, axes: Any = None) -> TensorVariable:
    """Reorder the dimensions of ``x`` by ``axes``, or reverse their order if ``axes`` is None.

    ValueError unless ``axes`` has an entry for each dimension.
    """
    x = as_tensor_variable(x)
    if axes is None:
        ndim = x.type.ndim
        transposed: TensorVariable = (
            x if ndim < 2 else _dimshuffle_op(ndim, tuple(range(ndim - 1, -1, -1)))(x)
        )
        return transposed
    axes = listed_axes(axes)
    if len(axes) != x.type.ndim:
        raise ValueError(f"axes must have {x.type.ndim} entries, got {axes}")
    return dimshuffle(x, axes)


def matrix_transpose(x: Any) -> TensorVariable:
    """``x`` with its last two dimensions swapped. ValueError if there are fewer than two."""
    x = as_tensor_variable(x)
    if x.type.ndim < 2:
        raise ValueError(f"matrix_transpose needs at least 2 dimensions, got {x} of type {x.type}")
    return swapaxes(x, -1, -2)


def swapaxes(x: Any, axis1: int, axis2: int) -> TensorVariable:
    """``x`` with the dimensions ``axis1`` and ``axis2`` swapped."""
    x = as_tensor_variable(x)
    order = list(range(x.type.ndim))
    a, b = normalize_axis(axis1, x), normalize_axis(axis2, x)
    order[a], order[b] = order[b], order[a]
    return dimshuffle(x, order)


def moveaxis(x: Any, source: Any, destination: Any) -> TensorVariable:
    """Move the dimensions ``source`` of ``x`` to the places ``destination``. The other dimensions keep their order.

    ``source`` and ``destination`` are one axis each, or several axes. ValueError if an axis is repeated, or if
    ``source`` and ``destination`` have different numbers of axes.
    """
    x = as_tensor_variable(x)
    ndim = x.type.ndim
    sources = [normalize_axis(a, x) for a in listed_axes(source)]
    targets = [normalize_axis(a, x) for a in listed_axes(destination)]
    if len(sources) != len(targets):
        raise ValueError("source and destination must have as many entries as each other")
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise ValueError(f"An axis is repeated in {source} or {destination}")
    order = [a for a in range(ndim) if a not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return dimshuffle(x, order)


def expand_dims(a: Any, axis: Any) -> TensorVariable:
    """Add dimensions of length 1 to ``a``. ``axis`` has the positions of the new dimensions in the result."""
    a = as_tensor_variable(a)
    listed = listed_axes(axis)
    ndim = a.type.ndim + len(listed)
    axes = normalize_axes(listed, ndim)
    rest = iter(range(a.type.ndim))
    order: list[Any] = ["x" if i in axes else next(rest) for i in range(ndim)]
    return dimshuffle(a, order)


def squeeze(x: Any, axis: Any = None) -> TensorVariable:
    """Drop the dimensions ``axis`` of ``x``, which have length 1. None drops all dimensions of static length 1.

    ValueError if a length is not 1, when the graph runs for lengths that are not known before.
    """
    x = as_tensor_variable(x)
    if axis is None:
        axes = tuple(i for i, n in enumerate(x.type.shape) if n == 1)
    else:
        axes = normalize_axes(axis, x)
    return dimshuffle(x, [i for i in range(x.type.ndim) if i not in axes])


def shape_padleft(t: Any, n_ones: int = 1) -> TensorVariable:
    """Add ``n_ones`` dimensions of length 1 in front of ``t``. ValueError if ``n_ones`` is negative."""
    t = as_tensor_variable(t)
    return dimshuffle(t, [*_ones(n_ones), *range(t.type.ndim)])


def shape_padright(t: Any, n_ones: int = 1) -> TensorVariable:
    """Add ``n_ones`` dimensions of length 1 at the end of ``t``. ValueError if ``n_ones`` is negative."""
    t = as_tensor_variable(t)
    return dimshuffle(t, [*range(t.type.ndim), *_ones(n_ones)])


def _ones(n_ones: Any) -> list[Any]:
    number = static_integer(n_ones, "number of dimensions")
    if number < 0:
        raise ValueError(f"The number of dimensions cannot be negative, got n_ones={number}")
    return ["x"] * number


def shape_padaxis(t: Any, axis: int) -> TensorVariable:
    """``t`` with a dimension of length 1, which is dimension ``axis`` of the result."""
    return expand_dims(t, axis)


def atleast_Nd(*arys: Any, n: int = 1, left: bool = True) -> Any:
    """Add dimensions of length 1 to each tensor of ``arys`` that has fewer than ``n`` dimensions.

    They are added in front, or at the end if ``left`` is False. Returns a tensor for one argument, else a list.
    """
    n = static_integer(n, "number of dimensions")
    results: list[Any] = []
    for array in arys:
        variable = as_tensor_variable(array)
        missing = n - variable.type.ndim
        if missing > 0:
            variable = (shape_padleft if left else shape_padright)(variable, missing)
        results.append(variable)
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys: Any) -> Any:
    """`atleast_Nd` of ``arys`` with ``n=1``: scalars become vectors."""
    return atleast_Nd(*arys, n=1)


def atleast_2d(*arys: Any) -> Any:
    """`atleast_Nd` of ``arys`` with ``n=2``: scalars and vectors become matrices."""
    return atleast_Nd(*arys, n=2)


def atleast_3d(*arys: Any) -> Any:
    """`atleast_Nd` of ``arys`` with ``n=3``. All new dimensions are in front, unlike in NumPy."""
    return atleast_Nd(*arys, n=3)
