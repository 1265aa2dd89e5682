"""Caches of what was computed from the fields of an op: its hash, the types of its outputs, its decompositions.

Most ops are frozen, so what was computed stays right. A user's op may be a plain class: if one of its attributes is set
again, its caches are dropped. An op with an attribute that can change without being set, such as a list, has no caches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.narrowing import is_tuple

if TYPE_CHECKING:
    from occelo_graph.ir.op import Op

__all__ = ["cache_of", "forget_cached", "is_fixed"]

_CACHES = ("_key_cache", "_hash_cache", "_infer_cache", "_decompositions_cache")


def cache_of(op: Op, name: str) -> dict[Any, Any]:
    """The cache ``name`` of an op. If the op has no caches, the result is a new dict in each call."""
    state = op.__dict__
    found: dict[Any, Any] | None = state.get(name)
    if found is None:
        found = {}
        if is_fixed(op):
            state[name] = found
    return found


def forget_cached(op: Op) -> None:
    """Drop the caches of an op, because one of its attributes was set."""
    state = op.__dict__
    for name in _CACHES:
        state.pop(name, None)


def is_fixed(op: Op) -> bool:
    """Whether the attributes of an op change only if they are set. True for Occelo's own ops, which are frozen."""
    return not op.external_code or not any(
        _may_change(value) for name, value in op.__dict__.items() if not name.endswith("_cache")
    )


def _may_change(value: object) -> bool:
    if is_tuple(value):
        return any(map(_may_change, value))
    return isinstance(value, list | dict | set | bytearray)
