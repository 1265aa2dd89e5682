"""The equals of sorting and searching."""

from __future__ import annotations

from typing import Any

from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt
from occelo_sorting.ops.orders import ArgSort, Sort
from occelo_sorting.ops.searching import SearchSorted


@register_equal(Sort)
def _sort(op: Any, x: Any) -> Any:
    return pt.sort(x, axis=-1)


@register_equal(ArgSort)
def _argsort(op: Any, x: Any) -> Any:
    return pt.argsort(x, axis=-1, kind="stable")


@register_equal(SearchSorted)
def _searchsorted(op: Any, a: Any, v: Any) -> Any:
    return pt.extra_ops.searchsorted(a, v, side=op.side) if a.type.ndim == 1 else NotImplemented
