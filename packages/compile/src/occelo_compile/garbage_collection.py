"""Makes Python collect garbage less often while a function is compiled. `FunctionMaker.create` uses it.

Compiling makes many objects and little garbage. By default, Python collects garbage after each 700 new objects.
Collections so frequent would take a tenth of the time of compiling.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Generator
from contextlib import contextmanager

_OBJECTS = 20_000
"""The number of new objects after which Python collects the youngest generation while functions are compiled."""


class _Threshold:
    """The threshold for the youngest generation, which is raised while at least one thread compiles."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.compiling = 0
        self.before = 0

    def raise_it(self) -> None:
        with self.lock:
            self.compiling += 1
            now, *rest = gc.get_threshold()
            if 0 < now < _OBJECTS:
                self.before = now
                gc.set_threshold(_OBJECTS, *rest)

    def restore(self) -> None:
        with self.lock:
            self.compiling -= 1
            now, *rest = gc.get_threshold()
            if not self.compiling and self.before and now == _OBJECTS:
                gc.set_threshold(self.before, *rest)
            if not self.compiling:
                self.before = 0


_threshold = _Threshold()


@contextmanager
def fewer_collections() -> Generator[None]:
    """A context in which Python collects the youngest generation only after `_OBJECTS` new objects.

    If the program's threshold is larger, or 0 (no collections), it is not changed. If the program sets another
    threshold meanwhile, that threshold is kept.
    """
    _threshold.raise_it()
    try:
        yield
    finally:
        _threshold.restore()
