"""Families of ops that are imported at their first use, with the modules of other layers that belong to them.

Linear algebra is such a family: a program without it should not pay for its import. The rules and lowerings of the family
`follow` it: they are imported when its ops are, or at once if the ops are imported already.

`occelo_rewrite.pipeline`, `occelo_rewrite.assumptions` and the linkers register their imports with `follow`; the
package of the ops (`ops.linalg`) calls `loaded`.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["follow", "loaded"]

_followers: dict[str, list[Callable[[], object]]] = {}
_loaded: set[str] = set()


def follow(family: str, load: Callable[[], object]) -> None:
    """Call ``load`` when the family of ops (``"linalg"``) is imported, or at once if it is imported already."""
    if family in _loaded:
        load()
    else:
        _followers.setdefault(family, []).append(load)


def loaded(family: str) -> None:
    """Record that a family is being imported, and call the functions given to `follow`; its package calls this."""
    _loaded.add(family)
    for load in _followers.pop(family, ()):
        load()
