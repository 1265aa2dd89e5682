"""`deferred`: lets a package export names of its modules, and import a module only when one of its names is used.

The packages `occelo`, `occelo_rewrite`, `occelo_link` and `occelo_compile` call it, so that they are imported quickly.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["deferred"]


def deferred(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` for a package. ``modules`` maps each exported name to its module."""
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = namespace[name] = getattr(importlib.import_module(modules[name]), name)
        return found

    def names() -> list[str]:
        return sorted({*namespace, *modules})

    return find, names
