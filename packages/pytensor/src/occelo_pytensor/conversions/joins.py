"""Conversions of ops that join, split and repeat tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.basic import Join, MakeVector, Split
from pytensor.tensor.extra_ops import Repeat

import occelo.tensor as ot
from occelo_pytensor.registry import register_conversion


@register_conversion(MakeVector)
def _vector(node: Any, *scalars: Any) -> Any:
    dtype = node.op.dtype
    if not scalars:
        return ot.constant(np.zeros(0, dtype))
    return ot.make_vector(*(ot.cast(x, dtype) for x in scalars))


@register_conversion(Join)
def _join(node: Any, *tensors: Any) -> Any:
    dtype = node.outputs[0].type.dtype
    return ot.join(node.op.axis, *(ot.cast(x, dtype) for x in tensors))


@register_conversion(Split)
def _split(node: Any, x: Any, lengths: Any) -> Any:
    return list(ot.split(x, lengths, n_splits=node.op.len_splits, axis=node.op.axis))


@register_conversion(Repeat)
def _repeat(node: Any, x: Any, repeats: Any) -> Any:
    return ot.repeat(x, repeats, axis=node.op.axis)
