"""The equals of ops that read and write elements, and of those that search them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.ops.index.key import ARRAY, SCALAR
from occelo_graph.ops.index.search import ExtractDiag, Nonzero
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_pytensor.equals.registry import register_equal
from occelo_pytensor.library import tensor as pt

_GIVEN: tuple[str, ...] = (ARRAY, SCALAR)


def _key(op: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    rest = iter(indices)

    def entry(part: Any) -> Any:
        return next(rest) if isinstance(part, str) and part in _GIVEN else part

    return tuple(
        slice(entry(e.start), entry(e.stop), entry(e.step)) if isinstance(e, slice) else entry(e)
        for e in op.key
    )


@register_equal(Subtensor, AdvancedSubtensor)
def _read(op: Any, x: Any, *indices: Any) -> Any:
    return x[_key(op, indices)]


@register_equal(IncSubtensor, AdvancedIncSubtensor)
def _write(op: Any, x: Any, y: Any, *indices: Any) -> Any:
    part = x[_key(op, indices)]
    return (pt.set_subtensor if op.set_instead_of_inc else pt.inc_subtensor)(part, y)


@register_equal(Nonzero)
def _nonzero(op: Any, x: Any) -> Any:
    return list(pt.nonzero(x))


@register_equal(ExtractDiag)
def _diagonal(op: Any, x: Any) -> Any:
    return pt.diagonal(x, op.offset, op.axis1, op.axis2)
