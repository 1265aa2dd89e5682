"""Imports the rewrites, facts and lowerings of a family of ops only after a program has imported the family.

The families are linear algebra, random numbers, loops, lists of tensors and `OpFromGraph`. A program that does not use
a family does not pay for its import.

- The package or module of each family, such as `ops.linalg`, calls `loaded` when it is imported.
- `occelo_rewrite.pipeline`, `occelo_rewrite.assumptions` and the linkers pass functions to `follow`. Such a function
  imports the modules that register the family's rewrites, facts or lowerings.
- Each look-up of rewrites, facts or lowerings first calls `catch_up`, which calls the functions of the families that
  are imported by then.

The functions never run while a family is being imported. Otherwise two threads could each wait for a module that the
other one is importing, and an import would fail. For example, one thread could unpickle a graph with loops while
another one builds its first loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["catch_up", "follow", "is_loaded", "loaded", "registering"]

registering = threading.RLock()
"""A thread holds this lock while it imports and registers rewrites and lowerings.

No module of Occelo acquires the lock when it is imported.
"""

_followers: dict[str, list[Callable[[], object]]] = {}
_loaded: set[str] = set()


class _Pending:
    """A queue of functions. The method `call` calls each function once, in order.

    If another thread is calling the functions, `call` waits until that thread has called all of them.
    """

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
                return  # a function of the queue has looked something up, and so called `catch_up`
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
"""A thread holds this lock while it changes the lists of functions, but not while it imports anything."""


def follow(family: str, load: Callable[[], object]) -> None:
    """Register the function ``load``. The first `catch_up` after the import of ``family`` calls it.

    ``family`` is "linalg", "random", "looping", "typed_list" or "inner_graph".
    """
    with _changing:
        if family in _loaded:
            _pending.add([load])
        else:
            _followers.setdefault(family, []).append(load)


def loaded(family: str) -> None:
    """Record that a family is imported. The package of the family calls this function when its import starts."""
    with _changing:
        _loaded.add(family)
        _pending.add(_followers.pop(family, []))


def is_loaded(family: str) -> bool:
    """Whether `loaded` was called for a family: the family was imported, or its import has started."""
    return family in _loaded


def catch_up() -> None:
    """Call the functions that `follow` registered for imported families, unless they were called before."""
    if _pending.is_behind:
        _pending.call()
