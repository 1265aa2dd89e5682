"""LLVM, and the processor of this machine as its target.

Units are compiled for it (`units.engine`). The keys of the cache and, by default, the name of its directory contain it.
"""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from occelo_link.machine.llvm_binding import Binding
    from occelo_link.machine.llvm_library import Library

__all__ = ["host_target", "llvm"]


_loading = threading.Lock()
"""The lock that is held while LLVM is loaded, which only one thread may do."""


@functools.cache
def llvm() -> Library | Binding:
    """LLVM with the target of this machine, called directly if the version of llvmlite is known."""
    with _loading:
        return _loaded()


@functools.cache
def _loaded() -> Library | Binding:
    from occelo_link.machine.llvm_library import Library, library_path  # needs llvmlite

    path = library_path()
    if path is not None:
        return Library(path)
    from occelo_link.machine.llvm_binding import Binding  # slow to import

    return Binding()


@functools.cache
def host_target() -> tuple[str, str, str]:
    """The triple, processor and features of this machine."""
    triple, processor, features = llvm().host()
    return triple, processor, ",".join(sorted(features, key=lambda feature: feature[1:]))
