"""Registry of functions to call after a family of ops has been imported at its first use.

Linear algebra, random numbers and loops are such families: a program without them should not pay for their import. The
packages of the ops (`ops.linalg`, `ops.random` and `looping`) call `loaded` when they are imported.
`occelo_rewrite.pipeline`, `occelo_rewrite.assumptions` and the linkers call `follow` to register functions. These
import the modules with the family's rewrites, facts and lowerings. The functions run when rewrites, facts or lowerings
are next looked up, since each look-up calls `catch_up` first.

The functions do not run while a family is being imported. Otherwise two threads could each import a module of the
family that needs the other's, and fail: for example, one thread unpickles a graph with loops while another one builds
the first loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["catch_up", "follow", "is_loaded", "loaded", "registering"]

registering = threading.RLock()
"""The lock that is held while rewrites and lowerings are imported and registered. No import of Occelo waits for it."""

_followers: dict[str, list[Callable[[], object]]] = {}
_loaded: set[str] = set()


class _Pending:
    """Functions to call once each, in order. Other threads wait until they have been called."""

    def __init__(self) -> None:
        self.is_behind = False
        self._functions: list[Callable[[], object]] = []
        self._is_calling = False

    def add(self, functions: list[Callable[[], object]]) -> None:
        self._functions += functions
        self.is_behind = self.is_behind or bool(functions)

    def call(self) -> None:
        with registering:
            if self._is_calling:
                return  # one of the functions has called `catch_up` by a look-up of its own
            self._is_calling = True
            try:
                while True:
                    with _changing:
                        if not self._functions:
                            self.is_behind = False
                            return
                    self._functions[0]()
                    del self._functions[0]
            finally:
                self._is_calling = False


_pending = _Pending()
_changing = threading.Lock()
"""The lock that is held while the functions to call change, and never during an import."""


def follow(family: str, load: Callable[[], object]) -> None:
    """Register ``load``, which the first `catch_up` after the import of ``family`` calls.

    ``family`` is "linalg", "random", "looping" or "typed_list".
    """
    with _changing:
        if family in _loaded:
            _pending.add([load])
        else:
            _followers.setdefault(family, []).append(load)


def loaded(family: str) -> None:
    """Record that a family is being imported."""
    with _changing:
        _loaded.add(family)
        _pending.add(_followers.pop(family, []))


def is_loaded(family: str) -> bool:
    """Whether a family was imported, or is being imported."""
    return family in _loaded


def catch_up() -> None:
    """Call the functions that were given to `follow` for families that were imported since the last call."""
    if _pending.is_behind:
        _pending.call()
