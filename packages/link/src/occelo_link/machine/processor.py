"""Loads LLVM and finds out the processor of this machine.

`units.engine` compiles units with `llvm` for the target `host_target`. Cache keys contain the target, and so does the
default name of the compile directory.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_link.machine.llvm_binding import Binding
    from occelo_link.machine.llvm_library import Library

_loading = threading.Lock()
"""The lock that is held while LLVM is loaded, so that two threads do not load it at the same time."""


@functools.cache
def llvm() -> Library | Binding:
    """Return LLVM, set up for this machine.

    This is a `Library`, which calls the shared library of llvmlite directly, if `Library` supports the installed version
    of llvmlite. Otherwise it is a `Binding`, which uses `llvmlite.binding`.
    """
    with _loading:
        return _loaded()


@functools.cache
def _loaded() -> Library | Binding:
    from occelo_link.machine.llvm_library import Library, library_path  # imports llvmlite

    path = library_path()
    if path is not None:
        return Library(path)
    from occelo_link.machine.llvm_binding import Binding  # slow to import

    return Binding()


@functools.cache
def host_target() -> tuple[str, str, str]:
    """Return the target triple, the processor and the processor features of this machine."""
    triple, processor, features = llvm().host()
    return triple, processor, ",".join(sorted(features, key=lambda feature: feature[1:]))
