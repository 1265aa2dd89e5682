"""Families of ops that are imported at their first use, with the modules of other layers that belong to them.

Linear algebra and loops are such families: a program without them should not pay for their import. The rules and
lowerings of a family are imported when its ops are imported, or at once if the ops are imported already.

`occelo_rewrite.pipeline`, `occelo_rewrite.assumptions` and the linkers register these imports with `follow`. The
packages of the ops (`ops.linalg` and `looping`) call `loaded`.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["follow", "loaded"]

_followers: dict[str, list[Callable[[], object]]] = {}
_loaded: set[str] = set()


def follow(family: str, load: Callable[[], object]) -> None:
    """Call ``load`` when the family, "linalg" or "looping", is imported, or at once if it is imported already."""
    if family in _loaded:
        load()
    else:
        _followers.setdefault(family, []).append(load)


def loaded(family: str) -> None:
    """Record that a family is being imported, and call the functions that were given to `follow` for this family."""
    _loaded.add(family)
    for load in _followers.pop(family, ()):
        load()
