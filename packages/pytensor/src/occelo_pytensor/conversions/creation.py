"""Conversions of ops that make tensors from shapes and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.tensor.basic import Alloc, AllocEmpty, ARange, Eye, Nonzero
from pytensor.tensor.extra_ops import Bartlett

import occelo.tensor as ot
from occelo_pytensor.registry import register_conversion
from occelo_pytensor.variables import static


@register_conversion(Alloc)
def _alloc(node: Any, value: Any, *lengths: Any) -> Any:
    return ot.alloc(value, *map(static, lengths))


@register_conversion(AllocEmpty)
def _empty(node: Any, *lengths: Any) -> Any:
    return ot.empty([static(n) for n in lengths], dtype=node.op.dtype)


@register_conversion(ARange)
def _arange(node: Any, start: Any, stop: Any, step: Any) -> Any:
    return ot.arange(static(start), static(stop), static(step), dtype=node.op.dtype)


@register_conversion(Eye)
def _eye(node: Any, rows: Any, columns: Any, offset: Any) -> Any:
    if getattr(offset, "data", None) is None:  # known only at run time
        below = ot.expand_dims(ot.arange(rows), 1) + offset
        return ot.cast(ot.eq(below, ot.expand_dims(ot.arange(columns), 0)), node.op.dtype)
    return ot.eye(static(rows), static(columns), int(np.asarray(offset.data)), dtype=node.op.dtype)


@register_conversion(Nonzero)
def _nonzero(node: Any, x: Any) -> Any:
    return list(ot.nonzero(x))


@register_conversion(Bartlett)
def _bartlett(node: Any, count: Any) -> Any:
    return ot.bartlett(static(count))
