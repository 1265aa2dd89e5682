"""Conversions of ops that sort and search."""

from __future__ import annotations

from typing import Any

from pytensor.tensor.extra_ops import SearchsortedOp, Unique
from pytensor.tensor.sort import ArgSortOp, SortOp

import occelo.tensor as ot
from occelo_pytensor.conversion import Unconvertible
from occelo_pytensor.registry import register_conversion


@register_conversion(SortOp)
def _sort(node: Any, x: Any) -> Any:
    return ot.sort(x, node.op.axis)


@register_conversion(ArgSortOp)
def _argsort(node: Any, x: Any) -> Any:
    return ot.argsort(x, node.op.axis)


@register_conversion(SearchsortedOp)
def _searchsorted(node: Any, a: Any, v: Any, sorter: Any = None) -> Any:
    return ot.searchsorted(a, v, node.op.side, sorter)


@register_conversion(Unique)
def _unique(node: Any, x: Any) -> Any:
    op = node.op
    if op.axis is not None and None in (*x.type.shape[: op.axis], *x.type.shape[op.axis + 1 :]):
        raise Unconvertible(f"{op} of slices whose lengths are not static")
    unique: Any = ot.unique(x, op.return_index, op.return_inverse, op.return_counts, op.axis)
    results = list(unique) if isinstance(unique, list) else [unique]
    if op.return_inverse:  # PyTensor's is a vector
        at = 1 + op.return_index
        results[at] = results[at].flatten()
    return results
