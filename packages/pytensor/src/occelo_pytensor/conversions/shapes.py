"""Conversions of ops that read and change shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.extra_ops import CpuContiguous
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape

import occelo.tensor as ot
from occelo_graph import Constant, computed_by
from occelo_graph.ops.join import MakeVector
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import is_sparse_type, static


@register_conversion(DimShuffle)
def _shuffle(node: Any, x: Any) -> Any:
    order = list(node.op.new_order)
    if isinstance(x, Constant) and set(order) <= {"x"}:  # a number stays one
        return ot.constant(np.reshape(np.asarray(x.data), [1] * len(order)))
    return ot.dimshuffle(x, order)


@register_conversion(Shape)
def _shape(node: Any, x: Any) -> Any:
    return x.shape if is_sparse_type(x.type) else ot.shape(x)


@register_conversion(Shape_i)
def _length(node: Any, x: Any) -> Any:
    return x.shape[node.op.i] if is_sparse_type(x.type) else ot.shape_i(x, node.op.i)


@register_conversion(SpecifyShape)
def _specify(node: Any, x: Any, *lengths: Any) -> Any:
    shape = [static(n) for n in lengths]
    if is_sparse_type(x.type):
        from occelo_pytensor.conversions.sparse import of_shape

        return of_shape(x, shape)
    return ot.specify_shape(x, shape)


@register_conversion(Reshape)
def _reshape(node: Any, x: Any, shape: Any) -> Any:
    listed = computed_by(shape, MakeVector)
    if listed is not None:
        shape = [static(n) for n in listed.inputs]
    elif isinstance(shape, Constant):
        shape = [int(n) for n in shape.data]
    return ot.reshape(x, shape, ndim=node.op.ndim)


@register_conversion(JoinDims)
def _join_dims(node: Any, x: Any) -> Any:
    return ot.join_dims(x, node.op.start_axis, node.op.n_axes)


@register_conversion(SplitDims)
def _split_dims(node: Any, x: Any, shape: Any) -> Any:
    return ot.split_dims(x, shape=shape, axis=node.op.axis)


@register_conversion(CpuContiguous)
def _contiguous(node: Any, x: Any) -> Any:
    return x  # how elements lie in memory is no part of a value here
