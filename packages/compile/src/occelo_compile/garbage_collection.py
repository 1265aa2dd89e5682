"""Makes Python collect garbage less often while a function is compiled. `FunctionMaker.create` uses it.

Compiling makes many objects and little garbage. By default, Python collects garbage after each 700 new objects, which
would take a tenth of the time of compiling.

The first function of a process also imports many modules. Their functions and classes stay, so they become old objects
without a collection that looks at them.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["fewer_collections"]

_OBJECTS = 20_000
"""The number of new objects after which Python collects the youngest generation while functions are compiled."""
_MODULES = 20
"""If a compilation imports at least this number of modules, most of its objects belong to them."""


class _Threshold:
    """The threshold for the youngest generation, which is raised while at least one thread compiles."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.compiling = 0
        self.before = 0
        self.modules = 0

    def raise_it(self) -> None:
        with self.lock:
            if not self.compiling:
                self.modules = len(sys.modules)
            self.compiling += 1
            now, *rest = gc.get_threshold()
            if 0 < now < _OBJECTS:
                self.before = now
                gc.set_threshold(_OBJECTS, *rest)

    def restore(self) -> None:
        with self.lock:
            self.compiling -= 1
            now, *rest = gc.get_threshold()
            if self.compiling:
                return
            if len(sys.modules) >= self.modules + _MODULES:
                _make_old()
            if self.before and now == _OBJECTS:
                gc.set_threshold(self.before, *rest)
            self.before = 0


def _make_old() -> None:
    """Move all objects to the oldest generation. Nothing is moved if the program has frozen objects, which would be
    released.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


_threshold = _Threshold()


@contextmanager
def fewer_collections() -> Generator[None]:
    """A context in which Python collects the youngest generation only after `_OBJECTS` new objects.

    A larger threshold stays as it is, and so does 0, which means no collections. If the program sets another threshold
    meanwhile, that threshold is kept.
    """
    _threshold.raise_it()
    try:
        yield
    finally:
        _threshold.restore()
