"""The equals of ops that read and change shapes, and of those that make tensors from lengths and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.tensor.basic import MakeVector as TheirVector
from pytensor.tensor.shape import specify_shape

from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_graph.ops.join import Join, MakeVector, Repeat
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.ops.shape.stretching import Stretch
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt


@register_equal(DimShuffle)
def _shuffle(op: Any, x: Any) -> Any:
    return x.dimshuffle(*op.new_order)


@register_equal(Shape)
def _shape(op: Any, x: Any) -> Any:
    return x.shape


@register_equal(Shape_i)
def _length(op: Any, x: Any) -> Any:
    return x.shape[op.i]


def _filled(static: Sequence[int | None], given: Sequence[Any]) -> list[Any]:
    """The lengths of an op: those of its field, with inputs where it is None."""
    rest = iter(given)
    return [next(rest) if n is None else n for n in static]


@register_equal(Reshape)
def _reshape(op: Any, x: Any, *lengths: Any) -> Any:
    shape = [pt.as_tensor(n, dtype="int64") for n in _filled(op.shape, lengths)]
    return pt.reshape(x, TheirVector("int64")(*shape), ndim=len(shape))


@register_equal(Alloc)
def _alloc(op: Any, value: Any, *lengths: Any) -> Any:
    return pt.alloc(value, *_filled(op.shape, lengths))


@register_equal(SpecifyShape)
def _specify(op: Any, x: Any, *lengths: Any) -> Any:
    rest = iter(lengths)
    shape = [next(rest) if is_given else n for n, is_given in zip(op.static, op.given, strict=True)]
    return specify_shape(x, shape)


@register_equal(Eye)
def _eye(op: Any, *inputs: Any) -> Any:
    *lengths, offset = inputs
    rows, columns = _filled(op.shape, lengths)
    return pt.eye(rows, columns, offset, dtype=op.dtype)


@register_equal(ARange)
def _arange(op: Any, start: Any, stop: Any, step: Any) -> Any:
    return pt.arange(start, stop, step, dtype=op.dtype)


@register_equal(Stretch)
def _stretch(op: Any, x: Any, *lengths: Any) -> Any:
    """A write in PyTensor broadcasts by static lengths of 1 only, so values are stretched before."""
    return pt.alloc(x, *op.wanted(list(x.shape), lengths))


@register_equal(Join)
def _join(op: Any, *tensors: Any) -> Any:
    return pt.join(op.axis, *tensors)


@register_equal(MakeVector)
def _vector(op: Any, *scalars: Any) -> Any:
    return TheirVector(op.dtype)(*(pt.cast(x, op.dtype) for x in scalars))


@register_equal(Repeat)
def _repeat(op: Any, x: Any, counts: Any) -> Any:
    return pt.repeat(x, counts, axis=op.axis)
