"""Caches of results that depend only on the fields of an op: its hash, the types of its outputs, its decompositions.

`Op` and `ir.decomposing` use these caches. Most ops are frozen, so cached results stay right. But the attributes of a
user's op may be set at any time. Then `Op` drops the caches of this op. An op has no caches if the value of an
attribute can itself be changed, as a list can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph.narrowing import is_tuple

if TYPE_CHECKING:
    from occelo_graph.ir.op import Op

_CACHES = (
    "_key_cache",
    "_hash_cache",
    "_infer_cache",
    "_decompositions_cache",
    "_pullbacks_cache",
    "_pattern_cache",
)


def cache_of(op: Op, name: str) -> dict[Any, Any]:
    """One of the caches of an op: the cache named ``name``.

    If the op can have no caches (see `is_fixed`), each call returns a new dict.
    """
    state = op.__dict__
    cache: dict[Any, Any] | None = state.get(name)
    if cache is None:
        cache = {}
        if is_fixed(op):
            state[name] = cache
    return cache


def forget_cached(op: Op) -> None:
    """Drop the caches of an op, because one of its attributes was set."""
    state = op.__dict__
    for name in _CACHES:
        state.pop(name, None)


def is_fixed(op: Op) -> bool:
    """Whether no attribute of an op has a value that can be changed, such as a list. True for all of Occelo's own ops."""
    return not op.external_code or not any(
        _may_change(value) for name, value in op.__dict__.items() if not name.endswith("_cache")
    )


def _may_change(value: object) -> bool:
    if is_tuple(value):
        return any(map(_may_change, value))
    return isinstance(value, list | dict | set | bytearray)
