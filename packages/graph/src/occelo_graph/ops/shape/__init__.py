"""Ops and functions that read, assert and change the shapes of tensors, but not their elements.

Users call the functions from `occelo.tensor`.
"""

from __future__ import annotations

from occelo_graph.ops.length_inputs import get_vector_length
from occelo_graph.ops.shape.asserting import SpecifyShape, specify_broadcastable, specify_shape
from occelo_graph.ops.shape.broadcasting import broadcast_shape
from occelo_graph.ops.shape.dimensions import (
    DimShuffle,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    atleast_Nd,
    dimshuffle,
    expand_dims,
    matrix_transpose,
    moveaxis,
    shape_padaxis,
    shape_padleft,
    shape_padright,
    squeeze,
    swapaxes,
    transpose,
)
from occelo_graph.ops.shape.reading import Shape, Shape_i, shape, shape_i, shape_tuple
from occelo_graph.ops.shape.reshaping import (
    Reshape,
    flatten,
    is_flat,
    join_dims,
    ravel,
    reshape,
    split_dims,
)

__all__ = [
    "DimShuffle", "Reshape", "Shape", "Shape_i", "SpecifyShape", "atleast_1d", "atleast_2d", "atleast_3d", "atleast_Nd",
    "broadcast_shape", "dimshuffle", "expand_dims", "flatten", "get_vector_length", "is_flat", "join_dims",
    "matrix_transpose", "moveaxis", "ravel", "reshape", "shape", "shape_i", "shape_padaxis", "shape_padleft",
    "shape_padright", "shape_tuple", "specify_broadcastable", "specify_shape", "split_dims", "squeeze", "swapaxes",
    "transpose",
]  # fmt: skip
